//! The background worker of one endpoint: it takes no input, looks up what is owed, and does it.
//!
//! A missed wake costs latency only. Everything that it learns goes through the journal; what it holds in
//! memory (gate, poll times) may be lost at any moment.

mod duties;
mod hold;
mod poll;
mod queue;
pub(crate) mod verdict;

pub(crate) use duties::{kept, message};

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::{Authority, Fault, Why};
use exchange::{Endpoint, SearchSupport};
use fhir::Instant;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use journal::{Journal, JournalError, Lease, RecordError, Token};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::gate::{Gate, Passage};
use crate::worker::queue::{LOOK_FAR_EVERY, Queue};
use crate::worker::verdict::Reach;
use crate::{Clock, Moment, Obstacle, Pace, person};

/// What is known about the connection to an endpoint, for people.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Connection {
    /// Where it stands.
    pub state: ConnectionState,
    /// Last answer of the authority, whatever it said.
    pub last_contact: Option<Instant>,
    /// When the next try is made, while it is not connected.
    pub next_try: Option<Instant>,
}

/// Where a connection stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ConnectionState {
    /// Nothing was sent yet.
    #[default]
    Unchecked,
    /// The last exchange was answered.
    Connected,
    /// Not reachable or busy.
    Unreachable(Obstacle),
    /// Certificate, permission or address: a person must act.
    Locked(Obstacle),
    /// Another process works the queue.
    Elsewhere,
    /// The journal refuses: the queue rests until it answers again.
    JournalUnavailable(&'static str),
}

/// The worker of one endpoint.
pub struct Worker<A> {
    journal: Journal,
    authority: Arc<A>,
    endpoint: Endpoint,
    clock: Arc<dyn Clock>,
    pace: Pace,
    holder: String,
    paused: watch::Receiver<bool>,
    connection: Arc<watch::Sender<Connection>>,
    gate: Mutex<Gate>,
    poll: Mutex<poll::Polls>,
    hold: Mutex<hold::Hold>,
    /// When it last looked for what a clock that was set back has put off too far.
    looked_far: Mutex<Option<Moment>>,
    /// The way to the authority has been tried with a question.
    knocked: AtomicBool,
    /// The journal failed in the middle of the last round, or before what a dead process left was recovered.
    broken_off: AtomicBool,
}

/// What a worker works with.
pub struct Tools<A> {
    /// Where everything is recorded.
    pub journal: Journal,
    /// The connection to the endpoint.
    pub authority: A,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Time and randomness.
    pub clock: Arc<dyn Clock>,
    /// How long to wait for what.
    pub pace: Pace,
    /// Name of this process among those that may work the queue.
    pub holder: String,
    /// Whether sending is paused.
    pub paused: watch::Receiver<bool>,
    /// Where people learn about the connection.
    pub connection: Arc<watch::Sender<Connection>>,
}

/// What one round did and when the next is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Round {
    /// Duties done.
    pub done: usize,
    /// When something is owed next; `None` when nothing is owed.
    pub next: Option<Instant>,
}

/// Longest rest between two looks at the journal: another process may have added work.
const REST_MAX: Duration = Duration::from_secs(5);
/// Pause between two looks at the journal while requests are under way and nothing waits.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// So late a search for changes goes before reports that wait.
const POLL_LATE_SECONDS: i64 = 5;

impl<A: Authority> Worker<A> {
    /// A worker that has not looked at anything yet.
    pub fn new(tools: Tools<A>) -> Self {
        Self {
            journal: tools.journal,
            authority: Arc::new(tools.authority),
            endpoint: tools.endpoint,
            clock: tools.clock,
            pace: tools.pace,
            holder: tools.holder,
            paused: tools.paused,
            connection: tools.connection,
            gate: Mutex::default(),
            poll: Mutex::default(),
            hold: Mutex::default(),
            looked_far: Mutex::default(),
            knocked: AtomicBool::new(false),
            broken_off: AtomicBool::new(false),
        }
    }

    /// Works until cancelled; finishes the requests that are under way before it returns.
    pub async fn run(self, wake: Arc<Notify>, cancel: CancellationToken) {
        let mut held = None;
        while !cancel.is_cancelled() {
            let rest = match self.turn(&mut held, &cancel).await {
                Ok(round) => self.rest(round),
                Err(problem) => {
                    self.journal_failed(&problem);
                    REST_MAX
                }
            };
            tokio::select! {
                () = cancel.cancelled() => {}
                () = wake.notified() => {}
                () = tokio::time::sleep(rest) => {}
            }
        }
        if let Some(lease) = held {
            // Failing to release only makes the next process wait for the lease to run out.
            let _ = self.journal.release_lease(&lease);
        }
    }

    /// One turn: hold the lease, recover once per lease, do what is owed.
    pub async fn turn(
        &self,
        held: &mut Option<Lease>,
        cancel: &CancellationToken,
    ) -> Result<Round, JournalError> {
        let Some(lease) = self.hold_lease(held.as_ref())? else {
            *held = None;
            return Ok(Round::default());
        };
        let token = lease.token;
        // A round that the journal broke off left requests without an answer, as a dead process does.
        let recovered = held.as_ref().is_some_and(|former| former.token == token)
            && !self.broken_off.load(Ordering::Relaxed);
        let held = held.insert(lease);
        if !recovered {
            // Until it has succeeded: a recovery that the journal refused is owed at the next turn.
            self.broken_off.store(true, Ordering::Relaxed);
            self.recover(token)?;
        }
        let round = self.round(held, cancel).await;
        self.broken_off.store(round.is_err(), Ordering::Relaxed);
        round
    }

    /// What a process that ended left in "sending" may have been delivered.
    fn recover(&self, token: Token) -> Result<(), JournalError> {
        match self.journal.recover(self.clock.now(), &person::worker(), Some(token)) {
            Ok(_) => Ok(()),
            Err(RecordError::Journal(problem)) => Err(problem),
            // The journal itself made these events: that one cannot follow means damage.
            Err(_) => Err(JournalError::Damaged),
        }
    }

    /// Does everything that is owed now, so many at a time, and learns what changed at the authority.
    async fn round(
        &self,
        held: &mut Lease,
        cancel: &CancellationToken,
    ) -> Result<Round, JournalError> {
        let token = held.token;
        self.knock().await?;
        let mut round = Round::default();
        let mut queue = Queue::default();
        let mut under_way = FuturesUnordered::new();
        let mut look_at = tokio::time::Instant::now() + LOOK_EVERY;
        let mut poll_waits = false;
        let mut failure = None;
        loop {
            if under_way.is_empty() {
                // A probe that came to nothing, because its report was withdrawn or the round broke off.
                self.lock_gate().probe_ended();
            }
            let looked = self.look(held, &mut queue, &mut look_at, &mut poll_waits);
            failure = failure.or(looked.err());
            let mut room = if poll_waits { 0 } else { self.room(under_way.len(), cancel) };
            if failure.is_none() && room > 0 && queue.wants_more(under_way.len()) {
                failure = self.fill(&mut queue, under_way.len()).err();
            }
            if let Some(problem) = &failure {
                // Requests that are under way are finished: what the journal refuses of one report throws no
                // other into doubt.
                room = 0;
                self.journal_failed(problem);
            }
            let paused = *self.paused.borrow();
            for due in queue.start(room, paused) {
                self.lock_gate().probe_started();
                under_way.push(self.perform(due, token));
            }
            if under_way.is_empty() {
                break;
            }
            tokio::select! {
                biased;
                Some((id, result)) = under_way.next() => {
                    queue.taken.remove(&id);
                    match result {
                        Ok(()) => round.done += 1,
                        Err(problem) => failure = failure.or(Some(problem)),
                    }
                }
                // Requests that take long do not delay what was taken in meanwhile.
                () = tokio::time::sleep_until(look_at) => {}
            }
        }
        if let Some(problem) = failure {
            return Err(problem);
        }
        if !cancel.is_cancelled() && matches!(self.passage(), Passage::Open | Passage::Probe) {
            round.done += self.poll_if_due(token, cancel).await?;
        }
        round.next = self.next_due()?;
        Ok(round)
    }

    /// Now and then in a long round: is the lease still young, was something added, is a search owed?
    fn look(
        &self,
        held: &mut Lease,
        queue: &mut Queue,
        look_at: &mut tokio::time::Instant,
        poll_waits: &mut bool,
    ) -> Result<(), JournalError> {
        let time = tokio::time::Instant::now() >= *look_at;
        if time {
            *look_at = tokio::time::Instant::now() + LOOK_EVERY;
            queue.look_again();
        }
        if self.held_for() >= self.pace.lease / 2 {
            *held = self.renew_lease(held)?;
        }
        if time {
            // What is under way ends, and then it is searched: news may not wait for a long queue.
            *poll_waits = self.poll_is_late()?;
        }
        Ok(())
    }

    /// Tries the way with a question before the first report of this worker leaves. With TLS 1.3 a refused
    /// certificate shows only in the answer to the first request: were that a report, its bytes would have
    /// left, and a refusal that is lost on the way would leave a doubt.
    async fn knock(&self) -> Result<(), JournalError> {
        let owed = self.journal.next_due()?.is_some_and(|due| due <= self.clock.now());
        let owed = owed || !self.put_off_too_far()?.is_empty();
        let closed = matches!(self.passage(), Passage::Closed(_));
        if !owed || closed || self.knocked.load(Ordering::Relaxed) {
            return Ok(());
        }
        match self.authority.capability().await {
            // Who leads elsewhere, asks for a proxy's password or shows a web page is not the authority.
            Err(fault) if stands_between(&fault) => self.reached(&Reach::of_stranger(fault)),
            // Whatever it answers, it answers: what it thinks of reports is its answer to a report.
            Ok((_, evidence)) => {
                self.begin_watermark(evidence.server_date)?;
                self.knocked.store(true, Ordering::Relaxed);
            }
            Err(fault) if fault.evidence().is_some() => {
                self.begin_watermark(fault.evidence().and_then(|answer| answer.server_date))?;
                self.knocked.store(true, Ordering::Relaxed);
            }
            Err(fault) => self.reached(&Reach::of_question(fault)),
        }
        Ok(())
    }

    fn moment(&self) -> Moment {
        Moment::now(&*self.clock)
    }

    /// How many more requests may start now.
    fn room(&self, under_way: usize, cancel: &CancellationToken) -> usize {
        if cancel.is_cancelled() {
            return 0;
        }
        match self.passage() {
            Passage::Open => self.pace.in_flight_max.saturating_sub(under_way),
            Passage::Probe => 1_usize.saturating_sub(under_way),
            Passage::Closed(_) => 0,
        }
    }

    fn passage(&self) -> Passage {
        self.lock_gate().passage(self.moment())
    }

    fn lock_gate(&self) -> std::sync::MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_due(&self) -> Result<Option<Instant>, JournalError> {
        let owed = self.journal.next_due()?;
        let polled = self.next_poll()?;
        // Never later than the next look for what a clock has put off.
        let far = self.moment().after(LOOK_FAR_EVERY);
        let next = match (owed, polled) {
            (Some(owed), Some(polled)) => Some(owed.min(polled).min(far)),
            (owed, polled) => owed.or(polled).map(|next| next.min(far)),
        };
        Ok(match self.passage() {
            Passage::Closed(Some(until)) => next.map(|next| next.max(until)),
            _ => next,
        })
    }

    fn rest(&self, round: Round) -> Duration {
        let Some(next) = round.next else { return REST_MAX };
        let micros = next.0.saturating_sub(self.clock.now().0).max(0);
        if round.done == 0 && micros == 0 {
            // Owed and not done: paused, or another endpoint's. Whoever changes that wakes us.
            return REST_MAX;
        }
        // Woken a moment too early: no busy loop.
        let floor = if round.done == 0 { 1_000 } else { 0 };
        Duration::from_micros(u64::try_from(micros.max(floor)).unwrap_or(0)).min(REST_MAX)
    }

    /// What an exchange shows about the connection: gate and banner follow.
    pub(crate) fn reached(&self, reach: &Reach) {
        let now = self.moment();
        let (state, next_try) = match reach {
            Reach::Unclear => {
                // Whether the authority is there shows at the next request, made alone.
                self.lock_gate().doubted(now, &self.pace, self.clock.fraction());
                return;
            }
            Reach::Answered => {
                self.lock_gate().answered();
                (ConnectionState::Connected, None)
            }
            Reach::Unreachable(why, retry_after) => {
                let fraction = self.clock.fraction();
                let until = self.lock_gate().failed(now, &self.pace, *retry_after, fraction);
                (ConnectionState::Unreachable(why.into()), Some(until))
            }
            Reach::Locked(why) => {
                let until = self.lock_gate().failed(now, &self.pace, None, self.clock.fraction());
                (ConnectionState::Locked(why.into()), Some(until))
            }
        };
        self.connection.send_modify(|connection| {
            if state == ConnectionState::Connected {
                connection.last_contact = Some(now.wall);
            }
            connection.state = state;
            connection.next_try = next_try;
        });
    }

    fn journal_failed(&self, problem: &JournalError) {
        let code = match problem {
            JournalError::Full => "disk-full",
            JournalError::Busy => "busy",
            JournalError::StaleLease => return,
            JournalError::Damaged => "damaged",
            _ => "unavailable",
        };
        self.connection
            .send_modify(|connection| connection.state = ConnectionState::JournalUnavailable(code));
    }

    /// Whether states are learned by search (else by id, one at a time).
    pub(crate) fn searches(&self) -> bool {
        self.endpoint.release.facts().search == SearchSupport::Full
    }
}

/// The answer is not the authority's: a redirect, a proxy, a captive portal, a gateway's own page.
fn stands_between(fault: &Fault) -> bool {
    matches!(fault.why(), Some(Why::Redirect { .. } | Why::ProxyAuthentication | Why::Html { .. }))
}

impl<A: Authority> Worker<A> {
    /// One pass on a person's behalf: recover, do what is owed, and search for changes whether or not the
    /// pause is over. `None` where another process works the queue.
    pub async fn once(&self) -> Result<Option<usize>, JournalError> {
        let Some(mut lease) = self.wait_for_lease().await? else { return Ok(None) };
        self.recover(lease.token)?;
        let cancel = CancellationToken::new();
        let round = self.round(&mut lease, &cancel).await?;
        let moved = if self.searches() { self.poll_now(lease.token, &cancel).await? } else { 0 };
        self.journal.release_lease(&lease)?;
        Ok(Some(round.done + moved))
    }
}
