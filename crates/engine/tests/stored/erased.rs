//! Newer versions that retention has erased, or that arrive while an older one asks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use client::{Evidence, Fault};
use engine::{Clock as _, Worker};
use exchange::Processing;
use journal::{Retention, Step};
use report::{Event, Person, State, SubmissionId};

use super::lagging::{HOUR, pass};
use super::newer::put_off;
use super::waiting::{code, correct, turn, version};
use super::word;
use crate::house::{House, Willing, news};

const DAY: i64 = 86_400;

fn refuse_questions(house: &House) {
    let answer = Box::new(exchange::Answer::default());
    let evidence = Box::new(Evidence { status: 400, ..Evidence::default() });
    *house.authority.lost_find.lock().unwrap() = Some(Fault::Refused { answer, evidence });
}

fn identifier(house: &House, id: SubmissionId) -> String {
    house.journal.row(id).unwrap().identifier
}

async fn in_doubt(house: &House, worker: &Worker<Willing>) -> SubmissionId {
    house.authority.doubt.store(true, Ordering::SeqCst);
    let first = version(house, 1);
    turn(worker).await;
    house.authority.doubt.store(false, Ordering::SeqCst);
    refuse_questions(house);
    assert_eq!(code(house, first), "unknown");
    first
}

fn said_not_received(house: &House, id: SubmissionId) {
    let due = house.clock.now();
    word(house, id, Event::SaidNotReceived { reason: "hotline".to_owned(), due });
}

/// The newer version was completed, and retention has erased it, while the older one is in
/// doubt. A person says that it was not received.
#[tokio::test]
async fn an_older_version_does_not_follow_an_erased_newer_one() {
    let house = House::new();
    let worker = house.worker("one");
    let first = in_doubt(&house, &worker).await;
    let newer = version(&house, 2);
    turn(&worker).await;
    *house.authority.changes.lock().unwrap() = news("r-2", Processing::Completed, Vec::new());
    pass(&house, &worker, 600).await;
    assert_eq!(code(&house, newer), "completed");
    house.clock.pass(31 * DAY);
    let rule = Retention { completed_days: Some(30), closed_days: Some(30) };
    assert_eq!(house.journal.retain(rule, house.clock.now()).unwrap(), 1);
    *house.authority.lost_find.lock().unwrap() = None;
    said_not_received(&house, first);
    let sent = house.sent();
    pass(&house, &worker, HOUR).await;
    let told = codes(&house, first);
    assert_eq!((code(&house, first), house.sent()), ("held", sent), "{told:?}");
}

/// The newer one was rejected and corrected under another document identifier; the rejected one
/// is erased. Its correction is in progress.
#[tokio::test]
async fn the_chain_to_a_correction_outlives_retention() {
    let house = House::new();
    let worker = house.worker("one");
    let first = in_doubt(&house, &worker).await;
    house.authority.rejects.store(true, Ordering::SeqCst);
    let newer = version(&house, 2);
    pass(&house, &worker, 60).await;
    assert_eq!(house.journal.state(newer).unwrap(), State::Rejected);
    house.authority.rejects.store(false, Ordering::SeqCst);
    let next = correct(&house, newer, 3);
    pass(&house, &worker, HOUR).await;
    assert_eq!([code(&house, newer), code(&house, next)], ["superseded", "in-progress"]);
    house.clock.pass(31 * DAY);
    let rule = Retention { completed_days: None, closed_days: Some(30) };
    assert_eq!(house.journal.retain(rule, house.clock.now()).unwrap(), 1);
    *house.authority.lost_find.lock().unwrap() = None;
    said_not_received(&house, first);
    let sent = house.sent();
    pass(&house, &worker, HOUR).await;
    let told = codes(&house, first);
    assert_eq!((code(&house, first), house.sent()), ("held", sent), "{told:?}");
}

/// While the older one asks for one newer version, another newer one leaves and arrives.
#[tokio::test]
async fn what_arrives_while_it_is_asked_counts() {
    let house = House::new();
    let worker = house.worker("one");
    let first = put_off(&house, &worker).await;
    house.authority.rejects.store(true, Ordering::SeqCst);
    let rejected = version(&house, 2);
    turn(&worker).await;
    assert_eq!(house.journal.state(rejected).unwrap(), State::Rejected);
    house.authority.rejects.store(false, Ordering::SeqCst);
    let of_rejected = identifier(&house, rejected);
    // Taken in, and on its way at the same time as the question.
    let third = version(&house, 3);
    word(&house, third, Event::HeldBack);
    let (journal, clock) = (house.journal.clone(), house.clock.clone());
    let hook = move |asked: &str| {
        if asked != of_rejected || journal.state(third).unwrap().code() != "held" {
            return;
        }
        let by = || Person("labcourier".to_owned());
        let now = clock.now();
        for event in [
            Event::Released { reason: "x".to_owned(), due: now },
            Event::SendingStarted { since: now },
            Event::Accepted { receipt: "r-77".to_owned(), since: now, due: now.plus_seconds(60) },
        ] {
            journal.record(Step::new(third, event, by(), now)).unwrap();
        }
    };
    *house.authority.on_find.lock().unwrap() = Some(Arc::new(hook));
    let sent = house.sent();
    pass(&house, &worker, HOUR).await;
    assert_eq!(code(&house, third), "in-progress");
    assert_eq!((code(&house, first), house.sent()), ("held", sent));
}

fn codes(house: &House, id: SubmissionId) -> Vec<String> {
    house.journal.detail(id).unwrap().messages.iter().map(|it| it.code.to_string()).collect()
}
