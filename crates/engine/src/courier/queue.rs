//! What is owed and not begun yet, and what of it may begin. Pure.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet, VecDeque};

use journal::Due;
use report::{Duty, State, SubmissionId};

use super::Courier;
use super::breaker::BreakerState;
use crate::ClockReading;

/// Looked up at once: several times what is under way, little enough that a pause or a withdrawal
/// finds most of the work still in the journal. What was withdrawn meanwhile is not sent:
/// `State::apply` refuses.
pub(super) const QUEUE_MAX: usize = 256;

/// Tries of an older version after which it keeps no newer one of its document waiting: by then
/// half an hour has passed. It may be refused for its own sake, which only another report can tell.
const TRIES_MAX: u32 = 6;

/// What tries the way first, of what was tried as often.
#[derive(Debug, Clone, Copy, Default)]
struct ProbeOrder {
    /// Deliveries before questions.
    deliveries_first: bool,
    /// What was added last, before what was added earlier.
    newest_first: bool,
}

/// The next duties of a round.
#[derive(Default)]
pub(super) struct Queue {
    /// Owed, in order.
    waiting: VecDeque<Due>,
    /// Under way, each with the document that is being sent.
    taken: HashMap<SubmissionId, Option<String>>,
    /// Looked in vain: the next look pays when no more than so many are under way.
    next_look: Option<usize>,
    /// What is under way ends, and then it is searched: news may not wait for a long queue.
    search_waits: bool,
    /// The journal refuses: requests that are under way are finished, because what it refuses of
    /// one report throws no other into doubt.
    journal_refuses: bool,
}

impl Queue {
    /// Whether a look at the journal pays now.
    fn wants_more(&self) -> bool {
        self.waiting.is_empty() && self.next_look.is_none_or(|most| self.taken.len() <= most)
    }

    /// A look was made: after one in vain, the next waits until half of the work is done.
    fn looked(&mut self) {
        self.next_look = self.waiting.is_empty().then_some(self.taken.len() / 2);
    }

    /// The next duties that may begin; of a suspect none.
    fn start(&mut self, room: usize, paused: bool, suspect: Option<SubmissionId>) -> Vec<Due> {
        let mut started = Vec::new();
        while started.len() < room {
            let Some(due) = self.waiting.pop_front() else { break };
            if suspect != Some(due.id) && self.may_begin(&due, paused) {
                let document = due.document.clone().filter(|_| due.duty == Duty::Send);
                self.taken.insert(due.id, document);
                started.push(due);
            }
        }
        started
    }

    /// A newer version is not sent while an older one of its document waits to be: once that has
    /// ended, it is found again. What waits for the answer to a question keeps none waiting, nor
    /// does what was tried often.
    fn drop_newer_versions(&mut self, waits_for_answer: impl Fn(SubmissionId) -> bool) {
        let sent = |due: &&Due| due.duty == Duty::Send;
        let comes_first = |due: &&Due| {
            let State::Queued { attempt, .. } = due.state else { return false };
            attempt < TRIES_MAX && !waits_for_answer(due.id)
        };
        let mut oldest: HashMap<String, SubmissionId> = HashMap::new();
        for due in self.waiting.iter().filter(sent).filter(comes_first) {
            if let Some(document) = &due.document {
                let oldest = oldest.entry(document.clone()).or_insert(due.id);
                *oldest = due.id.min(*oldest);
            }
        }
        let oldest_of = |due: &Due| due.document.as_ref().and_then(|it| oldest.get(it));
        self.waiting.retain(|due| !sent(&due) || oldest_of(due).is_none_or(|it| *it >= due.id));
    }

    /// For a probe: a report that is always refused, or that cannot be asked for, must not try the
    /// way for the others each time, nor must questions where one of them has failed last. What was
    /// added after a report that patience is asked for may be of its kind: the newest comes first.
    fn least_tried_first(
        &mut self,
        comes_last: impl Fn(SubmissionId) -> bool,
        ProbeOrder { deliveries_first, newest_first }: ProbeOrder,
    ) {
        let tried = |due: &Due| match due.state {
            State::Queued { attempt, .. } => {
                (comes_last(due.id), deliveries_first && asks_first(due), attempt)
            }
            _ if deliveries_first => (comes_last(due.id), true, u32::MAX),
            _ => (comes_last(due.id), false, 0),
        };
        let newest = |due: &Due| newest_first.then_some(Reverse(due.id));
        self.waiting.make_contiguous().sort_by_key(|due| (tried(due), newest(due)));
    }

    /// It is not under way, and while sending is paused it is a question. No two versions of one
    /// document are sent side by side: the older one might be stored last.
    fn may_begin(&self, due: &Due, paused: bool) -> bool {
        let sends = due.duty == Duty::Send;
        let is_beside = || {
            let mut sent = self.taken.values().flatten();
            due.document.as_ref().is_some_and(|document| sent.any(|it| it == document))
        };
        !self.taken.contains_key(&due.id) && !(sends && (paused || is_beside()))
    }
}

/// It is a question, or a correction, which is sent after one.
fn asks_first(due: &Due) -> bool {
    due.corrects.is_some() || !matches!(due.state, State::Queued { .. })
}

impl Courier {
    /// A round begins: nothing waits, and nothing is under way.
    pub(crate) fn round_begins(&mut self) {
        self.queue = Queue::default();
        self.breaker.probe_ended();
    }

    /// Time has passed: something may have been added; and whether a search for changes is late by
    /// now.
    pub(crate) fn time_has_passed(&mut self, search_is_late: bool) {
        (self.queue.next_look, self.queue.search_waits) = (None, search_is_late);
    }

    /// The journal refuses something: nothing begins any more in this round.
    pub(crate) fn journal_refuses(&mut self) {
        self.queue.journal_refuses = true;
    }

    /// How many more requests may start now.
    fn room(&self, now: ClockReading) -> usize {
        if self.queue.search_waits || self.queue.journal_refuses {
            return 0;
        }
        let under_way = self.queue.taken.len();
        match self.breaker.breaker_state(now) {
            BreakerState::Closed => self.timing.in_flight_max.saturating_sub(under_way),
            BreakerState::HalfOpen => 1_usize.saturating_sub(under_way),
            // Open because of one report alone: any other may try the way.
            BreakerState::Open(_) if self.breaker.suspect(now, &self.timing).is_some() => {
                1_usize.saturating_sub(under_way)
            }
            BreakerState::Open(_) => 0,
        }
    }

    /// Whether it pays to look up now what is owed.
    pub(crate) fn wants_more(&self, now: ClockReading) -> bool {
        self.room(now) > 0 && self.queue.wants_more()
    }

    /// How much to look up at first.
    pub(crate) fn look_up(&self) -> usize {
        self.queue.taken.len() + QUEUE_MAX
    }

    /// So much is owed of at most so much that was looked up; how much to look up instead, where
    /// what may not begin has hidden what may.
    pub(crate) fn owed(&mut self, due: Vec<Due>, limit: usize, paused: bool) -> Option<usize> {
        let all = due.len() < limit;
        let waiting = due.into_iter().filter(|due| self.queue.may_begin(due, paused)).collect();
        self.queue.waiting = waiting;
        self.queue.drop_newer_versions(|id| self.questions.others_try_first(id));
        // Where a question has opened the breaker, a delivery that asks nothing first is to be
        // among it.
        let tries_the_way = |due: &Due| !asks_first(due);
        let hides_what_tries = !paused
            && self.questions.deliveries_try_first()
            && !self.queue.waiting.iter().any(tries_the_way);
        (!all && (self.queue.waiting.is_empty() || hides_what_tries))
            .then(|| limit.saturating_mul(4))
    }

    /// All was looked up that is owed, and this was put off too far.
    pub(crate) fn looked(&mut self, now: ClockReading, put_off: Vec<Due>, paused: bool) {
        let waiting: HashSet<_> = self.queue.waiting.iter().map(|due| due.id).collect();
        let is_new = |due: &Due| self.queue.may_begin(due, paused) && !waiting.contains(&due.id);
        let new: Vec<Due> = put_off.into_iter().filter(is_new).collect();
        self.queue.waiting.extend(new);
        let questions = &self.questions;
        self.queue.drop_newer_versions(|id| questions.others_try_first(id));
        self.queue.looked();
        if self.breaker.breaker_state(now) != BreakerState::Closed {
            let deliveries_first = questions.deliveries_try_first();
            let order = ProbeOrder { deliveries_first, newest_first: self.breaker.is_put_off() };
            self.queue.least_tried_first(|id| questions.others_try_first(id), order);
        }
    }

    /// Whether something waits that may begin now, unless sending is paused.
    pub(crate) fn has_next(&self, now: ClockReading) -> bool {
        self.room(now) > 0 && !self.queue.waiting.is_empty()
    }

    /// What begins now. Where the breaker is open, it is a probe.
    pub(crate) fn next(&mut self, now: ClockReading, paused: bool) -> Vec<Due> {
        let room = self.room(now);
        let half_open = self.breaker.breaker_state(now) == BreakerState::HalfOpen;
        let suspect = self.breaker.suspect(now, &self.timing).filter(|_| !half_open);
        let orders = self.queue.start(room, paused, suspect);
        if !orders.is_empty() {
            self.breaker.probe_started();
        }
        orders.iter().for_each(|due| self.trying.begins(due.id));
        orders
    }

    /// What was to be done for this report has been done, whatever came of it.
    pub(crate) fn done(&mut self, id: SubmissionId) {
        self.queue.taken.remove(&id);
        if self.queue.taken.is_empty() {
            // A probe has come to nothing where its report was withdrawn or the round broke off.
            self.breaker.probe_ended();
        }
    }
}

#[cfg(test)]
mod tests {
    use fhir::Instant;

    use super::*;

    fn due(id: i64) -> Due {
        let now = Instant::from_seconds(0);
        Due {
            id: SubmissionId(id),
            state: State::Queued { attempt: 0, due: now, refusals: 0, doubts: 0 },
            duty: Duty::Send,
            due: now,
            identifier: String::new(),
            endpoint: String::new(),
            corrects: None,
            document: None,
        }
    }

    fn done(queue: &mut Queue, ids: impl IntoIterator<Item = i64>) {
        for id in ids {
            queue.taken.remove(&SubmissionId(id));
        }
    }

    #[test]
    fn looks_in_vain_become_rare_until_time_passes() {
        let mut queue = Queue::default();
        assert!(queue.wants_more());
        queue.waiting.extend([due(1), due(2), due(3)]);
        queue.looked();
        assert_eq!(queue.start(2, false, None).len(), 2);
        assert!(!queue.wants_more(), "something waits");
        assert_eq!(queue.start(2, false, None).len(), 1);
        assert!(queue.wants_more());
        queue.looked();
        assert!(!queue.wants_more());
        done(&mut queue, [1]);
        assert!(!queue.wants_more());
        done(&mut queue, [2]);
        assert!(queue.wants_more(), "half of the work is done");
        queue.waiting.extend((11..19).map(due));
        queue.looked();
        queue.start(8, false, None);
        queue.next_look = None;
        assert!(queue.wants_more(), "time has passed");
        queue.looked();
        done(&mut queue, 11..15);
        assert!(!queue.wants_more());
        done(&mut queue, [15]);
        assert!(queue.wants_more(), "half of the work is done");
    }

    #[test]
    fn a_probe_is_made_with_what_was_tried_least() {
        let tried = |id, attempt| Due {
            state: State::Queued { attempt, due: Instant::from_seconds(0), refusals: 0, doubts: 0 },
            ..due(id)
        };
        let question = Due { duty: Duty::Ask, state: State::Held { attempt: 1 }, ..due(5) };
        let cases = [
            (false, false, [4, 6, 5, 3, 1, 2]),
            (true, false, [4, 6, 3, 1, 5, 2]),
            (true, true, [6, 4, 3, 1, 5, 2]),
        ];
        for (deliveries_first, newest_first, order) in cases {
            let mut queue = Queue::default();
            let reports = [tried(1, 3), tried(2, 0), tried(3, 1), tried(4, 0), tried(6, 0)];
            queue.waiting.extend(reports.into_iter().chain([question.clone()]));
            let first = ProbeOrder { deliveries_first, newest_first };
            queue.least_tried_first(|id| id == SubmissionId(2), first);
            let started: Vec<i64> = queue.start(9, false, None).iter().map(|it| it.id.0).collect();
            assert_eq!(started, order);
        }
    }

    #[test]
    fn versions_of_one_document_are_sent_one_after_the_other() {
        let of = |id, document: &str| Due { document: Some(document.to_owned()), ..due(id) };
        let ids = |started: Vec<Due>| started.iter().map(|due| due.id.0).collect::<Vec<_>>();
        let all = || [of(1, "a"), of(2, "a"), of(3, "b"), due(4), due(5)];
        let mut queue = Queue::default();
        queue.waiting.extend(all());
        assert_eq!(ids(queue.start(9, false, None)), [1, 3, 4, 5]);
        // It is found again once the first one has ended, and not before: nothing looks in vain.
        assert!(all().iter().all(|due| !queue.may_begin(due, false)));
        done(&mut queue, [1]);
        queue.waiting.push_back(of(2, "a"));
        // A question is none that sends.
        queue.waiting.push_back(Due { duty: Duty::Ask, ..of(6, "a") });
        assert_eq!(ids(queue.start(9, false, None)), [2, 6]);
    }

    #[test]
    fn a_newer_version_is_not_sent_while_an_older_one_waits_to_be() {
        let of = |id, document: &str| Due { document: Some(document.to_owned()), ..due(id) };
        let question = Due { duty: Duty::Ask, ..of(9, "a") };
        let all = || [of(3, "a"), due(4), of(2, "b"), of(1, "a"), due(5), question.clone()];
        let order = |queue: &Queue| queue.waiting.iter().map(|it| it.id.0).collect::<Vec<_>>();
        let mut queue = Queue::default();
        queue.waiting.extend(all());
        queue.drop_newer_versions(|_| false);
        assert_eq!(order(&queue), [4, 2, 1, 5, 9]);
        // The older one waits for an answer that may not come for hours.
        queue.waiting = all().into();
        queue.drop_newer_versions(|id| id == SubmissionId(1));
        assert_eq!(order(&queue), [3, 4, 2, 1, 5, 9]);
        // It was refused often, perhaps for its own sake.
        let now = Instant::from_seconds(0);
        let tried = State::Queued { attempt: TRIES_MAX, due: now, refusals: 0, doubts: 0 };
        queue.waiting = [of(3, "a"), Due { state: tried, ..of(1, "a") }].into();
        queue.drop_newer_versions(|_| false);
        assert_eq!(order(&queue), [3, 1]);
    }

    #[test]
    fn what_is_paused_or_under_way_does_not_begin() {
        let mut queue = Queue::default();
        queue.waiting.extend([due(1), due(1), due(2)]);
        assert_eq!(queue.start(3, false, None).len(), 2);
        queue.waiting.push_back(due(3));
        assert!(queue.start(3, true, None).is_empty());
        queue.waiting.extend([due(4), due(5)]);
        let others: Vec<i64> =
            queue.start(3, false, Some(SubmissionId(4))).iter().map(|due| due.id.0).collect();
        assert_eq!(others, [5], "the suspect does not try the way for the others");
    }
}
