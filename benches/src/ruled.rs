//! Bulk sending with the authority's rules loaded against the same without: published reports, each
//! time with an identifier of their own, to a server that answers at once.

use std::path::{Path, PathBuf};

use testkit::TestCa;
use uuid::Uuid;

use crate::bare::Bare;
use crate::bulk::written;
use crate::programs::Laboratory;
use crate::rules::{PACKAGE, packages, reports};
use crate::table::{Bound, Row, Samples};
use crate::{Result, output};

/// Nothing where the published packages are not there.
pub(crate) async fn measure(rounds: usize, count: usize) -> Result<Vec<Row>> {
    let (packages, reports) = (packages(), reports());
    if packages.is_empty() || reports.is_empty() {
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir()?;
    let authority = TestCa::new("Bench");
    let (ca, identity) = (folder.path().join("ca.pem"), folder.path().join("client.pem"));
    std::fs::write(&ca, authority.pem())?;
    std::fs::write(&identity, authority.client("bench").pem())?;
    let server = Bare::serve(&authority).await?;
    let without = Laboratory::new(&server.base, &ca, &identity, None)?;
    let with = Laboratory::new(&server.base, &ca, &identity, None)?;
    with.use_rules(&packages, PACKAGE)?;
    let texts: Vec<String> =
        reports.iter().map(std::fs::read_to_string).collect::<std::io::Result<_>>()?;

    let (mut plain, mut ruled) = (Samples::default(), Samples::default());
    for round in 0..rounds {
        output::progress(&format!("bulk with rules, round {} of {rounds}", round + 1));
        for (laboratory, samples) in [(&without, &mut plain), (&with, &mut ruled)] {
            let sent = fresh(&texts, count, &folder.path().join(format!("{round}")))?;
            let used = laboratory.send(&sent)?;
            let count = f64::from(u32::try_from(count)?);
            samples.0.push(count / used.time.as_secs_f64());
            std::fs::remove_dir_all(&sent)?;
        }
    }
    Ok(vec![Row {
        what: "send of published reports, rules loaded / without".to_owned(),
        baseline: plain.shown(0, "/s"),
        ours: ruled.shown(0, "/s"),
        ratio: ruled.over(&plain).shown(2, ""),
        bound: Bound::at_least(0.5, None),
    }])
}

/// So many reports that nobody has seen: the published ones again and again, under other
/// identifiers.
fn fresh(texts: &[String], count: usize, folder: &Path) -> Result<PathBuf> {
    let reports = texts.iter().cycle().take(count).map(|text| {
        let report: serde_json::Value = serde_json::from_str(text)?;
        let known = report["identifier"]["value"].as_str().ok_or("a report without identifier")?;
        Ok(text.replace(known, &format!("urn:uuid:{}", Uuid::new_v4())))
    });
    let reports: Vec<String> = reports.collect::<Result<_>>()?;
    written(folder, &reports, count)?;
    Ok(folder.to_owned())
}
