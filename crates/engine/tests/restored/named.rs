//! An endpoint that wants the document's identifier: each version goes out under the same one, and
//! what the authority shows under it may be any of them.

use engine::Clock as _;
use journal::Journal;
use report::{Event, Person, SubmissionId};

use super::{begun, home, later, now, of_the_other, stored, work};
use crate::laboratory::Laboratory;

fn named(lab: &mut Laboratory, journal: &Journal, number: u64, first: Event) -> SubmissionId {
    journal.import(lab.version(number, "document-7", first)).unwrap()
}

/// A version is in the backup; a newer one was sent since, and the disk has died with the register.
async fn after_a_newer_one(lab: &mut Laboratory, journal: Journal) -> Journal {
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let second = now(lab);
    named(lab, &journal, 8, second);
    let worker = lab.worker(&journal);
    lab.turn(&worker).await;
    drop(worker);
    assert_eq!(stored(lab).len(), 2);
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    journal
}

/// Envelopes named as their document. The backup holds a version that waits, the newer one was
/// sent since, and the disk dies with the register.
#[tokio::test]
async fn what_is_named_as_its_document_is_not_taken_for_another_version() {
    let (mut lab, journal) = begun().await;
    let first = later(&lab);
    let first = named(&mut lab, &journal, 7, first);
    let journal = after_a_newer_one(&mut lab, journal).await;
    work(&mut lab, &journal, 10).await;
    let taken_for = journal.state(first).unwrap().code();
    let again = now(&lab);
    named(&mut lab, &journal, 8, again);
    work(&mut lab, &journal, 10).await;
    assert_eq!(stored(&lab).len(), 2, "the newer one once; the older one is {taken_for}");
    assert!(!matches!(taken_for, "in-progress" | "completed"), "{taken_for}");
}

/// The same on hold in the backup.
#[tokio::test]
async fn what_is_on_hold_and_named_as_its_document_is_not_taken_for_another_version() {
    let (mut lab, journal) = begun().await;
    let first = named(&mut lab, &journal, 7, Event::Held);
    let journal = after_a_newer_one(&mut lab, journal).await;
    work(&mut lab, &journal, 10).await;
    assert_eq!(journal.state(first).unwrap().code(), "held");
}

/// A copy; the other one sends the newer version.
#[tokio::test]
async fn in_a_copy_what_is_named_as_its_document_is_not_taken_for_another_version() {
    let (mut lab, journal) = begun().await;
    let by = Person("labcourier".to_owned());
    journal.settle_on(&|_| home("one"), &by, lab.clock.now()).unwrap();
    let first = later(&lab);
    let first = named(&mut lab, &journal, 7, first);
    journal.settle_on(&|_| home("two"), &by, lab.clock.now()).unwrap();
    of_the_other(&lab, "document-7");
    work(&mut lab, &journal, 10).await;
    assert_ne!(journal.state(first).unwrap().code(), "completed");
}
