//! The disk is full, over its quota or broken at the n-th write, for n from 1 to the end: the
//! program says so, nothing is sent that the journal does not know, and once there is room again
//! everything ends well.

use std::collections::BTreeMap;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use journeys::faults::{Act, Fault, On};
use journeys::lane::{Count, Lane, open, profile_of};
use journeys::{column, objects};
use testkit::Figures;

use super::batch::{extent, recovered};
use super::plan::{Dice, sample, seed, share};

/// Patience with a program that should go on by itself; simulated time passes twenty times as fast.
const PATIENCE: Duration = Duration::from_secs(90);
/// Orders after which the authority is replaced by a fresh one.
const LANE_AGE: usize = 60;

fn faults(writes: u64, disk: u64) -> Vec<Fault> {
    let lasting = |on, at, act| Fault { lasting: true, ..Fault::once(on, at, act) };
    let writes = (1..=writes).flat_map(|at| {
        [
            lasting(On::Writes, at, Act::Full),
            Fault::once(On::Writes, at, Act::Full),
            lasting(On::Writes, at, Act::Quota),
            Fault::once(On::Writes, at, Act::Short),
        ]
    });
    let others = (1..=disk).flat_map(|at| {
        [lasting(On::Disk, at, Act::Broken), Fault::once(On::Disk, at, Act::Broken)]
    });
    writes.chain(others).collect()
}

#[test]
fn the_disk_may_refuse_at_every_write() {
    let Some(mut lane) = Lane::new(&[], 5) else { return };
    let figures = Figures::start("disk-full", "the_disk_may_refuse_at_every_write");
    let seed = seed("disk full");
    let extent = extent(&mut lane);
    drop(lane);
    let faults = sample(&faults(extent.writes, extent.disk), share(20, 6), seed);
    let (mut sum, mut said) = (Count::default(), BTreeMap::new());
    for (age, faults) in faults.chunks(LANE_AGE).enumerate() {
        let first = (seed % 1_000_000 * 1000 + age as u64) * 1000;
        let mut lane = Lane::new(&[], first).expect("on Linux");
        for fault in faults {
            sum.add(refuse(&mut lane, fault, &mut said));
        }
    }
    for (words, times) in said {
        eprintln!("{times:>5} × {words}");
    }
    sum.finish(figures);
}

/// One order on a disk that refuses, and what becomes of it when the disk is well again.
fn refuse(lane: &mut Lane, fault: &Fault, said: &mut BTreeMap<String, u64>) -> Count {
    let laboratory = lane.laboratory();
    let batch = lane.batch(&laboratory, 2);
    let mut command = laboratory.command(&["send", batch.path(), "--wait", "--timeout", "30s"]);
    let tally = lane.surroundings.faulty(&mut command, &profile_of(&laboratory), fault);
    let output = command.output().expect("labcourier starts");
    let words = told(&output, fault, tally.fired());
    *said.entry(words).or_default() += 1;
    let rows = objects(&lane.run(&laboratory, &["list"]));
    let states = column(&rows, "state");
    match output.status.code() {
        Some(0) => assert_eq!(open(&rows), 0, "{fault:?}: exit code 0 and {states:?}"),
        // Waited in vain, as it was told to: what may have left is asked for, and nothing else is
        // open.
        Some(1) => assert!(
            states.iter().any(|state| state == "unknown")
                && states.iter().all(|state| state != "queued" && state != "sending"),
            "{fault:?}: exit code 1 and {states:?}"
        ),
        _ => {}
    }
    recovered(lane, laboratory, &batch, &format!("{fault:?}"))
}

/// What the program said, after what it must have said.
fn told(output: &Output, fault: &Fault, fired: u64) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code();
    assert!(!said.contains("panicked"), "{fault:?}: {said}");
    let first = said.lines().next().unwrap_or_default().to_owned();
    match code {
        Some(0) => {}
        // Time was up before everything was settled; the rows say why.
        Some(1) => assert!(fired > 0 && said.is_empty(), "{fault:?}: {said}"),
        // Held up, and told what by: the disk is full, the disk fails, a file cannot be opened.
        Some(4) => assert!(
            fired > 0 && (first.contains("disk") || first.contains("unable to open")),
            "{fault:?}: {said}"
        ),
        _ => panic!("{fault:?}: exit code {code:?}: {said}"),
    }
    let (often, seen) = (if fault.lasting { "from then on" } else { "once" }, fired > 0);
    format!("{:?} {often}, met: {seen}, exit code {}: {first}", fault.act, code.unwrap_or(-1))
}

/// A write that fails once, in the middle of the work of a program that goes on running: it goes on
/// by itself.
#[test]
fn a_failure_that_passes_needs_no_restart() {
    let seed = seed("passing failure");
    let Some(mut lane) = Lane::new(&[], seed % 1_000_000 * 1000) else { return };
    let mut figures = Figures::start("disk-full", "a_failure_that_passes_needs_no_restart");
    let mut dice = Dice(seed);
    for _ in 0..share(1, 2) {
        let laboratory = lane.laboratory();
        let batch = lane.batch(&laboratory, 3);
        let fault = Fault::once(On::Writes, 60 + dice.below(200), Act::Broken);
        let mut command = laboratory.command(&["watch", batch.path()]);
        let tally = lane.surroundings.faulty(&mut command, &profile_of(&laboratory), &fault);
        lane.surroundings.ageing(&mut command);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut watching = command.spawn().expect("labcourier starts");
        let deadline = Instant::now() + PATIENCE;
        let settled = loop {
            // Two seconds pass in each of these moments.
            std::thread::sleep(Duration::from_millis(100));
            lane.surroundings.advance(Duration::from_secs(2));
            let there = lane.accepted();
            let of_batch =
                there.iter().filter(|a| batch.documents.values().any(|d| *d == a.document));
            let arrived = of_batch.filter(|a| a.status == "completed").count();
            let over = Instant::now() > deadline;
            let ended = watching.try_wait().expect("a child");
            // What fails while a file is taken in ends the watch, with a message.
            if let Some(status) = ended {
                assert_eq!(status.code(), Some(4), "{fault:?}");
                break true;
            }
            if arrived == batch.documents.len() || over {
                let rows = objects(&lane.run(&laboratory, &["list"]));
                let taken = rows.len() > batch.documents.len();
                if taken && open(&rows) == 0 || over {
                    break taken && open(&rows) == 0;
                }
            }
        };
        let _ = watching.kill();
        let _ = watching.wait();
        let rows = column(&objects(&lane.run(&laboratory, &["list"])), "state");
        assert!(settled, "{fault:?}, met {} times: {rows:?}", tally.fired());
        figures.cases(tally.fired());
    }
    figures.finish();
}
