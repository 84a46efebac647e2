//! Reports of a restored journal: the authority is asked for the document of each before it is
//! sent, because nothing here may know of all versions that were.

use report::SubmissionId;
use rusqlite::Connection;

use crate::JournalError;
use crate::events::{doubt, versions};
use crate::store::settings;

/// One setting for each for which it was asked: when the journal was restored.
const ASKED: &str = "guard-asked:";

/// Whether a report, or what it is to take the place of, is one of a restored journal, and the
/// authority was not asked for it since: another correction may have been sent of which nothing
/// here knows.
pub(crate) fn is_due(connection: &Connection, id: SubmissionId) -> Result<bool, JournalError> {
    let Some(restored) = restored_since(connection, id)? else { return Ok(false) };
    let asked = settings::get(connection, &name_of(id))?.and_then(|at| at.as_i64());
    Ok(asked != Some(restored))
}

/// The authority was asked for it, or a person has decided without that.
pub(crate) fn note(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    match restored_since(connection, id)? {
        Some(restored) => settings::set(connection, &name_of(id), &restored.into()),
        None => Ok(()),
    }
}

/// When the journal was restored, where that covers a report or what it is to take the place of.
fn restored_since(connection: &Connection, id: SubmissionId) -> Result<Option<i64>, JournalError> {
    for id in with_corrected(connection, id)? {
        if let Some(restored) = doubt::restored_since(connection, id)? {
            return Ok(Some(restored.0));
        }
    }
    Ok(None)
}

/// A report, what it corrects, what that corrected, and so on.
fn with_corrected(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Vec<SubmissionId>, JournalError> {
    let mut all = vec![id];
    let mut corrects = versions::corrected_by(connection, id)?;
    while let Some(earlier) = corrects {
        all.push(earlier);
        corrects = versions::corrected_by(connection, earlier)?;
    }
    Ok(all)
}

fn name_of(id: SubmissionId) -> String {
    format!("{ASKED}{}", id.0)
}
