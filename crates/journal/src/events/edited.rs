//! What somebody has edited of a report and not sent: patient data, kept no longer than it can
//! still be sent.

use report::SubmissionId;
use rusqlite::Connection;
use serde_json::Value;

use crate::JournalError;
use crate::queries::read;
use crate::store::settings;

/// Keeps it, or forgets it where it is empty or the report cannot be corrected any more.
pub(crate) fn keep(
    connection: &Connection,
    id: SubmissionId,
    text: String,
) -> Result<(), JournalError> {
    let is_open = read::state(connection, id)?.shown().may_be_corrected();
    if text.is_empty() || !is_open {
        return forget(connection, id);
    }
    settings::set(connection, &name(id), &Value::String(text))
}

pub(crate) fn forget(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    settings::remove(connection, &name(id))
}

/// The setting that it is kept in.
pub(crate) fn name(id: SubmissionId) -> String {
    format!("draft:{}", id.0)
}
