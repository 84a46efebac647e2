//! What follows from an answer or a fault, case by case.

use super::*;
use crate::courier::visibility::Visibility;

const NOW: Instant = Instant::from_seconds(1_800_000_000);

fn evidence() -> Evidence {
    Evidence { status: 201, ..Evidence::default() }
}

fn received(processing: Option<Processing>) -> Received {
    let answer = Answer { receipt: Some("r-1".to_owned()), processing, ..Answer::default() };
    Received { answer, evidence: evidence() }
}

fn context(timing: &Timing) -> Context<'_> {
    Context {
        now: NOW,
        timing,
        fraction: 0.0,
        attempt: 1,
        searches: true,
        turned_away: None,
        alone: None,
    }
}

fn with_context<T>(run: impl FnOnce(&Context<'_>) -> T) -> T {
    run(&context(&Timing::default()))
}

fn ripe(after: Visibility) -> EmptyAnswer {
    let long = Duration::from_secs(24 * 3600);
    EmptyAnswer {
        asked: 9,
        by_authority: Some(long),
        by_us: long,
        before: after,
        after,
        between: Duration::ZERO,
        shared: false,
        elsewhere: false,
    }
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
        let refused = refusal(422, "invalid");
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
            after_ask(Ok(found), &ripe(Visibility::Ours), true, context).event.unwrap()
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
    // One delivery that is told in two ways says nothing, in either order; nor what failed beside
    // it.
    let two = [hit("a", Failed), hit("a", Completed)];
    let [first, second] = two.clone();
    for answers in [
        two.to_vec(),
        vec![second.clone(), first.clone()],
        vec![second.clone(), first.clone(), hit("a", InProgress)],
        vec![hit("b", Failed), second.clone(), first.clone()],
        vec![first.clone(), second.clone(), hit("b", InProgress)],
    ] {
        let event = after(answers.clone());
        assert!(
            matches!(&event, Event::NotAnswered { in_vain: true, .. }),
            "{answers:?} {event:?}"
        );
    }
    let another = vec![first, second, hit("b", Completed)];
    assert!(matches!(after(another), Event::Completed { receipt } if receipt == "b"));
    let moved = vec![hit("a", Failed), hit("a", InProgress)];
    assert!(matches!(after(moved), Event::Accepted { .. }), "as ever: the read by id follows");
}

/// A question that alone is refused holds up nobody else.
#[test]
fn a_question_that_alone_is_refused_concerns_its_report_alone() {
    for (alone, concerns_all) in [(Some(3), false), (None, true)] {
        let why = Why::Unavailable { status: 500 };
        let fault = Fault::Transient { why, retry_after: None, evidence: None };
        let (verdict, longest) = with_context(|context| {
            let context = Context { alone, ..*context };
            let empty = EmptyAnswer { asked: 1, ..ripe(Visibility::Ours) };
            let longest = context.after(context.timing.ask(0).max(context.timing.backoff_min));
            (after_ask(Err(fault), &empty, false, &context), longest)
        });
        let Some(Event::NotAnswered { in_vain, due, .. }) = verdict.event else {
            panic!("{:?}", verdict.event)
        };
        let pauses = matches!(verdict.health, Health::Unreachable(..));
        assert_eq!((in_vain, pauses), (false, concerns_all), "no empty answer");
        assert_eq!(due > longest, !concerns_all, "more and more seldom");
    }
}

fn refusal(status: u16, code: &str) -> Fault {
    let issue = Issue {
        severity: fhir::Severity::Error,
        code: code.to_owned(),
        rule: None,
        text: "so nicht".to_owned(),
        expression: None,
        line: None,
        column: None,
    };
    let answer = Box::new(Answer { issues: vec![issue], ..Answer::default() });
    Fault::Refused { answer, evidence: Box::new(Evidence { status, ..evidence() }) }
}

/// The first request may have been received although its answer said otherwise: only a search can
/// tell.
#[test]
fn a_refusal_counts_at_once_only_where_nothing_was_sent_before() {
    let timing = Timing::default();
    for (attempt, status, code, event) in [
        (1, 422, "invalid", "rejected"),
        (2, 422, "invalid", "doubted"),
        (1, 409, "conflict", "doubted"),
        (1, 412, "conflict", "doubted"),
        (1, 422, "duplicate", "doubted"),
        // It succeeded, it says: the authority refuses with a status of an error.
        (1, 200, "invalid", "doubted"),
        (1, 201, "invalid", "doubted"),
    ] {
        let context = Context { attempt, ..context(&timing) };
        let verdict = after_submit(Err(refusal(status, code)), &context);
        assert_eq!(code_of(&verdict), event, "{attempt} {status} {code}");
        assert_eq!(verdict.issues.as_deref().map(<[_]>::len), Some(1), "its words are kept");
        assert_eq!(verdict.health, Health::Answered);
    }
    let Fault::Refused { answer, mut evidence } = refusal(422, "invalid") else { unreachable!() };
    evidence.location = Some("/v1/fhir/DocumentReference/d-1".to_owned());
    let named = after_submit(Err(Fault::Refused { answer, evidence }), &context(&timing));
    assert_eq!(code_of(&named), "doubted", "it names what it has stored");
}

#[test]
fn what_the_search_says_ends_the_doubt_of_a_refusal() {
    with_context(|context| {
        let after = |refused, seen| {
            let found = Found { answers: Vec::new(), evidence: evidence() };
            code_of(&after_ask(Ok(found), &ripe(seen), refused, context))
        };
        assert_eq!(after(false, Visibility::Ours), "not-received");
        assert_eq!(after(true, Visibility::Ours), "rejected");
        assert_eq!(after(true, Visibility::Unknown), "asked-in-vain");
        assert_eq!(after(true, Visibility::Lost), "not-answered");
    });
}

#[test]
fn a_report_that_alone_is_turned_away_rests_longer_each_time_and_is_held_in_the_end() {
    let timing = Timing::default();
    let evidence = || Some(Box::new(Evidence { status: 403, ..evidence() }));
    let mut rested = Duration::ZERO;
    for before in 0..4 {
        let context = Context { turned_away: Some(before), attempt: 9, ..context(&timing) };
        let locked = Fault::Locked { why: Why::Forbidden { status: 403 }, evidence: evidence() };
        let verdict = after_submit(Err(locked), &context);
        let Some(Event::TurnedAway { due, .. }) = verdict.event else { panic!("{verdict:?}") };
        let pause = Duration::from_micros((due.0 - NOW.0).unsigned_abs());
        assert!(pause >= timing.backoff_min.mul_f64(0.5) * 2_u32.pow(before), "{pause:?}");
        assert_eq!(verdict.health, Health::OfOne, "the others go on");
        rested += pause;
    }
    assert!(rested >= Duration::from_secs(225));
    let context = Context { turned_away: Some(4), ..context(&timing) };
    let locked = Fault::Locked { why: Why::Forbidden { status: 403 }, evidence: evidence() };
    let verdict = after_submit(Err(locked), &context);
    assert_eq!(code_of(&verdict), "held-after-refusals");
    assert!(verdict.evidence.is_some() && verdict.issues.is_some(), "with that answer");
    // What brought no answer was turned away by nobody.
    let nobody = Fault::Transient { why: Why::Cut, retry_after: None, evidence: None };
    assert_eq!(code_of(&after_submit(Err(nobody), &context)), "deferred");
}

#[test]
fn a_read_says_what_was_truly_answered() {
    let timing = Timing::default();
    let hours = |h: u64| Duration::from_secs(h * 3600);
    let ago = |h: i64| Some(NOW.plus_seconds(-h * 3600));
    let not_found = || Fault::Transient {
        why: Why::NotFound { status: 404 },
        retry_after: None,
        evidence: Some(Box::new(evidence())),
    };
    let after = |result, age, not_found_since| {
        let times = ReadTimes { age, quiet: age, not_found_since };
        after_read(result, &times, &context(&timing)).event
    };
    let progress = || Ok(received(Some(Processing::InProgress)));
    assert!(matches!(after(progress(), hours(1), None), Some(Event::StillInProgress { .. })));
    assert!(matches!(after(progress(), hours(72), None), Some(Event::Overdue { .. })));
    for (age, since, expected) in [
        (1, None, false),
        (30, ago(23), false),
        (30, ago(24), true),
        (72, None, true),
        // Our clock was set back meanwhile.
        (30, ago(-99), false),
    ] {
        let Some(Event::NotFound { at, late, .. }) = after(Err(not_found()), hours(age), since)
        else {
            panic!("{age}")
        };
        assert_eq!((at, late), (NOW, expected), "{age} {since:?}");
    }
    let cut = Fault::Transient { why: Why::Cut, retry_after: None, evidence: None };
    let Some(Event::NotAnswered { why, .. }) = after(Err(cut), hours(1), None) else { panic!() };
    assert_eq!(why, "cut", "nobody said that it is in progress");
}
