//! Truth in three values, and what stops early.

use super::{Run, Scope};
use crate::error::EvaluationError;
use crate::function::Function;
use crate::item::Item;
use crate::node::{Node, NodeId, Operator};

pub(crate) type Truth = Result<Option<bool>, EvaluationError>;

/// Whether an invariant with this result holds.
pub(crate) fn holds(items: &[Item<'_>]) -> bool {
    match items {
        [] => false,
        [item] => item.as_boolean().unwrap_or(!is_boolean(item)),
        _ => true,
    }
}

/// Whether a collection counts as true: one boolean says what it says, one item of another type
/// counts as true, nothing is unknown.
pub(crate) fn truth_of(items: &[Item<'_>], operation: &'static str) -> Truth {
    match items {
        [] => Ok(None),
        [item] => Ok(item.as_boolean().or(if is_boolean(item) { None } else { Some(true) })),
        _ => Err(EvaluationError::NotSingle { operation, count: items.len() }),
    }
}

/// A boolean may have no value but an extension.
fn is_boolean(item: &Item<'_>) -> bool {
    matches!(item, Item::Element(element) if element.type_name() == "boolean")
}

impl<'t> Run<'_, 't> {
    /// Evaluates what shall be true or false, without making collections where that is not needed.
    pub(crate) fn truth(&mut self, id: NodeId, focus: &[Item<'t>], scope: &Scope<'_, 't>) -> Truth {
        match self.node(id) {
            Node::And(operands) => {
                self.step(1)?;
                let mut all = Some(true);
                for operand in operands {
                    match self.truth(*operand, focus, scope)? {
                        Some(false) => return Ok(Some(false)),
                        None => all = None,
                        Some(true) => {}
                    }
                }
                Ok(all)
            }
            Node::Or(operands) => {
                self.step(1)?;
                let mut any = Some(false);
                for operand in operands {
                    match self.truth(*operand, focus, scope)? {
                        Some(true) => return Ok(Some(true)),
                        None => any = None,
                        Some(false) => {}
                    }
                }
                Ok(any)
            }
            Node::Binary(operator, left, right) if operator.gives_truth() => {
                self.step(1)?;
                self.binary_truth(*operator, *left, *right, focus, scope)
            }
            Node::Chain(steps) => match self.last_question(steps) {
                Some((function, before)) => {
                    let items = self.chain(before, focus, scope)?;
                    match function {
                        Function::Exists => Ok(Some(!items.is_empty())),
                        Function::Empty => Ok(Some(items.is_empty())),
                        _ => Ok(truth_of(&items, "not")?.map(|value| !value)),
                    }
                }
                None => truth_of(&self.evaluate(id, focus, scope)?, "boolean"),
            },
            _ => truth_of(&self.evaluate(id, focus, scope)?, "boolean"),
        }
    }

    /// A chain that ends in `exists()`, `empty()` or `not()`, and what comes before.
    fn last_question(&self, steps: &'t [NodeId]) -> Option<(Function, &'t [NodeId])> {
        let (last, before) = steps.split_last()?;
        match self.node(*last) {
            Node::Call(call) if call.arguments.is_empty() => match call.function {
                function @ (Function::Exists | Function::Empty | Function::Not) => {
                    Some((function, before))
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn binary_truth(
        &mut self,
        operator: Operator,
        left: NodeId,
        right: NodeId,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Truth {
        match operator {
            Operator::Implies => {
                let left = self.truth(left, focus, scope)?;
                if left == Some(false) {
                    return Ok(Some(true));
                }
                // Where the left side is unknown, the right one still decides.
                Ok(match (left, self.truth(right, focus, scope)?) {
                    (_, Some(true)) => Some(true),
                    (Some(true), Some(false)) => Some(false),
                    _ => None,
                })
            }
            Operator::Xor => {
                let left = self.truth(left, focus, scope)?;
                let right = self.truth(right, focus, scope)?;
                Ok(left.zip(right).map(|(left, right)| left != right))
            }
            _ => {
                let left = self.evaluate(left, focus, scope)?;
                let right = self.evaluate(right, focus, scope)?;
                self.compare(operator, &left, &right)
            }
        }
    }
}

impl Operator {
    const fn gives_truth(self) -> bool {
        !matches!(
            self,
            Self::Plus
                | Self::Minus
                | Self::Concatenate
                | Self::Times
                | Self::Divide
                | Self::Div
                | Self::Mod
        )
    }
}
