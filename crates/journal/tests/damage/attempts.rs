//! One content under several attempts: of one document's identifier, or of several lives of a
//! journal.

use std::fs;
use std::path::Path;

use crate::common::{House, accepted, at, key, nowhere, report, step};
use journal::{
    Destination, FoundReport, Imported, Journal, NewSubmission, Reconciled, RecordError, Unless,
    restore,
};
use report::{Event, State, SubmissionId};

use super::laboratory::{person, record};
use super::restored::found;

const DOCUMENT: &str = "urn:uuid:of-the-document";

/// To an endpoint that wants the document's identifier: the same content once more is another
/// attempt of the same name.
fn named(n: i64, corrects: Option<SubmissionId>) -> NewSubmission {
    NewSubmission { identifier: DOCUMENT.to_owned(), corrects, ..report(n) }
}

/// A report that was rejected and sent again; before `backed_up` or after.
fn resubmitted(backed_up_before: bool) -> (tempfile::TempDir, Journal, [SubmissionId; 2]) {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let first = house.journal.import(named(1, None)).unwrap();
    house.reject(first, "no");
    let back_up = || house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let before = backed_up_before.then(back_up);
    let second = house.journal.import(named(1, Some(first))).unwrap();
    let backup = before.unwrap_or_else(back_up);
    house.complete(second, "r-2");
    let path = house.path();
    let folder = house.leave();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    (folder, Journal::open(&path, &key()).unwrap(), [first, second])
}

/// Both are in the backup: what became of the second is not told of the first.
#[test]
fn what_became_of_a_resubmission_is_not_told_of_what_it_replaced() {
    let (_folder, journal, [first, second]) = resubmitted(false);
    assert_eq!(journal.state(first).unwrap(), State::Superseded { by: second });
    assert!(!told(&journal, first).contains(&"decided-before-restore".to_owned()));
    assert_eq!(journal.state(second).unwrap().code(), "unknown", "it is asked for");
    record(&journal, second, Event::Completed { receipt: "r-2".to_owned() });
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// Only the first is in the backup: the second is read back, and the first does not go beside it.
#[test]
fn a_resubmission_is_read_back_beside_what_it_replaced() {
    let (_folder, journal, [first, _]) = resubmitted(true);
    let row = journal.row(first).unwrap();
    let second = row.replacement.expect("the resubmission waits in its place");
    assert_eq!(journal.row(second).unwrap().corrects, Some(first));
    let again = journal.import(named(1, Some(first)));
    assert!(matches!(again, Err(RecordError::BeingReplaced { by }) if by == second), "{again:?}");
    assert_eq!(journal.lost_reports().unwrap(), []);
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// The same where the journal cannot be read any more, and only its register says that there was a
/// second one.
#[test]
fn a_resubmission_that_is_lost_is_asked_for_before_the_content_goes_again() {
    for is_compared in [false, true] {
        let house = House::new();
        let backups = house.folder.path().join("backups");
        let first = house.journal.import(named(1, None)).unwrap();
        house.reject(first, "no");
        let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        let second = house.journal.import(named(1, Some(first))).unwrap();
        house.complete(second, "r-2");
        let path = house.path();
        let _folder = house.leave();
        fs::remove_file(&path).unwrap();
        let restored = restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
        assert_eq!(restored.lost, 1);
        let journal = Journal::open(&path, &key()).unwrap();
        assert_eq!(journal.state(first).unwrap(), State::Rejected);
        if is_compared {
            // The first may have gone once more, had the second been withdrawn: it is told of none.
            let shown = journal.reconcile(found(DOCUMENT, "r-2")).unwrap();
            assert_eq!(shown, Reconciled::Known);
            assert_eq!(journal.state(first).unwrap(), State::Rejected, "it is none of its");
            assert_eq!(journal.lost_reports().unwrap().len(), 1);
        }
        let again = journal.replace_async(named(1, Some(first))).wait().unwrap();
        let Imported::New(again) = again else { panic!("{again:?}") };
        assert_eq!(journal.state(again).unwrap().code(), "unknown", "it is asked for first");
    }
}

/// A gateway repeated the request of the first version long ago, and a restore has lost a newer
/// one. Under the identifier that both have the authority shows the repetition too: that is not the
/// newer version, which is asked for before it goes.
#[test]
fn a_repetition_of_an_older_version_is_not_taken_for_a_lost_newer_one() {
    for shown_at in [Some(at(30)), None] {
        let house = House::new();
        let backups = house.folder.path().join("backups");
        let first = house.journal.import(named(1, None)).unwrap();
        house.complete(first, "r-1");
        let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        house.journal.import(NewSubmission { at: at(60), ..named(2, None) }).unwrap();
        let path = house.path();
        let _folder = house.leave();
        fs::remove_file(&path).unwrap();
        restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        let repeated = FoundReport { last_updated: shown_at, ..found(DOCUMENT, "r-1-again") };
        assert_eq!(journal.reconcile(repeated).unwrap(), Reconciled::Known, "{shown_at:?}");
        assert_eq!(journal.lost_reports().unwrap().len(), 1, "it is lost still");
        let again = NewSubmission { at: at(300), ..named(2, None) };
        let again = journal.import_unless_async(again, Unless::Known).wait().unwrap();
        let Imported::New(again) = again else { panic!("{again:?}") };
        assert_eq!(journal.state(again).unwrap().code(), "unknown", "it is asked for first");
    }
}

/// The control: what the authority has changed since the newer version was taken in is that one.
#[test]
fn a_lost_newer_version_is_known_once_the_authority_shows_it() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let first = house.journal.import(named(1, None)).unwrap();
    house.complete(first, "r-1");
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    house.journal.import(NewSubmission { at: at(60), ..named(2, None) }).unwrap();
    let path = house.path();
    let _folder = house.leave();
    fs::remove_file(&path).unwrap();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let shown = FoundReport { last_updated: Some(at(60)), ..found(DOCUMENT, "r-2") };
    let shown = journal.reconcile(shown).unwrap();
    assert!(matches!(shown, Reconciled::Added(_)), "{shown:?}");
    assert_eq!(journal.lost_reports().unwrap(), []);
}

/// Two of one name and one content that were numbered otherwise in the journal that is replaced:
/// whose state is whose nobody can tell.
#[test]
fn where_nobody_can_tell_whose_a_state_is_nothing_is_sent_by_itself() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let empty = house.journal.back_up_into(&backups, at(20)).unwrap().file;
    let first = house.journal.import(named(1, None)).unwrap();
    house.reject(first, "no");
    let second = house.journal.import(named(1, Some(first))).unwrap();
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let path = house.path();
    let _folder = house.leave();
    for name in ["journal.db", "journal.db-wal", "journal.db-shm", "journal.db-register"] {
        let _ = fs::remove_file(path.with_file_name(name));
    }
    restore(&empty, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    // Others take the first numbers.
    for n in [7, 8] {
        journal.import(report(n)).unwrap();
    }
    let third = journal.import(NewSubmission { first: Event::Held, ..named(1, None) }).unwrap();
    record(&journal, third, Event::Withdrawn { reason: "not notifiable".to_owned() });
    let fourth = journal.import(NewSubmission { first: Event::Held, ..named(1, None) }).unwrap();
    record(&journal, fourth, Event::Withdrawn { reason: "not notifiable".to_owned() });
    journal.close();
    restore(&backup, &key(), &path, &nowhere, at(200)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    assert_eq!(journal.state(second).unwrap().code(), "held");
    assert!(told(&journal, second).contains(&"decided-before-restore".to_owned()));
    assert_eq!(journal.state(first).unwrap(), State::Superseded { by: second });
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// To an endpoint that wants the document's identifier: in the backup an attempt was withdrawn, and
/// in the journal that is replaced the same content was queued again, under a number of its own. It
/// is not taken for the withdrawn one.
#[test]
fn what_was_queued_again_is_not_taken_for_what_was_withdrawn() {
    for left in [Left::All, Left::Register] {
        let house = House::new();
        let backups = house.folder.path().join("backups");
        let empty = house.journal.back_up_into(&backups, at(20)).unwrap().file;
        let given_up = house.journal.import(named(1, None)).unwrap();
        record(&house.journal, given_up, Event::Withdrawn { reason: "wrong file".to_owned() });
        let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        let path = house.path();
        let _folder = house.leave();
        let journal = on_a_new_disk(&path, &empty);
        // Another takes the first number.
        journal.import(report(7)).unwrap();
        let again = journal.import(named(1, None)).unwrap();
        journal.decide_guarded(again, None, &person(), at(110)).unwrap();
        assert_eq!(journal.state(again).unwrap().code(), "queued");
        journal.close();
        leave(&path, left);
        let restored = restore(&backup, &key(), &path, &nowhere, at(200)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        assert_eq!(journal.state(given_up).unwrap(), State::Withdrawn { received: false });
        if left == Left::Register {
            assert_eq!(restored.lost, 2, "the other and what was queued again");
            continue;
        }
        let here = Destination { endpoint: "practice", environment: None };
        let all = journal.of_content(&report(1).digest, None, Some(here)).unwrap();
        let [first, back] = all[..] else { panic!("{all:?}") };
        assert_eq!(first, given_up);
        assert_eq!(journal.state(back).unwrap().code(), "unknown", "it is asked for");
        assert_eq!(journal.verify().unwrap().problems, []);
    }
}

/// The control: what was withdrawn in both is one report.
#[test]
fn what_was_withdrawn_in_both_journals_is_one_report() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let empty = house.journal.back_up_into(&backups, at(20)).unwrap().file;
    let withdrawn = |journal: &Journal| {
        let id = journal.import(named(1, None)).unwrap();
        record(journal, id, Event::Withdrawn { reason: "wrong file".to_owned() });
        id
    };
    let given_up = withdrawn(&house.journal);
    let waits = house.journal.import(named(1, None)).unwrap();
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let path = house.path();
    let _folder = house.leave();
    let journal = on_a_new_disk(&path, &empty);
    for n in [7, 8] {
        journal.import(report(n)).unwrap();
    }
    withdrawn(&journal);
    journal.import(named(1, None)).unwrap();
    journal.close();
    restore(&backup, &key(), &path, &nowhere, at(200)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let here = Destination { endpoint: "practice", environment: None };
    let all = journal.of_content(&report(1).digest, None, Some(here)).unwrap();
    assert_eq!(all, [given_up, waits], "nothing of it is read back beside them");
}

fn told(journal: &Journal, id: SubmissionId) -> Vec<String> {
    journal.detail(id).unwrap().messages.into_iter().map(|it| it.code).collect()
}

/// What became of a content in a second life of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Completed,
    Queued,
    Withdrawn,
    Received,
}

/// What is left of the second life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    All,
    Journal,
    Register,
}

/// The disk dies with journal and register: a backup takes the journal's place on another one.
fn on_a_new_disk(path: &Path, backup: &Path) -> Journal {
    for name in ["journal.db", "journal.db-wal", "journal.db-shm", "journal.db-register"] {
        let _ = fs::remove_file(path.with_file_name(name));
    }
    restore(backup, &key(), path, &nowhere, at(100)).unwrap();
    Journal::open(path, &key()).unwrap()
}

/// Takes away what is not left of a journal.
fn leave(path: &Path, left: Left) {
    match left {
        Left::All => {}
        Left::Register => fs::remove_file(path).unwrap(),
        Left::Journal => {
            for name in ["journal.db-register", "journal.db-register-wal"] {
                let _ = fs::remove_file(path.with_file_name(name));
            }
        }
    }
}

/// A content was taken in, and a backup made of it in the state that `first` leaves. The disk dies,
/// and with it the register; an older backup takes the journal's place, and the content is handed
/// over once more, under another attempt. After that life the first backup is restored. Gives the
/// journal, the first attempt and the second.
fn two_lives(
    first: impl FnOnce(&Journal, SubmissionId),
    second: Life,
    left: Left,
) -> (tempfile::TempDir, Journal, SubmissionId, Option<SubmissionId>) {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let empty = house.journal.back_up_into(&backups, at(20)).unwrap().file;
    let id = house.import(1);
    first(&house.journal, id);
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let path = house.path();
    let folder = house.leave();
    let journal = on_a_new_disk(&path, &empty);
    let new = NewSubmission { identifier: "urn:uuid:second-life".to_owned(), ..report(1) };
    let again = journal.import(new).unwrap();
    journal.decide_guarded(again, None, &person(), at(110)).unwrap();
    match second {
        Life::Queued => {}
        Life::Withdrawn => {
            record(&journal, again, Event::Withdrawn { reason: "not notifiable".to_owned() });
        }
        Life::Completed => {
            record(&journal, again, Event::SendingStarted { since: at(120) });
            record(&journal, again, accepted("r-2"));
            record(&journal, again, Event::Completed { receipt: "r-2".to_owned() });
        }
        Life::Received => {
            record(&journal, again, Event::SendingStarted { since: at(120) });
            let doubted = Event::Doubted { since: at(120), due: at(121), why: "cut".to_owned() };
            record(&journal, again, doubted);
            record(&journal, again, Event::SaidReceived { reason: "hotline".to_owned() });
        }
    }
    journal.close();
    leave(&path, left);
    restore(&backup, &key(), &path, &nowhere, at(200)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let here = Destination { endpoint: "practice", environment: None };
    let all = journal.of_content(&report(1).digest, None, Some(here)).unwrap();
    let other = all.into_iter().find(|other| *other != id);
    (folder, journal, id, other)
}

fn queued(_: &Journal, _: SubmissionId) {}

fn held(journal: &Journal, id: SubmissionId) {
    record(journal, id, Event::HeldBack);
}

fn completed(journal: &Journal, id: SubmissionId) {
    record(journal, id, Event::SendingStarted { since: at(30) });
    record(journal, id, Event::Completed { receipt: "r-1".to_owned() });
}

/// How many of them go by themselves once the authority turns out to have neither.
fn would_go(journal: &Journal, ids: &[SubmissionId]) -> usize {
    for id in ids {
        if let State::Unknown { .. } = journal.state(*id).unwrap() {
            record(journal, *id, Event::NotReceived { due: at(300) });
        }
    }
    let queued = |id: &&SubmissionId| journal.state(**id).unwrap().code() == "queued";
    ids.iter().filter(queued).count()
}

#[test]
fn a_content_of_two_lives_goes_once_at_most() {
    for life in [Life::Completed, Life::Queued, Life::Withdrawn, Life::Received] {
        for left in [Left::All, Left::Journal, Left::Register] {
            for first in [queued, held] {
                let (_folder, journal, id, other) = two_lives(first, life, left);
                let of_both: Vec<_> = [Some(id), other].into_iter().flatten().collect();
                let may_go = usize::from(left != Left::Register && life == Life::Queued);
                let what = format!("{life:?}, left: {left:?}");
                assert_eq!(would_go(&journal, &of_both), may_go, "{what}");
                assert_eq!(journal.state(id).unwrap().code(), "held", "{what}");
                let codes = told(&journal, id);
                assert!(codes.contains(&"decided-before-restore".to_owned()), "{what}: {codes:?}");
                assert_eq!(journal.verify().unwrap().problems, []);
            }
        }
    }
}

/// The second life's attempt takes the place of the first's: whoever releases the first is told
/// that it is being replaced, and what arrives closes it.
#[test]
fn the_attempt_of_the_later_life_takes_the_place_of_the_earlier() {
    for life in [Life::Completed, Life::Queued] {
        let (_folder, journal, id, other) = two_lives(queued, life, Left::All);
        let other = other.unwrap();
        assert_eq!(journal.row(id).unwrap().replacement, Some(other));
        let released = Event::Released { reason: "ok".to_owned(), due: at(300) };
        let refused = journal.record(step(id, released.clone()));
        assert!(matches!(refused, Err(RecordError::BeingReplaced { by }) if by == other));
        if life == Life::Completed {
            record(&journal, other, released);
        }
        record(&journal, other, accepted("r-2"));
        assert_eq!(journal.state(id).unwrap(), State::Superseded { by: other });
        let again = NewSubmission { identifier: "urn:uuid:third".to_owned(), ..report(1) };
        let again = journal.import_unless_async(again, Unless::Known).wait().unwrap();
        assert_eq!(again, Imported::Known(vec![id, other]));
        assert_eq!(journal.verify().unwrap().problems, []);
    }
}

/// The first life had completed it: what the second had queued waits for a person, who is told.
#[test]
fn what_the_restored_life_had_delivered_is_not_sent_under_the_attempt_of_another() {
    let (_folder, journal, id, other) = two_lives(completed, Life::Queued, Left::All);
    let other = other.unwrap();
    assert_eq!(journal.state(id).unwrap().code(), "completed");
    assert_eq!(would_go(&journal, &[id, other]), 0);
    assert_eq!(journal.state(other).unwrap(), State::Held { attempt: 1 });
    assert!(told(&journal, other).contains(&"authority-may-have-it".to_owned()));
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// What only the register knows of the second life is found at the authority: whoever holds the
/// first is told.
#[test]
fn what_is_found_of_a_content_is_told_where_that_is_on_hold() {
    let (_folder, journal, id, other) = two_lives(queued, Life::Completed, Left::Register);
    assert_eq!(other, None, "only the register knows it");
    let shown = journal.reconcile(found("urn:uuid:second-life", "r-2")).unwrap();
    assert!(matches!(shown, Reconciled::Added(_)), "{shown:?}");
    assert!(told(&journal, id).contains(&"authority-may-have-it".to_owned()));
    assert_eq!(journal.state(id).unwrap().code(), "held");
}

/// Another version of the first report, as a second life of the journal takes it in.
fn newer(corrects: Option<SubmissionId>) -> NewSubmission {
    let (new, first) = (report(2), report(1));
    let identifier = "urn:uuid:second-life".to_owned();
    NewSubmission { identifier, summary: first.summary, corrects, ..new }
}

/// A report waits in a backup. The disk dies with the register, an older backup takes the journal's
/// place, and a newer version of the document goes out. Where the first backup is restored after
/// that, the older version does not go after the newer one.
#[test]
fn an_older_version_of_another_life_does_not_go_after_the_newer_one() {
    for left in [Left::All, Left::Journal, Left::Register] {
        let house = House::new();
        let backups = house.folder.path().join("backups");
        let empty = house.journal.back_up_into(&backups, at(20)).unwrap().file;
        let old = house.import(1);
        let apart = house.import(3);
        let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        let path = house.path();
        let _folder = house.leave();
        let journal = on_a_new_disk(&path, &empty);
        let new = journal.import(newer(None)).unwrap();
        journal.decide_guarded(new, None, &person(), at(110)).unwrap();
        record(&journal, new, Event::SendingStarted { since: at(120) });
        record(&journal, new, Event::Completed { receipt: "r-2".to_owned() });
        journal.close();
        leave(&path, left);
        restore(&backup, &key(), &path, &nowhere, at(200)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        assert_eq!(would_go(&journal, &[old]), 0, "left: {left:?}");
        assert_eq!(journal.state(old).unwrap().code(), "held", "left: {left:?}");
        assert!(told(&journal, old).contains(&"decided-before-restore".to_owned()));
        assert_eq!(would_go(&journal, &[apart]), 1, "another document is none of its versions");
        assert_eq!(journal.verify().unwrap().problems, []);
    }
}

/// The same of two corrections of one report, also where they stand for documents with names of
/// their own.
#[test]
fn a_correction_of_another_life_does_not_go_after_the_one_that_was_made_since() {
    for same_document in [true, false] {
        let house = House::new();
        let backups = house.folder.path().join("backups");
        let wrong = house.import(1);
        house.reject(wrong, "no");
        let first = house.journal.back_up_into(&backups, at(20)).unwrap().file;
        let of_before = match same_document {
            true => NewSubmission { summary: report(1).summary, ..report(3) },
            false => report(3),
        };
        let of_before = NewSubmission { corrects: Some(wrong), ..of_before };
        let of_before = house.journal.import(of_before).unwrap();
        let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        let path = house.path();
        let _folder = house.leave();
        let journal = on_a_new_disk(&path, &first);
        let new = journal.import(newer(Some(wrong))).unwrap();
        journal.decide_guarded(new, None, &person(), at(110)).unwrap();
        record(&journal, new, Event::SendingStarted { since: at(120) });
        record(&journal, new, Event::Completed { receipt: "r-2".to_owned() });
        journal.close();
        restore(&backup, &key(), &path, &nowhere, at(200)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        assert_eq!(would_go(&journal, &[of_before]), 0, "same document: {same_document}");
        assert_eq!(journal.state(of_before).unwrap().code(), "held");
        assert!(told(&journal, of_before).contains(&"decided-before-restore".to_owned()));
        assert_eq!(journal.verify().unwrap().problems, []);
    }
}
