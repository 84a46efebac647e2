//! How far a search for changes got, and where the next one begins: pure.

use std::time::Duration;

use client::{Changes, Why};
use fhir::Instant;

/// So long an entry that cannot be read is asked for again.
const UNREADABLE_SECONDS: i64 = 24 * 3600;

/// How far a search got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SearchCursor {
    /// What changed until then was shown; `None`: nothing can be said.
    until: Option<Instant>,
    /// It was cut off there, and can go on there.
    pub(crate) cut_at: Option<Instant>,
    /// It went on without an overlap where another was cut off, or the next one will: what the
    /// authority shows late may lie before.
    is_part: bool,
}

impl SearchCursor {
    /// Only what was seen counts: nothing may also mean that this certificate has no access just
    /// now. What was cut off counts as far as it goes where it came in the order that was asked
    /// for.
    pub(crate) fn of(changes: &Changes, since: Instant, goes_on: bool) -> Self {
        let shown = || changes.answers.iter().map(|answer| answer.last_updated);
        let newest = shown().flatten().max();
        // One alone shows no order.
        let in_order = shown().all(|at| at.is_some())
            && shown().is_sorted()
            && shown().min().flatten() < newest;
        match changes.incomplete {
            None => Self { until: newest, cut_at: None, is_part: goes_on },
            Some(Why::TooManyPages | Why::ForeignLink) if newest > Some(since) && in_order => {
                Self { until: newest, cut_at: newest, is_part: true }
            }
            Some(_) => Self { until: None, cut_at: None, is_part: goes_on },
        }
    }

    /// Where the next search begins, less the overlap; `None`: where this one did. What could not
    /// be read may be a report of ours, so it is asked for again for a day; then the read by id is
    /// left. No time that the authority has not reached yet: a wrong clock there must not hide what
    /// comes until then.
    pub(crate) fn watermark(
        self,
        before: Option<Instant>,
        changes: &Changes,
        overlap: Duration,
    ) -> Option<Instant> {
        let patience = if changes.unreadable == 0 { 0 } else { UNREADABLE_SECONDS };
        let now = changes.server_time;
        let surely = match (self.is_part, now.or(self.until)) {
            (true, Some(latest)) => minus(latest, overlap),
            _ => Instant(i64::MAX),
        };
        let until = self.until.map(|until| until.plus_seconds(-patience).min(surely));
        let after = before.max(until).map(|after| after.min(now.unwrap_or(after)));
        after.filter(|_| after != before)
    }
}

/// What is told in two ways is asked for again, as what cannot be read is.
pub(crate) fn without_contradictions(mut changes: Changes) -> Changes {
    changes.unreadable += exchange::leave_out_contradictions(&mut changes.answers);
    changes
}

pub(crate) fn minus(at: Instant, duration: Duration) -> Instant {
    at.plus_micros(-i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
}
