//! After a restore with the register at hand: what it forgot is recognised by what it says, not by
//! its bytes alone.

use std::fs;

use crate::common::{House, anna, answer, at, key, nowhere, raw, report};
use journal::{
    Destination, FoundReport, Imported, Journal, NewSubmission, Reconciled, Unless, recover,
};
use report::{Event, Person, SubmissionId};

/// A report as it is handed over: what it says, and in which bytes.
pub(super) fn saying(says: char, n: i64) -> NewSubmission {
    NewSubmission {
        canonical: Some(says.to_string().repeat(64)),
        summary: report::Summary {
            identifier: Some(format!("urn:uuid:document-{says}")),
            ..report::Summary::default()
        },
        environment: Some("production".to_owned()),
        identifier: format!("urn:uuid:attempt-{says}-{n}"),
        ..report(n)
    }
}

fn shown(identifier: &str, endpoint: &str, receipt: &str) -> FoundReport {
    FoundReport {
        known_as: None,
        identifier: identifier.to_owned(),
        endpoint: endpoint.to_owned(),
        event: Event::Completed { receipt: receipt.to_owned() },
        issues: Vec::new(),
        last_updated: Some(at(200)),
        evidence: answer("<DocumentReference/>"),
        by: Person("labcourier".to_owned()),
        at: at(200),
    }
}

/// The journal is gone and its register is there.
pub(super) fn recovered(house: House) -> (tempfile::TempDir, Journal) {
    let (path, backups) = (house.path(), house.folder.path().join("backups"));
    let folder = house.leave();
    fs::write(&path, "").unwrap();
    recover(&path, &key(), &backups, &nowhere, at(100)).unwrap().unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    (folder, journal)
}

pub(super) fn take(journal: &Journal, new: NewSubmission) -> Imported {
    journal.import_unless_async(new, Unless::Known).wait().unwrap()
}

pub(super) fn new(imported: Imported) -> SubmissionId {
    let Imported::New(id) = imported else { panic!("{imported:?}") };
    id
}

#[test]
fn a_lost_report_that_comes_in_other_bytes_is_asked_for_under_its_identifier() {
    let house = House::new();
    house.journal.import(saying('a', 1)).unwrap();
    let (_folder, journal) = recovered(house);
    let again = new(take(&journal, saying('a', 2)));
    assert_eq!(journal.row(again).unwrap().identifier, "urn:uuid:attempt-a-1");
    assert_eq!(journal.state(again).unwrap().code(), "unknown");
    assert_eq!(journal.lost_reports().unwrap(), []);
}

#[test]
fn a_report_that_the_authority_shows_after_a_restore_is_known_in_other_bytes() {
    let house = House::new();
    house.journal.import(saying('a', 1)).unwrap();
    let (_folder, journal) = recovered(house);
    let found = journal.reconcile(shown("urn:uuid:attempt-a-1", "practice", "r-1")).unwrap();
    let Reconciled::Added(added) = found else { panic!("{found:?}") };
    assert_eq!(take(&journal, saying('a', 2)), Imported::Known(vec![added]));
    // A correction of it is seen to be one.
    let here = Destination { endpoint: "practice", environment: Some("production") };
    let relatives = journal.of_document("urn:uuid:document-a", here).unwrap();
    assert_eq!(relatives.iter().map(|it| it.id).collect::<Vec<_>>(), [added]);
}

/// One content that was sent to two endpoints: each remembers its own attempt.
#[test]
fn a_content_that_was_lost_for_two_endpoints_is_known_at_both() {
    let house = House::new();
    let at_two = |n| {
        ["test", "real"].map(|endpoint| NewSubmission {
            endpoint: endpoint.to_owned(),
            identifier: format!("urn:uuid:attempt-{endpoint}-{n}"),
            ..saying('a', n)
        })
    };
    for one in at_two(1) {
        house.journal.import(one).unwrap();
    }
    let (_folder, journal) = recovered(house);
    for (again, bytes) in [(at_two(1), "the same bytes"), (at_two(2), "other bytes")] {
        for mut one in again {
            let first = format!("urn:uuid:attempt-{}-1", one.endpoint);
            one.identifier = format!("urn:uuid:again-{}", one.endpoint);
            match take(&journal, one) {
                Imported::New(id) => {
                    assert_eq!(bytes, "the same bytes");
                    assert_eq!(journal.row(id).unwrap().identifier, first);
                    assert_eq!(journal.state(id).unwrap().code(), "unknown");
                }
                Imported::Known(_) => assert_eq!(bytes, "other bytes"),
                Imported::Overtaken => panic!("nothing is corrected"),
            }
        }
    }
}

/// What went to the test system is not sent to production by a watched folder, also where the
/// journal that knew of it is gone.
#[test]
fn what_was_lost_for_another_endpoint_is_held_in_a_watched_folder() {
    let house = House::new();
    let to = |endpoint: &str, n| NewSubmission {
        endpoint: endpoint.to_owned(),
        identifier: format!("urn:uuid:attempt-{endpoint}-{n}"),
        ..saying('a', n)
    };
    house.journal.import(to("test", 1)).unwrap();
    let (_folder, journal) = recovered(house);
    let import = |new, unless| match journal.import_unless_async(new, unless).wait().unwrap() {
        Imported::New(id) => id,
        other => panic!("{other:?}"),
    };
    // Also in other bytes.
    let id = import(to("real", 2), Unless::KnownAnywhere);
    journal.decide_guarded(id, None, &anna(), at(50)).unwrap();
    assert_eq!(journal.state(id).unwrap().code(), "held");
    let messages = journal.detail(id).unwrap().messages;
    let told: Vec<&str> = messages.iter().map(|it| it.code.as_str()).collect();
    assert_eq!(told, ["went-elsewhere"]);
    // What a person hands over goes to the endpoint in use.
    let handed = import(to("third", 1), Unless::Known);
    journal.decide_guarded(handed, None, &anna(), at(50)).unwrap();
    assert_eq!(journal.state(handed).unwrap().code(), "queued");
    // What was lost for this very endpoint comes back and is asked for.
    let back = import(
        NewSubmission { identifier: "urn:uuid:back".to_owned(), ..to("test", 1) },
        Unless::Known,
    );
    assert_eq!(journal.state(back).unwrap().code(), "unknown");
}

/// Where an endpoint wants the document's identifier, two authorities know a report by the same
/// one.
#[test]
fn what_one_authority_shows_is_not_taken_for_a_report_to_another() {
    let house = House::new();
    let one = NewSubmission { identifier: "document".to_owned(), ..saying('a', 1) };
    let queued = house.journal.import(NewSubmission { endpoint: "test".to_owned(), ..one.clone() });
    let queued = queued.unwrap();
    let folder = house.folder.path().join("backups");
    house.journal.back_up_into(&folder, at(50)).unwrap();
    house.journal.import(NewSubmission { endpoint: "real".to_owned(), ..one }).unwrap();
    let (_folder, journal) = recovered(house);
    assert_eq!(journal.lost_reports().unwrap().len(), 1, "the one to the other endpoint");
    let found = journal.reconcile(shown("document", "real", "r-1")).unwrap();
    let Reconciled::Added(added) = found else { panic!("{found:?}") };
    assert_eq!(journal.row(added).unwrap().endpoint, "real");
    assert_eq!(journal.row(queued).unwrap().endpoint, "test");
    assert_eq!(journal.lost_reports().unwrap(), []);
}

/// A register of an older program says of its reports nothing but their bytes: what is taken in is
/// asked for first.
#[test]
fn with_a_register_of_an_older_program_everything_is_asked_for_first() {
    let house = House::new();
    house.journal.import(saying('a', 1)).unwrap();
    let register = house.folder.path().join("journal.db-register");
    let (path, backups) = (house.path(), house.folder.path().join("backups"));
    let _folder = house.leave();
    raw(&register)
        .execute_batch(
            "ALTER TABLE taken DROP COLUMN canonical; ALTER TABLE taken DROP COLUMN document;
             ALTER TABLE taken DROP COLUMN environment;",
        )
        .unwrap();
    fs::write(&path, "").unwrap();
    let recovery = recover(&path, &key(), &backups, &nowhere, at(100)).unwrap().unwrap();
    assert_eq!(recovery.lost, 1, "it is still read");
    let journal = Journal::open(&path, &key()).unwrap();
    // The same bytes are known; others may say the same, also long after everything was compared.
    let found = journal.reconcile(shown("urn:uuid:attempt-a-1", "practice", "r-1")).unwrap();
    let Reconciled::Added(added) = found else { panic!("{found:?}") };
    journal.set_reconciled().unwrap();
    assert_eq!(take(&journal, saying('a', 1)), Imported::Known(vec![added]));
    let other = new(take(&journal, NewSubmission { at: at(86_400), ..saying('a', 2) }));
    assert_eq!(journal.guarded("practice").unwrap(), [other]);
    assert_eq!(journal.state(other).unwrap().code(), "held");
}

/// A register of an older program, beside a journal that is fine, is completed at the next start.
#[test]
fn a_register_of_an_older_program_is_completed() {
    let house = House::new();
    house.journal.import(saying('a', 1)).unwrap();
    let register = house.folder.path().join("journal.db-register");
    let (path, folder) = (house.path(), house.leave());
    raw(&register)
        .execute_batch(
            "ALTER TABLE taken DROP COLUMN canonical; ALTER TABLE taken DROP COLUMN document;
             ALTER TABLE taken DROP COLUMN environment;",
        )
        .unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let (_folder, journal) = recovered(House { folder, journal });
    let again = new(take(&journal, saying('a', 2)));
    assert_eq!(journal.row(again).unwrap().identifier, "urn:uuid:attempt-a-1");
    assert_eq!(journal.state(again).unwrap().code(), "unknown");
}

/// Retention has removed a report, and the backup is older than it: it is recognised all the same.
/// What was held for longer than retention keeps anything is not forgotten either.
#[test]
fn what_retention_removed_is_recognised_after_a_restore() {
    let house = House::new();
    let done = house.journal.import(saying('a', 1)).unwrap();
    house.complete(done, "r-1");
    house.journal.import(NewSubmission { first: Event::Held, ..saying('b', 2) }).unwrap();
    let rule = journal::Retention { completed_days: Some(7), closed_days: Some(7) };
    assert_eq!(house.journal.retain(rule, at(10 * 86_400)).unwrap(), 1);
    let (path, backups) = (house.path(), house.folder.path().join("backups"));
    let _folder = house.leave();
    fs::write(&path, "").unwrap();
    let recovery = recover(&path, &key(), &backups, &nowhere, at(11 * 86_400)).unwrap().unwrap();
    assert_eq!(recovery.lost, 2);
    let journal = Journal::open(&path, &key()).unwrap();
    for (says, n) in [('a', 3), ('b', 4)] {
        let id = new(take(&journal, saying(says, n)));
        let first = format!("urn:uuid:attempt-{says}-{}", n - 2);
        assert_eq!(journal.row(id).unwrap().identifier, first);
        assert_eq!(journal.state(id).unwrap().code(), "unknown");
    }
}

/// A program of before has forgotten by date what the register named: what it no longer names is
/// read from the old journal, and everything is asked for first.
#[test]
fn a_register_that_begins_late_is_no_proof_of_what_was_taken_in() {
    let house = House::new();
    let folder = house.folder.path().join("backups");
    house.journal.back_up_into(&folder, at(0)).unwrap();
    for (says, n) in [('a', 1), ('b', 2)] {
        house.journal.import(saying(says, n)).unwrap();
    }
    let (path, register) = (house.path(), house.folder.path().join("journal.db-register"));
    let kept = house.leave();
    raw(&register).execute_batch("DELETE FROM taken WHERE submission = 1").unwrap();
    let backup = journal::list_backups(&folder).unwrap().remove(0).file;
    let made = journal::restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    assert_eq!((made.salvaged, made.lost), (2, 0));
    let journal = Journal::open(&path, &key()).unwrap();
    journal.set_reconciled().unwrap();
    assert!(journal.is_guarded(at(86_400)).unwrap(), "others may be missing");
    drop((journal, kept));
}

/// A power cut has cost the register its end, and the journal cannot be read before it follows. The
/// backup that takes its place knows more than the register: what came after the backup is named by
/// neither, so everything is asked for first.
#[test]
fn a_register_that_ends_before_the_backup_is_no_proof_of_what_was_taken_in() {
    let house = House::new();
    let (path, register) = (house.path(), house.folder.path().join("journal.db-register"));
    house.journal.import(saying('a', 1)).unwrap();
    let ends = |table: &str, column: &str| {
        let statement = format!("SELECT max({column}) FROM {table}");
        raw(&register).query_row(&statement, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let (events, submission) = (ends("head", "events"), ends("taken", "submission"));
    house.journal.import(saying('b', 2)).unwrap();
    let backups = house.folder.path().join("backups");
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    house.journal.import(saying('c', 3)).unwrap();
    let kept = house.leave();
    let cut = format!(
        "UPDATE head SET events = {events}; DELETE FROM taken WHERE submission > {submission}"
    );
    raw(&register).execute_batch(&cut).unwrap();
    fs::remove_file(&path).unwrap();
    let made = journal::restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    assert_eq!((made.salvaged, made.lost), (0, 0));
    let journal = Journal::open(&path, &key()).unwrap();
    journal.set_reconciled().unwrap();
    assert!(journal.is_guarded(at(86_400)).unwrap(), "others may be missing");
    drop((journal, kept));
}
