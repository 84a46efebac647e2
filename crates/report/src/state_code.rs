//! The codes that people and programs read: of a state without what it holds, of a group and of an
//! action.

use serde::{Deserialize, Serialize};

use crate::state::{Action, Group, State};

/// A state without what it holds, as people read it. Nobody reads of a report that the authority
/// has, by a person's word, that it was withdrawn: [`StateCode::SaidReceived`] is a code of its
/// own, although the journal keeps such a report as [`State::Withdrawn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateCode {
    /// The code of [`State::Held`].
    Held,
    /// The code of [`State::Queued`].
    Queued,
    /// The code of [`State::Sending`].
    Sending,
    /// The code of [`State::Unknown`].
    Unknown,
    /// The code of [`State::InProgress`].
    InProgress,
    /// The code of [`State::Completed`].
    Completed,
    /// The code of [`State::Rejected`].
    Rejected,
    /// The code of [`State::Failed`].
    Failed,
    /// [`State::Withdrawn`], not to be sent.
    Withdrawn,
    /// [`State::Withdrawn`], for the authority has it.
    SaidReceived,
    /// The code of [`State::Superseded`].
    Superseded,
}

impl StateCode {
    /// All, in the order of the life cycle.
    pub const ALL: [Self; 11] = [
        Self::Held,
        Self::Queued,
        Self::Sending,
        Self::Unknown,
        Self::InProgress,
        Self::Completed,
        Self::Rejected,
        Self::Failed,
        Self::Withdrawn,
        Self::SaidReceived,
        Self::Superseded,
    ];

    /// Those that the journal keeps, in the order of the life cycle: all but
    /// [`StateCode::SaidReceived`].
    pub const KEPT: [Self; 10] = [
        Self::Held,
        Self::Queued,
        Self::Sending,
        Self::Unknown,
        Self::InProgress,
        Self::Completed,
        Self::Rejected,
        Self::Failed,
        Self::Withdrawn,
        Self::Superseded,
    ];

    /// The codes of [`StateCode::ALL`].
    pub const CODES: [&'static str; 11] = {
        let mut codes = [""; 11];
        let mut at = 0;
        while at < codes.len() {
            codes[at] = Self::ALL[at].code();
            at += 1;
        }
        codes
    };

    /// Stable code in kebab-case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Queued => "queued",
            Self::Sending => "sending",
            Self::Unknown => "unknown",
            Self::InProgress => "in-progress",
            Self::Completed => "completed",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::Withdrawn => "withdrawn",
            Self::SaidReceived => "said-received",
            Self::Superseded => "superseded",
        }
    }

    /// The one of this code.
    pub fn of(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.code() == code)
    }

    /// The code of the state that the journal keeps such a report in ([`State::code`]).
    pub const fn kept_as(self) -> &'static str {
        match self {
            Self::SaidReceived => Self::Withdrawn.code(),
            state => state.code(),
        }
    }

    /// The group of such reports, but for those that [take too long](StateCode::may_take_too_long).
    pub const fn group(self) -> Group {
        match self {
            Self::Held | Self::Rejected | Self::Failed => Group::NeedsAttention,
            Self::Queued | Self::Sending | Self::Unknown | Self::InProgress => Group::InProgress,
            Self::Completed => Group::Completed,
            Self::Withdrawn | Self::SaidReceived | Self::Superseded => Group::Closed,
        }
    }

    /// Whether such a report needs a person once it has been so for too long.
    pub const fn may_take_too_long(self) -> bool {
        matches!(self, Self::Unknown | Self::InProgress)
    }

    /// Whether such a report can be in a group: in its own, and in that of those that take too
    /// long.
    pub fn can_be_in(self, group: Group) -> bool {
        self.group() == group || (self.may_take_too_long() && group == Group::NeedsAttention)
    }

    /// Whether another report may take the place of such a one, as [`State::apply`] has it; a test
    /// compares.
    pub const fn may_be_corrected(self) -> bool {
        matches!(self, Self::Held | Self::Rejected | Self::Failed)
    }

    /// Whether nobody counts on such a report any more: it was withdrawn, or another has taken its
    /// place.
    pub fn is_closed(self) -> bool {
        self.group() == Group::Closed
    }

    /// Whether such a report still moves by itself, towards the authority or there.
    pub fn is_open(self) -> bool {
        self.group() == Group::InProgress
    }
}

impl std::fmt::Display for StateCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.code())
    }
}

impl State {
    /// What people read of it. What the authority has, by a person's word, was not withdrawn in
    /// anybody's eyes.
    pub const fn shown(&self) -> StateCode {
        match self {
            Self::Held { .. } => StateCode::Held,
            Self::Queued { .. } => StateCode::Queued,
            Self::Sending { .. } => StateCode::Sending,
            Self::Unknown { .. } => StateCode::Unknown,
            Self::InProgress { .. } => StateCode::InProgress,
            Self::Completed { .. } => StateCode::Completed,
            Self::Rejected => StateCode::Rejected,
            Self::Failed { .. } => StateCode::Failed,
            Self::Withdrawn { received: false } => StateCode::Withdrawn,
            Self::Withdrawn { received: true } => StateCode::SaidReceived,
            Self::Superseded { .. } => StateCode::Superseded,
        }
    }

    /// Stable code in kebab-case, as the journal keeps it.
    pub const fn code(&self) -> &'static str {
        self.shown().kept_as()
    }
}

impl Group {
    /// All, in the order in which people see them.
    pub const ALL: [Self; 4] =
        [Self::NeedsAttention, Self::InProgress, Self::Completed, Self::Closed];

    /// Stable code in kebab-case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NeedsAttention => "needs-attention",
            Self::InProgress => "in-progress",
            Self::Completed => "completed",
            Self::Closed => "closed",
        }
    }

    /// The one of this code.
    pub fn of(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.code() == code)
    }
}

impl Action {
    /// Every action there is.
    pub const ALL: [Self; 7] = [
        Self::Release,
        Self::HoldBack,
        Self::Resubmit,
        Self::Correct,
        Self::Withdraw,
        Self::SayReceived,
        Self::SayNotReceived,
    ];

    /// The codes of [`Action::ALL`].
    pub const CODES: [&'static str; 7] = {
        let mut codes = [""; 7];
        let mut at = 0;
        while at < codes.len() {
            codes[at] = Self::ALL[at].code();
            at += 1;
        }
        codes
    };

    /// Stable code in kebab-case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::HoldBack => "hold-back",
            Self::Resubmit => "resubmit",
            Self::Correct => "correct",
            Self::Withdraw => "withdraw",
            Self::SayReceived => "say-received",
            Self::SayNotReceived => "say-not-received",
        }
    }
}
