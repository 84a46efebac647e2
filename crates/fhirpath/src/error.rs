//! What can go wrong, typed by what the caller may do next. Errors name types, functions and places
//! of the expression, never a value of the document.

/// An expression that is not FHIRPath.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not FHIRPath at byte {position}: {reason}")]
pub struct SyntaxError {
    /// Offset of the first byte that does not fit.
    pub position: usize,
    /// What does not fit.
    pub reason: SyntaxReason,
}

/// Why an expression is not FHIRPath.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxReason {
    /// The expression ends where an operand was expected.
    #[error("unexpected end")]
    UnexpectedEnd,
    /// Something else was expected here.
    #[error("unexpected {0}")]
    Unexpected(Box<str>),
    /// A string, a quoted name or a comment that does not end.
    #[error("{0} does not end")]
    Unterminated(&'static str),
    /// A number, a date or a time that does not exist.
    #[error("{0} does not exist")]
    NoSuchValue(&'static str),
    /// A backslash with something behind it that is no escape.
    #[error("unknown escape")]
    UnknownEscape,
    /// No function has this name.
    #[error("unknown function {0}")]
    UnknownFunction(Box<str>),
    /// The function takes another number of arguments.
    #[error("wrong number of arguments for {0}")]
    WrongArguments(&'static str),
    /// Nested or long beyond the limit.
    #[error("too complex")]
    TooComplex,
}

/// An expression that could not be evaluated. For an invariant this means: it has failed, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// The expression uses something that this engine does not do.
    #[error("{0} is not supported")]
    NotSupported(Box<str>),
    /// An operation cannot take a value of this type.
    #[error("{operation} cannot take {found}")]
    WrongType {
        /// Function or operator.
        operation: &'static str,
        /// Type that it was given.
        found: Box<str>,
    },
    /// An operation takes one item and was given several.
    #[error("{operation} takes one item and was given {count}")]
    NotSingle {
        /// Function or operator.
        operation: &'static str,
        /// Number of items that it was given.
        count: usize,
    },
    /// An argument has a value that the function cannot take.
    #[error("argument of {0} not allowed")]
    WrongArgument(&'static str),
    /// No type has this name.
    #[error("unknown type {0}")]
    UnknownType(Box<str>),
    /// No variable has this name.
    #[error("unknown variable %{0}")]
    UnknownVariable(Box<str>),
    /// `conformsTo` was asked for a profile that is not known.
    #[error("unknown profile {0}")]
    UnknownProfile(Box<str>),
    /// The evaluation went beyond a limit.
    #[error("beyond the limit of {0:?}")]
    Limit(Limit),
}

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Steps in all.
    Steps,
    /// Items of one collection.
    Items,
    /// Characters of one text.
    Text,
    /// Nesting of evaluations.
    Depth,
}

impl EvaluationError {
    /// Stable code in kebab-case, for message catalogues.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotSupported(_) => "not-supported",
            Self::WrongType { .. } => "wrong-type",
            Self::NotSingle { .. } => "not-single",
            Self::WrongArgument(_) => "wrong-argument",
            Self::UnknownType(_) => "unknown-type",
            Self::UnknownVariable(_) => "unknown-variable",
            Self::UnknownProfile(_) => "unknown-profile",
            Self::Limit(_) => "limit",
        }
    }
}
