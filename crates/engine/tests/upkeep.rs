//! What an engine does for its journal by itself: backups, recovery at opening, retention.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use engine::{Clock, Engine, EngineDeps, ImportOptions, Profile, Timing};
use exchange::{Endpoint, Environment};
use fhir::{Format, Instant};
use identity::SecretsKind;
use journal::{Evidence, EvidenceKind, NewSubmission, Step};
use report::{Event, Person, SubmissionId, Summary};

const START: i64 = 1_800_000_000_000_000;
const DAY: i64 = 86_400_000_000;

#[derive(Clone)]
struct SetClock(Arc<AtomicI64>);

impl Clock for SetClock {
    fn now(&self) -> Instant {
        Instant(self.0.load(Ordering::SeqCst))
    }
    fn steady(&self) -> std::time::Duration {
        std::time::Duration::from_micros(self.now().0.try_into().unwrap())
    }
    fn fraction(&self) -> f64 {
        0.5
    }
}

fn surroundings(clock: &SetClock) -> EngineDeps {
    EngineDeps { clock: Arc::new(clock.clone()), timing: Timing::default() }
}

fn create(folder: &Path, clock: &SetClock) -> Engine {
    let profile = Profile::create(folder, SecretsKind::Practice, Vec::new()).unwrap();
    Engine::create(profile, None, surroundings(clock)).unwrap()
}

fn open(folder: &Path, clock: &SetClock) -> Engine {
    Engine::open(Profile::open(folder).unwrap(), None, surroundings(clock)).unwrap()
}

fn import(engine: &Engine, number: u64) -> SubmissionId {
    let document = testkit::DocumentBuilder::new(number).json().into_bytes();
    let new = NewSubmission {
        file: format!("{number}.json"),
        format: Format::Json,
        digest: report::digest(&document),
        document,
        summary: Summary::default(),
        identifier: format!("urn:uuid:{number:032x}"),
        endpoint: "somewhere".to_owned(),
        canonical: None,
        environment: None,
        first: Event::Queued { due: engine.now() },
        findings: Vec::new(),
        corrects: None,
        by: Person("test".to_owned()),
        at: engine.now(),
    };
    engine.journal().import_async(new).wait().unwrap()
}

fn complete(engine: &Engine, id: SubmissionId) {
    let now = engine.now();
    let by = || Person("test".to_owned());
    let started = Event::SendingStarted { since: now };
    engine.journal().record(Step::new(id, started, by(), now)).unwrap();
    let mut step = Step::new(id, Event::Completed { receipt: "r".to_owned() }, by(), now);
    step.evidence = Some(Evidence {
        kind: EvidenceKind::Create,
        at: now,
        http_status: Some(201),
        content_type: None,
        body: b"{}".to_vec(),
        fault: None,
    });
    engine.journal().record(step).unwrap();
}

fn clock() -> SetClock {
    SetClock(Arc::new(AtomicI64::new(START)))
}

#[tokio::test]
async fn a_backup_is_made_when_the_last_one_is_a_day_old() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let engine = create(folder.path(), &clock);
    import(&engine, 1);
    assert!(engine.back_up_if_due().await.unwrap().is_some(), "there is none yet");
    clock.0.fetch_add(DAY - 1_000_000, Ordering::SeqCst);
    assert!(engine.back_up_if_due().await.unwrap().is_none());
    clock.0.fetch_add(2_000_000, Ordering::SeqCst);
    let made = engine.back_up_if_due().await.unwrap().unwrap();
    assert_eq!((made.facts.submissions, made.facts.events), (1, 1));
}

#[tokio::test]
async fn a_start_makes_the_backup_by_itself() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let engine = create(folder.path(), &clock);
    import(&engine, 1);
    engine.start().await;
    let backups = engine.profile().backup_folder();
    while journal::list_backups(&backups).unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    engine.stop().await;
}

/// The second place is a disk that is pulled out and put in again: it is told, nothing waits for
/// it, and it gets what it lacks.
#[tokio::test]
async fn a_second_place_that_is_away_is_told_and_holds_nothing_up() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let (disk, away) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = create(folder.path(), &clock);
    assert!(engine.set_backup_place(Some(folder.path())).is_err(), "the same disk");
    assert!(engine.set_backup_place(Some(&disk.path().join("none"))).is_err());
    let place = engine.set_backup_place(Some(disk.path())).unwrap().unwrap();
    let copies = || journal::list_backups(&place).unwrap().len();
    let told = |engine: &Engine| {
        let all = engine.journal().notices().unwrap();
        all.iter().any(|notice| notice.code == "backup-place-away")
    };
    import(&engine, 1);
    engine.start().await;
    while copies() < 1 {
        tokio::task::yield_now().await;
    }
    engine.stop().await;
    assert!(!told(&engine));

    let unplugged = away.path().join("unplugged");
    std::fs::rename(&place, &unplugged).unwrap();
    clock.0.fetch_add(86_400_000_000, Ordering::SeqCst);
    import(&engine, 2);
    engine.start().await;
    while !told(&engine) {
        tokio::task::yield_now().await;
    }
    let backups = engine.profile().backup_folder();
    assert_eq!(journal::list_backups(&backups).unwrap().len(), 2, "the first place has it");
    assert!(!place.exists(), "nothing is written to where the disk was");
    engine.stop().await;

    std::fs::rename(&unplugged, &place).unwrap();
    engine.start().await;
    while told(&engine) {
        tokio::task::yield_now().await;
    }
    assert_eq!(copies(), 2);
    engine.stop().await;
    drop(engine);

    // The first disk dies with journal and backups; the settings are there, or were made again.
    std::fs::remove_dir_all(&backups).unwrap();
    std::fs::write(folder.path().join("journal.db"), "").unwrap();
    let engine = open(folder.path(), &clock);
    assert_eq!(engine.journal().events().unwrap(), 4, "two reports, and the doubt of each");
}

#[tokio::test]
async fn a_damaged_journal_is_recovered_at_opening_and_a_person_is_told() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let engine = create(folder.path(), &clock);
    let (done, queued) = (import(&engine, 1), import(&engine, 2));
    complete(&engine, done);
    engine.back_up_if_due().await.unwrap().unwrap();
    let file = engine.profile().journal_file();
    drop(engine);
    let damaged = vec![0x55; 50_000];
    std::fs::write(&file, &damaged).unwrap();

    let engine = open(folder.path(), &clock);
    assert_eq!(engine.journal().state(done).unwrap().code(), "completed");
    assert_eq!(engine.journal().state(queued).unwrap().code(), "unknown");
    let notices = engine.journal().notices().unwrap();
    assert_eq!(notices[0].code, "journal-from-backup");
    assert_eq!((&*notices[0].params["submissions"], &*notices[0].params["doubted"]), ("2", "1"));
    assert_eq!(std::fs::read(&notices[0].params["aside"]).unwrap(), damaged);
    drop(engine);
    // Told until it was read, also after another start.
    let engine = open(folder.path(), &clock);
    assert_eq!(engine.journal().notices().unwrap(), notices);
    engine.journal().remove_notice("journal-from-backup").unwrap();
    assert_eq!(engine.journal().notices().unwrap(), []);
}

#[tokio::test]
async fn what_the_settings_say_leaves_the_journal_at_the_start() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let engine = create(folder.path(), &clock);
    let (done, open) = (import(&engine, 1), import(&engine, 2));
    complete(&engine, done);
    clock.0.fetch_add(31 * DAY, Ordering::SeqCst);
    engine.start().await;
    engine.stop().await;
    assert!(engine.journal().document(done).is_ok(), "without a setting everything stays");

    let set = |days| {
        engine.change_settings(|settings| {
            settings.retention_days = days;
            Ok(())
        })
    };
    set(Some(32)).unwrap();
    engine.start().await;
    engine.stop().await;
    assert!(engine.journal().document(done).is_ok(), "not old enough");
    set(Some(30)).unwrap();
    engine.start().await;
    engine.stop().await;
    assert!(engine.journal().document(done).is_err());
    assert!(engine.journal().document(open).is_ok(), "what is not settled stays");
}

/// A program that runs for months keeps to it as one that is started each morning.
#[tokio::test]
async fn what_the_settings_say_leaves_the_journal_while_running() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let engine = create(folder.path(), &clock);
    let (done, open) = (import(&engine, 1), import(&engine, 2));
    complete(&engine, done);
    let set = |settings: &mut engine::Settings| {
        settings.retention_days = Some(30);
        Ok(())
    };
    engine.change_settings(set).unwrap();
    engine.start().await;
    // Its upkeep has begun.
    let backups = engine.profile().backup_folder();
    while journal::list_backups(&backups).unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(engine.journal().document(done).is_ok(), "not old enough");
    clock.0.fetch_add(31 * DAY, Ordering::SeqCst);
    // It looks every ten minutes, and when something was taken in.
    engine.take(&[], ImportOptions::default()).await.unwrap();
    while engine.journal().document(done).is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(engine.journal().document(open).is_ok(), "what is not settled stays");
    engine.stop().await;
}

/// A clock that was years ahead for a moment leaves a backup of that date: it neither is the newest
/// for ever nor makes one backup after the other.
#[tokio::test]
async fn a_clock_that_was_ahead_neither_stops_backups_nor_repeats_them() {
    let folder = tempfile::tempdir().unwrap();
    let clock = SetClock(Arc::new(AtomicI64::new(START + 3_650 * DAY)));
    let engine = create(&folder.path().join("profile"), &clock);
    import(&engine, 1);
    assert!(engine.back_up_if_due().await.unwrap().is_some());
    clock.0.store(START, Ordering::SeqCst);
    assert!(engine.back_up_if_due().await.unwrap().is_some(), "none is of today");
    for hours in 1..24 {
        clock.0.store(START + hours * DAY / 24, Ordering::SeqCst);
        assert!(engine.back_up_if_due().await.unwrap().is_none(), "{hours} hours later");
    }
    clock.0.store(START + DAY, Ordering::SeqCst);
    assert!(engine.back_up_if_due().await.unwrap().is_some());
}

/// An old test system that nobody can ask any more is named once the comparison after a restore has
/// waited for it for long, and no more once it is removed.
#[tokio::test]
async fn an_endpoint_that_keeps_a_comparison_open_is_named() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let old = Endpoint::new(
        "old test system",
        "https://127.0.0.1:9/fhir".parse().unwrap(),
        Environment::Integration,
    );
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![old]).unwrap();
    let engine = Engine::create(profile, None, surroundings(&clock)).unwrap();
    import(&engine, 1);
    engine.back_up_if_due().await.unwrap();
    drop(engine);
    std::fs::write(Profile::open(folder.path()).unwrap().journal_file(), "").unwrap();
    let engine = open(folder.path(), &clock);
    assert!(engine.journal().unreconciled().unwrap().is_some());
    let named = async || {
        let _ = engine.reconcile().await;
        let all = engine.journal().notices().unwrap();
        let told = all.into_iter().find(|notice| notice.code == "comparison-incomplete")?;
        told.params.into_iter().next()
    };
    assert_eq!(named().await, None, "its search may lag");
    clock.0.fetch_add(2 * 3_600_000_000, Ordering::SeqCst);
    assert_eq!(named().await, Some(("names".to_owned(), "old test system".to_owned())));
}

/// After a restore the authority cannot be reached, and hours later somebody removes its endpoint
/// and adds it again, as with another CA: what was sent there since the backup is looked for still.
#[tokio::test]
async fn an_endpoint_that_is_removed_and_added_again_is_compared_with() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let address = "https://127.0.0.1:9/fhir".parse().unwrap();
    let away = Endpoint::new("authority", address, Environment::Integration);
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![away.clone()]);
    let engine = Engine::create(profile.unwrap(), None, surroundings(&clock)).unwrap();
    import(&engine, 1);
    engine.back_up_if_due().await.unwrap();
    drop(engine);
    std::fs::write(Profile::open(folder.path()).unwrap().journal_file(), "").unwrap();
    let engine = open(folder.path(), &clock);
    clock.0.fetch_add(2 * 3_600_000_000, Ordering::SeqCst);
    let _ = engine.reconcile().await;
    assert!(
        engine.journal().unreconciled_at(away.id(), engine.now()).unwrap().is_some(),
        "not reached yet"
    );
    engine.remove_endpoint("authority").await.unwrap();
    // As the program does at once, when it begins to work anew.
    let _ = engine.reconcile().await;
    engine.add_endpoint(away.clone()).await.unwrap();
    let _ = engine.reconcile().await;
    assert!(
        engine.journal().unreconciled_at(away.id(), engine.now()).unwrap().is_some(),
        "never compared"
    );
}

/// The same once it was compared, where what waits for it may be released by a person because it
/// does not answer.
#[tokio::test]
async fn an_endpoint_that_answers_for_nothing_that_waits_is_named() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let address = "https://127.0.0.1:9/fhir".parse().unwrap();
    let mute = Endpoint::new("somewhere", address, Environment::Integration);
    let id = mute.id().to_owned();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![mute]).unwrap();
    let engine = Engine::create(profile, None, surroundings(&clock)).unwrap();
    import(&engine, 1);
    engine.back_up_if_due().await.unwrap();
    drop(engine);
    std::fs::write(Profile::open(folder.path()).unwrap().journal_file(), "").unwrap();
    let engine = open(folder.path(), &clock);
    let journal = engine.journal();
    import(&engine, 2);
    assert!(!journal.guarded(&id).unwrap().is_empty());
    journal.set_reconciled_at(&id).unwrap();
    journal.set_reconciled().unwrap();
    let is_named = async || {
        let _ = engine.reconcile().await;
        journal.notices().unwrap().iter().any(|notice| notice.code == "comparison-incomplete")
    };
    assert!(!is_named().await, "it may answer yet");
    journal.asked_in_vain(&id).unwrap();
    assert!(is_named().await);
}

/// The computer's clock, and one that nobody sets, apart from each other.
#[derive(Clone)]
struct TwoClocks(Arc<[AtomicI64; 2]>);

impl TwoClocks {
    fn pass(&self, micros: i64) {
        self.0.iter().for_each(|clock| _ = clock.fetch_add(micros, Ordering::SeqCst));
    }

    fn set_ahead(&self, micros: i64) {
        self.0[0].fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for TwoClocks {
    fn now(&self) -> Instant {
        Instant(self.0[0].load(Ordering::SeqCst))
    }
    fn steady(&self) -> std::time::Duration {
        std::time::Duration::from_micros(self.0[1].load(Ordering::SeqCst).unsigned_abs())
    }
    fn fraction(&self) -> f64 {
        0.5
    }
}

/// A disk has died with its register, and the clock of the new computer is two hours behind. It is
/// set right a few minutes after the restore: what was sent just before may be shown late still.
#[tokio::test]
async fn a_clock_that_is_set_right_ends_no_hour_after_a_restore() {
    let lag = std::time::Duration::from_secs(3_600);
    // The first backup takes its time, so that nothing was looked at yet.
    for (is_set, is_looked) in [(true, true), (false, true), (true, false), (false, false)] {
        let folder = tempfile::tempdir().unwrap();
        let clock = TwoClocks(Arc::new([START, 0].map(AtomicI64::new)));
        let deps = || EngineDeps { clock: Arc::new(clock.clone()), timing: Timing::default() };
        let profile = Profile::create(folder.path(), SecretsKind::Practice, Vec::new()).unwrap();
        let engine = Engine::create(profile, None, deps()).unwrap();
        import(&engine, 1);
        let backup = engine.back_up_if_due().await.unwrap().unwrap().file;
        let (file, key) =
            (engine.profile().journal_file(), engine.secrets().journal_key().unwrap());
        engine.journal().clone().close();
        for entry in std::fs::read_dir(file.parent().unwrap()).unwrap().map(Result::unwrap) {
            if entry.file_name().to_string_lossy().starts_with("journal.db") {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        let now = Instant(START);
        journal::restore(&backup, &journal::Key::new(key), &file, &|_| None, now).unwrap();
        let engine = Engine::open(Profile::open(folder.path()).unwrap(), None, deps()).unwrap();
        let id = import(&engine, 2);
        assert_eq!(engine.journal().state(id).unwrap().code(), "held");
        if is_looked {
            engine.reconcile().await.unwrap();
        }
        clock.pass(5 * 60_000_000);
        match is_set {
            true => clock.set_ahead(2 * 3_600_000_000),
            false => clock.pass(2 * 3_600_000_000),
        }
        engine.reconcile().await.unwrap();
        let is_late = engine.journal().may_be_shown_late(id, clock.now(), lag).unwrap();
        // Where it was first asked for after the hour, nothing of it is asked a second time.
        assert_eq!(is_late, is_set, "looked before: {is_looked}");
        clock.pass(3_600_000_000);
        engine.reconcile().await.unwrap();
        assert!(!engine.journal().may_be_shown_late(id, clock.now(), lag).unwrap());
    }
}
