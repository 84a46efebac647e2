//! The life of a world: what people do, what happens to the computer, and who is started again.

mod handing;
mod people;

use std::sync::Arc;

use journal::simulation::Memory;
use people::Offered;
use tokio::task::JoinHandle;

use crate::computer::{HOUR, MINUTE, SECOND};
use crate::history::Broken;
use crate::laws::{CALM, REST_MAX};
use crate::process::Process;
use crate::tally::Tally;
use crate::world::{Plan, World};
use crate::{Outcome, history::Violation};

/// Something that happens at a time.
#[derive(Debug, Clone, Copy)]
enum Deed {
    /// A report is taken in.
    Import,
    /// A person looks at a report and does something about it.
    Person,
    /// The same, also with what waits or has been open for too long.
    Word,
    /// The clock is set by so much.
    Clock(i64),
    /// The computer sleeps for so long.
    Sleep(i64),
    /// A process is killed wherever it is.
    Kill,
    /// The certificate sees nothing for so long.
    Blind(i64),
    /// A person uses the other endpoint.
    Switch,
    /// A person renews the certificate.
    Renew,
    /// A report is handed over once more.
    Again,
    /// Another content is handed over under a document identifier that was used before.
    Newer,
    /// The laboratory makes a backup.
    Backup,
    /// The disk dies; the backup goes on on another computer.
    SetBack,
    /// An authority is restored from the backup of that time.
    Renumber(i64),
    /// A person has read that the profile may be running elsewhere too, and has seen to it.
    Confirm,
}

/// So long after the new computer is up a person reads of it: longer than a doubt lasts.
const CONFIRMED_AFTER: i64 = HOUR / 2;

/// A place for a process.
struct Slot {
    name: usize,
    lives: u32,
    process: Option<(Arc<Process>, JoinHandle<()>)>,
    /// When the next one starts.
    starts: i64,
}

struct Run {
    world: Arc<World>,
    agenda: Vec<(i64, Deed)>,
    slots: Vec<Slot>,
    endpoint: usize,
    reports: u64,
    again: u64,
    /// Nobody starts before.
    not_before: i64,
}

/// One world from its beginning to its end. The same seed gives the same story.
pub fn run(seed: u64, story: bool, memory: &Memory) -> Outcome {
    let built =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let outcome = |what: &str| Outcome {
        tally: Tally::default(),
        violation: Some(Violation { broken: Broken::Other, what: what.to_owned() }),
        history: Vec::new(),
    };
    let Ok(runtime) = built else { return outcome("no runtime") };
    if memory.reset().is_err() {
        return outcome("the journal cannot be emptied");
    }
    runtime.block_on(async {
        let world = World::new(seed, story, memory.clone());
        world.note("world", || format!("seed {seed}: {:?}", world.plan));
        Run::new(world).live_to_the_end().await
    })
}

impl Run {
    fn new(world: Arc<World>) -> Self {
        let plan = world.plan.clone();
        let slots = (1..=plan.processes)
            .map(|name| Slot { name, lives: 0, process: None, starts: 0 })
            .collect();
        let mut run = Self {
            world,
            agenda: Vec::new(),
            slots,
            endpoint: 0,
            reports: 0,
            again: 0,
            not_before: 0,
        };
        run.fill_agenda();
        run
    }

    fn fill_agenda(&mut self) {
        let plan = self.world.plan.clone();
        let agenda = self.world.dice(|dice| {
            let mut agenda = vec![(0, Deed::Import)];
            let quiet = plan.quiet.unsigned_abs();
            let mut within = |dice: &mut crate::dice::Dice, most: u64, deed| {
                agenda.push((i64::try_from(dice.below(most)).unwrap_or(0), deed));
            };
            for _ in 1..plan.reports {
                let soon = dice.percent(60);
                within(dice, if soon { 10 * SECOND.unsigned_abs() } else { quiet }, Deed::Import);
            }
            for _ in 0..dice.below(4) {
                within(dice, quiet * 2, Deed::Person);
            }
            for _ in 0..plan.jumps {
                let deed = jump(dice);
                within(dice, quiet, deed);
            }
            if plan.crashes > 0 {
                for _ in 0..dice.below(3) {
                    within(dice, quiet, Deed::Kill);
                }
            }
            if dice.percent(15) {
                let time = i64::try_from(dice.between(5, 150)).unwrap_or(5) * MINUTE;
                within(dice, quiet, Deed::Blind(time));
            }
            if plan.endpoints > 1 {
                for _ in 0..dice.between(1, 3) {
                    within(dice, quiet, Deed::Switch);
                }
            }
            if plan.choking {
                // What comes when all is quiet is held up by nothing, least of all by the poisoned
                // report.
                agenda.push((plan.quiet + CALM + HOUR, Deed::Import));
            }
            agenda
        });
        self.agenda = agenda;
        let words = self.world.more(|dice| {
            let times = if dice.percent(50) { dice.between(1, 5) } else { 0 };
            let latest = (plan.quiet * 2).unsigned_abs();
            (0..times).map(|_| i64::try_from(dice.below(latest)).unwrap_or(0)).collect::<Vec<_>>()
        });
        self.agenda.extend(words.into_iter().map(|at| (at, Deed::Word)));
        let papers = self.world.paper(|dice| {
            let (many, latest) = (plan.again + plan.newer, plan.quiet * 2);
            let mut deeds: Vec<_> = (0..many)
                .map(|n| (n, dice.time(SECOND, latest)))
                .map(|(n, at)| (at, if n < plan.again { Deed::Again } else { Deed::Newer }))
                .collect();
            if let Some((backup, back)) = plan.set_back {
                deeds.extend([(backup, Deed::Backup), (back, Deed::SetBack)]);
                // What was in the folder is handed over again, by whoever sets up the new computer.
                let (soon, late) = (back + SECOND, back + HOUR);
                deeds.extend((0..3).map(|_| (dice.time(soon, late), Deed::Again)));
            }
            deeds
        });
        self.agenda.extend(papers);
        self.agenda.extend(of_edges(&plan));
        self.agenda.sort_by_key(|(at, _)| *at);
        self.agenda.reverse();
    }

    async fn live_to_the_end(mut self) -> Outcome {
        let world = self.world.clone();
        let last = world.plan.quiet + REST_MAX;
        while world.history.violation().is_none() {
            self.start_and_bury().await;
            self.act().await;
            self.overtake().await;
            if self.is_over() {
                break;
            }
            if world.truth() > last {
                world.broken(Broken::Loss, "no rest".to_owned());
                break;
            }
            let next = self.next().min(last + SECOND);
            tokio::select! {
                biased;
                () = world.stir.notified() => {}
                () = tokio::time::sleep_until(world.computer.moment(next)) => {}
            }
        }
        for (process, task) in self.slots.iter_mut().filter_map(|slot| slot.process.take()) {
            process.discard();
            task.abort();
        }
        crate::lock(&world.processes).clear();
        if world.history.violation().is_none() {
            world.laws(|laws| laws.at_the_end(&world));
            self.verify();
        }
        Outcome {
            tally: world.tally().of_world(world.plan.processes),
            violation: world.history.violation(),
            history: world.history.lines(),
        }
    }

    /// The journal's own check, in every eighth world: it reads everything.
    fn verify(&self) {
        if !self.world.dice(|dice| dice.below(8) == 0) {
            return;
        }
        match self.world.observer.verify() {
            Ok(found) if found.problems.is_empty() => {}
            other => self.world.broken(Broken::Other, format!("verify: {other:?}")),
        }
    }

    fn is_over(&self) -> bool {
        let pending = |(_, deed): &(i64, Deed)| {
            !matches!(
                deed,
                Deed::Clock(_) | Deed::Sleep(_) | Deed::Kill | Deed::Blind(_) | Deed::Switch
            )
        };
        !self.agenda.iter().any(pending) && self.world.laws(|laws| laws.at_rest(&self.world))
    }

    fn next(&self) -> i64 {
        let starts =
            self.slots.iter().filter(|slot| slot.process.is_none()).map(|slot| slot.starts);
        let deeds = self.agenda.last().map(|(at, _)| *at);
        let quiet = Some(self.world.plan.quiet).filter(|quiet| *quiet > self.world.truth());
        starts.chain(deeds).chain(quiet).min().unwrap_or(i64::MAX / 4)
    }

    /// Who died is buried and started again after a while.
    async fn start_and_bury(&mut self) {
        let world = self.world.clone();
        for slot in &mut self.slots {
            if let Some((process, task)) = &mut slot.process {
                if !process.is_dead() && !task.is_finished() {
                    continue;
                }
                let died = process.is_dead();
                task.abort();
                if let Err(error) = task.await
                    && error.is_panic()
                {
                    world.broken(Broken::Other, "a process panicked".to_owned());
                }
                slot.process = None;
                let pause = if died { world.dice(|dice| dice.between(1, 120)) } else { 1 };
                slot.starts = world.truth() + i64::try_from(pause).unwrap_or(1) * SECOND;
                slot.starts = slot.starts.max(self.not_before);
                world.disturb();
            }
            if slot.process.is_none() && slot.starts <= world.truth() {
                slot.lives += 1;
                let name = format!("P{}.{}", slot.name, slot.lives);
                let process = Process::new(name, world.clone());
                let task = tokio::spawn(process.clone().live());
                slot.process = Some((process, task));
                world.disturb();
            }
        }
        let living = self.slots.iter().filter_map(|slot| slot.process.as_ref());
        *crate::lock(&world.processes) = living.map(|(process, _)| process.clone()).collect();
    }

    async fn act(&mut self) {
        while self.agenda.last().is_some_and(|(at, _)| *at <= self.world.truth()) {
            if let Some((_, deed)) = self.agenda.pop() {
                self.perform(deed).await;
            }
        }
    }

    async fn perform(&mut self, deed: Deed) {
        let world = self.world.clone();
        match deed {
            Deed::Import => {
                let imported = self.import(None, "import").await;
                if imported.is_err() {
                    world.broken(Broken::Other, "a report is not taken in".to_owned());
                }
            }
            Deed::Person => self.person(Offered::Finished).await,
            Deed::Word => self.person(Offered::All).await,
            // What is wild ends where the quiet begins.
            Deed::Clock(_) | Deed::Sleep(_) | Deed::Kill | Deed::Blind(_) if !world.is_wild() => {}
            Deed::Clock(by) => {
                world.count(|tally| tally.jumps += 1);
                world.note("computer", || format!("clock set by {} s", by / SECOND));
                world.computer.set_clock(by);
                world.disturb();
            }
            Deed::Sleep(time) => {
                let time = time.min(world.plan.quiet - world.truth());
                world.count(|tally| tally.jumps += 1);
                world.note("computer", || format!("sleeps for {} s", time / SECOND));
                crate::lock(&world.processes).iter().for_each(|process| process.freeze(time));
                world.computer.sleep(time);
                tokio::time::sleep(crate::computer::micros(time)).await;
                world.disturb();
            }
            Deed::Kill => {
                let living = crate::lock(&world.processes).clone();
                let which = world.dice(|dice| dice.below(living.len() as u64));
                if let Some(process) = living.get(usize::try_from(which).unwrap_or(0)) {
                    process.kill();
                }
            }
            Deed::Blind(time) => self.blind(time),
            Deed::Again => self.hand_over_again().await,
            Deed::Newer => self.hand_over_newer().await,
            Deed::Backup => self.back_up(),
            Deed::SetBack => {
                self.set_back();
                // The next deed is the last one of the list.
                let at = self.not_before + CONFIRMED_AFTER;
                let place = self.agenda.partition_point(|(other, _)| *other > at);
                self.agenda.insert(place, (at, Deed::Confirm));
            }
            Deed::Confirm => {
                world.note("person", || "confirms that this is a copy".to_owned());
                let _ = world.observer.remove_notice("journal-copied");
            }
            Deed::Renumber(backup) => {
                world.note("authority", || "is restored from its backup".to_owned());
                let which =
                    if world.plan.endpoints > 1 { world.dice(|dice| dice.below(2)) } else { 0 };
                let authority = &world.authorities[usize::from(which > 0)];
                crate::lock(authority).set_back(backup, world.truth());
            }
            Deed::Renew => {
                world.renew();
                crate::lock(&world.processes).iter().for_each(|process| process.leave());
            }
            Deed::Switch => {
                self.endpoint = 1 - self.endpoint;
                world.note("person", || format!("uses endpoint {}", self.endpoint + 1));
                crate::lock(&world.processes).iter().for_each(|process| process.leave());
            }
        }
    }

    /// Only a laboratory that was shown a report before can know that it is shown none now.
    fn blind(&mut self, time: i64) {
        // What a gateway refuses on the way back is asked for once; who is shown nothing just then
        // cannot know.
        if self.world.plan.echoes > 0 {
            return;
        }
        let known = self.world.laws(|laws| {
            if laws.is_compared_from().is_some() {
                return laws.was_accepted(self.endpoint);
            }
            let mut lives = laws.lives.values();
            lives.any(|life| life.endpoint == self.endpoint && life.state.receipt().is_some())
        });
        if known {
            self.world.count(|tally| tally.lags += 1);
            self.world.note("authority", || format!("shows nothing for {} s", time / SECOND));
            let until = (self.world.truth() + time).min(self.world.plan.quiet);
            crate::lock(&self.world.authorities[self.endpoint]).blind_until = until;
        }
    }
}

/// What the faults that were added last have happen.
fn of_edges(plan: &Plan) -> Vec<(i64, Deed)> {
    // Often enough, at each endpoint, that what alone is refused is held against it.
    let calm = plan.quiet + CALM + HOUR;
    let endpoints = i64::try_from(plan.endpoints).unwrap_or(1);
    let every = 20 * MINUTE / endpoints;
    let beside = 1..=plan.edges.beside * endpoints;
    let mut deeds: Vec<_> = beside.map(|n| (calm + n * every, Deed::Import)).collect();
    let renumbers = plan.edges.renumbers.map(|(backup, at)| (at, Deed::Renumber(backup)));
    deeds.extend(renumbers);
    deeds.extend(plan.renewals.at.iter().map(|at| (*at, Deed::Renew)));
    deeds
}

fn jump(dice: &mut crate::dice::Dice) -> Deed {
    let time = match dice.below(3) {
        0 => dice.between(30, 3_000),
        1 => dice.between(3_000, 100_000),
        _ => dice.between(100_000, 1_000_000),
    };
    let time = i64::try_from(time).unwrap_or(0) * SECOND;
    match dice.below(5) {
        0 => Deed::Sleep(time.min(3 * HOUR)),
        1 | 2 => Deed::Clock(-time),
        _ => Deed::Clock(time),
    }
}
