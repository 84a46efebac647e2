//! What checks, backups and restores have to say.

use report::SubmissionId;

/// What a check of the whole journal found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Submissions read.
    pub submissions: u64,
    /// Events replayed.
    pub events: u64,
    /// Documents whose digest was computed and agrees.
    pub digests_ok: u64,
    /// Everything that does not agree; empty in a sound journal.
    pub problems: Vec<Discrepancy>,
}

/// One thing that does not agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discrepancy {
    /// What does not agree.
    pub kind: DiscrepancyKind,
    /// Whose, where it belongs to one submission.
    pub id: Option<SubmissionId>,
    /// Number of the event, where it belongs to one.
    pub event: Option<i64>,
}

/// What does not agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiscrepancyKind {
    /// A page of the file fails its authentication code, or the structure is damaged.
    Pages,
    /// Replaying the events does not give the stored state.
    Replay,
    /// An event cannot be read.
    Event,
    /// The document's digest is not the recorded one.
    Digest,
    /// The document is missing although retention did not remove it.
    Document,
    /// A body of evidence does not have the recorded digest.
    Evidence,
    /// Completed without the authority's stored answer (R5).
    Unproven,
    /// The chain of events is broken here.
    Chain,
    /// The summary table of counts does not agree.
    Counts,
    /// Events that were confirmed are not there as they were confirmed.
    Anchor,
}

impl DiscrepancyKind {
    /// Stable code in kebab-case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Replay => "replay",
            Self::Event => "event",
            Self::Digest => "digest",
            Self::Document => "document",
            Self::Evidence => "evidence",
            Self::Unproven => "unproven",
            Self::Chain => "chain",
            Self::Counts => "counts",
            Self::Anchor => "anchor",
        }
    }
}

/// A backup that was written and verified.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupFacts {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Submissions in it.
    pub submissions: u64,
    /// Events in it.
    pub events: u64,
}
