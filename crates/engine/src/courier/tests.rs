//! The courier's rules as tables: no journal, no TLS, no clock but the one that a table passes.

use std::sync::Arc;
use std::time::Duration;

use client::{Evidence, Fault, Why};
use fhir::Instant;
use journal::Due;
use report::{Duty, Event, State, SubmissionId};

use super::breaker::RequestKind;
use super::preflight::{Preflight, after_preflight};
use super::searches::Tells;
use super::verdict::{Health, Verdict};
use super::*;

mod searching;
mod trying;

const NOW: Instant = Instant::from_seconds(1_000_000);
const ID: SubmissionId = SubmissionId(7);

/// So many seconds later by both clocks.
fn at(seconds: u64) -> ClockReading {
    let wall = NOW.plus_seconds(i64::try_from(seconds).unwrap());
    ClockReading { wall, steady: Duration::from_secs(seconds) }
}

fn courier() -> Courier {
    Courier::new(at(0), Arc::new(Timing::default()), true)
}

fn evidence(status: u16) -> Evidence {
    Evidence {
        method: "GET".to_owned(),
        url_path: "/".to_owned(),
        status,
        content_type: None,
        body: Vec::new(),
        elapsed_ms: 0,
        server_date: None,
        location: None,
    }
}

fn answer() -> Option<Box<Evidence>> {
    Some(Box::new(evidence(403)))
}

fn forbidden() -> Why {
    Why::Forbidden { status: 403 }
}

/// The question was refused in an answer, by somebody who does not say why.
fn refused() -> Fault {
    Fault::Locked { why: forbidden(), evidence: answer() }
}

/// Nobody was there.
fn silent() -> Fault {
    Fault::Transient { why: Why::Timeout, retry_after: None, evidence: None }
}

/// A verdict about a report with this health, which rests on an answer or not.
fn verdict(health: Health, heard: bool) -> Verdict {
    Verdict { event: None, issues: None, evidence: heard.then(|| evidence(403)), health }
}

/// What came before the moment that a table looks at.
#[derive(Debug, Clone, Copy)]
enum Before {
    /// Nothing has happened yet.
    Nothing,
    /// Nobody was there.
    Silence,
    /// One report was refused in an answer.
    OneRefused,
    /// One report was refused, and a question too.
    AllRefused,
    /// A request ended in doubt.
    Doubt,
}

fn after(before: Before) -> Courier {
    let mut courier = courier();
    bring_about(&mut courier, before);
    courier
}

fn bring_about(courier: &mut Courier, before: Before) {
    let locked = || Health::Locked(forbidden());
    let one = |courier: &mut Courier| {
        courier.concluded(at(0), ID, true, &verdict(locked(), true), 0.999);
    };
    match before {
        Before::Nothing => {}
        Before::Silence => {
            let health = Health::Unreachable(Why::Timeout, None);
            courier.concluded(at(0), ID, true, &verdict(health, false), 0.999);
        }
        Before::OneRefused => one(courier),
        Before::AllRefused => {
            one(courier);
            courier.concluded(at(0), SubmissionId(8), false, &verdict(locked(), true), 0.999);
        }
        Before::Doubt => {
            courier.concluded(at(0), ID, true, &verdict(Health::Unclear, false), 0.999);
        }
    }
}

/// Reports that are owed, with how often a request was made for each.
fn owed(reports: &[(i64, u32)]) -> Vec<Due> {
    let due = |&(id, attempt): &(i64, u32)| Due {
        id: SubmissionId(id),
        state: State::Queued { attempt, due: NOW, refusals: 0, doubts: 0 },
        duty: Duty::Send,
        due: NOW,
        identifier: String::new(),
        endpoint: String::new(),
        corrects: None,
        document: None,
    };
    reports.iter().map(due).collect()
}

/// The courier has looked up these.
fn look_up(courier: &mut Courier, now: ClockReading, reports: &[(i64, u32)]) {
    assert_eq!(courier.owed(owed(reports), courier.look_up(), false), None);
    courier.looked(now, Vec::new(), false);
}

fn begins(courier: &mut Courier, now: ClockReading) -> Vec<i64> {
    courier.next(now, false).iter().map(|due| due.id.0).collect()
}

#[test]
fn how_many_requests_begin() {
    let many = Timing::default().in_flight_max;
    // What came before, seconds since, requests under way, and how many begin.
    for (before, seconds, under_way, room) in [
        (Before::Nothing, 0, 0, many),
        (Before::Nothing, 0, many - 1, 1),
        (Before::Nothing, 0, many, 0),
        (Before::Silence, 0, 0, 0),
        (Before::Silence, 29, 0, 0),
        (Before::Silence, 30, 0, 1),
        (Before::Silence, 30, 1, 0),
        // Another report tries the way after the shortest pause.
        (Before::OneRefused, 29, 0, 0),
        (Before::OneRefused, 30, 0, 1),
        (Before::OneRefused, 30, 1, 0),
        (Before::AllRefused, 29, 0, 0),
        (Before::Doubt, 1, 0, 0),
        (Before::Doubt, 2, 0, 1),
    ] {
        // What is under way began before.
        let mut courier = courier();
        let first: Vec<_> =
            (0..i64::try_from(under_way).unwrap()).map(|id| (100 + id, 0)).collect();
        look_up(&mut courier, at(0), &first);
        assert_eq!(courier.next(at(0), false).len(), under_way);
        bring_about(&mut courier, before);
        let more: Vec<_> = (0..200).map(|id| (1_000 + id, 0)).collect();
        look_up(&mut courier, at(seconds), &more);
        let what = format!("{before:?}, {seconds} s later, {under_way} under way");
        assert_eq!(courier.has_next(at(seconds)), room > 0, "{what}");
        assert_eq!(courier.next(at(seconds), false).len(), room, "{what}");
    }
}

#[test]
fn a_suspect_does_not_try_the_way_for_the_others() {
    let again = |courier: &mut Courier| {
        // Refused again, so that its own pause is longer than the shortest one.
        look_up(courier, at(30), &[(ID.0, 1)]);
        assert_eq!(begins(courier, at(30)), [ID.0]);
        courier.concluded(at(30), ID, true, &verdict(Health::Locked(forbidden()), true), 0.999);
        courier.done(ID);
    };
    for (seconds, begin) in [
        (31, &[][..]),
        // The one that was tried least, and only one.
        (60, &[9]),
        // Its own pause is over: what was tried least still goes first.
        (90, &[9]),
    ] {
        let mut courier = after(Before::OneRefused);
        again(&mut courier);
        look_up(&mut courier, at(seconds), &[(ID.0, 2), (8, 1), (9, 0)]);
        assert_eq!(begins(&mut courier, at(seconds)), begin, "after {seconds} s");
        assert_eq!(begins(&mut courier, at(seconds)), [0_i64; 0], "one at a time");
    }
    // Alone it waits until its own pause is over.
    let mut courier = after(Before::OneRefused);
    again(&mut courier);
    for (seconds, begin) in [(60, &[][..]), (90, &[ID.0])] {
        look_up(&mut courier, at(seconds), &[(ID.0, 2)]);
        assert_eq!(begins(&mut courier, at(seconds)), begin, "after {seconds} s");
    }
    // A probe that has come to nothing makes room for another.
    courier.done(ID);
    look_up(&mut courier, at(90), &[(8, 1)]);
    assert_eq!(begins(&mut courier, at(90)), [8]);
}

#[test]
fn when_nothing_begins_and_nothing_is_looked_up() {
    let mut courier = courier();
    assert!(courier.wants_more(at(0)));
    look_up(&mut courier, at(0), &[(1, 0)]);
    assert!(!courier.wants_more(at(0)) && courier.has_next(at(0)));
    assert!(courier.next(at(0), true).is_empty(), "sending is paused");
    look_up(&mut courier, at(0), &[(1, 0)]);
    // A search for changes is late: what is under way ends first.
    courier.time_has_passed(true);
    assert!(!courier.has_next(at(0)) && begins(&mut courier, at(0)).is_empty());
    courier.time_has_passed(false);
    courier.journal_refuses();
    courier.time_has_passed(false);
    assert!(!courier.has_next(at(0)) && !courier.wants_more(at(0)));
    courier.round_begins();
    assert!(courier.wants_more(at(0)), "the next round tries again");
    // What may not begin must not hide what may.
    let full: Vec<_> = (0..256).map(|id| (id, 0)).collect();
    assert_eq!(courier.owed(owed(&full), 256, true), Some(1_024));
    assert_eq!(courier.owed(owed(&full), 1_024, true), None);
    // What is under way is not begun again, whether it is owed or was put off too far.
    look_up(&mut courier, at(0), &[(1, 0)]);
    assert_eq!(begins(&mut courier, at(0)), [1]);
    courier.owed(owed(&[(1, 0), (2, 0)]), 257, false);
    courier.looked(at(0), owed(&[(1, 0), (2, 0), (3, 0)]), false);
    assert_eq!(begins(&mut courier, at(0)), [2, 3]);
}

#[test]
fn who_learns_from_the_search_at_the_end_of_a_round() {
    for (before, seconds, first, second) in [
        (Before::Nothing, 0, Some(Tells::TheBreaker), Some(Tells::TheBreaker)),
        (Before::Silence, 0, None, None),
        (Before::Silence, 30, Some(Tells::TheBreaker), Some(Tells::TheBreaker)),
        (Before::OneRefused, 0, Some(Tells::Nobody), Some(Tells::Nobody)),
        // One search for each refused probe.
        (Before::AllRefused, 0, Some(Tells::Nobody), None),
        (Before::Doubt, 0, None, None),
    ] {
        let mut courier = after(before);
        assert_eq!(courier.tells(at(seconds)), first, "{before:?} after {seconds} s");
        assert_eq!(courier.tells(at(seconds)), second, "{before:?} after {seconds} s, again");
    }
}

#[test]
fn when_to_look_again() {
    let (soon, late) = (Some(at(3).wall), Some(at(4_000).wall));
    for (before, owed, search, wake) in [
        (Before::Nothing, None, None, None),
        (Before::Nothing, soon, None, Some(3)),
        (Before::Nothing, None, soon, Some(3)),
        (Before::Nothing, late, soon, Some(3)),
        // For what a clock has put off.
        (Before::Nothing, late, late, Some(60)),
        (Before::Silence, None, None, None),
        (Before::Silence, soon, None, Some(30)),
        (Before::Silence, late, None, Some(60)),
        // What the others owe is not known here.
        (Before::OneRefused, soon, None, Some(5)),
        (Before::OneRefused, late, None, Some(5)),
        (Before::AllRefused, soon, None, Some(30)),
        (Before::Doubt, Some(at(0).wall), None, Some(2)),
    ] {
        let next = after(before).wake_at(at(0), owed, search);
        let seconds = next.map(|next| (next.0 - NOW.0 + 999_999) / 1_000_000);
        assert_eq!(seconds, wake, "{before:?}, owed {owed:?}, search {search:?}");
    }
}

#[test]
fn what_people_are_told_of_an_exchange() {
    let start = Connection::default();
    let told = |before: Before, about: RequestKind, health: Health| {
        let (mut connection, mut courier) = (start.clone(), after(before));
        let heard = matches!(health, Health::Answered);
        if let Some(seen) = courier.observe(at(99), &health, about, heard, 0.5) {
            seen.show(&mut connection, at(99).wall);
        }
        connection
    };
    let (report, question) = (RequestKind::Report(ID), RequestKind::Question);
    let answered = told(Before::Silence, question, Health::Answered);
    assert_eq!(answered.state, ConnectionState::Connected);
    assert_eq!((answered.last_contact, answered.next_try), (Some(at(99).wall), None));
    // Reports are refused: that a question is answered changes nothing about it.
    let question_only = told(Before::OneRefused, question, Health::Answered);
    assert_eq!(question_only.last_contact, Some(at(99).wall));
    assert_eq!(question_only.state, start.state);
    let let_in = told(Before::OneRefused, report, Health::Answered);
    assert_eq!(let_in.state, ConnectionState::Connected);
    let silence = told(Before::Nothing, report, Health::Unreachable(Why::Timeout, None));
    assert_eq!(silence.state, ConnectionState::Unreachable((&Why::Timeout).into()));
    assert_eq!(silence.last_contact, None);
    assert!(silence.next_try > Some(at(99).wall));
    let locked = told(Before::Nothing, question, Health::Locked(forbidden()));
    assert_eq!(locked.state, ConnectionState::Locked((&forbidden()).into()));
    for health in [Health::Unclear, Health::OfOne] {
        assert_eq!(told(Before::Nothing, report, health), start);
    }
}

#[test]
fn the_way_is_tried_once_and_not_while_the_breaker_is_open() {
    let mut fresh = courier();
    assert!(fresh.wants_preflight(at(0)));
    fresh.preflight_ended();
    assert!(!fresh.wants_preflight(at(0)));
    let silent_before = after(Before::Silence);
    assert!(!silent_before.wants_preflight(at(0)) && silent_before.wants_preflight(at(30)));
    let with = |why| Fault::Transient { why, retry_after: None, evidence: answer() };
    for (result, answered) in [
        (Ok(((), evidence(200))), true),
        // Whoever refuses the question may be the authority; what it thinks of reports shows at
        // one.
        (Err(refused()), true),
        (Err(with(Why::Html { status: 200 })), false),
        (Err(with(Why::ProxyAuthentication)), false),
        (Err(silent()), false),
    ] {
        let what = format!("{result:?}");
        let meaning = after_preflight(result);
        assert_eq!(matches!(meaning, Preflight::Answered(_)), answered, "{what}");
    }
}

#[test]
fn a_question_that_alone_is_refused_is_told_from_a_way_that_is_not_free() {
    // Whether another request is answered between two refusals, and what is asked; whether it alone
    // is refused from the second time on.
    for (fault, others, alone) in [
        (refused(), true, true),
        (refused(), false, false),
        (
            Fault::Transient { why: Why::PagesMoved, retry_after: None, evidence: answer() },
            false,
            true,
        ),
    ] {
        let mut courier = courier();
        courier.in_vain_alone(at(0), ID, &fault);
        if others {
            courier.observe(at(1), &Health::Answered, RequestKind::Question, true, 0.5);
        }
        assert_eq!(courier.in_vain_alone(at(0), ID, &fault).is_some(), alone, "{fault:?}");
        courier.asked(ID, Some(&Event::Rejected));
    }
    // What has no answer at all is refused alone after five times among others that are answered.
    let mut courier = courier();
    let mut times = Vec::new();
    for _ in 0..6 {
        times.push(courier.in_vain_alone(at(0), ID, &silent()));
        courier.observe(at(1), &Health::Answered, RequestKind::Question, true, 0.5);
    }
    assert_eq!(times, [None, None, None, None, None, Some(5)]);
}

#[test]
fn others_try_the_way_before_a_question_that_was_refused() {
    // The question for the eighth was refused, and that for the ninth was not.
    for (answered, first) in [(false, 9), (true, 8)] {
        let mut courier = courier();
        courier.concluded(
            at(0),
            SubmissionId(8),
            false,
            &verdict(Health::Locked(forbidden()), true),
            0.5,
        );
        if answered {
            courier.observe(at(1), &Health::Answered, RequestKind::Question, true, 0.5);
        }
        look_up(&mut courier, at(60), &[(8, 0), (9, 0)]);
        let begun = begins(&mut courier, at(60));
        assert_eq!(begun.first(), Some(&first));
        assert_eq!(begun.len(), if answered { 2 } else { 1 });
    }
}

#[test]
fn a_doubt_is_as_old_as_the_clock_says_that_was_not_set_back() {
    let day = 86_400;
    let set_back = |seconds| ClockReading { wall: NOW.plus_seconds(-day), ..at(seconds) };
    let mut courier = courier();
    assert_eq!(courier.in_doubt_for(at(10), ID, NOW), Duration::from_secs(10));
    assert_eq!(courier.in_doubt_for(set_back(70), ID, NOW), Duration::from_secs(60));
    courier.asked(ID, Some(&Event::AskedInVain { due: NOW, answered: None }));
    assert_eq!(courier.in_doubt_for(set_back(80), ID, NOW), Duration::from_secs(70));
    courier.asked(ID, None);
    assert_eq!(courier.in_doubt_for(set_back(90), ID, NOW), Duration::ZERO, "another doubt");
}

#[test]
fn a_worker_rests_until_something_is_owed_and_never_for_long() {
    let now = Instant::from_seconds(1_000);
    let in_micros = |micros| Some(now.plus_micros(micros));
    let after = |done, next| rest(done, next, now);
    assert_eq!(after(0, None), REST_MAX);
    assert_eq!(after(3, None), REST_MAX);
    assert_eq!(after(1, in_micros(2_000_000)), Duration::from_secs(2));
    assert_eq!(after(0, in_micros(2_000_000)), Duration::from_secs(2));
    assert_eq!(after(1, in_micros(3_600_000_000)), REST_MAX);
    // More may be owed at once; what could not be done is no reason to spin.
    assert_eq!(after(1, in_micros(0)), Duration::ZERO);
    assert_eq!(after(1, in_micros(-5)), Duration::ZERO);
    assert_eq!(after(0, in_micros(0)), REST_MAX);
    assert_eq!(after(0, in_micros(-5)), REST_MAX);
    assert_eq!(after(0, in_micros(7)), Duration::from_millis(1));
    assert_eq!(after(1, in_micros(7)), Duration::from_micros(7));
}

/// What decides does no IO: whoever reads it need not think of locks, waiting or what is stored.
#[test]
fn the_courier_neither_waits_nor_asks_anybody() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![source.join("courier.rs")];
    let parts = std::fs::read_dir(source.join("courier")).unwrap();
    files.extend(parts.map(|part| part.unwrap().path()).filter(|path| path.is_file()));
    assert!(files.len() > 10, "{files:?}");
    for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        for word in ["tokio", "async ", "Mutex", "Atomic", "JournalError", "dyn Clock", "Worker<"] {
            assert!(!text.contains(word), "{word} in {}", file.display());
        }
    }
}
