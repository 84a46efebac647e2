//! The times that events have, by a clock that may have been set meanwhile.

use fhir::Instant;

/// The times of the events after a number, by a clock that may have been set meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTimes {
    /// The earliest of their times.
    pub earliest: Instant,
    /// The latest of their times.
    pub latest: Instant,
    /// Number of the last of them.
    pub last: i64,
}

impl EventTimes {
    /// The times of these events and of those that followed them.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        Self {
            earliest: self.earliest.min(later.earliest),
            latest: self.latest.max(later.latest),
            last: self.last.max(later.last),
        }
    }

    /// The times of both, where there are events of both.
    pub fn of_both(before: Option<Self>, later: Option<Self>) -> Option<Self> {
        match (before, later) {
            (Some(before), Some(later)) => Some(before.and(later)),
            (before, later) => before.or(later),
        }
    }
}
