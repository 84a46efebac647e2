//! The background worker of one endpoint: it takes no input, looks up what is owed, and does it.
//!
//! A missed wake costs latency only. Everything that it learns goes through the journal; what it holds in
//! memory (breaker, poll times) may be lost at any moment.

pub(crate) mod breaker;
pub(crate) mod couriers;
mod cursor;
mod deliveries;
mod duties;
mod formerly;
mod learn;
pub(crate) mod lease;
mod poll;
pub(crate) mod predecessor;
mod queue;
mod round;
mod searchless;
mod sight;
mod unsent;
pub(crate) mod verdict;
mod visibility;

pub(crate) use deliveries::open_request;
pub use deliveries::reached_nobody;
pub(crate) use duties::{kept, may_be, wrapped};
pub use formerly::Formerly;
pub(crate) use formerly::SENT_BEFORE_SECONDS;
pub use searchless::COURIER_NOTICES;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::Authority;
use exchange::{Endpoint, SearchSupport};
use fhir::Instant;
use journal::{Journal, JournalError, Lease, Token};
use report::SubmissionId;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::worker::breaker::{BreakerState, CircuitBreaker, Failure, RequestKind};
use crate::worker::poll::Tells;
use crate::worker::verdict::Health;
use crate::{Clock, ClockReading, LeaseKeeper, Obstacle, Timing, person};

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
    JournalUnavailable(JournalRefusal),
}

/// Why the journal refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalRefusal {
    /// The disk is full.
    Full,
    /// Another process holds it locked: it passes.
    Busy,
    /// What is stored cannot be read.
    Damaged,
    /// A newer program has brought it on: this one must end.
    Newer,
    /// The file system or the database.
    Unavailable,
}

impl JournalRefusal {
    /// `None` where another process works the queue: that is no fault of the journal.
    fn of(problem: &JournalError) -> Option<Self> {
        match problem {
            JournalError::StaleLease => None,
            JournalError::Full => Some(Self::Full),
            JournalError::Busy => Some(Self::Busy),
            JournalError::Damaged => Some(Self::Damaged),
            JournalError::NewerSchema { .. } => Some(Self::Newer),
            _ => Some(Self::Unavailable),
        }
    }
}

/// The worker of one endpoint.
pub struct Worker<A> {
    journal: Journal,
    authority: Arc<A>,
    /// The same authority, as it was asked with certificates that were used before.
    formerly: Vec<Formerly<A>>,
    endpoint: Endpoint,
    clock: Arc<dyn Clock>,
    timing: Timing,
    lease: Arc<LeaseKeeper>,
    connection: Arc<watch::Sender<Connection>>,
    breaker: Mutex<CircuitBreaker>,
    poll: Mutex<poll::Polls>,
    /// When each report in doubt was first asked for in vain by this process, by the steady clock.
    doubts: Mutex<HashMap<SubmissionId, Duration>>,
    /// How often the question for each report was refused in an answer, while others were answered; and where that was
    /// whether another delivery of it counts, when to ask next.
    refused_alone: Mutex<HashMap<SubmissionId, (u32, Instant)>>,
    /// Reports whose questions have opened the breaker: others try the way first.
    not_asked: Mutex<HashSet<SubmissionId>>,
    /// When it last looked for what a clock that was set back has put off too far.
    looked_far: Mutex<Option<ClockReading>>,
    /// Both clocks at that look, or when it began: whether one was set back since.
    clocks: Mutex<ClockReading>,
    /// The way to the authority has been tried with a question.
    preflight_done: AtomicBool,
    /// A request was refused in an answer since the last search: whoever refuses one may answer the other.
    refused: AtomicBool,
    /// The journal failed in the middle of the last round.
    broken_off: AtomicBool,
    /// Whether the settings that it works by are in force still.
    in_force: Box<dyn Fn() -> bool + Send + Sync>,
}

/// What a worker works with.
pub struct WorkerDeps<A> {
    /// Where everything is recorded.
    pub journal: Journal,
    /// The connection to the endpoint.
    pub authority: A,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Time and randomness.
    pub clock: Arc<dyn Clock>,
    /// How long to wait for what.
    pub timing: Timing,
    /// The right to work the queue, shared by all workers of this process.
    pub lease: Arc<LeaseKeeper>,
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
/// Pause between two looks at another's lease.
const WATCH_EVERY: Duration = Duration::from_secs(1);
/// Searches in a row of one pass, each of up to some thousand reports.
const SEARCHES_MAX: u32 = 50;
/// So late a search for changes goes before reports that wait.
const POLL_LATE_SECONDS: i64 = 5;

impl<A: Authority> Worker<A> {
    /// A worker that has not looked at anything yet.
    pub fn new(tools: WorkerDeps<A>) -> Self {
        let clocks = Mutex::new(ClockReading::now(&*tools.clock));
        Self {
            journal: tools.journal,
            authority: Arc::new(tools.authority),
            formerly: Vec::new(),
            endpoint: tools.endpoint,
            clock: tools.clock,
            timing: tools.timing,
            lease: tools.lease,
            connection: tools.connection,
            breaker: Mutex::default(),
            poll: Mutex::default(),
            doubts: Mutex::default(),
            refused_alone: Mutex::default(),
            not_asked: Mutex::default(),
            looked_far: Mutex::default(),
            clocks,
            preflight_done: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            broken_off: AtomicBool::new(false),
            in_force: Box::new(|| true),
        }
    }

    /// It begins nothing any more as soon as this is no longer so: another address or certificate may be in force.
    #[must_use]
    pub fn while_in_force(self, in_force: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { in_force: Box::new(in_force), ..self }
    }

    /// Works until cancelled; finishes the requests that are under way before it returns.
    pub async fn run(self, wake: Arc<Notify>, cancel: CancellationToken) {
        self.lease.join();
        let mut held = None;
        while !cancel.is_cancelled() && (self.in_force)() {
            let rest = match self.turn(&mut held, &cancel).await {
                Ok(round) => rest(round, self.clock.now()),
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
        self.lease.leave();
    }

    /// One turn: hold the lease (`held` says which), recover once per lease, do what is owed.
    pub async fn turn(
        &self,
        held: &mut Option<Lease>,
        cancel: &CancellationToken,
    ) -> Result<Round, JournalError> {
        *held = self.lease.hold()?;
        let Some(token) = held.as_ref().map(|lease| lease.token) else {
            self.others_work();
            return Ok(Round::default());
        };
        if self.broken_off.load(Ordering::Relaxed) {
            // A round that the journal broke off left requests without an answer, as a dead process does. Those to
            // other endpoints may be on their way.
            let (id, now) = (self.endpoint.id(), self.clock.now());
            let recovered = self.journal.recover_at(id, now, &person::worker(), token);
            recovered.map_err(lease::trouble)?;
        }
        let round = self.round(token, cancel).await;
        if round.is_err() {
            self.lease.distrust();
        }
        self.broken_off.store(round.is_err(), Ordering::Relaxed);
        round
    }

    /// Another process works the queue.
    fn others_work(&self) {
        self.connection.send_if_modified(|connection| {
            let changed = connection.state != ConnectionState::Elsewhere;
            connection.state = ConnectionState::Elsewhere;
            changed
        });
    }

    fn clock_reading(&self) -> ClockReading {
        ClockReading::now(&*self.clock)
    }

    fn breaker_state(&self) -> BreakerState {
        self.lock_breaker().breaker_state(self.clock_reading())
    }

    /// While the breaker is open because of one report alone: that report; any other may try the way.
    fn suspect(&self) -> Option<SubmissionId> {
        self.lock_breaker().suspect(self.clock_reading(), &self.timing)
    }

    fn lock_breaker(&self) -> std::sync::MutexGuard<'_, CircuitBreaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_not_asked(&self) -> std::sync::MutexGuard<'_, HashSet<SubmissionId>> {
        self.not_asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_refused_alone(
        &self,
    ) -> std::sync::MutexGuard<'_, HashMap<SubmissionId, (u32, Instant)>> {
        self.refused_alone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_doubts(&self) -> std::sync::MutexGuard<'_, HashMap<SubmissionId, Duration>> {
        self.doubts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an exchange shows about the connection: breaker and banner follow. `heard`: an answer came.
    pub(crate) fn observe(&self, health: &Health, about: RequestKind, heard: bool) {
        let now = self.clock_reading();
        let fraction = self.clock.fraction();
        let refused = heard.then_some(about);
        let failed = |failure| self.lock_breaker().failed(now, &self.timing, failure, fraction);
        let (state, next_try) = match health {
            Health::Unclear => {
                // Whether the authority is there shows at the next request, made alone.
                self.lock_breaker().doubted(now, &self.timing, fraction);
                return;
            }
            Health::OfOne => return,
            Health::Answered => {
                self.lock_not_asked().clear();
                if !self.lock_breaker().answered(about) {
                    self.connection.send_modify(|it| it.last_contact = Some(now.wall));
                    return;
                }
                (ConnectionState::Connected, None)
            }
            Health::Unreachable(why, retry_after) => {
                let retry_after = *retry_after;
                let until = failed(Failure { refused, retry_after, locked: false });
                (ConnectionState::Unreachable(why.into()), Some(until))
            }
            Health::Locked(why) => {
                let until = failed(Failure { refused, locked: true, retry_after: None });
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
        let Some(refusal) = JournalRefusal::of(problem) else { return };
        self.connection.send_modify(|connection| {
            connection.state = ConnectionState::JournalUnavailable(refusal);
        });
    }

    /// Whether states are learned by search (else by id, one at a time).
    pub(crate) fn searches(&self) -> bool {
        self.can_search() && !self.search_is_refused()
    }

    /// Whether this release tells by search what has changed.
    pub(crate) fn can_search(&self) -> bool {
        self.endpoint.release.facts().search == SearchSupport::Full
    }
}

impl<A: Authority> Worker<A> {
    /// One pass on a person's behalf: recover, do what is owed, and search for changes whether or not the
    /// pause is over. `None` where another process works the queue.
    pub async fn once(&self) -> Result<Option<usize>, JournalError> {
        self.lease.join();
        let done = self.pass().await;
        self.lease.leave();
        done
    }

    async fn pass(&self) -> Result<Option<usize>, JournalError> {
        let Some(token) = self.wait_for_lease().await? else { return Ok(None) };
        let cancel = CancellationToken::new();
        let round = self.round(token, &cancel).await?;
        let mut moved = 0;
        for _ in 0..SEARCHES_MAX {
            if !self.can_search() {
                break;
            }
            moved += self.holding(self.poll_now(token, &cancel, Tells::TheBreaker)).await?;
            if !self.search_was_cut() {
                break;
            }
        }
        moved += self.read_unsearched(token).await?;
        Ok(Some(round.done + moved))
    }

    /// A lease that the clock calls valid for longer than any is given out is watched first, because the clock was set
    /// back, and its holder may be dead.
    async fn wait_for_lease(&self) -> Result<Option<Token>, JournalError> {
        loop {
            if let Some(lease) = self.lease.hold()? {
                return Ok(Some(lease.token));
            }
            self.others_work();
            if !self.lease.watches_a_strange_one() {
                return Ok(None);
            }
            tokio::time::sleep(WATCH_EVERY).await;
        }
    }
}

/// How long a worker rests after a round that ended now.
fn rest(round: Round, now: Instant) -> Duration {
    let Some(next) = round.next else { return REST_MAX };
    let micros = next.0.saturating_sub(now.0).max(0);
    if round.done == 0 && micros == 0 {
        // Owed and not done: paused, or another endpoint's. Whoever changes that wakes us.
        return REST_MAX;
    }
    // Woken a moment too early: no busy loop.
    let floor = if round.done == 0 { 1_000 } else { 0 };
    Duration::from_micros(u64::try_from(micros.max(floor)).unwrap_or(0)).min(REST_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_refuses_says_why() {
        let refusal = |problem| JournalRefusal::of(&problem);
        assert_eq!(refusal(JournalError::Full), Some(JournalRefusal::Full));
        assert_eq!(refusal(JournalError::Busy), Some(JournalRefusal::Busy));
        assert_eq!(refusal(JournalError::Damaged), Some(JournalRefusal::Damaged));
        assert_eq!(refusal(JournalError::Closed), Some(JournalRefusal::Unavailable));
        assert_eq!(refusal(JournalError::StaleLease), None);
    }

    #[test]
    fn a_worker_rests_until_something_is_owed_and_never_for_long() {
        let now = Instant::from_seconds(1_000);
        let in_micros = |micros| Some(now.plus_micros(micros));
        let after = |done, next| rest(Round { done, next }, now);
        assert_eq!(after(0, None), REST_MAX);
        assert_eq!(after(3, None), REST_MAX);
        assert_eq!(after(1, in_micros(2_000_000)), Duration::from_secs(2));
        assert_eq!(after(0, in_micros(2_000_000)), Duration::from_secs(2));
        assert_eq!(after(1, in_micros(3_600_000_000)), REST_MAX);
        // More may be owed at once; what could not be done is no reason to spin.
        assert_eq!(after(1, in_micros(0)), Duration::ZERO);
        assert_eq!(after(1, in_micros(-5)), Duration::ZERO);
        assert_eq!(after(0, in_micros(0)), REST_MAX);
        assert_eq!(after(0, in_micros(-5)), REST_MAX);
        assert_eq!(after(0, in_micros(7)), Duration::from_millis(1));
        assert_eq!(after(1, in_micros(7)), Duration::from_micros(7));
    }
}
