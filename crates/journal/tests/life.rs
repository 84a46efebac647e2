//! The life of a submission: what is recorded, what is refused, what replaying gives.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

mod common;

use common::{House, accepted, anna, answer, at, found, issue, report, step};
use fhir::Severity;
use journal::{Destination, JournalError, RecordError, Token};
use proptest::prelude::*;
use report::{Duty, Event, State, SubmissionId};

#[test]
fn a_report_goes_from_queued_to_completed() {
    let house = House::new();
    let id = house.import(1);
    let due = house.journal.due(at(0), 10).unwrap();
    assert_eq!((due[0].id, due[0].duty, due.len()), (id, Duty::Send, 1));
    assert_eq!(due[0].identifier, report(1).identifier);
    assert_eq!(house.journal.next_due().unwrap(), Some(at(0)));
    assert!(house.journal.due(at(-1), 10).unwrap().is_empty());

    house.record(id, Event::SendingStarted { since: at(1) });
    assert!(house.journal.due(at(9_999), 10).unwrap().is_empty(), "a request is under way");
    assert_eq!(house.journal.open_reports().unwrap()[0].id, id);
    let mut step = step(id, accepted("r-1"));
    step.evidence = Some(answer("<DocumentReference id='r-1'/>"));
    step.lease = None;
    house.journal.record(step).unwrap();
    assert_eq!(house.journal.by_receipt("r-1").unwrap(), Some(id));
    let mut last = common::step(id, Event::Completed { receipt: "r-1".to_owned() });
    last.evidence = Some(answer("<DocumentReference final='yes'/>"));
    let state = house.journal.record(last).unwrap();
    assert_eq!(state, State::Completed { receipt: "r-1".to_owned() });

    let detail = house.journal.detail(id).unwrap();
    let codes: Vec<_> = detail.timeline.iter().map(|e| e.event.code()).collect();
    assert_eq!(codes, ["queued", "sending-started", "accepted", "completed"]);
    assert_eq!(detail.row.attempts, 1);
    let evidence = house.journal.evidence(id).unwrap();
    assert_eq!(evidence[1].evidence.body, b"<DocumentReference final='yes'/>");
    assert_eq!(detail.timeline[3].evidence, Some(evidence[1].id));
    assert_eq!(house.journal.document(id).unwrap(), report(1).document);
    assert_eq!(detail.document_size, Some(report(1).document.len() as u64));
    assert!(house.journal.open_reports().unwrap().is_empty());
    assert_eq!(house.journal.next_due().unwrap(), None);
}

#[test]
fn an_illegal_event_changes_nothing_but_its_answer_can_be_kept() {
    let house = House::new();
    let id = house.import(1);
    let before = house.journal.detail(id).unwrap();
    let mut wrong = step(id, Event::Completed { receipt: "x".to_owned() });
    wrong.evidence = Some(answer("late"));
    assert!(matches!(house.journal.record(wrong), Err(RecordError::Illegal(_))));
    let after = house.journal.detail(id).unwrap();
    assert_eq!(before.row.state, after.row.state);
    assert_eq!(before.timeline, after.timeline);
    assert!(house.journal.evidence(id).unwrap().is_empty());
    house.journal.keep_evidence(id, answer("late")).unwrap();
    assert_eq!(house.journal.evidence(id).unwrap()[0].evidence.body, b"late");
}

#[test]
fn completed_needs_the_answer() {
    let house = House::new();
    let id = house.import(1);
    house.record(id, Event::SendingStarted { since: at(1) });
    let bare = step(id, Event::Completed { receipt: "x".to_owned() });
    assert!(matches!(house.journal.record(bare), Err(RecordError::NoEvidence)));
}

#[test]
fn an_unexpected_state_and_an_unknown_submission_are_told() {
    let house = House::new();
    let id = house.import(1);
    let mut step = step(id, Event::SendingStarted { since: at(1) });
    step.expected = Some("held");
    let refused = house.journal.record(step.clone());
    assert!(matches!(refused, Err(RecordError::Unexpected { found: "queued" })));
    step.id = SubmissionId(99);
    let missing = house.journal.record(step);
    let expected = JournalError::NotFound(SubmissionId(99));
    assert_eq!(missing.unwrap_err().to_string(), expected.to_string());
    assert!(matches!(house.journal.state(SubmissionId(0)), Err(JournalError::NotFound(_))));
}

#[test]
fn a_wrong_digest_or_first_event_is_not_taken_in() {
    let house = House::new();
    let mut new = report(1);
    new.document.push(b' ');
    assert!(matches!(house.journal.import(new), Err(RecordError::DigestMismatch)));
    let mut new = report(1);
    new.first = Event::Rejected;
    assert!(matches!(house.journal.import(new), Err(RecordError::Illegal(_))));
    assert_eq!(house.journal.counts(at(0)).unwrap().total(), 0);
}

#[test]
fn a_correction_takes_the_place_of_its_predecessor_or_is_not_taken_in() {
    let house = House::new();
    let wrong = house.import(1);
    house.reject(wrong, "Geburtsdatum fehlt");
    let mut correction = report(2);
    correction.corrects = Some(wrong);
    let right = house.journal.import(correction.clone()).unwrap();
    assert_eq!(house.journal.state(wrong).unwrap(), State::Superseded { by: right });
    assert_eq!(house.journal.row(wrong).unwrap().corrected_by, Some(right));
    assert_eq!(house.journal.row(right).unwrap().corrects, Some(wrong));

    // A second correction of the same report, and one of a report that is under way.
    assert!(matches!(house.journal.import(correction), Err(RecordError::Illegal(_))));
    let mut third = report(3);
    third.corrects = Some(right);
    assert!(matches!(house.journal.import(third), Err(RecordError::Illegal(_))));
    assert_eq!(house.journal.counts(at(0)).unwrap().total(), 2);
    assert!(house.journal.verify().unwrap().problems.is_empty());
}

#[test]
fn the_authoritys_messages_are_replaced_and_ours_stay() {
    let house = House::new();
    let mut new = report(1);
    let mut ours = issue("");
    (ours.source, ours.severity) = (journal::Source::Local, Severity::Warning);
    (ours.text, ours.code) = (None, "old-test".to_owned());
    new.findings = vec![ours.clone()];
    let id = house.journal.import(new).unwrap();
    house.record(id, Event::SendingStarted { since: at(1) });
    let mut failed = step(id, accepted("r"));
    failed.issues = Some(vec![issue("eins"), issue("zwei")]);
    house.journal.record(failed).unwrap();
    let mut failed = step(id, Event::StillInProgress { due: at(5) });
    failed.issues = Some(vec![issue("drei")]);
    house.journal.record(failed).unwrap();
    let detail = house.journal.detail(id).unwrap();
    assert!(detail.messages == vec![ours, issue("drei")]);
    assert_eq!((detail.row.messages.errors, detail.row.messages.warnings), (1, 1));
    assert_eq!(found(&house.journal, "drei"), [id]);
    assert!(found(&house.journal, "zwei").is_empty());
}

/// An answer that says nothing new of a report leaves its words in the index where they are.
#[test]
fn what_the_authority_says_again_costs_the_index_nothing() {
    let house = House::new();
    let id = house.import(1);
    house.record(id, Event::SendingStarted { since: at(1) });
    let entry = || {
        let query = "SELECT origin FROM search_docsize WHERE id = 1";
        house.sql().query_row(query, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let first = entry();
    let mut accepted = step(id, accepted("r"));
    accepted.issues = Some(Vec::new());
    house.journal.record(accepted).unwrap();
    assert_eq!(entry(), first, "nothing was said before either");
    let answer = || {
        let mut answer = step(id, Event::StillInProgress { due: at(5) });
        answer.issues = Some(vec![issue("eins"), issue("zwei")]);
        answer
    };
    house.journal.record(answer()).unwrap();
    let second = entry();
    assert_ne!(second, first);
    assert_eq!(found(&house.journal, "zwei"), [id]);
    house.journal.record(answer()).unwrap();
    assert_eq!(entry(), second);
    let mut cleared = step(id, Event::StillInProgress { due: at(6) });
    cleared.issues = Some(Vec::new());
    house.journal.record(cleared).unwrap();
    assert!(found(&house.journal, "zwei").is_empty());
    assert!(house.journal.detail(id).unwrap().messages.is_empty());
    assert_eq!(found(&house.journal, "anna"), [id]);
}

#[test]
fn after_a_start_what_was_being_sent_is_in_doubt() {
    let house = House::new();
    let (sent, waiting) = (house.import(1), house.import(2));
    house.record(sent, Event::SendingStarted { since: at(5) });
    let folder = house.leave();
    let journal =
        journal::Journal::open(&folder.path().join("journal.db"), &common::key()).unwrap();
    assert_eq!(journal.recover(at(50), &anna(), None).unwrap(), [sent]);
    let expected = State::Unknown {
        attempt: 1,
        since: at(5),
        asked: 0,
        due: at(50),
        empty_since: None,
        refused: false,
        doubts: 0,
    };
    assert_eq!(journal.state(sent).unwrap(), expected);
    assert_eq!(journal.state(waiting).unwrap().code(), "queued");
    assert_eq!(journal.recover(at(51), &anna(), None).unwrap(), []);
    assert!(matches!(
        journal.recover(at(51), &anna(), Some(Token(4))),
        Err(RecordError::Journal(JournalError::StaleLease))
    ));
}

#[test]
fn reports_are_found_by_what_identifies_them() {
    let house = House::new();
    let first = house.import(1);
    let mut again = report(2);
    (again.document, again.digest) = (report(1).document, report(1).digest);
    again.summary.identifier = report(1).summary.identifier;
    let second = house.journal.import(again).unwrap();
    let journal = &house.journal;
    assert_eq!(journal.of_content(&report(1).digest, None, None).unwrap(), [first, second]);
    let practice = Destination { endpoint: "practice", environment: None };
    let known = journal.of_document("urn:uuid:document-1", practice).unwrap();
    let known: Vec<_> = known.iter().map(|it| (it.id, it.digest.clone(), it.has_content)).collect();
    assert_eq!(known, [(first, report(1).digest, true), (second, report(1).digest, true)]);
    let other = Destination { endpoint: "other", environment: None };
    assert_eq!(journal.of_document("urn:uuid:document-1", other).unwrap(), []);
    let attempt = report(2).identifier;
    assert_eq!(journal.find_by_attempt_identifier(&attempt).unwrap(), Some(second));
    assert_eq!(journal.find_by_attempt_identifier("urn:uuid:none").unwrap(), None);
    assert_eq!(journal.by_receipt("none").unwrap(), None);
}

#[test]
fn events_and_evidence_and_submissions_are_append_only() {
    let house = House::new();
    let id = house.import(1);
    house.complete(id, "r-1");
    let sql = house.sql();
    for statement in [
        "DELETE FROM event",
        "UPDATE event SET person = 'nobody'",
        "DELETE FROM evidence",
        "UPDATE evidence SET body = NULL",
        "UPDATE evidence SET http_status = 500",
        "DELETE FROM submission",
        "INSERT OR REPLACE INTO event SELECT id, submission, at, 'nobody', code, event, evidence, \
         hash FROM event",
        "INSERT OR REPLACE INTO evidence SELECT id, submission, kind, at, 500, NULL, NULL, digest, \
         size, body FROM evidence",
        "INSERT OR REPLACE INTO submission (id, created, updated, file, format, endpoint, digest, \
         identifier, state, state_json) SELECT id, created, updated, 'x', format, endpoint, \
         digest, identifier, state, state_json FROM submission",
    ] {
        let refused = sql.execute_batch(statement);
        assert!(refused.is_err(), "{statement}");
    }
    assert!(house.journal.verify().unwrap().problems.is_empty());
}

fn any_event() -> impl Strategy<Value = Event> {
    let due = at(10);
    let receipt = || prop_oneof![Just("a".to_owned()), Just("b".to_owned())];
    let why = || "x".to_owned();
    prop_oneof![
        Just(Event::Held),
        Just(Event::HeldBack),
        Just(Event::Released { reason: why(), due }),
        Just(Event::SendingStarted { since: due }),
        Just(Event::Deferred { due, why: why() }),
        Just(Event::Doubted { since: due, due, why: why() }),
        Just(Event::AskedInVain { due, answered: None }),
        Just(Event::OtherNotShown { of: SubmissionId(9), due, answered: None }),
        (any::<bool>(), any::<bool>()).prop_map(move |(in_vain, late)| Event::NotAnswered {
            due,
            why: why(),
            in_vain,
            late
        }),
        Just(Event::NotReceived { due }),
        receipt().prop_map(|r| accepted(&r)),
        Just(Event::StillInProgress { due }),
        Just(Event::Overdue { due }),
        Just(Event::NotFound { at: due, due, late: true }),
        Just(Event::TurnedAway { due, why: why() }),
        Just(Event::HeldAfterRefusals { why: why() }),
        Just(Event::SaidReceived { reason: why() }),
        Just(Event::StillExpected { reason: why(), at: due }),
        Just(Event::SaidNotReceived { reason: why(), due }),
        receipt().prop_map(|receipt| Event::Completed { receipt }),
        receipt().prop_map(|receipt| Event::Failed { receipt }),
        Just(Event::Rejected),
        Just(Event::Withdrawn { reason: why() }),
        Just(Event::Queued { due }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    /// Whatever arrives in whatever order: the stored state is what `State::apply` says and what
    /// replaying the events gives, and the whole journal agrees with itself.
    #[test]
    fn replaying_gives_the_stored_state(events in prop::collection::vec((0..3_usize, any_event()), 1..60)) {
        let house = House::new();
        let ids = [house.import(1), house.import(2), house.import(3)];
        let mut model = ids.map(|id| house.journal.state(id).unwrap());
        for (which, event) in events {
            let mut step = step(ids[which], event.clone());
            step.evidence = Some(answer("proof"));
            match (model[which].apply(&event), house.journal.record(step)) {
                (Ok(expected), Ok(state)) => {
                    prop_assert_eq!(&expected, &state);
                    model[which] = state;
                }
                (Err(expected), Err(RecordError::Illegal(illegal))) => {
                    prop_assert_eq!(expected, illegal);
                }
                (expected, got) => prop_assert!(false, "{expected:?} but {got:?}"),
            }
        }
        for (id, expected) in ids.into_iter().zip(&model) {
            prop_assert_eq!(&house.journal.state(id).unwrap(), expected);
            prop_assert_eq!(&house.journal.replay(id).unwrap(), expected);
        }
        let verification = house.journal.verify().unwrap();
        prop_assert_eq!(verification.problems, vec![]);
        prop_assert_eq!((verification.submissions, verification.digests_ok), (3, 3));
        let counts = house.journal.counts(at(0)).unwrap();
        prop_assert_eq!(counts.total(), 3);
        for state in &model {
            prop_assert!(counts.by_state[state.code()] > 0);
        }
    }
}
