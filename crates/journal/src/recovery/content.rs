//! One content in two lives of a journal. A restore without the register forgets what was taken in,
//! the same content is handed over again under another attempt, and then a backup of the first life
//! takes the journal's place: it is one report all the same, and goes out once at most.

use fhir::Instant;
use report::{Event, Person, State, SubmissionId};
use rusqlite::Connection;

use crate::codes::DECIDED;
use crate::events::{append, attach, guard, known, succession, versions};
use crate::queries::read;
use crate::recovery::attempts::Attempts;
use crate::{Destination, JournalError, LostReport, Message, RecordError, codes};

/// Reports of the content of one that the restored journal does not have, which the journal that it
/// takes the place of did not have either.
pub(crate) fn of_another_life(
    connection: &Connection,
    attempts: &Attempts,
    lost: &LostReport,
) -> Result<Vec<SubmissionId>, JournalError> {
    let there = Destination { endpoint: &lost.endpoint, environment: lost.environment.as_deref() };
    let all = known::of_content(connection, &lost.digest, lost.canonical.as_deref(), Some(there))?;
    strangers(connection, attempts, all)
}

/// The same of its content, of its document, and of other corrections of the report that it
/// `corrects`: other versions of it do not go after what became of it since.
pub(crate) fn versions_of_another_life(
    connection: &Connection,
    attempts: &Attempts,
    lost: &LostReport,
    corrects: Option<SubmissionId>,
) -> Result<Vec<SubmissionId>, JournalError> {
    let there = Destination { endpoint: &lost.endpoint, environment: lost.environment.as_deref() };
    let mut all =
        known::of_content(connection, &lost.digest, lost.canonical.as_deref(), Some(there))?;
    if let Some(document) = &lost.document {
        let versions = known::of_document(connection, document, there)?;
        all.extend(versions.into_iter().map(|version| version.id));
    }
    if let Some(corrects) = corrects {
        all.extend(succession::successors(connection, corrects)?);
    }
    all.sort_unstable();
    all.dedup();
    strangers(connection, attempts, all)
}

/// Those of the restored journal that the one that it takes the place of did not have.
fn strangers(
    connection: &Connection,
    attempts: &Attempts,
    all: Vec<SubmissionId>,
) -> Result<Vec<SubmissionId>, JournalError> {
    let mut found = Vec::new();
    for id in all.into_iter().filter(|id| attempts.is_restored(*id)) {
        let row = read::row(connection, id)?;
        let name = [row.identifier, row.endpoint, row.digest];
        if attempts.theirs_of(connection, &name, id)?.is_none() {
            found.push(id);
        }
    }
    Ok(found)
}

/// The one of these whose place the same content under another attempt can take.
pub(crate) fn replaceable(
    connection: &Connection,
    others: &[SubmissionId],
) -> Result<Option<SubmissionId>, JournalError> {
    for id in others {
        let is_open = matches!(
            read::state(connection, *id)?,
            State::Unknown { .. } | State::Held { .. } | State::Rejected | State::Failed { .. }
        );
        if is_open && succession::waits_in_place_of(connection, *id)?.is_none() {
            return Ok(Some(*id));
        }
    }
    Ok(None)
}

/// None of these goes by itself: what became of their content since was told of another attempt.
pub(crate) fn hold(
    connection: &Connection,
    others: &[SubmissionId],
    by: &Person,
    now: Instant,
) -> Result<(), RecordError> {
    for id in others {
        match read::state(connection, *id)? {
            State::Unknown { .. } => {
                append::happen(connection, *id, &Event::HeldBack, by, now)?;
            }
            State::Held { .. } => guard::withhold(connection, *id)?,
            State::Rejected | State::Failed { .. } => {}
            _ => continue,
        }
        attach::warn(connection, *id, &Message::warning(DECIDED, &[]))?;
    }
    Ok(())
}

/// What is lost may have been sent: nothing of its content or document goes by itself beside it,
/// and whoever decides is told.
pub(crate) fn settle_beside_lost(
    connection: &Connection,
    attempts: &Attempts,
    lost: &LostReport,
    by: &Person,
    now: Instant,
) -> Result<(), RecordError> {
    let strangers = versions_of_another_life(connection, attempts, lost, None)?;
    hold(connection, &strangers, by, now)?;
    Ok(versions::tell_of_lost(connection, lost)?)
}

/// What is read back does not go by itself either where one of these has arrived, or another stands
/// in the place of one.
pub(crate) fn hold_beside(
    connection: &Connection,
    others: &[SubmissionId],
    id: SubmissionId,
    by: &Person,
    now: Instant,
) -> Result<(), RecordError> {
    for other in others {
        let row = read::row(connection, *other)?;
        let warning = match row.state {
            State::InProgress { .. }
            | State::Completed { .. }
            | State::Withdrawn { received: true } => {
                let receipt = row.receipt.unwrap_or(row.identifier);
                Message::warning(codes::MAY_BE_KNOWN, &[("receipt", &receipt)])
            }
            State::Superseded { .. } if known::rules_out_another(connection, *other)? => {
                Message::warning(DECIDED, &[])
            }
            _ => continue,
        };
        if let State::Unknown { .. } = read::state(connection, id)? {
            append::happen(connection, id, &Event::HeldBack, by, now)?;
        }
        guard::withhold(connection, id)?;
        attach::warn(connection, id, &warning)?;
    }
    Ok(())
}

/// The authority shows a report that a restore had lost: who holds the same content is told that it
/// may have it, and so is who would send once more what was refused or has failed.
pub(crate) fn tell_of_found(
    connection: &Connection,
    lost: &LostReport,
    (id, state): (SubmissionId, &State),
    receipt: &str,
) -> Result<(), JournalError> {
    let has_failed = matches!(state, State::Failed { .. });
    let there = Destination { endpoint: &lost.endpoint, environment: lost.environment.as_deref() };
    let all = known::of_content(connection, &lost.digest, lost.canonical.as_deref(), Some(there))?;
    let warning = Message::warning(codes::MAY_BE_KNOWN, &[("receipt", receipt)]);
    for other in all.into_iter().filter(|other| *other != id) {
        match read::state(connection, other)? {
            State::Held { .. } => {}
            State::Rejected | State::Failed { .. } if !has_failed => {}
            _ => continue,
        }
        attach::warn(connection, other, &warning)?;
    }
    Ok(())
}
