//! Looks at the journal, each from one snapshot and on a connection that only reads.

use std::sync::PoisonError;

use rusqlite::Connection;

use crate::recovery::register;
use crate::store::open::{self, Access};
use crate::store::schema;
use crate::{Journal, JournalError};

/// Reading connections that are kept for the next view: a window has few at a time.
const READERS_MAX: usize = 4;

impl Journal {
    /// Reads from one snapshot.
    pub(crate) fn read<T>(
        &self,
        view: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        if let Some(memory) = self.0.writer.memory() {
            return view(&memory.lock());
        }
        let kept = self.0.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match kept {
            Some(connection) => connection,
            None => self.reader()?,
        };
        let (outcome, whole) = self.look(&connection, view)?;
        // A connection that met damage may remember it; the next view gets a fresh one.
        if whole {
            let mut readers = self.0.readers.lock().unwrap_or_else(PoisonError::into_inner);
            if readers.len() < READERS_MAX {
                readers.push(connection);
            }
        }
        outcome
    }

    /// The same with a connection of its own. A check of the full-text index goes by what its
    /// connection remembers of an earlier one, and takes what others have written since for damage.
    pub(crate) fn read_anew<T>(
        &self,
        view: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        match self.0.writer.memory() {
            Some(memory) => view(&memory.lock()),
            None => self.look(&self.reader()?, view)?.0,
        }
    }

    fn reader(&self) -> Result<Connection, JournalError> {
        open::connect(&self.0.place, Access::Read).map_err(JournalError::sql("open for reading"))
    }

    /// Looks, and says whether the connection can be used again.
    fn look<T>(
        &self,
        connection: &Connection,
        view: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<(Result<T, JournalError>, bool), JournalError> {
        let transaction =
            connection.unchecked_transaction().map_err(JournalError::sql("begin reading"))?;
        let outcome = schema::unchanged(&transaction).and_then(|()| view(&transaction));
        let ended = transaction.finish().map_err(JournalError::sql("end reading"));
        if matches!(outcome, Err(JournalError::Damaged)) {
            register::suspect(&self.0.place, true);
        }
        let whole = ended.is_ok() && !matches!(outcome, Err(JournalError::Damaged));
        Ok((outcome, whole))
    }
}
