//! How long to wait for what: all times of the worker, as data, with their defaults.

use std::time::Duration;

/// The worker's times. The default is for the real service; tests shorten it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// First pause after a fault; doubles with each further one.
    pub backoff_min: Duration,
    /// First pause after a request that ended in doubt; doubles likewise.
    pub backoff_doubt_min: Duration,
    /// Longest pause after a fault.
    pub backoff_max: Duration,
    /// Longest `Retry-After` that is honoured.
    pub retry_after_max: Duration,
    /// Pauses between the questions after a report in doubt; the last one repeats.
    pub asks: Vec<Duration>,
    /// An empty answer is believed after at least so many of them …
    pub asks_min: u32,
    /// … and not before the doubt is this old: longer than a create may take at the authority (180
    /// s), plus a lag of its search.
    pub doubt_min: Duration,
    /// The same where no other report of ours is visible, so that "empty" may mean "no access".
    pub doubt_min_unseen: Duration,
    /// An empty answer, and the looks before and after it whether anything is shown at all, lie
    /// within this time: else access may have been lost and given back in between.
    pub sight_max: Duration,
    /// What was accepted so long ago a search should show; a doubt is not ended by one that does
    /// not.
    pub shown_after: Duration,
    /// Shortest pause between two searches for changes.
    pub poll_min: Duration,
    /// Longest pause between two searches for changes.
    pub poll_max: Duration,
    /// Overlap of two such searches, because clocks and indices lag.
    pub poll_overlap: Duration,
    /// First read by id of a report that no search shows; doubles up to `read_max`.
    pub read_first: Duration,
    /// Longest pause between two reads by id.
    pub read_max: Duration,
    /// In progress for longer than this needs a person.
    pub in_progress_max: Duration,
    /// Not found by reads for longer than this needs a person.
    pub not_found_max: Duration,
    /// So often a report is turned away for its own sake before it is put on hold.
    pub refusals_max: u32,
    /// Requests under way at the same time.
    pub in_flight_max: usize,
    /// Life of the lease on the queue.
    pub lease: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            backoff_min: seconds(30),
            backoff_doubt_min: seconds(2),
            backoff_max: seconds(30 * 60),
            retry_after_max: seconds(60 * 60),
            asks: [2, 8, 30, 60, 120, 300, 600].map(seconds).to_vec(),
            asks_min: 5,
            doubt_min: seconds(10 * 60),
            doubt_min_unseen: seconds(60 * 60),
            sight_max: seconds(3 * 60),
            shown_after: seconds(60),
            poll_min: seconds(1),
            poll_max: seconds(5 * 60),
            poll_overlap: seconds(120),
            read_first: seconds(10 * 60),
            read_max: seconds(6 * 60 * 60),
            in_progress_max: seconds(3 * 24 * 60 * 60),
            not_found_max: seconds(24 * 60 * 60),
            refusals_max: 5,
            // As many as the journal commits at once; over HTTP/2 they share one connection.
            in_flight_max: 64,
            lease: seconds(30),
        }
    }
}

impl Timing {
    /// Pause after the `failures`-th fault in a row (from 1): doubling, half of it jittered, so
    /// that many laboratories do not return at the same moment; `fraction` in `[0, 1)`.
    pub fn backoff(&self, failures: u32, retry_after: Option<Duration>, fraction: f64) -> Duration {
        let pause = self.doubling(self.backoff_min, failures, fraction);
        match retry_after {
            Some(asked) => pause.max(asked.min(self.retry_after_max)),
            None => pause,
        }
    }

    /// The same after a request that ended in doubt: shorter at first, because one report that the
    /// authority chokes on must not hold up the others.
    pub fn backoff_in_doubt(&self, failures: u32, fraction: f64) -> Duration {
        self.doubling(self.backoff_doubt_min, failures, fraction)
    }

    fn doubling(&self, first: Duration, failures: u32, fraction: f64) -> Duration {
        let doublings = failures.saturating_sub(1).min(20);
        let full = first.saturating_mul(1 << doublings).min(self.backoff_max);
        full.mul_f64(0.5 + fraction.clamp(0.0, 1.0) / 2.0)
    }

    /// Pause before the next question about a report in doubt, after `asked` empty answers.
    pub fn ask(&self, asked: u32) -> Duration {
        let index = usize::try_from(asked).unwrap_or(usize::MAX);
        self.asks.get(index).or(self.asks.last()).copied().unwrap_or(self.backoff_min)
    }

    /// How long it took to ask so often and in vain, at least: the sum of the pauses in between.
    pub fn asking(&self, asked: u32) -> Duration {
        (0..asked).fold(Duration::ZERO, |sum, asked| sum.saturating_add(self.ask(asked)))
    }

    /// Pause between two searches for changes, by the age of the youngest open report: what was
    /// just accepted is about to change, and one report that hangs for days must not delay news of
    /// the others.
    pub fn poll(&self, age: Duration) -> Duration {
        (age / 8).clamp(self.poll_min, self.poll_max)
    }

    /// Pause before the next read by id of a report accepted `age` ago, beside searches for
    /// changes. Not beyond the time from which a person is needed.
    pub fn read(&self, age: Duration) -> Duration {
        let pause = age.clamp(self.read_first, self.read_max);
        match self.in_progress_max.checked_sub(age) {
            Some(left) if left > Duration::ZERO => pause.min(left.max(self.read_first)),
            _ => pause,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_of_outage_costs_at_most_fifteen_requests() {
        let timing = Timing::default();
        for fraction in [0.0, 0.3, 0.999] {
            let (mut elapsed, mut requests) = (Duration::ZERO, 0_u32);
            while elapsed < Duration::from_secs(3600) {
                requests += 1;
                elapsed += timing.backoff(requests, None, fraction);
            }
            assert!(requests <= 15, "{requests} requests at jitter {fraction}");
        }
    }

    #[test]
    fn retry_after_is_honoured_up_to_an_hour() {
        let timing = Timing::default();
        let asked = |seconds| timing.backoff(1, Some(Duration::from_secs(seconds)), 0.0);
        assert_eq!(asked(120), Duration::from_secs(120));
        assert_eq!(asked(u64::MAX), Duration::from_secs(3600));
        assert_eq!(asked(0), Duration::from_secs(15));
    }

    #[test]
    fn what_takes_long_is_read_when_a_person_is_to_be_told() {
        let (timing, hours) = (Timing::default(), |h: u64| Duration::from_secs(h * 3600));
        assert_eq!(timing.read(Duration::ZERO), timing.read_first);
        assert_eq!(timing.read(hours(5)), hours(5));
        assert_eq!(timing.read(hours(60)), hours(6));
        assert_eq!(timing.read(hours(70)), hours(2));
        assert_eq!(timing.read(hours(72) - Duration::from_secs(1)), timing.read_first);
        assert_eq!(timing.read(hours(80)), hours(6));
    }

    #[test]
    fn pauses_never_overflow() {
        let timing = Timing::default();
        assert!(timing.backoff(u32::MAX, None, 1.0) <= timing.backoff_max);
        assert_eq!(timing.ask(u32::MAX), Duration::from_secs(600));
    }
}
