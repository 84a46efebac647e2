//! Points and periods of time in FHIR's forms (`date`, `dateTime`, `instant`).

use serde::{Deserialize, Serialize};
use time::{Date, Month, OffsetDateTime};

/// A point in time: microseconds since 1970-01-01T00:00:00Z. Passed in, never read from a clock
/// here.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Instant(pub i64);

/// What a FHIR date of any precision covers: from `start` (inclusive) to `end` (exclusive).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// First moment.
    pub start: Instant,
    /// First moment after.
    pub end: Instant,
}

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 24 * 60 * MINUTE;

impl Instant {
    /// From whole seconds since the epoch.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds * 1_000_000)
    }
    /// This plus so many microseconds, saturating.
    pub const fn plus_micros(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }
    /// This plus so many seconds, saturating.
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }
    /// Reads a FHIR instant or dateTime with time (any number of fraction digits; beyond the
    /// microsecond they are cut). Without a zone it is taken as UTC.
    pub fn parse(text: &str) -> Option<Self> {
        let parts = Parts::read(text)?;
        parts.clock.as_ref()?;
        Some(parts.period()?.start)
    }
    /// `2025-07-10T08:30:00.123Z`: milliseconds, UTC.
    pub fn to_fhir(self) -> String {
        let (at, micros) = self.calendar();
        format!("{at}.{:03}Z", micros / 1_000)
    }
    /// `2025-07-10T08:30:00.123456`: microseconds, UTC, without a zone (for search parameters).
    pub fn to_search(self) -> String {
        let (at, micros) = self.calendar();
        format!("{at}.{micros:06}")
    }

    /// Date and time to the second, and the microseconds beyond; clamped to the years 1 to 9999,
    /// because FHIR can write no others.
    fn calendar(self) -> (String, i64) {
        const FIRST: i64 = -62_135_596_800;
        const LAST: i64 = 253_402_300_799;
        let seconds = self.0.div_euclid(SECOND).clamp(FIRST, LAST);
        let at = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
        let (hour, minute, second) = at.to_hms();
        let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        (text, self.0.rem_euclid(SECOND))
    }
}

impl Period {
    /// Reads a FHIR date, dateTime or instant of any precision (year to fraction); without a zone
    /// UTC.
    pub fn parse(text: &str) -> Option<Self> {
        Parts::read(text)?.period()
    }
}

/// FHIR `date`: a year, a month or a day that exists.
pub(crate) fn is_date(text: &str) -> bool {
    Parts::read(text).is_some_and(|parts| parts.clock.is_none())
}

/// FHIR `instant`, and a `dateTime` with time: to the second at least, with a zone.
pub(crate) fn is_instant(text: &str) -> bool {
    let parts = Parts::read(text);
    parts
        .and_then(|parts| parts.clock)
        .is_some_and(|clock| clock.second.is_some() && clock.zone.is_some())
}

/// FHIR `time`: `hh:mm:ss` with an optional fraction.
pub(crate) fn is_time(text: &str) -> bool {
    Clock::read(text).is_some_and(|clock| clock.second.is_some() && clock.zone.is_none())
}

/// A date as written, checked against the calendar.
struct Parts {
    year: i32,
    month: Option<Month>,
    day: Option<u8>,
    clock: Option<Clock>,
}

/// A time of day as written.
struct Clock {
    hour: i64,
    minute: i64,
    second: Option<i64>,
    /// Microseconds, and what one unit of the last digit is worth.
    fraction: Option<(i64, i64)>,
    /// Minutes east of UTC.
    zone: Option<i64>,
}

impl Parts {
    fn read(text: &str) -> Option<Self> {
        let (date, clock) = match text.split_once('T') {
            Some((date, clock)) => (date, Some(Clock::read(clock)?)),
            None => (text, None),
        };
        let mut fields = date.split('-');
        let year = i32::try_from(number(fields.next()?, 4)?).ok().filter(|year| *year > 0)?;
        let month =
            fields.next().map(|month| Month::try_from(u8::try_from(number(month, 2)?).ok()?).ok());
        let day = fields.next().map(|day| u8::try_from(number(day, 2)?).ok());
        let parts = Self { year, month: flat(month)?, day: flat(day)?, clock };
        let exists = Date::from_calendar_date(
            year,
            parts.month.unwrap_or(Month::January),
            parts.day.unwrap_or(1),
        );
        let complete = parts.day.is_some() || parts.clock.is_none();
        (exists.is_ok() && complete && fields.next().is_none()).then_some(parts)
    }

    fn period(&self) -> Option<Period> {
        let month = self.month.unwrap_or(Month::January);
        let start = midnight(self.year, month, self.day.unwrap_or(1))?;
        let Some(clock) = &self.clock else {
            let end = match (self.month, self.day) {
                (_, Some(_)) => start + DAY,
                (Some(Month::December), None) | (None, None) => {
                    midnight(self.year + 1, Month::January, 1)
                        .unwrap_or(start + if self.month.is_some() { 31 } else { 365 } * DAY)
                }
                (Some(month), None) => midnight(self.year, month.next(), 1)?,
            };
            return Some(Period { start: Instant(start), end: Instant(end) });
        };
        let (fraction, unit) = clock.fraction.unwrap_or((0, SECOND));
        let unit = if clock.second.is_some() { unit } else { MINUTE };
        let minutes = clock.hour * 60 + clock.minute - clock.zone.unwrap_or(0);
        let start = start + minutes * MINUTE + clock.second.unwrap_or(0) * SECOND + fraction;
        Some(Period { start: Instant(start), end: Instant(start + unit) })
    }
}

impl Clock {
    fn read(text: &str) -> Option<Self> {
        let zone_at = text.find(['Z', '+', '-']).unwrap_or(text.len());
        let (clock, zone) = text.split_at_checked(zone_at)?;
        let mut fields = clock.split(':');
        let hour = number(fields.next()?, 2).filter(|hour| *hour < 24)?;
        let minute = number(fields.next()?, 2).filter(|minute| *minute < 60)?;
        let (mut second, mut fraction) = (None, None);
        if let Some(field) = fields.next() {
            let (whole, rest) =
                field.split_once('.').map_or((field, None), |(whole, rest)| (whole, Some(rest)));
            // 60 is a leap second, which the standard allows.
            second = Some(number(whole, 2).filter(|second| *second <= 60)?);
            fraction = flat(rest.map(read_fraction))?;
        }
        let zone = flat((!zone.is_empty()).then(|| read_zone(zone)))?;
        fields.next().is_none().then_some(Self { hour, minute, second, fraction, zone })
    }
}

/// `Some(None)` (written, but wrong) becomes a refusal.
#[allow(clippy::option_option, reason = "absent and wrong are told apart here and nowhere else")]
fn flat<T>(written: Option<Option<T>>) -> Option<Option<T>> {
    match written {
        Some(None) => None,
        Some(Some(value)) => Some(Some(value)),
        None => Some(None),
    }
}

/// Digits after the point: microseconds, and the worth of the last digit (at least one
/// microsecond).
fn read_fraction(digits: &str) -> Option<(i64, i64)> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let kept = &digits[..digits.len().min(6)];
    let unit = 10_i64.pow(6 - kept.len() as u32);
    Some((kept.parse::<i64>().ok()? * unit, unit))
}

/// `Z`, or `+hh:mm` up to fourteen hours.
fn read_zone(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hour, minute) = text.get(1..)?.split_once(':')?;
    let (hour, minute) = (number(hour, 2)?, number(minute, 2)?);
    let minutes = hour * 60 + minute;
    (minute < 60 && minutes <= 14 * 60).then_some(sign * minutes)
}

/// Exactly so many digits.
fn number(text: &str, digits: usize) -> Option<i64> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

/// Microseconds since the epoch at the start of a day.
fn midnight(year: i32, month: Month, day: u8) -> Option<i64> {
    let date = Date::from_calendar_date(year, month, day).ok()?;
    Some(date.midnight().assume_utc().unix_timestamp() * SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_and_written() {
        let at = Instant::parse("2025-07-10T10:30:00.1234567+02:00").unwrap();
        assert_eq!(at.to_fhir(), "2025-07-10T08:30:00.123Z");
        assert_eq!(at.to_search(), "2025-07-10T08:30:00.123456");
        assert_eq!(Instant::parse("2025-07-10T08:30:00"), Instant::parse("2025-07-10T08:30:00Z"));
        assert_eq!(Instant::parse("1969-12-31T23:59:59.5Z"), Some(Instant(-500_000)));
        assert_eq!(Instant(-500_000).to_fhir(), "1969-12-31T23:59:59.500Z");
        for wrong in [
            "2025-07-10",
            "",
            "T",
            "2025-07T10:00:00Z",
            "2025-07-10T10:00:00+99:00",
            "é",
            "2025-07-10Té",
        ] {
            assert_eq!(Instant::parse(wrong), None, "{wrong}");
        }
        assert!(Instant(i64::MAX).to_fhir().starts_with("9999-12-31"));
        assert!(Instant(i64::MIN).to_fhir().starts_with("0001-01-01"));
    }

    #[test]
    fn periods_have_the_precision_written() {
        let covers = |text: &str| {
            let period = Period::parse(text).unwrap();
            (period.start.to_search(), period.end.to_search())
        };
        let day = |text: &str| format!("{text}T00:00:00.000000");
        assert_eq!(covers("2024"), (day("2024-01-01"), day("2025-01-01")));
        assert_eq!(covers("2024-02"), (day("2024-02-01"), day("2024-03-01")));
        assert_eq!(covers("2024-12"), (day("2024-12-01"), day("2025-01-01")));
        assert_eq!(covers("2024-02-29"), (day("2024-02-29"), day("2024-03-01")));
        let minute = covers("2024-02-29T10:00");
        assert_eq!(minute.1, "2024-02-29T10:01:00.000000");
        let tenth = covers("2024-02-29T10:00:00.5Z");
        assert_eq!(tenth.1, "2024-02-29T10:00:00.600000");
        assert_eq!(
            Period::parse("9999-12").unwrap().end.0 - Period::parse("9999-12").unwrap().start.0,
            31 * DAY
        );
        assert!(Period::parse("2024-02-30").is_none());
    }
}
