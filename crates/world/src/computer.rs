//! Time: what is true, what the laboratory's clock says, and what has passed for its programs.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use fhir::Instant;

pub(crate) const SECOND: i64 = 1_000_000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;

/// The authority's time at the beginning of every world.
const START: i64 = 1_800_000_000 * SECOND;

/// The laboratory's computer. True time is tokio's, which is paused and jumps from timer to timer.
pub(crate) struct Computer {
    began: tokio::time::Instant,
    /// How far its clock is ahead, in microseconds.
    ahead: AtomicI64,
    /// How long it slept, in microseconds.
    slept: AtomicI64,
}

impl Computer {
    pub(crate) fn new() -> Self {
        Self {
            began: tokio::time::Instant::now(),
            ahead: AtomicI64::new(0),
            slept: AtomicI64::new(0),
        }
    }

    /// Microseconds since the world began.
    pub(crate) fn truth(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_micros()).unwrap_or(i64::MAX)
    }

    /// When `truth` will be so much.
    pub(crate) fn moment(&self, truth: i64) -> tokio::time::Instant {
        self.began + micros(truth)
    }

    /// The authority's clock, which is right.
    pub(crate) fn authority_at(truth: i64) -> Instant {
        Instant(START + truth)
    }

    /// The laboratory's clock.
    pub(crate) fn wall(&self) -> Instant {
        Instant(START + self.truth() + self.ahead.load(Ordering::Relaxed))
    }

    /// Time that passed while it was awake.
    pub(crate) fn steady(&self) -> Duration {
        micros(self.truth() - self.slept.load(Ordering::Relaxed))
    }

    pub(crate) fn set_clock(&self, by: i64) {
        self.ahead.fetch_add(by, Ordering::Relaxed);
    }

    pub(crate) fn sleep(&self, time: i64) {
        self.slept.fetch_add(time, Ordering::Relaxed);
    }
}

pub(crate) fn micros(time: i64) -> Duration {
    Duration::from_micros(u64::try_from(time).unwrap_or(0))
}
