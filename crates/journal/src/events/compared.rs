//! What a restored journal still has to be compared with, and what it may have forgotten.

use fhir::Instant;
use rusqlite::Connection;

use crate::JournalError;
use crate::store::notice::Notice;
use crate::store::{notice, settings};

/// Setting: what became of the restored journal still has to be compared with the authorities.
const RECONCILE: &str = "reconcile";
/// Setting: what the journal may have forgotten, kept when that was compared.
const FORGOTTEN: &str = "forgotten";
/// Longer than what is taken in is asked for first after a restore.
const FORGOTTEN_SECONDS: i64 = 40 * 86_400;
/// One setting for each endpoint, by its id, that has shown everything since the restore.
const COMPARED: &str = "compared:";
/// Code of the notice that the profile was copied.
pub(crate) const COPIED: &str = "journal-copied";

/// Notes that a person has to read that the profile is a copy. What the guard of a copy rests on:
/// it comes with what is put in doubt, or not at all.
pub(crate) fn tell_of_copy(
    connection: &Connection,
    doubted: u64,
    now: Instant,
) -> Result<(), JournalError> {
    let doubted = doubted.to_string();
    notice::put(connection, &Notice::new(COPIED, &[("doubted", &doubted)], now))
}

/// What is still to be compared with the authorities after a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreconciled {
    /// The restored state ends there; `None`: it is empty.
    pub since: Option<Instant>,
    /// When it was restored.
    pub restored: Instant,
}

pub(crate) fn unreconciled(connection: &Connection) -> Result<Option<Unreconciled>, JournalError> {
    span(connection, RECONCILE)
}

fn span(connection: &Connection, name: &str) -> Result<Option<Unreconciled>, JournalError> {
    let Some(kept) = settings::get(connection, name)? else { return Ok(None) };
    let field = |name: &str| kept.get(name).and_then(serde_json::Value::as_i64).map(Instant);
    let restored = field("restored").ok_or(JournalError::Damaged)?;
    Ok(Some(Unreconciled { since: field("since"), restored }))
}

/// What was owed before is owed still: from the earlier of both.
pub(crate) fn reconcile_since(
    connection: &Connection,
    since: Option<Instant>,
    restored: Instant,
) -> Result<(), JournalError> {
    let since = unreconciled(connection)?.map_or(since, |open| open.since.min(since));
    forget(connection, Unreconciled { since, restored })?;
    let since = since.map(|since| since.0);
    let value = serde_json::json!({ "since": since, "restored": restored.0 });
    forget_compared(connection)?;
    settings::set(connection, RECONCILE, &value)
}

/// Notes what the journal may have forgotten. Of restores that follow each other soon, the earliest
/// counts.
fn forget(connection: &Connection, new: Unreconciled) -> Result<(), JournalError> {
    let before = forgotten(connection)?.filter(|before| is_recent(before, new.restored));
    let since = before.map_or(new.since, |before| before.since.min(new.since));
    let since = since.map(|since| since.0);
    let value = serde_json::json!({ "since": since, "restored": new.restored.0 });
    settings::set(connection, FORGOTTEN, &value)
}

fn is_recent(restore: &Unreconciled, now: Instant) -> bool {
    restore.restored.plus_seconds(FORGOTTEN_SECONDS) > now
}

/// What lies between both may have happened without this journal knowing, also once everything was
/// compared; `None` where it was never restored, or by a program of before, which did not note it.
pub(crate) fn forgotten(connection: &Connection) -> Result<Option<Unreconciled>, JournalError> {
    span(connection, FORGOTTEN)
}

/// The hour of what is to be compared begins now, because the clock was wrong at the restore. So do
/// the forty days of what may be forgotten, where they would not have begun yet, or be over.
pub(crate) fn count_from(connection: &Connection, now: Instant) -> Result<(), JournalError> {
    let begin = |name: &str, open: Unreconciled| {
        let since = open.since.map(|since| since.0);
        let value = serde_json::json!({ "since": since, "restored": now.0 });
        settings::set(connection, name, &value)
    };
    if let Some(open) = unreconciled(connection)? {
        begin(RECONCILE, open)?;
    }
    match forgotten(connection)? {
        Some(open) if open.restored > now || !is_recent(&open, now) => begin(FORGOTTEN, open),
        _ => Ok(()),
    }
}

/// What is still to be compared with one endpoint, also where that was added, or added again, only
/// when everything was compared with all others; not where that is long ago.
pub(crate) fn unreconciled_at(
    connection: &Connection,
    endpoint: &str,
    now: Instant,
) -> Result<Option<Unreconciled>, JournalError> {
    if is_compared(connection, endpoint)? {
        return Ok(None);
    }
    match unreconciled(connection)? {
        Some(open) => Ok(Some(open)),
        None => Ok(forgotten(connection)?.filter(|open| is_recent(open, now))),
    }
}

/// Whether an endpoint has shown everything since the last restore.
pub(crate) fn is_compared(connection: &Connection, endpoint: &str) -> Result<bool, JournalError> {
    Ok(settings::get(connection, &format!("{COMPARED}{endpoint}"))?.is_some())
}

pub(crate) fn reconciled_at(connection: &Connection, endpoint: &str) -> Result<(), JournalError> {
    settings::set(connection, &format!("{COMPARED}{endpoint}"), &true.into())
}

/// Nothing is to be compared any more with any endpoint that there is now.
pub(crate) fn end(connection: &Connection) -> Result<(), JournalError> {
    settings::remove(connection, RECONCILE)
}

fn forget_compared(connection: &Connection) -> Result<(), JournalError> {
    let kept = settings::beginning(connection, COMPARED)?;
    kept.iter().try_for_each(|(name, _)| settings::remove(connection, name))
}
