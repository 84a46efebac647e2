//! What a file is found to be: a report with what is wrong with it and whether it is known, or
//! something else.

use exchange::Wrapping;
use fhir::{Difference, Finding, Format, Instant, Severity};
use report::{Kind, StateCode, SubmissionId, Summary};

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
    /// The newest submission of all when it was compared.
    pub compared_through: SubmissionId,
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

/// Why a source gives no bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing there (any more).
    NotFound,
    /// The operating system does not let us read it.
    NotReadable {
        /// Its reason, e.g. `permission denied`.
        reason: String,
    },
    /// A pipe, a device, a socket.
    NotAFile,
    /// No bytes.
    Empty,
    /// Beyond the limit.
    TooLarge {
        /// Size, bytes.
        bytes: u64,
        /// Limit, bytes.
        bytes_max: u64,
    },
    /// It changed while it was read.
    StillChanging,
    /// A fault kept it from being looked at, from being compared with what the journal knows, or
    /// from being taken in.
    NotTakenIn,
    /// A folder or archive without anything in it.
    NothingInside,
    /// A link to a folder, inside a folder: it may lead round in a circle.
    LinkNotFollowed,
    /// A folder with more files, or a file with more lines, than are taken at once.
    TooManyInside {
        /// How many reports one file may hold.
        pieces_max: usize,
    },
    /// An archive that cannot be opened (damaged, encrypted, nested, too many entries, two of one
    /// name).
    Archive {
        /// Stable reason.
        reason: &'static str,
    },
}

impl Refusal {
    /// Stable code in kebab-case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "file-not-found",
            Self::NotReadable { .. } => "file-not-readable",
            Self::NotAFile => "not-a-file",
            Self::Empty => "file-empty",
            Self::TooLarge { .. } => "file-too-large",
            Self::StillChanging => "file-changing",
            Self::NotTakenIn => "file-not-taken-in",
            Self::NothingInside => "nothing-inside",
            Self::LinkNotFollowed => "link-not-followed",
            Self::TooManyInside { .. } => "too-many-inside",
            Self::Archive { .. } => "archive",
        }
    }

    /// Whether the same file may be readable at another time: somebody holds it, moves it or writes
    /// to it.
    pub const fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::NotFound | Self::NotReadable { .. } | Self::StillChanging | Self::NotTakenIn
        )
    }
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

    /// Whether what was refused may be, or hold, a report all the same.
    pub const fn may_hide_a_report(&self) -> bool {
        match self {
            Self::NotAReport(_) => false,
            Self::Unreadable(_) => true,
            Self::Source(refusal) => matches!(
                refusal,
                Refusal::NotReadable { .. }
                    | Refusal::TooLarge { .. }
                    | Refusal::StillChanging
                    | Refusal::NotTakenIn
                    | Refusal::TooManyInside { .. }
                    | Refusal::Archive { .. }
            ),
        }
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

/// The submission whose document has the same identifier and another content.
#[derive(Clone, PartialEq)]
pub struct Relation {
    /// The earlier report.
    pub submission: SubmissionId,
    /// Its document identifier: that of this one, or of what this one takes the place of.
    pub identifier: Option<String>,
    /// Its state, as the journal keeps it.
    pub state: StateCode,
    /// Its last event.
    pub at: Instant,
    /// Whether the report is a correction that takes its place when it is sent: it failed, was
    /// rejected or is held, and both are about the same case. Else it is on its way or was
    /// completed, or it is another case, or the report is older.
    pub corrects: bool,
    /// Which of the two is the older version.
    pub age: Age,
    /// Where the two differ; empty where the earlier content is not kept any more.
    pub differences: Vec<Difference>,
}

// Without the differences: they are the content.
fhir::shows_only!(Relation { submission, state, at, corrects, age });

/// How old a report is beside another one about the same case: files come late, and in another
/// order than they were made in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// Not older as far as is known, or another case.
    NotOlder,
    /// Dated before the other one, by what the two documents say.
    Older,
    /// A content that goes once more, after which the other one was taken in, or what takes the
    /// place of an older one; it is not dated after the other one.
    Overtaken,
}

impl Age {
    /// Whether the other one is what the authority is to go by.
    pub fn is_older(self) -> bool {
        self != Self::NotOlder
    }
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// A new submission.
    New(SubmissionId),
    /// The same content is known; nothing was sent.
    Known(SubmissionId),
    /// Not a report.
    Refused,
    /// It could not be taken in, and may be handed over again: [`crate::HandOver::fault`] says
    /// why.
    Failed,
}
