//! `toX()` and `convertsToX()`.

use super::{Evaluated, Run, Scope, single};
use crate::Decimal;
use crate::function::Function;
use crate::item::{Collection, Item};
use crate::moment::Moment;
use crate::node::Call;
use crate::quantity::Quantity;

impl<'t> Run<'_, 't> {
    pub(crate) fn conversion(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        use Function as F;
        let Some(item) = single(focus, call.function.name())? else { return Ok(Collection::new()) };
        let value = item.to_system();
        let (target, asks) = match call.function {
            F::ConvertsToBoolean => (F::ToBoolean, true),
            F::ConvertsToDate => (F::ToDate, true),
            F::ConvertsToDateTime => (F::ToDateTime, true),
            F::ConvertsToDecimal => (F::ToDecimal, true),
            F::ConvertsToInteger => (F::ToInteger, true),
            F::ConvertsToLong => (F::ToLong, true),
            F::ConvertsToQuantity => (F::ToQuantity, true),
            F::ConvertsToString => (F::ToString, true),
            F::ConvertsToTime => (F::ToTime, true),
            function => (function, false),
        };
        let result = match target {
            F::ToBoolean => to_boolean(&value).map(Item::Boolean),
            F::ToDate => to_date(&value).map(Item::Date),
            F::ToDateTime => to_date_time(&value).map(Item::DateTime),
            F::ToDecimal => to_decimal(&value).map(Item::Decimal),
            F::ToInteger => {
                to_integer(&value).and_then(|of| i32::try_from(of).ok()).map(Item::Integer)
            }
            F::ToLong => to_integer(&value).map(Item::Long),
            F::ToString => item.text().or_else(|| value.text()).map(Item::String),
            F::ToTime => to_time(&value).map(Item::Time),
            _ => {
                let unit = self.text_argument(call, 0, scope)?;
                let quantity = to_quantity(&value);
                match (quantity, unit) {
                    (Some(quantity), Some(unit)) => {
                        let target = Quantity::ucum(Decimal::ONE, unit);
                        let value = quantity.converted_to(&target);
                        value.map(|value| Quantity { value, ..target })
                    }
                    (quantity, _) => quantity,
                }
                .map(|quantity| Item::Quantity(Box::new(quantity)))
            }
        };
        if asks {
            return Ok(Collection::one(Item::Boolean(result.is_some())));
        }
        Ok(result.into())
    }
}

fn to_boolean(value: &Item<'_>) -> Option<bool> {
    let word = match value {
        Item::Boolean(value) => return Some(*value),
        Item::String(text) => text.to_lowercase(),
        Item::Integer(_) | Item::Long(_) => value.text()?.into_owned(),
        Item::Decimal(value) => value.normal().to_string(),
        _ => return None,
    };
    match &*word {
        "true" | "t" | "yes" | "y" | "1" | "1.0" => Some(true),
        "false" | "f" | "no" | "n" | "0" | "0.0" => Some(false),
        _ => None,
    }
}

fn to_integer(value: &Item<'_>) -> Option<i64> {
    match value {
        Item::Boolean(value) => Some(i64::from(*value)),
        Item::Integer(value) => Some(i64::from(*value)),
        Item::Long(value) => Some(*value),
        Item::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn to_decimal(value: &Item<'_>) -> Option<Decimal> {
    match value {
        Item::Decimal(value) => Some(*value),
        Item::String(text) => Decimal::parse(text),
        _ => to_integer(value).map(Decimal::from),
    }
}

fn to_date(value: &Item<'_>) -> Option<Moment> {
    match value {
        Item::Date(value) => Some(*value),
        Item::DateTime(value) => Some(value.date_part()),
        Item::String(text) => Moment::date_time(text).map(Moment::date_part),
        _ => None,
    }
}

fn to_date_time(value: &Item<'_>) -> Option<Moment> {
    match value {
        Item::Date(value) | Item::DateTime(value) => Some(*value),
        Item::String(text) => Moment::date_time(text),
        _ => None,
    }
}

fn to_time(value: &Item<'_>) -> Option<Moment> {
    match value {
        Item::Time(value) => Some(*value),
        Item::DateTime(value) => value.time_part(),
        Item::String(text) => Moment::time(text.strip_prefix('T').unwrap_or(text)),
        _ => None,
    }
}

fn to_quantity<'t>(value: &Item<'t>) -> Option<Quantity<'t>> {
    match value {
        Item::Quantity(value) => Some((**value).clone()),
        Item::String(text) => Quantity::parse(text),
        _ => to_decimal(value).map(|value| Quantity::ucum(value, "1")),
    }
}
