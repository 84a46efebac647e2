//! Reports that were taken in once and that a restored journal does not have: their identifiers are kept, so
//! that the same content, when it comes again, is asked for before it is sent.

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::{JournalError, register, settings};

/// Every one of them, by identifier of the attempt.
const BY_IDENTIFIER: &str = "lost-identifier:";
/// The last one of those with a content, by its digest.
const BY_DIGEST: &str = "lost-content:";

/// A report whose content is not in the journal any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostReport {
    /// Its file as shown to people; empty where unknown.
    pub file: String,
    /// SHA-256 of its content, lower-case hex.
    pub digest: String,
    /// Identifier of the attempt to deliver.
    pub identifier: String,
    /// Name of the endpoint that it went or was to go to.
    pub endpoint: String,
    /// When it was taken in.
    pub at: fhir::Instant,
}

impl From<register::Taken> for LostReport {
    fn from(taken: register::Taken) -> Self {
        Self {
            file: taken.file,
            digest: taken.digest,
            identifier: taken.identifier,
            endpoint: taken.endpoint,
            at: fhir::Instant(taken.at),
        }
    }
}

/// Of several attempts with one content the last one kept counts: it took the others' place.
pub(crate) fn keep(connection: &Connection, lost: &LostReport) -> Result<(), JournalError> {
    let value = serde_json::to_value(lost).map_err(|_| JournalError::Damaged)?;
    settings::set(connection, &format!("{BY_DIGEST}{}", lost.digest), &value)?;
    settings::set(connection, &format!("{BY_IDENTIFIER}{}", lost.identifier), &value)
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<LostReport>, JournalError> {
    let kept = settings::beginning(connection, BY_IDENTIFIER)?;
    kept.into_iter().map(|(_, value)| read(value)).collect()
}

pub(crate) fn by_digest(
    connection: &Connection,
    digest: &str,
) -> Result<Option<LostReport>, JournalError> {
    settings::get(connection, &format!("{BY_DIGEST}{digest}"))?.map(read).transpose()
}

pub(crate) fn by_identifier(
    connection: &Connection,
    identifier: &str,
) -> Result<Option<LostReport>, JournalError> {
    settings::get(connection, &format!("{BY_IDENTIFIER}{identifier}"))?.map(read).transpose()
}

/// An endpoint has another name.
pub(crate) fn rename_endpoint(
    connection: &Connection,
    from: &str,
    to: &str,
) -> Result<(), JournalError> {
    for prefix in [BY_DIGEST, BY_IDENTIFIER] {
        for (name, value) in settings::beginning(connection, prefix)? {
            let lost = read(value)?;
            if lost.endpoint == from {
                let lost = LostReport { endpoint: to.to_owned(), ..lost };
                let value = serde_json::to_value(&lost).map_err(|_| JournalError::Damaged)?;
                settings::set(connection, &name, &value)?;
            }
        }
    }
    Ok(())
}

/// It is in the journal again.
pub(crate) fn found(connection: &Connection, lost: &LostReport) -> Result<(), JournalError> {
    settings::remove(connection, &format!("{BY_IDENTIFIER}{}", lost.identifier))?;
    let last = by_digest(connection, &lost.digest)?;
    if last.is_some_and(|last| last.identifier == lost.identifier) {
        settings::remove(connection, &format!("{BY_DIGEST}{}", lost.digest))?;
    }
    Ok(())
}

fn read(value: serde_json::Value) -> Result<LostReport, JournalError> {
    serde_json::from_value(value).map_err(|_| JournalError::Damaged)
}
