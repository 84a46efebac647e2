//! A restore has lost one version of a document whose identifier others have too, as at an endpoint
//! that wants the document's: what the authority shows under it may be of any of them.

use std::fs;
use std::path::PathBuf;

use crate::common::{House, at, key, nowhere, report};
use journal::{EndpointNote, FoundReport, Journal, NewSubmission, Reconciled, restore};
use report::{Event, State};

use super::restored::found;

const DOCUMENT: &str = "urn:uuid:of-the-document";

fn version(n: i64) -> NewSubmission {
    NewSubmission { identifier: DOCUMENT.to_owned(), ..report(n) }
}

fn back_up(house: &House) -> PathBuf {
    let backups = house.folder.path().join("backups");
    house.journal.back_up_into(&backups, at(50)).unwrap().file
}

/// The journal is lost, and its backup restored.
fn restored(house: House, backup: PathBuf) -> House {
    let path = house.path();
    let folder = house.leave();
    fs::remove_file(&path).unwrap();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    House { journal: Journal::open(&path, &key()).unwrap(), folder }
}

/// What the authority shows, changed later than any of the versions came.
fn shown() -> FoundReport {
    FoundReport { last_updated: Some(at(70)), ..found(DOCUMENT, "r-9") }
}

/// A newer version comes and the journal is lost; what becomes of what the authority shows then,
/// and how many versions stay lost.
fn shown_after_another(house: House, backup: PathBuf) -> (Reconciled, usize) {
    house.journal.import(NewSubmission { at: at(60), ..version(9) }).unwrap();
    let House { journal, folder: _folder } = restored(house, backup);
    (journal.reconcile(shown()).unwrap(), journal.lost_reports().unwrap().len())
}

fn two_endpoints_to_one_authority() -> House {
    let house = House::new();
    for id in ["practice", "second"] {
        let (name, environment) = (id.to_owned(), "production".to_owned());
        let base = "https://one.example/fhir".to_owned();
        house.journal.note_endpoint(id, EndpointNote { name, base, environment }).unwrap();
    }
    house
}

/// What is on hold in the backup may have been released since: the delivery may be its.
#[test]
fn what_is_on_hold_beside_a_completed_version_may_have_left_since() {
    let house = House::new();
    house.journal.import(NewSubmission { first: Event::Held, ..version(1) }).unwrap();
    let completed = house.journal.import(version(2)).unwrap();
    house.complete(completed, "r-2");
    let backup = back_up(&house);
    assert_eq!(shown_after_another(house, backup), (Reconciled::Known, 1));
}

/// Another endpoint leads to the same authority, and what it has in progress is shown to both.
#[test]
fn what_another_endpoint_has_sent_is_not_taken_for_a_lost_version() {
    let house = two_endpoints_to_one_authority();
    let completed = house.journal.import(version(1)).unwrap();
    house.complete(completed, "r-1");
    let second = NewSubmission { endpoint: "second".to_owned(), ..version(2) };
    let second = house.journal.import(second).unwrap();
    house.complete(second, "r-9");
    let backup = back_up(&house);
    assert_eq!(shown_after_another(house, backup), (Reconciled::Known, 1));
}

/// A rejected version may have been sent again once its correction was withdrawn: the delivery may
/// be its.
#[test]
fn what_was_rejected_may_have_been_sent_again_since() {
    let house = House::new();
    let rejected = house.journal.import(version(1)).unwrap();
    house.reject(rejected, "The patient has no name.");
    let backup = back_up(&house);
    assert_eq!(shown_after_another(house, backup), (Reconciled::Known, 1));
}

/// What the other endpoint has sent releases nothing that is on hold here.
#[test]
fn what_another_endpoint_has_sent_is_not_taken_for_what_is_on_hold() {
    let house = two_endpoints_to_one_authority();
    let second = NewSubmission { endpoint: "second".to_owned(), ..version(2) };
    let second = house.journal.import(second).unwrap();
    house.complete(second, "r-9");
    let held = house.journal.import(NewSubmission { first: Event::Held, ..version(1) }).unwrap();
    let backup = back_up(&house);
    let House { journal, folder: _folder } = restored(house, backup);
    assert_eq!(journal.reconcile(shown()).unwrap(), Reconciled::Known);
    assert!(matches!(journal.state(held).unwrap(), State::Held { .. }));
}

/// A version that went by the other endpoint is lost: a delivery may be its as well as that of what
/// is on hold, or in doubt, here.
#[test]
fn what_another_endpoint_has_lost_is_not_taken_for_what_is_here() {
    for first in [Event::Held, Event::Queued { due: at(0) }] {
        let house = two_endpoints_to_one_authority();
        let here = house.journal.import(NewSubmission { first, ..version(1) }).unwrap();
        let backup = back_up(&house);
        let second = NewSubmission { endpoint: "second".to_owned(), at: at(60), ..version(9) };
        house.journal.import(second).unwrap();
        let House { journal, folder: _folder } = restored(house, backup);
        let before = journal.state(here).unwrap();
        assert_eq!(journal.reconcile(shown()).unwrap(), Reconciled::Known);
        assert_eq!(journal.state(here).unwrap(), before);
        let siblings = journal.siblings(here).unwrap();
        assert!(siblings.iter().any(|sibling| sibling.may_be_delivered), "{siblings:?}");
    }
}

/// An authority may take letters for the same in either size.
#[test]
fn what_is_on_hold_beside_a_lost_version_counts_in_any_letters() {
    let house = House::new();
    let completed = house.journal.import(version(2)).unwrap();
    house.complete(completed, "r-2");
    let large = "urn:uuid:OF-THE-DOCUMENT".to_owned();
    let held = NewSubmission { identifier: large, first: Event::Held, ..version(1) };
    house.journal.import(held).unwrap();
    let backup = back_up(&house);
    assert_eq!(shown_after_another(house, backup), (Reconciled::Known, 1));
}
