//! The first and the last moment that a date or time of limited precision may mean.

use super::{EMPTY, Moment, Precision, days_in};

/// Digits of each precision of a date or point in time: `YYYY` 4 … `YYYYMMDDhhmmssfff` 17.
const DIGITS: [(u8, Precision); 6] = [
    (4, Precision::Year),
    (6, Precision::Month),
    (8, Precision::Day),
    (10, Precision::Hour),
    (12, Precision::Minute),
    (14, Precision::Second),
];

impl Moment {
    /// Digits that are given: 4 for a year, 17 for a point in time to the millisecond; a time of
    /// day has no date, so 9 to the millisecond.
    pub(crate) fn digits(self, is_time: bool) -> i32 {
        let whole =
            DIGITS.iter().find(|(_, of)| *of == self.precision).map_or(14, |(digits, _)| *digits);
        i32::from(whole) + i32::from(self.digits) - if is_time { 8 } else { 0 }
    }
    /// The first moment that it may mean, with so many digits; `None` for digits that no date has.
    pub(crate) fn low(self, digits: i32, is_time: bool) -> Option<Self> {
        let mut low = self;
        low.fill(|_| EMPTY);
        // Where no zone is given, the day begins first in the far east.
        low.cut(digits, is_time, 14 * 60)
    }
    /// The last one.
    pub(crate) fn high(self, digits: i32, is_time: bool) -> Option<Self> {
        let mut high = self;
        high.fill(|so_far| {
            let month = if so_far.precision >= Precision::Month { so_far.month } else { 12 };
            // FHIRPath's own examples end an hour at its first minute.
            let minute = if so_far.precision == Precision::Hour { 0 } else { 59 };
            Moment {
                month,
                day: days_in(so_far.year, month),
                hour: 23,
                minute,
                second: 59,
                nanos: 999_000_000,
                ..EMPTY
            }
        });
        high.cut(digits, is_time, -12 * 60)
    }

    fn fill(&mut self, from: impl Fn(Self) -> Self) {
        let bound = from(*self);
        let missing = |of: Precision| self.precision < of;
        let (month, day, hour) =
            (missing(Precision::Month), missing(Precision::Day), missing(Precision::Hour));
        let (minute, second) = (missing(Precision::Minute), missing(Precision::Second));
        if month {
            self.month = bound.month;
        }
        if day {
            self.day = bound.day;
        }
        if hour {
            self.hour = bound.hour;
        }
        if minute {
            self.minute = bound.minute;
        }
        if second {
            self.second = bound.second;
        }
        if second || self.digits == 0 {
            self.nanos = bound.nanos;
        }
    }
    fn cut(mut self, digits: i32, is_time: bool, zone: i16) -> Option<Self> {
        let digits = digits + if is_time { 8 } else { 0 };
        if digits == 17 {
            self.precision = Precision::Second;
            self.digits = self.digits.max(3);
        } else {
            let known = DIGITS.iter().find(|(of, _)| i32::from(*of) == digits)?;
            self.precision = known.1;
            (self.digits, self.nanos) = (0, 0);
        }
        if is_time || self.precision < Precision::Hour {
            self.zone = None;
        } else if self.zone.is_none() {
            self.zone = Some(zone);
        }
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_what_is_not_given() {
        for (of, digits, low, high) in [
            ("2014", 6, "2014-01", "2014-12"),
            ("2014", 4, "2014", "2014"),
            ("2012-02", 8, "2012-02-01", "2012-02-29"),
            ("2014-01-01T08", 8, "2014-01-01", "2014-01-01"),
            ("2014-01-01T08:05Z", 17, "2014-01-01T08:05:00.000Z", "2014-01-01T08:05:59.999Z"),
            ("2014-01-01", 17, "2014-01-01T00:00:00.000+14:00", "2014-01-01T23:59:59.999-12:00"),
        ] {
            let moment = Moment::date_time(of).unwrap();
            assert_eq!(moment.low(digits, false).unwrap().to_text(false), low);
            assert_eq!(moment.high(digits, false).unwrap().to_text(false), high);
        }
        let time = Moment::time("10:30").unwrap();
        assert_eq!(time.low(9, true).unwrap().to_text(true), "10:30:00.000");
        assert_eq!(time.high(9, true).unwrap().to_text(true), "10:30:59.999");
        assert!(time.low(5, true).is_none());
    }

    #[test]
    fn digits_are_counted() {
        let digits = |text| Moment::date_time(text).unwrap().digits(false);
        assert_eq!((digits("2014"), digits("2014-01-05T10:30:00.000")), (4, 17));
        let of_time = |text| Moment::time(text).unwrap().digits(true);
        assert_eq!((of_time("10:30"), of_time("10:30:00.000")), (4, 9));
    }
}
