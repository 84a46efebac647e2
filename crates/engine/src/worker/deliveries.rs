//! Several deliveries of one report: what was sent may have been stored all the same, and who
//! stands between may have repeated the request. The search by identifier shows all of them.

use std::time::Duration;

use client::{Authority, Evidence, Fault, Found, Received, Why};
use fhir::Instant;
use journal::{Due, EvidenceKind, JournalError, Sibling, Token};
use report::{Event, State, SubmissionId};

use super::Worker;
use super::formerly::{Asked, Sent, Told};
use crate::courier::deliveries::{
    NotAsked, OpenRequest, Sure, believed_since, cannot_ask, failed_under, open_request,
    others_that_count, rejected_request, stays_in_progress, waits_for,
};
use crate::courier::verdict::{Health, Verdict, found_at_last, is_not_found, may_be};
use crate::courier::visibility::Visibility;
use crate::courier::whose::{before, is_known_as, is_surely, leave_out_unsure, requests};

/// A number under which the authority has told that a report failed.
struct Number<'a> {
    receipt: &'a str,
    /// A doubt has believed since that nothing is there.
    is_believed: bool,
    /// Another report of ours has it now: what is read by it counts only where it names this one.
    is_anothers: bool,
}

impl<A: Authority> Worker<A> {
    /// Before a request for a report that is not the first one, as far as is known after a restore:
    /// a question by its identifier, unless it is known that nothing of it has arrived. Says
    /// whether nothing is to be sent now.
    pub(super) async fn first_asks(&self, due: &Due, token: Token) -> Result<bool, JournalError> {
        let State::Queued { attempt, .. } = due.state else { return Ok(false) };
        if attempt == 0 && self.journal.restored_since(due.id)?.is_none() {
            return Ok(false);
        }
        let timeline = self.journal.detail(due.id)?.timeline;
        let events = timeline.iter().map(|entry| &entry.event);
        let Some(open) = OpenRequest::of(due.id, attempt, events.clone()) else {
            return Ok(false);
        };
        let sent = self.sent_within(due.id, open.since)?;
        let Asked { result, unsure, in_use, .. } =
            self.look_up(due.id, &due.identifier, sent).await?;
        let shown = match (result, failed_under(events.clone())) {
            (result, Some(receipt)) => {
                let (is_believed, is_anothers) =
                    (believed_since(events), self.is_anothers(receipt, due.id)?);
                let number = Number { receipt, is_believed, is_anothers };
                self.read_as_well(result, number, &due.identifier, sent).await?
            }
            (result, _) => result.map(|found| (found, false)),
        };
        let (mut found, unread) = match shown {
            Ok(shown) => shown,
            Err(fault) => {
                let follows = self.courier().not_asked(self.clock_reading(), open, &fault);
                let doubt = match follows {
                    NotAsked::MayBeSent => return self.is_stopped(),
                    NotAsked::InDoubt(since) => Some(since),
                    NotAsked::NotNow => None,
                };
                return self.cannot_ask(due.id, doubt, fault, token).await.map(|()| true);
            }
        };
        let siblings = self.journal.siblings(due.id)?;
        let contradicts = exchange::leave_out_contradictions(&mut found.answers) > 0;
        let shared = self.leave_out_others(&mut found, due.id, &siblings)?;
        let sure = Sure { contradicts, shared, unsure: unsure || unread };
        if open.may_be_sent(&found, sure) {
            return self.is_stopped();
        }
        let mut verdict = open.found(found, sure, in_use, &self.context(attempt));
        self.follow_as_sent(&mut verdict, sent);
        self.conclude(due.id, EvidenceKind::Search, verdict, token).await.map(|_| true)
    }

    /// Where a search does not show what the authority has told of under this number, or nobody can
    /// search, the number is read: a search may be behind. Gives also whether it stays open that it
    /// is there: a certificate that it may have been sent with could not read it, or is shown
    /// nothing else of ours either, as one that has lost its access.
    async fn read_as_well(
        &self,
        result: Result<Found, Fault>,
        Number { receipt, is_believed, is_anothers }: Number<'_>,
        identifier: &str,
        sent: Sent,
    ) -> Result<Result<(Found, bool), Fault>, JournalError> {
        let (found, cannot_search) = match result {
            Ok(found) if !found.answers.is_empty() => return Ok(Ok((found, false))),
            Ok(found) => (found, None),
            Err(fault) if matches!(fault.why(), Some(Why::SearchUnsupported)) => {
                let (answers, evidence) = (Vec::new(), Evidence::default());
                (Found { answers, evidence }, Some(fault))
            }
            Err(fault) => return Ok(Err(fault)),
        };
        let Told { result, not_told, .. } = self.status_of(receipt, identifier, sent).await;
        Ok(match (result, not_told, cannot_search) {
            (Ok(Received { answer, evidence }), ..)
                if may_be(&answer, identifier)
                    && !(is_anothers && answer.identifiers.is_empty()) =>
            {
                Ok((Found { answers: vec![answer], evidence }, false))
            }
            (Err(fault), ..) if !is_not_found(&fault) => Err(fault),
            // It is not there by what one certificate is shown, and the other one could not ask.
            (_, Some(_), _) => Ok((found, true)),
            (_, None, Some(fault)) => Err(fault),
            // Another report has the number.
            (Ok(_), None, None) => Ok((found, false)),
            (Err(_), None, None) => {
                let sights = self.sights(sent);
                match self.least_visibility(&sights, identifier, sent.last).await? {
                    Visibility::Ours | Visibility::Earlier => Ok((found, false)),
                    Visibility::NothingYet => Ok((found, !is_believed)),
                    Visibility::Lost | Visibility::Unknown => Ok((found, true)),
                }
            }
        })
    }

    /// Whether another report of ours has this number now: an authority that was restored from a
    /// backup gives its numbers anew, and what is read by one need not name an identifier.
    fn is_anothers(&self, receipt: &str, id: SubmissionId) -> Result<bool, JournalError> {
        let owners = self.journal.by_receipt_at(self.endpoint.id(), receipt)?;
        for (owner, _) in owners.iter().filter(|(owner, _)| *owner != id) {
            if self.journal.state(*owner)?.receipt() == Some(receipt) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A report that was sent then is found. Where that was with a former certificate, it is read
    /// with that one from now on: no search with the one in use need show it.
    pub(super) fn follow_as_sent(&self, verdict: &mut Verdict, sent: Sent) {
        let since = sent.since();
        if let Some(Event::Accepted { since: accepted, due, .. }) = &mut verdict.event
            && self.former_of(sent).is_some()
        {
            (*accepted, *due) = (since, self.context_of(since, 1).read_at(Duration::ZERO));
        }
    }

    /// A question takes time: what has been changed or stopped meanwhile holds.
    pub(super) fn is_stopped(&self) -> Result<bool, JournalError> {
        Ok(!(self.in_force)() || self.journal.is_paused()?)
    }

    /// The question was not answered. Where that is so of it alone, there is a doubt since its last
    /// request, of which a person is told in the end; else the way is not free, and whatever is
    /// sent now would not arrive either.
    pub(super) async fn cannot_ask(
        &self,
        id: SubmissionId,
        doubt: Option<Instant>,
        fault: Fault,
        token: Token,
    ) -> Result<(), JournalError> {
        let verdict = cannot_ask(fault, doubt, self.clock.now());
        let heard = verdict.evidence.is_some();
        self.conclude(id, EvidenceKind::Search, verdict, token).await?;
        if !heard && doubt.is_none() {
            self.courier().let_others_try(id);
        }
        Ok(())
    }

    /// Leaves out what other reports with the same identifier have. Says whether one of them may
    /// have what is left, so that nothing is: whose it is cannot be told.
    pub(super) fn leave_out_others(
        &self,
        found: &mut Found,
        id: SubmissionId,
        siblings: &[Sibling],
    ) -> Result<bool, JournalError> {
        self.leave_out_known(found, id, siblings)?;
        let mut shared = false;
        for sibling in siblings.iter().filter(|_| !found.answers.is_empty()) {
            shared |= sibling.may_be_delivered || self.is_open(sibling)?;
        }
        if shared {
            found.answers.clear();
            return Ok(true);
        }
        self.leave_out_unsure(found, id, siblings)
    }

    /// Leaves out what is not surely of this report, because others with its identifier were sent
    /// too: somebody on the way may have repeated a request of theirs. Says whether nothing can be
    /// told for that.
    fn leave_out_unsure(
        &self,
        found: &mut Found,
        id: SubmissionId,
        siblings: &[Sibling],
    ) -> Result<bool, JournalError> {
        if found.answers.is_empty() {
            return Ok(false);
        }
        let mut others = Vec::new();
        for sibling in siblings {
            // What it had before a restore is not known: it was on hold in the backup, or is read
            // back as closed.
            others.extend(sibling.restored.map(before));
            let Some(sibling) = sibling.id else { continue };
            let timeline = self.journal.detail(sibling)?.timeline;
            others.extend(requests(timeline.iter().map(|entry| (&entry.event, entry.at))));
        }
        if others.is_empty() {
            return Ok(false);
        }
        let timeline = self.journal.detail(id)?.timeline;
        let ours = requests(timeline.iter().map(|entry| (&entry.event, entry.at)));
        let now = self.clock.now();
        // By our clock, as it stands to theirs now.
        let behind = found.evidence.server_date.map(|theirs| now.0.saturating_sub(theirs.0));
        Ok(leave_out_unsure(&mut found.answers, |answer| {
            let events = timeline.iter().map(|entry| &entry.event);
            let received = answer.date.zip(behind).map(|(date, by)| date.plus_micros(by));
            is_known_as(events, answer.receipt.as_deref())
                || received.is_some_and(|received| is_surely(received, &ours, &others))
        }))
    }

    /// Leaves out what is known to be another report's.
    pub(super) fn leave_out_known(
        &self,
        found: &mut Found,
        id: SubmissionId,
        siblings: &[Sibling],
    ) -> Result<(), JournalError> {
        for hit in std::mem::take(&mut found.answers) {
            if !self.belongs_to_another(&hit, id, siblings)? {
                found.answers.push(hit);
            }
        }
        Ok(())
    }

    /// Whether what was sent of it and refused on the way back may be at the authority, though
    /// nobody follows it.
    fn is_open(&self, sibling: &Sibling) -> Result<bool, JournalError> {
        if !sibling.was_sent {
            return Ok(false);
        }
        let Some(id) = sibling.id else { return Ok(true) };
        let timeline = self.journal.detail(id)?.timeline;
        let events = timeline.iter().map(|entry| &entry.event);
        // Somebody on the way may have repeated the request that was rejected.
        let is_rejected = || rejected_request(events.clone()).is_some();
        Ok(open_request(events.clone()).is_some() || is_rejected() && !self.was_judged(id)?)
    }

    /// A delivery has failed, perhaps as the duplicate of another delivery of the same report: then
    /// the other one counts. One that is still in progress is waited for, because who is told
    /// *failed* corrects and sends again.
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
        // What a restore covers may have been sent with any certificate.
        let sent = self.sent_within(id, since)?;
        let Asked { result, not_told, .. } = self.look_up(id, identifier, sent).await?;
        let found = match result {
            Ok(found) => others_that_count(found, receipt),
            Err(fault) => {
                let context = self.context(1);
                return Ok(self.courier().failed_unasked(
                    (id, identifier),
                    state,
                    fault,
                    verdict,
                    &context,
                ));
            }
        };
        if let (None, Some(fault)) = (&found, not_told) {
            // Those that the other one may be shown to could not ask, which shows nothing about the
            // one in use; nor does an answer to that one show anything about them.
            let context = self.context(1);
            let unasked = self.courier().failed_unasked((id, ""), state, fault, verdict, &context);
            return Ok(Verdict { health: Health::OfOne, ..unasked });
        }
        self.courier().deliveries_are_known(id);
        let Some(found) = found else { return Ok(verdict) };
        let other = found_at_last(found, &self.context(1));
        Ok(match waits_for(&other, state) {
            Some(times) => stays_in_progress(times, other, &self.context_of(times.0, 1)),
            None => other,
        })
    }

    /// Whether a report that has failed could not be asked for, and is read again later: searches
    /// show it meanwhile, again and again.
    pub(super) fn rests_unasked(&self, id: SubmissionId) -> bool {
        self.courier().rests_unasked(id, self.clock.now())
    }
}
