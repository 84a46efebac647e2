//! What a person took back before it left: a report of which no version was sent, or one in place
//! of a report that the authority had refused. The journal keeps it as a report on hold of its own,
//! of which nothing was said yet. Where it says the same as what was refused, the authority's words
//! on that are what there is to be corrected.

use fhir::Severity;
use journal::{Detail, Journal, JournalError, Message, Row, Source};
use report::{Event, State, StateCode};
use serde::Serialize;
use ts_rs::TS;

/// Who acts in a timeline where no person does.
const PROGRAM: &str = "labcourier";

/// What was taken back: beside the version that was sent last, or where none was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export)]
pub enum TakenBack {
    /// The same content once more: the authority's messages are those of the earlier delivery.
    Repetition,
    /// Another content.
    Correction,
    /// No version of it was ever sent, and no error was found in it.
    New,
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

/// Whether a report was taken back before it left, and only has to be let go.
pub(crate) fn is_taken_back(journal: &Journal, row: &Row) -> Result<bool, JournalError> {
    Ok(is_candidate(row) && take_over(journal, &mut journal.detail(row.id)?)?.is_some())
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
    let refused = match before(journal, &detail.row)? {
        Before::Nothing => {
            return Ok((detail.row.messages.errors == 0).then_some(TakenBack::New));
        }
        Before::Refused(refused) => *refused,
        Before::Other => return Ok(None),
    };
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

/// What reports have in common of which nothing is said. What was taken back and is sound lies
/// beside nothing that is still to be corrected.
pub(crate) fn stands_as(state: StateCode, taken_back: Option<TakenBack>) -> &'static str {
    match taken_back {
        Some(TakenBack::Correction) => "taken-back correction",
        Some(TakenBack::New) => "taken-back report",
        Some(TakenBack::Repetition) | None => state.code(),
    }
}

/// Put on hold by a check, or by the program because the authority may have it, a report waits for
/// another reason than that somebody changed their mind.
fn was_taken_back(event: &Event, by: &str) -> bool {
    *event == Event::HeldBack && by != PROGRAM
}

/// Never sent; what errors were found in without another before it waits for a person anyway.
fn is_candidate(row: &Row) -> bool {
    let is_unsent = row.state == State::Held { attempt: 0 } && row.attempts == 0;
    is_unsent && (row.corrects.is_some() || row.messages.errors == 0)
}

/// What there was before a report.
enum Before {
    /// No version that was sent.
    Nothing,
    /// The version that was sent last, which the authority refused.
    Refused(Box<Detail>),
    /// One that it did not refuse.
    Other,
}

/// The version that was sent last. Those between were taken back themselves.
fn before(journal: &Journal, row: &Row) -> Result<Before, JournalError> {
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
        return Ok(if is_refused { Before::Refused(Box::new(detail)) } else { Before::Other });
    }
    Ok(Before::Nothing)
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
