//! What is owed and not begun yet, looked up many at a time.

use std::collections::{HashSet, VecDeque};

use client::Authority;
use journal::{Due, JournalError};
use report::{Duty, State, SubmissionId};

use super::Worker;

/// Looked up at once: several times what is under way, little enough that a pause or a withdrawal finds most
/// of the work still in the journal. What was withdrawn meanwhile is not sent: `State::apply` refuses.
const QUEUE_MAX: usize = 256;

/// The next duties of a round.
#[derive(Default)]
pub(super) struct Queue {
    /// Owed, in order.
    pub(super) waiting: VecDeque<Due>,
    /// Under way.
    pub(super) taken: HashSet<SubmissionId>,
    /// Looked in vain: the next look pays when no more than so many are under way.
    next_look: Option<usize>,
}

impl Queue {
    /// Whether a look at the journal pays now.
    pub(super) fn wants_more(&self, under_way: usize) -> bool {
        self.waiting.is_empty() && self.next_look.is_none_or(|most| under_way <= most)
    }

    /// A look was made: after one in vain, the next waits until half of the work is done.
    pub(super) fn looked(&mut self, under_way: usize) {
        self.next_look = self.waiting.is_empty().then_some(under_way / 2);
    }

    /// Time has passed: something may have been added.
    pub(super) fn look_again(&mut self) {
        self.next_look = None;
    }

    /// The next duties that may begin; of a suspect none.
    pub(super) fn start(
        &mut self,
        room: usize,
        paused: bool,
        suspect: Option<SubmissionId>,
    ) -> Vec<Due> {
        let mut started = Vec::new();
        while started.len() < room {
            let Some(due) = self.waiting.pop_front() else { break };
            if suspect != Some(due.id) && self.may_begin(&due, paused) {
                self.taken.insert(due.id);
                started.push(due);
            }
        }
        started
    }

    /// For a probe: a report that is always refused, or that cannot be asked for, must not try the way for the others
    /// each time.
    pub(super) fn least_tried_first(&mut self, comes_last: impl Fn(SubmissionId) -> bool) {
        let tried = |due: &Due| match due.state {
            State::Queued { attempt, .. } => (comes_last(due.id), attempt),
            _ => (comes_last(due.id), 0),
        };
        self.waiting.make_contiguous().sort_by_key(tried);
    }

    /// It is not under way, and while sending is paused it is a question.
    fn may_begin(&self, due: &Due, paused: bool) -> bool {
        (due.duty != Duty::Send || !paused) && !self.taken.contains(&due.id)
    }
}

/// What a look found that was put off too far.
pub(super) struct Far {
    pub(super) due: Vec<Due>,
    /// There is no more of it.
    is_whole: bool,
}

impl<A: Authority> Worker<A> {
    /// Looks up what is owed, many at a time: a look costs as much as a report.
    pub(super) fn fill(&self, queue: &mut Queue, under_way: usize) -> Result<(), JournalError> {
        let paused = self.journal.is_paused()?;
        let mut limit = queue.taken.len() + QUEUE_MAX;
        loop {
            let due = self.journal.due_at(self.endpoint.id(), self.clock.now(), limit)?;
            let all = due.len() < limit;
            queue.waiting = due.into_iter().filter(|due| queue.may_begin(due, paused)).collect();
            // What this worker may not do must not hide what it may.
            if all || !queue.waiting.is_empty() {
                break;
            }
            limit = limit.saturating_mul(4);
        }
        let found = self.put_off_too_far()?;
        let is_whole = found.as_ref().is_some_and(|far| far.is_whole);
        let waiting: HashSet<SubmissionId> = queue.waiting.iter().map(|due| due.id).collect();
        let new = |due: &Due| queue.may_begin(due, paused) && !waiting.contains(&due.id);
        let far: Vec<Due> = found.into_iter().flat_map(|far| far.due).filter(new).collect();
        self.courier().swept(self.clock_reading(), is_whole);
        queue.waiting.extend(far);
        queue.looked(under_way);
        Ok(())
    }

    /// What was put off too far, where it is time to look for it.
    pub(super) fn put_off_too_far(&self) -> Result<Option<Far>, JournalError> {
        let sweep = self.courier().sweep(self.clock_reading());
        let Some(sweep) = sweep else { return Ok(None) };
        let mut far = Far { due: Vec::new(), is_whole: true };
        for look in sweep.looks {
            let found = self.journal.due_beyond(look.due, look.recorded, look.state, look.most)?;
            far.is_whole &= found.len() < look.most;
            far.due.extend(found);
        }
        let courier = self.courier();
        far.due.retain(|due| due.endpoint == self.endpoint.id() && courier.is_put_off(&sweep, due));
        Ok(Some(far))
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
        }
    }

    #[test]
    fn looks_in_vain_become_rare_until_time_passes() {
        let mut queue = Queue::default();
        assert!(queue.wants_more(0));
        queue.waiting.extend([due(1), due(2), due(3)]);
        queue.looked(0);
        assert_eq!(queue.start(2, false, None).len(), 2);
        assert!(!queue.wants_more(2), "something waits");
        assert_eq!(queue.start(2, false, None).len(), 1);
        assert!(queue.wants_more(3));
        queue.looked(3);
        assert!(!queue.wants_more(3) && !queue.wants_more(2));
        assert!(queue.wants_more(1));
        queue.look_again();
        assert!(queue.wants_more(3));
        queue.looked(8);
        assert!(!queue.wants_more(5) && queue.wants_more(4), "half of the work is done");
    }

    #[test]
    fn a_probe_is_made_with_what_was_tried_least() {
        let mut queue = Queue::default();
        let tried = |id, attempt| Due {
            state: State::Queued { attempt, due: Instant::from_seconds(0), refusals: 0, doubts: 0 },
            ..due(id)
        };
        queue.waiting.extend([tried(1, 3), tried(2, 0), tried(3, 1), tried(4, 0)]);
        queue.least_tried_first(|id| id == SubmissionId(2));
        let order: Vec<i64> = queue.start(4, false, None).iter().map(|due| due.id.0).collect();
        assert_eq!(order, [4, 3, 1, 2]);
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
