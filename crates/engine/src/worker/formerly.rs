//! Certificates that were used before: what was sent with one is asked for and read with it, until
//! it is removed.
//!
//! Another certificate may stand for another laboratory at the authority: whoever asks with it is
//! shown nothing of what was sent before, and would take that for a proof that nothing arrived.

use client::{Authority, Fault, Found, Received};
use fhir::Instant;
use journal::{JournalError, Sibling};
use report::{Event, SubmissionId};

use super::Worker;
use super::sight::Sight;
use crate::courier::verdict::{is_not_found, may_be};
use crate::courier::{Period, begun_before};

/// A certificate that an endpoint used for a time, and no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formerly<A> {
    /// Since when it was used.
    pub from: Instant,
    /// When another took its place.
    pub until: Instant,
    /// Until when surely none of the later ones was used.
    pub alone_until: Instant,
    /// Number of the last event of the journal when another took its place, where it is known.
    pub through: Option<i64>,
    /// The authority as it is asked with it; `None` where it cannot be used now.
    pub authority: Option<A>,
}

impl<A> Formerly<A> {
    /// When it was in use.
    const fn period(&self) -> Period {
        Period { from: self.from, until: self.until }
    }
}

/// What the searches with all certificates of a report have found.
pub(super) struct Asked {
    pub(super) result: Result<Found, Fault>,
    /// One of the certificates could not ask: that nothing was found says nothing.
    pub(super) unsure: bool,
    /// What kept a former one from asking, where it can be used.
    pub(super) not_told: Option<Fault>,
    /// What the certificate in use met, where the answer came by another: that one shows nothing
    /// about it.
    pub(super) in_use: Option<Fault>,
}

/// What a read by id told.
pub(super) struct Told {
    pub(super) result: Result<Received, Fault>,
    /// It came by a certificate that was used before, and shows nothing about the one in use.
    pub(super) by_former: bool,
    /// What kept a certificate from answering that the report was, or may have been, sent with.
    pub(super) not_told: Option<Fault>,
}

impl<A: Authority> Worker<A> {
    /// The same worker, which follows what was sent with certificates that were used before too.
    #[must_use]
    pub fn with_former(mut self, formerly: Vec<Formerly<A>>) -> Self {
        let periods = formerly.iter().map(Formerly::period).collect();
        self.courier().used_formerly(periods);
        self.formerly = formerly;
        self
    }

    /// The certificate that was in use when a report was sent, if another is now.
    pub(super) fn former_of(&self, sent: Sent) -> Option<&Formerly<A>> {
        let sent = if sent.is_forgotten() { Sent::begun_before(sent.last) } else { sent };
        self.formers(sent.times()).next()
    }

    /// From when to when the request may have begun of a report that is in doubt, or accepted,
    /// since then: the last one began before, long before where the computer slept meanwhile. What
    /// a restore covers may have been sent at any time.
    pub(super) fn sent_within(
        &self,
        id: SubmissionId,
        since: Instant,
    ) -> Result<Sent, JournalError> {
        let first = self.journal.may_be_sent_since(id, since, self.clock.now())?;
        if first != since || self.formerly.is_empty() {
            return Ok(Sent { first, ..Sent::at_any_time(since) });
        }
        let timeline = self.journal.detail(id)?.timeline;
        let began = timeline.iter().rev().find_map(|entry| match entry.event {
            Event::SendingStarted { since } => Some((since, entry.number)),
            _ => None,
        });
        Ok(match began {
            Some((began, event)) => {
                Sent { first: began.min(since), last: began.max(since), event: Some(event) }
            }
            None => Sent::begun_before(since),
        })
    }

    /// The certificates that were in use for some of the time between two moments, but the one that
    /// is in use now.
    fn formers(&self, sent: (Instant, Instant)) -> impl Iterator<Item = &Formerly<A>> {
        self.formerly.iter().filter(move |it| it.period().covers(sent))
    }

    /// The ways to ask for a report whose empty answers count only where each is shown others of
    /// ours: the certificate that it was sent with. After a restore it may have been any; just
    /// after a change it was the former one or the one in use. So it is for as long as our clock,
    /// which was set back, has the change still before it, and where the journal has the request
    /// behind the change, whatever that clock said then.
    pub(super) fn sights(&self, sent: Sent) -> Vec<Sight<'_, A>> {
        let now = self.clock.now();
        let surely = |it: &Formerly<A>| {
            let is_before = it.through.zip(sent.event).is_none_or(|(last, event)| event <= last);
            let was_alone = sent.last < it.alone_until && it.until <= now;
            !sent.is_forgotten() && is_before && was_alone
        };
        let is_former = self.formers(sent.times()).any(surely);
        let mut sights = Vec::new();
        for Formerly { from, until, authority, .. } in self.formers(sent.times()) {
            let sight = |authority| Sight { authority, from: *from, until: *until };
            sights.extend(authority.as_ref().map(sight));
        }
        if sights.is_empty() || !is_former {
            let from = self.formerly.iter().map(|it| it.until).max();
            let from = from.unwrap_or(Instant(i64::MIN));
            sights.push(Sight { authority: &self.authority, from, until: Instant(i64::MAX) });
        }
        sights
    }

    /// Looks a report up with the certificate in use and, where it was or may have been sent with
    /// others and that one is shown nothing of it, with those. What other reports of the same
    /// identifier have is left out.
    pub(super) async fn look_up(
        &self,
        id: SubmissionId,
        identifier: &str,
        sent: Sent,
    ) -> Result<Asked, JournalError> {
        let siblings = self.journal.siblings(id)?;
        let result = self.shown_of_ours(&self.authority, (id, identifier), &siblings).await?;
        let (mut unsure, mut not_told) = (false, None);
        if !result.as_ref().is_ok_and(|found| !found.answers.is_empty()) {
            for former in self.formers(sent.times()) {
                let Some(authority) = &former.authority else {
                    unsure = true;
                    continue;
                };
                match self.shown_of_ours(authority, (id, identifier), &siblings).await? {
                    Ok(found) if !found.answers.is_empty() => {
                        let (result, in_use) = (Ok(found), result.err());
                        return Ok(Asked { result, unsure: false, not_told: None, in_use });
                    }
                    Ok(_) => {}
                    Err(fault) => {
                        unsure = true;
                        not_told = not_told.or(Some(fault));
                    }
                }
            }
        }
        Ok(Asked { result, unsure, not_told, in_use: None })
    }

    /// What a certificate is shown of a report, without what is known to be another one's.
    async fn shown_of_ours(
        &self,
        authority: &A,
        (id, identifier): (SubmissionId, &str),
        siblings: &[Sibling],
    ) -> Result<Result<Found, Fault>, JournalError> {
        let mut found = authority.find(identifier).await;
        if let Ok(found) = &mut found {
            self.leave_out_known(found, id, siblings)?;
        }
        Ok(found)
    }

    /// Reads a report by its id: with the certificate that it was sent with, then with the one in
    /// use; where that is shown nothing, with all others, because it may have been found long after
    /// it was sent.
    pub(super) async fn status_of(&self, receipt: &str, identifier: &str, sent: Sent) -> Told {
        let mut not_told = None;
        match read_with(self.former_of(sent), receipt, identifier).await {
            Ok(Some(received)) => {
                return Told { result: Ok(received), by_former: true, not_told: None };
            }
            Ok(None) => {}
            Err(fault) => not_told = Some(fault),
        }
        let result = self.authority.status(receipt).await;
        if !result.as_ref().is_err_and(is_not_found) {
            return Told { result, by_former: false, not_told };
        }
        for former in &self.formerly {
            match read_with(Some(former), receipt, identifier).await {
                // A number alone, as another laboratory may have it by now, says nothing to a
                // certificate that the report was not sent with.
                Ok(Some(received))
                    if former.period().covers(sent.times())
                        || !received.answer.identifiers.is_empty() =>
                {
                    return Told { result: Ok(received), by_former: true, not_told: None };
                }
                Err(fault) if former.period().covers(sent.times()) => {
                    not_told = not_told.or(Some(fault));
                }
                Ok(_) | Err(_) => {}
            }
        }
        Told { result, by_former: false, not_told }
    }
}

/// When the last request for a report began, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sent {
    /// The earliest time at which it may have begun.
    first: Instant,
    /// The latest one.
    pub(super) last: Instant,
    /// Number of the event in the journal by which it began.
    event: Option<i64>,
}

impl Sent {
    /// A restore has forgotten when that was; since when it is in doubt.
    pub(super) const fn at_any_time(since: Instant) -> Self {
        Self { first: Instant(i64::MIN), last: since, event: None }
    }

    /// Of a request only its end is known, or when somebody noticed it.
    pub(super) fn begun_before(end: Instant) -> Self {
        let (first, last) = begun_before(end);
        Self { first, last, event: None }
    }

    /// From when to when it may have begun.
    const fn times(self) -> (Instant, Instant) {
        (self.first, self.last)
    }

    /// A restore has forgotten when that was.
    pub(super) fn is_forgotten(self) -> bool {
        self.first == Instant(i64::MIN)
    }

    /// Since when it may have been sent; where a restore has forgotten that, since when it is in
    /// doubt.
    pub(super) fn since(self) -> Instant {
        if self.is_forgotten() { self.last } else { self.first }
    }
}

/// What a former certificate is shown of a report: `None` where it is told that there is nothing,
/// or cannot be used.
async fn read_with<A: Authority>(
    former: Option<&Formerly<A>>,
    receipt: &str,
    identifier: &str,
) -> Result<Option<Received>, Fault> {
    let Some(authority) = former.and_then(|it| it.authority.as_ref()) else { return Ok(None) };
    match authority.status(receipt).await {
        Ok(received) => Ok(may_be(&received.answer, identifier).then_some(received)),
        Err(fault) if is_not_found(&fault) => Ok(None),
        Err(fault) => Err(fault),
    }
}
