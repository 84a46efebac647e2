//! Learning what changed: one search for all open reports, from the server's last time minus an
//! overlap.

use client::{Authority, Fault};
use fhir::Instant;
use futures::{StreamExt as _, stream};
use journal::{Due, JournalError, OpenReport, Token};
use report::{Duty, State, SubmissionId};
use tokio_util::sync::CancellationToken;

use super::Worker;
use crate::courier::breaker::RequestKind;
use crate::courier::cursor::without_contradictions;
use crate::courier::searches::{NoSearch, Tells, Youngest};

impl<A: Authority> Worker<A> {
    /// Searches for changes if reports are open and the pause is over; gives how many states moved.
    pub(super) async fn poll_if_due(
        &self,
        token: Token,
        cancel: &CancellationToken,
        tells: Tells,
    ) -> Result<usize, JournalError> {
        match self.next_poll()? {
            Some(next) if next <= self.clock.now() => self.poll_now(token, cancel, tells).await,
            _ => Ok(0),
        }
    }

    /// When the next search for changes is due; `None` when nothing is open or this release cannot
    /// search.
    pub(super) fn next_poll(&self) -> Result<Option<Instant>, JournalError> {
        if !self.can_search() {
            return Ok(None);
        }
        let Some(youngest) = self.youngest_open()? else { return Ok(None) };
        Ok(Some(self.courier().next_search(self.clock_reading(), youngest)))
    }

    /// A search for changes has been due for a while.
    pub(super) fn poll_is_late(&self) -> Result<bool, JournalError> {
        // Cheap first: the journal is only asked when it can be so.
        if !self.can_search() || !self.courier().search_may_be_late(self.clock_reading()) {
            return Ok(false);
        }
        let Some(youngest) = self.youngest_open()? else { return Ok(false) };
        Ok(self.courier().search_is_late(self.clock_reading(), youngest))
    }

    /// Before the first report leaves: what changes from now on is all that a search must find.
    pub(super) fn begin_watermark(&self, server: Option<Instant>) -> Result<(), JournalError> {
        let Some(server) = server else { return Ok(()) };
        let name = self.endpoint.id();
        // A restore has forgotten what was sent before.
        if self.journal.watermark(name)?.is_none()
            && !self.journal.was_accepted_at(name)?
            && !self.journal.was_restored()?
        {
            self.journal.set_watermark(name, server)?;
        }
        Ok(())
    }

    /// The report in progress that was accepted last, else the newest one on hold for which a
    /// request was made. Loading all open reports costs milliseconds, so it is done once per
    /// revision.
    fn youngest_open(&self) -> Result<Option<Youngest>, JournalError> {
        let revision = self.journal.revision()?;
        let known = self.courier().youngest_by(revision);
        if let Some(youngest) = known {
            return Ok(youngest);
        }
        let accepted = |report: &OpenReport| match report.state {
            State::InProgress { since, .. } => Some(since),
            _ => None,
        };
        let accepted = self.open_in_progress()?.iter().filter_map(accepted).max();
        let accepted = match accepted {
            Some(accepted) => Some(accepted),
            // It may have arrived all the same, and nobody asks for it.
            None => self.journal.held_after_request(self.endpoint.id())?.map(|(_, newest)| newest),
        };
        Ok(self.courier().youngest_is(self.clock_reading(), revision, accepted))
    }

    fn open_in_progress(&self) -> Result<Vec<OpenReport>, JournalError> {
        let mut open = self.journal.open_reports()?;
        open.retain(|report| {
            report.endpoint == self.endpoint.id()
                && matches!(report.state, State::InProgress { .. })
        });
        Ok(open)
    }

    /// Reads every report in progress by its id of which no search tells what has changed; gives
    /// how many moved.
    pub(super) async fn read_unsearched(&self, token: Token) -> Result<usize, JournalError> {
        let mut open = self.open_in_progress()?;
        open.retain(|report| self.courier().is_unsearched(&report.state));
        self.read_each(open, token).await
    }

    /// Reads these, as far as they are in progress.
    pub(super) async fn read_now(
        &self,
        ids: Vec<SubmissionId>,
        token: Token,
    ) -> Result<(), JournalError> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut open = self.open_in_progress()?;
        open.retain(|report| ids.contains(&report.id));
        self.read_each(open, token).await.map(drop)
    }

    async fn read_each(&self, open: Vec<OpenReport>, token: Token) -> Result<usize, JournalError> {
        let now = self.clock.now();
        let due = |report: OpenReport| Due {
            id: report.id,
            state: report.state,
            duty: Duty::Read,
            due: now,
            identifier: report.identifier,
            endpoint: report.endpoint,
            corrects: None,
            document: None,
        };
        let mut moved = 0;
        let reads = stream::iter(open.into_iter().map(due)).map(|due| self.perform(due, token));
        let mut reads = std::pin::pin!(reads.buffer_unordered(self.timing.in_flight_max));
        while let Some((id, read)) = reads.next().await {
            read?;
            moved += usize::from(!matches!(self.journal.state(id)?, State::InProgress { .. }));
        }
        Ok(moved)
    }

    /// Searches for changes now and records them. Cancelled, it ends early and learns nothing
    /// wrong: the next search begins where this one did.
    pub(super) async fn poll_now(
        &self,
        token: Token,
        cancel: &CancellationToken,
        tells: Tells,
    ) -> Result<usize, JournalError> {
        let oldest = self.open_in_progress()?.iter().map(|report| report.created).min();
        let held = self.journal.held_after_request(self.endpoint.id())?.map(|(oldest, _)| oldest);
        let Some(oldest) = oldest.into_iter().chain(held).min() else { return Ok(0) };
        let before = self.journal.watermark(self.endpoint.id())?;
        let start = self.courier().search_begins(before, oldest);
        let began = self.clock_reading();
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(0),
            result = self.authority.changed_since(Some(start.since)) => result,
        };
        self.courier().search_ended(self.clock_reading(), began);
        let changes = match result {
            Ok(changes) => without_contradictions(changes),
            Err(fault) => {
                self.search_failed(fault, tells)?;
                return Ok(0);
            }
        };
        let health = self.courier().search_answered(tells);
        if let Some(health) = health {
            self.observe(&health, RequestKind::Question, true);
        }
        self.search_was_answered()?;
        let moved = self.learn(&changes, token).await?;
        self.courier().search_ended(self.clock_reading(), began);
        let watermark = self.courier().search_learned(start, before, &changes);
        if let Some(watermark) = watermark {
            self.journal.set_watermark(self.endpoint.id(), watermark)?;
        }
        Ok(moved)
    }

    /// A search brought nothing.
    fn search_failed(&self, fault: Fault, tells: Tells) -> Result<(), JournalError> {
        let (heard, status) = (fault.evidence().is_some(), status_of(&fault));
        let retry_after = fault.retry_after();
        let meaning = self.courier().search_failed(fault, tells);
        match meaning {
            NoSearch::Refused => self.search_was_refused(status, retry_after),
            NoSearch::OfTheWay(health) => {
                self.observe(&health, RequestKind::Question, heard);
                Ok(())
            }
            NoSearch::Nothing => Ok(()),
        }
    }
}

/// The status of an answer, zero where there was none.
fn status_of(fault: &Fault) -> u16 {
    fault.evidence().map_or(0, |evidence| evidence.status)
}
