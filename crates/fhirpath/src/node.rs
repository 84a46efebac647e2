//! What an expression consists of.

use std::sync::OnceLock;

use fhir::ElementName;
use regex::Regex;

use crate::function::Function;
use crate::item::Item;
use crate::typename::TypeName;

/// Number of a node in its expression.
pub(crate) type NodeId = u32;

#[derive(Debug)]
pub(crate) enum Node {
    /// The empty collection, `{}`.
    Empty,
    /// A literal.
    Constant(Item<'static>),
    This,
    Index,
    Total,
    Variable(Variable),
    /// A child by name.
    Member(Member),
    /// What each step does to the result of the one before.
    Chain(Box<[NodeId]>),
    Call(Call),
    /// An item by its number, `[…]`.
    Indexer(NodeId),
    Negated(NodeId),
    /// `+x`: x, if that is a number.
    Positive(NodeId),
    And(Box<[NodeId]>),
    Or(Box<[NodeId]>),
    Union(Box<[NodeId]>),
    Binary(Operator, NodeId, NodeId),
    Is(NodeId, TypeName),
    As(NodeId, TypeName),
}

/// A name in a path.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) text: Box<str>,
    /// `None` if no type of FHIR R4 has such an element.
    pub(crate) name: Option<ElementName>,
    /// It begins a path and with a capital letter: the type of the focus may be meant.
    pub(crate) may_be_type: bool,
}

/// A function with its arguments.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) function: Function,
    pub(crate) arguments: Box<[NodeId]>,
    /// Of `is`, `as`, `ofType`.
    pub(crate) of_type: Option<TypeName>,
    /// Of `where(a = b)` both sides, if b is the same for every item: it is evaluated once.
    pub(crate) fixed: Option<(NodeId, NodeId)>,
    /// The regular expression, if it is a literal and once it has been used.
    pub(crate) pattern: OnceLock<Option<Regex>>,
}

#[derive(Debug)]
pub(crate) enum Variable {
    Context,
    Resource,
    RootResource,
    /// `%sct`, `%ucum`, `%vs-…`: what it stands for.
    Known(Box<str>),
    /// Set by the caller or by `defineVariable`.
    Named(Box<str>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Implies,
    Xor,
    In,
    Contains,
    Equal,
    NotEqual,
    Equivalent,
    NotEquivalent,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Concatenate,
    Times,
    Divide,
    Div,
    Mod,
}

impl Operator {
    /// As written, for errors.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Implies => "implies",
            Self::Xor => "xor",
            Self::In => "in",
            Self::Contains => "contains",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Equivalent => "~",
            Self::NotEquivalent => "!~",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Concatenate => "&",
            Self::Times => "*",
            Self::Divide => "/",
            Self::Div => "div",
            Self::Mod => "mod",
        }
    }
}
