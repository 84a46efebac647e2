//! The one place that reads the clock and the random source.

use fhir::Instant;

/// Time and randomness as the engine sees them; a test passes its own.
pub trait Clock: Send + Sync + 'static {
    /// Now, by the computer's clock.
    fn now(&self) -> Instant;
    /// A number in `[0, 1)`.
    fn fraction(&self) -> f64;
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

    fn fraction(&self) -> f64 {
        let mut bytes = [0_u8; 4];
        // Without randomness the jitter is constant, which is still correct.
        if getrandom::fill(&mut bytes).is_err() {
            return 0.5;
        }
        f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
    }
}
