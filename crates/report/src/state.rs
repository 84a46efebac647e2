//! Where a submission stands: what is owed and when, what people see of it and what they may do.

use fhir::Instant;
use serde::{Deserialize, Serialize};

/// Number of a submission in its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SubmissionId(pub i64);

/// Where a submission stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum State {
    /// Stopped by local findings, by a person, or because it alone was refused on the way.
    Held {
        /// Requests made so far.
        #[serde(default, skip_serializing_if = "is_zero")]
        attempt: u32,
    },
    /// Waits to be sent.
    Queued {
        /// Requests made so far.
        attempt: u32,
        /// Not before.
        due: Instant,
        /// How often it was turned away while others were let in.
        #[serde(default, skip_serializing_if = "is_zero")]
        refusals: u32,
        /// How many doubts ended with "not received".
        #[serde(default, skip_serializing_if = "is_zero")]
        doubts: u32,
    },
    /// A request is under way (or was, when the process ended).
    Sending {
        /// Number of this request, from 1.
        attempt: u32,
        /// When it began.
        since: Instant,
        /// How often it was turned away while others were let in.
        #[serde(default, skip_serializing_if = "is_zero")]
        refusals: u32,
        /// How many doubts ended with "not received".
        #[serde(default, skip_serializing_if = "is_zero")]
        doubts: u32,
    },
    /// The last request may have been delivered: ask before sending again.
    Unknown {
        /// Requests made so far.
        attempt: u32,
        /// In doubt since.
        since: Instant,
        /// Empty answers so far.
        asked: u32,
        /// When to ask.
        due: Instant,
        /// The authority's clock at the first empty answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        empty_since: Option<Instant>,
        /// The last request was refused: if the authority does not show the report either, it was
        /// rejected.
        #[serde(default, skip_serializing_if = "is_false")]
        refused: bool,
        /// How many doubts before this one ended with "not received".
        #[serde(default, skip_serializing_if = "is_zero")]
        doubts: u32,
    },
    /// The authority has accepted it and not finished.
    InProgress {
        /// The authority's id.
        receipt: String,
        /// Accepted at.
        since: Instant,
        /// When to read it by id if no search shows it.
        due: Instant,
        /// Since when reads by id have not found it, by our clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_found_since: Option<Instant>,
        /// It takes so long, or has not been found for so long, that a person is needed.
        #[serde(default, skip_serializing_if = "is_false")]
        overdue: bool,
        /// When a person last said that the authority has it and has not finished: from then on it
        /// counts how long it takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<Instant>,
    },
    /// Processed by the authority.
    Completed {
        /// The authority's id.
        receipt: String,
    },
    /// Refused at submission; it never existed at the authority.
    Rejected,
    /// Not processed; it existed at the authority and was not stored.
    Failed {
        /// The authority's id.
        receipt: String,
    },
    /// Will not be sent.
    Withdrawn {
        /// For a person said that the authority has it.
        #[serde(default, skip_serializing_if = "is_false")]
        received: bool,
    },
    /// Another submission takes its place.
    Superseded {
        /// The successor.
        by: SubmissionId,
    },
}

/// What is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Duty {
    /// POST it.
    Send,
    /// Search by its identifier.
    Ask,
    /// Read it by the authority's id.
    Read,
}

/// The groups people see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// A person must act: held, rejected, failed, long in doubt, overdue.
    NeedsAttention,
    /// Moves on by itself.
    InProgress,
    /// Processed by the authority.
    Completed,
    /// Withdrawn or replaced.
    Closed,
}

/// What a person may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Send although something was found, with a reason.
    Release,
    /// Stop before the next request.
    HoldBack,
    /// Send the same content as a new submission.
    Resubmit,
    /// Send a corrected file in its place.
    Correct,
    /// Not to be sent (again), with a reason.
    Withdraw,
    /// The authority has it, says somebody who knows.
    SayReceived,
    /// The authority does not have it, says somebody who knows: send it again.
    SayNotReceived,
}

/// An event that cannot follow: the state is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Illegal {
    /// Code of the state.
    pub state: &'static str,
    /// Code of the event.
    pub event: &'static str,
}

/// Doubt that lasts longer than this needs a person: 75 minutes. A doubt in a laboratory that sends
/// nothing else ends by itself 69 minutes after it began, with the first question after an hour.
pub const DOUBT_LONG_SECONDS: i64 = 4_500;

/// So many empty answers need a person too, whatever our clock says: it may have been set back by
/// days. The pauses between them add up to 69 minutes.
const ASKED_OFTEN: u32 = 12;

/// A report whose delivery ended in doubt and was not received so often needs a person: perhaps it
/// always will.
const DOUBTED_OFTEN: u32 = 3;

/// Then a person is asked ten minutes after the last request: what they have heard of the ones
/// before says nothing of one that the authority may be storing now.
const DOUBTED_OFTEN_SECONDS: i64 = 600;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl State {
    /// What is owed, and from when.
    pub fn duty(&self) -> Option<(Instant, Duty)> {
        match self {
            Self::Queued { due, .. } => Some((*due, Duty::Send)),
            Self::Unknown { due, .. } => Some((*due, Duty::Ask)),
            Self::InProgress { due, .. } => Some((*due, Duty::Read)),
            _ => None,
        }
    }

    /// The group that people see it in.
    pub fn group(&self, now: Instant) -> Group {
        if self.shown().may_take_too_long() && self.is_overdue(now) {
            return Group::NeedsAttention;
        }
        self.shown().group()
    }

    /// In doubt or in progress for so long that a person is needed.
    pub fn is_overdue(&self, now: Instant) -> bool {
        match self {
            Self::InProgress { overdue, .. } => *overdue,
            _ => self
                .unclear_since()
                .is_some_and(|since| since <= now.plus_seconds(-DOUBT_LONG_SECONDS)),
        }
    }

    /// Since when it is in doubt; for ever where it was asked for in vain so often that time does
    /// not matter any more; so much earlier where it was sent and not received so often that it
    /// needs a person sooner. Of one that is overdue, since when it is in progress. Journals count
    /// by it.
    pub fn unclear_since(&self) -> Option<Instant> {
        match self {
            Self::Unknown { asked: ASKED_OFTEN.., .. } => Some(Instant(i64::MIN)),
            Self::Unknown { doubts: DOUBTED_OFTEN.., since, .. } => {
                Some(since.plus_seconds(DOUBTED_OFTEN_SECONDS - DOUBT_LONG_SECONDS))
            }
            Self::Unknown { since, .. } | Self::InProgress { since, overdue: true, .. } => {
                Some(*since)
            }
            _ => None,
        }
    }

    /// What a person may do now.
    pub fn actions(&self, now: Instant) -> &'static [Action] {
        match self {
            Self::Held { attempt: 0 } => &[Action::Correct, Action::Release, Action::Withdraw],
            Self::Held { .. } => &Self::OF_SENT_AND_HELD,
            Self::Queued { .. } => &[Action::HoldBack, Action::Withdraw],
            Self::Unknown { .. } | Self::InProgress { .. } if self.is_overdue(now) => {
                &[Action::SayReceived, Action::SayNotReceived]
            }
            Self::Rejected | Self::Failed { .. } => {
                &[Action::Correct, Action::Resubmit, Action::Withdraw]
            }
            _ => &[],
        }
    }

    /// What a person may do with a report on hold that the authority may have: send it once more,
    /// or not.
    pub const OF_SENT_AND_HELD: [Action; 4] =
        [Action::Correct, Action::Release, Action::SayReceived, Action::Withdraw];

    /// Nothing follows any more by itself.
    pub fn is_settled(&self) -> bool {
        self.duty().is_none() && !matches!(self, Self::Sending { .. })
    }

    /// It will reach the authority by itself, or a person has yet to decide whether it does.
    pub fn is_undecided(&self) -> bool {
        !self.is_settled() || matches!(self, Self::Held { .. })
    }

    /// Requests made so far, where the state counts them.
    pub fn attempt(&self) -> Option<u32> {
        match self {
            Self::Held { attempt }
            | Self::Queued { attempt, .. }
            | Self::Sending { attempt, .. }
            | Self::Unknown { attempt, .. } => Some(*attempt),
            _ => None,
        }
    }

    /// The authority's id, once known.
    pub fn receipt(&self) -> Option<&str> {
        match self {
            Self::InProgress { receipt, .. }
            | Self::Completed { receipt }
            | Self::Failed { receipt } => Some(receipt),
            _ => None,
        }
    }

    /// All codes, in the order of the life cycle.
    pub const CODES: [&'static str; 10] = [
        "held",
        "queued",
        "sending",
        "unknown",
        "in-progress",
        "completed",
        "rejected",
        "failed",
        "withdrawn",
        "superseded",
    ];
}
