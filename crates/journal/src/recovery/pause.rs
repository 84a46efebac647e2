//! Whether sending was paused outlives a journal that cannot be used: the register says it too.

use fhir::Instant;
use rusqlite::Connection;

use crate::recovery::register;
use crate::store::notice;
use crate::store::open::{self, Access, Place};
use crate::store::pause::{UNKNOWN, is_paused, set};
use crate::{JournalError, Notice};

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
