//! Errors, by what the caller may do next. None of them carries content of a report.

use std::path::Path;

use report::{Illegal, SubmissionId};
use rusqlite::ErrorCode;

/// Why a journal cannot be opened or created.
#[derive(Debug, thiserror::Error)]
pub enum OpenProblem {
    /// There is no file: create one, or look elsewhere.
    #[error("no journal at this place")]
    Missing,
    /// There is a file already; it is left alone.
    #[error("a file exists at this place")]
    Exists,
    /// The key does not fit, or the file is damaged: the two cannot be told apart.
    #[error("wrong key, or damaged")]
    WrongKeyOrDamaged,
    /// Written by a newer version of the program: nothing was touched.
    #[error("schema {found} is newer than {known}")]
    NewerSchema {
        /// Version of the file.
        found: u32,
        /// Newest version known here.
        known: u32,
    },
    /// Written by an older version of the program: to be brought up to date by `migrate`, which
    /// backs up before. Nothing was touched.
    #[error("schema {found} is older than {known}")]
    OlderSchema {
        /// Version of the file.
        found: u32,
        /// The version that this program works with.
        known: u32,
    },
    /// It lies where several computers may write and none sees the others' locks: a folder of the
    /// network. Nothing was touched.
    #[error("on a network file system")]
    Network,
    /// It lacks what was confirmed: its log is gone, or an older copy stands in its place.
    #[error("{found} events where {confirmed} were confirmed")]
    Outdated {
        /// Number of its last event; 0 where it is a journal of another life.
        found: u64,
        /// Number of the last event that was confirmed.
        confirmed: u64,
    },
    /// A backup of changes, without a file that it builds on.
    #[error("lacks {lacks}")]
    Incomplete {
        /// Name of that file, which belongs into the same folder.
        lacks: String,
    },
    /// Another process holds it locked for longer than the waiting time: try again.
    #[error("locked by another process")]
    Busy,
    /// The disk is full.
    #[error("disk full")]
    Full,
    /// The file system refuses.
    #[error("{operation}")]
    Io {
        /// What was being done.
        operation: &'static str,
        /// Why it failed.
        #[source]
        source: Cause,
    },
}

/// Why a journal cannot answer or keep something. Nothing was changed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// There is no such submission.
    #[error("no submission {}", .0.0)]
    NotFound(SubmissionId),
    /// Another process holds it locked for longer than the waiting time: try again.
    #[error("locked by another process")]
    Busy,
    /// The disk is full: intake pauses.
    #[error("disk full")]
    Full,
    /// What is stored cannot be read: verify, set aside, restore.
    #[error("damaged")]
    Damaged,
    /// The lease was taken by another process, or released: stop working the queue.
    #[error("stale lease")]
    StaleLease,
    /// The journal was closed.
    #[error("closed")]
    Closed,
    /// The target of a backup exists already; it is left alone.
    #[error("a file exists at this place")]
    Exists,
    /// A newer version of the program has brought the journal on: this one must end.
    #[error("schema {found} is newer than {known}")]
    NewerSchema {
        /// Version of the file now.
        found: u32,
        /// Newest version known here.
        known: u32,
    },
    /// The file system or the database refuses.
    #[error("{operation}")]
    Io {
        /// What was being done.
        operation: &'static str,
        /// Why it failed.
        #[source]
        source: Cause,
    },
}

/// Why an event was not recorded or a report not taken in. Nothing was changed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RecordError {
    /// The event cannot follow.
    #[error("{} cannot follow {}", .0.event, .0.state)]
    Illegal(Illegal),
    /// The state is not the expected one.
    #[error("state is {found}")]
    Unexpected {
        /// Code of the state.
        found: &'static str,
    },
    /// Another submission waits to be sent in its place.
    #[error("#{} waits in its place", .by.0)]
    BeingReplaced {
        /// The submission that waits.
        by: SubmissionId,
    },
    /// `Completed` without the authority's answer.
    #[error("no evidence")]
    NoEvidence,
    /// The digest given is not the digest of the document given.
    #[error("digest does not belong to the document")]
    DigestMismatch,
    /// The journal itself.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A cause that can be kept and repeated: code and words of the system, without content.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct Cause(String);

impl Cause {
    fn new(error: &impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

impl OpenProblem {
    pub(crate) fn io(operation: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |error| match error.kind() {
            std::io::ErrorKind::NotFound => Self::Missing,
            std::io::ErrorKind::AlreadyExists => Self::Exists,
            std::io::ErrorKind::StorageFull => Self::Full,
            _ => Self::Io { operation, source: Cause::new(&error) },
        }
    }

    pub(crate) fn sql(operation: &'static str) -> impl Fn(rusqlite::Error) -> Self {
        move |error| match JournalError::sql(operation)(error) {
            JournalError::Busy => Self::Busy,
            JournalError::Full => Self::Full,
            JournalError::Damaged => Self::WrongKeyOrDamaged,
            JournalError::Io { operation, source } => Self::Io { operation, source },
            other => Self::Io { operation, source: Cause::new(&other) },
        }
    }
}

impl JournalError {
    pub(crate) fn io(operation: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Self::Exists,
            std::io::ErrorKind::StorageFull => Self::Full,
            _ => Self::Io { operation, source: Cause::new(&error) },
        }
    }

    pub(crate) fn sql(operation: &'static str) -> impl Fn(rusqlite::Error) -> Self {
        move |error| {
            let code = match &error {
                rusqlite::Error::SqliteFailure(failure, _) => Some(failure.code),
                // Rows that are not of the shape that the schema promises.
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::Utf8Error(..) => return Self::Damaged,
                _ => None,
            };
            match code {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
                Some(ErrorCode::DiskFull) => Self::Full,
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged,
                // The message of a constraint names tables and columns, never values.
                _ => Self::Io { operation, source: Cause::new(&error) },
            }
        }
    }
}

impl From<Illegal> for RecordError {
    fn from(illegal: Illegal) -> Self {
        Self::Illegal(illegal)
    }
}

/// The folder of a path that may be a bare file name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use rusqlite::ffi;

    use super::*;

    #[test]
    fn what_the_system_says_becomes_what_may_be_done_next() {
        let of = |kind: ErrorKind| JournalError::io("write")(kind.into());
        assert!(matches!(of(ErrorKind::AlreadyExists), JournalError::Exists));
        assert!(matches!(of(ErrorKind::StorageFull), JournalError::Full));
        assert!(matches!(of(ErrorKind::NotFound), JournalError::Io { operation: "write", .. }));
        let of = |kind: ErrorKind| OpenProblem::io("open")(kind.into());
        assert!(matches!(of(ErrorKind::NotFound), OpenProblem::Missing));
        assert!(matches!(of(ErrorKind::AlreadyExists), OpenProblem::Exists));
        assert!(matches!(of(ErrorKind::StorageFull), OpenProblem::Full));
        assert!(matches!(of(ErrorKind::TimedOut), OpenProblem::Io { operation: "open", .. }));
    }

    #[test]
    fn what_sqlite_says_becomes_what_may_be_done_next() {
        let failure = |code| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        let of = |code| JournalError::sql("read")(failure(code));
        for busy in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED] {
            assert!(matches!(of(busy), JournalError::Busy));
            assert!(matches!(OpenProblem::sql("open")(failure(busy)), OpenProblem::Busy));
        }
        assert!(matches!(of(ffi::SQLITE_FULL), JournalError::Full));
        for damaged in [ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB] {
            assert!(matches!(of(damaged), JournalError::Damaged));
            let problem = OpenProblem::sql("open")(failure(damaged));
            assert!(matches!(problem, OpenProblem::WrongKeyOrDamaged));
        }
        assert!(matches!(of(ffi::SQLITE_IOERR), JournalError::Io { operation: "read", .. }));
        let full = OpenProblem::sql("open")(failure(ffi::SQLITE_FULL));
        assert!(matches!(full, OpenProblem::Full));
        let shape = rusqlite::Error::IntegralValueOutOfRange(0, -1);
        assert!(matches!(JournalError::sql("read")(shape), JournalError::Damaged));
    }

    #[test]
    fn a_bare_name_lies_in_this_folder() {
        assert_eq!(folder_of(Path::new("journal.db")), Path::new("."));
        assert_eq!(folder_of(Path::new("profile/journal.db")), Path::new("profile"));
        assert_eq!(folder_of(Path::new("/journal.db")), Path::new("/"));
    }
}
