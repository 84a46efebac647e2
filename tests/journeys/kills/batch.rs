//! `labcourier send FOLDER --wait` dies at the n-th operation, for n from 1 to the end.

use std::os::unix::process::ExitStatusExt as _;

use journeys::Laboratory;
use journeys::faults::{Act, Fault, On};
use journeys::lane::{Batch, Count, Lane, profile_of};
use testkit::Figures;

use super::plan::{lanes, sample, seed, share};

/// Reports in one order.
const REPORTS: u64 = 2;
/// Deaths that one laboratory suffers before it is looked at.
const DEATHS: usize = 4;
/// Deaths after which an authority is replaced by a fresh one: its searches stay short.
const LANE_AGE: usize = 40;
const SIGKILL: i32 = 9;

/// How many operations an undisturbed order takes.
pub(super) struct Extent {
    pub(super) disk: u64,
    pub(super) writes: u64,
    net: u64,
    sent: u64,
    received: u64,
}

pub(super) fn extent(lane: &mut Lane) -> Extent {
    let laboratory = lane.laboratory();
    let batch = lane.batch(&laboratory, REPORTS);
    let mut command = laboratory.command(&["send", batch.path(), "--wait", "--timeout", "60s"]);
    let tally = lane.surroundings.counted(&mut command, &profile_of(&laboratory));
    let output = command.output().expect("labcourier starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let extent = Extent {
        disk: tally.count(On::Disk),
        writes: tally.count(On::Writes),
        net: tally.count(On::Net),
        sent: tally.count(On::Sent),
        received: tally.count(On::Received),
    };
    let Extent { disk, writes, net, sent, received } = extent;
    eprintln!(
        "an order of {REPORTS}: {disk} disk operations ({writes} writes), {net} of the network, \
         {sent} bytes sent, {received} received"
    );
    assert!(writes > 50 && net > 5 && sent > 5_000 && received > 1_000, "the library counts");
    extent
}

/// Deaths of one laboratory, each in an order of its own, and what becomes of all of them: a
/// program that goes on after a death may die again before it is through.
pub(super) fn die(lane: &mut Lane, faults: &[Fault]) -> Count {
    let laboratory = lane.laboratory();
    let mut handed = Batch::default();
    let mut count = Count::default();
    for fault in faults {
        let batch = lane.batch(&laboratory, REPORTS);
        let mut command = laboratory.command(&["send", batch.path(), "--wait", "--timeout", "60s"]);
        let tally = lane.surroundings.faulty(&mut command, &profile_of(&laboratory), fault);
        let output = command.output().expect("labcourier starts");
        let died = output.status.signal() == Some(SIGKILL);
        assert_eq!(died, tally.fired() >= 1, "{fault:?}: {:?}", output.status);
        lane.outlive_lease();
        count.deaths += u64::from(died);
        count.undone += tally.undone();
        handed.join(batch);
    }
    count.add(recovered(lane, laboratory, &handed, &format!("{faults:?}")));
    count.cases = faults.len() as u64;
    count.restarts += count.deaths.saturating_sub(1);
    count
}

/// Restarts until everything is settled, and compares.
pub(super) fn recovered(lane: &Lane, laboratory: Laboratory, batch: &Batch, what: &str) -> Count {
    let restarts = lane.settle(&laboratory);
    let mut count = lane.compare(&laboratory, batch);
    count.restarts = restarts + 1;
    if !count.is_clean() {
        eprintln!("{what}: {count:?}; left at {}", laboratory.keep().display());
    }
    count
}

/// Runs the cases, several at a time where many are asked for.
pub(super) fn campaign(faults: &[Fault], seed: u64) -> Count {
    let lanes = lanes();
    let part = faults.len().div_ceil(lanes).max(1);
    let mut sum = Count::default();
    std::thread::scope(|scope| {
        let mut parts = Vec::new();
        for (index, faults) in faults.chunks(part).enumerate() {
            parts.push(scope.spawn(move || {
                let mut sum = Count::default();
                for (age, faults) in faults.chunks(LANE_AGE).enumerate() {
                    let first = seed % 1_000_000 * 1_000_000 + (index * 1000 + age) as u64 * 1000;
                    let mut lane = Lane::new(&[], first).expect("on Linux");
                    for faults in faults.chunks(DEATHS) {
                        sum.add(die(&mut lane, faults));
                    }
                }
                sum
            }));
        }
        for part in parts {
            sum.add(part.join().expect("a lane"));
        }
    });
    sum
}

#[test]
fn it_may_die_at_every_operation_on_its_disk() {
    let Some(mut lane) = Lane::new(&[], 1) else { return };
    let figures = Figures::start("kill", "it_may_die_at_every_operation_on_its_disk");
    let seed = seed("disk");
    let extent = extent(&mut lane);
    drop(lane);
    // After the n-th is before the next; two more than counted, because no two runs are quite the
    // same.
    let all = (1..=extent.disk + 2)
        .flat_map(|at| [Act::Before, Act::Within].map(|act| Fault::once(On::Disk, at, act)));
    let all: Vec<_> = all.collect();
    let count = campaign(&sample(&all, share(48, 10), seed), seed);
    assert!(count.deaths > 0, "nobody died");
    count.finish(figures);
}

#[test]
fn it_may_die_at_every_stage_of_the_exchange() {
    let Some(mut lane) = Lane::new(&[], 2) else { return };
    let figures = Figures::start("kill", "it_may_die_at_every_stage_of_the_exchange");
    let seed = seed("exchange");
    let extent = extent(&mut lane);
    drop(lane);
    let wanted = share(20, 10);
    let calls = (1..=extent.net).flat_map(|at| {
        [Act::Before, Act::Within, Act::After].map(|act| Fault::once(On::Net, at, act))
    });
    let calls: Vec<_> = calls.collect();
    let mut faults = sample(&calls, wanted / 4, seed);
    for (on, bytes, share) in
        [(On::Sent, extent.sent, wanted / 2), (On::Received, extent.received, wanted / 4)]
    {
        let bytes: Vec<_> = (1..=bytes).map(|at| Fault::once(on, at, Act::Before)).collect();
        faults.extend(sample(&bytes, share, seed));
    }
    let count = campaign(&faults, seed.wrapping_add(1));
    assert!(count.deaths > 0, "nobody died");
    count.finish(figures);
}
