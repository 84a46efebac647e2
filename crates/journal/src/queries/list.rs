//! The list and its counts.

use std::collections::BTreeMap;

use fhir::Instant;
use report::{Group, State, StateCode, SubmissionId};
use rusqlite::{Connection, params};

use crate::queries::read;
use crate::store::{cells, rows, sql, words};
use crate::{Counts, Filter, JournalError, Row};

/// Rows of a page where the filter says nothing.
const LIMIT_DEFAULT: usize = 100;
/// Rows of a page at most: more than a screen ever shows, few enough to read in a few milliseconds.
const LIMIT_MAX: usize = 1_000;

/// A page, newest first. Without words: by time of import, then number. With words: by number.
pub(crate) fn list(connection: &Connection, filter: &Filter) -> Result<Vec<Row>, JournalError> {
    let limit = match filter.limit {
        0 => LIMIT_DEFAULT,
        limit => limit.min(LIMIT_MAX),
    };
    let found = rows(connection, filter, limit)?;
    match filter.search.as_deref() {
        // The authority's id is not among the words: indexing it would cost every report a second
        // entry.
        Some(text) if found.is_empty() && filter.before.is_none() => {
            let known = read::by_receipt(connection, text.trim())?;
            let row = known.map(|id| read::row(connection, id)).transpose()?;
            Ok(row.into_iter().filter(|row| wanted(filter, row)).collect())
        }
        _ => Ok(found),
    }
}

/// What the filter lets through in all.
pub(crate) fn count(
    connection: &Connection,
    filter: &Filter,
    at_most: usize,
) -> Result<u64, JournalError> {
    let all = Filter { before: None, ..filter.clone() };
    let words = all.search.as_deref().and_then(words::query);
    let halves = [StateCode::Withdrawn, StateCode::SaidReceived];
    let is_half = halves.iter().filter(|state| all.states.contains(state)).count() == 1;
    if words.is_some() || all.since.is_some() || all.until.is_some() || is_half {
        return Ok(rows(connection, &all, at_most)?.len() as u64);
    }
    let counts = counts(connection, all.now)?;
    let in_groups = |state: StateCode| match &*all.groups {
        [] => counts.of(state, None),
        groups => Group::ALL
            .into_iter()
            .filter(|group| groups.contains(group))
            .map(|group| counts.of(state, Some(group)))
            .sum(),
    };
    Ok(wanted_states(&all).map(in_groups).sum())
}

fn rows(connection: &Connection, filter: &Filter, limit: usize) -> Result<Vec<Row>, JournalError> {
    match filter.search.as_deref().and_then(words::query) {
        Some(words) if words.is_empty() => Ok(Vec::new()),
        Some(words) => matches(connection, filter, &words, limit),
        None => page(connection, filter, limit),
    }
}

/// Whether a row is wanted, apart from its words and place.
fn wanted(filter: &Filter, row: &Row) -> bool {
    let by_state = filter.states.is_empty() || filter.states.contains(&row.state.shown());
    let by_group = filter.groups.is_empty() || filter.groups.contains(&row.state.group(filter.now));
    by_state
        && by_group
        && filter.since.is_none_or(|since| row.created >= since)
        && filter.until.is_none_or(|until| row.created < until)
}

/// Few enough to ask for each whether it has the words (20 µs each), instead of walking over all
/// matches in other states.
const FEW: u64 = 1_000;

fn matches(
    connection: &Connection,
    filter: &Filter,
    words: &str,
    limit: usize,
) -> Result<Vec<Row>, JournalError> {
    let before = filter.before.map_or(i64::MAX, |id| id.0);
    let states = states(filter);
    let tally = counts_by_state(connection)?;
    let candidates: u64 = states.iter().filter_map(|state| tally.get(state)).sum();
    if candidates <= FEW {
        return matches_of_few(connection, filter, words, &states, limit);
    }
    let since = filter.since.map_or(i64::MIN, |since| since.0);
    let until = filter.until.map_or(i64::MAX, |until| until.0);
    let states = cells::to_json(&states)?;
    let parameters = params![words, before, states, since, until];
    collect(connection, sql::MATCHES, parameters, filter, limit)
}

fn matches_of_few(
    connection: &Connection,
    filter: &Filter,
    words: &str,
    states: &[&str],
    limit: usize,
) -> Result<Vec<Row>, JournalError> {
    let before = filter.before.map_or(i64::MAX, |id| id.0);
    let mut numbers = Vec::new();
    for state in states {
        let found: Vec<i64> =
            rows::all(connection, sql::NUMBERS, params![state, before], |row| row.get(0))?;
        numbers.extend(found);
    }
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    let mut rows = Vec::new();
    for number in numbers {
        let has = rows::one(connection, sql::HAS_WORDS, params![words, number], |_| Ok(()))?;
        if has.is_none() {
            continue;
        }
        let row = read::row(connection, SubmissionId(number))?;
        if wanted(filter, &row) {
            rows.push(row);
        }
        if rows.len() == limit {
            break;
        }
    }
    Ok(rows)
}

fn page(connection: &Connection, filter: &Filter, limit: usize) -> Result<Vec<Row>, JournalError> {
    let (created, id) = match filter.before {
        None => (i64::MAX, i64::MAX),
        Some(before) => {
            let place = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?));
            match rows::one(connection, sql::KEYSET, [before.0], place)? {
                Some((created, id)) if id == before.0 => (created, id),
                // None of that number: the nearest before it is the first of the page.
                Some((created, _)) => (created, before.0),
                None => return Ok(Vec::new()),
            }
        }
    };
    let since = filter.since.map_or(i64::MIN, |since| since.0);
    let until = filter.until.map_or(i64::MAX, |until| until.0);
    let states: Vec<_> = wanted_states(filter).collect();
    if states.len() == State::CODES.len() && filter.groups.is_empty() {
        let place = params![created, id, since, until, -1];
        return collect(connection, sql::PAGE, place, filter, limit);
    }
    // One walk along the index for each state, then the newest of them all.
    let mut rows = Vec::new();
    for state in states {
        let place = params![created, id, since, until, -1, state.code()];
        // Of these most are not wanted: only those that take too long.
        let walk = match filter.groups.contains(&state.group()) || filter.groups.is_empty() {
            true => sql::PAGE_OF_STATE,
            false => sql::PAGE_OF_UNCLEAR,
        };
        rows.extend(collect(connection, walk, place, filter, limit)?);
    }
    rows.sort_by_key(|row: &Row| std::cmp::Reverse((row.created, row.id)));
    rows.truncate(limit);
    Ok(rows)
}

/// The one that came first of those in these groups.
pub(crate) fn oldest(
    connection: &Connection,
    groups: &[Group],
    now: Instant,
) -> Result<Option<Row>, JournalError> {
    let filter = Filter { groups: groups.to_vec(), now, ..Filter::default() };
    let mut first = Vec::new();
    for state in wanted_states(&filter) {
        first.extend(collect(connection, sql::OLDEST_OF_STATE, [state.code()], &filter, 1)?);
    }
    Ok(first.into_iter().min_by_key(|row| (row.created, row.id)))
}

/// Reads until there are enough: the statements are unbounded, the walk is not.
fn collect(
    connection: &Connection,
    statement: &str,
    parameters: impl rusqlite::Params,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Row>, JournalError> {
    let gather = || -> rusqlite::Result<Vec<Row>> {
        let mut query = connection.prepare_cached(statement)?;
        let mut found = query.query(parameters)?;
        let mut rows = Vec::new();
        while rows.len() < limit
            && let Some(row) = found.next()?
        {
            let row = cells::row(row)?;
            if wanted(filter, &row) {
                rows.push(row);
            }
        }
        Ok(rows)
    };
    gather().map_err(JournalError::sql("list"))
}

/// The states that can hold wanted rows.
fn wanted_states(filter: &Filter) -> impl Iterator<Item = StateCode> {
    StateCode::KEPT
        .into_iter()
        .filter(|state| {
            filter.states.is_empty()
                || filter.states.iter().any(|asked| asked.kept_as() == state.code())
        })
        .filter(|state| {
            filter.groups.is_empty() || filter.groups.iter().any(|group| state.can_be_in(*group))
        })
}

/// Their codes.
fn states(filter: &Filter) -> Vec<&'static str> {
    wanted_states(filter).map(StateCode::code).collect()
}

fn counts_by_state(connection: &Connection) -> Result<BTreeMap<&'static str, u64>, JournalError> {
    let mut by_state: BTreeMap<_, _> = State::CODES.into_iter().map(|code| (code, 0)).collect();
    let tally: Vec<(String, u32)> =
        rows::all(connection, sql::TALLY, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (state, submissions) in tally {
        if let Some(count) = by_state.get_mut(state.as_str()) {
            *count = u64::from(submissions);
        }
    }
    Ok(by_state)
}

pub(crate) fn counts(connection: &Connection, now: Instant) -> Result<Counts, JournalError> {
    let by_state = counts_by_state(connection)?;
    let mut counts = Counts { by_state, ..Counts::default() };
    if counts.by_state.get("unknown").is_some_and(|unknown| *unknown > 0) {
        let long = now.plus_seconds(-report::DOUBT_LONG_SECONDS);
        let found = rows::one(connection, sql::DOUBTS_LONG, [long.0], |row| row.get::<_, u32>(0))?;
        counts.doubtful_long = found.map_or(0, u64::from);
    }
    if counts.by_state.get("in-progress").is_some_and(|progress| *progress > 0) {
        let found = rows::one(connection, sql::OVERDUE, [], |row| row.get::<_, u32>(0))?;
        counts.overdue = found.map_or(0, u64::from);
    }
    Ok(counts)
}
