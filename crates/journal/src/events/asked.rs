//! Reports of a restored journal: the authority is asked for the document of each before it is
//! sent, because nothing here may know of all versions that were.

use report::SubmissionId;
use rusqlite::Connection;

use crate::JournalError;
use crate::events::doubt;
use crate::store::settings;

/// One setting for each for which it was asked: when the journal was restored.
const ASKED: &str = "guard-asked:";

/// Whether a report is one of a restored journal, and the authority was not asked for it since.
pub(crate) fn is_due(connection: &Connection, id: SubmissionId) -> Result<bool, JournalError> {
    let Some(restored) = doubt::restored_since(connection, id)? else { return Ok(false) };
    let asked = settings::get(connection, &name_of(id))?.and_then(|at| at.as_i64());
    Ok(asked != Some(restored.0))
}

/// The authority was asked for it, or a person has decided without that.
pub(crate) fn note(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    match doubt::restored_since(connection, id)? {
        Some(restored) => settings::set(connection, &name_of(id), &restored.0.into()),
        None => Ok(()),
    }
}

fn name_of(id: SubmissionId) -> String {
    format!("{ASKED}{}", id.0)
}
