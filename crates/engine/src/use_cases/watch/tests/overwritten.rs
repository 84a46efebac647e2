//! A file that takes the place of another.

use super::*;

/// The laboratory's system uses a name again, and the new report is as long as the one before and
/// carries its time, as where exports carry a fixed one: by writing over it, and by renaming.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn another_report_of_the_same_name_length_and_time_is_taken() {
    let (_home, engine, folder) = ground().await;
    let plain = |number| testkit::DocumentBuilder::new(number).json();
    let longest = (2..6).map(|number| plain(number).len()).max().unwrap();
    // White space at the end makes them of one length in bytes.
    let text = |number| plain(number) + &" ".repeat(longest - plain(number).len());
    let write = |name: &str, number: u64| {
        let path = folder.join(name);
        fs::write(&path, text(number)).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        path
    };
    write("over.json", 2);
    write("renamed.json", 3);
    let cancel = CancellationToken::new();
    let watching = watch_by(&engine, &folder, &cancel, super::plain(&engine), |_| {});
    let acting = async {
        until("the first", || taken(&engine) == 2).await;
        write("over.json", 4);
        fs::rename(write(".renamed", 5), folder.join("renamed.json")).unwrap();
        until("those after them", || taken(&engine) == 4).await;
        cancel.cancel();
    };
    tokio::join!(watching, acting).0.unwrap();
}

/// Between the look that finds a file whole and the reading of it the laboratory's system writes
/// over it, or clears its folder: what stood there is lost, and people are told.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_over_or_leaves_just_before_it_is_read_is_told() {
    for is_written_over in [true, false] {
        let (_home, engine, folder) = ground().await;
        report(&folder, 1);
        let (file, look) = (folder.join("001.json"), plain(&engine));
        let is_first = AtomicBool::new(true);
        let inspect = |path: PathBuf| {
            if is_first.swap(false, Ordering::SeqCst) {
                fs::remove_file(&file).unwrap();
                if is_written_over {
                    // A longer one may have grown.
                    let text = testkit::DocumentBuilder::new(2).json();
                    let shorter: serde_json::Value = serde_json::from_str(&text).unwrap();
                    fs::write(&file, shorter.to_string()).unwrap();
                }
            }
            look(path)
        };
        let cancel = CancellationToken::new();
        let watching = watch_by(&engine, &folder, &cancel, inspect, |_| {});
        let acting = async {
            until("told", || notice(&engine, "watched-files-gone").is_some()).await;
            until("taken", || taken(&engine) == usize::from(is_written_over)).await;
            cancel.cancel();
        };
        tokio::join!(watching, acting).0.unwrap();
        assert_eq!(file_of(&notice(&engine, "watched-files-gone").unwrap()).0, "1");
    }
}

/// Some programs touch a file whenever it is read, and a link may lead nowhere: the one is taken in
/// and not told as gone, the other is named with the reason.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn what_is_touched_when_it_is_read_is_taken_and_a_dead_link_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_home, engine, folder) = ground().await;
    report(&folder, 1);
    let (file, look) = (folder.join("001.json"), plain(&engine));
    std::os::unix::fs::symlink(folder.join("nowhere"), folder.join("lost.json")).unwrap();
    let reads = AtomicUsize::new(0);
    let inspect = |path: PathBuf| {
        if path == file {
            let mode = 0o600 + 0o44 * (reads.fetch_add(1, Ordering::SeqCst) as u32 % 2);
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        }
        look(path)
    };
    let cancel = CancellationToken::new();
    let watching = watch_by(&engine, &folder, &cancel, inspect, |_| {});
    let acting = async {
        until("taken", || taken(&engine) == 1).await;
        until("named", || notice(&engine, "watched-files-refused").is_some()).await;
        cancel.cancel();
    };
    tokio::join!(watching, acting).0.unwrap();
    assert_eq!(file_of(&notice(&engine, "watched-files-refused").unwrap()), ("1", "lost.json"));
    assert!(notice(&engine, "watched-files-gone").is_none());
}
