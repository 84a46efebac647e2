//! Faults that were added last: an authority that is restored and gives its numbers anew, a search
//! that stands still for longer than a doubt lasts, two environments, company for a report that is
//! never let in, and a person who corrects at once what a gateway refused.

use crate::computer::{HOUR, MINUTE};
use crate::dice::Dice;
use crate::world::{Plan, World};

/// What of them a world has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Edges {
    /// When an authority makes a backup, and when it is restored from that.
    pub(crate) renumbers: Option<(i64, i64)>,
    /// From when to when the index of each search stands still, once the laboratory knows of a
    /// report that came in that time: else nothing could tell it.
    pub(crate) stands: Option<(i64, i64)>,
    /// The second endpoint is one of production.
    pub(crate) environments: bool,
    /// So many reports come when all is quiet, beside one that is never let in.
    pub(crate) beside: i64,
    /// A gateway refuses the answers to so many deliveries of a hundred, which a person corrects at
    /// once, and the search shows late.
    pub(crate) overtakes: u64,
}

impl Plan {
    /// Dice of its own, thrown only for seeds that were not kept before: those tell the same story.
    pub(crate) fn add_edges(&mut self, seed: u64) {
        if crate::is_of_before(seed, crate::EDGES) {
            return;
        }
        let mut edge = Dice::new(seed.rotate_left(40) ^ 0x6564_6765);
        // After a restore here nobody could compare with what the authority has lost or hides.
        let is_alone = self.set_back.is_none();
        match edge.below(100) {
            0..20 if is_alone => {
                let backup = edge.time(0, self.quiet / 2);
                self.edges.renumbers = Some((backup, edge.time(backup + MINUTE, self.quiet)));
            }
            20..45 if is_alone => {
                let from = if edge.percent(60) { 0 } else { edge.time(0, self.quiet / 2) };
                let until = edge.time(from + 12 * MINUTE, from + 2 * HOUR);
                self.edges.stands = Some((from, until.min(self.quiet)));
            }
            _ => {}
        }
        if self.edges.renumbers.is_some() || self.edges.stands.is_some() {
            // What is stored twice, or hidden from the one question for it, is another story.
            (self.forgets, self.echoes) = (0, 0);
        }
        self.edges.environments = self.endpoints > 1 && edge.percent(50);
        if self.choking && edge.percent(50) {
            self.edges.beside = 12;
        }
        self.add_overtaking(seed);
    }
}

impl Plan {
    /// A person who corrects at once what a gateway refused; dice of its own.
    fn add_overtaking(&mut self, seed: u64) {
        let mut overtake = Dice::new(seed.rotate_left(8) ^ 0x6F76_6572);
        // Nobody dies or sleeps in between: a report that is refused on the way back and goes again
        // is asked for once. Where both clocks leap nobody knows how old a request is.
        let is_alone = self.set_back.is_none()
            && self.edges.renumbers.is_none()
            && self.edges.stands.is_none()
            && self.forgets == 0
            && self.leap.is_none();
        if is_alone && overtake.percent(15) {
            (self.processes, self.crashes, self.stalls, self.refusals) = (1, 0, 0, 0);
            (self.echoes, self.choking) = (0, false);
            self.edges.overtakes = overtake.between(10, 60);
        }
    }
}

/// The journal knows of a report that came: where the search is to stand still, it does so before.
pub(crate) fn stand_still(world: &World, endpoint: usize, identifier: &str) {
    let Some((from, until)) = world.plan.edges.stands else { return };
    if (from..until).contains(&world.truth()) {
        let mut authority = crate::lock(&world.authorities[endpoint]);
        authority.stand_still(identifier, from, until);
    }
}
