//! Dates, points in time and times of day of any precision, as written.

use std::cmp::Ordering;
use std::fmt;

use fhir::Instant;

mod arithmetic;
mod boundary;

pub(crate) use arithmetic::CalendarUnit;

/// How far a date or time is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// Known to the year.
    Year,
    /// Known to the month.
    Month,
    /// Known to the day.
    Day,
    /// Known to the hour.
    Hour,
    /// Known to the minute.
    Minute,
    /// Second, with or without a fraction.
    Second,
}

/// A date, a point in time or a time of day; which of them, the item around it says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub(crate) year: i16,
    pub(crate) month: u8,
    pub(crate) day: u8,
    pub(crate) hour: u8,
    pub(crate) minute: u8,
    pub(crate) second: u8,
    /// Digits of the fraction as written, at most nine.
    pub(crate) digits: u8,
    pub(crate) nanos: u32,
    pub(crate) precision: Precision,
    /// Minutes east of UTC.
    pub(crate) zone: Option<i16>,
}

/// A value of a document: not shown.
impl fmt::Debug for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Moment").field(&self.precision).finish()
    }
}

const EMPTY: Moment = Moment {
    year: 1,
    month: 1,
    day: 1,
    hour: 0,
    minute: 0,
    second: 0,
    digits: 0,
    nanos: 0,
    precision: Precision::Year,
    zone: None,
};

impl Moment {
    /// Reads `YYYY`, `YYYY-MM` or `YYYY-MM-DD` that exists.
    pub fn date(text: &str) -> Option<Self> {
        let mut moment = EMPTY;
        let mut fields = text.split('-');
        moment.year = number(fields.next()?, 4)? as i16;
        if let Some(month) = fields.next() {
            moment.month = number(month, 2)? as u8;
            moment.precision = Precision::Month;
        }
        if let Some(day) = fields.next() {
            moment.day = number(day, 2)? as u8;
            moment.precision = Precision::Day;
        }
        let exists = moment.year > 0
            && (1..=12).contains(&moment.month)
            && (1..=days_in(moment.year, moment.month)).contains(&moment.day);
        (exists && fields.next().is_none()).then_some(moment)
    }
    /// Reads a date, a `T` and a time of any precision with or without a zone; or a date alone.
    pub fn date_time(text: &str) -> Option<Self> {
        let Some((date, clock)) = text.split_once('T') else { return Self::date(text) };
        let mut moment = Self::date(date)?;
        if clock.is_empty() {
            return Some(moment);
        }
        let zone_at = clock.find(['Z', '+', '-']);
        let (clock, zone) = clock.split_at(zone_at.unwrap_or(clock.len()));
        moment.zone = if zone.is_empty() { None } else { Some(read_zone(zone)?) };
        (moment.precision == Precision::Day).then_some(())?;
        moment.read_clock(clock)?;
        Some(moment)
    }
    /// Reads `hh`, `hh:mm`, `hh:mm:ss` or more.
    pub fn time(text: &str) -> Option<Self> {
        let mut moment = EMPTY;
        moment.read_clock(text)?;
        Some(moment)
    }
    /// A point in time, to the millisecond, in UTC.
    pub fn of_instant(at: Instant) -> Self {
        let in_utc = Self::date_time(&at.to_fhir()).unwrap_or(EMPTY);
        Self { zone: Some(0), ..in_utc }
    }
    /// The date of it.
    pub fn date_part(self) -> Self {
        let precision = self.precision.min(Precision::Day);
        Self { precision, ..EMPTY }.with_date(self.year, self.month, self.day)
    }
    /// The time of day of it, without the zone; `None` for a date.
    pub fn time_part(self) -> Option<Self> {
        (self.precision >= Precision::Hour).then_some(Self { zone: None, ..self }.with_date(
            EMPTY.year,
            EMPTY.month,
            EMPTY.day,
        ))
    }
    /// How far it is given.
    pub const fn precision(self) -> Precision {
        self.precision
    }
    /// As written after `@`, but for the `T` of a time and of a partial point in time.
    pub fn to_text(self, is_time: bool) -> String {
        use std::fmt::Write;
        let mut text = String::with_capacity(30);
        // Writing to a string does not fail.
        if !is_time {
            let _ = write!(text, "{:04}", self.year);
            if self.precision >= Precision::Month {
                let _ = write!(text, "-{:02}", self.month);
            }
            if self.precision >= Precision::Day {
                let _ = write!(text, "-{:02}", self.day);
            }
        }
        if self.precision >= Precision::Hour {
            let _ = write!(text, "{}{:02}", if is_time { "" } else { "T" }, self.hour);
        }
        if self.precision >= Precision::Minute {
            let _ = write!(text, ":{:02}", self.minute);
        }
        if self.precision >= Precision::Second {
            let _ = write!(text, ":{:02}", self.second);
            if self.digits > 0 {
                let nanos = format!("{:09}", self.nanos);
                let _ = write!(text, ".{}", &nanos[..usize::from(self.digits)]);
            }
        }
        match self.zone {
            Some(0) => text.push('Z'),
            Some(zone) => {
                let sign = if zone < 0 { '-' } else { '+' };
                let _ = write!(text, "{sign}{:02}:{:02}", zone.abs() / 60, zone.abs() % 60);
            }
            None => {}
        }
        text
    }
    /// The order of two dates or points in time, or of two times of day. `None` where it depends on
    /// what is not given.
    pub fn compare(self, other: Self) -> Option<Ordering> {
        if self.zone.is_some() != other.zone.is_some()
            && self.precision.min(other.precision) >= Precision::Hour
        {
            return self.compare_uncertain(other);
        }
        let (mine, theirs) = (self.in_utc(), other.in_utc());
        let shared = mine.precision.min(theirs.precision);
        let order = mine.parts(shared).cmp(&theirs.parts(shared));
        match order {
            Ordering::Equal if mine.precision != theirs.precision => None,
            order => Some(order),
        }
    }
    /// Whether both mean the same, a missing part only being the same as a missing part.
    pub fn is_equivalent(self, other: Self) -> bool {
        self.zone.is_some() == other.zone.is_some() && self.compare(other) == Some(Ordering::Equal)
    }

    /// One has a zone and the other might be anywhere from 14 hours east to 12 hours west.
    fn compare_uncertain(self, other: Self) -> Option<Ordering> {
        let range = |of: Self| {
            let at = of.seconds();
            match of.zone {
                Some(zone) => (at - i64::from(zone) * 60, at - i64::from(zone) * 60),
                None => (at - 14 * 3600, at + 12 * 3600),
            }
        };
        let (mine, theirs) = (range(self), range(other));
        if mine.1 < theirs.0 {
            Some(Ordering::Less)
        } else if mine.0 > theirs.1 {
            Some(Ordering::Greater)
        } else {
            None
        }
    }
    fn in_utc(self) -> Self {
        match self.zone {
            Some(zone) if zone != 0 && self.precision >= Precision::Hour => {
                let precision = self.precision.max(Precision::Minute);
                let shifted = self.plus_seconds(-i64::from(zone) * 60);
                let precision = if zone % 60 == 0 { self.precision } else { precision };
                shifted.map_or(self, |at| Self { precision, zone: Some(0), ..at })
            }
            _ => self,
        }
    }
    fn parts(self, precision: Precision) -> (i16, u8, u8, u8, u8, u8, u32) {
        let from = |least: Precision, value: u8| if precision >= least { value } else { 0 };
        (
            self.year,
            from(Precision::Month, self.month),
            from(Precision::Day, self.day),
            from(Precision::Hour, self.hour),
            from(Precision::Minute, self.minute),
            from(Precision::Second, self.second),
            if precision >= Precision::Second { self.nanos } else { 0 },
        )
    }
    fn with_date(self, year: i16, month: u8, day: u8) -> Self {
        Self { year, month, day, ..self }
    }
    fn read_clock(&mut self, text: &str) -> Option<()> {
        let mut fields = text.split(':');
        self.hour = number(fields.next()?, 2)? as u8;
        self.precision = Precision::Hour;
        if let Some(minute) = fields.next() {
            self.minute = number(minute, 2)? as u8;
            self.precision = Precision::Minute;
        }
        if let Some(second) = fields.next() {
            let (second, fraction) = second.split_once('.').unwrap_or((second, "0"));
            self.second = number(second, 2)? as u8;
            self.precision = Precision::Second;
            if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let kept = &fraction[..fraction.len().min(9)];
            self.digits = if text.contains('.') { kept.len() as u8 } else { 0 };
            self.nanos = kept.parse::<u32>().ok()? * 10_u32.pow(9 - kept.len() as u32);
        }
        // 60 is a leap second.
        let exists = self.hour < 24 && self.minute < 60 && self.second <= 60;
        (exists && fields.next().is_none()).then_some(())
    }
}

fn number(text: &str, digits: usize) -> Option<u32> {
    let good = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if good { text.parse().ok() } else { None }
}

/// `Z`, or hours and minutes with a sign; not beyond 14 hours.
fn read_zone(text: &str) -> Option<i16> {
    if text == "Z" {
        return Some(0);
    }
    let (sign, rest) = text.split_at(1);
    let (hours, minutes) = rest.split_once(':')?;
    let minutes = number(hours, 2)? * 60 + number(minutes, 2).filter(|minutes| *minutes < 60)?;
    let minutes = i16::try_from(minutes).ok().filter(|minutes| *minutes <= 14 * 60)?;
    Some(if sign == "-" { -minutes } else { minutes })
}

pub(crate) const fn days_in(year: i16, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Moment {
        Moment::date_time(text).unwrap()
    }

    #[test]
    fn what_was_written_is_kept() {
        for text in [
            "2014",
            "2014-02",
            "2014-02-28",
            "2014-02-28T08",
            "2014-02-28T08:05+08:00",
            "2014-02-28T08:05:01.10Z",
            "2014-02-28T08:05:01-03:30",
        ] {
            assert_eq!(at(text).to_text(false), text);
        }
        assert_eq!(Moment::time("10:30:00.000").unwrap().to_text(true), "10:30:00.000");
        for text in ["2014-02-29", "0000", "2014-13", "2014-02T08", "2014-02-01T24", "2014-1"] {
            assert!(Moment::date_time(text).is_none(), "{text}");
        }
        assert!(Moment::time("10:30Z").is_none());
    }

    #[test]
    fn what_is_not_given_cannot_be_compared() {
        use Ordering::{Equal, Greater, Less};
        for (left, right, order) in [
            ("2018-03", "2018-03-01", None),
            ("2018-03", "2018-04-01", Some(Less)),
            ("2018-03-01T10:30", "2018-03-01T10:30:00", None),
            ("2018-03-01T10:30:00", "2018-03-01T10:30:00.0", Some(Equal)),
            ("2012-04-15T15:00:00+02:00", "2012-04-15T16:00:00+03:00", Some(Equal)),
            ("2012-04-15T15:00:00Z", "2012-04-15T10:00:00", None),
            ("2012-04-15T15:00:00Z", "2012-04-14T10:00:00", Some(Greater)),
            // A date beside a point in time: its day in UTC counts.
            ("2025-07-10", "2025-07-10T08:30:00+02:00", None),
            ("2025-07-10", "2025-07-10T01:00:00+02:00", Some(Greater)),
            ("2017-11-05T01:30:00.0-04:00", "2017-11-05T01:15:00.0-05:00", Some(Less)),
        ] {
            assert_eq!(at(left).compare(at(right)), order, "{left} {right}");
        }
    }

    #[test]
    fn an_instant_is_shown_in_utc() {
        let now = Instant::parse("2025-07-11T01:30:00+02:00").unwrap();
        assert_eq!(Moment::of_instant(now).to_text(false), "2025-07-10T23:30:00.000Z");
        assert_eq!(Moment::of_instant(now).date_part().to_text(false), "2025-07-10");
    }
}
