//! A laboratory's folder, the authority beside it, and what a laboratory does after damage.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{self, anna, answer, at, filter, key, nowhere, report, step};
use journal::{FoundReport, Imported, Journal, Recovery, Unless, recover};
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
pub(super) struct Image {
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// The journal's file as it was when the backup was made.
    pub(super) old: Vec<u8>,
    authority: Authority,
    /// Identifiers and digests of everything that was confirmed.
    taken: Vec<(String, String)>,
    completed: BTreeSet<String>,
}

/// In memory where there is such a folder: what is tested here is content, not the disk.
pub(super) fn memory() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

pub(super) fn person() -> Person {
    anna()
}

pub(super) fn record(journal: &Journal, id: SubmissionId, event: Event) {
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
pub(super) fn image() -> Image {
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
pub(super) struct Laboratory<'a> {
    image: &'a Image,
    pub(super) folder: TempDir,
    authority: Authority,
}

impl<'a> Laboratory<'a> {
    pub(super) fn new(image: &'a Image) -> Self {
        let folder = memory();
        fs::create_dir(folder.path().join("backups")).unwrap();
        for (name, bytes) in &image.files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        Self { image, folder, authority: image.authority.clone() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("journal.db")
    }

    pub(super) fn beside(&self, suffix: &str) -> PathBuf {
        self.folder.path().join(format!("journal.db{suffix}"))
    }

    pub(super) fn backups(&self) -> PathBuf {
        self.folder.path().join("backups")
    }

    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.folder.path(), self.folder.path(), &mut files);
        files
    }

    /// Opens as the engine does: what does not open is recovered. Damage inside shows when it is
    /// met, and then at the next opening.
    pub(super) fn open(&self, now: i64) -> (Journal, Option<Recovery>) {
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
                    let made =
                        recover(&self.path(), &key(), &self.backups(), &nowhere, at(now + turn));
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
                known_as: None,
                identifier: identifier.clone(),
                endpoint: "practice".to_owned(),
                event: self.authority.event(identifier).unwrap(),
                issues: Vec::new(),
                last_updated: Some(at(200)),
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
        held.states = vec![report::StateCode::Held];
        for row in journal.list(&held).unwrap() {
            record(journal, row.id, Event::Released { reason: "ok".to_owned(), due: at(500) });
        }
        for n in 0..14 {
            let mut new = report(n);
            new.identifier = format!("urn:uuid:handed-over-again-{n}");
            let _: Imported = journal.import_unless_async(new, Unless::Known).wait().unwrap();
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
    pub(super) fn go_through(&mut self, figures: &mut Figures, name: &str) -> Option<Recovery> {
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
