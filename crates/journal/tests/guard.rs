//! What is taken in while nobody knows what was sent since: nothing of it leaves before the
//! authority was asked.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

mod common;

use std::fs;
use std::path::Path;

use common::{House, accepted, anna, at, key, on, report, step};
use fhir::Instant;
use journal::{Imported, Journal, NewSubmission, Notice, RecordError, Unless, recover, restore};
use report::{Event, State, SubmissionId};

const DAY: i64 = 86_400;

/// The backup of a disk that died, with the register too: everything is asked for first.
fn restored() -> House {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let backup = house.journal.back_up_into(&backups, at(0)).unwrap().file;
    let path = house.path();
    let folder = house.leave();
    for name in ["journal.db", "journal.db-register"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    restore(&backup, &key(), &path, &on("first"), at(1)).unwrap();
    House { journal: Journal::open(&path, &key()).unwrap(), folder }
}

/// A profile that was copied, and nobody has read that yet.
fn copied() -> House {
    let house = House::new();
    at_home(&house.journal, "first", at(0));
    at_home(&house.journal, "second", at(1));
    house
}

fn at_home(journal: &Journal, computer: &str, now: Instant) {
    journal.settle_on(&on(computer), &anna(), now).unwrap();
}

fn take(house: &House, new: NewSubmission) -> SubmissionId {
    let imported = house.journal.import_unless_async(new, Unless::Known).wait().unwrap();
    let Imported::New(id) = imported else { panic!("{imported:?}") };
    id
}

fn code(house: &House, id: SubmissionId) -> &'static str {
    house.journal.state(id).unwrap().code()
}

/// The authority was asked for the document, and shows it under this receipt or not.
fn decide(house: &House, id: SubmissionId, receipt: Option<&str>) {
    house.journal.decide_guarded(id, receipt, &anna(), at(50)).unwrap();
}

fn release(house: &House, id: SubmissionId) -> Result<State, RecordError> {
    let (reason, due) = ("looked at".to_owned(), at(9));
    house.journal.record(step(id, Event::Released { reason, due }))
}

fn warnings(house: &House, id: SubmissionId) -> Vec<String> {
    house.journal.detail(id).unwrap().messages.into_iter().map(|it| it.code).collect()
}

/// The guard of a copy rests on the notice of it: a program that ends right after it has noticed
/// has put it too.
#[test]
fn who_notices_a_copy_has_told_of_it() {
    let house = House::new();
    at_home(&house.journal, "first", at(0));
    house.import(1);
    assert_eq!(house.journal.notices().unwrap(), []);
    at_home(&house.journal, "second", at(1));
    let told = Notice::new("journal-copied", &[("doubted", "1")], at(1));
    assert_eq!(house.journal.notices().unwrap(), [told]);
    house.journal.remove_notice("journal-copied").unwrap();
    at_home(&house.journal, "second", at(2));
    assert_eq!(house.journal.notices().unwrap(), [], "told once");
}

/// Two copies of a profile watch one folder, and each finds every new report in it. What a person
/// hands over is another matter.
#[test]
fn in_a_copy_nothing_of_a_watched_folder_is_let_go_before_somebody_has_read_of_it() {
    let house = copied();
    let find = |new: NewSubmission| {
        let imported = house.journal.import_unless_async(new, Unless::KnownAnywhere).wait();
        let Imported::New(id) = imported.unwrap() else { panic!() };
        id
    };
    let (watched, handed) = (find(report(1)), take(&house, report(2)));
    decide(&house, watched, None);
    decide(&house, handed, None);
    assert_eq!((code(&house, watched), code(&house, handed)), ("held", "queued"));
    assert_eq!(house.journal.guarded("practice").unwrap(), [watched]);
    // However long nobody reads it.
    for day in 1..=40 {
        house.journal.count_guarded_time(at(day * DAY)).unwrap();
    }
    let late = find(NewSubmission { at: at(41 * DAY), ..report(3) });
    assert_eq!(code(&house, late), "held");
    // One of them a person may release by itself; the others go once the notice was read.
    assert_eq!(release(&house, watched).unwrap().code(), "queued");
    house.journal.remove_notice("journal-copied").unwrap();
    decide(&house, late, None);
    assert_eq!(code(&house, late), "queued");
    let later = find(NewSubmission { at: at(42 * DAY), ..report(4) });
    assert_eq!(code(&house, later), "queued", "the thirty days are over");
}

/// The disk died, and a person restores one backup after the other: the first one's register says
/// nothing of the disk.
#[test]
fn a_second_restore_forgets_no_more_than_the_first() {
    let house = restored();
    let backups = house.folder.path().join("backups");
    let (path, backup) = (house.path(), backup_of(house.folder.path()));
    house.import(1);
    assert!(house.journal.may_have_forgotten().unwrap());
    let folder = house.leave();
    assert!(backups.exists());
    restore(&backup, &key(), &path, &on("first"), at(10)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    assert!(journal.may_have_forgotten().unwrap());
    drop((journal, folder));
}

/// Who sends a report again while it waits means it once: it is on its way already, or a person is
/// to decide about it.
#[test]
fn what_waits_or_is_on_hold_is_not_sent_again_beside_itself() {
    let house = restored();
    let id = take(&house, report(1));
    let again = || {
        let new = NewSubmission { identifier: "urn:uuid:again".to_owned(), ..report(1) };
        house.journal.import_unless_async(new, Unless::Open).wait().unwrap()
    };
    assert_eq!(again(), Imported::Known(vec![id]));
    let faulty = take(&house, NewSubmission { first: Event::Held, ..report(2) });
    assert!(house.journal.rules_out_another(faulty).unwrap(), "released, it would be sent too");
    // The authority may have it: who releases it is told so, who sends it beside itself is not.
    decide(&house, id, Some("r-1"));
    assert_eq!(again(), Imported::Known(vec![id]));
    let offered = |id| house.journal.detail(id).unwrap().actions(at(20));
    assert!(offered(id).contains(&report::Action::SayReceived));
    house.record(id, Event::SaidReceived { reason: "hotline".to_owned() });
    assert_eq!(house.journal.state(id).unwrap().shown().code(), "said-received");
    assert!(matches!(again(), Imported::New(_)), "a person means it");
}

/// What left from a disk before it died, or from the other copy at the same time, the authority may
/// show late.
#[test]
fn what_is_not_shown_may_be_shown_late() {
    let lag = std::time::Duration::from_secs(600);
    for is_copy in [false, true] {
        let house = if is_copy { copied() } else { restored() };
        let late = |id, now| house.journal.may_be_shown_late(id, at(now), lag).unwrap();
        let first = take(&house, report(1));
        assert!(late(first, 20) && late(first, 500));
        // The clock was set back.
        assert!(late(first, 10));
        assert!(late(first, 600) && !late(first, 620));
        // From a disk nothing leaves any more; from the other copy it may.
        let second = take(&house, NewSubmission { at: at(5_000), ..report(2) });
        assert_eq!(late(second, 5_001), is_copy);
        assert!(!late(second, 5_700));
    }
}

/// Whoever reads of the copy ends the other one: what that one sent in its last minutes may not be
/// shown yet.
#[test]
fn reading_of_a_copy_lets_nothing_go_that_the_other_one_may_just_have_sent() {
    let (house, lag) = (copied(), std::time::Duration::from_secs(600));
    // Long after the copying, and long since it is not shown.
    let id = take(&house, NewSubmission { at: at(5_000), ..report(1) });
    let late = |now| house.journal.may_be_shown_late(id, at(now), lag).unwrap();
    assert!(late(5_001) && !late(6_000));
    house.journal.remove_notice("journal-copied").unwrap();
    assert!(late(6_010) && late(6_600), "ten minutes from the first look after the reading");
    // The clock was set back in between.
    assert!(late(6_005) && late(6_604) && !late(6_606));
    // Read once more, by whoever reads everything: that changes nothing.
    house.journal.remove_notice("journal-copied").unwrap();
    assert!(!late(6_607));
    // What comes from then on is not held up by it.
    let next = take(&house, NewSubmission { at: at(7_000), ..report(2) });
    assert!(!house.journal.may_be_shown_late(next, at(7_001), lag).unwrap());
}

#[test]
fn what_is_released_while_everything_is_asked_for_first_waits_for_that() {
    let house = restored();
    let faulty = take(&house, NewSubmission { first: Event::Held, ..report(1) });
    let clean = take(&house, report(2));
    assert_eq!(house.journal.guarded("practice").unwrap().len(), 2);
    for id in [faulty, clean] {
        assert_eq!(warnings(&house, id), ["journal-not-compared"]);
        assert_eq!(release(&house, id).unwrap().code(), "held");
        assert_eq!(code(&house, id), "held", "the authority was not asked yet");
    }
    // It has the one and not the other.
    decide(&house, faulty, Some("r-1"));
    decide(&house, clean, None);
    assert_eq!((code(&house, faulty), code(&house, clean)), ("held", "queued"));
    assert_eq!(warnings(&house, faulty), ["authority-may-have-it"]);
    assert_eq!(warnings(&house, clean), Vec::<String>::new());
    // Who has read that decides.
    assert_eq!(release(&house, faulty).unwrap().code(), "queued");
    assert!(house.journal.verify().unwrap().problems.is_empty());
}

/// People are told which of those that are held wait for them, and which go by themselves.
#[test]
fn what_goes_by_itself_is_told_from_what_waits_for_a_person() {
    let house = copied();
    let goes = |id| house.journal.goes_by_itself(id).unwrap();
    let faulty = take(&house, NewSubmission { first: Event::Held, ..report(1) });
    let clean = take(&house, report(2));
    assert_eq!((goes(faulty), goes(clean)), (false, true));
    release(&house, faulty).unwrap();
    assert!(goes(faulty), "its release waits");
    decide(&house, faulty, Some("r-1"));
    assert!(!goes(faulty), "the authority may have it");
    house.record(clean, Event::Withdrawn { reason: "wrong".to_owned() });
    assert!(!goes(clean), "a person has decided");
}

#[test]
fn what_was_held_for_its_own_errors_is_not_let_go() {
    let house = restored();
    let faulty = take(&house, NewSubmission { first: Event::Held, ..report(1) });
    decide(&house, faulty, None);
    assert_eq!(code(&house, faulty), "held", "a person has not looked yet");
    assert_eq!(house.journal.guarded("practice").unwrap(), []);
    assert_eq!(release(&house, faulty).unwrap().code(), "queued");
}

/// A certificate that is shown nothing of ours: that is no answer, and people must not be locked
/// out for it.
#[test]
fn what_was_asked_for_in_vain_may_be_released() {
    let house = restored();
    let id = take(&house, report(1));
    house.journal.asked_in_vain("elsewhere").unwrap();
    assert_eq!(release(&house, id).unwrap().code(), "held", "another authority was asked");
    house.journal.asked_in_vain("practice").unwrap();
    assert_eq!(release(&house, id).unwrap().code(), "queued");
    assert_eq!(house.journal.guarded("practice").unwrap(), []);
    assert_eq!(warnings(&house, id), Vec::<String>::new());
}

#[test]
fn of_two_contents_under_one_identifier_only_the_newer_is_let_go() {
    let house = restored();
    let older = take(&house, report(1));
    let newer = take(&house, NewSubmission { corrects: Some(older), ..report(2) });
    let waiting = house.journal.guarded("practice").unwrap();
    assert_eq!(waiting, [newer, older], "the newest first");
    for id in waiting {
        decide(&house, id, None);
    }
    assert_eq!((code(&house, older), code(&house, newer)), ("held", "queued"));
    house.record(newer, Event::SendingStarted { since: at(60) });
    house.record(newer, accepted("r-1"));
    assert_eq!(house.journal.state(older).unwrap(), State::Superseded { by: newer });
    decide(&house, older, None);
    assert_eq!(house.journal.guarded("practice").unwrap(), []);
}

/// The newer one is withdrawn: the older one goes after all.
#[test]
fn an_older_content_is_let_go_once_the_newer_is_withdrawn() {
    let house = restored();
    let older = take(&house, report(1));
    let newer = take(&house, NewSubmission { corrects: Some(older), ..report(2) });
    for id in [newer, older] {
        decide(&house, id, None);
    }
    house.record(newer, Event::Withdrawn { reason: "wrong".to_owned() });
    assert_eq!(house.journal.guarded("practice").unwrap(), [older], "it still waits");
    decide(&house, older, None);
    assert_eq!(code(&house, older), "queued");
}

/// The computer's clock is set right by years: the thirty days are not over for that.
#[test]
fn a_clock_that_is_set_forward_lets_nothing_go() {
    let house = restored();
    let years = 3_000 * DAY;
    assert!(house.journal.is_guarded(at(years)).unwrap());
    house.journal.count_guarded_time(at(years)).unwrap();
    for day in 1..=28 {
        assert!(house.journal.is_guarded(at(years + day * DAY)).unwrap(), "day {day}");
        house.journal.count_guarded_time(at(years + day * DAY)).unwrap();
    }
    assert!(!house.journal.is_guarded(at(years + 30 * DAY)).unwrap());
    // Set back, it counts on from there.
    house.journal.count_guarded_time(at(10)).unwrap();
    assert!(house.journal.is_guarded(at(20)).unwrap());
    assert!(!house.journal.is_guarded(at(10 + 2 * DAY)).unwrap());
}

/// Also where it ends meanwhile, what was taken in before is asked for.
#[test]
fn what_waits_is_asked_for_also_when_the_time_is_over() {
    let house = restored();
    let id = take(&house, report(1));
    for day in 1..=40 {
        house.journal.count_guarded_time(at(day * DAY)).unwrap();
    }
    let later = take(&house, NewSubmission { at: at(41 * DAY), ..report(2) });
    assert_eq!(code(&house, later), "queued", "it is over");
    assert!(house.journal.is_guarded(at(41 * DAY)).unwrap(), "one still waits");
    decide(&house, id, None);
    assert!(!house.journal.is_guarded(at(41 * DAY)).unwrap());
}

/// A laboratory's profile on its computer, with a backup, and a report that was sent since.
fn at_work() -> House {
    let house = House::new();
    at_home(&house.journal, "first", at(0));
    let says = |n: i64| NewSubmission { canonical: Some(n.to_string().repeat(64)), ..report(n) };
    let id = house.journal.import(says(1)).unwrap();
    house.complete(id, "r-1");
    house.journal.back_up_into(&house.folder.path().join("backups"), at(50)).unwrap();
    let since = house.journal.import(says(2)).unwrap();
    house.complete(since, "r-2");
    house
}

/// Everything of a folder, under other numbers.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// Whether a new report waits, also when everything known was compared; and whether people are told
/// of a copy.
fn is_noticed(folder: &Path) -> bool {
    let journal = Journal::open(&folder.join("journal.db"), &key()).unwrap();
    journal.set_reconciled().unwrap();
    let told = journal.notices().unwrap().iter().any(|notice| notice.code == "journal-copied");
    let stands = journal.is_guarded(at(86_400)).unwrap();
    assert_eq!(told, stands);
    stands
}

fn backup_of(folder: &Path) -> std::path::PathBuf {
    journal::list_backups(&folder.join("backups")).unwrap().remove(0).file
}

/// The first thing that happens to a copy is a recovery, because its journal is damaged or missing,
/// or a restore.
#[test]
fn a_copy_is_noticed_also_where_it_is_recovered_or_restored_first() {
    let house = at_work();
    let original = house.leave();
    for (computer, what) in [
        ("second", "damaged"),
        ("second", "missing"),
        ("second", "restored"),
        ("second", "without a register"),
        ("first", "damaged"),
        ("first", "missing"),
        ("first", "restored"),
    ] {
        let place = tempfile::tempdir().unwrap();
        copy(original.path(), place.path());
        let (path, backups) = (place.path().join("journal.db"), place.path().join("backups"));
        match what {
            "damaged" => fs::write(&path, "").unwrap(),
            "missing" => fs::remove_file(&path).unwrap(),
            "without a register" => {
                fs::remove_file(place.path().join("journal.db-register")).unwrap();
            }
            _ => {}
        }
        let made = if matches!(what, "damaged" | "missing") {
            recover(&path, &key(), &backups, &on(computer), at(100)).unwrap().unwrap()
        } else {
            restore(&backup_of(place.path()), &key(), &path, &on(computer), at(100)).unwrap()
        };
        assert!(made.copied, "{what} on {computer}");
        assert!(is_noticed(place.path()), "{what} on {computer}");
    }
    // The same at home is no copy.
    let path = original.path().join("journal.db");
    restore(&backup_of(original.path()), &key(), &path, &on("first"), at(100)).unwrap();
    assert!(!is_noticed(original.path()));
    let journal = Journal::open(&path, &key()).unwrap();
    at_home(&journal, "first", at(101));
    drop(journal);
    fs::write(&path, "").unwrap();
    let backups = original.path().join("backups");
    recover(&path, &key(), &backups, &on("first"), at(102)).unwrap().unwrap();
    assert!(!is_noticed(original.path()));
}

/// A person restores the backup of another computer, which may have sent more since.
#[test]
fn the_backup_of_another_computer_is_noticed() {
    let (other, house) = (at_work(), House::new());
    at_home(&house.journal, "second", at(0));
    let (path, backup) = (house.path(), backup_of(other.folder.path()));
    let folder = house.leave();
    let made = restore(&backup, &key(), &path, &on("second"), at(100)).unwrap();
    assert!(made.copied);
    assert!(is_noticed(folder.path()));
}

/// After a recovery with the register at hand everything is asked for until everything was
/// compared.
#[test]
fn after_a_recovery_everything_is_asked_for_until_it_was_compared() {
    let house = at_work();
    let (path, backups) = (house.path(), house.folder.path().join("backups"));
    let folder = house.leave();
    fs::write(&path, "").unwrap();
    recover(&path, &key(), &backups, &on("first"), at(100)).unwrap().unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let house = House { folder, journal };
    let mut new = report(3);
    new.canonical = Some("c".repeat(64));
    let id = take(&house, new);
    assert_eq!(code(&house, id), "held");
    decide(&house, id, None);
    assert_eq!(code(&house, id), "queued");
}

/// An endpoint that has shown everything waits for no other; a further restore begins anew.
#[test]
fn what_goes_to_an_endpoint_that_was_compared_does_not_wait_for_another() {
    let house = at_work();
    let (path, backups) = (house.path(), house.folder.path().join("backups"));
    let folder = house.leave();
    let recovered = |at_second| {
        fs::write(&path, "").unwrap();
        recover(&path, &key(), &backups, &on("first"), at(at_second)).unwrap().unwrap();
        Journal::open(&path, &key()).unwrap()
    };
    let to = |endpoint: &str, n: i64| NewSubmission {
        endpoint: endpoint.to_owned(),
        canonical: Some(n.to_string().repeat(64)),
        ..report(n)
    };
    let house = House { journal: recovered(100), folder };
    house.journal.set_reconciled_at("practice").unwrap();
    assert_eq!(house.journal.unreconciled_at("practice", at(300)).unwrap(), None);
    assert!(house.journal.unreconciled_at("old", at(300)).unwrap().is_some());
    assert_eq!(code(&house, take(&house, to("practice", 3))), "queued");
    assert_eq!(code(&house, take(&house, to("old", 4))), "held");
    let folder = house.leave();
    let journal = recovered(200);
    assert!(journal.unreconciled_at("practice", at(300)).unwrap().is_some());
    let house = House { journal, folder };
    assert_eq!(code(&house, take(&house, to("practice", 5))), "held");
    house.journal.set_reconciled().unwrap();
    assert_eq!(code(&house, take(&house, to("old", 6))), "queued");
}
