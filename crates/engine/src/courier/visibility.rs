//! When an empty answer may be believed: pure, one function.

use std::time::Duration;

use fhir::Instant;

use crate::Timing;
use crate::clock::elapsed;

/// Whether this certificate is shown what the authority has of ours. An empty answer alone proves
/// nothing: to a certificate without access everything is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// It is shown another report of this journal, which was sent after the doubt began: the search
    /// shows that time.
    Ours,
    /// It is shown reports of this journal, all of them sent before the doubt began. That proves
    /// access; a search that has stood still since shows as much.
    Earlier,
    /// The authority has accepted nothing of ours that it could show. What it shows of others
    /// proves nothing.
    NothingYet,
    /// It is not shown what the authority has accepted from us: it has lost its access.
    Lost,
    /// Not asked, or in vain.
    Unknown,
}

/// The search for one report in doubt that came back empty, and what was seen around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EmptyAnswer {
    /// Empty answers so far, this one included.
    pub(crate) asked: u32,
    /// Since the first of them, by the authority's clock; `None` where it tells no time.
    pub(crate) by_authority: Option<Duration>,
    /// Time in doubt by our own clocks.
    pub(crate) by_us: Duration,
    /// What was shown before the search …
    pub(crate) before: Visibility,
    /// … and after it.
    pub(crate) after: Visibility,
    /// Time between those two looks.
    pub(crate) between: Duration,
    /// Another report with the same identifier may be what the authority has.
    pub(crate) shared: bool,
    /// Another copy of the profile may have sent it just now, or may still send it.
    pub(crate) elsewhere: bool,
}

/// What an empty answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Belief {
    /// The authority does not have the report.
    NotReceived,
    /// It does not show it yet: ask again.
    NotYet,
    /// Nothing was learned: this certificate has lost its access.
    NoAccess,
    /// Nothing was learned: whose report is meant cannot be told.
    Ambiguous,
}

impl EmptyAnswer {
    /// Whether the next answer may end a doubt that was asked for so often in vain: then it is
    /// looked before the question what is shown at all.
    pub(crate) fn may_end(asked: u32, timing: &Timing) -> bool {
        asked.saturating_add(1) >= timing.asks_min
    }

    /// The next one, after so many in vain of which the first was given then, both by the
    /// authority's clock. What was looked at after it is still to come.
    pub(crate) fn new(
        (asked, first): (u32, Option<Instant>),
        answered: Option<Instant>,
        before: Visibility,
        shared: bool,
    ) -> Self {
        let since_first = |now| first.map_or(Duration::ZERO, |first| elapsed(first, now));
        Self {
            asked: asked.saturating_add(1),
            by_authority: answered.map(since_first),
            by_us: Duration::ZERO,
            before,
            after: Visibility::Unknown,
            between: Duration::ZERO,
            shared,
            elsewhere: false,
        }
    }

    /// Whether it is worth a look after it what is shown at all, because it may be believed.
    pub(crate) fn wants_second_look(&self, timing: &Timing) -> bool {
        self.is_ripe(timing) && self.before != Visibility::Unknown && !self.shared
    }

    /// The age of the doubt: the smaller of what both clocks say. Where the authority tells no
    /// time, no more than the pauses between our questions add up to.
    fn age(&self, timing: &Timing) -> Duration {
        let limit = || timing.asking(self.asked.saturating_sub(1));
        self.by_us.min(self.by_authority.unwrap_or_else(limit))
    }

    /// Asked often enough and for long enough that what is seen around it decides.
    fn is_ripe(&self, timing: &Timing) -> bool {
        self.asked >= timing.asks_min && self.age(timing) >= timing.doubt_min
    }

    /// What it is worth.
    pub(crate) fn belief(&self, timing: &Timing) -> Belief {
        if !self.is_ripe(timing) {
            return Belief::NotYet;
        }
        if self.shared {
            return Belief::Ambiguous;
        }
        // Access may have been lost and given back in between.
        if self.elsewhere || self.before != self.after || self.between > timing.sight_max {
            return Belief::NotYet;
        }
        match self.after {
            Visibility::Ours => Belief::NotReceived,
            Visibility::Earlier | Visibility::NothingYet
                if self.age(timing) >= timing.doubt_min_unseen =>
            {
                Belief::NotReceived
            }
            Visibility::Earlier | Visibility::NothingYet | Visibility::Unknown => Belief::NotYet,
            Visibility::Lost => Belief::NoAccess,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_an_empty_answer_is_believed() {
        use Belief::{Ambiguous, NoAccess, NotReceived, NotYet};
        use Visibility::{Earlier, Lost, NothingYet, Ours, Unknown};
        let (timing, minutes) = (Timing::default(), |m: u64| Duration::from_secs(m * 60));
        // Asked, minutes by the authority's clock and by ours, seen before and after, minutes
        // between, shared.
        type Row = (u32, Option<u64>, u64, Visibility, Visibility, u64, bool, Belief);
        let rows: &[Row] = &[
            (5, Some(10), 10, Ours, Ours, 0, false, NotReceived),
            (4, Some(99), 99, Ours, Ours, 0, false, NotYet),
            (9, Some(9), 99, Ours, Ours, 0, false, NotYet),
            // The authority's clock leapt, or ours did.
            (9, Some(999), 9, Ours, Ours, 0, false, NotYet),
            (9, Some(9), 999, Ours, Ours, 0, false, NotYet),
            // It tells no time: the pauses between six questions are less than ten minutes, of
            // seven more.
            (7, None, 99, Ours, Ours, 0, false, NotYet),
            (8, None, 99, Ours, Ours, 0, false, NotReceived),
            (8, None, 9, Ours, Ours, 0, false, NotYet),
            // Nothing of ours that could be shown: the long way.
            (9, Some(59), 99, NothingYet, NothingYet, 0, false, NotYet),
            (9, Some(99), 59, NothingYet, NothingYet, 0, false, NotYet),
            (9, Some(60), 60, NothingYet, NothingYet, 0, false, NotReceived),
            // Nothing of ours from after the doubt began: the same.
            (9, Some(59), 99, Earlier, Earlier, 0, false, NotYet),
            (9, Some(60), 60, Earlier, Earlier, 0, false, NotReceived),
            (99, Some(999), 999, Earlier, Ours, 0, false, NotYet),
            // Without access nothing is learned, however long it lasts.
            (99, Some(999), 999, Lost, Lost, 0, false, NoAccess),
            (99, Some(999), 999, Unknown, Unknown, 0, false, NotYet),
            (99, Some(999), 999, Lost, Ours, 0, false, NotYet),
            (99, Some(999), 999, Ours, Lost, 0, false, NotYet),
            (99, Some(999), 999, Unknown, Ours, 0, false, NotYet),
            (99, Some(999), 999, Ours, Ours, 3, false, NotReceived),
            (99, Some(999), 999, Ours, Ours, 4, false, NotYet),
            (99, Some(999), 999, Ours, Ours, 0, true, Ambiguous),
            (5, Some(9), 9, Ours, Ours, 0, true, NotYet),
        ];
        for &(asked, by_authority, by_us, before, after, between, shared, belief) in rows {
            let answer = EmptyAnswer {
                asked,
                by_authority: by_authority.map(minutes),
                by_us: minutes(by_us),
                before,
                after,
                between: minutes(between),
                shared,
                elsewhere: false,
            };
            assert_eq!(answer.belief(&timing), belief, "{answer:?}");
            let elsewhere = EmptyAnswer { elsewhere: true, ..answer }.belief(&timing);
            assert_ne!(elsewhere, NotReceived, "another copy may send {answer:?}");
        }
    }

    #[test]
    fn an_empty_answer_counts_from_the_first_one() {
        let (timing, at) = (Timing::default(), Instant::from_seconds);
        // Asked in vain so far, when first and now by the authority's clock.
        for (asked, first, now, times, by_authority) in [
            (0, None, Some(at(100)), 1, Some(0)),
            (4, Some(at(100)), Some(at(160)), 5, Some(60)),
            (4, Some(at(100)), Some(at(40)), 5, Some(0)),
            (4, Some(at(100)), None, 5, None),
        ] {
            let answer = EmptyAnswer::new((asked, first), now, Visibility::Ours, false);
            assert_eq!(answer.asked, times);
            assert_eq!(answer.by_authority, by_authority.map(Duration::from_secs));
            assert_eq!(answer.belief(&timing), Belief::NotYet, "nothing was looked at after it");
        }
        assert!(!EmptyAnswer::may_end(3, &timing) && EmptyAnswer::may_end(4, &timing));
    }

    #[test]
    fn it_is_looked_after_an_empty_answer_only_where_it_may_be_believed() {
        let (timing, at) = (Timing::default(), Instant::from_seconds);
        for (minutes, before, shared, looks) in [
            (10, Visibility::Ours, false, true),
            (10, Visibility::Lost, false, true),
            (9, Visibility::Ours, false, false),
            (10, Visibility::Unknown, false, false),
            (10, Visibility::Ours, true, false),
        ] {
            let (first, now) = (Some(at(0)), Some(at(minutes * 60)));
            let mut answer = EmptyAnswer::new((9, first), now, before, shared);
            answer.by_us = Duration::from_secs(99 * 60);
            assert_eq!(answer.wants_second_look(&timing), looks, "{answer:?}");
        }
    }
}
