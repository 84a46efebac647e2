//! An endpoint that is added only after the comparison has ended for all others; several
//! deliveries of what a restore has forgotten.

use engine::Clock as _;
use exchange::Processing;
use journal::Journal;

use crate::laboratory::{Laboratory, MINUTE, Stored, key};
use crate::restored::{begun, stored, work};

/// A disk has died, and nothing had been accepted at this endpoint before its backup. The settings
/// that go on lack the endpoint, and name another one or none: an hour after the restore the
/// program ends the comparison (`Engine::reconcile`). Then the endpoint is added, and what it had
/// sent is handed over again, to an authority that matches the identifier of the delivery alone.
#[tokio::test]
async fn what_went_by_an_endpoint_that_is_added_long_after_a_restore_does_not_go_twice() {
    for is_late in [false, true] {
        let mut lab = Laboratory::new(1);
        let journal = Journal::create(&lab.path(), &key()).unwrap();
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        lab.hand_over(&journal, 1);
        lab.settle(&journal).await;
        lab.authority.service.lock().unwrap().by_delivery = true;
        let journal = lab.on_a_new_disk(journal);
        journal.set_paused(false).unwrap();
        if is_late {
            lab.pass(70 * MINUTE);
            journal.set_reconciled().unwrap();
        }
        lab.hand_over(&journal, 1);
        work(&mut lab, &journal, 40).await;
        assert_eq!(stored(&lab).len(), 1, "sent once; added late: {is_late}");
    }
}

/// A gateway had repeated the request of a report that was sent after the backup: the authority
/// fails one delivery as the duplicate of the other, which it completes. Then the disk dies.
#[tokio::test]
async fn of_two_deliveries_that_a_restore_has_forgotten_the_completed_one_counts() {
    for first in [Processing::Completed, Processing::Failed] {
        let (mut lab, journal) = begun().await;
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        let at = lab.clock.now();
        let second = match first {
            Processing::Failed => Processing::Completed,
            _ => Processing::Failed,
        };
        for (receipt, outcome) in [("r-one", first), ("r-two", second)] {
            lab.authority.service.lock().unwrap().stored.push(Stored {
                receipt: receipt.to_owned(),
                certificate: 0,
                identifier: "urn:uuid:twice".to_owned(),
                accepted: at,
                visible: at,
                finished: at,
                outcome,
            });
        }
        let journal = lab.on_a_new_disk(journal);
        journal.set_paused(false).unwrap();
        work(&mut lab, &journal, 40).await;
        let id = journal.find_by_attempt_identifier("urn:uuid:twice").unwrap().unwrap();
        let state = journal.state(id).unwrap().code();
        assert_eq!(state, "completed", "the authority has it; told first: {first:?}");
    }
}
