//! The store in one file. One thread writes, in groups; readers have connections of their own.

mod find;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use fhir::Instant;
use rusqlite::{Connection, OptionalExtension as _, params};
use tokio::sync::oneshot;

use self::write::Command;
use super::find::{Found, Result as FoundPage, Search};
use super::{
    Accepted, AuditEntry, AuditFilter, AuditLine, BODIES_AT_ONCE, Due, Laboratory, NewDocument,
    Recording, RegisteredCertificate, StoreError, Verdict, audit, format_named, registry,
};
use crate::private;

/// File name in the data folder.
pub(crate) const DATABASE: &str = "authority.sqlite";

/// How long a connection waits for another: `init` may add a laboratory beside a running server.
const BUSY_MAX: Duration = Duration::from_secs(10);
/// Idle reading connections that are kept.
const READERS_KEPT: usize = 4;

pub(crate) struct Database {
    readers: Arc<Readers>,
    writer: Option<mpsc::Sender<Command>>,
    thread: Option<JoinHandle<()>>,
    recording: Arc<Recording>,
}

struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Database {
    /// Opens the database and starts the writing thread.
    pub(crate) fn open(data: &Path) -> Result<Self, StoreError> {
        let path = data.join(DATABASE);
        let connection = open_writing(&path)?;
        let (writer, commands) = mpsc::channel();
        let recording = Arc::<Recording>::default();
        let watched = recording.clone();
        let thread = std::thread::spawn(move || write::work(connection, &commands, &watched));
        let readers = Arc::new(Readers { path, idle: Mutex::default() });
        Ok(Self { readers, writer: Some(writer), thread: Some(thread), recording })
    }

    pub(crate) async fn accept(&self, document: NewDocument) -> Result<Accepted, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Accept(Box::new(document), reply))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn conclude(&self, verdicts: Vec<Verdict>) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Conclude(verdicts, reply))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn due(&self, now: Instant, limit: u32) -> Result<Vec<Due>, StoreError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT d.id, c.format, c.body, EXISTS (
                     SELECT 1 FROM document e JOIN version w ON w.document = e.id
                     WHERE e.laboratory = d.laboratory AND e.digest = d.digest AND e.id < d.id
                       AND w.until = 9223372036854775807 AND w.status <> 'failed'),
                     d.created, v.notices
                 FROM queue q JOIN document d ON d.id = q.document
                 JOIN content c ON c.document = d.id
                 JOIN version v ON v.document = d.id AND v.number = 1
                 WHERE q.due <= ?1 ORDER BY q.due, q.document LIMIT ?2",
            )?;
            let rows = statement.query_map(params![now.0, limit], |row| {
                Ok(Due {
                    document: row.get(0)?,
                    format: format_named(row.get_ref(1)?.as_str()?),
                    body: row.get(2)?,
                    seen_before: row.get(3)?,
                    accepted: Instant(row.get(4)?),
                    notices: find::notices(row, 5)?,
                })
            })?;
            let (mut due, mut bytes) = (Vec::new(), 0);
            for one in rows {
                let one: Due = one?;
                bytes += one.body.len();
                due.push(one);
                if bytes >= BODIES_AT_ONCE {
                    break;
                }
            }
            Ok(due)
        })
        .await
    }

    pub(crate) async fn next_due(&self) -> Result<Option<Instant>, StoreError> {
        self.read(|connection| {
            let due: Option<i64> =
                connection.query_row("SELECT min(due) FROM queue", [], |row| row.get(0))?;
            Ok(due.map(Instant))
        })
        .await
    }

    pub(crate) async fn by_receipt(
        &self,
        laboratory: i64,
        receipt: String,
    ) -> Result<Option<Found>, StoreError> {
        self.read(move |connection| find::by_receipt(connection, laboratory, &receipt)).await
    }

    pub(crate) async fn exists(&self, receipt: String) -> Result<bool, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM document WHERE receipt = ?1)")?
                .query_row([receipt], |row| row.get(0))
        })
        .await
    }

    pub(crate) async fn search(&self, search: Search) -> Result<FoundPage, StoreError> {
        self.read(move |connection| {
            // One read transaction: what is read is of one moment.
            let transaction = connection.unchecked_transaction()?;
            find::search(&transaction, &search)
        })
        .await
    }

    pub(crate) async fn laboratory(
        &self,
        fingerprint: String,
    ) -> Result<Option<Laboratory>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(registry::LABORATORY)?
                .query_row([fingerprint], |row| {
                    Ok(Laboratory { id: row.get(0)?, name: row.get(1)? })
                })
                .optional()
        })
        .await
    }

    pub(crate) async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.recording.begin()?;
        self.send(Command::Audit(entry))?;
        if self.recording.works().is_err() {
            // It concludes nothing, and is done when the line before it is.
            self.conclude(Vec::new()).await?;
        }
        self.recording.works()
    }

    pub(crate) async fn waiting(&self) -> Result<(u64, Option<Instant>), StoreError> {
        self.read(|connection| {
            let sql = "SELECT count(*), min(due) FROM queue";
            connection.query_row(sql, [], |row| {
                let due: Option<i64> = row.get(1)?;
                Ok((row.get::<_, i64>(0)?.unsigned_abs(), due.map(Instant)))
            })
        })
        .await
    }

    fn send(&self, command: Command) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or(StoreError::Closed)?;
        writer.send(command).map_err(|_| StoreError::Closed)
    }

    async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let readers = Arc::clone(&self.readers);
        let done = tokio::task::spawn_blocking(move || {
            let kept = readers.lock().pop();
            let connection = match kept {
                Some(connection) => connection,
                None => open_reading(&readers.path)?,
            };
            let result = query(&connection);
            let mut idle = readers.lock();
            if result.is_ok() && idle.len() < READERS_KEPT {
                idle.push(connection);
            }
            result
        });
        Ok(done.await.map_err(|_| StoreError::Closed)??)
    }
}

impl Readers {
    fn lock(&self) -> MutexGuard<'_, Vec<Connection>> {
        // Connections are put back only after a query that succeeded.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the writing thread after what it was given.
impl Drop for Database {
    fn drop(&mut self) {
        drop(self.writer.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the writer was answered to those who waited for it.
            let _ = thread.join();
        }
    }
}

/// The file, opened for an administrator's command.
pub(crate) struct Records(Connection);

impl Records {
    pub(crate) fn open(data: &Path) -> rusqlite::Result<Self> {
        open_writing(&data.join(DATABASE)).map(Self)
    }

    pub(crate) fn knows(&self, name: &str) -> rusqlite::Result<bool> {
        self.0.query_row(registry::KNOWS, [name], |row| row.get(0))
    }

    pub(crate) fn has(&self, name: &str) -> rusqlite::Result<bool> {
        self.0.query_row(registry::HAS, [name], |row| row.get(0))
    }

    pub(crate) fn add(&self, name: &str) -> rusqlite::Result<bool> {
        Ok(self.0.execute(registry::ADD, [name])? == 1)
    }

    pub(crate) fn laboratories(&self, now: Instant) -> rusqlite::Result<Vec<(String, u32)>> {
        let mut statement = self.0.prepare(registry::LABORATORIES)?;
        let rows = statement.query_map([now.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }

    pub(crate) fn register(
        &self,
        name: &str,
        fingerprint: &str,
        issued: Instant,
        not_after: Instant,
    ) -> rusqlite::Result<bool> {
        self.add(name)?;
        let values = params![name, fingerprint, issued.0, not_after.0];
        Ok(self.0.execute(registry::REGISTER, values)? == 1)
    }

    pub(crate) fn certificates(
        &self,
        laboratory: Option<&str>,
    ) -> rusqlite::Result<Vec<RegisteredCertificate>> {
        let mut statement = self.0.prepare(registry::CERTIFICATES)?;
        let rows = statement.query_map([laboratory], |row| {
            let time = |column| row.get::<_, Option<i64>>(column).map(|time| time.map(Instant));
            Ok(RegisteredCertificate {
                fingerprint: row.get(0)?,
                laboratory: row.get(1)?,
                issued: time(2)?,
                not_after: time(3)?,
                revoked: time(4)?,
            })
        })?;
        rows.collect()
    }

    pub(crate) fn revoke(&self, fingerprint: &str, at: Instant) -> rusqlite::Result<()> {
        self.0.execute(registry::REVOKE, params![fingerprint, at.0])?;
        Ok(())
    }

    /// Lines of the audit log, newest first.
    pub(crate) fn audit(&self, filter: &AuditFilter) -> rusqlite::Result<Vec<AuditLine>> {
        let mut statement = self.0.prepare(audit::LINES)?;
        let last = filter.last.map_or(i64::MAX, i64::from);
        let rows =
            statement.query_map(params![filter.laboratory, filter.receipt, last], |row| {
                Ok(AuditLine {
                    at: Instant(row.get(0)?),
                    laboratory: row.get(1)?,
                    certificate: row.get(2)?,
                    interaction: row.get(3)?,
                    receipt: row.get(4)?,
                    entries: row.get(5)?,
                    status: row.get(6)?,
                    shown: audit::ids(row.get::<_, Option<String>>(7)?.as_deref()),
                })
            })?;
        rows.collect()
    }

    /// Deletes lines of the audit log before a time; how many.
    pub(crate) fn forget_audit(&self, until: Instant, now: Instant) -> rusqlite::Result<u64> {
        let transaction = self.0.unchecked_transaction()?;
        transaction.execute(audit::NOT_KEPT, params![now.0, until.0])?;
        let count = transaction.execute(audit::FORGET, [until.0])?;
        transaction.commit()?;
        Ok(count as u64)
    }
}

/// Opens for writing; makes the schema in an empty file, and brings an older one up to date.
pub(crate) fn open_writing(path: &Path) -> rusqlite::Result<Connection> {
    // Its log and index get the mode of the file.
    private::prepare(path).map_err(|error| cannot_open(path, &error))?;
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
    for step in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.commit()?;
    Ok(connection)
}

/// As SQLite says it of a file that it cannot open.
fn cannot_open(path: &Path, error: &std::io::Error) -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
    rusqlite::Error::SqliteFailure(code, Some(format!("{}: {error}", path.display())))
}

/// Each takes a file from one version to the next.
const MIGRATIONS: [&str; 5] = [
    include_str!("sqlite/schema-1.sql"),
    include_str!("sqlite/schema-2.sql"),
    include_str!("sqlite/schema-3.sql"),
    include_str!("sqlite/schema-4.sql"),
    include_str!("sqlite/schema-5.sql"),
];

fn open_reading(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    settle(&connection)?;
    connection.pragma_update(None, "query_only", "ON")?;
    Ok(connection)
}

fn settle(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_MAX)?;
    connection.set_prepared_statement_cache_capacity(64);
    // 16 MiB of pages.
    connection.pragma_update(None, "cache_size", -16_384)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_of_the_first_version_is_brought_up_to_date() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join(DATABASE);
        let first = Connection::open(&path).unwrap();
        first.execute_batch(MIGRATIONS[0]).unwrap();
        first
            .execute_batch(
                "INSERT INTO laboratory (name) VALUES ('alpha'), ('beta');
                 INSERT INTO certificate (fingerprint, laboratory) VALUES ('ab', 1);
                 INSERT INTO document (id, laboratory, ordinal, receipt, created, identifier,
                     document_identifier, digest)
                 VALUES (1, 1, 1, 'a', 10, 'i', 'd', x'00'), (2, 2, 1, 'b', 11, 'i', 'd', x'00'),
                     (3, 1, 2, 'c', 12, 'i', 'd', x'00');
                 INSERT INTO version (document, number, laboratory, status, since)
                 VALUES (1, 1, 1, 'in-progress', 10), (2, 1, 2, 'in-progress', 11),
                     (3, 1, 1, 'in-progress', 12), (1, 2, 1, 'failed', 13);
                 INSERT INTO queue (document, due) VALUES (2, 0), (3, 0);",
            )
            .unwrap();
        drop(first);
        for _ in 0..2 {
            let connection = open_writing(&path).unwrap();
            let known = Records(connection).certificates(Some("alpha")).unwrap();
            assert_eq!(known[0].fingerprint, "ab");
        }
        let connection = open_reading(&path).unwrap();
        let numbers = |sql: &str| {
            let mut statement = connection.prepare(sql).unwrap();
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
            });
            rows.unwrap().map(Result::unwrap).collect::<Vec<_>>()
        };
        assert_eq!(
            numbers("SELECT in_progress, completed, failed FROM version ORDER BY since"),
            [(1, 0, 0), (1, 0, 0), (2, 0, 0), (1, 0, 1)]
        );
        assert_eq!(
            numbers("SELECT document, laboratory, due FROM queue ORDER BY document"),
            [(2, 2, 0), (3, 1, 0)]
        );
    }

    /// A worker takes as many as it may, and of large ones fewer.
    #[tokio::test]
    async fn documents_that_are_judged_together_have_so_many_bytes() {
        let folder = tempfile::TempDir::new().unwrap();
        let database = Database::open(folder.path()).unwrap();
        assert!(Records::open(folder.path()).unwrap().add("alpha").unwrap());
        for (number, length) in [1, BODIES_AT_ONCE - 2, 1, 1].into_iter().enumerate() {
            let document = NewDocument {
                laboratory: 1,
                certificate: "00".to_owned(),
                receipt: number.to_string(),
                identifier_system: None,
                identifier: "a".to_owned(),
                document_system: None,
                document_identifier: "a".to_owned(),
                digest: [0; 32],
                status: exchange::Processing::InProgress,
                notices: Vec::new(),
                format: fhir::Format::Json,
                body: vec![b' '; length].into(),
                delay: Duration::ZERO,
                unless: None,
            };
            database.accept(document).await.unwrap();
        }
        let due = database.due(Instant(i64::MAX), 64).await.unwrap();
        let lengths: Vec<_> = due.iter().map(|one| one.body.len()).collect();
        assert_eq!(lengths, [1, BODIES_AT_ONCE - 2, 1]);
    }
}
