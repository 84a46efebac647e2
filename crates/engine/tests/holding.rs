//! The lease on the queue, as a worker holds it; and one pass on a person's behalf.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::{Clock as _, ConnectionState};
use exchange::Processing;
use house::{House, news};
use journal::simulation::{Memory, Seam};
use journal::{Journal, LeaseAnswer};
use report::SubmissionId;
use tokio_util::sync::CancellationToken;

/// Counts writes.
#[derive(Default)]
struct Counted(AtomicU64);

impl Seam for Counted {
    fn before(&self) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst);
        true
    }
    fn after(&self) -> bool {
        true
    }
    fn later(&self, hand_over: Box<dyn FnOnce() + Send>) {
        hand_over();
    }
}

#[tokio::test]
async fn a_young_lease_costs_no_write_and_an_older_one_is_renewed() {
    let writes = Arc::new(Counted::default());
    let mut house = House::on(Journal::simulated(&Memory::new().unwrap(), writes.clone()));
    house.timing.lease = Duration::from_secs(32);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let count = || writes.0.load(Ordering::SeqCst);
    worker.turn(&mut held, &cancel).await.unwrap();
    let before = count();
    for _ in 0..7 {
        house.clock.pass(1);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    assert_eq!(count(), before, "nothing to do, nothing to write");
    house.clock.pass(1);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(count(), before + 1, "renewed after a quarter of its life");
    let until = house.journal.lease().unwrap().unwrap().until;
    assert_eq!(until, house.clock.now().plus_seconds(32));
}

/// Another process has taken the lease: that is no fault of the journal, and nothing is shown as
/// one.
#[tokio::test]
async fn a_lease_that_another_took_is_let_go_quietly() {
    let house = House::new();
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    let lease = held.clone().unwrap();
    house.journal.release_lease(&lease).unwrap();
    let until = house.clock.now().plus_seconds(30);
    let taken = house.journal.acquire_lease("two", house.clock.now(), until).unwrap();
    assert!(matches!(taken, LeaseAnswer::Held(_)));
    // Its first write shows it.
    house.import("ours", 1);
    assert!(worker.turn(&mut held, &cancel).await.is_err());
    let shown = || house.connection.borrow().state.clone();
    assert!(!matches!(shown(), ConnectionState::JournalUnavailable(_)), "{:?}", shown());
    let mut told = house.connection.subscribe();
    worker.turn(&mut held, &cancel).await.unwrap();
    assert!(held.is_none());
    assert_eq!(shown(), ConnectionState::Elsewhere);
    assert!(told.has_changed().unwrap());
    told.mark_unchanged();
    worker.turn(&mut held, &cancel).await.unwrap();
    assert!(!told.has_changed().unwrap(), "nothing new: whoever watches is left alone");
    assert_eq!(house.sent(), 0);
}

#[tokio::test]
async fn one_pass_says_what_it_did_and_gives_the_lease_back() {
    let house = House::new();
    house.import("ours", 1);
    house.import("ours", 2);
    assert_eq!(house.worker("one").once().await.unwrap(), Some(2));
    assert_eq!(house.worker("one").once().await.unwrap(), Some(0), "nothing is left to do");
    assert_eq!(house.sent(), 2);
    let until = house.clock.now().plus_seconds(30);
    let next = house.journal.acquire_lease("two", house.clock.now(), until).unwrap();
    assert!(matches!(next, LeaseAnswer::Held(_)), "free at once");
    assert_eq!(house.worker("one").once().await.unwrap(), None, "another works the queue");
}

/// A person who asks does not wait for the pause between two searches.
#[tokio::test]
async fn one_pass_searches_whether_or_not_the_pause_is_over() {
    let house = House::new();
    house.import("ours", 1);
    let worker = house.worker("one");
    assert_eq!(worker.once().await.unwrap(), Some(1));
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    assert_eq!(worker.once().await.unwrap(), Some(1));
    assert_eq!(house.journal.state(SubmissionId(1)).unwrap().code(), "completed");
    // What is shown again is no news.
    assert_eq!(worker.once().await.unwrap(), Some(0));
}

/// The holder died, and the clock was set back since: by the clock its lease is valid for a day.
#[tokio::test(start_paused = true)]
async fn one_pass_waits_for_a_lease_that_only_a_wrong_clock_keeps() {
    // Without a thread of its own: while one is waited for, simulated time runs away.
    let house =
        House::on(Journal::simulated(&Memory::new().unwrap(), Arc::new(Counted::default())));
    house.import("ours", 1);
    let until = house.clock.now().plus_seconds(30);
    house.journal.acquire_lease("dead", house.clock.now(), until).unwrap();
    house.clock.set(-86_400);
    let clock = house.clock.clone();
    let ticking = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            clock.pass(1);
        }
    });
    let began = tokio::time::Instant::now();
    assert_eq!(house.worker("one").once().await.unwrap(), Some(1));
    let waited = began.elapsed().as_secs();
    assert!((29..=35).contains(&waited), "{waited} s: as long as a lease lives");
    ticking.abort();
}
