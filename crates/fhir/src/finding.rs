//! What a check has to say about one place of a document.

use serde::{Deserialize, Serialize};

/// How much a finding weighs (FHIR `issue-severity`, without `fatal`, which is an error here).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Holds a report.
    Error,
    /// Shown before sending; never holds a report.
    Warning,
    /// A notice.
    Information,
}

impl Severity {
    /// All, the heaviest first.
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Information];

    /// Stable code in kebab-case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Information => "information",
        }
    }
}

/// A place in the source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters (Unicode scalar values), from 1.
    pub column: u32,
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// One finding: a code with parameters, never prose (texts live in the message catalogues). The
/// parameters may repeat what the document says, so `Debug` leaves them out.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable code in kebab-case, e.g. `unknown-element`.
    pub code: String,
    /// How much it weighs.
    pub severity: Severity,
    /// FHIRPath of the element, e.g. `Bundle.entry[0].resource.status`; empty for the whole text.
    pub expression: String,
    /// Where it stands in the source, if it stands there.
    pub position: Option<Position>,
    /// Parameters of the message, by name.
    pub params: Vec<(String, String)>,
}

crate::shows_only!(Finding { code, severity, expression, position });
