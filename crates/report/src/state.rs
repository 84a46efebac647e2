//! The life cycle: one function says what may follow what, one says what is owed and when.

use fhir::Instant;
use serde::{Deserialize, Serialize};

use crate::Event;

/// Number of a submission in its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SubmissionId(pub i64);

/// Where a submission stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum State {
    /// Stopped by local findings or by a person.
    Held,
    /// Waits to be sent.
    Queued {
        /// Requests made so far.
        attempt: u32,
        /// Not before.
        due: Instant,
    },
    /// A request is under way (or was, when the process ended).
    Sending {
        /// Number of this request, from 1.
        attempt: u32,
        /// When it began.
        since: Instant,
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
    },
    /// The authority has accepted it and not finished.
    InProgress {
        /// The authority's id.
        receipt: String,
        /// Accepted at.
        since: Instant,
        /// When to read it by id if no search shows it.
        due: Instant,
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
    Withdrawn,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// A person must act: held, rejected, failed, long in doubt.
    NeedsAttention,
    /// Moves on by itself.
    InProgress,
    /// Processed by the authority.
    Completed,
    /// Withdrawn or replaced.
    Closed,
}

/// What a person may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Send although something was found, with a reason.
    Release,
    /// Stop before the first request (undo).
    HoldBack,
    /// Send the same content as a new submission.
    Resubmit,
    /// Send a corrected file in its place.
    Correct,
    /// Not to be sent (again), with a reason.
    Withdraw,
}

/// An event that cannot follow: the state is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Illegal {
    /// Code of the state.
    pub state: &'static str,
    /// Code of the event.
    pub event: &'static str,
}

/// Doubt that lasts longer than this needs a person: 1 hour.
const DOUBT_LONG_SECONDS: i64 = 3_600;

impl State {
    /// The state after the first event of a submission.
    pub fn first(event: &Event) -> Result<Self, Illegal> {
        match event {
            Event::Queued { due } => Ok(Self::Queued { attempt: 0, due: *due }),
            Event::Held => Ok(Self::Held),
            other => Err(Illegal { state: "none", event: other.code() }),
        }
    }

    /// What may follow what. Repeated answers of the authority leave the state as it is; answers never
    /// move a status backwards (R4).
    pub fn apply(&self, event: &Event) -> Result<Self, Illegal> {
        let illegal = || Illegal { state: self.code(), event: event.code() };
        let next = match (self, event) {
            (Self::Held, Event::Released { due, .. }) => Self::Queued { attempt: 0, due: *due },
            (Self::Queued { attempt: 0, .. }, Event::HeldBack) => Self::Held,
            (Self::Queued { attempt, .. }, Event::SendingStarted { since }) => {
                Self::Sending { attempt: attempt.saturating_add(1), since: *since }
            }
            (Self::Sending { attempt, .. }, Event::Deferred { due, .. }) => {
                Self::Queued { attempt: *attempt, due: *due }
            }
            // Not only from `Sending`: after a restore the journal may have forgotten a request, and begins to
            // ask anew whatever it believed.
            (
                Self::Queued { attempt, .. }
                | Self::Sending { attempt, .. }
                | Self::Unknown { attempt, .. },
                Event::Doubted { since, due, .. },
            ) => Self::Unknown {
                attempt: *attempt,
                since: *since,
                asked: 0,
                due: *due,
                empty_since: None,
            },
            (
                Self::Unknown { attempt, since, asked, empty_since, .. },
                Event::AskedInVain { due, answered },
            ) => Self::Unknown {
                attempt: *attempt,
                since: *since,
                asked: asked.saturating_add(1),
                due: *due,
                // Where that clock is set back, time counts from there.
                empty_since: match (*empty_since, *answered) {
                    (Some(first), Some(answered)) => Some(first.min(answered)),
                    (first, answered) => first.or(answered),
                },
            },
            (
                Self::Unknown { attempt, since, asked, empty_since, .. },
                Event::NotAnswered { due, .. },
            ) => Self::Unknown {
                attempt: *attempt,
                since: *since,
                asked: *asked,
                due: *due,
                empty_since: *empty_since,
            },
            (Self::Unknown { attempt, .. }, Event::NotReceived { due }) => {
                Self::Queued { attempt: *attempt, due: *due }
            }
            (Self::Sending { .. }, Event::Rejected) => Self::Rejected,
            (state, Event::Accepted { receipt, since, due }) if state.may_be_delivered() => {
                Self::InProgress { receipt: receipt.clone(), since: *since, due: *due }
            }
            (state, Event::Completed { receipt })
                if state.may_be_delivered() || state.is(receipt) =>
            {
                Self::Completed { receipt: receipt.clone() }
            }
            (state, Event::Failed { receipt }) if state.may_be_delivered() || state.is(receipt) => {
                Self::Failed { receipt: receipt.clone() }
            }
            (Self::InProgress { receipt, since, .. }, Event::StillInProgress { due }) => {
                Self::InProgress { receipt: receipt.clone(), since: *since, due: *due }
            }
            (Self::Held | Self::Rejected | Self::Failed { .. }, Event::Withdrawn { .. }) => {
                Self::Withdrawn
            }
            (Self::Held | Self::Rejected | Self::Failed { .. }, Event::Superseded { by }) => {
                Self::Superseded { by: *by }
            }
            _ => return Err(illegal()),
        };
        Ok(next)
    }

    /// A request has left and no final answer is known: the authority may have it.
    fn may_be_delivered(&self) -> bool {
        match self {
            Self::Sending { .. } | Self::Unknown { .. } => true,
            // Believed not received, and found after all.
            Self::Queued { attempt, .. } => *attempt > 0,
            _ => false,
        }
    }

    /// In progress under this very receipt.
    fn is(&self, receipt: &str) -> bool {
        matches!(self, Self::InProgress { receipt: known, .. } if known == receipt)
    }

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
        match self {
            Self::Held | Self::Rejected | Self::Failed { .. } => Group::NeedsAttention,
            Self::Unknown { since, .. } if since.plus_seconds(DOUBT_LONG_SECONDS) <= now => {
                Group::NeedsAttention
            }
            Self::Queued { .. } | Self::Sending { .. } | Self::Unknown { .. } => Group::InProgress,
            Self::InProgress { .. } => Group::InProgress,
            Self::Completed { .. } => Group::Completed,
            Self::Withdrawn | Self::Superseded { .. } => Group::Closed,
        }
    }

    /// What a person may do now.
    pub fn actions(&self) -> &'static [Action] {
        match self {
            Self::Held => &[Action::Correct, Action::Release, Action::Withdraw],
            Self::Queued { attempt: 0, .. } => &[Action::HoldBack],
            Self::Rejected | Self::Failed { .. } => {
                &[Action::Correct, Action::Resubmit, Action::Withdraw]
            }
            _ => &[],
        }
    }

    /// Nothing follows any more by itself.
    pub fn is_settled(&self) -> bool {
        self.duty().is_none() && !matches!(self, Self::Sending { .. })
    }

    /// Requests made so far, where the state counts them.
    pub fn attempt(&self) -> Option<u32> {
        match self {
            Self::Queued { attempt, .. }
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

    /// Stable code in kebab-case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Queued { .. } => "queued",
            Self::Sending { .. } => "sending",
            Self::Unknown { .. } => "unknown",
            Self::InProgress { .. } => "in-progress",
            Self::Completed { .. } => "completed",
            Self::Rejected => "rejected",
            Self::Failed { .. } => "failed",
            Self::Withdrawn => "withdrawn",
            Self::Superseded { .. } => "superseded",
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
