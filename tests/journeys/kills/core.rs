//! The core of the window dies: desk, worker, journal and the practice authority of one process at
//! once.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use journeys::faults::{Act, Fault, On, Surroundings, Tally};
use journeys::lane::{Count, flaws, judge, real};
use journeys::{Laboratory, accepted, objects, program};
use testkit::{DocumentBuilder, Figures};

use super::plan::{Dice, seed, share};

/// Deaths of one desk before it is looked at.
const DEATHS: u64 = 10;
/// The common clock gains so much in each of these steps: sending can be undone for ten seconds,
/// and the practice authority takes two.
const TICK: Duration = Duration::from_millis(40);
const GAIN: Duration = Duration::from_millis(1500);
const PATIENCE: Duration = Duration::from_secs(120);

/// A process that ends with the test.
struct Desk(Child);

impl Desk {
    /// Lets time pass until it has ended; true where it was killed.
    fn until_it_ends(&mut self, surroundings: &Surroundings) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.0.try_wait().expect("a child") {
                assert!(status.success() || status.signal().is_some(), "{status}");
                return status.signal().is_some();
            }
            assert!(Instant::now() < deadline, "the desk neither works nor ends");
            std::thread::sleep(TICK);
            surroundings.advance(GAIN);
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Room {
    surroundings: Surroundings,
    laboratory: Laboratory,
    next: u64,
    handed: BTreeMap<String, String>,
}

impl Room {
    fn files(&mut self, count: u64) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for _ in 0..count {
            self.next += 1;
            // The family that the practice authority refuses on purpose is not among those of the
            // builder.
            let document = DocumentBuilder::new(self.next).family("Muster");
            let name = format!("{}.json", self.next);
            let file = self.laboratory.folder().join(&name);
            std::fs::write(&file, document.json()).expect("written");
            self.handed.insert(name, document.identifier_value().to_owned());
            files.push(file);
        }
        files
    }

    fn start(&self, files: &[PathBuf], fault: Option<&Fault>) -> (Desk, Tally) {
        let mut command = Command::new(program("desk"));
        command.arg(self.laboratory.folder()).args(files);
        let under = real(self.laboratory.folder());
        let tally = match fault {
            Some(fault) => self.surroundings.faulty(&mut command, &under, fault),
            None => self.surroundings.counted(&mut command, &under),
        };
        self.surroundings.ageing(&mut command);
        command.stdout(Stdio::null());
        (Desk(command.spawn().expect("the desk starts")), tally)
    }

    /// One undisturbed order; how many operations on the disk it takes.
    fn order(&mut self) -> u64 {
        let files = self.files(2);
        let (mut desk, tally) = self.start(&files, None);
        assert!(!desk.until_it_ends(&self.surroundings), "nobody killed it");
        tally.count(On::Disk)
    }

    fn judge(&self) -> Count {
        let run = |arguments: &[&str]| {
            let mut command = self.laboratory.command(arguments);
            self.surroundings.clocked(&mut command);
            command.output().expect("labcourier starts")
        };
        let rows = objects(&run(&["list"]));
        let data = self.laboratory.profile().join("authority");
        let mut count = judge(&rows, &accepted(&data), &self.handed);
        count.flaws += flaws(&run(&["journal", "verify"]));
        count
    }
}

#[test]
fn the_core_of_the_window_may_die_at_every_operation_on_its_disk() {
    let Some(surroundings) = Surroundings::new() else { return };
    let figures =
        Figures::start("kill", "the_core_of_the_window_may_die_at_every_operation_on_its_disk");
    let seed = seed("core of the window");
    let mut dice = Dice(seed);
    let folder = tempfile::tempdir().unwrap();
    let laboratory = Laboratory::practice(folder);
    let next = seed % 1_000_000 * 1_000_000;
    let mut room = Room { surroundings, laboratory, next, handed: BTreeMap::new() };
    let operations = room.order().min(room.order());
    eprintln!("an order of 2 at the desk: {operations} disk operations, the authority's included");
    assert!(operations > 50, "the library counts");
    let mut sum = Count::default();
    let mut left = share(6, 4);
    let mut reports = 0;
    while left > 0 {
        let wanted = left.min(DEATHS);
        left -= wanted;
        let mut deaths = 0;
        for _ in 0..wanted {
            let files = room.files(2);
            let act = if dice.below(2) == 0 { Act::Before } else { Act::Within };
            let fault = Fault::once(On::Disk, 1 + dice.below(operations), act);
            let (mut desk, _) = room.start(&files, Some(&fault));
            deaths += u64::from(desk.until_it_ends(&room.surroundings));
            room.surroundings.outlive_lease();
        }
        // Whoever finds a report missing in the list drops its file once more.
        let files: Vec<_> =
            room.handed.keys().map(|name| room.laboratory.folder().join(name)).collect();
        let restarts = room.surroundings.settle(&room.laboratory);
        let (mut desk, _) = room.start(&files, None);
        assert!(!desk.until_it_ends(&room.surroundings), "nobody killed it");
        let mut count = room.judge();
        count.deaths = deaths;
        count.cases = wanted;
        count.restarts = restarts + deaths + 1;
        count.reports -= reports;
        reports += count.reports;
        if !count.is_clean() {
            eprintln!("core of the window: {count:?}");
        }
        sum.add(count);
    }
    assert!(sum.deaths > 0, "nobody died");
    sum.finish(figures);
}
