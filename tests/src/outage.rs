//! A laboratory in simulated time: the real worker, journal and client, over real mutual TLS, to a
//! front that a test bends and repairs. An hour of outage passes in the time of its requests.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::{Authority, Capability, Changes, Evidence, Fault, Found, HttpAuthority, Received};
use engine::{
    Clock, Connection, ConnectionState, LeaseKeeper, SystemClock, Timing, Worker, WorkerDeps,
};
use exchange::{Endpoint, Envelope, Environment, Page, Query};
use fhir::{Format, Instant};
use identity::Identity;
use journal::{Journal, Key, Lease, NewSubmission};
use report::{Event, Person, State, SubmissionId, Summary};
use tempfile::TempDir;
use testkit::DocumentBuilder;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Passes every connection on to where the test says, under one address.
pub struct Front {
    address: SocketAddr,
    target: Arc<Mutex<Option<SocketAddr>>>,
    task: Option<JoinHandle<()>>,
}

impl Drop for Front {
    fn drop(&mut self) {
        self.end();
    }
}

impl Front {
    /// Leads nowhere yet: connections are taken and nobody speaks.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let target = Arc::new(Mutex::new(None));
        let task = Some(tokio::spawn(pass_on(listener, Arc::clone(&target))));
        Self { address, target, task }
    }

    /// New connections lead there; `None`: they are taken and nobody speaks.
    pub fn lead(&self, target: Option<SocketAddr>) {
        *self.target.lock().unwrap() = target;
    }

    /// Nothing listens any more, and what was open is cut.
    pub async fn close(&mut self) {
        if let Some(task) = self.end() {
            // Aborted: that it is over is all there is to know.
            let _ = task.await;
        }
    }

    fn end(&mut self) -> Option<JoinHandle<()>> {
        let task = self.task.take()?;
        task.abort();
        Some(task)
    }

    /// Listens again at the same address.
    pub async fn reopen(&mut self) {
        if self.task.is_none() {
            let listener = TcpListener::bind(self.address).await.unwrap();
            self.task = Some(tokio::spawn(pass_on(listener, Arc::clone(&self.target))));
        }
    }

    /// `{base_url}` by which a laboratory knows it.
    pub fn base(&self) -> String {
        format!("https://localhost:{}/v1/fhir", self.address.port())
    }
}

async fn pass_on(listener: TcpListener, target: Arc<Mutex<Option<SocketAddr>>>) {
    // Ends with its connections when it is aborted.
    let mut open = tokio::task::JoinSet::new();
    while let Ok((inner, _)) = listener.accept().await {
        let target = *target.lock().unwrap();
        open.spawn(async move {
            match target {
                Some(target) => both_ways(inner, target).await,
                None => std::future::pending().await,
            }
        });
    }
}

/// Each way ends by itself: a server's last word (a TLS alert) must arrive although it no longer
/// listens.
async fn both_ways(inner: TcpStream, target: SocketAddr) {
    let Ok(outer) = TcpStream::connect(target).await else { return };
    let (mut from_inner, mut to_inner) = inner.into_split();
    let (mut from_outer, mut to_outer) = outer.into_split();
    // How a way ends does not matter here.
    let up = async {
        let _ = tokio::io::copy(&mut from_inner, &mut to_outer).await;
        let _ = to_outer.shutdown().await;
        let _ = tokio::io::copy(&mut from_inner, &mut tokio::io::sink()).await;
    };
    let down = async {
        let _ = tokio::io::copy(&mut from_outer, &mut to_inner).await;
        let _ = to_inner.shutdown().await;
    };
    tokio::join!(up, down);
}

/// Time that passes only when the test says so; begins now.
pub struct SimulatedClock(AtomicI64);

impl Clock for SimulatedClock {
    fn now(&self) -> Instant {
        Instant(self.0.load(Ordering::SeqCst))
    }
    fn steady(&self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.load(Ordering::SeqCst)).unwrap_or(0))
    }
    /// The earliest of what the jitter permits: the most requests.
    fn fraction(&self) -> f64 {
        0.0
    }
}

/// What was asked of the authority.
#[derive(Default)]
pub struct Requests {
    /// Requests that carried a report.
    pub submits: AtomicU64,
    /// All others.
    pub questions: AtomicU64,
}

impl Requests {
    /// All so far.
    pub fn all(&self) -> u64 {
        self.submits.load(Ordering::SeqCst) + self.questions.load(Ordering::SeqCst)
    }
}

/// The real client, counted.
pub struct Counted {
    inner: HttpAuthority,
    requests: Arc<Requests>,
    clock: Arc<SimulatedClock>,
}

impl Counted {
    fn asks(&self) -> &HttpAuthority {
        self.requests.questions.fetch_add(1, Ordering::SeqCst);
        &self.inner
    }
}

impl Authority for Counted {
    async fn submit(&self, wrapped: &Envelope) -> Result<Received, Fault> {
        self.requests.submits.fetch_add(1, Ordering::SeqCst);
        self.inner.submit(wrapped).await
    }
    async fn find(&self, identifier: &str) -> Result<Found, Fault> {
        let mut found = self.asks().find(identifier).await?;
        // The hours pass at the authority too: by its clock an empty answer grows old.
        found.evidence.server_date = found.evidence.server_date.map(|_| self.clock.now());
        Ok(found)
    }
    async fn status(&self, receipt: &str) -> Result<Received, Fault> {
        self.asks().status(receipt).await
    }
    async fn changed_since(&self, since: Option<Instant>) -> Result<Changes, Fault> {
        self.asks().changed_since(since).await
    }
    async fn search(&self, query: &Query) -> Result<(Page, Evidence), Fault> {
        self.asks().search(query).await
    }
    async fn capability(&self) -> Result<(Capability, Evidence), Fault> {
        self.asks().capability().await
    }
}

/// Short enough that what hangs costs little.
pub fn hasty() -> client::Limits {
    client::Limits {
        connect: Duration::from_millis(400),
        exchange: Duration::from_millis(400),
        ..client::Limits::default()
    }
}

/// Long enough for a machine under load.
pub fn patient() -> client::Limits {
    client::Limits { exchange: Duration::from_secs(30), ..client::Limits::default() }
}

/// An endpoint at this address with these CA certificates (PEM).
pub fn endpoint(base: &str, ca_pem: &str) -> Endpoint {
    Endpoint {
        ca_pem: Some(ca_pem.to_owned()),
        ..Endpoint::new("authority", base.parse().unwrap(), Environment::Integration)
    }
}

/// The pilot laboratory's certificate of an authority that was made by `init`.
pub fn pilot(data: &Path) -> Identity {
    let p12 = std::fs::read(data.join("pilot/riverside.p12")).unwrap();
    let password = std::fs::read_to_string(data.join("pilot/riverside.password")).unwrap();
    let password = identity::Password::from(password.trim_end().to_owned());
    Identity::import(&[&p12], Some(&password)).unwrap()
}

/// A laboratory with some reports to send.
pub struct Scene {
    folder: TempDir,
    journal: Journal,
    /// Its reports.
    pub ids: Vec<SubmissionId>,
    /// Identifiers under which they travel.
    pub identifiers: Vec<String>,
    clock: Arc<SimulatedClock>,
    worker: Option<Worker<Counted>>,
    held: Option<Lease>,
    connection: Arc<watch::Sender<Connection>>,
    wishes: Arc<AtomicU64>,
    /// What it asked.
    pub requests: Arc<Requests>,
    lives: u32,
}

impl Scene {
    /// A new one, not connected yet.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = Key::new(zeroize::Zeroizing::new([9; 32]));
        let journal = Journal::create(&folder.path().join("journal.db"), &key).unwrap();
        Self {
            folder,
            journal,
            ids: Vec::new(),
            identifiers: Vec::new(),
            clock: Arc::new(SimulatedClock(AtomicI64::new(SystemClock.now().0))),
            worker: None,
            held: None,
            connection: Arc::new(watch::Sender::new(Connection::default())),
            wishes: Arc::default(),
            requests: Arc::default(),
            lives: 0,
        }
    }

    /// Takes reports in.
    pub fn take_in(&mut self, count: u64) {
        for _ in 0..count {
            let number = u64::try_from(self.ids.len()).unwrap();
            let document = DocumentBuilder::new(number).json().into_bytes();
            let at = self.clock.now();
            let identifier = format!("urn:uuid:{}", uuid::Uuid::new_v4());
            self.identifiers.push(identifier.clone());
            let taken = self.journal.import(NewSubmission {
                file: format!("{number}.json"),
                format: Format::Json,
                digest: report::digest(&document),
                document,
                summary: Summary::default(),
                identifier,
                endpoint: "authority".to_owned(),
                canonical: None,
                environment: None,
                first: Event::Queued { due: at },
                findings: Vec::new(),
                corrects: None,
                by: Person("test".to_owned()),
                at,
            });
            self.ids.push(taken.unwrap());
        }
    }

    /// A worker for this endpoint takes the place of the former, as after a change of the settings.
    pub fn connect(
        &mut self,
        endpoint: &Endpoint,
        identity: Option<&Identity>,
        limits: client::Limits,
    ) {
        self.lives += 1;
        if let Some(lease) = self.held.take() {
            self.journal.release_lease(&lease).unwrap();
        }
        let inner = HttpAuthority::with_limits(endpoint, identity, limits).unwrap();
        let worker = Worker::new(WorkerDeps {
            journal: self.journal.clone(),
            authority: Counted {
                inner,
                requests: Arc::clone(&self.requests),
                clock: Arc::clone(&self.clock),
            },
            endpoint: endpoint.clone(),
            clock: self.clock.clone(),
            timing: Timing::default(),
            lease: Arc::new(LeaseKeeper::new(
                self.journal.clone(),
                self.clock.clone(),
                Timing::default().lease,
                format!("life-{}", self.lives),
            )),
            connection: Arc::clone(&self.connection),
        });
        self.worker = Some(worker.heeding(Arc::clone(&self.wishes)));
    }

    /// A person does not want to wait until the next try.
    pub fn try_now(&self) {
        self.wishes.fetch_add(1, Ordering::SeqCst);
    }

    /// Works until every report is settled, at most for so long; gives the number of requests made.
    pub async fn work(&mut self, most: Duration) -> u64 {
        let before = self.requests.all();
        let end = self.clock.now().plus_micros(micros(most));
        let worker = self.worker.as_ref().unwrap();
        let cancel = CancellationToken::new();
        while self.clock.now() < end && !self.settled() {
            let round = worker.turn(&mut self.held, &cancel).await.unwrap();
            // As the worker rests: until something is due, and never in a busy loop.
            let now = self.clock.now();
            let soon = now.plus_micros(200_000);
            let next = round.next.map_or(now.plus_seconds(5), |next| next.max(soon));
            self.clock.0.store(next.min(end).0, Ordering::SeqCst);
        }
        self.requests.all() - before
    }

    /// Every report has reached its end.
    pub fn settled(&self) -> bool {
        self.states().iter().all(State::is_settled)
    }

    /// States of the reports, in the order they were taken in.
    pub fn states(&self) -> Vec<State> {
        self.ids.iter().map(|id| self.journal.state(*id).unwrap()).collect()
    }

    /// Where the connection stands, and the code that people see.
    pub fn banner(&self) -> (&'static str, String) {
        match &self.connection.borrow().state {
            ConnectionState::Locked(obstacle) => ("locked", obstacle.code.to_string()),
            ConnectionState::Unreachable(obstacle) => ("unreachable", obstacle.code.to_string()),
            ConnectionState::Connected => ("connected", String::new()),
            _ => ("other", String::new()),
        }
    }

    /// Its journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Where its files lie.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap()
}
