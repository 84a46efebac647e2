//! While a correction stands in the place of a report, the older version is not sent again, along
//! chains of corrections too.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

mod common;

use common::{House, accepted, answer, at, report, step};
use journal::{Imported, NewSubmission, RecordError, Unless};
use report::{Action, Event, State, SubmissionId};

fn correct(house: &House, id: SubmissionId, n: i64) -> SubmissionId {
    house.journal.import(NewSubmission { corrects: Some(id), ..report(n) }).unwrap()
}

/// A gateway let nothing through, and a person held it back: a request for it was made.
fn tried_and_held(house: &House, id: SubmissionId) {
    house.record(id, Event::SendingStarted { since: at(1) });
    house.record(id, Event::Deferred { due: at(2), why: "busy".to_owned() });
    house.record(id, Event::HeldBack);
}

/// A correction of it waits; then the authority turns out to have it, and has not finished for so
/// long that people are asked.
fn overdue_and_corrected(house: &House) -> (SubmissionId, SubmissionId) {
    let old = house.import(1);
    tried_and_held(house, old);
    let new = correct(house, old, 2);
    house.record(old, accepted("r-1"));
    house.record(old, Event::Overdue { due: at(9) });
    (old, new)
}

fn not_received() -> Event {
    Event::SaidNotReceived { reason: "hotline".to_owned(), due: at(9) }
}

fn withdrawn() -> Event {
    Event::Withdrawn { reason: "wrong file".to_owned() }
}

fn ended(house: &House, id: SubmissionId, event: Event) {
    let mut last = step(id, event);
    last.evidence = Some(answer("<DocumentReference/>"));
    house.journal.record(last).unwrap();
}

/// A request was cut, as a journal of before, or the authority after a restore, may have it.
fn in_doubt(house: &House, id: SubmissionId) {
    let doubt = State::Unknown {
        attempt: 2,
        since: at(3),
        asked: 0,
        due: at(4),
        empty_since: None,
        refused: false,
        doubts: 0,
    };
    let state = serde_json::to_string(&doubt).unwrap();
    house
        .sql()
        .execute(
            "UPDATE submission SET state = 'unknown', state_json = ?2 WHERE id = ?1",
            rusqlite::params![id.0, state],
        )
        .unwrap();
}

fn actions(house: &House, id: SubmissionId) -> Vec<Action> {
    let (detail, now) = (house.journal.detail(id).unwrap(), at(1_000));
    assert_eq!(detail.actions(now), detail.row.actions(now));
    detail.actions(now)
}

fn doubted() -> Event {
    Event::Doubted { since: at(3), due: at(4), why: "cut".to_owned() }
}

fn started() -> Event {
    Event::SendingStarted { since: at(3) }
}

/// Whoever asks the authority may be told that it has the correction alone: that is no reason to
/// send the old version.
#[test]
fn what_a_correction_stands_in_for_is_not_sent_again_by_a_word() {
    let lives: [&[Event]; 4] = [&[], &[Event::HeldBack], &[started()], &[started(), doubted()]];
    for life in lives {
        let house = House::new();
        let (old, new) = overdue_and_corrected(&house);
        for event in life {
            ended(&house, new, event.clone());
        }
        let now = house.journal.state(new).unwrap();
        assert_eq!(actions(&house, old), [Action::SayReceived], "{now:?}");
        let refused = house.journal.record(step(old, not_received()));
        assert!(
            matches!(refused, Err(RecordError::BeingReplaced { by }) if by == new),
            "{now:?}: {refused:?}"
        );
        assert_eq!(house.journal.state(old).unwrap().code(), "in-progress");
    }
}

/// Once its correction has arrived, the word that the older version was not received ends that: it
/// is replaced.
#[test]
fn what_was_not_received_beside_a_correction_that_has_arrived_is_closed_by_a_word() {
    let receipt = || "r-2".to_owned();
    let lives: [&[Event]; 5] = [
        &[started(), accepted("r-2")],
        &[started(), Event::Completed { receipt: receipt() }],
        &[started(), Event::Failed { receipt: receipt() }],
        &[started(), Event::Rejected],
        &[started(), doubted(), Event::SaidReceived { reason: "hotline".to_owned() }],
    ];
    for life in lives {
        let house = House::new();
        let (old, new) = overdue_and_corrected(&house);
        for event in life {
            ended(&house, new, event.clone());
        }
        let now = house.journal.state(new).unwrap();
        assert_eq!(house.journal.row(old).unwrap().replacement, Some(new), "{now:?}");
        assert_eq!(actions(&house, old), [Action::SayReceived, Action::SayNotReceived], "{now:?}");
        house.record(old, not_received());
        assert_eq!(house.journal.state(old).unwrap(), State::Superseded { by: new }, "{now:?}");
        assert_eq!(house.journal.verify().unwrap().problems, []);
    }
}

/// The second of two corrections has arrived before it is known that the first one has not: what
/// that was to replace is closed with it.
#[test]
fn what_a_closed_correction_was_to_replace_is_closed_with_it() {
    let house = House::new();
    let wrong = house.import(1);
    tried_and_held(&house, wrong);
    let other = correct(&house, wrong, 2);
    tried_and_held(&house, other);
    let right = correct(&house, other, 3);
    in_doubt(&house, other);
    house.complete(right, "r-3");
    assert_eq!(house.journal.state(wrong).unwrap().code(), "held", "the first may have arrived");
    house.record(other, Event::NotReceived { due: at(9) });
    let states = [other, wrong].map(|id| house.journal.state(id).unwrap());
    assert_eq!(states, [State::Superseded { by: right }, State::Superseded { by: right }]);
}

/// The control: once the correction is withdrawn, the word counts.
#[test]
fn what_no_correction_stands_in_for_any_more_is_sent_again_by_a_word() {
    let house = House::new();
    let (old, new) = overdue_and_corrected(&house);
    house.record(new, withdrawn());
    assert!(actions(&house, old).contains(&Action::SayNotReceived));
    house.record(old, not_received());
    assert_eq!(house.journal.state(old).unwrap().code(), "queued");
}

/// What turns out not to have arrived while its correction waits is on hold, and is closed by what
/// arrives.
#[test]
fn what_a_correction_stands_in_for_is_not_sent_again_after_a_doubt() {
    for has_arrived in [false, true] {
        let house = House::new();
        let old = house.import(1);
        tried_and_held(&house, old);
        let new = correct(&house, old, 2);
        house.record(old, accepted("r-1"));
        // A journal of before let the word through, and the request that followed was cut.
        in_doubt(&house, old);
        if has_arrived {
            house.record(new, Event::SendingStarted { since: at(3) });
            house.record(new, accepted("r-2"));
        }
        house.record(old, Event::NotReceived { due: at(9) });
        let state = house.journal.state(old).unwrap();
        if has_arrived {
            assert_eq!(state, State::Superseded { by: new });
            continue;
        }
        assert_eq!(state, State::Held { attempt: 2 });
        assert!(!actions(&house, old).contains(&Action::Release));
        house.complete(new, "r-2");
        assert_eq!(house.journal.state(old).unwrap(), State::Superseded { by: new });
    }
}

/// The first correction was tried, so that the second waits beside it. The first is withdrawn then:
/// the second stands for the very first report.
#[test]
fn a_correction_of_a_withdrawn_correction_stands_for_what_that_had_replaced() {
    for linked in [false, true] {
        let house = House::new();
        let wrong = house.import(1);
        match linked {
            true => tried_and_held(&house, wrong),
            false => house.reject(wrong, "no"),
        }
        let other = correct(&house, wrong, 2);
        tried_and_held(&house, other);
        let right = correct(&house, other, 3);
        house.record(other, withdrawn());

        let row = house.journal.row(wrong).unwrap();
        let is_closed = row.state == State::Superseded { by: right };
        assert!(is_closed || row.replacement == Some(right), "{:?}", row.state);
        for action in [Action::Release, Action::Correct, Action::Resubmit] {
            assert!(!actions(&house, wrong).contains(&action), "{action:?} beside #{}", right.0);
        }
        let released = Event::Released { reason: "so".to_owned(), due: at(9) };
        assert!(house.journal.record(step(wrong, released)).is_err());
        assert!(
            house.journal.import(NewSubmission { corrects: Some(wrong), ..report(4) }).is_err()
        );
        let again = NewSubmission { identifier: "urn:uuid:again".to_owned(), ..report(1) };
        let again = house.journal.import_unless_async(again, Unless::Open).wait().unwrap();
        assert_eq!(again, Imported::Known(vec![wrong]), "the first content is not sent beside it");

        house.complete(right, "r-3");
        assert_eq!(house.journal.state(wrong).unwrap(), State::Superseded { by: right });
        assert_eq!(house.journal.state(other).unwrap(), State::Withdrawn { received: false });
        assert_eq!(house.journal.verify().unwrap().problems, []);
    }
}

/// The second is withdrawn too: nothing else would be left of the report.
#[test]
fn what_is_left_of_withdrawn_corrections_is_open_again() {
    for linked in [false, true] {
        let house = House::new();
        let wrong = house.import(1);
        match linked {
            true => tried_and_held(&house, wrong),
            false => house.reject(wrong, "no"),
        }
        let other = correct(&house, wrong, 2);
        tried_and_held(&house, other);
        let right = correct(&house, other, 3);
        house.record(other, withdrawn());
        house.record(right, withdrawn());
        assert_eq!(house.journal.state(wrong).unwrap(), State::Held { attempt: 1 });
        let released = Event::Released { reason: "so".to_owned(), due: at(9) };
        house.record(wrong, released);
        assert_eq!(house.journal.verify().unwrap().problems, []);
    }
}

/// The last of three arrived, failed and was given up, and so was the one before it.
#[test]
fn what_the_last_of_three_had_closed_is_open_again_with_the_others() {
    for linked in [false, true] {
        let house = House::new();
        let wrong = house.import(1);
        match linked {
            true => tried_and_held(&house, wrong),
            false => house.reject(wrong, "no"),
        }
        let other = correct(&house, wrong, 2);
        tried_and_held(&house, other);
        let right = correct(&house, other, 3);
        house.record(right, Event::SendingStarted { since: at(3) });
        ended(&house, right, Event::Failed { receipt: "r-3".to_owned() });
        house.record(right, withdrawn());
        assert_eq!(house.journal.state(other).unwrap(), State::Held { attempt: 1 });
        assert_eq!(house.journal.state(wrong).unwrap(), State::Superseded { by: other });
        house.record(other, withdrawn());
        assert_eq!(house.journal.state(wrong).unwrap(), State::Held { attempt: 1 });
        assert_eq!(house.journal.verify().unwrap().problems, []);
    }
}

/// A report that waits at the end of a chain is named at each report that it stands for.
#[test]
fn what_waits_at_the_end_of_a_chain_is_named_at_its_beginning() {
    let house = House::new();
    let wrong = house.import(1);
    house.reject(wrong, "no");
    let newer = NewSubmission { corrects: Some(wrong), first: Event::Held, ..report(2) };
    let newer = house.journal.import_unless_async(newer, Unless::Known).wait().unwrap();
    let Imported::New(newer) = newer else { panic!("{newer:?}") };
    let right = correct(&house, newer, 3);
    assert_eq!(house.journal.state(newer).unwrap(), State::Superseded { by: right });
    assert_eq!(house.journal.row(wrong).unwrap().replacement, Some(right));
    assert_eq!(actions(&house, wrong), [Action::Withdraw]);
}

/// The second version came while the first was in progress. What is as old as the first is older
/// than it, in whatever bytes it is sent again.
#[test]
fn what_is_sent_again_in_other_bytes_is_as_old_as_it_was() {
    let house = House::new();
    let document = report(1).summary;
    let version = |n, says: char| NewSubmission {
        summary: document.clone(),
        canonical: Some(says.to_string().repeat(64)),
        ..report(n)
    };
    let first = house.journal.import(version(1, 'a')).unwrap();
    house.record(first, Event::SendingStarted { since: at(1) });
    house.record(first, accepted("r-1"));
    let second = house.journal.import(version(2, 'b')).unwrap();
    house.record(first, Event::Failed { receipt: "r-1".to_owned() });
    let again = NewSubmission { corrects: Some(first), ..version(3, 'a') };
    let again = house.journal.import(again).unwrap();
    house.complete(second, "r-2");
    assert_eq!(house.journal.other_versions_of(again).unwrap().newer, [second]);
    let other = NewSubmission { corrects: Some(again), ..version(4, 'c') };
    house.reject(again, "no");
    let other = house.journal.import(other).unwrap();
    assert!(house.journal.other_versions_of(other).unwrap().newer.is_empty());
}
