//! A real process that writes and is killed: whatever it was told is on disk, nothing is half
//! there.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{anna, answer, at, digest, key, report, step};
use journal::{Journal, NewSubmission};
use report::{Event, SubmissionId};
use tempfile::TempDir;

/// Where the process that is going to be killed finds its journal.
const PLACE: &str = "JOURNAL_KILL_TEST";
const KILLS: i64 = 12;
/// Processes begin where the one before may have ended.
const STRIDE: i64 = 100_000;

/// Not a test of its own: the process that writes until it is killed. Prints `ok ID CODE` for every
/// step that the journal has confirmed.
#[test]
fn victim() {
    let Some(path) = std::env::var_os(PLACE) else { return };
    let journal = Journal::open(&PathBuf::from(path), &key()).unwrap();
    let base = i64::from(std::process::id()) * STRIDE;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let journal = &journal;
            scope.spawn(move || {
                for n in 0..STRIDE / 4 {
                    let id = journal.import(bulky(base + 4 * n + thread)).unwrap();
                    confirm(id, "queued");
                    journal.record(step(id, Event::SendingStarted { since: at(1) })).unwrap();
                    confirm(id, "sending");
                    let receipt = format!("r-{}", id.0);
                    let mut last = step(id, Event::Completed { receipt });
                    last.evidence = Some(answer("proof"));
                    journal.record(last).unwrap();
                    confirm(id, "completed");
                }
            });
        }
    });
}

/// 20 kB that cannot be compressed, so that a file is soon full.
fn bulky(n: i64) -> NewSubmission {
    let mut seed = n.unsigned_abs();
    let random = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 56) as u8
    });
    let document: Vec<u8> = random.take(20_000).collect();
    NewSubmission { digest: digest(&document), document, ..report(n) }
}

fn confirm(id: SubmissionId, code: &str) {
    // Past the test harness, which would keep it back until the end; in one write, so that it comes
    // whole or not at all.
    let line = format!("ok {} {code}\n", id.0);
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

#[test]
fn what_was_confirmed_survives_kills() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("journal.db");
    Journal::create(&path, &key()).unwrap().close();
    let mut confirmed = 0;
    for round in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "victim", "--nocapture"])
            .env(PLACE, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        // Killed after more and more steps; what it still managed to say counts as well.
        let mut told: Vec<String> = lines.by_ref().take(5 + 17 * round as usize).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        told.extend(lines);

        confirmed += assert_kept(&path, &told);
    }
    println!("{KILLS} kills, {confirmed} confirmed steps, 0 lost");
    assert!(confirmed > KILLS);
}

/// Everything that was confirmed is there, and the journal agrees with itself. Gives the number of
/// confirmed steps.
fn assert_kept(path: &Path, told: &[String]) -> i64 {
    let journal = Journal::open(path, &key()).unwrap();
    let mut confirmed = 0;
    for line in told.iter().filter(|line| line.starts_with("ok ")) {
        let mut words = line.split(' ').skip(1);
        // The last line may be cut by the kill.
        let (Some(id), Some(code)) = (words.next(), words.next()) else { continue };
        let id = SubmissionId(id.parse().unwrap());
        let passed = |entry: &journal::Entry| match code {
            "queued" => matches!(entry.event, Event::Queued { .. }),
            "sending" => matches!(entry.event, Event::SendingStarted { .. }),
            "completed" => matches!(entry.event, Event::Completed { .. }),
            _ => true,
        };
        let detail = journal.detail(id).unwrap();
        assert!(detail.timeline.iter().any(passed), "lost: {line}");
        assert_eq!(digest(&journal.document(id).unwrap()), detail.row.digest);
        confirmed += 1;
    }
    journal.recover(at(9), &anna(), None).unwrap();
    assert_eq!(journal.verify().unwrap().problems, []);
    confirmed
}

/// Writes fail from some size of file on, as on a full disk: in the log, in the journal itself
/// while the log is brought in, at the very first step.
#[cfg(unix)]
#[test]
fn what_was_confirmed_survives_writes_that_fail() {
    let mut confirmed = 0;
    for kilobytes in [1, 64, 150, 200, 333, 500, 1_000, 2_500, 17_000] {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("journal.db");
        Journal::create(&path, &key()).unwrap().close();
        // The signal is ignored, so that the write fails instead.
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", kilobytes * 2);
        let output = Command::new("sh")
            .args(["-c", &script])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "victim", "--nocapture"])
            .env(PLACE, &path)
            .output()
            .unwrap();
        assert!(!output.status.success(), "the disk did not fill at {kilobytes} kB");
        let told: Vec<String> =
            String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect();
        confirmed += assert_kept(&path, &told);
    }
    println!("9 full disks, {confirmed} confirmed steps, 0 lost");
    assert!(confirmed > 100);
}
