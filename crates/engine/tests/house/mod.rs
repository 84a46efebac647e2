//! A worker with a real journal, a willing authority, and clocks that a test moves.

#![allow(dead_code, reason = "each test uses its part")]

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::{Authority, Capability, Changes, Evidence, Fault, Found, Received, Why};
use engine::{Clock, Connection, LeaseKeeper, Timing, Worker, WorkerDeps};
use exchange::{
    Answer, Endpoint, Envelope, Environment, IdentifierChoice, Page, Processing, Query, Release,
};
use fhir::{Format, Instant, Issue};
use futures::future::BoxFuture;
use journal::{Journal, Key, NewSubmission};
use report::{Event, Person, SubmissionId, Summary};
use tokio::sync::watch;

/// Two clocks that a test moves, in seconds.
#[derive(Default)]
pub(crate) struct Hands {
    pub(crate) wall: AtomicI64,
    pub(crate) steady: AtomicI64,
}

impl Hands {
    pub(crate) fn pass(&self, seconds: i64) {
        self.wall.fetch_add(seconds, Ordering::SeqCst);
        self.steady.fetch_add(seconds, Ordering::SeqCst);
    }

    pub(crate) fn set(&self, by: i64) {
        self.wall.fetch_add(by, Ordering::SeqCst);
    }
}

impl Clock for Hands {
    fn now(&self) -> Instant {
        Instant::from_seconds(1_800_000_000 + self.wall.load(Ordering::SeqCst))
    }
    fn steady(&self) -> Duration {
        Duration::from_secs(self.steady.load(Ordering::SeqCst).unsigned_abs())
    }
    fn fraction(&self) -> f64 {
        0.0
    }
}

/// What happens at a question for an identifier.
pub(crate) type OnFind = Arc<dyn Fn(&str) + Send + Sync>;

/// Accepts whatever comes, and counts. In doubt it answers to no report, and shows none.
#[derive(Clone, Default)]
pub(crate) struct Willing {
    pub(crate) sent: Arc<Mutex<Vec<String>>>,
    pub(crate) questions: Arc<AtomicU32>,
    pub(crate) doubt: Arc<AtomicBool>,
    /// So long it asks for patience, in seconds; 0: not at all.
    pub(crate) busy: Arc<AtomicU32>,
    /// Nothing of a report reaches it.
    pub(crate) unreachable: Arc<AtomicBool>,
    /// It answers that there were too many requests.
    pub(crate) limits: Arc<AtomicBool>,
    /// It takes so many more, and then asks everybody for an hour of patience.
    pub(crate) takes: Arc<Mutex<Option<u32>>>,
    /// What it accepted: identifiers with their receipts.
    pub(crate) accepted: Arc<Mutex<Vec<(String, String)>>>,
    /// Identifiers that were asked for.
    pub(crate) asked_for: Arc<Mutex<Vec<String>>>,
    /// It refuses the content of every report, with a reason.
    pub(crate) rejects: Arc<AtomicBool>,
    /// The reasons that it gives then, instead of [`reason`].
    pub(crate) reasons: Arc<Mutex<Vec<Issue>>>,
    /// It takes every report, and says at once that it has failed.
    pub(crate) fails: Arc<AtomicBool>,
    /// It refuses every report.
    pub(crate) refuses: Arc<AtomicBool>,
    /// It refuses whatever has this identifier.
    pub(crate) refuses_one: Arc<Mutex<Option<String>>>,
    /// It limits whatever has one of these identifiers, and asks for an hour of patience there.
    pub(crate) limits_these: Arc<Mutex<HashSet<String>>>,
    /// It tells no time.
    pub(crate) timeless: Arc<AtomicBool>,
    /// Receipts that its search by identifier shows, whatever the identifier.
    pub(crate) finds: Arc<Mutex<Vec<String>>>,
    /// Identifiers that it names beside the one that was asked for.
    pub(crate) also_named: Arc<Mutex<Vec<String>>>,
    /// The deliveries of each report that its search by identifier shows beside those.
    pub(crate) deliveries: Arc<Mutex<Vec<(String, Processing)>>>,
    /// Access is back just after the next search by identifier: so many reports are shown then.
    pub(crate) regains: Arc<AtomicU32>,
    /// Ten minutes pass during every search by identifier.
    pub(crate) flickers: Arc<AtomicBool>,
    /// So many seconds its clock is ahead.
    pub(crate) leaps: Arc<AtomicI64>,
    /// How many entries each look for any report asked for.
    pub(crate) looked_for: Arc<Mutex<Vec<Option<u32>>>>,
    /// What a search for changes answers.
    pub(crate) changes: Arc<Mutex<Changes>>,
    /// From when on the last one asked.
    pub(crate) since: Arc<Mutex<Option<Instant>>>,
    /// When each delivery was received by its own clock, by their receipts.
    pub(crate) dates: Arc<Mutex<HashMap<String, Option<Instant>>>>,
    /// Other reports that its search shows; where there are any, it shows what it accepted too.
    pub(crate) shown: Arc<AtomicU32>,
    /// How often its capabilities were asked for.
    pub(crate) preflights: Arc<AtomicU32>,
    /// What it answers then instead of them.
    pub(crate) preflight_fault: Arc<Mutex<Option<Fault>>>,
    /// Receipts that were read by id.
    pub(crate) read: Arc<Mutex<Vec<String>>>,
    /// What a read by id tells of a report.
    pub(crate) processed: Arc<Mutex<Option<Processing>>>,
    /// When it last changed that, by its own clock.
    pub(crate) changed: Arc<Mutex<Option<Instant>>>,
    /// The identifiers that it gives then.
    pub(crate) named: Arc<Mutex<Vec<String>>>,
    /// A read by id finds nothing.
    pub(crate) forgot: Arc<AtomicBool>,
    /// What a search for changes ends in instead.
    pub(crate) lost_search: Arc<Mutex<Option<Fault>>>,
    /// What a search by identifier ends in instead.
    pub(crate) lost_find: Arc<Mutex<Option<Fault>>>,
    /// What a read by id ends in instead.
    pub(crate) lost_read: Arc<Mutex<Option<Fault>>>,
    /// So many seconds a search for changes takes.
    pub(crate) searches_for: Arc<AtomicU32>,
    /// What happens while it is asked by identifier.
    pub(crate) on_find: Arc<Mutex<Option<OnFind>>>,
    clock: Arc<Hands>,
    /// What happens to a report, by its place in `sent` from 0, before its answer leaves.
    pub(crate) before_answer: Option<Arc<dyn Fn(usize) -> BoxFuture<'static, ()> + Send + Sync>>,
}

impl Willing {
    /// Its own clock is never set.
    pub(crate) fn evidence(&self) -> Evidence {
        let leap = self.leaps.load(Ordering::SeqCst);
        let seconds = self.clock.steady.load(Ordering::SeqCst) + leap;
        let timeless = self.timeless.load(Ordering::SeqCst);
        let server_date = (!timeless).then(|| Instant::from_seconds(1_700_000_000 + seconds));
        Evidence { status: 200, body: b"{}".to_vec(), server_date, ..Evidence::default() }
    }
}

impl Authority for Willing {
    async fn submit(&self, wrapped: &Envelope) -> Result<Received, Fault> {
        let place = {
            let mut sent = self.sent.lock().unwrap();
            sent.push(wrapped.identifier.clone());
            sent.len() - 1
        };
        if self.unreachable.load(Ordering::SeqCst) {
            let why = Why::ConnectRefused;
            return Err(Fault::Transient { why, retry_after: None, evidence: None });
        }
        let busy = self.busy.load(Ordering::SeqCst);
        if busy > 0 {
            let retry_after = Some(Duration::from_secs(busy.into()));
            let why = Why::Unavailable { status: 503 };
            return Err(Fault::Transient { why, retry_after, evidence: None });
        }
        if self.limits.load(Ordering::SeqCst) {
            let why = Why::Unavailable { status: 429 };
            let evidence = Some(Box::new(Evidence { status: 429, ..self.evidence() }));
            return Err(Fault::Transient { why, retry_after: None, evidence });
        }
        let takes = self.takes.lock().unwrap().as_mut().map(|takes| {
            let left = *takes;
            *takes = left.saturating_sub(1);
            left
        });
        let limited = self.limits_these.lock().unwrap().contains(&wrapped.identifier);
        if limited || takes == Some(0) {
            let why = Why::Unavailable { status: 429 };
            let evidence = Some(Box::new(Evidence { status: 429, ..self.evidence() }));
            let retry_after = Some(Duration::from_secs(3_600));
            return Err(Fault::Transient { why, retry_after, evidence });
        }
        let refused = self.refuses_one.lock().unwrap().as_ref() == Some(&wrapped.identifier);
        if refused || self.refuses.load(Ordering::SeqCst) {
            let evidence = Some(Box::new(self.evidence()));
            return Err(Fault::Locked { why: Why::Forbidden { status: 403 }, evidence });
        }
        if let Some(before) = &self.before_answer {
            before(place).await;
        }
        if self.rejects.load(Ordering::SeqCst) {
            let mut issues = self.reasons.lock().unwrap().clone();
            if issues.is_empty() {
                issues.push(reason());
            }
            let answer = Box::new(Answer { issues, ..Answer::default() });
            let evidence = Box::new(Evidence { status: 422, ..self.evidence() });
            return Err(Fault::Refused { answer, evidence });
        }
        if self.doubt.load(Ordering::SeqCst) {
            return Err(Fault::Uncertain { why: Why::Cut, evidence: None });
        }
        let receipt = format!("r-{}", place + 1);
        self.accepted.lock().unwrap().push((wrapped.identifier.clone(), receipt.clone()));
        self.dates.lock().unwrap().insert(receipt.clone(), self.evidence().server_date);
        let processing = match self.fails.load(Ordering::SeqCst) {
            true => Processing::Failed,
            false => Processing::InProgress,
        };
        let processing = Some(processing);
        let answer = Answer { receipt: Some(receipt), processing, ..Answer::default() };
        Ok(Received { answer, evidence: self.evidence() })
    }
    async fn find(&self, identifier: &str) -> Result<Found, Fault> {
        let mut identifiers = vec![identifier.to_owned()];
        identifiers.extend(self.also_named.lock().unwrap().iter().cloned());
        let answer = |receipt: &String| Answer {
            receipt: Some(receipt.clone()),
            processing: self.processed.lock().unwrap().or(Some(Processing::InProgress)),
            identifiers: identifiers.clone(),
            date: self.dates.lock().unwrap().get(receipt).copied().flatten(),
            ..Answer::default()
        };
        self.asked_for.lock().unwrap().push(identifier.to_owned());
        let hook = self.on_find.lock().unwrap().clone();
        if let Some(hook) = hook {
            hook(identifier);
        }
        if let Some(fault) = self.lost_find.lock().unwrap().clone() {
            return Err(fault);
        }
        let mut answers: Vec<_> = self.finds.lock().unwrap().iter().map(answer).collect();
        if answers.is_empty() && self.shown.load(Ordering::SeqCst) > 0 {
            let accepted = self.accepted.lock().unwrap();
            let ours = accepted.iter().filter(|(known, _)| known == identifier);
            answers.extend(ours.map(|(_, receipt)| answer(receipt)));
        }
        answers.extend(self.deliveries.lock().unwrap().iter().map(|(receipt, processing)| {
            Answer { processing: Some(*processing), ..answer(receipt) }
        }));
        let regained = self.regains.load(Ordering::SeqCst);
        if regained > 0 {
            self.shown.store(regained, Ordering::SeqCst);
        }
        if self.flickers.load(Ordering::SeqCst) {
            self.clock.pass(600);
        }
        Ok(Found { answers, evidence: self.evidence() })
    }
    async fn status(&self, receipt: &str) -> Result<Received, Fault> {
        self.read.lock().unwrap().push(receipt.to_owned());
        if let Some(fault) = self.lost_read.lock().unwrap().clone() {
            return Err(fault);
        }
        if self.forgot.load(Ordering::SeqCst) {
            let (why, evidence) = (Why::NotFound { status: 404 }, Some(Box::new(self.evidence())));
            return Err(Fault::Transient { why, retry_after: None, evidence });
        }
        let answer = Answer {
            receipt: Some(receipt.to_owned()),
            processing: *self.processed.lock().unwrap(),
            last_updated: *self.changed.lock().unwrap(),
            identifiers: self.named.lock().unwrap().clone(),
            ..Answer::default()
        };
        Ok(Received { answer, evidence: self.evidence() })
    }
    async fn changed_since(&self, since: Option<Instant>) -> Result<Changes, Fault> {
        self.questions.fetch_add(1, Ordering::SeqCst);
        *self.since.lock().unwrap() = since;
        for _ in 0..self.searches_for.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.clock.pass(1);
        }
        match self.lost_search.lock().unwrap().clone() {
            Some(fault) => Err(fault),
            None => Ok(self.changes.lock().unwrap().clone()),
        }
    }
    async fn search(&self, query: &Query) -> Result<(Page, Evidence), Fault> {
        self.looked_for.lock().unwrap().push(query.count);
        let total = Some(u64::from(self.shown.load(Ordering::SeqCst)));
        Ok((Page { total, ..Page::default() }, self.evidence()))
    }
    async fn capability(&self) -> Result<(Capability, Evidence), Fault> {
        self.preflights.fetch_add(1, Ordering::SeqCst);
        match self.preflight_fault.lock().unwrap().clone() {
            Some(fault) => Err(fault),
            None => Ok((Capability::default(), self.evidence())),
        }
    }
}

/// Why a content is refused.
pub(crate) fn reason() -> Issue {
    Issue {
        severity: fhir::Severity::Error,
        code: "invalid".to_owned(),
        rule: None,
        text: "Unknown code".to_owned(),
        expression: None,
        line: None,
        column: None,
    }
}

pub(crate) struct House {
    pub(crate) journal: Journal,
    pub(crate) clock: Arc<Hands>,
    pub(crate) authority: Willing,
    pub(crate) identifier: IdentifierChoice,
    pub(crate) release: Release,
    pub(crate) timing: Timing,
    pub(crate) connection: Arc<watch::Sender<Connection>>,
    _folder: Option<tempfile::TempDir>,
}

impl House {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = Key::new(zeroize::Zeroizing::new([7; 32]));
        let journal = Journal::create(&folder.path().join("journal.db"), &key).unwrap();
        Self { _folder: Some(folder), ..Self::on(journal) }
    }

    pub(crate) fn on(journal: Journal) -> Self {
        Self::timed(journal, Arc::default())
    }

    /// On a journal that others use by the same clock.
    pub(crate) fn timed(journal: Journal, clock: Arc<Hands>) -> Self {
        let authority = Willing { clock: clock.clone(), ..Willing::default() };
        let identifier = IdentifierChoice::Attempt;
        let connection = Arc::new(watch::Sender::new(Connection::default()));
        let release = Release::default();
        let timing = Timing { in_flight_max: 3, ..Timing::default() };
        Self { journal, clock, authority, identifier, release, timing, connection, _folder: None }
    }

    pub(crate) fn import(&self, endpoint: &str, number: u64) -> SubmissionId {
        self.import_as(endpoint, number, format!("urn:uuid:00000000-0000-4000-8000-{number:012}"))
    }

    /// A report whose attempt has this identifier.
    pub(crate) fn import_as(
        &self,
        endpoint: &str,
        number: u64,
        identifier: String,
    ) -> SubmissionId {
        let document = testkit::DocumentBuilder::new(number).json().into_bytes();
        self.import_document(document, endpoint, number, identifier)
    }

    /// These bytes.
    pub(crate) fn import_document(
        &self,
        document: Vec<u8>,
        endpoint: &str,
        number: u64,
        identifier: String,
    ) -> SubmissionId {
        self.journal.import(self.submission_of(document, endpoint, number, identifier)).unwrap()
    }

    /// A report that is not taken in yet.
    pub(crate) fn submission(&self, endpoint: &str, number: u64) -> NewSubmission {
        let document = testkit::DocumentBuilder::new(number).json().into_bytes();
        let identifier = format!("urn:uuid:00000000-0000-4000-8000-{number:012}");
        self.submission_of(document, endpoint, number, identifier)
    }

    fn submission_of(
        &self,
        document: Vec<u8>,
        endpoint: &str,
        number: u64,
        identifier: String,
    ) -> NewSubmission {
        NewSubmission {
            file: format!("{number}.json"),
            format: Format::Json,
            digest: report::digest(&document),
            document,
            summary: Summary::default(),
            identifier,
            endpoint: endpoint.to_owned(),
            canonical: None,
            environment: None,
            first: Event::Queued { due: self.clock.now() },
            findings: Vec::new(),
            corrects: None,
            by: Person("test".to_owned()),
            at: self.clock.now(),
        }
    }

    pub(crate) fn worker(&self, holder: &str) -> Worker<Willing> {
        self.worker_of("ours", holder)
    }

    pub(crate) fn worker_of(&self, endpoint: &str, holder: &str) -> Worker<Willing> {
        Worker::new(WorkerDeps {
            journal: self.journal.clone(),
            authority: self.authority.clone(),
            endpoint: Endpoint {
                identifier: self.identifier,
                release: self.release,
                ..named(endpoint)
            },
            clock: self.clock.clone(),
            timing: self.timing.clone(),
            lease: Arc::new(LeaseKeeper::new(
                self.journal.clone(),
                self.clock.clone(),
                self.timing.lease,
                holder.to_owned(),
            )),
            connection: self.connection.clone(),
        })
    }

    pub(crate) fn sent(&self) -> usize {
        self.authority.sent.lock().unwrap().len()
    }
}

pub(crate) fn named(endpoint: &str) -> Endpoint {
    let base = "https://localhost/v1/fhir".parse().unwrap();
    Endpoint::new(endpoint, base, Environment::Integration)
}

/// What a search for changes answers when one report has been processed.
pub(crate) fn news(receipt: &str, processing: Processing, issues: Vec<Issue>) -> Changes {
    let answer = Answer {
        receipt: Some(receipt.to_owned()),
        processing: Some(processing),
        issues,
        ..Answer::default()
    };
    let entry = format!(
        r##"{{"resource":{{"resourceType":"DocumentReference","id":"{receipt}","extension":[{{
        "url":"http://fhir.ch/ig/ch-elm/StructureDefinition/ch-ext-elm-status","extension":[
        {{"url":"status","valueCode":"{}"}}]}}],"status":"current",
        "content":[{{"attachment":{{"url":"#b"}}}}]}}}}"##,
        processing.code()
    );
    let body = format!(r#"{{"resourceType":"Bundle","entry":[{entry}]}}"#).into_bytes();
    let evidence = vec![Evidence { status: 200, body, ..Evidence::default() }];
    Changes { answers: vec![answer], evidence, ..Changes::default() }
}
