//! One round: everything that is owed now, so many at a time, and what changed at the authority.

use std::sync::atomic::Ordering;
use std::time::Duration;

use client::Authority;
use fhir::Instant;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use journal::{Due, JournalError, Token};
use tokio_util::sync::CancellationToken;

use super::{Round, Worker};
use crate::courier::breaker::RequestKind;
use crate::courier::preflight::{Preflight, after_preflight};
use crate::courier::verdict::Health;

/// Pause between two looks at the journal while requests are under way and nothing waits.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl<A: Authority> Worker<A> {
    /// Does everything that is owed now, so many at a time, and learns what changed at the
    /// authority.
    pub(super) async fn round(
        &self,
        token: Token,
        cancel: &CancellationToken,
    ) -> Result<Round, JournalError> {
        self.heed_wishes();
        self.preflight().await?;
        self.courier().round_begins();
        let (mut round, mut failure) = (Round::default(), None);
        let mut under_way = FuturesUnordered::new();
        let mut look_at = tokio::time::Instant::now() + LOOK_EVERY;
        loop {
            if failure.is_some() {
                self.courier().journal_refuses();
            }
            let orders = self.orders(&mut look_at, cancel).unwrap_or_else(|problem| {
                failure.get_or_insert(problem);
                Vec::new()
            });
            if let Some(problem) = &failure {
                self.journal_failed(problem);
            }
            under_way.extend(orders.into_iter().map(|due| self.perform(due, token)));
            if under_way.is_empty() {
                break;
            }
            tokio::select! {
                biased;
                Some((id, result)) = under_way.next() => {
                    self.courier().done(id);
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
        let goes_on = || !cancel.is_cancelled() && (self.in_force)();
        if goes_on() {
            self.question_that_is_wanted().await;
        }
        let tells = self.courier().tells(self.clock_reading());
        if let Some(tells) = tells.filter(|_| goes_on()) {
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

    /// What begins now, as the courier decides.
    fn orders(
        &self,
        look_at: &mut tokio::time::Instant,
        cancel: &CancellationToken,
    ) -> Result<Vec<Due>, JournalError> {
        self.look(look_at)?;
        // Looked at before each report: another address or certificate may be in force by now.
        if cancel.is_cancelled() || !(self.in_force)() {
            return Ok(Vec::new());
        }
        let wants_more = self.courier().wants_more(self.clock_reading());
        if wants_more {
            self.fill()?;
        }
        let has_next = self.courier().has_next(self.clock_reading());
        if !has_next {
            return Ok(Vec::new());
        }
        // Looked at before each report too: any program may have paused sending.
        let paused = self.journal.is_paused()?;
        Ok(self.courier().next(self.clock_reading(), paused))
    }

    /// Now and then in a long round: is the lease still young, was something added, is a search
    /// owed?
    fn look(&self, look_at: &mut tokio::time::Instant) -> Result<(), JournalError> {
        let now = tokio::time::Instant::now();
        let time = now >= *look_at;
        if time {
            *look_at = now + LOOK_EVERY;
        }
        self.lease.keep()?;
        if time {
            let is_late = self.poll_is_late()?;
            self.courier().time_has_passed(is_late);
            self.heed_wishes();
        }
        Ok(())
    }

    /// Tries the way with a question before the first report of this worker leaves. With TLS 1.3 a
    /// refused certificate shows only in the answer to the first request: were that a report, its
    /// bytes would have left, and a refusal that is lost on the way would leave a doubt.
    async fn preflight(&self) -> Result<(), JournalError> {
        if !self.courier().wants_preflight(self.clock_reading()) {
            return Ok(());
        }
        let owed = self
            .journal
            .next_due_at(self.endpoint.id())?
            .is_some_and(|due| due <= self.clock.now());
        let hurries = self.courier().hurries();
        if !owed && !hurries && self.put_off_too_far()?.is_none_or(|far| far.due.is_empty()) {
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

    /// A person may want the next try now.
    fn heed_wishes(&self) {
        self.courier().wanted_now(self.wishes.load(Ordering::SeqCst));
    }

    /// Tries the way with a question where a person wants it tried and nothing that is owed has
    /// shown how it is.
    async fn question_that_is_wanted(&self) {
        let wanted = self.courier().wants_question();
        if wanted {
            let result = self.authority.capability().await;
            let is_answered = result.is_ok();
            match after_preflight(result) {
                Preflight::Answered(_) if is_answered => {
                    self.observe(&Health::Answered, RequestKind::Question, true);
                }
                // What it thinks of reports is its answer to one.
                Preflight::Answered(_) => {}
                Preflight::Failed { health, heard } => {
                    self.observe(&health, RequestKind::Question, heard);
                }
            }
        }
        self.courier().wish_ended();
    }

    /// When something is owed next.
    fn next_due(&self) -> Result<Option<Instant>, JournalError> {
        let owed = self.journal.next_due_at(self.endpoint.id())?;
        let search = self.next_poll()?;
        Ok(self.courier().wake_at(self.clock_reading(), owed, search))
    }
}
