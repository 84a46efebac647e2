//! A compiled expression.

use crate::error::{EvaluationError, SyntaxError};
use crate::evaluate::{self, Run};
use crate::item::{Collection, Item};
use crate::node::{Node, NodeId};
use crate::{Context, parser};

/// An expression, parsed once: a flat tree that many threads may evaluate at a time.
#[derive(Debug)]
pub struct Expression {
    text: Box<str>,
    nodes: Box<[Node]>,
    root: NodeId,
}

impl Expression {
    /// Parses and compiles.
    ///
    /// # Errors
    /// It is not FHIRPath, or nested beyond 100 levels or longer than 64 KiB.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let (nodes, root) = parser::parse(text)?;
        Ok(Self { text: text.into(), nodes: nodes.into(), root })
    }
    /// The expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }
    pub(crate) fn root(&self) -> NodeId {
        self.root
    }
    /// Evaluates it on a collection, mostly of one item.
    ///
    /// # Errors
    /// It cannot be evaluated, see [`EvaluationError`]. That is never a pass.
    pub fn evaluate<'t>(
        &'t self,
        context: &Context<'_, 't>,
        focus: &[Item<'t>],
    ) -> Result<Collection<'t>, EvaluationError> {
        Run::new(&self.nodes, context).whole(self.root, focus)
    }
    /// Whether an invariant with this expression holds: nothing means that it does not; one boolean
    /// means what it says; anything else means that it does. So does HL7's validator.
    ///
    /// # Errors
    /// As [`Self::evaluate`]; the invariant has failed then.
    pub fn holds<'t>(
        &'t self,
        context: &Context<'_, 't>,
        focus: &[Item<'t>],
    ) -> Result<bool, EvaluationError> {
        Ok(evaluate::holds(&self.evaluate(context, focus)?))
    }
}
