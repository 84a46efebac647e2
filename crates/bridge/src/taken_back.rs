//! What a person took back before it left, in place of a report that the authority had refused.
//! The journal keeps it as a report on hold of its own, of which nothing was said yet. Where it
//! says the same as what was refused, the authority's words on that are what there is to be
//! corrected.

use fhir::Severity;
use journal::{Detail, Journal, JournalError, Message, Row, Source};
use report::{Event, State, StateCode};
use serde::Serialize;
use ts_rs::TS;

/// Who acts in a timeline where no person does.
const PROGRAM: &str = "labcourier";

/// What was taken back, beside the version that was sent last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export)]
pub enum TakenBack {
    /// The same content once more: the authority's messages are those of the earlier delivery.
    Repetition,
    /// Another content.
    Correction,
}

/// The messages of a report, with those that it takes over.
pub(crate) fn said(
    journal: &Journal,
    row: &Row,
) -> Result<(Vec<Message>, Option<TakenBack>), JournalError> {
    if !is_candidate(row) {
        return Ok((journal.messages(row.id)?, None));
    }
    let mut detail = journal.detail(row.id)?;
    let taken_back = take_over(journal, &mut detail)?;
    Ok((detail.messages, taken_back))
}

/// Adds the authority's messages on the same content, and says what was taken back, if it was.
pub(crate) fn take_over(
    journal: &Journal,
    detail: &mut Detail,
) -> Result<Option<TakenBack>, JournalError> {
    let last = detail.timeline.last();
    let is_taken_back = last.is_some_and(|last| was_taken_back(&last.event, &last.by.0));
    if !is_taken_back || !is_candidate(&detail.row) {
        return Ok(None);
    }
    let Some(refused) = refused_before(journal, &detail.row)? else { return Ok(None) };
    if refused.row.digest != detail.row.digest {
        return Ok(Some(TakenBack::Correction));
    }
    for message in refused.messages.into_iter().filter(|it| it.source == Source::Authority) {
        let counts = &mut detail.row.messages;
        match message.severity {
            Severity::Error => counts.errors += 1,
            Severity::Warning => counts.warnings += 1,
            Severity::Information => {}
        }
        detail.messages.push(message);
    }
    Ok(Some(TakenBack::Repetition))
}

/// What reports have in common of which nothing is said. A correction that was taken back lies
/// beside nothing that is still to be corrected.
pub(crate) fn stands_as(state: StateCode, taken_back: Option<TakenBack>) -> &'static str {
    match taken_back {
        Some(TakenBack::Correction) => "taken-back correction",
        Some(TakenBack::Repetition) | None => state.code(),
    }
}

/// Put on hold by a check, or by the program because the authority may have it, a report waits for
/// another reason than that somebody changed their mind.
fn was_taken_back(event: &Event, by: &str) -> bool {
    *event == Event::HeldBack && by != PROGRAM
}

/// Never sent, and in place of another.
fn is_candidate(row: &Row) -> bool {
    row.state == State::Held { attempt: 0 } && row.attempts == 0 && row.corrects.is_some()
}

/// The version that was sent last, where the authority refused it. Those between were taken back
/// themselves.
fn refused_before(journal: &Journal, row: &Row) -> Result<Option<Detail>, JournalError> {
    let mut earlier = row.corrects;
    while let Some(id) = earlier {
        let row = journal.row(id)?;
        if row.attempts == 0 {
            earlier = row.corrects;
            continue;
        }
        let detail = journal.detail(id)?;
        let answers = detail.timeline.iter().rev().map(|entry| &entry.event);
        let mut answers = answers.filter(|event| {
            matches!(event, Event::Completed { .. } | Event::Failed { .. } | Event::Rejected)
        });
        let is_refused = !matches!(answers.next(), None | Some(Event::Completed { .. }));
        return Ok(is_refused.then_some(detail));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_puts_on_hold_was_not_taken_back() {
        assert!(was_taken_back(&Event::HeldBack, "anna"));
        assert!(!was_taken_back(&Event::HeldBack, PROGRAM));
        assert!(!was_taken_back(&Event::Rejected, "anna"));
    }
}
