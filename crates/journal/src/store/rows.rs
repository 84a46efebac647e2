//! Rows of a statement that is kept prepared.

use rusqlite::{Connection, OptionalExtension as _, Params};

use crate::JournalError;

/// All rows of a statement.
pub(crate) fn all<T>(
    connection: &Connection,
    statement: &str,
    parameters: impl Params,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, JournalError> {
    connection
        .prepare_cached(statement)
        .and_then(|mut query| query.query_map(parameters, read)?.collect())
        .map_err(JournalError::sql("read"))
}

/// The one row of a statement, if there is one.
pub(crate) fn one<T>(
    connection: &Connection,
    statement: &str,
    parameters: impl Params,
    read: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, JournalError> {
    connection
        .prepare_cached(statement)
        .and_then(|mut query| query.query_row(parameters, read).optional())
        .map_err(JournalError::sql("read"))
}
