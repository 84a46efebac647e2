//! From when on a search for changes asks: nothing that a search showed late, or not at all, may be passed by.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::atomic::Ordering;

use client::{Changes, Why};
use engine::Clock as _;
use exchange::{Answer, IdentifierChoice, Processing, Release};
use fhir::{Instant, Issue};
use house::{House, news};
use report::State;
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
async fn a_search_that_was_cut_off_or_unreadable_is_repeated_from_where_it_began() {
    let answers = vec![another(3_600)];
    for changes in [
        Changes {
            incomplete: Some(Why::TooManyPages),
            answers: answers.clone(),
            ..Changes::default()
        },
        Changes { unreadable: 1, answers: answers.clone(), ..Changes::default() },
        Changes::default(),
    ] {
        let house = searched(changes).await;
        let watermark =
            house.journal.watermark("ours").unwrap().expect("set before the first report left");
        assert!(watermark < at(600), "what was not shown is still ahead: {watermark:?}");
    }
}

/// The first report was delivered and its answer lost; the program starts again. What happened to the report lies
/// before the second start.
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

/// An authority that tells no time gives no watermark: the first search reaches back a day before the oldest open
/// report.
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

/// Where the document's own identifier is used for several reports, another one's receipt proves nothing.
#[tokio::test]
async fn the_receipt_of_another_report_is_not_taken_for_ours() {
    for identifier in [IdentifierChoice::Document, IdentifierChoice::Attempt] {
        let mut house = House::new();
        house.identifier = identifier;
        let first = house.import("ours", 1);
        let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
        worker.turn(&mut held, &cancel).await.unwrap();
        let State::InProgress { receipt, .. } = house.journal.state(first).unwrap() else {
            panic!()
        };
        house.authority.doubt.store(true, Ordering::SeqCst);
        let second = house.import("ours", 2);
        worker.turn(&mut held, &cancel).await.unwrap();
        *house.authority.finds.lock().unwrap() = vec![receipt];
        for _ in 0..4 {
            house.clock.pass(10);
            worker.turn(&mut held, &cancel).await.unwrap();
        }
        let state = house.journal.state(second).unwrap();
        match identifier {
            IdentifierChoice::Document => assert_eq!(state.code(), "unknown", "asked again"),
            // An identifier of this attempt alone: whoever has it has this report.
            IdentifierChoice::Attempt => assert_eq!(state.code(), "in-progress"),
        }
    }
}

/// Whether anything of ours is shown is asked with one entry: the laboratory may have a million. It is asked before
/// each question that could end the doubt, and again after the one that does.
#[tokio::test]
async fn a_look_for_any_report_asks_for_one() {
    let house = House::new();
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.authority.shown.store(5, Ordering::SeqCst);
    house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    for _ in 0..130 {
        house.clock.pass(10);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    assert_eq!(house.sent(), 2, "believed not received after the seventh question");
    assert_eq!(*house.authority.looked_for.lock().unwrap(), [Some(1); 4]);
}

/// A release that searches by identifier only: what became of a report is read, one by one and ever more slowly.
#[tokio::test]
async fn a_release_without_search_for_changes_is_read_by_id() {
    let mut house = House::new();
    house.release = Release::R1_0_0Trialuse;
    let ids = [house.import("ours", 1), house.import("ours", 2)];
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let mut live = async |minutes: i64| {
        for _ in 0..minutes * 2 {
            worker.turn(&mut held, &cancel).await.unwrap();
            house.clock.pass(30);
        }
    };
    let read = || house.authority.read.lock().unwrap().clone();
    live(9).await;
    assert_eq!(read(), Vec::<String>::new(), "not at once");
    *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
    live(180).await;
    let often = read().len();
    assert!((4..=12).contains(&often), "{often} reads of two reports in three hours");
    *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
    live(360).await;
    assert!(read().len() <= often + 2, "what is final is not read again");
    for id in ids {
        assert_eq!(house.journal.state(id).unwrap().code(), "completed");
    }
    assert_eq!(house.authority.questions.load(Ordering::SeqCst), 0, "no search");
}

/// What the authority says of a report is kept in its own words; where it gave none, nothing stands for them.
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

/// Two authorities give the same number. What one says of its report says nothing of the other's.
#[tokio::test]
async fn a_number_means_a_report_of_this_authority_alone() {
    let house = House::new();
    let others = house.import("elsewhere", 1);
    house.worker_of("elsewhere", "one").once().await.unwrap();
    let ours = house.import("ours", 2);
    let worker = house.worker("two");
    worker.once().await.unwrap();
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    assert_eq!(worker.once().await.unwrap(), Some(0));
    // The same by the number and the identifier of a report that went there.
    let theirs = house.journal.row(others).unwrap().identifier;
    let mut changes = news("r-7", Processing::Completed, Vec::new());
    changes.answers[0].identifiers = vec![theirs];
    *house.authority.changes.lock().unwrap() = changes;
    assert_eq!(worker.once().await.unwrap(), Some(0));
    for id in [others, ours] {
        assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
    }
}

/// Its answer was lost; a search for changes shows it by its identifier, sooner than it is asked for. What proves it
/// is its own entry of the page, and no other's.
#[tokio::test]
async fn a_report_in_doubt_is_known_by_its_identifier() {
    let house = House::new();
    house.import("ours", 1);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    house.authority.doubt.store(true, Ordering::SeqCst);
    let doubted = house.import("ours", 2);
    worker.once().await.unwrap();
    assert_eq!(house.journal.state(doubted).unwrap().code(), "unknown");
    let mut changes = news("r-9", Processing::Completed, Vec::new());
    changes.answers[0].identifiers = vec![house.journal.row(doubted).unwrap().identifier];
    *house.authority.changes.lock().unwrap() = changes;
    assert_eq!(worker.once().await.unwrap(), Some(1));
    assert_eq!(house.journal.state(doubted).unwrap().code(), "completed");
    let proof = house.journal.evidence(doubted).unwrap().pop().unwrap().evidence;
    assert_eq!(proof.http_status, Some(200));
    assert_eq!(proof.body, br#"{"resourceType":"DocumentReference","id":"r-9"}"#);
}
