//! What is the same for every item of a loop, so that it need not be evaluated for each.

use crate::function::Function;
use crate::node::{Node, NodeId, Operator, Variable};

/// Both sides of `where(a = b)`, if b is the same for every item. Rules look codes up in maps of
/// hundreds of entries this way, and b is a path of its own.
pub(super) fn comparison(
    nodes: &[Node],
    function: Function,
    arguments: &[NodeId],
) -> Option<(NodeId, NodeId)> {
    let [argument] = arguments else { return None };
    match nodes.get(*argument as usize)? {
        Node::Binary(Operator::Equal, left, right)
            if function == Function::Where && is_fixed(nodes, *right, false) =>
        {
            Some((*left, *right))
        }
        _ => None,
    }
}

/// Whether a node gives the same for every item. `bound` is true inside of a function that sets
/// `$this` anew: what stands there is its own affair.
fn is_fixed(nodes: &[Node], id: NodeId, bound: bool) -> bool {
    let all = |ids: &[NodeId], bound| ids.iter().all(|id| is_fixed(nodes, *id, bound));
    match &nodes[id as usize] {
        Node::Empty | Node::Constant(_) => true,
        // A variable may be set for one item only.
        Node::Variable(variable) => !matches!(variable, Variable::Named(_)),
        Node::This | Node::Member(_) => bound,
        Node::Index | Node::Total => false,
        Node::Chain(steps) => match steps.split_first() {
            Some((first, rest)) => {
                is_fixed(nodes, *first, bound)
                    && rest.iter().all(|step| step_is_fixed(nodes, *step, bound))
            }
            None => true,
        },
        Node::Call(_) | Node::Indexer(_) => bound && step_is_fixed(nodes, id, bound),
        Node::Negated(of) | Node::Positive(of) | Node::Is(of, _) | Node::As(of, _) => {
            is_fixed(nodes, *of, bound)
        }
        Node::And(of) | Node::Or(of) | Node::Union(of) => all(of, bound),
        Node::Binary(_, left, right) => all(&[*left, *right], bound),
    }
}

/// Whether a step adds nothing that differs from item to item.
fn step_is_fixed(nodes: &[Node], id: NodeId, bound: bool) -> bool {
    match &nodes[id as usize] {
        Node::Member(_) => true,
        Node::Indexer(index) => is_fixed(nodes, *index, bound),
        Node::Call(call) => {
            use Function as F;
            let sets_this = matches!(call.function, F::Where | F::Select | F::Exists | F::All);
            // What `trace` shows and `defineVariable` sets would be seen once instead of often.
            !matches!(call.function, F::Trace | F::DefineVariable)
                && call.arguments.iter().all(|of| is_fixed(nodes, *of, bound || sets_this))
        }
        _ => is_fixed(nodes, id, bound),
    }
}
