//! Content that was taken in before, sent again because a person asks for it.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod parts;
mod versions;

use engine::{Engine, EngineDeps, HandOver, ImportOptions, KnownContent, Profile, Taken};
use exchange::{Endpoint, Environment};
use identity::SecretsKind;
use report::Event;

fn endpoint() -> Endpoint {
    Endpoint::new(
        "somewhere",
        "https://localhost/v1/fhir".parse().unwrap(),
        Environment::Integration,
    )
}

/// A ready envelope around a document.
fn envelope(document: &str, identifier: &str, language: &str) -> String {
    let after = |text: &str, mark: &str| text.split_once(mark).unwrap().1.to_owned();
    let id = after(&after(document, "\"id\""), "\"").split('"').next().unwrap().to_owned();
    format!(
        r##"{{"resourceType":"DocumentReference","contained":[{document}],
        "identifier":[{{"system":"urn:ietf:rfc:3986","value":"{identifier}"}}],"status":"current",
        "content":[{{"attachment":{{"language":"{language}","url":"#{id}"}}}}]}}"##
    )
}

/// An export makes a new envelope each time: the document in it is the report, and that is sent
/// once.
#[tokio::test]
async fn a_document_is_known_in_another_envelope_and_without_one() {
    let own = |number: u32| format!("urn:uuid:5b3c2c1e-9d49-4f2f-8f57-1f6f2f0a7a{number:02}");
    let document = testkit::DocumentBuilder::new(1).json();
    let wrapped = |number| envelope(&document, &own(number), "de-CH");
    for texts in [
        [document.clone(), wrapped(1), wrapped(2)],
        [wrapped(1), wrapped(2), document.clone()],
        [wrapped(1), document.clone(), wrapped(1)],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let profile =
            Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
        let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
        let terms = ImportOptions { delay_micros: 3_600_000_000, ..ImportOptions::default() };
        let mut first = None;
        for text in &texts {
            let name = "a.json".to_owned();
            let seen = engine.inspect_text(name, text.clone().into_bytes()).await.unwrap();
            match (engine.take(&seen, terms).await.unwrap().taken[0], first) {
                (Taken::New(id), None) => first = Some(id),
                (Taken::Known(id), Some(first)) => assert_eq!(id, first),
                (other, _) => panic!("{other:?}"),
            }
        }
        // In one hand-over, too.
        let mut both = Vec::new();
        for text in [wrapped(3), wrapped(4), document.clone()] {
            let other = text.replace("Muster", "Anders");
            assert_ne!(text, other);
            let seen = engine.inspect_text("b.json".to_owned(), other.into_bytes()).await.unwrap();
            both.extend(seen);
        }
        let taken = engine.take(&both, terms).await.unwrap().taken;
        let [Taken::New(id), ..] = taken[..] else { panic!("{taken:?}") };
        assert_eq!(taken[1..], [Taken::Known(id); 2]);
    }
}

/// A file that mends an envelope is no other document, and still it takes the place of what is
/// held.
#[tokio::test]
async fn a_mended_envelope_corrects_the_one_that_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let own = "urn:uuid:5b3c2c1e-9d49-4f2f-8f57-1f6f2f0a7a01";
    let document = testkit::DocumentBuilder::new(1).json();
    let look = |language: &str| {
        let (engine, text) = (engine.clone(), envelope(&document, own, language));
        async move { engine.inspect_text("a.json".to_owned(), text.into_bytes()).await.unwrap() }
    };
    let terms = ImportOptions { delay_micros: 3_600_000_000, ..ImportOptions::default() };
    let faulty = look("de_CH").await;
    assert!(faulty[0].has_errors());
    let Taken::New(held) = engine.take(&faulty, terms).await.unwrap().taken[0] else { panic!() };
    assert_eq!(engine.take(&look("de_CH").await, terms).await.unwrap().taken, [Taken::Known(held)]);
    let mended = look("de-CH").await;
    let relation = mended[0].parsed().unwrap().relation.as_ref().unwrap();
    assert!(relation.corrects && relation.submission == held);
    let Taken::New(id) = engine.take(&mended, terms).await.unwrap().taken[0] else { panic!() };
    assert_eq!(engine.journal().row(id).unwrap().corrects, Some(held));
}

/// Laboratories reuse document identifiers: nothing is replaced by the report of another patient,
/// or of another disease.
#[tokio::test]
async fn another_patients_report_with_the_same_identifier_corrects_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let look = |document: testkit::DocumentBuilder| {
        let (engine, text) = (engine.clone(), document.identifier("urn:uuid:order-1").json());
        async move { engine.inspect_text("a.json".to_owned(), text.into_bytes()).await.unwrap() }
    };
    let report = || testkit::DocumentBuilder::new(1);
    let terms = ImportOptions { delay_micros: 3_600_000_000, ..ImportOptions::default() };
    let first = look(report()).await;
    let Taken::New(first) = engine.take(&first, terms).await.unwrap().taken[0] else { panic!() };
    engine.hold_back(first).await.unwrap();
    let other_patient = testkit::DocumentBuilder::new(2).disease(testkit::Disease::ALL[1]);
    let other_disease = report().disease(testkit::Disease::ALL[2]);
    for other in [other_patient, other_disease] {
        let seen = look(other).await;
        let relation = seen[0].parsed().unwrap().relation.as_ref().unwrap();
        assert!(!relation.corrects && relation.submission == first);
        let told = seen[0].findings.iter().any(|it| it.1.code == "same-identifier-other-content");
        assert!(told, "a person may look");
    }
    // A name that was wrong is what corrections are for; so is a birth date.
    let seen = look(report().family("Richtig")).await;
    assert!(seen[0].parsed().unwrap().relation.as_ref().unwrap().corrects);
    let Taken::New(id) = engine.take(&seen, terms).await.unwrap().taken[0] else { panic!() };
    assert_eq!(engine.journal().row(id).unwrap().corrects, Some(first));
}

/// Two versions of one report in one hand-over: nobody was shown how they differ, so the profile's
/// rule decides.
#[tokio::test]
async fn two_versions_in_one_hand_over_are_not_decided_by_a_person() {
    let folder = tempfile::tempdir().unwrap();
    let mut profile =
        Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    profile.settings.same_identifier = engine::SameIdentifier::Hold;
    profile.save().unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let mut both = Vec::new();
    for family in ["Vorläufig", "Endgültig"] {
        let text = testkit::DocumentBuilder::new(1).family(family).json().into_bytes();
        both.extend(engine.inspect_text(format!("{family}.json"), text).await.unwrap());
    }
    let terms = ImportOptions {
        delay_micros: 3_600_000_000,
        differing: engine::Differing::ByPerson,
        ..ImportOptions::default()
    };
    let taken = engine.take(&both, terms).await.unwrap().taken;
    let [Taken::New(first), Taken::New(second)] = taken[..] else { panic!("{taken:?}") };
    let states = [first, second].map(|id| engine.journal().state(id).unwrap().code());
    assert_eq!(states, ["queued", "held"]);
}

/// What went to a test system went nowhere else. What a watched folder held then is not sent to the
/// next endpoint by itself, because nobody has said that it is to be.
#[tokio::test]
async fn what_is_known_is_judged_for_each_endpoint_but_in_a_watched_folder() {
    let folder = tempfile::tempdir().unwrap();
    let real =
        Endpoint { name: "real".to_owned(), environment: Environment::Production, ..endpoint() };
    let endpoints = vec![endpoint(), real];
    let profile = Profile::create(folder.path(), SecretsKind::Practice, endpoints).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let look = || async {
        let text = testkit::DocumentBuilder::new(3).json().into_bytes();
        engine.inspect_text("a.json".to_owned(), text).await.unwrap()
    };
    let terms =
        |known| ImportOptions { known, delay_micros: 3_600_000_000, ..ImportOptions::default() };
    let shown = terms(KnownContent::Show);
    let Taken::New(pilot) = engine.take(&look().await, shown).await.unwrap().taken[0] else {
        panic!()
    };
    assert_eq!(engine.take(&look().await, shown).await.unwrap().taken, [Taken::Known(pilot)]);

    engine.use_endpoint("real").await.unwrap();
    let watched = terms(KnownContent::ShowAnywhere);
    assert_eq!(engine.take(&look().await, watched).await.unwrap().taken, [Taken::Known(pilot)]);
    // While the one at the test system is still open, too.
    let Taken::New(real) = engine.take(&look().await, shown).await.unwrap().taken[0] else {
        panic!()
    };
    assert_eq!(engine.take(&look().await, shown).await.unwrap().taken, [Taken::Known(real)]);
    assert_ne!(pilot, real);
}

/// Two programs look at a settled report at the same time, and both are asked to send it again.
#[tokio::test]
async fn two_who_send_the_same_again_send_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    let one = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let profile = Profile::open(folder.path()).unwrap();
    let other = Engine::open(profile, None, EngineDeps::default()).unwrap();
    let look = |engine: &Engine| {
        let text = testkit::DocumentBuilder::new(1).json().into_bytes();
        let engine = engine.clone();
        async move { engine.inspect_text("a.json".to_owned(), text).await.unwrap() }
    };
    let again = ImportOptions {
        known: KnownContent::SendAgain,
        delay_micros: 3_600_000_000,
        ..ImportOptions::default()
    };

    let Taken::New(first) = one.take(&look(&one).await, again).await.unwrap().taken[0] else {
        panic!()
    };
    one.hold_back(first).await.unwrap();
    one.withdraw(first, "sent by fax".to_owned()).await.unwrap();
    let (seen_by_one, seen_by_other) = (look(&one).await, look(&other).await);
    let Taken::New(second) = one.take(&seen_by_one, again).await.unwrap().taken[0] else {
        panic!()
    };
    assert_ne!(first, second);
    assert_eq!(other.take(&seen_by_other, again).await.unwrap().taken, [Taken::Known(second)]);
    one.hold_back(second).await.unwrap();
    one.withdraw(second, "sent by fax".to_owned()).await.unwrap();
    let taken = other.take(&look(&other).await, again).await.unwrap().taken;
    assert!(matches!(taken[..], [Taken::New(_)]), "{taken:?}");
}

/// A gateway refuses one report again and again on the way back; it may have been stored. Handed
/// over once more, it is no second report: whoever releases it is told what may have become of the
/// requests before.
#[tokio::test]
async fn what_is_on_hold_is_not_sent_again_beside_itself() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let text = testkit::DocumentBuilder::new(1).json().into_bytes();
    let seen = engine.inspect_text("a.json".to_owned(), text.clone()).await.unwrap();
    let terms = ImportOptions { delay_micros: 3_600_000_000, ..ImportOptions::default() };
    let Taken::New(id) = engine.take(&seen, terms).await.unwrap().taken[0] else { panic!() };
    let again = ImportOptions { known: KnownContent::SendAgain, ..terms };
    let record = |event| {
        let (by, now) = (engine.person().clone(), engine.now());
        engine.journal().record(journal::Step::new(id, event, by, now)).unwrap()
    };
    record(Event::SendingStarted { since: engine.now() });
    record(Event::HeldAfterRefusals { why: "forbidden".to_owned() });
    let seen = engine.inspect_text("b.json".to_owned(), text).await.unwrap();
    assert_eq!(engine.take(&seen, again).await.unwrap().taken, [Taken::Known(id)]);

    // Nor is a person told to send it who has found out that the authority has it.
    engine.say_received(id, "hotline".to_owned()).await.unwrap();
    assert_eq!(engine.journal().state(id).unwrap().shown().code(), "said-received");
}

/// An envelope file brings an identifier along; once it has been used, it stands for that delivery.
#[tokio::test]
async fn an_envelope_that_is_sent_again_gets_an_identifier_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let own = "urn:uuid:5b3c2c1e-9d49-4f2f-8f57-1f6f2f0a7a01";
    let text = envelope(&testkit::DocumentBuilder::new(1).json(), own, "de-CH");
    let again = ImportOptions {
        known: KnownContent::SendAgain,
        delay_micros: 3_600_000_000,
        ..ImportOptions::default()
    };
    let mut used = Vec::new();
    for _ in 0..3 {
        let candidates =
            engine.inspect_text("a.json".to_owned(), text.clone().into_bytes()).await.unwrap();
        assert!(!candidates[0].has_errors(), "{:?}", candidates[0].findings);
        let Taken::New(id) = engine.take(&candidates, again).await.unwrap().taken[0] else {
            panic!()
        };
        let row = engine.journal().row(id).unwrap();
        assert_eq!(engine.journal().find_by_attempt_identifier(&row.identifier).unwrap(), Some(id));
        used.push(row.identifier);
        engine.hold_back(id).await.unwrap();
        engine.withdraw(id, "sent by fax".to_owned()).await.unwrap();
    }
    assert_eq!(used[0], own, "the first time it is the file's");
    assert!(used[1..].iter().all(|identifier| identifier.starts_with("urn:uuid:")), "{used:?}");
    used.sort();
    used.dedup();
    assert_eq!(used.len(), 3, "one identifier for each delivery");
}

/// Three files at once: a report, another content under its document identifier, and that one
/// twice.
#[tokio::test]
async fn what_occurs_twice_is_known_also_where_it_shares_its_identifier() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let text = testkit::DocumentBuilder::new(5).json();
    let other = testkit::DocumentBuilder::new(5).family("Anders").json();
    assert_ne!(text, other);
    let mut candidates = Vec::new();
    for text in [text, other.clone(), other] {
        candidates
            .extend(engine.inspect_text("a.json".to_owned(), text.into_bytes()).await.unwrap());
    }
    let terms = ImportOptions { delay_micros: 3_600_000_000, ..ImportOptions::default() };
    let taken = engine.take(&candidates, terms).await.unwrap().taken;
    let [Taken::New(first), Taken::New(second), known] = taken[..] else { panic!("{taken:?}") };
    assert_eq!(known, Taken::Known(second));
    assert_ne!(first, second);
}

/// One content that is to go again stands on a list before and behind a correction, and the first
/// is completed before the second is looked at: it goes once.
#[tokio::test]
async fn what_stands_on_a_list_twice_and_is_to_go_again_goes_once() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let look = || {
        let text = testkit::DocumentBuilder::new(1).json().into_bytes();
        let engine = engine.clone();
        async move { engine.inspect_text("a.json".to_owned(), text).await.unwrap() }
    };
    let terms = ImportOptions { delay_micros: 3_600_000_000, ..ImportOptions::default() };
    let completed = |id, receipt: &str| {
        let record = |event, evidence| {
            let (by, now) = (engine.person().clone(), engine.now());
            let step = journal::Step { evidence, ..journal::Step::new(id, event, by, now) };
            engine.journal().record(step).unwrap()
        };
        let answer = journal::Evidence {
            kind: journal::EvidenceKind::Create,
            at: engine.now(),
            http_status: Some(201),
            content_type: None,
            body: b"{}".to_vec(),
            fault: None,
        };
        record(Event::SendingStarted { since: engine.now() }, None);
        record(Event::Completed { receipt: receipt.to_owned() }, Some(answer));
    };
    let Taken::New(before) = engine.take(&look().await, terms).await.unwrap().taken[0] else {
        panic!()
    };
    completed(before, "r-1");
    let seen = look().await;
    let again = seen.iter().map(|it| it.parsed().unwrap().digest.clone()).collect();
    let mut list = engine::Listed::new("somewhere", again);
    let Taken::New(id) = engine.submit(&seen, terms, &mut list).await.unwrap().taken[0] else {
        panic!("it is to go again")
    };
    completed(id, "r-2");
    let behind = engine.submit(&seen, terms, &mut list).await.unwrap().taken;
    assert_eq!(behind, [Taken::Known(id)]);
    let anew = engine.submit(&look().await, terms, &mut list).await.unwrap().taken;
    assert_eq!(anew, [Taken::Known(id)]);
    // On another list it may go once more.
    let again = seen.iter().map(|it| it.parsed().unwrap().digest.clone()).collect();
    let mut list = engine::Listed::new("somewhere", again);
    let taken = engine.submit(&look().await, terms, &mut list).await.unwrap().taken;
    assert!(matches!(taken[..], [Taken::New(_)]), "{taken:?}");
}

/// The database, as whoever knows its key sees it.
fn raw(engine: &Engine) -> rusqlite::Connection {
    let key = engine.secrets().journal_key().unwrap();
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let raw = rusqlite::Connection::open(engine.profile().journal_file()).unwrap();
    raw.execute_batch(&format!("PRAGMA key = \"x'{hex}'\"")).unwrap();
    raw
}

/// One of five reports cannot be written: it alone is told as such, with the newer version of it
/// that must not take its place, and a second hand-over takes in what was left and nothing twice.
#[tokio::test]
async fn what_was_taken_in_is_told_where_another_could_not_be() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let mut candidates = Vec::new();
    for number in 1..=4 {
        let text = testkit::DocumentBuilder::new(number).json();
        let name = format!("{number}.json");
        candidates.extend(engine.inspect_text(name, text.into_bytes()).await.unwrap());
    }
    let newer = testkit::DocumentBuilder::new(2).json().replace("\"final\"", "\"amended\"");
    candidates.extend(engine.inspect_text("2b.json".to_owned(), newer.into()).await.unwrap());
    raw(&engine)
        .execute_batch(
            "CREATE TRIGGER fails BEFORE INSERT ON submission WHEN NEW.file = '2.json' \
             BEGIN SELECT RAISE(ABORT, 'cannot be written'); END",
        )
        .unwrap();
    let again = ImportOptions { known: KnownContent::SendAgain, ..ImportOptions::default() };
    let HandOver { taken, fault } = engine.take(&candidates, again).await.unwrap();
    assert!(fault.is_some());
    let [Taken::New(_), Taken::Failed, third, fourth, Taken::Failed] = taken[..] else {
        panic!("{taken:?}")
    };
    // Whether the others are tried after a fault depends on whether it is of that one alone.
    assert!([third, fourth].iter().all(|it| matches!(it, Taken::New(_) | Taken::Failed)));
    raw(&engine).execute_batch("DROP TRIGGER fails").unwrap();
    let HandOver { taken: second, fault } = engine.take(&candidates, again).await.unwrap();
    assert!(fault.is_none());
    for (first, second) in taken.iter().zip(&second) {
        match (first, second) {
            (Taken::New(before), Taken::Known(now)) => assert_eq!(before, now),
            (Taken::Failed, Taken::New(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    let all = engine.journal().count(&journal::Filter::default(), 100).unwrap();
    assert_eq!(all, 5, "each once");
}

/// Two envelopes of one hand-over with one identifier and different documents: the second is
/// another delivery.
#[tokio::test]
async fn two_envelopes_of_one_identifier_become_two_deliveries() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let own = "urn:uuid:5b3c2c1e-9d49-4f2f-8f57-1f6f2f0a7a01";
    let mut candidates = Vec::new();
    for number in 1..=2 {
        let text = envelope(&testkit::DocumentBuilder::new(number).json(), own, "de-CH");
        let name = format!("{number}.json");
        candidates.extend(engine.inspect_text(name, text.into_bytes()).await.unwrap());
    }
    let taken = engine.take(&candidates, ImportOptions::default()).await.unwrap().taken;
    let [Taken::New(first), Taken::New(second)] = taken[..] else { panic!("{taken:?}") };
    let identifier = |id| engine.journal().row(id).unwrap().identifier;
    assert_eq!(identifier(first), own);
    assert_ne!(identifier(second), own);
}

/// A report that was replaced cannot be read: the next version of its document is taken in.
#[tokio::test]
async fn a_replaced_report_that_cannot_be_read_keeps_no_version_out() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let look = async |family: &str| {
        let text = testkit::DocumentBuilder::new(1).family(family).json().into_bytes();
        engine.inspect_text("x.json".to_owned(), text).await.unwrap().pop().unwrap()
    };
    let (terms, seen) = (ImportOptions::default(), [look("Eins").await]);
    let Taken::New(first) = engine.take(&seen, terms).await.unwrap().taken[0] else { panic!() };
    engine.hold_back(first).await.unwrap();
    engine.correct_after(first, look("Zwei").await, 0).await.unwrap();
    raw(&engine).execute("UPDATE submission SET summary = '7' WHERE id = ?1", [first.0]).unwrap();
    let next = engine.take(&[look("Drei").await], terms).await.unwrap();
    assert!(matches!(next.taken[..], [Taken::New(_)]), "{next:?}");
}
