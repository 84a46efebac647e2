//! A process of the laboratory: the real worker, which may die or stand still at every step.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use engine::{
    Connection, LeaseKeeper, ReconcileDeps, Round, Timing, Worker, WorkerDeps, compare,
    decide_guarded,
};
use fhir::Instant;
use journal::simulation::Seam;
use journal::{Journal, Lease};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::computer::{HOUR, SECOND, micros};
use crate::link::Link;
use crate::world::{Watch, World, endpoint};

/// A process and what the world does to it.
pub(crate) struct Process {
    pub(crate) name: String,
    world: Arc<World>,
    /// The certificate that it uses, by its place.
    certificate: usize,
    dead: AtomicBool,
    /// Stands still until then (true time).
    frozen_until: AtomicI64,
    leaving: CancellationToken,
    /// One for each of its couriers.
    nudge: [Notify; 2],
    /// What a search at each endpoint has just taught it.
    told: [Mutex<Option<Vec<String>>>; 2],
    /// Where the last search at each endpoint was cut off.
    cut_at: [Mutex<Option<Instant>>; 2],
}

impl Process {
    pub(crate) fn new(name: String, world: Arc<World>) -> Arc<Self> {
        Arc::new(Self {
            name,
            certificate: world.certificate(),
            world,
            dead: AtomicBool::new(false),
            frozen_until: AtomicI64::new(0),
            leaving: CancellationToken::new(),
            nudge: Default::default(),
            told: Default::default(),
            cut_at: Default::default(),
        })
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// Ends it like a kill: nothing that it still does is seen by anybody.
    pub(crate) fn kill(&self) {
        if !self.dead.swap(true, Ordering::Relaxed) {
            self.world.note(&self.name, || "dies".to_owned());
            self.world.count(|tally| tally.crashes += 1);
            self.world.stir.notify_one();
        }
    }

    /// Nobody of this world needs it any more.
    pub(crate) fn discard(&self) {
        self.dead.store(true, Ordering::Relaxed);
    }

    /// Ends it as a person does: what is under way is finished first.
    pub(crate) fn leave(&self) {
        self.leaving.cancel();
    }

    /// It stands still for so long, as one that is stopped or swapped out.
    pub(crate) fn freeze(&self, time: i64) {
        self.world.note(&self.name, || format!("stands still for {} s", time / SECOND));
        self.frozen_until.fetch_max(self.world.truth() + time, Ordering::Relaxed);
    }

    pub(crate) fn nudge(&self) {
        self.nudge.iter().for_each(Notify::notify_one);
    }

    pub(crate) fn was_told(&self, endpoint: usize, told: Vec<String>) {
        *crate::lock(&self.told[endpoint]) = Some(told);
    }

    pub(crate) fn was_cut_at(&self, endpoint: usize, newest: Option<Instant>) {
        *crate::lock(&self.cut_at[endpoint]) = newest;
    }

    /// Whether a search goes on where the last one was cut off.
    pub(crate) fn goes_on_at(&self, endpoint: usize, since: Option<Instant>) -> bool {
        let cut_at = crate::lock(&self.cut_at[endpoint]).take();
        cut_at.is_some() && cut_at == since
    }

    /// A step at which it may die or stop; says whether it lives.
    pub(crate) fn lives_on(&self) -> bool {
        if self.is_dead() {
            return false;
        }
        if self.world.is_wild() {
            let plan = &self.world.plan;
            if self.world.dice(|dice| dice.per_mille(plan.crashes)) {
                self.kill();
                return false;
            }
            if self.world.dice(|dice| dice.per_mille(plan.stalls)) {
                let time = self.world.dice(|dice| {
                    let most = if dice.percent(50) { 60 } else { 2400 };
                    dice.between(5, most)
                });
                self.world.count(|tally| tally.stalls += 1);
                self.freeze(i64::try_from(time).unwrap_or(0) * SECOND);
                self.world.disturb();
            }
        }
        true
    }

    /// The disk fails at this write; the process lives on.
    fn is_refused(&self, how: &str) -> bool {
        let refused = self.world.refuses();
        if refused {
            self.world.note(&self.name, || format!("a write is {how}"));
        }
        refused
    }

    /// From its start to its end.
    pub(crate) async fn live(self: Arc<Self>) {
        let life = Box::pin(work(self.clone()));
        Frozen { process: self, life, nap: None }.await;
    }
}

impl Seam for Process {
    fn before(&self) -> bool {
        self.lives_on() && !self.is_refused("refused")
    }

    fn after(&self) -> bool {
        self.world.check();
        self.lives_on() && !self.is_refused("done, and called refused")
    }

    fn later(&self, hand_over: Box<dyn FnOnce() + Send>) {
        // A commit takes as long as a disk: between it and what follows, anything may happen.
        let time = self.world.dice(|dice| dice.between(1_000, 20_000));
        tokio::spawn(async move {
            tokio::time::sleep(micros(i64::try_from(time).unwrap_or(0))).await;
            hand_over();
        });
    }
}

/// Does not go on while its process stands still or is dead.
struct Frozen {
    process: Arc<Process>,
    life: Pin<Box<dyn Future<Output = ()> + Send>>,
    nap: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Future for Frozen {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.process.is_dead() {
            return Poll::Ready(());
        }
        let until = self.process.frozen_until.load(Ordering::Relaxed);
        if until > self.process.world.truth() {
            let moment = self.process.world.computer.moment(until);
            let mut nap = Box::pin(tokio::time::sleep_until(moment));
            if nap.as_mut().poll(context).is_pending() {
                self.nap = Some(nap);
                return Poll::Pending;
            }
        }
        self.nap = None;
        let done = self.life.as_mut().poll(context);
        if self.process.is_dead() { Poll::Ready(()) } else { done }
    }
}

/// The couriers of all endpoints, side by side under one lease.
async fn work(process: Arc<Process>) {
    let world = process.world.clone();
    let journal = Journal::simulated(&world.memory, process.clone());
    let clock = Arc::new(Watch(world.clone()));
    let life = Timing::default().lease;
    let lease = Arc::new(LeaseKeeper::new(journal.clone(), clock, life, process.name.clone()));
    world.note(&process.name, || "starts".to_owned());
    let courier = |endpoint| courier(process.clone(), journal.clone(), lease.clone(), endpoint);
    let compares = comparer(process.clone(), journal.clone());
    if world.plan.endpoints > 1 {
        tokio::join!(courier(0), courier(1), compares);
    } else {
        tokio::join!(courier(0), compares);
    }
    if let Ok(Some(held)) = journal.lease()
        && held.holder == process.name
    {
        let _ = journal.release_lease(&held);
    }
    world.note(&process.name, || "ends".to_owned());
    world.stir.notify_one();
}

/// Compares a restored journal with the authorities, again and again, as the engine's upkeep does.
async fn comparer(process: Arc<Process>, journal: Journal) {
    let world = process.world.clone();
    if world.plan.set_back.is_none() {
        return;
    }
    while !process.leaving.is_cancelled() {
        let from = world.laws(|laws| laws.is_compared_from());
        let is_late = from.is_some_and(|from| from <= world.truth());
        let complete = compare_all(&process, &journal, is_late).await;
        let open = journal.unreconciled().is_ok_and(|open| open.is_some());
        if complete && open && is_late {
            // Refused, it is compared once more.
            let _ = journal.set_reconciled();
            world.note(&process.name, || "has compared the journal".to_owned());
        }
        world.stir.notify_one();
        if from.is_some() {
            // What was let go is sent by whoever works the queue.
            world.nudge();
        }
        let rest = if from.is_some() { COMPARE_EVERY } else { micros(HOUR) };
        tokio::select! {
            biased;
            () = process.leaving.cancelled() => {}
            () = tokio::time::sleep(rest) => {}
        }
    }
}

/// Whether every authority has shown everything; `is_late`: then nothing is shown late any more.
async fn compare_all(process: &Arc<Process>, journal: &Journal, is_late: bool) -> bool {
    let (world, clock) = (&process.world, Watch(process.world.clone()));
    let mut complete = true;
    for at in 0..world.plan.endpoints {
        let endpoint = endpoint(&world.plan, at);
        let link = |certificate| {
            let (world, process) = (world.clone(), process.clone());
            Link { world, process, endpoint: at, certificate, compares: true }
        };
        let former = world.former_ways(link);
        let link = link(process.certificate);
        let timing = Timing::default();
        let (authority, clock) = (&link, &clock as &dyn engine::Clock);
        let tools = ReconcileDeps {
            journal,
            authority,
            former: &former,
            endpoint: &endpoint,
            clock,
            timing: &timing,
        };
        let Ok(open) = journal.unreconciled_at(endpoint.id(), world.computer.wall()) else {
            return false;
        };
        let shown = match open {
            Some(open) => compare(&tools, open).await.is_ok_and(|found| found.complete),
            None => decide_guarded(&tools).await.is_ok(),
        };
        if shown && open.is_some() && is_late {
            let _ = journal.set_reconciled_at(endpoint.id());
        }
        complete &= shown;
    }
    complete
}

async fn courier(process: Arc<Process>, journal: Journal, lease: Arc<LeaseKeeper>, at: usize) {
    let world = process.world.clone();
    let link = |certificate| {
        let (world, process) = (world.clone(), process.clone());
        Link { world, process, endpoint: at, certificate, compares: false }
    };
    let worker = Worker::new(WorkerDeps {
        journal,
        authority: link(process.certificate),
        endpoint: endpoint(&world.plan, at),
        clock: Arc::new(Watch(world.clone())),
        timing: Timing {
            in_flight_max: 3,
            in_progress_max: micros(world.plan.patience),
            ..Timing::default()
        },
        lease,
        connection: Arc::new(watch::Sender::new(Connection::default())),
    });
    let worker = worker.with_former(world.former_ways(link));
    let (sender, certificate) = (world.clone(), process.certificate);
    let worker = worker.while_in_force(move || sender.certificate() == certificate);
    let (mut held, mut known): (Option<Lease>, _) = (None, None);
    while !process.leaving.is_cancelled() {
        *crate::lock(&process.told[at]) = None;
        let result = worker.turn(&mut held, &process.leaving).await;
        let token = held.as_ref().map(|lease| lease.token);
        if token.is_some() && token != known {
            // A real one looks every five seconds, and sees that its process has the queue now.
            process.nudge[1 - at].notify_one();
        }
        known = token;
        let rest = match result {
            Ok(round) => {
                let told = crate::lock(&process.told[at]).take();
                if let Some(told) = told {
                    world.laws(|laws| laws.taught(&world, at, &told));
                }
                rest(&world, held.is_some(), round)
            }
            Err(problem) => {
                world.note(&process.name, || format!("journal: {problem:?}"));
                REST
            }
        };
        tokio::select! {
            biased;
            () = process.leaving.cancelled() => {}
            // A program looks within five seconds at what others did.
            () = process.nudge[at].notified() => world.pause(0, 5 * SECOND).await,
            () = tokio::time::sleep(rest) => {}
        }
    }
}

/// Pause between two comparisons.
const COMPARE_EVERY: Duration = Duration::from_secs(60);
/// As often as a real program looks.
const REST: Duration = Duration::from_secs(5);

/// As the real one rests, but without looking where the world knows that there is nothing to be
/// seen.
fn rest(world: &World, held: bool, round: Round) -> Duration {
    let most = if world.is_lively() { REST } else { micros(HOUR) };
    let Some(next) = round.next.filter(|_| held) else { return most };
    let rest = next.0.saturating_sub(world.computer.wall().0);
    if round.done == 0 && rest <= 0 {
        // Owed and not done: it became due while something was searched for.
        return REST;
    }
    micros(rest.max(0)).min(most)
}
