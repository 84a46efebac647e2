//! One duty: send, ask or read; the journal is told before and after.

use client::{Authority, Evidence, Received};
use exchange::{Answer, Envelope, wrap};
use fhir::{Format, Instant, Limits, Tree};
use journal::{
    Due, EvidenceKind, Journal, JournalError, Message, RecordError, Sibling, Step, Token,
};
use report::{Duty, Event, State, SubmissionId};

use super::Worker;
use super::formerly::{Asked, Sent, Told};
use crate::courier::deliveries::STOOD_STILL;
use crate::courier::verdict::{
    Context, Health, ReadTimes, Verdict, after_ask, after_read, after_submit, has_second_way,
    is_not_found, may_be, of_report, put_off,
};
use crate::courier::visibility::{EmptyAnswer, Visibility};
use crate::person;

impl<A: Authority> Worker<A> {
    /// Does what is owed. Only a fault of the journal is an error: everything else becomes a state.
    pub(super) async fn perform(
        &self,
        due: Due,
        token: Token,
    ) -> (SubmissionId, Result<(), JournalError>) {
        let id = due.id;
        let result = match due.duty {
            Duty::Send => self.send(due, token).await,
            Duty::Ask => self.ask(due, token).await,
            Duty::Read => self.read(due, token).await,
        };
        (id, result)
    }

    async fn send(&self, due: Due, token: Token) -> Result<(), JournalError> {
        // What would travel under another identifier than the journal has could never be asked for.
        let wrapped = match self.wrap(&due) {
            // Nothing to send, as of what a restore found at the authority: the others go on.
            Err(JournalError::NotFound(_)) => None,
            other => other?.filter(|wrapped| wrapped.identifier == due.identifier),
        };
        if self.first_asks(&due, token).await? || self.awaits_a_decision(&due, token).await? {
            return Ok(());
        }
        let Some(wrapped) = wrapped else {
            // Cannot happen to what intake let in; if it does, a person looks at it.
            let now = self.clock.now();
            let mut step = Step::new(due.id, Event::HeldBack, person::worker(), now);
            step.expected = Some("queued");
            return self.record(step, token).await;
        };
        let started = Event::SendingStarted { since: self.clock.now() };
        // Looked at after that time was taken, so that a request never seems to have begun after a
        // change of settings by which it was not made.
        if !(self.in_force)() {
            return Ok(());
        }
        let step = Step::new(due.id, started, person::worker(), self.clock.now());
        let (attempt, refusals) = match self.record_state(step, token).await? {
            Some(State::Sending { attempt, refusals, .. }) => (attempt, refusals),
            // Someone else moved it meanwhile (withdrawn, held back): nothing is sent.
            _ => return Ok(()),
        };
        if !self.lease.holds_surely(token) {
            // It stood still between the two: another process may have begun to ask for this very
            // report.
            let why = STOOD_STILL.to_owned();
            let event = Event::Deferred { due: self.clock.now(), why };
            let step = Step::new(due.id, event, person::worker(), self.clock.now());
            return self.record(step, token).await;
        }
        let result = self.authority.submit(&wrapped).await;
        let turned_away = self.courier().turned_away(due.id, &result, refusals);
        let fault = result.as_ref().err();
        let is_put_off = fault
            .is_some_and(|fault| self.courier().puts_off_only(self.clock_reading(), due.id, fault));
        let context = Context { turned_away, ..self.context(attempt) };
        let sending = State::Sending { attempt, since: self.clock.now(), refusals, doubts: 0 };
        let mut verdict = after_submit(result, &context);
        if is_put_off {
            // It waits as long as was asked for, and keeps no others waiting.
            verdict.health = Health::OfOne;
        }
        let verdict =
            self.unless_another_counts(due.id, &due.identifier, &sending, verdict).await?;
        self.conclude(due.id, EvidenceKind::Create, verdict, token).await.map(|_| ())
    }

    /// The envelope for what is owed, made anew from the stored bytes: the same bytes every time.
    fn wrap(&self, due: &Due) -> Result<Option<Envelope>, JournalError> {
        let bytes = self.journal.document(due.id)?;
        let (identifier, language) = (&*due.identifier, &*self.endpoint.language);
        let known = self.wrappings.envelope(due.id, &bytes, identifier, language);
        Ok(known.or_else(|| wrapped(&bytes, identifier, language)))
    }

    async fn ask(&self, due: Due, token: Token) -> Result<(), JournalError> {
        let State::Unknown { attempt, since, asked, empty_since, refused, .. } = due.state else {
            return Ok(());
        };
        // An empty answer says something only where this certificate was shown reports both before
        // and after it.
        let began = self.clock_reading();
        let sent = self.sent_within(due.id, since)?;
        let sights = self.sights(sent);
        let before = match EmptyAnswer::may_end(asked, &self.timing) {
            true => self.least_visibility(&sights, &due.identifier, since).await?,
            false => Visibility::Unknown,
        };
        let siblings = self.journal.siblings(due.id)?;
        let Asked { mut result, unsure, in_use, .. } =
            self.look_up(due.id, &due.identifier, sent).await?;
        let shared = match &mut result {
            Ok(found) => self.leave_out_others(found, due.id, &siblings)?,
            Err(_) => false,
        };
        let answered = result.as_ref().ok().and_then(|found| found.evidence.server_date);
        let mut empty = EmptyAnswer::new((asked, empty_since), answered, before, shared);
        if result.as_ref().is_ok_and(|found| found.answers.is_empty()) {
            let now = self.clock_reading();
            empty.by_us = self.courier().in_doubt_for(now, due.id, since);
            if empty.wants_second_look(&self.timing) && !unsure {
                empty.after = self.least_visibility(&sights, &due.identifier, since).await?;
                empty.between = self.clock_reading().since(began);
                // What a copy of the profile has put in doubt, the other copy may still send.
                let (now, lag) = (self.clock.now(), self.timing.doubt_min);
                empty.elsewhere =
                    sent.is_forgotten() && self.journal.may_be_shown_late(due.id, now, lag)?;
            }
        }
        let fault = result.as_ref().err();
        let now = self.clock_reading();
        let alone = fault.and_then(|fault| self.courier().in_vain_alone(now, due.id, fault));
        let context = Context { alone, ..self.context(attempt) };
        let mut verdict = after_ask(result, &empty, refused, &context);
        self.follow_as_sent(&mut verdict, sent);
        if let Some(fault) = in_use {
            verdict.health = Health::of_question(fault);
        }
        self.courier().asked(due.id, verdict.event.as_ref());
        self.conclude(due.id, EvidenceKind::Search, verdict, token).await.map(|_| ())
    }

    async fn read(&self, due: Due, token: Token) -> Result<(), JournalError> {
        let State::InProgress { receipt, since, not_found_since, said, .. } = &due.state else {
            return Ok(());
        };
        let sent = Sent::begun_before(*since);
        let told = self.status_of(receipt, &due.identifier, sent).await;
        let Told { result, mut by_former, not_told } = told;
        let by_id = result.and_then(|received| of_report(received, &due.identifier));
        let (result, kind) = match by_id {
            Err(fault) if has_second_way(&fault) => {
                let shown = self.shown(&due, receipt, sent).await?;
                match (shown, not_told) {
                    (Some(received), _) => (Ok(received), EvidenceKind::Search),
                    // The certificate that it was sent with could not read it: nobody has said that
                    // it is not there.
                    (None, Some(unread)) if is_not_found(&fault) => {
                        by_former = true;
                        (Err(unread), EvidenceKind::Read)
                    }
                    (None, _) => (Err(fault), EvidenceKind::Read),
                }
            }
            other => (other, EvidenceKind::Read),
        };
        let read = ReadTimes::of((*since, *said), *not_found_since, &result, self.clock.now());
        let fault = result.as_ref().err().filter(|_| !by_former);
        let now = self.clock_reading();
        let alone = fault.and_then(|fault| self.courier().put_off_alone(now, due.id, fault));
        let context = self.context_of(*since, 1);
        let mut verdict = after_read(result, &read, &context);
        if let Some(patience) = alone {
            verdict = put_off(verdict, patience, &context);
        }
        verdict = self.unless_another_counts(due.id, &due.identifier, &due.state, verdict).await?;
        if by_former {
            verdict.health = Health::OfOne;
        }
        self.conclude(due.id, kind, verdict, token).await.map(|_| ())
    }

    /// The second way to a report that cannot be read by its id: the search by its identifier.
    async fn shown(
        &self,
        due: &Due,
        receipt: &str,
        sent: Sent,
    ) -> Result<Option<Received>, JournalError> {
        let Asked { result, .. } = self.look_up(due.id, &due.identifier, sent).await?;
        let Ok(mut found) = result else { return Ok(None) };
        exchange::leave_out_contradictions(&mut found.answers);
        let ours = |answer: &Answer| answer.receipt.as_deref() == Some(receipt);
        let answer = found.answers.into_iter().find(ours);
        Ok(answer.map(|answer| Received { answer, evidence: found.evidence }))
    }

    /// Another submission has this receipt, and is named beside it: what is shown is that one's. An
    /// authority that was restored from a backup gives its receipts anew, so that a receipt alone
    /// says nothing. Where an identifier is made for one attempt, whatever names it is of this
    /// attempt, whoever else is named; that of a document may name what went out under another one.
    pub(super) fn belongs_to_another(
        &self,
        hit: &Answer,
        id: SubmissionId,
        siblings: &[Sibling],
    ) -> Result<bool, JournalError> {
        let Some(receipt) = hit.receipt.as_deref() else { return Ok(false) };
        // Also one that went to the same authority by another endpoint.
        for sibling in siblings.iter().filter_map(|sibling| sibling.id) {
            if self.journal.row(sibling)?.receipt.as_deref() == Some(receipt) {
                return Ok(true);
            }
        }
        let mut owners = self.journal.by_receipt_at(self.endpoint.id(), receipt)?;
        owners.retain(|(owner, identifier)| *owner != id && may_be(hit, identifier));
        if owners.is_empty() {
            return Ok(false);
        }
        let is_sibling = |owner| siblings.iter().any(|sibling| sibling.id == Some(owner));
        Ok(owners.iter().any(|(owner, _)| is_sibling(*owner))
            || !hit.identifiers.is_empty() && self.journal.is_named_as_document(id)?)
    }

    /// Records what follows from an exchange and lets the breaker know; says whether a state was
    /// recorded.
    pub(super) async fn conclude(
        &self,
        id: SubmissionId,
        kind: EvidenceKind,
        verdict: Verdict,
        token: Token,
    ) -> Result<bool, JournalError> {
        let (at, fraction) = (self.clock_reading(), self.clock.fraction());
        let delivery = kind == EvidenceKind::Create;
        let seen = self.courier().concluded(at, id, delivery, &verdict, fraction);
        self.show(seen, at);
        let Some(event) = verdict.event else { return Ok(false) };
        let now = self.clock.now();
        let mut step = Step::new(id, event, person::worker(), now);
        step.evidence = verdict.evidence.map(|evidence| kept(evidence, kind, now));
        step.issues =
            verdict.issues.map(|issues| issues.into_iter().map(Message::from_issue).collect());
        Ok(self.record_state(step, token).await?.is_some())
    }

    pub(super) async fn record(&self, step: Step, token: Token) -> Result<(), JournalError> {
        self.record_state(step, token).await.map(|_| ())
    }

    /// `None` where the event cannot follow any more: a late or repeated answer changes nothing
    /// (R4).
    async fn record_state(
        &self,
        mut step: Step,
        token: Token,
    ) -> Result<Option<State>, JournalError> {
        step.lease = Some(token);
        record_if_legal(&self.journal, step).await
    }

    pub(super) fn context(&self, attempt: u32) -> Context<'_> {
        Context {
            now: self.clock.now(),
            timing: &self.timing,
            fraction: self.clock.fraction(),
            attempt,
            searches: self.courier().searches(),
            turned_away: None,
            alone: None,
        }
    }

    /// The same for a report that was sent or accepted then: one that was sent with another
    /// certificate than the one in use is learned of by no search.
    pub(super) fn context_of(&self, since: Instant, attempt: u32) -> Context<'_> {
        let context = self.context(attempt);
        let formerly = self.courier().was_sent_formerly(since);
        Context { searches: context.searches && !formerly, ..context }
    }
}

/// Records a step; an event that cannot follow is no error of the journal.
async fn record_if_legal(journal: &Journal, step: Step) -> Result<Option<State>, JournalError> {
    match journal.record_async(step).await {
        Ok(state) => Ok(Some(state)),
        Err(RecordError::Journal(problem)) => Err(problem),
        Err(
            RecordError::Illegal(_)
            | RecordError::Unexpected { .. }
            | RecordError::BeingReplaced { .. }
            | RecordError::NoEvidence
            | RecordError::DigestMismatch,
        ) => Ok(None),
    }
}

/// The envelope around a document as received; `None` around what is none.
pub(crate) fn wrapped(bytes: &[u8], identifier: &str, language_default: &str) -> Option<Envelope> {
    let tree = Tree::read(bytes, Format::sniff(bytes)?, &Limits::default()).ok()?;
    wrap(&tree, identifier, language_default).ok()
}

/// The client's proof as the journal keeps it.
pub(crate) fn kept(evidence: Evidence, kind: EvidenceKind, at: Instant) -> journal::Evidence {
    journal::Evidence {
        kind,
        at,
        http_status: Some(evidence.status),
        content_type: evidence.content_type,
        body: evidence.body,
        fault: None,
    }
}
