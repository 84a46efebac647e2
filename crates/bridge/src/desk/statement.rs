//! The daily statement: what was taken in on a day, and what became of it. For the file, and for an
//! inspector.

use std::path::Path;

use engine::Engine;
use journal::{Entry, Filter, Row};
use report::Event;

use super::statistics::{begin_of, date_named, shown};
use super::{Desk, on_pool};
use crate::limits;
use crate::problem::Problem;
use crate::record::environment_of;
use crate::saved::save_over;
use crate::statement_pdf::Wording;
use crate::views::{StatementEntryView, StatementView};

/// Rows read at a time.
const ROWS: usize = 1_000;
/// Reports of a statement at most: many times what a laboratory reports in a day.
const ENTRIES_MAX: usize = 10_000;

impl Desk {
    /// What was taken in on a day (`YYYY-MM-DD`, where the computer stands) and what became of it.
    pub async fn statement(&self, date: String) -> Result<StatementView, Problem> {
        let engine = self.engine();
        on_pool(move || statement_of(&engine, &date)).await?
    }

    /// Saves the statement of a day as a PDF; where, a dialog of the shell has asked.
    pub async fn save_statement(
        &self,
        target: &Path,
        date: String,
        wording: Wording,
    ) -> Result<(), Problem> {
        let (engine, target) = (self.engine(), target.to_owned());
        on_pool(move || saved(&engine, &date, &wording, &target)).await?
    }
}

/// Where nobody is asked for a place, nothing is saved; what names no day or no language of ours is
/// refused all the same.
pub(crate) fn unsaved_statement(date: &str, language: &str) -> Result<bool, Problem> {
    date_named(date).ok_or_else(|| limits::invalid("date"))?;
    let is_known = report::diseases::LANGUAGES.contains(&language);
    if is_known { Ok(false) } else { Err(limits::invalid("language")) }
}

/// Writes the statement of a day as a PDF.
fn saved(engine: &Engine, date: &str, wording: &Wording, target: &Path) -> Result<(), Problem> {
    save_over(target, &wording.pdf(&statement_of(engine, date)?)).map_err(|error| {
        let (file, reason) = (target.display().to_string(), error.kind().to_string());
        Problem::new("file-unreadable", &[("file", &file), ("reason", &reason)], "statement")
    })
}

/// The statement of a day (`YYYY-MM-DD`).
pub(crate) fn statement_of(engine: &Engine, date: &str) -> Result<StatementView, Problem> {
    let day = date_named(date).ok_or_else(|| limits::invalid("date"))?;
    let next = day.next_day().ok_or_else(|| limits::invalid("date"))?;
    let (mut entries, is_cut) = entries(engine, begin_of(day), begin_of(next))?;
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
    let proof = timeline.iter().rev().find_map(|step| step.evidence);
    let kept = journal.evidence(row.id)?.into_iter().find(|kept| Some(kept.id) == proof);
    Ok(StatementEntryView {
        id: row.id.0,
        created: row.created.to_fhir(),
        sent: sent(&timeline).map(fhir::Instant::to_fhir),
        answered: kept.as_ref().map(|kept| kept.evidence.at.to_fhir()),
        state: row.state.shown(),
        disease: row.summary.tested().map(|tested| tested.disease.key.to_owned()),
        code: row.summary.code.clone(),
        environment: environment_of(row, &engine.profile()),
        endpoint: engine.profile().name_of(&row.endpoint),
        document_identifier: row.summary.identifier.clone(),
        identifier: row.identifier.clone(),
        digest: row.digest.clone(),
        receipt: row.receipt.clone(),
        answer_status: kept.as_ref().and_then(|kept| kept.evidence.http_status),
        answer_digest: kept.map(|kept| kept.digest),
        corrects: row.corrects.map(|id| id.0),
    })
}

/// When it was sent: the last request, unless that reached nobody, or was asked for and not
/// received. Who refuses it on the way may have passed it on before. An answer of the authority
/// proves that it arrived after all.
fn sent(timeline: &[Entry]) -> Option<fhir::Instant> {
    let (mut last, mut sent) = (None, None);
    for Entry { event, at, .. } in timeline {
        match event {
            Event::SendingStarted { .. } => {
                last = Some(*at);
                sent = last;
            }
            Event::Deferred { why, .. } if engine::reached_nobody(why) => sent = None,
            Event::NotReceived { .. } => sent = None,
            Event::Accepted { .. } | Event::Completed { .. } | Event::Failed { .. } => {
                sent = sent.or(last);
            }
            _ => {}
        }
    }
    sent
}

#[cfg(test)]
mod tests {
    use fhir::Instant;
    use report::Person;

    use super::*;

    #[test]
    fn sent_is_what_may_have_left_and_nothing_else() {
        let second = Instant::from_seconds;
        let at = |events: &[Event]| {
            let entries = events.iter().enumerate().map(|(number, event)| Entry {
                number: 0,
                event: event.clone(),
                by: Person(String::new()),
                at: second(i64::try_from(number).unwrap()),
                evidence: None,
            });
            sent(&entries.collect::<Vec<_>>())
        };
        let (due, since, why) = (second(9), second(0), || "forbidden".to_owned());
        let begun = || Event::SendingStarted { since };
        let deferred = || Event::Deferred { due, why: "connect-refused".to_owned() };
        let refused = || Event::Deferred { due, why: why() };
        let queued = || Event::Queued { due };
        let withdrawn = || Event::Withdrawn { reason: String::new() };
        assert_eq!(at(&[queued(), withdrawn()]), None);
        assert_eq!(at(&[queued(), begun(), deferred(), withdrawn()]), None, "no byte has left");
        let turned_away = Event::TurnedAway { due, why: why() };
        for on_the_way in [refused(), turned_away, Event::HeldAfterRefusals { why: why() }] {
            let (held, withdrawn) = (Event::HeldBack, withdrawn());
            let story = [queued(), begun(), on_the_way, held, withdrawn];
            assert_eq!(at(&story), Some(second(1)), "its bytes have left");
        }
        assert_eq!(at(&[queued(), begun(), deferred(), begun()]), Some(second(3)), "the last");
        let doubted = Event::Doubted { since, due, why: why() };
        assert_eq!(at(&[queued(), begun(), doubted.clone()]), Some(second(1)), "perhaps");
        let not_received = Event::NotReceived { due };
        assert_eq!(at(&[queued(), begun(), doubted, not_received]), None);
        let accepted = Event::Accepted { receipt: "r".to_owned(), since, due };
        assert_eq!(at(&[queued(), begun(), deferred(), accepted]), Some(second(1)), "after all");
    }
}
