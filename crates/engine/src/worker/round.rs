//! One round: everything that is owed now, so many at a time, and what changed at the authority.

use std::sync::atomic::Ordering;
use std::time::Duration;

use client::{Authority, Fault, Why};
use fhir::Instant;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use journal::{JournalError, Token};
use tokio_util::sync::CancellationToken;

use super::poll::Tells;
use super::queue::{LOOK_FAR_EVERY, Queue};
use super::verdict::Health;
use super::{REST_MAX, Round, Worker};
use crate::worker::breaker::{BreakerState, RequestKind};

/// Pause between two looks at the journal while requests are under way and nothing waits.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl<A: Authority> Worker<A> {
    /// Does everything that is owed now, so many at a time, and learns what changed at the authority.
    pub(super) async fn round(
        &self,
        token: Token,
        cancel: &CancellationToken,
    ) -> Result<Round, JournalError> {
        self.preflight().await?;
        let mut round = Round::default();
        let mut queue = Queue::default();
        let mut under_way = FuturesUnordered::new();
        let mut look_at = tokio::time::Instant::now() + LOOK_EVERY;
        let mut poll_waits = false;
        let mut failure = None;
        loop {
            if under_way.is_empty() {
                // A probe that came to nothing, because its report was withdrawn or the round broke off.
                self.lock_breaker().probe_ended();
            }
            let looked = self.look(&mut queue, &mut look_at, &mut poll_waits);
            failure = failure.or(looked.err());
            let mut room = if poll_waits { 0 } else { self.room(under_way.len(), cancel) };
            if failure.is_none() && room > 0 && queue.wants_more(under_way.len()) {
                failure = self.fill(&mut queue, under_way.len()).err();
                if self.breaker_state() != BreakerState::Closed {
                    queue.least_tried_first(&self.lock_not_asked());
                }
            }
            // Looked at before each report: any program may have paused sending.
            let looks = failure.is_none() && room > 0 && !queue.waiting.is_empty();
            let paused = looks
                && self.journal.is_paused().unwrap_or_else(|problem| {
                    failure = Some(problem);
                    true
                });
            if let Some(problem) = &failure {
                // Requests that are under way are finished: what the journal refuses of one report throws no
                // other into doubt.
                room = 0;
                self.journal_failed(problem);
            }
            let suspect = self.suspect().filter(|_| self.breaker_state() != BreakerState::HalfOpen);
            for due in queue.start(room, paused, suspect) {
                self.lock_breaker().probe_started();
                under_way.push(self.perform(due, token));
            }
            if under_way.is_empty() {
                break;
            }
            tokio::select! {
                biased;
                Some((id, result)) = under_way.next() => {
                    queue.taken.remove(&id);
                    match result {
                        Ok(()) => round.done += 1,
                        Err(problem) => failure = failure.or(Some(problem)),
                    }
                }
                // Requests that take long do not delay what was taken in meanwhile.
                () = tokio::time::sleep_until(look_at) => {}
            }
        }
        if let Some(problem) = failure {
            return Err(problem);
        }
        let refused = self.refused.swap(false, Ordering::Relaxed);
        let tells = match self.breaker_state() {
            BreakerState::Closed | BreakerState::HalfOpen => Some(Tells::TheBreaker),
            // What is in progress does not wait until reports are let in again: one search for each refused probe, and
            // as ever where only one report is refused.
            BreakerState::Open(_) => {
                (refused || self.lock_breaker().suspects_one()).then_some(Tells::Nobody)
            }
        };
        if let Some(tells) = tells.filter(|_| !cancel.is_cancelled() && (self.in_force)()) {
            let search = self.poll_if_due(token, cancel, tells);
            round.done += self.holding(search).await?;
        }
        round.next = self.next_due()?;
        Ok(round)
    }

    /// A search of many pages takes longer than a lease lives: it is kept meanwhile.
    pub(super) async fn holding<T>(
        &self,
        search: impl Future<Output = Result<T, JournalError>>,
    ) -> Result<T, JournalError> {
        let mut search = std::pin::pin!(search);
        loop {
            tokio::select! {
                biased;
                found = &mut search => return found,
                () = tokio::time::sleep(LOOK_EVERY) => {
                    self.lease.keep()?;
                }
            }
        }
    }

    /// Now and then in a long round: is the lease still young, was something added, is a search owed?
    fn look(
        &self,
        queue: &mut Queue,
        look_at: &mut tokio::time::Instant,
        poll_waits: &mut bool,
    ) -> Result<(), JournalError> {
        let time = tokio::time::Instant::now() >= *look_at;
        if time {
            *look_at = tokio::time::Instant::now() + LOOK_EVERY;
            queue.look_again();
        }
        self.lease.keep()?;
        if time {
            // What is under way ends, and then it is searched: news may not wait for a long queue.
            *poll_waits = self.poll_is_late()?;
        }
        Ok(())
    }

    /// Tries the way with a question before the first report of this worker leaves. With TLS 1.3 a refused
    /// certificate shows only in the answer to the first request: were that a report, its bytes would have
    /// left, and a refusal that is lost on the way would leave a doubt.
    async fn preflight(&self) -> Result<(), JournalError> {
        let closed = matches!(self.breaker_state(), BreakerState::Open(_));
        if closed || self.preflight_done.load(Ordering::Relaxed) {
            return Ok(());
        }
        let owed = self
            .journal
            .next_due_at(self.endpoint.id())?
            .is_some_and(|due| due <= self.clock.now());
        if !owed && self.put_off_too_far()?.is_none_or(|far| far.due.is_empty()) {
            return Ok(());
        }
        match self.authority.capability().await {
            // Who leads elsewhere, asks for a proxy's password or shows a web page is not the authority.
            Err(fault) if stands_between(&fault) => {
                self.observe(&Health::of_intermediary(fault), RequestKind::Question, true);
            }
            // Whatever it answers, it answers: what it thinks of reports is its answer to a report.
            Ok((_, evidence)) => {
                self.begin_watermark(evidence.server_date)?;
                self.preflight_done.store(true, Ordering::Relaxed);
            }
            Err(fault) if fault.evidence().is_some() => {
                self.begin_watermark(fault.evidence().and_then(|answer| answer.server_date))?;
                self.preflight_done.store(true, Ordering::Relaxed);
            }
            Err(fault) => self.observe(&Health::of_question(fault), RequestKind::Question, false),
        }
        Ok(())
    }

    /// How many more requests may start now.
    fn room(&self, under_way: usize, cancel: &CancellationToken) -> usize {
        if cancel.is_cancelled() || !(self.in_force)() {
            return 0;
        }
        match self.breaker_state() {
            BreakerState::Closed => self.timing.in_flight_max.saturating_sub(under_way),
            BreakerState::HalfOpen => 1_usize.saturating_sub(under_way),
            BreakerState::Open(_) if self.suspect().is_some() => 1_usize.saturating_sub(under_way),
            BreakerState::Open(_) => 0,
        }
    }

    fn next_due(&self) -> Result<Option<Instant>, JournalError> {
        let owed = self.journal.next_due_at(self.endpoint.id())?;
        let polled = self.next_poll()?;
        // Never later than the next look for what a clock has put off.
        let far = self.clock_reading().after(LOOK_FAR_EVERY);
        let next = match (owed, polled) {
            (Some(owed), Some(polled)) => Some(owed.min(polled).min(far)),
            (owed, polled) => owed.or(polled).map(|next| next.min(far)),
        };
        Ok(match self.breaker_state() {
            BreakerState::Open(Some(until)) if self.lock_breaker().suspects_one() => {
                // What the others owe meanwhile is looked up, not known here.
                next.map(|next| next.max(until).min(self.clock_reading().after(REST_MAX)))
            }
            BreakerState::Open(Some(until)) => next.map(|next| next.max(until)),
            _ => next,
        })
    }
}

/// The answer is not the authority's: a redirect, a proxy, a captive portal, a gateway's own page.
fn stands_between(fault: &Fault) -> bool {
    matches!(fault.why(), Some(Why::Redirect { .. } | Why::ProxyAuthentication | Why::Html { .. }))
}
