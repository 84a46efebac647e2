//! Files as they come: the same one again, one that is still being written or vanishes, and what is
//! no report at all. In-process, over the same functions as the headless program, so that time can
//! be measured.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bridge::StateCode;
use bridge::headless::{Arrival, Fate, Headless, Looked};
use tempfile::TempDir;
use testkit::{DocumentBuilder, Figures};
use tokio_util::sync::CancellationToken;

/// A wrong file is refused within this time (docs/reliability.md, table of faults).
const REFUSED_WITHIN: Duration = Duration::from_millis(5);

/// A profile whose queue nobody works: what is taken in stays.
async fn profile() -> (TempDir, Headless) {
    let folder = tempfile::tempdir().unwrap();
    let profile = Headless::practice(&folder.path().join("profile")).await.unwrap();
    (folder, profile)
}

fn write(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let file = folder.path().join(name);
    fs::write(&file, content).unwrap();
    file
}

/// Code and kind of the first message.
fn reason(looked: &Looked) -> (String, String) {
    let issue = looked.record.issues.first();
    let kind = issue.and_then(|issue| issue.params.get("kind").cloned());
    (issue.map(|issue| issue.code.clone()).unwrap_or_default(), kind.unwrap_or_default())
}

/// Path, and the code and kind that name what it is.
type Wrong = (PathBuf, &'static str, &'static str);

fn wrong_files(folder: &TempDir) -> Vec<Wrong> {
    let huge = |name: &str, head: &[u8], bytes: u64| {
        let path = write(folder, name, head);
        // Without content on the disk: its length is what counts.
        File::options().write(true).open(&path).unwrap().set_len(bytes).unwrap();
        path
    };
    let hollow = folder.path().join("hollow");
    fs::create_dir(&hollow).unwrap();
    let not = "not-a-report";
    let mut all = vec![
        (huge("huge.json", b"{\"resourceType\":\"Bundle\"", 500 << 20), "file-too-large", ""),
        (huge("huge.zip", b"PK\x03\x04", 501_000_000), "file-too-large", ""),
        (write(folder, "empty.json", ""), "file-empty", ""),
        (hollow, "nothing-inside", ""),
        (folder.path().join("gone.json"), "file-not-found", ""),
        (write(folder, "a.pdf", b"%PDF-1.7\n1 0 obj"), not, "pdf"),
        (write(folder, "a.zip", b"PK\x03\x04 no archive"), "archive", ""),
        (write(folder, "a.hl7", b"MSH|^~\\&|LAB|X|BAG|Y|2026||ORU^R01|1|P|2.5\r"), not, "hl7v2"),
        (write(folder, "a.csv", b"name;date;code\nA;2026;1\n"), not, "csv"),
        (write(folder, "a.png", b"\x89PNG\r\n\x1A\n\0\0"), not, "image"),
    ];
    #[cfg(unix)]
    {
        let (pipe, turn) = (folder.path().join("pipe"), folder.path().join("turn"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink(&turn, &turn).unwrap();
        all.push((pipe, "not-a-file", ""));
        all.push((turn, "file-not-readable", ""));
        for device in ["/dev/zero", "/dev/null"] {
            all.push((PathBuf::from(device), "not-a-file", ""));
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_files_are_named_at_once() {
    let mut figures = Figures::start("wrong-file", "wrong_files_are_named_at_once");
    let (folder, profile) = profile().await;
    let mut slowest = Duration::ZERO;
    for (path, code, kind) in wrong_files(&folder) {
        let paths = [path.clone()];
        let mut best = Duration::MAX;
        // The best of several: what counts is the work, not what else this machine does meanwhile.
        for _ in 0..7 {
            let begun = Instant::now();
            let looked = profile.check(&paths).await.unwrap();
            best = best.min(begun.elapsed());
            assert_eq!(looked.len(), 1, "{}", path.display());
            assert_eq!(looked[0].fate, Fate::Refused, "{}", path.display());
            assert_eq!(
                reason(&looked[0]),
                (code.to_owned(), kind.to_owned()),
                "{}",
                path.display()
            );
        }
        assert!(best < REFUSED_WITHIN, "{}: {best:?}", path.display());
        slowest = slowest.max(best);
        // Taking it in is no other than looking at it.
        let taken = profile.take(&paths, false).await.unwrap().files;
        assert_eq!(taken[0].fate, Fate::Refused, "{}", path.display());
        figures.cases(1);
    }
    figures.measure("milliseconds", slowest.as_secs_f64() * 1000.0);
    figures.finish();
    profile.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_comes_twice_in_silence() {
    let mut figures = Figures::start("same-file", "nothing_comes_twice_in_silence");
    let (folder, profile) = profile().await;
    let document = DocumentBuilder::new(71);
    let (first, other) = (
        write(&folder, "first.json", document.json()),
        write(&folder, "other name.json", document.json()),
    );
    let again = |file: &Path| [file.to_owned()];
    // The same content under two names in one order: one submission.
    let both = profile.take(&[first.clone(), other.clone()], false).await.unwrap().files;
    let Fate::Taken(id) = both[0].fate else { panic!("{:?}", both[0].fate) };
    assert_eq!(both[1].fate, Fate::Known(id));
    for file in [&first, &other] {
        let looked = profile.check(&again(file)).await.unwrap();
        let known = looked[0].standing.as_ref().map(|known| (known.state, known.open));
        assert_eq!((looked[0].fate, known), (Fate::Known(id), Some((StateCode::Queued, true))));
        let taken = profile.take(&again(file), false).await.unwrap().files;
        assert_eq!(taken[0].fate, Fate::Known(id));
        assert_eq!(taken[0].record.id, Some(id), "the known one is shown");
        figures.cases(2);
    }
    // The same identifier, other content: said, with the submission that has it.
    let changed = document.clone().family("Other");
    let changed = write(&folder, "changed.json", changed.json());
    let looked = profile.check(&again(&changed)).await.unwrap();
    let taken = profile.take(&again(&changed), false).await.unwrap().files;
    for answer in [&looked[0], &taken[0]] {
        let said = answer.record.issues.iter();
        let said = said.filter(|issue| issue.code == "same-identifier-other-content");
        let said: Vec<_> = said.collect();
        assert_eq!(said.len(), 1, "{:?}", answer.fate);
        assert_eq!(said[0].params.get("identifier").unwrap(), document.identifier_value());
        figures.cases(1);
    }
    // The other encoding of the same report is the same content.
    let encoded = write(&folder, "encoded.xml", document.xml());
    let looked = profile.check(&again(&encoded)).await.unwrap();
    let taken = profile.take(&again(&encoded), false).await.unwrap().files;
    assert_eq!([looked[0].fate, taken[0].fate], [Fate::Known(id); 2]);
    figures.cases(2);
    figures.finish();
    profile.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unstable_files_are_waited_for() {
    let mut figures = Figures::start("unstable-file", "unstable_files_are_waited_for");
    let (folder, profile) = profile().await;
    let inbox = folder.path().join("inbox");
    fs::create_dir(&inbox).unwrap();
    let text = DocumentBuilder::new(72).json();
    let (growing, vanishing) = (inbox.join("growing.json"), inbox.join("vanishing.json"));
    let complete = AtomicBool::new(false);
    let arrived = Mutex::new(Vec::new());
    let stop = CancellationToken::new();
    fs::write(&vanishing, &text[..text.len() / 2]).unwrap();
    let watching = profile.watch(inbox.clone(), stop.clone(), |arrival| {
        let Arrival::File(looked) = arrival else { panic!("{arrival:?}") };
        assert!(complete.load(Ordering::SeqCst), "taken before it was complete");
        arrived.lock().unwrap().push(*looked);
        stop.cancel();
    });
    let writing = async {
        let mut file = File::create(&growing).unwrap();
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(text.len().div_ceil(40)).collect();
        for (number, piece) in pieces.iter().enumerate() {
            if number + 1 == pieces.len() {
                complete.store(true, Ordering::SeqCst);
            }
            file.write_all(piece).unwrap();
            // Removed before it has stood still; nobody is told of it.
            if number == 2 {
                fs::remove_file(&vanishing).unwrap();
            }
            // A slow writer: longer than two looks in all, never still between two of them.
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
    };
    let (watched, ()) = tokio::join!(watching, writing);
    watched.unwrap();
    let arrived = arrived.into_inner().unwrap();
    assert_eq!(arrived.len(), 1, "only what stood still");
    assert!(matches!(arrived[0].fate, Fate::Taken(_)));
    let same = profile.check(&[write(&folder, "whole.json", &text)]).await.unwrap();
    assert_eq!(arrived[0].record.digest, same[0].record.digest, "byte for byte");
    figures.cases(2);
    figures.cases(read_while_written(&folder, &profile).await);
    figures.finish();
    profile.close().await;
}

/// Handed over while somebody writes to it without a pause: said, and never taken.
async fn read_while_written(folder: &TempDir, profile: &Headless) -> u64 {
    let path = write(folder, "written.json", DocumentBuilder::new(73).json());
    let done = AtomicBool::new(false);
    let (mut tries, mut changing) = (0, 0);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut file = File::options().append(true).open(&path).unwrap();
            let length = file.metadata().unwrap().len();
            // Cut again and again, so that it goes on for minutes where the looks are slow, and yet
            // neither fills the disk nor takes longer to read each time.
            for _ in 0..50_000 {
                if done.load(Ordering::SeqCst) {
                    break;
                }
                for _ in 0..10_000 {
                    file.write_all(b" ").unwrap();
                }
                file.set_len(length).unwrap();
            }
        });
        let handle = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            while changing < 3 && tries < 500 {
                let looked = handle.block_on(profile.check(std::slice::from_ref(&path))).unwrap();
                tries += 1;
                if reason(&looked[0]).0 == "file-changing" {
                    assert_eq!(looked[0].fate, Fate::Refused);
                    changing += 1;
                }
            }
        });
        done.store(true, Ordering::SeqCst);
        writing.join().unwrap();
    });
    assert!(changing > 0, "never seen changing in {tries} tries");
    tries
}
