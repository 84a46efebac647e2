//! What one laboratory may ask of the service, so that none keeps the others waiting.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Limits of each laboratory; the defaults are far above what an honest one needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests per second on average; twice as many may come at once. 0 refuses everything.
    pub requests_per_second: u32,
    /// Requests under way at once, over all connections.
    pub open_requests: u32,
    /// Bytes of a request body.
    pub body_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { requests_per_second: 10_000, open_requests: 1_000, body_max: 20 << 20 }
    }
}

/// What is left to each laboratory.
#[derive(Debug)]
pub(crate) struct Allowances {
    limits: Limits,
    used: Mutex<HashMap<i64, Used>>,
}

#[derive(Debug)]
struct Used {
    /// Requests that may come at this moment; refilled as time goes by.
    left: f64,
    since: Instant,
    open: u32,
}

/// A request under way; gives its place back when it ends, however it ends.
#[derive(Debug)]
pub(crate) struct Place {
    of: Arc<Allowances>,
    laboratory: i64,
}

impl Allowances {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { limits, used: Mutex::default() })
    }

    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A place for one more request, or how long to wait before the next try.
    pub(crate) fn enter(
        self: &Arc<Self>,
        laboratory: i64,
        now: Instant,
    ) -> Result<Place, Duration> {
        const SECOND: Duration = Duration::from_secs(1);
        let rate = f64::from(self.limits.requests_per_second);
        let mut all = self.lock();
        let used = all.entry(laboratory).or_insert(Used { left: 2.0 * rate, since: now, open: 0 });
        let passed = now.saturating_duration_since(used.since).as_secs_f64();
        used.left = passed.mul_add(rate, used.left).min(2.0 * rate);
        used.since = now;
        if used.left < 1.0 {
            let wait = Duration::try_from_secs_f64((1.0 - used.left) / rate);
            return Err(wait.unwrap_or(Duration::from_secs(3600)).max(SECOND));
        }
        if used.open >= self.limits.open_requests {
            return Err(SECOND);
        }
        used.left -= 1.0;
        used.open += 1;
        Ok(Place { of: Arc::clone(self), laboratory })
    }

    /// Requests under way.
    pub(crate) fn open(&self) -> u64 {
        self.lock().values().map(|used| u64::from(used.open)).sum()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<i64, Used>> {
        // Nothing in here panics between two changes that belong together.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(used) = self.of.lock().get_mut(&self.laboratory) {
            used.open = used.open.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_laboratory_gets_its_rate_and_its_places_and_takes_none_from_others() {
        let limits = Limits { requests_per_second: 2, open_requests: 3, body_max: 1 };
        let all = Allowances::new(limits);
        let start = Instant::now();
        let mut places: Vec<_> = (0..3).map(|_| all.enter(1, start).unwrap()).collect();
        assert_eq!(all.enter(1, start).unwrap_err(), Duration::from_secs(1), "three are open");
        places.pop();
        places.push(all.enter(1, start).unwrap());
        places.clear();
        assert!(all.enter(1, start).is_err(), "twice the rate came at once");
        assert!(all.enter(2, start).is_ok(), "another laboratory");
        assert!(all.enter(1, start + Duration::from_millis(500)).is_ok());
        assert!(all.enter(1, start + Duration::from_millis(600)).is_err());
        assert_eq!(all.open(), 0);
        let none = Allowances::new(Limits { requests_per_second: 0, ..limits });
        assert!(none.enter(1, start).unwrap_err() >= Duration::from_secs(1));
    }
}
