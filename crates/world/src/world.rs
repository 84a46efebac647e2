//! What everybody in a world shares.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use engine::CertificateUse;
use exchange::{Endpoint, Environment};
use fhir::Instant;
use journal::Journal;
use journal::simulation::{Memory, Seam};
use tokio::sync::Notify;

use crate::authority::Authority;
use crate::computer::{Computer, HOUR, MINUTE, SECOND, micros};
use crate::dice::Dice;
use crate::edges::Edges;
use crate::history::{Broken, History};
use crate::laws::Laws;
use crate::papers::Papers;
use crate::process::Process;
use crate::renewals::Renewals;
use crate::tally::Tally;

/// What kind of world a seed makes.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) processes: usize,
    pub(crate) endpoints: usize,
    pub(crate) reports: u64,
    /// Exchanges of a hundred that go wrong.
    pub(crate) faults: u64,
    /// Writes and requests of a thousand at which the process dies.
    pub(crate) crashes: u64,
    /// … or stops for a while.
    pub(crate) stalls: u64,
    pub(crate) jumps: u64,
    /// Writes of a thousand that the disk refuses, or confirms by an error although they are done.
    pub(crate) refusals: u64,
    /// One report that the authority never answers.
    pub(crate) choking: bool,
    /// No faults from then on.
    pub(crate) quiet: i64,
    /// Requests of a hundred that end in a doubtful refusal: stored and answered 503, or called a
    /// duplicate.
    pub(crate) doubtful: u64,
    /// Documents of a hundred that the authority forgets while it has them in progress.
    pub(crate) forgets: u64,
    /// Its search shows reports of other laboratories, also while it shows none of ours.
    pub(crate) strangers: bool,
    /// From when to when, and by how much, the clock of a gateway is ahead that dates answers.
    pub(crate) leap: Option<(i64, i64, i64)>,
    /// In progress for so long needs a person; people say then what is true.
    pub(crate) patience: i64,
    /// Deliveries of a hundred that a gateway answers with 400 or 422 in its own name.
    pub(crate) gateways: u64,
    /// Deliveries of a hundred that a gateway repeats, or whose answer it refuses although they are
    /// stored.
    pub(crate) echoes: u64,
    /// From when to when every search for changes is refused.
    pub(crate) searchless: Option<(i64, i64)>,
    /// How often a report is handed over again, and how often a newer one under the same document
    /// identifier.
    pub(crate) again: u64,
    pub(crate) newer: u64,
    /// When the laboratory makes a backup, and when the disk dies.
    pub(crate) set_back: Option<(i64, i64)>,
    /// What was added last.
    pub(crate) edges: Edges,
    pub(crate) renewals: Renewals,
}

impl Plan {
    fn new(dice: &mut Dice) -> Self {
        let one_of = |dice: &mut Dice, chance, most| {
            if dice.percent(chance) { dice.between(1, most) } else { 0 }
        };
        Self {
            processes: if dice.percent(55) { 1 } else { 2 + usize::from(dice.percent(30)) },
            endpoints: if dice.percent(80) { 1 } else { 2 },
            reports: dice.between(2, 5),
            faults: one_of(dice, 85, 60),
            crashes: one_of(dice, 70, 25),
            stalls: one_of(dice, 35, 25),
            jumps: one_of(dice, 45, 4),
            choking: dice.percent(12),
            quiet: HOUR * i64::try_from(dice.between(2, 5)).unwrap_or(2),
            refusals: 0,
            doubtful: 0,
            forgets: 0,
            strangers: false,
            leap: None,
            patience: 72 * HOUR,
            gateways: 0,
            echoes: 0,
            searchless: None,
            again: 0,
            newer: 0,
            set_back: None,
            edges: Edges::default(),
            renewals: Renewals::default(),
        }
    }

    /// What the authority does beside; dice of its own.
    fn add(&mut self, more: &mut Dice) {
        let seconds =
            |dice: &mut Dice, most: u64| i64::try_from(dice.between(1, most)).unwrap_or(1) * SECOND;
        if more.percent(40) {
            self.doubtful = more.between(5, 60);
        }
        if more.percent(25) {
            self.forgets = more.between(10, 60);
        }
        self.strangers = more.percent(30);
        if more.percent(30) {
            let from = seconds(more, self.quiet.unsigned_abs() / SECOND.unsigned_abs());
            self.leap = Some((from, from + seconds(more, 7_200), seconds(more, 40_000)));
        }
        if more.percent(40) {
            self.patience = seconds(more, 9_000);
        }
    }

    /// What was added last; dice of its own again.
    fn add_late(&mut self, late: &mut Dice) {
        if late.percent(25) {
            self.gateways = late.between(5, 60);
        }
        if late.percent(25) {
            let second = SECOND.unsigned_abs();
            let from = late.below(self.quiet.unsigned_abs() / second);
            let to = from + late.between(60, 10_800);
            let time = |seconds: u64| i64::try_from(seconds * second).unwrap_or(0);
            self.searchless = Some((time(from), time(to).min(self.quiet)));
        }
    }
}

impl Plan {
    /// A gateway that repeats requests and looks at answers; dice of its own too.
    fn add_echoes(&mut self, echo: &mut Dice) {
        // After a restore, and where the authority forgets, what is stored twice is another story.
        if self.set_back.is_none() && self.forgets == 0 && echo.percent(40) {
            self.echoes = echo.between(5, 60);
        }
    }

    /// What is handed over again, and a disk that dies; dice of its own too.
    fn add_papers(&mut self, paper: &mut Dice) {
        if paper.percent(40) {
            self.again = paper.between(1, 4);
        }
        if paper.percent(30) {
            self.newer = paper.between(1, 3);
        }
        // The guard stands for thirty days by our clock: where that leaps, it falls.
        if self.jumps == 0 && paper.percent(25) {
            let backup = paper.time(0, self.quiet / 2);
            self.set_back = Some((backup, paper.time(backup + MINUTE, self.quiet - HOUR / 2)));
            // Where the authority shows nothing of ours any more nobody can compare.
            self.forgets = 0;
        }
    }
}

/// One laboratory, its computer, and the authorities it reports to.
pub(crate) struct World {
    pub(crate) computer: Arc<Computer>,
    pub(crate) plan: Plan,
    pub(crate) authorities: [Mutex<Authority>; 2],
    pub(crate) memory: Memory,
    /// The journal as somebody reads it who never dies.
    pub(crate) observer: Journal,
    pub(crate) history: History,
    pub(crate) processes: Mutex<Vec<Arc<Process>>>,
    /// Something happened that whoever waits should look at.
    pub(crate) stir: Notify,
    laws: Mutex<Laws>,
    dice: Mutex<Dice>,
    disk: Mutex<Dice>,
    more: Mutex<Dice>,
    late: Mutex<Dice>,
    paper: Mutex<Dice>,
    echo: Mutex<Dice>,
    papers: Mutex<Papers>,
    /// Identifiers of what a person is about to correct.
    overtaken: Mutex<Vec<String>>,
    /// All changes of the certificate, the one in use last; it is the same at both endpoints.
    pub(crate) certificates: Mutex<Vec<CertificateUse>>,
    is_restoring: AtomicBool,
    tally: Mutex<Tally>,
    lively_until: AtomicI64,
}

/// The observer writes at once and never dies; the laws are checked after it as after everybody.
struct Calm(std::sync::Weak<World>);

impl Seam for Calm {
    fn before(&self) -> bool {
        true
    }
    fn after(&self) -> bool {
        if let Some(world) = self.0.upgrade() {
            world.check();
        }
        true
    }
    fn later(&self, hand_over: Box<dyn FnOnce() + Send>) {
        hand_over();
    }
}

/// How long everybody looks as often as a real program after a disturbance; longer than a lease
/// lives.
const LIVELY: i64 = 50 * SECOND;

impl World {
    pub(crate) fn new(seed: u64, story: bool, memory: Memory) -> Arc<Self> {
        let mut dice = Dice::new(seed);
        let mut plan = Plan::new(&mut dice);
        // Dice of its own: seeds that are kept tell the same story.
        let mut disk = Dice::new(!seed);
        plan.refusals = if disk.percent(35) { disk.between(1, 40) } else { 0 };
        let mut more = Dice::new(seed.rotate_left(32) ^ 0x6D6F_7265);
        plan.add(&mut more);
        let mut late = Dice::new(seed.rotate_left(16) ^ 0x6C61_7465);
        plan.add_late(&mut late);
        let mut paper = Dice::new(seed.rotate_left(48) ^ 0x7061_7065);
        plan.add_papers(&mut paper);
        let mut echo = Dice::new(seed.rotate_left(24) ^ 0x6563_686F);
        plan.add_echoes(&mut echo);
        plan.add_edges(seed);
        plan.renewals = Renewals::of_seed(seed, plan.quiet, plan.set_back.is_some());
        let computer = Arc::new(Computer::new());
        // Nobody's clock is quite right.
        computer.set_clock(i64::try_from(dice.below(240)).unwrap_or(0) * SECOND - 2 * MINUTE);
        let first = CertificateUse::new("", "0", computer.wall(), None);
        Arc::new_cyclic(|world| Self {
            computer,
            plan,
            authorities: [Mutex::default(), Mutex::default()],
            observer: Journal::simulated(&memory, Arc::new(Calm(world.clone()))),
            memory,
            history: History::new(story),
            processes: Mutex::default(),
            stir: Notify::new(),
            laws: Mutex::default(),
            dice: Mutex::new(dice),
            disk: Mutex::new(disk),
            more: Mutex::new(more),
            late: Mutex::new(late),
            paper: Mutex::new(paper),
            echo: Mutex::new(echo),
            papers: Mutex::default(),
            overtaken: Mutex::default(),
            certificates: Mutex::new(vec![first]),
            is_restoring: AtomicBool::new(false),
            tally: Mutex::default(),
            lively_until: AtomicI64::new(0),
        })
    }

    pub(crate) fn truth(&self) -> i64 {
        self.computer.truth()
    }

    pub(crate) fn dice<T>(&self, throw: impl FnOnce(&mut Dice) -> T) -> T {
        throw(&mut crate::lock(&self.dice))
    }

    /// From `from` to `to`, both in microseconds; waits as the world's time has it.
    pub(crate) async fn pause(&self, from: i64, to: i64) {
        let (from, to) = (from.unsigned_abs(), to.unsigned_abs());
        let time = self.dice(|dice| dice.between(from, to));
        tokio::time::sleep(micros(i64::try_from(time).unwrap_or(0))).await;
    }

    /// Dice of their own for what was added later, so that kept seeds tell nearly the same story.
    pub(crate) fn more<T>(&self, throw: impl FnOnce(&mut Dice) -> T) -> T {
        throw(&mut crate::lock(&self.more))
    }

    /// Dice of their own for what was added last.
    pub(crate) fn late<T>(&self, throw: impl FnOnce(&mut Dice) -> T) -> T {
        throw(&mut crate::lock(&self.late))
    }

    /// Dice of their own for what a gateway does to deliveries.
    pub(crate) fn echo<T>(&self, throw: impl FnOnce(&mut Dice) -> T) -> T {
        throw(&mut crate::lock(&self.echo))
    }

    /// Whether every search for changes is refused now.
    pub(crate) fn refuses_searches(&self) -> bool {
        let now = self.truth();
        self.plan.searchless.is_some_and(|(from, to)| (from..to).contains(&now))
    }

    /// How far the clock is ahead that dates an answer now.
    pub(crate) fn leap(&self) -> i64 {
        let now = self.truth();
        self.plan.leap.filter(|(from, to, _)| (*from..*to).contains(&now)).map_or(0, |leap| leap.2)
    }

    /// A person corrects the report with this identifier as soon as it waits again.
    pub(crate) fn overtake(&self, identifier: &str) {
        crate::lock(&self.overtaken).push(identifier.to_owned());
    }

    /// Takes out of these what a person finds now.
    pub(crate) fn overtaken(&self, is_found: impl Fn(&str) -> bool) -> Option<String> {
        let mut all = crate::lock(&self.overtaken);
        let place = all.iter().position(|identifier| is_found(identifier))?;
        Some(all.swap_remove(place))
    }

    /// Whether what may go wrong still does.
    pub(crate) fn is_wild(&self) -> bool {
        self.truth() < self.plan.quiet
    }

    pub(crate) fn faulty(&self) -> bool {
        self.is_wild() && self.dice(|dice| dice.percent(self.plan.faults))
    }

    /// Whether the disk refuses this write.
    pub(crate) fn refuses(&self) -> bool {
        let refused = self.is_wild() && crate::lock(&self.disk).per_mille(self.plan.refusals);
        if refused {
            self.count(|tally| tally.refusals += 1);
            self.disturb();
        }
        refused
    }

    /// Dice of their own again, for what is handed over.
    pub(crate) fn paper<T>(&self, throw: impl FnOnce(&mut Dice) -> T) -> T {
        throw(&mut crate::lock(&self.paper))
    }

    pub(crate) fn papers<T>(&self, ask: impl FnOnce(&mut Papers) -> T) -> T {
        ask(&mut crate::lock(&self.papers))
    }

    /// What is done here to the journal is no step that the laws know.
    pub(crate) fn restoring<T>(&self, restore: impl FnOnce() -> T) -> T {
        self.is_restoring.store(true, Ordering::Relaxed);
        let done = restore();
        self.is_restoring.store(false, Ordering::Relaxed);
        done
    }

    pub(crate) fn note(&self, who: &str, what: impl FnOnce() -> String) {
        self.history.note(self.truth(), who, what);
    }

    pub(crate) fn broken(&self, broken: Broken, what: String) {
        self.history.broken(self.truth(), broken, what);
        self.stir.notify_one();
    }

    pub(crate) fn count(&self, count: impl FnOnce(&mut Tally)) {
        count(&mut crate::lock(&self.tally));
    }

    pub(crate) fn tally(&self) -> Tally {
        crate::lock(&self.tally).clone()
    }

    pub(crate) fn laws<T>(&self, ask: impl FnOnce(&mut Laws) -> T) -> T {
        ask(&mut crate::lock(&self.laws))
    }

    /// Holds the journal against the laws, after every write.
    pub(crate) fn check(&self) {
        if self.is_restoring.load(Ordering::Relaxed) {
            return;
        }
        let moved = self.laws(|laws| laws.check(self));
        if moved {
            self.stir.notify_one();
        }
    }

    /// Everybody looks often for a while.
    pub(crate) fn disturb(&self) {
        self.lively_until.store(self.truth() + LIVELY, Ordering::Relaxed);
        self.nudge();
    }

    pub(crate) fn is_lively(&self) -> bool {
        self.truth() < self.lively_until.load(Ordering::Relaxed)
    }

    /// Something was added: everybody looks within a rest.
    pub(crate) fn nudge(&self) {
        crate::lock(&self.processes).iter().for_each(|process| process.nudge());
    }
}

/// Names of the endpoints.
pub(crate) const ENDPOINTS: [&str; 2] = ["first", "second"];

/// Their environments.
pub(crate) fn environment(plan: &Plan, index: usize) -> Environment {
    let is_production = plan.edges.environments && index == 1;
    if is_production { Environment::Production } else { Environment::Integration }
}

pub(crate) fn endpoint(plan: &Plan, index: usize) -> Endpoint {
    let base = if index == 0 { "https://first.test/fhir" } else { "https://second.test/fhir" };
    #[allow(clippy::expect_used, reason = "a constant")]
    let base = base.parse().expect("a constant address");
    Endpoint::new(ENDPOINTS[index], base, environment(plan, index))
}

/// A clock of a program on the laboratory's computer.
pub(crate) struct Watch(pub(crate) Arc<World>);

impl engine::Clock for Watch {
    fn now(&self) -> Instant {
        self.0.computer.wall()
    }

    fn steady(&self) -> std::time::Duration {
        self.0.computer.steady()
    }

    fn fraction(&self) -> f64 {
        let part = self.0.dice(|dice| dice.below(1000));
        f64::from(u32::try_from(part).unwrap_or(0)) / 1000.0
    }
}
