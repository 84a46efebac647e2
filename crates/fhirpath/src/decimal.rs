//! Decimals as written: exact, with the digits that were given (`1.50` is not `1.5` for
//! `precision()`).

use std::cmp::Ordering;
use std::fmt;

/// A decimal: a coefficient and the number of its digits after the point. 38 digits at most.
#[derive(Clone, Copy)]
pub struct Decimal {
    // Halves of an i128, which alone would align every item to 16 bytes.
    high: i64,
    low: u64,
    scale: u8,
}

/// Digits that a coefficient may have; 10^38 fits an i128.
const DIGITS_MAX: u8 = 38;
/// Digits after the point of a quotient that does not come out even.
const QUOTIENT_SCALE: u8 = 28;

const fn power(exponent: u8) -> i128 {
    10_i128.pow(exponent as u32)
}

impl Decimal {
    /// The number zero.
    pub const ZERO: Self = Self::new(0, 0);
    /// The number one.
    pub const ONE: Self = Self::new(1, 0);

    /// `coefficient` divided by 10 to the power of `scale` (at most 38).
    pub const fn new(coefficient: i128, scale: u8) -> Self {
        Self { high: (coefficient >> 64) as i64, low: coefficient as u64, scale }
    }
    /// All digits, without the point.
    pub const fn coefficient(self) -> i128 {
        ((self.high as i128) << 64) | self.low as i128
    }
    /// Digits after the point, as written.
    pub const fn scale(self) -> u8 {
        self.scale
    }
    /// Reads digits with an optional sign, fraction and exponent; `None` if it is no number or has
    /// more than 38 digits.
    pub fn parse(text: &str) -> Option<Self> {
        let (text, exponent) = match text.split_once(['e', 'E']) {
            Some((text, exponent)) => (text, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (is_negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let bare = whole.is_empty() || (fraction.is_empty() && digits.contains('.'));
        if bare || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mut coefficient = 0_i128;
        for digit in whole.bytes().chain(fraction.bytes()) {
            coefficient = coefficient.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        }
        if is_negative {
            coefficient = -coefficient;
        }
        let scale = i64::try_from(fraction.len()).ok()? - i64::from(exponent);
        if scale < 0 {
            let up = u8::try_from(-scale).ok().filter(|up| *up <= DIGITS_MAX)?;
            return Self::checked(coefficient.checked_mul(power(up))?, 0);
        }
        Self::checked(coefficient, u8::try_from(scale).ok()?)
    }
    /// From a floating-point number, with the fewest digits that tell it from its neighbours.
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let text = format!("{value:e}");
        Self::parse(&text).or_else(|| Self::parse(&format!("{value:.20}")))
    }
    /// The nearest floating-point number.
    pub fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }
    /// Whether it is zero.
    pub const fn is_zero(self) -> bool {
        self.coefficient() == 0
    }
    /// The whole number, if it is one and fits.
    pub fn to_integer(self) -> Option<i128> {
        let (whole, rest) = self.split();
        (rest == 0).then_some(whole)
    }
    /// Without the zeros at the end of the fraction.
    pub fn normal(self) -> Self {
        let (mut coefficient, mut scale) = (self.coefficient(), self.scale);
        while scale > 0 && coefficient % 10 == 0 {
            coefficient /= 10;
            scale -= 1;
        }
        Self::new(coefficient, scale)
    }
    /// The sum; `None` where it has too many digits.
    pub fn plus(self, other: Self) -> Option<Self> {
        let (mine, theirs, scale) = self.aligned(other)?;
        Self::checked(mine.checked_add(theirs)?, scale)
    }
    /// The difference.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated())
    }
    /// With the other sign.
    pub const fn negated(self) -> Self {
        Self::new(-self.coefficient(), self.scale)
    }
    /// Without a sign.
    pub const fn abs(self) -> Self {
        Self::new(self.coefficient().abs(), self.scale)
    }
    /// The product.
    pub fn times(self, other: Self) -> Option<Self> {
        let exact = |a: Self, b: Self| {
            let scale = a.scale.checked_add(b.scale)?;
            Self::checked(a.coefficient().checked_mul(b.coefficient())?, scale)
        };
        exact(self, other).or_else(|| exact(self.normal(), other.normal()))
    }
    /// The quotient, to 28 digits after the point; `None` for a division by zero.
    pub fn divided_by(self, other: Self) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        let (over, under) = (self.normal(), other.normal());
        let (mut top, mut scale) =
            (over.coefficient(), i32::from(over.scale) - i32::from(under.scale));
        let bottom = under.coefficient();
        while (scale < 0 || top % bottom != 0) && scale < i32::from(QUOTIENT_SCALE) {
            let Some(next) = top.checked_mul(10) else { break };
            top = next;
            scale += 1;
        }
        let scale = u8::try_from(scale).ok()?;
        let (quotient, rest) = (top / bottom, top % bottom);
        let up = rest.unsigned_abs() >= bottom.unsigned_abs().div_ceil(2) && rest != 0;
        let step = if (top < 0) == (bottom < 0) { 1 } else { -1 };
        Self::checked(quotient + if up { step } else { 0 }, scale)
    }
    /// The whole part of the quotient.
    pub fn quotient(self, other: Self) -> Option<i128> {
        let (mine, theirs, _) = self.aligned(other)?;
        mine.checked_div(theirs)
    }
    /// What the whole part of the quotient leaves.
    pub fn remainder(self, other: Self) -> Option<Self> {
        let (mine, theirs, scale) = self.aligned(other)?;
        Self::checked(mine.checked_rem(theirs)?, scale)
    }
    /// The greatest whole number that is not above.
    pub fn floor(self) -> i128 {
        self.coefficient().div_euclid(power(self.scale))
    }
    /// The smallest whole number that is not below.
    pub fn ceiling(self) -> i128 {
        -self.negated().floor()
    }
    /// The whole part.
    pub fn truncated(self) -> i128 {
        self.split().0
    }
    /// With so many digits after the point: a half goes away from zero.
    pub fn rounded(self, scale: u8) -> Option<Self> {
        if scale >= self.scale {
            return self.rescaled(scale);
        }
        let unit = power(self.scale - scale);
        let (whole, rest) = (self.coefficient() / unit, self.coefficient() % unit);
        let step = if rest.abs() * 2 >= unit { rest.signum() } else { 0 };
        Some(Self::new(whole + step, scale))
    }
    /// With so many digits after the point, towards negative infinity.
    pub fn rounded_down(self, scale: u8) -> Option<Self> {
        if scale >= self.scale {
            return self.rescaled(scale);
        }
        Some(Self::new(self.coefficient().div_euclid(power(self.scale - scale)), scale))
    }
    /// As many digits after the point as asked, where that loses none.
    pub fn rescaled(self, scale: u8) -> Option<Self> {
        let up = scale.checked_sub(self.scale).filter(|up| *up <= DIGITS_MAX)?;
        Self::checked(self.coefficient().checked_mul(power(up))?, scale)
    }

    fn checked(coefficient: i128, scale: u8) -> Option<Self> {
        let fits = scale <= DIGITS_MAX && coefficient.unsigned_abs() < power(DIGITS_MAX) as u128;
        fits.then(|| Self::new(coefficient, scale))
    }
    /// Whole part and fraction, both with the sign.
    fn split(self) -> (i128, i128) {
        let unit = power(self.scale);
        (self.coefficient() / unit, self.coefficient() % unit)
    }
    fn aligned(self, other: Self) -> Option<(i128, i128, u8)> {
        let scale = self.scale.max(other.scale);
        let exact = |a: Self| a.coefficient().checked_mul(power(scale - a.scale));
        Some((exact(self)?, exact(other)?, scale))
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self::new(i128::from(value), 0)
    }
}

impl PartialEq for Decimal {
    /// `1.0` is `1`.
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.scale == other.scale {
            return self.coefficient().cmp(&other.coefficient());
        }
        // A fraction is below 1, so that 38 digits of it always fit.
        let parts = |of: &Self| {
            let (whole, rest) = of.split();
            (whole, rest * power(DIGITS_MAX - of.scale))
        };
        parts(self).cmp(&parts(other))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scale == 0 {
            return write!(out, "{}", self.coefficient());
        }
        let (whole, rest) = self.split();
        let sign = if self.coefficient() < 0 { "-" } else { "" };
        let digits = usize::from(self.scale);
        write!(out, "{sign}{}.{:0digits$}", whole.unsigned_abs(), rest.unsigned_abs())
    }
}

impl fmt::Debug for Decimal {
    /// A value of a document: not shown.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Decimal")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn what_was_written_is_kept() {
        for text in ["1.58700", "0", "-0.10", "185", "12345678901234567890.1234567890"] {
            assert_eq!(of(text).to_string(), text);
        }
        assert_eq!(of("1e3").to_string(), "1000");
        assert_eq!(of("1.5E-3").to_string(), "0.0015");
        for text in ["", "-", ".5", "1.", "1x", "1e99", "1e-99", &"9".repeat(39)] {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn sums_and_products_are_exact() {
        assert_eq!(of("0.1").plus(of("0.2")).unwrap().to_string(), "0.3");
        assert_eq!(of("1.8").minus(of("1.2")).unwrap(), of("0.6"));
        assert_eq!(of("1.2").times(of("1.8")).unwrap(), of("2.16"));
        assert!(of("99999999999999999999").times(of("99999999999999999999")).is_none());
    }

    #[test]
    fn quotients_round_where_they_must() {
        assert_eq!(of("4.0").divided_by(of("2.0")).unwrap().to_string(), "2");
        assert_eq!(of("1").divided_by(of("0.001")).unwrap().to_string(), "1000");
        assert_eq!(of("-1").divided_by(of("8")).unwrap().to_string(), "-0.125");
        let third = of("2").divided_by(of("3")).unwrap();
        assert_eq!(third.to_string(), format!("0.{}7", "6".repeat(27)));
        assert!(of("1").divided_by(of("0.0")).is_none());
        assert_eq!(of("2.2").quotient(of("1.8")), Some(1));
        assert_eq!(of("2.2").remainder(of("1.8")).unwrap(), of("0.4"));
        assert_eq!(of("-5").remainder(of("3")).unwrap(), of("-2"));
    }

    #[test]
    fn rounding() {
        assert_eq!(of("3.14159").rounded(3).unwrap().to_string(), "3.142");
        assert_eq!(of("-2.5").rounded(0).unwrap().to_string(), "-3");
        assert_eq!(of("1").rounded(2).unwrap().to_string(), "1.00");
        assert_eq!((of("-2.1").floor(), of("-1.1").ceiling()), (-3, -1));
        assert_eq!((of("-1.56").truncated(), of("2.0").to_integer()), (-1, Some(2)));
        assert_eq!(of("-1.5875").rounded_down(2).unwrap().to_string(), "-1.59");
    }

    #[test]
    fn order_does_not_depend_on_digits() {
        assert!(of("1.10") == of("1.1"));
        assert!(of("-0.5") < of("0.25"));
        assert!(
            of("99999999999999999999999999999999999999") > of("0.00000000000000000000000000000001")
        );
    }
}
