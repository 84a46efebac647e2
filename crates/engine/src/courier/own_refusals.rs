//! Which reports, and which questions, are refused for their own sake: others are let in or
//! answered meanwhile. Pure.

use std::collections::HashMap;

use report::SubmissionId;

use super::breaker::RequestKind;

/// What is remembered of refusals, to tell one report's own from those that concern all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OwnRefusals {
    /// Reports that were let in so far.
    let_in: u64,
    /// Requests that were answered so far.
    answers: u64,
    /// How many were let in, when each of these was refused last.
    turned_away: HashMap<SubmissionId, u64>,
    /// How many requests had been answered, when the question for each of these was refused last.
    not_told: HashMap<SubmissionId, u64>,
}

/// Refused reports that are remembered, and as many whose questions were.
const TURNED_AWAY_MAX: usize = 10_000;

impl OwnRefusals {
    /// The authority answered, whatever it said.
    pub(super) fn answered(&mut self, about: RequestKind) {
        self.answers += 1;
        if let RequestKind::Report(id) = about {
            self.turned_away.remove(&id);
            self.let_in += 1;
        }
    }

    /// How many requests were answered so far.
    pub(super) const fn answers(&self) -> u64 {
        self.answers
    }

    /// A report was refused in an answer: whether others were let in since that happened to it
    /// last, so that it is refused for its own sake.
    pub(crate) fn refuses_only(&mut self, id: SubmissionId) -> bool {
        if self.turned_away.len() >= TURNED_AWAY_MAX {
            self.turned_away.clear();
        }
        let before = self.turned_away.insert(id, self.let_in);
        before.is_some_and(|before| before < self.let_in)
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_refused_for_its_own_sake_where_others_are_let_in() {
        let mut refusals = OwnRefusals::default();
        let (one, other) = (SubmissionId(7), RequestKind::Report(SubmissionId(8)));
        assert!(!refusals.refuses_only(one), "the first time nobody can tell");
        assert!(!refusals.refuses_only(one), "nobody else was let in");
        refusals.answered(RequestKind::Question);
        assert!(!refusals.refuses_only(one), "a question is no report");
        refusals.answered(other);
        assert!(refusals.refuses_only(one));
        assert!(!refusals.refuses_only(one), "since the last time");
        refusals.answered(other);
        refusals.answered(RequestKind::Report(one));
        assert!(!refusals.refuses_only(one), "it was let in itself meanwhile");
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
