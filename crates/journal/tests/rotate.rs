//! Another key for a journal, and what happens where that is ended in between.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::{Path, PathBuf};

use common::{House, at, key, nowhere, other_key};
use journal::{Journal, OpenProblem, list_backups, rotate};

/// A journal with a register, two backups and one that was set aside.
fn laboratory() -> (tempfile::TempDir, PathBuf) {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    for n in 1..=20 {
        let id = house.import(n);
        house.complete(id, &format!("r-{n}"));
        if n % 10 == 0 {
            house.journal.back_up_into(&backups, at(n * 100_000)).unwrap();
        }
    }
    let aside = house.folder.path().join("journal.db.set-aside-5");
    house.journal.backup(&aside).unwrap();
    let path = house.path();
    (house.leave(), path)
}

/// Every database of the folder, in the order in which they are sealed anew: the journal last.
/// Backups of pages are none, until they have a new key.
fn files(folder: &Path) -> Vec<PathBuf> {
    let backups = list_backups(&folder.join("backups")).unwrap().into_iter().map(|it| it.file);
    let mut all: Vec<PathBuf> = backups.filter(|file| file.extension().unwrap() == "db").collect();
    all.push(folder.join("journal.db-register"));
    all.push(folder.join("journal.db.set-aside-5"));
    all.push(folder.join("journal.db"));
    all
}

fn copy(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    std::fs::create_dir(to.path().join("backups")).unwrap();
    for folder in [PathBuf::new(), PathBuf::from("backups")] {
        for entry in std::fs::read_dir(from.join(&folder)).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                let name = entry.file_name();
                std::fs::copy(entry.path(), to.path().join(&folder).join(name)).unwrap();
            }
        }
    }
    to
}

/// The new key opens everything, the old one nothing, and nothing is missing.
fn assert_sealed(folder: &Path) {
    let path = folder.join("journal.db");
    assert!(matches!(Journal::open(&path, &key()), Err(OpenProblem::WrongKeyOrDamaged)));
    let journal = Journal::open(&path, &other_key()).unwrap();
    assert!(!journal.lacked_register(), "the register opens with the new key");
    let found = journal.verify().unwrap();
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    assert_eq!(found.submissions, 20);
    drop(journal);
    assert_eq!(files(folder).len(), 5);
    assert_eq!(list_backups(&folder.join("backups")).unwrap().len(), 2, "no pages are left");
    for file in files(folder) {
        assert!(common::raw_opens(&file, &other_key_bytes()), "{}", file.display());
        assert!(!common::raw_opens(&file, &common::KEY), "{}", file.display());
    }
    let drafts = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let drafts: Vec<_> = drafts.filter(|name| name.to_string_lossy().contains("part")).collect();
    assert!(drafts.is_empty(), "{drafts:?}");
}

const fn other_key_bytes() -> [u8; 32] {
    [8; 32]
}

#[test]
fn everything_is_sealed_with_the_new_key_whenever_it_was_ended() {
    let (folder, path) = laboratory();
    let before = copy(folder.path());
    let done =
        rotate(&path, &key(), &other_key(), &folder.path().join("backups"), &nowhere).unwrap();
    assert_eq!((done.files, done.left), (5, vec![]));
    assert_sealed(folder.path());

    // Ended after any number of files, in the middle of a draft.
    let all = files(folder.path());
    for ended in 0..=all.len() {
        let half = copy(before.path());
        for file in &all[..ended] {
            let name = file.strip_prefix(folder.path()).unwrap();
            for suffix in ["-wal", "-shm"] {
                let _ =
                    std::fs::remove_file(half.path().join(format!("{}{suffix}", name.display())));
            }
            std::fs::copy(file, half.path().join(name)).unwrap();
        }
        std::fs::write(half.path().join("journal.db.draft.part"), b"half").unwrap();
        let path = half.path().join("journal.db");
        rotate(&path, &key(), &other_key(), &half.path().join("backups"), &nowhere).unwrap();
        assert_sealed(half.path());
    }
}

#[test]
fn a_key_that_does_not_fit_and_a_journal_in_use_change_nothing() {
    let (folder, path) = laboratory();
    let backups = folder.path().join("backups");
    let stranger = journal::Key::new(zeroize::Zeroizing::new([9; 32]));
    let refused = rotate(&path, &stranger, &other_key(), &backups, &nowhere);
    assert!(matches!(refused, Err(OpenProblem::WrongKeyOrDamaged)), "{refused:?}");
    let open = Journal::open(&path, &key()).unwrap();
    let refused = rotate(&path, &key(), &other_key(), &backups, &nowhere);
    assert!(matches!(refused, Err(OpenProblem::Busy)), "{refused:?}");
    assert!(open.verify().unwrap().problems.is_empty());
    for file in files(folder.path()) {
        assert!(common::raw_opens(&file, &common::KEY), "{}", file.display());
    }
}

/// What no key opens stays for whoever can still read something of it, and is named.
#[test]
fn a_damaged_backup_is_left_and_named() {
    let (folder, path) = laboratory();
    let backups = folder.path().join("backups");
    let damaged = list_backups(&backups).unwrap()[0].file.clone();
    std::fs::write(&damaged, vec![7; 8_192]).unwrap();
    let done = rotate(&path, &key(), &other_key(), &backups, &nowhere).unwrap();
    assert_eq!(done.left, std::slice::from_ref(&damaged));
    assert_eq!(std::fs::read(&damaged).unwrap(), vec![7; 8_192]);
    Journal::open(&path, &other_key()).unwrap();
}

/// Leaves a file as a process does that is ended while it writes: half written, with what it takes
/// to undo that.
fn interrupt(file: &Path) {
    let beside = |suffix: &str| file.with_file_name(format!("{}{suffix}", name(file)));
    let connection = common::raw(file);
    connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE; CREATE TABLE half_written (n INTEGER)").unwrap();
    connection.cache_flush().unwrap();
    let (written, undo) =
        (std::fs::read(file).unwrap(), std::fs::read(beside("-journal")).unwrap());
    drop(connection);
    std::fs::write(file, written).unwrap();
    std::fs::write(beside("-journal"), undo).unwrap();
}

fn name(file: &Path) -> String {
    file.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn what_was_interrupted_while_it_was_written_gets_the_new_key_too() {
    let (folder, path) = laboratory();
    files(folder.path()).iter().for_each(|file| interrupt(file));
    let done =
        rotate(&path, &key(), &other_key(), &folder.path().join("backups"), &nowhere).unwrap();
    assert_eq!((done.files, done.left), (5, vec![]));
    assert_sealed(folder.path());
}

/// The number of a file, as the program asks for it.
#[cfg(unix)]
fn numbered(file: &Path) -> Option<journal::Home> {
    use std::os::unix::fs::MetadataExt as _;
    let file = std::fs::metadata(file).ok()?.ino().to_string();
    Some(journal::Home { computer: Some("here".to_owned()), file: Some(file) })
}

/// The key is exchanged and a backup restored, without an opening in between: nobody has copied
/// anything.
#[cfg(unix)]
#[test]
fn a_restore_straight_after_an_exchange_of_the_key_is_no_copy() {
    let mut ends = Vec::new();
    for opened in [true, false] {
        let (folder, path) = laboratory();
        let settle = |key: &journal::Key| {
            let journal = Journal::open(&path, key).unwrap();
            let by = report::Person("test".to_owned());
            let copied = journal.settle_on(&numbered, &by, at(5_000_000)).unwrap();
            journal.close();
            copied
        };
        assert_eq!(settle(&key()), None);
        let backups = folder.path().join("backups");
        rotate(&path, &key(), &other_key(), &backups, &numbered).unwrap();
        if opened {
            assert_eq!(settle(&other_key()), None);
        }
        let backup = list_backups(&backups).unwrap()[0].file.clone();
        let restored = |now| journal::restore(&backup, &other_key(), &path, &numbered, at(now));
        ends.push((
            opened,
            restored(6_000_000).unwrap().copied,
            restored(7_000_000).unwrap().copied,
        ));
    }
    assert!(ends.iter().all(|it| !it.1 && !it.2), "opened between, copied, copied next: {ends:?}");
}
