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
    /// The longest time that was given to a report.
    longest: Mutex<Duration>,
}

impl Pace {
    /// `undo`: microseconds.
    pub(super) fn new(undo: i64) -> Self {
        let undo = Duration::from_micros(u64::try_from(undo).unwrap_or_default());
        Self { begun: Instant::now(), undo, longest: Mutex::new(undo) }
    }

    /// Microseconds before what is ordered now may leave: `done` reports are ordered, `left` are
    /// not. They count from when the journal has each report, so a shorter time than was given
    /// before could let a later one leave first: it never gets shorter.
    pub(super) fn delay(&self, done: usize, left: usize) -> i64 {
        if self.undo.is_zero() {
            return 0;
        }
        let mut longest = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
        *longest = (self.undo + lasting(self.begun.elapsed(), done, left)).max(*longest);
        i64::try_from(longest.as_micros()).unwrap_or(i64::MAX)
    }
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
    fn no_report_waits_a_shorter_time_than_one_that_was_ordered_earlier() {
        let pace = Pace::new(10_000_000);
        // They are quicker than was thought, and then there are more.
        let delays = [(0, 1_000), (128, 872), (992, 8), (992, 2_000)];
        let delays = delays.map(|(done, left)| pace.delay(done, left));
        assert_eq!(delays[..3], [22_500_000; 3]);
        assert!(delays.is_sorted(), "{delays:?}");
    }

    #[test]
    fn without_time_for_undoing_nothing_waits() {
        assert_eq!(Pace::new(0).delay(0, 1_000), 0);
    }
}
