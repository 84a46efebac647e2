//! A watch over a real folder and journal; a stand-in looks at files where one has to be locked.

mod away;
mod gone;
mod lying;
mod overwritten;

use std::cell::{Cell, RefCell};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use exchange::{Endpoint, Environment};
use identity::SecretsKind;
use journal::{Filter, JournalError};
use report::Event;
use tempfile::TempDir;

use super::*;
use crate::candidate::Reason;
use crate::use_cases::intake::{inspect::look_at, source::Piece};
use crate::{EngineDeps, Profile, Refusal};

const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(1);

/// An engine whose queue nobody works, and a folder.
async fn ground() -> (TempDir, Engine, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let (place, folder) = (home.path().join("profile"), home.path().join("out"));
    let profile = Profile::create(&place, SecretsKind::Practice, Vec::new()).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let endpoint = Endpoint::new(
        "ours",
        "https://localhost/v1/fhir".parse().unwrap(),
        Environment::Integration,
    );
    engine.add_endpoint(endpoint).await.unwrap();
    fs::create_dir(&folder).unwrap();
    (home, engine, folder)
}

fn report(folder: &Path, number: u64) {
    let text = testkit::DocumentBuilder::new(number).json();
    fs::write(folder.join(format!("{number:03}.json")), text).unwrap();
}

fn taken(engine: &Engine) -> usize {
    engine.journal().count(&Filter::default(), 1_000).unwrap().try_into().unwrap()
}

fn notice(engine: &Engine, code: &str) -> Option<Notice> {
    engine.journal().notices().unwrap().into_iter().find(|notice| notice.code == code)
}

fn file_of(notice: &Notice) -> (&str, &str) {
    (&notice.params["count"], &notice.params["file"])
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// Looks as the engine does.
fn plain(engine: &Engine) -> impl Fn(PathBuf) -> futures::future::BoxFuture<'static, Looked> {
    let engine = engine.clone();
    move |file| {
        let engine = engine.clone();
        Box::pin(async move { engine.inspect_files(vec![file]).await })
    }
}

/// A watch that begins anew.
async fn watch_by<F: Future<Output = Looked>>(
    engine: &Engine,
    folder: &Path,
    cancel: &CancellationToken,
    inspect: impl Fn(PathBuf) -> F,
    each: impl FnMut(Watched<'_>),
) -> Result<(), EngineError> {
    engine
        .watch_by(
            &mut Watch::of(folder, engine.profile().folder()),
            folder,
            cancel,
            PAUSE,
            inspect,
            each,
        )
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_locked_is_told_once_and_taken_when_it_is_free() {
    let (_home, engine, folder) = ground().await;
    report(&folder, 1);
    let (locked, tries) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let (cancel, told) = (CancellationToken::new(), RefCell::new(Vec::new()));
    let (look, is_locked, counted) = (plain(&engine), locked.clone(), tries.clone());
    let inspect = |file: PathBuf| {
        let (is_locked, counted) = (is_locked.clone(), counted.clone());
        let whole = look(file);
        let now = engine.now();
        async move {
            counted.fetch_add(1, Ordering::SeqCst);
            if !is_locked.load(Ordering::SeqCst) {
                return whole.await;
            }
            let content = Err(Refusal::NotReadable { reason: "permission denied".to_owned() });
            Ok(vec![look_at(Piece { name: "001.json".to_owned(), content }, now)])
        }
    };
    let watching = watch_by(&engine, &folder, &cancel, inspect, |watched| {
        let Watched::File(_, taken) = watched else { panic!("the folder is there") };
        told.borrow_mut().push(taken);
    });
    let acting = async {
        until("tried again", || tries.load(Ordering::SeqCst) > 5).await;
        let standing = notice(&engine, "watched-files-refused").expect("told in the window");
        assert_eq!(file_of(&standing), ("1", "001.json"));
        assert_eq!(standing.params["reason"], "file-not-readable");
        let written = engine.journal().revision().unwrap();
        let tried = tries.load(Ordering::SeqCst);
        until("tried again", || tries.load(Ordering::SeqCst) > tried + 5).await;
        assert_eq!(engine.journal().revision().unwrap(), written, "written once");
        locked.store(false, Ordering::SeqCst);
        until("taken", || taken(&engine) == 1).await;
        until("notice gone", || notice(&engine, "watched-files-refused").is_none()).await;
        cancel.cancel();
    };
    let (watched, ()) = tokio::join!(watching, acting);
    watched.unwrap();
    assert!(matches!(told.into_inner()[..], [Taken::Refused, Taken::New(_)]));
}

/// A ZIP archive with one file of so many bytes in it, stored as it is.
fn archive(folder: &Path, name: &str, content: &[u8]) {
    let mut writer = zip::ZipWriter::new(fs::File::create(folder.join(name)).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    writer.start_file("a.json", options).unwrap();
    std::io::Write::write_all(&mut writer, content).unwrap();
    writer.finish().unwrap();
}

/// Four archives and some files appear at once: never more than one archive is looked at at a time,
/// and plain files beside each other as ever.
#[tokio::test(flavor = "multi_thread")]
async fn archives_of_a_watched_folder_are_unpacked_one_after_the_other() {
    let (_home, engine, folder) = ground().await;
    for number in 0..4 {
        let text = testkit::DocumentBuilder::new(100 + number).json();
        archive(&folder, &format!("{number}.zip"), text.as_bytes());
        report(&folder, 200 + number);
    }
    let cancel = CancellationToken::new();
    // Of archives and of plain files: how many are looked at now, and how many were at most.
    let counts = Arc::new([const { [const { AtomicUsize::new(0) }; 2] }; 2]);
    let look = plain(&engine);
    let inspect = |file: PathBuf| {
        let (counts, looked) = (counts.clone(), look(file.clone()));
        let of = usize::from(file.extension().unwrap() != "zip");
        async move {
            let [now, most] = &counts[of];
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            let looked = looked.await;
            now.fetch_sub(1, Ordering::SeqCst);
            looked
        }
    };
    let watching = watch_by(&engine, &folder, &cancel, inspect, |_| {});
    let acting = async {
        until("taken", || taken(&engine) == 8).await;
        cancel.cancel();
    };
    let (watched, ()) = tokio::join!(watching, acting);
    watched.unwrap();
    let most = |of: usize| counts[of][1].load(Ordering::SeqCst);
    assert_eq!((most(0), most(1)), (1, LOOKS_AT_ONCE));
}

/// The window looks at files one by one, several at once: an archive waits until what another gave
/// is out of memory, and a plain file waits for nobody.
#[tokio::test(flavor = "multi_thread")]
async fn an_archive_waits_until_what_another_gave_was_made_use_of() {
    let (_home, engine, folder) = ground().await;
    let text = testkit::DocumentBuilder::new(1).json();
    archive(&folder, "1.zip", text.as_bytes());
    report(&folder, 2);
    let turn = engine.inner.unpacking.lock().await;
    let look = |name: &str| {
        let (engine, file) = (engine.clone(), folder.join(name));
        tokio::spawn(async move { engine.inspect(vec![file]).await.map(|found| found.len()) })
    };
    let waits = look("1.zip");
    assert_eq!(look("002.json").await.unwrap().unwrap(), 1);
    assert!(!waits.is_finished());
    drop(turn);
    assert_eq!(waits.await.unwrap().unwrap(), 1);
    let inner = engine.clone();
    let made = engine
        .inspect_and(vec![folder.join("1.zip")], move |_| inner.inner.unpacking.try_lock().is_err())
        .await;
    assert!(made.unwrap(), "held until it was made use of");
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_files_stand_in_a_notice_until_they_are_corrected_or_removed() {
    let (_home, engine, folder) = ground().await;
    let cancel = CancellationToken::new();
    let shown = || notice(&engine, "watched-files-refused");
    let watching = watch_by(&engine, &folder, &cancel, plain(&engine), |_| {});
    let acting = async {
        fs::write(folder.join("Muster Anna.pdf"), "%PDF-1.7\n1 0 obj").unwrap();
        until("told", || shown().is_some()).await;
        let first = shown().unwrap();
        assert_eq!(file_of(&first), ("1", "Muster Anna.pdf"));
        assert_eq!((&*first.params["reason"], &*first.params["kind"]), ("not-a-report", "pdf"));
        assert_eq!(first.params["folder"], folder.display().to_string());
        fs::write(folder.join("all.zip"), "PK\x03\x04 no archive").unwrap();
        until("both", || shown().is_some_and(|n| file_of(&n) == ("2", "all.zip"))).await;
        assert_eq!(shown().unwrap().params["reason"], "damaged");
        fs::remove_file(folder.join("all.zip")).unwrap();
        until("one", || shown().is_some_and(|n| file_of(&n) == ("1", "Muster Anna.pdf"))).await;
        // Read and dismissed: silent until there is news.
        engine.journal().remove_notice("watched-files-refused").unwrap();
        fs::write(folder.join("b.pdf"), "%PDF-1.7\n1 0 obj").unwrap();
        until("news", || shown().is_some_and(|n| file_of(&n) == ("2", "b.pdf"))).await;
        // A file that becomes another kind of file.
        let text = testkit::DocumentBuilder::new(7).json();
        fs::write(folder.join("Muster Anna.pdf"), text).unwrap();
        fs::remove_file(folder.join("b.pdf")).unwrap();
        until("corrected", || taken(&engine) == 1 && shown().is_none()).await;
        cancel.cancel();
    };
    let (watched, ()) = tokio::join!(watching, acting);
    watched.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_earlier_watch_left_is_kept_while_it_is_true() {
    let (_home, engine, folder) = ground().await;
    fs::write(folder.join("a.pdf"), "%PDF-1.7\n1 0 obj").unwrap();
    let shown = || notice(&engine, "watched-files-refused");
    for looks_more in [false, true] {
        let before = shown();
        let (cancel, looks) = (CancellationToken::new(), Cell::new(0));
        let look = plain(&engine);
        let inspect = |file| {
            looks.set(looks.get() + 1);
            look(file)
        };
        let watching = watch_by(&engine, &folder, &cancel, inspect, |_| {});
        let acting = async {
            until("read", || looks.get() == 1 && shown().is_some()).await;
            assert!(before.is_none() || shown() == before, "not written again");
            if looks_more {
                fs::remove_file(folder.join("a.pdf")).unwrap();
                until("over", || shown().is_none()).await;
            }
            cancel.cancel();
        };
        tokio::join!(watching, acting).0.unwrap();
    }
    // Another folder is chosen: nothing is left to say about the old one.
    let told = Notice::new("watched-folder-away", &[("folder", "/gone")], engine.now());
    engine.journal().put_notice(told).unwrap();
    engine.set_watched_folder(Some(folder.clone())).unwrap();
    assert_eq!(engine.journal().notices().unwrap(), []);
}

/// Somebody has heard on the telephone that the authority has it: nothing is left to be told or
/// done.
#[tokio::test]
async fn known_content_that_the_authority_has_by_a_persons_word_is_not_told() {
    let (_home, engine, folder) = ground().await;
    report(&folder, 1);
    let file = vec![folder.join("001.json")];
    let looked = engine.inspect(file.clone()).await.unwrap();
    let taken = engine.take(&looked, ImportOptions::default()).await.unwrap().taken;
    let [Taken::New(id)] = taken[..] else { panic!("{taken:?}") };
    let (since, why) = (engine.now().plus_seconds(-7_200), "timed-out".to_owned());
    let person = engine.person().clone();
    for event in [Event::SendingStarted { since }, Event::Doubted { since, due: engine.now(), why }]
    {
        let step = journal::Step::new(id, event, person.clone(), engine.now());
        engine.journal().record(step).unwrap();
    }
    let known = || async {
        let looked = engine.inspect(file.clone()).await.unwrap();
        let taken = engine.take(&looked, ImportOptions::default()).await.unwrap().taken;
        let pieces: Vec<_> = looked.iter().zip(taken).collect();
        engine.stopped_of(&pieces).unwrap()
    };
    assert!(known().await.is_empty(), "it is on its way");
    engine.say_received(id, "hotline".to_owned()).await.unwrap();
    assert_eq!(engine.journal().state(id).unwrap().shown(), report::StateCode::SaidReceived);
    assert!(known().await.is_empty(), "the authority has it");
}

/// A person withdraws a report, and the laboratory's system exports it again; another went to the
/// test system.
#[tokio::test(flavor = "multi_thread")]
async fn known_content_that_nothing_brings_to_the_authority_is_told() {
    let (_home, engine, folder) = ground().await;
    report(&folder, 1);
    let ids = || {
        let rows = engine.journal().list(&Filter::default()).unwrap();
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let watching = || async {
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let (engine, folder) = (engine.clone(), folder.clone());
        let task = tokio::spawn(async move {
            watch_by(&engine, &folder, &stop, plain(&engine), |_| {}).await.unwrap();
        });
        (cancel, task)
    };
    let shown = || notice(&engine, "watched-files-known");
    let (cancel, task) = watching().await;
    until("taken", || taken(&engine) == 1).await;
    let first = ids()[0];
    engine.hold_back(first).await.unwrap();
    // Exported again while it is held: nothing will bring it there.
    fs::copy(folder.join("001.json"), folder.join("again.json")).unwrap();
    until("held", || shown().is_some_and(|n| file_of(&n) == ("1", "again.json"))).await;
    assert_eq!(shown().unwrap().params["state"], "held");
    engine.withdraw(first, "sent by fax".to_owned()).await.unwrap();
    until("withdrawn", || shown().is_some_and(|n| n.params["state"] == "withdrawn")).await;
    let told = shown().unwrap();
    assert_eq!(told.params["submission"], first.0.to_string());
    assert_eq!((&*told.params["endpoint"], taken(&engine)), ("ours", 1));
    // Sent again by a person: that is on its way, and there is nothing left to say.
    let again = ImportOptions { known: KnownContent::SendAgain, ..ImportOptions::default() };
    let seen = engine.inspect(vec![folder.join("again.json")]).await.unwrap();
    assert!(matches!(engine.take(&seen, again).await.unwrap().taken[..], [Taken::New(_)]));
    until("over", || shown().is_none()).await;
    cancel.cancel();
    task.await.unwrap();

    // What went to the test system has reached nobody in production.
    let real = Endpoint {
        id: None,
        name: "real".to_owned(),
        environment: Environment::Production,
        ..engine.endpoint().unwrap()
    };
    engine.add_endpoint(real).await.unwrap();
    engine.use_endpoint("real").await.unwrap();
    engine.rename_endpoint("ours", "pilot").await.unwrap();
    let (cancel, task) = watching().await;
    until("elsewhere", || shown().is_some_and(|n| &n.params["count"] == "2")).await;
    assert_eq!((&*shown().unwrap().params["endpoint"], taken(&engine)), ("pilot", 2));
    fs::remove_file(folder.join("001.json")).unwrap();
    until("removed", || shown().is_some_and(|n| &n.params["count"] == "1")).await;
    // The first endpoint under its new name: what is on its way there is no news.
    engine.use_endpoint("pilot").await.unwrap();
    until("back", || shown().is_none()).await;
    cancel.cancel();
    task.await.unwrap();
}

/// 150 files, and a fault at the look at number 100.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_looked_at_is_told_and_keeps_no_other_from_being_taken() {
    let (_home, engine, folder) = ground().await;
    (0..150).for_each(|number| report(&folder, number));
    let (cancel, look, faulty) = (CancellationToken::new(), plain(&engine), Cell::new(true));
    let inspect = |file: PathBuf| {
        let fails = faulty.get() && file.ends_with("100.json");
        let whole = look(file);
        async move { if fails { Err(JournalError::Damaged.into()) } else { whole.await } }
    };
    let watching = watch_by(&engine, &folder, &cancel, &inspect, |_| {});
    let acting = async {
        let shown = || notice(&engine, "watched-files-refused");
        until("the others", || taken(&engine) == 149 && shown().is_some()).await;
        assert_eq!(file_of(&shown().unwrap()), ("1", "100.json"));
        assert_eq!(shown().unwrap().params["reason"], "file-not-taken-in");
        faulty.set(false);
        until("all", || taken(&engine) == 150 && shown().is_none()).await;
        cancel.cancel();
    };
    tokio::join!(watching, acting).0.unwrap();
}

/// Where more than some files fail it is no matter of single files. What was looked at before is
/// taken in, and a watch that goes on reaches all that can be taken.
#[tokio::test(flavor = "multi_thread")]
async fn a_fault_in_the_middle_loses_nothing_that_was_looked_at() {
    let (_home, engine, folder) = ground().await;
    (0..150).for_each(|number| report(&folder, number));
    let (cancel, look, faulty) = (CancellationToken::new(), plain(&engine), Cell::new(true));
    let inspect = |file: PathBuf| {
        let number: u32 = file.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        let fails = faulty.get() && (100..110).contains(&number);
        let whole = look(file);
        async move { if fails { Err(JournalError::Damaged.into()) } else { whole.await } }
    };
    let shown = || notice(&engine, "watched-folder-stopped");
    let mut watch = Watch::of(&folder, engine.profile().folder());
    for (all, times) in [(100, 1), (140, 2)] {
        for _ in 0..times {
            let failed = engine.watch_by(&mut watch, &folder, &cancel, PAUSE, &inspect, |_| {});
            assert!(matches!(failed.await, Err(EngineError::Journal(JournalError::Damaged))));
        }
        assert_eq!(taken(&engine), all);
        assert_eq!(shown().unwrap().params["reason"], "journal-damaged");
    }
    faulty.set(false);
    let watching = engine.watch_by(&mut watch, &folder, &cancel, PAUSE, &inspect, |_| {});
    let acting = async {
        until("all", || taken(&engine) == 150 && shown().is_none()).await;
        cancel.cancel();
    };
    tokio::join!(watching, acting).0.unwrap();
}

/// A person has written the settings by hand and left out a comma.
#[tokio::test(flavor = "multi_thread")]
async fn settings_that_cannot_be_read_stop_the_folder_with_a_notice() {
    let (_home, engine, folder) = ground().await;
    let (settings, shown) =
        (engine.profile().settings_file(), || notice(&engine, "watched-folder-stopped"));
    let sound = fs::read(&settings).unwrap();
    fs::write(&settings, "{").unwrap();
    report(&folder, 1);
    let (cancel, look, mut watch) =
        (CancellationToken::new(), plain(&engine), Watch::of(&folder, engine.profile().folder()));
    let failed = engine.watch_by(&mut watch, &folder, &cancel, PAUSE, &look, |_| {}).await;
    assert!(matches!(failed, Err(EngineError::Profile(_))));
    let told = shown().expect("told");
    assert_eq!(told.params["folder"], folder.display().to_string());
    assert_eq!((&*told.params["reason"], taken(&engine)), ("settings-damaged", 0));
    // Another start of the program, at which nothing has been looked at twice yet.
    let mut watch = Watch::of(&folder, engine.profile().folder());
    let failed = engine.watch_by(&mut watch, &folder, &cancel, PAUSE, &look, |_| {}).await;
    assert!(failed.is_err());
    assert_eq!(shown(), Some(told), "not written again");
    fs::write(&settings, sound).unwrap();
    let watching = engine.watch_by(&mut watch, &folder, &cancel, PAUSE, &look, |_| {});
    let acting = async {
        until("taken", || taken(&engine) == 1 && shown().is_none()).await;
        cancel.cancel();
    };
    tokio::join!(watching, acting).0.unwrap();
}

/// What the journal keeps of an earlier report is damaged: the next file under its document
/// identifier cannot be compared with it, and is a report all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_row_keeps_no_file_from_being_taken() {
    let (_home, engine, folder) = ground().await;
    report(&folder, 1);
    let watch_until = async |count| {
        let cancel = CancellationToken::new();
        let watching = watch_by(&engine, &folder, &cancel, plain(&engine), |_| {});
        let acting = async {
            until("taken", || taken(&engine) == count).await;
            cancel.cancel();
        };
        tokio::join!(watching, acting).0.unwrap();
    };
    watch_until(1).await;
    let key = engine.secrets().journal_key().unwrap();
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let raw = rusqlite::Connection::open(engine.profile().journal_file()).unwrap();
    raw.execute_batch(&format!("PRAGMA key = \"x'{hex}'\"")).unwrap();
    raw.execute("UPDATE document SET content = x'00'", []).unwrap();
    let other = testkit::DocumentBuilder::new(1).json().replace("\"final\"", "\"amended\"");
    fs::write(folder.join("000.json"), other).unwrap();
    report(&folder, 2);
    watch_until(3).await;
    assert_eq!(notice(&engine, "watched-files-refused"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_that_is_cancelled_ends_with_the_batch() {
    let (_home, engine, folder) = ground().await;
    (0..150).for_each(|number| report(&folder, number));
    let (cancel, mut told) = (CancellationToken::new(), 0);
    let watched = watch_by(&engine, &folder, &cancel, plain(&engine), |_| {
        told += 1;
        cancel.cancel();
    });
    watched.await.unwrap();
    assert_eq!((told, taken(&engine)), (FILES_AT_ONCE, FILES_AT_ONCE));
}

/// The laboratory's system keeps its files elsewhere and puts links into the folder.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_linked_file_is_read_and_a_linked_folder_is_told() {
    let (home, engine, folder) = ground().await;
    let archive = home.path().join("archive");
    fs::create_dir(&archive).unwrap();
    report(&archive, 1);
    std::os::unix::fs::symlink(archive.join("001.json"), folder.join("link.json")).unwrap();
    std::os::unix::fs::symlink(&archive, folder.join("today")).unwrap();
    let cancel = CancellationToken::new();
    let watching = watch_by(&engine, &folder, &cancel, plain(&engine), |_| {});
    let acting = async {
        let shown = || notice(&engine, "watched-files-refused");
        until("told", || shown().is_some() && taken(&engine) == 1).await;
        assert_eq!(file_of(&shown().unwrap()), ("1", "today"));
        assert_eq!(shown().unwrap().params["reason"], "link-not-followed");
        cancel.cancel();
    };
    tokio::join!(watching, acting).0.unwrap();
}

#[test]
fn a_batch_is_full_by_files_or_by_bytes() {
    let stamp = FileStamp { length: 1, ..FileStamp::default() };
    let piece = |bytes: Vec<u8>| Piece { name: "x".to_owned(), content: Ok(bytes) };
    let mut many = Batch::default();
    for number in 0..FILES_AT_ONCE {
        assert!(!many.is_full(), "{number}");
        many.add(PathBuf::from("x"), stamp, Vec::new());
    }
    assert!(many.is_full());
    let document = testkit::DocumentBuilder::new(1).json().into_bytes();
    let mut large = look_at(piece(document), fhir::Instant(0));
    let Verdict::Report(parsed) = &mut large.verdict else { panic!("a report") };
    parsed.bytes.resize(BYTES_AT_ONCE, b' ');
    let mut one = Batch::default();
    one.add(PathBuf::from("x"), stamp, vec![large]);
    assert!(one.is_full());
}

#[test]
fn every_reason_has_a_code_of_the_list() {
    for reason in [
        "damaged",
        "encrypted",
        "nested",
        "too-many-entries",
        "too-large-unpacked",
        "two-of-one-name",
        "link-inside",
    ] {
        let reason = Reason::Source(Refusal::Archive { reason });
        assert!(Reason::CODES.contains(&reason.code()));
    }
    assert!(Reason::CODES.contains(&Reason::NotAReport(::report::Kind::Pdf).code()));
}
