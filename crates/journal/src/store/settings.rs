//! Settings as JSON.

use fhir::Instant;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::JournalError;
use crate::store::{cells, rows, sql};

pub(crate) fn get(connection: &Connection, name: &str) -> Result<Option<Value>, JournalError> {
    rows::one(connection, sql::SETTING, [name], |row| {
        cells::from_json(0, row.get_ref(0)?.as_str()?)
    })
}

/// All settings whose names begin so, in the order of their names.
pub(crate) fn beginning(
    connection: &Connection,
    prefix: &str,
) -> Result<Vec<(String, Value)>, JournalError> {
    let end = format!("{prefix}\u{10ffff}");
    rows::all(connection, sql::SETTINGS, [prefix, end.as_str()], |row| {
        Ok((row.get(0)?, cells::from_json(1, row.get_ref(1)?.as_str()?)?))
    })
}

pub(crate) fn set(connection: &Connection, name: &str, value: &Value) -> Result<(), JournalError> {
    let value = cells::to_json(value)?;
    connection
        .prepare_cached(sql::SET_SETTING)
        .and_then(|mut statement| statement.execute(params![name, value]))
        .map(drop)
        .map_err(JournalError::sql("set"))
}

pub(crate) fn remove(connection: &Connection, name: &str) -> Result<(), JournalError> {
    connection
        .prepare_cached(sql::REMOVE_SETTING)
        .and_then(|mut statement| statement.execute([name]))
        .map(drop)
        .map_err(JournalError::sql("set"))
}

pub(crate) fn watermark(
    connection: &Connection,
    endpoint: &str,
) -> Result<Option<Instant>, JournalError> {
    Ok(get(connection, &watermark_name(endpoint))?.and_then(|value| value.as_i64()).map(Instant))
}

pub(crate) fn set_watermark(
    connection: &Connection,
    endpoint: &str,
    at: Instant,
) -> Result<(), JournalError> {
    set(connection, &watermark_name(endpoint), &Value::from(at.0))
}

fn watermark_name(endpoint: &str) -> String {
    format!("watermark:{endpoint}")
}

/// Which life of the journal this is: a restore begins another one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Lineage {
    pub(crate) id: String,
    /// The life whose register stood beside the journal when it was restored.
    pub(crate) before: Option<String>,
    /// A register has been written beside it.
    #[serde(default)]
    pub(crate) registered: bool,
}

const LINEAGE: &str = "lineage";

pub(crate) fn lineage(connection: &Connection) -> Result<Lineage, JournalError> {
    if let Some(kept) = get(connection, LINEAGE)? {
        return serde_json::from_value(kept).map_err(|_| JournalError::Damaged);
    }
    let seed: Option<Vec<u8>> = rows::one(connection, sql::SEED, [], |row| row.get(0))?;
    let seed = seed.ok_or(JournalError::Damaged)?;
    let id = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Lineage { id, ..Lineage::default() })
}

pub(crate) fn set_lineage(connection: &Connection, lineage: &Lineage) -> Result<(), JournalError> {
    let value = serde_json::to_value(lineage).map_err(|_| JournalError::Damaged)?;
    set(connection, LINEAGE, &value)
}

pub(crate) fn set_registered(connection: &Connection, yes: bool) -> Result<(), JournalError> {
    let lineage = lineage(connection)?;
    if lineage.registered == yes {
        return Ok(());
    }
    set_lineage(connection, &Lineage { registered: yes, ..lineage })
}
