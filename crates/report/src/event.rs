//! What happened to a submission. Events are stored for ever and replayed: variants and fields are
//! only ever added.

use fhir::Instant;
use serde::{Deserialize, Serialize};

use crate::SubmissionId;

/// Who acted: the system user, e.g. `anna@lab-pc-7`, and the part of the program. `Debug` does not
/// say.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Person(pub String);

fhir::shows_only!(Person {});

/// One step in the life of a submission. `Debug` leaves out what people wrote.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Event {
    /// Taken into the journal and waiting to be sent from `due` on.
    Queued {
        /// Not before.
        due: Instant,
    },
    /// Taken into the journal and stopped: local errors, or a person wants to look first.
    Held,
    /// A person released a held report although something was found.
    Released {
        /// Why, in the person's words.
        reason: String,
        /// Not before.
        due: Instant,
    },
    /// A person stopped a report that has never been sent (undo).
    HeldBack,
    /// Written before the first byte leaves.
    SendingStarted {
        /// When the attempt began.
        since: Instant,
    },
    /// The attempt did not get through to the authority, or was refused on the way; try again.
    Deferred {
        /// Not before.
        due: Instant,
        /// Code of the fault.
        why: String,
    },
    /// The attempt may or may not have been delivered; after a restore also one that the journal
    /// forgot.
    Doubted {
        /// Since when.
        since: Instant,
        /// When to ask first.
        due: Instant,
        /// Code of the fault.
        why: String,
    },
    /// Asked by identifier; the authority does not show it (yet).
    AskedInVain {
        /// When to ask next.
        due: Instant,
        /// The authority's clock when it answered: ours may be set meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered: Option<Instant>,
    },
    /// Not sent yet: another report that it must not stand beside may be with the authority, which
    /// does not show that one, and may still do so. What it corrects, the same report, or another
    /// version of it.
    OtherNotShown {
        /// Which one.
        of: SubmissionId,
        /// When to ask next.
        due: Instant,
        /// The authority's clock when it answered: ours may be set meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered: Option<Instant>,
    },
    /// Could not be asked (connection), or the answer says nothing about it; nothing was learned.
    NotAnswered {
        /// When to ask next.
        due: Instant,
        /// Code of the fault.
        why: String,
        /// An answer came that says nothing: it was asked for in vain all the same.
        #[serde(default, skip_serializing_if = "is_false")]
        in_vain: bool,
        /// It has been in progress for so long that a person is needed, whatever keeps it from
        /// being read.
        #[serde(default, skip_serializing_if = "is_false")]
        late: bool,
    },
    /// Asked often enough over time: it was not received. The same identifier is sent again.
    NotReceived {
        /// Not before.
        due: Instant,
    },
    /// The authority has it.
    Accepted {
        /// The authority's id.
        receipt: String,
        /// Since when.
        since: Instant,
        /// When to read it by id if no search shows it.
        due: Instant,
    },
    /// Read by id: still in progress.
    StillInProgress {
        /// When to read it again.
        due: Instant,
    },
    /// Read by id: still in progress, for longer than it should be.
    Overdue {
        /// When to read it again.
        due: Instant,
    },
    /// Read by id: the authority does not show what it has accepted.
    NotFound {
        /// When it was read, by our clock.
        at: Instant,
        /// When to read it again.
        due: Instant,
        /// It has not been shown for so long, or been in progress for so long, that a person is
        /// needed.
        #[serde(default, skip_serializing_if = "is_false")]
        late: bool,
    },
    /// Refused on the way as for want of permission, while other reports were let in.
    TurnedAway {
        /// Not before.
        due: Instant,
        /// Code of the fault.
        why: String,
    },
    /// Turned away so often that a person is needed.
    HeldAfterRefusals {
        /// Code of the last fault.
        why: String,
    },
    /// A person says that the authority has it; nothing more is done about it.
    SaidReceived {
        /// Who told them, in the person's words.
        reason: String,
    },
    /// A person says that the authority has it and has not finished: it is waited for.
    StillExpected {
        /// Who told them, in the person's words.
        reason: String,
        /// When, by our clock.
        at: Instant,
    },
    /// A person says that the authority does not have it: the same identifier is sent again.
    SaidNotReceived {
        /// Who told them, in the person's words.
        reason: String,
        /// Not before.
        due: Instant,
    },
    /// The authority processed it.
    Completed {
        /// The authority's id.
        receipt: String,
    },
    /// The authority could not process it and did not store it.
    Failed {
        /// The authority's id.
        receipt: String,
    },
    /// The authority refused it at submission: it never existed there.
    Rejected,
    /// A person decided that it will not be sent (again).
    Withdrawn {
        /// Why, in the person's words.
        reason: String,
    },
    /// A correction or resubmission takes its place.
    Superseded {
        /// The successor.
        by: SubmissionId,
    },
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct(self.code());
        match self {
            Self::Queued { due }
            | Self::NotReceived { due }
            | Self::StillInProgress { due }
            | Self::Overdue { due } => shown.field("due", due).finish(),
            Self::NotFound { at, due, late } => {
                shown.field("at", at).field("due", due).field("late", late).finish()
            }
            Self::OtherNotShown { of, due, answered } => {
                shown.field("of", of).field("due", due).field("answered", answered).finish()
            }
            Self::AskedInVain { due, answered } => {
                shown.field("due", due).field("answered", answered).finish()
            }
            Self::NotAnswered { due, why, in_vain, late } => shown
                .field("due", due)
                .field("why", why)
                .field("in_vain", in_vain)
                .field("late", late)
                .finish(),
            Self::Deferred { due, why } | Self::TurnedAway { due, why } => {
                shown.field("due", due).field("why", why).finish()
            }
            Self::StillExpected { at, .. } => shown.field("at", at).finish_non_exhaustive(),
            Self::HeldAfterRefusals { why } => shown.field("why", why).finish(),
            Self::Doubted { since, due, why } => {
                shown.field("since", since).field("due", due).field("why", why).finish()
            }
            Self::Accepted { receipt, since, due } => {
                shown.field("receipt", receipt).field("since", since).field("due", due).finish()
            }
            Self::Completed { receipt } | Self::Failed { receipt } => {
                shown.field("receipt", receipt).finish()
            }
            Self::SendingStarted { since } => shown.field("since", since).finish(),
            Self::Superseded { by } => shown.field("by", by).finish(),
            Self::Released { due, .. } | Self::SaidNotReceived { due, .. } => {
                shown.field("due", due).finish_non_exhaustive()
            }
            Self::Withdrawn { .. } | Self::SaidReceived { .. } => shown.finish_non_exhaustive(),
            Self::Held | Self::HeldBack | Self::Rejected => shown.finish(),
        }
    }
}

impl Event {
    /// [`Event::Doubted::why`] where the authority refused what it may have accepted before: only
    /// once it does not show the report either was it rejected.
    pub const WHY_REFUSED: &str = "refused";

    /// Stable code, as stored and shown in timelines.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Queued { .. } => "queued",
            Self::Held => "held",
            Self::Released { .. } => "released",
            Self::HeldBack => "held-back",
            Self::SendingStarted { .. } => "sending-started",
            Self::Deferred { .. } => "deferred",
            Self::Doubted { .. } => "doubted",
            Self::AskedInVain { .. } => "asked-in-vain",
            Self::OtherNotShown { .. } => "other-not-shown",
            Self::NotAnswered { .. } => "not-answered",
            Self::NotReceived { .. } => "not-received",
            Self::Accepted { .. } => "accepted",
            Self::StillInProgress { .. } => "still-in-progress",
            Self::Overdue { .. } => "overdue",
            Self::NotFound { .. } => "not-found",
            Self::TurnedAway { .. } => "turned-away",
            Self::HeldAfterRefusals { .. } => "held-after-refusals",
            Self::SaidReceived { .. } => "said-received",
            Self::StillExpected { .. } => "still-expected",
            Self::SaidNotReceived { .. } => "said-not-received",
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Rejected => "rejected",
            Self::Withdrawn { .. } => "withdrawn",
            Self::Superseded { .. } => "superseded",
        }
    }
}
