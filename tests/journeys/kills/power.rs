//! Power cuts: what was written since the last sync of a file may be there, gone, or half there.

use journeys::faults::{Act, Fault, On};
use journeys::lane::Lane;
use testkit::Figures;

use super::batch::{campaign, extent};
use super::plan::{Dice, seed, share};

fn cuts(count: u64, operations: u64, seed: u64, lies: bool) -> Vec<Fault> {
    let mut dice = Dice(seed);
    let acts = [Act::Before, Act::Within, Act::After];
    (0..count)
        .map(|_| Fault {
            torn: Some(dice.below(1 << 32)),
            lies,
            ..Fault::once(
                On::Disk,
                1 + dice.below(operations),
                acts[usize::try_from(dice.below(3)).expect("less than three")],
            )
        })
        .collect()
}

#[test]
fn power_may_fail_at_any_time() {
    let Some(mut lane) = Lane::new(&[], 3) else { return };
    let figures = Figures::start("kill", "power_may_fail_at_any_time");
    let seed = seed("power");
    let extent = extent(&mut lane);
    drop(lane);
    let count = campaign(&cuts(share(12, 8), extent.disk, seed, false), seed.wrapping_add(2));
    assert!(count.deaths > 0, "nobody died");
    assert!(count.undone > 0, "no power cut took anything back");
    count.finish(figures);
}

/// The test of the test: with a disk that only says that it synced, something must be found.
#[test]
fn a_disk_that_lies_is_noticed() {
    let Some(mut lane) = Lane::new(&[], 4) else { return };
    let extent = extent(&mut lane);
    // Near the end of an order everything is done, and nothing of it was really synced.
    let mut dice = Dice(seed("lying disk"));
    for _ in 0..40 {
        let at = extent.disk / 2 + dice.below(extent.disk / 2);
        let fault = Fault {
            torn: Some(dice.below(1 << 32)),
            lies: true,
            ..Fault::once(On::Disk, at, Act::Before)
        };
        let noticed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            !super::batch::die(&mut lane, &[fault]).is_clean()
        }));
        if noticed.unwrap_or(true) {
            return;
        }
    }
    panic!("forty power cuts with a disk that does not sync, and nothing was noticed");
}
