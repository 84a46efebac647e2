//! Where the computer stands: its offset from UTC, and what its clock shows.

use std::sync::OnceLock;

use fhir::Instant;
use time::{OffsetDateTime, UtcOffset};

static ZONE: OnceLock<UtcOffset> = OnceLock::new();

/// Notes the computer's offset from UTC. To be called first in `main`: with several threads running
/// the operating system cannot be asked safely. Without it days are those of UTC.
pub fn remember_zone() {
    if let Ok(offset) = UtcOffset::current_local_offset() {
        let _ = ZONE.set(offset);
    }
}

pub(crate) fn zone() -> UtcOffset {
    ZONE.get().copied().unwrap_or(UtcOffset::UTC)
}

/// An instant as a clock there shows it, with what tells it from UTC.
pub(crate) fn local_time(at: Instant) -> String {
    time_in(zone(), at)
}

fn time_in(zone: UtcOffset, at: Instant) -> String {
    let (seconds, fraction) = (at.0.div_euclid(1_000_000), at.0.rem_euclid(1_000_000));
    let utc = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let there = utc.to_offset(zone);
    let (year, month, day) = (there.year(), u8::from(there.month()), there.day());
    let (hour, minute, second) = there.to_hms();
    let (ahead, minutes, _) = zone.as_hms();
    let sign = if zone.is_negative() { '-' } else { '+' };
    let zone = format!("UTC{sign}{:02}:{:02}", ahead.unsigned_abs(), minutes.unsigned_abs());
    let time = format!("{hour:02}:{minute:02}:{second:02}.{:03}", fraction / 1_000);
    format!("{year:04}-{month:02}-{day:02} {time} ({zone})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_told_as_a_clock_of_the_laboratory_shows_it() {
        let at = Instant::parse("2026-11-24T23:30:10.5Z").unwrap();
        let zone = UtcOffset::from_hms(1, 0, 0).unwrap();
        assert_eq!(time_in(zone, at), "2026-11-25 00:30:10.500 (UTC+01:00)");
        let zone = UtcOffset::from_hms(-3, -30, 0).unwrap();
        assert_eq!(time_in(zone, at), "2026-11-24 20:00:10.500 (UTC-03:30)");
    }
}
