//! A backup takes the place of the journal while the window runs, beside an authority that counts
//! what it is given.

use std::path::{Path, PathBuf};
use std::task::Poll;
use std::time::Duration;

use authority::{ServeOptions, Serving, serve};
use bridge::headless::Headless;
use bridge::views::{AskQuery, BackupView, EndpointInput, ListQuery, PreferencesView, RowView};
use bridge::{Call, Desk, Environment, KnownContent, Names, Password};
use engine::{Engine, EngineDeps, Profile};
use identity::SecretsKind;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::desk::assert_known;

const PATIENCE: Duration = Duration::from_secs(120);

/// A laboratory that works with an authority of its own; its secrets rest in a plain file, because
/// the keychain of whoever runs the tests is not theirs to write to.
struct House {
    folder: tempfile::TempDir,
    desk: Desk,
    serving: Serving,
    shutdown: CancellationToken,
}

impl House {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("authority");
        let made = authority::init(&data, &["labor-muster".to_owned()]).unwrap();
        let shutdown = CancellationToken::new();
        let serving = serve(ServeOptions::new(&data), shutdown.clone()).await.unwrap();
        let laboratory = folder.path().join("home/laboratory");
        let profile = Profile::create(&laboratory, SecretsKind::Practice, Vec::new()).unwrap();
        drop(Engine::create(profile, None, EngineDeps::default()).unwrap());
        let desk = Desk::open(&folder.path().join("home")).await.unwrap();
        desk.start().await.unwrap();
        let preferences = desk.preferences().await.unwrap();
        let preferences = PreferencesView { undo_seconds: 0, ..preferences };
        desk.set_preferences(preferences).await.unwrap();
        let endpoint = EndpointInput {
            name: "Integration".to_owned(),
            base_url: serving.base_url.clone(),
            environment: "integration".to_owned(),
            release: None,
            language: None,
            ca_pem: Some(std::fs::read_to_string(&made.ca).unwrap()),
            proxy: None,
        };
        desk.add_endpoint(endpoint).await.unwrap();
        let p12 = vec![made.pilots[0].p12.display().to_string()];
        let password = std::fs::read_to_string(&made.pilots[0].password).unwrap();
        desk.certificate_import(p12, password, None).await.unwrap();
        desk.use_endpoint("Integration".to_owned()).await.unwrap();
        Self { folder, desk, serving, shutdown }
    }

    fn laboratory(&self) -> PathBuf {
        self.folder.path().join("home/laboratory")
    }

    async fn send(&self, sample: &str) -> i64 {
        let samples = self.desk.practice_samples().await.unwrap();
        let path = samples.into_iter().find(|path| path.contains(sample)).unwrap();
        let sent = self.desk.send_files(vec![path], KnownContent::Show).await.unwrap();
        sent.submissions[0].expect("taken in")
    }

    async fn rows(&self) -> Vec<RowView> {
        self.desk.list(ListQuery::default(), Names::Masked).await.unwrap().rows
    }

    /// Waits until reports are in these states, the newest first.
    async fn until(&self, states: &[&str]) {
        let wait = async {
            loop {
                let seen = self.desk.revision().unwrap();
                let rows = self.rows().await;
                let found: Vec<_> = rows.iter().map(|row| row.state.code()).collect();
                if found == states {
                    return;
                }
                self.desk.changed(seen).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("in time");
    }

    /// Reports that the authority has.
    async fn accepted(&self) -> Option<u32> {
        let all = AskQuery::default();
        self.desk.ask_authority(all, Names::Masked).await.unwrap().total
    }

    async fn backup(&self) -> BackupView {
        self.desk.back_up().await.unwrap();
        let kept = self.desk.safekeeping().await.unwrap().unwrap();
        kept.restorable.into_iter().find(|backup| !backup.elsewhere).unwrap()
    }

    async fn set_aside(&self) -> usize {
        self.desk.safekeeping().await.unwrap().unwrap().set_aside.len()
    }

    async fn close(self) {
        self.desk.stop().await;
        self.shutdown.cancel();
        self.serving.finished().await;
    }
}

fn restore<'a>(
    desk: &'a Desk,
    backup: &BackupView,
) -> impl Future<Output = Result<bridge::views::RestoredView, bridge::Problem>> + use<'a> {
    desk.restore_backup(backup.name.clone(), backup.elsewhere, String::new())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_takes_the_place_of_the_journal_and_nothing_is_sent_twice() {
    let house = House::open().await;
    let desk = &house.desk;
    house.send("covid").await;
    house.until(&["completed"]).await;
    let backup = house.backup().await;
    assert_eq!(desk.plan_restore(backup.name.clone(), false).await.unwrap().reports_since, Some(0));
    house.send("malaria").await;
    house.until(&["completed", "completed"]).await;
    // What waits for a person, and what was edited of it.
    desk.set_paused(true).await.unwrap();
    let held = house.send("gonorrhoea").await;
    assert_eq!(desk.hold_back(vec![held]).await.unwrap(), 1);
    desk.keep_draft(held, "half a correction".to_owned()).await.unwrap();
    desk.set_paused(false).await.unwrap();
    let plan = desk.plan_restore(backup.name.clone(), false).await.unwrap();
    assert_eq!((plan.reports_since, plan.needs_passphrase), (Some(2), false));
    let room = desk.status().await.unwrap().room;

    let restored = restore(desk, &backup).await.unwrap();
    assert_eq!((restored.reports, restored.salvaged, restored.lost), (1, 2, 0));
    assert_eq!((restored.edited_lost, &restored.closed), (0, &None));
    let status = desk.status().await.unwrap();
    assert_eq!(status.environment, Environment::Integration, "who worked there goes on there");
    assert_ne!(status.room, room, "numbers of before may name other reports");
    let call = Call::read("hold_back", json!({ "ids": [1] })).unwrap().unwrap();
    assert_known(desk.answer(call, Some(room)).await, "room-changed");
    assert_eq!(house.set_aside().await, 1, "the journal of before is kept");

    house.until(&["held", "completed", "completed"]).await;
    assert_eq!(house.accepted().await, Some(2), "each was accepted once");
    let held = house.rows().await[0].id;
    let draft = desk.draft(held).await.unwrap();
    assert_eq!(draft.as_deref(), Some("half a correction"), "what was typed is there");
    desk.check_journal().await.unwrap();
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_the_second_place_is_restored_while_practice_is_in_use() {
    let house = House::open().await;
    let desk = &house.desk;
    house.send("covid").await;
    house.until(&["completed"]).await;
    let second = house.folder.path().join("second");
    std::fs::create_dir(&second).unwrap();
    desk.set_backup_place(Some(second.display().to_string())).await.unwrap();
    house.backup().await;
    let kept = desk.safekeeping().await.unwrap().unwrap();
    let copy = kept.restorable.iter().find(|backup| backup.elsewhere).unwrap().clone();
    desk.practise().await.unwrap();
    let room = desk.status().await.unwrap().room;
    restore(desk, &copy).await.unwrap();
    let status = desk.status().await.unwrap();
    assert_eq!((status.environment, status.room), (Environment::Practice, room), "nobody is moved");
    assert_eq!(status.problem, None);
    desk.use_endpoint("Integration".to_owned()).await.unwrap();
    house.until(&["completed"]).await;
    assert_eq!(house.accepted().await, Some(1));
    // A place that is away hides nothing of what is here.
    std::fs::remove_dir_all(&second).unwrap();
    let kept = desk.safekeeping().await.unwrap().unwrap();
    assert!(!kept.restorable.is_empty() && kept.restorable.iter().all(|it| !it.elsewhere));
    assert_known(restore(desk, &copy).await, "backup-gone");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_another_program_has_the_journal_it_says_so_and_changes_nothing() {
    let house = House::open().await;
    let desk = &house.desk;
    house.send("covid").await;
    house.until(&["completed"]).await;
    let backup = house.backup().await;
    let other = Headless::open(&house.laboratory(), None).await.unwrap();
    assert_known(restore(desk, &backup).await, "restore-busy");
    assert_unchanged(&house).await;
    other.close().await;
    restore(desk, &backup).await.unwrap();
    assert_eq!(house.set_aside().await, 1);
    house.close().await;
}

/// The laboratory is in use as it was, and what is sent there arrives.
async fn assert_unchanged(house: &House) {
    let status = house.desk.status().await.unwrap();
    assert_eq!(status.environment, Environment::Integration);
    assert_eq!(status.problem, None);
    assert_eq!(house.set_aside().await, 0, "no journal was set aside");
    house.send("malaria").await;
    house.until(&["completed", "completed"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_cannot_be_used_leaves_the_journal_as_it_was() {
    let house = House::open().await;
    let desk = &house.desk;
    house.send("covid").await;
    house.until(&["completed"]).await;
    let backup = house.backup().await;
    let file = house.laboratory().join("backups").join(&backup.name);
    assert!(file.is_file(), "{}", file.display());
    spoil(&file);
    assert_known(restore(desk, &backup).await, "backup-unusable");
    assert_unchanged(&house).await;
    // Only what is listed can be meant.
    for name in ["../journal.db", "journal.db", "journal-20261121T063211Z-1234.db"] {
        let unlisted = BackupView { name: name.to_owned(), ..backup.clone() };
        assert_known(restore(desk, &unlisted).await, "backup-gone");
    }
    house.close().await;
}

/// Every hundredth byte is another one.
fn spoil(file: &Path) {
    let mut bytes = std::fs::read(file).unwrap();
    bytes.iter_mut().step_by(100).for_each(|byte| *byte ^= 1);
    std::fs::write(file, bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn while_files_are_taken_in_no_backup_takes_the_place_of_the_journal() {
    let house = House::open().await;
    let desk = &house.desk;
    let backup = house.backup().await;
    let room = desk.status().await.unwrap().room;
    let path = desk.practice_samples().await.unwrap().remove(0);
    let mut sending = Box::pin(desk.send_files(vec![path], KnownContent::Show));
    let begun = std::future::poll_fn(|context| Poll::Ready(sending.as_mut().poll(context))).await;
    assert!(begun.is_pending(), "it is being read");
    assert_known(restore(desk, &backup).await, "restore-while-taking");
    let taken = sending.await.unwrap();
    assert!(taken.submissions[0].is_some());
    assert_eq!(desk.status().await.unwrap().room, room);
    restore(desk, &backup).await.unwrap();
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_laboratory_behind_a_passphrase_is_closed_only_for_the_right_one() {
    const PASSPHRASE: &str = "korrekt pferd batterie";
    let root = tempfile::tempdir().unwrap();
    let laboratory = root.path().join("laboratory");
    let profile = Profile::create(&laboratory, SecretsKind::Passphrase, Vec::new()).unwrap();
    let passphrase = Password::from(PASSPHRASE.to_owned());
    drop(Engine::create(profile, Some(&passphrase), EngineDeps::default()).unwrap());
    let desk = Desk::open(root.path()).await.unwrap();
    desk.open_vault(PASSPHRASE.to_owned()).await.unwrap();
    desk.back_up().await.unwrap();
    let backup = desk.safekeeping().await.unwrap().unwrap().restorable.remove(0);
    let plan = desk.plan_restore(backup.name.clone(), false).await.unwrap();
    assert!(plan.needs_passphrase);
    let with = async |passphrase: &str| {
        desk.restore_backup(backup.name.clone(), false, passphrase.to_owned()).await
    };
    assert_known(with("").await, "passphrase-needed");
    assert_known(with("korrekt pferd batterien").await, "wrong-passphrase");
    desk.check_journal().await.expect("it is open still");
    assert_eq!(with(PASSPHRASE).await.unwrap().closed, None);
    desk.check_journal().await.expect("it is open again");
    desk.stop().await;
}
