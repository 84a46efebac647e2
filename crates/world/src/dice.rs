//! Chance that repeats itself.

use crate::computer::SECOND;

/// A small generator (splitmix64): the same seed gives the same world.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring seeds must not give neighbouring worlds.
        let mut dice = Self(seed ^ 0x5851_F42D_4C95_7F2D);
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In `0..n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    /// In `from..=to`.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from) + 1)
    }

    pub(crate) fn percent(&mut self, p: u64) -> bool {
        self.below(100) < p
    }

    pub(crate) fn per_mille(&mut self, p: u64) -> bool {
        self.below(1000) < p
    }

    /// A time in microseconds between two others, in whole seconds.
    pub(crate) fn time(&mut self, from: i64, to: i64) -> i64 {
        let second = SECOND.unsigned_abs();
        let seconds = self.between(from.unsigned_abs() / second, to.unsigned_abs() / second);
        i64::try_from(seconds).unwrap_or(0) * SECOND
    }
}
