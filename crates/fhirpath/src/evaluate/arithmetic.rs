//! `+ - * / div mod &` and the sign.

use super::equality::number;
use super::{Evaluated, single, wrong_type};
use crate::error::{EvaluationError, Limit};
use crate::item::{Collection, Item};
use crate::node::Operator;
use crate::quantity::Quantity;
use crate::{Decimal, Moment};

/// The result of an operator on two collections of at most one item each.
pub(crate) fn calculate<'t>(
    operator: Operator,
    left: &[Item<'t>],
    right: &[Item<'t>],
    text_max: usize,
) -> Evaluated<'t> {
    let operation = operator.text();
    let (left, right) = (single(left, operation)?, single(right, operation)?);
    if operator == Operator::Concatenate {
        return concatenated(left, right, text_max);
    }
    let (Some(left), Some(right)) = (left, right) else { return Ok(Collection::new()) };
    let (left, right) = (left.to_system(), right.to_system());
    // A primitive without a value has nothing to calculate with.
    if is_without_value(&left) || is_without_value(&right) {
        return Ok(Collection::new());
    }
    let result = match (&left, &right) {
        (Item::String(mine), Item::String(theirs)) if operator == Operator::Plus => {
            Some(Item::string(joined(mine, theirs, text_max)?))
        }
        (Item::Quantity(mine), Item::Quantity(theirs)) => quantities(operator, mine, theirs),
        (Item::Quantity(mine), _) => {
            let by = number(&right).ok_or_else(|| wrong_type(operation, &right))?;
            quantities(operator, mine, &Quantity::ucum(by, "1"))
        }
        (Item::Date(_) | Item::DateTime(_) | Item::Time(_), Item::Quantity(by)) => {
            shifted(operator, &left, by)?
        }
        _ => numbers(operator, &left, &right)?,
    };
    Ok(result.into())
}

fn is_without_value(item: &Item<'_>) -> bool {
    matches!(item, Item::Element(element)
        if element.type_definition().is_some_and(fhir::TypeDefinition::is_primitive))
}

/// With the other sign.
pub(crate) fn negated<'t>(items: &[Item<'t>]) -> Evaluated<'t> {
    let Some(item) = single(items, "-")? else { return Ok(Collection::new()) };
    let value = item.to_system();
    Ok(match &value {
        Item::Integer(value) => value.checked_neg().map(Item::Integer),
        Item::Long(value) => value.checked_neg().map(Item::Long),
        Item::Decimal(value) => Some(Item::Decimal(value.negated())),
        Item::Quantity(of) => {
            let negated = Quantity { value: of.value.negated(), unit: of.unit.clone() };
            Some(Item::Quantity(Box::new(negated)))
        }
        _ => return Err(wrong_type("-", &value)),
    }
    .into())
}

fn concatenated<'t>(
    left: Option<&Item<'t>>,
    right: Option<&Item<'t>>,
    text_max: usize,
) -> Evaluated<'t> {
    let text = |item: Option<&Item<'t>>| match item.map(Item::to_system) {
        None => Ok("".into()),
        Some(Item::String(text)) => Ok(text),
        Some(item) if is_without_value(&item) => Ok("".into()),
        Some(item) => Err(wrong_type("&", &item)),
    };
    let joined = joined(&text(left)?, &text(right)?, text_max)?;
    Ok(Collection::one(Item::string(joined)))
}

fn joined(left: &str, right: &str, text_max: usize) -> Result<String, EvaluationError> {
    if left.len() + right.len() > text_max {
        return Err(EvaluationError::Limit(Limit::Text));
    }
    Ok([left, right].concat())
}

/// Integers stay integers but for `/`; where a result has too many digits there is none.
fn numbers<'t>(
    operator: Operator,
    left: &Item<'t>,
    right: &Item<'t>,
) -> Result<Option<Item<'t>>, EvaluationError> {
    use Operator as O;
    if let Some((mine, theirs)) = integer(left).zip(integer(right)) {
        let result = match operator {
            O::Plus => mine.checked_add(theirs),
            O::Minus => mine.checked_sub(theirs),
            O::Times => mine.checked_mul(theirs),
            O::Div => mine.checked_div(theirs),
            O::Mod => mine.checked_rem(theirs),
            _ => {
                let quotient = Decimal::from(mine).divided_by(Decimal::from(theirs));
                return Ok(quotient.map(Item::Decimal));
            }
        };
        let is_long = matches!(left, Item::Long(_)) || matches!(right, Item::Long(_));
        return Ok(result.and_then(|value| match i32::try_from(value) {
            Ok(value) if !is_long => Some(Item::Integer(value)),
            _ if is_long => Some(Item::Long(value)),
            _ => None,
        }));
    }
    let operation = operator.text();
    let mine = number(left).ok_or_else(|| wrong_type(operation, left))?;
    let theirs = number(right).ok_or_else(|| wrong_type(operation, right))?;
    Ok(match operator {
        O::Plus => mine.plus(theirs).map(Item::Decimal),
        O::Minus => mine.minus(theirs).map(Item::Decimal),
        O::Times => mine.times(theirs).map(Item::Decimal),
        O::Divide => mine.divided_by(theirs).map(Item::Decimal),
        O::Div => {
            mine.quotient(theirs).and_then(|value| i32::try_from(value).ok()).map(Item::Integer)
        }
        O::Mod => mine.remainder(theirs).map(Item::Decimal),
        _ => return Err(wrong_type(operation, left)),
    })
}

fn integer(item: &Item<'_>) -> Option<i64> {
    match item {
        Item::Integer(value) => Some(i64::from(*value)),
        Item::Long(value) => Some(*value),
        _ => None,
    }
}

fn quantities<'t>(
    operator: Operator,
    mine: &Quantity<'t>,
    theirs: &Quantity<'t>,
) -> Option<Item<'t>> {
    let same_unit =
        |value: Option<Decimal>| value.map(|value| Quantity { value, unit: mine.unit.clone() });
    let result = match operator {
        Operator::Plus => same_unit(mine.value.plus(theirs.converted_to(mine)?)),
        Operator::Minus => same_unit(mine.value.minus(theirs.converted_to(mine)?)),
        Operator::Times => mine.times(theirs),
        Operator::Divide => mine.divided_by(theirs),
        _ => None,
    };
    result.map(|quantity| Item::Quantity(Box::new(quantity)))
}

/// A date or time plus or minus a duration.
fn shifted<'t>(
    operator: Operator,
    left: &Item<'t>,
    by: &Quantity<'t>,
) -> Result<Option<Item<'t>>, EvaluationError> {
    let amount = match operator {
        Operator::Plus => by.value,
        Operator::Minus => by.value.negated(),
        _ => return Err(wrong_type(operator.text(), left)),
    };
    let Some(unit) = by.calendar() else {
        return Err(EvaluationError::WrongArgument(operator.text()));
    };
    let moved = |moment: &Moment, is_time| moment.plus(amount, unit, is_time);
    Ok(match left {
        Item::Date(moment) => moved(moment, false).map(Item::Date),
        Item::DateTime(moment) => moved(moment, false).map(Item::DateTime),
        Item::Time(moment) => moved(moment, true).map(Item::Time),
        _ => None,
    })
}
