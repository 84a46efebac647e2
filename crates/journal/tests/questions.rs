//! What the worker and people ask the journal about reports of one endpoint among several.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

mod common;

use common::{House, accepted, at, report, step};
use fhir::{Finding, Severity};
use journal::{
    DiscrepancyKind, JournalError, Message, NewSubmission, Notice, RecordError, Sibling, Source,
};
use report::{Event, SubmissionId};

/// Taken in for this endpoint, under this identifier.
fn import(house: &House, n: i64, endpoint: &str, identifier: &str) -> SubmissionId {
    let (endpoint, identifier) = (endpoint.to_owned(), identifier.to_owned());
    house.journal.import(NewSubmission { endpoint, identifier, ..report(n) }).unwrap()
}

fn accept(house: &House, id: SubmissionId, receipt: &str) {
    house.record(id, Event::SendingStarted { since: at(1) });
    house.record(id, accepted(receipt));
}

#[test]
fn siblings_have_the_same_identifier_at_the_same_endpoint() {
    let house = House::new();
    let ours = import(&house, 1, "one", "urn:uuid:shared");
    let sending = import(&house, 2, "one", "urn:uuid:shared");
    let accepted = import(&house, 3, "one", "urn:uuid:shared");
    import(&house, 4, "two", "urn:uuid:shared");
    let alone = import(&house, 5, "one", "urn:uuid:alone");
    house.record(sending, Event::SendingStarted { since: at(1) });
    accept(&house, accepted, "r");
    let siblings = house.journal.siblings(ours).unwrap();
    let of = |id, may_be_delivered| Sibling {
        id: Some(id),
        may_be_delivered,
        was_sent: false,
        restored: None,
    };
    assert_eq!(siblings, [of(sending, true), of(accepted, false)]);
    let doubted = Event::Doubted { since: at(1), due: at(2), why: "cut".to_owned() };
    house.record(sending, doubted);
    assert_eq!(house.journal.siblings(ours).unwrap(), siblings, "in doubt it may be as well");
    assert_eq!(house.journal.siblings(alone).unwrap(), []);
    house.record(sending, Event::NotReceived { due: at(3) });
    let was_sent = Sibling { was_sent: true, ..of(sending, false) };
    assert_eq!(house.journal.siblings(ours).unwrap(), [was_sent, of(accepted, false)]);
}

/// Every authority numbers by itself.
#[test]
fn a_receipt_is_known_at_its_endpoint() {
    let house = House::new();
    let [one, two] = ["one", "two"].map(|endpoint| {
        assert!(!house.journal.was_accepted_at(endpoint).unwrap());
        let id = import(&house, 1, endpoint, &format!("urn:uuid:{endpoint}"));
        house.record(id, Event::SendingStarted { since: at(1) });
        assert!(!house.journal.was_accepted_at(endpoint).unwrap(), "sending is not accepted");
        house.record(id, accepted("7"));
        id
    });
    let at_endpoint = |endpoint| house.journal.by_receipt_at(endpoint, "7").unwrap();
    let owner = |id, name: &str| (id, format!("urn:uuid:{name}"));
    assert_eq!(
        ["one", "two", "three"].map(at_endpoint),
        [vec![owner(one, "one")], vec![owner(two, "two")], Vec::new()]
    );
    assert_eq!(house.journal.by_receipt_at("one", "8").unwrap(), []);
    assert!(["one", "two"].iter().all(|at| house.journal.was_accepted_at(at).unwrap()));
    assert!(!house.journal.was_accepted_at("three").unwrap());
    let later = import(&house, 2, "one", "urn:uuid:later");
    accept(&house, later, "7");
    assert_eq!(at_endpoint("one"), [owner(later, "later"), owner(one, "one")], "the newest first");
}

/// Only the endpoint in use is worked.
#[test]
fn what_waits_for_another_endpoint_is_counted() {
    let house = House::new();
    for (n, endpoint) in ["one", "two", "two", "three", "two"].iter().enumerate() {
        let n = i64::try_from(n).unwrap();
        import(&house, n, endpoint, &format!("urn:uuid:{n}"));
    }
    let elsewhere = |in_use| {
        let mut counts = house.journal.open_elsewhere(in_use).unwrap();
        counts.sort();
        counts
    };
    let owned = |(endpoint, count): (&str, u32)| (endpoint.to_owned(), count);
    assert_eq!(elsewhere("one"), [("three", 1), ("two", 3)].map(owned));
    assert_eq!(elsewhere("two"), [("one", 1), ("three", 1)].map(owned));
    // What waits for a person waits wherever it is to go.
    house.record(SubmissionId(2), Event::HeldBack);
    house.complete(SubmissionId(3), "r");
    assert_eq!(elsewhere("one"), [("three", 1), ("two", 1)].map(owned));
}

#[test]
fn a_notice_is_told_until_it_was_read() {
    let house = House::new();
    let notice = |code, value| Notice::new(code, &[("count", value)], at(1));
    house.journal.put_notice(notice("watched-files-refused", "1")).unwrap();
    house.journal.put_notice(notice("journal-from-backup", "1")).unwrap();
    house.journal.put_notice(notice("watched-files-refused", "2")).unwrap();
    let (kept, read) = (notice("journal-from-backup", "1"), notice("watched-files-refused", "2"));
    assert_eq!(house.journal.notices().unwrap(), [kept.clone(), read], "in place of the earlier");
    house.journal.remove_notice("watched-files-refused").unwrap();
    assert_eq!(house.journal.notices().unwrap(), [kept]);
}

#[test]
fn a_finding_keeps_its_place() {
    let mut finding = Finding {
        code: "date-in-future".to_owned(),
        severity: Severity::Error,
        expression: "Bundle.entry[1].resource.birthDate".to_owned(),
        position: None,
        params: vec![("value".to_owned(), "2999".to_owned())],
    };
    let message = Message::from_finding(Source::Local, &finding);
    assert_eq!(message.expression.as_ref(), Some(&finding.expression));
    assert_eq!((message.source, message.code), (Source::Local, finding.code.clone()));
    finding.expression.clear();
    assert_eq!(Message::from_finding(Source::Base, &finding).expression, None);
}

/// People and scripts tell them apart by the code.
#[test]
fn each_discrepancy_has_a_code_of_its_own() {
    use DiscrepancyKind as Kind;
    let kinds = [
        Kind::Pages,
        Kind::Replay,
        Kind::Event,
        Kind::Digest,
        Kind::Document,
        Kind::Evidence,
        Kind::Unproven,
        Kind::Chain,
        Kind::Counts,
        Kind::Anchor,
    ];
    let codes: std::collections::BTreeSet<_> = kinds.iter().map(|kind| kind.code()).collect();
    assert_eq!(codes.len(), kinds.len());
    assert_eq!(Kind::Unproven.code(), "unproven");
}

/// Damage that leaves every page whole: each kind is found for what it is.
#[test]
fn verifying_finds_what_was_changed_behind_the_journals_back() {
    type Damage = (&'static str, DiscrepancyKind);
    let changes: [Damage; 5] = [
        (
            "UPDATE document SET (size, content) =
                 (SELECT size, content FROM document WHERE submission = 2) WHERE submission = 1",
            DiscrepancyKind::Digest,
        ),
        ("DELETE FROM document WHERE submission = 1", DiscrepancyKind::Document),
        ("DELETE FROM evidence", DiscrepancyKind::Unproven),
        (
            "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = \
             'submission_digest'",
            DiscrepancyKind::Pages,
        ),
        ("UPDATE submission SET state_json = '{}' WHERE id = 2", DiscrepancyKind::Replay),
    ];
    for (change, kind) in changes {
        let house = House::new();
        house.import(1);
        house.complete(SubmissionId(1), "r");
        house.import(2);
        assert_eq!(house.journal.verify().unwrap().problems, []);
        let folder = house.leave();
        let path = folder.path().join("journal.db");
        let sql = common::raw(&path);
        let triggers: Vec<String> = sql
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for trigger in triggers {
            sql.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
        }
        sql.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        sql.execute_batch(change).unwrap();
        sql.close().unwrap();
        let journal = journal::Journal::open(&path, &common::key()).unwrap();
        let found = journal.verify().unwrap().problems;
        assert!(found.iter().any(|found| found.kind == kind), "{change}: {found:?}");
    }
}

/// What is stored of one report cannot be read: its step is refused, and the others go on.
#[test]
fn a_report_that_cannot_be_read_stops_no_other() {
    let house = House::new();
    let (damaged, other) = (house.import(1), house.import(2));
    let sql = house.sql();
    sql.execute("UPDATE submission SET state_json = '{}' WHERE id = ?1", [damaged.0]).unwrap();
    for _ in 0..3 {
        let refused = house.journal.record(step(damaged, Event::HeldBack));
        assert!(matches!(refused, Err(RecordError::Journal(JournalError::Damaged))), "{refused:?}");
    }
    house.record(other, Event::HeldBack);
    assert_eq!(house.journal.state(other).unwrap().code(), "held");
}
