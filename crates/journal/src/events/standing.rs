//! How long everything that is taken in is asked for first: after a restore, and in the copy of a
//! profile.

use fhir::Instant;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::JournalError;
use crate::events::compared::{self, COPIED, is_compared};
use crate::store::notice;
use crate::store::settings;

const GUARD: &str = "guard";
/// Once something may have been sent of which nothing here knows, that stays so.
const FORGOTTEN: &str = "guard-forgotten";

/// So long every report that is taken in is asked for first: what was sent may be handed over again
/// until then.
const STANDS_MICROS: i64 = 30 * DAY_MICROS;
/// Between two looks no more counts: a clock that was years behind and is set right lets nothing
/// go.
const DAY_MICROS: i64 = 86_400 * 1_000_000;
/// Time is written down so often.
const COUNT_EVERY_MICROS: i64 = 3_600 * 1_000_000;

/// How long everything is asked for first.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Guard {
    /// The last look, by our clock.
    seen: Instant,
    /// What has passed until then.
    counted: i64,
    /// Only until everything was compared: the register says what was sent.
    until_compared: bool,
}

impl Guard {
    fn counted(&self, now: Instant) -> i64 {
        let since = now.0.saturating_sub(self.seen.0).clamp(0, DAY_MICROS);
        self.counted.saturating_add(since)
    }

    fn stands(&self, now: Instant) -> bool {
        self.until_compared || self.counted(now) < STANDS_MICROS
    }
}

fn kept(connection: &Connection) -> Result<Option<Guard>, JournalError> {
    let Some(value) = settings::get(connection, GUARD)? else { return Ok(None) };
    // Programs of before kept the time at which it was raised.
    if let Some(raised) = value.as_i64() {
        return Ok(Some(Guard { seen: Instant(raised), counted: 0, until_compared: false }));
    }
    serde_json::from_value(value).map(Some).map_err(|_| JournalError::Damaged)
}

fn keep(connection: &Connection, guard: Guard) -> Result<(), JournalError> {
    let value = serde_json::to_value(guard).map_err(|_| JournalError::Damaged)?;
    settings::set(connection, GUARD, &value)
}

/// Whether something may have been sent, at any time, of which the journal knew nothing that this
/// one takes the place of: then nothing here knows of it either.
pub(crate) fn carry_over(connection: &Connection, has_forgotten: bool) -> Result<(), JournalError> {
    if has_forgotten { settings::set(connection, FORGOTTEN, &true.into()) } else { Ok(()) }
}

/// From now on, because something may have been sent of which nothing here knows.
pub(crate) fn raise(connection: &Connection, at: Instant) -> Result<(), JournalError> {
    carry_over(connection, true)?;
    keep(connection, Guard { seen: at, counted: 0, until_compared: false })
}

/// For a restore with the register at hand, unless it has to stand for longer anyway.
pub(crate) fn raise_until_compared(
    connection: &Connection,
    at: Instant,
) -> Result<(), JournalError> {
    let stands = kept(connection)?.is_some_and(|guard| !guard.until_compared && guard.stands(at));
    if stands {
        return Ok(());
    }
    keep(connection, Guard { seen: at, counted: 0, until_compared: true })
}

/// Whether everything is asked for first, not only until it was compared.
pub(crate) fn stands_for_long(connection: &Connection, now: Instant) -> Result<bool, JournalError> {
    let stands = kept(connection)?.is_some_and(|guard| !guard.until_compared && guard.stands(now));
    Ok(stands || notice::stands(connection, COPIED)?)
}

/// Everything was compared with every authority.
pub(crate) fn reconciled(connection: &Connection) -> Result<(), JournalError> {
    ends_with_comparison(connection)?;
    compared::end(connection)
}

fn ends_with_comparison(connection: &Connection) -> Result<(), JournalError> {
    match kept(connection)? {
        Some(guard) if guard.until_compared => settings::remove(connection, GUARD),
        _ => Ok(()),
    }
}

/// Whether what is taken in at this time waits.
pub(crate) fn stands(connection: &Connection, now: Instant) -> Result<bool, JournalError> {
    match kept(connection)? {
        Some(guard) => Ok(guard.stands(now) || notice::stands(connection, COPIED)?),
        None => Ok(false),
    }
}

/// Whether what is taken in for an endpoint at this time waits.
pub(crate) fn stands_at(
    connection: &Connection,
    now: Instant,
    endpoint: &str,
) -> Result<bool, JournalError> {
    let until_compared = kept(connection)?.is_some_and(|guard| guard.until_compared);
    if until_compared && is_compared(connection, endpoint)? {
        return notice::stands(connection, COPIED);
    }
    stands(connection, now)
}

/// Lets the time count that has passed since the last look.
pub(crate) fn count_time(connection: &Connection, now: Instant) -> Result<(), JournalError> {
    let Some(guard) = kept(connection)?.filter(|guard| guard.stands(now)) else { return Ok(()) };
    if (0..COUNT_EVERY_MICROS).contains(&now.0.saturating_sub(guard.seen.0)) {
        return Ok(());
    }
    keep(connection, Guard { seen: now, counted: guard.counted(now), ..guard })
}

/// Our clock was set ahead by so many microseconds, which have not passed. Only the first day is
/// counted so closely: a computer that sleeps looks the same.
pub(crate) fn clock_set_ahead(connection: &Connection, by: i64) -> Result<(), JournalError> {
    match kept(connection)?.filter(|guard| guard.counted < DAY_MICROS) {
        Some(guard) => {
            let seen = Instant(guard.seen.0.saturating_add(by));
            keep(connection, Guard { seen, ..guard })
        }
        None => Ok(()),
    }
}

/// Whether reports may have been sent of which nothing here knows: no register came along, or the
/// profile was copied.
pub(crate) fn may_have_forgotten(connection: &Connection) -> Result<bool, JournalError> {
    let is_without_register = kept(connection)?.is_some_and(|guard| !guard.until_compared);
    Ok(is_without_register || notice::stands(connection, COPIED)?)
}

/// Whether that was so at any time: a newer version of what is on hold since then may have been
/// sent.
pub(crate) fn has_ever_forgotten(connection: &Connection) -> Result<bool, JournalError> {
    Ok(settings::get(connection, FORGOTTEN)?.is_some() || may_have_forgotten(connection)?)
}

/// Whether so many microseconds have passed since that began, or something else than time ends it.
pub(crate) fn is_past(
    connection: &Connection,
    now: Instant,
    micros: i64,
) -> Result<bool, JournalError> {
    let is_past = |guard: Guard| guard.until_compared || guard.counted(now) >= micros;
    Ok(kept(connection)?.is_none_or(is_past))
}
