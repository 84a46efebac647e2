//! How a report stands to its deadline, as it is counted and as the list is narrowed by it.

/// How a report stands to its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timeliness {
    /// The authority had it in time.
    Kept,
    /// The authority had it later.
    Late,
    /// The authority does not have it, and the time is over.
    Overdue,
    /// The authority does not have it, and there is time left.
    Running,
}

impl Timeliness {
    /// All of them, the most urgent first.
    pub(crate) const ALL: [Self; 4] = [Self::Overdue, Self::Running, Self::Late, Self::Kept];

    /// As it is written for the window.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Late => "late",
            Self::Overdue => "overdue",
            Self::Running => "running",
        }
    }

    pub(crate) fn of(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|timeliness| timeliness.code() == code)
    }
}
