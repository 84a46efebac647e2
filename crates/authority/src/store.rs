//! The one door to the database: what is accepted is on disk before it is answered, what is
//! answered was committed. One file that one process writes (`sqlite`), or a server that many share
//! (`postgres`): both give times that rise in the order of commits, so that whoever searches by
//! them misses nothing.

mod audit;
mod find;
mod location;
// Compiled in every test run too, so that it cannot fall behind.
#[cfg(any(test, not(feature = "postgres")))]
#[cfg_attr(all(test, feature = "postgres"), allow(dead_code))]
mod no_postgres;
mod plan;
#[cfg(feature = "postgres")]
mod postgres;
mod registry;
mod sqlite;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use exchange::{Processing, Query};
use fhir::{Format, Instant};

pub(crate) use self::audit::AuditEntry;
pub use self::audit::{AuditFilter, AuditLine};
pub(crate) use self::find::{Beside, Found, Result as FoundPage, Search, axis};
pub use self::location::StoreUrl;
#[cfg(not(feature = "postgres"))]
use self::no_postgres as postgres;
pub use self::registry::RegisteredCertificate;
pub(crate) use self::registry::{Laboratory, Registry};
use crate::AuthorityError;
use crate::clock;
use crate::notice::Notice;

/// Connections of one process to a server for reading: searches leave some of them to other
/// questions.
pub(crate) const READERS: usize = 16;

/// Why the database did not do it. Cheap to clone: one failed group fails all its members.
#[derive(Debug, Clone, thiserror::Error)]
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "a file has fewer reasons"))]
pub(crate) enum StoreError {
    #[error("the database failed")]
    Sqlite(#[source] Arc<rusqlite::Error>),
    #[error("the database failed")]
    Postgres(#[source] Arc<postgres::Error>),
    #[error("the database cannot be reached")]
    Unreachable(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// What was asked may be done, or may not be.
    #[error("the database was lost while it committed")]
    Uncertain,
    #[error("the database holds what this release cannot read")]
    Unreadable,
    #[error("the database is closed")]
    Closed,
    /// What is asked for cannot be put on record, so it is not shown.
    #[error("the audit log cannot be written")]
    Unrecorded,
}

/// Lines of the audit log that wait to be written at most: each may hold the ids of a page.
const RECORDS_MAX: usize = 1_000;

/// Whether the audit log keeps up: nothing is shown that is not recorded.
#[derive(Default)]
pub(crate) struct Recording {
    waiting: AtomicUsize,
    fails: AtomicBool,
}

impl Recording {
    /// A line is to be written. Where the last ones could not be, it is tried with this one, and
    /// whoever asks waits for it.
    pub(crate) fn begin(&self) -> Result<(), StoreError> {
        let waiting = self.waiting.fetch_add(1, Ordering::SeqCst);
        if waiting < RECORDS_MAX {
            return Ok(());
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        Err(StoreError::Unrecorded)
    }

    /// Whether the lines of before were written.
    pub(crate) fn works(&self) -> Result<(), StoreError> {
        if self.fails.load(Ordering::SeqCst) { Err(StoreError::Unrecorded) } else { Ok(()) }
    }

    /// So many lines were written, or could not be.
    pub(crate) fn ended(&self, lines: usize, well: bool) {
        if lines > 0 {
            self.waiting.fetch_sub(lines, Ordering::SeqCst);
            self.fails.store(!well, Ordering::SeqCst);
        }
    }
}

impl StoreError {
    /// Whether the database refused for one of its own limits: it works, and would refuse the same
    /// again.
    pub(crate) fn is_limit(&self) -> bool {
        match self {
            Self::Sqlite(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::TooBig),
            Self::Postgres(error) => postgres::is_limit(error),
            _ => false,
        }
    }

    /// Why, for an operator; never what a row holds.
    pub(crate) fn reason(&self) -> Option<String> {
        match self {
            Self::Sqlite(error) => Some(error.to_string()),
            Self::Postgres(error) => Some(postgres::reason(error)),
            Self::Unreachable(error) => {
                let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                Some(format!("{error}{cause}"))
            }
            Self::Uncertain | Self::Unreadable | Self::Closed | Self::Unrecorded => None,
        }
    }
}

impl From<StoreError> for AuthorityError {
    fn from(source: StoreError) -> Self {
        Self::Store(Box::new(source))
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(Arc::new(error))
    }
}

impl From<postgres::Error> for StoreError {
    fn from(error: postgres::Error) -> Self {
        Self::Postgres(Arc::new(error))
    }
}

/// A document to accept.
#[derive(Clone)]
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
    /// In progress, or failed at once: then nothing is queued, and its text is not kept.
    pub(crate) status: Processing,
    /// What was said of it when it came.
    pub(crate) notices: Vec<Notice>,
    pub(crate) format: Format,
    pub(crate) body: Bytes,
    /// Not processed before this time after it is accepted.
    pub(crate) delay: Duration,
    /// Accepted only if the laboratory has nothing that matches. It had nothing at this time.
    pub(crate) unless: Option<(Query, Instant)>,
}

impl NewDocument {
    /// What must find nothing for it to be accepted. Whatever the condition costs was paid before:
    /// here, where everybody waits, what has happened since is looked at, row by row.
    fn unless(&self) -> Option<Search> {
        let (query, since) = self.unless.clone()?;
        Some(Search::of_condition(self.laboratory, query, Some(since)))
    }

    fn has_failed(&self) -> bool {
        self.status == Processing::Failed
    }

    /// As they are stored.
    fn notices_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.notices)
    }

    fn delay_micros(&self) -> i64 {
        i64::try_from(self.delay.as_micros()).unwrap_or(i64::MAX)
    }

    /// Its line in the audit log.
    fn audited(&self) -> AuditEntry {
        AuditEntry {
            laboratory: Some(self.laboratory),
            certificate: self.certificate.clone(),
            interaction: "create",
            receipt: Some(self.receipt.clone()),
            entries: None,
            shown: None,
            status: if self.has_failed() { 422 } else { 201 },
        }
    }
}

/// What became of a document to accept.
#[derive(Debug, Clone)]
pub(crate) enum Accepted {
    /// On disk and queued. The time is its `date` and `meta.lastUpdated`.
    Created(Instant),
    /// Not accepted, for these match its condition: one, or two of several.
    Existing(Vec<Found>),
}

/// A document whose turn it is.
pub(crate) struct Due {
    pub(crate) document: i64,
    pub(crate) format: Format,
    pub(crate) body: Vec<u8>,
    pub(crate) accepted: Instant,
    /// What was said of it when it came.
    pub(crate) notices: Vec<Notice>,
    /// Whether an earlier one of the same laboratory with the same data was accepted and not
    /// failed.
    pub(crate) seen_before: bool,
}

fhir::shows_only!(NewDocument { laboratory, receipt, status, notices, format });
fhir::shows_only!(Due { document, format, accepted, seen_before });

/// What processing found.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub(crate) document: i64,
    pub(crate) status: Processing,
    pub(crate) notices: Vec<Notice>,
}

/// Documents that one worker holds; when this is dropped without a verdict, another may take them.
pub(crate) struct Turn {
    pub(crate) due: Vec<Due>,
    claim: Option<postgres::Claim>,
}

/// The database of a running authority.
pub(crate) enum Store {
    Sqlite(sqlite::Database),
    Postgres(postgres::Database),
}

/// Bytes of documents that a worker judges together; one that is larger is judged alone.
const BODIES_AT_ONCE: usize = 32 << 20;
/// How often the queue is looked at that other processes fill.
const SHARED_QUEUE_EVERY: Duration = Duration::from_millis(250);

impl Store {
    /// Opens the store of a data folder, and brings it up to date.
    pub(crate) async fn open(data: &Path) -> Result<Self, AuthorityError> {
        Ok(match StoreUrl::of(data)?.postgres() {
            None => Self::Sqlite(sqlite::Database::open(data)?),
            Some(url) => Self::Postgres(postgres::Database::open(url).await?),
        })
    }

    /// Whether other processes may use it at the same time.
    pub(crate) const fn is_shared(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    /// Accepts a document: when this returns, it is on disk and queued, and in the audit log as
    /// created.
    pub(crate) async fn accept(&self, document: NewDocument) -> Result<Accepted, StoreError> {
        match self {
            Self::Sqlite(database) => database.accept(document).await,
            Self::Postgres(database) => database.accept(document).await,
        }
    }

    /// Takes up to `limit` documents whose turn it is, oldest first; nobody else gets them
    /// meanwhile.
    pub(crate) async fn take(&self, limit: u32) -> Result<Turn, StoreError> {
        match self {
            // One process, one worker.
            Self::Sqlite(database) => {
                Ok(Turn { due: database.due(clock::now(), limit).await?, claim: None })
            }
            Self::Postgres(database) => {
                let (due, claim) = database.take(limit).await?;
                Ok(Turn { due, claim: Some(claim) })
            }
        }
    }

    /// Records what processing found; each document once, whatever is repeated.
    pub(crate) async fn conclude(
        &self,
        mut turn: Turn,
        verdicts: Vec<Verdict>,
    ) -> Result<(), StoreError> {
        match (self, turn.claim.take()) {
            (Self::Sqlite(database), _) => database.conclude(verdicts).await,
            (Self::Postgres(_), Some(claim)) => claim.conclude(&verdicts).await,
            (Self::Postgres(_), None) => Err(StoreError::Closed),
        }
    }

    /// How long the queue has nothing to do, as far as is known; `None`: until somebody is woken.
    pub(crate) async fn pause(&self) -> Result<Option<Duration>, StoreError> {
        let until = |due: Instant| {
            let micros = due.0.saturating_sub(clock::now().0);
            Duration::from_micros(u64::try_from(micros).unwrap_or(0))
        };
        match self {
            Self::Sqlite(database) => Ok(database.next_due().await?.map(until)),
            Self::Postgres(database) => {
                let wait = database.next_due().await?;
                Ok(Some(wait.unwrap_or(SHARED_QUEUE_EVERY).min(SHARED_QUEUE_EVERY)))
            }
        }
    }

    /// A laboratory's own document by its receipt, as it is now.
    pub(crate) async fn by_receipt(
        &self,
        laboratory: i64,
        receipt: String,
    ) -> Result<Option<Found>, StoreError> {
        match self {
            Self::Sqlite(database) => database.by_receipt(laboratory, receipt).await,
            Self::Postgres(database) => database.by_receipt(laboratory, receipt).await,
        }
    }

    /// Whether there is a document of this receipt, whoever sent it.
    pub(crate) async fn exists(&self, receipt: String) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(database) => database.exists(receipt).await,
            Self::Postgres(database) => database.exists(receipt).await,
        }
    }

    /// One page of a search.
    pub(crate) async fn search(&self, search: Search) -> Result<FoundPage, StoreError> {
        match self {
            Self::Sqlite(database) => database.search(search).await,
            Self::Postgres(database) => database.search(&search).await,
        }
    }

    /// The laboratory that a client certificate belongs to.
    pub(crate) async fn laboratory(
        &self,
        fingerprint: String,
    ) -> Result<Option<Laboratory>, StoreError> {
        match self {
            Self::Sqlite(database) => database.laboratory(fingerprint).await,
            Self::Postgres(database) => database.laboratory(fingerprint).await,
        }
    }

    /// Adds to the audit log, in the next group. Whoever is answered does not wait for it, unless
    /// the last lines could not be written: then for this one, so that a service whose database is
    /// back refuses nobody.
    pub(crate) async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(database) => database.audit(entry).await,
            Self::Postgres(database) => database.audit(entry).await,
        }
    }

    /// Documents that wait, and since when the first of them could be processed.
    pub(crate) async fn waiting(&self) -> Result<(u64, Option<Instant>), StoreError> {
        match self {
            Self::Sqlite(database) => database.waiting().await,
            Self::Postgres(database) => database.waiting().await,
        }
    }

    /// Waits until what was given to it is stored.
    pub(crate) async fn settled(&self) {
        match self {
            // Its thread is joined when it is dropped.
            Self::Sqlite(_) => {}
            Self::Postgres(database) => database.settled().await,
        }
    }
}

fn format_named(name: &str) -> Format {
    if name == "xml" { Format::Xml } else { Format::Json }
}

const fn format_name(format: Format) -> &'static str {
    match format {
        Format::Json => "json",
        Format::Xml => "xml",
    }
}
