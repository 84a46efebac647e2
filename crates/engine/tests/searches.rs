//! From when on a search for changes asks: nothing that a search showed late, or not at all, may be
//! passed by.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::atomic::Ordering;
use std::time::Duration;

use client::{Changes, Evidence, Fault, Why};
use engine::Clock as _;
use exchange::{Answer, Processing, Release};
use fhir::{Instant, Issue};
use house::{House, news};
use journal::Notice;
use tokio_util::sync::CancellationToken;

/// A report in progress, and a worker that has searched once, from this watermark on.
async fn searched(changes: Changes) -> House {
    let house = House::new();
    house.import("ours", 1);
    *house.authority.changes.lock().unwrap() = changes;
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    // Beyond the pause of a report that has just been accepted.
    house.clock.pass(30);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert!(house.authority.since.lock().unwrap().is_some(), "it has searched");
    house
}

/// By the authority's clock, which is not ours.
fn at(seconds: i64) -> Instant {
    Instant::from_seconds(1_700_000_000 + seconds)
}

fn another(seconds: i64) -> Answer {
    Answer {
        receipt: Some("another".to_owned()),
        processing: Some(Processing::Completed),
        last_updated: Some(at(seconds)),
        ..Answer::default()
    }
}

#[tokio::test]
async fn a_search_begins_before_the_last_one_ended() {
    let house = searched(Changes { answers: vec![another(3_600)], ..Changes::default() }).await;
    assert_eq!(house.journal.watermark("ours").unwrap(), Some(at(3_600)));
    let (worker, mut held) = (house.worker("two"), None);
    house.clock.pass(60);
    worker.turn(&mut held, &CancellationToken::new()).await.unwrap();
    let since = house.authority.since.lock().unwrap().unwrap();
    // A search may show a status so much later than it was set.
    assert!(since <= at(3_600 - 100), "{} s after", (since.0 - at(3_600).0) / 1_000_000);
    assert!(since >= at(3_600 - 600), "and not everything again");
    assert!(house.clock.now() > at(3_600), "the clocks differ");
}

#[tokio::test]
async fn a_search_that_says_nothing_sure_is_repeated_from_where_it_began() {
    let answers = vec![another(3_600)];
    let cut = |answers: Vec<Answer>| Changes {
        incomplete: Some(Why::TooManyPages),
        answers,
        ..Changes::default()
    };
    let ignored = Why::ParameterIgnored { name: "_lastUpdated".to_owned() };
    for changes in [
        // Not in the order that was asked for: what was cut off may be older.
        cut(vec![another(3_600), another(1_800)]),
        cut(vec![Answer { last_updated: None, ..another(0) }, another(3_600)]),
        cut(vec![another(-7_200), another(-3_600)]),
        // One alone shows no order.
        cut(vec![another(3_600)]),
        Changes { incomplete: Some(ignored), answers: answers.clone(), ..Changes::default() },
        Changes { unreadable: 1, answers: answers.clone(), ..Changes::default() },
        Changes::default(),
    ] {
        let house = searched(changes).await;
        let watermark =
            house.journal.watermark("ours").unwrap().expect("set before the first report left");
        assert!(watermark < at(600), "what was not shown is still ahead: {watermark:?}");
    }
}

/// More has changed than one search may show, or its next link leads elsewhere: the next search
/// goes on where this one ended, at once and without an overlap that might hold as much again.
#[tokio::test]
async fn a_search_that_was_cut_off_goes_on_where_it_ended() {
    // What the authority may still show late lies before its time less the overlap.
    for (why, server_time, expected) in [
        (Why::TooManyPages, Some(at(9_000)), at(3_600)),
        (Why::ForeignLink, Some(at(3_610)), at(3_490)),
        (Why::TooManyPages, None, at(3_480)),
    ] {
        let house = House::new();
        house.import("ours", 1);
        *house.authority.changes.lock().unwrap() = Changes {
            incomplete: Some(why),
            answers: vec![another(1_800), another(3_600)],
            server_time,
            ..Changes::default()
        };
        let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
        let round = worker.turn(&mut held, &cancel).await.unwrap();
        let searches = || house.authority.questions.load(Ordering::SeqCst);
        let before = searches();
        assert_eq!(house.journal.watermark("ours").unwrap(), Some(expected));
        assert_eq!(round.next, Some(house.clock.now()), "at once");
        *house.authority.changes.lock().unwrap() =
            Changes { answers: vec![another(3_700)], server_time, ..Changes::default() };
        worker.turn(&mut held, &cancel).await.unwrap();
        assert_eq!(searches(), before + 1);
        assert_eq!(*house.authority.since.lock().unwrap(), Some(at(3_600)));
        worker.turn(&mut held, &cancel).await.unwrap();
        assert_eq!(searches(), before + 1, "then at its timing again");
        let after = house.journal.watermark("ours").unwrap();
        let surely = server_time.map_or(at(3_580), |time| at(3_700).min(time.plus_seconds(-120)));
        assert_eq!(after, Some(surely));
    }
}

/// One pass ends with a search that was not cut off, and does not search again after it.
#[tokio::test]
async fn one_pass_goes_on_until_nothing_is_cut_off() {
    let house = House::new();
    house.import("ours", 1);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    let searches = async || {
        let before = house.authority.questions.load(Ordering::SeqCst);
        worker.once().await.unwrap();
        house.authority.questions.load(Ordering::SeqCst) - before
    };
    assert_eq!(searches().await, 1);
    *house.authority.changes.lock().unwrap() = Changes {
        incomplete: Some(Why::TooManyPages),
        answers: vec![another(1_800), another(3_600)],
        ..Changes::default()
    };
    assert_eq!(searches().await, 2, "the second shows nothing later");
}

/// An entry that nobody can read is asked for again for a day, and then passed by: it must not hide
/// the others.
#[tokio::test]
async fn an_entry_that_cannot_be_read_is_passed_by_after_a_day() {
    let day = 24 * 3_600;
    let answers = vec![another(3_600), another(day + 7_200)];
    let house = searched(Changes { unreadable: 1, answers, ..Changes::default() }).await;
    assert_eq!(house.journal.watermark("ours").unwrap(), Some(at(7_200)));
}

/// A clock at the authority runs ahead: what changes until then must be found.
#[tokio::test]
async fn a_time_that_is_still_to_come_is_no_watermark() {
    let changes = |server| Changes {
        answers: vec![another(90_000)],
        server_time: Some(at(server)),
        ..Changes::default()
    };
    let house = searched(changes(1_000)).await;
    assert_eq!(house.journal.watermark("ours").unwrap(), Some(at(1_000)));
    // One that was kept is mended.
    house.journal.set_watermark("ours", at(500_000)).unwrap();
    *house.authority.changes.lock().unwrap() = changes(2_000);
    house.clock.pass(600);
    house.worker("two").turn(&mut None, &CancellationToken::new()).await.unwrap();
    assert_eq!(house.journal.watermark("ours").unwrap(), Some(at(2_000)));
}

/// A search of many pages takes longer than a lease lives; another process does not begin beside
/// it.
#[tokio::test(start_paused = true)]
async fn the_queue_is_held_during_a_long_search() {
    let house = House::new();
    let id = house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.clock.pass(30);
    worker.turn(&mut held, &cancel).await.unwrap();
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    house.clock.pass(600);
    house.authority.searches_for.store(100, Ordering::SeqCst);
    let (other, mut others, mut took_over) = (house.worker("two"), None, 0);
    let meanwhile = async {
        while house.journal.state(id).unwrap().code() == "in-progress" {
            tokio::time::sleep(Duration::from_secs(1)).await;
            other.turn(&mut others, &CancellationToken::new()).await.unwrap();
            took_over += u32::from(others.is_some());
        }
    };
    let (turned, ()) = tokio::join!(worker.turn(&mut held, &cancel), meanwhile);
    turned.unwrap();
    assert_eq!(took_over, 0);
    assert_eq!(house.journal.state(id).unwrap().code(), "completed");
}

/// The first report was delivered and its answer lost; the program starts again. What happened to
/// the report lies before the second start.
#[tokio::test]
async fn the_first_watermark_stays_until_something_is_seen() {
    let house = House::new();
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.import("ours", 1);
    house.worker("one").turn(&mut None, &CancellationToken::new()).await.unwrap();
    let first = house.journal.watermark("ours").unwrap();
    assert_eq!(first, Some(at(0)));
    house.clock.pass(600);
    house.import("ours", 2);
    house.worker("two").turn(&mut None, &CancellationToken::new()).await.unwrap();
    assert_eq!(house.sent(), 2);
    assert_eq!(house.journal.watermark("ours").unwrap(), first);
}

/// An authority that tells no time gives no watermark: the first search reaches back a day before
/// the oldest open report.
#[tokio::test]
async fn without_a_watermark_the_first_search_reaches_back_a_day() {
    let house = House::new();
    house.authority.timeless.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    for _ in 0..2 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(30);
    }
    assert_eq!(house.journal.watermark("ours").unwrap(), None);
    let since = house.authority.since.lock().unwrap().unwrap();
    let created = house.journal.row(id).unwrap().created;
    assert_eq!(since, created.plus_seconds(-24 * 3600));
}

/// Whether we are shown anything is asked by the identifier of another report of ours: before each
/// question that could end the doubt, and again after the one that does.
#[tokio::test]
async fn whether_ours_are_shown_is_asked_by_the_identifier_of_one() {
    let house = House::new();
    let witness = house.import("ours", 1);
    let witness = house.journal.row(witness).unwrap().identifier;
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.authority.shown.store(5, Ordering::SeqCst);
    house.import("ours", 2);
    for _ in 0..480 {
        house.clock.pass(10);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    assert_eq!(house.sent(), 3, "believed not received after an hour");
    let asked = house.authority.asked_for.lock().unwrap().clone();
    assert_eq!(asked.iter().filter(|asked| **asked == witness).count(), 16);
    assert!(house.authority.looked_for.lock().unwrap().is_empty(), "nobody else's are looked for");
}

/// A release that searches by identifier only: what became of a report is read by its id, after
/// seconds and then as often as others are searched for.
#[tokio::test]
async fn a_release_without_search_for_changes_is_read_by_id() {
    let mut house = House::new();
    house.release = Release::R1_0_0Trialuse;
    let ids = [house.import("ours", 1), house.import("ours", 2)];
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let mut live = async |turns: i64, seconds: i64| {
        for _ in 0..turns {
            worker.turn(&mut held, &cancel).await.unwrap();
            house.clock.pass(seconds);
        }
    };
    let read = || house.authority.read.lock().unwrap().len();
    *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
    live(2, 2).await;
    assert_eq!(read(), 2, "after seconds");
    live(3 * 120, 30).await;
    let often = read();
    assert!((60..=160).contains(&often), "{often} reads of two reports in three hours");
    *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
    live(12, 30).await;
    for id in ids {
        assert_eq!(house.journal.state(id).unwrap().code(), "completed", "in five minutes");
    }
    let often = read();
    live(12, 30).await;
    assert_eq!(read(), often, "what is final is not read again");
    assert_eq!(house.authority.questions.load(Ordering::SeqCst), 0, "no search");
}

/// One pass sees a verdict that is there, whatever the release can search.
#[tokio::test]
async fn one_pass_reads_what_cannot_be_searched_for() {
    let mut house = House::new();
    house.release = Release::R1_0_0Trialuse;
    let id = house.import("ours", 1);
    *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
    assert_eq!(house.worker("one").once().await.unwrap(), Some(2));
    assert_eq!(house.journal.state(id).unwrap().code(), "completed");
}

/// What the authority says of a report is kept in its own words; where it gave none, nothing stands
/// for them.
#[tokio::test]
async fn messages_are_kept_as_they_were_said() {
    let house = House::new();
    let id = house.import("ours", 1);
    let issue = |text: &str| Issue {
        severity: fhir::Severity::Error,
        code: "invalid".to_owned(),
        rule: None,
        text: text.to_owned(),
        expression: None,
        line: None,
        column: None,
    };
    *house.authority.changes.lock().unwrap() =
        news("r-1", Processing::Failed, vec![issue("Unknown code"), issue("")]);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    let detail = house.journal.detail(id).unwrap();
    assert_eq!(detail.row.state.code(), "failed");
    let texts: Vec<_> = detail.messages.iter().map(|message| message.text.as_deref()).collect();
    assert_eq!(texts, [Some("Unknown code"), None]);
}

/// A page, or two pages of one search, say of one report that it is completed and that it failed:
/// whatever comes first, that says nothing. It is searched for again from there, until one of them
/// is said alone.
#[tokio::test]
async fn a_search_that_tells_one_report_in_two_ways_says_nothing_of_it() {
    for order in [[0, 1], [1, 0]] {
        let house = House::new();
        let (id, other) = (house.import("ours", 1), house.import("ours", 2));
        let worker = house.worker("one");
        worker.once().await.unwrap();
        let before = house.journal.watermark("ours").unwrap();
        let told = |number: usize, processing| {
            let receipt = house.journal.state([id, other][number]).unwrap();
            let told = news(receipt.receipt().unwrap(), processing, Vec::new());
            (Answer { last_updated: Some(at(90)), ..told.answers[0].clone() }, told.evidence)
        };
        let both = [told(0, Processing::Completed), told(0, Processing::Failed)];
        let (answer, evidence) = told(1, Processing::Completed);
        let mut changes = Changes { answers: vec![answer], evidence, ..Changes::default() };
        for (answer, evidence) in order.map(|index| both[index].clone()) {
            changes.answers.push(answer);
            changes.evidence.extend(evidence);
        }
        *house.authority.changes.lock().unwrap() = changes;
        assert_eq!(worker.once().await.unwrap(), Some(1));
        assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
        assert_eq!(house.journal.state(other).unwrap().code(), "completed", "the others are");
        assert_eq!(house.journal.watermark("ours").unwrap(), before, "asked for again");
        let (answer, evidence) = told(0, Processing::Failed);
        *house.authority.changes.lock().unwrap() =
            Changes { answers: vec![answer], evidence, ..Changes::default() };
        worker.once().await.unwrap();
        assert_eq!(house.journal.state(id).unwrap().code(), "failed");
    }
}

fn refused(reasons: bool) -> Fault {
    let evidence = Box::new(Evidence { status: 400, ..Evidence::default() });
    match reasons {
        true => Fault::Refused { answer: Box::default(), evidence },
        false => {
            let why = Why::Unexplained { status: 400 };
            Fault::Locked { why, evidence: Some(evidence) }
        }
    }
}

/// Whoever may not search reads by id, within the pauses of a search and not after ten minutes; and
/// people learn why news is slow.
#[tokio::test]
async fn a_search_that_is_refused_rests_and_reports_are_read_by_id() {
    let evidence = || Some(Box::new(Evidence { status: 403, ..Evidence::default() }));
    // A gateway that takes the question for an attack, while it lets in whatever else comes.
    let forbidden = Fault::Locked { why: Why::Forbidden { status: 403 }, evidence: evidence() };
    // An authority that has one report which it cannot show.
    let why = Why::Unavailable { status: 500 };
    let broken = Fault::Transient { why, retry_after: None, evidence: evidence() };
    // Until something else is answered, nobody can tell these from a fault of the way.
    for (fault, at_most) in
        [(refused(true), 320), (refused(false), 320), (forbidden, 960), (broken, 960)]
    {
        let house = House::new();
        house.import("ours", 1);
        // Another endpoint is refused, too: each is told by its name, and is over by itself.
        let params = [("endpoint", "theirs"), ("status", "400")];
        let theirs = Notice::new("search-refused", &params, house.clock.now()).about("theirs");
        house.journal.put_notice(theirs.clone()).unwrap();
        let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
        worker.turn(&mut held, &cancel).await.unwrap();
        *house.authority.lost_search.lock().unwrap() = Some(fault);
        *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
        let notices = || house.journal.notices().unwrap();
        let (mut last, mut longest) = (0, 0);
        for second in (0..3_600).step_by(5) {
            house.clock.pass(5);
            worker.turn(&mut held, &cancel).await.unwrap();
            let reads = std::mem::take(&mut *house.authority.read.lock().unwrap()).len();
            if reads > 0 {
                longest = longest.max(second - last);
                last = second;
            }
            if second == 1_500 {
                let told = notices();
                assert!(told.iter().all(|it| it.code == "search-refused"));
                let at: Vec<_> = told.iter().map(|it| &*it.params["endpoint"]).collect();
                assert_eq!(at, ["ours", "theirs"]);
            }
        }
        assert!((1..=at_most).contains(&longest), "read after {longest} s");
        let searches = house.authority.questions.load(Ordering::SeqCst);
        assert!((3..=15).contains(&searches), "{searches} searches in an hour");
        // Reports are sent all the while.
        house.import("ours", 2);
        worker.turn(&mut held, &cancel).await.unwrap();
        assert_eq!(house.authority.sent.lock().unwrap().len(), 2);
        *house.authority.lost_search.lock().unwrap() = None;
        house.clock.pass(1_900);
        worker.turn(&mut held, &cancel).await.unwrap();
        assert_eq!(notices(), [theirs], "ours may be searched again");
        house.journal.remove_notice("search-refused").unwrap();
        assert!(notices().is_empty(), "a person has read all of them");
    }
}

/// Searches are refused, and reads find nothing of what was accepted: each report is read as often
/// as others search, and a round of that has an end, however many there are.
#[tokio::test]
async fn reports_that_are_neither_searched_for_nor_found_make_no_storm() {
    let mut house = House::new();
    house.timing.in_flight_max = 3;
    for number in 1..=8 {
        house.import("ours", number);
    }
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    *house.authority.lost_search.lock().unwrap() = Some(refused(true));
    house.authority.forgot.store(true, Ordering::SeqCst);
    for _ in 0..120 {
        house.clock.pass(30);
        let turn = worker.turn(&mut held, &cancel);
        // Real time: without an end nothing else would tell.
        tokio::time::timeout(Duration::from_secs(60), turn).await.expect("an end").unwrap();
    }
    let reads = house.authority.read.lock().unwrap().len();
    // An eighth of its age apart, from the first second on: some twenty until it is an hour old.
    assert!((8 * 10..=8 * 40).contains(&reads), "{reads} reads of eight reports in an hour");
}

/// The same for one pass on a person's behalf.
#[tokio::test]
async fn one_pass_reads_by_id_where_the_search_is_refused() {
    let house = House::new();
    house.import("ours", 1);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    *house.authority.lost_search.lock().unwrap() = Some(refused(true));
    *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
    worker.once().await.unwrap();
    assert_eq!(house.authority.read.lock().unwrap().len(), 1);
    let counts = house.journal.counts(house.clock.now()).unwrap();
    assert_eq!(counts.group(report::Group::Completed), 1);
}
