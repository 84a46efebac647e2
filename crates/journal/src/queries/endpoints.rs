//! What the journal knows of an endpoint by its id: how many reports, what it is called, and where
//! it leads. A backup that is restored elsewhere tells by that which authority its reports went to.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::JournalError;
use crate::store::{rows, settings};

const REPORTS: &str = "SELECT count(*), coalesce(sum(state IN \
     ('held', 'queued', 'sending', 'unknown', 'in-progress')), 0) FROM submission WHERE endpoint \
     = ?1";
/// One setting for each endpoint.
const NOTE: &str = "endpoint:";

/// Reports of one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointReports {
    /// All that were ever taken in for it.
    pub all: u32,
    /// Those that wait for something there: on hold, waiting, on their way, in doubt or in
    /// progress.
    pub open: u32,
}

/// What is known of an endpoint beside its reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointNote {
    /// What people call it.
    pub name: String,
    /// Its address.
    pub base: String,
    /// Code of its environment.
    pub environment: String,
}

pub(crate) fn reports_at(
    connection: &Connection,
    endpoint: &str,
) -> Result<EndpointReports, JournalError> {
    let found = rows::one(connection, REPORTS, [endpoint], |row| {
        Ok(EndpointReports { all: row.get(0)?, open: row.get(1)? })
    })?;
    Ok(found.unwrap_or_default())
}

/// Keeps a note of an endpoint in the place of the earlier one.
pub(crate) fn keep_note(
    connection: &Connection,
    id: &str,
    note: &EndpointNote,
) -> Result<(), JournalError> {
    let value = serde_json::to_value(note).map_err(|_| JournalError::Damaged)?;
    settings::set(connection, &format!("{NOTE}{id}"), &value)
}

pub(crate) fn notes(
    connection: &Connection,
) -> Result<BTreeMap<String, EndpointNote>, JournalError> {
    let kept = settings::beginning(connection, NOTE)?;
    let read = |(name, value): (String, _)| {
        let id = name.strip_prefix(NOTE).unwrap_or_default().to_owned();
        Ok((id, serde_json::from_value(value).map_err(|_| JournalError::Damaged)?))
    };
    kept.into_iter().map(read).collect()
}

/// Whether two endpoints, by their ids, lead to one authority: they are one, or were noted with the
/// same address in the same environment. Each may have a certificate of its own.
pub(crate) fn lead_to_one(
    connection: &Connection,
    one: &str,
    other: &str,
) -> Result<bool, JournalError> {
    if one == other {
        return Ok(true);
    }
    let notes = notes(connection)?;
    let Some((one, other)) = notes.get(one).zip(notes.get(other)) else { return Ok(false) };
    Ok(one.leads_where(other))
}

/// Whether another endpoint leads to the authority of this one, or has led to it.
pub(crate) fn has_another(connection: &Connection, endpoint: &str) -> Result<bool, JournalError> {
    let notes = notes(connection)?;
    let Some(here) = notes.get(endpoint) else { return Ok(false) };
    Ok(notes.iter().any(|(id, note)| id != endpoint && note.leads_where(here)))
}

impl EndpointNote {
    /// Whether both lead to the same address in the same environment.
    pub(crate) fn leads_where(&self, other: &Self) -> bool {
        let plain = |address: &str| address.trim_end_matches('/').to_owned();
        plain(&self.base) == plain(&other.base) && self.environment == other.environment
    }
}
