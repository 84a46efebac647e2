//! What is said to a laboratory about its document, as it is stored and as it is answered.

use fhir::Severity;
use serde::{Deserialize, Serialize};

/// One message to the laboratory, as stored and as answered.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notice {
    pub(crate) severity: Severity,
    /// FHIR issue-type.
    pub(crate) kind: String,
    /// System and code of the rule.
    pub(crate) rule: Option<(String, String)>,
    /// The rule's words, for the person.
    pub(crate) text: Option<String>,
    /// Detail for whoever mends the sending system.
    pub(crate) diagnostics: Option<String>,
    pub(crate) expression: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
}

fhir::shows_only!(Notice { severity, kind, rule, line, column });

impl Notice {
    /// An error without a place.
    pub(crate) fn error(kind: &str, diagnostics: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            kind: kind.to_owned(),
            rule: None,
            text: None,
            diagnostics: Some(diagnostics.into()),
            expression: None,
            line: None,
            column: None,
        }
    }
}

/// A broken rule as validators of FHIR tell it.
pub(crate) fn constraint_failed(key: &str, text: &str) -> String {
    format!("Constraint failed: {key}: '{text}'")
}
