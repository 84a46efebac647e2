//! For simulations only: the journal's own statements on a database in memory, without a thread.
//! Several handles stand for several processes of one computer; a [`Seam`] decides at every write
//! whether its process is still alive, and when it hears of the commit.
//!
//! Not here: encryption, the disk and the grouping of commits, which have tests of their own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use report::SubmissionId;
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use crate::JournalError;
use crate::problem::OpenProblem;
use crate::store::writer::{Job, TRANSACTION, transact};
use crate::store::{rows, schema, words};

/// What a simulation decides at every write of a process.
pub trait Seam: Send + Sync {
    /// Before a write; `false`: nothing is written, because the disk refuses or the process is
    /// dead.
    fn before(&self) -> bool;
    /// After its commit; `false`: the process never hears of it.
    fn after(&self) -> bool;
    /// Takes the reply of a write that is awaited, to hand it over when the world wants.
    fn later(&self, hand_over: Box<dyn FnOnce() + Send>);
}

/// A database in memory that is used again and again.
#[derive(Clone)]
pub struct Memory {
    live: Arc<Mutex<Connection>>,
    /// An empty journal.
    empty: Arc<Mutex<Connection>>,
    /// What was there at [`Memory::back_up`].
    kept: Arc<Mutex<Connection>>,
}

/// Statements that are kept prepared.
const STATEMENTS_KEPT: usize = 128;
/// Every page is copied in one step.
const ALL_PAGES: i32 = -1;

impl Memory {
    /// An empty journal.
    pub fn new() -> Result<Self, OpenProblem> {
        let open = || {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection =
                Connection::open_in_memory_with_flags(flags).map_err(OpenProblem::sql("open"))?;
            connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
            connection
                .execute_batch("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;")
                .map_err(OpenProblem::sql("open"))?;
            Ok::<_, OpenProblem>(Arc::new(Mutex::new(connection)))
        };
        let memory = Self { live: open()?, empty: open()?, kept: open()? };
        schema::migrate(&lock(&memory.empty))?;
        words::gather(&memory.lock()).map_err(OpenProblem::sql("open"))?;
        memory.reset().map_err(|_| OpenProblem::WrongKeyOrDamaged)?;
        Ok(memory)
    }

    /// Empty again.
    pub fn reset(&self) -> Result<(), JournalError> {
        copy(&lock(&self.empty), &mut self.lock()).map_err(JournalError::sql("reset"))
    }

    /// Keeps what is there for [`Memory::set_back`].
    pub fn back_up(&self) -> Result<(), JournalError> {
        copy(&self.lock(), &mut lock(&self.kept)).map_err(JournalError::sql("back up"))
    }

    /// As it was at [`Memory::back_up`]: what a backup gives on another computer. Whoever wrote
    /// must be dead.
    pub fn set_back(&self) -> Result<(), JournalError> {
        copy(&lock(&self.kept), &mut self.lock()).map_err(JournalError::sql("set back"))
    }

    /// Number of the newest event, 0 without any, and the submissions of events after `number`.
    pub fn moved_since(&self, number: i64) -> Result<(i64, Vec<SubmissionId>), JournalError> {
        const MOVED: &str = "SELECT id, submission FROM event WHERE id > ?1 ORDER BY id";
        let moved: Vec<(i64, SubmissionId)> = rows::all(&self.lock(), MOVED, [number], |row| {
            Ok((row.get(0)?, SubmissionId(row.get(1)?)))
        })?;
        let newest = moved.last().map_or(number, |(number, _)| *number);
        let mut ids: Vec<_> = moved.into_iter().map(|(_, id)| id).collect();
        ids.sort_unstable();
        ids.dedup();
        Ok((newest, ids))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        lock(&self.live)
    }
}

fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

fn copy(from: &Connection, to: &mut Connection) -> rusqlite::Result<()> {
    Backup::new(from, to)?.step(ALL_PAGES).map(drop)
}

/// The way of one simulated process to the database.
pub(crate) struct Inline {
    pub(crate) memory: Memory,
    pub(crate) seam: Arc<dyn Seam>,
}

impl Inline {
    /// Does a job now. A reply that is dropped says that the journal is closed: its process is
    /// dead.
    pub(crate) fn submit(&self, job: Job, awaited: bool) {
        if !self.seam.before() {
            return;
        }
        let mut replies = Vec::new();
        let outcome = {
            let connection = self.memory.lock();
            let outcome = transact(&connection, vec![job], &mut replies, &TRANSACTION);
            if outcome.is_err() {
                // Without an open transaction there is nothing to undo.
                let _ = connection.execute_batch("ROLLBACK");
            }
            outcome
        };
        if !self.seam.after() {
            return;
        }
        let hand_over = move || replies.into_iter().for_each(|reply| reply(outcome.as_ref().err()));
        if awaited { self.seam.later(Box::new(hand_over)) } else { hand_over() }
    }
}
