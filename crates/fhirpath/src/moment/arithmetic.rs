//! Dates and times plus and minus durations, by the calendar.

use super::{Moment, Precision, days_in};
use crate::Decimal;

/// A unit of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalendarUnit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
}

impl CalendarUnit {
    /// By FHIRPath's keyword, singular or plural.
    pub(crate) fn of_keyword(word: &str) -> Option<Self> {
        Some(match word.strip_suffix('s').unwrap_or(word) {
            "year" => Self::Year,
            "month" => Self::Month,
            "week" => Self::Week,
            "day" => Self::Day,
            "hour" => Self::Hour,
            "minute" => Self::Minute,
            "second" => Self::Second,
            "millisecond" => Self::Millisecond,
            _ => return None,
        })
    }
    /// By the code in UCUM. Its year and month are durations of a fixed length, hence no units of
    /// the calendar.
    pub(crate) fn of_ucum(code: &str) -> Option<Self> {
        Some(match code {
            "wk" => Self::Week,
            "d" => Self::Day,
            "h" => Self::Hour,
            "min" => Self::Minute,
            "s" => Self::Second,
            "ms" => Self::Millisecond,
            _ => return None,
        })
    }
    /// The code in UCUM, where that means the same.
    pub(crate) const fn ucum(self) -> Option<&'static str> {
        Some(match self {
            Self::Year | Self::Month => return None,
            Self::Week => "wk",
            Self::Day => "d",
            Self::Hour => "h",
            Self::Minute => "min",
            Self::Second => "s",
            Self::Millisecond => "ms",
        })
    }
    const fn millis(self) -> i64 {
        match self {
            // In a date that is given no further, a year has 365 days and a month 30.
            Self::Year => 365 * 86_400_000,
            Self::Month => 30 * 86_400_000,
            Self::Week => 7 * 86_400_000,
            Self::Day => 86_400_000,
            Self::Hour => 3_600_000,
            Self::Minute => 60_000,
            Self::Second => 1_000,
            Self::Millisecond => 1,
        }
    }
}

impl Moment {
    /// This plus so many units, whole ones; `None` outside of the years 1 to 9999.
    pub(crate) fn plus(self, amount: Decimal, unit: CalendarUnit, is_time: bool) -> Option<Self> {
        let amount = i64::try_from(amount.truncated()).ok()?;
        if is_time {
            let millis = amount.checked_mul(unit.millis())?;
            let at = self.plus_millis(millis.rem_euclid(86_400_000))?;
            return Some(Self { year: self.year, month: self.month, day: self.day, ..at });
        }
        match unit {
            CalendarUnit::Year => self.plus_months(amount.checked_mul(12)?),
            CalendarUnit::Month => self.plus_months(amount),
            _ => self.plus_millis(self.whole_units(amount.checked_mul(unit.millis())?)),
        }
    }

    /// What counts of a duration: whole units of the precision that is given.
    fn whole_units(self, millis: i64) -> i64 {
        let unit = match self.precision {
            Precision::Year => CalendarUnit::Year,
            Precision::Month => CalendarUnit::Month,
            Precision::Day => CalendarUnit::Day,
            Precision::Hour => CalendarUnit::Hour,
            Precision::Minute => CalendarUnit::Minute,
            Precision::Second => CalendarUnit::Millisecond,
        };
        millis / unit.millis() * unit.millis()
    }
    fn plus_months(self, months: i64) -> Option<Self> {
        let months = if self.precision == Precision::Year { months / 12 * 12 } else { months };
        let total = (i64::from(self.year) * 12 + i64::from(self.month) - 1).checked_add(months)?;
        let year =
            i16::try_from(total.div_euclid(12)).ok().filter(|year| (1..=9999).contains(year))?;
        let month = total.rem_euclid(12) as u8 + 1;
        Some(self.with_date(year, month, self.day.min(days_in(year, month))))
    }
    fn plus_millis(self, millis: i64) -> Option<Self> {
        match self.precision {
            Precision::Year => return self.plus_months(millis / CalendarUnit::Year.millis() * 12),
            Precision::Month => return self.plus_months(millis / CalendarUnit::Month.millis()),
            _ => {}
        }
        let total = i64::from(self.nanos) + millis.rem_euclid(1_000) * 1_000_000;
        let seconds = millis.div_euclid(1_000) + total / 1_000_000_000;
        let nanos = (total % 1_000_000_000) as u32;
        // Where milliseconds are added to whole seconds, they are shown.
        let digits = if nanos == 0 { self.digits } else { self.digits.max(3) };
        Some(Self { nanos, digits, ..self.plus_seconds(seconds)? })
    }
    pub(super) fn plus_seconds(self, seconds: i64) -> Option<Self> {
        let total = self.seconds().checked_add(seconds)?;
        let (days, rest) = (total.div_euclid(86_400), total.rem_euclid(86_400));
        let (year, month, day) = civil(days)?;
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        let at = self.with_date(year, month, day);
        Some(Self { hour: hour as u8, minute: minute as u8, second: second as u8, ..at })
    }
    /// Seconds since 1970-01-01T00:00:00, were the zone UTC.
    pub(super) fn seconds(self) -> i64 {
        let clock = i64::from(self.hour) * 3600 + i64::from(self.minute) * 60;
        days_from_civil(self.year, self.month, self.day) * 86_400 + clock + i64::from(self.second)
    }
}

/// Days since 1970-01-01 in the Gregorian calendar. Years begin in March, so that the leap day is
/// last; 400 years have 146,097 days.
fn days_from_civil(year: i16, month: u8, day: u8) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((i64::from(month) + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil(days: i64) -> Option<(i16, u8, u8)> {
    let shifted = days.checked_add(719_468)?;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let year = i16::try_from(year).ok().filter(|year| (1..=9999).contains(year))?;
    Some((year, month as u8, day as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_follow_the_calendar() {
        use CalendarUnit::{Day, Hour, Millisecond, Month, Week, Year};
        for (from, amount, unit, to) in [
            ("1973-12-25", "7.7", Day, "1974-01-01"),
            ("1973-12-25", "1", Week, "1974-01-01"),
            ("2024-01-31", "1", Month, "2024-02-29"),
            ("2024-02-29", "1", Year, "2025-02-28"),
            ("1974-12-25", "-1", Month, "1974-11-25"),
            ("2014", "25", Month, "2016"),
            ("2014", "366", Day, "2015"),
            ("2014-01", "59", Day, "2014-02"),
            ("2014-01-01", "47", Hour, "2014-01-02"),
            ("2014-12-31T23:30Z", "1", Hour, "2015-01-01T00:30Z"),
            ("2014-01-01T00:00:00Z", "10", Millisecond, "2014-01-01T00:00:00.010Z"),
            ("2014-01-01T00:00:00.000Z", "-1", Millisecond, "2013-12-31T23:59:59.999Z"),
        ] {
            let sum = Moment::date_time(from).unwrap();
            let sum = sum.plus(Decimal::parse(amount).unwrap(), unit, false).unwrap();
            assert_eq!(sum.to_text(false), to, "{from} + {amount} {unit:?}");
        }
        let late = Moment::time("23:30").unwrap();
        assert_eq!(late.plus(Decimal::from(1), Hour, true).unwrap().to_text(true), "00:30");
        let last = Moment::date("9999-12-31").unwrap();
        assert!(last.plus(Decimal::from(1), Day, false).is_none());
        assert!(last.plus(Decimal::new(10_i128.pow(30), 0), Year, false).is_none());
    }

    #[test]
    fn days_and_dates_are_inverse() {
        for days in (-719_000..2_900_000).step_by(97) {
            let (year, month, day) = civil(days).unwrap();
            assert_eq!(days_from_civil(year, month, day), days);
        }
    }
}
