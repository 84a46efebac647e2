//! Several deliveries of one report: what was sent may have been stored all the same, and who stands between may have
//! repeated the request. The search by identifier shows all of them.

use client::{Authority, Fault, Found, NEVER_REACHED, Why};
use exchange::Processing;
use fhir::Instant;
use journal::{Due, EvidenceKind, JournalError, Sibling, Token};
use report::{Event, State, SubmissionId};

use super::Worker;
use super::duties::STOOD_STILL;
use super::formerly::Asked;
use crate::clock::elapsed;
use crate::courier::verdict::{Health, SHARED, Verdict, found_at_last};

/// Whether a request that was put off for this reason reached nobody who could have passed it on. Any other reason is
/// somebody's answer, and a gateway that looks at answers gives one after the authority has stored.
pub fn reached_nobody(why: &str) -> bool {
    why == STOOD_STILL || NEVER_REACHED.contains(&why)
}

/// When the last request began, where what is known leaves open whether the authority has it: somebody on the way
/// refused it, or a connection ended as if nothing had arrived. A gateway that looks at answers refuses after the
/// authority has stored. `None`: nothing of it has arrived, or the question for it was answered since. A person's word
/// that nothing was received leaves it open: a question is cheap, and people err.
pub(crate) fn open_request<'a>(
    events: impl DoubleEndedIterator<Item = &'a Event>,
) -> Option<Instant> {
    for event in events.rev() {
        match event {
            Event::NotReceived { .. } => return None,
            // The authority's own refusal of the content.
            Event::Rejected => return None,
            // What was open before it was asked for before it began.
            Event::Deferred { why, .. } if reached_nobody(why) => return None,
            Event::SendingStarted { since } => return Some(*since),
            // What a restore has forgotten may have been sent, whoever has decided about it since.
            Event::Doubted { since, why, .. } if why == journal::RESTORED => return Some(*since),
            _ => {}
        }
    }
    None
}

/// What the authority says of a report that it has.
fn is_answer(event: &Event) -> bool {
    matches!(event, Event::Accepted { .. } | Event::Completed { .. } | Event::Failed { .. })
}

impl<A: Authority> Worker<A> {
    /// Before a request for a report that is not the first one, as far as is known after a restore: a question by its
    /// identifier, unless it is known that nothing of it has arrived. Says whether nothing is to be sent now.
    pub(super) async fn first_asks(&self, due: &Due, token: Token) -> Result<bool, JournalError> {
        let State::Queued { attempt, .. } = due.state else { return Ok(false) };
        if attempt == 0 && self.journal.restored_since(due.id)?.is_none() {
            return Ok(false);
        }
        let timeline = self.journal.detail(due.id)?.timeline;
        let Some(since) = open_request(timeline.iter().map(|entry| &entry.event)) else {
            return Ok(false);
        };
        let after = timeline.iter().rev().map(|entry| &entry.event);
        let mut after = after.take_while(|event| !matches!(event, Event::SendingStarted { .. }));
        let is_said = after.any(|event| matches!(event, Event::SaidNotReceived { .. }));
        let sent = (self.journal.may_be_sent_since(due.id, since, self.clock.now())?, since);
        let Asked { result, unsure, in_use } = self.look_up(&due.identifier, sent).await;
        let mut found = match result {
            Ok(found) => found,
            Err(Fault::Transient { why: Why::SearchUnsupported, .. }) => return self.is_stopped(),
            Err(fault) => {
                let never = self.courier().is_never_answered(due.id, &fault);
                // Where the question is refused, a person's word counts.
                if is_said && (never || fault.evidence().is_some()) {
                    return self.is_stopped();
                }
                let doubt = never.then_some(since);
                return self.cannot_ask(due.id, doubt, fault, token).await.map(|()| true);
            }
        };
        let siblings = self.journal.siblings(due.id)?;
        let contradicts = exchange::leave_out_contradictions(&mut found.answers) > 0;
        let shared = self.leave_out_others(&mut found, due.id, &siblings)?;
        // Nothing is shown that must be of this report: then a person's word counts, whatever could not be asked.
        if found.answers.is_empty() && !contradicts && (is_said || !shared && !unsure) {
            return self.is_stopped();
        }
        let mut verdict = found_at_last(found, &self.context(attempt));
        if contradicts || verdict.event.is_none() {
            // Whose an answer is, and what one says that contradicts itself, only a doubt finds out.
            let why = if shared { SHARED } else { Why::AnotherIdentifier.code() };
            verdict.event = Some(self.doubt(since, why));
        }
        if let Some(fault) = in_use {
            verdict.health = Health::of_question(fault);
        }
        if attempt == 0 && verdict.event.as_ref().is_some_and(is_answer) {
            // As far as the journal knows nothing of it has left: a restore has forgotten that, and the doubt finds it.
            verdict.event = Some(self.doubt(since, journal::RESTORED));
        }
        self.conclude(due.id, EvidenceKind::Search, verdict, token).await.map(|_| true)
    }

    /// A question takes time: what has been changed or stopped meanwhile holds.
    pub(super) fn is_stopped(&self) -> Result<bool, JournalError> {
        Ok(!(self.in_force)() || self.journal.is_paused()?)
    }

    /// The question was not answered. Where that is so of it alone, there is a doubt since its last request, of which a
    /// person is told in the end; else the way is not free, and whatever is sent now would not arrive either.
    pub(super) async fn cannot_ask(
        &self,
        id: SubmissionId,
        doubt: Option<Instant>,
        fault: Fault,
        token: Token,
    ) -> Result<(), JournalError> {
        let why = fault.why().unwrap_or(&Why::Unexplained { status: 0 }).code();
        let event = doubt.map(|since| self.doubt(since, why));
        let evidence = fault.evidence().cloned();
        let health = if event.is_some() { Health::OfOne } else { Health::of_question(fault) };
        let verdict = Verdict { event, issues: None, evidence, health };
        let heard = verdict.evidence.is_some();
        self.conclude(id, EvidenceKind::Search, verdict, token).await?;
        if !heard && doubt.is_none() {
            self.courier().let_others_try(id);
        }
        Ok(())
    }

    /// `since`: when the request in doubt began.
    fn doubt(&self, since: Instant, why: &str) -> Event {
        Event::Doubted { since, due: self.clock.now(), why: why.to_owned() }
    }

    /// Leaves out what other reports with the same identifier have. Says whether one of them may have what is left, so
    /// that nothing is: whose it is cannot be told.
    pub(super) fn leave_out_others(
        &self,
        found: &mut Found,
        id: SubmissionId,
        siblings: &[Sibling],
    ) -> Result<bool, JournalError> {
        let mut ours = Vec::new();
        for hit in std::mem::take(&mut found.answers) {
            if !self.belongs_to_another(&hit, id, siblings)? {
                ours.push(hit);
            }
        }
        let mut shared = false;
        for sibling in siblings.iter().filter(|_| !ours.is_empty()) {
            shared |= sibling.may_be_delivered || self.is_open(sibling)?;
        }
        if !shared {
            found.answers = ours;
        }
        Ok(shared)
    }

    /// Whether what was sent of it and refused on the way back may be at the authority, though nobody follows it.
    fn is_open(&self, sibling: &Sibling) -> Result<bool, JournalError> {
        if !sibling.was_sent {
            return Ok(false);
        }
        let Some(id) = sibling.id else { return Ok(true) };
        let timeline = self.journal.detail(id)?.timeline;
        Ok(open_request(timeline.iter().map(|entry| &entry.event)).is_some())
    }

    /// A delivery has failed, perhaps as the duplicate of another delivery of the same report: then the other one
    /// counts. One that is still in progress is waited for, because who is told *failed* corrects and sends again.
    pub(super) async fn unless_another_counts(
        &self,
        id: SubmissionId,
        identifier: &str,
        state: &State,
        verdict: Verdict,
    ) -> Result<Verdict, JournalError> {
        let Some(Event::Failed { receipt }) = &verdict.event else { return Ok(verdict) };
        // Where several reports have this identifier, another delivery may be of another report.
        if !self.journal.siblings(id)?.is_empty() {
            return Ok(verdict);
        }
        let since = match state {
            State::InProgress { since, .. } => *since,
            _ => self.clock.now(),
        };
        let mut found = match self.look_up(identifier, (since, since)).await.result {
            Ok(found) => found,
            Err(fault) => {
                let context = self.context(1);
                return Ok(self.courier().failed_unasked(id, state, fault, verdict, &context));
            }
        };
        self.courier().deliveries_are_known(id);
        exchange::leave_out_contradictions(&mut found.answers);
        found.answers.retain(|answer| {
            answer.receipt.as_ref() != Some(receipt)
                && matches!(answer.processing, Some(Processing::Completed | Processing::InProgress))
        });
        if found.answers.is_empty() {
            return Ok(verdict);
        }
        let mut other = found_at_last(found, &self.context(1));
        if let (Some(Event::Accepted { .. }), State::InProgress { since, said, .. }) =
            (&other.event, state)
        {
            // It stays in progress; its proof is that of the acceptance.
            let context = self.context_of(*since, 1);
            let due = context.read_at(elapsed(*since, context.now));
            let quiet = elapsed(said.unwrap_or(*since), context.now);
            other.event = Some(match quiet >= self.timing.in_progress_max {
                true => Event::Overdue { due },
                false => Event::StillInProgress { due },
            });
            (other.issues, other.evidence) = (None, None);
        }
        Ok(other)
    }

    /// Whether a report that has failed could not be asked for, and is read again later: searches show it meanwhile,
    /// again and again.
    pub(super) fn rests_unasked(&self, id: SubmissionId) -> bool {
        self.courier().rests_unasked(id, self.clock.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the journal tells of the last request decides whether it is asked for before the next one.
    #[test]
    fn a_request_that_nobody_answered_for_is_open() {
        let at = Instant::from_seconds;
        let began = |second| Event::SendingStarted { since: at(second) };
        let deferred = |why: &str| Event::Deferred { due: at(9), why: why.to_owned() };
        let released = || Event::Released { reason: "mended".to_owned(), due: at(9) };
        let not_received = || Event::NotReceived { due: at(9) };
        let said = || Event::SaidNotReceived { reason: "hotline".to_owned(), due: at(9) };
        let queued = || Event::Queued { due: at(0) };
        let restored = |since| {
            let why = journal::RESTORED.to_owned();
            Event::Doubted { since: at(since), due: at(since), why }
        };
        for (events, open) in [
            (vec![queued()], None),
            (vec![queued(), began(1), deferred("forbidden")], Some(1)),
            (vec![queued(), began(1), deferred("tls-client-refused")], None),
            (vec![queued(), began(1), Event::Rejected], None),
            (vec![queued(), began(1), deferred("connect-refused")], None),
            (vec![queued(), began(1), deferred("unavailable")], None),
            (vec![queued(), began(1), deferred(STOOD_STILL)], None),
            (vec![began(1), deferred("forbidden"), Event::HeldBack, released()], Some(1)),
            (vec![began(1), deferred("forbidden"), began(3), deferred("dns")], None),
            (vec![began(1), deferred("dns"), began(3), deferred("html")], Some(3)),
            (vec![began(1), deferred("forbidden"), not_received()], None),
            (vec![began(1), deferred("forbidden"), said(), Event::HeldBack, released()], Some(1)),
            (vec![began(1), not_received(), began(5), deferred("html")], Some(5)),
            (vec![queued(), restored(7), Event::HeldBack], Some(7)),
            (vec![queued(), restored(7), not_received(), Event::HeldBack], None),
        ] {
            assert_eq!(open_request(events.iter()), open.map(at), "{events:?}");
        }
    }
}
