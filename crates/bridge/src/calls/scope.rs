//! Where and when a command may be asked: of which room it speaks, and whether a locked window answers it.

use super::Call;

impl Call {
    /// Whether a locked window may ask it (decision 0005).
    pub(crate) fn is_for_the_locked(&self) -> bool {
        matches!(self, Self::Status {} | Self::Preferences {} | Self::Lock {} | Self::Unlock { .. })
    }

    /// Whether it takes in reports, names them by number, or says what becomes of all of one room.
    pub(super) fn is_of_one_room(&self) -> bool {
        match self {
            Self::List { query, .. } | Self::ListCounts { query } => query.ids.is_some(),
            Self::Detail { .. }
            | Self::Batch { .. }
            | Self::Matching { .. }
            | Self::Chosen { .. }
            | Self::Decide { .. }
            | Self::SavedViews {}
            | Self::KeepView { .. }
            | Self::ForgetView { .. }
            | Self::Deadlines {}
            | Self::SetDeadlines { .. }
            | Self::InspectFiles { .. }
            | Self::InspectText { .. }
            | Self::HandOver { .. }
            | Self::HoldBack { .. }
            | Self::Release { .. }
            | Self::Withdraw { .. }
            | Self::SayReceived { .. }
            | Self::SayNotReceived { .. }
            | Self::Resubmit { .. }
            | Self::CorrectWithFile { .. }
            | Self::CorrectWithText { .. }
            | Self::LookAtDraft { .. }
            | Self::KeepDraft { .. }
            | Self::Draft { .. }
            | Self::CauseFields { .. }
            | Self::FixPreview { .. }
            | Self::Fix { .. }
            | Self::Rules {}
            | Self::ImportRules { .. }
            | Self::PlanRules { .. }
            | Self::UseRules { .. }
            | Self::RemoveRules { .. }
            | Self::SetPaused { .. }
            | Self::SetAttentionDays { .. }
            | Self::SetWatchedFolder { .. }
            | Self::WatchWhatComes { .. }
            | Self::LeftLying {}
            | Self::LostReports { .. }
            | Self::AskAuthority { .. }
            | Self::AskFurther { .. }
            | Self::AcknowledgeNotice { .. } => true,
            _ => false,
        }
    }
}
