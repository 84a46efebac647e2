//! Two rooms: practice, and a laboratory with an authority of its own. Its secrets rest in a plain file
//! here, because the keychain of whoever runs the tests is not theirs to write to.

use std::path::Path;
use std::task::Poll;
use std::time::Duration;

use authority::{ServeOptions, Serving, serve};
use engine::Engine;
use exchange::Environment;
use identity::SecretsKind;
use journal::Filter;
use tokio_util::sync::CancellationToken;

use super::Desk;
use crate::rows::Names;
use crate::views::{
    Connection, EndpointInput, HandedItem, LaboratoryView, ListQuery, ProbeOutcome,
};
use crate::{KnownContent, PRACTICE_ENDPOINT};

const PATIENCE: Duration = Duration::from_secs(60);

/// An authority that takes itself for the integration system.
struct Integration {
    serving: Serving,
    shutdown: CancellationToken,
    ca_pem: String,
    p12: String,
    password: String,
}

impl Integration {
    async fn start(data: &Path) -> Self {
        let made = authority::init(data, &["labor-muster".to_owned()]).unwrap();
        let shutdown = CancellationToken::new();
        let serving = serve(ServeOptions::new(data), shutdown.clone()).await.unwrap();
        Self {
            serving,
            shutdown,
            ca_pem: std::fs::read_to_string(&made.ca).unwrap(),
            p12: made.pilots[0].p12.display().to_string(),
            password: std::fs::read_to_string(&made.pilots[0].password).unwrap(),
        }
    }

    fn endpoint(&self) -> EndpointInput {
        EndpointInput {
            name: "Integration".to_owned(),
            base_url: self.serving.base_url.clone(),
            environment: "integration".to_owned(),
            release: None,
            language: Some("fr-CH".to_owned()),
            ca_pem: Some(self.ca_pem.clone()),
            proxy: None,
        }
    }
}

/// An authority that is not there.
fn nowhere() -> EndpointInput {
    EndpointInput {
        name: "real".to_owned(),
        base_url: "https://127.0.0.1:1/v1/fhir".to_owned(),
        environment: "production".to_owned(),
        release: None,
        language: None,
        ca_pem: None,
        proxy: None,
    }
}

async fn completed(desk: &Desk, count: u32) {
    let wait = async {
        loop {
            let status = desk.status().await.unwrap();
            if status.counts.completed == count {
                return;
            }
            desk.changed(status.revision).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("in time");
}

async fn sample(desk: &Desk) -> String {
    let samples = desk.practice_samples().await.unwrap();
    samples.into_iter().find(|path| path.contains("covid")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn from_practice_to_the_real_thing_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let integration = Integration::start(&folder.path().join("integration")).await;
    let root = folder.path().join("desk");
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    let before = desk.status().await.unwrap();
    assert_eq!(before.environment, Environment::Practice);

    // Setting up the laboratory leaves practice in use until the person moves over.
    desk.add_endpoint(integration.endpoint()).await.unwrap();
    let again = desk.add_endpoint(integration.endpoint()).await.unwrap_err();
    assert_eq!(again.code, "endpoint-exists");
    let paths = vec![integration.p12.clone()];
    let view = desk.certificate_import(paths, integration.password.clone(), None).await.unwrap();
    assert!(view.subject.contains("labor-muster"), "{}", view.subject);
    let still = desk.status().await.unwrap();
    assert_eq!(still.environment, Environment::Practice);
    assert_ne!(still.certificate.unwrap().fingerprint, view.fingerprint);

    desk.use_endpoint("Integration".to_owned()).await.unwrap();
    let status = desk.status().await.unwrap();
    assert_eq!((status.environment, status.release.as_str()), (Environment::Integration, "1.13.1"));
    assert_eq!(status.certificate.unwrap().fingerprint, view.fingerprint);
    assert!(status.revision > before.revision, "the window looks again");
    let used: Vec<_> = desk.endpoints().await.unwrap().into_iter().filter(|e| e.in_use).collect();
    assert_eq!(used.len(), 1);
    assert_eq!((used[0].name.as_str(), used[0].language.as_str()), ("Integration", "fr-CH"));
    let layers = desk.test_endpoint("Integration".to_owned()).await.unwrap();
    assert!(layers.iter().all(|layer| layer.outcome == ProbeOutcome::Passed), "{layers:?}");

    // A report goes to the authority of the room in use, and is in its journal only.
    let report = sample(&desk).await;
    desk.send_files(vec![report.clone()], KnownContent::Show).await.unwrap();
    completed(&desk, 1).await;
    let rows = desk.list(ListQuery::default(), Names::Masked).await.unwrap().rows;
    assert_eq!((rows.len(), rows[0].environment), (1, Environment::Integration));
    // What was handed over for another endpoint is followed there, and the window says how that goes.
    assert_eq!(desk.status().await.unwrap().elsewhere, []);
    let other = EndpointInput {
        name: "Other".to_owned(),
        base_url: "https://127.0.0.1:1/v1/fhir".to_owned(),
        ..integration.endpoint()
    };
    desk.add_endpoint(other).await.unwrap();
    desk.use_endpoint("Other".to_owned()).await.unwrap();
    let mut samples = desk.practice_samples().await.unwrap().into_iter();
    let another = samples.find(|path| *path != report).unwrap();
    desk.send_files(vec![another], KnownContent::Show).await.unwrap();
    assert_eq!(desk.status().await.unwrap().elsewhere, []);
    desk.use_endpoint("Integration".to_owned()).await.unwrap();
    loop {
        let elsewhere = desk.status().await.unwrap().elsewhere;
        let [other] = &elsewhere[..] else { panic!("{elsewhere:?}") };
        assert_eq!((other.endpoint.as_str(), other.count), ("Other", 1));
        assert_eq!(other.environment, Environment::Integration);
        // Nobody is there: that is said of this endpoint, and the one in use is none the worse.
        if other.connection == Connection::Unreachable {
            assert!(other.problem.is_some());
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    desk.stop().await;
    drop(desk);

    // The room is remembered.
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    assert_eq!(desk.status().await.unwrap().environment, Environment::Integration);
    desk.use_endpoint(PRACTICE_ENDPOINT.to_owned()).await.unwrap();
    let status = desk.status().await.unwrap();
    assert_eq!((status.environment, status.counts.completed), (Environment::Practice, 0));
    desk.stop().await;
    integration.shutdown.cancel();
    integration.serving.finished().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_in_the_watched_folder_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    let watched = folder.path().join("out");
    std::fs::create_dir(&watched).unwrap();
    desk.set_watched_folder(Some(watched.display().to_string())).await.unwrap();
    let file = watched.join("report.json");
    std::fs::copy(sample(&desk).await, &file).unwrap();
    completed(&desk, 1).await;
    assert!(file.exists(), "files stay where they are");
    desk.set_watched_folder(None).await.unwrap();
    desk.stop().await;
}

/// What lay there when a person was asked stays, can be looked at, and goes where a person hands it over.
#[tokio::test(flavor = "multi_thread")]
async fn what_lay_in_the_watched_folder_is_sent_where_a_person_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    let watched = folder.path().join("out");
    std::fs::create_dir(&watched).unwrap();
    let put = |number: u64| {
        let text = testkit::DocumentBuilder::new(number).json();
        std::fs::write(watched.join(format!("{number}.json")), text).unwrap();
    };
    let path = watched.display().to_string();
    assert_eq!(desk.look_at_folder(path.clone()).await.unwrap().count, 0);
    put(1);
    put(2);
    let there = desk.look_at_folder(path.clone()).await.unwrap();
    assert_eq!((there.count, there.newest.is_some()), (2, true));
    put(3);
    desk.watch_what_comes(path.clone()).await.unwrap();
    completed(&desk, 1).await;
    let left = desk.left_lying().await.unwrap();
    assert_eq!(left.paths, ["1.json", "2.json"].map(|it| watched.join(it).display().to_string()));
    let preferences = desk.preferences().await.unwrap();
    desk.set_preferences(crate::views::PreferencesView { undo_seconds: 0, ..preferences })
        .await
        .unwrap();
    desk.send_files(left.paths, engine::KnownContent::Show).await.unwrap();
    completed(&desk, 3).await;
    while desk.left_lying().await.unwrap().count > 0 {
        tokio::task::yield_now().await;
    }
    // Chosen again with all that lies in it, it has nothing that stays.
    put(4);
    desk.set_watched_folder(Some(path)).await.unwrap();
    completed(&desk, 4).await;
    desk.stop().await;
}

/// Waits until exactly these notices stand in the window.
async fn told(desk: &Desk, codes: &[&str]) -> Vec<crate::Problem> {
    let wait = async {
        loop {
            let status = desk.status().await.unwrap();
            let problems: Vec<_> = status.notices.into_iter().map(|n| n.problem).collect();
            if problems.iter().map(|problem| problem.code.as_str()).eq(codes.iter().copied()) {
                return problems;
            }
            desk.changed(status.revision).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("in time")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_the_watched_folder_stands_in_the_window_as_long_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    let (watched, away) = (folder.path().join("out"), folder.path().join("away"));
    std::fs::create_dir(&watched).unwrap();
    desk.set_watched_folder(Some(watched.display().to_string())).await.unwrap();
    let file = watched.join("Befund.pdf");
    std::fs::write(&file, "%PDF-1.7\n1 0 obj").unwrap();
    let problems = told(&desk, &["watched-files-refused"]).await;
    assert_eq!((&*problems[0].params["file"], &*problems[0].params["kind"]), ("Befund.pdf", "pdf"));
    assert_eq!(problems[0].remedy, "mend-file");
    // A report takes the place of what was none.
    std::fs::copy(sample(&desk).await, &file).unwrap();
    told(&desk, &[]).await;
    completed(&desk, 1).await;
    std::fs::rename(&watched, &away).unwrap();
    let problems = told(&desk, &["watched-folder-away"]).await;
    assert_eq!(problems[0].params["folder"], watched.display().to_string());
    assert_eq!(problems[0].remedy, "reconnect-folder");
    std::fs::rename(&away, &watched).unwrap();
    told(&desk, &[]).await;
    // Nothing is left of a folder that is watched no longer.
    std::fs::rename(&watched, &away).unwrap();
    told(&desk, &["watched-folder-away"]).await;
    desk.set_watched_folder(None).await.unwrap();
    assert!(desk.status().await.unwrap().notices.is_empty());
    desk.stop().await;
}

/// The settings were written by hand while the window runs, and a comma was left out. What is exported meanwhile waits, and
/// the window says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_taken_from_stands_in_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    let watched = folder.path().join("out");
    std::fs::create_dir(&watched).unwrap();
    desk.set_watched_folder(Some(watched.display().to_string())).await.unwrap();
    let settings = desk.inner.practice_engine.profile().folder().join("profile.json");
    std::fs::write(settings, "{").unwrap();
    std::fs::copy(sample(&desk).await, watched.join("report.json")).unwrap();
    let problems = told(&desk, &["watched-folder-stopped"]).await;
    assert_eq!(problems[0].params["folder"], watched.display().to_string());
    assert_eq!(problems[0].params["reason"], "settings-damaged");
    desk.stop().await;
}

/// Whoever practises must not stop what the laboratory's own system exports meanwhile; nor must a restart.
#[tokio::test(flavor = "multi_thread")]
async fn the_laboratorys_folder_is_watched_while_practice_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let integration = Integration::start(&folder.path().join("integration")).await;
    let root = folder.path().join("desk");
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    desk.add_endpoint(integration.endpoint()).await.unwrap();
    let paths = vec![integration.p12.clone()];
    desk.certificate_import(paths, integration.password.clone(), None).await.unwrap();
    desk.use_endpoint("Integration".to_owned()).await.unwrap();
    let watched = folder.path().join("out");
    std::fs::create_dir(&watched).unwrap();
    desk.set_watched_folder(Some(watched.display().to_string())).await.unwrap();
    // Numbers that the page has in hand are those of another room now.
    let room = desk.status().await.unwrap().room;
    desk.in_room(Some(room)).unwrap();
    desk.use_endpoint(PRACTICE_ENDPOINT.to_owned()).await.unwrap();
    assert_eq!(desk.in_room(Some(room)).err().unwrap().code, "room-changed");
    desk.in_room(Some(desk.status().await.unwrap().room)).unwrap();
    assert_eq!(desk.watched().await, [None, Some(watched.clone())]);
    std::fs::write(watched.join("1.json"), testkit::DocumentBuilder::new(1).json()).unwrap();
    let laboratory = desk.opened_laboratory().unwrap();
    let sent = |count| {
        let laboratory = laboratory.clone();
        let wait = async move {
            while laboratory.journal().counts(laboratory.now()).unwrap().by_state["completed"]
                < count
            {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        async move { tokio::time::timeout(PATIENCE, wait).await.expect("in time") }
    };
    sent(1).await;
    desk.stop().await;
    assert_eq!(desk.watched().await, [None, None]);
    drop(desk);

    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    assert_eq!(desk.status().await.unwrap().environment, Environment::Practice);
    assert_eq!(desk.watched().await, [None, Some(watched)]);
    desk.stop().await;
    integration.shutdown.cancel();
    integration.serving.finished().await;
}

/// Files are handed over in the laboratory, and somebody changes to practice while they are read: they are reports of
/// the laboratory all the same, and nothing of them reaches the practice journal.
#[tokio::test(flavor = "multi_thread")]
async fn files_are_taken_in_by_the_room_in_which_they_were_handed_over() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("desk");
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.add_endpoint(nowhere()).await.unwrap();
    let laboratory = desk.opened_laboratory().unwrap();
    let reports = |engine: &Engine| engine.journal().count(&Filter::default(), 100).unwrap();
    let file = |number: u64| {
        let file = folder.path().join(format!("{number}.json"));
        std::fs::write(&file, testkit::DocumentBuilder::new(number).json()).unwrap();
        file.display().to_string()
    };
    for (separate, number) in [(false, 1), (true, 2)] {
        desk.move_to(false).await.unwrap();
        let paths = vec![file(number)];
        let mut sending: std::pin::Pin<Box<dyn Future<Output = _> + Send>> = if separate {
            Box::pin(desk.send_files_separately(paths, KnownContent::Show))
        } else {
            Box::pin(desk.send_files(paths, KnownContent::Show))
        };
        let begun = std::future::poll_fn(|cx| Poll::Ready(sending.as_mut().poll(cx))).await;
        assert!(begun.is_pending(), "they are being read");
        desk.move_to(true).await.unwrap();
        let taken = sending.await.unwrap();
        assert!(taken.submissions.iter().all(Option::is_some));
        assert_eq!((reports(&laboratory), reports(&desk.inner.practice_engine)), (number, 0));
    }
    desk.stop().await;
}

/// Practice stays in use across restarts; what waits for a person in the laboratory must not be forgotten meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_person_in_the_laboratory_is_told_in_practice() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    assert_eq!(desk.status().await.unwrap().laboratory, None, "there is none");
    desk.add_endpoint(nowhere()).await.unwrap();
    let before = desk.status().await.unwrap();
    let nothing = LaboratoryView { needs_attention: 0, notices: 0, paused: false };
    assert_eq!((before.laboratory, before.environment), (Some(nothing), Environment::Practice));

    let laboratory = desk.opened_laboratory().unwrap();
    let file = folder.path().join("held.json");
    let wrong = testkit::DocumentBuilder::new(1).json().replace("\"final\"", "\"finished\"");
    std::fs::write(&file, wrong).unwrap();
    let looked = laboratory.inspect(vec![file]).await.unwrap();
    laboratory.take(&looked, engine::ImportOptions::default()).await.unwrap();
    laboratory.set_paused(true).unwrap();
    let after = desk.status().await.unwrap();
    let waits = LaboratoryView { needs_attention: 1, notices: 0, paused: true };
    assert_eq!(after.laboratory, Some(waits));
    assert!(after.revision > before.revision, "the window looks again");
    assert_eq!((after.counts.needs_attention, after.paused), (0, false), "that is practice");

    desk.move_to(false).await.unwrap();
    let there = desk.status().await.unwrap();
    assert_eq!((there.laboratory, there.counts.needs_attention, there.paused), (None, 1, true));
    // Practice that was asked for at a start is not where the next one begins.
    desk.practise().await.unwrap();
    assert_eq!(desk.status().await.unwrap().environment, Environment::Practice);
    desk.stop().await;
    drop(desk);
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    assert_eq!(desk.status().await.unwrap().environment, Environment::Production);
    desk.stop().await;
}

/// Whoever tries the program with the folder of the laboratory's system, and then goes on to the real authority, must not
/// have every real report sent to practice as well, behind the laboratory's screens.
#[tokio::test(flavor = "multi_thread")]
async fn practice_watches_no_folder_behind_the_laboratory() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("desk");
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    desk.set_watched_folder(Some(out.display().to_string())).await.unwrap();
    assert_eq!(desk.watched().await, [Some(out.clone()), None]);
    desk.add_endpoint(nowhere()).await.unwrap();
    desk.use_endpoint("real".to_owned()).await.unwrap();
    assert_eq!(desk.watched().await, [None, None]);
    desk.set_watched_folder(Some(out.display().to_string())).await.unwrap();
    assert_eq!(desk.watched().await, [None, Some(out.clone())]);
    // Back in practice, it is chosen anew: what is exported by now is real.
    desk.use_endpoint(PRACTICE_ENDPOINT.to_owned()).await.unwrap();
    assert_eq!(desk.watched().await, [None, Some(out.clone())]);
    assert_eq!(desk.status().await.unwrap().watched_folder, None);
    desk.use_endpoint("real".to_owned()).await.unwrap();
    desk.stop().await;
    drop(desk);

    // One of a program of before, which watched there all the time; it is watched only where practice is in use.
    let practice = crate::practice::Practice::prepare(&root.join("practice")).await.unwrap();
    practice.engine().set_watched_folder(Some(out.clone())).unwrap();
    drop(practice);
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    assert_eq!(desk.watched().await, [None, Some(out)]);
    desk.stop().await;
}

/// Two presses in a row: what is watched is what the settings say, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_changes_of_the_watched_folder_one_watch_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    let folders: Vec<_> = ["a", "b", "c"].map(|name| folder.path().join(name)).into();
    for path in &folders {
        std::fs::create_dir(path).unwrap();
    }
    let changes: Vec<_> = (0..12)
        .map(|number| {
            let (desk, path) = (desk.clone(), folders[number % 3].display().to_string());
            tokio::spawn(async move { desk.set_watched_folder(Some(path)).await.unwrap() })
        })
        .collect();
    for change in changes {
        change.await.unwrap();
    }
    let settings = desk.engine().profile().settings;
    assert_eq!(desk.watched().await, [settings.watched_folder, None]);
    desk.set_watched_folder(None).await.unwrap();
    assert_eq!(desk.watched().await, [None, None]);
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_laboratory_that_does_not_open_leaves_practice_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let laboratory = folder.path().join("laboratory");
    std::fs::create_dir(&laboratory).unwrap();
    std::fs::write(laboratory.join("profile.json"), "{").unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let status = desk.status().await.unwrap();
    assert_eq!(status.environment, Environment::Practice);
    assert_eq!(status.problem.unwrap().code, "settings-damaged");
    // Nothing is overwritten by what would have made a new one.
    let problem = desk.certificate_import(vec!["/dev/null".to_owned()], String::new(), None).await;
    assert_eq!(problem.unwrap_err().code, "file-unreadable");
    let input = EndpointInput {
        name: "real".to_owned(),
        base_url: "https://authority.example/v1/fhir".to_owned(),
        environment: "production".to_owned(),
        release: None,
        language: None,
        ca_pem: None,
        proxy: None,
    };
    assert_eq!(desk.add_endpoint(input.clone()).await.unwrap_err().code, "settings-damaged");
    assert_eq!(std::fs::read(laboratory.join("profile.json")).unwrap(), b"{");
    // Once that is mended it goes on without a restart.
    std::fs::remove_file(laboratory.join("profile.json")).unwrap();
    desk.add_endpoint(input).await.unwrap();
    assert_eq!(desk.status().await.unwrap().problem, None);
    assert_eq!(desk.endpoints().await.unwrap().len(), 2);
    desk.stop().await;
}

/// Its reports are still there, and somebody has to hear that nobody follows them.
#[tokio::test(flavor = "multi_thread")]
async fn a_laboratory_whose_settings_are_gone_is_not_taken_for_one_that_never_was() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    desk.add_endpoint(nowhere()).await.unwrap();
    desk.stop().await;
    drop(desk);
    let (settings, away) =
        (folder.path().join("laboratory/profile.json"), folder.path().join("profile.json"));
    std::fs::rename(&settings, &away).unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let problem = desk.status().await.unwrap().problem.unwrap();
    assert_eq!(problem.code, "settings-missing");
    assert!(problem.params["folder"].ends_with("laboratory"));
    assert_eq!(desk.add_endpoint(nowhere()).await.unwrap_err().code, "settings-missing");
    assert!(!settings.exists(), "no other settings take their place");
    std::fs::rename(&away, &settings).unwrap();
    assert_eq!(desk.add_endpoint(nowhere()).await.unwrap_err().code, "endpoint-exists");
    assert_eq!(desk.status().await.unwrap().problem, None);
    desk.stop().await;
}

/// As where the keychain is locked when the window starts with the computer: nobody has to look at the window.
#[tokio::test(flavor = "multi_thread")]
async fn a_laboratory_that_did_not_open_is_tried_again_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("desk");
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.add_endpoint(nowhere()).await.unwrap();
    desk.move_to(false).await.unwrap();
    let watched = folder.path().join("out");
    std::fs::create_dir(&watched).unwrap();
    desk.set_watched_folder(Some(watched.display().to_string())).await.unwrap();
    desk.stop().await;
    drop(desk);
    let (settings, away) =
        (root.join("laboratory/profile.json"), folder.path().join("profile.json"));
    std::fs::rename(&settings, &away).unwrap();
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    assert!(desk.status().await.unwrap().problem.is_some());
    assert!(desk.inner.trying.lock().await.is_some(), "it is tried again");
    desk.keep_trying(Duration::from_millis(10)).await;
    std::fs::rename(&away, &settings).unwrap();
    let open = async {
        while desk.watched().await != [None, Some(watched.clone())] || desk.room().1 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, open).await.expect("in time");
    let problem = desk.status().await.unwrap().problem;
    assert!(problem.is_none_or(|problem| problem.code != "settings-missing"));
    desk.stop().await;
}

/// What stood on the list and is gone when it is sent is told, report by report; what is known was not to go again.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_shown_and_is_gone_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(&folder.path().join("desk"), SecretsKind::Practice).await.unwrap();
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let file = |number: u64| out.join(format!("{number}.json"));
    for number in 1..=4 {
        std::fs::write(file(number), testkit::DocumentBuilder::new(number).json()).unwrap();
    }
    let paths = || vec![out.display().to_string()];
    desk.send_files(vec![file(4).display().to_string()], KnownContent::Show).await.unwrap();
    let shown: Vec<_> = desk.inspect_files(paths()).await.unwrap();
    let shown: Vec<String> = shown.into_iter().map(|view| view.digest).collect();
    for number in [2, 3, 4] {
        std::fs::remove_file(file(number)).unwrap();
    }
    let list = super::HandedList {
        items: vec![HandedItem::File { path: out.display().to_string() }],
        again: Vec::new(),
        corrections: Vec::new(),
        shown: Some(shown.clone()),
        separate: false,
        endpoint: desk.status().await.unwrap().endpoint_id,
    };
    let view = desk.hand_over(list).await.unwrap();
    assert_eq!(view.items[0].submissions.iter().flatten().count(), 1);
    assert_eq!((view.items[0].failed.len(), &*view.gone.failed), (0, &[0, 1][..]));
    let gone: Vec<&String> = view.gone.files.iter().map(|file| &file.digest).collect();
    assert!(gone.iter().all(|digest| shown[1..3].contains(digest)), "{gone:?}");
    let problem = view.gone.problem.unwrap();
    assert_eq!((problem.code.as_str(), problem.params["count"].as_str()), ("files-gone", "2"));
    desk.stop().await;
}

/// A file that takes a report's place is the one that was shown, whatever lies there by then.
#[tokio::test(flavor = "multi_thread")]
async fn a_correction_is_the_file_that_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(&folder.path().join("desk"), SecretsKind::Practice).await.unwrap();
    let file = folder.path().join("a.json");
    let write = |number: u64| {
        std::fs::write(&file, testkit::DocumentBuilder::new(number).json()).unwrap();
    };
    let path = || file.display().to_string();
    write(1);
    desk.send_files(vec![path()], KnownContent::Show).await.unwrap();
    desk.hold_back(vec![1]).await.unwrap();
    write(2);
    let shown = desk.inspect_files(vec![path()]).await.unwrap().remove(0).digest;
    write(3);
    let refused = desk.correct_with_file(1, path(), vec![shown.clone()]).await;
    assert_eq!(refused.unwrap_err().code, "correction-changed");
    let row = |id| desk.engine().journal().row(report::SubmissionId(id));
    assert_eq!((row(1).unwrap().state.code(), row(2).is_err()), ("held", true));
    write(2);
    let view = desk.correct_with_file(1, path(), vec![shown]).await.unwrap();
    assert_eq!(view.submissions, [Some(2)]);
    desk.stop().await;
}

/// Nobody can say what lies in a folder that cannot be looked at: it is not watched, for all of it would be sent once it can.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_looked_at_is_not_watched() {
    let folder = tempfile::tempdir().unwrap();
    let away = super::watches::seen(folder.path().join("away")).await.err().unwrap();
    assert_eq!(
        (away.code.as_str(), &*away.params["reason"]),
        ("folder-not-seen", "folder-missing")
    );
    let desk = Desk::open_with(&folder.path().join("desk"), SecretsKind::Practice).await.unwrap();
    let inner = folder.path().join("out/2024");
    std::fs::create_dir_all(&inner).unwrap();
    let path = || folder.path().join("out").display().to_string();
    let may = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&inner, mode).unwrap();
    };
    may(0o300);
    // Who may read everything meets no such folder.
    if std::fs::read_dir(&inner).is_err() {
        let code = |problem: crate::Problem| (problem.code, problem.params["folder"].clone());
        let told = Some(("folder-not-seen".to_owned(), inner.display().to_string()));
        assert_eq!(desk.look_at_folder(path()).await.err().map(code), told);
        assert_eq!(desk.set_watched_folder(Some(path())).await.err().map(code), told);
        assert_eq!(desk.watch_what_comes(path()).await.err().map(code), told);
        assert_eq!(desk.engine().profile().settings.watched_folder, None);
    }
    may(0o700);
    assert_eq!(desk.look_at_folder(path()).await.unwrap().count, 0);
    desk.set_watched_folder(Some(path())).await.unwrap();
    desk.stop().await;
}

/// Whoever closes the window while files are taken in is asked, and the program ends once they are.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_being_taken_in_is_under_way_and_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    assert_eq!(desk.under_way(), 0);
    let taking = desk.takes(3);
    assert_eq!(desk.under_way(), 3);
    let ended = tokio::spawn({
        let desk = desk.clone();
        async move { desk.stop().await }
    });
    tokio::task::yield_now().await;
    assert!(!ended.is_finished());
    drop(taking);
    tokio::time::timeout(PATIENCE, ended).await.expect("in time").unwrap();
    assert_eq!(desk.under_way(), 0);
}

/// Without the window nobody asks for it any more: whoever closes it is asked first.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_doubt_for_long_is_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let engine = desk.engine();
    let file = folder.path().join("1.json");
    std::fs::write(&file, testkit::DocumentBuilder::new(1).json()).unwrap();
    let looked = engine.inspect(vec![file]).await.unwrap();
    engine.take(&looked, engine::ImportOptions::default()).await.unwrap();
    assert_eq!(desk.under_way(), 1);
    let (since, due) = (engine.now().plus_seconds(-7_200), engine.now());
    let why = "cut".to_owned();
    for event in
        [report::Event::SendingStarted { since }, report::Event::Doubted { since, due, why }]
    {
        let by = report::Person("test".to_owned());
        let step = journal::Step::new(report::SubmissionId(1), event, by, since);
        engine.journal().record(step).unwrap();
    }
    assert_eq!(desk.status().await.unwrap().counts.needs_attention, 1);
    assert_eq!(desk.under_way(), 1);
}

/// Whoever guesses many passphrases at once gets no further than one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn passphrases_are_tried_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    desk.set_unlock_passphrase(String::new(), "long enough".to_owned()).await.unwrap();
    desk.lock().await.unwrap();
    let tries: Vec<_> = (0..8)
        .map(|n| {
            let desk = desk.clone();
            tokio::spawn(async move { desk.unlock(format!("guess {n}")).await.unwrap_err().code })
        })
        .collect();
    let mut refused = 0;
    for guess in tries {
        refused += u32::from(guess.await.unwrap() == "unlock-refused");
    }
    assert!(refused <= 3, "{refused} were looked at");
    assert!(desk.is_locked());
}

/// In the morning the vault is closed: what is handed over then is meant for the laboratory.
#[tokio::test(flavor = "multi_thread")]
async fn practice_takes_nothing_that_is_meant_for_a_laboratory_that_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let passphrase = "correct horse battery".to_owned();
    desk.protect_with_passphrase(passphrase.clone()).await.unwrap();
    desk.add_endpoint(nowhere()).await.unwrap();
    desk.use_endpoint("real".to_owned()).await.unwrap();
    desk.stop().await;
    drop(desk);
    let file = folder.path().join("a.json");
    std::fs::write(&file, testkit::DocumentBuilder::new(1).json()).unwrap();
    let files = || vec![file.display().to_string()];

    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let sent = desk.send_files(files(), KnownContent::Show).await;
    assert_eq!(sent.unwrap_err().code, "passphrase-needed");
    let pasted = testkit::DocumentBuilder::new(2).json();
    let name = || "pasted".to_owned();
    let sent = desk.send_text(pasted, name()).await;
    assert_eq!(sent.unwrap_err().code, "passphrase-needed");
    let sent = desk.send_files_separately(files(), KnownContent::Show).await;
    assert_eq!(sent.unwrap_err().code, "passphrase-needed");
    let all = |desk: &Desk| desk.engine().journal().count(&Filter::default(), 9).unwrap();
    assert_eq!(all(&desk), 0, "nothing is in the journal of practice");
    // Nor is it practice whose sending is to be paused, or whose folder is to be watched.
    assert_eq!(desk.set_paused(true).await.unwrap_err().code, "passphrase-needed");
    let out = || folder.path().display().to_string();
    let watch = desk.set_watched_folder(Some(out())).await;
    assert_eq!(watch.unwrap_err().code, "passphrase-needed");
    let watch = desk.watch_what_comes(out()).await;
    assert_eq!(watch.unwrap_err().code, "passphrase-needed");
    assert!(!desk.status().await.unwrap().paused);
    // Its own samples, and whatever a person practises with who has chosen practice.
    let samples = desk.practice_samples().await.unwrap();
    desk.send_files(samples, KnownContent::Show).await.unwrap();
    desk.use_endpoint(PRACTICE_ENDPOINT.to_owned()).await.unwrap();
    desk.send_files(files(), KnownContent::Show).await.unwrap();
    desk.stop().await;
    drop(desk);

    // All of its folder is gone with its disk: it is not taken for one that never was.
    std::fs::rename(folder.path().join("laboratory"), folder.path().join("away")).unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    // Practice was chosen, so it takes what it is given; that the laboratory is missed stands above every screen.
    let status = desk.status().await.unwrap();
    assert_eq!(status.problem.unwrap().code, "settings-missing");
    desk.send_files(files(), KnownContent::SendAgain).await.unwrap();
    assert_eq!(desk.add_endpoint(nowhere()).await.unwrap_err().code, "settings-missing");
    desk.inner
        .practice_engine
        .change_settings(|settings| {
            settings.preferences.insert(super::PLACE.to_owned(), "laboratory".into());
            Ok(())
        })
        .unwrap();
    drop(desk);
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    assert_eq!(desk.status().await.unwrap().problem.unwrap().code, "settings-missing");
    assert_eq!(desk.add_endpoint(nowhere()).await.unwrap_err().code, "settings-missing");
    desk.stop().await;
}

/// The window awaits its commands on any thread: this need only compile.
#[test]
fn commands_move_between_threads() {
    fn moves<F: Future + Send>(_: F) {}
    let _ = |desk: &'static Desk, root: &'static Path| {
        moves(Desk::open(root));
        moves(desk.start());
        moves(desk.stop());
        moves(desk.changed(0));
        moves(desk.status());
        moves(desk.list(ListQuery::default(), Names::Masked));
        moves(desk.detail(1));
        moves(desk.inspect_files(Vec::new()));
        moves(desk.send_files(Vec::new(), KnownContent::Show));
        moves(desk.send_text(String::new(), String::new()));
        moves(desk.hold_back(Vec::new()));
        moves(desk.release(1, String::new()));
        moves(desk.withdraw(1, String::new()));
        moves(desk.say_received(1, String::new()));
        moves(desk.say_not_received(1, String::new()));
        moves(desk.resubmit(1));
        moves(desk.correct_with_file(1, String::new(), Vec::new()));
        moves(desk.correct_with_text(1, String::new()));
        moves(desk.practice_samples());
        moves(desk.certificate_inspect(Vec::new(), String::new()));
        moves(desk.certificate_import(Vec::new(), String::new(), None));
        moves(desk.endpoints());
        moves(desk.use_endpoint(String::new()));
        moves(desk.test_endpoint(String::new()));
        moves(desk.set_paused(true));
        moves(desk.set_watched_folder(None));
        moves(desk.preferences());
        moves(desk.statistics(1));
        moves(desk.statement(String::new()));
    };
}

/// One of three files cannot be written to the journal: the other two are told with their submissions, so that they can be
/// taken back and are not handed over again; and once it can be written, the one that was left is taken in.
#[tokio::test(flavor = "multi_thread")]
async fn a_hand_over_of_which_a_part_fails_tells_which() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    let paths: Vec<String> = (1..=3)
        .map(|number| {
            let file = folder.path().join(format!("{number}.json"));
            std::fs::write(&file, testkit::DocumentBuilder::new(number).json()).unwrap();
            file.display().to_string()
        })
        .collect();
    let engine = desk.engine();
    let key = engine.secrets().journal_key().unwrap();
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let raw = rusqlite::Connection::open(engine.profile().journal_file()).unwrap();
    raw.execute_batch(&format!("PRAGMA key = \"x'{hex}'\"")).unwrap();
    let fails = "CREATE TRIGGER fails BEFORE INSERT ON submission WHEN NEW.file = '3.json' \
                 BEGIN SELECT RAISE(ABORT, 'cannot be written'); END";
    raw.execute_batch(fails).unwrap();
    let view = desk.send_files(paths.clone(), KnownContent::SendAgain).await.unwrap();
    let [Some(_), Some(_), None] = view.submissions[..] else { panic!("{:?}", view.submissions) };
    assert_eq!((&*view.failed, view.files[2].file.as_str()), (&[2_u32][..], "3.json"));
    assert_eq!(view.problem.unwrap().code, "journal-io");
    // Where nothing of it is taken in it is a problem, and nothing else.
    let failed = desk.send_files(vec![paths[2].clone()], KnownContent::Show).await;
    assert_eq!(failed.err().unwrap().code, "journal-io");
    raw.execute_batch("DROP TRIGGER fails").unwrap();
    let view = desk.send_files(paths, KnownContent::Show).await.unwrap();
    assert!(matches!(view.submissions[..], [None, None, Some(_)]) && view.failed.is_empty());
    desk.stop().await;
}
