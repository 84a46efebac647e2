//! What lay in a folder when it was chosen, and stays unsent.

use super::*;

/// A person has chosen the folder and wants only what comes: what comes while they read the
/// question is new.
#[tokio::test(flavor = "multi_thread")]
async fn what_lay_in_a_folder_stays_unsent_and_what_comes_is_taken() {
    let (_home, engine, folder) = ground().await;
    report(&folder, 1);
    report(&folder, 2);
    let shown = Lying::in_folder(&folder);
    assert_eq!(shown.count(), 2);
    assert!(shown.newest().unwrap() <= engine.now());
    report(&folder, 3);
    engine.set_watched_folder_leaving(shown.leaving(&engine.source_limits())).unwrap();
    assert_eq!(engine.left_lying().unwrap().count(), 2);
    // As a window that is started again reads it.
    let watching = async |reports: usize| {
        let cancel = CancellationToken::new();
        let left = Arc::new(engine.left().unwrap());
        let mut watch = Watch { left, ..Watch::of(&folder, engine.profile().folder()) };
        let told = Cell::new(0);
        let each = |_: Watched<'_>| told.set(told.get() + 1);
        let watching = engine.watch_by(&mut watch, &folder, &cancel, PAUSE, plain(&engine), each);
        let acting = async {
            until("taken", || taken(&engine) == reports).await;
            cancel.cancel();
        };
        tokio::join!(watching, acting).0.unwrap();
        told.get()
    };
    assert_eq!(watching(1).await, 1, "the third alone");
    // Moved, and touched, they are the same files.
    fs::create_dir(folder.join("old")).unwrap();
    fs::rename(folder.join("001.json"), folder.join("old/001.json")).unwrap();
    fs::File::options()
        .write(true)
        .open(folder.join("002.json"))
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    report(&folder, 5);
    assert_eq!(watching(2).await, 2, "the third, which is known, and the fifth");
    assert_eq!(engine.left_lying().unwrap().count(), 2);
    fs::rename(folder.join("old/001.json"), folder.join("001.json")).unwrap();
    fs::remove_file(folder.join("005.json")).unwrap();
    // Written to again, it is a new one; handed over, it counts as everything else does.
    let text = testkit::DocumentBuilder::new(4).json();
    fs::write(folder.join("001.json"), text + " ").unwrap();
    engine.no_longer_left(&[folder.join("002.json"), folder.join("003.json")]).unwrap();
    assert_eq!(engine.left_lying().unwrap().count(), 0);
    watching(4).await;
    let lists = || fs::read_dir(engine.profile().folder()).unwrap().flatten();
    let lists = || lists().filter(|it| it.file_name().to_string_lossy().starts_with("left-"));
    assert_eq!(lists().count(), 1);
    engine.set_watched_folder(None).unwrap();
    assert_eq!(lists().count(), 0);
    assert_eq!(engine.left_lying().unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_list_of_what_stays_is_missing_nothing_is_sent_and_a_person_is_told() {
    let (_home, engine, folder) = ground().await;
    report(&folder, 1);
    let leaving = Lying::in_folder(&folder).leaving(&engine.source_limits());
    engine.set_watched_folder_leaving(leaving).unwrap();
    let id = engine.profile().settings.left_lying.unwrap();
    fs::remove_file(engine.profile().folder().join(format!("left-lying.{id}"))).unwrap();
    let cancel = CancellationToken::new();
    let acting = async {
        until("told", || notice(&engine, "watched-folder-stopped").is_some()).await;
        cancel.cancel();
    };
    tokio::join!(engine.keep_watching(&folder, cancel.clone()), acting);
    assert_eq!(taken(&engine), 0);
}

/// A file of many reports gets more of them during the day: what was left of it is left still.
#[tokio::test(flavor = "multi_thread")]
async fn of_a_file_that_was_left_and_got_more_reports_only_these_are_taken() {
    let (_home, engine, folder) = ground().await;
    // One report on each line.
    let line = |number: u64| {
        let text = testkit::DocumentBuilder::new(number).json();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        format!("{value}\n")
    };
    fs::write(folder.join("day.ndjson"), line(1) + &line(2)).unwrap();
    fs::write(folder.join("night.ndjson"), line(3)).unwrap();
    fs::write(folder.join("given.ndjson"), line(6) + &line(7)).unwrap();
    let leaving = Lying::in_folder(&folder).leaving(&engine.source_limits());
    engine.set_watched_folder_leaving(leaving).unwrap();
    // Handed over, it counts as everything else does, and each report of it.
    engine.no_longer_left(&[folder.join("given.ndjson")]).unwrap();
    fs::write(folder.join("day.ndjson"), line(1) + &line(2) + &line(4)).unwrap();
    fs::write(folder.join("night.ndjson"), line(3) + &line(5)).unwrap();
    fs::write(folder.join("given.ndjson"), line(6) + &line(7) + &line(8)).unwrap();
    let cancel = CancellationToken::new();
    let left = Arc::new(engine.left().unwrap());
    let mut watch = Watch { left, ..Watch::of(&folder, engine.profile().folder()) };
    let names = RefCell::new(Vec::new());
    let each = |told: Watched<'_>| {
        if let Watched::File(candidate, _) = told {
            names.borrow_mut().push(candidate.name.clone());
        }
    };
    let watching = engine.watch_by(&mut watch, &folder, &cancel, PAUSE, plain(&engine), each);
    let acting = async {
        until("taken", || names.borrow().len() >= 5).await;
        cancel.cancel();
    };
    tokio::join!(watching, acting).0.unwrap();
    let all =
        ["day.ndjson:3", "given.ndjson:1", "given.ndjson:2", "given.ndjson:3", "night.ndjson:2"];
    names.borrow_mut().sort();
    assert_eq!(*names.borrow(), all);
    assert_eq!(taken(&engine), all.len());
}
