//! What the journal knows already, and what takes the place of what; a journal of an older program.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

mod common;

use common::{House, accepted, answer, at, digest, key, nowhere, raw, report, step};
use journal::{
    Destination, Imported, Journal, JournalError, NewSubmission, OpenProblem, RecordError, Unless,
    list_backups, migrate,
};
use report::{Event, State, SubmissionId};

fn to(endpoint: &str, environment: &str, n: i64) -> NewSubmission {
    NewSubmission {
        endpoint: endpoint.to_owned(),
        environment: Some(environment.to_owned()),
        identifier: format!("urn:uuid:attempt-{endpoint}-{environment}-{n}"),
        ..report(n)
    }
}

fn take(house: &House, new: NewSubmission, unless: Unless) -> Imported {
    house.journal.import_unless_async(new, unless).wait().unwrap()
}

#[test]
fn what_was_sent_to_one_endpoint_is_not_known_at_another() {
    let house = House::new();
    let pilot = house.journal.import(to("authority", "integration", 1)).unwrap();
    house.complete(pilot, "r-1");
    let again = take(&house, to("authority", "integration", 1), Unless::Known);
    assert_eq!(again, Imported::Known(vec![pilot]));
    let anywhere = take(&house, to("authority", "production", 1), Unless::KnownAnywhere);
    assert_eq!(anywhere, Imported::Known(vec![pilot]));
    // Another endpoint of the same name, and one of another name.
    for place in [to("authority", "production", 1), to("other", "integration", 1)] {
        let Imported::New(id) = take(&house, place.clone(), Unless::Known) else { panic!() };
        assert_eq!(take(&house, place.clone(), Unless::Known), Imported::Known(vec![id]));
        assert_eq!(take(&house, place, Unless::Open), Imported::Known(vec![id]), "still open");
    }
    let here = Destination { endpoint: "authority", environment: Some("production") };
    let known = house.journal.of_content(&report(1).digest, None, Some(here)).unwrap();
    assert_eq!(known.len(), 1);
    assert_eq!(house.journal.of_content(&report(1).digest, None, None).unwrap().len(), 3);
    let row = house.journal.row(known[0]).unwrap();
    assert_eq!(
        (row.endpoint.as_str(), row.environment.as_deref()),
        ("authority", Some("production"))
    );
}

/// Other bytes that say the same.
#[test]
fn the_same_content_in_other_bytes_is_known() {
    let house = House::new();
    let says = Some("c".repeat(64));
    let first = NewSubmission { canonical: says.clone(), ..report(1) };
    let Imported::New(id) = take(&house, first, Unless::Known) else { panic!() };
    let other = NewSubmission { canonical: says, ..report(2) };
    assert_eq!(take(&house, other, Unless::Known), Imported::Known(vec![id]));
    let different = NewSubmission { canonical: Some("d".repeat(64)), ..report(2) };
    assert!(matches!(take(&house, different, Unless::Known), Imported::New(_)));
}

#[test]
fn a_newer_file_takes_the_place_of_what_failed_when_it_has_arrived() {
    let house = House::new();
    let wrong = house.import(1);
    house.reject(wrong, "no");
    let newer = NewSubmission { corrects: Some(wrong), ..report(2) };
    let Imported::New(right) = take(&house, newer, Unless::Known) else { panic!() };
    assert_eq!(house.journal.state(wrong).unwrap(), State::Rejected, "nothing is sent yet");
    assert_eq!(house.journal.row(right).unwrap().corrects, Some(wrong));
    // Nothing else is sent in its place meanwhile.
    let third = NewSubmission { corrects: Some(wrong), ..report(3) };
    let refused = house.journal.import(third);
    assert!(matches!(refused, Err(RecordError::BeingReplaced { by }) if by == right));

    house.record(right, Event::SendingStarted { since: at(3) });
    house.record(right, Event::Deferred { due: at(4), why: "busy".to_owned() });
    house.record(right, Event::SendingStarted { since: at(5) });
    assert_eq!(house.journal.state(wrong).unwrap(), State::Rejected, "it may not have arrived");
    let refused = house.journal.import(NewSubmission { corrects: Some(wrong), ..report(3) });
    assert!(matches!(refused, Err(RecordError::BeingReplaced { by }) if by == right));
    let before = house.journal.events().unwrap();
    house.record(right, accepted("r-2"));
    assert_eq!(house.journal.state(wrong).unwrap(), State::Superseded { by: right });
    assert_eq!(house.journal.events().unwrap(), before + 2, "in the same transaction");
    assert!(house.journal.verify().unwrap().problems.is_empty());
}

/// The first try did not arrive, and a person withdraws it then: what it was to replace is left,
/// and nothing is closed without a word.
#[test]
fn what_was_to_be_replaced_is_left_where_the_newer_file_is_withdrawn_after_a_try() {
    let house = House::new();
    let wrong = house.import(1);
    house.reject(wrong, "no");
    let newer = NewSubmission { corrects: Some(wrong), ..report(2) };
    let Imported::New(right) = take(&house, newer, Unless::Known) else { panic!() };
    house.record(right, Event::SendingStarted { since: at(3) });
    house.record(right, Event::Deferred { due: at(4), why: "busy".to_owned() });
    house.record(right, Event::Withdrawn { reason: "wrong too".to_owned() });
    assert_eq!(house.journal.state(wrong).unwrap(), State::Rejected);
    let again = house.journal.import(NewSubmission { corrects: Some(wrong), ..report(3) }).unwrap();
    assert_eq!(house.journal.state(wrong).unwrap(), State::Superseded { by: again });
}

/// A newer file is held, and a person corrects that: what arrives takes the place of both.
#[test]
fn a_correction_of_a_newer_file_takes_the_place_of_both() {
    let house = House::new();
    let wrong = house.import(1);
    house.reject(wrong, "no");
    let newer = NewSubmission { corrects: Some(wrong), first: Event::Held, ..report(2) };
    let Imported::New(newer) = take(&house, newer, Unless::Known) else { panic!() };
    let right = NewSubmission { corrects: Some(newer), ..report(3) };
    let right = house.journal.import(right).unwrap();
    let refused = house.journal.import(NewSubmission { corrects: Some(wrong), ..report(4) });
    assert!(matches!(refused, Err(RecordError::BeingReplaced { by }) if by == right));
    house.complete(right, "r-3");
    for one in [wrong, newer] {
        assert_eq!(house.journal.state(one).unwrap(), State::Superseded { by: right });
    }
}

#[test]
fn a_person_may_decide_otherwise_until_the_newer_file_is_sent() {
    let house = House::new();
    let held = house.journal.import(NewSubmission { first: Event::Held, ..report(1) }).unwrap();
    let newer = NewSubmission { corrects: Some(held), ..report(2) };
    let Imported::New(right) = take(&house, newer, Unless::Known) else { panic!() };
    let release = || step(held, Event::Released { reason: "so".to_owned(), due: at(9) });
    let refused = house.journal.record(release());
    assert!(matches!(refused, Err(RecordError::BeingReplaced { by }) if by == right));
    house.record(right, Event::HeldBack);
    let refused = house.journal.record(release());
    assert!(matches!(refused, Err(RecordError::BeingReplaced { by }) if by == right), "held too");
    house.record(right, Event::Withdrawn { reason: "so".to_owned() });
    house.journal.record(release()).unwrap();
    assert_eq!(house.journal.state(held).unwrap().code(), "queued");
    // And a newer file is not taken in in its place then, nor in nobody's: whoever brings it
    // compares it once more.
    let late = NewSubmission { corrects: Some(held), ..report(3) };
    assert_eq!(take(&house, late, Unless::Known), Imported::Overtaken);
}

/// As a program of the first schema left it.
fn made_older(house: House) -> tempfile::TempDir {
    let path = house.path();
    let folder = house.leave();
    raw(&path)
        .execute_batch(
            "DROP INDEX submission_canonical; DROP INDEX submission_corrects;
             ALTER TABLE submission DROP COLUMN canonical;
             ALTER TABLE submission DROP COLUMN environment;
             PRAGMA user_version = 1;",
        )
        .unwrap();
    folder
}

#[test]
fn a_journal_of_the_first_schema_is_backed_up_and_brought_on() {
    let house = House::new();
    let done = house.import(1);
    house.complete(done, "r-1");
    house.import(2);
    let path = house.path();
    let folder = made_older(house);
    let opened = Journal::open(&path, &key());
    assert!(matches!(opened, Err(OpenProblem::OlderSchema { found: 1, known: 2 })), "{opened:?}");
    let backups = folder.path().join("backups");
    let made = migrate(&path, &key(), &backups, at(500)).unwrap().unwrap();
    assert_eq!(made.facts.submissions, 2);
    assert_eq!(list_backups(&backups).unwrap().len(), 1);
    let before: u32 =
        raw(&made.file).query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(before, 1, "as it was");
    assert!(migrate(&path, &key(), &backups, at(501)).unwrap().is_none());

    let journal = Journal::open(&path, &key()).unwrap();
    assert!(journal.verify().unwrap().problems.is_empty());
    // What was taken in then counts for every environment of its endpoint: nothing goes out twice.
    let place = Destination { endpoint: "practice", environment: Some("practice") };
    assert_eq!(journal.of_content(&report(1).digest, None, Some(place)).unwrap(), [done]);
    let relative = &journal.of_document("urn:uuid:document-1", place).unwrap()[0];
    assert_eq!((relative.canonical.as_deref(), relative.has_content), (None, true));
    journal.set_canonical(done, &"c".repeat(64)).unwrap();
    let says = Some("c".repeat(64));
    let known = journal.of_content(&digest(b"other"), says.as_deref(), Some(place)).unwrap();
    assert_eq!(known, [done]);
    // A backup of then can take the journal's place.
    drop(journal);
    journal::restore(&made.file, &key(), &path, &nowhere, at(600)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    assert_eq!(journal.counts(at(0)).unwrap().total(), 2);
}

/// As a program of before kept what a person has said to be received.
#[test]
fn what_a_program_of_before_kept_as_withdrawn_is_no_damage() {
    let house = House::new();
    let id = house.import(1);
    house.record(id, Event::SendingStarted { since: at(1) });
    house.record(id, Event::Doubted { since: at(1), due: at(2), why: "cut".to_owned() });
    house.record(id, Event::SaidReceived { reason: "asked".to_owned() });
    assert!(house.journal.verify().unwrap().problems.is_empty());
    let set = |state: &str| {
        raw(&house.path()).execute("UPDATE submission SET state_json = ?1", [state]).unwrap();
        house.journal.verify().unwrap().problems.len()
    };
    assert_eq!(set(r#"{"state":"withdrawn"}"#), 0);
    assert_eq!(set(r#"{"state":"rejected"}"#), 1);
}

#[test]
fn an_older_journal_that_is_open_elsewhere_or_damaged_is_not_brought_on() {
    let house = House::new();
    house.import(1);
    let path = house.path();
    let folder = made_older(house);
    let backups = folder.path().join("backups");
    let lock = std::fs::File::open(folder.path().join("journal.db-lock")).unwrap();
    lock.lock_shared().unwrap();
    assert!(matches!(migrate(&path, &key(), &backups, at(1)), Err(OpenProblem::Busy)));
    drop(lock);
    raw(&path)
        .execute_batch(
            "UPDATE submission SET digest = identifier || substr(digest, length(identifier) + 1)",
        )
        .unwrap();
    let damaged = migrate(&path, &key(), &backups, at(1));
    assert!(matches!(damaged, Err(OpenProblem::WrongKeyOrDamaged)), "{damaged:?}");
    let version: u32 = raw(&path).query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 1);
}

#[test]
fn a_submission_that_is_not_there_takes_no_digest() {
    let house = House::new();
    house.journal.set_canonical(SubmissionId(9), &"c".repeat(64)).unwrap();
    assert!(matches!(house.journal.row(SubmissionId(9)), Err(JournalError::NotFound(_))));
}

/// A wrong correction is stopped and withdrawn: what it was to replace is open again, and so on
/// along a chain of them.
#[test]
fn a_correction_that_is_withdrawn_opens_again_what_it_was_to_replace() {
    for tried in [false, true] {
        let house = House::new();
        let wrong = house.import(1);
        house.record(wrong, Event::SendingStarted { since: at(1) });
        let mut failed = step(wrong, Event::Failed { receipt: "r-1".to_owned() });
        failed.evidence = Some(answer("<DocumentReference/>"));
        house.journal.record(failed).unwrap();
        let other = NewSubmission { corrects: Some(wrong), ..report(2) };
        let other = house.journal.import(other).unwrap();
        assert_eq!(house.journal.state(wrong).unwrap(), State::Superseded { by: other });
        if tried {
            house.record(other, Event::SendingStarted { since: at(2) });
            house.record(other, Event::Deferred { due: at(9), why: "dns".to_owned() });
        }
        house.record(other, Event::HeldBack);
        let third = NewSubmission { corrects: Some(other), ..report(3) };
        let third = house.journal.import(third).unwrap();
        for (withdrawn, opened) in [(third, other), (other, wrong)] {
            house.record(withdrawn, Event::Withdrawn { reason: "wrong file".to_owned() });
            let state = house.journal.state(opened).unwrap();
            assert!(matches!(state, State::Held { attempt: 1 }), "{state:?}");
            assert_eq!(house.journal.row(opened).unwrap().corrected_by, None);
        }
        let detail = house.journal.detail(wrong).unwrap();
        let told = detail.messages.iter().any(|it| it.code == "correction-withdrawn");
        assert!(told, "the person is told why");
        let right = NewSubmission { corrects: Some(wrong), ..report(4) };
        let right = house.journal.import(right).unwrap();
        assert_eq!(house.journal.row(wrong).unwrap().replacement, Some(right));
        assert_eq!(house.journal.verify().unwrap().problems, []);
    }
}

/// The content that a correction has replaced does not go out once more beside it, whoever asks for
/// that.
#[test]
fn what_was_replaced_is_not_sent_again_beside_what_replaced_it() {
    let house = House::new();
    let wrong = house.import(1);
    house.record(wrong, Event::HeldBack);
    let right = NewSubmission { corrects: Some(wrong), ..report(2) };
    let right = house.journal.import(right).unwrap();
    let again = |n| {
        let mut again = report(1);
        again.identifier = format!("urn:uuid:again-{n}");
        take(&house, again, Unless::Open)
    };
    assert_eq!(again(1), Imported::Known(vec![wrong]), "its correction is on its way");
    house.complete(right, "r-2");
    assert_eq!(again(2), Imported::Known(vec![wrong]), "its correction is completed");
}
