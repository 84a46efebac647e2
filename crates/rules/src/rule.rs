//! Invariants: each distinct one is kept once, parsed once, and known by its number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fhirpath::Expression;

use crate::definition::Constraint;
use crate::facts;

/// An invariant.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Its number in the set.
    pub(crate) number: u32,
    pub(crate) key: Arc<str>,
    pub(crate) is_error: bool,
    pub(crate) human: String,
    /// The expression as it was published.
    pub(crate) published: Arc<str>,
    pub(crate) how: How,
}

/// How it is decided.
#[derive(Debug)]
pub(crate) enum How {
    /// By code of ours: what FHIRPath says slowly or badly.
    Native(facts::Native),
    /// By FHIRPath; `None` where the text is none.
    Expression { text: String, parsed: OnceLock<Option<Expression>> },
}

type Known = HashMap<(String, String, bool), Arc<Rule>>;

/// All invariants of a set.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    known: Mutex<Known>,
}

impl Rules {
    /// The rule of a constraint; `None` where nothing is to be evaluated.
    pub(crate) fn of(&self, constraint: &Constraint) -> Option<Arc<Rule>> {
        if constraint.expression.is_empty() || constraint.best_practice {
            return None;
        }
        let how = facts::instead(&constraint.key, &constraint.expression);
        let how = match how {
            facts::Instead::Skip => return None,
            facts::Instead::Native(native) => How::Native(native),
            facts::Instead::Text(text) => How::Expression { text, parsed: OnceLock::new() },
        };
        Some(self.keep(&constraint.key, &constraint.expression, constraint, how))
    }

    /// A rule of the context of an extension.
    pub(crate) fn of_context(&self, expression: &str) -> Arc<Rule> {
        let constraint = Constraint {
            key: "context-invariant".to_owned(),
            severity: "error".to_owned(),
            human: expression.to_owned(),
            expression: expression.to_owned(),
            best_practice: false,
        };
        let how = How::Expression { text: expression.to_owned(), parsed: OnceLock::new() };
        self.keep(&constraint.key, expression, &constraint, how)
    }

    fn keep(&self, key: &str, expression: &str, of: &Constraint, how: How) -> Arc<Rule> {
        let is_error = of.severity == "error";
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let number = known.len() as u32;
        let entry = known.entry((key.to_owned(), expression.to_owned(), is_error));
        let make = || {
            let human = of.human.clone();
            let published = expression.into();
            Arc::new(Rule { number, key: key.into(), is_error, human, published, how })
        };
        entry.or_insert_with(make).clone()
    }
}

impl Rule {
    /// Whether it can be decided by anything.
    pub(crate) fn is_readable(&self) -> bool {
        matches!(self.how, How::Native(_)) || self.expression().is_some()
    }

    /// The expression, parsed at first use.
    pub(crate) fn expression(&self) -> Option<&Expression> {
        match &self.how {
            How::Native(_) => None,
            How::Expression { text, parsed } => {
                parsed.get_or_init(|| Expression::parse(text).ok()).as_ref()
            }
        }
    }
}
