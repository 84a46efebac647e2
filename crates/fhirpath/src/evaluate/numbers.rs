//! Functions on numbers.

use super::equality::number;
use super::{Evaluated, Run, Scope, collections, single, wrong_type};
use crate::Decimal;
use crate::error::EvaluationError;
use crate::function::Function;
use crate::item::{Collection, Item};
use crate::node::Call;
use crate::quantity::Quantity;

/// Largest exponent that is calculated exactly.
const EXPONENT_MAX: u32 = 256;

impl<'t> Run<'_, 't> {
    pub(crate) fn mathematics(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        use Function as F;
        let operation = call.function.name();
        let Some(item) = single(focus, operation)? else { return Ok(Collection::new()) };
        let value = item.to_system();
        if let (Item::Quantity(of), F::Abs) = (&value, call.function) {
            let abs = Quantity { value: of.value.abs(), unit: of.unit.clone() };
            return Ok(Collection::one(Item::Quantity(Box::new(abs))));
        }
        let of = number(&value).ok_or_else(|| wrong_type(operation, item))?;
        let float = |result: f64| Decimal::from_f64(result).map(Item::Decimal);
        let result = match call.function {
            F::Abs => match &value {
                Item::Integer(value) => value.checked_abs().map(Item::Integer),
                Item::Long(value) => value.checked_abs().map(Item::Long),
                _ => Some(Item::Decimal(of.abs())),
            },
            F::Ceiling => whole(of.ceiling()),
            F::Floor => whole(of.floor()),
            F::Truncate => whole(of.truncated()),
            F::Exp => float(of.to_f64().exp()),
            F::Ln => float(of.to_f64().ln()),
            F::Sqrt => float(of.to_f64().sqrt()),
            F::Round => self.round(call, of, scope)?,
            _ => {
                let other = self.argument(call, 0, scope)?;
                let Some(other) = single(&other, operation)? else { return Ok(Collection::new()) };
                let other = other.to_system();
                let by = number(&other).ok_or_else(|| wrong_type(operation, &other))?;
                match call.function {
                    F::Log => float(logarithm(of, by)),
                    _ => power(&value, of, by),
                }
            }
        };
        Ok(result.into())
    }

    fn round(
        &mut self,
        call: &'t Call,
        of: Decimal,
        scope: &Scope<'_, 't>,
    ) -> Result<Option<Item<'t>>, EvaluationError> {
        let digits = self.argument(call, 0, scope)?;
        let digits = collections::integer(&digits, "round")?.unwrap_or(0);
        let digits = u8::try_from(digits).map_err(|_| EvaluationError::WrongArgument("round"))?;
        Ok(of.rounded(digits).map(Item::Decimal))
    }
}

fn whole<'t>(value: i128) -> Option<Item<'t>> {
    i32::try_from(value).ok().map(Item::Integer)
}

fn logarithm(of: Decimal, base: Decimal) -> f64 {
    let of = of.to_f64();
    match base.to_integer() {
        Some(2) => of.log2(),
        Some(10) => of.log10(),
        _ => of.log(base.to_f64()),
    }
}

/// Exact for whole exponents, as far as the digits go.
fn power<'t>(item: &Item<'t>, of: Decimal, by: Decimal) -> Option<Item<'t>> {
    let exponent = by.to_integer().and_then(|by| u32::try_from(by).ok());
    if let Some(exponent) = exponent.filter(|exponent| *exponent <= EXPONENT_MAX) {
        let mut result = Decimal::ONE;
        for _ in 0..exponent {
            result = result.times(of)?;
        }
        return match item {
            Item::Integer(_) => whole(result.truncated()),
            _ => Some(Item::Decimal(result)),
        };
    }
    Decimal::from_f64(of.to_f64().powf(by.to_f64())).map(Item::Decimal)
}
