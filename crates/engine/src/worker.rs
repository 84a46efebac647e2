//! The background worker of one endpoint: it takes no input, looks up what is owed, and does it.
//!
//! A missed wake costs latency only. It has the lease, the clock, the journal and the authority,
//! and does what the courier decides. Everything that it learns goes through the journal.

mod afterwards;
mod arrival;
mod deliveries;
mod duties;
mod formerly;
pub(crate) mod found;
mod learn;
pub(crate) mod lease;
mod poll;
pub(crate) mod predecessor;
mod queue;
mod round;
mod searchless;
mod sight;
mod unsent;
pub(crate) mod wrappings;

pub(crate) use duties::{kept, wrapped};
pub use formerly::Formerly;
pub use searchless::COURIER_NOTICES;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use client::Authority;
use exchange::{Endpoint, SearchSupport};
use fhir::Instant;
use journal::{Journal, JournalError, Lease, Token};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, ConnectionState, JournalRefusal};
use crate::courier::breaker::RequestKind;
use crate::courier::searches::Tells;
use crate::courier::verdict::Health;
use crate::courier::{self, Courier, REST_MAX, Seen};
use crate::worker::wrappings::Wrappings;
use crate::{Clock, ClockReading, LeaseKeeper, Timing, person};

/// The worker of one endpoint.
pub struct Worker<A> {
    journal: Journal,
    authority: Arc<A>,
    /// The same authority, as it was asked with certificates that were used before.
    formerly: Vec<Formerly<A>>,
    endpoint: Endpoint,
    clock: Arc<dyn Clock>,
    timing: Arc<Timing>,
    lease: Arc<LeaseKeeper>,
    connection: Arc<watch::Sender<Connection>>,
    /// What decides. Nothing waits while it is held.
    courier: Mutex<Courier>,
    /// What intake has learned by reading.
    wrappings: Arc<Wrappings>,
    /// How often a person has wanted the next try now.
    wishes: Arc<AtomicU64>,
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

/// Pause between two looks at another's lease.
const WATCH_EVERY: Duration = Duration::from_secs(1);
/// Searches in a row of one pass, each of up to some thousand reports.
const SEARCHES_MAX: u32 = 50;

impl<A: Authority> Worker<A> {
    /// A worker that has not looked at anything yet.
    pub fn new(tools: WorkerDeps<A>) -> Self {
        let timing = Arc::new(tools.timing);
        let can_search = tools.endpoint.release.facts().search == SearchSupport::Full;
        let now = ClockReading::now(&*tools.clock);
        let courier = Courier::new(now, Arc::clone(&timing), can_search);
        Self {
            journal: tools.journal,
            authority: Arc::new(tools.authority),
            formerly: Vec::new(),
            endpoint: tools.endpoint,
            clock: tools.clock,
            timing,
            lease: tools.lease,
            connection: tools.connection,
            courier: Mutex::new(courier),
            wrappings: Arc::default(),
            wishes: Arc::default(),
            in_force: Box::new(|| true),
        }
    }

    /// It begins nothing any more as soon as this is no longer so: another address or certificate
    /// may be in force.
    #[must_use]
    pub fn while_in_force(self, in_force: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { in_force: Box::new(in_force), ..self }
    }

    /// Each time that this grows, a person does not want to wait until the next try. Whoever
    /// counts wakes it.
    #[must_use]
    pub fn heeding(self, wishes: Arc<AtomicU64>) -> Self {
        Self { wishes, ..self }
    }

    /// What was read by the intake of this process is not read again.
    pub(crate) fn knowing(self, wrappings: Arc<Wrappings>) -> Self {
        Self { wrappings, ..self }
    }

    /// Works until cancelled; finishes the requests that are under way before it returns.
    pub async fn run(self, wake: Arc<Notify>, cancel: CancellationToken) {
        self.lease.join();
        let mut held = None;
        while !cancel.is_cancelled() && (self.in_force)() {
            let rest = match self.turn(&mut held, &cancel).await {
                Ok(round) => courier::rest(round.done, round.next, self.clock.now()),
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
        if self.courier().owes_recovery() {
            // What was sent to other endpoints may be on its way.
            let (id, now) = (self.endpoint.id(), self.clock.now());
            let recovered = self.journal.recover_at(id, now, &person::worker(), token);
            recovered.map_err(lease::trouble)?;
        }
        let round = self.round(token, cancel).await;
        if round.is_err() {
            self.lease.distrust();
        }
        self.courier().round_ended(round.is_err());
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

    /// What decides. Nobody may hold it while something is awaited or asked for.
    fn courier(&self) -> MutexGuard<'_, Courier> {
        self.courier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an exchange shows about the connection. `heard`: an answer came.
    fn observe(&self, health: &Health, about: RequestKind, heard: bool) {
        let (now, fraction) = (self.clock_reading(), self.clock.fraction());
        let seen = self.courier().observe(now, health, about, heard, fraction);
        self.show(seen, now);
    }

    /// Tells people what was seen of the connection.
    fn show(&self, seen: Option<Seen>, now: ClockReading) {
        if let Some(seen) = seen {
            self.connection.send_modify(|connection| seen.show(connection, now.wall));
        }
    }

    fn journal_failed(&self, problem: &JournalError) {
        let Some(refusal) = JournalRefusal::of(problem) else { return };
        self.connection.send_modify(|connection| {
            connection.state = ConnectionState::JournalUnavailable(refusal);
        });
    }
}

impl<A: Authority> Worker<A> {
    /// One pass on a person's behalf: recover, do what is owed, and search for changes whether or
    /// not the pause is over. `None` where another process works the queue.
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
            if !self.courier().search_was_cut() {
                break;
            }
        }
        moved += self.read_unsearched(token).await?;
        Ok(Some(round.done + moved))
    }

    /// A lease that the clock calls valid for longer than any is given out is watched first,
    /// because the clock was set back, and its holder may be dead.
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
