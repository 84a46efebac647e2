//! Dates that lie ahead, by a slip or by a clock that is behind, and the order of versions.

use std::sync::Arc;

use engine::{Engine, EngineDeps, ImportOptions, Profile};
use identity::SecretsKind;

use super::{Laboratory, house};

const DAY: i64 = 86_400;

/// A laboratory with a clock that the test moves; at first it says 15 January 2027, 08:00.
async fn with_clock() -> (Laboratory, Arc<house::Hands>) {
    let home = tempfile::tempdir().unwrap();
    let clock: Arc<house::Hands> = Arc::default();
    let endpoints = vec![house::named("ours")];
    let profile = Profile::create(home.path(), SecretsKind::Practice, endpoints).unwrap();
    let deps = EngineDeps { clock: clock.clone(), ..EngineDeps::default() };
    let engine = Engine::create(profile, None, deps).unwrap();
    engine.use_endpoint("ours").await.unwrap();
    (Laboratory { engine, _home: home }, clock)
}

fn at(day: &str, family: &str) -> String {
    let made = format!("{day}T10:00:00Z");
    testkit::DocumentBuilder::new(1).timestamp(&made).family(family).json()
}

/// The newest version has a slip in its year, and comes first, as names in a folder sort as text:
/// an older version does not take its place in silence.
#[tokio::test]
async fn an_older_file_does_not_replace_a_newer_one_that_is_on_hold_for_a_slip() {
    let lab = Laboratory::new().await;
    let slip = testkit::DocumentBuilder::new(1).timestamp("2027-11-21T10:00:00Z");
    let newest = lab.take_in(slip.family("Muster21").json(), ImportOptions::default()).await;
    assert_eq!(lab.code(newest), "held", "{:?}", lab.warnings(newest));
    let oldest = lab.hand_over(19).await;
    assert_eq!(lab.corrects(oldest), None);
    assert_eq!(lab.warnings(oldest), ["same-identifier-other-content"]);
    lab.complete(oldest);
    assert_eq!(lab.code(newest), "held");
}

/// The clock is ten days behind, so that everything is on hold; it is set right, and a person
/// releases what waits. Names sort as text: the newest version comes first.
#[tokio::test]
async fn while_the_clock_is_behind_no_older_version_replaces_the_newest() {
    let (lab, clock) = with_clock().await;
    clock.set(-10 * DAY);
    let mut taken = Vec::new();
    for day in ["2027-01-13", "2027-01-11", "2027-01-12"] {
        taken.push(lab.take_in(at(day, day), ImportOptions::default()).await);
    }
    assert!(taken.iter().all(|id| lab.code(*id) == "held"));
    clock.set(10 * DAY);
    let links: Vec<_> = taken.iter().map(|id| (lab.corrects(*id), lab.warnings(*id))).collect();
    for id in taken.iter().rev() {
        lab.engine.release(*id, "the clock".to_owned()).await.unwrap();
        lab.complete(*id);
    }
    let codes: Vec<_> = taken.iter().map(|id| lab.code(*id)).collect();
    assert_eq!(codes[0], "completed", "{codes:?} {links:?}");
}

/// What was on hold for a clock that was behind can be sent, whatever came after it.
#[tokio::test]
async fn what_was_on_hold_for_a_clock_that_was_behind_can_still_be_sent() {
    let (lab, clock) = with_clock().await;
    clock.set(-10 * DAY);
    let newest = lab.take_in(at("2027-01-13", "Neu"), ImportOptions::default()).await;
    let oldest = lab.take_in(at("2027-01-11", "Alt"), ImportOptions::default()).await;
    clock.set(10 * DAY);
    lab.engine.release(oldest, "the clock".to_owned()).await.unwrap();
    lab.complete(oldest);
    lab.engine.release(newest, "the clock".to_owned()).await.unwrap();
    assert_eq!(lab.code(newest), "queued");
}

/// Two versions that differ in their dates alone, both of which lie ahead: those dates have an
/// order, and the older one mends nothing.
#[tokio::test]
async fn of_two_dates_that_lie_ahead_the_later_one_is_newer() {
    let (lab, clock) = with_clock().await;
    clock.set(-10 * DAY);
    let newest = lab.take_in(at("2027-01-13", "Muster"), ImportOptions::default()).await;
    let oldest = lab.take_in(at("2027-01-11", "Muster"), ImportOptions::default()).await;
    assert_eq!((lab.corrects(oldest), lab.corrects(newest)), (None, None));
    assert!(lab.warnings(oldest).contains(&super::corrected::OLDER.to_owned()));
}

/// The clock is ten days behind; the newest version is on hold for it, a person releases it once
/// the clock is right, and the authority completes it. Then an older file comes late.
#[tokio::test]
async fn an_older_file_does_not_follow_what_was_taken_in_while_the_clock_was_behind() {
    let (lab, clock) = with_clock().await;
    clock.set(-10 * DAY);
    let newest = lab.take_in(at("2027-01-13", "Neu"), ImportOptions::default()).await;
    assert_eq!(lab.code(newest), "held");
    clock.set(10 * DAY);
    lab.engine.release(newest, "the clock".to_owned()).await.unwrap();
    lab.complete(newest);
    let older = lab.take_in(at("2027-01-11", "Alt"), ImportOptions::default()).await;
    assert_eq!(lab.code(older), "held", "{:?}", lab.warnings(older));
}

/// The newest version corrects the postal code, the birth date or the day of the sample, and has a
/// slip in its year; the older file comes after it. Four digits are no date of the version, and
/// neither is a day that does not lie ahead.
#[tokio::test]
async fn an_older_file_that_differs_in_a_day_does_not_replace_a_slip() {
    let slip = || {
        let builder = testkit::DocumentBuilder::new(1).timestamp("2027-11-20T10:00:00Z");
        builder.family("Muster").json()
    };
    let birth = slip().find("\"birthDate\": \"").unwrap() + 14;
    let born = slip()[birth..birth + 10].to_owned();
    let sampled = "\"collectedDateTime\": \"2027-11-20\"";
    for newest in [
        slip().replace("\"3999\"", "\"3000\""),
        slip().replace(&born, "1971-04-15"),
        slip().replacen(sampled, "\"collectedDateTime\": \"2026-11-12\"", 1),
    ] {
        assert_ne!(newest, slip());
        let lab = Laboratory::new().await;
        let newest = lab.take_in(newest, ImportOptions::default()).await;
        assert_eq!(lab.code(newest), "held");
        let older = lab.take_in(super::dated(19, "Muster"), ImportOptions::default()).await;
        lab.complete(older);
        assert_eq!((lab.corrects(older), lab.code(newest)), (None, "held"));
    }
}

/// The clock is ten days behind; the newest version is on hold for it, and a person releases it
/// once the clock is right. It has not left yet (an outage) when an older file comes late.
#[tokio::test]
async fn an_older_file_does_not_go_after_what_was_released_and_has_not_left_yet() {
    let (lab, clock) = with_clock().await;
    clock.set(-10 * DAY);
    let newest = lab.take_in(at("2027-01-13", "Neu"), ImportOptions::default()).await;
    assert_eq!(lab.code(newest), "held");
    clock.set(10 * DAY);
    lab.engine.release(newest, "the clock".to_owned()).await.unwrap();
    assert_eq!(lab.code(newest), "queued");
    let older = lab.take_in(at("2027-01-11", "Alt"), ImportOptions::default()).await;
    assert_eq!(lab.code(older), "held", "{:?}", lab.warnings(older));
}

/// The clock is ten days behind, so that all recent days lie ahead. The newest version corrects the
/// day of the sample, and is on hold for the clock; the older file comes after it, as names in a
/// folder sort as text.
#[tokio::test]
async fn an_older_day_of_the_sample_does_not_replace_the_newest_while_the_clock_is_behind() {
    let (lab, clock) = with_clock().await;
    clock.set(-10 * DAY);
    let sampled = |text: String, day: &str| {
        let at = text.find("\"collectedDateTime\": \"").unwrap() + 22;
        format!("{}{day}{}", &text[..at], &text[at + 10..])
    };
    let newest = sampled(at("2027-01-13", "Muster"), "2027-01-12");
    let newest = lab.take_in(newest, ImportOptions::default()).await;
    assert_eq!(lab.code(newest), "held");
    let older = sampled(at("2027-01-05", "Muster"), "2027-01-02");
    let older = lab.take_in(older, ImportOptions::default()).await;
    let links = (lab.corrects(older), lab.warnings(older));
    assert_eq!(lab.code(older), "queued", "{links:?}");
    lab.complete(older);
    assert_eq!(lab.code(newest), "held", "{links:?}");
}

/// The newest version was on hold for the clock in a backup, was released and sent since, and is
/// found at the authority after a restore: as far as the journal knows no request was made for it.
#[tokio::test]
async fn an_older_file_does_not_go_after_what_was_found_after_a_restore() {
    let (lab, clock) = with_clock().await;
    clock.set(-10 * DAY);
    let newest = lab.take_in(at("2027-01-13", "Neu"), ImportOptions::default()).await;
    assert_eq!(lab.code(newest), "held");
    clock.set(10 * DAY);
    // As a restore leaves it, and the question that follows.
    lab.release(newest);
    let (since, due) = (lab.engine.now(), lab.engine.now());
    let why = journal::RESTORED.to_owned();
    lab.record(newest, report::Event::Doubted { since, due, why });
    lab.record(newest, report::Event::Completed { receipt: "r-9".to_owned() });
    let older = lab.take_in(at("2027-01-11", "Alt"), ImportOptions::default()).await;
    assert_eq!(lab.code(older), "held", "{:?}", lab.warnings(older));
}
