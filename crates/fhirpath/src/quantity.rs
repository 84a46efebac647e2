//! A number with a unit: of the calendar, of UCUM, or of whatever a document says.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use fhir::Element;
use octofhir_ucum::{Number, get_canonical_units, is_comparable};

use crate::Decimal;
use crate::moment::CalendarUnit;

/// The system of units UCUM, `http://unitsofmeasure.org`.
pub(crate) const UCUM: &str = "http://unitsofmeasure.org";
/// Length of a unit that is looked up; the longest that people write are far shorter.
const UNIT_MAX: usize = 256;

/// A number with a unit.
#[derive(Clone)]
pub struct Quantity<'t> {
    pub(crate) value: Decimal,
    pub(crate) unit: Unit<'t>,
}

#[derive(Debug, Clone)]
pub(crate) enum Unit<'t> {
    /// A keyword, as written.
    Calendar(CalendarUnit, Cow<'t, str>),
    Ucum(Cow<'t, str>),
    /// A code of another system, or only words for people; `None` if there is nothing.
    Other(Option<Cow<'t, str>>),
}

/// A value of a document: not shown.
impl fmt::Debug for Quantity<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Quantity")
    }
}

impl fmt::Display for Quantity<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.unit {
            Unit::Calendar(_, word) => write!(out, "{} {word}", self.value),
            Unit::Ucum(unit) | Unit::Other(Some(unit)) => write!(out, "{} '{unit}'", self.value),
            Unit::Other(None) => write!(out, "{} '1'", self.value),
        }
    }
}

impl<'t> Quantity<'t> {
    /// Of a unit of UCUM.
    pub fn ucum(value: Decimal, unit: impl Into<Cow<'t, str>>) -> Self {
        Self { value, unit: Unit::Ucum(unit.into()) }
    }
    /// The number.
    pub fn value(&self) -> Decimal {
        self.value
    }
    /// The unit as written, a keyword of the calendar or a code.
    pub fn unit(&self) -> &str {
        match &self.unit {
            Unit::Calendar(_, word) | Unit::Ucum(word) | Unit::Other(Some(word)) => word,
            Unit::Other(None) => "1",
        }
    }
    /// Of an element `Quantity` or one of its kind that has a value.
    pub(crate) fn of_element(element: Element<'t>) -> Option<Self> {
        let value = Decimal::parse(element.text("value")?)?;
        let unit = match (element.text("system"), element.text("code")) {
            (Some(UCUM), Some(code)) => Unit::Ucum(code.into()),
            (_, Some(code)) => Unit::Other(Some(code.into())),
            (_, None) => Unit::Other(element.text("unit").map(Cow::Borrowed)),
        };
        Some(Self { value, unit })
    }
    /// Reads `1`, `1 day` or `1 'mg'`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (number, unit) = match text.trim().split_once(char::is_whitespace) {
            None => return Some(Self::ucum(Decimal::parse(text.trim())?, "1")),
            Some((number, unit)) => (Decimal::parse(number)?, unit.trim()),
        };
        if let Some(code) = unit.strip_prefix('\'').and_then(|code| code.strip_suffix('\'')) {
            return Some(Self::ucum(number, code.to_owned()));
        }
        let calendar = CalendarUnit::of_keyword(unit)?;
        Some(Self { value: number, unit: Unit::Calendar(calendar, unit.to_owned().into()) })
    }
    /// How it may be added to a date; `None` for a unit of UCUM that is no unit of the calendar.
    pub(crate) fn calendar(&self) -> Option<CalendarUnit> {
        match &self.unit {
            Unit::Calendar(unit, _) => Some(*unit),
            Unit::Ucum(code) => CalendarUnit::of_ucum(code)
                // HL7's validator takes the keywords as codes too.
                .or_else(|| CalendarUnit::of_keyword(code)),
            Unit::Other(_) => None,
        }
    }
    /// Whether both measure the same kind of thing.
    pub(crate) fn is_comparable(&self, other: &Self) -> bool {
        match (self.code(), other.code()) {
            (Some(mine), Some(theirs)) if mine == theirs => true,
            (Some(mine), Some(theirs)) => {
                mine.len().max(theirs.len()) <= UNIT_MAX
                    && is_comparable(mine, theirs).unwrap_or(false)
            }
            _ => false,
        }
    }
    /// The order of both; `None` where the units do not tell.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        if let Some((mine, theirs)) = self.months().zip(other.months()) {
            return Some(mine.cmp(&theirs));
        }
        let same = match (&self.unit, &other.unit) {
            (Unit::Other(mine), Unit::Other(theirs)) => mine == theirs,
            (Unit::Other(_), _) | (_, Unit::Other(_)) => return None,
            _ => self.code().is_some() && self.code() == other.code(),
        };
        if same {
            return Some(self.value.cmp(&other.value));
        }
        let (mine, theirs) = (self.canonical()?, other.canonical()?);
        (mine.1 == theirs.1).then(|| mine.0.cmp(&theirs.0))
    }
    /// Whether both are the same; `None` where the units do not tell. Different kinds are not the
    /// same.
    pub(crate) fn is_equal(&self, other: &Self) -> Option<bool> {
        if let Some(order) = self.compare(other) {
            return Some(order == Ordering::Equal);
        }
        let known = self.canonical().is_some() && other.canonical().is_some();
        known.then_some(false)
    }
    /// Whether both are the same but for digits that one of them does not have.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        let same_word = self.unit() == other.unit();
        let pair = if same_word {
            Some((self.value, other.value))
        } else {
            let numbers = self.canonical_or_year().zip(other.canonical_or_year());
            let same_kind = numbers.filter(|(mine, theirs)| mine.1 == theirs.1);
            same_kind.and_then(|(mine, theirs)| decimal(mine.0).zip(decimal(theirs.0)))
        };
        pair.is_some_and(|(mine, theirs)| equivalent(mine, theirs))
    }
    /// In the unit of another one, if that can be.
    pub(crate) fn converted_to(&self, other: &Self) -> Option<Decimal> {
        if self.unit() == other.unit() {
            return Some(self.value);
        }
        let (number, unit) = self.canonical()?;
        let target =
            get_canonical_units(other.code()?).ok().filter(|target| target.unit == unit)?;
        decimal(number.checked_sub(target.offset)?.checked_div(target.factor)?)
    }
    pub(crate) fn times(&self, other: &Self) -> Option<Self> {
        let value = self.value.times(other.value)?;
        Some(Self::ucum(value, combined(self.code()?, '.', other.code()?)))
    }
    pub(crate) fn divided_by(&self, other: &Self) -> Option<Self> {
        let value = self.value.divided_by(other.value)?;
        Some(Self::ucum(value, combined(self.code()?, '/', other.code()?)))
    }

    /// The code in UCUM; a year and a month of the calendar have none.
    fn code(&self) -> Option<&str> {
        match &self.unit {
            Unit::Calendar(unit, _) => unit.ucum(),
            Unit::Ucum(code) => Some(code),
            Unit::Other(None) => Some("1"),
            Unit::Other(Some(_)) => None,
        }
    }
    fn canonical(&self) -> Option<(Number, String)> {
        canonical(self.value, self.code()?)
    }
    /// As [`Self::canonical`], a year of the calendar being one of UCUM: good enough to be alike.
    fn canonical_or_year(&self) -> Option<(Number, String)> {
        match &self.unit {
            Unit::Calendar(CalendarUnit::Year, _) => canonical(self.value, "a"),
            Unit::Calendar(CalendarUnit::Month, _) => canonical(self.value, "mo"),
            _ => self.canonical(),
        }
    }
    /// Months of the calendar, for years and months.
    fn months(&self) -> Option<Decimal> {
        match &self.unit {
            Unit::Calendar(CalendarUnit::Year, _) => self.value.times(Decimal::from(12)),
            Unit::Calendar(CalendarUnit::Month, _) => Some(self.value),
            _ => None,
        }
    }
}

/// Whether two numbers are the same to the digits that both have.
pub(crate) fn equivalent(mine: Decimal, theirs: Decimal) -> bool {
    let digits = mine.normal().scale().min(theirs.normal().scale());
    mine.rounded(digits) == theirs.rounded(digits)
}

fn canonical(value: Decimal, code: &str) -> Option<(Number, String)> {
    if code.len() > UNIT_MAX {
        return None;
    }
    let unit = get_canonical_units(code).ok()?;
    let number = Number::parse(&value.to_string())?.checked_mul(unit.factor)?;
    Some((number.checked_add(unit.offset)?, unit.unit))
}

fn decimal(number: Number) -> Option<Decimal> {
    let (coefficient, exponent) = number.to_integer_and_exponent();
    Decimal::parse(&format!("{coefficient}e{exponent}"))
}

fn combined(mine: &str, operator: char, theirs: &str) -> String {
    match (mine, operator, theirs) {
        (mine, _, "1") => mine.to_owned(),
        ("1", '.', theirs) => theirs.to_owned(),
        (mine, '/', theirs) if mine == theirs => "1".to_owned(),
        _ => format!("({mine}){operator}({theirs})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Quantity<'static> {
        Quantity::parse(text).unwrap()
    }

    #[test]
    fn units_are_converted_exactly() {
        for (mine, theirs, equal) in [
            ("4.0000 'g'", "4000.0 'mg'", Some(true)),
            ("4 'g'", "4040 'mg'", Some(false)),
            ("7 days", "1 week", Some(true)),
            ("7 days", "1 'wk'", Some(true)),
            ("1 year", "12 months", Some(true)),
            ("1 year", "1 'a'", None),
            ("1 'cm'", "1 's'", Some(false)),
            ("0 'Cel'", "273.15 'K'", Some(true)),
            ("1 'foo'", "1 'g'", None),
            ("1 'foo'", "1 'foo'", Some(true)),
        ] {
            assert_eq!(of(mine).is_equal(&of(theirs)), equal, "{mine} = {theirs}");
        }
        assert!(of("4 'g'").is_equivalent(&of("4040 'mg'")));
        assert!(of("1 year").is_equivalent(&of("1 'a'")));
        assert_eq!(of("1 'm'").compare(&of("99 'cm'")), Some(Ordering::Greater));
    }

    #[test]
    fn products_have_units() {
        let area = of("2.0 'cm'").times(&of("2.0 'm'")).unwrap();
        assert_eq!(area.is_equal(&of("0.040 'm2'")), Some(true));
        assert_eq!(of("1.0 'm'").divided_by(&of("1.0 'm'")).unwrap().to_string(), "1 '1'");
        assert_eq!(of("1 'm'").converted_to(&of("1 'cm'")), Some(Decimal::from(100)));
        assert!(of("1 'm'").divided_by(&of("0 'm'")).is_none());
    }

    #[test]
    fn a_hostile_unit_ends() {
        let unit = "(".repeat(100_000);
        let mine = Quantity::ucum(Decimal::ONE, unit);
        assert_eq!(mine.is_equal(&of("1 'm'")), None);
    }
}
