//! Read + check + wrap of one report against `serde_json::Value` of the same bytes.

use std::hint::black_box;
use std::time::Instant;

use fhir::{Format, Instant as Time, Limits, Tree};
use testkit::DocumentBuilder;

use crate::Result;
use crate::table::{Bound, Row, Samples};

const DOCUMENTS: u64 = 64;
/// Later than the documents say they were written.
const NOW: Time = Time::from_seconds(1_800_000_000);
/// So that a round lasts longer than a moment of the machine.
const REPEATS: usize = 20;

/// Interleaved rounds over the same documents.
pub(crate) fn measure(rounds: usize) -> Result<Row> {
    let documents: Vec<String> =
        (0..DOCUMENTS).map(|seed| DocumentBuilder::new(seed).json()).collect();
    let (mut baseline, mut ours) = (Samples::default(), Samples::default());
    let count = f64::from(u32::try_from(documents.len() * REPEATS)?);
    for _ in 0..rounds {
        let began = Instant::now();
        for document in documents.iter().cycle().take(documents.len() * REPEATS) {
            black_box(serde_json::from_slice::<serde_json::Value>(document.as_bytes())?);
        }
        baseline.0.push(began.elapsed().as_secs_f64() * 1e6 / count);
        let began = Instant::now();
        for document in documents.iter().cycle().take(documents.len() * REPEATS) {
            black_box(look(document, NOW)?);
        }
        ours.0.push(began.elapsed().as_secs_f64() * 1e6 / count);
    }
    Ok(Row {
        what: format!(
            "read + check + wrap, {} kB JSON / serde_json::Value",
            documents[0].len() / 1000
        ),
        ratio: ours.over(&baseline).shown(2, "×"),
        baseline: baseline.shown(0, " µs"),
        ours: ours.shown(0, " µs"),
        bound: Bound::at_most(3.0, Some(1.0)),
    })
}

fn look(document: &str, now: Time) -> Result<usize> {
    let tree = Tree::read(document.as_bytes(), Format::Json, &Limits::default())
        .map_err(|finding| finding.code)?;
    let findings = tree.check().len() + report::check(tree.root(), now).len();
    let identifier = "urn:uuid:00000000-0000-4000-8000-000000000000";
    let wrapped = exchange::wrap(&tree, identifier, "de-CH").map_err(|_| "not a document")?;
    Ok(findings + wrapped.body.len())
}
