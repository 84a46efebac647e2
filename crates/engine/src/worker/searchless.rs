//! An authority that refuses to be searched: searches rest, people are told, and reports are read by their id.

use std::sync::PoisonError;
use std::time::Duration;

use client::{Authority, Fault};
use journal::{JournalError, Notice};
use report::State;

use super::Worker;

/// Told to people while searches are refused.
const SEARCH_REFUSED: &str = "search-refused";
/// What couriers tell people, each with its parameters, as long as it is true.
pub const COURIER_NOTICES: &[(&str, &[&str])] = &[(SEARCH_REFUSED, &["endpoint", "status"])];
/// A search rests for so many times as long as it took.
const REST_FACTOR: u32 = 8;

impl<A: Authority> Worker<A> {
    /// How long searches rest at least, after one that took so long.
    pub(super) fn rest_of_searches(&self, took: Duration) -> Duration {
        let rest = took.saturating_mul(REST_FACTOR).min(self.timing.poll_max);
        rest.max(self.lock_polls().refused.map_or(Duration::ZERO, |(_, pause)| pause))
    }

    /// No search tells what becomes of this report: it is read by its id as often as others search.
    pub(super) fn is_unsearched(&self, state: &State) -> bool {
        match state {
            State::InProgress { since, .. } => !self.searches() || self.former_at(*since).is_some(),
            _ => false,
        }
    }

    /// The authority refuses to be searched just now: what is in progress is read by id meanwhile.
    pub(super) fn search_is_refused(&self) -> bool {
        self.lock_polls().refused.is_some()
    }

    /// A search was refused, with reasons or without: the next one rests, longer each time, and people are told.
    pub(super) fn search_was_refused(&self, fault: &Fault) -> Result<(), JournalError> {
        let times = self.lock_polls().refused.map_or(0, |(times, _)| times).saturating_add(1);
        if times == 1 {
            let status = fault.evidence().map_or(0, |evidence| evidence.status).to_string();
            let params = [("endpoint", &*self.endpoint.name), ("status", &*status)];
            let notice = Notice::new(SEARCH_REFUSED, &params, self.clock.now());
            self.journal.put_notice(notice.about(self.endpoint.id()))?;
            // What was to be read in hours is looked for at once, and read as often as others search.
            *self.looked_far.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        let pause = self.timing.backoff(times, fault.retry_after(), self.clock.fraction());
        self.lock_polls().refused = Some((times, pause));
        Ok(())
    }

    /// A search was answered: what an earlier one, also of an earlier process, was told for is over.
    pub(super) fn search_was_answered(&self) -> Result<(), JournalError> {
        let known = {
            let polls = self.lock_polls();
            polls.answered && polls.refused.is_none()
        };
        if known {
            return Ok(());
        }
        let id = self.endpoint.id();
        let ours =
            |notice: &Notice| notice.code == SEARCH_REFUSED && notice.about.as_deref() == Some(id);
        if self.journal.notices()?.iter().any(ours) {
            self.journal.remove_notice_about(SEARCH_REFUSED, id)?;
        }
        let mut polls = self.lock_polls();
        (polls.answered, polls.refused) = (true, None);
        Ok(())
    }
}
