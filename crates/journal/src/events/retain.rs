//! How long patient data is kept. What is removed and what stays is written at `Journal::retain`.

use fhir::Instant;
use report::SubmissionId;
use rusqlite::{Connection, params};

use crate::events::edited;
use crate::store::{cells, rows, sql, words};
use crate::{JournalError, Message, Retention};

/// Submissions in one transaction: about as much writing as a group of steps.
const PORTION: i64 = 50;

const DAY_SECONDS: i64 = 86_400;

impl Retention {
    /// Before when the last event of a settled submission must lie for its content to leave the
    /// journal now, where it is kept for so many days.
    pub fn before(days: u32, now: Instant) -> Instant {
        now.plus_seconds(-i64::from(days) * DAY_SECONDS)
    }
}

/// The states that a rule concerns, each with the time before which the last event must lie.
fn states(rule: Retention, now: Instant) -> impl Iterator<Item = (&'static str, Instant)> {
    let rules = [
        ("completed", rule.completed_days),
        ("withdrawn", rule.closed_days),
        ("superseded", rule.closed_days),
    ];
    rules.into_iter().filter_map(move |(state, days)| Some((state, Retention::before(days?, now))))
}

/// How many submissions the rule would erase now.
pub(crate) fn count(
    connection: &Connection,
    rule: Retention,
    now: Instant,
) -> Result<u64, JournalError> {
    let mut count = 0;
    for (state, before) in states(rule, now) {
        let period = params![state, before.0];
        let found = rows::one(connection, sql::COUNT_ERASABLE, period, |row| {
            Ok(row.get::<_, i64>(0)?.unsigned_abs())
        })?;
        count += found.unwrap_or(0);
    }
    Ok(count)
}

/// Erases some of what the rule says; 0 when nothing is left.
pub(crate) fn portion(
    connection: &Connection,
    rule: Retention,
    now: Instant,
) -> Result<usize, JournalError> {
    for (state, before) in states(rule, now) {
        let due: Vec<SubmissionId> =
            rows::all(connection, sql::ERASABLE, params![state, before.0, PORTION], |row| {
                row.get(0).map(SubmissionId)
            })?;
        for id in &due {
            erase(connection, *id, now)?;
        }
        if !due.is_empty() {
            return Ok(due.len());
        }
    }
    Ok(0)
}

fn erase(connection: &Connection, id: SubmissionId, now: Instant) -> Result<(), JournalError> {
    let run = |statement: &str, parameters: &[&dyn rusqlite::ToSql]| {
        connection
            .prepare_cached(statement)
            .and_then(|mut statement| statement.execute(parameters))
            .map(drop)
            .map_err(JournalError::sql("erase"))
    };
    // First: the trigger lets bodies of evidence go only where this is set.
    run(sql::ERASE_SUBMISSION, &[&id.0, &now.0])?;
    run(sql::ERASE_DOCUMENT, &[&id.0])?;
    run(sql::ERASE_EVIDENCE, &[&id.0])?;
    words::forget(connection, id)?;
    // Of an older program: now it goes with the step that ends correcting.
    edited::forget(connection, id)?;
    for (origin, messages) in kept_messages(connection, id)? {
        run(sql::SET_MESSAGES, &[&id.0, &origin, &cells::to_json(&messages)?])?;
    }
    Ok(())
}

/// Codes and weights stay; words, parameters and places may quote the document.
fn kept_messages(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Vec<(String, Vec<Message>)>, JournalError> {
    let lists = rows::all(connection, sql::MESSAGES_BY_ORIGIN, [id.0], |row| {
        Ok((row.get(0)?, cells::from_json::<Vec<Message>>(1, row.get_ref(1)?.as_str()?)?))
    })?;
    let bare =
        |message: Message| Message { text: None, params: Vec::new(), expression: None, ..message };
    Ok(lists
        .into_iter()
        .map(|(origin, messages)| (origin, messages.into_iter().map(bare).collect()))
        .collect())
}
