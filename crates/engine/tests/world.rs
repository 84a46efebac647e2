//! A seeded world: the real worker and the real journal against an authority that loses answers, delays
//! them, shows reports late and refuses for a while; and a laboratory that crashes between any two steps.
//! Time is simulated. After every turn: nothing doubled, nothing moved backwards, replay gives the state.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::{Authority, Capability, Changes, Evidence, Fault, Found, Received, Why};
use engine::{Clock, Connection, Pace, Tools, Worker};
use exchange::{Answer, Endpoint, Environment, Page, Processing, Query, Release, Sealed};
use fhir::{Format, Instant};
use journal::{Journal, Key, NewSubmission};
use report::{Event, Group, Person, State, SubmissionId, Summary};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A small generator (splitmix64): the same seed gives the same world.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn percent(&mut self, p: u64) -> bool {
        self.below(100) < p
    }
}

#[derive(Default)]
struct SimulatedClock(AtomicI64);

impl SimulatedClock {
    fn advance(&self, micros: i64) {
        self.0.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Instant {
        Instant(self.0.load(Ordering::SeqCst))
    }
    fn fraction(&self) -> f64 {
        0.25
    }
}

/// A report as the authority has it.
#[derive(Clone)]
struct Stored {
    receipt: String,
    identifier: String,
    accepted: Instant,
    visible: Instant,
    finished: Instant,
    outcome: Processing,
}

struct Service {
    dice: Dice,
    stored: Vec<Stored>,
    /// Requests that carried a report, by identifier.
    posts: HashMap<String, u32>,
    crash_percent: u64,
    fault_percent: u64,
    quiet_after: Instant,
}

/// The authority's side of the world.
#[derive(Clone)]
struct Simulated {
    service: Arc<Mutex<Service>>,
    clock: Arc<SimulatedClock>,
    crash: CancellationToken,
}

fn evidence() -> Evidence {
    Evidence { status: 200, body: b"{}".to_vec(), ..Evidence::default() }
}

impl Stored {
    fn received(&self, now: Instant) -> Received {
        let processing = if now >= self.finished { self.outcome } else { Processing::InProgress };
        let last_updated = if now >= self.finished { self.finished } else { self.accepted };
        Received {
            answer: Answer {
                receipt: Some(self.receipt.clone()),
                processing: Some(processing),
                identifiers: vec![self.identifier.clone()],
                date: Some(self.accepted),
                last_updated: Some(last_updated),
                issues: Vec::new(),
            },
            evidence: evidence(),
        }
    }
}

impl Simulated {
    fn faulty(&self, service: &mut Service) -> bool {
        self.clock.now() < service.quiet_after && {
            let percent = service.fault_percent;
            service.dice.percent(percent)
        }
    }

    /// The process dies here: the future never returns and the harness drops it.
    async fn die(&self) -> ! {
        self.crash.cancel();
        std::future::pending().await
    }

    fn crashes(&self, service: &mut Service) -> bool {
        let percent = service.crash_percent;
        self.clock.now() < service.quiet_after && service.dice.percent(percent)
    }
}

enum Post {
    Die,
    Answer(Box<Result<Received, Fault>>),
}

impl Post {
    fn failed(fault: Fault) -> Self {
        Self::Answer(Box::new(Err(fault)))
    }
}

impl Simulated {
    fn post(&self, identifier: &str) -> Post {
        let now = self.clock.now();
        let mut service = self.service.lock().unwrap();
        *service.posts.entry(identifier.to_owned()).or_default() += 1;
        let faulty = self.faulty(&mut service);
        if faulty && service.dice.percent(40) {
            return match service.dice.below(3) {
                0 => Post::failed(Fault::Transient {
                    why: Why::Cut,
                    retry_after: None,
                    evidence: None,
                }),
                1 => Post::failed(Fault::Locked { why: Why::Cut, evidence: None }),
                _ => Post::failed(Fault::Uncertain { why: Why::Cut, evidence: None }),
            };
        }
        if self.crashes(&mut service) && service.dice.percent(30) {
            return Post::Die;
        }
        let number = service.stored.len();
        let seconds = |n: u64| i64::try_from(n).unwrap() * 1_000_000;
        // A search may show a report minutes late, but not later than the doubt lasts.
        let lag = if faulty { seconds(service.dice.below(300)) } else { 0 };
        let duration = seconds(service.dice.below(4000));
        let outcome =
            if service.dice.percent(20) { Processing::Failed } else { Processing::Completed };
        let stored = Stored {
            receipt: format!("r-{number}"),
            identifier: identifier.to_owned(),
            accepted: now,
            visible: now.plus_micros(lag),
            finished: now.plus_micros(duration),
            outcome,
        };
        let received = stored.received(now);
        service.stored.push(stored);
        if self.crashes(&mut service) {
            return Post::Die;
        }
        if faulty {
            return Post::failed(Fault::Uncertain { why: Why::Cut, evidence: None });
        }
        Post::Answer(Box::new(Ok(received)))
    }

    fn seen(&self) -> Option<Vec<Received>> {
        let now = self.clock.now();
        let mut service = self.service.lock().unwrap();
        if self.faulty(&mut service) {
            return None;
        }
        let visible = service.stored.iter().filter(|stored| stored.visible <= now);
        Some(visible.map(|stored| stored.received(now)).collect())
    }

    fn unreachable() -> Fault {
        Fault::Transient { why: Why::Cut, retry_after: None, evidence: None }
    }
}

impl Authority for Simulated {
    async fn submit(&self, sealed: &Sealed) -> Result<Received, Fault> {
        match self.post(&sealed.identifier) {
            Post::Die => self.die().await,
            Post::Answer(answer) => *answer,
        }
    }

    async fn find(&self, identifier: &str) -> Result<Found, Fault> {
        let seen = self.seen().ok_or_else(Self::unreachable)?;
        let answers = seen.into_iter().map(|hit| hit.answer);
        let answers =
            answers.filter(|answer| answer.identifiers.iter().any(|known| known == identifier));
        Ok(Found { answers: answers.collect(), evidence: evidence() })
    }

    async fn status(&self, receipt: &str) -> Result<Received, Fault> {
        let seen = self.seen().ok_or_else(Self::unreachable)?;
        let hit = seen.into_iter().find(|hit| hit.answer.receipt.as_deref() == Some(receipt));
        hit.ok_or(Fault::Uncertain { why: Why::Cut, evidence: None })
    }

    async fn changed_since(&self, since: Option<Instant>) -> Result<Changes, Fault> {
        let seen = self.seen().ok_or_else(Self::unreachable)?;
        let mut answers: Vec<Answer> = seen.into_iter().map(|hit| hit.answer).collect();
        answers.retain(|answer| answer.last_updated >= since);
        // Repeated and reordered: the same entries twice, newest first.
        let mut repeated = answers.clone();
        repeated.reverse();
        answers.extend(repeated);
        // Each page's evidence holds the entries by which the engine proves what it learned.
        let entries: Vec<String> = answers.iter().map(entry).collect();
        let body = format!(r#"{{"resourceType":"Bundle","entry":[{}]}}"#, entries.join(","));
        let page = Evidence { body: body.into_bytes(), ..evidence() };
        Ok(Changes { answers, evidence: vec![page], ..Changes::default() })
    }

    async fn search(&self, _query: &Query) -> Result<(Page, Evidence), Fault> {
        let seen = self.seen().ok_or_else(Self::unreachable)?;
        let page = Page {
            total: Some(seen.len() as u64),
            answers: seen.into_iter().map(|hit| hit.answer).collect(),
            ..Page::default()
        };
        Ok((page, evidence()))
    }

    async fn capability(&self) -> Result<(Capability, Evidence), Fault> {
        self.seen().ok_or_else(Self::unreachable)?;
        Ok((Capability::default(), evidence()))
    }
}

fn entry(answer: &Answer) -> String {
    let receipt = answer.receipt.as_deref().unwrap_or_default();
    format!(r#"{{"resource":{{"resourceType":"DocumentReference","id":"{receipt}"}}}}"#)
}

struct World {
    seed: u64,
    clock: Arc<SimulatedClock>,
    service: Arc<Mutex<Service>>,
    key: [u8; 32],
    file: std::path::PathBuf,
    lives: u32,
    seen: BTreeMap<SubmissionId, State>,
}

const START: i64 = 1_800_000_000_000_000;
const HOUR: i64 = 3_600_000_000;

impl World {
    fn new(seed: u64, folder: &Path) -> Self {
        let mut dice = Dice(seed);
        let service = Service {
            stored: Vec::new(),
            posts: HashMap::new(),
            crash_percent: dice.below(15),
            fault_percent: dice.below(60),
            quiet_after: Instant(START + 6 * HOUR),
            dice,
        };
        let clock = Arc::new(SimulatedClock::default());
        clock.advance(START);
        Self {
            seed,
            clock,
            service: Arc::new(Mutex::new(service)),
            key: [7; 32],
            file: folder.join(format!("journal-{seed}.db")),
            lives: 0,
            seen: BTreeMap::new(),
        }
    }

    fn key(&self) -> Key {
        Key::new(zeroize::Zeroizing::new(self.key))
    }

    fn import(&self, journal: &Journal, number: usize) -> SubmissionId {
        self.import_for("simulated", journal, number)
    }

    fn import_for(&self, endpoint: &str, journal: &Journal, number: usize) -> SubmissionId {
        let document = testkit::DocumentBuilder::new(number as u64).json().into_bytes();
        let new = NewSubmission {
            file: format!("{number}.json"),
            format: Format::Json,
            digest: report::digest(&document),
            document,
            summary: Summary::default(),
            identifier: format!("urn:uuid:00000000-0000-4000-8000-{number:012}"),
            endpoint: endpoint.to_owned(),
            first: Event::Queued { due: self.clock.now() },
            findings: Vec::new(),
            corrects: None,
            by: Person("test".to_owned()),
            at: self.clock.now(),
        };
        journal.import(new).unwrap()
    }

    /// One life of the process: until it crashes or the world has come to rest.
    async fn live(&mut self, journal: &Journal, ids: &[SubmissionId]) -> bool {
        self.lives += 1;
        let crash = CancellationToken::new();
        let authority = Simulated {
            service: self.service.clone(),
            clock: self.clock.clone(),
            crash: crash.clone(),
        };
        let worker = Worker::new(Tools {
            journal: journal.clone(),
            authority,
            endpoint: endpoint(),
            clock: self.clock.clone(),
            pace: Pace { in_flight_max: 3, ..Pace::default() },
            holder: format!("life-{}", self.lives),
            paused: watch::channel(false).1,
            connection: Arc::new(watch::Sender::new(Connection::default())),
        });
        let (mut held, cancel) = (None, CancellationToken::new());
        loop {
            let round = tokio::select! {
                biased;
                () = crash.cancelled() => return false,
                round = worker.turn(&mut held, &cancel) => round.unwrap(),
            };
            self.check(journal, ids);
            if ids.iter().all(|id| journal.state(*id).unwrap().is_settled()) {
                return true;
            }
            let now = self.clock.now().0;
            let next = round.next.map_or(now + HOUR, |next| next.0.max(now + 1_000_000));
            // Another process's lease may be what we wait for.
            let next = if held.is_none() { now + 31_000_000 } else { next };
            self.clock.advance(next.min(now + HOUR) - now);
            assert!(now < START + 400 * HOUR, "seed {}: no rest", self.seed);
        }
    }

    fn check(&mut self, journal: &Journal, ids: &[SubmissionId]) {
        let service = self.service.lock().unwrap();
        let mut accepted: HashMap<&str, u32> = HashMap::new();
        for stored in &service.stored {
            *accepted.entry(&stored.identifier).or_default() += 1;
        }
        for (identifier, times) in accepted {
            assert_eq!(times, 1, "seed {}: {identifier} delivered {times} times", self.seed);
        }
        for id in ids {
            let state = journal.state(*id).unwrap();
            assert_eq!(state, journal.replay(*id).unwrap(), "seed {}: replay", self.seed);
            let before = self.seen.insert(*id, state.clone());
            if let Some(before) = before {
                let back = before.is_settled() && before != state;
                assert!(!back, "seed {}: {before:?} became {state:?}", self.seed);
            }
            if let State::Completed { receipt } = &state {
                let stored = service.stored.iter().find(|stored| stored.receipt == *receipt);
                let outcome = stored.map(|stored| stored.outcome);
                assert_eq!(outcome, Some(Processing::Completed), "seed {}: R5", self.seed);
            }
        }
    }
}

fn endpoint() -> Endpoint {
    Endpoint {
        name: "simulated".to_owned(),
        base: "https://localhost/v1/fhir".parse().unwrap(),
        environment: Environment::Integration,
        release: Release::default(),
        ca_pem: None,
        language: "de-CH".to_owned(),
        identifier: exchange::IdentifierChoice::Attempt,
        proxy: None,
    }
}

/// Runs one world; gives the number of lives and requests.
async fn run(seed: u64, folder: &Path) -> (u32, u32) {
    let mut world = World::new(seed, folder);
    let mut journal = Journal::create(&world.file, &world.key()).unwrap();
    let ids: Vec<SubmissionId> = (0..4).map(|number| world.import(&journal, number)).collect();
    while !world.live(&journal, &ids).await {
        journal.close();
        journal = Journal::open(&world.file, &world.key()).unwrap();
        world.clock.advance(5_000_000);
    }
    let now = world.clock.now();
    for id in &ids {
        let state = journal.state(*id).unwrap();
        let settled = matches!(state, State::Completed { .. } | State::Failed { .. });
        assert!(settled, "seed {seed}: lost as {state:?}");
        assert_ne!(state.group(now), Group::InProgress);
    }
    assert!(journal.verify().unwrap().problems.is_empty(), "seed {seed}: journal");
    let posts = world.service.lock().unwrap().posts.values().sum();
    (world.lives, posts)
}

#[test]
fn nothing_is_lost_and_nothing_doubled_in_any_world() {
    const SEEDS: u64 = 100;
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut lives, mut posts) = (0, 0);
    for seed in 1..=SEEDS {
        let world = run(seed, folder.path());
        let limit = Duration::from_secs(60);
        let result = runtime.block_on(async { tokio::time::timeout(limit, world).await });
        let (these_lives, these_posts) = result.unwrap_or_else(|_| panic!("seed {seed} hangs"));
        lives += these_lives;
        posts += these_posts;
    }
    println!(
        "{SEEDS} worlds, {} reports, {posts} requests, {} crashes: 0 lost, 0 doubled",
        SEEDS * 4,
        lives - SEEDS as u32
    );
    assert!(lives > SEEDS as u32, "no world crashed");
    assert!(posts > SEEDS as u32 * 4, "no request was repeated");
}

/// Reports of an endpoint that is not in use stay owed; however many they are, ours are found behind them.
#[test]
fn what_is_owed_elsewhere_hides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(1, folder.path());
    {
        let mut service = world.service.lock().unwrap();
        (service.crash_percent, service.fault_percent) = (0, 0);
    }
    let journal = Journal::create(&world.file, &world.key()).unwrap();
    let others: Vec<_> =
        (0..300).map(|number| world.import_for("elsewhere", &journal, number)).collect();
    world.clock.advance(1_000_000);
    let ours = world.import(&journal, others.len());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // Nothing to wait for: one turn.
    assert!(runtime.block_on(world.live(&journal, &[])));
    assert_ne!(journal.state(ours).unwrap().code(), "queued");
    assert!(others.iter().all(|id| journal.state(*id).unwrap().code() == "queued"));
}
