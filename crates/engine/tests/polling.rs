//! When the authority is searched for changes: often after something was sent, ever more rarely
//! afterwards, and also in the middle of a long queue.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use client::Changes;
use exchange::{Processing, Release};
use futures::FutureExt as _;
use house::{House, news};
use journal::Journal;
use journal::simulation::{Memory, Seam};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn the_longer_nothing_changes_the_rarer_are_the_searches() {
    let house = House::new();
    house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let mut hour = async || {
        let before = house.authority.questions.load(Ordering::SeqCst);
        for _ in 0..720 {
            worker.turn(&mut held, &cancel).await.unwrap();
            house.clock.pass(5);
        }
        house.authority.questions.load(Ordering::SeqCst) - before
    };
    let first = hour().await;
    assert!((30..=80).contains(&first), "{first} searches in the first hour");
    assert!((11..=13).contains(&hour().await), "every five minutes in the second");
    // Something is sent: news of it is near.
    house.import("ours", 2);
    let again = hour().await;
    assert!((first - 5..=first + 5).contains(&again), "{again} searches in the hour after");
}

/// By a clock that was set back the report was accepted tomorrow: its age counts from when that was
/// first seen, whatever happens to other reports meanwhile.
#[tokio::test]
async fn a_clock_set_back_makes_no_storm_of_searches() {
    let house = House::new();
    house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.clock.set(-86_400);
    for second in 0..3600 {
        if second % 10 == 0 {
            house.import("elsewhere", 100 + second);
        }
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(1);
    }
    let searches = house.authority.questions.load(Ordering::SeqCst);
    assert!((30..=80).contains(&searches), "{searches} searches in an hour");
}

#[tokio::test]
async fn what_is_in_progress_elsewhere_is_not_searched_for_here() {
    let house = House::new();
    house.import("elsewhere", 1);
    house.worker_of("elsewhere", "one").once().await.unwrap();
    assert_eq!(house.sent(), 1);
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.import("ours", 2);
    let before = house.authority.questions.load(Ordering::SeqCst);
    let (worker, mut held, cancel) = (house.worker("two"), None, CancellationToken::new());
    for _ in 0..60 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    assert_eq!(house.sent(), 2);
    // One in doubt is asked for by its identifier.
    assert_eq!(house.authority.questions.load(Ordering::SeqCst), before);
}

/// A disk that takes everything at once, without a thread of its own: while one is waited for,
/// simulated time runs.
struct Disk;

impl Seam for Disk {
    fn before(&self) -> bool {
        true
    }
    fn after(&self) -> bool {
        true
    }
    fn later(&self, hand_over: Box<dyn FnOnce() + Send>) {
        hand_over();
    }
}

const QUEUE: u64 = 60;

/// Sends a queue to an authority that takes five seconds for each of three at a time; gives in how
/// many rounds, and with how many searches.
async fn send_a_long_queue(release: Release) -> (u32, u32) {
    let mut house = House::on(Journal::simulated(&Memory::new().unwrap(), Arc::new(Disk)));
    house.release = release;
    house.authority.before_answer =
        Some(Arc::new(|_| tokio::time::sleep(Duration::from_secs(5)).boxed()));
    for number in 1..=QUEUE {
        house.import("ours", number);
    }
    let clock = house.clock.clone();
    let ticking = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            clock.pass(1);
        }
    });
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let mut rounds = 0;
    while house.sent() < usize::try_from(QUEUE).unwrap() {
        worker.turn(&mut held, &cancel).await.unwrap();
        rounds += 1;
    }
    ticking.abort();
    (rounds, house.authority.questions.load(Ordering::SeqCst))
}

#[tokio::test(start_paused = true)]
async fn news_does_not_wait_for_the_end_of_a_long_queue() {
    let (rounds, searches) = send_a_long_queue(Release::default()).await;
    assert!((8..=14).contains(&searches), "{searches} searches in a hundred seconds");
    assert!(rounds <= 14, "{rounds} rounds: the queue is not held up for more");
}

#[tokio::test(start_paused = true)]
async fn a_release_without_search_is_sent_a_queue_without_a_pause() {
    assert_eq!(send_a_long_queue(Release::R1_0_0Trialuse).await, (1, 0));
}

/// Requests of two hours in which nothing changes, and those of the search that then brings so many
/// changes, with so many open reports: searches, reads by id, searches by identifier.
async fn asked(open: u64, changed: u64) -> ([usize; 3], [usize; 3]) {
    let mut house = House::on(Journal::simulated(&Memory::new().unwrap(), Arc::new(Disk)));
    house.timing.in_flight_max = 64;
    for number in 1..=open {
        house.import("ours", number);
    }
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    while house.sent() < usize::try_from(open).unwrap() {
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    let so_far = || {
        let searches = usize::try_from(house.authority.questions.load(Ordering::SeqCst)).unwrap();
        let reads = house.authority.read.lock().unwrap().len();
        [searches, reads, house.authority.asked_for.lock().unwrap().len()]
    };
    let since = |before: [usize; 3]| {
        let now = so_far();
        [0, 1, 2].map(|kind| now[kind] - before[kind])
    };
    let before = so_far();
    for _ in 0..1_440 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    let (quiet, before) = (since(before), so_far());
    let mut changes = Changes::default();
    for number in 1..=changed {
        let one = news(&format!("r-{number}"), Processing::Completed, Vec::new());
        changes.answers.extend(one.answers);
        changes.evidence.extend(one.evidence);
    }
    *house.authority.changes.lock().unwrap() = changes;
    let searched = house.authority.questions.load(Ordering::SeqCst);
    while house.authority.questions.load(Ordering::SeqCst) == searched {
        house.clock.pass(5);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    let still = house.journal.open_reports().unwrap().len();
    assert_eq!(still, usize::try_from(open - changed).unwrap(), "all changes were learned");
    (quiet, since(before))
}

/// One search tells of all open reports, however many there are: what it costs is the pages that
/// hold the changes (`client`, `changes_follow_the_links_as_given`). Beside it each is read by its
/// id ever more rarely, four times in two hours, whether anything changes or not.
#[tokio::test]
async fn many_open_reports_cost_no_more_searches_than_few() {
    let ((few, of_few), (many, of_many)) = (asked(20, 10).await, asked(500, 250).await);
    assert_eq!((few[0], few[2]), (many[0], many[2]), "searches, and questions by identifier");
    assert_eq!((of_few, of_many), ([1, 0, 0], [1, 0, 0]), "all news in one search");
    assert_eq!((few[1], many[1]), (4 * 20, 4 * 500), "reads by id");
}
