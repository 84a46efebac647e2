//! `is`, `as`, `ofType`, `type`.

use super::{Evaluated, single};
use crate::error::EvaluationError;
use crate::function::Function;
use crate::item::{Collection, Item};
use crate::node::Call;
use crate::typename::TypeName;

pub(crate) fn call<'t>(call: &Call, focus: &[Item<'t>]) -> Evaluated<'t> {
    match (&call.of_type, call.function) {
        (Some(of), Function::Is) if focus.len() == 1 => is(focus, of),
        (Some(_), Function::Is) => Ok(Collection::new()),
        (Some(of), Function::As) => cast(focus, of),
        (Some(of), _) => {
            known(of)?;
            Ok(focus.iter().filter(|item| of.selects(item)).cloned().collect())
        }
        (None, _) => Ok(focus.iter().map(|item| Item::Type(item.type_info())).collect()),
    }
}

/// The operator: of several items none is of one type.
pub(crate) fn is<'t>(items: &[Item<'t>], of: &TypeName) -> Evaluated<'t> {
    let truth = match items {
        [] => None,
        [item] => Some(of.holds(item)),
        _ => Some(false),
    };
    Ok(Collection::of_boolean(truth))
}

/// The item, if it is of this type.
pub(crate) fn cast<'t>(items: &[Item<'t>], of: &TypeName) -> Evaluated<'t> {
    known(of)?;
    let item = single(items, "as")?;
    Ok(item.filter(|item| of.selects(item)).cloned().into())
}

fn known(of: &TypeName) -> Result<(), EvaluationError> {
    if of.is_known() { Ok(()) } else { Err(EvaluationError::UnknownType(of.name.clone())) }
}
