//! After a restore: what comes back, and what the authority shows of it.

use std::fs;

use crate::common::{answer, at, key, report};
use journal::{Base, FoundReport, Imported, Reconciled, restore};
use report::Event;
use testkit::Figures;

use super::laboratory::{Laboratory, image, person, record};

/// A person restores a backup over a journal that is fine: what is newer comes back in doubt.
#[test]
fn a_restored_backup_sends_nothing_twice() {
    let image = image();
    let mut figures = Figures::start("damage", "a_restored_backup_sends_nothing_twice");
    for file in ["journal.db", "journal.db-wal", ""] {
        let mut laboratory = Laboratory::new(&image);
        if !file.is_empty() {
            fs::remove_file(laboratory.folder.path().join(file)).unwrap();
        }
        let backup = journal::list_backups(&laboratory.backups()).unwrap().remove(0).file;
        let restored = restore(&backup, &key(), &laboratory.path(), at(100)).unwrap();
        assert!(restored.doubted >= 4, "{restored:?}");
        if file.is_empty() {
            assert_eq!((restored.salvaged, restored.lost), (6, 0), "the old journal is fine");
        }
        laboratory.go_through(&mut figures, &format!("restored without {file}"));
    }
    figures.finish();
}

/// Nothing is left but the register. A lost report is handed over again and held this time; a person releases it. It
/// may have been sent before, so it is asked for.
#[test]
fn a_lost_report_that_is_held_and_released_is_in_doubt() {
    let image = image();
    let laboratory = Laboratory::new(&image);
    fs::write(laboratory.path(), "").unwrap();
    fs::remove_file(laboratory.beside("-wal")).unwrap();
    fs::remove_dir_all(laboratory.backups()).unwrap();
    let (journal, recovery) = laboratory.open(100);
    assert!(matches!(recovery.unwrap().base, Base::Nothing));
    let released = |n: i64| {
        let mut new = report(n);
        new.identifier = format!("urn:uuid:handed-over-again-{n}");
        new.first = Event::Held;
        let imported = journal.import_if_new_async(new).wait().unwrap();
        let Imported::New(id) = imported else { panic!("{imported:?}") };
        record(&journal, id, Event::Released { reason: "ok".to_owned(), due: at(500) });
        journal.state(id).unwrap().code()
    };
    assert_eq!(released(2), "unknown");
    assert_eq!(released(10), "unknown");
    assert_eq!(released(77), "queued", "nobody took it in before");
}

/// An answer that comes for what the restore believed not to have been sent.
#[test]
fn what_the_authority_shows_is_taken_in_once() {
    let image = image();
    let laboratory = Laboratory::new(&image);
    fs::write(laboratory.path(), "").unwrap();
    let (journal, recovery) = laboratory.open(100);
    assert!(matches!(recovery.unwrap().base, Base::Backup(_)));
    let found = |identifier: &str, receipt: &str| FoundReport {
        identifier: identifier.to_owned(),
        endpoint: "practice".to_owned(),
        event: Event::Completed { receipt: receipt.to_owned() },
        issues: Vec::new(),
        evidence: answer("<DocumentReference/>"),
        by: person(),
        at: at(200),
    };
    let Reconciled::Added(id) = journal.reconcile(found("urn:uuid:elsewhere", "e-1")).unwrap()
    else {
        panic!("not added");
    };
    assert_eq!(journal.state(id).unwrap().code(), "completed");
    assert_eq!(journal.row(id).unwrap().receipt.as_deref(), Some("e-1"));
    assert!(journal.row(id).unwrap().erased.is_some());
    assert!(journal.document(id).is_err());
    assert_eq!(journal.reconcile(found("urn:uuid:elsewhere", "e-1")).unwrap(), Reconciled::Known);
    // What is not sent yet, as far as this journal knows, is asked for before it is.
    let mut new = report(60);
    new.identifier = "urn:uuid:queued".to_owned();
    let queued = journal.import(new.clone()).unwrap();
    let seen = journal.reconcile(found("urn:uuid:queued", "e-3")).unwrap();
    assert_eq!(
        (seen, journal.state(queued).unwrap().code()),
        (Reconciled::Doubted(queued), "unknown")
    );
    let seen = journal.reconcile(found("urn:uuid:queued", "e-3")).unwrap();
    assert_eq!(seen, Reconciled::Known, "in doubt already");
    let mut nonsense = found("urn:uuid:x", "e-2");
    nonsense.event = Event::Rejected;
    assert!(journal.reconcile(nonsense).is_err());
    assert_eq!(journal.verify().unwrap().problems, []);
}
