//! What people are shown of the connection: the last answer, and when the next try is made.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::atomic::Ordering;

use engine::{Clock as _, ConnectionState};
use house::House;
use report::State;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn the_last_contact_is_the_last_answer_and_nothing_else() {
    let house = House::new();
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let shown = || house.connection.borrow().clone();
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(shown().state, ConnectionState::Unchecked, "nothing was to be sent");
    house.import("ours", 1);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(shown().state, ConnectionState::Connected);
    let answered = house.clock.now();
    assert_eq!((shown().last_contact, shown().next_try), (Some(answered), None));
    house.clock.pass(1);
    house.authority.busy.store(300, Ordering::SeqCst);
    let waiting = house.import("ours", 2);
    let round = worker.turn(&mut held, &cancel).await.unwrap();
    let until = house.clock.now().plus_seconds(300);
    assert_eq!(round.next, Some(until), "the worker rests so long");
    let State::Queued { due, .. } = house.journal.state(waiting).unwrap() else { panic!() };
    assert_eq!(due, until);
    assert!(matches!(shown().state, ConnectionState::Unreachable(_)));
    assert_eq!(shown().last_contact, Some(answered), "a refusal for lack of time is no contact");
    assert_eq!(shown().next_try, Some(until));
    house.authority.busy.store(0, Ordering::SeqCst);
    house.clock.pass(301);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(shown().state, ConnectionState::Connected);
    assert_eq!((shown().last_contact, shown().next_try), (Some(house.clock.now()), None));
}

#[tokio::test]
async fn a_round_says_when_something_is_owed_next() {
    let house = House::new();
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    assert_eq!(worker.turn(&mut held, &cancel).await.unwrap().next, None, "nothing is open");
    house.import("ours", 1);
    worker.turn(&mut held, &cancel).await.unwrap();
    house.clock.pass(2);
    let next = worker.turn(&mut held, &cancel).await.unwrap().next.unwrap();
    let rest = (next.0 - house.clock.now().0) / 1_000_000;
    assert!((1..=60).contains(&rest), "the next search in {rest} s");
}
