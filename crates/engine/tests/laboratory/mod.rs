//! A laboratory with a real journal, the real worker, and an authority that remembers: its disk
//! dies, and a backup of any age takes the journal's place.

#![allow(dead_code, reason = "each test uses its part")]
#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod asking;
mod counting;
pub(crate) mod disk;
pub(crate) mod limit;
mod versions;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use client::{Authority, Capability, Changes, Evidence, Fault, Found, Received};
use engine::{Clock, Connection, Formerly, LeaseKeeper, Timing, Worker, WorkerDeps};
use exchange::{Answer, Endpoint, Envelope, Environment, Page, Processing, Query};
use fhir::{Format, Instant};
use journal::{Imported, Journal, Key, NewSubmission, Unless, restore};
use report::{Event, Person, SubmissionId, Summary};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The generator of random numbers splitmix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}

pub(crate) struct SimulatedClock(pub(crate) AtomicI64);

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
pub(crate) struct Stored {
    pub(crate) receipt: String,
    /// The certificate that it came with: it is shown to no other.
    pub(crate) certificate: u8,
    pub(crate) identifier: String,
    pub(crate) accepted: Instant,
    /// A search shows it from then on.
    pub(crate) visible: Instant,
    pub(crate) finished: Instant,
    pub(crate) outcome: Processing,
}

#[derive(Default)]
pub(crate) struct Service {
    pub(crate) stored: Vec<Stored>,
    pub(crate) posts: BTreeMap<String, u64>,
    pub(crate) dice: u64,
    /// The certificate has lost its access: nothing is shown to it.
    pub(crate) blind: bool,
    /// What the question for any delivery ends with.
    pub(crate) finds_end: Option<Fault>,
    /// The list and the questions for documents end so too.
    pub(crate) all_end: bool,
    /// What the list of what has changed ends with.
    pub(crate) list_ends: Option<Fault>,
    /// Every question is answered with an error of the server.
    pub(crate) broken: bool,
    /// A read by a number of another laboratory is answered with 403.
    pub(crate) forbids_others: bool,
    /// The delivery whose question always ends with an error, and which no list shows.
    pub(crate) chokes_on_delivery: Option<String>,
    /// What the question for this delivery or document always ends with.
    pub(crate) ends_for: Option<(String, Fault)>,
    /// After so many more questions none is ever answered, which is told: the program ends then.
    pub(crate) hangs_after: Option<u32>,
    pub(crate) hangs: Arc<tokio::sync::Notify>,
    /// More deliveries of that kind.
    pub(crate) chokes_on_these: std::collections::HashSet<String>,
    /// It loses it after so many searches.
    pub(crate) blind_after: Option<u32>,
    /// The list of what has changed is never given.
    pub(crate) lists_nothing: bool,
    /// The certificate whose questions for documents always end with an error.
    pub(crate) chokes_for: Option<u8>,
    /// The document whose question always ends with an error.
    pub(crate) chokes_on: Option<String>,
    /// How many questions it answers.
    pub(crate) limit: limit::Limit,
    /// Whoever asks for what it chokes on is asked to come again after a minute.
    pub(crate) chokes_with_patience: bool,
    /// So long each question takes, in microseconds.
    pub(crate) slow: i64,
    /// A search by identifier matches that of the delivery, and not that of the document in it.
    pub(crate) by_delivery: bool,
    /// Identifiers of the documents, by those of their deliveries.
    pub(crate) documents: HashMap<String, String>,
}

#[derive(Clone)]
pub(crate) struct Simulated {
    /// The certificate that asks.
    pub(crate) certificate: u8,
    pub(crate) service: Arc<Mutex<Service>>,
    pub(crate) clock: Arc<SimulatedClock>,
}

pub(crate) fn evidence() -> Evidence {
    Evidence { status: 200, ..Evidence::default() }
}

impl Stored {
    pub(crate) fn answer(&self, now: Instant) -> Answer {
        let done = self.finished <= now;
        Answer {
            receipt: Some(self.receipt.clone()),
            processing: Some(if done { self.outcome } else { Processing::InProgress }),
            identifiers: vec![self.identifier.clone()],
            date: Some(self.accepted),
            last_updated: Some(if done { self.finished } else { self.accepted }),
            ..Answer::default()
        }
    }
}

impl Simulated {
    pub(crate) fn take_time(&self) {
        let slow = self.service.lock().unwrap().slow;
        self.clock.0.fetch_add(slow, Ordering::SeqCst);
    }

    pub(crate) fn seen(&self) -> Vec<Answer> {
        let now = self.clock.now();
        let service = self.service.lock().unwrap();
        let ours = |stored: &&Stored| !service.blind && stored.certificate == self.certificate;
        let shown = service.stored.iter().filter(ours);
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
            certificate: self.certificate,
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
        self.hang_at_last().await;
        self.take_time();
        self.count()?;
        if self.chokes_on_delivery(identifier) || self.service.lock().unwrap().broken {
            return Err(self.choked());
        }
        self.ends_for(identifier)?;
        let mut answers = self.seen();
        answers.retain(|answer| answer.identifiers.iter().any(|known| known == identifier));
        Ok(Found { answers, evidence: evidence() })
    }

    async fn status(&self, receipt: &str) -> Result<Received, Fault> {
        let hit = self.seen().into_iter().find(|hit| hit.receipt.as_deref() == Some(receipt));
        hit.map(|answer| Received { answer, evidence: evidence() }).ok_or_else(|| self.missing())
    }

    async fn changed_since(&self, since: Option<Instant>) -> Result<Changes, Fault> {
        self.count()?;
        self.list_ends()?;
        if self.service.lock().unwrap().lists_nothing || self.service.lock().unwrap().broken {
            return Err(self.choked());
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
        self.count()?;
        self.all_end()?;
        query.identifier.iter().try_for_each(|of| self.ends_of(of))?;
        let chokes_on = self.service.lock().unwrap().chokes_on.clone();
        let chokes_for = self.service.lock().unwrap().chokes_for;
        if self.service.lock().unwrap().broken {
            return Err(limit::broken());
        }
        if chokes_for == Some(self.certificate)
            || chokes_on.is_some_and(|document| query.identifier.contains(&document))
        {
            return Err(self.choked());
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

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        "simulated",
        "https://localhost/v1/fhir".parse().unwrap(),
        Environment::Integration,
    )
}

pub(crate) fn key() -> Key {
    Key::new(zeroize::Zeroizing::new([7; 32]))
}

pub(crate) const MINUTE: i64 = 60_000_000;

pub(crate) struct Laboratory {
    pub(crate) clock: Arc<SimulatedClock>,
    pub(crate) authority: Simulated,
    /// The same with the certificates of before.
    pub(crate) former: Vec<Formerly<Simulated>>,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) dice: Dice,
    /// Contents handed over.
    pub(crate) files: u64,
    /// Identifiers that were confirmed, with the digest of their content.
    pub(crate) taken: HashMap<String, String>,
    pub(crate) lives: u32,
    endpoint: Endpoint,
    timing: Timing,
}

impl Laboratory {
    pub(crate) fn new(seed: u64) -> Self {
        let clock = Arc::new(SimulatedClock(AtomicI64::new(1_800_000_000_000_000)));
        let service = Arc::new(Mutex::new(Service { dice: seed * 1_000, ..Service::default() }));
        let authority = Simulated { certificate: 0, service, clock: clock.clone() };
        let folder =
            tempfile::TempDir::new_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self {
            clock,
            authority,
            former: Vec::new(),
            folder,
            dice: Dice(seed),
            files: 0,
            taken: HashMap::new(),
            lives: 0,
            endpoint: endpoint(),
            timing: Timing::default(),
        }
    }

    /// A laboratory with one report that its backup knows and one that was sent since. The disk
    /// dies: no register either. On the new one the second report is handed over again.
    pub(crate) async fn after_a_dead_disk() -> (Self, Journal, SubmissionId) {
        let mut lab = Self::new(1);
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

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("journal.db")
    }

    pub(crate) fn backups(&self) -> PathBuf {
        self.folder.path().join("backups")
    }

    pub(crate) fn pass(&self, micros: i64) {
        self.clock.0.fetch_add(micros, Ordering::SeqCst);
    }

    /// A file comes, perhaps once more; it has an identifier of its own each time.
    pub(crate) fn hand_over(&mut self, journal: &Journal, number: u64) {
        let identifier = format!("urn:uuid:{:032x}", self.dice.below(u64::MAX));
        self.hand_over_as(journal, number, identifier);
    }

    /// The same in an envelope that names it.
    pub(crate) fn hand_over_as(&mut self, journal: &Journal, number: u64, identifier: String) {
        let new = self.submission(number, identifier);
        let digest = new.digest.clone();
        if let Imported::New(id) = journal.import_unless_async(new, Unless::Known).wait().unwrap() {
            let identifier = journal.row(id).unwrap().identifier;
            let documents = &mut self.authority.service.lock().unwrap().documents;
            documents.insert(identifier.clone(), format!("document-{number}"));
            self.taken.insert(identifier, digest);
        }
    }

    pub(crate) fn submission(&self, number: u64, identifier: String) -> NewSubmission {
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

    pub(crate) fn worker(&mut self, journal: &Journal) -> Worker<Simulated> {
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
        .with_former(self.former.clone())
    }

    /// Another laboratory's certificate takes the place of the one in use.
    pub(crate) fn change_certificate(&mut self) {
        let until = self.clock.now();
        let from = self.former.last().map_or(Instant(i64::MIN), |it| it.until);
        let authority = Some(self.authority.clone());
        self.former.push(Formerly { from, until, alone_until: until, through: None, authority });
        self.authority.certificate += 1;
    }

    pub(crate) async fn turn(&mut self, worker: &Worker<Simulated>) {
        let mut held = None;
        worker.turn(&mut held, &CancellationToken::new()).await.unwrap();
        let pause = i64::try_from(self.dice.below(20)).unwrap() * MINUTE / 4;
        self.pass(31_000_000 + pause);
    }

    /// Works until nothing is owed any more.
    pub(crate) async fn settle(&mut self, journal: &Journal) {
        let worker = self.worker(journal);
        for _ in 0..2_000 {
            self.turn(&worker).await;
            self.decide(journal).await;
            if self.all_settled(journal) {
                return;
            }
        }
        let states: Vec<_> = (1..=3).map(|n| journal.state(SubmissionId(n))).collect();
        panic!("no rest: {states:?} {:?}", journal.next_due());
    }

    pub(crate) fn all_settled(&self, journal: &Journal) -> bool {
        let mut waiting = journal.guarded("simulated").unwrap().into_iter();
        let is_asked_for =
            |id| journal.goes_by_itself(id).unwrap() && journal.release_waits(id).unwrap();
        journal.open_reports().unwrap().is_empty()
            && journal.next_due().unwrap().is_none()
            && !waiting.any(is_asked_for)
    }

    /// The disk dies, with the register: the newest backup takes the journal's place.
    pub(crate) fn on_a_new_disk(&self, journal: Journal) -> Journal {
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
}

pub(crate) fn nowhere(_: &Path) -> Option<journal::Home> {
    None
}
