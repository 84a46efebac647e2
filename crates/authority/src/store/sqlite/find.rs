//! Read and search.

use fhir::Instant;
use rusqlite::types::{ToSqlOutput, Type};
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params, params_from_iter};

use super::super::find::{self, Found, Result, Search, Tally, Told};
use super::super::plan::{Dialect, Plan, Statement, Total, Value};
use crate::notice::Notice;
use exchange::Processing;

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Int(number) => number.to_sql(),
            Self::Text(text) => text.to_sql(),
        }
    }
}

pub(super) fn by_receipt(
    connection: &Connection,
    laboratory: i64,
    receipt: &str,
) -> rusqlite::Result<Option<Found>> {
    connection
        .prepare_cached(&format!(
            "SELECT {} FROM document d JOIN version v ON v.document = d.id
             WHERE d.receipt = ?1 AND d.laboratory = ?2 ORDER BY v.number DESC LIMIT 1",
            Dialect::Sqlite.columns(Told::Everything)
        ))?
        .query_row(params![receipt, laboratory], |row| Ok(read_row(row)?.0))
        .optional()
}

/// Within a transaction.
pub(super) fn search(connection: &Connection, search: &Search) -> rusqlite::Result<Result> {
    let (as_of, tally) = state(connection, search.laboratory, search.bound())?;
    let mut plan = Plan::new(Dialect::Sqlite, search, as_of, tally);
    let total = match plan.total() {
        Total::Known(total) => total,
        Total::Counted(Statement { sql, values }) => {
            let total: i64 = connection
                .prepare_cached(&sql)?
                .query_row(params_from_iter(&values), |row| row.get(0))?;
            u64::try_from(total).unwrap_or(0)
        }
    };
    let mut found = Vec::new();
    if search.offset() < total && search.count > 0 {
        let lengths;
        (found, lengths) = page(connection, &plan, total)?;
        if found.iter().any(|one| one.is_cut) {
            plan = plan.telling(Told::fairly(lengths));
            found = page(connection, &plan, total)?.0;
        }
    }
    Ok(Result { as_of, total, found })
}

/// The documents of a page, and how many bytes of each are said of it.
fn page(
    connection: &Connection,
    plan: &Plan<'_>,
    total: u64,
) -> rusqlite::Result<(Vec<Found>, Vec<usize>)> {
    let page = plan.page(total);
    let Statement { sql, values } = page.statement;
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(&values), read_row)?;
    let (mut found, lengths): (Vec<_>, _) =
        rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().unzip();
    if page.reversed {
        found.reverse();
    }
    Ok((found, lengths))
}

/// A laboratory's documents at a moment, by status.
pub(super) fn tally(
    connection: &Connection,
    laboratory: i64,
    as_of: Instant,
) -> rusqlite::Result<Tally> {
    Ok(state(connection, laboratory, as_of)?.1)
}

/// When the last thing happened to a laboratory's documents up to a moment, and how many had which
/// status then.
fn state(
    connection: &Connection,
    laboratory: i64,
    bound: Instant,
) -> rusqlite::Result<(Instant, Tally)> {
    let state = connection
        .prepare_cached(
            "SELECT since, in_progress, completed, failed FROM version INDEXED BY version_by_time
             WHERE laboratory = ?1 AND since <= ?2 ORDER BY since DESC LIMIT 1",
        )?
        .query_row(params![laboratory, bound.0], |row| {
            let tally =
                Tally { in_progress: row.get(1)?, completed: row.get(2)?, failed: row.get(3)? };
            Ok((Instant(row.get(0)?), tally))
        })
        .optional()?;
    Ok(state.unwrap_or((Instant(0), Tally::default())))
}

/// A document, and how many bytes are said of it.
fn read_row(row: &Row<'_>) -> rusqlite::Result<(Found, usize)> {
    let told = row.get_ref(8)?.as_str()?;
    let length = usize::try_from(row.get::<_, i64>(9)?).unwrap_or(0);
    let found = Found {
        receipt: row.get(0)?,
        version: row.get(1)?,
        status: Processing::from_code(row.get_ref(2)?.as_str()?).ok_or_else(|| broken(2))?,
        created: Instant(row.get(3)?),
        last_updated: Instant(row.get(4)?),
        identifier_system: row.get(5)?,
        identifier: row.get(6)?,
        document_identifier: row.get(7)?,
        notices: find::notices(told, length).ok_or_else(|| broken(8))?,
        is_cut: told.len() < length,
    };
    Ok((found, length))
}

/// What was said of a document.
pub(super) fn notices(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<Notice>> {
    let text = row.get_ref(column)?.as_str()?;
    find::notices(text, text.len()).ok_or_else(|| broken(column))
}

fn broken(column: usize) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(column, "text".into(), Type::Text)
}

#[cfg(test)]
mod tests {
    use exchange::{Query, Release};

    use super::*;

    fn plan_of(asked: &str, page: u32, in_progress: i64) -> String {
        let (query, _) = Query::parse(asked, Release::R1_13_1).unwrap();
        explained(
            in_progress,
            &Search {
                laboratory: 1,
                query,
                as_of: None,
                known_until: None,
                count: 50,
                page,
                beside: None,
                since: None,
            },
        )
    }

    /// What SQLite does for a search, as `EXPLAIN QUERY PLAN` says it.
    fn explained(in_progress: i64, search: &Search) -> String {
        let folder = tempfile::TempDir::new().unwrap();
        let connection = super::super::open_writing(&folder.path().join("a.sqlite")).unwrap();
        let tally = Tally { in_progress, completed: 1_000_000, failed: 0 };
        let plan = Plan::new(Dialect::Sqlite, search, Instant(1), tally);
        let mut statements = vec![plan.page(1_000_000).statement];
        if let Total::Counted(statement) = plan.total() {
            statements.push(statement);
        }
        let mut steps = Vec::new();
        for Statement { sql, values } in statements {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let rows =
                statement.query_map(params_from_iter(&values), |row| row.get::<_, String>(3));
            steps.extend(rows.unwrap().map(std::result::Result::unwrap));
        }
        steps.join("; ")
    }

    /// Everybody who writes waits for it.
    #[test]
    fn the_condition_of_a_create_looks_at_what_is_new_alone_when_it_is_created() {
        for asked in [
            "identifier=urn:uuid:1",
            "identifier=urn:ietf:rfc:3986|",
            "identifier=a,b,|c&identifier=d",
            "_id=x,y",
            "date=ne2025",
            "elm-status=in-progress",
            "_lastUpdated=ne2025&_sort=identifier",
        ] {
            let (query, _) = Query::parse(asked, Release::R1_13_1).unwrap();
            let search = Search::of_condition(1, query, Some(Instant(0)));
            let plan = explained(3, &search);
            let new = "SEARCH v USING INDEX version_by_time (laboratory=? AND since>? AND since<?)";
            assert!(plan.starts_with(new), "{asked}: {plan}");
            assert!(!plan.contains("LIST") && !plan.contains("SCAN"), "{asked}: {plan}");
        }
    }

    #[test]
    fn hot_searches_use_their_index_and_sort_nothing_that_is_sorted() {
        for (asked, index, sorts) in [
            ("", "laboratory=? AND ordinal>? AND ordinal<?", false),
            ("_sort=date", "laboratory=? AND ordinal>? AND ordinal<?", false),
            ("elm-status=failed", "version_by_status", false),
            ("_lastUpdated=gt2025-01-01", "version_by_time", true),
            ("_lastUpdated=gt2025-01-01&_sort=_lastUpdated", "version_by_time", false),
            ("_sort=-_lastUpdated", "version_by_time", false),
            ("date=ge2025-01-01", "laboratory=? AND document>?", false),
            ("date=ge2025-01-01", "document_by_time", false),
            ("identifier=urn:uuid:1", "document_by_identifier", false),
            ("identifier=urn:uuid:1", "document_by_document", false),
            ("elm-status=in-progress", "queue_by_laboratory", true),
        ] {
            for page in [1, 19_999] {
                let plan = plan_of(asked, page, 3);
                assert!(plan.contains(index), "{asked}: {plan}");
                assert!(!plan.contains("SCAN v") && !plan.contains("SCAN d"), "{asked}: {plan}");
                if !sorts {
                    assert!(!plan.contains("TEMP B-TREE FOR ORDER BY"), "{asked}: {plan}");
                }
            }
        }
        let many = plan_of("elm-status=in-progress", 1, 2_000_000);
        assert!(!many.contains("queue") && !many.contains("TEMP B-TREE"), "{many}");
    }
}
