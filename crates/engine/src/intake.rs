//! What a file is found to be: a report with what is wrong with it and whether it is known, or
//! something else.

pub(crate) mod inspect;
pub(crate) mod relation;
pub(crate) mod rules_in_use;
pub(crate) mod source;
pub(crate) mod submissions;
pub(crate) mod take;
pub(crate) mod wrappings;

use exchange::Wrapping;
use fhir::{Finding, Format, Severity};
use report::{Kind, SubmissionId, Summary};

use crate::intake::relation::Relation;
use crate::intake::source::Refusal;

/// A piece looked at: what it is, what is wrong with it, whether it is known.
#[derive(Clone)]
pub struct Candidate {
    /// File name as people know it.
    pub name: String,
    /// What it was recognised as; `None` where it could not be read.
    pub kind: Option<Kind>,
    /// What may become of it.
    pub verdict: Verdict,
    /// Everything found, in document order, with where the finding comes from.
    pub findings: Vec<(Origin, Finding)>,
}

/// Which check a finding comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// FHIR R4 itself.
    Base,
    /// Rules of the report and its envelope.
    Local,
}

/// What may become of a candidate.
#[derive(Clone)]
pub enum Verdict {
    /// A report. Errors among its findings will hold it.
    Report(Box<Parsed>),
    /// Not a report, or not readable.
    Refused(Reason),
}

/// A report that was read.
#[derive(Clone)]
pub struct Parsed {
    /// The bytes as received.
    pub bytes: Vec<u8>,
    /// Their encoding.
    pub format: Format,
    /// SHA-256 of the bytes, hex.
    pub digest: String,
    /// What its document says, whatever its encoding, its white space and its envelope:
    /// `content_digest`.
    pub canonical: String,
    /// What an envelope adds to these bytes; `None` where none can be written around them.
    pub wrapping: Option<Wrapping>,
    /// What people recognise it by.
    pub summary: Summary,
    /// `DocumentReference.identifier` that a ready envelope brings along.
    pub envelope_identifier: Option<String>,
    /// Id of the endpoint that it was compared for: the one in use then.
    pub compared_for: Option<String>,
    /// Submissions of the same content to that endpoint, newest first.
    pub known: Vec<SubmissionId>,
    /// The newest submission of the same content, whichever endpoint it went to.
    pub elsewhere: Option<SubmissionId>,
    /// The submission of another content under the same document identifier, to that endpoint.
    pub relation: Option<Relation>,
}

/// Why a candidate is refused.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// No bytes to look at.
    Source(Refusal),
    /// It is something else: named for what it is.
    NotAReport(Kind),
    /// It looks like FHIR and cannot be read.
    Unreadable(Finding),
}

impl Reason {
    /// Every code of [`Reason::code`].
    pub const CODES: &[&str] = &[
        "file-not-found",
        "file-not-readable",
        "not-a-file",
        "file-empty",
        "file-too-large",
        "file-changing",
        "file-not-taken-in",
        "nothing-inside",
        "link-not-followed",
        "too-many-inside",
        "damaged",
        "encrypted",
        "nested",
        "too-many-entries",
        "too-large-unpacked",
        "two-of-one-name",
        "link-inside",
        "not-a-report",
        "unreadable",
    ];

    /// Stable code in kebab-case; of an archive, what is wrong with it.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Source(Refusal::Archive { reason }) => reason,
            Self::Source(refusal) => refusal.code(),
            Self::NotAReport(_) => "not-a-report",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// Whether the same file may be taken at another time.
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Source(refusal) if refusal.may_pass())
    }
}

impl std::fmt::Debug for Candidate {
    /// Never shows content: a candidate holds patient data.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Candidate({:?}, {} findings)", self.kind, self.findings.len())
    }
}

impl Candidate {
    /// Whether something was found that holds a report.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|(_, finding)| finding.severity == Severity::Error)
    }

    /// The report, unless refused.
    pub fn parsed(&self) -> Option<&Parsed> {
        match &self.verdict {
            Verdict::Report(parsed) => Some(parsed),
            Verdict::Refused(_) => None,
        }
    }
}
