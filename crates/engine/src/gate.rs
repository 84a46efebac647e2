//! The breaker of one endpoint: closed after a fault that concerns all reports, then one probe at a time.

use std::time::Duration;

use fhir::Instant;

use crate::Pace;

/// Whether requests may go out now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Gate {
    failures: u32,
    closed_until: Option<Instant>,
    probing: bool,
}

/// What the gate permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passage {
    /// Any number of requests.
    Open,
    /// One request, to see whether the authority is back.
    Probe,
    /// None before then (`None`: until the probe under way has ended).
    Closed(Option<Instant>),
}

impl Gate {
    /// What may pass at `now`.
    pub(crate) fn passage(&self, now: Instant) -> Passage {
        match self.closed_until {
            None => Passage::Open,
            Some(_) if self.probing => Passage::Closed(None),
            Some(until) if until <= now => Passage::Probe,
            Some(until) => Passage::Closed(Some(until)),
        }
    }

    /// A probe is under way.
    pub(crate) fn probe_started(&mut self) {
        self.probing = self.closed_until.is_some();
    }

    /// The authority answered, whatever it said of the report.
    pub(crate) fn answered(&mut self) {
        *self = Self::default();
    }

    /// A fault that concerns every report: nothing else is tried before the returned time. Requests that
    /// were under way together count as one fault.
    pub(crate) fn failed(
        &mut self,
        now: Instant,
        pace: &Pace,
        retry_after: Option<Duration>,
        fraction: f64,
    ) -> Instant {
        let failures = self.failures.saturating_add(1);
        self.close(now, pace.backoff(failures, retry_after, fraction))
    }

    /// A request ended in doubt. Perhaps it is this report's fault, perhaps nobody answers any more: the
    /// next one tries alone, soon at first.
    pub(crate) fn doubted(&mut self, now: Instant, pace: &Pace, fraction: f64) -> Instant {
        let failures = self.failures.saturating_add(1);
        self.close(now, pace.backoff_in_doubt(failures, fraction))
    }

    fn close(&mut self, now: Instant, pause: Duration) -> Instant {
        if let (Some(until), false) = (self.closed_until, self.probing)
            && until > now
        {
            return until;
        }
        self.failures = self.failures.saturating_add(1);
        let until = now.plus_micros(i64::try_from(pause.as_micros()).unwrap_or(i64::MAX));
        self.closed_until = Some(until);
        self.probing = false;
        until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_seconds(1_000_000);

    #[test]
    fn after_a_fault_one_probe_passes_at_a_time() {
        let (mut gate, pace) = (Gate::default(), Pace::default());
        assert_eq!(gate.passage(NOW), Passage::Open);
        let until = gate.failed(NOW, &pace, None, 0.0);
        assert_eq!(gate.passage(NOW), Passage::Closed(Some(until)));
        // The other requests of the same moment end too: still one fault.
        assert_eq!(gate.failed(NOW, &pace, None, 0.9), until);
        assert_eq!(gate.passage(until), Passage::Probe);
        gate.probe_started();
        assert_eq!(gate.passage(until), Passage::Closed(None));
        assert!(gate.failed(until, &pace, None, 0.0) > until.plus_seconds(29));
        gate.answered();
        assert_eq!(gate.passage(until), Passage::Open);
    }

    #[test]
    fn an_hour_in_which_every_request_ends_in_doubt_costs_at_most_fifteen() {
        let pace = Pace::default();
        for fraction in [0.0, 0.5, 0.999] {
            let (mut gate, mut now, mut requests) = (Gate::default(), NOW, 0);
            while now < NOW.plus_seconds(3600) {
                requests += 1;
                gate.probe_started();
                now = gate.doubted(now, &pace, fraction);
                assert_eq!(gate.passage(now), Passage::Probe);
            }
            assert!(requests <= 15, "{requests} requests at jitter {fraction}");
        }
    }
}
