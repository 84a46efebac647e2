//! A report that takes the place of another. One that a person corrects is superseded at once,
//! unless it was sent once; one that was, and one that a newer file corrects by itself, is
//! superseded when the newer one has arrived at the authority: until then it is not closed, so that
//! something is left to decide about where the newer one is withdrawn, or where the authority turns
//! out to have the older one.

use fhir::Instant;
use report::{Event, Person, State, StateCode, SubmissionId};
use rusqlite::Connection;

use crate::events::append::{Happening, Subject};
use crate::events::person::program;
use crate::events::{append, attach, guard};
use crate::queries::read;
use crate::store::{cells, rows, sql};
use crate::{JournalError, Message, RecordError, Step};

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
pub(crate) const CORRECTION_WITHDRAWN: &str = "correction-withdrawn";

/// A correction is withdrawn: what it took the place of when it was handed over is open again, on
/// hold. Nothing else would be left of that report, and the correction may have been a slip. Where
/// a correction of its own waits or has arrived, that one stands for all that it had replaced.
pub(crate) fn open_again(
    connection: &Connection,
    subject: &Subject,
    by_whom: &Person,
    at: Instant,
) -> Result<(), RecordError> {
    if let Some(newer) = stands_in_place_of(connection, subject.id)? {
        return pass_on(connection, subject.corrects, newer, by_whom, at);
    }
    let mut next = subject.corrects;
    while let Some(id) = next {
        let predecessor = append::subject_of(connection, id)?;
        match predecessor.state {
            State::Superseded { by } if is_given_up(connection, by)? => {
                append::happen(connection, id, &Event::HeldBack, by_whom, at)?;
                pass_on(connection, predecessor.corrects, id, by_whom, at)?;
            }
            // It was to go by itself once it was compared, until it was corrected.
            State::Held { .. } if guard::is_withheld(connection, id)? => {}
            // A correction that was withdrawn before: what it had replaced was left to this one.
            State::Withdrawn { received: false } => {
                next = predecessor.corrects;
                continue;
            }
            _ => return Ok(()),
        }
        // It waited for the comparison, perhaps, and was not asked for while it was closed.
        guard::waits_again(connection, id, at)?;
        let by = subject.id.0.to_string();
        let warning = Message::warning(CORRECTION_WITHDRAWN, &[("by", &by)]);
        return Ok(attach::warn(connection, id, &warning)?);
    }
    Ok(())
}

/// What had been replaced by a correction that was withdrawn is replaced by another one; from this
/// report on, back along the chain.
fn pass_on(
    connection: &Connection,
    from: Option<SubmissionId>,
    to: SubmissionId,
    by_whom: &Person,
    at: Instant,
) -> Result<(), RecordError> {
    let mut next = from;
    while let Some(id) = next {
        let predecessor = append::subject_of(connection, id)?;
        match predecessor.state {
            State::Superseded { by } if by != to && is_given_up(connection, by)? => {
                append::happen(connection, id, &Event::HeldBack, by_whom, at)?;
                append::happen(connection, id, &Event::Superseded { by: to }, by_whom, at)?;
            }
            State::Superseded { .. } | State::Withdrawn { received: false } => {}
            _ => break,
        }
        next = predecessor.corrects;
    }
    Ok(())
}

/// Whether what has taken the place of a report was completed, or has arrived by a person's word:
/// nothing ends that.
pub(crate) fn is_replaced_for_good(
    connection: &Connection,
    id: SubmissionId,
) -> Result<bool, JournalError> {
    let mut state = read::state(connection, id)?;
    while let State::Superseded { by } = state {
        state = read::state(connection, by)?;
    }
    Ok(matches!(state, State::Completed { .. } | State::Withdrawn { received: true }))
}

/// Withdrawn, and not for the authority has it.
pub(crate) fn is_given_up(connection: &Connection, id: SubmissionId) -> Result<bool, JournalError> {
    Ok(read::state(connection, id)? == State::Withdrawn { received: false })
}

/// Corrections of a report that were withdrawn, also those of such corrections: a request of one
/// may have arrived.
pub(crate) fn withdrawn_in_place_of(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Vec<SubmissionId>, JournalError> {
    let (mut all, mut found) = (vec![id], Vec::new());
    while let Some(id) = all.pop() {
        let successors: Vec<SubmissionId> =
            rows::all(connection, sql::SUCCESSORS, [id.0], |row| row.get(0).map(SubmissionId))?;
        for successor in successors {
            if let State::Withdrawn { .. } = read::state(connection, successor)? {
                found.push(successor);
                all.push(successor);
            }
        }
    }
    Ok(found)
}

/// Everything that took the place of a report or was to, also of such corrections.
pub(crate) fn successors(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Vec<SubmissionId>, JournalError> {
    let (mut all, mut found) = (vec![id], Vec::new());
    while let Some(id) = all.pop() {
        let of_this: Vec<SubmissionId> =
            rows::all(connection, sql::SUCCESSORS, [id.0], |row| row.get(0).map(SubmissionId))?;
        all.extend(&of_this);
        found.extend(of_this);
    }
    Ok(found)
}

/// The correction of a report that has arrived already, also one of a correction that was
/// withdrawn: after a restore the authority may tell of that one first.
pub(crate) fn overtaken(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Option<SubmissionId>, JournalError> {
    let mut all = vec![id];
    while let Some(id) = all.pop() {
        let successors: Vec<SubmissionId> =
            rows::all(connection, sql::SUCCESSORS, [id.0], |row| row.get(0).map(SubmissionId))?;
        for successor in successors {
            match read::state(connection, successor)? {
                State::InProgress { .. }
                | State::Completed { .. }
                | State::Failed { .. }
                | State::Rejected
                | State::Withdrawn { received: true } => return Ok(Some(successor)),
                State::Superseded { .. } | State::Withdrawn { received: false } => {
                    all.push(successor);
                }
                State::Held { .. }
                | State::Queued { .. }
                | State::Sending { .. }
                | State::Unknown { .. } => {}
            }
        }
    }
    Ok(None)
}

/// After a step: what has arrived takes the place of what it corrects, in the same transaction;
/// also of what that was to take the place of.
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
    match subject.corrects.filter(|_| has_arrived) {
        Some(first) => close(connection, first, subject.id, &step.by, step.at),
        None => Ok(()),
    }
}

/// What has arrived takes the place of this report, and of what that was to take the place of.
fn close(
    connection: &Connection,
    first: SubmissionId,
    by: SubmissionId,
    by_whom: &Person,
    at: Instant,
) -> Result<(), RecordError> {
    let mut next = Some(first);
    while let Some(id) = next {
        let predecessor = append::subject_of(connection, id)?;
        if predecessor.state.shown().may_be_corrected() {
            supersede(connection, &predecessor, by, by_whom, at)?;
        } else if !matches!(
            predecessor.state,
            State::Superseded { .. } | State::Withdrawn { received: false }
        ) {
            // It was closed meanwhile, or has taken another way.
            break;
        }
        next = predecessor.corrects;
    }
    Ok(())
}

/// A report that waits to take the place of this one: held, to be sent, or on its way; also in the
/// place of one that was itself to do so, or was withdrawn.
pub(crate) fn waits_in_place_of(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Option<SubmissionId>, JournalError> {
    let mut all = vec![id];
    while let Some(id) = all.pop() {
        let successors = rows::all(connection, sql::SUCCESSORS, [id.0], |row| {
            Ok((SubmissionId(row.get(0)?), cells::state(row, 1)?))
        })?;
        for (successor, state) in successors {
            match state {
                StateCode::Held | StateCode::Queued | StateCode::Sending | StateCode::Unknown => {
                    return Ok(Some(successor));
                }
                StateCode::Superseded | StateCode::Withdrawn => all.push(successor),
                StateCode::InProgress
                | StateCode::Completed
                | StateCode::Rejected
                | StateCode::Failed
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

/// The report that stands in the place of this one: it waits to take that, or has arrived.
fn stands_in_place_of(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Option<SubmissionId>, JournalError> {
    match waits_in_place_of(connection, id)? {
        Some(by) => Ok(Some(by)),
        None => overtaken(connection, id),
    }
}

/// While another report stands in its place, a release does not send it.
pub(crate) fn refuse_beside_correction(
    connection: &Connection,
    id: SubmissionId,
) -> Result<(), RecordError> {
    match stands_in_place_of(connection, id)? {
        Some(by) => Err(RecordError::BeingReplaced { by }),
        None => Ok(()),
    }
}

/// The state of a report that is to be sent once more: while a correction of it waits it is on
/// hold, and where one has arrived that has taken its place.
pub(crate) fn hold_beside_correction(
    connection: &Connection,
    step: &Step,
    queued: State,
) -> Result<State, RecordError> {
    if stands_in_place_of(connection, step.id)?.is_none() {
        return Ok(queued);
    }
    append::happen(connection, step.id, &Event::HeldBack, &program(), step.at)?;
    if waits_in_place_of(connection, step.id)?.is_none()
        && let Some(by) = overtaken(connection, step.id)?
    {
        close(connection, step.id, by, &program(), step.at)?;
    }
    Ok(read::state(connection, step.id)?)
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
