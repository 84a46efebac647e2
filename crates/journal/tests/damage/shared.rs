//! A restore has lost one version of a document whose identifier others have too, as at an endpoint
//! that wants the document's: what the authority shows under it may be of any of them.

use std::fs;
use std::path::PathBuf;

use crate::common::{House, at, key, nowhere, report};
use journal::{EndpointNote, FoundReport, Journal, NewSubmission, Reconciled, restore};
use report::Event;

use super::restored::found;

const DOCUMENT: &str = "urn:uuid:of-the-document";

fn version(n: i64) -> NewSubmission {
    NewSubmission { identifier: DOCUMENT.to_owned(), ..report(n) }
}

fn back_up(house: &House) -> PathBuf {
    let backups = house.folder.path().join("backups");
    house.journal.back_up_into(&backups, at(50)).unwrap().file
}

/// A newer version comes and the journal is lost; what the authority shows then, changed later than
/// the version came.
fn shown_after_another(house: House, backup: PathBuf) -> (Reconciled, usize) {
    house.journal.import(NewSubmission { at: at(60), ..version(9) }).unwrap();
    let path = house.path();
    let _folder = house.leave();
    fs::remove_file(&path).unwrap();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let shown = FoundReport { last_updated: Some(at(70)), ..found(DOCUMENT, "r-9") };
    let became = journal.reconcile(shown).unwrap();
    (became, journal.lost_reports().unwrap().len())
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
    let house = House::new();
    for id in ["practice", "second"] {
        let (name, environment) = (id.to_owned(), "production".to_owned());
        let base = "https://one.example/fhir".to_owned();
        house.journal.note_endpoint(id, EndpointNote { name, base, environment }).unwrap();
    }
    let completed = house.journal.import(version(1)).unwrap();
    house.complete(completed, "r-1");
    let second = NewSubmission { endpoint: "second".to_owned(), ..version(2) };
    let second = house.journal.import(second).unwrap();
    house.complete(second, "r-9");
    let backup = back_up(&house);
    assert_eq!(shown_after_another(house, backup), (Reconciled::Known, 1));
}
