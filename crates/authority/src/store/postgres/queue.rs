//! The queue that many workers share. A worker holds its documents by row locks in an open
//! transaction: when it dies, the server notices the lost connection and gives them to the next.

use std::time::Duration;

use deadpool_postgres::{Client, Object};
use fhir::Instant;

use super::super::{BODIES_AT_ONCE, Due, StoreError, Verdict, format_named};
use super::read::notices;
use super::{Database, TIMES, client};

/// Documents that nobody else gets until they are concluded or this is dropped.
pub(crate) struct Claim(Option<Client>);

/// Locks documents that are due and that no other worker holds. `EXISTS` says whether an earlier
/// document of the same laboratory with the same data was accepted and has not failed. A version is
/// the current one of its document while its `until` is 9223372036854775807, the highest number.
/// The notices of version 1 are those that were given when the document was accepted.
/// Of those that are locked the first are given, until they have `$2` bytes together: one at
/// least; the others are free again when the transaction ends.
const TAKE: &str = "WITH locked AS MATERIALIZED (
        SELECT document, due FROM queue WHERE due <= micros(now())
        ORDER BY due, document LIMIT $1 FOR UPDATE SKIP LOCKED
    ), sized AS (
        SELECT l.document, l.due,
               sum(octet_length(c.body)) OVER (ORDER BY l.due, l.document)
                   - octet_length(c.body) AS before
        FROM locked l JOIN content c ON c.document = l.document
    )
    SELECT d.id, c.format, c.body, EXISTS (
        SELECT 1 FROM document e JOIN version w ON w.document = e.id
        WHERE e.laboratory = d.laboratory AND e.digest = d.digest AND e.id < d.id
          AND w.until = 9223372036854775807 AND w.status <> 'failed'), v.notices
    FROM sized s JOIN document d ON d.id = s.document JOIN content c ON c.document = d.id
    JOIN version v ON v.document = d.id AND v.number = 1
    WHERE s.before < $2 ORDER BY s.due, s.document";

/// Takes documents that this transaction has locked out of the queue, and gives each a new version
/// with its verdict. A document that is no longer in the queue has its verdict already, and stays
/// as it is.
///
/// It runs under the lock [`TIMES`], because times must rise in the order in which transactions
/// commit. The first version gets the time of now, or a later one that is above all that are
/// stored; each further version gets one microsecond more. Each version also carries how many
/// documents of its laboratory have which status after it: the figures of the laboratory's last
/// version (`tally`), changed by the verdicts up to this one (`nth`, `nth_failed`).
const CONCLUDE: &str = "WITH given AS (
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY
            AS g (document, status, notices, n)
    ), taken AS (
        DELETE FROM queue q USING given g WHERE q.document = g.document RETURNING q.document
    ), base AS MATERIALIZED (
        SELECT greatest(micros(clock_timestamp()),
                        coalesce((SELECT max(since) FROM version), 0) + 1)
            AS at
    ), timed AS MATERIALIZED (
        SELECT g.*, v.number, v.laboratory, base.at + g.n - 1 AS at,
               row_number() OVER earlier AS nth,
               count(*) FILTER (WHERE g.status = 'failed') OVER earlier AS nth_failed
        FROM given g
        JOIN taken USING (document)
        JOIN version v ON v.document = g.document AND v.until = 9223372036854775807, base
        WINDOW earlier AS (PARTITION BY v.laboratory ORDER BY g.n ROWS UNBOUNDED PRECEDING)
    ), tally AS MATERIALIZED (
        SELECT l.laboratory, v.in_progress, v.completed, v.failed
        FROM (SELECT DISTINCT laboratory FROM timed) l
        CROSS JOIN LATERAL (
            SELECT in_progress, completed, failed FROM version
            WHERE laboratory = l.laboratory ORDER BY since DESC LIMIT 1
        ) v
    ), ended AS (
        UPDATE version v SET until = t.at FROM timed t
        WHERE v.document = t.document AND v.number = t.number
    ), emptied AS (
        DELETE FROM content c USING timed t WHERE c.document = t.document AND t.status = 'failed'
    )
    INSERT INTO version (document, number, laboratory, status, since, notices, in_progress,
        completed, failed)
    SELECT t.document, t.number + 1, t.laboratory, t.status, t.at, t.notices, y.in_progress - t.nth,
           y.completed + t.nth - t.nth_failed, y.failed + t.nth_failed
    FROM timed t JOIN tally y USING (laboratory)";

impl Database {
    pub(crate) async fn take(&self, limit: u32) -> Result<(Vec<Due>, Claim), StoreError> {
        // From here on the transaction ends with the claim, whatever fails.
        let claim = Claim(Some(client(&self.writers).await?));
        let due = claim.take(limit).await?;
        Ok((due, claim))
    }

    /// How long it is until the next document is due. What is due already is left out: the caller
    /// asks when it could take nothing, so that other workers hold it.
    pub(crate) async fn next_due(&self) -> Result<Option<Duration>, StoreError> {
        let client = client(&self.readers).await?;
        let sql = "SELECT min(due) - micros(now()) FROM queue WHERE due > micros(now())";
        let micros: Option<i64> = client.query_typed_one(sql, &[]).await?.try_get(0)?;
        Ok(micros.and_then(|micros| u64::try_from(micros).ok()).map(Duration::from_micros))
    }
}

impl Claim {
    async fn take(&self, limit: u32) -> Result<Vec<Due>, StoreError> {
        let client = self.0.as_ref().ok_or(StoreError::Closed)?;
        let prepared = client.prepare_cached(TAKE).await?;
        let bytes = i64::try_from(BODIES_AT_ONCE).unwrap_or(i64::MAX);
        let limit = i64::from(limit);
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 2] = [&limit, &bytes];
        // Both are sent before the first is answered.
        let (begun, rows) =
            tokio::join!(client.batch_execute("BEGIN"), client.query(&prepared, &values));
        begun?;
        rows?
            .iter()
            .map(|row| {
                let document = row.try_get(0)?;
                Ok(Due {
                    document,
                    format: format_named(row.try_get(1)?),
                    body: row.try_get(2)?,
                    seen_before: row.try_get(3)?,
                    notices: notices(row.try_get(4)?)?,
                    // The id of a document is the time of its arrival.
                    accepted: Instant(document),
                })
            })
            .collect()
    }

    pub(crate) async fn conclude(mut self, verdicts: &[Verdict]) -> Result<(), StoreError> {
        let client = self.0.as_ref().ok_or(StoreError::Closed)?;
        if !verdicts.is_empty() {
            let documents: Vec<i64> = verdicts.iter().map(|verdict| verdict.document).collect();
            let status: Vec<&str> = verdicts.iter().map(|verdict| verdict.status.code()).collect();
            let notices = verdicts
                .iter()
                .map(|verdict| serde_json::to_string(&verdict.notices))
                .collect::<Result<Vec<_>, _>>()
                .map_err(|_| StoreError::Unreadable)?;
            let prepared = client.prepare_cached(CONCLUDE).await?;
            let lock = format!("SELECT pg_advisory_xact_lock({TIMES})");
            let values: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
                [&documents, &status, &notices];
            let (locked, written) =
                tokio::join!(client.batch_execute(&lock), client.execute(&prepared, &values));
            locked?;
            written?;
        }
        client.batch_execute("COMMIT").await?;
        // Clean: it may go back to the pool.
        drop(self.0.take());
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            // The connection is closed and not put back: the server rolls back and unlocks.
            drop(Object::take(client));
        }
    }
}
