//! The row of a submission after an event.

use report::{Event, State};
use rusqlite::{Connection, params};

use super::{Happening, Subject, Write};
use crate::store::{cells, sql};

/// What lists and questions read of it, without the event.
pub(super) fn write(
    connection: &Connection,
    subject: &Subject,
    state: &State,
    happening: &Happening<'_>,
) -> Result<(), Write> {
    let requests = i64::from(matches!(happening.event, Event::SendingStarted { .. }));
    connection.prepare_cached(sql::MOVE)?.execute(params![
        subject.id.0,
        happening.at.0,
        state.code(),
        cells::to_json(state)?,
        state.duty().map(|(due, _)| due.0),
        state.unclear_since().map(|since| since.0),
        requests,
    ])?;
    // Where there is none any more the last one stays: the authority may still speak of it.
    if let Some(receipt) = state.receipt().filter(|it| subject.state.receipt() != Some(*it)) {
        connection.prepare_cached(sql::SET_RECEIPT)?.execute(params![subject.id.0, receipt])?;
    }
    let successor = match happening.event {
        Event::Superseded { by } => Some(by.0),
        _ => None,
    };
    let had_successor = matches!(subject.state, State::Superseded { .. });
    if had_successor || successor.is_some() {
        connection.prepare_cached(sql::SET_SUCCESSOR)?.execute(params![subject.id.0, successor])?;
    }
    Ok(())
}
