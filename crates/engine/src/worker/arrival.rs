//! Whether the authority has what another report is to take the place of: one question, and when
//! its empty answer is believed.

use client::{Authority, Fault, Found, Why};
use exchange::Processing;
use fhir::Instant;
use journal::{Entry, EvidenceKind, JournalError, Row, Source, Token};
use report::{Event, State, SubmissionId};

use super::Worker;
use super::formerly::{Asked, Sent};
use crate::ClockReading;
use crate::courier::content::is_verdict_on_content;
use crate::courier::deliveries::{failed_under, open_request, others_that_count, rejected_request};
use crate::courier::questions::Unanswered;
use crate::courier::verdict::{Health, found_at_last, has_second_way, may_be};
use crate::courier::visibility::{Belief, EmptyAnswer, Visibility};

/// Whether the authority has a report that is to be corrected.
pub(super) enum Arrival {
    /// It has not, as far as can be known.
    Not,
    /// It does not show it, and may still do so; with the authority's clock when it answered.
    NotShown(Option<Instant>),
    /// It has it, under this receipt where it gave one.
    Delivered(Option<String>),
    /// The question is open or refused, or its answer says nothing.
    Unanswerable,
    /// The way to the authority is not free.
    NotNow(Fault),
}

/// A question for a report whose request was refused.
struct Question {
    /// When that request began.
    since: Instant,
    /// When it may have been sent.
    sent: Sent,
    /// How often it was asked in vain, and what the authority's clock said at first.
    in_vain: (u32, Option<Instant>),
    /// When it was asked.
    began: ClockReading,
}

impl<A: Authority> Worker<A> {
    /// Whether the authority has this report, of which the timeline of what waits for it says how
    /// often it was asked in vain; `asked`: whether that took a question.
    pub(super) async fn arrival(
        &self,
        row: &Row,
        waiting: &[Entry],
        token: Token,
        asked: &mut bool,
    ) -> Result<Arrival, JournalError> {
        match &row.state {
            // Whether it is there is known once that is asked again.
            State::InProgress { .. } if self.courier().is_failed_unasked(row.id) => {
                return Ok(Arrival::NotShown(None));
            }
            State::InProgress { receipt, since, .. } => {
                *asked = true;
                return self.unless_failed(row, receipt, *since).await;
            }
            State::Completed { receipt } => {
                return Ok(Arrival::Delivered(Some(receipt.clone())));
            }
            State::Withdrawn { received: true } => {
                return Ok(Arrival::Delivered(row.receipt.clone()));
            }
            // It is asked for already, or under way.
            State::Unknown { .. } | State::Sending { .. } => return Ok(Arrival::Unanswerable),
            State::Failed { .. } => return self.beside_what_failed(row, asked).await,
            State::Held { .. }
            | State::Queued { .. }
            | State::Withdrawn { .. }
            | State::Superseded { .. }
            | State::Rejected => {}
        }
        let Some(since) = self.may_have_left(row)? else {
            return self.beside_what_failed(row, asked).await;
        };
        // The certificate of this endpoint is shown nothing of what another one has sent.
        if row.endpoint != self.endpoint.id() {
            return Ok(Arrival::Unanswerable);
        }
        *asked = true;
        // What a restore covers may have been sent with any certificate.
        let sent = match self.journal.restored_since(row.id)? {
            Some(_) => Sent::at_any_time(since),
            None => self.sent_within(row.id, since)?,
        };
        let in_vain = asked_in_vain(waiting, row.id);
        let question = Question { since, sent, in_vain, began: self.clock_reading() };
        let before = self.seen_before(row, &question).await?;
        let Asked { result, unsure, in_use, .. } =
            self.look_up(row.id, &row.identifier, sent).await?;
        let mut found = match result {
            Ok(found) => found,
            Err(Fault::Transient { why: Why::SearchUnsupported, .. }) => return Ok(Arrival::Not),
            Err(fault) => return self.not_answered(row.id, fault),
        };
        let siblings = self.journal.siblings(row.id)?;
        let contradicts = exchange::leave_out_contradictions(&mut found.answers) > 0;
        let shared = self.leave_out_others(&mut found, row.id, &siblings)?;
        let is_unsure = found.answers.is_empty() && unsure && !self.was_judged(row.id)?;
        if contradicts || shared || is_unsure {
            return Ok(Arrival::Unanswerable);
        }
        if found.answers.is_empty() {
            let answered = found.evidence.server_date;
            return self.not_shown(row, &question, before, answered).await;
        }
        self.found_after_all(row, sent, found, in_use, token).await
    }

    /// The journal has it in progress. A search may have shown that delivery as failed before the
    /// program was started again, while it could not be asked whether there is another one: only
    /// the authority knows that now. Where it does not show it, what was accepted counts.
    async fn unless_failed(
        &self,
        row: &Row,
        receipt: &str,
        since: Instant,
    ) -> Result<Arrival, JournalError> {
        let delivered = Arrival::Delivered(Some(receipt.to_owned()));
        if row.endpoint != self.endpoint.id() {
            return Ok(delivered);
        }
        let sent = Sent::begun_before(since);
        let read = match self.status_of(receipt, &row.identifier, sent).await.result {
            Ok(read) => read,
            Err(fault) if has_second_way(&fault) || self.is_unanswerable(row.id, &fault) => {
                return Ok(delivered);
            }
            Err(fault) => return Ok(Arrival::NotNow(fault)),
        };
        let has_failed = read.answer.processing == Some(Processing::Failed);
        if !has_failed || !may_be(&read.answer, &row.identifier) {
            return Ok(delivered);
        }
        // Whether it is there is known once that is asked again, unless another one counts.
        let Asked { result, .. } = self.look_up(row.id, &row.identifier, sent).await?;
        let Ok(mut found) = result else {
            return Ok(Arrival::NotShown(None));
        };
        let siblings = self.journal.siblings(row.id)?;
        let shared = self.leave_out_others(&mut found, row.id, &siblings)?;
        let other = others_that_count(found, receipt).filter(|_| !shared);
        let other = other.and_then(|other| other.answers.into_iter().find_map(|it| it.receipt));
        Ok(other.map_or(Arrival::NotShown(None), |receipt| Arrival::Delivered(Some(receipt))))
    }

    /// A delivery of it has failed: perhaps as the duplicate of another one, which the search did
    /// not show yet when that was told. Where it is shown by now, that one counts.
    async fn beside_what_failed(
        &self,
        row: &Row,
        asked: &mut bool,
    ) -> Result<Arrival, JournalError> {
        let timeline = self.journal.detail(row.id)?.timeline;
        let events = timeline.iter().map(|entry| &entry.event);
        let Some(receipt) = failed_under(events.clone()) else { return Ok(Arrival::Not) };
        if row.endpoint != self.endpoint.id() {
            return Ok(Arrival::Not);
        }
        let began = events.rev().find_map(|event| match event {
            Event::SendingStarted { since } => Some(*since),
            _ => None,
        });
        let since = began.unwrap_or_else(|| self.clock.now());
        let sent = self.sent_within(row.id, since)?;
        *asked = true;
        let Asked { result, not_told, .. } = self.look_up(row.id, &row.identifier, sent).await?;
        let mut found = match result {
            Ok(found) => found,
            Err(Fault::Transient { why: Why::SearchUnsupported, .. }) => return Ok(Arrival::Not),
            Err(fault) => return self.not_answered(row.id, fault),
        };
        // Whoever is shown what failed is shown the other one too.
        let is_seen = found.answers.iter().any(|it| it.receipt.as_deref() == Some(receipt));
        // Nobody else can have it, so that only another one is left to be told apart.
        found.answers.retain(|it| it.receipt.as_deref() != Some(receipt));
        let siblings = self.journal.siblings(row.id)?;
        if self.leave_out_others(&mut found, row.id, &siblings)? {
            return Ok(Arrival::Unanswerable);
        }
        let other = others_that_count(found, receipt);
        if other.is_none() && !is_seen && not_told.is_some_and(|fault| may_pass(&fault)) {
            return Ok(Arrival::NotShown(None));
        }
        let other = other.and_then(|other| other.answers.into_iter().find_map(|it| it.receipt));
        Ok(other.map_or(Arrival::Not, |receipt| Arrival::Delivered(Some(receipt))))
    }

    /// The authority shows it; `in_use`: the fault of the certificate in use, where an earlier one
    /// was shown it.
    async fn found_after_all(
        &self,
        row: &Row,
        sent: Sent,
        found: Found,
        in_use: Option<Fault>,
        token: Token,
    ) -> Result<Arrival, JournalError> {
        let receipt = found.answers.iter().find_map(|answer| answer.receipt.clone());
        let (answer, proof) = (found.answers.first().cloned(), found.evidence.clone());
        let mut verdict = found_at_last(found, &self.context(1));
        self.follow_as_sent(&mut verdict, sent);
        if let Some(fault) = in_use {
            verdict.health = Health::of_question(fault);
        }
        let failed = matches!(verdict.event, Some(Event::Failed { .. }));
        if let (State::Held { attempt: 0 }, Some(event), Some(answer)) =
            (&row.state, &verdict.event, &answer)
        {
            // It was released in what a restore has forgotten, and is followed again.
            self.doubt_found(row.id, event, answer, proof).await?;
        }
        // Nothing is said any more of what another has taken the place of.
        if !matches!(row.state, State::Superseded { .. }) {
            self.conclude(row.id, EvidenceKind::Search, verdict, token).await?;
        }
        Ok(if failed { Arrival::Not } else { Arrival::Delivered(receipt) })
    }

    /// What is shown of ours before the question, where its empty answer may be believed.
    async fn seen_before(
        &self,
        row: &Row,
        question: &Question,
    ) -> Result<Visibility, JournalError> {
        let (asked, _) = question.in_vain;
        let age = self.courier().in_doubt_for(question.began, row.id, question.since);
        let may_end = EmptyAnswer::may_end(asked, &self.timing) && age >= self.timing.doubt_min;
        if !may_end || self.is_answered_once(row)? {
            return Ok(Visibility::Unknown);
        }
        let sights = self.sights(question.sent);
        self.least_visibility(&sights, &row.identifier, question.since).await
    }

    /// Whether one empty answer is enough: the authority has judged the content, which is the same
    /// in every delivery; or what has taken the place of this one has left, after this one was
    /// asked for as long as that takes.
    fn is_answered_once(&self, row: &Row) -> Result<bool, JournalError> {
        if let State::Superseded { by } = row.state
            && self.journal.row(by)?.attempts > 0
            && self.journal.restored_since(row.id)?.is_none()
        {
            return Ok(true);
        }
        self.was_judged(row.id)
    }

    /// The authority does not show it. Unless one answer is enough, that is believed as late as in
    /// a doubt.
    async fn not_shown(
        &self,
        row: &Row,
        question: &Question,
        before: Visibility,
        answered: Option<Instant>,
    ) -> Result<Arrival, JournalError> {
        if self.is_answered_once(row)? {
            return Ok(Arrival::Not);
        }
        let &Question { since, sent, in_vain, began } = question;
        let mut empty = EmptyAnswer::new(in_vain, answered, before, false);
        empty.by_us = self.courier().in_doubt_for(self.clock_reading(), row.id, since);
        if empty.wants_second_look(&self.timing) {
            empty.after = self.least_visibility(&self.sights(sent), &row.identifier, since).await?;
            empty.between = self.clock_reading().since(began);
            // What a copy of the profile has put in doubt, the other copy may still send.
            let (now, lag) = (self.clock.now(), self.timing.doubt_min);
            empty.elsewhere =
                sent.is_forgotten() && self.journal.may_be_shown_late(row.id, now, lag)?;
        }
        Ok(match empty.belief(&self.timing) {
            Belief::NotReceived => {
                self.courier().asked(row.id, None);
                Arrival::Not
            }
            Belief::NotYet => Arrival::NotShown(answered),
            Belief::NoAccess | Belief::Ambiguous => Arrival::Unanswerable,
        })
    }

    /// The question for a report came to nothing.
    fn not_answered(&self, id: SubmissionId, fault: Fault) -> Result<Arrival, JournalError> {
        Ok(match self.is_unanswerable(id, &fault) {
            true if self.was_judged(id)? => Arrival::Not,
            true => Arrival::Unanswerable,
            false => Arrival::NotNow(fault),
        })
    }

    /// Whether the question for a report is given up, so that others do not wait for long, again
    /// and again, for the question of one.
    fn is_unanswerable(&self, id: SubmissionId, fault: &Fault) -> bool {
        let is_long = fault.retry_after().is_some_and(|pause| pause >= self.timing.doubt_min);
        match self.courier().unanswered(self.clock_reading(), id, fault) {
            Unanswered::Never => true,
            Unanswered::Alone => is_long,
            Unanswered::ByNobody => false,
        }
    }

    /// Whether the authority has refused the last request for a report for its content.
    pub(super) fn was_judged(&self, id: SubmissionId) -> Result<bool, JournalError> {
        let detail = self.journal.detail(id)?;
        let rejected = rejected_request(detail.timeline.iter().map(|entry| &entry.event));
        let theirs = detail.messages.iter().filter(|it| it.source == Source::Authority);
        Ok(rejected.is_some() && is_verdict_on_content(theirs))
    }

    /// Since when a report may be at the authority: a request for it is open, or it may have left
    /// in what a restore has forgotten, and it was not asked for since.
    fn may_have_left(&self, row: &Row) -> Result<Option<Instant>, JournalError> {
        let timeline = self.journal.detail(row.id)?.timeline;
        if let Some(since) = rejected_request(timeline.iter().map(|entry| &entry.event)) {
            return Ok(Some(since));
        }
        if failed_under(timeline.iter().map(|entry| &entry.event)).is_none()
            && let Some(since) = open_request(timeline.iter().map(|entry| &entry.event))
        {
            return Ok(Some(since));
        }
        let Some(restored) = self.journal.restored_since(row.id)? else { return Ok(None) };
        let after = restored..=self.clock.now();
        let mut since = timeline.iter().rev().take_while(|entry| after.contains(&entry.at));
        let was_asked = since.any(|entry| {
            matches!(
                entry.event,
                Event::NotReceived { .. } | Event::Rejected | Event::Failed { .. }
            )
        });
        Ok((!was_asked).then_some(restored))
    }
}

/// Whether a former certificate may be answered later. Most that are refused have expired or lost
/// their access, and are for that reason former ones.
fn may_pass(fault: &Fault) -> bool {
    matches!(fault, Fault::Transient { why, .. } if *why != Why::SearchUnsupported)
}

/// How often a report waited because another one was not shown, by its timeline, and what the
/// authority's clock said at first.
pub(super) fn asked_in_vain(waiting: &[Entry], of: SubmissionId) -> (u32, Option<Instant>) {
    let answers = waiting.iter().filter_map(|entry| match entry.event {
        Event::OtherNotShown { of: asked, answered, .. } if asked == of => Some(answered),
        _ => None,
    });
    answers.fold((0, None), |(times, first), answered| {
        // Where that clock is set back, time counts from there.
        let earlier =
            first.zip(answered).map(|(first, answered): (Instant, _)| first.min(answered));
        (times + 1, earlier.or(first).or(answered))
    })
}
