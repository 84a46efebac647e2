//! Settings as JSON.

use fhir::Instant;
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::{JournalError, cells, read, sql};

pub(crate) fn get(connection: &Connection, name: &str) -> Result<Option<Value>, JournalError> {
    read::one(connection, sql::SETTING, [name], |row| {
        cells::from_json(0, row.get_ref(0)?.as_str()?)
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
