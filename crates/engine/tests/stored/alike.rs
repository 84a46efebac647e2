//! An endpoint that wants the document's identifier: several versions have one identifier, and what
//! the authority shows under it is told of the version that it surely is, or of none.

use std::sync::atomic::Ordering;

use engine::{Clock as _, Worker};
use exchange::{IdentifierChoice, Processing};
use report::{Group, SubmissionId};

use super::lagging::pass;
use super::waiting::turn;
use crate::house::{House, Willing};

const ONE: &str = "urn:uuid:00000000-0000-4000-8000-0000000000a1";

fn house() -> House {
    let mut house = House::new();
    house.identifier = IdentifierChoice::Document;
    house
}

/// A version is sent. `lost`: nothing answers.
async fn version(house: &House, worker: &Worker<Willing>, number: u64, lost: bool) -> SubmissionId {
    house.authority.doubt.store(lost, Ordering::SeqCst);
    let id = house.import_as("ours", number, ONE.to_owned());
    turn(worker).await;
    house.authority.doubt.store(false, Ordering::SeqCst);
    let code = house.journal.state(id).unwrap().code();
    assert_eq!(code, if lost { "unknown" } else { "in-progress" });
    id
}

/// The search shows another delivery, received so many seconds ago; all are completed.
fn shows(house: &House, receipts: &[&str], ago: i64) {
    let now = house.authority.evidence().server_date.unwrap();
    house.authority.dates.lock().unwrap().insert("r-7".to_owned(), Some(now.plus_seconds(-ago)));
    let receipts = receipts.iter().copied().map(str::to_owned).collect();
    *house.authority.finds.lock().unwrap() = receipts;
    *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
}

fn state(house: &House, id: SubmissionId) -> (&'static str, Group, Option<String>) {
    let state = house.journal.state(id).unwrap();
    let receipt = house.journal.row(id).unwrap().receipt;
    (state.code(), state.group(house.clock.now()), receipt)
}

/// The request of a version is cut off and does not arrive. A newer one goes meanwhile, and a
/// gateway repeats that one's request: what is shown of it twice is not told of the older one.
#[tokio::test]
async fn a_repeated_request_of_a_newer_version_is_not_told_of_the_older_one() {
    for ago in [0, 5, 300] {
        let house = house();
        let worker = house.worker("one");
        let older = version(&house, &worker, 1, true).await;
        house.clock.pass(20);
        let newer = version(&house, &worker, 2, false).await;
        house.clock.pass(ago);
        shows(&house, &["r-2", "r-7"], ago);
        for _ in 0..3 {
            pass(&house, &worker, 3_600).await;
        }
        assert_eq!(state(&house, newer).0, "completed", "{ago}");
        let expected = ("unknown", Group::NeedsAttention, None);
        assert_eq!(state(&house, older), expected, "{ago} s ago");
    }
}

/// An older version was accepted, and a gateway has repeated its request; that of the newer one is
/// cut off and does not arrive.
#[tokio::test]
async fn a_repeated_request_of_an_older_version_is_not_told_of_the_newer_one() {
    let house = house();
    let worker = house.worker("one");
    version(&house, &worker, 1, false).await;
    house.clock.pass(600);
    let newer = version(&house, &worker, 2, true).await;
    shows(&house, &["r-1", "r-7"], 590);
    for _ in 0..3 {
        pass(&house, &worker, 3_600).await;
    }
    assert_eq!(state(&house, newer), ("unknown", Group::NeedsAttention, None));
}

/// The authority has received it while the request of one version was under way, and that of no
/// other: it is told of that one, whichever is the older, and however wrong our clock is.
#[tokio::test]
async fn what_was_received_during_the_request_of_one_version_is_told_of_that_one() {
    for is_older in [true, false] {
        let house = house();
        house.clock.set(-7_200);
        let worker = house.worker("one");
        let (doubted, received) = if is_older {
            let doubted = version(&house, &worker, 1, true).await;
            house.clock.pass(120);
            version(&house, &worker, 2, false).await;
            (doubted, 120)
        } else {
            version(&house, &worker, 1, false).await;
            house.clock.pass(120);
            (version(&house, &worker, 2, true).await, 0)
        };
        let accepted = if is_older { "r-2" } else { "r-1" };
        shows(&house, &[accepted, "r-7"], received);
        pass(&house, &worker, 600).await;
        let told = state(&house, doubted);
        assert_eq!((told.0, told.2.as_deref()), ("completed", Some("r-7")), "older: {is_older}");
    }
}
