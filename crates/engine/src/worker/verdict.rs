//! What follows from an answer or a fault: pure, one function per question asked of the authority.

use std::time::Duration;

use client::{Evidence, Fault, Found, Received, Why};
use exchange::{Answer, Processing};
use fhir::{Instant, Issue};
use report::Event;

use crate::Pace;

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
    pub(crate) reach: Reach,
}

/// What an exchange shows about the connection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reach {
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

impl Reach {
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

impl Reach {
    /// Something else than the authority answered: a person must see to it, or it passes by itself.
    pub(crate) fn of_stranger(fault: Fault) -> Self {
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
    pub(crate) pace: &'a Pace,
    /// In `[0, 1)`.
    pub(crate) fraction: f64,
    /// Requests made for this report, including the one in question.
    pub(crate) attempt: u32,
}

impl Context<'_> {
    pub(crate) fn after(&self, pause: Duration) -> Instant {
        self.now.plus_micros(i64::try_from(pause.as_micros()).unwrap_or(i64::MAX))
    }

    fn backoff(&self, retry_after: Option<Duration>) -> Instant {
        self.after(self.pace.backoff(self.attempt.max(1), retry_after, self.fraction))
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
    match fault {
        Fault::Refused { answer, evidence } => Verdict {
            event: Some(Event::Rejected),
            issues: Some(answer.issues),
            evidence: Some(*evidence),
            reach: Reach::Answered,
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
            reach: Reach::Unreachable(why, retry_after),
        },
        Fault::Locked { why, evidence } => Verdict {
            // Due at once: what holds it back is the gate, which a person can reopen.
            event: Some(Event::Deferred { due: context.now, why: why.code().to_owned() }),
            issues: None,
            evidence: evidence.map(|evidence| *evidence),
            reach: Reach::Locked(why),
        },
    }
}

/// Whether this certificate is shown other reports of ours: an empty answer alone proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    /// It is.
    Clear,
    /// It is shown nothing, and nothing of ours was ever accepted.
    NothingYet,
    /// It is shown nothing although reports of ours were accepted: it has lost its access.
    Blind,
    /// Something is shown, and another report with the same identifier may be what it is.
    Shared,
    /// Not asked, or in vain.
    Unknown,
}

/// Code of an empty answer to a certificate without access.
const NO_ACCESS: &str = "forbidden";

/// After a search by identifier.
pub(crate) fn after_ask(
    result: Result<Found, Fault>,
    asked: u32,
    doubt: Duration,
    sight: Sight,
    context: &Context<'_>,
) -> Verdict {
    match result {
        Ok(found) => {
            let hits = found.answers.into_iter();
            let hits = hits
                .filter_map(|answer| status_event(&answer, context).map(|event| (event, answer)));
            // Where it arrived twice, the authority completes one and calls the other a duplicate. The first of those
            // that say as much.
            let hit = hits.rev().max_by_key(|(event, _)| match event {
                Event::Completed { .. } => 2,
                Event::Failed { .. } => 0,
                _ => 1,
            });
            if let Some((event, answer)) = hit {
                return answered(event, answer.issues, found.evidence);
            }
            let (asked, pace) = (asked.saturating_add(1), context.pace);
            let due = context.after(pace.ask(asked));
            let answered = found.evidence.server_date;
            let event = match sight {
                Sight::Clear if pace.believes_empty(asked, doubt, true) => {
                    Event::NotReceived { due: context.now }
                }
                Sight::NothingYet if pace.believes_empty(asked, doubt, false) => {
                    Event::NotReceived { due: context.now }
                }
                // Nothing was learned.
                Sight::Blind => Event::NotAnswered { due, why: NO_ACCESS.to_owned() },
                Sight::Shared => {
                    Event::NotAnswered { due, why: Why::AnotherIdentifier.code().to_owned() }
                }
                _ => Event::AskedInVain { due, answered },
            };
            Verdict {
                event: Some(event),
                issues: None,
                evidence: Some(found.evidence),
                reach: Reach::Answered,
            }
        }
        Err(fault) => {
            let why = fault.why().map_or("refused", Why::code).to_owned();
            let due = context.after(context.pace.ask(asked).max(context.pace.backoff_min));
            not_learned(fault, Some(Event::NotAnswered { due, why }))
        }
    }
}

/// After a read by id of a report accepted `age` ago.
pub(crate) fn after_read(
    result: Result<Received, Fault>,
    age: Duration,
    context: &Context<'_>,
) -> Verdict {
    let again = Event::StillInProgress { due: context.after(context.pace.read(age)) };
    match result {
        Ok(received) => match status_event(&received.answer, context) {
            Some(Event::Accepted { .. }) | None => {
                Verdict { event: Some(again), issues: None, evidence: None, reach: Reach::Answered }
            }
            Some(event) => answered(event, received.answer.issues, received.evidence),
        },
        // A 404 proves nothing (no access looks the same): keep asking, ever more slowly.
        Err(fault) => {
            let of_one = matches!(
                fault.why(),
                Some(Why::NotFound { .. } | Why::AnotherIdentifier | Why::NotFhir { .. })
            );
            let verdict = not_learned(fault, Some(again));
            if of_one { Verdict { reach: Reach::OfOne, ..verdict } } else { verdict }
        }
    }
}

/// The event behind a status that the authority reports.
pub(crate) fn status_event(answer: &Answer, context: &Context<'_>) -> Option<Event> {
    let receipt = answer.receipt.clone()?;
    Some(match answer.processing? {
        Processing::InProgress => Event::Accepted {
            receipt,
            since: context.now,
            due: context.after(context.pace.read_first),
        },
        Processing::Completed => Event::Completed { receipt },
        Processing::Failed => Event::Failed { receipt },
    })
}

fn answered(event: Event, issues: Vec<Issue>, evidence: Evidence) -> Verdict {
    Verdict {
        event: Some(event),
        issues: Some(issues),
        evidence: Some(evidence),
        reach: Reach::Answered,
    }
}

fn doubted(why: &Why, evidence: Option<Evidence>, context: &Context<'_>) -> Verdict {
    Verdict {
        event: Some(Event::Doubted {
            since: context.now,
            due: context.after(context.pace.ask(0)),
            why: why.code().to_owned(),
        }),
        issues: None,
        evidence,
        reach: Reach::Unclear,
    }
}

fn not_learned(fault: Fault, event: Option<Event>) -> Verdict {
    let evidence = fault.evidence().cloned();
    Verdict { event, issues: None, evidence, reach: Reach::of_question(fault) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_seconds(1_800_000_000);

    fn evidence() -> Evidence {
        Evidence { status: 201, ..Evidence::default() }
    }

    fn received(processing: Option<Processing>) -> Received {
        let answer = Answer { receipt: Some("r-1".to_owned()), processing, ..Answer::default() };
        Received { answer, evidence: evidence() }
    }

    fn with_context<T>(run: impl FnOnce(&Context<'_>) -> T) -> T {
        run(&Context { now: NOW, pace: &Pace::default(), fraction: 0.0, attempt: 1 })
    }

    fn code_of(verdict: &Verdict) -> &'static str {
        verdict.event.as_ref().map_or("none", Event::code)
    }

    #[test]
    fn an_answer_counts_only_with_a_status() {
        with_context(|context| {
            let after = |received| code_of(&after_submit(Ok(received), context));
            assert_eq!(after(received(Some(Processing::InProgress))), "accepted");
            assert_eq!(after(received(Some(Processing::Completed))), "completed");
            assert_eq!(after(received(None)), "doubted");
        });
    }

    #[test]
    fn only_a_proof_of_absence_permits_a_second_request() {
        with_context(|context| {
            let why = || Why::Cut;
            let uncertain = Fault::Uncertain { why: why(), evidence: None };
            assert_eq!(code_of(&after_submit(Err(uncertain), context)), "doubted");
            let transient = Fault::Transient { why: why(), retry_after: None, evidence: None };
            assert_eq!(code_of(&after_submit(Err(transient), context)), "deferred");
            let refused = Fault::Refused { answer: Box::default(), evidence: Box::new(evidence()) };
            assert_eq!(code_of(&after_submit(Err(refused), context)), "rejected");
            let locked = Fault::Locked { why: why(), evidence: None };
            assert_eq!(code_of(&after_submit(Err(locked), context)), "deferred");
        });
    }

    #[test]
    fn of_two_deliveries_the_completed_one_counts() {
        let hit = |receipt: &str, processing| Answer {
            receipt: Some(receipt.to_owned()),
            processing: Some(processing),
            ..Answer::default()
        };
        let after = |answers: Vec<Answer>| {
            let found = Found { answers, evidence: evidence() };
            with_context(|context| {
                let verdict = after_ask(Ok(found), 0, Duration::ZERO, Sight::Unknown, context);
                verdict.event.unwrap()
            })
        };
        use Processing::{Completed, Failed, InProgress};
        let both = vec![hit("a", Failed), hit("b", Completed), hit("c", Completed)];
        assert!(matches!(after(both), Event::Completed { receipt } if receipt == "b"));
        let done = vec![hit("a", InProgress), hit("b", Completed)];
        assert!(matches!(after(done), Event::Completed { receipt } if receipt == "b"));
        let open = vec![hit("a", Failed), hit("b", InProgress)];
        assert!(matches!(after(open), Event::Accepted { receipt, .. } if receipt == "b"));
        assert!(matches!(after(vec![hit("a", Failed)]), Event::Failed { .. }));
    }

    #[test]
    fn an_empty_search_is_believed_late() {
        with_context(|context| {
            let empty = || Ok(Found { answers: Vec::new(), evidence: evidence() });
            let minutes = |m: u64| Duration::from_secs(m * 60);
            let after = |asked, age, sight| {
                code_of(&after_ask(empty(), asked, minutes(age), sight, context))
            };
            assert_eq!(after(0, 0, Sight::Clear), "asked-in-vain");
            assert_eq!(after(9, 9, Sight::Clear), "asked-in-vain");
            assert_eq!(after(9, 11, Sight::Clear), "not-received");
            assert_eq!(after(9, 11, Sight::Unknown), "asked-in-vain");
            assert_eq!(after(9, 11, Sight::NothingYet), "asked-in-vain");
            assert_eq!(after(9, 61, Sight::NothingYet), "not-received");
            // Without access nothing is learned, however long it lasts.
            assert_eq!(after(99, 999, Sight::Blind), "not-answered");
            assert_eq!(after(99, 999, Sight::Unknown), "asked-in-vain");
        });
    }
}
