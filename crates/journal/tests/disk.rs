//! What is on the disk: keys, versions, damage, backups, retention, no patient in the clear.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

mod common;

use std::fs;
use std::path::Path;

use common::{
    House, anna, answer, at, filter, found, issue, key, nowhere, other_key, raw, report, step,
};
use journal::{
    DiscrepancyKind, Journal, JournalError, NewSubmission, OpenProblem, Retention, restore,
};
use report::{Event, SubmissionId};
use tempfile::TempDir;

#[test]
fn a_journal_is_created_once_and_opened_again() {
    let house = House::new();
    let id = house.import(1);
    assert!(matches!(Journal::create(&house.path(), &key()), Err(OpenProblem::Exists)));
    let folder = house.leave();
    let path = folder.path().join("journal.db");
    let journal = Journal::open(&path, &key()).unwrap();
    assert_eq!(journal.document(id).unwrap(), report(1).document);
    journal.close();
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(
        names,
        ["journal.db", "journal.db-lock", "journal.db-register"],
        "drafts and logs are gone"
    );
    #[cfg(unix)]
    {
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn what_cannot_be_opened_is_told_apart_and_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("journal.db");
    assert!(matches!(Journal::open(&path, &key()), Err(OpenProblem::Missing)));
    assert!(!path.exists());
    for content in [&b""[..], b"x", &[0; 4096], &[0xa5; 10_000], b"SQLite format 3\0"] {
        fs::write(&path, content).unwrap();
        assert!(matches!(Journal::open(&path, &key()), Err(OpenProblem::WrongKeyOrDamaged)));
        assert_eq!(fs::read(&path).unwrap(), content);
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(Journal::open(&path, &key()).is_err());
    let lost = folder.path().join("no/such/folder/journal.db");
    assert!(matches!(Journal::create(&lost, &key()), Err(OpenProblem::Missing)));
}

#[test]
fn a_wrong_key_and_a_newer_schema_change_nothing() {
    let house = House::new();
    house.import(1);
    let folder = house.leave();
    let path = folder.path().join("journal.db");
    let before = fs::read(&path).unwrap();
    assert!(matches!(Journal::open(&path, &other_key()), Err(OpenProblem::WrongKeyOrDamaged)));
    assert_eq!(fs::read(&path).unwrap(), before);

    raw(&path).execute_batch("PRAGMA user_version = 99").unwrap();
    let before = fs::read(&path).unwrap();
    let newer = Journal::open(&path, &key());
    assert!(matches!(newer, Err(OpenProblem::NewerSchema { found: 99, known: 2 })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn the_schema_of_the_file_is_the_one_that_is_told() {
    let house = House::new();
    let version: u32 = house.sql().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, Journal::schema_version());
}

/// As a kill leaves it: the files are copied while the journal is open, log and all.
#[test]
fn what_was_recorded_survives_the_end_of_the_process() {
    let house = House::new();
    let id = house.import(1);
    house.record(id, Event::SendingStarted { since: at(1) });
    let ruins = TempDir::new().unwrap();
    for entry in fs::read_dir(house.folder.path()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), ruins.path().join(entry.file_name())).unwrap();
    }
    assert!(ruins.path().join("journal.db-wal").exists());
    let journal = Journal::open(&ruins.path().join("journal.db"), &key()).unwrap();
    assert_eq!(journal.state(id).unwrap().code(), "sending");
    assert_eq!(journal.recover(at(9), &anna(), None).unwrap(), [id]);
    assert!(journal.verify().unwrap().problems.is_empty());
}

/// Every kind of damage gives an error or a finding: never a panic, never silence, never other
/// content.
#[test]
fn damage_is_reported() {
    let house = House::new();
    for n in 0..20 {
        let id = house.import(n);
        house.complete(id, &format!("r-{n}"));
    }
    let folder = house.leave();
    let path = folder.path().join("journal.db");
    let sound = fs::read(&path).unwrap();
    let mut cases: Vec<(String, Vec<u8>)> = Vec::new();
    for cut in [1, 100, 4_095, 4_096, 8_192, sound.len() / 2, sound.len() - 4_096, sound.len() - 1]
    {
        cases.push((format!("cut at {cut}"), sound[..cut].to_vec()));
    }
    for place in (0..sound.len()).step_by(sound.len() / 60) {
        let mut flipped = sound.clone();
        flipped[place] ^= 0x40;
        cases.push((format!("flip at {place}"), flipped));
    }
    for (name, bytes) in cases {
        fs::write(&path, &bytes).unwrap();
        let noticed = match Journal::open(&path, &key()) {
            Err(problem) => matches!(problem, OpenProblem::WrongKeyOrDamaged),
            Ok(journal) => {
                for row in journal.list(&filter()).unwrap_or_default() {
                    let _ = journal.detail(row.id);
                    if let Ok(document) = journal.document(row.id) {
                        assert_eq!(common::digest(&document), row.digest, "{name}");
                    }
                }
                let noticed = journal.verify().is_ok_and(|v| !v.problems.is_empty())
                    || matches!(journal.verify(), Err(JournalError::Damaged));
                // Only after the check: SQLite takes an unused page without reading it, which heals
                // it.
                let _ = journal.import(report(777));
                noticed
            }
        };
        assert!(noticed, "{name}");
        for companion in ["-wal", "-shm", "-register", "-register-wal", "-register-shm"] {
            let _ = fs::remove_file(folder.path().join(format!("journal.db{companion}")));
        }
    }
}

#[test]
fn tampering_shows() {
    let kinds = |statements: &str| {
        let house = House::new();
        let (a, _) = (house.import(1), house.import(2));
        house.complete(a, "r-1");
        house.sql().execute_batch(statements).unwrap();
        let mut kinds: Vec<_> =
            house.journal.verify().unwrap().problems.iter().map(|p| p.kind).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    let free = "DROP TRIGGER event_is_unchanged; DROP TRIGGER event_is_kept;
        DROP TRIGGER evidence_is_unchanged; PRAGMA foreign_keys = OFF;";
    use DiscrepancyKind as Kind;
    let cases: [(&str, &[Kind]); 10] = [
        ("UPDATE event SET person = 'nobody' WHERE id = 2", &[Kind::Chain]),
        ("UPDATE event SET at = at + 1 WHERE id = 5", &[Kind::Chain]),
        ("DELETE FROM event WHERE id = 4", &[Kind::Chain]),
        ("DELETE FROM event WHERE id = 5", &[Kind::Replay, Kind::Chain, Kind::Anchor]),
        ("UPDATE event SET event = '{}' WHERE id = 5", &[Kind::Replay, Kind::Event, Kind::Chain]),
        ("UPDATE submission SET state_json = '{\"state\":\"held\"}' WHERE id = 1", &[Kind::Replay]),
        ("UPDATE submission SET identifier = 'urn:uuid:x' WHERE id = 1", &[Kind::Chain]),
        ("DELETE FROM document WHERE submission = 1", &[Kind::Document]),
        ("UPDATE document SET content = x'00' WHERE submission = 1", &[Kind::Digest]),
        (
            "UPDATE evidence SET body = x'00'; UPDATE tally SET submissions = 9",
            &[Kind::Evidence, Kind::Counts],
        ),
    ];
    for (statement, expected) in cases {
        assert_eq!(kinds(&format!("{free}{statement}")), expected, "{statement}");
    }
}

const CANARIES: [&str; 6] = [
    "Kanarienvogel",
    "kanarie.json",
    "KanarienWort",
    "Kanarienantwort",
    "1911-11-11",
    "KanarieDok",
];

fn canary() -> journal::NewSubmission {
    let mut new = report(1);
    new.document = b"{\"resourceType\":\"Bundle\",\"x\":\"KanarieDok\"}".to_vec();
    new.digest = common::digest(&new.document);
    new.summary.patient = Some("Kanarienvogel, Anna".to_owned());
    new.summary.birth_date = Some("1911-11-11".to_owned());
    new.file = "kanarie.json".to_owned();
    new
}

fn clear_text(folder: &Path) -> Vec<String> {
    let mut hits = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        for canary in CANARIES.iter().chain(&["SQLite format 3", "CREATE TABLE"]) {
            if bytes.windows(canary.len()).any(|window| window == canary.as_bytes()) {
                hits.push(format!("{canary} in {}", path.display()));
            }
        }
    }
    hits
}

#[test]
fn no_patient_is_on_the_disk_in_the_clear() {
    let house = House::new();
    let id = house.journal.import(canary()).unwrap();
    house.record(id, Event::SendingStarted { since: at(1) });
    let mut last = step(id, Event::Rejected);
    last.evidence = Some(answer("Kanarienantwort"));
    last.issues = Some(vec![issue("KanarienWort")]);
    house.journal.record(last).unwrap();
    assert_eq!(found(&house.journal, "kanarienv kanarienwort"), [id]);
    house.journal.backup(&house.folder.path().join("backup.db")).unwrap();
    let files = fs::read_dir(house.folder.path()).unwrap().count();
    assert!(files >= 4, "journal, log, shared memory, backup");
    assert_eq!(clear_text(house.folder.path()), Vec::<String>::new());
    let folder = house.leave();
    assert_eq!(clear_text(folder.path()), Vec::<String>::new());
}

#[test]
fn a_backup_is_one_verified_file_and_comes_back() {
    let house = House::new();
    let id = house.import(1);
    house.complete(id, "r-1");
    let backup = house.folder.path().join("backup.db");
    let facts = house.journal.backup(&backup).unwrap();
    assert_eq!((facts.submissions, facts.events), (1, 4));
    assert_eq!(facts.bytes, fs::metadata(&backup).unwrap().len());
    let bytes = fs::read(&backup).unwrap();
    assert!(matches!(house.journal.backup(&backup), Err(JournalError::Exists)));
    let later = house.import(2);
    let target = house.path();
    let folder = house.leave();

    let restored = restore(&backup, &key(), &target, &nowhere, at(7)).unwrap();
    let aside = restored.set_aside.unwrap();
    assert_eq!((restored.facts.submissions, restored.facts.events), (1, 4));
    let journal = Journal::open(&target, &key()).unwrap();
    assert_eq!(journal.document(id).unwrap(), report(1).document);
    assert_eq!(journal.state(id).unwrap().code(), "completed");
    assert_eq!(journal.state(later).unwrap().code(), "unknown", "newer than the backup: in doubt");
    assert_eq!(Journal::open(&aside, &key()).unwrap().state(later).unwrap().code(), "queued");
    assert_eq!(fs::read(&backup).unwrap(), bytes, "the backup is only read");
    journal.import(report(3)).unwrap();
    drop(journal);

    // The same moment again: what is set aside there is not overwritten either.
    assert!(matches!(restore(&backup, &key(), &target, &nowhere, at(7)), Err(OpenProblem::Exists)));
    assert!(matches!(
        restore(&backup, &other_key(), &target, &nowhere, at(8)),
        Err(OpenProblem::WrongKeyOrDamaged)
    ));
    let mut broken = bytes;
    let middle = broken.len() / 2;
    broken[middle] ^= 1;
    fs::write(&backup, broken).unwrap();
    assert!(matches!(
        restore(&backup, &key(), &target, &nowhere, at(9)),
        Err(OpenProblem::WrongKeyOrDamaged)
    ));
    assert_eq!(Journal::open(&target, &key()).unwrap().counts(at(0)).unwrap().total(), 3);
    let drafts = fs::read_dir(folder.path())
        .unwrap()
        .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part"))
        .count();
    assert_eq!(drafts, 0);
}

#[test]
fn retention_removes_the_patient_and_keeps_the_proof() {
    let house = House::new();
    let done = house.journal.import(canary()).unwrap();
    house.record(done, Event::SendingStarted { since: at(1) });
    let mut first = step(done, common::accepted("r-1"));
    first.evidence = Some(answer("Kanarienantwort"));
    first.issues = Some(vec![issue("KanarienWort")]);
    house.journal.record(first).unwrap();
    let mut last = step(done, Event::Completed { receipt: "r-1".to_owned() });
    last.evidence = Some(answer("final"));
    house.journal.record(last).unwrap();
    let (open, rejected) = (house.import(2), house.import(3));
    house.reject(rejected, "so nicht");

    // The index shortens neighbours to their endings.
    assert!(words_on_disk(&house, "vogel"));
    let rule = Retention { completed_days: Some(30), closed_days: Some(30) };
    let day = 86_400;
    assert_eq!(house.journal.retain(Retention::default(), at(999 * day)).unwrap(), 0);
    assert_eq!(house.journal.retain(rule, at(29 * day)).unwrap(), 0);
    assert_eq!(house.journal.retain(rule, at(31 * day)).unwrap(), 1);
    assert_eq!(house.journal.retain(rule, at(32 * day)).unwrap(), 0);

    let detail = house.journal.detail(done).unwrap();
    assert_eq!(detail.row.erased, Some(at(31 * day)));
    assert_eq!((detail.row.file.as_str(), detail.document_size), ("", None));
    assert_eq!(detail.row.summary.patient, None);
    assert_eq!(detail.row.summary.identifier.as_deref(), Some("urn:uuid:document-1"));
    assert_eq!(detail.row.receipt.as_deref(), Some("r-1"));
    assert_eq!((detail.messages[0].code.as_str(), &detail.messages[0].text), ("invalid", &None));
    assert_eq!(detail.timeline.len(), 4);
    assert!(matches!(house.journal.document(done), Err(JournalError::NotFound(_))));
    let bodies: Vec<_> = house
        .journal
        .evidence(done)
        .unwrap()
        .into_iter()
        .map(|e| (e.size, e.evidence.body))
        .collect();
    assert_eq!(bodies, [(15, Vec::new()), (5, b"final".to_vec())]);
    assert_eq!(
        house.journal.of_content(&canary().digest, None, None).unwrap(),
        [done],
        "still known"
    );
    assert!(found(&house.journal, "kanarienvogel").is_empty());
    assert_eq!(house.journal.document(open).unwrap(), report(2).document);
    assert_eq!(house.journal.document(rejected).unwrap(), report(3).document);
    assert!(house.journal.verify().unwrap().problems.is_empty());
    assert!(!words_on_disk(&house, "vogel"), "also not in what the index has marked as deleted");
    assert_eq!(found(&house.journal, "müller2"), [open]);
}

/// More words stay than are written anew at once; those that leave come last in their order.
#[test]
fn retention_purges_an_index_of_any_size() {
    let house = House::new();
    for n in 1..=41 {
        let mut new = report(n);
        let words = |head: &str| {
            let word = |place| format!(" {head}{:07}", (n * 3_000 + place) * 7_919 % 9_999_991);
            (0..3_000).map(word).collect()
        };
        new.summary.laboratory = Some(words(if n == 7 { "zvogel" } else { "a" }));
        new.first = Event::Held;
        house.journal.import(new).unwrap();
    }
    house.record(SubmissionId(7), Event::Withdrawn { reason: String::new() });
    assert!(words_on_disk(&house, "vogel"));
    let rule = Retention { completed_days: None, closed_days: Some(30) };
    assert_eq!(house.journal.retain(rule, at(31 * 86_400)).unwrap(), 1);
    assert!(!words_on_disk(&house, "vogel"));
}

/// The register beside the journal knows file names too: as long as the journal, and no longer.
/// What is open, or what a backup may have forgotten, it goes on knowing.
#[test]
fn retention_reaches_the_register() {
    let house = House::new();
    let day = 86_400;
    let done = house.import(1);
    house.complete(done, "r-1");
    house.journal.import(NewSubmission { first: Event::Held, ..report(2) }).unwrap();
    let register = || {
        let connection = common::raw(&house.path().with_file_name("journal.db-register"));
        let mut query = connection.prepare("SELECT file FROM taken ORDER BY submission").unwrap();
        let files = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
        files.map(Result::unwrap).collect::<Vec<_>>()
    };
    assert_eq!(register(), ["befund-1.json", "befund-2.json"]);
    let rule = Retention { completed_days: Some(30), closed_days: None };
    house.journal.retain(rule, at(31 * day)).unwrap();
    assert_eq!(register(), ["", "befund-2.json"]);
    // A clock that is years ahead makes no difference.
    house.journal.retain(rule, at(4_000 * day)).unwrap();
    assert_eq!(register(), ["", "befund-2.json"]);
}

/// Whether a word stands anywhere in the index of words, also where it is only marked as deleted.
fn words_on_disk(house: &House, word: &str) -> bool {
    let sql = house.sql();
    let mut query = sql.prepare("SELECT block FROM search_data").unwrap();
    let blocks = query.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    blocks
        .map(Result::unwrap)
        .any(|block| block.windows(word.len()).any(|window| window == word.as_bytes()))
}
