//! How long content is kept, by the window's own commands.

use std::path::Path;
use std::sync::Arc;

use bridge::Desk;
use engine::{Clock, Engine, EngineDeps, Profile, SystemClock, Timing};
use fhir::{Format, Instant};
use identity::SecretsKind;
use journal::{Evidence, EvidenceKind, NewSubmission, Step};
use report::{Event, Person, SubmissionId, Summary};
use serde_json::json;

use crate::desk::assert_known;
use crate::screen::{must, refusal};

const DAY_SECONDS: i64 = 86_400;

/// So many days ago.
struct Ago(i64);

impl Clock for Ago {
    fn now(&self) -> Instant {
        SystemClock.now().plus_seconds(-self.0 * DAY_SECONDS)
    }
    fn steady(&self) -> std::time::Duration {
        SystemClock.steady()
    }
    fn fraction(&self) -> f64 {
        0.5
    }
}

fn by() -> Person {
    Person("test".to_owned())
}

fn take(engine: &Engine, number: u64) -> SubmissionId {
    let document = testkit::DocumentBuilder::new(number).json().into_bytes();
    let summary = Summary { date: Some(engine.now()), ..Summary::default() };
    let new = NewSubmission {
        file: format!("{number}.json"),
        format: Format::Json,
        digest: report::digest(&document),
        document,
        summary,
        identifier: format!("urn:uuid:{number:032x}"),
        endpoint: "somewhere".to_owned(),
        canonical: None,
        environment: None,
        first: Event::Queued { due: engine.now().plus_seconds(4_000 * DAY_SECONDS) },
        findings: Vec::new(),
        corrects: None,
        by: by(),
        at: engine.now(),
    };
    engine.journal().import(new).unwrap()
}

fn record(engine: &Engine, id: SubmissionId, event: Event) {
    engine.journal().record(Step::new(id, event, by(), engine.now())).unwrap();
}

/// A completed, a withdrawn and a waiting report of so many days ago.
fn three(laboratory: &Path, days: i64, first: u64) -> [SubmissionId; 3] {
    let clock = Arc::new(Ago(days));
    let surroundings = EngineDeps { clock, timing: Timing::default() };
    let engine = match Profile::open(laboratory) {
        Ok(profile) => Engine::open(profile, None, surroundings).unwrap(),
        Err(_) => {
            let profile = Profile::create(laboratory, SecretsKind::Practice, Vec::new()).unwrap();
            Engine::create(profile, None, surroundings).unwrap()
        }
    };
    let ids = [0, 1, 2].map(|more| take(&engine, first + more));
    let [done, withdrawn, _] = ids;
    record(&engine, done, Event::SendingStarted { since: engine.now() });
    let completed = Event::Completed { receipt: "r".to_owned() };
    let mut step = Step::new(done, completed, by(), engine.now());
    step.evidence = Some(Evidence {
        kind: EvidenceKind::Create,
        at: engine.now(),
        http_status: Some(201),
        content_type: None,
        body: b"{}".to_vec(),
        fault: None,
    });
    engine.journal().record(step).unwrap();
    record(&engine, withdrawn, Event::Withdrawn { reason: "a test".to_owned() });
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn retention_says_how_many_reports_it_concerns_and_erases_them_alone() {
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(root.path()).await.unwrap();
    assert_known(desk.plan_retention(90).await, "no-endpoint");
    assert_known(desk.set_retention(Some(90)).await, "no-endpoint");
    drop(desk);
    let laboratory = root.path().join("laboratory");
    let old = three(&laboratory, 400, 1);
    let young = three(&laboratory, 10, 11);

    let desk = Desk::open(root.path()).await.unwrap();
    assert_eq!(desk.safekeeping().await.unwrap().unwrap().retention_days, None);
    for days in [0, 36_501, u32::MAX] {
        assert_known(desk.plan_retention(days).await, "argument-invalid");
        assert_known(desk.set_retention(Some(days)).await, "argument-invalid");
    }
    let concerned = async |days| desk.plan_retention(days).await.unwrap().reports;
    assert_eq!(concerned(500).await, 0, "none is so old");
    assert_eq!(concerned(90).await, 2, "what waits is not settled");
    assert_eq!(concerned(5).await, 4);

    assert_eq!(desk.set_retention(Some(90)).await.unwrap(), 2);
    let kept = desk.safekeeping().await.unwrap().unwrap();
    assert_eq!(kept.retention_days, Some(90));
    assert_eq!(concerned(90).await, 0, "what is erased is not counted again");
    assert_eq!(concerned(5).await, 2);
    // The same setting as the command line has.
    let headless = bridge::headless::Headless::open(&laboratory, None).await;
    assert_eq!(headless.unwrap().retention_days(), Some(90));
    let profile = Profile::open(&laboratory).unwrap();
    let engine = Engine::open(profile, None, EngineDeps::default()).unwrap();
    let is_kept = |id: SubmissionId| engine.journal().document(id).is_ok();
    assert_eq!(old.map(is_kept), [false, false, true]);
    assert_eq!(young.map(is_kept), [true; 3]);
    // What proves them stays, and agrees.
    assert!(engine.journal().verify().unwrap().problems.is_empty());
    assert_eq!(engine.journal().row(old[0]).unwrap().receipt.as_deref(), Some("r"));

    assert_eq!(desk.set_retention(None).await.unwrap(), 0);
    assert_eq!(desk.safekeeping().await.unwrap().unwrap().retention_days, None);
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn administrators_alone_say_how_long_content_is_kept_and_what_is_restored() {
    let root = tempfile::tempdir().unwrap();
    three(&root.path().join("laboratory"), 400, 1);
    let desk = Desk::open(root.path()).await.unwrap();
    let passphrase = json!({ "current": "", "passphrase": "zwinglicanary" });
    must(&desk, "set_administration_passphrase", passphrase).await;
    must(&desk, "close_administration", json!({})).await;
    let rule = json!({ "days": 90 });
    let backup = json!({ "name": "journal-1.db", "elsewhere": false, "passphrase": "" });
    for (command, arguments) in [("set_retention", &rule), ("restore_backup", &backup)] {
        assert_eq!(refusal(&desk, command, arguments.clone()).await, "administration-closed");
    }
    // Everybody may know what it would mean.
    assert_eq!(must(&desk, "plan_retention", rule.clone()).await["reports"], 2);
    must(&desk, "open_administration", json!({ "passphrase": "zwinglicanary" })).await;
    assert_eq!(must(&desk, "set_retention", rule).await, 2);
    assert_eq!(refusal(&desk, "restore_backup", backup).await, "backup-gone");
    desk.stop().await;
}
