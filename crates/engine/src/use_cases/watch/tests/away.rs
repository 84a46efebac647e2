//! A folder that is away, is not mounted, or does not answer.

use super::*;
use crate::use_cases::watch::looking::patience;

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_away_is_told_and_watched_again_when_it_is_back() {
    let (home, engine, folder) = ground().await;
    report(&folder, 1);
    let (cancel, told) = (CancellationToken::new(), RefCell::new(Vec::new()));
    let shown = || notice(&engine, "watched-folder-away");
    let watching = watch_by(&engine, &folder, &cancel, plain(&engine), |watched| {
        told.borrow_mut().push(match watched {
            Watched::File(..) => "file",
            Watched::Away(_) => "away",
            Watched::Back => "back",
        });
    });
    let acting = async {
        until("taken", || taken(&engine) == 1).await;
        let elsewhere = home.path().join("elsewhere");
        fs::rename(&folder, &elsewhere).unwrap();
        until("away", || shown().is_some()).await;
        let (at, why) = (folder.display().to_string(), "folder-missing".to_owned());
        let params = [("folder".to_owned(), at), ("reason".to_owned(), why)];
        assert_eq!(shown().unwrap().params, params.into());
        report(&elsewhere, 2);
        fs::rename(&elsewhere, &folder).unwrap();
        until("back", || shown().is_none() && taken(&engine) == 2).await;
        // A file in the place of the folder is no folder.
        fs::rename(&folder, &elsewhere).unwrap();
        fs::write(&folder, "").unwrap();
        until("no folder", || shown().is_some_and(|n| n.params["reason"] == "not-a-folder")).await;
        cancel.cancel();
    };
    let (watched, ()) = tokio::join!(watching, acting);
    watched.unwrap();
    let told = told.into_inner();
    // Between folder and file there is a moment of nothing, which a look may meet.
    assert_eq!(told[..5], ["file", "away", "back", "file", "away"], "nothing was read twice");
    assert!(told[5..].iter().all(|what| *what == "away"), "{told:?}");
}

/// Whether something is mounted at the folder of the test that asks; what lies in it is real.
static IS_MOUNTED: AtomicBool = AtomicBool::new(true);

/// The share is not mounted after a start of the computer: what is left is an empty folder.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_folder_where_a_share_was_mounted_is_away() {
    let (home, engine, folder) = ground().await;
    report(&folder, 1);
    let look_at = |folder: &Path| Look {
        is_mounted: IS_MOUNTED.load(Ordering::SeqCst),
        ..look_at_folder(folder)
    };
    let shown = || notice(&engine, "watched-folder-away");
    let (share, watching) = (home.path().join("share"), async |then: &dyn Fn() -> bool| {
        // As another start of the program begins.
        let mut watch = Watch { look_at, ..Watch::of(&folder, engine.profile().folder()) };
        let cancel = CancellationToken::new();
        let look = plain(&engine);
        let watching = engine.watch_by(&mut watch, &folder, &cancel, PAUSE, look, |_| {});
        let acting = async {
            until("seen", then).await;
            cancel.cancel();
        };
        tokio::join!(watching, acting).0.unwrap();
    });
    watching(&|| taken(&engine) == 1).await;
    IS_MOUNTED.store(false, Ordering::SeqCst);
    fs::rename(&folder, &share).unwrap();
    fs::create_dir(&folder).unwrap();
    watching(&|| shown().is_some()).await;
    assert_eq!(shown().unwrap().params["reason"], "folder-not-mounted");
    // It is mounted again.
    report(&share, 2);
    fs::remove_dir(&folder).unwrap();
    fs::rename(&share, &folder).unwrap();
    IS_MOUNTED.store(true, Ordering::SeqCst);
    watching(&|| taken(&engine) == 2 && shown().is_none()).await;
    // Without the share, people use the folder itself.
    IS_MOUNTED.store(false, Ordering::SeqCst);
    report(&folder, 3);
    watching(&|| taken(&engine) == 3).await;
    assert_eq!(shown(), None);
    fs::read_dir(&folder).unwrap().for_each(|file| fs::remove_file(file.unwrap().path()).unwrap());
    let mounted = Mounted::of(&folder, engine.profile().folder());
    let mut look = look_at(&folder);
    mounted.judge(&folder, &mut look);
    assert!(look.away.is_none(), "it is a folder like any other");
}

/// Whether the folder of the test that asks answers.
static ANSWERS: AtomicBool = AtomicBool::new(false);

/// The server of a share has gone, and a look at it waits for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_does_not_answer_is_told_and_keeps_no_watch_from_ending() {
    let (_home, engine, folder) = ground().await;
    report(&folder, 1);
    let look_at = |folder: &Path| {
        while !ANSWERS.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        look_at_folder(folder)
    };
    let shown = || notice(&engine, "watched-folder-away");
    let watching = async |then: &dyn Fn() -> bool, acts: &dyn Fn()| {
        let watch = Watch::of(&folder, engine.profile().folder());
        let mut watch = Watch { look_at, no_answer_after: PAUSE, ..watch };
        let cancel = CancellationToken::new();
        let look = plain(&engine);
        let watching = engine.watch_by(&mut watch, &folder, &cancel, PAUSE, look, |_| {});
        let acting = async {
            until("told", || shown().is_some()).await;
            assert_eq!(shown().unwrap().params["reason"], "folder-no-answer");
            acts();
            until("then", then).await;
            cancel.cancel();
        };
        tokio::join!(watching, acting).0.unwrap();
    };
    watching(&|| true, &|| {}).await;
    let answer = || ANSWERS.store(true, Ordering::SeqCst);
    watching(&|| taken(&engine) == 1 && shown().is_none(), &answer).await;
}

#[test]
fn a_slow_folder_is_waited_for_and_one_that_was_away_for_hours_is_told_soon() {
    let minutes = |count: u64| Duration::from_secs(60 * count);
    assert_eq!(patience(minutes(1), Duration::from_secs(2)), minutes(1));
    assert_eq!(patience(minutes(1), minutes(2)), minutes(4));
    assert_eq!(patience(minutes(4), minutes(1)), minutes(4));
    assert_eq!(patience(minutes(1), minutes(8 * 60)), minutes(10));
}
