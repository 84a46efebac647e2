use std::sync::Arc;

use identity::SecretsKind;

use super::*;
use crate::{EngineDeps, ImportOptions, Profile};

fn change(now: Instant) -> Change {
    Change { now, known: None, during: BTreeMap::new() }
}

fn before_of(settings: &Settings) -> Vec<(&str, Instant, Instant)> {
    let all = settings.certificates_before("one", Instant::from_seconds(90));
    all.into_iter().map(|it| (it.fingerprint, it.from, it.until)).collect()
}

/// A laboratory whose endpoint has used these certificates since these times, and a report that
/// waits for an hour.
async fn with_report(place: &std::path::Path, used: &[(&str, i64)]) -> (Engine, Endpoint) {
    let endpoint: Endpoint = serde_json::from_value(serde_json::json!({
        "id": "one", "name": "one", "base": "https://localhost/fhir",
        "environment": "integration",
    }))
    .unwrap();
    let mut profile =
        Profile::create(place, SecretsKind::Practice, vec![endpoint.clone()]).unwrap();
    for (fingerprint, since) in used {
        profile.settings.use_certificate(endpoint.id(), fingerprint, &change(Instant(*since)));
    }
    profile.save().unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let text = testkit::DocumentBuilder::new(1).json().into_bytes();
    let seen = engine.inspect_text("a.json".to_owned(), text).await.unwrap();
    let terms = ImportOptions { delay_micros: 3_600_000_000, ..ImportOptions::default() };
    engine.take(&seen, terms).await.unwrap();
    (engine, endpoint)
}

/// A restore puts everything in doubt from then on; it may have been sent with a certificate of
/// before all the same.
#[tokio::test]
async fn after_a_restore_the_certificates_of_before_are_asked_too() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("profile");
    let (engine, endpoint) = with_report(&place, &[("A", 10), ("B", 20)]).await;
    engine.back_up_if_due().await.unwrap().unwrap();
    engine.stop().await;
    drop(engine);
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(place.join(format!("journal.db{suffix}")));
    }
    let profile = Profile::open(&place).unwrap();
    let engine = Engine::open(profile, None, EngineDeps::default()).unwrap();
    assert_eq!(engine.former_ways(&endpoint).len(), 1);
}

#[test]
fn certificates_that_were_used_before_are_known_with_their_times() {
    let at = Instant::from_seconds;
    let text = r#"{"version":2,"id":"test","secrets":"keychain"}"#;
    let mut settings: Settings = serde_json::from_str(text).unwrap();
    for (endpoint, fingerprint, since) in
        [("one", "A", 10), ("two", "X", 15), ("one", "B", 20), ("one", "C", 30), ("one", "B", 40)]
    {
        settings.use_certificate(endpoint, fingerprint, &change(at(since)));
    }
    let expected = [("A", Instant(i64::MIN), at(20)), ("C", at(30), at(40))];
    assert_eq!(before_of(&settings), expected, "B is in use again");
    assert!(settings.certificates_before("two", at(90)).is_empty());
}

#[test]
fn a_certificate_that_is_removed_brings_none_of_before_back() {
    let at = Instant::from_seconds;
    let endpoint = |name: &str| {
        serde_json::json!({
            "name": name, "base": "https://host/v1/fhir", "environment": "production",
        })
    };
    let settings = serde_json::json!({
        "version": 2, "id": "test", "secrets": "keychain",
        "endpoints": [endpoint("one"), endpoint("two")],
    });
    let mut settings: Settings = serde_json::from_value(settings).unwrap();
    settings.use_certificate("one", "A", &change(at(10)));
    settings.use_certificate("two", "A", &change(at(10)));
    settings.use_certificate("one", "B", &change(at(20)));
    settings.forget_certificate("B", &change(at(30)));
    assert_eq!(settings.certificate_of("one"), None, "nobody has said that A is to be used");
    assert_eq!(settings.certificate_of("two"), Some("A"));
    // What was sent with A is still asked for with it, and what was sent with B is not taken
    // for A's or C's.
    let before = [("A", Instant(i64::MIN), at(20)), ("B", at(20), at(30))];
    assert_eq!(before_of(&settings), before);
    settings.use_certificate("one", "C", &change(at(40)));
    assert_eq!(settings.certificate_of("one"), Some("C"));
    assert_eq!(before_of(&settings), before);
    settings.use_certificate("one", "A", &change(at(50)));
    assert_eq!(settings.certificate_of("one"), Some("A"), "chosen again");
    let before = [("B", at(20), at(30)), ("C", at(40), at(50))];
    assert_eq!(before_of(&settings), before);
}

/// It has failed, the certificate was replaced, and its correction is withdrawn: it waits to be
/// sent again, and its number is shown to the former certificate alone.
#[tokio::test]
async fn what_failed_and_is_open_again_is_asked_for_with_the_certificate_of_before() {
    use journal::Step;
    use report::{Event, Person};
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("profile");
    let (engine, endpoint) = with_report(&place, &[("A", 10)]).await;
    let id = report::SubmissionId(1);
    let now = engine.now();
    let step = |event| Step::new(id, event, Person("test".to_owned()), now);
    for event in [
        Event::SendingStarted { since: now },
        Event::Failed { receipt: "r-1".to_owned() },
        Event::Superseded { by: id },
        Event::HeldBack,
        Event::Released { reason: "x".to_owned(), due: now },
    ] {
        engine.journal().record(step(event)).unwrap();
    }
    engine
        .change_certificates(|settings, change| {
            settings.use_certificate("one", "B", change);
            Ok(())
        })
        .unwrap();
    assert_eq!(engine.former_ways(&endpoint).len(), 1);
}

/// A clock that tells whether the settings were held at each look at it.
struct Looked {
    lock: std::path::PathBuf,
    held: std::sync::Mutex<Vec<(Instant, bool)>>,
}

impl crate::Clock for Looked {
    fn now(&self) -> Instant {
        let file = std::fs::File::open(&self.lock);
        let is_held = file.is_ok_and(|file| file.try_lock().is_err());
        let mut held = self.held.lock().unwrap();
        let now = Instant::from_seconds(1_800_000_000).plus_seconds(held.len() as i64);
        held.push((now, is_held));
        now
    }

    fn steady(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }

    fn fraction(&self) -> f64 {
        0.5
    }
}

/// Another program may hold the settings for long, and its requests go with the former certificate
/// meanwhile: the time of a change is taken when they are held by whoever makes it.
#[tokio::test]
async fn the_time_of_a_change_of_certificate_is_taken_while_the_settings_are_held() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("profile");
    let (engine, _) = with_report(&place, &[("A", 10)]).await;
    engine.stop().await;
    drop(engine);
    let clock = Arc::new(Looked { lock: place.join("profile.lock"), held: Default::default() });
    let deps = EngineDeps { clock: clock.clone(), ..EngineDeps::default() };
    let engine = Engine::open(Profile::open(&place).unwrap(), None, deps).unwrap();
    engine.assign("B", &["one".to_owned()]).await.unwrap();
    let settings = engine.profile().settings;
    let changed = settings.certificates_before("one", Instant(0))[0].until;
    let held = clock.held.lock().unwrap();
    assert_eq!(held.iter().find(|(at, _)| *at == changed), Some(&(changed, true)));
}
