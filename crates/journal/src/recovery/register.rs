//! What was confirmed, noted beside the journal after each commit and before the reply: the head of
//! the chain of events, and which reports were taken in ([`crate::taken`]).
//!
//! Without it a journal that lost its log, was cut at a page, or was replaced by an older copy
//! would open as if nothing were missing. It is a database of its own under the same key, so that
//! damage of one file does not reach the other. It is written without waiting for the disk: a
//! process that is killed leaves it whole, and after a power cut it may lag behind the journal,
//! which weakens the check and never gives a false alarm. It is made anew from the journal where it
//! is missing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::chain::Hash;
use crate::events::taken;
use crate::events::taken::Taken;
use crate::store::open::{Access, Place};
use crate::store::{open, pause, rows, settings, sql};
use crate::{JournalError, OpenProblem, chain};

/// Name beside the journal.
const SUFFIX: &str = "-register";
/// It is not worth holding up a commit for longer.
const BUSY_WAIT: Duration = Duration::from_millis(500);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS head (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        lineage TEXT NOT NULL,    -- of the journal that it belongs to
        events INTEGER NOT NULL,  -- number of the last confirmed event
        hash BLOB NOT NULL,       -- its hash
        suspect INTEGER NOT NULL  -- damage was met since the last check
    ) STRICT;
    CREATE TABLE IF NOT EXISTS taken (
        submission INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        file TEXT NOT NULL,
        digest TEXT NOT NULL,
        identifier TEXT NOT NULL,
        endpoint TEXT NOT NULL
    ) STRICT;";
const HEAD: &str = "SELECT lineage, events, hash, suspect FROM head WHERE id = 1";
const NEW_HEAD: &str =
    "INSERT INTO head (id, lineage, events, hash, suspect) VALUES (1, ?1, ?2, ?3, 0)";
const MOVE_HEAD: &str = "UPDATE head SET events = ?1, hash = ?2 WHERE id = 1 AND events < ?1";
const SET_PAUSED: &str = "UPDATE head SET paused = ?1 WHERE id = 1";

/// The head of the chain as it was confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    lineage: String,
    pub(crate) events: i64,
    hash: Hash,
    pub(crate) suspect: bool,
}

/// What stands beside a journal.
#[derive(Debug)]
pub(crate) enum Look {
    Absent,
    Unreadable,
    Present(Head),
}

/// How a journal and its register agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// The journal has everything that was confirmed.
    Holds,
    /// The register is to be made: none was there, or it was another lineage's.
    Begins,
    /// The register is to be made although there has been one.
    Lost,
}

/// The writing thread's way to it.
pub(crate) struct Register {
    connection: Connection,
    events: i64,
    submission: i64,
}

/// Where the register of a journal is.
pub(crate) fn path(journal: &Path) -> PathBuf {
    open::with_suffix(journal, SUFFIX)
}

fn place_of(journal: &Place) -> Place {
    Place { path: path(&journal.path), key: journal.key.clone() }
}

fn connect(place: &Place) -> rusqlite::Result<Connection> {
    let connection = open::connect(place, Access::Write)?;
    connection.busy_timeout(BUSY_WAIT)?;
    connection.execute_batch("PRAGMA cache_size = -512; PRAGMA wal_autocheckpoint = 256;")?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0))?;
    // No wait for the disk at a commit; a power cut costs the last entries and never the file.
    connection.execute_batch("PRAGMA synchronous = NORMAL")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(connection)
}

/// Reads the head. To be called before the journal is read, which other processes may move on
/// meanwhile. An error where the computer refuses just now: that says nothing about the file, which
/// must not be set aside for it.
pub(crate) fn look(journal: &Place) -> Result<Look, OpenProblem> {
    let place = place_of(journal);
    match std::fs::metadata(&place.path) {
        Ok(facts) if facts.is_file() && facts.len() > 0 => {}
        Ok(_) => return Ok(Look::Unreadable),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Look::Absent),
        Err(error) => return Err(OpenProblem::io("open")(error)),
    }
    let read = || connect(&place).and_then(|connection| head(&connection));
    // What was in the way for a moment is gone at the second look.
    match read().or_else(|error| if passes(&error) { read() } else { Err(error) }) {
        Ok(Some(head)) => Ok(Look::Present(head)),
        Ok(None) => Ok(Look::Absent),
        Err(error) if passes(&error) => Err(OpenProblem::sql("open")(error)),
        Err(_) => Ok(Look::Unreadable),
    }
}

/// The disk is full, the folder cannot be written, another process is in the way: not a matter of
/// the file. One that cannot be read to its end is.
fn passes(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode as Code;
    use rusqlite::ffi::{SQLITE_IOERR_CORRUPTFS, SQLITE_IOERR_READ, SQLITE_IOERR_SHORT_READ};
    let Some(failure) = error.sqlite_error() else { return false };
    match failure.code {
        Code::SystemIoFailure => !matches!(
            failure.extended_code,
            SQLITE_IOERR_READ | SQLITE_IOERR_SHORT_READ | SQLITE_IOERR_CORRUPTFS
        ),
        Code::DiskFull
        | Code::CannotOpen
        | Code::ReadOnly
        | Code::PermissionDenied
        | Code::DatabaseBusy
        | Code::DatabaseLocked
        | Code::OutOfMemory => true,
        _ => false,
    }
}

fn head(connection: &Connection) -> rusqlite::Result<Option<Head>> {
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Head {
            lineage: row.get(0)?,
            events: row.get(1)?,
            hash: chain::stored(row.get(2)?)?,
            suspect: row.get(3)?,
        })
    };
    connection.query_row(HEAD, [], read).optional()
}

/// Everything that the register knows to have been taken in; nothing where it cannot be read.
pub(crate) fn taken(journal: &Place) -> Vec<Taken> {
    let all = || taken::all(&connect(&place_of(journal))?);
    all().unwrap_or_default()
}

/// Whether the journal holds everything that was confirmed.
pub(crate) fn agree(journal: &Connection, look: &Look) -> Result<Agreement, OpenProblem> {
    let problem = |_| OpenProblem::WrongKeyOrDamaged;
    let lineage = settings::lineage(journal).map_err(problem)?;
    let Look::Present(head) = look else {
        return Ok(if lineage.registered { Agreement::Lost } else { Agreement::Begins });
    };
    if head.lineage != lineage.id {
        // A restore ended before the register followed.
        return match lineage.before {
            Some(before) if before == head.lineage => Ok(Agreement::Begins),
            _ => Err(OpenProblem::Outdated { found: 0, confirmed: number(head.events) }),
        };
    }
    if holds(journal, head).map_err(problem)? {
        return Ok(Agreement::Holds);
    }
    let found = last(journal).map_err(OpenProblem::sql("open"))?.map_or(0, |(number, _)| number);
    Err(OpenProblem::Outdated { found: number(found), confirmed: number(head.events) })
}

/// Whether the event that was confirmed last stands in the journal as it was confirmed.
pub(crate) fn holds(journal: &Connection, head: &Head) -> Result<bool, JournalError> {
    if head.events == 0 {
        return Ok(true);
    }
    let hash: Option<Vec<u8>> =
        rows::one(journal, "SELECT hash FROM event WHERE id = ?1", [head.events], |row| {
            row.get(0)
        })?;
    Ok(hash.as_deref() == Some(head.hash.as_slice()))
}

/// Lineage of the journal that the register belongs to.
pub(crate) fn lineage(look: &Look) -> Option<&str> {
    match look {
        Look::Present(head) => Some(&head.lineage),
        _ => None,
    }
}

fn number(events: i64) -> u64 {
    u64::try_from(events).unwrap_or(0)
}

fn last(journal: &Connection) -> rusqlite::Result<Option<(i64, Hash)>> {
    let mut query = journal.prepare_cached(sql::LAST_EVENT)?;
    query.query_row([], |row| Ok((row.get(0)?, chain::stored(row.get(1)?)?))).optional()
}

impl Register {
    /// Opens it, made anew where it has to be. `None` where there can be none (a full disk): the
    /// journal works without, and the next start tries again.
    pub(crate) fn open(
        journal: &Place,
        writing: &Connection,
        agreement: Agreement,
    ) -> Option<Self> {
        let place = place_of(journal);
        let opened = connect_or_make(&place, agreement).ok()?;
        let register = Self::begin(opened, writing, agreement).ok()?;
        // Only now: a register that could not be made is not missed later.
        settings::set_registered(writing, true).ok()?;
        Some(register)
    }

    fn begin(
        connection: Connection,
        journal: &Connection,
        agreement: Agreement,
    ) -> rusqlite::Result<Self> {
        let lineage = settings::lineage(journal).map_err(|_| rusqlite::Error::InvalidQuery)?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        connection.execute_batch(SCHEMA)?;
        let columns = taken::columns(&connection, "head")?;
        for (name, kind) in [("home", "TEXT"), ("paused", "INTEGER")] {
            if !columns.iter().any(|column| column == name) {
                connection.execute_batch(&format!("ALTER TABLE head ADD COLUMN {name} {kind}"))?;
            }
        }
        taken::complete(&connection, journal)?;
        let found = head(&connection)?;
        let ours = found.as_ref().is_some_and(|head| head.lineage == lineage.id);
        if agreement != Agreement::Holds && !ours {
            connection.execute_batch("DELETE FROM head; DELETE FROM taken;")?;
            let start: Hash = [0; 32];
            connection.execute(NEW_HEAD, params![lineage.id, 0, start.as_slice()])?;
        }
        // What could not be noted, or is of a program of before.
        if let Ok(paused) = pause::is_paused(journal) {
            connection.execute(SET_PAUSED, [paused])?;
        }
        connection.execute_batch("COMMIT")?;
        let (events, submission) = connection.query_row(
            "SELECT events, (SELECT coalesce(max(submission), 0) FROM taken) FROM head",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let mut register = Self { connection, events, submission };
        register.write(journal)?;
        Ok(register)
    }

    /// Notes what has been committed. What fails is noted with the next commit.
    pub(crate) fn note(&mut self, journal: &Connection) {
        if self.write(journal).is_err() && !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    fn write(&mut self, journal: &Connection) -> rusqlite::Result<()> {
        let Some((events, hash)) = last(journal)?.filter(|(number, _)| *number > self.events)
        else {
            return Ok(());
        };
        let run = |statement: &str| self.connection.prepare_cached(statement)?.execute([]);
        run("BEGIN IMMEDIATE")?;
        let submission = taken::note(&self.connection, journal, self.submission)?;
        let mut update = self.connection.prepare_cached(MOVE_HEAD)?;
        update.execute(params![events, hash.as_slice()])?;
        run("COMMIT")?;
        (self.events, self.submission) = (events, submission);
        Ok(())
    }
}

fn connect_or_make(place: &Place, agreement: Agreement) -> Result<Connection, JournalError> {
    let io = JournalError::io("register");
    if agreement == Agreement::Lost && place.path.try_exists().unwrap_or(false) {
        // Unreadable: kept for whoever wants to look at it.
        let aside = open::with_suffix(&place.path, &format!(".set-aside-{}", uuid::Uuid::new_v4()));
        open::rename_all(&place.path, &aside).map_err(&io)?;
    }
    match open::private_file(&place.path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(io(error)),
        _ => {}
    }
    connect(place).map_err(JournalError::sql("register"))
}

/// Where the register lived at the last opening, where that was noted.
pub(crate) fn home(journal: &Place) -> Option<String> {
    home_in(&connect(&place_of(journal)).ok()?)
}

/// The same of one that is open.
pub(crate) fn home_in(register: &Connection) -> Option<String> {
    let read = register.query_row("SELECT home FROM head WHERE id = 1", [], |row| row.get(0));
    read.ok().flatten()
}

/// Notes where it lives.
pub(crate) fn settle(journal: &Place, here: &str) {
    if home(journal).as_deref() != Some(here)
        && let Ok(connection) = connect(&place_of(journal))
    {
        set_home_in(&connection, here);
    }
}

/// The same in one that is open. The journal keeps where it lives too, and the next opening tries
/// again.
pub(crate) fn set_home_in(register: &Connection, here: &str) {
    let _ = register.execute("UPDATE head SET home = ?1 WHERE id = 1", [here]);
}

/// Whether sending is paused, where that was noted.
pub(crate) fn pause(journal: &Place) -> Option<bool> {
    let read = || -> rusqlite::Result<Option<bool>> {
        let statement = "SELECT paused FROM head WHERE id = 1";
        connect(&place_of(journal))?.query_row(statement, [], |row| row.get(0))
    };
    read().ok().flatten()
}

/// Notes whether it is.
pub(crate) fn note_pause(journal: &Place, paused: bool) {
    let write = || -> rusqlite::Result<()> {
        connect(&place_of(journal))?.execute(SET_PAUSED, [paused]).map(drop)
    };
    // The journal says it; the next opening tries again.
    let _ = write();
}

/// Remembers that damage was met: the next opening checks the whole journal.
pub(crate) fn suspect(journal: &Place, suspect: bool) {
    let mark = || -> rusqlite::Result<()> {
        let connection = connect(&place_of(journal))?;
        connection.execute("UPDATE head SET suspect = ?1 WHERE id = 1", [suspect]).map(drop)
    };
    // Without a register nothing can be remembered; the next step that meets the damage says so
    // again.
    let _ = mark();
}

/// Forgets the names of these reports' files, because retention has removed them from the journal.
/// What they are recognised by stays: a backup may have forgotten them.
pub(crate) fn forget_files(journal: &Place, erased: &[i64]) {
    let forget = || -> rusqlite::Result<()> {
        let connection = connect(&place_of(journal))?;
        taken::forget_files(&connection, erased)
    };
    // The next retention tries again.
    let _ = forget();
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn only_what_the_file_itself_shows_is_a_matter_of_the_file() {
        let passing = |code| passes(&rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        for code in [
            ffi::SQLITE_FULL,
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_SHMSIZE,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_NOMEM,
        ] {
            assert!(passing(code), "{code}");
        }
        for code in [
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_IOERR_SHORT_READ,
            ffi::SQLITE_ERROR,
        ] {
            assert!(!passing(code), "{code}");
        }
        assert!(!passes(&rusqlite::Error::QueryReturnedNoRows));
    }
}
