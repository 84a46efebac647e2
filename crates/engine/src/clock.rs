//! The one place that reads the clocks and the random source.

use std::sync::OnceLock;
use std::time::Duration;

use fhir::Instant;

/// Time and randomness as the engine sees them; a test passes its own.
pub trait Clock: Send + Sync + 'static {
    /// Now, by the computer's clock. It may be set at any time.
    fn now(&self) -> Instant;
    /// Time since some fixed point, by a clock that nobody sets. It may stand while the computer
    /// sleeps.
    fn steady(&self) -> Duration;
    /// A number in `[0, 1)`.
    fn fraction(&self) -> f64;
}

/// A point in time by both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockReading {
    pub(crate) wall: Instant,
    pub(crate) steady: Duration,
}

impl ClockReading {
    pub(crate) fn now(clock: &dyn Clock) -> Self {
        Self { wall: clock.now(), steady: clock.steady() }
    }

    /// How long ago `earlier` was: the longer of what both clocks say. A clock that is set back
    /// holds nothing up, and time that the computer slept has passed.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        let wall = u64::try_from(self.wall.0.saturating_sub(earlier.wall.0)).unwrap_or(0);
        self.steady.saturating_sub(earlier.steady).max(Duration::from_micros(wall))
    }

    /// By how much the computer's clock was set back since `earlier`; zero where it was not.
    pub(crate) fn set_back_since(self, earlier: Self) -> Duration {
        let steady = self.steady.saturating_sub(earlier.steady);
        let steady = i64::try_from(steady.as_micros()).unwrap_or(i64::MAX);
        let wall = self.wall.0.saturating_sub(earlier.wall.0);
        Duration::from_micros(u64::try_from(steady.saturating_sub(wall)).unwrap_or(0))
    }

    /// By how much the computer's clock was set ahead since `earlier`; zero where it was not. A
    /// computer that slept looks the same.
    pub(crate) fn set_ahead_since(self, earlier: Self) -> Duration {
        let steady = self.steady.saturating_sub(earlier.steady);
        let wall = u64::try_from(self.wall.0.saturating_sub(earlier.wall.0)).unwrap_or(0);
        Duration::from_micros(wall).saturating_sub(steady)
    }

    /// So much later, by the computer's clock.
    pub(crate) fn after(self, time: Duration) -> Instant {
        self.wall.plus_micros(i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
    }
}

/// How long ago `since` was, by the computer's clock; zero where it is still to come.
pub(crate) fn elapsed(since: Instant, now: Instant) -> Duration {
    Duration::from_micros(u64::try_from(now.0.saturating_sub(since.0)).unwrap_or(0))
}

/// The computer's clock and random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one clock of the program")]
    fn now(&self) -> Instant {
        let since_epoch =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Instant(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
    }

    fn steady(&self) -> Duration {
        static FIRST: OnceLock<std::time::Instant> = OnceLock::new();
        FIRST.get_or_init(std::time::Instant::now).elapsed()
    }

    fn fraction(&self) -> f64 {
        let mut bytes = [0_u8; 4];
        // Without randomness the jitter is constant, which is still correct.
        if getrandom::fill(&mut bytes).is_err() {
            return 0.5;
        }
        f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
    }
}
