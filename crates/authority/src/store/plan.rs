//! The SQL of a search, for both databases.
//!
//! In every statement `?1` is the laboratory and `?2` the moment that is searched. The ordinal of a
//! document is its number among the documents of its laboratory, in the order of arrival, from 1.

use exchange::{Processing, Query, SortKey, TimeFilter, TimePrefix};
use fhir::Instant;

use super::find::{Axis, Beside, Search, Tally, Told, axis, interval};

/// A parameter of a statement.
#[derive(Clone)]
pub(crate) enum Value {
    Int(i64),
    Text(String),
}

/// What is asked of the database: parameters are `?1`, `?2`, …
#[derive(Clone)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
}

/// How many documents match.
#[derive(Clone)]
pub(crate) enum Total {
    Known(u64),
    /// The statement answers one number.
    Counted(Statement),
}

/// The statement that reads the rows of one page. They have the columns of [`Dialect::columns`].
#[derive(Clone)]
pub(crate) struct PageStatement {
    pub(crate) statement: Statement,
    /// The rows come in the opposite order.
    pub(crate) reversed: bool,
}

/// Where the two databases differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "a file has one dialect"))]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// What a page reads of each document: of `document d` and `version v`.
    pub(crate) fn columns(self, told: Told) -> String {
        // In PostgreSQL a document's id is the time of its arrival.
        let (created, notices) = (self.created(), told.columns());
        format!(
            "d.receipt, v.number, v.status, d.{created}, v.since, d.identifier_system, \
             d.identifier, d.document_identifier, {notices}"
        )
    }

    /// The column that has the time of a document's arrival.
    const fn created(self) -> &'static str {
        match self {
            Self::Sqlite => "created",
            Self::Postgres => "id",
        }
    }
}

/// The SQL of a search.
pub(crate) struct Plan<'a> {
    dialect: Dialect,
    search: &'a Search,
    tally: Tally,
    /// What is read of what was said of each document.
    told: Told,
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl<'a> Plan<'a> {
    /// The plan for a moment. The tally says how many documents the laboratory had at that moment.
    pub(crate) fn new(dialect: Dialect, search: &'a Search, as_of: Instant, tally: Tally) -> Self {
        let query = &search.query;
        let values = vec![Value::Int(search.laboratory), Value::Int(as_of.0)];
        let conditions = vec!["v.laboratory = ?1 AND v.since <= ?2 AND v.until > ?2".to_owned()];
        let told = Told::at_first(usize::try_from(search.count).unwrap_or(usize::MAX));
        let mut plan = Self { dialect, search, tally, told, conditions, values };
        if let Some(since) = search.since {
            plan.values.push(Value::Int(since.0));
            plan.conditions.push(format!("v.since > ?{}", plan.values.len()));
        }
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
            let is_rare = status == Processing::InProgress && tally.in_progress * 2 < tally.all();
            if is_rare && search.since.is_none() {
                // Few among many: only those that are in the queue, or left it after this moment.
                plan.conditions.push(
                    "v.document IN (SELECT document FROM queue WHERE laboratory = ?1 UNION ALL \
                     SELECT document FROM version WHERE laboratory = ?1 AND since > ?2)"
                        .to_owned(),
                );
            }
        }
        if let Some(ids) = &query.id {
            let values: Vec<_> = ids.split(',').map(|id| plan.value(id)).collect();
            plan.of_documents(&[format!("d.receipt IN ({})", values.join(", "))]);
        }
        plan
    }

    /// The same with more or less of what was said of each document.
    pub(crate) fn telling(self, told: Told) -> Self {
        Self { told, ..self }
    }

    /// How many documents match: known by the tally where only the status is asked for.
    pub(crate) fn total(&self) -> Total {
        let Query { date, last_updated, identifier, status, id, .. } = &self.search.query;
        if self.search.since.is_some() {
            // Whoever asks for what is new wants to know whether there is any.
            return Total::Known(u64::from(self.search.count));
        }
        let known = |count: i64| Total::Known(u64::try_from(count).unwrap_or(0));
        if !last_updated.is_empty() || !identifier.is_empty() || id.is_some() {
            return Total::Counted(self.counted());
        }
        match (status, date.is_empty()) {
            (None, true) => known(self.tally.all()),
            (Some(status), true) => known(self.tally.of(*status)),
            (None, false) => match interval(date) {
                Some((start, end)) => Total::Counted(self.counted_between(start, end)),
                None => Total::Counted(self.counted()),
            },
            (Some(_), false) => Total::Counted(self.counted()),
        }
    }

    fn counted(&self) -> Statement {
        Statement {
            sql: format!(
                "SELECT count(*) FROM version v {} WHERE {}",
                self.indexed(),
                self.conditions.join(" AND ")
            ),
            values: self.values.clone(),
        }
    }

    /// How many documents arrived between two times: the difference of the last ordinals before
    /// each of them, so that nothing has to be counted off.
    fn counted_between(&self, start: Instant, end: Instant) -> Statement {
        let created = self.dialect.created();
        let before = |bound: &str| {
            format!(
                "coalesce((SELECT ordinal FROM document WHERE laboratory = ?1 AND {created} < \
                 {bound} AND {created} <= ?2 ORDER BY {created} DESC LIMIT 1), 0)"
            )
        };
        let mut values = self.values[..2].to_vec();
        values.extend([Value::Int(start.0), Value::Int(end.max(start).0)]);
        Statement { sql: format!("SELECT {} - {}", before("?4"), before("?3")), values }
    }

    /// The rows of the page, of so many matches.
    pub(crate) fn page(&self, total: u64) -> PageStatement {
        let search = self.search;
        let (offset, count) = (search.offset(), u64::from(search.count));
        let axis = axis(&search.query);
        if let (Some((Axis::Date, down)), 1) = (axis, self.conditions.len()) {
            return self.page_of_all(down, total);
        }
        // The database has to step over all rows before the page. Where the page lies in the second
        // half, it is read from the end in the opposite order, so that fewer are stepped over.
        let rest = total.saturating_sub(offset).min(count);
        let behind = offset.saturating_add(rest) > total / 2;
        match (axis, search.beside) {
            (Some(axis), Some(Beside::After(at))) => self.page_beside(axis, at, false, count),
            (Some(axis), Some(Beside::Before(at))) => self.page_beside(axis, at, true, count),
            _ if behind => {
                let skip = total.saturating_sub(offset).saturating_sub(rest);
                self.ordered(&[], self.values.clone(), true, rest, skip)
            }
            _ => self.ordered(&[], self.values.clone(), false, count, offset),
        }
    }

    /// A page where every document of the laboratory matches. Then the place of a document in the
    /// order of arrival is its ordinal, and the page is a range of ordinals. `down`: newest first.
    fn page_of_all(&self, down: bool, total: u64) -> PageStatement {
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (offset, count) = (signed(self.search.offset()), i64::from(self.search.count));
        let total = signed(total);
        let (above, upto) = if down {
            let upto = total.saturating_sub(offset);
            (upto.saturating_sub(count).max(0), upto)
        } else {
            (offset, offset.saturating_add(count).min(total))
        };
        let mut values = self.values.clone();
        values.extend([Value::Int(above), Value::Int(upto)]);
        let sql = format!(
            "SELECT {} FROM document d JOIN version v
             ON v.document = d.id AND v.since <= ?2 AND v.until > ?2
             WHERE d.laboratory = ?1 AND d.ordinal > ?3 AND d.ordinal <= ?4
             ORDER BY d.ordinal{}",
            self.dialect.columns(self.told),
            if down { " DESC" } else { "" }
        );
        PageStatement { statement: Statement { sql, values }, reversed: false }
    }

    /// A page that begins behind the document at the time `at`, or ends `before` it.
    fn page_beside(
        &self,
        (axis, down): (Axis, bool),
        at: Instant,
        before: bool,
        count: u64,
    ) -> PageStatement {
        let mut values = self.values.clone();
        // What comes before a document in a descending order is later than it, and so is what comes
        // after it in an ascending order. In the other two cases it is earlier.
        let condition = if down == before {
            self.from(&mut values, axis, at.plus_micros(1))
        } else {
            self.before(&mut values, axis, at)
        };
        self.ordered(&[condition], values, before, count, 0)
    }

    /// The matches in the order of the query (or in the opposite one, where `reversed`), of which
    /// `offset` are stepped over and `limit` are read.
    fn ordered(
        &self,
        more: &[String],
        values: Vec<Value>,
        reversed: bool,
        limit: u64,
        offset: u64,
    ) -> PageStatement {
        let way = |down: bool| if down == reversed { "" } else { " DESC" };
        let mut keys = Vec::new();
        for (key, down) in &self.search.query.sort {
            let (column, unique) = match key {
                SortKey::Identifier => ("d.identifier", false),
                // Order of arrival is order of time, and has an index.
                SortKey::Date => ("v.document", true),
                SortKey::ElmStatus => ("v.status", false),
                SortKey::LastUpdated => ("v.since", true),
            };
            keys.push(format!("{column}{}", way(*down)));
            if unique {
                break;
            }
        }
        if !self
            .search
            .query
            .sort
            .iter()
            .any(|(key, _)| matches!(key, SortKey::Date | SortKey::LastUpdated))
        {
            // Newest first where nothing else decides.
            keys.push(format!("v.document{}", way(true)));
        }
        let conditions = self.conditions.iter().chain(more).cloned().collect::<Vec<_>>();
        let (columns, keys) = (self.dialect.columns(self.told), keys.join(", "));
        let window = format!("ORDER BY {keys} LIMIT {limit} OFFSET {offset}");
        let conditions = conditions.join(" AND ");
        let sql = match self.dialect {
            // The rows of the page are chosen before their documents are joined to them. Otherwise
            // PostgreSQL may choose a merge join that reads all documents from the last one on.
            Dialect::Postgres if self.search.since.is_none() && !keys.contains("d.") => format!(
                "SELECT {columns} FROM (SELECT * FROM version v WHERE {conditions} {window}) v
                 JOIN document d ON d.id = v.document ORDER BY {keys}"
            ),
            _ => format!(
                "SELECT {columns} FROM version v {} JOIN document d ON d.id = v.document
                 WHERE {conditions} {window}",
                self.indexed()
            ),
        };
        PageStatement { statement: Statement { sql, values }, reversed }
    }

    /// SQLite has no statistics and would guess; PostgreSQL has them.
    fn indexed(&self) -> String {
        match self.dialect {
            Dialect::Sqlite if self.search.since.is_some() => "INDEXED BY version_by_time".into(),
            Dialect::Sqlite => format!("INDEXED BY {}", index_for(&self.search.query)),
            Dialect::Postgres => String::new(),
        }
    }

    /// A placeholder for a value from outside.
    fn value(&mut self, text: &str) -> String {
        // PostgreSQL's text has no NUL. No stored one has U+FFFF either: it is no character.
        let text = match self.dialect {
            Dialect::Postgres => text.replace('\0', "\u{ffff}"),
            Dialect::Sqlite => text.to_owned(),
        };
        self.values.push(Value::Text(text));
        format!("?{}", self.values.len())
    }

    /// Placeholders for an identifier. The first has it in lower case, by which the index finds it.
    /// The second has it as it is, where upper and lower case make a difference. They make none in
    /// a UUID (RFC 9562 section 4) nor in `urn:uuid:` (RFC 8141 section 3.1).
    fn identifier_value(&mut self, value: &str) -> (String, Option<String>) {
        let lower = value.to_ascii_lowercase();
        let exact = (!lower.starts_with("urn:uuid:")).then(|| self.value(value));
        (self.value(&lower), exact)
    }

    /// FHIR range semantics on points in time, as `TimeFilter::matches` has them.
    fn time(&mut self, axis: Axis, filter: &TimeFilter) {
        let mut alternatives = Vec::new();
        let mut values = std::mem::take(&mut self.values);
        for (prefix, period) in filter.alternatives() {
            let Some(period) = period else { continue };
            let (start, end) = (period.start, period.end);
            let values = &mut values;
            alternatives.push(match prefix {
                TimePrefix::Eq => format!(
                    "({} AND {})",
                    self.from(values, axis, start),
                    self.before(values, axis, end)
                ),
                TimePrefix::Ne => format!(
                    "({} OR {})",
                    self.before(values, axis, start),
                    self.from(values, axis, end)
                ),
                TimePrefix::Gt => self.from(values, axis, end),
                TimePrefix::Ge => self.from(values, axis, start),
                TimePrefix::Lt => self.before(values, axis, start),
                TimePrefix::Le => self.before(values, axis, end),
            });
        }
        self.values = values;
        self.conditions.push(format!("({})", alternatives.join(" OR ")));
    }

    fn from(&self, values: &mut Vec<Value>, axis: Axis, at: Instant) -> String {
        format!("{} >= {}", column(axis), self.bound(values, axis, at))
    }

    fn before(&self, values: &mut Vec<Value>, axis: Axis, at: Instant) -> String {
        format!("{} < {}", column(axis), self.bound(values, axis, at))
    }

    fn bound(&self, values: &mut Vec<Value>, axis: Axis, at: Instant) -> String {
        values.push(Value::Int(at.0));
        let value = values.len();
        match (self.dialect, axis) {
            (_, Axis::LastUpdated) | (Dialect::Postgres, Axis::Date) => format!("?{value}"),
            // In SQLite a document's id is no time, but ids rise with the time of arrival. So the
            // bound is the id of the first document from this time on, or the highest number where
            // none has arrived since.
            (Dialect::Sqlite, Axis::Date) => format!(
                "coalesce((SELECT id FROM document WHERE laboratory = ?1 AND created >= ?{value} \
                 ORDER BY created LIMIT 1), 9223372036854775807)"
            ),
        }
    }

    /// The forms are `value`, `system|value`, `|value` and `system|`; a comma means OR. The
    /// identifier of the DocumentReference may match, or that of the document in it.
    fn identifiers(&mut self, tokens: &str) {
        let mut alternatives = Vec::new();
        for token in exchange::split(tokens, ',') {
            let (system, value) = match exchange::split(token, '|')[..] {
                [system, value] => (Some(exchange::unescape(system)), exchange::unescape(value)),
                _ => (None, exchange::unescape(token)),
            };
            let value = (!value.is_empty()).then(|| self.identifier_value(&value));
            let system = system.map(|system| (!system.is_empty()).then(|| self.value(&system)));
            for (system_column, value_column) in
                [("identifier_system", "identifier"), ("document_system", "document_identifier")]
            {
                let mut conditions = vec!["d.laboratory = ?1".to_owned()];
                if let Some((lower, exact)) = &value {
                    conditions.push(format!("lower(d.{value_column}) = {lower}"));
                    conditions.extend(exact.iter().map(|it| format!("d.{value_column} = {it}")));
                }
                match &system {
                    None => {}
                    Some(None) => conditions.push(format!("d.{system_column} IS NULL")),
                    Some(Some(system)) => conditions.push(format!("d.{system_column} = {system}")),
                }
                alternatives.push(conditions.join(" AND "));
            }
        }
        self.of_documents(&alternatives);
    }

    /// Versions of documents that match one of these. Among everything they are found by the
    /// indexes of documents; of the few that are new each document is looked at.
    fn of_documents(&mut self, alternatives: &[String]) {
        let select = |one: &String| format!("SELECT d.id FROM document d WHERE {one}");
        self.conditions.push(match self.search.since {
            Some(_) => format!("(({}))", alternatives.join(") OR (")),
            None => {
                let selects: Vec<_> = alternatives.iter().map(select).collect();
                format!("v.document IN ({})", selects.join(" UNION "))
            }
        });
    }
}

const fn column(axis: Axis) -> &'static str {
    match axis {
        Axis::Date => "v.document",
        Axis::LastUpdated => "v.since",
    }
}

/// The index that serves the conditions, or else the order.
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
