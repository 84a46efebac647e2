//! From bytes to a candidate: recognised, read, checked, known or not. Pure but for the clock's
//! `now`.

pub(crate) mod relation;
pub(crate) mod rules_in_use;
pub(crate) mod source;
pub(crate) mod submissions;
pub(crate) mod take;
pub(crate) mod wrappings;

use exchange::{Wrapping, check_before_seal, envelope_of};
use fhir::{Element, Finding, Format, Instant, Limits, Severity, Tree};
use report::{Kind, SubmissionId, Summary, digest, recognise};

use crate::intake::relation::Relation;
use crate::intake::source::{Piece, Refusal};

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

/// What a file says: its document, bare or in an envelope. An export makes a new envelope each
/// time, with another identifier and date, so these are no other content. What is wrong with an
/// envelope counts: the file that mends it must not be taken for the one that is held.
pub(crate) fn content_digest(tree: &Tree) -> String {
    let (document, of_envelope) = match envelope_of(tree) {
        Some(view) => (view.document, check_before_seal(tree)),
        None => (tree.root(), Vec::new()),
    };
    digest_of(tree, document, &tree.check(), &of_envelope)
}

fn digest_of(
    tree: &Tree,
    document: Element<'_>,
    base: &[Finding],
    of_envelope: &[Finding],
) -> String {
    let all: Vec<Finding> = base.iter().chain(of_envelope).cloned().collect();
    tree.canonical_digest_of(document, &all)
}

/// Recognises, reads and checks one piece. `known` answers with the submissions of the same
/// content.
pub(crate) fn look_at(piece: Piece, now: Instant) -> Candidate {
    let Piece { name, content } = piece;
    let refused = |kind, reason| Candidate {
        name: name.clone(),
        kind,
        verdict: Verdict::Refused(reason),
        findings: Vec::new(),
    };
    let bytes = match content {
        Ok(bytes) => bytes,
        Err(refusal) => return refused(None, Reason::Source(refusal)),
    };
    let kind = recognise(&bytes);
    let Some(format) = kind.is_report() else {
        return refused(Some(kind.clone()), Reason::NotAReport(kind));
    };
    let tree = match Tree::read(&bytes, format, &Limits::default()) {
        Ok(tree) => tree,
        Err(finding) => return refused(Some(kind), Reason::Unreadable(finding)),
    };
    let envelope = envelope_of(&tree);
    let document = match (&envelope, tree.root().resource_type()) {
        (Some(view), _) => view.document,
        // Whatever its type: a Bundle that was meant as a document is held, and the finding says
        // why.
        (None, Some("Bundle")) => tree.root(),
        _ => return refused(Some(kind.clone()), Reason::NotAReport(kind)),
    };
    let base = tree.check();
    let of_envelope = envelope.as_ref().map(|_| check_before_seal(&tree)).unwrap_or_default();
    let canonical = digest_of(&tree, document, &base, &of_envelope);
    let mut findings: Vec<(Origin, Finding)> =
        base.into_iter().map(|finding| (Origin::Base, finding)).collect();
    let mut local = report::check(document, now);
    local.extend(of_envelope);
    findings.extend(local.into_iter().map(|finding| (Origin::Local, finding)));
    let summary = Summary::of(document);
    let envelope_identifier = envelope.and_then(|view| view.identifier).map(str::to_owned);
    let parsed = Parsed {
        digest: digest(&bytes),
        canonical,
        format,
        wrapping: Wrapping::of(&tree).ok(),
        summary,
        envelope_identifier,
        compared_for: None,
        known: Vec::new(),
        elsewhere: None,
        relation: None,
        bytes,
    };
    Candidate { name, kind: Some(kind), verdict: Verdict::Report(Box::new(parsed)), findings }
}
