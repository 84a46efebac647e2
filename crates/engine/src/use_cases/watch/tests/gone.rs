//! A file that leaves the folder before it could be taken in.

use super::*;

/// The disk is full over night, and the laboratory's system clears its folder in the morning.
#[tokio::test(flavor = "multi_thread")]
async fn what_leaves_the_folder_while_nothing_can_be_taken_in_is_told_until_it_is_read() {
    let (_home, engine, folder) = ground().await;
    let (full, tried) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let look = plain(&engine);
    let inspect = |file: PathBuf| {
        let (full, tried, looking) = (full.clone(), tried.clone(), look(file));
        async move {
            tried.fetch_add(1, Ordering::SeqCst);
            match full.load(Ordering::SeqCst) {
                true => Err(EngineError::Journal(JournalError::Full)),
                false => looking.await,
            }
        }
    };
    let shown = || notice(&engine, "watched-files-gone");
    for number in 1..=4 {
        report(&folder, number);
    }
    // As a window does it: it goes on after a fault, and remembers.
    let mut watch = Watch::of(&folder, engine.profile().folder());
    let cancel = CancellationToken::new();
    let stopped = engine.watch_by(&mut watch, &folder, &cancel, PAUSE, &inspect, |_| {}).await;
    assert!(stopped.is_err() && tried.load(Ordering::SeqCst) >= 4);
    fs::remove_file(folder.join("001.json")).unwrap();
    fs::remove_file(folder.join("002.json")).unwrap();
    full.store(false, Ordering::SeqCst);
    let watching = engine.watch_by(&mut watch, &folder, &cancel, PAUSE, &inspect, |_| {});
    let acting = async {
        until("taken", || taken(&engine) == 2 && shown().is_some()).await;
        assert_eq!(shown().unwrap().params["count"], "2");
        cancel.cancel();
    };
    tokio::join!(watching, acting).0.unwrap();
    // Another watch, and another folder, take nothing of it back.
    let cancel = CancellationToken::new();
    report(&folder, 5);
    let watching = watch_by(&engine, &folder, &cancel, plain(&engine), |_| {});
    let acting = async {
        until("taken", || taken(&engine) == 3).await;
        cancel.cancel();
    };
    tokio::join!(watching, acting).0.unwrap();
    engine.set_watched_folder(Some(folder.clone())).unwrap();
    assert_eq!(shown().unwrap().params["count"], "2");
}
