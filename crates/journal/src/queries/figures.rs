//! What is counted over a period: less of each report than a list shows, because there are many.

use std::collections::BTreeMap;

use fhir::Instant;
use report::{State, StateCode};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use serde::Deserialize;

use crate::JournalError;
use crate::store::{cells, rows, sql};

/// What numbers over a period need of one report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Imported at.
    pub created: Instant,
    /// Last event.
    pub updated: Instant,
    /// Where it stands.
    pub state: StateCode,
    /// Of a report in progress: when the authority accepted it.
    pub accepted: Option<Instant>,
    /// Leading code ([`report::Summary::code`]).
    pub code: Option<String>,
    /// What it is about, in words ([`report::Summary::subject`]).
    pub subject: Option<String>,
    /// Date of the document ([`report::Summary::date`]).
    pub date: Option<Instant>,
}

/// The part of a summary that is counted.
#[derive(Default, Deserialize)]
struct Told {
    code: Option<String>,
    subject: Option<String>,
    date: Option<Instant>,
}

/// Shows what came from `since` on and before `until`, newest first.
pub(crate) fn each(
    connection: &Connection,
    since: Instant,
    until: Instant,
    mut see: impl FnMut(Figure),
) -> Result<(), JournalError> {
    let mut gather = || -> rusqlite::Result<()> {
        let mut query = connection.prepare_cached(sql::FIGURES)?;
        let mut found = query.query(params![since.0, until.0])?;
        while let Some(row) = found.next()? {
            see(figure(row)?);
        }
        Ok(())
    };
    gather().map_err(JournalError::sql("count"))
}

fn figure(row: &rusqlite::Row<'_>) -> rusqlite::Result<Figure> {
    let kept = cells::state(row, 2)?;
    // Of the others the code says everything that is counted.
    let (state, accepted) = match kept {
        StateCode::InProgress | StateCode::Withdrawn => shown(row, 3)?,
        other => (other, None),
    };
    let Told { code, subject, date } = match row.get_ref(4)? {
        // Erased by retention.
        ValueRef::Null => Told::default(),
        summary => cells::from_json(4, summary.as_str()?)?,
    };
    let (created, updated) = (Instant(row.get(0)?), Instant(row.get(1)?));
    Ok(Figure { created, updated, state, accepted, code, subject, date })
}

/// The state as people read it, and since when it is in progress.
fn shown(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<(StateCode, Option<Instant>)> {
    let state: State = cells::from_json(column, row.get_ref(column)?.as_str()?)?;
    let accepted = match &state {
        State::InProgress { since, .. } => Some(*since),
        _ => None,
    };
    Ok((state.shown(), accepted))
}

/// How many came from `since` on and before `until`, by where they stand now.
pub(crate) fn tally(
    connection: &Connection,
    since: Instant,
    until: Instant,
) -> Result<BTreeMap<StateCode, u64>, JournalError> {
    let mut counts = BTreeMap::new();
    for state in StateCode::KEPT {
        let period = params![state.code(), since.0, until.0];
        if state == StateCode::Withdrawn {
            // Kept as one, and read as two.
            for (state, _) in rows::all(connection, sql::OF_STATE_IN, period, |row| shown(row, 0))?
            {
                *counts.entry(state).or_default() += 1;
            }
            continue;
        }
        let count = rows::one(connection, sql::COUNT_OF_STATE_IN, period, |row| {
            Ok(row.get::<_, i64>(0)?.unsigned_abs())
        })?;
        if let Some(count) = count.filter(|count| *count > 0) {
            counts.insert(state, count);
        }
    }
    Ok(counts)
}
