//! What was sent once more since the backup, and what an earlier restore had forgotten.

use engine::Clock as _;
use journal::{Journal, NewSubmission, Unless, list_backups, recover, restore};
use report::Event;

use super::{begun, later, now, released, stored, word, work};
use crate::laboratory::disk::remove;
use crate::laboratory::{Laboratory, MINUTE, key, nowhere};
use crate::version;

/// The journal cannot be read any more; its register is there.
pub(super) fn recovered(lab: &Laboratory, journal: Journal) -> Journal {
    journal.close();
    remove(&lab.path());
    recover(&lab.path(), &key(), &lab.backups(), &nowhere, lab.clock.now()).unwrap().unwrap();
    let journal = Journal::open(&lab.path(), &key()).unwrap();
    journal.set_paused(false).unwrap();
    journal
}

/// A report waits in the backup. Since then it was withdrawn or rejected, and the same content was
/// handed over again and has arrived: it does not go twice.
#[tokio::test]
async fn one_content_under_two_attempts_goes_once_after_a_recovery() {
    for rejected in [false, true] {
        let (mut lab, journal) = begun().await;
        let waits = later(&lab);
        let first = version(&mut lab, &journal, 7, waits);
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        let at_once = now(&lab);
        let again = lab.version(7, "urn:uuid:again-7", at_once);
        if rejected {
            assert!(word(&lab, &journal, first, Event::SendingStarted { since: lab.clock.now() }));
            assert!(word(&lab, &journal, first, Event::Rejected));
            journal.import(NewSubmission { corrects: Some(first), ..again }).unwrap();
        } else {
            let slip = Event::Withdrawn { reason: "slip".to_owned() };
            assert!(word(&lab, &journal, first, slip));
            journal.import_unless_async(again, Unless::Open).wait().unwrap();
        }
        lab.settle(&journal).await;
        assert_eq!(stored(&lab).len(), 2);
        let journal = recovered(&lab, journal);
        work(&mut lab, &journal, 60).await;
        assert_eq!(stored(&lab).len(), 2, "rejected: {rejected}");
        assert_eq!(journal.state(first).unwrap().code(), "held", "a person is told");
    }
}

/// A disk died without a register, and more than thirty days later somebody restores the older
/// backup once more, over a journal that is sound: that something was forgotten once is known
/// still.
#[tokio::test]
async fn that_something_was_forgotten_outlives_a_restore_of_an_older_backup() {
    let (mut lab, journal) = begun().await;
    let first = version(&mut lab, &journal, 7, Event::Held);
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let at_once = now(&lab);
    version(&mut lab, &journal, 8, at_once);
    let worker = lab.worker(&journal);
    lab.turn(&worker).await;
    drop(worker);
    assert_eq!(stored(&lab).len(), 2);
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    lab.authority.service.lock().unwrap().lists_nothing = true;
    work(&mut lab, &journal, 10).await;
    for _ in 0..33 {
        lab.pass(24 * 60 * MINUTE);
        journal.count_guarded_time(lab.clock.now()).unwrap();
    }
    journal.set_reconciled().unwrap();
    journal.close();
    let backup = list_backups(&lab.backups()).unwrap()[0].file.clone();
    restore(&backup, &key(), &lab.path(), &nowhere, lab.clock.now()).unwrap();
    let journal = Journal::open(&lab.path(), &key()).unwrap();
    journal.set_paused(false).unwrap();
    work(&mut lab, &journal, 10).await;
    lab.pass(120 * MINUTE);
    journal.set_reconciled().unwrap();
    assert!(word(&lab, &journal, first, released(&lab)));
    work(&mut lab, &journal, 30).await;
    assert_eq!(stored(&lab).len(), 2, "the older one does not follow the forgotten newer one");
}
