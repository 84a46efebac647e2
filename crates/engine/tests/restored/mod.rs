//! What a restore or a copying of the profile has forgotten, beside newer versions of one document,
//! words of people and answers that come late.

mod added;
mod forgotten;
mod former;
mod limited;
mod named;
mod patient;
mod silent;
mod slow;

use engine::{Clock as _, decide_guarded};
use exchange::Processing;
use journal::{Home, Journal, NewSubmission, Step, restore};
use report::{Event, Person, SubmissionId};

use crate::laboratory::disk::remove;
use crate::laboratory::limit::refused;
use crate::laboratory::{Laboratory, MINUTE, Stored, key, nowhere};
use crate::version;

fn stored(lab: &Laboratory) -> Vec<String> {
    let service = lab.authority.service.lock().unwrap();
    service.stored.iter().map(|it| it.identifier.clone()).collect()
}

/// One look of the program: it compares until that is complete, an hour after the restore at the
/// earliest, and decides about what waits after that. Where it is answered with an error, it is
/// asked again at the next.
async fn look(lab: &Laboratory, journal: &Journal) {
    let Some(open) = journal.unreconciled_at("simulated", lab.clock.now()).unwrap() else {
        let _ = decide_guarded(&lab.tools(journal)).await;
        return;
    };
    let is_late = open.restored.plus_seconds(3_600) <= lab.clock.now();
    let found = engine::compare(&lab.tools(journal), open).await;
    if is_late && found.is_ok_and(|found| found.complete) {
        journal.set_reconciled_at("simulated").unwrap();
        journal.set_reconciled().unwrap();
    }
}

async fn work(lab: &mut Laboratory, journal: &Journal, times: u32) {
    let worker = lab.worker(journal);
    for _ in 0..times {
        look(lab, journal).await;
        for _ in 0..6 {
            lab.turn(&worker).await;
        }
    }
}

async fn until_sent(lab: &mut Laboratory, journal: &Journal) {
    for _ in 0..30 {
        if stored(lab).len() < 2 {
            work(lab, journal, 1).await;
        }
    }
}

fn word(lab: &Laboratory, journal: &Journal, id: SubmissionId, event: Event) -> bool {
    let by = Person("anna".to_owned());
    journal.record(Step::new(id, event, by, lab.clock.now())).is_ok()
}

fn said(lab: &Laboratory) -> Event {
    Event::SaidNotReceived { reason: "hotline".to_owned(), due: lab.clock.now() }
}

fn released(lab: &Laboratory) -> Event {
    Event::Released { reason: "ok".to_owned(), due: lab.clock.now() }
}

/// The other copy of the profile sends a newer version.
fn of_the_other(lab: &Laboratory, identifier: &str) {
    let (at, identifier) = (lab.clock.now(), identifier.to_owned());
    let mut service = lab.authority.service.lock().unwrap();
    service.documents.insert(identifier.clone(), "document-7".to_owned());
    service.stored.push(Stored {
        receipt: "r-other".to_owned(),
        certificate: 0,
        identifier,
        accepted: at,
        visible: at,
        finished: at,
        outcome: Processing::Completed,
    });
}

fn home(name: &str) -> Option<Home> {
    Some(Home { computer: Some(name.to_owned()), file: Some("1".to_owned()) })
}

async fn begun() -> (Laboratory, Journal) {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over(&journal, 1);
    lab.settle(&journal).await;
    (lab, journal)
}

fn later(lab: &Laboratory) -> Event {
    Event::Queued { due: lab.clock.now().plus_seconds(3_600) }
}

fn now(lab: &Laboratory) -> Event {
    Event::Queued { due: lab.clock.now() }
}

/// A report waits for the comparison in the backup, where it was asked for long before. Its
/// correction left a moment before the disk died again.
#[tokio::test]
async fn a_second_restore_waits_anew() {
    second_restore(true).await;
}

/// The control: it was not asked for before the backup.
#[tokio::test]
async fn a_second_restore_waits() {
    second_restore(false).await;
}

async fn second_restore(asked: bool) {
    let (mut lab, journal) = begun().await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    let first = now(&lab);
    let first = version(&mut lab, &journal, 7, first);
    if asked {
        lab.compare(&journal).await;
    }
    assert_eq!(journal.guarded("simulated").unwrap(), [first]);
    lab.pass(2 * MINUTE);
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let second = now(&lab);
    let new = lab.version(8, "urn:uuid:version-8", second);
    journal.import(NewSubmission { corrects: Some(first), ..new }).unwrap();
    until_sent(&mut lab, &journal).await;
    assert_eq!(stored(&lab).len(), 2);
    let visible = lab.clock.now().plus_micros(8 * MINUTE);
    lab.authority.service.lock().unwrap().stored[1].visible = visible;
    lab.pass(MINUTE);
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    lab.compare(&journal).await;
    lab.decide(&journal).await;
    let at_once = journal.state(first).unwrap().code();
    work(&mut lab, &journal, 30).await;
    assert_eq!(stored(&lab).len(), 2, "the older one follows the newer one; at once {at_once}");
}

/// A copied profile; a person says of what waits there that it was not received, before reading
/// that the profile is a copy. The other copy sends the newer version, and is ended then.
#[tokio::test]
async fn in_a_copy_the_question_for_the_document_is_asked_after_the_other_has_ended() {
    for said_first in [false, true] {
        let (mut lab, journal) = begun().await;
        let by = Person("labcourier".to_owned());
        journal.settle_on(&|_| home("one"), &by, lab.clock.now()).unwrap();
        let first = later(&lab);
        let first = version(&mut lab, &journal, 7, first);
        journal.settle_on(&|_| home("two"), &by, lab.clock.now()).unwrap();
        if said_first {
            let event = said(&lab);
            assert!(word(&lab, &journal, first, event));
        }
        work(&mut lab, &journal, 8).await;
        // The other copy.
        of_the_other(&lab, "urn:uuid:of-the-other");
        lab.pass(MINUTE);
        journal.remove_notice("journal-copied").unwrap();
        work(&mut lab, &journal, 40).await;
        let ours = stored(&lab).contains(&journal.row(first).unwrap().identifier);
        assert!(!ours, "said first: {said_first}; it follows the newer one of the other copy");
    }
}

/// The authority refuses every question for a delivery. A person says that a report of the
/// backup was not received, and releases it once it is on hold: that is enough.
#[tokio::test]
async fn a_word_that_it_was_not_received_is_not_forgotten() {
    let (mut lab, journal) = begun().await;
    let first = later(&lab);
    let first = version(&mut lab, &journal, 7, first);
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    lab.authority.service.lock().unwrap().finds_end = Some(refused());
    work(&mut lab, &journal, 3).await;
    let event = said(&lab);
    assert!(word(&lab, &journal, first, event));
    work(&mut lab, &journal, 6).await;
    let event = released(&lab);
    assert!(word(&lab, &journal, first, event));
    work(&mut lab, &journal, 30).await;
    assert_eq!(stored(&lab).len(), 2, "a word and a release");
}

/// Every question ends with an error of the server, and deliveries are taken. A person says
/// that a report of the backup was not received, and releases it again and again.
#[tokio::test]
async fn a_person_can_release_what_a_backup_holds_where_questions_fail() {
    let (mut lab, journal) = begun().await;
    let first = later(&lab);
    let first = version(&mut lab, &journal, 7, first);
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    lab.authority.service.lock().unwrap().broken = true;
    work(&mut lab, &journal, 3).await;
    for _ in 0..6 {
        let event = said(&lab);
        word(&lab, &journal, first, event);
        work(&mut lab, &journal, 6).await;
        assert!(!journal.release_waits(first).unwrap(), "nobody is told that its release waits");
        let event = released(&lab);
        word(&lab, &journal, first, event);
        work(&mut lab, &journal, 6).await;
    }
    assert_eq!(stored(&lab).len(), 2, "a person cannot send it");
}

/// With the register at hand. The newer version is lost, and its question never answered.
#[tokio::test]
async fn an_older_version_does_not_go_beside_a_lost_newer_one() {
    let (mut lab, journal) = begun().await;
    let first = later(&lab);
    version(&mut lab, &journal, 7, first);
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let second = now(&lab);
    version(&mut lab, &journal, 8, second);
    let worker = lab.worker(&journal);
    lab.turn(&worker).await;
    drop(worker);
    assert_eq!(stored(&lab).len(), 2);
    journal.close();
    remove(&lab.path());
    let backup = &journal::list_backups(&lab.backups()).unwrap()[0].file;
    restore(backup, &key(), &lab.path(), &nowhere, lab.clock.now()).unwrap();
    let journal = Journal::open(&lab.path(), &key()).unwrap();
    journal.set_paused(false).unwrap();
    {
        let mut service = lab.authority.service.lock().unwrap();
        service.lists_nothing = true;
        service.chokes_on_delivery = Some("urn:uuid:version-8".to_owned());
    }
    work(&mut lab, &journal, 30).await;
    assert_eq!(stored(&lab).len(), 2, "the older one follows the lost one");
}

/// Dead disk; two versions in the backup, both waiting. Neither is sent twice, none waits
/// untold.
#[tokio::test]
async fn two_versions_of_a_backup_end() {
    let (mut lab, journal) = begun().await;
    let (a, b) = (later(&lab), later(&lab));
    version(&mut lab, &journal, 7, a);
    let second = version(&mut lab, &journal, 8, b);
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    work(&mut lab, &journal, 60).await;
    assert!(matches!(journal.state(second).unwrap().code(), "completed" | "failed"));
}

/// A dead disk without a register, and after thirty days a damaged journal with its register:
/// what is on hold since the first backup was never asked for.
#[tokio::test]
async fn a_later_restore_with_a_register_does_not_end_that_something_was_forgotten() {
    for again in [false, true] {
        let mut lab = Laboratory::new(1);
        let journal = Journal::create(&lab.path(), &key()).unwrap();
        let mut new = lab.submission(1, "urn:uuid:one".to_owned());
        new.canonical = Some(new.digest.clone());
        lab.authority
            .service
            .lock()
            .unwrap()
            .documents
            .insert(new.identifier.clone(), "document-1".to_owned());
        lab.taken.insert(new.identifier.clone(), new.digest.clone());
        journal.import(new).unwrap();
        lab.settle(&journal).await;
        let first = version(&mut lab, &journal, 7, Event::Held);
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        let second = now(&lab);
        version(&mut lab, &journal, 8, second);
        let worker = lab.worker(&journal);
        lab.turn(&worker).await;
        drop(worker);
        assert_eq!(stored(&lab).len(), 2);
        let mut journal = lab.on_a_new_disk(journal);
        journal.set_paused(false).unwrap();
        work(&mut lab, &journal, 10).await;
        for _ in 0..33 {
            lab.pass(24 * 60 * MINUTE);
            journal.count_guarded_time(lab.clock.now()).unwrap();
        }
        if again {
            journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
            journal.close();
            remove(&lab.path());
            let backup = journal::list_backups(&lab.backups()).unwrap()[0].file.clone();
            restore(&backup, &key(), &lab.path(), &nowhere, lab.clock.now()).unwrap();
            journal = Journal::open(&lab.path(), &key()).unwrap();
            journal.set_paused(false).unwrap();
            work(&mut lab, &journal, 10).await;
            lab.pass(120 * MINUTE);
            journal.set_reconciled().unwrap();
        }
        let event = released(&lab);
        assert!(word(&lab, &journal, first, event));
        work(&mut lab, &journal, 30).await;
        let known = journal.detail(first).unwrap().messages.len();
        assert_eq!((stored(&lab).len(), known > 0), (2, true), "restored again: {again}");
    }
}

/// A person might decide in the backup, because nothing could be asked there. Since the restore
/// nobody has asked, and could.
#[tokio::test]
async fn what_was_asked_in_vain_before_a_restore_is_asked_anew() {
    let (mut lab, journal) = begun().await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    let first = now(&lab);
    let first = version(&mut lab, &journal, 7, first);
    lab.authority.service.lock().unwrap().by_delivery = true;
    for _ in 0..3 {
        lab.compare(&journal).await;
        lab.pass(11 * MINUTE);
    }
    assert!(!journal.release_waits(first).unwrap());
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let second = now(&lab);
    let new = lab.version(8, "urn:uuid:version-8", second);
    journal.import(NewSubmission { corrects: Some(first), ..new }).unwrap();
    lab.authority.service.lock().unwrap().by_delivery = false;
    until_sent(&mut lab, &journal).await;
    assert_eq!(stored(&lab).len(), 2);
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    let waits = journal.release_waits(first).unwrap();
    let event = released(&lab);
    assert!(word(&lab, &journal, first, event));
    work(&mut lab, &journal, 30).await;
    assert_eq!(stored(&lab).len(), 2, "the release waited for a question: {waits}");
}

/// The control: of one without a document identifier a person's word counts.
#[tokio::test]
async fn a_word_counts_where_questions_fail() {
    let (mut lab, journal) = begun().await;
    let mut new = lab.submission(7, "urn:uuid:version-7".to_owned());
    new.summary.identifier = None;
    new.first = later(&lab);
    lab.taken.insert(new.identifier.clone(), new.digest.clone());
    let first = journal.import(new).unwrap();
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    lab.authority.service.lock().unwrap().broken = true;
    work(&mut lab, &journal, 3).await;
    let event = said(&lab);
    assert!(word(&lab, &journal, first, event));
    work(&mut lab, &journal, 6).await;
    assert_eq!(stored(&lab).len(), 2);
}

/// What was sent just before the disk died is handed over again, where the index of the authority
/// stands still for forty minutes: less than the hour after which a doubt ends.
#[tokio::test]
async fn an_index_that_stands_still_lets_nothing_go_twice() {
    let (mut lab, journal, _) = Laboratory::after_a_dead_disk().await;
    journal.set_paused(false).unwrap();
    let visible = lab.clock.now().plus_micros(40 * MINUTE);
    lab.authority.service.lock().unwrap().stored[1].visible = visible;
    work(&mut lab, &journal, 10).await;
    assert_eq!(stored(&lab).len(), 2);
}

/// The control: the same as a doubt, of what waited in the backup.
#[tokio::test]
async fn an_index_that_stands_still_ends_no_doubt() {
    let (mut lab, journal) = begun().await;
    let first = later(&lab);
    version(&mut lab, &journal, 7, first);
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.settle(&journal).await;
    assert_eq!(stored(&lab).len(), 2);
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    let visible = lab.clock.now().plus_micros(40 * MINUTE);
    lab.authority.service.lock().unwrap().stored[1].visible = visible;
    work(&mut lab, &journal, 10).await;
    assert_eq!(stored(&lab).len(), 2);
}

/// The newer version left just before the disk died; the older one waits in the backup. Once
/// its own doubt has ended because something that was sent later is shown, the document is asked
/// for. The index stands still for that one alone.
#[tokio::test]
async fn an_older_version_waits_for_a_newer_one_that_is_shown_late() {
    for minutes in [20, 45] {
        let (mut lab, journal) = begun().await;
        let first = later(&lab);
        version(&mut lab, &journal, 7, first);
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        let second = now(&lab);
        version(&mut lab, &journal, 8, second);
        let worker = lab.worker(&journal);
        lab.turn(&worker).await;
        drop(worker);
        assert_eq!(stored(&lab).len(), 2);
        let journal = lab.on_a_new_disk(journal);
        journal.set_paused(false).unwrap();
        let visible = lab.clock.now().plus_micros(minutes * MINUTE);
        lab.authority.service.lock().unwrap().stored[1].visible = visible;
        work(&mut lab, &journal, 20).await;
        assert_eq!(stored(&lab).len(), 2, "{minutes}");
    }
}

/// The same without any word: what is taken in after a dead disk waits for the comparison when
/// the profile is copied. The other copy sends a newer version before anybody has read of it.
#[tokio::test]
async fn in_a_copy_what_waited_before_is_asked_for_after_the_other_has_ended() {
    let (mut lab, journal) = begun().await;
    let by = Person("labcourier".to_owned());
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    journal.settle_on(&|_| home("one"), &by, lab.clock.now()).unwrap();
    let first = now(&lab);
    let first = version(&mut lab, &journal, 7, first);
    journal.settle_on(&|_| home("two"), &by, lab.clock.now()).unwrap();
    work(&mut lab, &journal, 8).await;
    of_the_other(&lab, "urn:uuid:of-the-other");
    lab.pass(MINUTE);
    journal.remove_notice("journal-copied").unwrap();
    work(&mut lab, &journal, 40).await;
    let ours = stored(&lab).contains(&journal.row(first).unwrap().identifier);
    assert!(!ours, "it follows the newer one of the other copy");
}
