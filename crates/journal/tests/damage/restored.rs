//! After a restore: what comes back, and what the authority shows of it.

use std::fs;

use crate::common::{self, House, accepted, answer, at, filter, key, nowhere, report};
use fhir::Format;
use journal::{
    Base, FoundReport, Imported, Journal, OpenProblem, Reconciled, Unless, recover, restore,
};
use report::Event;
use testkit::Figures;

use super::laboratory::{Laboratory, image, person, record};

/// What the authority shows of a completed report.
pub(super) fn found(identifier: &str, receipt: &str) -> FoundReport {
    FoundReport {
        known_as: None,
        identifier: identifier.to_owned(),
        endpoint: "practice".to_owned(),
        event: Event::Completed { receipt: receipt.to_owned() },
        issues: Vec::new(),
        last_updated: Some(at(200)),
        evidence: answer("<DocumentReference/>"),
        by: person(),
        at: at(200),
    }
}

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
        let restored = restore(&backup, &key(), &laboratory.path(), &nowhere, at(100)).unwrap();
        assert!(restored.doubted >= 4, "{restored:?}");
        if file.is_empty() {
            assert_eq!((restored.salvaged, restored.lost), (6, 0), "the old journal is fine");
        }
        laboratory.go_through(&mut figures, &format!("restored without {file}"));
    }
    figures.finish();
}

/// Nothing is left but the register. A lost report is handed over again and held this time; a
/// person releases it. It may have been sent before, so it is asked for.
#[test]
fn a_lost_report_that_is_held_and_released_is_in_doubt() {
    let image = image();
    let laboratory = Laboratory::new(&image);
    fs::write(laboratory.path(), "").unwrap();
    fs::remove_file(laboratory.beside("-wal")).unwrap();
    fs::remove_dir_all(laboratory.backups()).unwrap();
    let (journal, recovery) = laboratory.open(100);
    assert!(matches!(recovery.unwrap().base, Base::Nothing));
    let taken = |n: i64| {
        let mut new = report(n);
        new.identifier = format!("urn:uuid:handed-over-again-{n}");
        new.first = Event::Held;
        let imported = journal.import_unless_async(new, Unless::Known).wait().unwrap();
        let Imported::New(id) = imported else { panic!("{imported:?}") };
        id
    };
    let released = |id| {
        record(&journal, id, Event::Released { reason: "ok".to_owned(), due: at(500) });
        journal.state(id).unwrap().code()
    };
    assert_eq!(released(taken(2)), "unknown");
    assert_eq!(released(taken(10)), "unknown");
    let new = taken(77);
    assert_eq!(released(new), "held", "nobody took it in before: its document is asked for");
    journal.decide_guarded(new, None, &person(), at(501)).unwrap();
    assert_eq!(journal.state(new).unwrap().code(), "queued");
}

/// A recovery that had no backup at hand, and then a person restores one: what is lost all the same
/// stays known.
#[test]
fn what_a_recovery_has_lost_is_known_after_a_restore_too() {
    let house = House::new();
    house.import(1);
    let backups = house.folder.path().join("backups");
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    house.import(2);
    house.import(3);
    let path = house.path();
    let folder = house.leave();
    fs::remove_file(&path).unwrap();
    let nowhere_else = folder.path().join("not-plugged-in");
    let recovery = recover(&path, &key(), &nowhere_else, &nowhere, at(100)).unwrap().unwrap();
    assert_eq!((recovery.base, recovery.lost), (Base::Nothing, 3));
    let restored = restore(&backup, &key(), &path, &nowhere, at(200)).unwrap();
    assert_eq!(restored.lost, 2);
    let journal = Journal::open(&path, &key()).unwrap();
    assert_eq!(journal.lost_reports().unwrap().len(), 2);
    let told: Vec<String> =
        journal.notices().unwrap().into_iter().map(|notice| notice.code).collect();
    assert_eq!(told, ["journal-from-nothing"], "nobody has read it");
}

/// A second restore before the first one was compared: what the first one had forgotten is searched
/// for all the same.
#[test]
fn a_comparison_that_is_still_owed_is_not_cut_short_by_the_next_restore() {
    for by_a_backup_of_it in [true, false] {
        let house = House::new();
        let id = house.import(1);
        let backups = house.folder.path().join("backups");
        let first = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        house.record(id, Event::SendingStarted { since: at(60) });
        let later = house.journal.back_up_into(&backups, at(70)).unwrap().file;
        let path = house.path();
        let _folder = house.leave();
        restore(&first, &key(), &path, &nowhere, at(100)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        let owed = journal.unreconciled().unwrap().unwrap();
        record(&journal, id, Event::SaidNotReceived { reason: "ok".to_owned(), due: at(201) });
        let new = journal.back_up_into(&backups, at(210)).unwrap().file;
        journal.close();
        let backup = if by_a_backup_of_it { new } else { later };
        restore(&backup, &key(), &path, &nowhere, at(300)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        let still = journal.unreconciled().unwrap().unwrap();
        assert_eq!((still.since, still.restored), (owed.since, at(300)));
    }
}

/// Sending was known to be paused or not: nobody is told any more that it is not known.
#[test]
fn a_pause_that_is_known_ends_the_notice_that_it_is_not() {
    let house = House::new();
    house.import(1);
    let backups = house.folder.path().join("backups");
    let first = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let path = house.path();
    let folder = house.leave();
    for name in ["journal.db", "journal.db-register"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    restore(&first, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    assert!(is_told(&journal));
    let told = journal.back_up_into(&backups, at(150)).unwrap().file;
    journal.set_paused(false).unwrap();
    journal.close();
    restore(&told, &key(), &path, &nowhere, at(200)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    assert!(!journal.is_paused().unwrap() && !is_told(&journal));
}

/// A person has paused sending, or resumed it, since the backup that takes the journal's place.
#[test]
fn a_pause_outlives_the_journal() {
    let image = image();
    for paused in [true, false] {
        for gone in ["journal.db", "journal.db-register", ""] {
            let laboratory = Laboratory::new(&image);
            let (path, case) = (laboratory.path(), format!("{paused}, without {gone}"));
            let journal = Journal::open(&path, &key()).unwrap();
            journal.set_paused(!paused).unwrap();
            let backup = journal.back_up_into(&laboratory.backups(), at(90)).unwrap().file;
            journal.set_paused(paused).unwrap();
            journal.close();
            if !gone.is_empty() {
                fs::write(laboratory.folder.path().join(gone), "").unwrap();
            }
            let restored = if gone == "journal.db" {
                recover(&path, &key(), &laboratory.backups(), &nowhere, at(100)).unwrap().unwrap()
            } else {
                restore(&backup, &key(), &path, &nowhere, at(100)).unwrap()
            };
            assert!(restored.doubted > 0 && restored.paused == paused, "{case}: {restored:?}");
            let journal = Journal::open(&path, &key()).unwrap();
            assert_eq!(journal.is_paused().unwrap(), paused, "{case}");
            assert!(!is_told(&journal), "{case}");
        }
    }
}

fn is_told(journal: &Journal) -> bool {
    journal.notices().unwrap().iter().any(|notice| notice.code == "pause-unknown")
}

/// Nothing says whether sending was paused when the disk died, and reports would be sent: it is,
/// until a person resumes.
#[test]
fn where_nobody_knows_whether_sending_was_paused_it_is() {
    for would_send in [true, false] {
        let house = House::new();
        let id = house.import(1);
        if !would_send {
            house.complete(id, "r-1");
        }
        let backups = house.folder.path().join("backups");
        let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        let path = house.path();
        let folder = house.leave();
        for name in ["journal.db", "journal.db-register"] {
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        assert_eq!(journal.is_paused().unwrap(), would_send);
        assert_eq!(is_told(&journal), would_send);
        journal.set_paused(false).unwrap();
        assert!(!journal.is_paused().unwrap() && !is_told(&journal), "a person has said");
    }
}

/// A clock was years ahead when a backup was made: it is not the newest for ever.
#[test]
fn a_backup_that_is_dated_ahead_comes_last() {
    let house = House::new();
    let (path, folder) = (house.path(), house.folder.path().join("backups"));
    let made = |now| house.journal.back_up_into(&folder, now).unwrap().file;
    house.import(1);
    let ahead = made(at(10 * 365 * 86_400));
    house.import(2);
    let right = made(at(1_000));
    house.import(3);
    let _folder = house.leave();
    fs::write(&path, "").unwrap();
    let _ = fs::remove_file(path.with_file_name("journal.db-wal"));
    let recovery = recover(&path, &key(), &folder, &nowhere, at(2_000)).unwrap().unwrap();
    assert_eq!(recovery.base, Base::Backup(right.clone()));
    fs::write(&path, "").unwrap();
    fs::remove_file(right).unwrap();
    let recovery = recover(&path, &key(), &folder, &nowhere, at(2_001)).unwrap().unwrap();
    assert_eq!(recovery.base, Base::Backup(ahead), "better than nothing");
}

/// A report that the authority had taken is read back from a damaged journal, and the authority has
/// forgotten it: it waits for a person and is not sent again.
#[test]
fn what_had_a_receipt_is_not_sent_again_by_itself() {
    let house = House::new();
    let path = house.path();
    let backup = house.folder.path().join("backups");
    let backup = house.journal.back_up_into(&backup, at(0)).unwrap().file;
    let ids = [1, 2, 3].map(|n| house.import(n));
    house.complete(ids[0], "r-1");
    house.record(ids[1], Event::SendingStarted { since: at(1) });
    house.record(ids[1], accepted("r-2"));
    house.record(ids[2], Event::SendingStarted { since: at(1) });
    let identifier = house.journal.row(ids[0]).unwrap().identifier;
    let _folder = house.leave();
    let restored = restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    assert_eq!((restored.salvaged, restored.lost), (3, 0));
    let journal = Journal::open(&path, &key()).unwrap();
    let codes: Vec<_> =
        journal.list(&filter()).unwrap().iter().map(|row| row.state.code()).collect();
    assert_eq!(codes, ["unknown", "held", "held"], "the newest first");
    // Shown again by the authority, it is asked for, and is what it was.
    let Reconciled::Doubted(id) = journal.reconcile(found(&identifier, "r-1")).unwrap() else {
        panic!()
    };
    assert_eq!(journal.state(id).unwrap().code(), "unknown");
}

/// An answer that comes for what the restore believed not to have been sent.
#[test]
fn what_the_authority_shows_is_taken_in_once() {
    let image = image();
    let laboratory = Laboratory::new(&image);
    fs::write(laboratory.path(), "").unwrap();
    let (journal, recovery) = laboratory.open(100);
    assert!(matches!(recovery.unwrap().base, Base::Backup(_)));
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
    // The authority was asked for its document and did not show it.
    journal.decide_guarded(queued, None, &person(), at(150)).unwrap();
    assert_eq!(journal.state(queued).unwrap().code(), "queued");
    let seen = journal.reconcile(found("urn:uuid:queued", "e-3")).unwrap();
    assert_eq!(
        (seen, journal.state(queued).unwrap().code()),
        (Reconciled::Doubted(queued), "unknown")
    );
    let seen = journal.reconcile(found("urn:uuid:queued", "e-3")).unwrap();
    assert_eq!(seen, Reconciled::Known, "in doubt already");
    // Held since: nobody may release it but a person. Held before: its release may have been
    // forgotten.
    let mut new = report(61);
    (new.identifier, new.first) = ("urn:uuid:held".to_owned(), Event::Held);
    let held = journal.import(new).unwrap();
    let seen = journal.reconcile(found("urn:uuid:held", "e-4")).unwrap();
    assert_eq!((seen, journal.state(held).unwrap().code()), (Reconciled::Known, "held"));
    // Another authority gave the same number to another report.
    let mut new = report(62);
    new.endpoint = "elsewhere".to_owned();
    let elsewhere = journal.import(new).unwrap();
    journal.decide_guarded(elsewhere, None, &person(), at(150)).unwrap();
    record(&journal, elsewhere, Event::SendingStarted { since: at(150) });
    record(&journal, elsewhere, Event::Completed { receipt: "e-5".to_owned() });
    let seen = journal.reconcile(found("urn:uuid:ours", "e-5")).unwrap();
    assert!(matches!(seen, Reconciled::Added(_)), "{seen:?}");
    let mut nonsense = found("urn:uuid:x", "e-2");
    nonsense.event = Event::Rejected;
    assert!(journal.reconcile(nonsense).is_err());
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// A person restores the backup of another computer over a journal: its numbers are other reports.
/// Those that stood there are read back, in their own format.
#[test]
fn a_backup_of_another_journal_forgets_nothing() {
    let (other, house) = (House::new(), House::new());
    for n in 1..=4 {
        other.import(n);
    }
    let backup = other.journal.back_up_into(&other.folder.path().join("backups"), at(0)).unwrap();
    let ours: Vec<String> = (11..=16)
        .map(|n| {
            let mut new = report(n);
            new.document =
                format!("<Bundle xmlns=\"http://hl7.org/fhir\"><!--{n}--></Bundle>").into();
            (new.digest, new.format) = (common::digest(&new.document), Format::Xml);
            let id = house.journal.import(new).unwrap();
            house.journal.row(id).unwrap().identifier
        })
        .collect();
    let path = house.path();
    let _folder = house.leave();
    let restored = restore(&backup.file, &key(), &path, &nowhere, at(100)).unwrap();
    assert_eq!((restored.facts.submissions, restored.salvaged, restored.lost), (4, 6, 0));
    let journal = Journal::open(&path, &key()).unwrap();
    for identifier in ours {
        let id = journal.find_by_attempt_identifier(&identifier).unwrap().unwrap();
        assert_eq!(journal.row(id).unwrap().format, Format::Xml);
        assert!(journal.document(id).unwrap().starts_with(b"<Bundle"));
    }
    journal.set_reconciled().unwrap();
    assert_eq!(journal.unreconciled().unwrap(), None);
}

/// The register that stands beside a journal is of another one: a report that it names counts as
/// lost, also where another report of the same number is read back.
#[test]
fn what_only_the_register_names_is_lost_also_beside_another_report_of_its_number() {
    let (other, house) = (House::new(), House::new());
    let backup = house.journal.back_up_into(&house.folder.path().join("backups"), at(0)).unwrap();
    for n in [1, 2] {
        house.import(n);
        other.import(10 + n);
    }
    let theirs = other.folder.path().join("journal.db-register");
    let _other = other.leave();
    let (path, folder) = (house.path(), house.leave());
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(folder.path().join(format!("journal.db-register{end}")));
    }
    fs::copy(theirs, folder.path().join("journal.db-register")).unwrap();
    let restored = restore(&backup.file, &key(), &path, &nowhere, at(100)).unwrap();
    assert_eq!((restored.salvaged, restored.lost), (2, 2));
    let journal = Journal::open(&path, &key()).unwrap();
    let mut lost: Vec<_> = journal.lost_reports().unwrap().into_iter().map(|it| it.file).collect();
    lost.sort_unstable();
    assert_eq!(lost, ["befund-11.json", "befund-12.json"]);
}

/// A content comes back under the identifier that it may have gone out with; sent again later, it
/// has one of its own.
#[test]
fn a_lost_report_comes_back_once() {
    let house = House::new();
    let id = house.import(1);
    let lost = house.journal.row(id).unwrap().identifier;
    let (path, backups) = (house.path(), house.folder.path().join("backups"));
    let _folder = house.leave();
    fs::write(&path, "").unwrap();
    let recovery = recover(&path, &key(), &backups, &nowhere, at(100)).unwrap().unwrap();
    assert_eq!((recovery.base, recovery.lost), (Base::Nothing, 1));
    let journal = Journal::open(&path, &key()).unwrap();
    let identifiers = ["urn:uuid:second", "urn:uuid:third"].map(|identifier| {
        let mut new = report(1);
        new.identifier = identifier.to_owned();
        let id = journal.import(new).unwrap();
        journal.row(id).unwrap().identifier
    });
    assert_eq!(identifiers, [lost, "urn:uuid:third".to_owned()]);
    assert_eq!(journal.lost_reports().unwrap(), []);
}

/// Nothing is there, or nothing that this key opens and no register that shows that the key is
/// right.
#[test]
fn without_a_trace_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let (path, backups) = (folder.path().join("journal.db"), folder.path().join("backups"));
    let recovered = || recover(&path, &key(), &backups, &nowhere, at(100));
    assert!(matches!(recovered(), Err(OpenProblem::Missing)));
    fs::write(&path, [7; 8192]).unwrap();
    assert!(matches!(recovered(), Err(OpenProblem::WrongKeyOrDamaged)));
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.retain(|name| name != "journal.db-lock");
    assert_eq!(names, ["journal.db"]);
}

/// An older state of the file, and the register of another journal: both are told, with how far
/// they go.
#[test]
fn what_is_older_than_its_register_is_told() {
    let house = House::new();
    house.import(1);
    let (path, register) = (house.path(), house.folder.path().join("journal.db-register"));
    let backups = house.folder.path().join("backups");
    let backup = house.journal.back_up_into(&backups, at(0)).unwrap().file;
    let folder = house.leave();
    let before = fs::read(&path).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    journal.import(report(2)).unwrap();
    journal.import(report(3)).unwrap();
    drop(journal);
    fs::write(&path, before).unwrap();
    let opened = Journal::open(&path, &key()).map(drop);
    assert!(matches!(opened, Err(OpenProblem::Outdated { found: 1, confirmed: 3 })), "{opened:?}");
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    drop(Journal::open(&path, &key()).unwrap());
    let other = House::new();
    for n in 1..=4 {
        other.import(n);
    }
    let foreign = other.folder.path().join("journal.db-register");
    let _other = other.leave();
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(folder.path().join(format!("journal.db-register{end}")));
    }
    fs::copy(foreign, register).unwrap();
    let opened = Journal::open(&path, &key()).map(drop);
    assert!(matches!(opened, Err(OpenProblem::Outdated { found: 0, confirmed: 4 })), "{opened:?}");
}
