//! An older version that an outage has put off, and newer ones of which nobody knows whether they
//! have arrived: what goes out last is what the authority goes by.

use std::sync::atomic::Ordering;

use engine::{Clock as _, Worker};
use fhir::Issue;
use report::{Event, State, SubmissionId};

use super::lagging::{HOUR, pass};
use super::waiting::{code, correct, release, turn, version};
use super::word;
use crate::house::{House, Willing, reason};

/// An outage puts the first version off, and is over.
pub(super) async fn put_off(house: &House, worker: &Worker<Willing>) -> SubmissionId {
    house.authority.limits.store(true, Ordering::SeqCst);
    let first = version(house, 1);
    pass(house, worker, 600).await;
    house.authority.limits.store(false, Ordering::SeqCst);
    first
}

/// How the authority, or somebody before it, refuses what is stored all the same.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Refusal {
    /// A gateway, on the way back; it is to be sent again.
    OnTheWay,
    /// The same, and a person has put it on hold.
    Held,
    /// The authority, in words that are no verdict on the content.
    Rejected,
    /// A gateway, and a person has corrected it under another document identifier.
    Superseded,
}

/// A newer version that is refused in this way.
async fn refused(house: &House, worker: &Worker<Willing>, how: Refusal) -> SubmissionId {
    let newer = version(house, 2);
    let identifier = house.journal.row(newer).unwrap().identifier;
    match how {
        Refusal::Rejected => {
            house.authority.rejects.store(true, Ordering::SeqCst);
            *house.authority.reasons.lock().unwrap() =
                vec![Issue { code: "business-rule".to_owned(), ..reason() }];
        }
        _ => *house.authority.refuses_one.lock().unwrap() = Some(identifier),
    }
    let sent = house.sent();
    turn(worker).await;
    assert_eq!(house.sent(), sent + 1, "the newer one alone");
    house.authority.rejects.store(false, Ordering::SeqCst);
    *house.authority.refuses_one.lock().unwrap() = None;
    match how {
        Refusal::Held => word(house, newer, Event::HeldBack),
        Refusal::Superseded => {
            word(house, newer, Event::HeldBack);
            let next = correct(house, newer, 3);
            word(house, next, Event::HeldBack);
        }
        Refusal::OnTheWay | Refusal::Rejected => {}
    }
    newer
}

const REFUSALS: [Refusal; 4] =
    [Refusal::OnTheWay, Refusal::Held, Refusal::Rejected, Refusal::Superseded];

/// The newer version is stored, although its request was refused: the older one does not go in
/// silence, and a person who releases it then has decided.
#[tokio::test]
async fn an_older_version_does_not_follow_a_newer_one_that_was_refused_and_stored() {
    for how in REFUSALS {
        let house = House::new();
        let worker = house.worker("one");
        let first = put_off(&house, &worker).await;
        let newer = refused(&house, &worker, how).await;
        let identifier = house.journal.row(newer).unwrap().identifier;
        house.authority.accepted.lock().unwrap().push((identifier, "r-new".to_owned()));
        house.authority.shown.store(1, Ordering::SeqCst);
        let sent = house.sent();
        pass(&house, &worker, HOUR).await;
        assert_eq!((code(&house, first), house.sent()), ("held", sent), "{how:?}");
        let told = house.journal.detail(first).unwrap().messages;
        let about_it = ["newer-version-delivered", "other-version-delivered"];
        assert!(told.iter().any(|it| about_it.contains(&&*it.code)), "{how:?}");
        release(&house, first, 0);
        pass(&house, &worker, HOUR).await;
        assert_eq!(house.sent(), sent + 1, "{how:?}: who releases it has decided");
    }
}

/// The newer version was not stored. The older one waits for as long as a doubt lasts, and goes.
#[tokio::test]
async fn an_older_version_goes_where_the_newer_one_was_not_stored() {
    for how in REFUSALS {
        let house = House::new();
        let worker = house.worker("one");
        house.authority.shown.store(1, Ordering::SeqCst);
        let first = put_off(&house, &worker).await;
        refused(&house, &worker, how).await;
        let identifier = house.journal.row(first).unwrap().identifier;
        let sent = house.sent();
        house.import("ours", 9);
        pass(&house, &worker, 3 * HOUR).await;
        let since = house.authority.sent.lock().unwrap()[sent..].to_vec();
        let told = house.journal.detail(first).unwrap().messages;
        let goes = since.contains(&identifier);
        // Where the newer one goes first, a person decides about the older one.
        let is_told = code(&house, first) == "held" && !told.is_empty();
        assert!(goes || is_told, "{how:?}: {:?}", house.journal.state(first).unwrap());
    }
}

/// Of three versions the first is released beside the third, and the second arrives afterwards:
/// nobody has decided about that one.
#[tokio::test]
async fn each_newer_version_is_looked_at() {
    let house = House::new();
    let worker = house.worker("one");
    let first = put_off(&house, &worker).await;
    word(&house, first, Event::HeldBack);
    let second = version(&house, 2);
    word(&house, second, Event::HeldBack);
    let third = version(&house, 3);
    turn(&worker).await;
    assert_eq!(code(&house, third), "in-progress");
    release(&house, first, HOUR);
    release(&house, second, 0);
    pass(&house, &worker, 600).await;
    assert_eq!(code(&house, second), "in-progress");
    let now = house.clock.now();
    pass(&house, &worker, 2 * HOUR).await;
    assert_eq!(code(&house, first), "held", "{now:?}");
    let told = house.journal.detail(first).unwrap().messages;
    let both = ("submission".to_owned(), format!("{}, {}", second.0, third.0));
    assert!(told.iter().any(|it| it.params.contains(&both)));
}

/// The newer version is rejected for its content, and its correction arrives under another document
/// identifier: that one is newer too.
#[tokio::test]
async fn what_has_taken_the_place_of_a_newer_version_is_newer() {
    let house = House::new();
    let worker = house.worker("one");
    let first = put_off(&house, &worker).await;
    house.authority.rejects.store(true, Ordering::SeqCst);
    let newer = version(&house, 2);
    turn(&worker).await;
    assert_eq!(house.journal.state(newer).unwrap(), State::Rejected);
    house.authority.rejects.store(false, Ordering::SeqCst);
    let next = correct(&house, newer, 3);
    turn(&worker).await;
    assert_eq!([code(&house, newer), code(&house, next)], ["superseded", "in-progress"]);
    pass(&house, &worker, HOUR).await;
    assert_eq!(code(&house, first), "held");
    let told = house.journal.detail(first).unwrap().messages;
    let named = ("submission".to_owned(), next.0.to_string());
    assert!(told.iter().any(|it| it.params.contains(&named)));
}
