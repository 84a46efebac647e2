//! Whether sending is paused, as the journal itself says.

use rusqlite::Connection;
use serde_json::Value;

use crate::JournalError;
use crate::store::settings;

const PAUSED: &str = "paused";

/// Code of the notice that sending is paused because nothing says whether it was before.
pub(crate) const UNKNOWN: &str = "pause-unknown";

pub(crate) fn is_paused(connection: &Connection) -> Result<bool, JournalError> {
    let kept = settings::get(connection, PAUSED)?;
    Ok(kept.is_some_and(|value| value != Value::Bool(false)))
}

pub(crate) fn set(connection: &Connection, paused: bool) -> Result<(), JournalError> {
    match paused {
        true => settings::set(connection, PAUSED, &Value::Bool(true)),
        false => settings::remove(connection, PAUSED),
    }
}
