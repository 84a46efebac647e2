//! An endpoint that wants the document's identifier: each version goes out under the same one, and
//! what the authority shows under it may be any of them.

use engine::Clock as _;
use exchange::Processing;
use journal::{Filter, Journal, NewSubmission, list_backups, restore};
use report::{Event, Person, SubmissionId};

use super::forgotten::recovered;
use super::{begun, home, later, now, of_the_other, released, stored, word, work};
use crate::laboratory::{Laboratory, MINUTE, Stored, key, nowhere};

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

/// What became of both versions, by their contents, after a journal that cannot be read any more
/// was recovered by its register: a report that was failed, and its correction. `shown`: what the
/// authority has, in the order in which it shows them, as the number of seconds after which it was
/// received, whether it was completed, and how many seconds it was in progress. `has_older`: the
/// backup has an older version, which was rejected. `says_the_same`: the correction is the same
/// report in other bytes.
async fn told_of_both(
    [has_older, says_the_same]: [bool; 2],
    shown: &[(i64, bool, i64)],
) -> [Option<&'static str>; 2] {
    let (mut lab, journal) = begun().await;
    if has_older {
        let first = now(&lab);
        let older = named(&mut lab, &journal, 6, first);
        let since = lab.clock.now();
        assert!(word(&lab, &journal, older, Event::SendingStarted { since }));
        assert!(word(&lab, &journal, older, Event::Rejected));
    }
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.pass(MINUTE);
    let taken = lab.clock.now();
    let first = now(&lab);
    let failed = lab.version(7, "document-7", first);
    let first = journal.import(failed.clone()).unwrap();
    // As one that has failed it may be corrected; the register does not say what was decided.
    assert!(word(&lab, &journal, first, Event::SendingStarted { since: taken }));
    assert!(word(&lab, &journal, first, Event::Rejected));
    lab.pass(10 * MINUTE);
    let again = now(&lab);
    let corrects = Some(first);
    let mut correction = NewSubmission { corrects, ..lab.version(8, "document-7", again) };
    if says_the_same {
        correction.canonical.clone_from(&failed.canonical);
    }
    journal.import(correction.clone()).unwrap();
    for (number, (after, completed, takes)) in shown.iter().enumerate() {
        let outcome = if *completed { Processing::Completed } else { Processing::Failed };
        let accepted = taken.plus_seconds(*after);
        let stored = Stored {
            receipt: format!("n-{number}"),
            certificate: 0,
            identifier: "document-7".to_owned(),
            accepted,
            visible: accepted,
            finished: accepted.plus_seconds(*takes),
            outcome,
        };
        lab.authority.service.lock().unwrap().stored.push(stored);
    }
    lab.pass(30 * MINUTE);
    let journal = recovered(&lab, journal);
    journal.set_paused(true).unwrap();
    work(&mut lab, &journal, 90).await;
    [failed, correction].map(|version| {
        let filter = Filter { limit: 100, now: lab.clock.now(), ..Filter::default() };
        let rows = journal.list(&filter).unwrap();
        let row = rows.iter().find(|row| row.digest == version.digest);
        row.map(|row| row.state.code())
    })
}

/// A report that failed and its correction are both lost: nobody can tell which delivery is which.
/// A gateway may have repeated a request, a clock may have been wrong, or one of them has not left.
/// Both stay among the lost, whatever the authority shows and whether an older version is known.
#[tokio::test]
async fn what_several_lost_versions_share_is_told_of_none() {
    for shown in [
        &[(1, false, 60), (602, true, 60)][..],
        &[(602, true, 60), (1, false, 60)],
        &[(-5, false, 665), (595, true, 100_000)],
        &[(1, false, 60), (30, true, 60)],
        &[(1, false, 60), (30, false, 60), (602, true, 60)],
        &[(602, true, 60)],
        &[(1, false, 60)],
    ] {
        for case in [[false, false], [true, false], [false, true]] {
            let told = told_of_both(case, shown).await;
            assert_eq!(told, [None, None], "{shown:?}, older, the same: {case:?}");
        }
    }
}

/// What the authority says of the last report that it stored.
fn ends(lab: &Laboratory, outcome: Processing) {
    let mut service = lab.authority.service.lock().unwrap();
    let last = service.stored.last_mut().unwrap();
    (last.outcome, last.finished) = (outcome, lab.clock.now());
}

/// A version is on hold in the backup, was released since and is completed. A newer one has come
/// and not left yet when the journal cannot be read any more; it is handed over again. What the
/// authority shows is not the newer one, although nothing here says that the other one was sent.
#[tokio::test]
async fn what_a_version_on_hold_in_the_backup_became_is_not_told_of_a_newer_one() {
    let (mut lab, journal) = begun().await;
    let first = named(&mut lab, &journal, 7, Event::Held);
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    assert!(word(&lab, &journal, first, released(&lab)));
    lab.settle(&journal).await;
    assert_eq!(stored(&lab).len(), 2);
    ends(&lab, Processing::Completed);
    lab.pass(10 * MINUTE);
    let waits = later(&lab);
    let newer = lab.version(8, "document-7", waits);
    journal.import(newer.clone()).unwrap();
    let journal = recovered(&lab, journal);
    work(&mut lab, &journal, 10).await;
    let again = journal.import(NewSubmission { first: now(&lab), ..newer }).unwrap();
    work(&mut lab, &journal, 60).await;
    assert_ne!(journal.state(again).unwrap().code(), "completed");
}

/// A report has failed since the backup, and its correction waits when that backup is restored. The
/// failure is not the correction's, which has not left.
#[tokio::test]
async fn what_has_failed_since_the_backup_is_not_told_of_its_correction() {
    let (mut lab, journal) = begun().await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let at_once = now(&lab);
    let first = named(&mut lab, &journal, 7, at_once);
    let worker = lab.worker(&journal);
    lab.turn(&worker).await;
    drop(worker);
    assert_eq!(stored(&lab).len(), 2);
    ends(&lab, Processing::Failed);
    lab.settle(&journal).await;
    assert_eq!(journal.state(first).unwrap().code(), "failed");
    let waits = later(&lab);
    let correction = NewSubmission { corrects: Some(first), ..lab.version(8, "document-7", waits) };
    journal.import(correction.clone()).unwrap();
    journal.close();
    let backup = list_backups(&lab.backups()).unwrap()[0].file.clone();
    restore(&backup, &key(), &lab.path(), &nowhere, lab.clock.now()).unwrap();
    let journal = Journal::open(&lab.path(), &key()).unwrap();
    journal.set_paused(true).unwrap();
    work(&mut lab, &journal, 60).await;
    let filter = Filter { limit: 100, now: lab.clock.now(), ..Filter::default() };
    let rows = journal.list(&filter).unwrap();
    let row = rows.iter().find(|row| row.digest == correction.digest).unwrap();
    assert_eq!((row.state.code() == "failed", &row.receipt), (false, &None));
}
