//! Versions of one report: what has its document identifier and says something else. Whichever way
//! a version is about to be sent, people are told of the others.

use engine::{
    Candidate, Engine, EngineDeps, ImportOptions, KnownContent, Profile, SameIdentifier, Taken,
};
use identity::SecretsKind;
use journal::{Evidence, EvidenceKind, Step};
use report::{Event, State, SubmissionId};

const SAME_IDENTIFIER: &str = "same-identifier-other-content";
const HOUR: i64 = 3_600_000_000;

/// A laboratory whose rule is to hold what has a known document identifier, or to warn.
struct Laboratory {
    engine: Engine,
    _folder: tempfile::TempDir,
}

impl Laboratory {
    fn new(rule: SameIdentifier) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let endpoints = vec![super::endpoint()];
        let mut profile = Profile::create(folder.path(), SecretsKind::Practice, endpoints).unwrap();
        profile.settings.same_identifier = rule;
        profile.save().unwrap();
        let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
        Self { engine, _folder: folder }
    }

    /// The version of the one report in which the patient has this name.
    async fn look(&self, family: &str) -> Candidate {
        let text = testkit::DocumentBuilder::new(1).family(family).json().into_bytes();
        let mut found = self.engine.inspect_text(format!("{family}.json"), text).await.unwrap();
        found.pop().unwrap()
    }

    async fn hand_over(&self, family: &str, known: KnownContent) -> Taken {
        self.take(self.look(family).await, known).await
    }

    async fn take(&self, candidate: Candidate, known: KnownContent) -> Taken {
        let terms = ImportOptions { known, delay_micros: HOUR, ..ImportOptions::default() };
        self.engine.take(&[candidate], terms).await.unwrap().taken[0]
    }

    async fn new_version(&self, family: &str) -> SubmissionId {
        is_new(self.hand_over(family, KnownContent::Show).await)
    }

    fn record(&self, id: SubmissionId, event: Event) {
        let (by, now) = (self.engine.person().clone(), self.engine.now());
        let evidence = Evidence {
            kind: EvidenceKind::Create,
            at: now,
            http_status: Some(201),
            content_type: None,
            body: b"{}".to_vec(),
            fault: None,
        };
        let step = Step { evidence: Some(evidence), ..Step::new(id, event, by, now) };
        self.engine.journal().record(step).unwrap();
    }

    fn accept(&self, id: SubmissionId) {
        if let State::Held { .. } = self.state(id) {
            let (reason, due) = ("newer".to_owned(), self.engine.now());
            self.record(id, Event::Released { reason, due });
        }
        let (since, due) = (self.engine.now(), self.engine.now());
        self.record(id, Event::SendingStarted { since });
        self.record(id, Event::Accepted { receipt: format!("r-{}", id.0), since, due });
    }

    fn complete(&self, id: SubmissionId) {
        self.accept(id);
        self.record(id, Event::Completed { receipt: format!("r-{}", id.0) });
    }

    fn fail(&self, id: SubmissionId) {
        if self.state(id).code() == "queued" {
            self.accept(id);
        }
        self.record(id, Event::Failed { receipt: format!("r-{}", id.0) });
    }

    fn state(&self, id: SubmissionId) -> State {
        self.engine.journal().state(id).unwrap()
    }

    /// Codes of what is told of a report, with the report that each names.
    fn told(&self, id: SubmissionId) -> Vec<(String, String)> {
        let messages = self.engine.journal().detail(id).unwrap().messages;
        let named = |params: Vec<(String, String)>| {
            params.into_iter().find(|(name, _)| name == "submission").map(|(_, value)| value)
        };
        messages.into_iter().map(|it| (it.code, named(it.params).unwrap_or_default())).collect()
    }
}

fn is_new(taken: Taken) -> SubmissionId {
    let Taken::New(id) = taken else { panic!("{taken:?}") };
    id
}

fn told_of(code: &str, id: SubmissionId) -> (String, String) {
    (code.to_owned(), id.0.to_string())
}

/// A newer version comes while the first is in progress, and is completed; then the first one
/// fails. Who corrects it, or sends it again, is told of the newer one, and the profile's rule
/// holds.
#[tokio::test]
async fn what_failed_beside_a_newer_version_is_not_corrected_in_silence() {
    for rule in [SameIdentifier::Warn, SameIdentifier::Hold] {
        for corrected in [true, false] {
            let house = Laboratory::new(rule);
            let first = house.new_version("Eins").await;
            house.accept(first);
            let newer = house.new_version("Zwei").await;
            house.complete(newer);
            house.fail(first);
            assert!(house.told(first).contains(&told_of("newer-version-delivered", newer)));
            let next = if corrected {
                let third = house.look("Drei").await;
                house.engine.correct_after(first, third, HOUR).await.unwrap()
            } else {
                house.engine.resubmit_after(first, HOUR).await.unwrap()
            };
            assert!(house.told(next).contains(&told_of(SAME_IDENTIFIER, newer)));
            let expected = if rule == SameIdentifier::Hold { "held" } else { "queued" };
            assert_eq!(house.state(next).code(), expected);
            house.accept(next);
            assert_eq!(house.state(next).code(), "in-progress", "a release counts");
        }
    }
}

/// What waits for a person is told of a newer version when that has arrived.
#[tokio::test]
async fn what_waits_for_a_person_is_told_when_a_newer_version_arrives() {
    let house = Laboratory::new(SameIdentifier::Warn);
    let first = house.new_version("Eins").await;
    house.accept(first);
    let newer = house.new_version("Zwei").await;
    house.fail(first);
    assert_eq!(house.told(first), []);
    house.accept(newer);
    assert_eq!(house.told(first), [told_of("newer-version-delivered", newer)]);
}

/// A report that failed is corrected as ever: by a file, by a person, once more after that failed
/// too.
#[tokio::test]
async fn an_ordinary_correction_is_neither_held_nor_warned_of() {
    let house = Laboratory::new(SameIdentifier::Hold);
    let first = house.new_version("Eins").await;
    house.fail(first);
    let second = house.look("Zwei").await;
    let second = house.engine.correct_after(first, second, HOUR).await.unwrap();
    house.fail(second);
    let third = house.new_version("Drei").await;
    house.fail(third);
    let fourth = house.engine.resubmit_after(third, HOUR).await.unwrap();
    for id in [second, third, fourth] {
        assert_eq!(house.told(id), [], "{id:?}");
    }
    assert_eq!(house.state(fourth).code(), "queued");
}

/// Laboratories reuse document identifiers: what is completed of another patient holds no
/// correction.
#[tokio::test]
async fn a_report_of_another_patient_holds_no_correction() {
    let house = Laboratory::new(SameIdentifier::Hold);
    let look = async |number: u64, family: &str| {
        let document = testkit::DocumentBuilder::new(number)
            .identifier("urn:uuid:5b3c2c1e-9d49-4f2f-8f57-1f6f2f0a7a01");
        let text = document.family(family).json().into_bytes();
        let mut found = house.engine.inspect_text("a.json".to_owned(), text).await.unwrap();
        found.pop().unwrap()
    };
    let first = is_new(house.take(look(1, "Eins").await, KnownContent::Show).await);
    house.accept(first);
    let other = is_new(house.take(look(2, "Andere").await, KnownContent::Show).await);
    house.complete(other);
    house.fail(first);
    assert_eq!(house.told(first), []);
    let second = look(1, "Zwei").await;
    let second = house.engine.correct_after(first, second, HOUR).await.unwrap();
    assert_eq!((house.state(second).code(), house.told(second)), ("queued", vec![]));
}

/// The older content is asked for once more while its correction, which a file brought, has not
/// arrived yet: one of them goes.
#[tokio::test]
async fn what_a_file_corrects_is_not_sent_again_beside_it() {
    let house = Laboratory::new(SameIdentifier::Warn);
    let first = house.new_version("Eins").await;
    house.fail(first);
    let newer = is_new(house.hand_over("Zwei", KnownContent::ShowAnywhere).await);
    assert_eq!(house.engine.journal().row(newer).unwrap().corrects, Some(first));
    let again = house.hand_over("Eins", KnownContent::SendAgain).await;
    assert_eq!(again, Taken::Known(first));
    assert!(house.engine.journal().rules_out_another(first).unwrap());
    // Once the newer one is given up, a person means it.
    house.record(newer, Event::Withdrawn { reason: "slip".to_owned() });
    let again = is_new(house.hand_over("Eins", KnownContent::SendAgain).await);
    assert_eq!(house.engine.journal().row(again).unwrap().corrects, Some(first));
}

/// What failed and is sent again takes the place of the first one: that is not corrected beside it.
#[tokio::test]
async fn what_failed_is_sent_again_in_its_own_place() {
    let house = Laboratory::new(SameIdentifier::Warn);
    let first = house.new_version("Eins").await;
    house.fail(first);
    let again = is_new(house.hand_over("Eins", KnownContent::SendAgain).await);
    assert_eq!(house.engine.journal().row(again).unwrap().corrects, Some(first));
    let beside = house.engine.correct_after(first, house.look("Zwei").await, HOUR).await;
    assert!(beside.is_err(), "{beside:?}");
    house.complete(again);
    assert_eq!(house.state(first), State::Superseded { by: again });
}

/// An older content is sent again after a newer one was completed: people are told, and it is on
/// hold by whatever rule.
#[tokio::test]
async fn an_older_content_does_not_go_again_after_a_newer_one_in_silence() {
    for rule in [SameIdentifier::Warn, SameIdentifier::Hold] {
        let house = Laboratory::new(rule);
        let first = house.new_version("Eins").await;
        house.complete(first);
        let newer = house.new_version("Zwei").await;
        house.complete(newer);
        let again = is_new(house.hand_over("Eins", KnownContent::SendAgain).await);
        assert!(house.told(again).contains(&told_of("later-version", newer)));
        assert_eq!(house.state(again).code(), "held");
    }
}

/// Two programs look at two newer versions of what failed at the same time: the later one is
/// compared once more.
#[tokio::test]
async fn a_correction_that_came_too_late_is_not_sent_in_silence() {
    for rule in [SameIdentifier::Warn, SameIdentifier::Hold] {
        let house = Laboratory::new(rule);
        let first = house.new_version("Eins").await;
        house.fail(first);
        let (second, third) = (house.look("Zwei").await, house.look("Drei").await);
        let second = is_new(house.take(second, KnownContent::Show).await);
        assert_eq!(house.engine.journal().row(second).unwrap().corrects, Some(first));
        let third = is_new(house.take(third, KnownContent::Show).await);
        assert_eq!(house.engine.journal().row(third).unwrap().corrects, None);
        assert_eq!(house.told(third), [told_of(SAME_IDENTIFIER, second)]);
        let expected = if rule == SameIdentifier::Hold { "held" } else { "queued" };
        assert_eq!(house.state(third).code(), expected);
    }
}

/// A report on hold is released while a newer version of it is being read.
#[tokio::test]
async fn what_was_released_while_its_correction_was_read_is_told() {
    let house = Laboratory::new(SameIdentifier::Hold);
    let first = house.new_version("Eins").await;
    house.engine.hold_back(first).await.unwrap();
    let second = house.look("Zwei").await;
    house.engine.release_after(first, "it is right".to_owned(), HOUR).await.unwrap();
    let second = is_new(house.take(second, KnownContent::Show).await);
    assert_eq!(house.told(second), [told_of(SAME_IDENTIFIER, first)]);
    assert_eq!(house.state(second).code(), "held");
}

/// The authority has it by a person's word: that counts as what it has said itself, also before one
/// that failed.
#[tokio::test]
async fn a_newer_version_of_what_was_said_to_be_received_is_told() {
    for older_failed in [false, true] {
        let house = Laboratory::new(SameIdentifier::Hold);
        if older_failed {
            let older = house.new_version("Null").await;
            house.fail(older);
        }
        let terms = ImportOptions {
            differing: engine::Differing::Apart,
            delay_micros: HOUR,
            ..ImportOptions::default()
        };
        let first = house.look("Eins").await;
        let first = is_new(house.engine.take(&[first], terms).await.unwrap().taken[0]);
        house.record(first, Event::SendingStarted { since: house.engine.now() });
        house.record(first, Event::HeldAfterRefusals { why: "forbidden".to_owned() });
        house.engine.say_received(first, "hotline".to_owned()).await.unwrap();
        let newer = house.new_version("Zwei").await;
        assert_eq!(house.engine.journal().row(newer).unwrap().corrects, None);
        assert_eq!(house.told(newer), [told_of(SAME_IDENTIFIER, first)]);
        assert_eq!(house.state(newer).code(), "held");
    }
}

/// A report is withdrawn after a request that a gateway refused on the way back, and its corrected
/// file comes: the first one may have arrived.
#[tokio::test]
async fn a_newer_version_of_what_was_withdrawn_after_a_request_is_told() {
    for was_sent in [true, false] {
        let house = Laboratory::new(SameIdentifier::Hold);
        let first = house.new_version("Eins").await;
        if was_sent {
            let due = house.engine.now();
            house.record(first, Event::SendingStarted { since: house.engine.now() });
            house.record(first, Event::Deferred { due, why: "forbidden".to_owned() });
        }
        house.engine.withdraw(first, "wrong".to_owned()).await.unwrap();
        let newer = house.new_version("Zwei").await;
        let (told, state) = (house.told(newer), house.state(newer).code());
        if was_sent {
            assert_eq!((told, state), (vec![told_of(SAME_IDENTIFIER, first)], "held"));
        } else {
            assert_eq!((told, state), (vec![], "queued"));
        }
    }
}

/// Reports that name no patient have one identifier by a fault of the export: none closes another,
/// nor does one that names somebody, who may be anybody else.
#[tokio::test]
async fn of_reports_that_name_nobody_none_corrects_another() {
    let folder = tempfile::tempdir().unwrap();
    let profile =
        Profile::create(folder.path(), SecretsKind::Practice, vec![super::endpoint()]).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let text = |number| testkit::DocumentBuilder::new(number).identifier("urn:uuid:all").json();
    let nameless = |number| {
        let mut document: serde_json::Value = serde_json::from_str(&text(number)).unwrap();
        for entry in document["entry"].as_array_mut().unwrap() {
            if entry["resource"]["resourceType"] == "Patient" {
                let patient = entry["resource"].as_object_mut().unwrap();
                patient.retain(|name, _| name != "name" && name != "birthDate");
            }
        }
        document.to_string()
    };
    let look = |text: String| {
        let engine = engine.clone();
        async move { engine.inspect_text("a.json".to_owned(), text.into_bytes()).await.unwrap() }
    };
    let terms = ImportOptions { delay_micros: 3_600_000_000, ..ImportOptions::default() };
    let first = look(nameless(1)).await;
    let Taken::New(first) = engine.take(&first, terms).await.unwrap().taken[0] else { panic!() };
    engine.hold_back(first).await.unwrap();
    for (later, corrects) in [(nameless(2), false), (text(1), false)] {
        let seen = look(later).await;
        let relation = seen[0].parsed().unwrap().relation.as_ref().unwrap();
        assert_eq!((relation.corrects, relation.submission), (corrects, first));
    }
}
