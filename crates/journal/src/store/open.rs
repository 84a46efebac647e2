//! Opening and creating: keys, pragmas, versions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::problem::folder_of;
use crate::store::{filesystem, schema};
use crate::{Key, OpenProblem};

/// How long to wait for another process's commit: a group of 64 on a slow disk takes well under a
/// second, a checkpoint of 16 MB a few.
const BUSY_WAIT: Duration = Duration::from_secs(10);

/// Statements that are kept prepared: all hot ones (about 40) with room.
const STATEMENTS_KEPT: usize = 96;

/// The file itself and what SQLite keeps beside it.
pub(crate) const COMPANIONS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Where a journal is and what opens it.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) key: Key,
}

/// What a connection may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl Place {
    /// Absolute, because SQLite takes a relative path that begins with `file:` for a URI.
    pub(crate) fn new(path: &Path, key: &Key) -> Result<Self, OpenProblem> {
        let path = std::path::absolute(path).map_err(OpenProblem::io("find"))?;
        Ok(Self { path, key: key.clone() })
    }

    fn beside(&self, suffix: &str) -> Self {
        Self { path: with_suffix(&self.path, suffix), key: self.key.clone() }
    }
}

/// `name` → `name<suffix>`, in the same folder.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// Opens with the key; whether the key fits is known at the first read.
pub(crate) fn connect(place: &Place, access: Access) -> rusqlite::Result<Connection> {
    let mode = match access {
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let connection =
        Connection::open_with_flags(&place.path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_WAIT)?;
    if access == Access::Write {
        // Closing would bring whatever log stands beside the file into it, also another database's.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    }
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // SQLCipher would write its failures to standard error.
    connection.execute_batch("PRAGMA cipher_log_level = NONE")?;
    connection.execute_batch(&place.key.pragma()).map_err(without_statement)?;
    // Nothing of a page is on disk in the clear: no temporary files, no memory map.
    connection.execute_batch(
        "PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0; PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
    )?;
    connection.execute_batch(match access {
        // Negative: KiB.
        Access::Read => "PRAGMA query_only = ON; PRAGMA cache_size = -4096;",
        Access::Write => {
            // On macOS a write is on the disk only after F_FULLFSYNC; elsewhere this does nothing.
            "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
             PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA cache_size = -12288;
             PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 33554432;"
        }
    })?;
    Ok(connection)
}

/// An error about the statement that carries the key must not repeat it: it ends up in a log.
fn without_statement(error: rusqlite::Error) -> rusqlite::Error {
    match error {
        rusqlite::Error::SqliteFailure(error, _) | rusqlite::Error::SqlInputError { error, .. } => {
            rusqlite::Error::SqliteFailure(error, None)
        }
        _ => rusqlite::Error::InvalidQuery,
    }
}

/// The writing connection of an existing journal whose schema passes the check.
pub(crate) fn writable(
    place: &Place,
    check: impl Fn(&Connection) -> Result<(), OpenProblem>,
) -> Result<Connection, OpenProblem> {
    present(&place.path)?;
    if filesystem::is_shared(&place.path) {
        return Err(OpenProblem::Network);
    }
    let connection = connect(place, Access::Write).map_err(OpenProblem::sql("open"))?;
    check(&connection)?;
    // After the check: a wrong key must not even touch the header.
    use_log(&connection)?;
    // Also after the check: this log is our own.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
        .map_err(OpenProblem::sql("open"))?;
    Ok(connection)
}

/// The log beside the file, without which several processes would stand in each other's way. Where
/// it cannot be had, the place does not offer memory that processes share, as folders of the
/// network do not.
pub(crate) fn use_log(connection: &Connection) -> Result<(), OpenProblem> {
    let mode: String = connection
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(OpenProblem::sql("open"))?;
    if mode == "wal" { Ok(()) } else { Err(OpenProblem::Network) }
}

/// Where the newest content of pages stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pages {
    /// All in the file: it can be read as it is, free pages too.
    InFile,
    /// Some in the log: a page in the file may be old, or half written by a checkpoint that ended
    /// early.
    InLog,
}

/// Brings the log into the file as far as readers permit.
pub(crate) fn settle(place: &Place) -> rusqlite::Result<Pages> {
    let connection = connect(place, Access::Write)?;
    let (log, settled): (i64, i64) =
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
            Ok((row.get(1)?, row.get(2)?))
        })?;
    Ok(if log == settled { Pages::InFile } else { Pages::InLog })
}

/// Reads of something that is only looked at, e.g. a backup.
pub(crate) fn readable(place: &Place) -> Result<Connection, OpenProblem> {
    present(&place.path)?;
    let connection = connect(place, Access::Read).map_err(OpenProblem::sql("open"))?;
    schema::check_readable(&connection)?;
    Ok(connection)
}

pub(crate) fn present(path: &Path) -> Result<(), OpenProblem> {
    let facts = std::fs::metadata(path).map_err(OpenProblem::io("find"))?;
    // SQLite would take an emptied file for a new database: a lost journal would look like a fresh
    // one.
    if !facts.is_file() || facts.len() == 0 {
        return Err(OpenProblem::WrongKeyOrDamaged);
    }
    Ok(())
}

/// Builds the journal under another name and gives it its own only when it is complete.
pub(crate) fn create(path: &Path, key: &Key) -> Result<(), OpenProblem> {
    let place = Place::new(path, key)?;
    if filesystem::is_shared(&place.path) {
        return Err(OpenProblem::Network);
    }
    // A log that was left behind would be taken for the new journal's own.
    for companion in COMPANIONS {
        let path = with_suffix(&place.path, companion);
        if path.try_exists().map_err(OpenProblem::io("find"))? {
            return Err(OpenProblem::Exists);
        }
    }
    let draft = place.beside(&format!(".{}.new", uuid::Uuid::new_v4()));
    let outcome = build(&draft)
        .and_then(|()| publish(&draft.path, &place.path).map_err(OpenProblem::io("create")));
    discard(&draft.path);
    outcome
}

pub(crate) fn build(draft: &Place) -> Result<(), OpenProblem> {
    private_file(&draft.path).map_err(OpenProblem::io("create"))?;
    let connection = connect(draft, Access::Write).map_err(OpenProblem::sql("create"))?;
    schema::migrate(&connection)?;
    connection.close().map_err(|(_, error)| OpenProblem::sql("create")(error))
}

/// An empty file that only this user can read; SQLite gives its companions the same mode.
pub(crate) fn private_file(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Gives a finished file its name, without replacing what may stand there, and makes both last.
pub(crate) fn publish(draft: &Path, path: &Path) -> std::io::Result<()> {
    std::fs::File::open(draft)?.sync_all()?;
    match std::fs::hard_link(draft, path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(error),
        // File systems without hard links: reserve the name first, then replace our own
        // reservation.
        Err(_) => {
            private_file(path)?;
            std::fs::rename(draft, path).inspect_err(|_| drop(std::fs::remove_file(path)))?;
        }
    }
    sync_folder(path)
}

/// A name is on disk only when its folder is.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    if cfg!(unix) { std::fs::File::open(folder_of(path))?.sync_all() } else { Ok(()) }
}

/// Renames a file with its companions, the file first; says whether there was any. Never replaces.
pub(crate) fn rename_all(from: &Path, to: &Path) -> std::io::Result<bool> {
    let mut moved = false;
    for companion in COMPANIONS {
        let (from, to) = (with_suffix(from, companion), with_suffix(to, companion));
        if from.symlink_metadata().is_err() {
            continue;
        }
        if to.symlink_metadata().is_ok() {
            return Err(std::io::ErrorKind::AlreadyExists.into());
        }
        std::fs::rename(&from, &to)?;
        moved = true;
    }
    Ok(moved)
}

/// Removes a draft and its companions; what cannot be removed is only litter.
pub(crate) fn discard(draft: &Path) {
    for suffix in COMPANIONS {
        let _ = std::fs::remove_file(with_suffix(draft, suffix));
    }
}
