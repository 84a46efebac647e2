//! Learning what changed: one search for all open reports, from the server's last time minus an overlap.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use client::Authority;
use fhir::Instant;
use futures::{StreamExt as _, stream};
use journal::{Due, JournalError, OpenReport, Token};
use report::{Duty, State, SubmissionId};
use tokio_util::sync::CancellationToken;

use super::cursor::{SearchCursor, minus, without_contradictions};
use super::duties::elapsed;
use super::verdict::Health;
use super::{POLL_LATE_SECONDS, Worker};
use crate::ClockReading;
use crate::worker::breaker::RequestKind;

/// What is remembered about searches for changes; may be lost at any moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Polls {
    /// When the last one ended, and how long it took.
    last: Option<(ClockReading, Duration)>,
    /// The report that was accepted last, by the revision of the journal that says so.
    youngest: Option<(u64, Option<Youngest>)>,
    /// Receipts of reports that are final here, with their identifiers: searches overlap, so most of what they return is
    /// known.
    pub(super) settled: HashMap<String, String>,
    /// The last search was cut off after this time: the next one goes on there, at once.
    cut_at: Option<Instant>,
    /// The last searches were refused: how often in a row, and how long the next one rests.
    pub(super) refused: Option<(u32, Duration)>,
    /// One was answered in the life of this worker.
    pub(super) answered: bool,
    /// The last one was answered with what is no answer, and so many other requests had been answered until then.
    lost_at: Option<u64>,
}

/// The youngest report that is searched for.
#[derive(Debug, Clone, Copy)]
struct Youngest {
    /// Accepted at, or taken in at where it was not.
    accepted: Instant,
    /// Seen first at.
    seen: ClockReading,
}

impl Youngest {
    /// How long it has been in progress; where its time lies ahead, because the clock was set back, since it was
    /// seen.
    fn age(&self, now: ClockReading) -> Duration {
        elapsed(self.accepted, now.wall).max(now.steady.saturating_sub(self.seen.steady))
    }
}

/// Who learns from a search how the way is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tells {
    /// The breaker, for whatever follows.
    TheBreaker,
    /// Nobody: reports are refused just now, and that questions are answered changes nothing about it. That they are
    /// not either clears the one report that was refused.
    Nobody,
}

/// How far the first search reaches back before the oldest open report: clocks differ.
const FIRST_REACH_SECONDS: i64 = 24 * 3600;

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

    /// When the next search for changes is due; `None` when nothing is open or this release cannot search.
    pub(super) fn next_poll(&self) -> Result<Option<Instant>, JournalError> {
        if !self.can_search() {
            return Ok(None);
        }
        let Some(youngest) = self.youngest_open()? else { return Ok(None) };
        let now = self.clock_reading();
        let (last, cut_at) = {
            let polls = self.lock_polls();
            (polls.last, polls.cut_at)
        };
        let Some((last, took)) = last.filter(|_| cut_at.is_none()) else {
            return Ok(Some(now.wall));
        };
        let pause = self.timing.poll(youngest.age(now)).max(self.rest_of_searches(took));
        Ok(Some(now.after(pause.saturating_sub(now.since(last)))))
    }

    /// A search for changes has been due for a while.
    pub(super) fn poll_is_late(&self) -> Result<bool, JournalError> {
        if !self.can_search() {
            return Ok(false);
        }
        let Some((last, took)) = self.lock_polls().last else {
            return Ok(self.youngest_open()?.is_some());
        };
        let (now, late) =
            (self.clock_reading(), Duration::from_secs(POLL_LATE_SECONDS.unsigned_abs()));
        let rest = self.rest_of_searches(took);
        // Cheap first: the journal is only asked when it can be so.
        if now.since(last) < rest.max(self.timing.poll_min).saturating_add(late) {
            return Ok(false);
        }
        let Some(youngest) = self.youngest_open()? else { return Ok(false) };
        let pause = self.timing.poll(youngest.age(now)).max(rest);
        Ok(now.since(last) >= pause.saturating_add(late))
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

    /// The report in progress that was accepted last, else the newest one on hold for which a request was made. Loading all open reports costs milliseconds, so it is done
    /// once per revision.
    fn youngest_open(&self) -> Result<Option<Youngest>, JournalError> {
        let revision = self.journal.revision()?;
        if let Some((known, youngest)) = self.lock_polls().youngest
            && known == revision
        {
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
        let mut polls = self.lock_polls();
        let known = polls.youngest.and_then(|(_, youngest)| youngest);
        let youngest = accepted.map(|accepted| match known {
            Some(known) if known.accepted == accepted => known,
            _ => Youngest { accepted, seen: self.clock_reading() },
        });
        polls.youngest = Some((revision, youngest));
        Ok(youngest)
    }

    pub(super) fn lock_polls(&self) -> MutexGuard<'_, Polls> {
        self.poll.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_in_progress(&self) -> Result<Vec<OpenReport>, JournalError> {
        let mut open = self.journal.open_reports()?;
        open.retain(|report| {
            report.endpoint == self.endpoint.id()
                && matches!(report.state, State::InProgress { .. })
        });
        Ok(open)
    }

    /// Reads every report in progress by its id of which no search tells what has changed; gives how many moved.
    pub(super) async fn read_unsearched(&self, token: Token) -> Result<usize, JournalError> {
        let mut open = self.open_in_progress()?;
        open.retain(|report| self.is_unsearched(&report.state));
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

    /// Searches for changes now and records them. Cancelled, it ends early and learns nothing wrong: the
    /// next search begins where this one did.
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
        let cut_at = self.lock_polls().cut_at.take();
        let since = cut_at.unwrap_or_else(|| match before {
            Some(watermark) => minus(watermark, self.timing.poll_overlap),
            None => oldest.plus_seconds(-FIRST_REACH_SECONDS),
        });
        let began = self.clock_reading();
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(0),
            result = self.authority.changed_since(Some(since)) => result,
        };
        self.poll_ended(began);
        let changes = match result {
            Ok(changes) => without_contradictions(changes),
            // Not a fault of the way, as far as is known: the reads by id that follow will show it.
            Err(fault) if fault.refuses_the_question() => {
                self.search_was_refused(&fault)?;
                return Ok(0);
            }
            Err(fault) => {
                let heard = fault.evidence().is_some();
                if heard && self.only_searches_are_lost() {
                    self.search_was_refused(&fault)?;
                    return Ok(0);
                }
                match tells {
                    Tells::TheBreaker => {
                        self.observe(&Health::of_question(fault), RequestKind::Question, heard);
                    }
                    Tells::Nobody if heard => self.lock_breaker().clear_suspicion(),
                    Tells::Nobody => {}
                }
                return Ok(0);
            }
        };
        if tells == Tells::TheBreaker {
            self.observe(&Health::Answered, RequestKind::Question, true);
        }
        self.lock_polls().lost_at = None;
        self.search_was_answered()?;
        let moved = self.learn(&changes, token).await?;
        self.poll_ended(began);
        let cursor = SearchCursor::of(&changes, since, cut_at.is_some());
        self.lock_polls().cut_at = cursor.cut_at;
        if let Some(watermark) = cursor.watermark(before, &changes, self.timing.poll_overlap) {
            self.journal.set_watermark(self.endpoint.id(), watermark)?;
        }
        Ok(moved)
    }

    /// A search was answered with what is no answer: whether the one before was too, while other requests between them
    /// were answered, so that it is no fault of the way. A gateway may refuse a question for what stands in it, and an
    /// authority may have one report that it cannot show.
    fn only_searches_are_lost(&self) -> bool {
        let answers = self.lock_breaker().answers();
        let before = self.lock_polls().lost_at.replace(answers);
        before.is_some_and(|before| before < answers)
    }

    /// The last search was cut off, and the next one goes on there.
    pub(super) fn search_was_cut(&self) -> bool {
        self.lock_polls().cut_at.is_some()
    }

    fn poll_ended(&self, began: ClockReading) {
        let now = self.clock_reading();
        self.lock_polls().last = Some((now, now.steady.saturating_sub(began.steady)));
    }
}
