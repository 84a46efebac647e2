//! The breaker of one endpoint: closed after a fault that concerns all reports, then one probe at a time.

use std::collections::HashMap;
use std::time::Duration;

use fhir::Instant;
use report::SubmissionId;

use crate::{Moment, Pace};

/// Whether requests may go out now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Gate {
    /// Faults in a row, and requests that ended in doubt.
    failures: u32,
    doubts: u32,
    /// Since when, and for how long.
    closed: Option<(Moment, Duration)>,
    probing: bool,
    /// What was refused last in an answer since a report was let in.
    refused: Option<About>,
    /// The report whose own fault it may be, if it is why the gate is closed.
    suspect: Option<SubmissionId>,
    /// A report was refused for want of access: that questions are answered does not open it.
    locked: bool,
    /// Reports that were let in so far.
    let_in: u64,
    /// How many were, when each of these was refused last.
    turned_away: HashMap<SubmissionId, u64>,
}

/// Refused reports that are remembered.
const TURNED_AWAY_MAX: usize = 10_000;

/// What an exchange was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// The delivery of a report.
    Report(SubmissionId),
    /// Anything else.
    Question,
}

/// A fault that concerns every report, unless it is the fault of the one that met it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What was refused; `None` where no answer came.
    pub(crate) refused: Option<About>,
    /// A person must act.
    pub(crate) locked: bool,
    /// The pause that was asked for.
    pub(crate) retry_after: Option<Duration>,
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
    pub(crate) fn passage(&self, now: Moment) -> Passage {
        match self.closed {
            None => Passage::Open,
            Some(_) if self.probing => Passage::Closed(None),
            Some((since, pause)) => match pause.saturating_sub(now.since(since)) {
                Duration::ZERO => Passage::Probe,
                rest => Passage::Closed(Some(now.after(rest))),
            },
        }
    }

    /// Where one report was refused, and nothing else before it: that report. Any other may try the way after the
    /// shortest pause, however often this one was refused.
    pub(crate) fn suspect(&self, now: Moment, pace: &Pace) -> Option<SubmissionId> {
        let (since, _) = self.closed.filter(|_| !self.probing)?;
        self.suspect.filter(|_| now.since(since) >= pace.backoff_min)
    }

    /// A report was refused in an answer: whether others were let in since that happened to it last, so that it is
    /// refused for its own sake.
    pub(crate) fn refuses_only(&mut self, id: SubmissionId) -> bool {
        if self.turned_away.len() >= TURNED_AWAY_MAX {
            self.turned_away.clear();
        }
        let before = self.turned_away.insert(id, self.let_in);
        before.is_some_and(|before| before < self.let_in)
    }

    /// Closed because of one report, as far as is known.
    pub(crate) fn blames_one(&self) -> bool {
        self.suspect.is_some()
    }

    /// A question was refused as well: it is not the fault of one report.
    pub(crate) fn acquit(&mut self) {
        (self.refused, self.suspect) = (Some(About::Question), None);
    }

    /// A probe is under way.
    pub(crate) fn probe_started(&mut self) {
        self.probing = self.closed.is_some();
    }

    /// No probe is under way any more, whether or not something was learned by it.
    pub(crate) fn probe_ended(&mut self) {
        self.probing = false;
    }

    /// The authority answered, whatever it said; `false` where that opens nothing: reports are refused, and this was a
    /// question.
    pub(crate) fn answered(&mut self, about: About) -> bool {
        if self.locked && about == About::Question {
            (self.probing, self.doubts) = (false, 0);
            return false;
        }
        let mut turned_away = std::mem::take(&mut self.turned_away);
        let mut let_in = self.let_in;
        if let About::Report(id) = about {
            turned_away.remove(&id);
            let_in += 1;
        }
        *self = Self { let_in, turned_away, ..Self::default() };
        true
    }

    /// Nothing else is tried before the returned time. Requests that were under way together count as one fault.
    pub(crate) fn failed(
        &mut self,
        now: Moment,
        pace: &Pace,
        failure: Failure,
        fraction: f64,
    ) -> Instant {
        match failure.refused {
            // Another fault than that of the one report: how often that was refused makes no pause longer.
            None if self.suspect.take().is_some() => self.failures = 0,
            None => {}
            Some(refused) => {
                // What was refused long ago says nothing: this process did not have the queue meanwhile.
                let recent = |(since, _)| now.since(since) <= pace.backoff_max.saturating_mul(2);
                let before = self.refused.filter(|_| self.closed.is_some_and(recent));
                let alone = before.is_none_or(|before| before == refused);
                self.suspect = match refused {
                    About::Report(id) if alone && failure.retry_after.is_none() => Some(id),
                    _ => None,
                };
                self.refused = Some(refused);
            }
        }
        self.locked |= failure.locked && matches!(failure.refused, Some(About::Report(_)));
        let failures = self.failures.saturating_add(1);
        let pause = pace.backoff(failures, failure.retry_after, fraction);
        self.close(now, pause, |gate| gate.failures = failures)
    }

    /// A request ended in doubt. Perhaps it is this report's fault, perhaps nobody answers any more: the
    /// next one tries alone, soon at first.
    pub(crate) fn doubted(&mut self, now: Moment, pace: &Pace, fraction: f64) -> Instant {
        self.suspect = None;
        let doubts = self.doubts.saturating_add(1);
        self.close(now, pace.backoff_in_doubt(doubts, fraction), |gate| gate.doubts = doubts)
    }

    fn close(&mut self, now: Moment, pause: Duration, count: impl FnOnce(&mut Self)) -> Instant {
        if let (Passage::Closed(Some(until)), false) = (self.passage(now), self.probing) {
            return until;
        }
        count(self);
        self.closed = Some((now, pause));
        self.probing = false;
        now.after(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_seconds(1_000_000);

    /// Both clocks go alike.
    fn at(wall: Instant) -> Moment {
        let steady = Duration::from_micros(u64::try_from(wall.0 - NOW.0).unwrap());
        Moment { wall, steady }
    }

    #[test]
    fn after_a_fault_one_probe_passes_at_a_time() {
        let (mut gate, pace) = (Gate::default(), Pace::default());
        assert_eq!(gate.passage(at(NOW)), Passage::Open);
        let until = gate.failed(at(NOW), &pace, Failure::default(), 0.0);
        assert_eq!(gate.passage(at(NOW)), Passage::Closed(Some(until)));
        // The other requests of the same moment end too: still one fault.
        assert_eq!(gate.failed(at(NOW), &pace, Failure::default(), 0.9), until);
        assert_eq!(gate.passage(at(until)), Passage::Probe);
        gate.probe_started();
        assert_eq!(gate.passage(at(until)), Passage::Closed(None));
        assert!(gate.failed(at(until), &pace, Failure::default(), 0.0) > until.plus_seconds(29));
        // A probe that came to nothing does not keep the gate shut for ever.
        gate.probe_started();
        gate.probe_ended();
        assert!(matches!(gate.passage(at(until)), Passage::Closed(Some(_))));
        gate.answered(About::Question);
        assert_eq!(gate.passage(at(until)), Passage::Open);
    }

    #[test]
    fn one_report_that_is_refused_alone_is_a_suspect() {
        let (pace, id) = (Pace::default(), |id| Some(SubmissionId(id)));
        let fail = |gate: &mut Gate, now, id| {
            let refused = Some(About::Report(SubmissionId(id)));
            gate.failed(at(now), &pace, Failure { refused, ..Failure::default() }, 0.999)
        };
        let refused = |answers: &[i64]| {
            let (mut gate, mut now) = (Gate::default(), NOW);
            for answer in answers {
                gate.probe_started();
                now = fail(&mut gate, now, *answer);
            }
            (gate, now)
        };
        for often in [1, 2, 9] {
            let (gate, now) = refused(&vec![7; often]);
            let now = at(now.plus_seconds(1));
            assert_eq!(gate.suspect(now, &pace), id(7), "refused {often} times");
        }
        let (mut gate, now) = refused(&[7, 7, 7]);
        let next = fail(&mut gate, now, 7);
        assert_eq!(gate.suspect(at(now.plus_seconds(29)), &pace), None, "the shortest pause");
        let tried = now.plus_seconds(30);
        assert!(tried < next);
        assert_eq!(gate.suspect(at(tried), &pace), id(7));
        gate.probe_started();
        assert_eq!(gate.suspect(at(tried), &pace), None, "one at a time");
        fail(&mut gate, tried, 8);
        assert_eq!(gate.suspect(at(NOW.plus_seconds(86_400)), &pace), None, "it is the way");
        for (answers, suspect) in [
            (&[7, 8][..], None),
            (&[7, 8, 7], None),
            (&[7, 8, 7, 7], id(7)),
            (&[7, 7, 8, 8], id(8)),
        ] {
            let (gate, now) = refused(answers);
            assert_eq!(gate.suspect(at(now.plus_seconds(1)), &pace), suspect, "{answers:?}");
        }
        // A question is refused too.
        let (mut gate, now) = refused(&[7]);
        assert!(gate.blames_one());
        gate.acquit();
        assert!(!gate.blames_one());
        gate.probe_started();
        fail(&mut gate, now, 7);
        assert!(!gate.blames_one());
        // Another one was refused, but long ago.
        for (hours, blamed) in [(1, false), (2, true)] {
            let (mut gate, now) = refused(&[7, 8]);
            gate.probe_started();
            fail(&mut gate, now.plus_seconds(hours * 3_600 - 60), 7);
            assert_eq!(gate.blames_one(), blamed, "{hours} h");
        }
        // Both were under way when the first was refused.
        let (mut gate, _) = refused(&[7]);
        fail(&mut gate, NOW, 8);
        assert_eq!(gate.suspect(at(NOW.plus_seconds(60)), &pace), None);
        // Whoever asks for patience gets it, and what has no answer is nobody's fault.
        let patience = Some(Duration::from_secs(9));
        for (retry_after, refused) in
            [(patience, Some(About::Report(SubmissionId(7)))), (None, None)]
        {
            let mut gate = Gate::default();
            let failure = Failure { refused, retry_after, locked: false };
            gate.failed(at(NOW), &pace, failure, 0.5);
            assert_eq!(gate.suspect(at(NOW.plus_seconds(86_400)), &pace), None);
        }
        // A report in doubt, and nobody there: a pause like after the first fault.
        let (mut gate, now) = refused(&[7; 9]);
        gate.probe_started();
        assert!(gate.doubted(at(now), &pace, 0.999) <= now.plus_seconds(2));
        assert!(!gate.blames_one());
        let (mut gate, now) = refused(&[7; 9]);
        gate.probe_started();
        let until = gate.failed(at(now), &pace, Failure::default(), 0.999);
        assert!(until <= now.plus_seconds(30) && !gate.blames_one());
    }

    #[test]
    fn a_report_is_refused_for_its_own_sake_where_others_are_let_in() {
        let mut gate = Gate::default();
        let (one, other) = (SubmissionId(7), About::Report(SubmissionId(8)));
        assert!(!gate.refuses_only(one), "the first time nobody can tell");
        assert!(!gate.refuses_only(one), "nobody else was let in");
        gate.answered(About::Question);
        assert!(!gate.refuses_only(one), "a question is no report");
        gate.answered(other);
        assert!(gate.refuses_only(one));
        assert!(!gate.refuses_only(one), "since the last time");
        gate.answered(other);
        gate.answered(About::Report(one));
        assert!(!gate.refuses_only(one), "it was let in itself meanwhile");
    }

    #[test]
    fn questions_that_are_answered_let_no_reports_in() {
        let (pace, report) = (Pace::default(), About::Report(SubmissionId(7)));
        let mut gate = Gate::default();
        let failure = Failure { refused: Some(report), locked: true, ..Failure::default() };
        let until = gate.failed(at(NOW), &pace, failure, 0.5);
        assert!(!gate.answered(About::Question));
        assert_eq!(gate.passage(at(NOW)), Passage::Closed(Some(until)), "not earlier");
        gate.probe_started();
        assert!(!gate.answered(About::Question));
        assert_eq!(gate.passage(at(until)), Passage::Probe, "one at a time");
        gate.probe_started();
        assert!(gate.failed(at(until), &pace, failure, 0.0) > until.plus_seconds(29), "longer");
        // A request that ends in doubt is another matter: its pauses begin anew with each answer.
        for _ in 0..9 {
            gate.probe_started();
            assert!(gate.doubted(at(until), &pace, 0.999) <= until.plus_seconds(2));
            gate.probe_started();
            gate.answered(About::Question);
        }
        assert!(gate.answered(report));
        assert_eq!(gate.passage(at(NOW)), Passage::Open);
        // Nobody was there, or a question was refused: the next answer shows that this is over.
        for refused in [None, Some(About::Question)] {
            gate.failed(at(NOW), &pace, Failure { refused, locked: true, ..failure }, 0.5);
            assert!(gate.answered(About::Question));
        }
    }

    #[test]
    fn an_hour_in_which_every_request_ends_in_doubt_costs_at_most_fifteen() {
        let pace = Pace::default();
        for fraction in [0.0, 0.5, 0.999] {
            let (mut gate, mut now, mut requests) = (Gate::default(), NOW, 0);
            while now < NOW.plus_seconds(3600) {
                requests += 1;
                gate.probe_started();
                now = gate.doubted(at(now), &pace, fraction);
                assert_eq!(gate.passage(at(now)), Passage::Probe);
            }
            assert!(requests <= 15, "{requests} requests at jitter {fraction}");
        }
    }

    #[test]
    fn a_clock_that_is_set_neither_holds_the_gate_shut_nor_opens_it_twice() {
        let (mut gate, pace) = (Gate::default(), Pace::default());
        gate.failed(at(NOW), &pace, Failure::default(), 0.0);
        let day = Duration::from_secs(86_400);
        let set_back = |steady| Moment { wall: NOW.plus_seconds(-86_400), steady };
        let minute = Duration::from_secs(60);
        assert!(matches!(gate.passage(set_back(Duration::ZERO)), Passage::Closed(Some(_))));
        assert_eq!(gate.passage(set_back(minute)), Passage::Probe);
        // Set forward, or asleep: one probe, and its failure closes for a whole pause again.
        let forward = Moment { wall: at(NOW).after(day), steady: Duration::ZERO };
        assert_eq!(gate.passage(forward), Passage::Probe);
        gate.probe_started();
        gate.failed(forward, &pace, Failure::default(), 0.0);
        assert!(matches!(gate.passage(forward), Passage::Closed(Some(_))));
    }
}
