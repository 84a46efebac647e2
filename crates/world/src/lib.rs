//! A seeded world: the real worker and the real statements of the journal against an authority that
//! loses answers, delays them, repeats them, shows reports late and refuses for a while; processes
//! that die or stand still at any write and any request; a clock that is set; a computer that
//! sleeps; people who act meanwhile. Time is simulated and nothing runs beside, so that a seed
//! repeats its story to the letter.
//!
//! After every write the promises are checked (`laws`); the first that is broken ends the world.

mod alone;
mod authority;
mod certificates;
mod computer;
mod delivery;
mod dice;
mod edges;
mod fate;
mod history;
mod laws;
mod link;
mod order;
mod papers;
mod process;
mod renewals;
mod run;
mod tally;
mod world;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use alone::Alone;
pub use history::{Broken, Violation};
pub use run::run;
pub use tally::Tally;

/// How a world ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What happened in it.
    pub tally: Tally,
    /// The promise that was broken, if one was.
    pub violation: Option<Violation>,
    /// What happened, step by step, where it was asked for.
    pub history: Vec<String>,
}

/// Seeds that once broke a promise, with what it was: every test run plays them first.
pub const REGRESSIONS: &str = include_str!("../regressions.txt");

/// The numbers in [`REGRESSIONS`]; what follows a number is for people.
pub fn regressions() -> Vec<u64> {
    seeds_of(REGRESSIONS).collect()
}

fn seeds_of(list: &str) -> impl Iterator<Item = u64> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_whitespace().next()?.parse().ok())
}

/// Whether a seed was kept before the faults of this line were played: its story is without them.
pub(crate) fn is_of_before(seed: u64, line: &str) -> bool {
    let (before, _) = REGRESSIONS.split_once(line).unwrap_or((REGRESSIONS, ""));
    seeds_of(before).any(|kept| kept == seed)
}

/// The line behind which seeds stand that were found with those faults.
pub(crate) const EDGES: &str = "# Found with the faults of edges.rs:";
/// The same for renewed certificates.
pub(crate) const RENEWALS: &str = "# Found with renewals.rs:";

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
