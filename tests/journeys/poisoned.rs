//! One poisoned report never delays another by more than its own time limit (R8): the real worker
//! runs in real time, a sixtieth of the product's, against the real authority over mutual TLS; only
//! the poisoned report meets silence, or an authority that chokes on it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use client::{Capability, Changes, Evidence, Fault, Found, HttpAuthority, Received, Why};
use engine::{Connection, LeaseKeeper, SystemClock, Timing, Worker, WorkerDeps};
use exchange::{Envelope, Page, Query};
use fhir::Format;
use journal::{Journal, Key, NewSubmission};
use journeys::outage::{endpoint, patient, pilot};
use journeys::{Authority, Misbehaving, stored};
use report::{Event, Person, State, SubmissionId, Summary};
use testkit::{DocumentBuilder, Figures};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// 180 s, a sixtieth.
const LIMIT: Duration = Duration::from_secs(3);
/// What a busy machine may need for an exchange that meets no fault.
const SLACK: Duration = Duration::from_secs(3);
/// How long healthy reports keep coming: the poisoned ones are tried again meanwhile.
const FEED: Duration = Duration::from_secs(12);
const EVERY: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy)]
enum Poison {
    /// Nothing is said until the time limit.
    Silence,
    /// At once a 500.
    Chokes,
}

/// The real client; a poisoned report does not get through.
struct Poisoned {
    inner: HttpAuthority,
    poison: Poison,
    identifiers: Vec<String>,
    /// When which report was first answered.
    answered: Arc<Mutex<HashMap<String, Instant>>>,
}

impl client::Authority for Poisoned {
    async fn submit(&self, wrapped: &Envelope) -> Result<Received, Fault> {
        if self.identifiers.contains(&wrapped.identifier) {
            let why = match self.poison {
                Poison::Silence => {
                    tokio::time::sleep(LIMIT).await;
                    Why::Timeout
                }
                Poison::Chokes => Why::Unavailable { status: 500 },
            };
            return Err(Fault::Uncertain { why, evidence: None });
        }
        let result = self.inner.submit(wrapped).await;
        let mut answered = self.answered.lock().unwrap();
        answered.entry(wrapped.identifier.clone()).or_insert_with(Instant::now);
        result
    }
    async fn find(&self, identifier: &str) -> Result<Found, Fault> {
        self.inner.find(identifier).await
    }
    async fn status(&self, receipt: &str) -> Result<Received, Fault> {
        self.inner.status(receipt).await
    }
    async fn changed_since(&self, since: Option<fhir::Instant>) -> Result<Changes, Fault> {
        self.inner.changed_since(since).await
    }
    async fn search(&self, query: &Query) -> Result<(Page, Evidence), Fault> {
        self.inner.search(query).await
    }
    async fn capability(&self) -> Result<(Capability, Evidence), Fault> {
        self.inner.capability().await
    }
}

/// The product's times, a sixtieth of each.
fn scaled() -> Timing {
    let timing = Timing::default();
    Timing {
        backoff_min: timing.backoff_min / 60,
        backoff_doubt_min: timing.backoff_doubt_min / 60,
        backoff_max: timing.backoff_max / 60,
        retry_after_max: timing.retry_after_max / 60,
        asks: timing.asks.iter().map(|pause| *pause / 60).collect(),
        doubt_min: timing.doubt_min / 60,
        doubt_min_unseen: timing.doubt_min_unseen / 60,
        poll_min: timing.poll_min / 4,
        read_first: timing.read_first / 60,
        read_max: timing.read_max / 60,
        ..timing
    }
}

fn take_in(journal: &Journal, number: u64) -> (SubmissionId, String) {
    use engine::Clock as _;
    let document = DocumentBuilder::new(number).json().into_bytes();
    let identifier = format!("urn:uuid:{}", uuid::Uuid::new_v4());
    let at = SystemClock.now();
    let taken = journal.import(NewSubmission {
        file: format!("{number}.json"),
        format: Format::Json,
        digest: report::digest(&document),
        document,
        summary: Summary::default(),
        identifier: identifier.clone(),
        endpoint: "authority".to_owned(),
        canonical: None,
        environment: None,
        first: Event::Queued { due: at },
        findings: Vec::new(),
        corrects: None,
        by: Person("test".to_owned()),
        at,
    });
    (taken.unwrap(), identifier)
}

fn worker(
    journal: &Journal,
    base: &str,
    data: &Path,
    poison: Poison,
    identifiers: Vec<String>,
) -> (Worker<Poisoned>, Arc<Mutex<HashMap<String, Instant>>>) {
    let ca = std::fs::read_to_string(data.join("ca.pem")).unwrap();
    let endpoint = endpoint(base, &ca);
    let inner = HttpAuthority::with_limits(&endpoint, Some(&pilot(data)), patient()).unwrap();
    let answered = Arc::default();
    let authority = Poisoned { inner, poison, identifiers, answered: Arc::clone(&answered) };
    let (clock, life) = (Arc::new(SystemClock), scaled().lease);
    let holder = "poisoned".to_owned();
    let lease = Arc::new(LeaseKeeper::new(journal.clone(), clock.clone(), life, holder));
    let worker = Worker::new(WorkerDeps {
        journal: journal.clone(),
        authority,
        endpoint,
        clock,
        timing: scaled(),
        lease,
        connection: Arc::new(watch::Sender::new(Connection::default())),
    });
    (worker, answered)
}

/// The longest that a healthy report waited for its answer, and how many there were.
fn fed_beside(poison: Poison, count: u64, figures: &mut Figures) -> Duration {
    let data = tempfile::tempdir().unwrap();
    Authority::init(data.path());
    let authority = Misbehaving::serve(data.path(), []);
    let folder = tempfile::tempdir().unwrap();
    let key = Key::new(zeroize::Zeroizing::new([3; 32]));
    let journal = Journal::create(&folder.path().join("journal.db"), &key).unwrap();
    let bad: Vec<_> = (0..count).map(|number| take_in(&journal, 1000 + number)).collect();
    let identifiers: Vec<String> = bad.iter().map(|(_, identifier)| identifier.clone()).collect();
    let (worker, answered) = worker(&journal, &authority.base, data.path(), poison, identifiers);

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (wake, cancel) = (Arc::new(Notify::new()), CancellationToken::new());
    let running = runtime.spawn(worker.run(Arc::clone(&wake), cancel.clone()));
    let (start, mut taken) = (Instant::now(), Vec::new());
    while start.elapsed() < FEED {
        let number = u64::try_from(taken.len()).unwrap();
        taken.push((take_in(&journal, number), Instant::now()));
        wake.notify_one();
        runtime.block_on(async { tokio::time::sleep(EVERY).await });
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while answered.lock().unwrap().len() < taken.len() {
        assert!(Instant::now() < deadline, "every healthy report is answered");
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(20)).await });
    }
    cancel.cancel();
    wake.notify_one();
    runtime.block_on(running).unwrap();
    let at_authority = stored(data.path());
    let mut longest = Duration::ZERO;
    for ((id, identifier), since) in &taken {
        let waited = answered.lock().unwrap()[identifier].duration_since(*since);
        longest = longest.max(waited);
        let times = at_authority.iter().filter(|(known, ..)| known == identifier).count();
        figures.losses(u64::from(times == 0));
        figures.duplicates(u64::from(times > 1));
        figures.cases(1);
        let state = journal.state(*id).unwrap();
        assert!(!matches!(state, State::Failed { .. } | State::Rejected), "{state:?}");
    }
    for (id, _) in &bad {
        let state = journal.state(*id).unwrap();
        figures.false_completed(u64::from(matches!(state, State::Completed { .. })));
    }
    authority.stop();
    runtime.shutdown_background();
    println!(
        "{poison:?} × {count}: {} healthy reports, the longest waited {longest:?}",
        taken.len()
    );
    longest
}

#[test]
fn a_poisoned_report_delays_no_other_by_more_than_its_own_limit() {
    let mut figures = Figures::start("slow-endless", "a_poisoned_report");
    let mut longest = Duration::ZERO;
    for (poison, count) in [(Poison::Silence, 1), (Poison::Silence, 5), (Poison::Chokes, 3)] {
        let waited = fed_beside(poison, count, &mut figures);
        assert!(waited <= LIMIT + SLACK, "{poison:?} × {count}: {waited:?}");
        longest = longest.max(waited);
    }
    figures.measure("s another report waited (limit 3 s)", longest.as_secs_f64());
    figures.finish();
}
