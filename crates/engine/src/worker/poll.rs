//! Learning what changed: one search for all open reports, from the server's last time minus an overlap.

use std::sync::PoisonError;
use std::time::Duration;

use client::{Authority, Evidence};
use exchange::Answer;
use fhir::{Format, Instant, Limits, Tree};
use journal::{EvidenceKind, JournalError, OpenReport, Token};
use report::{State, SubmissionId};

use super::Worker;
use super::verdict::{Reach, Verdict, status_event};

/// When the last search for changes was made, and from where the next one starts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Polls {
    last: Option<Instant>,
}

/// How far the first search reaches back before the oldest open report: clocks differ.
const FIRST_REACH_SECONDS: i64 = 24 * 3600;

impl<A: Authority> Worker<A> {
    /// Searches for changes if reports are open and the pause is over; gives how many states moved.
    pub(super) async fn poll_if_due(&self, token: Token) -> Result<usize, JournalError> {
        match self.next_poll()? {
            Some(next) if next <= self.clock.now() => self.poll_now(token).await,
            _ => Ok(0),
        }
    }

    /// When the next search for changes is due; `None` when nothing is open or this release cannot search.
    pub(super) fn next_poll(&self) -> Result<Option<Instant>, JournalError> {
        if !self.searches() {
            return Ok(None);
        }
        let open = self.open_in_progress()?;
        let Some(youngest) = open.iter().map(|report| report.updated).max() else {
            return Ok(None);
        };
        let polls = *self.poll.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = polls.last else { return Ok(Some(self.clock.now())) };
        let age = u64::try_from(self.clock.now().0.saturating_sub(youngest.0)).unwrap_or(0);
        let pause = self.pace.poll(Duration::from_micros(age));
        Ok(Some(last.plus_micros(i64::try_from(pause.as_micros()).unwrap_or(i64::MAX))))
    }

    fn open_in_progress(&self) -> Result<Vec<OpenReport>, JournalError> {
        let mut open = self.journal.open_reports()?;
        open.retain(|report| {
            report.endpoint == self.endpoint.name
                && matches!(report.state, State::InProgress { .. })
        });
        Ok(open)
    }

    /// Searches for changes now and records them.
    pub async fn poll_now(&self, token: Token) -> Result<usize, JournalError> {
        let open = self.open_in_progress()?;
        let Some(oldest) = open.iter().map(|report| report.created).min() else { return Ok(0) };
        let since = match self.journal.watermark(&self.endpoint.name)? {
            Some(watermark) => minus(watermark, self.pace.poll_overlap),
            None => oldest.plus_seconds(-FIRST_REACH_SECONDS),
        };
        let result = self.authority.changed_since(Some(since)).await;
        self.poll.lock().unwrap_or_else(PoisonError::into_inner).last = Some(self.clock.now());
        let changes = match result {
            Ok(changes) => changes,
            Err(fault) => {
                self.reached(&Reach::of_question(fault));
                return Ok(0);
            }
        };
        self.reached(&Reach::Answered);
        let newest = changes.answers.iter().filter_map(|answer| answer.last_updated).max();
        let complete = changes.incomplete.is_none() && changes.unreadable == 0;
        let mut moved = 0;
        for answer in &changes.answers {
            let Some(id) = self.owner_of(answer)? else { continue };
            moved += usize::from(self.learn(id, answer, &changes.evidence, token).await?);
        }
        // Only a complete walk moves the watermark: what was cut off is asked for again.
        if let (Some(watermark), true) = (newest.or(changes.server_time), complete) {
            self.journal.set_watermark(&self.endpoint.name, watermark)?;
        }
        Ok(moved)
    }

    /// The submission that an answer speaks of: by the authority's id, else by our identifier.
    fn owner_of(&self, answer: &Answer) -> Result<Option<SubmissionId>, JournalError> {
        if let Some(receipt) = answer.receipt.as_deref()
            && let Some(id) = self.journal.by_receipt(receipt)?
        {
            return Ok(Some(id));
        }
        for identifier in &answer.identifiers {
            if let Some(id) = self.journal.find_by_attempt_identifier(identifier)? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Records a status seen in a search, if it moves the report forward.
    async fn learn(
        &self,
        id: SubmissionId,
        answer: &Answer,
        pages: &[Evidence],
        token: Token,
    ) -> Result<bool, JournalError> {
        let state = self.journal.state(id)?;
        let Some(event) = status_event(answer, &self.context(1)) else { return Ok(false) };
        // Nothing new: most of what a search with an overlap returns.
        if state.apply(&event).is_err() {
            return Ok(false);
        }
        let receipt = answer.receipt.as_deref().unwrap_or_default();
        let verdict = Verdict {
            event: Some(event),
            issues: Some(answer.issues.clone()),
            evidence: pages.iter().find_map(|page| own_entry(page, receipt)),
            reach: Reach::Answered,
        };
        self.conclude(id, EvidenceKind::Search, verdict, token).await?;
        Ok(true)
    }
}

/// The entry of a search result that speaks of one report, as received: proof without the others' data.
fn own_entry(page: &Evidence, receipt: &str) -> Option<Evidence> {
    let format = Format::sniff(&page.body)?;
    let tree = Tree::read(&page.body, format, &Limits::default()).ok()?;
    let entry = tree
        .root()
        .all("entry")
        .filter_map(|entry| entry.child("resource"))
        .find(|resource| resource.text("id") == Some(receipt))?;
    Some(Evidence { body: entry.source().to_vec(), ..page.clone() })
}

fn minus(at: Instant, duration: Duration) -> Instant {
    at.plus_micros(-i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
}
