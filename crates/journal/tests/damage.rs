//! Every kind of damage, followed by what a laboratory does then: open, recover, compare with the authority,
//! work on, hand the files over again. Nothing is lost unseen, nothing is sent twice, nothing is shown as
//! completed that is not, and the damaged files are still there.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use common::{anna, answer, at, filter, key, other_key, report, step};
use journal::{
    Base, FoundReport, Imported, Journal, OpenProblem, Reconciled, Recovery, recover, restore,
};
use report::{Event, Person, State, SubmissionId};
use tempfile::TempDir;
use testkit::Figures;

/// The authority, as far as it matters: what was delivered under which identifier.
#[derive(Clone, Default)]
struct Authority {
    stored: BTreeMap<String, Stored>,
    posts: BTreeMap<String, u32>,
}

#[derive(Clone)]
struct Stored {
    receipt: String,
    digest: String,
    failed: bool,
}

impl Authority {
    fn post(&mut self, identifier: &str, digest: &str, failed: bool) -> String {
        *self.posts.entry(identifier.to_owned()).or_default() += 1;
        let receipt = format!("r-{}", self.stored.len());
        let stored = Stored { receipt: receipt.clone(), digest: digest.to_owned(), failed };
        self.stored.entry(identifier.to_owned()).or_insert(stored).receipt.clone()
    }

    fn event(&self, identifier: &str) -> Option<Event> {
        let stored = self.stored.get(identifier)?;
        let receipt = stored.receipt.clone();
        Some(if stored.failed { Event::Failed { receipt } } else { Event::Completed { receipt } })
    }
}

/// A laboratory's folder as a kill leaves it, and what is true.
struct Image {
    files: BTreeMap<String, Vec<u8>>,
    /// The journal's file as it was when the backup was made.
    old: Vec<u8>,
    authority: Authority,
    /// Identifiers and digests of everything that was confirmed.
    taken: Vec<(String, String)>,
    completed: BTreeSet<String>,
}

/// In memory where there is such a folder: what is tested here is content, not the disk.
fn memory() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

fn person() -> Person {
    anna()
}

fn record(journal: &Journal, id: SubmissionId, event: Event) {
    let mut step = step(id, event);
    if matches!(step.event, Event::Completed { .. } | Event::Failed { .. } | Event::Rejected) {
        step.evidence = Some(answer("<DocumentReference/>"));
    }
    journal.record(step).unwrap();
}

/// Sends as the worker does; `answered`: how far the answers got.
fn send(journal: &Journal, authority: &mut Authority, id: SubmissionId, answered: &[&str]) {
    let row = journal.row(id).unwrap();
    record(journal, id, Event::SendingStarted { since: at(1) });
    let failed = answered.contains(&"failed");
    let receipt = authority.post(&row.identifier, &row.digest, failed);
    for answer in answered {
        record(
            journal,
            id,
            match *answer {
                "accepted" => common::accepted(&receipt),
                "failed" => Event::Failed { receipt: receipt.clone() },
                _ => Event::Completed { receipt: receipt.clone() },
            },
        );
    }
}

/// Reports in every state, a backup, and more reports and steps after it.
fn image() -> Image {
    let folder = memory();
    let path = folder.path().join("journal.db");
    let journal = Journal::create(&path, &key()).unwrap();
    let mut authority = Authority::default();
    let import = |n: i64| journal.import(report(n)).unwrap();
    let hold = |id| record(&journal, id, Event::HeldBack);
    let ids: Vec<SubmissionId> = (0..9).map(import).collect();
    send(&journal, &mut authority, ids[0], &["accepted", "completed"]);
    send(&journal, &mut authority, ids[1], &["accepted"]);
    hold(ids[4]);
    send(&journal, &mut authority, ids[5], &[]);
    record(&journal, ids[6], Event::SendingStarted { since: at(1) });
    record(&journal, ids[6], Event::Doubted { since: at(1), due: at(1), why: "cut".to_owned() });
    record(&journal, ids[7], Event::SendingStarted { since: at(1) });
    record(&journal, ids[7], Event::Rejected);
    hold(ids[8]);

    journal.back_up_into(&folder.path().join("backups"), at(50)).unwrap();
    journal.close();
    let old = fs::read(&path).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    let import = |n: i64| journal.import(report(n)).unwrap();

    record(&journal, ids[1], authority.event(&journal.row(ids[1]).unwrap().identifier).unwrap());
    send(&journal, &mut authority, ids[2], &["accepted", "completed"]);
    record(&journal, ids[4], Event::Released { reason: "ok".to_owned(), due: at(1) });
    send(&journal, &mut authority, ids[4], &["accepted"]);
    record(&journal, ids[5], common::accepted(&authority.stored.values().last().unwrap().receipt));
    record(&journal, ids[6], Event::NotReceived { due: at(1) });
    send(&journal, &mut authority, ids[6], &["accepted", "completed"]);
    let later: Vec<SubmissionId> = (9..14).map(import).collect();
    send(&journal, &mut authority, later[0], &["accepted", "completed"]);
    send(&journal, &mut authority, later[2], &[]);
    record(&journal, later[3], Event::HeldBack);
    send(&journal, &mut authority, later[4], &["accepted", "failed"]);
    let mut again = report(13);
    again.identifier = "urn:uuid:again".to_owned();
    again.corrects = Some(later[4]);
    journal.import(again).unwrap();

    let rows = journal.list(&filter()).unwrap();
    let taken = rows.iter().map(|row| (row.identifier.clone(), row.digest.clone())).collect();
    let done = rows.iter().filter(|row| matches!(row.state, State::Completed { .. }));
    let completed = done.map(|row| row.identifier.clone()).collect();
    // Half of it in the file, half in the log.
    assert!(folder.path().join("journal.db-wal").metadata().unwrap().len() > 0);
    let mut files = BTreeMap::new();
    collect(folder.path(), folder.path(), &mut files);
    Image { files, old, authority, taken, completed }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if !path.to_string_lossy().ends_with("-shm") {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// A laboratory after something happened to its files.
struct Laboratory<'a> {
    image: &'a Image,
    folder: TempDir,
    authority: Authority,
}

impl<'a> Laboratory<'a> {
    fn new(image: &'a Image) -> Self {
        let folder = memory();
        fs::create_dir(folder.path().join("backups")).unwrap();
        for (name, bytes) in &image.files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        Self { image, folder, authority: image.authority.clone() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journal.db")
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        self.folder.path().join(format!("journal.db{suffix}"))
    }

    fn backups(&self) -> PathBuf {
        self.folder.path().join("backups")
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.folder.path(), self.folder.path(), &mut files);
        files
    }

    /// Opens as the engine does: what does not open is recovered. Damage inside shows when it is met, and
    /// then at the next opening.
    fn open(&self, now: i64) -> (Journal, Option<Recovery>) {
        let mut recovery = None;
        for turn in 0..4 {
            match Journal::open(&self.path(), &key()) {
                Ok(journal) => {
                    let sound = journal.verify().is_ok_and(|found| found.problems.is_empty());
                    if sound {
                        return (journal, recovery);
                    }
                    journal.close();
                }
                Err(_) => {
                    let before = self.files();
                    let made = recover(&self.path(), &key(), &self.backups(), at(now + turn));
                    let made = made.unwrap().unwrap();
                    self.kept(&made, &before);
                    recovery = Some(made);
                }
            }
        }
        panic!("it does not come to rest");
    }

    /// The files that were there are there still, byte for byte.
    fn kept(&self, made: &Recovery, before: &BTreeMap<String, Vec<u8>>) {
        let after = self.files();
        for suffix in ["", "-wal"] {
            let Some(bytes) = before.get(&format!("journal.db{suffix}")) else { continue };
            let aside = made.set_aside.as_ref().unwrap();
            let name = format!("{}{suffix}", aside.file_name().unwrap().to_string_lossy());
            assert!(after.get(&name) == Some(bytes), "{name} is not what it was");
        }
        for (name, bytes) in before.iter().filter(|(name, _)| name.starts_with("backups")) {
            assert!(after.get(name) == Some(bytes), "{name} is not what it was");
        }
        assert!(!after.keys().any(|name| name.ends_with(".part")), "a draft was left");
    }

    /// What the authority knows is compared.
    fn reconcile(&self, journal: &Journal) {
        if journal.unreconciled().unwrap().is_none() {
            return;
        }
        for identifier in self.authority.stored.keys() {
            let found = FoundReport {
                identifier: identifier.clone(),
                endpoint: "practice".to_owned(),
                event: self.authority.event(identifier).unwrap(),
                issues: Vec::new(),
                evidence: answer("<DocumentReference/>"),
                by: person(),
                at: at(200),
            };
            journal.reconcile(found).unwrap();
        }
        journal.set_reconciled().unwrap();
    }

    /// Works as the worker does: what is queued is sent, what is in doubt is asked for.
    fn work(&mut self, journal: &Journal) {
        journal.recover(at(300), &person(), None).unwrap();
        loop {
            let due = journal.due(at(100_000), 100).unwrap();
            let open: Vec<_> = due
                .into_iter()
                .filter(|due| !matches!(due.state, State::InProgress { .. }))
                .collect();
            if open.is_empty() {
                break;
            }
            for due in open {
                let digest = journal.row(due.id).unwrap().digest;
                match due.state {
                    State::Queued { .. } => {
                        // Its content must be there: else it could not be sent.
                        journal.document(due.id).unwrap();
                        record(journal, due.id, Event::SendingStarted { since: at(400) });
                        let receipt = self.authority.post(&due.identifier, &digest, false);
                        record(journal, due.id, common::accepted(&receipt));
                    }
                    _ => match self.authority.event(&due.identifier) {
                        Some(event) => record(journal, due.id, event),
                        None => record(journal, due.id, Event::NotReceived { due: at(400) }),
                    },
                }
            }
        }
        for open in journal.open_reports().unwrap() {
            record(journal, open.id, self.authority.event(&open.identifier).unwrap());
        }
    }

    /// People release what is held, and every file is handed over once more.
    fn hand_over_again(&mut self, journal: &Journal) {
        let mut held = filter();
        held.states = vec!["held".to_owned()];
        for row in journal.list(&held).unwrap() {
            record(journal, row.id, Event::Released { reason: "ok".to_owned(), due: at(500) });
        }
        for n in 0..14 {
            let mut new = report(n);
            new.identifier = format!("urn:uuid:handed-over-again-{n}");
            let _: Imported = journal.import_if_new_async(new).wait().unwrap();
        }
        self.work(journal);
    }

    /// Losses, duplicates and false *completed*.
    fn count(&self, journal: &Journal) -> [u64; 3] {
        let lost: BTreeSet<String> =
            journal.lost_reports().unwrap().into_iter().map(|lost| lost.identifier).collect();
        let missing = self.image.taken.iter().filter(|(identifier, _)| {
            let known = journal.find_by_attempt_identifier(identifier).unwrap();
            // Lost with its content, and a person is told so: only where the authority has it not.
            known.is_none()
                && (!lost.contains(identifier) || self.authority.stored.contains_key(identifier))
        });
        let losses = missing.count() as u64;
        let twice = self.authority.posts.values().filter(|posts| **posts > 1).count() as u64;
        let mut of_content: BTreeMap<&str, u64> = BTreeMap::new();
        for stored in self.authority.stored.values() {
            *of_content.entry(&stored.digest).or_default() += 1;
        }
        let again = report(13).digest;
        let meant = |digest: &str| if digest == again { 2 } else { 1 };
        let copies = of_content.iter().filter(|(digest, count)| **count > meant(digest)).count();
        let mut wrong = 0;
        for row in journal.list(&filter()).unwrap() {
            if let State::Completed { receipt } = &row.state {
                let stored = self.authority.stored.get(&row.identifier);
                let right =
                    stored.is_some_and(|stored| stored.receipt == *receipt && !stored.failed);
                wrong += u64::from(!right);
            }
        }
        [losses, twice + copies as u64, wrong]
    }

    /// Everything from the damage to the end of the day.
    fn go_through(&mut self, figures: &mut Figures, name: &str) -> Option<Recovery> {
        let (journal, recovery) = self.open(100);
        self.reconcile(&journal);
        let [losses, duplicates, wrong] = self.count(&journal);
        assert_eq!(
            [losses, duplicates, wrong],
            [0, 0, 0],
            "{name}: after the recovery, {recovery:?}"
        );
        self.work(&journal);
        self.hand_over_again(&journal);
        let [losses, duplicates, wrong] = self.count(&journal);
        let completed = self.image.completed.iter().filter(|identifier| {
            let id = journal.find_by_attempt_identifier(identifier).unwrap();
            id.is_none_or(|id| !matches!(journal.state(id).unwrap(), State::Completed { .. }))
        });
        let losses = losses + completed.count() as u64;
        assert_eq!([losses, duplicates, wrong], [0, 0, 0], "{name}: {recovery:?}");
        assert_eq!(journal.verify().unwrap().problems, [], "{name}");
        if let Some(recovery) = &recovery {
            let notices = journal.notices().unwrap();
            let told = notices.iter().any(|notice| notice.code.starts_with("journal-from-"));
            assert!(told, "{name}: nobody is told");
            assert!(recovery.set_aside.is_some() || name.contains("missing"), "{name}");
        }
        figures.cases(1);
        figures.losses(losses);
        figures.duplicates(duplicates);
        figures.false_completed(wrong);
        recovery
    }
}

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
        for entry in fs::read_dir(lab.backups()).unwrap() {
            let path = entry.unwrap().path();
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
    let made = recover(&laboratory.path(), &other_key(), &laboratory.backups(), at(100));
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
    newer(recover(&laboratory.path(), &key(), &laboratory.backups(), at(100)).map(drop));
    untouched(&laboratory, &before, "newer schema");
    figures.cases(1);

    let laboratory = Laboratory::new(&image);
    let journal = Journal::open(&laboratory.path(), &key()).unwrap();
    let made = recover(&laboratory.path(), &key(), &laboratory.backups(), at(100));
    assert!(matches!(made, Err(OpenProblem::Busy)));
    let backup = journal::list_backups(&laboratory.backups()).unwrap().remove(0).file;
    assert!(matches!(
        restore(&backup, &key(), &laboratory.path(), at(100)),
        Err(OpenProblem::Busy)
    ));
    assert_eq!(journal.verify().unwrap().problems, []);
    figures.cases(1);
    figures.finish();
}

/// A person restores a backup over a journal that is fine: what is newer comes back in doubt.
#[test]
fn a_restored_backup_sends_nothing_twice() {
    let image = image();
    let mut figures = Figures::start("damage", "a_restored_backup_sends_nothing_twice");
    for file in ["journal.db", "journal.db-wal", ""] {
        let mut laboratory = Laboratory::new(&image);
        if !file.is_empty() {
            fs::remove_file(laboratory.folder.path().join(file)).unwrap();
        }
        let backup = journal::list_backups(&laboratory.backups()).unwrap().remove(0).file;
        let restored = restore(&backup, &key(), &laboratory.path(), at(100)).unwrap();
        assert!(restored.doubted >= 4, "{restored:?}");
        if file.is_empty() {
            assert_eq!((restored.salvaged, restored.lost), (6, 0), "the old journal is fine");
        }
        laboratory.go_through(&mut figures, &format!("restored without {file}"));
    }
    figures.finish();
}

/// Nothing is left but the register. A lost report is handed over again and held this time; a person releases it. It
/// may have been sent before, so it is asked for.
#[test]
fn a_lost_report_that_is_held_and_released_is_in_doubt() {
    let image = image();
    let laboratory = Laboratory::new(&image);
    fs::write(laboratory.path(), "").unwrap();
    fs::remove_file(laboratory.beside("-wal")).unwrap();
    fs::remove_dir_all(laboratory.backups()).unwrap();
    let (journal, recovery) = laboratory.open(100);
    assert!(matches!(recovery.unwrap().base, Base::Nothing));
    let released = |n: i64| {
        let mut new = report(n);
        new.identifier = format!("urn:uuid:handed-over-again-{n}");
        new.first = Event::Held;
        let imported = journal.import_if_new_async(new).wait().unwrap();
        let Imported::New(id) = imported else { panic!("{imported:?}") };
        record(&journal, id, Event::Released { reason: "ok".to_owned(), due: at(500) });
        journal.state(id).unwrap().code()
    };
    assert_eq!(released(2), "unknown");
    assert_eq!(released(10), "unknown");
    assert_eq!(released(77), "queued", "nobody took it in before");
}

/// An answer that comes for what the restore believed not to have been sent.
#[test]
fn what_the_authority_shows_is_taken_in_once() {
    let image = image();
    let laboratory = Laboratory::new(&image);
    fs::write(laboratory.path(), "").unwrap();
    let (journal, recovery) = laboratory.open(100);
    assert!(matches!(recovery.unwrap().base, Base::Backup(_)));
    let found = |identifier: &str, receipt: &str| FoundReport {
        identifier: identifier.to_owned(),
        endpoint: "practice".to_owned(),
        event: Event::Completed { receipt: receipt.to_owned() },
        issues: Vec::new(),
        evidence: answer("<DocumentReference/>"),
        by: person(),
        at: at(200),
    };
    let Reconciled::Added(id) = journal.reconcile(found("urn:uuid:elsewhere", "e-1")).unwrap()
    else {
        panic!("not added");
    };
    assert_eq!(journal.state(id).unwrap().code(), "completed");
    assert_eq!(journal.row(id).unwrap().receipt.as_deref(), Some("e-1"));
    assert!(journal.row(id).unwrap().erased.is_some());
    assert!(journal.document(id).is_err());
    assert_eq!(journal.reconcile(found("urn:uuid:elsewhere", "e-1")).unwrap(), Reconciled::Known);
    let mut nonsense = found("urn:uuid:x", "e-2");
    nonsense.event = Event::Rejected;
    assert!(journal.reconcile(nonsense).is_err());
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// What a backup costs. `LABCOURIER_BACKUP_EVENTS` makes the journal bigger.
#[test]
fn a_backup_is_verified_and_leaves_the_journal_free() {
    let wanted = std::env::var("LABCOURIER_BACKUP_EVENTS").ok().and_then(|n| n.parse().ok());
    let wanted: u64 = wanted.unwrap_or(1_000);
    let folder = memory();
    let journal = Journal::create(&folder.path().join("journal.db"), &key()).unwrap();
    let filled = std::time::Instant::now();
    for group in 0..wanted.div_ceil(4 * 64) {
        let ids: Vec<_> = (0..64)
            .map(|n| {
                let mut new = report(i64::try_from(group * 64 + n).unwrap());
                // As long as a real report is, and as little alike.
                let words: Vec<String> = (0..150)
                    .map(|k| format!("{:x}", (group * 64 + n) * 7_919 + k * 104_729))
                    .collect();
                new.document =
                    format!("{{\"n\":{group}{n},\"x\":\"{}\"}}", words.join(" ").repeat(8))
                        .into_bytes();
                new.digest = common::digest(&new.document);
                journal.import_async(new)
            })
            .collect();
        let ids: Vec<_> = ids.into_iter().map(|pending| pending.wait().unwrap()).collect();
        let mut steps = Vec::new();
        for id in ids {
            steps.push(journal.record_async(step(id, Event::SendingStarted { since: at(1) })));
            steps.push(journal.record_async(step(id, common::accepted(&format!("r-{}", id.0)))));
            let mut last = step(id, Event::Completed { receipt: format!("r-{}", id.0) });
            last.evidence = Some(answer(&"<DocumentReference/>".repeat(20)));
            steps.push(journal.record_async(last));
        }
        steps.into_iter().for_each(|pending| drop(pending.wait().unwrap()));
    }
    let filled = filled.elapsed();
    let began = std::time::Instant::now();
    let made = journal.back_up_into(&folder.path().join("backups"), at(1)).unwrap();
    let took = began.elapsed();
    assert!(made.facts.events >= wanted);
    assert_eq!(made.facts.events, journal.events().unwrap());
    println!(
        "{} events, {:.1} MB: filled in {:.1} s, backed up and verified in {:.2} s",
        made.facts.events,
        made.facts.bytes as f64 / 1e6,
        filled.as_secs_f64(),
        took.as_secs_f64()
    );
    // Nothing of it is in the way of others.
    std::thread::scope(|scope| {
        let backup = scope.spawn(|| journal.back_up_into(&folder.path().join("backups"), at(100)));
        let mut longest = std::time::Duration::ZERO;
        let mut n = 1_000_000;
        while !backup.is_finished() || n == 1_000_000 {
            n += 1;
            let began = std::time::Instant::now();
            journal.import(report(n)).unwrap();
            longest = longest.max(began.elapsed());
        }
        println!("longest import beside a backup: {:.0} ms", longest.as_secs_f64() * 1e3);
        backup.join().unwrap().unwrap();
    });
}

/// A disk that is full leaves the backups that are there.
#[test]
fn a_backup_that_fails_leaves_the_others() {
    let folder = memory();
    let journal = Journal::create(&folder.path().join("journal.db"), &key()).unwrap();
    journal.import(report(1)).unwrap();
    let backups = folder.path().join("backups");
    let made = journal.back_up_into(&backups, at(1)).unwrap();
    // The same moment: the name is taken.
    assert!(journal.back_up_into(&backups, at(1)).is_err());
    // No folder can be made where a file stands.
    fs::write(folder.path().join("file"), "x").unwrap();
    assert!(journal.back_up_into(&folder.path().join("file"), at(2)).is_err());
    assert_eq!(journal::list_backups(&backups).unwrap().len(), 1);
    assert_eq!(fs::read_dir(&backups).unwrap().count(), 1, "no draft is left");
    for day in 1..60 {
        journal.import(report(day + 1)).unwrap();
        journal.back_up_into(&backups, at(day * 86_400)).unwrap();
    }
    let all = journal::list_backups(&backups).unwrap();
    assert!(all.len() <= 14 && all.len() >= 9, "{}", all.len());
    assert!(!made.file.exists());
    assert_eq!(all[0].events, journal.events().unwrap());
}
