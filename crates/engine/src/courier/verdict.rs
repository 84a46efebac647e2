//! What follows from an answer or a fault: pure, one function per question asked of the authority.

use std::time::Duration;

use client::{Evidence, Fault, Found, Received, Why};
use exchange::{Answer, Processing};
use fhir::{Instant, Issue};
use report::Event;

use super::visibility::{Belief, EmptyAnswer};
use crate::Timing;
use crate::clock::elapsed;

/// What a result of an exchange means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    /// What happened to the submission; `None` where nothing was learned about it.
    pub(crate) event: Option<Event>,
    /// The authority's messages, where it had some.
    pub(crate) issues: Option<Vec<Issue>>,
    /// Its answer.
    pub(crate) evidence: Option<Evidence>,
    /// What it means for the other reports of this endpoint.
    pub(crate) health: Health,
}

/// What an exchange shows about the connection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Health {
    /// The authority answered.
    Answered,
    /// It cannot be reached or is busy: pause everything.
    Unreachable(Why, Option<Duration>),
    /// It refuses us: pause everything until a person acts or time has passed.
    Locked(Why),
    /// A request ended in doubt: perhaps because of its report, perhaps nobody answers any more.
    Unclear,
    /// Concerns this report alone, and says nothing about the way.
    OfOne,
}

impl Health {
    /// What the fault of a question (not of a delivery) shows.
    pub(crate) fn of_question(fault: Fault) -> Self {
        match fault {
            Fault::Transient { why, retry_after, .. } => Self::Unreachable(why, retry_after),
            Fault::Locked { why, .. } => Self::Locked(why),
            Fault::Uncertain { .. } => Self::Unclear,
            Fault::Refused { .. } => Self::Answered,
        }
    }
}

impl Health {
    /// Something else than the authority answered: a person must see to it, or it passes by itself.
    pub(crate) fn of_intermediary(fault: Fault) -> Self {
        match fault {
            Fault::Transient { why, .. } => Self::Locked(why),
            other => Self::of_question(other),
        }
    }
}

/// What the mapping needs to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) timing: &'a Timing,
    /// In `[0, 1)`.
    pub(crate) fraction: f64,
    /// Requests made for this report, including the one in question.
    pub(crate) attempt: u32,
    /// Whether this release tells by search what has changed.
    pub(crate) searches: bool,
    /// Where other reports were let in since this one was turned away last: how often it was
    /// before.
    pub(crate) turned_away: Option<u32>,
    /// The question for this report alone is refused, because others were answered since: how often
    /// it was.
    pub(crate) alone: Option<u32>,
}

impl Context<'_> {
    pub(crate) fn after(&self, pause: Duration) -> Instant {
        self.now.plus_micros(i64::try_from(pause.as_micros()).unwrap_or(i64::MAX))
    }

    fn backoff(&self, retry_after: Option<Duration>) -> Instant {
        self.after(self.timing.backoff(self.attempt.max(1), retry_after, self.fraction))
    }

    /// When to read a report that was accepted `age` ago: beside searches seldom, without them as
    /// often as others search.
    pub(crate) fn read_at(&self, age: Duration) -> Instant {
        self.after(if self.searches { self.timing.read(age) } else { self.timing.poll(age) })
    }
}

/// After a POST.
pub(crate) fn after_submit(result: Result<Received, Fault>, context: &Context<'_>) -> Verdict {
    let fault = match result {
        Ok(received) => {
            let status = received.evidence.status;
            return match status_event(&received.answer, context) {
                Some(event) => answered(event, received.answer.issues, received.evidence),
                None => doubted(&Why::NoReceipt { status }, Some(received.evidence), context),
            };
        }
        Err(fault) => fault,
    };
    // What was sent before may have been received, whatever was believed: this refusal may mean
    // that one. Or it may have been stored now, with an error beside it.
    let in_doubt = context.attempt > 1 || fault.may_be_stored();
    if let (Some(before), Some(evidence)) = (context.turned_away, fault.evidence())
        && let Fault::Locked { why, .. } | Fault::Transient { why, .. } = &fault
    {
        return turned_away(why, fault.retry_after(), before, evidence.clone(), context);
    }
    match fault {
        Fault::Refused { answer, evidence } if in_doubt => Verdict {
            event: Some(Event::Doubted {
                since: context.now,
                due: context.after(context.timing.ask(0)),
                why: Event::WHY_REFUSED.to_owned(),
            }),
            issues: Some(answer.issues),
            evidence: Some(*evidence),
            health: Health::Answered,
        },
        Fault::Refused { answer, evidence } => Verdict {
            event: Some(Event::Rejected),
            issues: Some(answer.issues),
            evidence: Some(*evidence),
            health: Health::Answered,
        },
        Fault::Uncertain { why, evidence } => {
            doubted(&why, evidence.map(|evidence| *evidence), context)
        }
        Fault::Transient { why, retry_after, evidence } => Verdict {
            event: Some(Event::Deferred {
                due: context.backoff(retry_after),
                why: why.code().to_owned(),
            }),
            issues: None,
            evidence: evidence.map(|evidence| *evidence),
            health: Health::Unreachable(why, retry_after),
        },
        Fault::Locked { why, evidence } => Verdict {
            // Due at once: what holds it back is the breaker, which a person can close.
            event: Some(Event::Deferred { due: context.now, why: why.code().to_owned() }),
            issues: None,
            evidence: evidence.map(|evidence| *evidence),
            health: Health::Locked(why),
        },
    }
}

/// Code of an empty answer to a certificate without access.
const NO_ACCESS: &str = "forbidden";
/// Code of an answer that contradicts itself: as where one entry names two states.
const NO_STATUS: &str = "not-fhir";
/// Why nothing was learned: what is shown may be of this report, or of another one with the same
/// identifier.
pub(crate) const SHARED: &str = "shared-identifier";

/// After a search by identifier. `empty` says what an empty result is worth; `refused`: the request
/// before was refused.
pub(crate) fn after_ask(
    result: Result<Found, Fault>,
    empty: &EmptyAnswer,
    refused: bool,
    context: &Context<'_>,
) -> Verdict {
    let mut found = match result {
        Ok(found) => found,
        Err(fault) => {
            // The authority answers, and this one question is refused or its list never whole: the
            // others go on, and it is asked more and more seldom.
            let why = fault.why().map_or(Event::WHY_REFUSED, Why::code).to_owned();
            let pauses = empty.asked.saturating_sub(1).max(context.alone.unwrap_or(0));
            // Asked of everybody, patience is the breaker's matter.
            let asked_for = context.alone.and(fault.retry_after()).unwrap_or_default();
            let pause = context.timing.ask(pauses).max(context.timing.backoff_min);
            let due = context.after(pause.max(asked_for.min(context.timing.retry_after_max)));
            // No empty answer: it does not count as asked.
            let event = Event::NotAnswered { due, why, in_vain: false, late: false };
            let verdict = not_learned(fault, Some(event));
            return match context.alone {
                Some(_) => Verdict { health: Health::OfOne, ..verdict },
                None => verdict,
            };
        }
    };
    let contradicts = exchange::leave_out_contradictions(&mut found.answers) > 0;
    let hit = best(found.answers, context);
    // Beside an entry that says nothing, because it may be the one that completed, only a completed
    // one counts.
    let hit = hit.filter(|(event, _)| !contradicts || matches!(event, Event::Completed { .. }));
    if let Some((event, answer)) = hit {
        return answered(event, answer.issues, found.evidence);
    }
    let due = context.after(context.timing.ask(empty.asked));
    let event = match empty.belief(context.timing) {
        _ if contradicts => in_vain(due, NO_STATUS),
        // The messages of that refusal are kept already.
        Belief::NotReceived if refused => Event::Rejected,
        Belief::NotReceived => Event::NotReceived { due: context.now },
        Belief::NotYet => Event::AskedInVain { due, answered: found.evidence.server_date },
        Belief::NoAccess => in_vain(due, NO_ACCESS),
        Belief::Ambiguous => in_vain(due, SHARED),
    };
    Verdict {
        event: Some(event),
        issues: None,
        evidence: Some(found.evidence),
        health: Health::Answered,
    }
}

/// Of several deliveries of one report the one that counts; the first of those that say as much.
fn best(answers: Vec<Answer>, context: &Context<'_>) -> Option<(Event, Answer)> {
    let told =
        answers.into_iter().filter_map(|it| status_event(&it, context).map(|event| (event, it)));
    told.rev().max_by_key(|(_, answer)| answer.processing)
}

/// A search by identifier that was not asked out of doubt: what it shows counts, what it does not
/// show says nothing.
pub(crate) fn found_at_last(found: Found, context: &Context<'_>) -> Verdict {
    match best(found.answers, context) {
        Some((event, answer)) => answered(event, answer.issues, found.evidence),
        None => Verdict { event: None, issues: None, evidence: None, health: Health::Answered },
    }
}

/// It answered, and nothing was learned.
fn in_vain(due: Instant, why: &str) -> Event {
    Event::NotAnswered { due, why: why.to_owned(), in_vain: true, late: false }
}

/// How long it takes with a report that is read by its id.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadTimes {
    /// Since it was accepted.
    pub(crate) age: Duration,
    /// Since it was accepted, or a person last said that the authority is at it.
    pub(crate) quiet: Duration,
    /// Since when reads have not found it.
    pub(crate) not_found_since: Option<Instant>,
}

impl ReadTimes {
    /// Of a report that was accepted then, and of which a person last said then that the authority
    /// is at it.
    pub(crate) fn of(
        (since, said): (Instant, Option<Instant>),
        not_found_since: Option<Instant>,
        result: &Result<Received, Fault>,
        now: Instant,
    ) -> Self {
        let by_authority = result.as_ref().map_or(Duration::ZERO, in_progress_for);
        let age = elapsed(since, now).max(by_authority);
        Self { age, quiet: said.map_or(age, |said| elapsed(said, now)), not_found_since }
    }
}

/// How long the authority has had a report in progress by its own clock: ours may have been set
/// back since.
fn in_progress_for(received: &Received) -> Duration {
    let times = received.answer.last_updated.zip(received.evidence.server_date);
    times.map_or(Duration::ZERO, |(updated, now)| elapsed(updated, now))
}

/// What was read by a number, where it speaks of the report with this identifier: numbers may begin
/// anew where an authority is set up again, so that another report has ours now.
pub(crate) fn of_report(received: Received, identifier: &str) -> Result<Received, Fault> {
    if may_be(&received.answer, identifier) {
        return Ok(received);
    }
    let evidence = Some(Box::new(received.evidence));
    Err(Fault::Transient { why: Why::AnotherIdentifier, retry_after: None, evidence })
}

/// Whether a report that could not be read by its number is looked for by its identifier.
pub(crate) fn has_second_way(fault: &Fault) -> bool {
    is_not_found(fault) || fault.refuses_the_question()
}

/// After a read by id.
pub(crate) fn after_read(
    result: Result<Received, Fault>,
    times: &ReadTimes,
    context: &Context<'_>,
) -> Verdict {
    let ReadTimes { age, quiet, not_found_since } = *times;
    let too_long = quiet >= context.timing.in_progress_max;
    let due = context.read_at(age);
    let fault = match result {
        Ok(received) => {
            return match status_event(&received.answer, context) {
                Some(Event::Accepted { .. }) | None => {
                    let event = if too_long {
                        Event::Overdue { due }
                    } else {
                        Event::StillInProgress { due }
                    };
                    Verdict {
                        event: Some(event),
                        issues: None,
                        evidence: None,
                        health: Health::Answered,
                    }
                }
                Some(event) => answered(event, received.answer.issues, received.evidence),
            };
        }
        Err(fault) => fault,
    };
    if is_not_found(&fault) {
        let lasts = not_found_since.map(|since| context.now.0.saturating_sub(since.0));
        let lasts = Duration::from_micros(u64::try_from(lasts.unwrap_or(0)).unwrap_or(0));
        let late = too_long || lasts >= context.timing.not_found_max;
        // No later than what no search tells of is ever read: else it would count as put off by a
        // wrong clock.
        let due = match context.searches {
            true => context.after(context.timing.read(age)),
            false => due.max(context.after(context.timing.backoff_min)),
        };
        let event = Event::NotFound { at: context.now, due, late };
        // A 404 proves nothing (no access looks the same), and nothing about other reports.
        return Verdict { health: Health::OfOne, ..not_learned(fault, Some(event)) };
    }
    let of_one = matches!(fault.why(), Some(Why::NotFhir { .. }));
    let why = fault.why().map_or(Event::WHY_REFUSED, Why::code).to_owned();
    let due = due.max(context.after(context.timing.backoff_min));
    // Whatever keeps it from being read, perhaps an answer in a form that nobody here knows.
    let event = Event::NotAnswered { due, why, in_vain: false, late: too_long };
    let verdict = not_learned(fault, Some(event));
    if of_one { Verdict { health: Health::OfOne, ..verdict } } else { verdict }
}

/// What was not answered for one report alone is asked for no earlier than after the patience that
/// was asked for, and keeps no others waiting. What no search tells of is read as often as others
/// search: later it would count as put off by a wrong clock, and be read at once.
pub(crate) fn put_off(mut verdict: Verdict, patience: Duration, context: &Context<'_>) -> Verdict {
    let Timing { retry_after_max, poll_max, .. } = *context.timing;
    let longest = if context.searches { retry_after_max } else { poll_max };
    if let Some(Event::NotAnswered { due, .. }) = &mut verdict.event {
        *due = context.after(patience.min(longest)).max(*due);
    }
    Verdict { health: Health::OfOne, ..verdict }
}

/// Whether an answer may speak of the report with this identifier: it names it, or none at all.
pub(crate) fn may_be(answer: &Answer, identifier: &str) -> bool {
    answer.identifiers.is_empty()
        || answer.identifiers.iter().any(|known| known.eq_ignore_ascii_case(identifier))
}

/// The authority does not show what it has accepted; a number that is another report's now shows no
/// more.
pub(crate) fn is_not_found(fault: &Fault) -> bool {
    matches!(fault.why(), Some(Why::NotFound { .. } | Why::AnotherIdentifier))
}

/// The event behind a status that the authority reports.
pub(crate) fn status_event(answer: &Answer, context: &Context<'_>) -> Option<Event> {
    let receipt = answer.receipt.clone()?;
    Some(match answer.processing? {
        Processing::InProgress => {
            Event::Accepted { receipt, since: context.now, due: context.read_at(Duration::ZERO) }
        }
        Processing::Completed => Event::Completed { receipt },
        Processing::Failed => Event::Failed { receipt },
    })
}

fn answered(event: Event, issues: Vec<Issue>, evidence: Evidence) -> Verdict {
    Verdict {
        event: Some(event),
        issues: Some(issues),
        evidence: Some(evidence),
        health: Health::Answered,
    }
}

fn doubted(why: &Why, evidence: Option<Evidence>, context: &Context<'_>) -> Verdict {
    Verdict {
        event: Some(Event::Doubted {
            since: context.now,
            due: context.after(context.timing.ask(0)),
            why: why.code().to_owned(),
        }),
        issues: None,
        evidence,
        health: Health::Unclear,
    }
}

/// It alone was refused, `before` times until now: its own pauses grow, whatever becomes of others;
/// in the end a person must look.
fn turned_away(
    why: &Why,
    retry_after: Option<Duration>,
    before: u32,
    evidence: Evidence,
    context: &Context<'_>,
) -> Verdict {
    let (times, code) = (before.saturating_add(1), why.code().to_owned());
    let (event, issues) = if times >= context.timing.refusals_max {
        let issue = Issue {
            severity: fhir::Severity::Error,
            code: "processing".to_owned(),
            rule: None,
            text: format!("HTTP {}", evidence.status),
            expression: None,
            line: None,
            column: None,
        };
        (Event::HeldAfterRefusals { why: code }, Some(vec![issue]))
    } else {
        let pause = context.timing.backoff(times, retry_after, context.fraction);
        (Event::TurnedAway { due: context.after(pause), why: code }, None)
    };
    Verdict { event: Some(event), issues, evidence: Some(evidence), health: Health::OfOne }
}

fn not_learned(fault: Fault, event: Option<Event>) -> Verdict {
    let evidence = fault.evidence().cloned();
    Verdict { event, issues: None, evidence, health: Health::of_question(fault) }
}

#[cfg(test)]
mod tests;
