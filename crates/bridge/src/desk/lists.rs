//! What the journal does not list by itself: rows of one laboratory, in the order of a column,
//! counted at each filter. All of it is made from rows that are read here, so it is bounded: a list
//! that is longer shows its newest part.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use engine::Engine;
use journal::{Filter, JournalError, Row};
use report::{Group, State, StateCode, SubmissionId, diseases};

use super::deadlines::{Deadlines, RUNNING};
use super::narrowing::{Choices, Narrowing};
use super::reports::{filter_of, row_views, wanted};
use super::work::has_draft;
use super::{Desk, on_pool};
use crate::codes::{COLUMNS, Column};
use crate::limits;
use crate::problem::Problem;
use crate::rows::{Names, small};
use crate::taken_back::is_taken_back;
use crate::views::{ChosenView, ListCountsView, ListQuery, PageView};

/// Rows read at most: as many as one decision may be for. Reading them takes about a tenth of a
/// second.
const GATHERED_MAX: usize = limits::IDS_MAX;
/// Rows read at a time: the most that the journal gives.
const PART: usize = 1_000;

/// Filters and an order that the journal does not have, where they are asked for.
pub(super) struct Arrangement {
    narrowing: Narrowing,
    order: Option<Order>,
    /// Empty until it is needed.
    deadlines: Deadlines,
}

struct Order {
    column: Column,
    ascending: bool,
    /// Which of the names of a disease.
    language: usize,
}

impl Arrangement {
    pub(super) fn of(query: &ListQuery) -> Result<Self, Problem> {
        let named = |name: &str| COLUMNS.iter().find(|(known, _)| *known == name);
        let column = match query.sort.as_deref() {
            None => None,
            Some(name) => Some(named(name).ok_or_else(|| limits::invalid("sort"))?.1),
        };
        let language = query.language.as_deref().unwrap_or_default();
        let language = diseases::LANGUAGES.iter().position(|known| *known == language);
        let order = column.map(|column| Order {
            column,
            ascending: query.ascending,
            language: language.unwrap_or_default(),
        });
        Ok(Self { narrowing: Narrowing::of(query)?, order, deadlines: Deadlines::default() })
    }

    /// Whether the journal's own pages do not do.
    pub(super) fn is_asked_for(&self) -> bool {
        self.narrowing.is_asked_for() || self.order.is_some()
    }

    /// A total order: equal rows stand as they do in the list, the newest first.
    fn compare(&self, a: &Row, b: &Row) -> Ordering {
        let newest_first = (b.created, b.id).cmp(&(a.created, a.id));
        let Some(order) = &self.order else { return newest_first };
        order.compare(a, b, &self.deadlines).then(newest_first)
    }

    /// The rows that the journal's filter leaves, with the table of deadlines at hand, and whether
    /// these are all. Where deadlines are asked for, only what can have one takes a place among the
    /// rows that are read: newer reports of other states crowd none of it out.
    fn gathered(
        &mut self,
        engine: &Engine,
        ids: Option<Vec<i64>>,
        filter: &Filter,
    ) -> Result<(Vec<Row>, bool), Problem> {
        self.deadlines = Deadlines::of(engine)?;
        let by_deadline = self.order.as_ref().is_some_and(|by| by.column == Column::Deadline);
        match self.narrowing.states() {
            Some(of) if filter.states.is_empty() => {
                let states = of.to_vec();
                gathered(engine, ids, &Filter { states, ..filter.clone() })
            }
            None if by_deadline => with_running_first(engine, ids, filter),
            _ => gathered(engine, ids, filter),
        }
    }

    fn narrowed(&self, rows: &mut Vec<Row>, filter: &Filter) {
        rows.retain(|row| self.narrowing.lets_through(row, &self.deadlines, filter.now));
    }
}

impl Order {
    fn compare(&self, a: &Row, b: &Row, deadlines: &Deadlines) -> Ordering {
        let by = match self.column {
            Column::Created => a.created.cmp(&b.created),
            Column::Updated => a.updated.cmp(&b.updated),
            Column::State => kept_as(&a.state).cmp(&kept_as(&b.state)),
            Column::Disease | Column::Patient | Column::Laboratory => {
                return self.told(self.words_of(a), self.words_of(b));
            }
            Column::Deadline => return self.told(deadlines.due(a), deadlines.due(b)),
        };
        self.directed(by)
    }

    /// What is not there stands last, whichever way it is sorted.
    fn told<T: Ord>(&self, a: Option<T>, b: Option<T>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) => self.directed(a.cmp(&b)),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }

    fn directed(&self, by: Ordering) -> Ordering {
        if self.ascending { by } else { by.reverse() }
    }

    fn words_of(&self, row: &Row) -> Option<String> {
        let summary = &row.summary;
        let words = match self.column {
            Column::Patient => summary.patient.as_deref(),
            Column::Laboratory => summary.laboratory.as_deref(),
            _ => {
                let tested = summary.tested();
                let name = tested.and_then(|it| it.disease.names.get(self.language).copied());
                name.or(summary.subject.as_deref())
            }
        };
        words.map(folded)
    }
}

/// A state as the journal keeps it: what was said to be received counts as withdrawn. States stand
/// in the order of the life cycle.
fn kept_as(state: &State) -> Option<StateCode> {
    StateCode::of(state.code())
}

/// As a person looks it up: without case and accents.
fn folded(words: &str) -> String {
    let plain = |letter: char| match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => 'a',
        'ç' | 'č' | 'ć' => 'c',
        'đ' => 'd',
        'è' | 'é' | 'ê' | 'ë' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ñ' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => 'o',
        'š' => 's',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'ý' | 'ÿ' => 'y',
        'ž' => 'z',
        other => other,
    };
    words.to_lowercase().chars().map(plain).collect()
}

impl Desk {
    /// What each filter of a list would leave.
    pub async fn list_counts(&self, query: ListQuery) -> Result<ListCountsView, Problem> {
        let engine = self.engine();
        let arrangement = Arrangement::of(&query)?;
        let filter = filter_of(&query, engine.now())?;
        if let Some(ids) = &query.ids {
            limits::ids(ids)?;
        }
        on_pool(move || counts(&engine, query.ids, &filter, arrangement)).await?
    }

    /// The numbers of all reports that a filter leaves, the newest first; of more than 10,000 the
    /// newest.
    pub async fn matching(&self, query: ListQuery) -> Result<Vec<i64>, Problem> {
        let engine = self.engine();
        let mut arrangement = Arrangement::of(&query)?;
        let filter = filter_of(&query, engine.now())?;
        if let Some(ids) = &query.ids {
            limits::ids(ids)?;
        }
        on_pool(move || {
            let (mut rows, _) = arrangement.gathered(&engine, query.ids, &filter)?;
            arrangement.narrowed(&mut rows, &filter);
            Ok(rows.iter().map(|row| row.id.0).collect())
        })
        .await?
    }

    /// For how many of these reports each action is possible now.
    pub async fn chosen(&self, ids: Vec<i64>) -> Result<ChosenView, Problem> {
        limits::ids(&ids)?;
        let engine = self.engine();
        on_pool(move || {
            let mut chosen = ChosenView {
                count: 0,
                actions: BTreeMap::new(),
                drafts: BTreeMap::new(),
                taken_back: Vec::new(),
            };
            for row in rows_of(&engine, ids)? {
                chosen.count += 1;
                let has_draft = has_draft(engine.journal(), &row)?;
                if is_taken_back(engine.journal(), &row)? {
                    chosen.taken_back.push(row.id.0);
                }
                for action in row.actions(engine.now()) {
                    *chosen.actions.entry(action).or_default() += 1;
                    if has_draft {
                        chosen.drafts.entry(action).or_default().push(row.id.0);
                    }
                }
            }
            Ok(chosen)
        })
        .await?
    }
}

/// A page of what is arranged otherwise than the journal has it.
pub(super) fn page(
    engine: &Engine,
    ids: Option<Vec<i64>>,
    filter: &Filter,
    mut arrangement: Arrangement,
    names: Names,
) -> Result<PageView, Problem> {
    let (mut rows, _) = arrangement.gathered(engine, ids, filter)?;
    arrangement.narrowed(&mut rows, filter);
    rows.sort_by(|a, b| arrangement.compare(a, b));
    let total = small(rows.len() as u64);
    // By its place in the order: the report may have left the list since the page before was read.
    let from = match filter.before {
        None => 0,
        Some(before) => {
            let last = engine.journal().row(before)?;
            rows.partition_point(|row| arrangement.compare(row, &last) != Ordering::Greater)
        }
    };
    let rest = rows.len() - from;
    let rows = &rows[from..from + rest.min(filter.limit)];
    let next = rows.last().filter(|_| rest > filter.limit).map(|row| row.id.0);
    Ok(PageView { rows: row_views(engine, rows, names, filter.now)?, next, total })
}

/// As [`gathered`], but of more rows than are read none is left out whose clock runs, however old.
fn with_running_first(
    engine: &Engine,
    ids: Option<Vec<i64>>,
    filter: &Filter,
) -> Result<(Vec<Row>, bool), Problem> {
    if ids.is_some() || !filter.states.is_empty() {
        return gathered(engine, ids, filter);
    }
    let of = |running: bool| {
        let states = StateCode::ALL.into_iter();
        let states = states.filter(|state| RUNNING.contains(state) == running).collect();
        gathered(engine, None, &Filter { states, ..filter.clone() })
    };
    let (mut rows, are_all_running) = of(true)?;
    let (others, are_all_others) = of(false)?;
    rows.extend(others);
    Ok((rows, are_all_running && are_all_others))
}

/// All rows that a filter leaves, wherever its page begins, and whether these are all.
fn gathered(
    engine: &Engine,
    ids: Option<Vec<i64>>,
    filter: &Filter,
) -> Result<(Vec<Row>, bool), Problem> {
    if let Some(ids) = ids {
        let mut rows = rows_of(engine, ids)?;
        rows.retain(|row| wanted(row, filter));
        return Ok((rows, true));
    }
    let after = |rows: &[Row], limit: usize| {
        let before = rows.last().map(|row| row.id);
        engine.journal().list(&Filter { before, limit, ..filter.clone() })
    };
    let mut rows: Vec<Row> = Vec::new();
    while rows.len() < GATHERED_MAX {
        let part = after(&rows, PART)?;
        let is_last = part.len() < PART;
        rows.extend(part);
        if is_last {
            return Ok((rows, true));
        }
    }
    let are_all = after(&rows, 1)?.is_empty();
    Ok((rows, are_all))
}

/// The rows of these numbers, the highest first. What a number stood for may be gone.
fn rows_of(engine: &Engine, mut ids: Vec<i64>) -> Result<Vec<Row>, Problem> {
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.dedup();
    let mut rows = Vec::with_capacity(ids.len());
    for id in ids {
        match engine.journal().row(SubmissionId(id)) {
            Ok(row) => rows.push(row),
            Err(JournalError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(rows)
}

fn counts(
    engine: &Engine,
    ids: Option<Vec<i64>>,
    filter: &Filter,
    mut arrangement: Arrangement,
) -> Result<ListCountsView, Problem> {
    let is_all = ids.is_none()
        && !arrangement.narrowing.is_asked_for()
        && filter.states.is_empty()
        && filter.search.is_none()
        && filter.since.is_none()
        && filter.until.is_none();
    // Also with one that stands otherwise to its deadline: they are counted as well.
    arrangement.deadlines = Deadlines::of(engine)?;
    let Arrangement { narrowing, deadlines, .. } = arrangement;
    let read = |groups: &[Group]| {
        let open = Filter { groups: groups.to_vec(), states: Vec::new(), ..filter.clone() };
        match narrowing.states() {
            Some(_) => with_running_first(engine, ids.clone(), &open),
            None => gathered(engine, ids.clone(), &open),
        }
    };
    let (rows, is_complete) = read(&[])?;
    // Of a group those that are older than all that were read are counted as well.
    let of_group =
        if is_complete || filter.groups.is_empty() { None } else { Some(read(&filter.groups)?) };
    let (within, are_all) =
        of_group.as_ref().map_or((&rows, is_complete), |(rows, are_all)| (rows, *are_all));
    let (mut groups, mut states) = (BTreeMap::new(), BTreeMap::new());
    let mut choices = Choices::default();
    let is_asked = |state| filter.states.is_empty() || filter.states.contains(&state);
    let (asked, are_asked_all) = match of_states(engine, ids.clone(), filter, is_complete)? {
        Some((rows, are_all)) => (Cow::Owned(rows), are_all),
        None => (Cow::Borrowed(&rows), is_complete),
    };
    for row in asked.iter() {
        if is_asked(row.state.shown()) && narrowing.lets_through(row, &deadlines, filter.now) {
            *groups.entry(row.state.group(filter.now)).or_default() += 1;
        }
    }
    for row in within {
        let (state, group) = (row.state.shown(), row.state.group(filter.now));
        if !filter.groups.is_empty() && !filter.groups.contains(&group) {
            continue;
        }
        if narrowing.lets_through(row, &deadlines, filter.now) {
            *states.entry(state).or_default() += 1;
        }
        if is_asked(state) {
            choices.see(row, &narrowing, &deadlines, filter.now);
        }
    }
    if is_all && !is_complete {
        // The journal counts them all, whatever their number.
        let all = engine.journal().counts(filter.now)?;
        groups = BTreeMap::from(Group::ALL.map(|group| (group, small(all.group(group)))));
    }
    let (laboratories, diseases, timeliness) = choices.views();
    Ok(ListCountsView {
        groups,
        states,
        laboratories,
        diseases,
        timeliness,
        at_least: !are_asked_all && !is_all,
        choices_counted: (!are_all).then(|| u32::try_from(within.len()).unwrap_or(u32::MAX)),
    })
}

/// The rows of the states that are asked for, where those of other states may have kept some from
/// being read.
fn of_states(
    engine: &Engine,
    ids: Option<Vec<i64>>,
    filter: &Filter,
    is_complete: bool,
) -> Result<Option<(Vec<Row>, bool)>, Problem> {
    if is_complete || filter.states.is_empty() {
        return Ok(None);
    }
    gathered(engine, ids, &Filter { groups: Vec::new(), ..filter.clone() }).map(Some)
}

#[cfg(test)]
mod tests;
