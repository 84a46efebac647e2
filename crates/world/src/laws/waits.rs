//! How long a report that can be sent may wait once all faults are over.

use std::collections::BTreeMap;

use report::{State, SubmissionId};

use super::Life;
use crate::authority::Nature;
use crate::computer::{MINUTE, SECOND};
use crate::world::World;

/// A report that can be sent waits no longer than for another one's time limit and a rest.
const WAIT_MAX: i64 = (180 + 20) * SECOND;
/// Six tries of an older version take so long, with the longest pauses between them.
const TRIES_MAX: i64 = 40 * MINUTE;

/// The longest wait of a report.
pub(super) fn longest(
    world: &World,
    lives: &BTreeMap<SubmissionId, Life>,
    id: SubmissionId,
    life: &Life,
) -> i64 {
    // Who is never let in knocks more and more seldom.
    if is_barred(world, life) {
        return i64::MAX;
    }
    if follows_a_barred_one(world, lives, id, life) { TRIES_MAX } else { WAIT_MAX }
}

/// Whether the authority never lets it in.
fn is_barred(world: &World, life: &Life) -> bool {
    crate::lock(&world.authorities[life.endpoint]).nature(&life.identifier) == Nature::Barred
}

/// Whether an older version of its document, which is never let in, waits to be sent: a newer one
/// waits until that was tried six times.
fn follows_a_barred_one(
    world: &World,
    lives: &BTreeMap<SubmissionId, Life>,
    id: SubmissionId,
    life: &Life,
) -> bool {
    let document = |id| world.observer.row(id).ok().and_then(|row| row.summary.identifier);
    let own = document(id);
    lives.range(..id).any(|(older, it)| {
        let waits = matches!(it.state, State::Queued { .. } | State::Sending { .. });
        let is_before = waits && it.endpoint == life.endpoint && is_barred(world, it);
        is_before && own.is_some() && document(*older) == own
    })
}
