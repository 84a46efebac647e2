//! Fills a store with documents that were accepted and processed earlier, written by its own
//! database: a million by HTTPS would take half an hour.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use testkit::DocumentBuilder;

use crate::Result;

/// One document every so many microseconds: a million in 100 days.
const APART: u64 = 8_640_000;
/// Processed so many microseconds after it arrived.
const PROCESSED: u64 = 1_000_000;
/// One in so many failed.
const FAILED_OF: u64 = 50;
/// Bodies are kept for the newest of them, as where retention deletes the older ones.
const CONTENT_KEPT: u64 = 50_000;

/// `DocumentReference.id` of the n-th document.
pub(crate) fn receipt(n: u64) -> String {
    format!("bench-{n}")
}

/// `DocumentReference.identifier` of the n-th document.
pub(crate) fn identifier(n: u64) -> String {
    format!("urn:uuid:bench-{n}")
}

/// `_lastUpdated` of the n-th document's arrival, of `size`; RFC 3339.
pub(crate) fn arrived(size: u64, n: u64) -> String {
    let micros = first(size) + n * APART;
    let seconds = i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX);
    fhir::Instant(seconds.saturating_mul(1_000_000)).to_search()
}

/// Arrival of the first, so that the last came a day ago: microseconds since 1970.
fn first(size: u64) -> u64 {
    // Whole days: every round of one run has the same times.
    #[expect(clippy::disallowed_methods, reason = "who measures is given no clock")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    (now / 86_400 - 1) * 86_400_000_000 - size * APART
}

/// What differs between the databases.
struct Dialect {
    /// A table `n(k)` of 0 to size - 1.
    series: String,
    digest: &'static str,
    id: String,
    /// Further columns of `document` and their values.
    created: (&'static str, String),
    body: String,
}

/// The statements, in order.
fn statements(size: u64, dialect: &Dialect) -> Vec<String> {
    let Dialect { series, digest, id, created: (created, at), body } = dialect;
    let start = first(size);
    let failed = |k: &str| format!("(({k}) / {FAILED_OF})");
    let arrival = format!("({start} + k * {APART})");
    let end = format!("({arrival} + {PROCESSED})");
    let until = i64::MAX;
    let status =
        format!("CASE WHEN k % {FAILED_OF} = {} THEN 'failed' ELSE 'completed' END", FAILED_OF - 1);
    vec![
        format!(
            "INSERT INTO document (id, laboratory, ordinal, receipt, identifier_system, identifier,
                 document_system, document_identifier, digest{created})
             SELECT {id}, 1, k + 1, 'bench-' || k, 'urn:ietf:rfc:3986', 'urn:uuid:bench-' || k,
                 'urn:ietf:rfc:3986', 'urn:uuid:document-' || k, {digest}{at} FROM {series}"
        ),
        format!(
            "INSERT INTO version (document, number, laboratory, status, since, until, notices,
                 in_progress, completed, failed)
             SELECT {id}, 1, 1, 'in-progress', {arrival}, {end}, '[]', 1, k - {0}, {0}
             FROM {series}",
            failed("k")
        ),
        format!(
            "INSERT INTO version (document, number, laboratory, status, since, until, notices,
                 in_progress, completed, failed)
             SELECT {id}, 2, 1, {status}, {end}, {until}, '[]', 0, k + 1 - {0}, {0} FROM {series}",
            failed("k + 1")
        ),
        format!(
            "INSERT INTO content (document, format, body)
             SELECT {id}, 'json', {body} FROM {series}
             WHERE k >= {} AND k % {FAILED_OF} <> {}",
            size.saturating_sub(CONTENT_KEPT),
            FAILED_OF - 1
        ),
    ]
}

/// Into the database file of a stopped authority.
pub(crate) fn sqlite(data: &Path, size: u64) -> Result<()> {
    let connection = rusqlite::Connection::open(data.join("authority.sqlite"))?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    let body: String = DocumentBuilder::new(1).json();
    let dialect = Dialect {
        series: format!(
            "(WITH RECURSIVE n(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k < {}) \
             SELECT k FROM n)",
            size - 1
        ),
        digest: "randomblob(32)",
        id: "(k + 1)".to_owned(),
        created: (", created", format!(", {} + k * {APART}", first(size))),
        body: format!("CAST('{}' AS BLOB)", body.replace('\'', "''")),
    };
    connection.execute_batch("BEGIN")?;
    for statement in statements(size, &dialect) {
        connection.execute(&statement, [])?;
    }
    connection.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

/// What PostgreSQL stores of one document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PerDocument {
    /// Metadata and versions with their indexes, in bytes.
    pub(crate) facts: i64,
    /// A body as stored, in bytes.
    pub(crate) body: i64,
}

/// Into a PostgreSQL that no authority uses at the moment.
pub(crate) async fn postgres(url: &str, size: u64) -> Result<PerDocument> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
    let driver = tokio::spawn(connection);
    let body: String = DocumentBuilder::new(1).json();
    let dialect = Dialect {
        series: format!("generate_series(0::bigint, {}) AS n(k)", size - 1),
        digest: "sha256(k::text::bytea)",
        id: format!("({} + k * {APART})", first(size)),
        created: ("", String::new()),
        body: format!("convert_to('{}', 'UTF8')", body.replace('\'', "''")),
    };
    for statement in statements(size, &dialect) {
        client.batch_execute(&statement).await?;
    }
    // As autovacuum would have done by now.
    client.batch_execute("VACUUM ANALYZE").await?;
    let sql = "SELECT (pg_total_relation_size('document') + pg_total_relation_size('version'))
                   / (SELECT count(*) FROM document),
               pg_total_relation_size('content') / greatest((SELECT count(*) FROM content), 1)";
    let row = client.query_one(sql, &[]).await?;
    let stored = PerDocument { facts: row.try_get(0)?, body: row.try_get(1)? };
    drop(client);
    driver.await??;
    Ok(stored)
}
