//! The writing task: what waits is committed in one transaction, then everybody is answered.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Client, Object, Pool};
use fhir::Instant;
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::types::ToSql;

use super::super::{Accepted, AuditEntry, NewDocument, Recording, StoreError, format_name};
use super::read::{is_lost, within};
use super::{TIMES, client};

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

pub(super) enum Command {
    Accept(Box<NewDocument>, Reply<Accepted>),
    Audit(AuditEntry),
    /// Answered when everything before it is done.
    Settle(oneshot::Sender<()>),
}

/// One synchronous commit costs about as much as a hundred rows; a group waits for nobody.
const GROUP_MAX: usize = 256;
/// A group stays far below a message's limit of 1 GiB, and is short to send.
const GROUP_BYTES_MAX: usize = 16 << 20;
/// How long a lost server is asked what became of the last commit.
const ASKED_FOR: Duration = Duration::from_secs(10);
const ASKED_EVERY: Duration = Duration::from_millis(100);

/// Under [`TIMES`].
const ACCEPT: &str = "WITH given AS (
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[],
                             $6::text[], $7::bytea[], $8::text[], $9::bytea[], $10::bigint[],
                             $11::text[], $12::text[], $13::text[])
            WITH ORDINALITY AS g (laboratory, receipt, identifier_system, identifier,
                document_system, document_identifier, digest, format, body, delay, certificate,
                status, notices, n)
    ), base AS MATERIALIZED (
        SELECT greatest(micros(clock_timestamp()),
                        coalesce((SELECT max(since) FROM version), 0) + 1)
            AS at
    ), timed AS MATERIALIZED (
        SELECT g.*, base.at + g.n - 1 AS at,
               row_number() OVER earlier AS nth,
               count(*) FILTER (WHERE status = 'failed') OVER earlier AS nth_failed
        FROM given g, base
        WINDOW earlier AS (PARTITION BY laboratory ORDER BY n ROWS UNBOUNDED PRECEDING)
    ), tally AS MATERIALIZED (
        SELECT l.laboratory, coalesce(v.in_progress, 0) AS in_progress,
               coalesce(v.completed, 0) AS completed, coalesce(v.failed, 0) AS failed
        FROM (SELECT DISTINCT laboratory FROM given) l
        LEFT JOIN LATERAL (
            SELECT in_progress, completed, failed FROM version
            WHERE laboratory = l.laboratory ORDER BY since DESC LIMIT 1
        ) v ON true
    ), documents AS (
        INSERT INTO document (id, laboratory, ordinal, receipt, identifier_system, identifier,
            document_system, document_identifier, digest)
        SELECT at, laboratory, in_progress + completed + failed + nth, receipt, identifier_system,
               identifier, document_system, document_identifier, digest
        FROM timed JOIN tally USING (laboratory)
    ), contents AS (
        INSERT INTO content (document, format, body)
        SELECT at, format, body FROM timed WHERE status <> 'failed'
    ), versions AS (
        INSERT INTO version (document, number, laboratory, status, since, notices, in_progress,
            completed, failed)
        SELECT at, 1, laboratory, status, at, notices, in_progress + nth - nth_failed, completed,
               failed + nth_failed
        FROM timed JOIN tally USING (laboratory)
    ), queued AS (
        INSERT INTO queue (document, laboratory, due)
        SELECT at, laboratory, CASE WHEN delay < 9223372036854775807 - at THEN at + delay
                               ELSE 9223372036854775807 END
        FROM timed WHERE status <> 'failed'
    ), audited AS (
        INSERT INTO audit (at, laboratory, certificate, interaction, receipt, status)
        SELECT at, laboratory, certificate, 'create', receipt,
               CASE status WHEN 'failed' THEN 422 ELSE 201 END
        FROM timed ORDER BY n
    )
    SELECT at FROM timed ORDER BY n";

const AUDIT: &str =
    "INSERT INTO audit (at, laboratory, certificate, interaction, receipt, entries, status, shown)
    SELECT micros(clock_timestamp()), laboratory, certificate, interaction, receipt, entries,
           status, shown
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[],
                $7::text[])
        WITH ORDINALITY AS g
            (laboratory, certificate, interaction, receipt, entries, status, shown, n)
    ORDER BY n";

#[derive(Default)]
struct Group {
    accepts: Vec<(NewDocument, Reply<Accepted>)>,
    audits: Vec<AuditEntry>,
    settled: Vec<oneshot::Sender<()>>,
    bytes: usize,
}

impl Group {
    fn add(&mut self, command: Command) {
        match command {
            Command::Accept(document, reply) => {
                self.bytes += document.body.len();
                self.accepts.push((*document, reply));
            }
            Command::Audit(entry) => self.audits.push(entry),
            Command::Settle(reply) => self.settled.push(reply),
        }
    }

    fn has_room(&self) -> bool {
        self.accepts.len() + self.audits.len() < GROUP_MAX && self.bytes < GROUP_BYTES_MAX
    }
}

/// Ends when the last sender is gone and everything is done.
pub(super) async fn work(
    pool: Pool,
    mut commands: mpsc::UnboundedReceiver<Command>,
    recording: Arc<Recording>,
) {
    while let Some(first) = commands.recv().await {
        let mut group = Group::default();
        group.add(first);
        while group.has_room() {
            let Ok(command) = commands.try_recv() else { break };
            group.add(command);
        }
        let Group { accepts, audits, settled, .. } = group;
        if !accepts.is_empty() {
            let (documents, replies): (Vec<_>, Vec<_>) = accepts.into_iter().unzip();
            let done = store_each(&pool, &documents).await;
            // Whoever no longer waits has lost its connection; the row is there all the same.
            replies.into_iter().zip(done).for_each(|(reply, done)| drop(reply.send(done)));
        }
        if !audits.is_empty() {
            let written = audit(&pool, &audits).await;
            recording.ended(audits.len(), written.is_ok());
            if let Err(error) = written {
                let (lines, reason) = (audits.len(), error.reason());
                tracing::error!(%error, reason, lines, "lines of the audit log were not stored");
            }
        }
        for reply in settled {
            let _ = reply.send(());
        }
    }
}

/// Commits documents; what became of each. Where the database refuses the group, each is tried
/// alone: one that cannot be stored takes no other with it.
async fn store_each(pool: &Pool, documents: &[NewDocument]) -> Vec<Result<Accepted, StoreError>> {
    let error = match store(pool, documents).await {
        Ok(done) => return done.into_iter().map(Ok).collect(),
        Err(error) => error,
    };
    let (group, reason) = (documents.len(), error.reason());
    tracing::error!(%error, reason, group, "nothing of this group is known to be stored");
    if !matches!(error, StoreError::Postgres(_)) || is_lost(&error) || group == 1 {
        return vec![Err(error); group];
    }
    let mut done = Vec::with_capacity(group);
    for document in documents {
        let alone = store(pool, std::slice::from_ref(document)).await;
        done.push(alone.and_then(|mut one| one.pop().ok_or(StoreError::Closed)));
    }
    done
}

/// Commits documents; what became of each.
async fn store(pool: &Pool, documents: &[NewDocument]) -> Result<Vec<Accepted>, StoreError> {
    // Without COMMIT nothing is stored: what was lost before it may be tried again.
    let (client, done) = match ready(pool, documents).await {
        Err(error) if is_lost(&error) => ready(pool, documents).await?,
        done => done?,
    };
    match client.batch_execute("COMMIT").await {
        Ok(()) => Ok(done),
        Err(error) => {
            drop(Object::take(client));
            let error = StoreError::from(error);
            if is_lost(&error) { resolved(pool, documents, done).await } else { Err(error) }
        }
    }
}

/// A connection on which everything is done but the COMMIT.
async fn ready(
    pool: &Pool,
    documents: &[NewDocument],
) -> Result<(Client, Vec<Accepted>), StoreError> {
    let client = client(pool).await?;
    match prepared(&client, documents).await {
        Ok(done) => Ok((client, done)),
        Err(error) => {
            drop(Object::take(client));
            Err(error)
        }
    }
}

async fn prepared(client: &Client, documents: &[NewDocument]) -> Result<Vec<Accepted>, StoreError> {
    let begin = format!("BEGIN; SELECT pg_advisory_xact_lock({TIMES})");
    if documents.iter().all(|document| document.unless.is_none()) {
        let all: Vec<_> = documents.iter().collect();
        // Both are sent before the first is answered.
        let (begun, done) = tokio::join!(client.batch_execute(&begin), accept(client, &all));
        begun?;
        return done;
    }
    client.batch_execute(&begin).await?;
    let mut done = Vec::with_capacity(documents.len());
    for document in documents {
        // Nobody else creates meanwhile, on any computer.
        let existing = match document.unless() {
            Some(search) => within(client, &search).await?.found,
            None => Vec::new(),
        };
        if existing.is_empty() {
            done.extend(accept(client, &[document]).await?);
        } else {
            done.push(Accepted::Existing(existing));
        }
    }
    Ok(done)
}

async fn accept(client: &Client, documents: &[&NewDocument]) -> Result<Vec<Accepted>, StoreError> {
    fn column<'a, T>(
        documents: &[&'a NewDocument],
        value: impl Fn(&'a NewDocument) -> T,
    ) -> Vec<T> {
        documents.iter().map(|document| value(document)).collect()
    }
    let laboratory = column(documents, |one| one.laboratory);
    let receipt = column(documents, |one| one.receipt.as_str());
    let identifier_system = column(documents, |one| one.identifier_system.as_deref());
    let identifier = column(documents, |one| one.identifier.as_str());
    let document_system = column(documents, |one| one.document_system.as_deref());
    let document_identifier = column(documents, |one| one.document_identifier.as_str());
    let digest = column(documents, |one| &one.digest[..]);
    let format = column(documents, |one| format_name(one.format));
    let body = column(documents, |one| &one.body[..]);
    let delay = column(documents, NewDocument::delay_micros);
    let certificate = column(documents, |one| one.certificate.as_str());
    let status = column(documents, |one| one.status.code());
    let notices = documents
        .iter()
        .map(|one| one.notices_json().map_err(|_| StoreError::Unreadable))
        .collect::<Result<Vec<_>, _>>()?;
    let values: [&(dyn ToSql + Sync); 13] = [
        &laboratory,
        &receipt,
        &identifier_system,
        &identifier,
        &document_system,
        &document_identifier,
        &digest,
        &format,
        &body,
        &delay,
        &certificate,
        &status,
        &notices,
    ];
    let statement = client.prepare_cached(ACCEPT).await?;
    let rows = client.query(&statement, &values).await?;
    rows.iter().map(|row| Ok(Accepted::Created(Instant(row.try_get(0)?)))).collect()
}

/// What became of a commit whose answer was lost. The lost session kept the lock until it had
/// committed or given up: whoever has the lock after it sees which.
async fn resolved(
    pool: &Pool,
    documents: &[NewDocument],
    done: Vec<Accepted>,
) -> Result<Vec<Accepted>, StoreError> {
    let receipts: Vec<&str> = documents
        .iter()
        .zip(&done)
        .filter(|(_, done)| matches!(done, Accepted::Created(_)))
        .map(|(document, _)| document.receipt.as_str())
        .collect();
    let began = tokio::time::Instant::now();
    while began.elapsed() < ASKED_FOR {
        match stored(pool, &receipts).await {
            Ok(true) => return Ok(done),
            Ok(false) => return Err(StoreError::Closed),
            Err(_) => tokio::time::sleep(ASKED_EVERY).await,
        }
    }
    Err(StoreError::Uncertain)
}

async fn stored(pool: &Pool, receipts: &[&str]) -> Result<bool, StoreError> {
    let mut client = client(pool).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(&format!("SELECT pg_advisory_xact_lock({TIMES})")).await?;
    let sql = "SELECT count(*) FROM document WHERE receipt = ANY ($1)";
    let count: i64 = transaction.query_one(sql, &[&receipts]).await?.try_get(0)?;
    transaction.commit().await?;
    Ok(usize::try_from(count) == Ok(receipts.len()))
}

/// Whoever is answered does not wait for these lines, and they do not wait for the disk.
async fn audit(pool: &Pool, entries: &[AuditEntry]) -> Result<(), StoreError> {
    let laboratory: Vec<_> = entries.iter().map(|entry| entry.laboratory).collect();
    let certificate: Vec<_> = entries.iter().map(|entry| entry.certificate.as_str()).collect();
    let interaction: Vec<_> = entries.iter().map(|entry| entry.interaction).collect();
    let receipt: Vec<_> = entries.iter().map(|entry| entry.receipt.as_deref()).collect();
    let count = |entry: &AuditEntry| entry.entries.and_then(|count| i32::try_from(count).ok());
    let count: Vec<_> = entries.iter().map(count).collect();
    let shown: Vec<_> = entries.iter().map(|entry| entry.shown.as_deref()).collect();
    let status: Vec<_> = entries.iter().map(|entry| i32::from(entry.status)).collect();
    let values: [&(dyn ToSql + Sync); 7] =
        [&laboratory, &certificate, &interaction, &receipt, &count, &status, &shown];
    let mut client = client(pool).await?;
    let statement = client.prepare_cached(AUDIT).await?;
    let transaction = client.transaction().await?;
    let set = transaction.batch_execute("SET LOCAL synchronous_commit = off");
    let (set, added) = tokio::join!(set, transaction.execute(&statement, &values));
    set?;
    added?;
    Ok(transaction.commit().await?)
}
