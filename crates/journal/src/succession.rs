//! A report that takes the place of another. One that a person corrects is superseded at once, unless it was sent once;
//! one that was, and one that a newer file corrects by itself, is superseded when the newer one has arrived at the
//! authority: until then it is not closed, so that something is left to decide about where the newer one is withdrawn, or
//! where the authority turns out to have the older one.

use fhir::Instant;
use report::{Event, Person, State, StateCode, SubmissionId};
use rusqlite::Connection;

use crate::append::{self, Happening, Subject};
use crate::{JournalError, Message, RecordError, Step, attach, cells, guard, read, sql};

/// Records that another submission has taken this one's place.
pub(crate) fn supersede(
    connection: &Connection,
    subject: &Subject,
    by: SubmissionId,
    person: &Person,
    at: Instant,
) -> Result<(), RecordError> {
    let event = Event::Superseded { by };
    let happening = Happening { event: &event, by: person, at, evidence: None };
    append::advance(connection, subject, &happening).map(drop)
}

/// Code of the warning on a report whose correction was withdrawn; parameter: `by`.
const CORRECTION_WITHDRAWN: &str = "correction-withdrawn";

/// A correction is withdrawn: what it took the place of when it was handed over is open again, on hold. Nothing else would be
/// left of that report, and the correction may have been a slip.
pub(crate) fn open_again(
    connection: &Connection,
    subject: &Subject,
    by_whom: &Person,
    at: Instant,
) -> Result<(), RecordError> {
    let Some(id) = subject.corrects else { return Ok(()) };
    match read::state(connection, id)? {
        State::Superseded { by } if by == subject.id => {
            append::happen(connection, id, &Event::HeldBack, by_whom, at)?;
        }
        // It was to go by itself once it was compared, until it was corrected.
        State::Held { .. } if guard::is_withheld(connection, id)? => {}
        _ => return Ok(()),
    }
    // It waited for the comparison, perhaps, and was not asked for while it was closed.
    guard::waits_again(connection, id, at)?;
    let by = subject.id.0.to_string();
    Ok(attach::warn(connection, id, &Message::warning(CORRECTION_WITHDRAWN, &[("by", &by)]))?)
}

/// Corrections of a report that were withdrawn, also those of such corrections: a request of one may have arrived.
pub(crate) fn withdrawn_in_place_of(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Vec<SubmissionId>, JournalError> {
    let (mut all, mut found) = (vec![id], Vec::new());
    while let Some(id) = all.pop() {
        let successors: Vec<SubmissionId> =
            read::all(connection, sql::SUCCESSORS, [id.0], |row| row.get(0).map(SubmissionId))?;
        for successor in successors {
            if let State::Withdrawn { .. } = read::state(connection, successor)? {
                found.push(successor);
                all.push(successor);
            }
        }
    }
    Ok(found)
}

/// The correction of a report that has just failed, where it has arrived already: after a restore the authority may tell of
/// that one first.
pub(crate) fn overtaken(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Option<SubmissionId>, JournalError> {
    let mut all = vec![id];
    while let Some(id) = all.pop() {
        let successors: Vec<SubmissionId> =
            read::all(connection, sql::SUCCESSORS, [id.0], |row| row.get(0).map(SubmissionId))?;
        for successor in successors {
            match read::state(connection, successor)? {
                State::InProgress { .. }
                | State::Completed { .. }
                | State::Failed { .. }
                | State::Rejected
                | State::Withdrawn { received: true } => return Ok(Some(successor)),
                State::Superseded { .. } => all.push(successor),
                State::Held { .. }
                | State::Queued { .. }
                | State::Sending { .. }
                | State::Unknown { .. }
                | State::Withdrawn { received: false } => {}
            }
        }
    }
    Ok(None)
}

/// After a step: what has arrived takes the place of what it corrects, in the same transaction; also of what that was to
/// take the place of.
pub(crate) fn follow(
    connection: &Connection,
    subject: &Subject,
    step: &Step,
) -> Result<(), RecordError> {
    let has_arrived = matches!(
        step.event,
        Event::Accepted { .. }
            | Event::Completed { .. }
            | Event::Failed { .. }
            | Event::Rejected
            | Event::SaidReceived { .. }
    );
    let mut next = subject.corrects.filter(|_| has_arrived);
    while let Some(id) = next {
        let predecessor = append::subject_of(connection, id)?;
        if predecessor.state.shown().may_be_corrected() {
            supersede(connection, &predecessor, subject.id, &step.by, step.at)?;
        } else if !matches!(predecessor.state, State::Superseded { .. }) {
            // It was closed meanwhile, or has taken another way.
            break;
        }
        next = predecessor.corrects;
    }
    Ok(())
}

/// A report that waits to take the place of this one: held, to be sent, or on its way; also in the place of one that was
/// itself to do so.
pub(crate) fn waits_in_place_of(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Option<SubmissionId>, JournalError> {
    let mut all = vec![id];
    while let Some(id) = all.pop() {
        let successors = read::all(connection, sql::SUCCESSORS, [id.0], |row| {
            Ok((SubmissionId(row.get(0)?), cells::state(row, 1)?))
        })?;
        for (successor, state) in successors {
            match state {
                StateCode::Held | StateCode::Queued | StateCode::Sending | StateCode::Unknown => {
                    return Ok(Some(successor));
                }
                StateCode::Superseded => all.push(successor),
                StateCode::InProgress
                | StateCode::Completed
                | StateCode::Rejected
                | StateCode::Failed
                | StateCode::Withdrawn
                | StateCode::SaidReceived => {}
            }
        }
    }
    Ok(None)
}

/// While another report waits to take its place, nothing else is sent in its name.
pub(crate) fn refuse_where_replaced(
    connection: &Connection,
    id: SubmissionId,
) -> Result<(), RecordError> {
    match waits_in_place_of(connection, id)? {
        Some(by) => Err(RecordError::BeingReplaced { by }),
        None => Ok(()),
    }
}

/// Whether this submission can be corrected by another now.
pub(crate) fn is_correctable(
    connection: &Connection,
    id: SubmissionId,
) -> Result<bool, JournalError> {
    let state = read::state(connection, id)?;
    Ok(state.shown().may_be_corrected() && waits_in_place_of(connection, id)?.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_corrected_is_what_can_be_superseded() {
        let receipt = || "r".to_owned();
        let due = Instant(0);
        let states = [
            State::Held { attempt: 0 },
            State::Queued { attempt: 0, due, refusals: 0, doubts: 0 },
            State::Sending { attempt: 1, since: due, refusals: 0, doubts: 0 },
            State::Unknown {
                attempt: 1,
                since: due,
                asked: 0,
                due,
                empty_since: None,
                refused: false,
                doubts: 0,
            },
            State::InProgress {
                receipt: receipt(),
                since: due,
                due,
                not_found_since: None,
                overdue: false,
                said: None,
            },
            State::Completed { receipt: receipt() },
            State::Rejected,
            State::Failed { receipt: receipt() },
            State::Withdrawn { received: false },
            State::Superseded { by: SubmissionId(1) },
        ];
        for state in states {
            let may = state.apply(&Event::Superseded { by: SubmissionId(9) }).is_ok();
            assert_eq!(may, state.shown().may_be_corrected(), "{}", state.code());
        }
    }
}
