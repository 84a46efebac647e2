//! The rules of deliveries as tables.

use std::sync::Arc;
use std::time::Duration;

use exchange::Answer;

use super::*;
use crate::Timing;
use crate::courier::breaker::RequestKind;

/// What the journal tells of the last request decides whether it is asked for before the next
/// one.
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
        (vec![began(1), deferred("forbidden"), began(3), deferred("dns")], Some(1)),
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
fn fault(why: Why, heard: bool) -> Fault {
    Fault::Transient { why, retry_after: None, evidence: heard.then(|| Box::new(evidence())) }
}

fn evidence() -> Evidence {
    Evidence { status: 200, ..Evidence::default() }
}

fn found(processing: &[(&str, Processing)]) -> Found {
    let answer = |(receipt, processing): &(&str, Processing)| Answer {
        receipt: Some((*receipt).to_owned()),
        processing: Some(*processing),
        ..Answer::default()
    };
    Found { answers: processing.iter().map(answer).collect(), evidence: evidence() }
}

fn open(attempt: u32, is_said: bool) -> OpenRequest {
    OpenRequest { id: SubmissionId(7), since: Instant::from_seconds(1), attempt, is_said }
}

fn with_context<T>(run: impl FnOnce(&Context<'_>) -> T) -> T {
    let timing = Timing::default();
    run(&Context {
        now: Instant::from_seconds(1_000_000),
        timing: &timing,
        fraction: 0.5,
        attempt: 1,
        searches: true,
        turned_away: None,
        alone: None,
    })
}

/// Without an answer to the question nothing is sent, unless nobody can be asked or a person
/// has said it.
#[test]
fn what_follows_where_the_question_before_a_request_is_not_answered() {
    use NotAsked::{InDoubt, MayBeSent, NotNow};
    let since = Instant::from_seconds(1);
    let unexplained = || Fault::Locked {
        why: Why::Unexplained { status: 400 },
        evidence: Some(Box::new(evidence())),
    };
    for (fault, is_said, follows) in [
        (fault(Why::SearchUnsupported, false), false, MayBeSent),
        (fault(Why::Timeout, false), false, NotNow),
        (fault(Why::Timeout, false), true, NotNow),
        (fault(Why::Unavailable { status: 503 }, true), false, NotNow),
        (fault(Why::Unavailable { status: 503 }, true), true, MayBeSent),
        (unexplained(), false, InDoubt(since)),
        (unexplained(), true, MayBeSent),
    ] {
        let now = ClockReading { wall: since, steady: Duration::ZERO };
        let mut courier = Courier::new(now, Arc::new(Timing::default()), true);
        assert_eq!(
            courier.not_asked(now, open(1, is_said), &fault),
            follows,
            "{fault:?} {is_said}"
        );
    }
}

#[test]
fn a_further_request_is_made_only_after_an_empty_answer_that_is_sure() {
    let sure = Sure::default();
    let shown = found(&[("1", Processing::InProgress)]);
    for (answer, is_said, sure, sent) in [
        (found(&[]), false, sure, true),
        (found(&[]), false, Sure { unsure: true, ..sure }, false),
        (found(&[]), false, Sure { shared: true, ..sure }, false),
        (found(&[]), true, Sure { shared: true, unsure: true, ..sure }, true),
        (found(&[]), true, Sure { contradicts: true, ..sure }, false),
        (shown.clone(), false, sure, false),
        (shown, true, sure, false),
    ] {
        assert_eq!(open(1, is_said).may_be_sent(&answer, sure), sent, "{is_said} {sure:?}");
    }
}

#[test]
fn what_the_question_before_a_further_request_shows_is_recorded() {
    let (sure, shown) = (Sure::default(), || found(&[("1", Processing::InProgress)]));
    let contradicts = Sure { contradicts: true, ..sure };
    for (answer, attempt, sure, event, why) in [
        (shown(), 1, sure, "accepted", None),
        // A restore has forgotten that anything left.
        (shown(), 0, sure, "doubted", Some(journal::RESTORED)),
        (shown(), 1, contradicts, "doubted", Some("another-identifier")),
        (found(&[]), 1, Sure { shared: true, ..sure }, "doubted", Some(SHARED)),
        (found(&[]), 1, Sure { unsure: true, ..sure }, "doubted", Some("another-identifier")),
    ] {
        let verdict = with_context(|it| open(attempt, false).found(answer, sure, None, it));
        let told = verdict.event.unwrap();
        assert_eq!(told.code(), event);
        let reason = match &told {
            Event::Doubted { why, since, .. } => {
                assert_eq!(*since, Instant::from_seconds(1), "since the request began");
                Some(&**why)
            }
            _ => None,
        };
        assert_eq!(reason, why);
    }
    // The certificate in use met something else: that is what it shows of the way.
    let in_use = Some(fault(Why::Timeout, false));
    let told = with_context(|it| open(1, false).found(shown(), sure, in_use, it));
    assert_eq!(told.health, Health::Unreachable(Why::Timeout, None));
}

#[test]
fn of_several_deliveries_what_is_not_failed_counts() {
    use Processing::{Completed, Failed, InProgress};
    for (shown, counts) in [
        (&[("1", Failed)][..], &[][..]),
        // The failed one itself, as an index that lags shows it.
        (&[("1", InProgress)], &[]),
        (&[("1", Failed), ("2", Failed)], &[]),
        (&[("1", Failed), ("2", InProgress)], &["2"]),
        (&[("2", InProgress), ("3", Completed)], &["2", "3"]),
    ] {
        let others = others_that_count(found(shown), "1").map(|found| found.answers);
        let others: Vec<_> =
            others.into_iter().flatten().filter_map(|answer| answer.receipt).collect();
        assert_eq!(others, counts, "{shown:?}");
    }
    let days = |days: i64| Instant::from_seconds(1_000_000).plus_seconds(-days * 86_400);
    for (since, said, code) in [
        (days(1), None, "still-in-progress"),
        (days(4), None, "overdue"),
        (days(4), Some(days(1)), "still-in-progress"),
    ] {
        let other = with_context(|it| found_at_last(found(&[("2", InProgress)]), it));
        let state = State::InProgress {
            receipt: "1".to_owned(),
            since,
            due: since,
            not_found_since: None,
            overdue: false,
            said,
        };
        let times = waits_for(&other, &state).unwrap();
        let verdict = with_context(|it| stays_in_progress(times, other, it));
        assert_eq!(verdict.event.unwrap().code(), code);
        assert_eq!(verdict.evidence, None, "its proof is that of the acceptance");
    }
}

/// The authority takes one more of a hundred reports that it has asked for patience before, and
/// then asks the others again.
#[test]
fn of_a_limit_for_everybody_few_reports_learn_before_all_wait() {
    for (seconds, alone) in [(60, 0), (3_600, PUT_OFF_ALONE_MAX)] {
        let now = ClockReading { wall: Instant::from_seconds(0), steady: Duration::ZERO };
        let mut courier = Courier::new(now, Arc::new(Timing::default()), true);
        let fault = Fault::Transient {
            why: Why::Unavailable { status: 429 },
            retry_after: Some(Duration::from_secs(seconds)),
            evidence: Some(Box::default()),
        };
        let mut only = |id| courier.puts_off_only(now, SubmissionId(id), &fault);
        assert!(!(1..=100).any(&mut only), "nobody can tell the first time");
        courier.breaker.answered(RequestKind::Report(SubmissionId(1)));
        let mut only = |id| courier.puts_off_only(now, SubmissionId(id), &fault);
        assert_eq!((2..=100).filter(|id| only(*id)).count(), alone, "{seconds} s");
    }
}

/// A delivery has failed, and whether there is another one cannot be asked, ten times: then the
/// authority's word counts. Not where the same question was answered meanwhile for another's sake.
#[test]
fn a_question_that_is_answered_now_and_then_is_not_given_up() {
    let id = SubmissionId(7);
    let since = Instant::from_seconds(999_000);
    let receipt = || "1".to_owned();
    let state = State::InProgress {
        receipt: receipt(),
        since,
        due: since,
        not_found_since: None,
        said: None,
        overdue: false,
    };
    let now = ClockReading { wall: since, steady: Duration::ZERO };
    for (answered, told_after) in [(false, 10), (true, 19)] {
        let mut courier = Courier::new(now, Arc::new(Timing::default()), true);
        let mut asked = 0;
        loop {
            asked += 1;
            let event = Some(Event::Failed { receipt: receipt() });
            let failed = Verdict { event, issues: None, evidence: None, health: Health::OfOne };
            let fault = fault(Why::Timeout, false);
            let told = with_context(|context| {
                courier.failed_unasked((id, "a"), &state, fault, failed, context)
            });
            if let Some(Event::Failed { .. }) = told.event {
                break;
            }
            if answered && asked == 9 {
                courier.question_was_answered("a");
            }
        }
        assert_eq!(asked, told_after, "{answered}");
    }
}
