//! A journal in a folder of its own, and reports to put in.
// Not every test file needs all of it; a test that cannot go on panics.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::PathBuf;

use fhir::{Format, Instant, Severity};
use journal::{
    Evidence, EvidenceKind, Filter, Home, Journal, Key, Message, NewSubmission, Source, Step,
};
use report::{Event, Person, SubmissionId, Summary};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use zeroize::Zeroizing;

pub(crate) const KEY: [u8; 32] = [7; 32];

pub(crate) fn key() -> Key {
    Key::new(Zeroizing::new(KEY))
}

pub(crate) fn other_key() -> Key {
    Key::new(Zeroizing::new([8; 32]))
}

/// Where a file is cannot be told.
pub(crate) fn nowhere(_: &std::path::Path) -> Option<Home> {
    None
}

/// On this computer every file has a number of its own.
pub(crate) fn on(computer: &str) -> impl Fn(&std::path::Path) -> Option<Home> {
    move |file| {
        let facts = std::fs::metadata(file).ok()?;
        #[cfg(unix)]
        let number = Some(std::os::unix::fs::MetadataExt::ino(&facts).to_string());
        #[cfg(not(unix))]
        let number = None;
        Some(Home { computer: Some(computer.to_owned()), file: number })
    }
}

pub(crate) fn at(seconds: i64) -> Instant {
    Instant::from_seconds(1_750_000_000 + seconds)
}

pub(crate) fn anna() -> Person {
    Person("anna@lab-pc-7".to_owned())
}

/// A journal and the folder that goes away with it.
pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) journal: Journal,
}

impl House {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let journal = Journal::create(&folder.path().join("journal.db"), &key()).unwrap();
        Self { folder, journal }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("journal.db")
    }

    /// Drops the journal and gives the folder.
    pub(crate) fn leave(self) -> TempDir {
        self.folder
    }

    /// The file as SQL sees it, past all rules of the crate.
    pub(crate) fn sql(&self) -> rusqlite::Connection {
        raw(&self.path())
    }

    pub(crate) fn import(&self, n: i64) -> SubmissionId {
        self.journal.import(report(n)).unwrap()
    }

    pub(crate) fn record(&self, id: SubmissionId, event: Event) {
        self.journal.record(step(id, event)).unwrap();
    }

    /// Through the life cycle to `Completed`.
    pub(crate) fn complete(&self, id: SubmissionId, receipt: &str) {
        self.record(id, Event::SendingStarted { since: at(1) });
        self.record(id, accepted(receipt));
        let mut last = step(id, Event::Completed { receipt: receipt.to_owned() });
        last.evidence = Some(answer("<DocumentReference/>"));
        self.journal.record(last).unwrap();
    }

    /// Through the life cycle to `Rejected`, with a message of the authority.
    pub(crate) fn reject(&self, id: SubmissionId, words: &str) {
        self.record(id, Event::SendingStarted { since: at(1) });
        let mut last = step(id, Event::Rejected);
        last.evidence = Some(answer("<OperationOutcome/>"));
        last.issues = Some(vec![issue(words)]);
        self.journal.record(last).unwrap();
    }
}

pub(crate) fn raw(path: &std::path::Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).unwrap();
    let hex: String = KEY.iter().map(|b| format!("{b:02x}")).collect();
    connection.execute_batch(&format!("PRAGMA key = \"x'{hex}'\"")).unwrap();
    connection
}

/// Whether a key opens a database.
pub(crate) fn raw_opens(path: &std::path::Path, key: &[u8; 32]) -> bool {
    let connection = rusqlite::Connection::open(path).unwrap();
    let hex: String = key.iter().map(|b| format!("{b:02x}")).collect();
    connection
        .execute_batch(&format!("PRAGMA cipher_log_level = NONE; PRAGMA key = \"x'{hex}'\""))
        .unwrap();
    let count =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get::<_, i64>(0));
    count.is_ok()
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

pub(crate) fn report(n: i64) -> NewSubmission {
    let document = format!("{{\"resourceType\":\"Bundle\",\"n\":{n}}}").into_bytes();
    NewSubmission {
        file: format!("befund-{n}.json"),
        format: Format::Json,
        digest: digest(&document),
        document,
        summary: Summary {
            identifier: Some(format!("urn:uuid:document-{n}")),
            patient: Some(format!("Müller{n}, Anna")),
            birth_date: Some("1980-02-03".to_owned()),
            subject: Some("Salmonella enterica".to_owned()),
            laboratory: Some("Labor Süd".to_owned()),
            ..Summary::default()
        },
        identifier: format!("urn:uuid:00000000-0000-4000-8000-{n:012}"),
        endpoint: "practice".to_owned(),
        canonical: None,
        environment: None,
        first: Event::Queued { due: at(0) },
        findings: Vec::new(),
        corrects: None,
        by: anna(),
        at: at(n),
    }
}

pub(crate) fn step(id: SubmissionId, event: Event) -> Step {
    Step::new(id, event, anna(), at(100))
}

pub(crate) fn answer(body: &str) -> Evidence {
    Evidence {
        kind: EvidenceKind::Create,
        at: at(100),
        http_status: Some(201),
        content_type: Some("application/fhir+xml".to_owned()),
        body: body.as_bytes().to_vec(),
        fault: None,
    }
}

pub(crate) fn accepted(receipt: &str) -> Event {
    Event::Accepted { receipt: receipt.to_owned(), since: at(2), due: at(60) }
}

pub(crate) fn issue(words: &str) -> Message {
    Message {
        source: Source::Authority,
        severity: Severity::Error,
        code: "invalid".to_owned(),
        rule: Some("elm-12".to_owned()),
        text: Some(words.to_owned()),
        params: Vec::new(),
        expression: Some("Bundle.entry[0]".to_owned()),
        line: None,
        column: None,
    }
}

pub(crate) fn filter() -> Filter {
    Filter { now: at(1_000), ..Filter::default() }
}

pub(crate) fn found(journal: &Journal, words: &str) -> Vec<SubmissionId> {
    let filter = Filter { search: Some(words.to_owned()), ..filter() };
    journal.list(&filter).unwrap().into_iter().map(|row| row.id).collect()
}
