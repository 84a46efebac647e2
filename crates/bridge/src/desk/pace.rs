//! When the reports leave that are sent together. The time for undoing counts from the moment in
//! which one report is ordered, but a person can use it best once all of them are: so the first
//! ones of many wait longer, and all of them leave at about one moment.

use std::time::{Duration, Instant};

/// Taken for one report until the list itself shows how long one takes.
const FIRST: Duration = Duration::from_millis(10);
/// From so many reports on, what they took says more.
const ENOUGH: usize = 8;

/// The pace at which reports are taken in, or ordered again.
pub(super) struct Pace {
    begun: Instant,
    /// Time for undoing; nothing waits where there is none.
    undo: Duration,
}

impl Pace {
    /// `undo`: microseconds.
    pub(super) fn new(undo: i64) -> Self {
        let undo = Duration::from_micros(u64::try_from(undo).unwrap_or_default());
        Self { begun: Instant::now(), undo }
    }

    /// Microseconds before what is ordered now may leave: `done` reports are ordered, `left` are
    /// not.
    pub(super) fn delay(&self, done: usize, left: usize) -> i64 {
        if self.undo.is_zero() {
            return 0;
        }
        let delay = self.undo + lasting(self.begun.elapsed(), done, left);
        i64::try_from(delay.as_micros()).unwrap_or(i64::MAX)
    }
}

/// How long the reports that are left take, with a quarter to spare.
fn lasting(spent: Duration, done: usize, left: usize) -> Duration {
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let each = match done {
        0..ENOUGH => FIRST.max(spent / count(done.max(1))),
        _ => spent / count(done),
    };
    each.saturating_mul(count(left)).saturating_mul(5) / 4
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
            // Nothing is known yet.
            (ms(0), 0, 1, ms(12) + Duration::from_micros(500)),
            (ms(0), 0, 100, ms(1_250)),
            // The first few are no measure of the others, but where they were slow.
            (ms(1), 1, 100, ms(1_250)),
            (ms(50), 1, 100, ms(6_250)),
            // What they took.
            (ms(100), 100, 900, ms(1_125)),
            (ms(6_000), 100, 100, ms(7_500)),
            (ms(6_000), 200, 0, ms(0)),
        ] {
            assert_eq!(lasting(spent, done, left), expected, "{spent:?}, {done}, {left}");
        }
    }

    #[test]
    fn without_time_for_undoing_nothing_waits() {
        assert_eq!(Pace::new(0).delay(0, 1_000), 0);
        assert!(Pace::new(10_000_000).delay(0, 1_000) > 20_000_000);
    }
}
