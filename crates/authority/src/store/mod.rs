//! The one door to the database: what is accepted is on disk before it is answered, what is answered was
//! committed. One thread writes, in groups; readers have connections of their own.

mod audit;
mod find;
mod registry;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use exchange::Processing;
use fhir::{Format, Instant};
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

pub(crate) use audit::{AuditEntry, lines as audit_lines};
pub use audit::{AuditFilter, AuditLine};
pub(crate) use find::{Found, Search};
pub use registry::RegisteredCertificate;
pub(crate) use registry::{Laboratory, Registry};
use write::Command;

use crate::wire::Notice;

/// File name in the data folder.
pub(crate) const DATABASE: &str = "authority.sqlite";

/// Why the database did not do it. Cheap to clone: one failed group fails all its members.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the database failed")]
    Sqlite(#[source] Arc<rusqlite::Error>),
    #[error("the database is closed")]
    Closed,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(Arc::new(error))
    }
}

/// A document to accept.
#[derive(Debug, Clone)]
pub(crate) struct NewDocument {
    pub(crate) laboratory: i64,
    /// Fingerprint of the certificate that brought it.
    pub(crate) certificate: String,
    pub(crate) receipt: String,
    pub(crate) identifier_system: Option<String>,
    pub(crate) identifier: String,
    pub(crate) document_system: Option<String>,
    pub(crate) document_identifier: String,
    pub(crate) digest: [u8; 32],
    pub(crate) format: Format,
    pub(crate) body: Vec<u8>,
    /// Not processed before this time after it is accepted.
    pub(crate) delay: Duration,
}

/// A document whose turn it is.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) document: i64,
    pub(crate) format: Format,
    pub(crate) body: Vec<u8>,
    pub(crate) accepted: Instant,
    /// Whether an earlier one of the same laboratory with the same data was accepted and not failed.
    pub(crate) seen_before: bool,
}

/// What processing found.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub(crate) document: i64,
    pub(crate) status: Processing,
    pub(crate) notices: Vec<Notice>,
}

/// The database of a running authority.
pub(crate) struct Store {
    path: PathBuf,
    writer: Option<mpsc::Sender<Command>>,
    thread: Option<JoinHandle<()>>,
    readers: Mutex<Vec<Connection>>,
}

/// Idle reading connections that are kept.
const READERS_KEPT: usize = 4;

impl Store {
    /// Opens the database and starts the writing thread.
    pub(crate) fn open(data: &Path) -> rusqlite::Result<Self> {
        let path = data.join(DATABASE);
        let connection = open_writing(&path)?;
        let (writer, commands) = mpsc::channel();
        let thread = std::thread::spawn(move || write::work(connection, &commands));
        Ok(Self { path, writer: Some(writer), thread: Some(thread), readers: Mutex::default() })
    }

    /// Accepts a document: when this returns, it is on disk and queued. The time is its `date` and
    /// `meta.lastUpdated`. It is in the audit log as created.
    pub(crate) async fn accept(&self, document: NewDocument) -> Result<Instant, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Accept(Box::new(document), reply))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Records what processing found; each document once, whatever is repeated.
    pub(crate) async fn conclude(&self, verdicts: Vec<Verdict>) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Conclude(verdicts, reply))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Up to `limit` documents whose turn it is, oldest first.
    pub(crate) async fn due(
        self: &Arc<Self>,
        now: Instant,
        limit: u32,
    ) -> Result<Vec<Due>, StoreError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT d.id, c.format, c.body, EXISTS (
                     SELECT 1 FROM document e JOIN version w ON w.document = e.id
                     WHERE e.laboratory = d.laboratory AND e.digest = d.digest AND e.id < d.id
                       AND w.until = 9223372036854775807 AND w.status <> 'failed'), d.created
                 FROM queue q JOIN document d ON d.id = q.document JOIN content c ON c.document = d.id
                 WHERE q.due <= ?1 ORDER BY q.due, q.document LIMIT ?2",
            )?;
            let rows = statement.query_map(params![now.0, limit], |row| {
                Ok(Due {
                    document: row.get(0)?,
                    format: format_named(row.get_ref(1)?.as_str()?),
                    body: row.get(2)?,
                    seen_before: row.get(3)?,
                    accepted: Instant(row.get(4)?),
                })
            })?;
            rows.collect()
        })
        .await
    }

    /// When the next document's turn comes.
    pub(crate) async fn next_due(self: &Arc<Self>) -> Result<Option<Instant>, StoreError> {
        self.read(|connection| {
            let due: Option<i64> =
                connection.query_row("SELECT min(due) FROM queue", [], |row| row.get(0))?;
            Ok(due.map(Instant))
        })
        .await
    }

    /// A laboratory's own document by its receipt, as it is now.
    pub(crate) async fn by_receipt(
        self: &Arc<Self>,
        laboratory: i64,
        receipt: String,
    ) -> Result<Option<Found>, StoreError> {
        self.read(move |connection| find::by_receipt(connection, laboratory, &receipt)).await
    }

    /// Whether there is a document of this receipt, whoever sent it.
    pub(crate) async fn exists(self: &Arc<Self>, receipt: String) -> Result<bool, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM document WHERE receipt = ?1)")?
                .query_row([receipt], |row| row.get(0))
        })
        .await
    }

    /// One page of a search.
    pub(crate) async fn search(
        self: &Arc<Self>,
        search: Search,
    ) -> Result<find::Result, StoreError> {
        self.read(move |connection| find::search(connection, &search)).await
    }

    /// The laboratory that a client certificate belongs to.
    pub(crate) async fn laboratory(
        self: &Arc<Self>,
        fingerprint: String,
    ) -> Result<Option<Laboratory>, StoreError> {
        self.read(move |connection| registry::laboratory(connection, &fingerprint)).await
    }

    /// Adds to the audit log, in the next group; whoever is answered does not wait for it.
    pub(crate) fn audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.send(Command::Audit(entry))
    }

    /// Documents that wait, and since when the first of them could be processed.
    pub(crate) async fn waiting(self: &Arc<Self>) -> Result<(u64, Option<Instant>), StoreError> {
        self.read(|connection| {
            let sql = "SELECT count(*), min(due) FROM queue";
            connection.query_row(sql, [], |row| {
                let due: Option<i64> = row.get(1)?;
                Ok((row.get::<_, i64>(0)?.unsigned_abs(), due.map(Instant)))
            })
        })
        .await
    }

    /// Ends the writing thread after what it was given.
    pub(crate) fn close(&mut self) {
        drop(self.writer.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the writer was answered to those who waited for it.
            let _ = thread.join();
        }
    }

    fn send(&self, command: Command) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or(StoreError::Closed)?;
        writer.send(command).map_err(|_| StoreError::Closed)
    }

    async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let kept = store.lock_readers().pop();
            let connection = match kept {
                Some(connection) => connection,
                None => open_reading(&store.path)?,
            };
            let result = query(&connection);
            let mut readers = store.lock_readers();
            if result.is_ok() && readers.len() < READERS_KEPT {
                readers.push(connection);
            }
            result
        });
        Ok(done.await.map_err(|_| StoreError::Closed)??)
    }

    fn lock_readers(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // Connections are put back only after a query that succeeded.
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}

/// Opens for writing; makes the schema in an empty file, and brings an older one up to date.
pub(crate) fn open_writing(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open(path)?;
    settle(&connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Accepted means on disk; deleted content is overwritten.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version < 1 {
        transaction.execute_batch(include_str!("schema.sql"))?;
    }
    if version < 2 {
        transaction.execute_batch(include_str!("schema-2.sql"))?;
    }
    transaction.commit()?;
    Ok(connection)
}

pub(crate) fn open_reading(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    settle(&connection)?;
    connection.pragma_update(None, "query_only", "ON")?;
    Ok(connection)
}

fn settle(connection: &Connection) -> rusqlite::Result<()> {
    // `init` may add a laboratory beside a running server.
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.set_prepared_statement_cache_capacity(64);
    // 16 MiB of pages.
    connection.pragma_update(None, "cache_size", -16_384)
}

pub(crate) fn format_named(name: &str) -> Format {
    if name == "xml" { Format::Xml } else { Format::Json }
}

pub(crate) fn format_name(format: Format) -> &'static str {
    match format {
        Format::Json => "json",
        Format::Xml => "xml",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_of_the_first_version_is_brought_up_to_date() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join(DATABASE);
        let first = Connection::open(&path).unwrap();
        first.execute_batch(include_str!("schema.sql")).unwrap();
        first
            .execute_batch(
                "INSERT INTO laboratory (name) VALUES ('alpha');
                 INSERT INTO certificate (fingerprint, laboratory) VALUES ('ab', 1);",
            )
            .unwrap();
        drop(first);
        for _ in 0..2 {
            let connection = open_writing(&path).unwrap();
            let known = registry::laboratory(&connection, "ab").unwrap().unwrap();
            assert_eq!(known.name, "alpha");
            let version: i64 =
                connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
            assert_eq!(version, 2);
        }
    }
}
