//! A report that takes the place of another. One that a person corrects is superseded at once; one that a newer
//! file corrects by itself is superseded when that is sent: until then a person may still decide otherwise.

use fhir::Instant;
use report::{Event, Person, SubmissionId};
use rusqlite::Connection;

use crate::append::{self, Happening, Subject};
use crate::{JournalError, RecordError, Step, read, sql};

/// States that another report may take the place of, as [`report::State::apply`] has it; a test compares.
pub(crate) const CORRECTABLE: [&str; 3] = ["held", "rejected", "failed"];

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

/// After a step: what is sent takes the place of what it corrects, in the same transaction.
pub(crate) fn follow(
    connection: &Connection,
    subject: &Subject,
    step: &Step,
) -> Result<(), RecordError> {
    let (Event::SendingStarted { .. }, Some(corrects)) = (&step.event, subject.corrects) else {
        return Ok(());
    };
    let predecessor = append::subject_of(connection, corrects)?;
    // It may have been closed meanwhile, or have taken another way.
    if CORRECTABLE.contains(&predecessor.state.code()) {
        supersede(connection, &predecessor, subject.id, &step.by, step.at)?;
    }
    Ok(())
}

/// While another report waits to be sent in its place, nothing else is sent in its name.
pub(crate) fn refuse_where_replaced(
    connection: &Connection,
    id: SubmissionId,
) -> Result<(), RecordError> {
    match read::one(connection, sql::WAITS_IN_PLACE, [id.0], |row| row.get(0).map(SubmissionId))? {
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
    let waits = read::one(connection, sql::WAITS_IN_PLACE, [id.0], |_| Ok(()))?;
    Ok(CORRECTABLE.contains(&state.code()) && waits.is_none())
}

#[cfg(test)]
mod tests {
    use report::State;

    use super::*;

    #[test]
    fn what_can_be_corrected_is_what_can_be_superseded() {
        let receipt = || "r".to_owned();
        let due = Instant(0);
        let states = [
            State::Held { attempt: 0 },
            State::Queued { attempt: 0, due, refusals: 0 },
            State::Sending { attempt: 1, since: due, refusals: 0 },
            State::Unknown {
                attempt: 1,
                since: due,
                asked: 0,
                due,
                empty_since: None,
                refused: false,
            },
            State::InProgress {
                receipt: receipt(),
                since: due,
                due,
                not_found_since: None,
                overdue: false,
            },
            State::Completed { receipt: receipt() },
            State::Rejected,
            State::Failed { receipt: receipt() },
            State::Withdrawn,
            State::Superseded { by: SubmissionId(1) },
        ];
        for state in states {
            let may = state.apply(&Event::Superseded { by: SubmissionId(9) }).is_ok();
            assert_eq!(may, CORRECTABLE.contains(&state.code()), "{}", state.code());
        }
    }
}
