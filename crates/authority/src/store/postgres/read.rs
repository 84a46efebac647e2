//! Read and search.

use deadpool_postgres::Client;
use exchange::Processing;
use fhir::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::super::find::{self, Found, Result as FoundPage, Search, Tally, Told};
use super::super::plan::{Dialect, Plan, Statement, Total, Value};
use super::super::registry;
use super::super::{Laboratory, StoreError};
use super::{Database, client, dollars};
use crate::notice::Notice;

/// When the last thing happened to a laboratory's documents up to a moment, and how many had which
/// status then.
const MOMENT: &str = "SELECT since, in_progress, completed, failed FROM version
    WHERE laboratory = $1 AND since <= $2 ORDER BY since DESC LIMIT 1";

impl Database {
    pub(crate) async fn by_receipt(
        &self,
        laboratory: i64,
        receipt: String,
    ) -> Result<Option<Found>, StoreError> {
        let sql = format!(
            "SELECT {} FROM document d JOIN version v ON v.document = d.id
             WHERE d.receipt = ?1 AND d.laboratory = ?2 ORDER BY v.number DESC LIMIT 1",
            Dialect::Postgres.columns(Told::Everything)
        );
        let values = vec![text(&receipt), Value::Int(laboratory)];
        let rows = self.rows(&Statement { sql, values }).await?;
        Ok(rows.first().map(read_row).transpose()?.map(|(found, _)| found))
    }

    pub(crate) async fn exists(&self, receipt: String) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM document WHERE receipt = ?1".to_owned();
        Ok(!self.rows(&Statement { sql, values: vec![text(&receipt)] }).await?.is_empty())
    }

    pub(crate) async fn laboratory(
        &self,
        fingerprint: String,
    ) -> Result<Option<Laboratory>, StoreError> {
        let sql = registry::LABORATORY.to_owned();
        let rows = self.rows(&Statement { sql, values: vec![text(&fingerprint)] }).await?;
        let known = |row: &Row| Ok(Laboratory { id: row.try_get(0)?, name: row.try_get(1)? });
        rows.first().map(known).transpose()
    }

    pub(crate) async fn waiting(&self) -> Result<(u64, Option<Instant>), StoreError> {
        let sql = "SELECT count(*), min(due) FROM queue".to_owned();
        let rows = self.rows(&Statement { sql, values: Vec::new() }).await?;
        let row = rows.first().ok_or(StoreError::Closed)?;
        let due: Option<i64> = row.try_get(1)?;
        Ok((row.try_get::<_, i64>(0)?.unsigned_abs(), due.map(Instant)))
    }

    pub(crate) async fn search(&self, search: &Search) -> Result<FoundPage, StoreError> {
        match within(&client(&self.readers).await?, search).await {
            Err(error) if is_lost(&error) => within(&client(&self.readers).await?, search).await,
            done => done,
        }
    }

    /// Asks; once more, on another connection, if the first turns out to be lost.
    async fn rows(&self, statement: &Statement) -> Result<Vec<Row>, StoreError> {
        match rows(&client(&self.readers).await?, statement).await {
            Err(error) if is_lost(&error) => rows(&client(&self.readers).await?, statement).await,
            done => done,
        }
    }
}

/// Searches on this connection. Whatever is committed meanwhile has a later time, so that the
/// questions need no transaction to be of one moment.
pub(super) async fn within(client: &Client, search: &Search) -> Result<FoundPage, StoreError> {
    let values = vec![Value::Int(search.laboratory), Value::Int(search.bound().0)];
    let asked = rows(client, &Statement { sql: MOMENT.to_owned(), values }).await?;
    let (as_of, tally) = match asked.first() {
        None => (Instant(0), Tally::default()),
        Some(row) => {
            let (in_progress, completed, failed) =
                (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
            (Instant(row.try_get(0)?), Tally { in_progress, completed, failed })
        }
    };
    let mut plan = Plan::new(Dialect::Postgres, search, as_of, tally);
    let total = match plan.total() {
        Total::Known(total) => total,
        Total::Counted(statement) => {
            let counted = rows(client, &statement).await?;
            let count: i64 = counted.first().ok_or(StoreError::Closed)?.try_get(0)?;
            u64::try_from(count).unwrap_or(0)
        }
    };
    let mut found = Vec::new();
    if search.offset() < total && search.count > 0 {
        let lengths;
        (found, lengths) = page(client, &plan, total).await?;
        if found.iter().any(|one| one.is_cut) {
            plan = plan.telling(Told::fairly(lengths));
            found = page(client, &plan, total).await?.0;
        }
    }
    Ok(FoundPage { as_of, total, found })
}

/// The documents of a page, and how many bytes of each are said of it.
async fn page(
    client: &Client,
    plan: &Plan<'_>,
    total: u64,
) -> Result<(Vec<Found>, Vec<usize>), StoreError> {
    let page = plan.page(total);
    let shown = rows(client, &page.statement).await?;
    // Megabytes of JSON, perhaps: nobody waits for them.
    let read = move || shown.iter().map(read_row).collect::<Result<(Vec<Found>, Vec<usize>), _>>();
    let (mut found, lengths) =
        tokio::task::spawn_blocking(read).await.map_err(|_| StoreError::Closed)??;
    if page.reversed {
        found.reverse();
    }
    Ok((found, lengths))
}

/// Asks in one round trip. Nothing is prepared for the next time: what is asked has too many forms
/// to keep a plan of each, and bounds differ so much that one plan for all of them serves none.
async fn rows(client: &Client, statement: &Statement) -> Result<Vec<Row>, StoreError> {
    let values: Vec<(&(dyn ToSql + Sync), Type)> = statement
        .values
        .iter()
        .map(|value| match value {
            Value::Int(number) => (number as &(dyn ToSql + Sync), Type::INT8),
            Value::Text(text) => (text as &(dyn ToSql + Sync), Type::TEXT),
        })
        .collect();
    Ok(client.query_typed(&dollars(&statement.sql), &values).await?)
}

/// Whether a question may be asked again on another connection: the server went away or was
/// restarted.
pub(super) fn is_lost(error: &StoreError) -> bool {
    match error {
        StoreError::Postgres(error) => {
            error.as_db_error().is_none_or(|error| matches!(error.severity(), "FATAL" | "PANIC"))
        }
        _ => false,
    }
}

/// PostgreSQL's text has no NUL, and nothing stored has this in its place.
fn text(value: &str) -> Value {
    Value::Text(value.replace('\0', "\u{ffff}"))
}

/// A document, and how many bytes are said of it.
fn read_row(row: &Row) -> Result<(Found, usize), StoreError> {
    let (status, told): (&str, &str) = (row.try_get(2)?, row.try_get(8)?);
    let length = usize::try_from(row.try_get::<_, i32>(9)?).unwrap_or(0);
    let found = Found {
        receipt: row.try_get(0)?,
        version: row.try_get::<_, i32>(1)?.unsigned_abs(),
        status: Processing::from_code(status).ok_or(StoreError::Unreadable)?,
        created: Instant(row.try_get(3)?),
        last_updated: Instant(row.try_get(4)?),
        identifier_system: row.try_get(5)?,
        identifier: row.try_get(6)?,
        document_identifier: row.try_get(7)?,
        notices: find::notices(told, length).ok_or(StoreError::Unreadable)?,
        is_cut: told.len() < length,
    };
    Ok((found, length))
}

/// What was said of a document.
pub(super) fn notices(json: &str) -> Result<Vec<Notice>, StoreError> {
    find::notices(json, json.len()).ok_or(StoreError::Unreadable)
}
