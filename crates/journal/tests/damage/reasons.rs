//! What waited for a person is read back with what that person has to know.

use crate::common::{House, at, filter, found as searched, key, nowhere, raw, report};
use journal::{Journal, Message, NewSubmission, Reconciled, RecordError, Retention, restore};
use report::{Action, Event, State, SubmissionId, Summary};

use super::laboratory::{person, record};
use super::restored::found as shown;

/// What happens after the backup, and then the journal is restored from it.
fn restored<T>(after: impl FnOnce(&House, SubmissionId) -> T) -> (tempfile::TempDir, Journal, T) {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let first = house.import(1);
    house.reject(first, "wrong code");
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let after = after(&house, first);
    let path = house.path();
    let folder = house.leave();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    (folder, Journal::open(&path, &key()).unwrap(), after)
}

fn told(journal: &Journal, id: SubmissionId) -> Vec<Message> {
    journal.detail(id).unwrap().messages
}

#[test]
fn what_is_read_back_on_hold_says_why_it_was() {
    let (_folder, journal, (id, before)) = restored(|house, _| {
        let findings = vec![
            Message::warning("value-set", &[("value", "Quux")]),
            // Of another life: nothing was to be compared there any more.
            Message::warning("journal-not-compared", &[]),
            // The number is another report's by now.
            Message::warning("correction-withdrawn", &[("by", "7")]),
        ];
        let held = NewSubmission { first: Event::Held, findings, ..report(2) };
        let id = house.journal.import(held).unwrap();
        (id, told(&house.journal, id))
    });
    assert_eq!(journal.state(id).unwrap(), State::Held { attempt: 0 });
    assert!(told(&journal, id) == before[..1], "of the rest nothing");
    assert_eq!(journal.row(id).unwrap().messages.warnings, 1);
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// A report that was erased comes back under no number, so that those after it have other ones: a
/// warning that names one of them names it still, and one that names nothing any more is left out.
#[test]
fn what_is_read_back_names_the_reports_by_their_new_numbers() {
    let (_folder, journal, (first, newer, held)) = restored(|house, first| {
        let gone = house.import(2);
        house.record(gone, Event::Withdrawn { reason: "slip".to_owned() });
        let rule = Retention { completed_days: None, closed_days: Some(1) };
        assert_eq!(house.journal.retain(rule, at(2 * 86_400)).unwrap(), 1);
        let newer = house.import(3);
        let [of_newer, of_first, of_gone] = [newer, first, gone].map(|id| id.0.to_string());
        let findings = vec![
            Message::warning("older-version", &[("elements", "a"), ("submission", &of_newer)]),
            Message::warning("later-version", &[("submission", &of_first)]),
            Message::warning("same-identifier-other-content", &[("submission", &of_gone)]),
        ];
        let held = NewSubmission { first: Event::Held, findings, ..report(4) };
        let held = house.journal.import(held).unwrap();
        let identifier = |id| house.journal.row(id).unwrap().identifier;
        (first, identifier(newer), identifier(held))
    });
    let rows = journal.list(&filter()).unwrap();
    let id = |identifier: &str| rows.iter().find(|row| row.identifier == identifier).unwrap().id;
    let [of_newer, of_first] = [id(&newer), first].map(|id| id.0.to_string());
    assert_ne!(of_newer, "3", "the numbers have moved");
    let expected = [
        Message::warning("older-version", &[("elements", "a"), ("submission", &of_newer)]),
        Message::warning("later-version", &[("submission", &of_first)]),
    ];
    assert!(told(&journal, id(&held)) == expected, "{:?}", codes(&journal, id(&held)));
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// The authority never had it: it is rejected still, with the authority's words, and a person
/// corrects it.
#[test]
fn what_was_rejected_is_read_back_as_rejected_with_the_reason() {
    let (_folder, journal, (id, before)) = restored(|house, _| {
        let id = house.import(2);
        house.reject(id, "postal code is missing");
        (id, told(&house.journal, id))
    });
    assert_eq!(journal.state(id).unwrap(), State::Rejected);
    assert!(told(&journal, id) == before, "in the words of the authority");
    assert_eq!(searched(&journal, "postal"), [id]);
    assert_eq!(journal.row(id).unwrap().messages.errors, 1);
    let actions = journal.detail(id).unwrap().actions(at(1_000));
    assert_eq!(actions, [Action::Correct, Action::Resubmit, Action::Withdraw]);
    let right = NewSubmission { corrects: Some(id), ..report(3) };
    let right = journal.import(right).unwrap();
    assert_eq!(journal.state(id).unwrap(), State::Superseded { by: right });
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// A correction that was rejected has taken the place of what it corrects: only it is corrected
/// again.
#[test]
fn a_rejected_correction_is_read_back_in_the_place_of_what_it_corrects() {
    let (_folder, journal, (first, second)) = restored(|house, first| {
        let second = NewSubmission { corrects: Some(first), ..report(2) };
        let second = house.journal.import(second).unwrap();
        house.reject(second, "wrong still");
        (first, second)
    });
    assert_eq!(journal.state(second).unwrap(), State::Rejected);
    assert_eq!(journal.state(first).unwrap(), State::Superseded { by: second });
    let beside = journal.import(NewSubmission { corrects: Some(first), ..report(3) });
    assert!(matches!(beside, Err(RecordError::Illegal(_))), "{beside:?}");
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// A report of that document, and other reports; the first of them was stopped in one of these ways
/// before the backup. Since then it was corrected, and the journal is gone with its correction.
fn corrected_and_lost(
    stop: impl FnOnce(&House, SubmissionId),
) -> (tempfile::TempDir, Journal, [SubmissionId; 2]) {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let [first, other] = [1, 2].map(|n| house.import(n));
    house.reject(other, "no");
    stop(&house, first);
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let summary = Summary { identifier: report(1).summary.identifier, ..Summary::default() };
    let right = NewSubmission { corrects: Some(first), summary, ..report(3) };
    house.journal.import(right).unwrap();
    let path = house.path();
    let folder = house.leave();
    std::fs::remove_file(&path).unwrap();
    let restored = restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    assert_eq!(restored.lost, 1);
    (folder, Journal::open(&path, &key()).unwrap(), [first, other])
}

fn codes(journal: &Journal, id: SubmissionId) -> Vec<String> {
    told(journal, id).into_iter().filter(is_ours).map(|it| it.code).collect()
}

fn is_ours(message: &Message) -> bool {
    message.source != journal::Source::Authority
}

/// Whoever would correct it a second time is told that there was a correction, also before the
/// authority has shown that, and by its number afterwards.
#[test]
fn what_was_corrected_by_what_is_lost_says_so() {
    let fail = |house: &House, id| {
        house.record(id, Event::SendingStarted { since: at(40) });
        record(&house.journal, id, Event::Failed { receipt: "r-1".to_owned() });
    };
    let reject = |house: &House, id| house.reject(id, "no");
    let hold = |house: &House, id| house.record(id, Event::HeldBack);
    type Stop<'a> = &'a dyn Fn(&House, SubmissionId);
    let ways: [(&str, Stop<'_>); 3] = [("failed", &fail), ("rejected", &reject), ("held", &hold)];
    for (state, stop) in ways {
        let (_folder, journal, [first, other]) = corrected_and_lost(stop);
        assert_eq!(journal.state(first).unwrap().code(), state);
        assert_eq!(codes(&journal, first), ["other-version-lost"], "{state}");
        assert_eq!(codes(&journal, other), [""; 0], "it has nothing to do with it");
        let shown = journal.reconcile(shown(&report(3).identifier, "r-3")).unwrap();
        let Reconciled::Added(newer) = shown else { panic!("{shown:?}") };
        let number = newer.0.to_string();
        let warning = Message::warning("newer-version-delivered", &[("submission", &number)]);
        let ours: Vec<Message> = told(&journal, first).into_iter().filter(is_ours).collect();
        assert!(ours == [warning], "{state}: {:?}", codes(&journal, first));
        assert_eq!(journal.verify().unwrap().problems, []);
    }
}

/// What was lost is handed over again: it is not lost any more.
#[test]
fn what_is_handed_over_again_is_no_longer_said_to_be_lost() {
    let reject = |house: &House, id| house.reject(id, "no");
    let (_folder, journal, [first, _]) = corrected_and_lost(reject);
    assert_eq!(codes(&journal, first), ["other-version-lost"]);
    journal.import(report(3)).unwrap();
    assert_eq!(journal.lost_reports().unwrap(), []);
    assert_eq!(codes(&journal, first), [""; 0]);
}

/// The same content was sent again: that it may be there, and that it is there, is said as well.
#[test]
fn what_was_sent_again_by_what_is_lost_says_so() {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let first = house.import(1);
    house.reject(first, "no");
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let identifier = "urn:uuid:sent-again".to_owned();
    let again = NewSubmission { corrects: Some(first), identifier, ..report(1) };
    house.journal.import(again).unwrap();
    let path = house.path();
    let _folder = house.leave();
    std::fs::remove_file(&path).unwrap();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    assert_eq!(codes(&journal, first), ["other-version-lost"]);
    journal.reconcile(shown("urn:uuid:sent-again", "r-2")).unwrap();
    assert_eq!(codes(&journal, first), ["authority-may-have-it"]);
}

/// It would go by itself once it was compared; beside its correction a person decides.
#[test]
fn what_waits_for_the_comparison_does_not_go_after_a_lost_version() {
    for is_shown in [false, true] {
        let (_folder, path, journal, backups) = without_a_register();
        let first = journal.import(report(1)).unwrap();
        assert!(journal.goes_by_itself(first).unwrap());
        let backup = journal.back_up_into(&backups, at(50)).unwrap().file;
        let summary = Summary { identifier: report(1).summary.identifier, ..Summary::default() };
        let right = NewSubmission { corrects: Some(first), summary, ..report(3) };
        journal.import(right).unwrap();
        journal.close();
        std::fs::remove_file(&path).unwrap();
        restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        if is_shown {
            journal.reconcile(shown(&report(3).identifier, "r-3")).unwrap();
        }
        assert!(!journal.goes_by_itself(first).unwrap(), "shown: {is_shown}");
        journal.decide_guarded(first, None, &person(), at(501)).unwrap();
        assert_eq!(journal.state(first).unwrap().code(), "held", "shown: {is_shown}");
    }
}

/// A journal that was restored without its register: what is taken in is asked for first.
fn without_a_register() -> (tempfile::TempDir, std::path::PathBuf, Journal, std::path::PathBuf) {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let before = house.journal.back_up_into(&backups, at(20)).unwrap().file;
    let path = house.path();
    let folder = house.leave();
    std::fs::remove_file(folder.path().join("journal.db-register")).unwrap();
    restore(&before, &key(), &path, &nowhere, at(30)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    (folder, path, journal, backups)
}

/// Nothing else held it: it goes on waiting for the comparison, and goes once it was asked for.
/// What a person has stopped meanwhile, or what has errors, waits for that person as before.
#[test]
fn what_waited_for_the_comparison_alone_is_read_back_so() {
    let (_folder, path, journal, backups) = without_a_register();
    let backup = journal.back_up_into(&backups, at(50)).unwrap().file;
    let waits = journal.import(report(1)).unwrap();
    let findings = vec![Message::warning("value-set", &[("value", "Quux")])];
    let held = NewSubmission { first: Event::Held, findings, ..report(2) };
    let held = journal.import(held).unwrap();
    let before = [waits, held].map(|id| told(&journal, id));
    assert!(journal.goes_by_itself(waits).unwrap() && !journal.goes_by_itself(held).unwrap());
    journal.close();
    restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    for (id, before) in [waits, held].into_iter().zip(before) {
        assert_eq!(journal.state(id).unwrap().code(), "held");
        assert!(told(&journal, id) == before, "{:?}", codes(&journal, id));
    }
    assert!(journal.goes_by_itself(waits).unwrap() && !journal.goes_by_itself(held).unwrap());
    for id in [waits, held] {
        journal.decide_guarded(id, None, &person(), at(501)).unwrap();
    }
    assert_eq!(journal.state(waits).unwrap().code(), "unknown", "it is asked for first");
    assert_eq!(journal.state(held).unwrap().code(), "held");
    assert_eq!(codes(&journal, held), ["value-set"]);
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// The warning on a report on hold names one that the backup has, and whose page cannot be read any
/// more in the damaged journal: its number is still the same, and the person is told.
#[test]
fn what_is_read_back_names_a_report_of_the_backup_that_is_damaged() {
    let house = House::new();
    let first = house.import(1);
    house.complete(first, "r-1");
    let backups = house.folder.path().join("backups");
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap();
    let findings = vec![Message::warning("older-version", &[("submission", &first.0.to_string())])];
    let held = NewSubmission { first: Event::Held, findings: findings.clone(), ..report(2) };
    let held = house.journal.import(held).unwrap();
    let path = house.path();
    let folder = house.leave();
    let old = raw(&path);
    // As where its page cannot be read.
    old.execute_batch("PRAGMA foreign_keys = OFF; DROP TRIGGER IF EXISTS submission_is_kept")
        .unwrap();
    old.execute("DELETE FROM submission WHERE id = ?1", [first.0]).unwrap();
    drop(old);
    restore(&backup.file, &key(), &path, &nowhere, at(100)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    assert_eq!(journal.state(held).unwrap().code(), "held");
    assert!(told(&journal, held) == findings, "{:?}", codes(&journal, held));
    drop(folder);
}

/// An older version waits beside a newer one, which was taken in after it and has arrived: the
/// person is told of that after a restore as before it.
#[test]
fn what_is_read_back_names_a_report_that_came_after_it() {
    let (_folder, journal, (before, older)) = restored(|house, _| {
        let older = house.import(2);
        house.record(older, Event::HeldBack);
        let summary = Summary { identifier: report(2).summary.identifier, ..report(3).summary };
        let newer = house.journal.import(NewSubmission { summary, ..report(3) }).unwrap();
        house.complete(newer, "r-3");
        (codes(&house.journal, older), older)
    });
    assert_eq!(before, ["newer-version-delivered"]);
    assert_eq!(codes(&journal, older), before);
}
