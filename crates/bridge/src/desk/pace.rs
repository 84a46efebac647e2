//! When the reports leave that are sent together. The time for undoing counts from the moment in
//! which one report is ordered, but a person can use it best once all of them are: so the first
//! ones of many wait longer. None leaves before one that was ordered earlier.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Taken for one report until the list itself shows how long one takes.
const FIRST: Duration = Duration::from_millis(10);
/// From so many reports on, what they took says more; for fewer nothing waits longer.
const ENOUGH: usize = 8;
/// Longest that is added to the time for undoing, however long the list is.
const LONGER_MAX: Duration = Duration::from_secs(60);

/// The pace at which reports are taken in, or ordered again.
pub(super) struct Pace {
    begun: Instant,
    /// Time for undoing; nothing waits where there is none.
    undo: Duration,
    /// When the report may leave that was ordered last, since the beginning.
    last: Mutex<Duration>,
}

impl Pace {
    /// `undo`: microseconds.
    pub(super) fn new(undo: i64) -> Self {
        let undo = Duration::from_micros(u64::try_from(undo).unwrap_or_default());
        Self { begun: Instant::now(), undo, last: Mutex::new(Duration::ZERO) }
    }

    /// Microseconds before what is ordered now may leave: `done` reports are ordered, `left` are
    /// not.
    pub(super) fn delay(&self, done: usize, left: usize) -> i64 {
        if self.undo.is_zero() {
            return 0;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = self.begun.elapsed();
        *last = leaves(*last, spent, self.undo, lasting(spent, done, left));
        i64::try_from((*last - spent).as_micros()).unwrap_or(i64::MAX)
    }
}

/// When the next report may leave, where the one before may at `last`; all since the beginning.
fn leaves(last: Duration, spent: Duration, undo: Duration, lasting: Duration) -> Duration {
    last.max(spent + undo + lasting)
}

/// How long the reports that are left take, with a quarter to spare.
fn lasting(spent: Duration, done: usize, left: usize) -> Duration {
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let each = match done {
        _ if left <= ENOUGH => return Duration::ZERO,
        0..ENOUGH => FIRST,
        _ => spent / count(done),
    };
    (each.saturating_mul(count(left)).saturating_mul(5) / 4).min(LONGER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn the_first_ones_wait_until_the_last_are_ordered() {
        for (spent, done, left, expected) in [
            // A few take no time.
            (ms(0), 0, 8, ms(0)),
            // Nothing is known yet, and the first few are no measure of the others.
            (ms(0), 0, 100, ms(1_250)),
            (ms(20_000), 1, 100, ms(1_250)),
            // What they took.
            (ms(100), 100, 900, ms(1_125)),
            (ms(6_000), 100, 100, ms(7_500)),
            (ms(6_000), 200, 0, ms(0)),
            // A computer that slept, or a list without end.
            (ms(28_800_000), 128, 872, LONGER_MAX),
            (ms(0), 0, usize::MAX, LONGER_MAX),
        ] {
            assert_eq!(lasting(spent, done, left), expected, "{spent:?}, {done}, {left}");
        }
    }

    /// Else the newer version of a report would leave before the older one.
    #[test]
    fn none_leaves_before_one_that_was_ordered_earlier() {
        let undo = ms(10_000);
        let first = leaves(ms(0), ms(0), undo, ms(12_500));
        assert_eq!(first, ms(22_500));
        assert_eq!(leaves(first, ms(128), undo, ms(1_090)), first, "they are quicker than thought");
        assert_eq!(leaves(first, ms(9_000), undo, ms(8_000)), ms(27_000));
    }

    #[test]
    fn without_time_for_undoing_nothing_waits() {
        assert_eq!(Pace::new(0).delay(0, 1_000), 0);
        let pace = Pace::new(10_000_000);
        let delays = [pace.delay(0, 1_000), pace.delay(128, 872)];
        assert!((22_000_000..23_000_000).contains(&delays[0]), "{delays:?}");
        assert!((21_000_000..=delays[0]).contains(&delays[1]), "{delays:?}");
    }
}
