//! What corrects what: a laboratory's files come in another order than they were made in, and an
//! identifier stands for several cases.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;
mod late;

use std::sync::atomic::Ordering;

use engine::{Candidate, Engine, EngineDeps, ImportOptions, Profile, Taken};
use house::House;
use identity::SecretsKind;
use journal::{NewSubmission, Step};
use report::{Event, SubmissionId};
use tokio_util::sync::CancellationToken;

const HOUR: i64 = 3_600_000_000;

fn engine(folder: &std::path::Path) -> Engine {
    let endpoints = vec![house::named("ours")];
    let profile = Profile::create(folder, SecretsKind::Practice, endpoints).unwrap();
    Engine::create(profile, None, EngineDeps::default()).unwrap()
}

fn version(made: &str, family: &str) -> String {
    testkit::DocumentBuilder::new(1).timestamp(made).family(family).json()
}

async fn take(engine: &Engine, candidates: &[Candidate]) -> Vec<SubmissionId> {
    let terms = ImportOptions { delay_micros: HOUR, ..ImportOptions::default() };
    let taken = engine.take(candidates, terms).await.unwrap().taken;
    let new = |taken| if let Taken::New(id) = taken { id } else { panic!("{taken:?}") };
    taken.into_iter().map(new).collect()
}

fn record(engine: &Engine, id: SubmissionId, event: Event) {
    let (by, now) = (engine.person().clone(), engine.now());
    engine.journal().record(Step::new(id, event, by, now)).unwrap();
}

fn identifier(house: &House, id: SubmissionId) -> String {
    house.journal.row(id).unwrap().identifier
}

/// A file comes after a newer version of its document has failed, because somebody was late. It is
/// older by its own date: it corrects nothing.
#[tokio::test]
async fn an_older_version_is_no_correction_of_a_newer_one_that_failed() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let look =
        async |text: String| engine.inspect_text("x.json".to_owned(), text.into_bytes()).await;
    let newer = look(version("2026-11-20T10:00:00Z", "Neu")).await.unwrap();
    let newer = take(&engine, &newer).await[0];
    let (since, due) = (engine.now(), engine.now());
    record(&engine, newer, Event::SendingStarted { since });
    record(&engine, newer, Event::Accepted { receipt: "r-1".to_owned(), since, due });
    record(&engine, newer, Event::Failed { receipt: "r-1".to_owned() });
    let older = look(version("2026-11-19T10:00:00Z", "Alt")).await.unwrap();
    let older = take(&engine, &older).await[0];
    if engine.journal().state(older).unwrap().code() == "queued" {
        record(&engine, older, Event::SendingStarted { since });
        record(&engine, older, Event::Accepted { receipt: "r-2".to_owned(), since, due });
    }
    let told: Vec<_> =
        engine.journal().detail(older).unwrap().messages.into_iter().map(|it| it.code).collect();
    let state = engine.journal().state(newer).unwrap();
    assert_eq!(state.code(), "failed", "the newer one is closed by the older, told: {told:?}");
}

/// Two versions of one document lie in a folder, and by their names the newer one comes first. What
/// is sent last is what the authority keeps.
#[tokio::test]
async fn of_two_versions_in_a_folder_the_older_is_not_sent_last() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = engine(home.path());
    let file = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    file("bericht-9.json", version("2026-11-19T10:00:00Z", "Alt"));
    file("bericht-10.json", version("2026-11-20T10:00:00Z", "Neu"));
    let found = engine.inspect(vec![folder.path().to_owned()]).await.unwrap();
    let names: Vec<_> = found.iter().map(|it| it.name.clone()).collect();
    let taken = take(&engine, &found).await;
    let last = engine.journal().state(taken[1]).unwrap();
    assert!(names[1] == "bericht-10.json" || last.code() == "held", "{names:?} {last:?}");
}

/// Two patients have the same initials, and one document identifier was used for both. The first
/// one's report has failed: the second patient's must not close it where nobody is told.
#[tokio::test]
async fn another_patient_of_the_same_initials_corrects_nothing_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let look =
        async |text: String| engine.inspect_text("x.json".to_owned(), text.into_bytes()).await;
    let of = |birth: &str, made: &str| {
        let builder = testkit::DocumentBuilder::new(1).disease(testkit::Disease::ALL[1]);
        let text = builder.family("M").timestamp(made).json();
        let at = text.find("\"birthDate\"").unwrap();
        let year = at + text[at..].find("-03-14").unwrap() - 4;
        format!("{}{birth}{}", &text[..year], &text[year + 10..])
    };
    let first = look(of("1961-03-14", "2026-11-19T10:00:00Z")).await.unwrap();
    let first = take(&engine, &first).await[0];
    let (since, due) = (engine.now(), engine.now());
    record(&engine, first, Event::SendingStarted { since });
    record(&engine, first, Event::Accepted { receipt: "r-1".to_owned(), since, due });
    record(&engine, first, Event::Failed { receipt: "r-1".to_owned() });
    let second = look(of("1999-08-02", "2026-11-20T10:00:00Z")).await.unwrap();
    let second = take(&engine, &second).await[0];
    let told: Vec<_> =
        engine.journal().detail(second).unwrap().messages.into_iter().map(|it| it.code).collect();
    let corrects = engine.journal().row(second).unwrap().corrects;
    assert!(corrects.is_none() || !told.is_empty(), "{corrects:?} {told:?}");
}

/// A gateway repeated a request: one delivery was stored, and the other one was refused with the
/// authority's own words. Nothing else is open, so nobody looks; a person corrects what was
/// rejected.
#[tokio::test]
async fn a_correction_of_what_was_rejected_asks_whether_another_delivery_was_stored() {
    let house = House::new();
    let worker = house.worker("one");
    house.authority.rejects.store(true, Ordering::SeqCst);
    let first = house.import("ours", 1);
    worker.once().await.unwrap();
    assert_eq!(house.journal.state(first).unwrap().code(), "rejected");
    house.authority.rejects.store(false, Ordering::SeqCst);
    house.authority.finds.lock().unwrap().push("r-9".to_owned());
    let mut changes = house::news("r-9", exchange::Processing::Completed, Vec::new());
    changes.answers[0].identifiers = vec![identifier(&house, first)];
    *house.authority.changes.lock().unwrap() = changes;
    for _ in 0..60 {
        house.clock.pass(60);
        worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    }
    let looked = house.authority.questions.load(Ordering::SeqCst);
    let new = NewSubmission { corrects: Some(first), ..house.submission("ours", 2) };
    house.journal.import(new).unwrap();
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    let asked = house.authority.asked_for.lock().unwrap().len();
    let state = house.journal.state(first).unwrap();
    assert!(asked > 0, "{state:?}: {looked} searches in an hour, sent {}", house.sent());
}
