//! One round: everything that is owed now, so many at a time, and what changed at the authority.

use std::time::Duration;

use client::Authority;
use fhir::Instant;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use journal::{JournalError, Token};
use tokio_util::sync::CancellationToken;

use super::queue::Queue;
use super::{Round, Worker};
use crate::courier::breaker::RequestKind;
use crate::courier::verdict::{Preflight, after_preflight};

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
                self.courier().nothing_is_under_way();
            }
            let looked = self.look(&mut queue, &mut look_at, &mut poll_waits);
            failure = failure.or(looked.err());
            let mut room = if poll_waits { 0 } else { self.room(under_way.len(), cancel) };
            if failure.is_none() && room > 0 && queue.wants_more(under_way.len()) {
                failure = self.fill(&mut queue, under_way.len()).err();
                let (now, courier) = (self.clock_reading(), self.courier());
                if courier.probes(now) {
                    queue.least_tried_first(|id| courier.others_try_first(id));
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
            let suspect = self.courier().suspect(self.clock_reading());
            for due in queue.start(room, paused, suspect) {
                self.courier().started();
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
        let tells = self.courier().tells(self.clock_reading());
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
        if !self.courier().wants_preflight(self.clock_reading()) {
            return Ok(());
        }
        let owed = self
            .journal
            .next_due_at(self.endpoint.id())?
            .is_some_and(|due| due <= self.clock.now());
        if !owed && self.put_off_too_far()?.is_none_or(|far| far.due.is_empty()) {
            return Ok(());
        }
        match after_preflight(self.authority.capability().await) {
            Preflight::Answered(server_date) => {
                self.begin_watermark(server_date)?;
                self.courier().preflight_ended();
            }
            Preflight::Failed { health, heard } => {
                self.observe(&health, RequestKind::Question, heard);
            }
        }
        Ok(())
    }

    /// How many more requests may start now.
    fn room(&self, under_way: usize, cancel: &CancellationToken) -> usize {
        if cancel.is_cancelled() || !(self.in_force)() {
            return 0;
        }
        self.courier().room(self.clock_reading(), under_way)
    }

    fn next_due(&self) -> Result<Option<Instant>, JournalError> {
        let owed = self.journal.next_due_at(self.endpoint.id())?;
        let search = self.next_poll()?;
        Ok(self.courier().wake_at(self.clock_reading(), owed, search))
    }
}
