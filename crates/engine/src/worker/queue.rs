//! What is owed and not begun yet, looked up many at a time.

use std::collections::{HashSet, VecDeque};
use std::sync::PoisonError;
use std::time::Duration;

use client::Authority;
use fhir::Instant;
use journal::{Due, JournalError};
use report::{Duty, State, StateCode, SubmissionId};

use super::Worker;

/// Looked up at once: several times what is under way, little enough that a pause or a withdrawal finds most
/// of the work still in the journal. What was withdrawn meanwhile is not sent: `State::apply` refuses.
const QUEUE_MAX: usize = 256;

/// Pause between two looks for what a clock that was set back has put off.
pub(super) const LOOK_FAR_EVERY: Duration = Duration::from_secs(60);
/// What was recorded so much later than now was recorded before the clock was set back.
const AHEAD: Duration = Duration::from_secs(60);
/// Looked up at once after a clock was set back.
const SWEEP_MAX: usize = 50_000;

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
    pub(super) fn least_tried_first(&mut self, not_asked: &HashSet<SubmissionId>) {
        let tried = |due: &Due| match due.state {
            State::Queued { attempt, .. } => (not_asked.contains(&due.id), attempt),
            _ => (not_asked.contains(&due.id), 0),
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
        // What a clock that was set back has put off is looked for once: put off again, it has a reason.
        *self.clocks.lock().unwrap_or_else(PoisonError::into_inner) = self.clock_reading();
        let waiting: HashSet<SubmissionId> = queue.waiting.iter().map(|due| due.id).collect();
        let new = |due: &Due| queue.may_begin(due, paused) && !waiting.contains(&due.id);
        let far: Vec<Due> = found.into_iter().flat_map(|far| far.due).filter(new).collect();
        // Only a look counts as one: else the next would be put off by every round. Where there was more than it could
        // take, the next one is at once; what it took may be put off as far again, and rests until the next one.
        if is_whole {
            let mut last = self.looked_far.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some(self.clock_reading());
        }
        queue.waiting.extend(far);
        queue.looked(under_way);
        Ok(())
    }

    /// What was put off for longer than anything ever is, or at a time that is still to come: the clock was set
    /// back meanwhile. Looked for every minute, and until nothing is left. Where it was set back since the last
    /// look, all that waits is owed: the breaker keeps whatever pause was asked for, by whichever clock says more.
    /// `None` where it is not time to look.
    pub(super) fn put_off_too_far(&self) -> Result<Option<Far>, JournalError> {
        let now = self.clock_reading();
        let seen = *self.clocks.lock().unwrap_or_else(PoisonError::into_inner);
        let set_back = now.set_back_since(seen) > AHEAD;
        let last = *self.looked_far.lock().unwrap_or_else(PoisonError::into_inner);
        if !set_back && last.is_some_and(|last| now.since(last) < LOOK_FAR_EVERY) {
            return Ok(None);
        }
        let pause = self.timing.asks.iter().copied().max().unwrap_or_default();
        let patience = self.timing.backoff_max.max(self.timing.retry_after_max);
        let (send, ask) = (now.after(patience), now.after(pause.max(patience)));
        // What no search tells of is read as often as others search.
        let all_searched = self.searches() && self.formerly.is_empty();
        let read =
            now.after(if all_searched { self.timing.read_max } else { self.timing.poll_max });
        let longest = now.after(self.timing.read_max);
        let recorded = if set_back { Instant(i64::MIN) } else { now.after(AHEAD) };
        let most = if set_back { SWEEP_MAX } else { QUEUE_MAX };
        let mut far = Far { due: Vec::new(), is_whole: true };
        // Reading all that is in progress at once would be a storm, and searches learn of it anyway.
        let reads = if all_searched { most } else { SWEEP_MAX };
        for (state, at, recorded, most) in [
            (StateCode::Unknown, ask, recorded, most),
            (StateCode::Queued, send, recorded, most),
            (StateCode::InProgress, read, Instant(i64::MAX), reads),
        ] {
            let found = self.journal.due_beyond(at, recorded, state, most)?;
            far.is_whole &= found.len() < most;
            far.due.extend(found);
        }
        let wanted = |due: &Due| {
            due.duty != Duty::Read || due.due > longest || self.is_unsearched(&due.state)
        };
        far.due.retain(|due| due.endpoint == self.endpoint.id() && wanted(due));
        Ok(Some(far))
    }
}

#[cfg(test)]
mod tests {
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
        queue.least_tried_first(&HashSet::from([SubmissionId(2)]));
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
