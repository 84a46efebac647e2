//! Read and search: a query of the interface becomes one of SQL.

use exchange::{Processing, Query, SortKey, TimeFilter, TimePrefix};
use fhir::Instant;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use crate::wire::Notice;

/// A document's metadata as of some moment.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) receipt: String,
    pub(crate) version: u32,
    pub(crate) status: Processing,
    pub(crate) created: Instant,
    pub(crate) last_updated: Instant,
    pub(crate) identifier_system: Option<String>,
    pub(crate) identifier: String,
    pub(crate) document_identifier: String,
    pub(crate) notices: Vec<Notice>,
}

/// One page to find.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    pub(crate) laboratory: i64,
    pub(crate) query: Query,
    /// The moment that is searched; `None`: the last commit.
    pub(crate) as_of: Option<Instant>,
    /// Nothing that happened after this is known yet (a late index).
    pub(crate) known_until: Option<Instant>,
    /// Entries of a page; 0 counts only.
    pub(crate) count: u32,
    /// From 1.
    pub(crate) page: u32,
}

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Result {
    pub(crate) as_of: Instant,
    pub(crate) total: u64,
    pub(crate) found: Vec<Found>,
}

const COLUMNS: &str = "d.receipt, v.number, v.status, d.created, v.since, d.identifier_system, \
                       d.identifier, d.document_identifier, v.notices";

pub(super) fn by_receipt(
    connection: &Connection,
    laboratory: i64,
    receipt: &str,
) -> rusqlite::Result<Option<Found>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM document d JOIN version v ON v.document = d.id
             WHERE d.receipt = ?1 AND d.laboratory = ?2 ORDER BY v.number DESC LIMIT 1"
        ))?
        .query_row(params![receipt, laboratory], read_row)
        .optional()
}

pub(super) fn search(connection: &Connection, search: &Search) -> rusqlite::Result<Result> {
    // One read transaction: count and page are of one moment.
    let transaction = connection.unchecked_transaction()?;
    let last: Option<i64> =
        transaction.query_row("SELECT max(since) FROM version", [], |row| row.get(0))?;
    let last = Instant(last.unwrap_or(0));
    let bounds = [Some(last), search.as_of, search.known_until];
    let as_of = bounds.into_iter().flatten().min().unwrap_or(last);
    let plan = Plan::new(search, as_of);
    let total = match plan.all {
        true => transaction
            .prepare_cached(
                "SELECT ordinal FROM document WHERE laboratory = ?1 AND created <= ?2
                 ORDER BY created DESC LIMIT 1",
            )?
            .query_row(params![search.laboratory, as_of.0], |row| row.get::<_, i64>(0))
            .optional()?
            .unwrap_or(0),
        false => transaction
            .prepare_cached(&plan.count_sql())?
            .query_row(params_from_iter(&plan.values), |row| row.get(0))?,
    };
    let mut found = Vec::new();
    if search.count > 0 {
        let mut statement = transaction.prepare_cached(&plan.page_sql(search))?;
        let rows = statement.query_map(params_from_iter(&plan.values), read_row)?;
        found = rows.collect::<rusqlite::Result<_>>()?;
    }
    Ok(Result { as_of, total: u64::try_from(total).unwrap_or(0), found })
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<Found> {
    let notices: String = row.get(8)?;
    let broken = |column| {
        rusqlite::Error::InvalidColumnType(column, "text".into(), rusqlite::types::Type::Text)
    };
    Ok(Found {
        receipt: row.get(0)?,
        version: row.get(1)?,
        status: Processing::from_code(row.get_ref(2)?.as_str()?).ok_or_else(|| broken(2))?,
        created: Instant(row.get(3)?),
        last_updated: Instant(row.get(4)?),
        identifier_system: row.get(5)?,
        identifier: row.get(6)?,
        document_identifier: row.get(7)?,
        notices: serde_json::from_str(&notices).map_err(|_| broken(8))?,
    })
}

/// A time that can be searched.
#[derive(Debug, Clone, Copy)]
enum Axis {
    Date,
    LastUpdated,
}

impl Axis {
    const fn column(self) -> &'static str {
        match self {
            Self::Date => "v.document",
            Self::LastUpdated => "v.since",
        }
    }
}

fn index_for(query: &Query) -> &'static str {
    let recent = query
        .last_updated
        .iter()
        .any(|filter| matches!(filter.prefix, TimePrefix::Gt | TimePrefix::Ge | TimePrefix::Eq));
    if !query.identifier.is_empty() || query.id.is_some() {
        "version_by_arrival"
    } else if recent {
        "version_by_time"
    } else if query.status.is_some() {
        "version_by_status"
    } else if matches!(query.sort.first(), Some((SortKey::LastUpdated, _))) {
        "version_by_time"
    } else {
        "version_by_arrival"
    }
}

/// The SQL of a search.
struct Plan {
    conditions: Vec<String>,
    values: Vec<Value>,
    /// Whether every document of the laboratory matches.
    all: bool,
    /// The index that serves the conditions, or else the order; without statistics the planner guesses.
    index: &'static str,
}

impl Plan {
    fn new(search: &Search, as_of: Instant) -> Self {
        let query = &search.query;
        let mut plan = Self {
            conditions: Vec::new(),
            values: vec![Value::Integer(search.laboratory), Value::Integer(as_of.0)],
            all: false,
            index: "version_by_arrival",
        };
        plan.conditions.push("v.laboratory = ?1 AND v.since <= ?2 AND v.until > ?2".to_owned());
        for filter in &query.date {
            plan.time(Axis::Date, filter);
        }
        for filter in &query.last_updated {
            plan.time(Axis::LastUpdated, filter);
        }
        for tokens in &query.identifier {
            plan.identifiers(tokens);
        }
        if let Some(status) = query.status {
            let value = plan.value(status.code());
            plan.conditions.push(format!("v.status = {value}"));
        }
        if let Some(ids) = &query.id {
            let values: Vec<_> = ids.split(',').map(|id| plan.value(id)).collect();
            plan.conditions.push(format!(
                "v.document IN (SELECT id FROM document WHERE receipt IN ({}))",
                values.join(", ")
            ));
        }
        plan.all = plan.conditions.len() == 1;
        plan.index = index_for(query);
        plan
    }

    /// A placeholder for a value from outside.
    fn value(&mut self, text: &str) -> String {
        self.values.push(Value::Text(text.to_owned()));
        format!("?{}", self.values.len())
    }

    /// FHIR range semantics on points in time, as `TimeFilter::matches` has them.
    fn time(&mut self, axis: Axis, filter: &TimeFilter) {
        let mut alternatives = Vec::new();
        for (prefix, period) in filter.alternatives() {
            let Some(period) = period else { continue };
            let (start, end) = (period.start, period.end);
            alternatives.push(match prefix {
                TimePrefix::Eq => {
                    format!("({} AND {})", self.from(axis, start), self.before(axis, end))
                }
                TimePrefix::Ne => {
                    format!("({} OR {})", self.before(axis, start), self.from(axis, end))
                }
                TimePrefix::Gt => self.from(axis, end),
                TimePrefix::Ge => self.from(axis, start),
                TimePrefix::Lt => self.before(axis, start),
                TimePrefix::Le => self.before(axis, end),
            });
        }
        self.conditions.push(format!("({})", alternatives.join(" OR ")));
    }

    fn from(&mut self, axis: Axis, at: Instant) -> String {
        let bound = self.bound(axis, at);
        format!("{} >= {bound}", axis.column())
    }

    fn before(&mut self, axis: Axis, at: Instant) -> String {
        let bound = self.bound(axis, at);
        format!("{} < {bound}", axis.column())
    }

    fn bound(&mut self, axis: Axis, at: Instant) -> String {
        self.values.push(Value::Integer(at.0));
        let value = self.values.len();
        match axis {
            Axis::LastUpdated => format!("?{value}"),
            // Documents arrive in order of their time: a bound in time is one in that order.
            Axis::Date => format!(
                "coalesce((SELECT id FROM document WHERE laboratory = ?1 AND created >= ?{value} \
                 ORDER BY created LIMIT 1), 9223372036854775807)"
            ),
        }
    }

    /// `value`, `system|value`, `|value`, `system|`; a comma is OR. Of the DocumentReference or the document.
    fn identifiers(&mut self, tokens: &str) {
        let mut selects = Vec::new();
        for token in tokens.split(',') {
            let (system, value) = match token.split_once('|') {
                Some((system, value)) => (Some(system), value),
                None => (None, token),
            };
            let value = (!value.is_empty()).then(|| self.value(value));
            let system = system.map(|system| (!system.is_empty()).then(|| self.value(system)));
            for (system_column, value_column) in
                [("identifier_system", "identifier"), ("document_system", "document_identifier")]
            {
                let mut select = "SELECT id FROM document WHERE laboratory = ?1".to_owned();
                if let Some(value) = &value {
                    select.push_str(&format!(" AND {value_column} = {value}"));
                }
                match &system {
                    None => {}
                    Some(None) => select.push_str(&format!(" AND {system_column} IS NULL")),
                    Some(Some(system)) => {
                        select.push_str(&format!(" AND {system_column} = {system}"));
                    }
                }
                selects.push(select);
            }
        }
        self.conditions.push(format!("v.document IN ({})", selects.join(" UNION ")));
    }

    fn count_sql(&self) -> String {
        format!(
            "SELECT count(*) FROM version v INDEXED BY {} WHERE {}",
            self.index,
            self.conditions.join(" AND ")
        )
    }

    fn page_sql(&self, search: &Search) -> String {
        let mut keys: Vec<_> = search
            .query
            .sort
            .iter()
            .map(|(key, down)| {
                let column = match key {
                    SortKey::Identifier => "d.identifier",
                    // Order of arrival is order of time, and has an index.
                    SortKey::Date => "v.document",
                    SortKey::ElmStatus => "v.status",
                    SortKey::LastUpdated => "v.since",
                };
                format!("{column}{}", if *down { " DESC" } else { "" })
            })
            .collect();
        // Newest first where nothing else decides.
        keys.push("v.document DESC".to_owned());
        let offset = u64::from(search.page.saturating_sub(1)) * u64::from(search.count);
        format!(
            "SELECT {COLUMNS} FROM version v INDEXED BY {} JOIN document d ON d.id = v.document
             WHERE {} ORDER BY {} LIMIT {} OFFSET {offset}",
            self.index,
            self.conditions.join(" AND "),
            keys.join(", "),
            search.count
        )
    }
}

#[cfg(test)]
mod tests {
    use std::result::Result;

    use exchange::Release;

    use super::*;

    /// What SQLite does for a search, as `EXPLAIN QUERY PLAN` says it.
    fn plan_of(asked: &str) -> String {
        let folder = tempfile::TempDir::new().unwrap();
        let connection = super::super::open_writing(&folder.path().join("a.sqlite")).unwrap();
        let (query, _) = Query::parse(asked, Release::R1_13_1).unwrap();
        let search =
            Search { laboratory: 1, query, as_of: None, known_until: None, count: 50, page: 1 };
        let plan = Plan::new(&search, Instant(1));
        let mut steps = Vec::new();
        for sql in [plan.page_sql(&search), plan.count_sql()] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let rows = statement
                .query_map(params_from_iter(&plan.values), |row| row.get::<_, String>(3))
                .unwrap();
            steps.extend(rows.map(Result::unwrap));
        }
        steps.join("; ")
    }

    #[test]
    fn hot_searches_use_their_index_and_sort_nothing_that_is_sorted() {
        for (asked, index, sorts) in [
            ("", "version_by_arrival", false),
            ("elm-status=failed", "version_by_status", false),
            ("_lastUpdated=gt2025-01-01", "version_by_time", true),
            ("_lastUpdated=gt2025-01-01&_sort=_lastUpdated", "version_by_time", false),
            ("_sort=-_lastUpdated", "version_by_time", false),
            ("_sort=date", "version_by_arrival", false),
            ("date=ge2025-01-01", "laboratory=? AND document>?", false),
            ("date=ge2025-01-01", "document_by_time", false),
            ("identifier=urn:uuid:1", "document_by_identifier", false),
            ("identifier=urn:uuid:1", "document_by_document", false),
        ] {
            let plan = plan_of(asked);
            assert!(plan.contains(index), "{asked}: {plan}");
            assert!(!plan.contains("SCAN v") && !plan.contains("SCAN d"), "{asked}: {plan}");
            if !sorts {
                assert!(!plan.contains("TEMP B-TREE FOR ORDER BY"), "{asked}: {plan}");
            }
        }
    }
}
