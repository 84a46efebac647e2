//! The store on a PostgreSQL that any number of processes share.
//!
//! What is searched by time must become visible in the order of its times: a laboratory that has
//! seen one moment never looks before it again. Transactions that write a version therefore take
//! their turn at one advisory lock, take their times under it, above the last committed one, by the
//! server's clock, and keep it until they have committed. It costs that the whole installation
//! commits one group at a time; while one commits, every process gathers the next group, so that
//! what a commit costs is shared by many documents. Everything else (reading, judging, auditing)
//! goes on in parallel.

mod queue;
mod read;
mod records;
mod target;
mod write;

use std::sync::Arc;

use deadpool_postgres::{Client, Pool};
use tokio::sync::{mpsc, oneshot};
pub(crate) use tokio_postgres::Error;

pub(crate) use self::queue::Claim;
pub(crate) use self::records::Records;
pub(crate) use self::target::Target;
use self::target::unreachable;
use self::write::Command;
use super::{Accepted, AuditEntry, NewDocument, READERS, Recording, StoreError};

/// Held while times are given, until they are committed.
const TIMES: i64 = 0x6c61_6263_0001;
/// Held while the schema is brought up to date.
const MIGRATION: i64 = 0x6c61_6263_0002;

/// Connections of one process for its writer, its worker, and one more.
const WRITERS: usize = 3;

/// Nothing here takes long; whoever waits longer than this is answered that it failed.
const ALL: &str = "-c statement_timeout=30s -c idle_in_transaction_session_timeout=5min -c jit=off \
                   -c client_min_messages=warning -c synchronous_commit=on -c timezone=UTC";
const READING: &str = "-c default_transaction_read_only=on";

pub(crate) struct Database {
    readers: Pool,
    writers: Pool,
    commands: mpsc::UnboundedSender<Command>,
    recording: Arc<Recording>,
}

impl Database {
    /// Connects, brings the schema up to date, and starts the writing task.
    pub(crate) async fn open(url: &str) -> Result<Self, crate::AuthorityError> {
        let target = Target::parse(url)?;
        let readers = target.pool(READERS, &format!("{ALL} {READING}"))?;
        let writers = target.pool(WRITERS, ALL)?;
        migrate(&writers).await?;
        let (commands, received) = mpsc::unbounded_channel();
        let recording = Arc::<Recording>::default();
        tokio::spawn(write::work(writers.clone(), received, recording.clone()));
        Ok(Self { readers, writers, commands, recording })
    }

    pub(crate) async fn accept(&self, document: NewDocument) -> Result<Accepted, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Accept(Box::new(document), reply))?;
        answer.await.map_err(|_| StoreError::Uncertain)?
    }

    pub(crate) async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.recording.begin()?;
        self.send(Command::Audit(entry))?;
        if self.recording.works().is_err() {
            self.settled().await;
        }
        self.recording.works()
    }

    pub(crate) async fn settled(&self) {
        let (reply, answer) = oneshot::channel();
        if self.send(Command::Settle(reply)).is_ok() {
            let _ = answer.await;
        }
    }

    fn send(&self, command: Command) -> Result<(), StoreError> {
        self.commands.send(command).map_err(|_| StoreError::Closed)
    }
}

async fn client(pool: &Pool) -> Result<Client, StoreError> {
    pool.get().await.map_err(unreachable)
}

/// Code and message of the server, or what happened to the connection; never the row.
pub(super) fn reason(error: &Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(told), _) => format!("{} {}", told.code().code(), told.message()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

/// Whether it refused for one of its own limits (class 54: program limit exceeded).
pub(super) fn is_limit(error: &Error) -> bool {
    error.code().is_some_and(|code| code.code().starts_with("54"))
}

/// `?1` as PostgreSQL writes it.
fn dollars(sql: &str) -> String {
    sql.replace('?', "$")
}

/// Each takes the schema from one version to the next.
const MIGRATIONS: [&str; 4] = [
    include_str!("postgres/schema-1.sql"),
    include_str!("postgres/schema-2.sql"),
    include_str!("postgres/schema-3.sql"),
    include_str!("postgres/schema-4.sql"),
];

/// Brings the schema up to date; of many that start at once, one does it and the others wait.
async fn migrate(pool: &Pool) -> Result<(), StoreError> {
    let mut client = client(pool).await?;
    let transaction = client.transaction().await?;
    transaction
        .batch_execute(&format!(
            "SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock({MIGRATION})"
        ))
        .await?;
    let known = transaction.query_one("SELECT to_regclass('authority_schema') IS NOT NULL", &[]);
    if !known.await?.try_get::<_, bool>(0)? {
        let sql = "CREATE TABLE authority_schema (version INTEGER NOT NULL);
                   INSERT INTO authority_schema VALUES (0)";
        transaction.batch_execute(sql).await?;
    }
    let row = transaction.query_one("SELECT version FROM authority_schema", &[]).await?;
    let version = usize::try_from(row.try_get::<_, i32>(0)?).unwrap_or(0);
    for step in MIGRATIONS.iter().skip(version) {
        transaction.batch_execute(step).await?;
    }
    if version < MIGRATIONS.len() {
        let sql = format!("UPDATE authority_schema SET version = {}", MIGRATIONS.len());
        transaction.batch_execute(&sql).await?;
    }
    transaction.commit().await?;
    Ok(())
}
