//! The authority's rules on published reports: import, load, and each report after the first. Needs
//! the packages and reports of the folder `shared` beside the checkout.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fhir::{Format, Instant as Time, Limits, Tree};
use rules::{Asked, Mode, Package, PackageLimits, Store};
use rustix::time::{ClockId, clock_gettime};

use crate::table::{Bound, Figure, Row, Samples};
use crate::{Result, foreign, output};

/// What every document is validated against, beside what it names itself.
const PROFILE: &str = "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-elm-document-strict";
/// The package in use.
pub(crate) const PACKAGE: &str = "ch.fhir.ig.ch-elm";
/// Later than the documents say they were written.
const NOW: Time = Time::from_seconds(1_800_000_000);
/// At least so many reports for the slowest of a hundred to mean something.
const REPORTS_MIN: usize = 1_000;

/// Nothing where the published packages are not there.
pub(crate) fn measure() -> Result<Vec<Row>> {
    let (packages, reports) = (packages(), reports());
    if packages.is_empty() || reports.is_empty() {
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir()?;
    let store = Store::at(folder.path());
    let began = Instant::now();
    for file in &packages {
        let package = Package::read(&std::fs::read(file)?, &PackageLimits::default())?;
        store.import(&package, String::new())?;
    }
    let imported = began.elapsed().as_secs_f64();
    let all = store.list()?;
    let used = all.iter().find(|of| of.manifest.name == PACKAGE).ok_or("no such package")?;

    let before = resident()?;
    let began = Instant::now();
    let set = store.load(Some(&used.manifest.label()))?;
    let loaded = began.elapsed().as_secs_f64();
    let profiles = [PROFILE.to_owned()];
    let asked = Asked { profiles: &profiles, mode: Mode::Authority, now: NOW };
    let texts: Vec<Vec<u8>> =
        reports.iter().map(std::fs::read).collect::<std::io::Result<Vec<_>>>()?;
    let read = |text: &[u8]| {
        Tree::read(text, Format::Json, &Limits::default()).map_err(|finding| finding.code)
    };
    let began = Instant::now();
    black_box(set.validate(&read(&texts[0])?, &asked));
    let first = began.elapsed().as_secs_f64();

    let (mut reading, mut ours, mut worked) =
        (Samples::default(), Samples::default(), Samples::default());
    for text in texts.iter().cycle().skip(1).take(REPORTS_MIN.max(texts.len())) {
        let began = Instant::now();
        let tree = read(text)?;
        reading.0.push(began.elapsed().as_secs_f64() * 1e3);
        let (began, before) = (Instant::now(), processor_ms());
        black_box(set.validate(&tree, &asked));
        worked.0.push(processor_ms() - before);
        ours.0.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let memory = resident()?.saturating_sub(before) as f64 / 1024.0;
    // Each of three sizes: what an entry costs, in µs of the processor.
    let grown = [500, 5_000, 50_000].map(|entries| -> Result<f64> {
        let text = grown(&texts, entries)?;
        let tree = read(text.as_bytes())?;
        let began = processor_ms();
        black_box(set.validate(&tree, &asked));
        Ok((processor_ms() - began) / entries as f64 * 1e3)
    });
    let [few, more, many] = grown;
    let (few, more, many) = (few?, more?, many?);
    output::progress("the same reports with pyfhircheck");
    let theirs = foreign::pyfhircheck(&packages, &reports, PROFILE, &ours);
    let row = |what: &str, ours: Figure, bound| Row {
        what: format!("rules: {what}"),
        ours,
        bound,
        ..Row::default()
    };
    let mut rows = vec![
        row("import of all packages", Figure::of(imported, 1, " s"), Bound::at_most(60.0, None)),
        row("load of the compiled set", Figure::of(loaded, 3, " s"), Bound::at_most(0.3, None)),
        row("the first report", Figure::of(first, 3, " s"), None),
        row("memory of the set in use", Figure::of(memory, 0, " MB"), Bound::at_most(100.0, None)),
        row(
            "slowest of a hundred reports",
            Figure::of(ours.quantile(0.99), 1, " ms"),
            Bound::at_most(10.0, None),
        ),
        // What others on the machine cost is in the row above, and not here.
        row(
            "slowest of a hundred reports, of the processor",
            Figure::of(worked.quantile(0.99), 1, " ms"),
            Bound::at_most(10.0, None),
        ),
        row(
            &format!("one of {} reports", texts.len()),
            ours.shown(2, " ms"),
            Bound::at_most(3.0, Some(1.0)),
        ),
        row("an entry of a document of 5,000", Figure::of(more, 0, " µs"), None),
        // The same for each entry, however many there are: the work grows with their number and no
        // faster.
        Row {
            baseline: Figure::of(few, 0, " µs"),
            ratio: Figure::of(many / few, 1, "×"),
            ..row(
                "an entry of a document of 50,000 / of 500",
                Figure::of(many, 0, " µs"),
                Bound::at_most(3.0, None),
            )
        },
        Row {
            baseline: reading.shown(2, " ms"),
            ratio: ours.over(&reading).shown(1, "×"),
            ..row("the same / reading it", ours.shown(2, " ms"), None)
        },
    ];
    rows.extend(theirs);
    Ok(rows)
}

/// A report with so many laboratories more, each named as a performer of its DiagnosticReport.
fn grown(texts: &[Vec<u8>], entries: usize) -> Result<String> {
    let mut document: serde_json::Value =
        serde_json::from_slice(texts.first().ok_or("no report")?)?;
    let all = document["entry"].as_array_mut().ok_or("no entries")?;
    let is_report =
        |of: &&mut serde_json::Value| of["resource"]["resourceType"] == "DiagnosticReport";
    let report = all.iter_mut().find(is_report).ok_or("no DiagnosticReport")?;
    let url = |at: usize| format!("urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-{at:012x}");
    let performers: Vec<_> =
        (0..entries).map(|at| serde_json::json!({ "reference": url(at) })).collect();
    report["resource"]["performer"] = performers.into();
    let laboratory = |at: usize| {
        serde_json::json!({ "fullUrl": url(at),
            "resource": { "resourceType": "Organization", "name": "Laboratory" } })
    };
    all.extend((0..entries).map(laboratory));
    Ok(document.to_string())
}

/// Published packages; none where they are not there.
pub(crate) fn packages() -> Vec<PathBuf> {
    files(&shared().join("packages"), "tgz")
}

/// Published reports, without an error; none where they are not there.
pub(crate) fn reports() -> Vec<PathBuf> {
    files(&shared().join("corpus/documents/json"), "json")
}

/// Beside the checkout.
fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared")
}

fn files(folder: &Path, kind: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == kind));
    files.sort();
    files
}

/// Time of this thread on a processor, in milliseconds.
fn processor_ms() -> f64 {
    let told = clock_gettime(ClockId::ThreadCPUTime);
    told.tv_sec as f64 * 1e3 + told.tv_nsec as f64 / 1e6
}

/// Resident memory of this process in kB.
fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    Ok(number.ok_or("no VmRSS in /proc/self/status")?)
}
