//! A disk that refuses one write and is well again: whatever write it was, the worker goes on by
//! itself, and nothing is forgotten or thrown into doubt that need not be.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use engine::{ConnectionState, JournalRefusal};
use futures::FutureExt as _;
use house::House;
use journal::Journal;
use journal::simulation::{Memory, Seam};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Refuses one write: the one at which the count arrives at zero.
struct Disk {
    left: AtomicI64,
    /// The write is done all the same, and only said to have failed.
    lies: bool,
    refused: Notify,
}

impl Disk {
    fn new(lies: bool) -> Arc<Self> {
        Arc::new(Self { left: AtomicI64::new(-1), lies, refused: Notify::new() })
    }

    /// The n-th write from now on is refused, from 1.
    fn refuse(&self, n: i64) {
        self.left.store(n, Ordering::SeqCst);
    }

    fn has_refused(&self) -> bool {
        self.left.load(Ordering::SeqCst) <= 0
    }

    fn takes(&self, now: bool) -> bool {
        if !now {
            return true;
        }
        let taken = self.left.fetch_sub(1, Ordering::SeqCst) != 1;
        if !taken {
            self.refused.notify_one();
        }
        taken
    }
}

impl Seam for Disk {
    fn before(&self) -> bool {
        self.takes(!self.lies)
    }
    fn after(&self) -> bool {
        self.takes(self.lies)
    }
    fn later(&self, hand_over: Box<dyn FnOnce() + Send>) {
        hand_over();
    }
}

fn house(disk: &Arc<Disk>) -> House {
    House::on(Journal::simulated(&Memory::new().unwrap(), disk.clone()))
}

/// Two reports are under way; what the first was told cannot be written. The second is on its way
/// to the authority: a request that is broken off would be a doubt of ten minutes.
#[tokio::test]
async fn a_write_that_fails_for_one_report_breaks_off_no_other() {
    let disk = Disk::new(false);
    let mut house = house(&disk);
    let (first, second) = (house.import("ours", 1), house.import("ours", 2));
    let its = disk.clone();
    house.authority.before_answer = Some(Arc::new(move |place| {
        let disk = its.clone();
        async move {
            if place == 0 {
                disk.refuse(1);
            } else {
                disk.refused.notified().await;
                tokio::task::yield_now().await;
            }
        }
        .boxed()
    }));
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    assert!(worker.turn(&mut held, &cancel).await.is_err(), "the journal failed, and it says so");
    let shown = house.connection.borrow().state.clone();
    assert_eq!(shown, ConnectionState::JournalUnavailable(JournalRefusal::Unavailable));
    assert_eq!(house.sent(), 2);
    assert_eq!(house.journal.state(second).unwrap().code(), "in-progress");
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(house.journal.state(first).unwrap().code(), "unknown", "it is asked for");
    assert_eq!(house.sent(), 2);
}

/// A process died with a report in "sending", and another one waits. Whichever write of its
/// successor the disk refuses: the first is asked for, the second is sent once, and searches begin
/// where they should.
#[tokio::test]
async fn whichever_write_is_refused_once_nothing_is_forgotten() {
    let mut refused = 0;
    for (n, lies) in (1..=40).flat_map(|n| [(n, false), (n, true)]) {
        let disk = Disk::new(lies);
        let mut house = house(&disk);
        let first = house.import("ours", 1);
        let begun = Arc::new(Notify::new());
        let tell = begun.clone();
        house.authority.before_answer = Some(Arc::new(move |place| {
            let tell = tell.clone();
            async move {
                if place == 0 {
                    tell.notify_one();
                    std::future::pending::<()>().await;
                }
            }
            .boxed()
        }));
        let cancel = CancellationToken::new();
        let (dead, mut its) = (house.worker("dead"), None);
        tokio::select! {
            _ = dead.turn(&mut its, &cancel) => unreachable!("it waits for an answer"),
            () = begun.notified() => {}
        }
        house.clock.pass(60);
        let second = house.import("ours", 2);
        disk.refuse(n);
        let (heir, mut held) = (house.worker("heir"), None);
        // A lease that was given and called refused runs out first.
        for _ in 0..12 {
            // The disk's error is the one that is expected here; what follows from it is asserted
            // below.
            let _ = heir.turn(&mut held, &cancel).await;
            house.clock.pass(5);
        }
        let state = |id| house.journal.state(id).unwrap();
        let what = format!("write {n}, done all the same: {lies}");
        assert_eq!(state(first).code(), "unknown", "{what}");
        // "Sending" was written and called refused: not sent, and no one can know that any more.
        let unsure = lies && house.sent() == 1;
        assert!(unsure || house.sent() == 2, "{what}");
        let code = state(second).code();
        assert!(code == "unknown" || (code == "in-progress" && !unsure), "{what}: {code}");
        assert!(house.journal.watermark("ours").unwrap().is_some(), "{what}");
        refused += u64::from(disk.has_refused());
    }
    assert!(refused > 10, "only {refused} writes were refused: the test must reach all of them");
    assert!(refused < 80, "the count must go beyond the last write");
}

/// The first report of a new laboratory: whichever write is refused, searches begin at the
/// authority's time.
#[tokio::test]
async fn the_first_watermark_is_set_whichever_write_is_refused() {
    for (n, lies) in (1..=12).flat_map(|n| [(n, false), (n, true)]) {
        let disk = Disk::new(lies);
        let house = house(&disk);
        let id = house.import("ours", 1);
        disk.refuse(n);
        let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
        for _ in 0..12 {
            // The disk's error is the one that is expected here.
            let _ = worker.turn(&mut held, &cancel).await;
            house.clock.pass(5);
        }
        assert!(house.journal.watermark("ours").unwrap().is_some(), "write {n}, lies: {lies}");
        assert_ne!(house.journal.state(id).unwrap().code(), "sending", "write {n}, lies: {lies}");
    }
}

/// The disk takes so long over the n-th write that a lease runs out meanwhile.
struct Slow {
    left: AtomicI64,
    clock: std::sync::OnceLock<Arc<house::Hands>>,
}

impl Seam for Slow {
    fn before(&self) -> bool {
        true
    }
    fn after(&self) -> bool {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1
            && let Some(clock) = self.clock.get()
        {
            clock.pass(30);
        }
        true
    }
    fn later(&self, hand_over: Box<dyn FnOnce() + Send>) {
        hand_over();
    }
}

/// Between "sending" on disk and the request its lease has just run out: another process may have
/// taken the report over, and nothing is sent.
#[tokio::test]
async fn nothing_is_sent_once_the_lease_has_run_out() {
    let mut held_back = 0;
    for n in 1..=8 {
        let disk = Arc::new(Slow { left: AtomicI64::new(-1), clock: std::sync::OnceLock::new() });
        let house = House::on(Journal::simulated(&Memory::new().unwrap(), disk.clone()));
        let id = house.import("ours", 1);
        assert!(disk.clock.set(house.clock.clone()).is_ok());
        disk.left.store(n, Ordering::SeqCst);
        let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
        worker.turn(&mut held, &cancel).await.unwrap();
        let events = house.journal.detail(id).unwrap().timeline;
        let deferred =
            |entry: &&journal::Entry| matches!(entry.event, report::Event::Deferred { .. });
        held_back += events.iter().filter(deferred).count();
        for _ in 0..4 {
            house.clock.pass(5);
            worker.turn(&mut held, &cancel).await.unwrap();
        }
        assert_eq!(house.sent(), 1, "write {n}");
    }
    assert_eq!(held_back, 1, "at the one write between the look and the request");
}
