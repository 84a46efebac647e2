//! The evaluation of a compiled expression.

use std::borrow::Cow;

use crate::context::Context;
use crate::error::{EvaluationError, Limit};
use crate::function::Function;
use crate::item::{Collection, Item};
use crate::node::{Call, Member, Node, NodeId, Operator, Variable};

mod arithmetic;
mod ask;
mod bounds;
mod collections;
mod conversion;
mod equality;
mod logic;
mod lookup;
mod numbers;
mod patterns;
mod strings;
mod tree;
mod types;
mod xhtml;

pub(crate) use logic::holds;

pub(crate) type Evaluated<'t> = Result<Collection<'t>, EvaluationError>;

/// Nesting of evaluations beyond which none goes: as deep as an expression can be, and its
/// functions.
const DEPTH_MAX: u32 = 220;

/// One evaluation.
pub(crate) struct Run<'r, 't> {
    pub(crate) nodes: &'t [Node],
    pub(crate) context: &'r Context<'r, 't>,
    steps: u32,
    depth: u32,
    /// What `defineVariable` has set, for the rest of its chain.
    defined: Vec<(Cow<'t, str>, Collection<'t>)>,
}

/// What `$this`, `$index` and `$total` are.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s, 't> {
    pub(crate) this: &'s [Item<'t>],
    pub(crate) index: usize,
    pub(crate) total: Option<&'s Collection<'t>>,
}

impl<'r, 't> Run<'r, 't> {
    pub(crate) fn new(nodes: &'t [Node], context: &'r Context<'r, 't>) -> Self {
        let steps = context.limits.steps_max;
        Self { nodes, context, steps, depth: 0, defined: Vec::new() }
    }
    pub(crate) fn whole(&mut self, root: NodeId, focus: &[Item<'t>]) -> Evaluated<'t> {
        let result = self.evaluate(root, focus, &Scope { this: focus, index: 0, total: None });
        if let Some(steps) = self.context.steps {
            let taken = self.context.limits.steps_max.saturating_sub(self.steps);
            steps.set(steps.get().saturating_add(u64::from(taken)));
        }
        result
    }

    /// Counts work.
    pub(crate) fn step(&mut self, count: usize) -> Result<(), EvaluationError> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        match self.steps.checked_sub(count) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err(EvaluationError::Limit(Limit::Steps)),
        }
    }
    pub(crate) fn node(&self, id: NodeId) -> &'t Node {
        // Every number of a node was given by the parser that made the nodes.
        &self.nodes[id as usize]
    }

    /// Evaluates a node on a focus.
    pub(crate) fn evaluate(
        &mut self,
        id: NodeId,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        self.step(1)?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(EvaluationError::Limit(Limit::Depth));
        }
        let result = self.dispatch(id, focus, scope)?;
        self.depth -= 1;
        if result.len() > self.context.limits.items_max {
            return Err(EvaluationError::Limit(Limit::Items));
        }
        Ok(result)
    }

    fn dispatch(&mut self, id: NodeId, focus: &[Item<'t>], scope: &Scope<'_, 't>) -> Evaluated<'t> {
        match self.node(id) {
            Node::Empty => Ok(Collection::new()),
            Node::Constant(item) => Ok(Collection::one(item.clone())),
            Node::This => Ok(scope.this.iter().cloned().collect()),
            Node::Index => {
                let index = i32::try_from(scope.index).unwrap_or(i32::MAX);
                Ok(Collection::one(Item::Integer(index)))
            }
            Node::Total => Ok(scope.total.cloned().unwrap_or_default()),
            Node::Variable(variable) => self.variable(variable),
            Node::Member(member) => self.member(member, focus),
            Node::Chain(steps) => self.chain(steps, focus, scope),
            Node::Call(call) => self.call(call, focus, scope),
            Node::Indexer(index) => self.indexer(*index, focus, scope),
            Node::Negated(operand) => {
                let items = self.evaluate(*operand, focus, scope)?;
                arithmetic::negated(&items)
            }
            Node::Positive(operand) => {
                let items = self.evaluate(*operand, focus, scope)?;
                arithmetic::negated(&items)?;
                Ok(items)
            }
            Node::And(_) | Node::Or(_) => Ok(Collection::of_boolean(self.truth(id, focus, scope)?)),
            Node::Union(operands) => self.union_of(operands, focus, scope),
            Node::Binary(operator, left, right) => {
                self.binary(*operator, *left, *right, focus, scope)
            }
            Node::Is(operand, of) => {
                let items = self.evaluate(*operand, focus, scope)?;
                types::is(&items, of)
            }
            Node::As(operand, of) => {
                let items = self.evaluate(*operand, focus, scope)?;
                types::cast(&items, of)
            }
        }
    }

    /// Each step works on what the one before gave.
    pub(crate) fn chain(
        &mut self,
        steps: &'t [NodeId],
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let Some((first, rest)) = steps.split_first() else { return Ok(Collection::new()) };
        let defined = self.defined.len();
        let mut items = self.evaluate(*first, focus, scope)?;
        for step in rest {
            items = self.evaluate(*step, &items, scope)?;
        }
        self.defined.truncate(defined);
        Ok(items)
    }

    fn variable(&mut self, variable: &'t Variable) -> Evaluated<'t> {
        let context = self.context;
        let unknown = |name: &str| EvaluationError::UnknownVariable(name.into());
        let element = |element: Option<_>, name| {
            element.map(|of| Collection::one(Item::Element(of))).ok_or_else(|| unknown(name))
        };
        match variable {
            Variable::Resource => element(context.resource, "resource"),
            Variable::RootResource => element(context.root_resource, "rootResource"),
            Variable::Context => match &context.context {
                Some(item) => Ok(Collection::one(item.clone())),
                None => element(context.resource, "context"),
            },
            Variable::Known(text) => Ok(Collection::one(Item::string(&**text))),
            Variable::Named(name) => {
                let defined = self.defined.iter().rev().find(|(known, _)| **known == **name);
                let given = || context.variables.iter().find(|(known, _)| known == name);
                defined
                    .map(|(_, value)| value.clone())
                    .or_else(|| given().map(|(_, value)| value.clone()))
                    .ok_or_else(|| unknown(name))
            }
        }
    }

    fn member(&mut self, member: &'t Member, focus: &[Item<'t>]) -> Evaluated<'t> {
        let mut found = Collection::new();
        for item in focus {
            match item {
                Item::Element(element) => {
                    if member.may_be_type && element.is_of(&member.text) {
                        found.push(item.clone());
                    } else if let Some(name) = member.name {
                        let before = found.len();
                        for child in element.children_named(name) {
                            found.push(Item::Element(child));
                        }
                        self.step(1 + found.len() - before)?;
                    }
                }
                _ => tree::member_of_value(item, &member.text, &mut found),
            }
        }
        Ok(found)
    }

    fn indexer(
        &mut self,
        index: NodeId,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let index = self.evaluate(index, scope.this, scope)?;
        let Some(index) = collections::integer(&index, "[]")? else { return Ok(Collection::new()) };
        let item = usize::try_from(index).ok().and_then(|index| focus.get(index));
        Ok(item.cloned().into())
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: NodeId,
        right: NodeId,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        use Operator as O;
        match operator {
            O::Plus | O::Minus | O::Concatenate | O::Times | O::Divide | O::Div | O::Mod => {
                let left = self.evaluate(left, focus, scope)?;
                let right = self.evaluate(right, focus, scope)?;
                arithmetic::calculate(operator, &left, &right, self.context.limits.text_max)
            }
            _ => {
                let truth = self.binary_truth(operator, left, right, focus, scope)?;
                Ok(Collection::of_boolean(truth))
            }
        }
    }

    /// The value of an argument: it is evaluated where the whole chain stands.
    pub(crate) fn argument(
        &mut self,
        call: &'t Call,
        number: usize,
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        match call.arguments.get(number) {
            Some(argument) => self.evaluate(*argument, scope.this, scope),
            None => Ok(Collection::new()),
        }
    }

    fn call(&mut self, call: &'t Call, focus: &[Item<'t>], scope: &Scope<'_, 't>) -> Evaluated<'t> {
        use Function as F;
        self.step(focus.len())?;
        match call.function {
            F::All
            | F::AllFalse
            | F::AllTrue
            | F::AnyFalse
            | F::AnyTrue
            | F::Count
            | F::Distinct
            | F::Empty
            | F::Exists
            | F::IsDistinct
            | F::Not
            | F::SubsetOf
            | F::SupersetOf
            | F::Repeat
            | F::Select
            | F::Where
            | F::Aggregate
            | F::Sort
            | F::First
            | F::Last
            | F::Single
            | F::Skip
            | F::Tail
            | F::Take
            | F::Combine
            | F::Exclude
            | F::Intersect
            | F::Union
            | F::Iif => self.collection(call, focus, scope),
            F::As | F::Is | F::OfType | F::Type => types::call(call, focus),
            F::ConvertsToBoolean
            | F::ConvertsToDate
            | F::ConvertsToDateTime
            | F::ConvertsToDecimal
            | F::ConvertsToInteger
            | F::ConvertsToLong
            | F::ConvertsToQuantity
            | F::ConvertsToString
            | F::ConvertsToTime
            | F::ToBoolean
            | F::ToDate
            | F::ToDateTime
            | F::ToDecimal
            | F::ToInteger
            | F::ToLong
            | F::ToQuantity
            | F::ToString
            | F::ToTime => self.conversion(call, focus, scope),
            F::Matches | F::MatchesFull | F::ReplaceMatches => self.pattern(call, focus, scope),
            F::Contains
            | F::Decode
            | F::Encode
            | F::EndsWith
            | F::Escape
            | F::IndexOf
            | F::Join
            | F::LastIndexOf
            | F::Length
            | F::Lower
            | F::Replace
            | F::Split
            | F::StartsWith
            | F::Substring
            | F::ToChars
            | F::Trim
            | F::Unescape
            | F::Upper => self.string(call, focus, scope),
            F::Abs
            | F::Ceiling
            | F::Exp
            | F::Floor
            | F::Ln
            | F::Log
            | F::Power
            | F::Round
            | F::Sqrt
            | F::Truncate => self.mathematics(call, focus, scope),
            F::Comparable | F::HighBoundary | F::LowBoundary | F::Precision => {
                self.bounds(call, focus, scope)
            }
            F::Children
            | F::Descendants
            | F::Extension
            | F::GetValue
            | F::HasValue
            | F::HtmlChecks
            | F::HtmlChecks2
            | F::CheckModifiers => self.tree(call, focus, scope),
            F::DefineVariable
            | F::Now
            | F::TimeOfDay
            | F::Today
            | F::Trace
            | F::ConformsTo
            | F::MemberOf
            | F::Resolve => self.ask(call, focus, scope),
            F::ElementDefinition | F::Slice | F::SubsumedBy | F::Subsumes => {
                Err(EvaluationError::NotSupported(call.function.name().into()))
            }
        }
    }

    pub(crate) fn is_defined(&self, name: &str) -> bool {
        self.defined.iter().any(|(known, _)| known == name)
    }
    pub(crate) fn define(&mut self, name: Cow<'t, str>, value: Collection<'t>) {
        self.defined.push((name, value));
    }
}

/// The one item of a focus; `None` for an empty one.
///
/// # Errors
/// There are several.
pub(crate) fn single<'i, 't>(
    items: &'i [Item<'t>],
    operation: &'static str,
) -> Result<Option<&'i Item<'t>>, EvaluationError> {
    match items {
        [] => Ok(None),
        [item] => Ok(Some(item)),
        _ => Err(EvaluationError::NotSingle { operation, count: items.len() }),
    }
}

/// An operation that cannot take this item.
pub(crate) fn wrong_type(operation: &'static str, item: &Item<'_>) -> EvaluationError {
    let of = item.type_info();
    let found = if of.name.is_empty() { "Element" } else { of.name };
    EvaluationError::WrongType { operation, found: found.into() }
}
