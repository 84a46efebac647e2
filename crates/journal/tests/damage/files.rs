//! What may happen to the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{self, House, at, key, nowhere, other_key, raw, report};
use journal::{Base, Journal, OpenProblem, recover, restore};
use testkit::Figures;

use super::laboratory::{Laboratory, image, memory};

/// A small generator (splitmix64): the same places every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % n as u64).unwrap()
    }
}

/// `LABCOURIER_DAMAGE_CASES` makes it many more.
fn random_flips() -> usize {
    std::env::var("LABCOURIER_DAMAGE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

const PAGE: usize = 4_096;

#[test]
fn flipped_bytes() {
    let image = image();
    let mut figures = Figures::start("damage", "flipped_bytes");
    let mut dice = Dice(1);
    let mut places: Vec<(String, usize)> = Vec::new();
    for (name, each) in [("journal.db", 1), ("journal.db-wal", 8)] {
        let length = image.files[name].len();
        let pages = (0..length / PAGE).step_by(each);
        places.extend(pages.map(|page| (name.to_owned(), page * PAGE + dice.below(PAGE))));
        places.extend((0..100).step_by(7).map(|place| (name.to_owned(), place)));
        places.extend((0..random_flips() / 2).map(|_| (name.to_owned(), dice.below(length))));
    }
    let mut recovered = 0;
    for (name, place) in places {
        let mut laboratory = Laboratory::new(&image);
        let mut bytes = image.files[&name].clone();
        bytes[place] ^= 1 << dice.below(8);
        fs::write(laboratory.folder.path().join(&name), bytes).unwrap();
        let recovery = laboratory.go_through(&mut figures, &format!("{name} at {place}"));
        recovered += u64::from(recovery.is_some());
    }
    figures.measure("recoveries", recovered as f64);
    figures.finish();
}

#[test]
fn truncated_files() {
    let image = image();
    let mut figures = Figures::start("damage", "truncated_files");
    for name in ["journal.db", "journal.db-wal"] {
        let length = image.files[name].len();
        let unit = if name.ends_with("-wal") { PAGE + 24 } else { PAGE };
        let head = if name.ends_with("-wal") { 32 } else { 0 };
        let mut cuts: BTreeSet<usize> = [0, 1, 16, 99].into();
        let each = if name.ends_with("-wal") { 24 } else { 2 };
        for boundary in (head..=length).step_by(unit * each) {
            cuts.extend([boundary.saturating_sub(1), boundary, boundary + 1]);
        }
        for cut in cuts.into_iter().filter(|cut| *cut < length) {
            let mut laboratory = Laboratory::new(&image);
            fs::write(laboratory.folder.path().join(name), &image.files[name][..cut]).unwrap();
            laboratory.go_through(&mut figures, &format!("{name} cut at {cut}"));
        }
    }
    figures.finish();
}

#[test]
fn whole_files() {
    let image = image();
    let mut figures = Figures::start("damage", "whole_files");
    let mut case = |name: &str, spoil: &dyn Fn(&Laboratory<'_>), expected: Option<Base>| {
        let mut laboratory = Laboratory::new(&image);
        spoil(&laboratory);
        let recovery = laboratory.go_through(&mut figures, name);
        let kind = |base: &Base| std::mem::discriminant(base);
        assert_eq!(recovery.as_ref().map(|r| kind(&r.base)), expected.as_ref().map(kind), "{name}");
        recovery
    };
    let backup = || Some(Base::Backup(PathBuf::new()));
    let remains = || Some(Base::Remains);
    case("nothing happened", &|_| {}, None);
    case("log missing", &|lab| fs::remove_file(lab.beside("-wal")).unwrap(), backup());
    case(
        "log cut in half",
        &|lab| {
            let log = fs::File::options().write(true).open(lab.beside("-wal")).unwrap();
            log.set_len(log.metadata().unwrap().len() / 2).unwrap();
        },
        remains(),
    );
    case(
        "older copy",
        &|lab| {
            fs::write(lab.path(), &image.old).unwrap();
            fs::remove_file(lab.beside("-wal")).unwrap();
        },
        backup(),
    );
    case("empty file", &|lab| fs::write(lab.path(), "").unwrap(), backup());
    case(
        "missing file",
        &|lab| {
            fs::remove_file(lab.path()).unwrap();
            fs::remove_file(lab.beside("-wal")).unwrap();
        },
        backup(),
    );
    case("missing file, log left", &|lab| fs::remove_file(lab.path()).unwrap(), backup());
    case(
        "directory",
        &|lab| {
            fs::remove_file(lab.path()).unwrap();
            fs::create_dir(lab.path()).unwrap();
        },
        backup(),
    );
    case("junk", &|lab| fs::write(lab.path(), vec![0x5a; 100_000]).unwrap(), backup());
    case(
        "log of another journal",
        &|lab| {
            let other = memory();
            let path = other.path().join("journal.db");
            let journal = Journal::create(&path, &other_key()).unwrap();
            for n in 0..5 {
                journal.import(report(n)).unwrap();
            }
            fs::copy(other.path().join("journal.db-wal"), lab.beside("-wal")).unwrap();
        },
        backup(),
    );
    case(
        "register missing",
        &|lab| {
            fs::remove_file(lab.beside("-register")).unwrap();
            let _ = fs::remove_file(lab.beside("-register-wal"));
        },
        None,
    );
    case(
        "register damaged",
        &|lab| fs::write(lab.beside("-register"), vec![7; 9_000]).unwrap(),
        None,
    );
    let ruin = |lab: &Laboratory<'_>| {
        for backup in journal::list_backups(&lab.backups()).unwrap() {
            let path = backup.file;
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
            fs::write(path, bytes).unwrap();
        }
    };
    let nothing = case(
        "journal and backups damaged",
        &|lab| {
            ruin(lab);
            fs::write(lab.path(), "").unwrap();
            fs::remove_file(lab.beside("-wal")).unwrap();
        },
        Some(Base::Nothing),
    );
    assert_eq!(nothing.unwrap().facts.events, 0);
    let older = case(
        "newest backup damaged",
        &|lab| {
            let journal = Journal::open(&lab.path(), &key()).unwrap();
            let made = journal.back_up_into(&lab.backups(), at(60)).unwrap();
            journal.close();
            let mut bytes = fs::read(&made.file).unwrap();
            bytes[5_000] ^= 1;
            fs::write(&made.file, bytes).unwrap();
            fs::write(lab.path(), "").unwrap();
        },
        backup(),
    );
    let kept = journal::list_backups(&Laboratory::new(&image).backups()).unwrap();
    assert_eq!(older.unwrap().facts.events, kept[0].events, "the one before the newest");
    figures.finish();
}

/// What must not be touched: another key's journal, a newer one, and one that a process has open.
#[test]
fn what_is_not_damaged_is_left_alone() {
    let image = image();
    let mut figures = Figures::start("damage", "what_is_not_damaged_is_left_alone");
    let untouched =
        |laboratory: &Laboratory<'_>, before: &BTreeMap<String, Vec<u8>>, name: &str| {
            let after = laboratory.files();
            for (file, bytes) in before.iter().filter(|(file, _)| !file.contains("-register")) {
                assert!(after.get(file) == Some(bytes), "{name}: {file}");
            }
            let set_aside = after.keys().filter(|file| file.contains("set-aside")).count();
            assert_eq!(set_aside, 0, "{name}");
        };

    let laboratory = Laboratory::new(&image);
    let before = laboratory.files();
    let opened = Journal::open(&laboratory.path(), &other_key());
    assert!(matches!(opened, Err(OpenProblem::WrongKeyOrDamaged)));
    let made = recover(&laboratory.path(), &other_key(), &laboratory.backups(), &nowhere, at(100));
    assert!(matches!(made, Err(OpenProblem::WrongKeyOrDamaged)));
    untouched(&laboratory, &before, "wrong key");
    figures.cases(1);

    let laboratory = Laboratory::new(&image);
    Journal::open(&laboratory.path(), &key()).unwrap().close();
    common::raw(&laboratory.path()).execute_batch("PRAGMA user_version = 99").unwrap();
    let before = laboratory.files();
    let newer = |opened: Result<(), OpenProblem>| {
        assert!(matches!(opened, Err(OpenProblem::NewerSchema { found: 99, .. })));
    };
    newer(Journal::open(&laboratory.path(), &key()).map(drop));
    newer(recover(&laboratory.path(), &key(), &laboratory.backups(), &nowhere, at(100)).map(drop));
    untouched(&laboratory, &before, "newer schema");
    figures.cases(1);

    let laboratory = Laboratory::new(&image);
    let journal = Journal::open(&laboratory.path(), &key()).unwrap();
    let made = recover(&laboratory.path(), &key(), &laboratory.backups(), &nowhere, at(100));
    assert!(matches!(made, Err(OpenProblem::Busy)));
    let backup = journal::list_backups(&laboratory.backups()).unwrap().remove(0).file;
    assert!(matches!(
        restore(&backup, &key(), &laboratory.path(), &nowhere, at(100)),
        Err(OpenProblem::Busy)
    ));
    assert_eq!(journal.verify().unwrap().problems, []);
    figures.cases(1);
    figures.finish();
}

/// The computer refuses for a moment (no room for what SQLite needs beside the register): the
/// register stays as it is, and the journal opens once that has passed.
#[test]
fn a_register_that_cannot_be_opened_just_now_is_left_alone() {
    let house = House::new();
    let path = house.path();
    house.import(1);
    let folder = house.leave();
    let beside = |suffix: &str| folder.path().join(format!("journal.db-register{suffix}"));
    for log in ["-wal", "-shm"] {
        let _ = fs::remove_file(beside(log));
    }
    let before = fs::read(beside("")).unwrap();
    fs::create_dir(beside("-wal")).unwrap();
    let opened = Journal::open(&path, &key());
    assert!(matches!(opened, Err(OpenProblem::Io { .. })), "{:?}", opened.err());
    let recovered = recover(&path, &key(), &folder.path().join("backups"), &nowhere, at(100));
    assert!(matches!(recovered, Err(OpenProblem::Io { .. })), "{recovered:?}");
    assert!(fs::read(beside("")).unwrap() == before, "untouched");
    fs::remove_dir(beside("-wal")).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    assert!(!journal.lacked_register());
}

/// Without the register nothing shows what is missing: whoever opens the journal is told so, once.
#[test]
fn a_register_that_is_gone_is_missed() {
    let house = House::new();
    let path = house.path();
    assert!(!house.journal.lacked_register(), "a new journal has none to lack");
    house.import(1);
    let folder = house.leave();
    let lacked = || Journal::open(&path, &key()).unwrap().lacked_register();
    assert!(!lacked());
    let register = folder.path().join("journal.db-register");
    let damages: [fn(&Path); 3] = [
        |register| fs::remove_file(register).unwrap(),
        |register| fs::write(register, "").unwrap(),
        |register| fs::write(register, [7; 8192]).unwrap(),
    ];
    for (number, damage) in damages.iter().enumerate() {
        for log in ["-wal", "-shm"] {
            let _ = fs::remove_file(folder.path().join(format!("journal.db-register{log}")));
        }
        damage(&register);
        assert!(lacked(), "{number}");
        assert!(!lacked(), "{number}: made anew");
    }
}

/// A recovery sets the old journal aside and puts another in its place. Ended between the two, or
/// between the file and its log, the next one reads what was set aside: nothing that waited is
/// lost.
#[test]
fn a_recovery_that_was_ended_between_two_renames() {
    let image = image();
    let mut figures = Figures::start("damage", "a_recovery_that_was_ended_between_two_renames");
    for (moved, backups, empty) in
        [(&[""][..], true, false), (&["", "-wal"], true, false), (&["", "-wal"], false, true)]
    {
        let mut laboratory = Laboratory::new(&image);
        end_between(&laboratory, moved);
        if empty {
            // Where there are no hard links, the name is reserved first.
            fs::write(laboratory.path(), "").unwrap();
        }
        if !backups {
            fs::remove_dir_all(laboratory.backups()).unwrap();
        }
        let what = format!("{moved:?} were moved; {backups}, {empty}");
        let made = laboratory.go_through(&mut figures, &what).unwrap();
        let all = (Base::Remains, 15, 0, 0);
        assert_eq!((made.base, made.facts.submissions, made.salvaged, made.lost), all, "{what}");
        assert!(made.set_aside.is_some(), "{what}");
        for suffix in ["", "-wal"] {
            let kept = fs::read(laboratory.beside(&format!(".set-aside-60{suffix}"))).unwrap();
            assert!(kept == image.files[&format!("journal.db{suffix}")], "{what}{suffix}");
        }
    }
    figures.finish();
}

/// The same, and what was set aside is damaged, as it is after a recovery that people did not ask
/// for.
#[test]
fn a_damaged_journal_whose_recovery_was_ended_is_read() {
    let image = image();
    let mut figures =
        Figures::start("damage", "a_damaged_journal_whose_recovery_was_ended_is_read");
    let journal = &image.files["journal.db"];
    let (mut read, mut cases) = (0, 0);
    for page in (1..journal.len() / PAGE).step_by(3) {
        let mut laboratory = Laboratory::new(&image);
        let mut damaged = journal.clone();
        damaged[page * PAGE + 77] ^= 4;
        fs::write(laboratory.path(), &damaged).unwrap();
        fs::write(laboratory.beside("-wal"), "").unwrap();
        end_between(&laboratory, &["", "-wal"]);
        let what = format!("missing: ended with page {page} damaged");
        let made = laboratory.go_through(&mut figures, &what).unwrap();
        cases += 1;
        // Not where the page says whose journal it is.
        read += u64::from(made.set_aside.is_some());
        assert!(fs::read(laboratory.beside(".set-aside-60")).unwrap() == damaged, "{what}");
    }
    assert!(read + 2 >= cases, "{read} of {cases}");
    figures.finish();
}

/// As if a recovery had ended after moving these files; beside what one that came to its end has
/// set aside.
fn end_between(laboratory: &Laboratory<'_>, moved: &[&str]) {
    for suffix in moved {
        let aside = laboratory.beside(&format!(".set-aside-60{suffix}"));
        fs::rename(laboratory.beside(suffix), aside).unwrap();
    }
    fs::copy(laboratory.beside(".set-aside-60"), laboratory.beside(".set-aside-90")).unwrap();
    let other = raw(&laboratory.beside(".set-aside-90"));
    let lineage = "UPDATE setting SET value = json_set(value, '$.id', 'another')";
    // Where this page is damaged it is another's anyway.
    let _ = other.execute_batch(lineage);
}
