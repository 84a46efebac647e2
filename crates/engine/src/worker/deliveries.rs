//! Several deliveries of one report: what was sent may have been stored all the same, and who stands between may have
//! repeated the request. The search by identifier shows all of them.

use client::{Authority, Fault, Why};
use exchange::Processing;
use fhir::Instant;
use journal::{Due, EvidenceKind, JournalError, Token};
use report::{Event, State, SubmissionId};

use super::Worker;
use super::duties::elapsed;
use super::formerly::Asked;
use super::verdict::{Health, Verdict, found_at_last};
use crate::breaker::RequestKind;

impl<A: Authority> Worker<A> {
    /// Before any request for a report that is not the first one: a question by its identifier. That the last one was
    /// not received is what somebody on the way said, or what a connection that ended seemed to say; a gateway that
    /// looks at answers refuses after the authority has stored. Says whether nothing is to be sent now.
    pub(super) async fn first_asks(&self, due: &Due, token: Token) -> Result<bool, JournalError> {
        let State::Queued { attempt: attempt @ 1.., .. } = due.state else { return Ok(false) };
        let ever = (Instant(i64::MIN), self.clock.now());
        let Asked { result, .. } = self.look_up(&due.identifier, ever).await;
        let mut found = match result {
            Ok(found) => found,
            Err(Fault::Transient { why: Why::SearchUnsupported, .. }) => return Ok(false),
            Err(fault) => return self.cannot_ask(due, fault, token).await.map(|()| true),
        };
        if found.answers.is_empty() {
            // A question takes time: what has been changed or stopped meanwhile holds.
            return Ok(!(self.in_force)() || self.journal.is_paused()?);
        }
        let contradicts = exchange::leave_out_contradictions(&mut found.answers) > 0;
        // Where several reports have this identifier, only a doubt finds out whose an answer is; likewise where an
        // answer contradicts itself.
        let shared = !self.journal.siblings(due.id)?.is_empty();
        let mut verdict = found_at_last(found, &self.context(attempt));
        if shared || contradicts || verdict.event.is_none() {
            verdict.event = Some(self.doubt(Why::AnotherIdentifier.code()));
        }
        self.conclude(due.id, EvidenceKind::Search, verdict, token).await.map(|_| true)
    }

    /// The question was not answered. Where it alone is refused, or its answer is never whole, it becomes a doubt, of
    /// which a person is told in the end; else the way is not free, and whatever is sent now would not arrive either.
    async fn cannot_ask(&self, due: &Due, fault: Fault, token: Token) -> Result<(), JournalError> {
        let heard = fault.evidence().is_some();
        let of_one = fault.refuses_the_question()
            || matches!(fault.why(), Some(Why::TooManyPages | Why::PagesMoved))
            || heard && self.lock_breaker().refuses_only(due.id);
        if of_one {
            let why = fault.why().map_or(Event::WHY_REFUSED, Why::code);
            let verdict = Verdict {
                event: Some(self.doubt(why)),
                issues: None,
                evidence: fault.evidence().cloned(),
                health: Health::OfOne,
            };
            return self.conclude(due.id, EvidenceKind::Search, verdict, token).await.map(|_| ());
        }
        self.lock_not_asked().insert(due.id);
        self.observe(&Health::of_question(fault), RequestKind::Question, heard);
        Ok(())
    }

    fn doubt(&self, why: &str) -> Event {
        let now = self.clock.now();
        Event::Doubted { since: now, due: now, why: why.to_owned() }
    }

    /// A delivery has failed, perhaps as the duplicate of another delivery of the same report: then the other one
    /// counts. One that is still in progress is waited for, because who is told *failed* corrects and sends again.
    /// Where the authority cannot be asked just now, it is read again later, and needs a person in the end.
    pub(super) async fn unless_another_counts(
        &self,
        id: SubmissionId,
        identifier: &str,
        state: &State,
        verdict: Verdict,
    ) -> Result<Verdict, JournalError> {
        let Some(Event::Failed { receipt }) = &verdict.event else { return Ok(verdict) };
        if !self.journal.siblings(id)?.is_empty() {
            return Ok(verdict);
        }
        let mut found = match self.authority.find(identifier).await {
            Ok(found) => found,
            Err(fault) => return Ok(self.failed_unasked(id, state, fault, verdict)),
        };
        self.lock_failed_unasked().remove(&id);
        exchange::leave_out_contradictions(&mut found.answers);
        found.answers.retain(|answer| {
            answer.receipt.as_ref() != Some(receipt)
                && matches!(answer.processing, Some(Processing::Completed | Processing::InProgress))
        });
        if found.answers.is_empty() {
            return Ok(verdict);
        }
        let mut other = found_at_last(found, &self.context(1));
        if let (Some(Event::Accepted { due, .. }), State::InProgress { .. }) = (&other.event, state)
        {
            // It stays in progress; its proof is that of the acceptance.
            other.event = Some(Event::StillInProgress { due: *due });
            (other.issues, other.evidence) = (None, None);
        }
        Ok(other)
    }

    /// A delivery has failed, and whether there is another one could not be asked: it is read again, more and more
    /// seldom. Where the question is refused all the time, the authority's word about the delivery that is known counts.
    fn failed_unasked(
        &self,
        id: SubmissionId,
        state: &State,
        fault: Fault,
        failed: Verdict,
    ) -> Verdict {
        let Some(Event::Failed { receipt }) = &failed.event else { return failed };
        let heard = fault.evidence().is_some();
        let times = {
            let mut unasked = self.lock_failed_unasked();
            let times = unasked.entry(id).or_default();
            *times = times.saturating_add(u32::from(heard));
            *times
        };
        let is_never_told = fault.refuses_the_question()
            || matches!(fault.why(), Some(Why::SearchUnsupported))
            || times >= self.timing.refusals_max.saturating_mul(2);
        if is_never_told {
            self.lock_failed_unasked().remove(&id);
            return failed;
        }
        let context = self.context(1);
        let due = context.after(context.timing.ask(times).max(context.timing.backoff_min));
        let event = match state {
            State::InProgress { since, .. } => {
                let why = fault.why().map_or(Event::WHY_REFUSED, Why::code).to_owned();
                let late = elapsed(*since, context.now) >= context.timing.in_progress_max;
                Event::NotAnswered { due, why, in_vain: false, late }
            }
            State::Sending { .. } => {
                Event::Accepted { receipt: receipt.clone(), since: context.now, due }
            }
            _ => return failed,
        };
        let evidence = failed.evidence.filter(|_| matches!(event, Event::Accepted { .. }));
        // What was answered says nothing of the way: the delivery itself was told of just before.
        let health = if heard { Health::OfOne } else { Health::of_question(fault) };
        Verdict { event: Some(event), issues: None, evidence, health }
    }
}
