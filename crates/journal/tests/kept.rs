//! What is kept comes back as it was: encodings, kinds of evidence, sizes, counts of messages.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod common;

use common::{House, accepted, answer, at, digest, filter, issue, report, step};
use fhir::{Format, Severity};
use journal::{Evidence, EvidenceKind, Filter, LeaseAnswer, Retention, Source};
use report::Event;

#[test]
fn both_encodings_come_back_as_they_were() {
    let house = House::new();
    for (n, format) in [(1, Format::Json), (2, Format::Xml)] {
        let mut new = report(n);
        new.format = format;
        let id = house.journal.import(new).unwrap();
        assert_eq!(house.journal.row(id).unwrap().format, format);
    }
}

#[test]
fn every_kind_of_evidence_comes_back_as_it_was() {
    let house = House::new();
    let id = house.import(1);
    let kinds = [EvidenceKind::Create, EvidenceKind::Search, EvidenceKind::Read];
    let kept: Vec<Evidence> = kinds
        .into_iter()
        .enumerate()
        .map(|(n, kind)| Evidence {
            kind,
            at: at(200 + i64::try_from(n).unwrap()),
            fault: (n == 2).then(|| "cut".to_owned()),
            http_status: (n != 2).then_some(200),
            ..answer(&format!("body {n}"))
        })
        .collect();
    for evidence in &kept {
        house.journal.keep_evidence(id, evidence.clone()).unwrap();
    }
    let found = house.journal.evidence(id).unwrap();
    assert_eq!(found.len(), 3);
    for (found, kept) in found.iter().zip(&kept) {
        assert!(found.evidence == *kept, "{:?}", found.evidence.kind);
        assert_eq!(found.size, u64::try_from(kept.body.len()).unwrap());
        assert_eq!(found.digest, digest(&kept.body));
    }
}

/// As large as intake lets in: 20 MB.
#[test]
fn a_large_document_comes_back_byte_for_byte() {
    let house = House::new();
    let mut new = report(1);
    new.document =
        (0..20_000_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    new.digest = digest(&new.document);
    let document = new.document.clone();
    let id = house.journal.import(new).unwrap();
    assert!(house.journal.document(id).unwrap() == document);
}

#[test]
fn messages_are_counted_by_how_bad_they_are() {
    let house = House::new();
    let id = house.import(1);
    house.record(id, Event::SendingStarted { since: at(1) });
    let mut last = step(id, accepted("r-1"));
    let of = |severity| {
        let mut message = issue("words");
        message.severity = severity;
        message
    };
    last.evidence = Some(answer("<DocumentReference/>"));
    last.issues = Some(vec![
        of(Severity::Error),
        of(Severity::Warning),
        of(Severity::Warning),
        of(Severity::Information),
        of(Severity::Information),
        of(Severity::Information),
    ]);
    house.journal.record(last).unwrap();
    let counts = house.journal.row(id).unwrap().messages;
    assert_eq!((counts.errors, counts.warnings, counts.notices), (1, 2, 3));
}

#[test]
fn every_write_that_was_confirmed_is_a_commit() {
    let house = House::new();
    let before = house.journal.commits();
    house.import(1);
    house.import(2);
    assert_eq!(house.journal.commits(), before + 2);
}

/// Words, parameters and places of messages may quote the document: none outlives it.
#[test]
fn retention_leaves_the_codes_of_messages_and_nothing_else() {
    let house = House::new();
    let id = house.import(1);
    house.record(id, Event::SendingStarted { since: at(1) });
    let mut last = step(id, Event::Completed { receipt: "r-1".to_owned() });
    let mut message = issue("words about Anna");
    message.params = vec![("value".to_owned(), "Anna".to_owned())];
    last.evidence = Some(answer("<DocumentReference/>"));
    last.issues = Some(vec![message]);
    house.journal.record(last).unwrap();
    let kept = |house: &House| house.journal.detail(id).unwrap().messages;
    let before = kept(&house);
    assert!(before[0].text.is_some() && before[0].expression.is_some());
    assert_eq!(before[0].params.len(), 1);
    let rule = Retention { completed_days: Some(30), closed_days: None };
    let erasable = |days: i64| house.journal.erasable(rule, at(days * 86_400)).unwrap();
    assert_eq!([erasable(29), erasable(31)], [0, 1]);
    assert_eq!(house.journal.retain(rule, at(31 * 86_400)).unwrap(), 1);
    assert_eq!(erasable(31), 0, "once");
    let after = kept(&house);
    assert_eq!(after.len(), 1);
    assert_eq!(after[0].code, before[0].code);
    assert_eq!((&after[0].text, &after[0].expression), (&None, &None));
    assert!(after[0].params.is_empty());
}

#[test]
fn a_renewed_lease_says_until_when() {
    let house = House::new();
    let taken = house.journal.acquire_lease("one", at(0), at(30)).unwrap();
    let LeaseAnswer::Held(lease) = taken else { panic!("nobody else is there") };
    let renewed = house.journal.renew_lease(&lease, at(60)).unwrap();
    assert_eq!((renewed.token, renewed.until), (lease.token, at(60)));
}

/// How many there are in all does not depend on the page that is shown.
#[test]
fn a_count_does_not_depend_on_the_page() {
    let house = House::new();
    let ids: Vec<_> = (1..=4).map(|n| house.import(n)).collect();
    let page = Filter { since: Some(at(0)), before: Some(ids[2]), ..filter() };
    assert_eq!(house.journal.list(&page).unwrap().len(), 2);
    assert_eq!(house.journal.count(&page, 100).unwrap(), 4);
}

/// An edited text is a whole report: it goes with the step that ends correcting, and with what
/// retention removes.
#[test]
fn an_edited_text_is_kept_as_long_as_it_can_be_sent() {
    let house = House::new();
    let id = house.import(1);
    let keep = |text: &str| house.journal.keep_edited(id, text.to_owned()).unwrap();
    keep("{}");
    assert_eq!(house.journal.edited(id).unwrap(), None, "it waits to be sent as it is");
    house.record(id, Event::HeldBack);
    keep("{}");
    assert_eq!(house.journal.edited(id).unwrap().as_deref(), Some("{}"));
    keep("");
    assert_eq!(house.journal.edited(id).unwrap(), None);
    keep("{ }");
    house.record(id, Event::Withdrawn { reason: "sent by fax".to_owned() });
    assert_eq!(house.journal.edited(id).unwrap(), None);
    keep("{}");
    assert_eq!(house.journal.edited(id).unwrap(), None, "kept too late");
    // One that an older program has left behind.
    let left = "left behind about Anna".into();
    house.journal.set_setting(&format!("draft:{}", id.0), left).unwrap();
    let rule = Retention { completed_days: None, closed_days: Some(30) };
    assert_eq!(house.journal.retain(rule, at(31 * 86_400)).unwrap(), 1);
    assert_eq!(house.journal.edited(id).unwrap(), None);
}

/// FTS5 keeps the words of deleted rows until it is told to rewrite its blocks.
#[test]
fn retention_leaves_no_word_in_the_index() {
    let house = House::new();
    let id = house.import(1);
    house.complete(id, "r-1");
    let blocks = |house: &House| -> i64 {
        let find =
            "SELECT count(*) FROM search_data WHERE instr(block, CAST('almonella' AS BLOB)) > 0";
        house.sql().query_row(find, [], |row| row.get(0)).unwrap()
    };
    assert!(blocks(&house) > 0, "the disease can be searched for");
    let rule = Retention { completed_days: Some(30), closed_days: None };
    assert_eq!(house.journal.retain(rule, at(31 * 86_400)).unwrap(), 1);
    assert_eq!(blocks(&house), 0);
}

/// What a helper is told: codes, counts and times, the newest or the most frequent first, and no
/// more than asked for.
#[test]
fn the_account_tells_what_happened_without_words() {
    let house = House::new();
    let (first, second) = (house.import(1), house.import(2));
    house.reject(first, "Anna Müller is unknown");
    house.record(second, Event::SendingStarted { since: at(1) });
    let why = "cut".to_owned();
    house.record(second, Event::Doubted { since: at(2), due: at(9), why: why.clone() });
    let refused = Evidence { http_status: Some(422), at: at(300), ..answer("no") };
    let cut = Evidence {
        kind: EvidenceKind::Search,
        http_status: None,
        fault: Some(why.clone()),
        at: at(301),
        ..answer("")
    };
    for evidence in [refused, cut] {
        house.journal.keep_evidence(second, evidence).unwrap();
    }

    let happened = house.journal.happenings(3).unwrap();
    let told: Vec<_> = happened.iter().map(|one| (one.id, one.code.as_str())).collect();
    assert_eq!(told, [(second, "doubted"), (second, "sending-started"), (first, "rejected")]);
    assert_eq!((happened[0].why.clone(), happened[1].why.clone()), (Some(why), None));
    assert!(happened[0].number > happened[1].number && happened[0].at == at(100));

    let troubles = house.journal.troubles(9).unwrap();
    let told: Vec<_> = troubles
        .iter()
        .map(|one| (one.exchange.as_str(), one.http_status, one.fault.as_deref(), one.at))
        .collect();
    let expected = [("search", None, Some("cut"), at(301)), ("create", Some(422), None, at(300))];
    assert_eq!(told, expected, "an answer that was one is no trouble");
    assert_eq!(house.journal.troubles(1).unwrap().len(), 1);

    let tallies = house.journal.message_tallies(9).unwrap();
    assert_eq!(tallies.len(), 1);
    let tally = &tallies[0];
    assert_eq!((tally.source, tally.severity), (Source::Authority, Severity::Error));
    assert_eq!(
        (tally.code.as_str(), tally.rule.as_deref(), tally.count),
        ("invalid", Some("elm-12"), 1)
    );
}
