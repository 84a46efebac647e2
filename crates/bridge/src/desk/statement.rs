//! The daily statement: what was taken in on a day, and what became of it. For the file, and for an
//! inspector.

use engine::Engine;
use journal::{Filter, Row};

use super::statistics::{begin_of, date_named, shown};
use super::{Desk, on_pool};
use crate::limits;
use crate::problem::Problem;
use crate::rows::environment_of;
use crate::views::{StatementEntryView, StatementView};

/// Rows read at a time.
const ROWS: usize = 1_000;
/// Reports of a statement at most: many times what a laboratory reports in a day.
const ENTRIES_MAX: usize = 10_000;

impl Desk {
    /// What was taken in on a day (`YYYY-MM-DD`, where the computer stands) and what became of it.
    pub async fn statement(&self, date: String) -> Result<StatementView, Problem> {
        let day = date_named(&date).ok_or_else(|| limits::invalid("date"))?;
        let next = day.next_day().ok_or_else(|| limits::invalid("date"))?;
        let engine = self.engine();
        on_pool(move || {
            let (mut entries, is_cut) = entries(&engine, begin_of(day), begin_of(next))?;
            entries.reverse();
            let head = engine.journal().chain_head()?;
            Ok(StatementView {
                date: shown(day),
                made: engine.now().to_fhir(),
                entries,
                is_cut,
                chain_event: head.as_ref().map_or(0, |head| head.event),
                chain_hash: head.map(|head| head.hash).unwrap_or_default(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            })
        })
        .await?
    }
}

/// Newest first, and whether there were more.
fn entries(
    engine: &Engine,
    since: fhir::Instant,
    until: fhir::Instant,
) -> Result<(Vec<StatementEntryView>, bool), Problem> {
    let mut filter = Filter {
        since: Some(since),
        until: Some(until),
        limit: ROWS,
        now: engine.now(),
        ..Filter::default()
    };
    let mut entries = Vec::new();
    loop {
        let rows = engine.journal().list(&filter)?;
        for row in &rows {
            if entries.len() == ENTRIES_MAX {
                return Ok((entries, true));
            }
            entries.push(entry(engine, row)?);
        }
        match rows.last() {
            Some(last) if rows.len() == ROWS => filter.before = Some(last.id),
            _ => return Ok((entries, false)),
        }
    }
}

fn entry(engine: &Engine, row: &Row) -> Result<StatementEntryView, Problem> {
    let journal = engine.journal();
    let timeline = journal.detail(row.id)?.timeline;
    let sent = timeline.iter().find(|step| step.event.code() == "sending-started");
    let proof = timeline.iter().rev().find_map(|step| step.evidence);
    let kept = journal.evidence(row.id)?.into_iter().find(|kept| Some(kept.id) == proof);
    Ok(StatementEntryView {
        id: row.id.0,
        created: row.created.to_fhir(),
        sent: sent.map(|step| step.at.to_fhir()),
        answered: kept.as_ref().map(|kept| kept.evidence.at.to_fhir()),
        state: row.state.shown().to_owned(),
        disease: report::diseases::of_summary(&row.summary)
            .map(|tested| tested.disease.key.to_owned()),
        code: row.summary.code.clone(),
        environment: environment_of(row, &engine.profile()),
        endpoint: row.endpoint.clone(),
        document_identifier: row.summary.identifier.clone(),
        identifier: row.identifier.clone(),
        digest: row.digest.clone(),
        receipt: row.receipt.clone(),
        answer_status: kept.as_ref().and_then(|kept| kept.evidence.http_status),
        answer_digest: kept.map(|kept| kept.digest),
        corrects: row.corrects.map(|id| id.0),
    })
}
