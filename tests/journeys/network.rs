//! An hour in which the authority is busy, silent or gone, in simulated time: what is asked
//! meanwhile, and what became of the reports. What it refuses is sent once.

use std::time::Duration;

use authority::{Fault, FaultKind, Interaction};
use journeys::ground::{Ground, HOUR, Hour, REPORTS, hour, measured};
use journeys::outage::{Front, Scene, endpoint, hasty, patient};
use report::State;
use testkit::Figures;

#[test]
fn every_status_that_asks_for_patience_gets_it() {
    let ground = Ground::new();
    let mut figures = Figures::start("retry-codes", "every_status_that_asks_for_patience");
    let mut hours = Vec::new();
    for code in [408, 425, 429, 500, 502, 503, 504, 599] {
        let bare = FaultKind::BareStatus(code);
        hours.push(ground.faulty(&mut figures, &format!("{code} bare"), &bare, false));
        let told = FaultKind::Status { code, retry_after: None };
        hours.push(ground.faulty(&mut figures, &format!("{code} with an outcome"), &told, true));
    }
    measured(&mut figures, &hours);
    figures.finish();
    ground.end();
}

#[test]
fn retry_after_in_every_form() {
    let ground = Ground::new();
    let mut figures = Figures::start("retry-codes", "retry_after_in_every_form");
    let mut hours = Vec::new();
    let wishes = [
        ("0", None),
        ("1", None),
        ("120", None),
        // An hour or longer: within the hour that is promised, nothing beyond what was under way.
        ("3600", Some(REPORTS)),
        ("99999999999999999999999", Some(REPORTS)),
        ("Tue, 31 Dec 2999 23:59:59 GMT", Some(REPORTS)),
        ("Monday, 31-Dec-68 23:59:59 GMT", Some(REPORTS)),
        ("Tue Dec 31 23:59:59 2999", Some(REPORTS)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", None),
        ("Sunday, 06-Nov-94 08:49:37 GMT", None),
        ("-1", None),
        ("-99999999999999999999", None),
        ("soon", None),
        ("", None),
    ];
    for (wish, most) in wishes {
        for code in [429, 503] {
            let kind = FaultKind::Status { code, retry_after: Some(wish.to_owned()) };
            let name = format!("{code}, Retry-After: {wish}");
            let hour = ground.faulty(&mut figures, &name, &kind, false);
            assert!(most.is_none_or(|most| hour.submits <= most), "{name}: {}", hour.submits);
            hours.push(hour);
        }
    }
    measured(&mut figures, &hours);
    figures.finish();
    ground.end();
}

#[test]
fn no_answer_of_any_kind_is_no_storm() {
    let ground = Ground::new();
    let mut figures = Figures::start("retry-codes", "no_answer_of_any_kind");
    let mut hours = Vec::new();
    for (name, kind) in [
        ("cut before anything is stored", FaultKind::CutBeforeCommit),
        ("cut after it is stored", FaultKind::CutAfterCommit),
        ("never answered", FaultKind::Delay(HOUR)),
        ("answers without a body", FaultKind::EmptyBody),
        ("answers cut in the middle", FaultKind::Truncated),
        ("answers without an end", FaultKind::EndlessBody),
        ("web pages", FaultKind::Html),
    ] {
        for warm in [false, true] {
            hours.push(ground.faulty(&mut figures, &format!("{name}, warm {warm}"), &kind, warm));
        }
    }
    hours.extend(unreachable(&ground, &mut figures));
    measured(&mut figures, &hours);
    figures.finish();
    ground.end();
}

/// No name, nobody listening, nobody greeting.
fn unreachable(ground: &Ground, figures: &mut Figures) -> Vec<Hour> {
    ground.runtime.block_on(async {
        let mut hours = Vec::new();
        let identity = ground.identity();
        for name in ["no such name", "nobody listens", "nobody greets"] {
            let mut front = Front::open().await;
            let sound = endpoint(&front.base(), &ground.trusted());
            let mut broken = sound.clone();
            match name {
                "no such name" => broken.base = "https://nowhere.invalid/v1/fhir".parse().unwrap(),
                "nobody listens" => front.close().await,
                _ => front.lead(None),
            }
            let mut scene = Scene::new();
            scene.connect(&broken, Some(&identity), hasty());
            let hour = hour(&mut scene, name).await;
            assert_eq!((hour.submits, hour.banner.0), (0, "unreachable"), "{name}");
            hours.push(hour);
            front.reopen().await;
            front.lead(Some(ground.address()));
            scene.connect(&sound, Some(&identity), patient());
            ground.recovers(figures, &mut scene, name).await;
        }
        hours
    })
}

/// The network was gone for an hour, and whoever has brought it back does not wait until the next
/// try. In vain it costs one request.
#[test]
fn a_person_who_has_the_network_back_need_not_wait() {
    let ground = Ground::new();
    let mut figures = Figures::start("retry-codes", "a_person_need_not_wait");
    let name = "tried by a person";
    ground.runtime.block_on(async {
        let mut front = Front::open().await;
        let (sound, identity) = (endpoint(&front.base(), &ground.trusted()), ground.identity());
        front.lead(Some(ground.address()));
        let mut scene = Scene::new();
        scene.connect(&sound, Some(&identity), patient());
        scene.take_in(1);
        scene.work(HOUR).await;
        assert!(scene.settled(), "sound before");
        front.close().await;
        hour(&mut scene, name).await;
        let second = Duration::from_secs(1);
        for _ in 0..3 {
            scene.try_now();
            assert_eq!(scene.work(second).await, 1, "one request, and nobody is there");
        }
        front.reopen().await;
        assert_eq!(scene.work(second).await, 0, "it waits for its time");
        let waits = |scene: &Scene| {
            scene.states().iter().filter(|it| matches!(it, State::Queued { .. })).count()
        };
        assert_eq!(waits(&scene), usize::try_from(REPORTS).unwrap());
        scene.try_now();
        scene.work(second * 10).await;
        assert_eq!((waits(&scene), scene.banner().0), (0, "connected"));
        ground.recovers(&mut figures, &mut scene, name).await;
    });
    figures.finish();
    ground.end();
}

#[test]
fn what_the_authority_refuses_is_sent_once() {
    let ground = Ground::new();
    let mut figures = Figures::start("outcome-400", "what_the_authority_refuses");
    let mut most = 0;
    for code in [400, 422] {
        for _ in 0..5 {
            let (submits, states) = ground.runtime.block_on(async {
                let front = Front::open().await;
                front.lead(Some(ground.address()));
                let mut scene = Scene::new();
                let endpoint = endpoint(&front.base(), &ground.trusted());
                scene.connect(&endpoint, Some(&ground.identity()), patient());
                let refused = FaultKind::Status { code, retry_after: Some("1".to_owned()) };
                ground.authority.faults.add(Fault::always(Interaction::Create, refused));
                let hour = {
                    scene.take_in(REPORTS);
                    scene.work(Duration::from_secs(1)).await;
                    let at_once = scene.states();
                    assert!(at_once.iter().all(|state| *state == State::Rejected), "{at_once:?}");
                    // Once refused, it stays so, also when the authority would take it now.
                    ground.authority.faults.clear();
                    scene.take_in(1);
                    scene.work(24 * HOUR).await;
                    scene.states()
                };
                let submits = scene.requests.submits.load(std::sync::atomic::Ordering::SeqCst);
                for id in &scene.ids[..usize::try_from(REPORTS).unwrap()] {
                    let words = scene.journal().detail(*id).unwrap();
                    assert!(!words.messages.is_empty(), "the authority's reasons are kept");
                }
                (submits, hour)
            });
            assert_eq!(submits, REPORTS + 1, "one request each");
            most = most.max(submits.div_ceil(REPORTS + 1));
            figures.cases(REPORTS);
            figures.false_completed(
                states[..3].iter().filter(|state| **state != State::Rejected).count() as u64,
            );
            assert!(matches!(states[3], State::Completed { .. }), "others are not held up");
        }
    }
    figures.measure("requests per report", f64::from(u32::try_from(most).unwrap()));
    figures.finish();
    ground.end();
}
