//! Restores of backups of any age, followed by the real worker against an authority that remembers: whatever
//! the journal has forgotten, nothing is sent a second time, and nothing stays unseen.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use client::{Authority, Capability, Changes, Evidence, Fault, Found, Received};
use engine::{
    Clock, Connection, LeaseKeeper, ReconcileDeps, Timing, Worker, WorkerDeps, compare,
    decide_guarded,
};
use exchange::{Answer, Endpoint, Envelope, Environment, Page, Processing, Query};
use fhir::{Format, Instant};
use journal::{Imported, Journal, Key, NewSubmission, Step, Unless, recover, restore};
use report::{Event, Person, State, SubmissionId, Summary};
use testkit::Figures;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// splitmix64
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}

struct SimulatedClock(AtomicI64);

impl Clock for SimulatedClock {
    fn now(&self) -> Instant {
        Instant(self.0.load(Ordering::SeqCst))
    }
    fn steady(&self) -> std::time::Duration {
        std::time::Duration::from_micros(self.now().0.try_into().unwrap())
    }
    fn fraction(&self) -> f64 {
        0.25
    }
}

#[derive(Clone)]
struct Stored {
    receipt: String,
    identifier: String,
    accepted: Instant,
    /// A search shows it from then on.
    visible: Instant,
    finished: Instant,
    outcome: Processing,
}

#[derive(Default)]
struct Service {
    stored: Vec<Stored>,
    posts: BTreeMap<String, u64>,
    dice: u64,
    /// The certificate has lost its access: nothing is shown to it.
    blind: bool,
    /// A question for any delivery is refused.
    refuses: bool,
    /// It loses it after so many searches.
    blind_after: Option<u32>,
    /// The list of what has changed is never given.
    lists_nothing: bool,
    /// The document whose question always ends with an error.
    chokes_on: Option<String>,
    /// So long each question takes, in microseconds.
    slow: i64,
    /// A search by identifier matches that of the delivery, and not that of the document in it.
    by_delivery: bool,
    /// Identifiers of the documents, by those of their deliveries.
    documents: HashMap<String, String>,
}

#[derive(Clone)]
struct Simulated {
    service: Arc<Mutex<Service>>,
    clock: Arc<SimulatedClock>,
}

fn evidence() -> Evidence {
    Evidence { status: 200, ..Evidence::default() }
}

/// An error of the server, whatever is asked.
fn broken() -> Fault {
    let (why, evidence) = (client::Why::Unavailable { status: 500 }, Evidence::default());
    Fault::Transient { why, retry_after: None, evidence: Some(Box::new(evidence)) }
}

impl Stored {
    fn answer(&self, now: Instant) -> Answer {
        let done = self.finished <= now;
        Answer {
            receipt: Some(self.receipt.clone()),
            processing: Some(if done { self.outcome } else { Processing::InProgress }),
            identifiers: vec![self.identifier.clone()],
            last_updated: Some(if done { self.finished } else { self.accepted }),
            ..Answer::default()
        }
    }
}

impl Simulated {
    fn take_time(&self) {
        let slow = self.service.lock().unwrap().slow;
        self.clock.0.fetch_add(slow, Ordering::SeqCst);
    }

    fn seen(&self) -> Vec<Answer> {
        let now = self.clock.now();
        let service = self.service.lock().unwrap();
        let shown = service.stored.iter().filter(|_| !service.blind);
        let visible = shown.filter(|stored| stored.visible <= now);
        visible.map(|stored| stored.answer(now)).collect()
    }
}

impl Authority for Simulated {
    async fn submit(&self, wrapped: &Envelope) -> Result<Received, Fault> {
        let now = self.clock.now();
        let mut service = self.service.lock().unwrap();
        *service.posts.entry(wrapped.identifier.clone()).or_default() += 1;
        service.dice += 1;
        let mut dice = Dice(service.dice);
        let seconds = |n: u64| i64::try_from(n).unwrap() * 1_000_000;
        let stored = Stored {
            receipt: format!("r-{}", service.stored.len()),
            identifier: wrapped.identifier.clone(),
            accepted: now,
            visible: now.plus_micros(seconds(dice.below(300))),
            finished: now.plus_micros(seconds(dice.below(4_000))),
            outcome: if dice.below(5) == 0 { Processing::Failed } else { Processing::Completed },
        };
        let answer = stored.answer(now);
        service.stored.push(stored);
        Ok(Received { answer, evidence: evidence() })
    }

    async fn find(&self, identifier: &str) -> Result<Found, Fault> {
        self.take_time();
        if self.service.lock().unwrap().refuses {
            let (answer, evidence) = (Box::default(), Box::default());
            return Err(Fault::Refused { answer, evidence });
        }
        let mut answers = self.seen();
        answers.retain(|answer| answer.identifiers.iter().any(|known| known == identifier));
        Ok(Found { answers, evidence: evidence() })
    }

    async fn status(&self, receipt: &str) -> Result<Received, Fault> {
        let hit = self.seen().into_iter().find(|hit| hit.receipt.as_deref() == Some(receipt));
        let why = client::Why::NotFound { status: 404 };
        let missing = Fault::Transient { why, retry_after: None, evidence: None };
        hit.map(|answer| Received { answer, evidence: evidence() }).ok_or(missing)
    }

    async fn changed_since(&self, since: Option<Instant>) -> Result<Changes, Fault> {
        if self.service.lock().unwrap().lists_nothing {
            return Err(broken());
        }
        let mut answers = self.seen();
        answers.retain(|answer| answer.last_updated >= since);
        let entry = |answer: &Answer| {
            let id = answer.receipt.as_deref().unwrap_or_default();
            format!(r#"{{"resource":{{"resourceType":"DocumentReference","id":"{id}"}}}}"#)
        };
        let entries: Vec<String> = answers.iter().map(entry).collect();
        let body = format!(r#"{{"resourceType":"Bundle","entry":[{}]}}"#, entries.join(","));
        let page = Evidence { body: body.into_bytes(), ..evidence() };
        Ok(Changes { answers, evidence: vec![page], ..Changes::default() })
    }

    async fn search(&self, query: &Query) -> Result<(Page, Evidence), Fault> {
        self.take_time();
        let chokes_on = self.service.lock().unwrap().chokes_on.clone();
        if chokes_on.is_some_and(|document| query.identifier.contains(&document)) {
            return Err(broken());
        }
        let mut answers = self.seen();
        let mut service = self.service.lock().unwrap();
        match &mut service.blind_after {
            Some(0) => service.blind = true,
            Some(left) => *left -= 1,
            None => {}
        }
        if service.blind {
            answers.clear();
        }
        let document = |answer: &Answer| service.documents.get(&answer.identifiers[0]).cloned();
        answers.retain(|answer| {
            let of_document =
                !service.by_delivery && document(answer) == query.identifier.first().cloned();
            answer.identifiers == query.identifier || of_document
        });
        Ok((Page { total: Some(answers.len() as u64), answers, ..Page::default() }, evidence()))
    }

    async fn capability(&self) -> Result<(Capability, Evidence), Fault> {
        Ok((Capability::default(), evidence()))
    }
}

fn endpoint() -> Endpoint {
    Endpoint::new(
        "simulated",
        "https://localhost/v1/fhir".parse().unwrap(),
        Environment::Integration,
    )
}

fn key() -> Key {
    Key::new(zeroize::Zeroizing::new([7; 32]))
}

const MINUTE: i64 = 60_000_000;

struct Laboratory {
    clock: Arc<SimulatedClock>,
    authority: Simulated,
    folder: tempfile::TempDir,
    dice: Dice,
    /// Contents handed over.
    files: u64,
    /// Identifiers that were confirmed, with the digest of their content.
    taken: HashMap<String, String>,
    lives: u32,
}

impl Laboratory {
    fn new(seed: u64) -> Self {
        let clock = Arc::new(SimulatedClock(AtomicI64::new(1_800_000_000_000_000)));
        let service = Arc::new(Mutex::new(Service { dice: seed * 1_000, ..Service::default() }));
        let authority = Simulated { service, clock: clock.clone() };
        let folder =
            tempfile::TempDir::new_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self {
            clock,
            authority,
            folder,
            dice: Dice(seed),
            files: 0,
            taken: HashMap::new(),
            lives: 0,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journal.db")
    }

    fn backups(&self) -> PathBuf {
        self.folder.path().join("backups")
    }

    fn pass(&self, micros: i64) {
        self.clock.0.fetch_add(micros, Ordering::SeqCst);
    }

    /// A file comes, perhaps once more; it has an identifier of its own each time.
    fn hand_over(&mut self, journal: &Journal, number: u64) {
        let identifier = format!("urn:uuid:{:032x}", self.dice.below(u64::MAX));
        self.hand_over_as(journal, number, identifier);
    }

    /// The same in an envelope that names it.
    fn hand_over_as(&mut self, journal: &Journal, number: u64, identifier: String) {
        let new = self.submission(number, identifier);
        let digest = new.digest.clone();
        if let Imported::New(id) = journal.import_unless_async(new, Unless::Known).wait().unwrap() {
            let identifier = journal.row(id).unwrap().identifier;
            let documents = &mut self.authority.service.lock().unwrap().documents;
            documents.insert(identifier.clone(), format!("document-{number}"));
            self.taken.insert(identifier, digest);
        }
    }

    fn submission(&self, number: u64, identifier: String) -> NewSubmission {
        let document = testkit::DocumentBuilder::new(number).json().into_bytes();
        NewSubmission {
            file: format!("{number}.json"),
            format: Format::Json,
            digest: report::digest(&document),
            document,
            summary: Summary {
                identifier: Some(format!("document-{number}")),
                ..Summary::default()
            },
            identifier,
            endpoint: "simulated".to_owned(),
            canonical: None,
            environment: None,
            first: Event::Queued { due: self.clock.now() },
            findings: Vec::new(),
            corrects: None,
            by: Person("test".to_owned()),
            at: self.clock.now(),
        }
    }

    fn worker(&mut self, journal: &Journal) -> Worker<Simulated> {
        self.lives += 1;
        Worker::new(WorkerDeps {
            journal: journal.clone(),
            authority: self.authority.clone(),
            endpoint: endpoint(),
            clock: self.clock.clone(),
            timing: Timing { in_flight_max: 2, ..Timing::default() },
            lease: Arc::new(LeaseKeeper::new(
                journal.clone(),
                self.clock.clone(),
                Timing::default().lease,
                format!("life-{}", self.lives),
            )),
            connection: Arc::new(watch::Sender::new(Connection::default())),
        })
    }

    async fn turn(&mut self, worker: &Worker<Simulated>) {
        let mut held = None;
        worker.turn(&mut held, &CancellationToken::new()).await.unwrap();
        let pause = i64::try_from(self.dice.below(20)).unwrap() * MINUTE / 4;
        self.pass(31_000_000 + pause);
    }

    /// Works until nothing is owed any more.
    async fn settle(&mut self, journal: &Journal) {
        let worker = self.worker(journal);
        for _ in 0..2_000 {
            self.turn(&worker).await;
            if self.all_settled(journal) {
                return;
            }
        }
        let states: Vec<_> = (1..=3).map(|n| journal.state(SubmissionId(n))).collect();
        panic!("no rest: {states:?} {:?}", journal.next_due());
    }

    fn all_settled(&self, journal: &Journal) -> bool {
        journal.open_reports().unwrap().is_empty() && journal.next_due().unwrap().is_none()
    }

    async fn compare(&self, journal: &Journal) {
        let Some(open) = journal.unreconciled().unwrap() else { return };
        let tools = ReconcileDeps {
            journal,
            authority: &self.authority,
            endpoint: &endpoint(),
            clock: &*self.clock,
            timing: &Timing::default(),
        };
        compare(&tools, open).await.unwrap();
    }

    /// The disk dies, with the register: the newest backup takes the journal's place.
    fn on_a_new_disk(&self, journal: Journal) -> Journal {
        journal.close();
        for entry in std::fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                std::fs::remove_file(path).unwrap();
            }
        }
        let backup = &journal::list_backups(&self.backups()).unwrap()[0].file;
        restore(backup, &key(), &self.path(), &nowhere, self.clock.now()).unwrap();
        Journal::open(&self.path(), &key()).unwrap()
    }

    /// Losses, duplicates, false *completed*.
    fn count(&self, journal: &Journal) -> [u64; 3] {
        let service = self.authority.service.lock().unwrap();
        let lost = journal.lost_reports().unwrap();
        let is_lost = |identifier: &str| lost.iter().any(|lost| lost.identifier == identifier);
        let stored = |identifier: &str| service.stored.iter().any(|s| s.identifier == identifier);
        let losses = self.taken.keys().filter(|identifier| {
            let known = journal.find_by_attempt_identifier(identifier).unwrap();
            known.is_none() && (stored(identifier) || !is_lost(identifier))
        });
        let mut contents: HashMap<&str, u64> = HashMap::new();
        for stored in &service.stored {
            *contents.entry(self.taken[&stored.identifier].as_str()).or_default() += 1;
        }
        let twice = contents.values().map(|count| count - 1).sum::<u64>()
            + service.posts.values().map(|posts| posts - 1).sum::<u64>();
        let mut wrong = 0;
        for identifier in self.taken.keys() {
            let Some(id) = journal.find_by_attempt_identifier(identifier).unwrap() else {
                continue;
            };
            if let State::Completed { receipt } = journal.state(id).unwrap() {
                let stored = service.stored.iter().find(|stored| stored.receipt == receipt);
                let right = stored.is_some_and(|s| {
                    s.outcome == Processing::Completed && s.identifier == *identifier
                });
                wrong += u64::from(!right);
            }
        }
        [losses.count() as u64, twice, wrong]
    }
}

fn nowhere(_: &Path) -> Option<journal::Home> {
    None
}

fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(name);
    }
}

/// A day of a laboratory: files come, the worker works, backups are made; then one of the backups, of any
/// age, takes the journal's place.
async fn run(seed: u64) -> [u64; 3] {
    let mut lab = Laboratory::new(seed);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    let worker = lab.worker(&journal);
    let steps = 10 + lab.dice.below(30);
    for _ in 0..steps {
        match lab.dice.below(4) {
            0 | 1 => {
                lab.files += 1;
                lab.hand_over(&journal, lab.files);
            }
            2 => lab.turn(&worker).await,
            _ => {
                journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
                lab.pass(2_000_000);
            }
        }
    }
    drop(worker);
    journal.close();
    let backups = journal::list_backups(&lab.backups()).unwrap();
    let now = lab.clock.now();
    let kind = lab.dice.below(4);
    if kind > 0 {
        // Nothing can be read of the journal any more.
        remove(&lab.path());
    }
    match backups.get(usize::try_from(lab.dice.below(backups.len().max(1) as u64)).unwrap()) {
        Some(backup) if kind < 3 => {
            restore(&backup.file, &key(), &lab.path(), &nowhere, now).unwrap();
        }
        _ if kind > 0 => {
            recover(&lab.path(), &key(), &lab.backups(), &nowhere, now).unwrap().unwrap();
        }
        _ => {}
    }
    let journal = Journal::open(&lab.path(), &key()).unwrap();
    lab.compare(&journal).await;
    // The watched folder shows all its files again.
    for number in 1..=lab.files {
        if lab.dice.below(3) > 0 {
            lab.hand_over(&journal, number);
        }
    }
    lab.settle(&journal).await;
    lab.pass(70 * MINUTE);
    lab.compare(&journal).await;
    for number in 1..=lab.files {
        lab.hand_over(&journal, number);
    }
    lab.settle(&journal).await;
    assert_eq!(journal.verify().unwrap().problems, [], "seed {seed}");
    let counts = lab.count(&journal);
    assert_eq!(counts, [0, 0, 0], "seed {seed}: losses, duplicates, false completed");
    let everything = lab.authority.service.lock().unwrap().stored.len() as u64;
    assert_eq!(everything, lab.files, "seed {seed}: every content is at the authority, once");
    counts
}

/// A laboratory with one report that its backup knows and one that was sent since. The disk dies: no register either. On
/// the new one the second report is handed over again.
async fn after_a_dead_disk() -> (Laboratory, Journal, SubmissionId) {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over(&journal, 1);
    lab.settle(&journal).await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.hand_over(&journal, 2);
    lab.settle(&journal).await;
    let journal = lab.on_a_new_disk(journal);
    lab.hand_over(&journal, 2);
    let waits = journal.guarded("simulated").unwrap();
    let [second] = waits[..] else { panic!("{waits:?}") };
    (lab, journal, second)
}

/// To a certificate that has lost its access everything is empty: nothing is let go for that, and the comparison is not
/// taken for complete.
#[tokio::test]
async fn nothing_is_let_go_while_nothing_of_ours_is_shown() {
    let (lab, journal, second) = after_a_dead_disk().await;
    let waits = [second];
    let see = |blind| lab.authority.service.lock().unwrap().blind = blind;
    let tools = ReconcileDeps {
        journal: &journal,
        authority: &lab.authority,
        endpoint: &endpoint(),
        clock: &*lab.clock,
        timing: &Timing::default(),
    };
    see(true);
    let found = compare(&tools, journal.unreconciled().unwrap().unwrap()).await.unwrap();
    assert!(!found.complete);
    decide_guarded(&tools).await.unwrap();
    assert_eq!(journal.guarded("simulated").unwrap(), waits, "it goes on waiting");
    assert_eq!(journal.state(waits[0]).unwrap().code(), "held");
    see(false);
    let found = compare(&tools, journal.unreconciled().unwrap().unwrap()).await.unwrap();
    assert!(found.complete);
    assert_eq!(found.added, 1, "what was sent since the backup");
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    assert_eq!(journal.state(waits[0]).unwrap().code(), "held", "the authority has it");
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 2);
}

/// What was on hold in the backup was released and completed since, and the comparison has shown nothing of it: before its
/// correction leaves the authority is asked for it, and a person decides.
#[tokio::test]
async fn a_correction_of_what_may_have_left_before_a_restore_asks_for_it() {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over(&journal, 1);
    lab.settle(&journal).await;
    lab.hand_over(&journal, 2);
    let second = SubmissionId(2);
    let record = |id, event, at| {
        journal.record(Step::new(id, event, Person("test".to_owned()), at)).unwrap()
    };
    record(second, Event::HeldBack, lab.clock.now());
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let due = lab.clock.now();
    record(second, Event::Released { reason: "ok".to_owned(), due }, due);
    lab.settle(&journal).await;
    let journal = lab.on_a_new_disk(journal);
    assert_eq!(journal.state(second).unwrap().code(), "held");
    // The list is never given, and the guard of what is taken in lets the correction go.
    journal.set_reconciled().unwrap();
    let newer = lab.submission(3, "urn:uuid:newer".to_owned());
    let newer = journal.import(NewSubmission { corrects: Some(second), ..newer }).unwrap();
    let by = Person("test".to_owned());
    journal.decide_guarded(newer, None, &by, lab.clock.now()).unwrap();
    journal.set_paused(false).unwrap();
    let worker = lab.worker(&journal);
    for _ in 0..4 {
        lab.turn(&worker).await;
    }
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 2, "it waits");
    assert_eq!(journal.state(newer).unwrap().code(), "held");
    assert!(matches!(journal.state(second).unwrap().code(), "in-progress" | "completed"));
}

/// What was queued in the backup had been sent since; a person says that it was not received, and the authority shows it
/// after all: it is not sent again, and it ends.
#[tokio::test]
async fn what_is_shown_after_a_word_that_it_was_not_received_ends() {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over(&journal, 1);
    let id = SubmissionId(1);
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.settle(&journal).await;
    let journal = lab.on_a_new_disk(journal);
    let word = Event::SaidNotReceived { reason: "hotline".to_owned(), due: lab.clock.now() };
    journal.record(Step::new(id, word, Person("test".to_owned()), lab.clock.now())).unwrap();
    assert!(matches!(journal.state(id).unwrap(), State::Queued { attempt: 0, .. }));
    journal.set_paused(false).unwrap();
    lab.settle(&journal).await;
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 1);
    assert!(matches!(journal.state(id).unwrap().code(), "completed" | "failed"));
}

/// The specification lets an authority match the identifier of the delivery alone. It answers every question for a
/// document with nothing, and what it has was sent under another identifier than the one that is made now.
#[tokio::test]
async fn nothing_is_let_go_where_documents_cannot_be_asked_for() {
    let (mut lab, journal, second) = after_a_dead_disk().await;
    let by_delivery = |by| lab.authority.service.lock().unwrap().by_delivery = by;
    by_delivery(true);
    for _ in 0..4 {
        lab.compare(&journal).await;
        lab.pass(11 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), [second]);
    assert_eq!(journal.state(second).unwrap().code(), "held");
    assert!(!journal.release_waits(second).unwrap(), "a person may decide");
    by_delivery(false);
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    assert_eq!(journal.state(second).unwrap().code(), "held", "the authority has it");
    lab.settle(&journal).await;
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 2);
}

/// An authority that matches deliveries alone shows an envelope that has its document's identifier. That says nothing of
/// documents that went out under another one.
#[tokio::test]
async fn an_envelope_named_as_its_document_is_no_witness_for_documents() {
    let (mut lab, journal, second) = after_a_dead_disk().await;
    lab.authority.service.lock().unwrap().by_delivery = true;
    lab.hand_over_as(&journal, 7, "document-7".to_owned());
    let seventh = journal.find_by_attempt_identifier("document-7").unwrap().unwrap();
    lab.compare(&journal).await;
    assert!(!journal.release_waits(seventh).unwrap(), "a person may decide");
    let event = Event::Released { reason: "asked elsewhere".to_owned(), due: lab.clock.now() };
    let by = Person("test".to_owned());
    journal.record(Step::new(seventh, event, by, lab.clock.now())).unwrap();
    lab.settle(&journal).await;
    assert_eq!(journal.state(seventh).unwrap().code(), "completed");
    for _ in 0..4 {
        lab.compare(&journal).await;
        lab.pass(11 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), [second]);
    assert_eq!(journal.state(second).unwrap().code(), "held");
}

/// Where all of a laboratory goes out under the identifiers of its documents, it can be asked for by them.
#[tokio::test]
async fn where_everything_is_named_as_its_document_it_is_asked_for_by_that() {
    let mut lab = Laboratory::new(1);
    let name = |number: u64| format!("document-{number}");
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over_as(&journal, 1, name(1));
    lab.settle(&journal).await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.hand_over_as(&journal, 2, name(2));
    lab.settle(&journal).await;
    let journal = lab.on_a_new_disk(journal);
    lab.authority.service.lock().unwrap().by_delivery = true;
    for number in [2, 3] {
        lab.hand_over_as(&journal, number, name(number));
    }
    for _ in 0..2 {
        lab.compare(&journal).await;
        lab.pass(11 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    lab.settle(&journal).await;
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 3, "the third, and no other");
}

/// It takes no question for a delivery: nothing says then whether it shows anything of ours, and a person decides.
#[tokio::test]
async fn a_report_may_be_released_where_every_question_is_refused() {
    let (lab, journal, second) = after_a_dead_disk().await;
    assert!(journal.release_waits(second).unwrap());
    lab.authority.service.lock().unwrap().refuses = true;
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), [second]);
    assert!(!journal.release_waits(second).unwrap(), "a person may decide");
}

/// Its list of changes is never given, and one question always ends with an error: the others are decided all the same.
#[tokio::test]
async fn what_can_be_asked_for_is_decided_where_other_questions_fail() {
    let (mut lab, journal, second) = after_a_dead_disk().await;
    lab.hand_over(&journal, 3);
    lab.hand_over(&journal, 4);
    let [fourth, third, _] = journal.guarded("simulated").unwrap()[..] else { panic!("three") };
    {
        let mut service = lab.authority.service.lock().unwrap();
        (service.lists_nothing, service.chokes_on) = (true, Some("document-4".to_owned()));
    }
    for _ in 0..2 {
        lab.compare(&journal).await;
        lab.pass(11 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), [fourth]);
    assert_eq!(journal.state(second).unwrap().code(), "held", "the authority has it");
    assert_eq!(journal.state(third).unwrap().code(), "queued");
    assert!(!journal.release_waits(fourth).unwrap(), "a person may decide");
}

/// The certificate loses its access between the look whether it has one and the question.
#[tokio::test]
async fn nothing_is_let_go_where_sight_is_lost_while_it_is_asked_for() {
    let (lab, journal, second) = after_a_dead_disk().await;
    let set = |after| {
        let mut service = lab.authority.service.lock().unwrap();
        (service.blind, service.blind_after) = (false, after);
    };
    for _ in 0..2 {
        set(Some(1));
        lab.compare(&journal).await;
        assert!(lab.authority.service.lock().unwrap().blind, "lost on the way");
        assert_eq!(journal.guarded("simulated").unwrap(), [second], "it goes on waiting");
        assert_eq!(journal.state(second).unwrap().code(), "held");
        lab.pass(11 * MINUTE);
    }
    set(None);
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    assert_eq!(journal.state(second).unwrap().code(), "held", "the authority has it");
}

/// What was sent just before the disk died is not shown yet: one empty answer lets nothing go.
#[tokio::test]
async fn nothing_is_let_go_while_the_authority_may_show_it_late() {
    let (mut lab, journal, second) = after_a_dead_disk().await;
    let visible = lab.clock.now().plus_micros(5 * MINUTE);
    lab.authority.service.lock().unwrap().stored[1].visible = visible;
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), [second]);
    lab.pass(6 * MINUTE);
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    assert_eq!(journal.state(second).unwrap().code(), "held", "the authority has it");
    // What it does not have is sent once that time is over.
    lab.hand_over(&journal, 3);
    let [third] = journal.guarded("simulated").unwrap()[..] else { panic!("it waits") };
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), [third]);
    lab.pass(11 * MINUTE);
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    lab.settle(&journal).await;
    assert_eq!(journal.state(third).unwrap().code(), "completed");
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 3);
}

/// Each question takes so long that many of them do not fit between two looks whether anything of ours is shown.
#[tokio::test]
async fn what_waits_is_decided_at_a_slow_authority_too() {
    let (mut lab, journal, _) = after_a_dead_disk().await;
    for number in 3..=22 {
        lab.hand_over(&journal, number);
    }
    lab.authority.service.lock().unwrap().slow = 12_000_000;
    for _ in 0..2 {
        lab.compare(&journal).await;
        lab.pass(11 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    lab.authority.service.lock().unwrap().slow = 0;
    lab.settle(&journal).await;
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 22);
}

/// One question alone takes longer than an empty answer may be believed: a person decides.
#[tokio::test]
async fn a_report_may_be_released_where_every_question_takes_too_long() {
    let (lab, journal, second) = after_a_dead_disk().await;
    lab.authority.service.lock().unwrap().stored.truncate(1);
    lab.authority.service.lock().unwrap().slow = 2 * MINUTE;
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), [second]);
    assert!(!journal.release_waits(second).unwrap(), "a person may decide");
}

/// `LABCOURIER_RESTORES` makes it many more.
#[test]
fn a_backup_of_any_age_sends_nothing_twice() {
    let seeds =
        std::env::var("LABCOURIER_RESTORES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut figures = Figures::start("damage", "a_backup_of_any_age_sends_nothing_twice");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for seed in 1..=seeds {
        let [losses, duplicates, wrong] = runtime.block_on(run(seed));
        figures.cases(1);
        figures.losses(losses);
        figures.duplicates(duplicates);
        figures.false_completed(wrong);
    }
    figures.finish();
}
