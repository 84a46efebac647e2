//! SIGKILL from outside, at no chosen operation: under load, and with several programs on one
//! journal.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use journeys::Laboratory;
use journeys::faults::Tally;
use journeys::lane::{Batch, Count, Lane, profile_of};
use journeys::{column, objects};
use testkit::{DocumentBuilder, Figures};

use super::batch::recovered;
use super::plan::{Dice, seed, share};

/// An authority that has a bad day: it loses answers and requests, is slow, and its search lags.
const BAD_DAY: &str = r#"
seed = 5

[[random]]
on = "create"
chance = 0.06
kind = "cut-after-commit"

[[random]]
on = "create"
chance = 0.04
kind = "cut-before-commit"

[[random]]
on = "create"
chance = 0.25
kind = { delay-answer = "300ms" }

[[random]]
on = "search"
chance = 0.1
kind = { search-lag = "30s" }
"#;

/// Patience with a process that should get on.
const PATIENCE: Duration = Duration::from_secs(120);

/// A process that ends with the test.
struct Running {
    child: Child,
    tally: Tally,
}

impl Running {
    fn start(lane: &Lane, laboratory: &Laboratory, mut command: Command) -> Self {
        let tally = lane.surroundings.counted(&mut command, &profile_of(laboratory));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self { child: command.spawn().expect("labcourier starts"), tally }
    }

    fn done(&self) -> u64 {
        self.tally.count(journeys::faults::On::Disk) + self.tally.count(journeys::faults::On::Net)
    }

    /// Waits until it has done so many operations, or has ended; true where it still runs.
    fn until(&mut self, operations: u64) -> bool {
        let deadline = Instant::now() + PATIENCE;
        let mut last = (0, Instant::now());
        loop {
            if self.child.try_wait().expect("a child").is_some() {
                return false;
            }
            let done = self.done();
            // One that waits for its turn does nothing: it may be shot while it waits.
            if done >= operations || last.1.elapsed() > Duration::from_millis(700) {
                return true;
            }
            if done != last.0 {
                last = (done, Instant::now());
            }
            assert!(Instant::now() < deadline, "it neither works nor ends");
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bad_day() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("faults.toml");
    std::fs::write(&script, BAD_DAY).unwrap();
    let script = script.to_str().unwrap().to_owned();
    (folder, script)
}

#[test]
fn it_may_be_shot_under_load() {
    let (_folder, script) = bad_day();
    let arguments = ["--faults", &script, "--processing-delay", "20ms"];
    let seed = seed("load");
    let Some(mut lane) = Lane::new(&arguments, seed % 1_000_000 * 1000) else { return };
    let figures = Figures::start("kill", "it_may_be_shot_under_load");
    let mut dice = Dice(seed);
    let mut sum = Count::default();
    let mut left = share(8, 4);
    while left > 0 {
        let shots = left.min(10);
        left -= shots;
        let laboratory = lane.laboratory();
        let batch = lane.batch(&laboratory, 40);
        let deaths = shot_at(&lane, &laboratory, &batch, shots, &mut dice);
        let mut count = recovered(&lane, laboratory, &batch, "load");
        count.deaths = deaths;
        count.restarts += deaths;
        count.cases = deaths;
        sum.add(count);
    }
    assert!(sum.deaths > 0, "nobody died");
    sum.finish(figures);
}

/// The same order again and again, killed each time somewhere on its way.
fn shot_at(
    lane: &Lane,
    laboratory: &Laboratory,
    batch: &Batch,
    shots: u64,
    dice: &mut Dice,
) -> u64 {
    let mut deaths = 0;
    for shot in 0..shots {
        let order = ["send", batch.path(), "--wait"];
        let mut running = Running::start(lane, laboratory, laboratory.command(&order));
        // The first one is shot while it takes in; later ones do less before they wait.
        let operations = if shot == 0 { 2_500 } else { 600 };
        if running.until(20 + dice.below(operations)) {
            running.kill();
            deaths += 1;
        }
        lane.outlive_lease();
    }
    deaths
}

/// What the processes of one laboratory do at the same time.
fn orders(folders: &[String], failed: &str) -> Vec<Vec<String>> {
    let order = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    vec![
        order(&["send", &folders[0], "--wait"]),
        order(&["watch", &folders[1]]),
        order(&["follow"]),
        order(&["send", &folders[0], &folders[1]]),
        order(&["list"]),
        order(&["resubmit", failed]),
        order(&["follow", "--once"]),
    ]
}

#[test]
fn several_processes_on_one_journal_may_be_shot() {
    let seed = seed("processes");
    let rules = tempfile::tempdir().unwrap();
    let file = rules.path().join("rules.toml");
    std::fs::write(&file, authority::PRACTICE_RULES).unwrap();
    let arguments = ["--rules", file.to_str().unwrap(), "--processing-delay", "20ms"];
    let Some(mut lane) = Lane::new(&arguments, seed % 1_000_000 * 1000) else { return };
    let figures = Figures::start("processes", "several_processes_on_one_journal_may_be_shot");
    let mut dice = Dice(seed);
    let mut sum = Count::default();
    let mut left = share(10, 6);
    while left > 0 {
        let shots = left.min(15);
        left -= shots;
        sum.add(crowd(&mut lane, shots, &mut dice));
    }
    sum.finish(figures);
}

/// Four processes on one journal; one after the other is killed and another takes its place.
fn crowd(lane: &mut Lane, shots: u64, dice: &mut Dice) -> Count {
    let laboratory = lane.laboratory();
    let failing = lane.batch_of(&laboratory, 1, |document| document.family("Muster-Fehler"));
    let sent = lane.run(&laboratory, &["send", failing.path(), "--wait", "--timeout", "60s"]);
    let sent = objects(&sent);
    assert_eq!(column(&sent, "state"), ["failed"]);
    let sound = |document: DocumentBuilder| document.family("Muster");
    let mut batch = lane.batch_of(&laboratory, 12, sound);
    let second = lane.batch_of(&laboratory, 12, sound);
    let folders = [batch.path().to_owned(), second.path().to_owned()];
    let orders = orders(&folders, &sent[0]["id"].to_string());
    let start = |dice: &mut Dice| {
        let order = &orders[usize::try_from(dice.below(orders.len() as u64)).expect("few")];
        let words: Vec<&str> = order.iter().map(String::as_str).collect();
        Running::start(lane, &laboratory, laboratory.command(&words))
    };
    let mut crowd: Vec<Running> = (0..4).map(|_| start(dice)).collect();
    let (mut deaths, mut restarts) = (0, 0);
    while deaths < shots {
        let index = usize::try_from(dice.below(4)).expect("four");
        let mark = crowd[index].done() + dice.below(120);
        if crowd[index].until(mark) {
            crowd[index].kill();
            deaths += 1;
            lane.outlive_lease();
        }
        crowd[index] = start(dice);
        restarts += 1;
    }
    drop(crowd);
    // Compared as one: both folders, and the report that failed and was perhaps sent again.
    batch.join(second);
    batch.join(failing);
    let mut count = recovered(lane, laboratory, &batch, "processes");
    count.cases = deaths;
    count.deaths = deaths;
    count.restarts += restarts;
    count
}
