//! Which reports, and which questions, are refused for their own sake: others are let in or
//! answered meanwhile. Pure.

use std::collections::HashMap;
use std::time::Duration;

use report::SubmissionId;

use super::breaker::RequestKind;

/// What is remembered of refusals, to tell one report's own from those that concern all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OwnRefusals {
    /// Reports that were let in so far.
    let_in: u64,
    /// Requests that were answered so far.
    answers: u64,
    /// The last refusal of each of these reports.
    turned_away: HashMap<SubmissionId, TurnedAway>,
    /// How many requests had been answered, when the question for each of these was refused last.
    not_told: HashMap<SubmissionId, u64>,
    /// Long patience that is asked for at questions.
    questions_put_off: Option<PutOff>,
    /// Patience that is asked for at the deliveries of reports.
    deliveries_put_off: Option<PutOff>,
    /// How many reports had been let in, when each of these was asked for patience first and last.
    patience: HashMap<SubmissionId, (u64, u64)>,
}

/// Patience that is asked for again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PutOff {
    /// How many reports had been let in when it was asked for first.
    let_in: u64,
    /// When it counts no more, by the steady clock, unless it is asked for again before.
    until: Duration,
}

impl PutOff {
    /// After the same was asked for `before`, or nothing of late.
    fn once_more(before: Option<Self>, let_in: u64, now: Duration, patience: Duration) -> Self {
        let goes_on = before.filter(|it| now < it.until);
        let until = now.saturating_add(patience.saturating_mul(2));
        Self { let_in: goes_on.map_or(let_in, |it| it.let_in), until }
    }
}

/// The last refusal of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TurnedAway {
    /// How many reports had been let in by then.
    let_in: u64,
    /// How many requests had been answered.
    answers: u64,
}

/// Refused reports that are remembered, and as many whose questions were.
const TURNED_AWAY_MAX: usize = 10_000;

impl OwnRefusals {
    /// The authority answered, whatever it said.
    pub(super) fn answered(&mut self, about: RequestKind) {
        self.answers += 1;
        if let RequestKind::Report(id) = about {
            self.turned_away.remove(&id);
            self.patience.remove(&id);
            self.let_in += 1;
        }
    }

    /// How many requests were answered so far.
    pub(super) const fn answers(&self) -> u64 {
        self.answers
    }

    /// A report was refused in an answer, after `before` times for its own sake: whether it is so
    /// again. Either others were let in since it was refused last; or that happened more than once
    /// before, requests were answered since the last time, and no other report was refused since
    /// one was let in. Once may be that access came back for a moment.
    pub(crate) fn refuses_only(&mut self, id: SubmissionId, before: u32) -> bool {
        if self.turned_away.len() >= TURNED_AWAY_MAX {
            self.turned_away.clear();
        }
        let last = self.turned_away.get(&id);
        let others_are_let_in = last.is_some_and(|last| last.let_in < self.let_in);
        let is_answered = self.answers > last.map_or(0, |last| last.answers);
        let only = others_are_let_in || before >= 2 && is_answered && self.is_alone(id);
        let now = TurnedAway { let_in: self.let_in, answers: self.answers };
        self.turned_away.insert(id, now);
        only
    }

    /// Whether no other report was refused since one was let in.
    pub(super) fn is_alone(&self, id: SubmissionId) -> bool {
        let mut since = self.turned_away.iter().filter(|(_, it)| it.let_in == self.let_in);
        since.all(|(other, _)| *other == id)
    }

    /// The question for a report was refused in an answer: whether other requests were answered
    /// since that happened to it last, so that it is refused for what it asks.
    pub(crate) fn refuses_only_question(&mut self, id: SubmissionId) -> bool {
        if self.not_told.len() >= TURNED_AWAY_MAX {
            self.not_told.clear();
        }
        let before = self.not_told.insert(id, self.answers);
        before.is_some_and(|before| before < self.answers)
    }

    /// So long a patience was asked for at a question: whether a report was let in since that
    /// happened first, so that it is asked of questions alone. What was asked for long ago, as in
    /// an earlier maintenance, says nothing; `now`: by the steady clock.
    pub(crate) fn puts_off_only_questions(&mut self, now: Duration, patience: Duration) -> bool {
        let put_off = PutOff::once_more(self.questions_put_off, self.let_in, now, patience);
        self.questions_put_off = Some(put_off);
        put_off.let_in < self.let_in
    }

    /// Patience was asked for at a report: whether others were let in since that happened to it
    /// first, or to any not long ago, so that it is asked of this one alone. Since one was let in
    /// it is so of `most` at most: a limit for everybody meets some after others by chance. `now`:
    /// by the steady clock.
    pub(crate) fn puts_off_only(
        &mut self,
        id: SubmissionId,
        most: usize,
        now: Duration,
        patience: Duration,
    ) -> bool {
        if self.patience.len() >= TURNED_AWAY_MAX {
            self.patience.clear();
        }
        let (first, last) = self.patience.entry(id).or_insert((self.let_in, 0));
        *last = self.let_in;
        let put_off = PutOff::once_more(self.deliveries_put_off, self.let_in, now, patience);
        self.deliveries_put_off = Some(put_off);
        let others_are_let_in = (*first).min(put_off.let_in) < self.let_in;
        let met = self.patience.values().filter(|(_, last)| *last == self.let_in);
        others_are_let_in && met.count() <= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_refused_for_its_own_sake_where_others_are_let_in() {
        let mut refusals = OwnRefusals::default();
        let (one, other) = (SubmissionId(7), RequestKind::Report(SubmissionId(8)));
        assert!(!refusals.refuses_only(one, 0), "the first time nobody can tell");
        assert!(!refusals.refuses_only(one, 0), "nobody else was let in");
        refusals.answered(RequestKind::Question);
        assert!(!refusals.refuses_only(one, 0), "a question is no report");
        refusals.answered(other);
        assert!(refusals.refuses_only(one, 0));
        assert!(!refusals.refuses_only(one, 1), "nothing was answered since the last time");
        refusals.answered(other);
        refusals.answered(RequestKind::Report(one));
        assert!(!refusals.refuses_only(one, 0), "it was let in itself meanwhile");
    }

    /// Nothing else is sent any more, also after another process has taken the queue over.
    #[test]
    fn what_was_refused_for_its_own_sake_is_so_again_while_questions_are_answered() {
        let [one, other] = [7, 8].map(SubmissionId);
        let mut refusals = OwnRefusals::default();
        assert!(!refusals.refuses_only(one, 2), "nothing was answered yet");
        refusals.answered(RequestKind::Question);
        assert!(!refusals.refuses_only(one, 1), "perhaps access came back for a moment");
        refusals.answered(RequestKind::Question);
        assert!(refusals.refuses_only(one, 2));
        assert!(!refusals.refuses_only(one, 3), "nothing was answered since the last time");
        refusals.answered(RequestKind::Question);
        assert!(!refusals.refuses_only(other, 2), "perhaps all are refused");
        assert!(!refusals.refuses_only(one, 3), "as the other one is");
        refusals.answered(RequestKind::Report(SubmissionId(10)));
        assert!(refusals.refuses_only(one, 3), "others are let in");
    }

    #[test]
    fn questions_alone_are_put_off_where_reports_are_let_in() {
        let mut refusals = OwnRefusals::default();
        let hours = |hours: u64| Duration::from_secs(hours * 3_600);
        let only = |refusals: &mut OwnRefusals, now| {
            refusals.puts_off_only_questions(hours(now), hours(1))
        };
        assert!(!only(&mut refusals, 0), "the first time nobody can tell");
        refusals.answered(RequestKind::Question);
        assert!(!only(&mut refusals, 1), "no report was let in");
        refusals.answered(RequestKind::Report(SubmissionId(7)));
        assert!(only(&mut refusals, 2));
        assert!(only(&mut refusals, 2), "also several at once");
        assert!(only(&mut refusals, 3), "it goes on");
        assert!(!only(&mut refusals, 99), "another maintenance");
    }

    #[test]
    fn patience_is_asked_of_one_report_alone_where_others_are_let_in() {
        let [one, other, third] = [7, 8, 9].map(SubmissionId);
        let mut refusals = OwnRefusals::default();
        let only = |refusals: &mut OwnRefusals, hour: u64, id| {
            let hours = |hours: u64| Duration::from_secs(hours * 3_600);
            refusals.puts_off_only(id, 2, hours(hour), hours(1))
        };
        assert!(!only(&mut refusals, 0, one), "the first time nobody can tell");
        assert!(!only(&mut refusals, 0, one), "nobody else was let in");
        assert!(!only(&mut refusals, 0, other) && !only(&mut refusals, 0, third));
        refusals.answered(RequestKind::Question);
        assert!(!only(&mut refusals, 0, one), "a question is no report");
        refusals.answered(RequestKind::Report(SubmissionId(10)));
        assert!(only(&mut refusals, 0, one));
        assert!(only(&mut refusals, 0, one), "also where nothing else is sent any more");
        assert!(only(&mut refusals, 0, other));
        assert!(!only(&mut refusals, 0, third), "too many at once: all are asked");
        refusals.answered(RequestKind::Report(one));
        assert!(only(&mut refusals, 1, one), "not long ago others were asked for patience, too");
        assert!(!only(&mut refusals, 9, SubmissionId(11)), "that was long ago");
    }

    #[test]
    fn a_question_is_refused_for_what_it_asks_where_others_are_answered() {
        let mut refusals = OwnRefusals::default();
        let one = SubmissionId(7);
        assert!(!refusals.refuses_only_question(one), "the first time nobody can tell");
        assert!(!refusals.refuses_only_question(one), "nothing else was answered");
        refusals.answered(RequestKind::Question);
        assert!(refusals.refuses_only_question(one));
        assert!(!refusals.refuses_only_question(SubmissionId(8)), "each by itself");
    }
}
