//! Several deliveries of one report: whether one is asked for before another request, what the
//! answer means, and which of them counts. Pure.

use client::{Evidence, Fault, Found, NEVER_REACHED, Why};
use exchange::Processing;
use fhir::Instant;
use report::{Event, State, SubmissionId};

use super::Courier;
use super::questions::Unanswered;
use super::verdict::{Context, Health, SHARED, Verdict, found_at_last};
use crate::ClockReading;
use crate::clock::elapsed;

/// Since a report was let in, patience that is asked for at so many others, at most, may be meant
/// for these alone.
const PUT_OFF_ALONE_MAX: usize = 8;

/// Why a request was not made: the process stood still for longer than its lease.
pub(crate) const STOOD_STILL: &str = "journal-stale-lease";

/// Whether a request that was put off for this reason reached nobody who could have passed it on.
/// Any other reason is somebody's answer, and a gateway that looks at answers gives one after the
/// authority has stored.
pub fn reached_nobody(why: &str) -> bool {
    why == STOOD_STILL || NEVER_REACHED.contains(&why)
}

/// When the last request began, where what is known leaves open whether the authority has it:
/// somebody on the way refused it, or a connection ended as if nothing had arrived. A gateway that
/// looks at answers refuses after the authority has stored. `None`: nothing of it has arrived, or
/// the question for it was answered since. A person's word that nothing was received leaves it
/// open: a question is cheap, and people err.
pub(crate) fn open_request<'a>(
    events: impl DoubleEndedIterator<Item = &'a Event>,
) -> Option<Instant> {
    let (mut reached_nobody_since, mut has_arrived) = (false, false);
    for event in events.rev() {
        match event {
            // Whatever was believed before, the authority has told of it since.
            event if is_answer(event) => has_arrived = true,
            Event::NotReceived { .. } | Event::Rejected if has_arrived => {}
            // Believed at the end of a doubt, or the authority's own refusal of the content.
            Event::NotReceived { .. } | Event::Rejected => return None,
            // It says nothing of the requests before: one empty answer was enough for it.
            Event::Deferred { why, .. } if !has_arrived && reached_nobody(why) => {
                reached_nobody_since = true;
            }
            Event::SendingStarted { .. } if reached_nobody_since => reached_nobody_since = false,
            Event::SendingStarted { since } => return Some(*since),
            // What a restore has forgotten may have been sent, whoever has decided about it since.
            Event::Doubted { since, why, .. } if why == journal::RESTORED => return Some(*since),
            _ => {}
        }
    }
    None
}

/// Whether a doubt has ended with the belief that nothing was received, since the authority told of
/// the report last.
pub(crate) fn believed_since<'a>(events: impl DoubleEndedIterator<Item = &'a Event>) -> bool {
    let mut since = events.rev().take_while(|event| !is_answer(event));
    since.any(|event| matches!(event, Event::NotReceived { .. }))
}

/// Since when a report may be at the authority although its last request was rejected: somebody on
/// the way may have repeated the request, of which one was stored, and the other one was refused in
/// words that do not say so.
pub(crate) fn rejected_request<'a>(
    events: impl DoubleEndedIterator<Item = &'a Event>,
) -> Option<Instant> {
    let mut is_rejected = false;
    for event in events.rev() {
        match event {
            Event::Rejected => is_rejected = true,
            Event::SendingStarted { since } => return is_rejected.then_some(*since),
            // The question that ended that doubt was answered.
            Event::Doubted { .. } => return None,
            _ => {}
        }
    }
    None
}

/// The number under which the authority has told of the last request that it did not process the
/// report.
pub(crate) fn failed_under<'a>(
    events: impl DoubleEndedIterator<Item = &'a Event>,
) -> Option<&'a str> {
    let mut since = events.rev().take_while(|event| !matches!(event, Event::SendingStarted { .. }));
    since.find_map(|event| match event {
        Event::Failed { receipt } => Some(receipt.as_str()),
        _ => None,
    })
}

/// When the last request began of which the authority has told that it did not process the report,
/// whatever was believed of it before.
fn failed_request<'a>(
    events: impl DoubleEndedIterator<Item = &'a Event> + Clone,
) -> Option<Instant> {
    failed_under(events.clone())?;
    events.rev().find_map(|event| match event {
        Event::SendingStarted { since } => Some(*since),
        _ => None,
    })
}

/// What the authority says of a report that it has.
pub(super) fn is_answer(event: &Event) -> bool {
    matches!(event, Event::Accepted { .. } | Event::Completed { .. } | Event::Failed { .. })
}

/// A report of which a request is open: whether the authority has it is asked before the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenRequest {
    /// The report.
    pub(crate) id: SubmissionId,
    /// When the request began.
    pub(crate) since: Instant,
    /// Requests that were made, as far as the journal knows.
    attempt: u32,
    /// A person has said since that nothing was received.
    is_said: bool,
}

impl OpenRequest {
    /// What these events, the oldest first, leave open of a report that waits.
    pub(crate) fn of<'a>(
        id: SubmissionId,
        attempt: u32,
        events: impl DoubleEndedIterator<Item = &'a Event> + Clone,
    ) -> Option<Self> {
        let since = open_request(events.clone())
            .or_else(|| rejected_request(events.clone()))
            .or_else(|| failed_request(events.clone()))?;
        // Nor does a word count that the authority has contradicted since.
        let ends_it =
            |event: &&Event| matches!(event, Event::SendingStarted { .. }) || is_answer(event);
        let mut after = events.rev().take_while(|event| !ends_it(event));
        let is_said = after.any(|event| matches!(event, Event::SaidNotReceived { .. }));
        Some(Self { id, since, attempt, is_said })
    }

    /// Whether it may be sent after this answer. Where nothing is shown that must be of this
    /// report, a person's word counts, whatever could not be asked.
    pub(crate) fn may_be_sent(self, found: &Found, sure: Sure) -> bool {
        let is_sure = self.is_said || !sure.shared && !sure.unsure;
        found.answers.is_empty() && !sure.contradicts && is_sure
    }

    /// What the answer means where it may not be sent. `in_use`: what the certificate in use met,
    /// where the answer came by another.
    pub(crate) fn found(
        self,
        found: Found,
        sure: Sure,
        in_use: Option<Fault>,
        context: &Context<'_>,
    ) -> Verdict {
        let mut verdict = found_at_last(found, context);
        if sure.contradicts || verdict.event.is_none() {
            // Whose an answer is, and what one says that contradicts itself, only a doubt finds
            // out.
            let why = if sure.shared { SHARED } else { Why::AnotherIdentifier.code() };
            verdict.event = Some(doubt(self.since, context.now, why));
        }
        if let Some(fault) = in_use {
            verdict.health = Health::of_question(fault);
        }
        if self.attempt == 0 && verdict.event.as_ref().is_some_and(is_answer) {
            // As far as the journal knows nothing of it has left: a restore has forgotten that, and
            // the doubt finds it.
            verdict.event = Some(doubt(self.since, context.now, journal::RESTORED));
        }
        verdict
    }
}

/// How sure it is whose an answer is, and that there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sure {
    /// It names two states for one delivery.
    pub(crate) contradicts: bool,
    /// Another report with the same identifier may be meant.
    pub(crate) shared: bool,
    /// One of the certificates could not ask.
    pub(crate) unsure: bool,
}

/// What follows where the question before a further request was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAsked {
    /// It is sent all the same: nobody can be asked, or a person's word counts.
    MayBeSent,
    /// It is in doubt since its last request: it alone is never answered for.
    InDoubt(Instant),
    /// The way is not free, and whatever is sent now would not arrive either.
    NotNow,
}

impl Courier {
    /// The question before a further request met this.
    pub(crate) fn not_asked(
        &mut self,
        now: ClockReading,
        open: OpenRequest,
        fault: &Fault,
    ) -> NotAsked {
        if matches!(fault, Fault::Transient { why: Why::SearchUnsupported, .. }) {
            return NotAsked::MayBeSent;
        }
        // In doubt it is asked for at its own pace, and others do not wait for that.
        let never = self.unanswered(now, open.id, fault) != Unanswered::ByNobody;
        // Where the question is refused, a person's word counts.
        if open.is_said && (never || fault.evidence().is_some()) {
            return NotAsked::MayBeSent;
        }
        if never { NotAsked::InDoubt(open.since) } else { NotAsked::NotNow }
    }

    /// A request was refused for want of access: how often this report was for its own sake before,
    /// where it is so again. Who asks for patience (a transient fault) holds nothing against it.
    pub(crate) fn turned_away<T>(
        &mut self,
        id: SubmissionId,
        result: &Result<T, Fault>,
        refusals: u32,
    ) -> Option<u32> {
        match result {
            Err(Fault::Locked { evidence: Some(_), .. }) => {
                self.breaker.own().refuses_only(id, refusals).then_some(refusals)
            }
            _ => None,
        }
    }

    /// Whether the patience that is asked for at the delivery of this report concerns it alone.
    pub(crate) fn puts_off_only(
        &mut self,
        now: ClockReading,
        id: SubmissionId,
        fault: &Fault,
    ) -> bool {
        let most = self.timing.in_flight_max.min(PUT_OFF_ALONE_MAX);
        let patience = fault.evidence().and(fault.retry_after());
        // A short one is kept by everybody: a limit for all is often as short.
        let long = patience.filter(|patience| *patience >= self.timing.doubt_min);
        long.is_some_and(|long| self.breaker.own().puts_off_only(id, most, now.steady, long))
    }
}

/// The question before a request was not answered; `in_doubt`: since when, where that is so of it
/// alone.
pub(crate) fn cannot_ask(fault: Fault, in_doubt: Option<Instant>, now: Instant) -> Verdict {
    let why = fault.why().unwrap_or(&Why::Unexplained { status: 0 }).code();
    // Patience that is asked for holds for the next question.
    let patience = fault.retry_after().unwrap_or_default();
    let due = now.plus_micros(i64::try_from(patience.as_micros()).unwrap_or(i64::MAX));
    let event = in_doubt.map(|since| Event::Doubted { since, due, why: why.to_owned() });
    let evidence: Option<Evidence> = fault.evidence().cloned();
    let health = if event.is_some() { Health::OfOne } else { Health::of_question(fault) };
    Verdict { event, issues: None, evidence, health }
}

/// `since`: when the request in doubt began.
fn doubt(since: Instant, now: Instant, why: &str) -> Event {
    Event::Doubted { since, due: now, why: why.to_owned() }
}

/// A delivery has failed, with this receipt, perhaps as the duplicate of another delivery of the
/// same report: the others that count instead, if there are any. One that is still in progress is
/// waited for, because who is told *failed* corrects and sends again.
pub(crate) fn others_that_count(mut found: Found, receipt: &str) -> Option<Found> {
    exchange::leave_out_contradictions(&mut found.answers);
    found.answers.retain(|answer| {
        answer.receipt.as_deref() != Some(receipt)
            && matches!(answer.processing, Some(Processing::Completed | Processing::InProgress))
    });
    (!found.answers.is_empty()).then_some(found)
}

/// Another delivery of a report in progress is in progress too: it stays so, and its proof is that
/// of the acceptance.
pub(crate) fn stays_in_progress(
    (since, said): (Instant, Option<Instant>),
    other: Verdict,
    context: &Context<'_>,
) -> Verdict {
    let due = context.read_at(elapsed(since, context.now));
    let quiet = elapsed(said.unwrap_or(since), context.now);
    let event = match quiet >= context.timing.in_progress_max {
        true => Event::Overdue { due },
        false => Event::StillInProgress { due },
    };
    Verdict { event: Some(event), issues: None, evidence: None, health: other.health }
}

/// Whether another delivery that counts is one to wait for, beside a report that is in progress:
/// since when it is, and when a person last said so.
pub(crate) fn waits_for(other: &Verdict, state: &State) -> Option<(Instant, Option<Instant>)> {
    match (&other.event, state) {
        (Some(Event::Accepted { .. }), State::InProgress { since, said, .. }) => {
            Some((*since, *said))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
