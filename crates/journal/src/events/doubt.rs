//! After a restore: what the journal believes not to have been sent may have been sent since the
//! backup. It is put in doubt, so that the worker asks before it sends.

use fhir::Instant;
use report::{Event, Person, StateCode, SubmissionId};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::events::append::{Happening, Subject};
use crate::events::{append, lost, standing};
use crate::queries::{endpoints, read};
use crate::store::{cells, rows, settings, sql};
use crate::{Entry, JournalError, RecordError, Sibling};

/// Why a report of a restored journal is in doubt: [`Event::Doubted`] says so.
pub const RESTORED: &str = "journal-restored";
/// Why a report that was found at the authority has no content here.
pub(crate) const FOUND: &str = "journal-report-found";

const SETTING: &str = "restored";
/// On hold at an endpoint (?1), up to a number (?2).
const ON_HOLD: &str = "SELECT DISTINCT identifier FROM submission \
     WHERE endpoint = ?1 AND id <= ?2 AND state = 'held' ORDER BY id DESC";
const OPEN: &str =
    "SELECT id FROM submission WHERE state IN ('queued', 'sending', 'unknown') ORDER BY id";

/// The last restore of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) at: Instant,
    /// Submissions up to this number may have had another life than the journal says.
    pub(crate) through: i64,
}

pub(crate) fn mark(connection: &Connection) -> Result<Option<Mark>, JournalError> {
    let kept = settings::get(connection, SETTING)?;
    kept.map(|kept| serde_json::from_value(kept).map_err(|_| JournalError::Damaged)).transpose()
}

pub(crate) fn set_mark(connection: &Connection, mark: Mark) -> Result<(), JournalError> {
    let value = serde_json::to_value(mark).map_err(|_| JournalError::Damaged)?;
    settings::set(connection, SETTING, &value)
}

/// The number belongs to what a restore makes doubtful.
pub(crate) fn covers(connection: &Connection, id: SubmissionId) -> Result<bool, JournalError> {
    Ok(mark(connection)?.is_some_and(|mark| id.0 <= mark.through))
}

/// When the journal was restored, where that covers the number.
pub(crate) fn restored_since(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Option<Instant>, JournalError> {
    Ok(mark(connection)?.filter(|mark| id.0 <= mark.through).map(|mark| mark.at))
}

/// Whether it is known since a restore that a report had not been sent before it: the authority was
/// asked, or a person has said so.
pub(crate) fn is_answered(connection: &Connection, id: SubmissionId) -> Result<bool, JournalError> {
    has_since_restore(connection, id, |entry| {
        matches!(entry.event, Event::NotReceived { .. } | Event::SaidNotReceived { .. })
    })
}

/// Whether a person has said so.
pub(crate) fn is_said(connection: &Connection, id: SubmissionId) -> Result<bool, JournalError> {
    let is_word = |entry: &Entry| matches!(entry.event, Event::SaidNotReceived { .. });
    has_since_restore(connection, id, is_word)
}

/// Whether a restore that covers a report was followed by such an entry.
pub(crate) fn has_since_restore(
    connection: &Connection,
    id: SubmissionId,
    is_it: fn(&Entry) -> bool,
) -> Result<bool, JournalError> {
    let Some(restored) = restored_since(connection, id)? else { return Ok(false) };
    let timeline = read::timeline(connection, id)?;
    let mut since = timeline.iter().rev().take_while(|entry| entry.at >= restored);
    Ok(since.any(is_it))
}

/// Since when a report that is in doubt since then may have been sent: a restore puts in doubt what
/// may have been sent at any time before. Where the clock was ahead at the restore and is set
/// right, whatever begins until then counts as well.
pub(crate) fn may_be_sent_since(
    connection: &Connection,
    id: SubmissionId,
    since: Instant,
    now: Instant,
) -> Result<Instant, JournalError> {
    let forgotten = |mark: Mark| id.0 <= mark.through && (since >= mark.at || mark.at > now);
    Ok(if mark(connection)?.is_some_and(forgotten) { Instant(i64::MIN) } else { since })
}

/// The identifiers of what is on hold at an endpoint since before a restore, the newest first: it
/// may have been released and sent since the backup.
pub(crate) fn on_hold(
    connection: &Connection,
    endpoint: &str,
) -> Result<Vec<String>, JournalError> {
    let Some(mark) = mark(connection)? else { return Ok(Vec::new()) };
    rows::all(connection, ON_HOLD, params![endpoint, mark.through], |row| row.get(0))
}

/// Whether a newer version may have gone out under the very identifier of a report, in what was
/// forgotten: the endpoint wants the document's. What the authority shows under it may be either.
pub(crate) fn may_be_named_alike(
    connection: &Connection,
    id: SubmissionId,
) -> Result<bool, JournalError> {
    Ok(covers(connection, id)?
        && standing::has_ever_forgotten(connection)?
        && read::is_named_as_document(connection, id)?
        && read::row(connection, id)?.receipt.is_none())
}

/// Extends the mark to a report that came back later.
pub(crate) fn cover(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    match mark(connection)? {
        Some(mark) if mark.through < id.0 => set_mark(connection, Mark { through: id.0, ..mark }),
        _ => Ok(()),
    }
}

/// Puts everything that may be sent in doubt; gives how many.
pub(crate) fn all(connection: &Connection, now: Instant, by: &Person) -> Result<u64, RecordError> {
    let open: Vec<SubmissionId> =
        rows::all(connection, OPEN, [], |row| row.get(0).map(SubmissionId))?;
    for id in &open {
        one(connection, *id, now, by)?;
    }
    Ok(open.len() as u64)
}

/// Puts one report in doubt, from now on: it may have been delivered a moment ago.
pub(crate) fn one(
    connection: &Connection,
    id: SubmissionId,
    now: Instant,
    by: &Person,
) -> Result<report::State, RecordError> {
    let subject: Subject = append::subject_of(connection, id)?;
    let event = Event::Doubted { since: now, due: now, why: RESTORED.to_owned() };
    append::advance(connection, &subject, &Happening { event: &event, by, at: now, evidence: None })
}

pub(crate) fn held_after_request(
    connection: &Connection,
    endpoint: &str,
) -> Result<Option<(Instant, Instant)>, JournalError> {
    let restored = mark(connection)?.map_or(0, |mark| mark.through);
    let times: Option<(Option<i64>, Option<i64>)> =
        rows::one(connection, sql::HELD_AFTER_REQUEST, params![endpoint, restored], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    Ok(times.and_then(|(oldest, newest)| Some((Instant(oldest?), Instant(newest?)))))
}

pub(crate) fn siblings(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Vec<Sibling>, JournalError> {
    let all_named = rows::all(connection, sql::SIBLINGS, [id.0], |row| {
        let may_be_delivered =
            matches!(cells::state(row, 1)?, StateCode::Sending | StateCode::Unknown);
        let was_sent = !may_be_delivered && row.get(2)?;
        let places: (String, String) = (row.get(3)?, row.get(4)?);
        let id = Some(SubmissionId(row.get(0)?));
        Ok((Sibling { id, may_be_delivered, was_sent, restored: None }, places))
    })?;
    let mut found = Vec::new();
    for (mut sibling, (there, here)) in all_named {
        if endpoints::lead_to_one(connection, &here, &there)? {
            sibling.restored = match sibling.id {
                Some(id) => restored_since(connection, id)?,
                None => None,
            };
            found.push(sibling);
        }
    }
    if lost::shares_identifier(connection, &read::row(connection, id)?)?
        || may_be_named_alike(connection, id)?
    {
        found.push(Sibling { id: None, may_be_delivered: true, was_sent: false, restored: None });
    }
    Ok(found)
}
