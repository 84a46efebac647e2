//! What a clock that was set back has put off too far: when to look for it, and how far. Pure.

use std::time::Duration;

use fhir::Instant;
use journal::Due;
use report::{Duty, StateCode};

use super::Courier;
use super::queue::QUEUE_MAX;
use crate::ClockReading;

/// Pause between two looks for what a clock that was set back has put off.
pub(crate) const LOOK_FAR_EVERY: Duration = Duration::from_secs(60);
/// What was recorded so much later than now was recorded before the clock was set back.
const AHEAD: Duration = Duration::from_secs(60);
/// Looked up at once after a clock was set back.
const SWEEP_MAX: usize = 50_000;

/// What is remembered of the looks for what was put off too far.
#[derive(Debug)]
pub(super) struct Sweeps {
    /// When all of it was looked for last.
    last: Option<ClockReading>,
    /// Both clocks at the last look at the queue, or when it began: whether one was set back since.
    clocks: ClockReading,
}

impl Sweeps {
    pub(super) fn new(now: ClockReading) -> Self {
        Self { last: None, clocks: now }
    }
}

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sweep {
    /// Longer than this nothing in progress is ever put off.
    longest: Instant,
    /// In each of these states.
    pub(crate) looks: [Look; 3],
}

/// What to look for in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// The state.
    pub(crate) state: StateCode,
    /// Due after this.
    pub(crate) due: Instant,
    /// Or recorded after this.
    pub(crate) recorded: Instant,
    /// So many at once.
    pub(crate) most: usize,
}

impl Courier {
    /// What was put off for longer than anything ever is, or at a time that is still to come: the
    /// clock was set back meanwhile. Looked for every minute, and until nothing is left. Where it
    /// was set back since the last look, all that waits is owed: the breaker keeps whatever pause
    /// was asked for, by whichever clock says more. `None` where it is not time to look.
    pub(crate) fn sweep(&self, now: ClockReading) -> Option<Sweep> {
        let set_back = now.set_back_since(self.sweeps.clocks) > AHEAD;
        if !set_back && self.sweeps.last.is_some_and(|last| now.since(last) < LOOK_FAR_EVERY) {
            return None;
        }
        let timing = &self.timing;
        let pause = timing.asks.iter().copied().max().unwrap_or_default();
        let patience = timing.backoff_max.max(timing.retry_after_max);
        // What no search tells of is read as often as others search.
        let all_searched = self.searches() && self.formerly.is_empty();
        let read = if all_searched { timing.read_max } else { timing.poll_max };
        let recorded = if set_back { Instant(i64::MIN) } else { now.after(AHEAD) };
        let most = if set_back { SWEEP_MAX } else { QUEUE_MAX };
        // Reading all that is in progress at once would be a storm, and searches learn of it
        // anyway.
        let reads = if all_searched { most } else { SWEEP_MAX };
        let look =
            |state, after, recorded, most| Look { state, due: now.after(after), recorded, most };
        let looks = [
            look(StateCode::Unknown, pause.max(patience), recorded, most),
            look(StateCode::Queued, patience, recorded, most),
            look(StateCode::InProgress, read, Instant(i64::MAX), reads),
        ];
        Some(Sweep { longest: now.after(timing.read_max), looks })
    }

    /// Whether what a sweep has found is owed now.
    pub(crate) fn is_put_off(&self, sweep: &Sweep, due: &Due) -> bool {
        due.duty != Duty::Read || due.due > sweep.longest || self.is_unsearched(&due.state)
    }

    /// The queue was looked at, and this was looked for. What a clock that was set back has put off
    /// is looked for once: put off again, it has a reason.
    pub(crate) fn swept(&mut self, now: ClockReading, whole: bool) {
        self.sweeps.clocks = now;
        // Only a look counts as one: else the next would be put off by every round. Where there was
        // more than it could take, the next one is at once; what it took may be put off as far
        // again, and rests until the next one.
        if whole {
            self.sweeps.last = Some(now);
        }
    }

    /// Searches are refused: what was to be read in hours is looked for at once, and read as often
    /// as others search.
    pub(super) fn sweep_at_once(&mut self) {
        self.sweeps.last = None;
    }
}
