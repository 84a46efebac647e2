//! The preflight: before its first report a worker sends a question, to see who answers.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::atomic::Ordering;

use client::{Evidence, Fault, Why};
use engine::ConnectionState;
use house::House;
use tokio_util::sync::CancellationToken;

fn answered(why: Why) -> Fault {
    let evidence = Some(Box::new(Evidence { status: 503, ..Evidence::default() }));
    Fault::Transient { why, retry_after: None, evidence }
}

/// One turn with a report to send, to whoever opens the door like this.
async fn preflight(fault: Option<Fault>) -> House {
    let house = House::new();
    *house.authority.preflight_fault.lock().unwrap() = fault;
    house.import("ours", 1);
    house.worker("one").turn(&mut None, &CancellationToken::new()).await.unwrap();
    house
}

/// A redirect, a sign-in page, a proxy that asks for a password: no byte of a report goes there,
/// and a person must see to it.
#[tokio::test]
async fn an_intermediary_gets_no_report() {
    let intermediaries =
        [Why::Redirect { status: 302 }, Why::ProxyAuthentication, Why::Html { status: 200 }];
    for why in intermediaries {
        let house = preflight(Some(answered(why.clone()))).await;
        assert_eq!(house.sent(), 0, "{why:?}");
        let shown = house.connection.borrow().state.clone();
        assert!(matches!(shown, ConnectionState::Locked(_)), "{why:?}: {shown:?}");
    }
}

/// Nobody is there: nothing is sent, and it is tried again by itself.
#[tokio::test]
async fn without_an_answer_nothing_is_sent() {
    let fault = Fault::Transient { why: Why::ConnectRefused, retry_after: None, evidence: None };
    let house = preflight(Some(fault)).await;
    assert_eq!(house.sent(), 0);
    let shown = house.connection.borrow().state.clone();
    assert!(matches!(shown, ConnectionState::Unreachable(_)), "{shown:?}");
    assert!(house.journal.watermark("ours").unwrap().is_none());
}

/// It answers, whatever it says to the question: what it thinks of reports is its answer to a
/// report.
#[tokio::test]
async fn an_authority_that_does_not_tell_what_it_can_is_one() {
    for fault in [None, Some(answered(Why::Unavailable { status: 503 }))] {
        assert_eq!(preflight(fault).await.sent(), 1);
    }
}

#[tokio::test]
async fn one_preflight_is_enough() {
    let house = House::new();
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let preflights = || house.authority.preflights.load(Ordering::SeqCst);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(preflights(), 0, "nothing is to be sent");
    for number in 1..=5 {
        house.import("ours", number);
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    assert_eq!((preflights(), house.sent()), (1, 5));
    // Nobody there: once more at each probe, and not before.
    let fault = Fault::Transient { why: Why::ConnectRefused, retry_after: None, evidence: None };
    *house.authority.preflight_fault.lock().unwrap() = Some(fault);
    let again = house.worker("two");
    house.import("ours", 6);
    house.clock.pass(60);
    let mut held = None;
    for _ in 0..60 {
        again.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(1);
    }
    assert_eq!(house.sent(), 5);
    assert!((2..=6).contains(&preflights()), "{} in a minute", preflights());
}
