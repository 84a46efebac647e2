//! What the register notes of each report that is taken in: enough to recognise the report when it
//! comes again, and to ask for it, although the journal has forgotten it.

use std::collections::HashSet;

use rusqlite::{Connection, params};

/// What programs of before did not note, each with its place in [`columns`].
const ADDED: [&str; 3] = ["canonical", "document", "environment"];
const NEW: &str = "INSERT OR IGNORE INTO taken (submission, at, file, digest, identifier, \
     endpoint, canonical, document, environment) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const SINCE: &str = "SELECT id, created, file, digest, identifier, endpoint, canonical, \
     document_identifier, environment FROM submission WHERE id > ?1 ORDER BY id";
const COLUMNS: &str = "SELECT name FROM pragma_table_info(?1)";
const NUMBERS: &str = "SELECT submission FROM taken";
const OF_NUMBER: &str =
    "SELECT canonical, document_identifier, environment FROM submission WHERE id = ?1";
const COMPLETE: &str =
    "UPDATE taken SET canonical = ?2, document = ?3, environment = ?4 WHERE submission = ?1";

/// Those whose file is named still.
const NAMED: &str = "SELECT submission FROM taken WHERE file <> ''";
const FORGET_FILE: &str = "UPDATE taken SET file = '' WHERE submission = ?1";

/// A report as the register knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) submission: i64,
    pub(crate) at: i64,
    pub(crate) file: String,
    pub(crate) digest: String,
    pub(crate) identifier: String,
    pub(crate) endpoint: String,
    /// What it says, whatever its bytes; `None` where a program of before took it in.
    pub(crate) canonical: Option<String>,
    /// Identifier of its document.
    pub(crate) document: Option<String>,
    pub(crate) environment: Option<String>,
}

/// All of them, also where a program of before has written the register.
pub(crate) fn all(register: &Connection) -> rusqlite::Result<Vec<Taken>> {
    let there = columns(register, "taken")?;
    let added = ADDED.map(|name| if there.iter().any(|it| it == name) { name } else { "NULL" });
    let statement = format!(
        "SELECT submission, at, file, digest, identifier, endpoint, {} FROM taken \
         ORDER BY submission",
        added.join(", ")
    );
    register.prepare(&statement)?.query_map([], read)?.collect()
}

/// The columns that a table has: programs of before made fewer.
pub(crate) fn columns(register: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    register.prepare(COLUMNS)?.query_map([table], |row| row.get(0))?.collect()
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Taken> {
    Ok(Taken {
        submission: row.get(0)?,
        at: row.get(1)?,
        file: row.get(2)?,
        digest: row.get(3)?,
        identifier: row.get(4)?,
        endpoint: row.get(5)?,
        canonical: row.get(6)?,
        document: row.get(7)?,
        environment: row.get(8)?,
    })
}

/// Lets a register of a program of before note all that this one notes, and notes it of what the
/// journal still has.
pub(crate) fn complete(register: &Connection, journal: &Connection) -> rusqlite::Result<()> {
    let there = columns(register, "taken")?;
    let missing: Vec<&str> =
        ADDED.into_iter().filter(|name| !there.iter().any(|it| it == name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for name in missing {
        register.execute_batch(&format!("ALTER TABLE taken ADD COLUMN {name} TEXT"))?;
    }
    let numbers: Vec<i64> =
        register.prepare(NUMBERS)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let (mut query, mut update) = (journal.prepare(OF_NUMBER)?, register.prepare(COMPLETE)?);
    for number in numbers {
        let mut rows = query.query([number])?;
        if let Some(row) = rows.next()? {
            let text = |at| row.get::<_, Option<String>>(at);
            update.execute(params![number, text(0)?, text(1)?, text(2)?])?;
        }
    }
    Ok(())
}

/// Notes what the journal has taken in after this number; gives the last one.
pub(crate) fn note(
    register: &Connection,
    journal: &Connection,
    after: i64,
) -> rusqlite::Result<i64> {
    let mut last = after;
    let mut query = journal.prepare_cached(SINCE)?;
    let mut insert = register.prepare_cached(NEW)?;
    let mut rows = query.query([after])?;
    while let Some(row) = rows.next()? {
        let new = read(row)?;
        insert.execute(params![
            new.submission,
            new.at,
            new.file,
            new.digest,
            new.identifier,
            new.endpoint,
            new.canonical,
            new.document,
            new.environment,
        ])?;
        last = new.submission;
    }
    Ok(last)
}

/// Forgets the names of the files of these reports.
pub(crate) fn forget_files(register: &Connection, erased: &[i64]) -> rusqlite::Result<()> {
    let erased: HashSet<i64> = erased.iter().copied().collect();
    let named: Vec<i64> =
        register.prepare(NAMED)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    register.execute_batch("BEGIN IMMEDIATE")?;
    {
        let mut forget = register.prepare(FORGET_FILE)?;
        for number in named.into_iter().filter(|number| erased.contains(number)) {
            forget.execute([number])?;
        }
    }
    register.execute_batch("COMMIT")
}
