//! The circuit breaker of one endpoint. It opens after a fault that concerns all reports; after a
//! pause it lets one request through at a time, to see whether the authority is back.

use std::time::Duration;

use fhir::Instant;
use report::SubmissionId;

use super::own_refusals::OwnRefusals;
use crate::{ClockReading, Timing};

/// Whether requests may go out now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CircuitBreaker {
    /// Faults in a row, and requests that ended in doubt.
    failures: u32,
    doubts: u32,
    /// Since when, and for how long.
    opened: Option<(ClockReading, Duration)>,
    probing: bool,
    /// What was refused last in an answer since a report was let in.
    refused: Option<RequestKind>,
    /// The report whose own fault it may be, if it is why the breaker is open.
    suspect: Option<SubmissionId>,
    /// What opened it was patience that was asked for at the delivery of a report.
    put_off: bool,
    /// A report was refused for want of access: that questions are answered does not close it.
    locked: bool,
    /// What is refused for its own sake.
    own: OwnRefusals,
}

/// What an exchange was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// The delivery of a report.
    Report(SubmissionId),
    /// Anything else.
    Question,
}

/// A fault that concerns every report, unless it is the fault of the one that met it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What was refused; `None` where no answer came.
    pub(crate) refused: Option<RequestKind>,
    /// A person must act.
    pub(crate) locked: bool,
    /// The pause that was asked for.
    pub(crate) retry_after: Option<Duration>,
}

/// What the breaker permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreakerState {
    /// Any number of requests.
    Closed,
    /// One request, to see whether the authority is back.
    HalfOpen,
    /// None before then (`None`: until the probe under way has ended).
    Open(Option<Instant>),
}

impl CircuitBreaker {
    /// What may pass at `now`.
    pub(crate) fn breaker_state(&self, now: ClockReading) -> BreakerState {
        match self.opened {
            None => BreakerState::Closed,
            Some(_) if self.probing => BreakerState::Open(None),
            Some((since, pause)) => match pause.saturating_sub(now.since(since)) {
                Duration::ZERO => BreakerState::HalfOpen,
                rest => BreakerState::Open(Some(now.after(rest))),
            },
        }
    }

    /// Where one report was refused, and nothing else before it: that report. Any other may try the
    /// way after the shortest pause, however often this one was refused.
    pub(crate) fn suspect(&self, now: ClockReading, timing: &Timing) -> Option<SubmissionId> {
        let (since, _) = self.opened.filter(|_| !self.probing)?;
        self.suspect.filter(|_| now.since(since) >= timing.backoff_min)
    }

    /// How many requests were answered so far.
    pub(crate) const fn answers(&self) -> u64 {
        self.own.answers()
    }

    /// What is refused for its own sake, and opens no breaker.
    pub(crate) fn own(&mut self) -> &mut OwnRefusals {
        &mut self.own
    }

    /// A report was refused for its own sake. Where no other one was refused, access is not lost:
    /// the next answer closes the breaker.
    pub(crate) fn turned_away(&mut self, id: SubmissionId) {
        self.locked &= !self.own.is_alone(id);
    }

    /// Patience was asked for at the delivery of a report, perhaps for its own sake.
    pub(crate) const fn is_put_off(&self) -> bool {
        self.put_off
    }

    /// Open because of one report, as far as is known.
    pub(crate) fn suspects_one(&self) -> bool {
        self.suspect.is_some()
    }

    /// A question was refused as well: it is not the fault of one report.
    pub(crate) fn clear_suspicion(&mut self) {
        (self.refused, self.suspect) = (Some(RequestKind::Question), None);
    }

    /// A person wants the next try now: its pause is over, and a try in vain makes no later one
    /// longer. `false` where nothing holds it, or a probe is under way.
    pub(crate) fn try_now(&mut self) -> bool {
        let Some((_, pause)) = self.opened.as_mut().filter(|_| !self.probing) else {
            return false;
        };
        *pause = Duration::ZERO;
        self.failures = self.failures.saturating_sub(1);
        true
    }

    /// A probe is under way.
    pub(crate) fn probe_started(&mut self) {
        self.probing = self.opened.is_some();
    }

    /// No probe is under way any more, whether or not something was learned by it.
    pub(crate) fn probe_ended(&mut self) {
        self.probing = false;
    }

    /// The authority answered, whatever it said; `false` where that does not close it: reports are
    /// refused, and this was a question.
    pub(crate) fn answered(&mut self, about: RequestKind) -> bool {
        self.own.answered(about);
        if self.locked && about == RequestKind::Question {
            (self.probing, self.doubts) = (false, 0);
            // Questions are answered again: that one was refused speaks against the way no longer.
            self.refused = self.refused.filter(|refused| *refused != RequestKind::Question);
            return false;
        }
        *self = Self { own: std::mem::take(&mut self.own), ..Self::default() };
        true
    }

    /// Nothing else is tried before the returned time. Requests that were under way together count
    /// as one fault.
    pub(crate) fn failed(
        &mut self,
        now: ClockReading,
        timing: &Timing,
        failure: Failure,
        fraction: f64,
    ) -> Instant {
        match failure.refused {
            // Another fault than that of the one report: how often that was refused makes no pause
            // longer.
            None if self.suspect.take().is_some() => self.failures = 0,
            None => {}
            Some(refused) => {
                // What was refused long ago says nothing: this process did not have the queue
                // meanwhile.
                let recent = |(since, _)| now.since(since) <= timing.backoff_max.saturating_mul(2);
                let before = self.refused.filter(|_| self.opened.is_some_and(recent));
                let alone = before.is_none_or(|before| before == refused);
                self.suspect = match refused {
                    RequestKind::Report(id) if alone && failure.retry_after.is_none() => Some(id),
                    _ => None,
                };
                self.refused = Some(refused);
            }
        }
        let of_report = matches!(failure.refused, Some(RequestKind::Report(_)));
        self.put_off = of_report && failure.retry_after.is_some();
        self.locked |= failure.locked && of_report;
        let failures = self.failures.saturating_add(1);
        let pause = timing.backoff(failures, failure.retry_after, fraction);
        self.open(now, pause, |breaker| breaker.failures = failures)
    }

    /// A request ended in doubt. Perhaps it is this report's fault, perhaps nobody answers any
    /// more: the next one tries alone, soon at first.
    pub(crate) fn doubted(&mut self, now: ClockReading, timing: &Timing, fraction: f64) -> Instant {
        self.suspect = None;
        let doubts = self.doubts.saturating_add(1);
        self.open(now, timing.backoff_in_doubt(doubts, fraction), |breaker| breaker.doubts = doubts)
    }

    fn open(
        &mut self,
        now: ClockReading,
        pause: Duration,
        count: impl FnOnce(&mut Self),
    ) -> Instant {
        if let (BreakerState::Open(Some(until)), false) = (self.breaker_state(now), self.probing) {
            return until;
        }
        count(self);
        self.opened = Some((now, pause));
        self.probing = false;
        now.after(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_seconds(1_000_000);

    /// Both clocks go alike.
    fn at(wall: Instant) -> ClockReading {
        let steady = Duration::from_micros(u64::try_from(wall.0 - NOW.0).unwrap());
        ClockReading { wall, steady }
    }

    #[test]
    fn after_a_fault_one_probe_passes_at_a_time() {
        let (mut breaker, timing) = (CircuitBreaker::default(), Timing::default());
        assert_eq!(breaker.breaker_state(at(NOW)), BreakerState::Closed);
        let until = breaker.failed(at(NOW), &timing, Failure::default(), 0.0);
        assert_eq!(breaker.breaker_state(at(NOW)), BreakerState::Open(Some(until)));
        // The other requests of the same moment end too: still one fault.
        assert_eq!(breaker.failed(at(NOW), &timing, Failure::default(), 0.9), until);
        assert_eq!(breaker.breaker_state(at(until)), BreakerState::HalfOpen);
        breaker.probe_started();
        assert_eq!(breaker.breaker_state(at(until)), BreakerState::Open(None));
        assert!(
            breaker.failed(at(until), &timing, Failure::default(), 0.0) > until.plus_seconds(29)
        );
        // A probe that came to nothing does not keep the breaker open for ever.
        breaker.probe_started();
        breaker.probe_ended();
        assert!(matches!(breaker.breaker_state(at(until)), BreakerState::Open(Some(_))));
        breaker.answered(RequestKind::Question);
        assert_eq!(breaker.breaker_state(at(until)), BreakerState::Closed);
    }

    #[test]
    fn one_report_that_is_refused_alone_is_a_suspect() {
        let (timing, id) = (Timing::default(), |id| Some(SubmissionId(id)));
        let fail = |breaker: &mut CircuitBreaker, now, id| {
            let refused = Some(RequestKind::Report(SubmissionId(id)));
            breaker.failed(at(now), &timing, Failure { refused, ..Failure::default() }, 0.999)
        };
        let refused = |answers: &[i64]| {
            let (mut breaker, mut now) = (CircuitBreaker::default(), NOW);
            for answer in answers {
                breaker.probe_started();
                now = fail(&mut breaker, now, *answer);
            }
            (breaker, now)
        };
        for often in [1, 2, 9] {
            let (breaker, now) = refused(&vec![7; often]);
            let now = at(now.plus_seconds(1));
            assert_eq!(breaker.suspect(now, &timing), id(7), "refused {often} times");
        }
        let (mut breaker, now) = refused(&[7, 7, 7]);
        let next = fail(&mut breaker, now, 7);
        assert_eq!(breaker.suspect(at(now.plus_seconds(29)), &timing), None, "the shortest pause");
        let tried = now.plus_seconds(30);
        assert!(tried < next);
        assert_eq!(breaker.suspect(at(tried), &timing), id(7));
        breaker.probe_started();
        assert_eq!(breaker.suspect(at(tried), &timing), None, "one at a time");
        fail(&mut breaker, tried, 8);
        assert_eq!(breaker.suspect(at(NOW.plus_seconds(86_400)), &timing), None, "it is the way");
        for (answers, suspect) in [
            (&[7, 8][..], None),
            (&[7, 8, 7], None),
            (&[7, 8, 7, 7], id(7)),
            (&[7, 7, 8, 8], id(8)),
        ] {
            let (breaker, now) = refused(answers);
            assert_eq!(breaker.suspect(at(now.plus_seconds(1)), &timing), suspect, "{answers:?}");
        }
        // A question is refused too.
        let (mut breaker, now) = refused(&[7]);
        assert!(breaker.suspects_one());
        breaker.clear_suspicion();
        assert!(!breaker.suspects_one());
        breaker.probe_started();
        fail(&mut breaker, now, 7);
        assert!(!breaker.suspects_one());
        // A question is answered again: that one was refused says nothing any more of the way.
        let (mut breaker, mut now) = (CircuitBreaker::default(), NOW);
        for refused in [RequestKind::Report(SubmissionId(7)), RequestKind::Question] {
            breaker.probe_started();
            let failure = Failure { refused: Some(refused), locked: true, retry_after: None };
            now = breaker.failed(at(now), &timing, failure, 0.999);
        }
        breaker.probe_started();
        breaker.answered(RequestKind::Question);
        breaker.probe_started();
        fail(&mut breaker, now, 7);
        assert!(breaker.suspects_one());
        // Another one was refused, but long ago.
        for (hours, blamed) in [(1, false), (2, true)] {
            let (mut breaker, now) = refused(&[7, 8]);
            breaker.probe_started();
            fail(&mut breaker, now.plus_seconds(hours * 3_600 - 60), 7);
            assert_eq!(breaker.suspects_one(), blamed, "{hours} h");
        }
        // Both were under way when the first was refused.
        let (mut breaker, _) = refused(&[7]);
        fail(&mut breaker, NOW, 8);
        assert_eq!(breaker.suspect(at(NOW.plus_seconds(60)), &timing), None);
        // Whoever asks for patience gets it, and what has no answer is nobody's fault.
        let patience = Some(Duration::from_secs(9));
        for (retry_after, refused) in
            [(patience, Some(RequestKind::Report(SubmissionId(7)))), (None, None)]
        {
            let mut breaker = CircuitBreaker::default();
            let failure = Failure { refused, retry_after, locked: false };
            breaker.failed(at(NOW), &timing, failure, 0.5);
            assert_eq!(breaker.suspect(at(NOW.plus_seconds(86_400)), &timing), None);
        }
        // A report in doubt, and nobody there: a pause like after the first fault.
        let (mut breaker, now) = refused(&[7; 9]);
        breaker.probe_started();
        assert!(breaker.doubted(at(now), &timing, 0.999) <= now.plus_seconds(2));
        assert!(!breaker.suspects_one());
        let (mut breaker, now) = refused(&[7; 9]);
        breaker.probe_started();
        let until = breaker.failed(at(now), &timing, Failure::default(), 0.999);
        assert!(until <= now.plus_seconds(30) && !breaker.suspects_one());
    }

    #[test]
    fn questions_that_are_answered_let_no_reports_in() {
        let (timing, report) = (Timing::default(), RequestKind::Report(SubmissionId(7)));
        let mut breaker = CircuitBreaker::default();
        let failure = Failure { refused: Some(report), locked: true, ..Failure::default() };
        let until = breaker.failed(at(NOW), &timing, failure, 0.5);
        assert!(!breaker.answered(RequestKind::Question));
        assert_eq!(breaker.breaker_state(at(NOW)), BreakerState::Open(Some(until)), "not earlier");
        breaker.probe_started();
        assert!(!breaker.answered(RequestKind::Question));
        assert_eq!(breaker.breaker_state(at(until)), BreakerState::HalfOpen, "one at a time");
        breaker.probe_started();
        assert!(
            breaker.failed(at(until), &timing, failure, 0.0) > until.plus_seconds(29),
            "longer"
        );
        // A request that ends in doubt is another matter: its pauses begin anew with each answer.
        for _ in 0..9 {
            breaker.probe_started();
            assert!(breaker.doubted(at(until), &timing, 0.999) <= until.plus_seconds(2));
            breaker.probe_started();
            breaker.answered(RequestKind::Question);
        }
        assert!(breaker.answered(report));
        assert_eq!(breaker.breaker_state(at(NOW)), BreakerState::Closed);
        // Nobody was there, or a question was refused: the next answer shows that this is over.
        for refused in [None, Some(RequestKind::Question)] {
            breaker.failed(at(NOW), &timing, Failure { refused, locked: true, ..failure }, 0.5);
            assert!(breaker.answered(RequestKind::Question));
        }
    }

    #[test]
    fn a_report_that_is_refused_for_its_own_sake_is_no_loss_of_access() {
        let [one, other] = [7, 8].map(SubmissionId);
        for others_are_refused in [false, true] {
            let (mut breaker, timing) = (CircuitBreaker::default(), Timing::default());
            breaker.answered(RequestKind::Question);
            let about = if others_are_refused { other } else { one };
            breaker.own().refuses_only(about, 0);
            let refused = Some(RequestKind::Report(about));
            let failure = Failure { refused, locked: true, ..Failure::default() };
            breaker.failed(at(NOW), &timing, failure, 0.5);
            assert!(!breaker.answered(RequestKind::Question));
            breaker.own().refuses_only(one, 2);
            breaker.turned_away(one);
            assert_eq!(breaker.answered(RequestKind::Question), !others_are_refused);
        }
    }

    #[test]
    fn an_hour_in_which_every_request_ends_in_doubt_costs_at_most_fifteen() {
        let timing = Timing::default();
        for fraction in [0.0, 0.5, 0.999] {
            let (mut breaker, mut now, mut requests) = (CircuitBreaker::default(), NOW, 0);
            while now < NOW.plus_seconds(3600) {
                requests += 1;
                breaker.probe_started();
                now = breaker.doubted(at(now), &timing, fraction);
                assert_eq!(breaker.breaker_state(at(now)), BreakerState::HalfOpen);
            }
            assert!(requests <= 15, "{requests} requests at jitter {fraction}");
        }
    }

    #[test]
    fn a_clock_that_is_set_neither_holds_the_gate_shut_nor_opens_it_twice() {
        let (mut breaker, timing) = (CircuitBreaker::default(), Timing::default());
        breaker.failed(at(NOW), &timing, Failure::default(), 0.0);
        let day = Duration::from_secs(86_400);
        let set_back = |steady| ClockReading { wall: NOW.plus_seconds(-86_400), steady };
        let minute = Duration::from_secs(60);
        assert!(matches!(
            breaker.breaker_state(set_back(Duration::ZERO)),
            BreakerState::Open(Some(_))
        ));
        assert_eq!(breaker.breaker_state(set_back(minute)), BreakerState::HalfOpen);
        // Set forward, or asleep: one probe, and its failure opens it for a whole pause again.
        let forward = ClockReading { wall: at(NOW).after(day), steady: Duration::ZERO };
        assert_eq!(breaker.breaker_state(forward), BreakerState::HalfOpen);
        breaker.probe_started();
        breaker.failed(forward, &timing, Failure::default(), 0.0);
        assert!(matches!(breaker.breaker_state(forward), BreakerState::Open(Some(_))));
    }
}
