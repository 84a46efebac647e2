//! Whether sending is paused: kept beside the reports, so that it outlives the program and holds
//! for every one; and in the register, so that it outlives the journal.

use fhir::Instant;
use rusqlite::Connection;
use serde_json::Value;

use crate::notices::notice;
use crate::recovery::register;
use crate::store::open::{self, Access, Place};
use crate::store::settings;
use crate::store::writer::Effect;
use crate::{Journal, JournalError, Notice};

const PAUSED: &str = "paused";

/// Code of the notice that sending is paused because nothing says whether it was before.
pub(crate) const UNKNOWN: &str = "pause-unknown";

impl Journal {
    /// Whether a person has paused sending. Every program that sends looks before each report.
    pub fn is_paused(&self) -> Result<bool, JournalError> {
        self.read(is_paused)
    }

    /// Pauses sending until it is resumed, or resumes it.
    pub fn set_paused(&self, paused: bool) -> Result<(), JournalError> {
        self.write(Effect::Seen, move |c| {
            notice::remove(c, UNKNOWN)?;
            set(c, paused)
        })
        .wait()?;
        register::note_pause(&self.0.place, paused);
        Ok(())
    }
}

pub(crate) fn is_paused(connection: &Connection) -> Result<bool, JournalError> {
    let kept = settings::get(connection, PAUSED)?;
    Ok(kept.is_some_and(|value| value != Value::Bool(false)))
}

fn set(connection: &Connection, paused: bool) -> Result<(), JournalError> {
    match paused {
        true => settings::set(connection, PAUSED, &Value::Bool(true)),
        false => settings::remove(connection, PAUSED),
    }
}

/// What is known of a journal that another takes the place of: whether sending was paused. Its own
/// word may be older than the register's, and the other way round: paused is what one of them says.
/// `None` where neither can be read.
pub(crate) fn before(place: &Place, copy: Option<&Place>) -> Option<bool> {
    let journal = copy.and_then(|copy| {
        let connection = open::connect(copy, Access::Write).ok()?;
        is_paused(&connection).ok()
    });
    let words = [journal, register::pause(place)];
    words.into_iter().flatten().reduce(|one, other| one || other)
}

/// Carries over to a journal whether sending was paused. Where nobody knows, and there is something
/// that would be sent, it is paused until a person says otherwise, and told. Gives whether it is
/// paused then.
pub(crate) fn carry_over(
    connection: &Connection,
    before: Option<bool>,
    would_send: bool,
    now: Instant,
) -> Result<bool, JournalError> {
    match before {
        Some(paused) => {
            notice::remove(connection, UNKNOWN)?;
            set(connection, paused)?;
        }
        None if would_send && !is_paused(connection)? => {
            set(connection, true)?;
            notice::put(connection, &Notice::new(UNKNOWN, &[], now))?;
        }
        None => {}
    }
    is_paused(connection)
}
