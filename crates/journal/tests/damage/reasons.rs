//! What waited for a person is read back with what that person has to know.

use crate::common::{House, at, found as searched, key, nowhere, report};
use journal::{Journal, Message, NewSubmission, RecordError, restore};
use report::{Action, Event, State, SubmissionId};

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
            // Of another life: it waits for no comparison any more.
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

/// The authority never had it: it is rejected still, with the authority's words, and a person corrects it.
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

/// A correction that was rejected has taken the place of what it corrects: only it is corrected again.
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
