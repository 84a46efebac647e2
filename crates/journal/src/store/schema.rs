//! Versions of the schema. Migrations are files that are only ever added.

use rusqlite::{Connection, params};

use crate::store::{rows, sql};
use crate::{JournalError, OpenProblem};

/// In order; the version of a journal is the number of those it has had.
pub(crate) const MIGRATIONS: [&str; 2] =
    [include_str!("../../schema/0001-journal.sql"), include_str!("../../schema/0002-content.sql")];

/// Newest version known here.
pub(crate) const KNOWN: u32 = MIGRATIONS.len() as u32;

/// Says whether the key fits and the version is the one that this program works with. Changes
/// nothing.
pub(crate) fn check(connection: &Connection) -> Result<(), OpenProblem> {
    let found = check_readable(connection)?;
    if found < KNOWN { Err(OpenProblem::OlderSchema { found, known: KNOWN }) } else { Ok(()) }
}

/// Says whether the key fits and the version is one that is known here, and which. Changes nothing.
pub(crate) fn check_readable(connection: &Connection) -> Result<u32, OpenProblem> {
    let found = version(connection)?;
    if found > KNOWN {
        return Err(OpenProblem::NewerSchema { found, known: KNOWN });
    }
    if found == 0 {
        // Some other database, or nothing: journals appear complete or not at all.
        return Err(OpenProblem::WrongKeyOrDamaged);
    }
    // Touches the schema and the first real pages.
    connection
        .query_row(sql::SEED, [], |row| row.get::<_, Vec<u8>>(0))
        .map(|_| found)
        .map_err(OpenProblem::sql("open"))
}

/// While a program runs: refuses where a newer one has brought the schema on, which should not
/// happen beside others and may where locks do not hold.
pub(crate) fn unchanged(connection: &Connection) -> Result<(), JournalError> {
    let found: Option<u32> = rows::one(connection, "PRAGMA user_version", [], |row| row.get(0))?;
    match found {
        Some(found) if found > KNOWN => Err(JournalError::NewerSchema { found, known: KNOWN }),
        _ => Ok(()),
    }
}

/// Brings the schema up to date, all or nothing. Only for whoever has the journal alone.
pub(crate) fn migrate(connection: &Connection) -> Result<(), OpenProblem> {
    migrate_by(connection, &MIGRATIONS)
}

pub(crate) fn migrate_by(connection: &Connection, all: &[&str]) -> Result<(), OpenProblem> {
    let newest = u32::try_from(all.len()).unwrap_or(u32::MAX);
    if version(connection)? >= newest {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE").map_err(OpenProblem::sql("migrate"))?;
    let outcome = version(connection).and_then(|found| upgrade(connection, all, found, newest));
    match outcome {
        Ok(()) => connection.execute_batch("COMMIT").map_err(OpenProblem::sql("migrate")),
        Err(problem) => {
            let _ = connection.execute_batch("ROLLBACK");
            Err(problem)
        }
    }
}

fn upgrade(
    connection: &Connection,
    all: &[&str],
    found: u32,
    newest: u32,
) -> Result<(), OpenProblem> {
    let missing = all.get(found as usize..).unwrap_or_default();
    for migration in missing {
        connection.execute_batch(migration).map_err(OpenProblem::sql("migrate"))?;
    }
    if found == 0 {
        let seed = uuid::Uuid::new_v4();
        connection
            .execute(sql::NEW_FACTS, params![seed.as_bytes().as_slice()])
            .map_err(OpenProblem::sql("migrate"))?;
    }
    connection.pragma_update(None, "user_version", newest).map_err(OpenProblem::sql("migrate"))
}

fn version(connection: &Connection) -> Result<u32, OpenProblem> {
    connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(OpenProblem::sql("open"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and statements of everything in the schema, without the spaces that mean nothing.
    fn contents(statements: &[&str]) -> Vec<(String, String)> {
        let connection = Connection::open_in_memory().unwrap();
        for statement in statements {
            connection.execute_batch(statement).unwrap();
        }
        let mut query = connection
            .prepare("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name")
            .unwrap();
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).unwrap();
        rows.map(|row| {
            let (name, text) = row.unwrap();
            (name, text.split_whitespace().collect::<Vec<_>>().join(" "))
        })
        .collect()
    }

    #[test]
    fn the_sum_of_the_migrations_is_the_full_schema() {
        assert_eq!(contents(&MIGRATIONS), contents(&[include_str!("../../schema/full.sql")]));
    }

    #[test]
    fn every_table_of_ours_is_strict() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(include_str!("../../schema/full.sql")).unwrap();
        let lax: Vec<String> = connection
            .prepare(
                "SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict
                 AND name NOT LIKE 'sqlite_%'",
            )
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .filter(|name: &String| !name.starts_with("search"))
            .collect();
        assert_eq!(lax, Vec::<String>::new());
    }
}
