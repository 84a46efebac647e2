//! The bounds and the precision of what is given to so many digits.

use super::{Evaluated, Run, Scope, collections, single, wrong_type};
use crate::Decimal;
use crate::function::Function;
use crate::item::{Collection, Item};
use crate::node::Call;
use crate::quantity::Quantity;

/// Digits after the point that a bound may have.
const DIGITS_MAX: u8 = 28;

impl<'t> Run<'_, 't> {
    pub(crate) fn bounds(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let operation = call.function.name();
        let Some(item) = single(focus, operation)? else { return Ok(Collection::new()) };
        let value = item.to_system();
        match call.function {
            Function::Precision => precision(&value, operation),
            Function::Comparable => {
                let other = self.argument(call, 0, scope)?;
                let other = single(&other, operation)?.map(Item::to_system);
                let comparable = match (&value, &other) {
                    (Item::Quantity(mine), Some(Item::Quantity(theirs))) => {
                        mine.is_comparable(theirs)
                    }
                    _ => false,
                };
                Ok(Collection::one(Item::Boolean(comparable)))
            }
            _ => {
                let digits = self.argument(call, 0, scope)?;
                let digits = collections::integer(&digits, operation)?;
                let digits = digits.map(|digits| i32::try_from(digits).unwrap_or(-1));
                bound(&value, digits, call.function == Function::HighBoundary, operation)
            }
        }
    }
}

fn precision<'t>(value: &Item<'t>, operation: &'static str) -> Evaluated<'t> {
    let digits = match value {
        Item::Decimal(value) => i32::from(value.scale()),
        Item::Integer(_) | Item::Long(_) => 0,
        Item::Date(value) | Item::DateTime(value) => value.digits(false),
        Item::Time(value) => value.digits(true),
        _ => return Err(wrong_type(operation, value)),
    };
    Ok(Collection::one(Item::Integer(digits)))
}

fn bound<'t>(
    value: &Item<'t>,
    digits: Option<i32>,
    is_high: bool,
    operation: &'static str,
) -> Evaluated<'t> {
    let of_decimal = |value: Decimal| {
        let digits =
            u8::try_from(digits.unwrap_or(8)).ok().filter(|digits| *digits <= DIGITS_MAX)?;
        if is_high {
            high(value, digits)
        } else {
            high(value.negated(), digits).map(Decimal::negated)
        }
    };
    Ok(match value {
        Item::Decimal(value) => of_decimal(*value).map(Item::Decimal),
        Item::Integer(value) => of_decimal(Decimal::from(i64::from(*value))).map(Item::Decimal),
        Item::Long(value) => of_decimal(Decimal::from(*value)).map(Item::Decimal),
        Item::Quantity(of) => of_decimal(of.value)
            .map(|value| Item::Quantity(Box::new(Quantity { value, unit: of.unit.clone() }))),
        Item::Date(value) => {
            let digits = digits.unwrap_or(8);
            let bound = if is_high { value.high(digits, false) } else { value.low(digits, false) };
            bound.map(if digits > 8 { Item::DateTime } else { Item::Date })
        }
        Item::DateTime(value) => {
            let digits = digits.unwrap_or(17);
            let bound = if is_high { value.high(digits, false) } else { value.low(digits, false) };
            bound.map(Item::DateTime)
        }
        Item::Time(value) => {
            let digits = digits.unwrap_or(9);
            let bound = if is_high { value.high(digits, true) } else { value.low(digits, true) };
            bound.map(Item::Time)
        }
        _ => return Err(wrong_type(operation, value)),
    }
    .into())
}

/// The greatest number that may have been rounded to this one, to so many digits.
fn high(value: Decimal, digits: u8) -> Option<Decimal> {
    let half = Decimal::new(5, value.scale().checked_add(1)?);
    let bound = value.plus(half)?;
    let rounded = if digits >= bound.scale() {
        bound.rescaled(digits)?
    } else {
        bound.negated().rounded_down(digits)?.negated()
    };
    // A number that these digits cannot show at all stays nought: so the official tests have it.
    let unit = Decimal::new(1, digits);
    let is_nought = digits > 0 && bound.abs() < unit;
    Some(if is_nought { Decimal::new(0, digits) } else { rounded })
}
