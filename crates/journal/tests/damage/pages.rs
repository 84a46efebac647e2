//! Backups of what has changed: what is in them, what they cost, and what is left where a part of
//! one is gone.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{House, at, key, nowhere, report};
use journal::{
    BackupFile, Base, Journal, JournalError, OpenProblem, list_backups, recover, restore,
};

const DAY: i64 = 86_400;

/// Puts a backup into a folder of its own, and gives the number of its events once all of it was
/// verified.
fn events_of(backup: &Path) -> Result<u64, OpenProblem> {
    let folder = super::laboratory::memory();
    let path = folder.path().join("journal.db");
    let restored = restore(backup, &key(), &path, &nowhere, at(0))?;
    let journal = Journal::open(&path, &key()).unwrap();
    assert_eq!(journal.verify().unwrap().problems, []);
    Ok(restored.facts.events)
}

fn assert_all_whole(folder: &Path) {
    for backup in list_backups(folder).unwrap() {
        assert_eq!(events_of(&backup.file).unwrap(), backup.events, "{}", backup.file.display());
    }
}

/// A backup a day, with some reports between two of them.
fn days(house: &House, days: std::ops::Range<i64>) -> PathBuf {
    let folder = house.folder.path().join("backups");
    for day in days {
        for n in 0..5 {
            let id = house.import(day * 5 + n);
            house.complete(id, &format!("r-{day}-{n}"));
        }
        house.journal.back_up_into(&folder, at(day * DAY)).unwrap();
    }
    folder
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).unwrap().len()
}

#[test]
fn only_what_has_changed_is_written_again() {
    let house = House::new();
    let folder = house.folder.path().join("backups");
    let imports: Vec<_> = (0..3_000).map(|n| house.journal.import_async(report(n))).collect();
    assert!(imports.into_iter().all(|pending| pending.wait().is_ok()));
    let base = house.journal.back_up_into(&folder, at(0)).unwrap();
    let id = house.import(3_000);
    house.complete(id, "r-1");
    let changed = house.journal.back_up_into(&folder, at(DAY)).unwrap();
    assert!(changed.facts.bytes * 10 < base.facts.bytes, "{changed:?} {base:?}");
    let idle = house.journal.back_up_into(&folder, at(2 * DAY)).unwrap();
    assert!(idle.facts.bytes * 50 < base.facts.bytes, "{idle:?} {base:?}");
    assert_eq!((base.facts.submissions, idle.facts.submissions), (3_000, 3_001));
    assert_all_whole(&folder);
    #[cfg(unix)]
    for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    println!(
        "{} bytes in all, {} for one report, {} for none",
        base.facts.bytes, changed.facts.bytes, idle.facts.bytes
    );
}

/// Two months: those that are kept can all be restored, the base is made anew, and all together
/// take no more than a few times the journal.
#[test]
fn whatever_is_kept_of_two_months_can_be_restored() {
    let house = House::new();
    let folder = days(&house, 0..62);
    let all = list_backups(&folder).unwrap();
    assert!((9..=16).contains(&all.len()), "{}", all.len());
    assert!(all.iter().all(|backup| backup.at >= at(27 * DAY)), "the first month is gone: {all:?}");
    assert_all_whole(&folder);
    let taken: u64 = all.iter().map(|backup| size(&backup.file)).sum();
    let journal = size(&house.path());
    assert!(taken < 8 * journal, "{taken} beside a journal of {journal}");
}

/// An increment was joined into the next one, and the process ended before it removed the older
/// one.
#[test]
fn what_was_ended_while_backups_were_joined_leaves_all_of_them_whole() {
    let house = House::new();
    let folder = days(&house, 0..10);
    let before: Vec<BackupFile> = list_backups(&folder).unwrap();
    let copies: Vec<_> = before.iter().map(|backup| fs::read(&backup.file).unwrap()).collect();
    days(&house, 10..13);
    for (backup, copy) in before.iter().zip(copies) {
        if !backup.file.exists() {
            fs::write(&backup.file, copy).unwrap();
        }
    }
    fs::write(folder.join("journal-20250101T000000Z-1.pages.x.part"), "half a draft").unwrap();
    assert_all_whole(&folder);
    days(&house, 13..14);
    assert_all_whole(&folder);
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().ends_with(".part")));
}

/// A part is gone or damaged: what needs it is refused and says so, the newest that is whole is
/// found, and the next backup builds on nothing.
#[test]
fn where_a_part_is_gone_the_next_backup_is_a_base() {
    let house = House::new();
    let folder = days(&house, 0..4);
    let [newest, second, first, base] = list_backups(&folder).unwrap().try_into().unwrap();
    fs::remove_file(&first.file).unwrap();
    for lacking in [&newest, &second] {
        let refused = events_of(&lacking.file);
        assert!(matches!(refused, Err(OpenProblem::Incomplete { .. })), "{refused:?}");
    }
    let next = house.journal.back_up_into(&folder, at(5 * DAY)).unwrap();
    assert!(next.facts.bytes > size(&house.path()), "all of it: {next:?}");
    assert_eq!(events_of(&next.file).unwrap(), house.journal.events().unwrap());
    fs::remove_file(&next.file).unwrap();
    let path = house.path();
    let _folder = house.leave();
    fs::write(&path, "").unwrap();
    let recovery = recover(&path, &key(), &folder, &nowhere, at(6 * DAY)).unwrap().unwrap();
    assert_eq!(recovery.base, Base::Backup(base.file));
}

/// Whichever byte of a part is another one, nothing is made of it; and the one before it is as good
/// as ever.
#[test]
fn a_damaged_part_is_never_taken_for_a_whole_one() {
    let house = House::new();
    let folder = days(&house, 0..2);
    let [newest, base] = list_backups(&folder).unwrap().try_into().unwrap();
    let whole = fs::read(&newest.file).unwrap();
    let mut bytes = whole.clone();
    for place in (0..whole.len()).step_by(whole.len() / 60).chain(whole.len() - 40..whole.len()) {
        bytes[place] ^= 1;
        fs::write(&newest.file, &bytes).unwrap();
        assert!(events_of(&newest.file).is_err(), "byte {place}");
        bytes[place] ^= 1;
    }
    for length in [0, 1, 15, 16, 40, whole.len() / 2, whole.len() - 1] {
        fs::write(&newest.file, &whole[..length]).unwrap();
        assert!(events_of(&newest.file).is_err(), "cut at {length}");
    }
    assert_eq!(events_of(&base.file).unwrap(), base.events);
    fs::write(&newest.file, &whole).unwrap();
    assert_eq!(events_of(&newest.file).unwrap(), newest.events);
    // A part that names a file elsewhere, or itself.
    for (from, to) in [("journal-2", "../../../"), (".pages", ".pagex")] {
        let at = whole.windows(from.len()).rposition(|bytes| bytes == from.as_bytes()).unwrap();
        let mut bytes = whole.clone();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        fs::write(&newest.file, &bytes).unwrap();
        assert!(events_of(&newest.file).is_err());
    }
}

/// A page of the journal is damaged after it was backed up, and before its next copy.
#[test]
fn a_damaged_page_gets_into_no_backup() {
    let house = House::new();
    let folder = days(&house, 0..2);
    let before = list_backups(&folder).unwrap();
    // Their logs are in the file after a backup: what is damaged there now is the newest of each
    // page.
    let mut bytes = fs::read(house.path()).unwrap();
    let last = bytes.len() - 2_000;
    bytes[last] ^= 1;
    let file = fs::File::options().write(true).open(house.path()).unwrap();
    std::io::Write::write_all(&mut &file, &bytes).unwrap();
    // Closing it would take the locks of this process off the journal.
    std::mem::forget(file);
    let refused = house.journal.back_up_into(&folder, at(2 * DAY));
    assert!(matches!(refused, Err(JournalError::Damaged)), "{refused:?}");
    assert_eq!(list_backups(&folder).unwrap(), before);
    assert_all_whole(&folder);
}

/// Reading the file beside SQLite must not take its lock off: another program would take the
/// journal for closed.
#[test]
#[cfg(target_os = "linux")]
fn a_backup_takes_no_lock_off_the_journal() {
    use std::os::unix::fs::MetadataExt as _;

    let house = House::new();
    let inode = fs::metadata(house.path()).unwrap().ino();
    // The system's list of all locks may leave some out where other processes take and leave theirs
    // meanwhile; what a descriptor says of its own does not (proc_pid_fdinfo(5)).
    let locks = || {
        let descriptors = fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap());
        let of_the_journal = descriptors
            .filter(|entry| fs::metadata(entry.path()).is_ok_and(|found| found.ino() == inode));
        let told =
            of_the_journal.map(|entry| Path::new("/proc/self/fdinfo").join(entry.file_name()));
        told.map(|file| {
            fs::read_to_string(file)
                .unwrap()
                .lines()
                .filter(|line| line.starts_with("lock:"))
                .count()
        })
        .sum::<usize>()
    };
    house.import(1);
    let before = locks();
    assert!(before > 0);
    days(&house, 0..2);
    assert!(locks() >= before);
}

/// Who reads an older state for long, or makes a backup at the same time, is not waited for for
/// ever.
#[test]
fn two_backups_at_once_and_a_long_look_are_told_apart_from_damage() {
    let house = House::new();
    let folder = days(&house, 0..1);
    let reader = house.sql();
    reader.execute_batch("BEGIN; SELECT count(*) FROM submission").unwrap();
    house.import(100);
    let busy = house.journal.back_up_into(&folder, at(DAY));
    assert!(matches!(busy, Err(JournalError::Busy)), "{busy:?}");
    reader.execute_batch("COMMIT").unwrap();
    let lock = fs::File::options().append(true).open(folder.join(".lock")).unwrap();
    lock.lock().unwrap();
    let busy = house.journal.back_up_into(&folder, at(DAY));
    assert!(matches!(busy, Err(JournalError::Busy)), "{busy:?}");
    drop(lock);
    house.journal.back_up_into(&folder, at(DAY)).unwrap();
    assert_all_whole(&folder);
}

/// Checks of the whole journal by one program, with reports between them.
#[test]
fn a_check_is_right_again_and_again() {
    let house = House::new();
    for n in 0..60 {
        let id = house.import(n);
        house.complete(id, &format!("r-{n}"));
        if n % 3 == 0 {
            assert_eq!(house.journal.verify().unwrap().problems, [], "after {n}");
        }
    }
}

/// The second place was away for some days; it gets what it lacks, keeps what it had, and is as
/// good as the first.
#[test]
fn a_second_place_gets_what_it_lacks_and_serves_a_recovery() {
    let house = House::new();
    let folder = days(&house, 0..3);
    let place = super::laboratory::memory();
    let now = at(50 * 86_400);
    let away = journal::copy_backups(&folder, &place.path().join("unplugged"), now);
    assert!(matches!(away, Err(JournalError::Io { .. })), "{away:?}");
    assert_eq!(journal::copy_backups(&folder, place.path(), now).unwrap(), 3);
    assert_eq!(journal::copy_backups(&folder, place.path(), now).unwrap(), 0);
    days(&house, 3..45);
    assert!(journal::lacking_backups(&folder, place.path()).unwrap().len() > 8);
    journal::copy_backups(&folder, place.path(), now).unwrap();
    assert_eq!(journal::lacking_backups(&folder, place.path()).unwrap(), []);
    assert!((list(&folder)..=list(&folder) + 3).contains(&list(place.path())));
    assert_all_whole(place.path());
    let newest = list_backups(&folder).unwrap().remove(0);
    fs::remove_dir_all(&folder).unwrap();
    let path = house.path();
    let _folder = house.leave();
    fs::write(&path, "").unwrap();
    let places = [folder.as_path(), place.path()];
    let recovery =
        journal::recover_from(&path, &key(), &places, &nowhere, at(46 * DAY)).unwrap().unwrap();
    assert_eq!(recovery.facts.events, newest.events);
    let Base::Backup(file) = recovery.base else { panic!() };
    assert!(file.starts_with(place.path()));
}

fn list(folder: &Path) -> usize {
    list_backups(folder).unwrap().len()
}
