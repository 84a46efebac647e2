//! What people had decided since the backup that takes the journal's place, and what takes the
//! place of what.

use std::fs;

use crate::common::{House, accepted, at, key, nowhere, report};
use journal::{Imported, Journal, NewSubmission, Reconciled, Sibling, Unless, recover, restore};
use report::{Event, State};

use super::laboratory::{person, record};
use super::restored::found;

/// What people had stopped, withdrawn or settled since the backup was made they decide again.
#[test]
fn what_people_had_decided_is_not_sent_after_a_restore() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let [stopped, withdrawn, received, waits] = [1, 2, 3, 4].map(|n| house.import(n));
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let reason = || "wrong export".to_owned();
    house.record(stopped, Event::HeldBack);
    house.record(withdrawn, Event::Withdrawn { reason: reason() });
    house.record(received, Event::SendingStarted { since: at(60) });
    house.record(received, Event::Doubted { since: at(60), due: at(61), why: "cut".to_owned() });
    house.record(received, Event::SaidReceived { reason: reason() });
    let path = house.path();
    let _folder = house.leave();
    let restored = restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    assert_eq!(restored.doubted, 1);
    let journal = Journal::open(&path, &key()).unwrap();
    for id in [stopped, withdrawn, received] {
        assert_eq!(journal.state(id).unwrap().code(), "held");
        let codes = journal.detail(id).unwrap().messages.into_iter().map(|it| it.code);
        assert_eq!(codes.collect::<Vec<_>>(), ["decided-before-restore"]);
    }
    assert_eq!(journal.state(waits).unwrap().code(), "unknown");
    // Who releases one all the same has it asked for first.
    record(&journal, stopped, Event::Released { reason: "ok".to_owned(), due: at(500) });
    assert_eq!(journal.state(stopped).unwrap().code(), "unknown");
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// The same of what was on its way, in doubt, or waiting for a comparison when the backup was made.
#[test]
fn what_people_had_decided_of_what_may_have_left_is_not_sent_after_a_restore() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let [sending, withdrawn, received, stopped, waits] = [1, 2, 3, 4, 5].map(|n| house.import(n));
    let doubted = || Event::Doubted { since: at(40), due: at(41), why: "cut".to_owned() };
    for id in [sending, withdrawn, received, stopped, waits] {
        house.record(id, Event::SendingStarted { since: at(40) });
    }
    for id in [withdrawn, received, stopped, waits] {
        house.record(id, doubted());
    }
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let reason = || "hotline".to_owned();
    house.record(sending, doubted());
    for id in [sending, received] {
        house.record(id, Event::SaidReceived { reason: reason() });
    }
    for id in [withdrawn, stopped] {
        house.record(id, Event::SaidNotReceived { reason: reason(), due: at(61) });
    }
    house.record(withdrawn, Event::Withdrawn { reason: reason() });
    house.record(stopped, Event::HeldBack);
    let path = house.path();
    let _folder = house.leave();
    let restored = restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    assert_eq!(restored.doubted, 1);
    let journal = Journal::open(&path, &key()).unwrap();
    for id in [sending, withdrawn, received, stopped] {
        assert_eq!(journal.state(id).unwrap().code(), "held", "{id:?}");
        let codes = journal.detail(id).unwrap().messages.into_iter().map(|it| it.code);
        assert_eq!(codes.collect::<Vec<_>>(), ["decided-before-restore"]);
    }
    assert_eq!(journal.state(waits).unwrap().code(), "unknown");
    // What the authority shows of one counts, and who releases one has it asked for first.
    let accepted = Event::Accepted { receipt: "r".to_owned(), since: at(41), due: at(500) };
    record(&journal, received, accepted);
    record(&journal, stopped, Event::Released { reason: "ok".to_owned(), due: at(500) });
    let codes = [received, stopped].map(|id| journal.state(id).unwrap().code());
    assert_eq!(codes, ["in-progress", "unknown"]);
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// What was on hold when the backup was made, and was released and completed since, may be at the
/// authority: it is not closed by its correction before that was asked, whether or not the damaged
/// journal can still be read.
#[test]
fn what_was_released_since_the_backup_is_not_closed_by_its_correction() {
    for is_readable in [true, false] {
        let house = House::new();
        let backups = house.folder.path().join("backups");
        let id = house.import(1);
        house.record(id, Event::HeldBack);
        let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        house.record(id, Event::Released { reason: "ok".to_owned(), due: at(60) });
        house.complete(id, "r-1");
        let path = house.path();
        let folder = house.leave();
        if !is_readable {
            for name in ["journal.db", "journal.db-wal", "journal.db-shm", "journal.db-register"] {
                let _ = fs::remove_file(folder.path().join(name));
            }
        }
        restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        assert_eq!(journal.state(id).unwrap(), State::Held { attempt: u32::from(is_readable) });
        let codes = journal.detail(id).unwrap().messages.into_iter().map(|it| it.code);
        let codes: Vec<_> = codes.collect();
        assert_eq!(codes.contains(&"decided-before-restore".to_owned()), is_readable);
        let right = NewSubmission { corrects: Some(id), ..report(2) };
        journal.import(right).unwrap();
        assert_eq!(journal.state(id).unwrap().code(), "held", "readable: {is_readable}");
        assert_eq!(journal.restored_since(id).unwrap(), Some(at(100)));
        assert_eq!(journal.verify().unwrap().problems, []);
    }
}

/// Where an endpoint wants the document's identifier, a correction has that of what it corrects:
/// what the authority shows after a restore is the one that may have left before, and never the
/// correction that came since.
#[test]
fn what_is_shown_after_a_restore_is_what_may_have_left_before() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let id = house.import(1);
    house.record(id, Event::HeldBack);
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let identifier = house.journal.row(id).unwrap().identifier;
    let path = house.path();
    let folder = house.leave();
    fs::remove_file(folder.path().join("journal.db")).unwrap();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let newer = NewSubmission { identifier: identifier.clone(), ..report(2) };
    let newer = journal.import(NewSubmission { corrects: Some(id), ..newer }).unwrap();
    let before = journal.state(newer).unwrap();
    let shown = journal.reconcile(found(&identifier, "r-1")).unwrap();
    assert_eq!(shown, Reconciled::Doubted(id));
    assert_eq!(journal.state(newer).unwrap(), before);
}

/// A report that waits for the comparison is corrected by the wrong file, which is withdrawn: a
/// person decides about the first one, and it does not go by itself.
#[test]
fn what_waits_for_the_comparison_and_was_corrected_does_not_go_by_itself() {
    for decided_first in [false, true] {
        let house = House::new();
        let lost = house.import(1);
        let identifier = house.journal.row(lost).unwrap().identifier;
        let path = house.path();
        let folder = house.leave();
        fs::write(&path, "").unwrap();
        recover(&path, &key(), &folder.path().join("none"), &nowhere, at(100)).unwrap().unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        let id = journal.import(report(2)).unwrap();
        // What was lost comes again, and everything before it may have been sent before.
        let again = journal.import(report(1)).unwrap();
        assert_eq!(journal.row(again).unwrap().identifier, identifier);
        assert!(journal.restored_since(id).unwrap().is_some());
        assert!(journal.goes_by_itself(id).unwrap());
        let wrong = journal.import(NewSubmission { corrects: Some(id), ..report(3) }).unwrap();
        if decided_first {
            journal.decide_guarded(id, None, &person(), at(500)).unwrap();
        }
        record(&journal, wrong, Event::Withdrawn { reason: "wrong file".to_owned() });
        journal.decide_guarded(id, None, &person(), at(501)).unwrap();
        assert_eq!(journal.state(id).unwrap().code(), "held");
        let codes = journal.detail(id).unwrap().messages.into_iter().map(|it| it.code);
        assert_eq!(codes.collect::<Vec<_>>(), ["correction-withdrawn"]);
    }
}

/// A person had released a report that waits for a comparison, and has withdrawn it since: it is
/// not let go by itself.
#[test]
fn a_release_that_was_taken_back_is_not_known_again_after_a_restore() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let before = house.journal.back_up_into(&backups, at(20)).unwrap().file;
    let path = house.path();
    let folder = house.leave();
    fs::remove_file(folder.path().join("journal.db-register")).unwrap();
    restore(&before, &key(), &path, &nowhere, at(30)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let taken = |n| {
        let imported = journal.import_unless_async(report(n), Unless::Known).wait().unwrap();
        let Imported::New(id) = imported else { panic!("{imported:?}") };
        assert_eq!(journal.state(id).unwrap().code(), "held");
        id
    };
    let (withdrawn, waits) = (taken(1), taken(2));
    let backup = journal.back_up_into(&backups, at(50)).unwrap().file;
    record(&journal, withdrawn, Event::Withdrawn { reason: "wrong export".to_owned() });
    journal.close();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    for id in [withdrawn, waits] {
        journal.decide_guarded(id, None, &person(), at(501)).unwrap();
    }
    let codes = [withdrawn, waits].map(|id| journal.state(id).unwrap().code());
    assert_eq!(codes, ["withdrawn", "unknown"]);
}

/// A report that waits for a comparison in the backup was let go by that, and a person has stopped
/// it since: it does not go by itself after a second restore of that backup.
#[test]
fn a_stop_of_what_went_by_itself_is_known_again_after_a_restore() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let before = house.journal.back_up_into(&backups, at(20)).unwrap().file;
    let path = house.path();
    let folder = house.leave();
    fs::remove_file(folder.path().join("journal.db-register")).unwrap();
    restore(&before, &key(), &path, &nowhere, at(30)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let [stopped, waits] = [1, 2].map(|n| {
        let imported = journal.import_unless_async(report(n), Unless::Known).wait().unwrap();
        let Imported::New(id) = imported else { panic!("{imported:?}") };
        assert!(journal.goes_by_itself(id).unwrap());
        id
    });
    let backup = journal.back_up_into(&backups, at(50)).unwrap().file;
    journal.decide_guarded(stopped, None, &person(), at(60)).unwrap();
    record(&journal, stopped, Event::HeldBack);
    journal.close();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let told = journal.detail(stopped).unwrap().messages.into_iter().map(|it| it.code);
    assert!(told.collect::<Vec<_>>().contains(&"decided-before-restore".to_owned()));
    for id in [stopped, waits] {
        journal.decide_guarded(id, None, &person(), at(501)).unwrap();
    }
    let codes = [stopped, waits].map(|id| journal.state(id).unwrap().code());
    assert_eq!(codes, ["held", "unknown"]);
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// A correction and what it was to replace were both withdrawn since the backup: neither is open
/// again.
#[test]
fn what_was_withdrawn_after_its_correction_was_is_not_open_after_a_restore() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let wrong = house.import(1);
    house.reject(wrong, "no");
    let correct = |id, n| {
        let other = NewSubmission { corrects: Some(id), first: Event::Held, ..report(n) };
        house.journal.import(other).unwrap()
    };
    let other = correct(wrong, 2);
    let last = correct(other, 3);
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    for id in [last, other, wrong] {
        house.record(id, Event::Withdrawn { reason: "not notifiable".to_owned() });
    }
    let path = house.path();
    let _folder = house.leave();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let codes = [wrong, other, last].map(|id| journal.state(id).unwrap().code());
    assert_eq!(codes, ["withdrawn"; 3]);
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// A correction was completed. A first restore of a backup of before it finds it without its
/// content, and in that life what it replaces is open. A second restore of a backup of after it
/// knows that it has taken that place.
#[test]
fn what_a_completed_correction_has_replaced_is_not_open_after_a_second_restore() {
    for sent_since in [false, true] {
        let house = House::new();
        let backups = house.folder.path().join("backups");
        let wrong = house.import(1);
        house.record(wrong, Event::HeldBack);
        let before = house.journal.back_up_into(&backups, at(20)).unwrap().file;
        let right = NewSubmission { corrects: Some(wrong), ..report(2) };
        let right = house.journal.import(right).unwrap();
        house.complete(right, "r-2");
        let identifier = house.journal.row(right).unwrap().identifier;
        let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        let path = house.path();
        let _folder = house.leave();
        fs::remove_file(&path).unwrap();
        restore(&before, &key(), &path, &nowhere, at(100)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        let shown = journal.reconcile(found(&identifier, "r-2")).unwrap();
        assert!(matches!(shown, Reconciled::Added(_)), "{shown:?}");
        assert_eq!(journal.state(wrong).unwrap().code(), "held");
        if sent_since {
            let (reason, due) = (|| "ok".to_owned(), at(120));
            record(&journal, wrong, Event::Released { reason: reason(), due });
            record(&journal, wrong, Event::SaidNotReceived { reason: reason(), due });
            record(&journal, wrong, Event::SendingStarted { since: at(121) });
            record(&journal, wrong, accepted("r-1"));
        }
        journal.close();
        restore(&backup, &key(), &path, &nowhere, at(200)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        match sent_since {
            false => assert_eq!(journal.state(wrong).unwrap(), State::Superseded { by: right }),
            true => assert_eq!(journal.state(wrong).unwrap().code(), "held", "people are told"),
        }
        assert_eq!(journal.verify().unwrap().problems, []);
    }
}

/// What waited for a person when the backup was made, and was corrected since: its correction is
/// read back and still takes its place, so that neither the wrong version nor a second correction
/// goes out beside it.
#[test]
fn a_correction_that_is_read_back_takes_the_place_of_what_it_corrects() {
    for wrong in ["held", "rejected", "failed"] {
        let house = House::new();
        let backups = house.folder.path().join("backups");
        let id = house.import(1);
        let first = match wrong {
            "held" => Event::HeldBack,
            _ => Event::SendingStarted { since: at(40) },
        };
        record(&house.journal, id, first);
        match wrong {
            "rejected" => record(&house.journal, id, Event::Rejected),
            "failed" => record(&house.journal, id, Event::Failed { receipt: "r-1".to_owned() }),
            _ => {}
        }
        let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        let right = NewSubmission { corrects: Some(id), ..report(2) };
        let right = house.journal.import(right).unwrap();
        house.complete(right, "r-2");
        assert_eq!(house.journal.state(id).unwrap().code(), "superseded");
        let path = house.path();
        let _folder = house.leave();
        let restored = restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
        assert_eq!(restored.salvaged, 1);
        let journal = Journal::open(&path, &key()).unwrap();
        let row = journal.row(id).unwrap();
        assert_eq!((row.state.code(), row.replacement), (wrong, Some(right)), "it waits");
        let codes = journal.detail(id).unwrap().messages.into_iter().map(|it| it.code);
        assert!(codes.collect::<Vec<_>>().contains(&"decided-before-restore".to_owned()));
        let second = NewSubmission { corrects: Some(id), ..report(3) };
        assert!(journal.import(second).is_err(), "one correction waits already");
        assert_eq!(journal.row(right).unwrap().corrects, Some(id));
        // The authority had the correction. Until it shows it again, whoever looks at it is told
        // so.
        assert_eq!(journal.state(right).unwrap(), State::Held { attempt: 1 });
        let told = journal.detail(right).unwrap().messages;
        assert!(told.iter().any(|it| it.code == "accepted-before-restore"));
    }
}

/// What waited for a person when the backup was made, and was withdrawn since.
#[test]
fn what_was_withdrawn_while_it_waited_for_a_person_stays_withdrawn_after_a_restore() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let [held, failed, waits] = [1, 2, 3].map(|n| house.import(n));
    house.record(held, Event::HeldBack);
    house.record(waits, Event::HeldBack);
    house.record(failed, Event::SendingStarted { since: at(40) });
    record(&house.journal, failed, Event::Failed { receipt: "r-1".to_owned() });
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    for id in [held, failed] {
        house.record(id, Event::Withdrawn { reason: "not notifiable".to_owned() });
    }
    let path = house.path();
    let _folder = house.leave();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let codes = [held, failed, waits].map(|id| journal.state(id).unwrap().code());
    assert_eq!(codes, ["withdrawn", "withdrawn", "held"]);
    assert!(journal.detail(waits).unwrap().messages.is_empty());
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// What was taken in after the backup, and was settled by a person's word: the authority has it.
#[test]
fn what_was_said_to_be_received_is_read_back_so() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let id = house.import(1);
    house.record(id, Event::SendingStarted { since: at(60) });
    house.record(id, Event::Doubted { since: at(60), due: at(61), why: "cut".to_owned() });
    house.record(id, Event::SaidReceived { reason: "hotline".to_owned() });
    let path = house.path();
    let _folder = house.leave();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    assert_eq!(journal.state(id).unwrap(), State::Withdrawn { received: true });
}

/// A correction was on hold when the backup was made, and was withdrawn since: what it was to
/// replace is open again, as it was.
#[test]
fn what_was_open_again_since_the_backup_is_open_after_a_restore() {
    for stopped in [true, false] {
        let house = House::new();
        let backups = house.folder.path().join("backups");
        let wrong = house.import(1);
        house.record(wrong, Event::SendingStarted { since: at(40) });
        record(&house.journal, wrong, Event::Failed { receipt: "r-1".to_owned() });
        let other = NewSubmission { corrects: Some(wrong), ..report(2) };
        let other = house.journal.import(other).unwrap();
        if stopped {
            house.record(other, Event::HeldBack);
        }
        let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        house.record(other, Event::Withdrawn { reason: "wrong file".to_owned() });
        let path = house.path();
        let _folder = house.leave();
        restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        assert_eq!(journal.state(wrong).unwrap().code(), "held");
        assert!(!journal.detail(wrong).unwrap().messages.is_empty(), "a person is told");
        let other = journal.state(other).unwrap().code();
        assert_eq!(other, if stopped { "withdrawn" } else { "held" });
    }
}

/// One identifier for several reports, as where an endpoint wants the document's: what was decided
/// about one of them is not taken for the others, and a correction is linked to none but its own.
#[test]
fn what_was_decided_about_another_report_of_one_identifier_says_nothing() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let shared = |n, corrects| {
        let identifier = "urn:uuid:of-the-document".to_owned();
        house.journal.import(NewSubmission { identifier, corrects, ..report(n) }).unwrap()
    };
    let [held, wrong] = [1, 2].map(|n| shared(n, None));
    for id in [held, wrong] {
        house.record(id, Event::HeldBack);
    }
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let other = shared(3, None);
    house.record(other, Event::HeldBack);
    let right = shared(4, Some(wrong));
    house.record(other, Event::Withdrawn { reason: "not notifiable".to_owned() });
    let path = house.path();
    let _folder = house.leave();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    assert_eq!(journal.state(held).unwrap().code(), "held");
    assert!(journal.detail(held).unwrap().messages.is_empty(), "nobody has decided about it");
    let row = journal.row(wrong).unwrap();
    assert_eq!(journal.row(right).unwrap().corrects, Some(wrong));
    assert_eq!(row.replacement, Some(right));
}

/// In progress when the backup was made, failed since, and corrected. Whichever the authority tells
/// first, nobody is told to correct it once more.
#[test]
fn what_fails_after_its_correction_has_arrived_is_superseded() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let wrong = house.import(1);
    house.record(wrong, Event::SendingStarted { since: at(40) });
    house.record(wrong, accepted("r-1"));
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    record(&house.journal, wrong, Event::Failed { receipt: "r-1".to_owned() });
    let right = NewSubmission { corrects: Some(wrong), ..report(2) };
    let right = house.journal.import(right).unwrap();
    house.complete(right, "r-2");
    let path = house.path();
    let _folder = house.leave();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    assert_eq!(journal.state(wrong).unwrap().code(), "in-progress");
    record(&journal, right, Event::Released { reason: "found".to_owned(), due: at(110) });
    record(&journal, right, Event::Completed { receipt: "r-2".to_owned() });
    record(&journal, wrong, Event::Failed { receipt: "r-1".to_owned() });
    assert_eq!(journal.state(wrong).unwrap(), State::Superseded { by: right });
}

/// The journal is gone, and with it a correction that went out under the identifier of what it
/// corrects: what the authority shows under it is not taken for the older one.
#[test]
fn what_is_lost_may_be_what_the_authority_shows_under_a_shared_identifier() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let identifier = || "urn:uuid:of-the-document".to_owned();
    let [held, queued] = [1, 2].map(|n| {
        let identifier = if n == 1 { identifier() } else { "urn:uuid:other".to_owned() };
        house.journal.import(NewSubmission { identifier, ..report(n) }).unwrap()
    });
    house.record(held, Event::HeldBack);
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let right = NewSubmission { identifier: identifier(), corrects: Some(held), ..report(3) };
    house.journal.import(right).unwrap();
    let other = NewSubmission { identifier: "urn:uuid:other".to_owned(), ..report(4) };
    house.journal.import(other).unwrap();
    let path = house.path();
    let _folder = house.leave();
    fs::remove_file(&path).unwrap();
    let restored = restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    assert_eq!(restored.lost, 2);
    let journal = Journal::open(&path, &key()).unwrap();
    let shown = journal.reconcile(found(&identifier(), "r-2")).unwrap();
    assert_eq!((shown, journal.state(held).unwrap().code()), (Reconciled::Known, "held"));
    // Nor may whoever asks for what is in doubt take it.
    let siblings = journal.siblings(queued).unwrap();
    assert!(matches!(siblings[..], [Sibling { id: None, may_be_delivered: true, .. }]));
}

/// A report got another number in a journal that had lost it: what was decided there is known by
/// its identifier.
#[test]
fn what_was_decided_under_another_number_is_not_sent_after_a_restore() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let before = house.journal.back_up_into(&backups, at(20)).unwrap().file;
    let (other, withdrawn) = (house.import(1), house.import(2));
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let path = house.path();
    let _folder = house.leave();
    fs::remove_file(&path).unwrap();
    restore(&before, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let again = journal.import_unless_async(report(2), Unless::Known).wait().unwrap();
    let Imported::New(again) = again else { panic!("{again:?}") };
    assert!(again != withdrawn, "it is in doubt, under the identifier of before");
    let reason = || "hotline".to_owned();
    record(&journal, again, Event::SaidNotReceived { reason: reason(), due: at(110) });
    record(&journal, again, Event::Withdrawn { reason: reason() });
    journal.close();
    restore(&backup, &key(), &path, &nowhere, at(200)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let codes = [other, withdrawn].map(|id| journal.state(id).unwrap().code());
    assert_eq!(codes, ["unknown", "held"]);
}
