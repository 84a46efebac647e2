//! When a world is at rest: everything has ended, or waits for a person.

use fhir::Instant;
use report::{Action, State, SubmissionId};

use super::{Laws, Life, is_opened_again};
use crate::authority::Nature;
use crate::world::{ENDPOINTS, World};

/// What became of a report that is refused.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Refused {
    /// So many had been let in beside it when it was refused first, since it was in doubt last:
    /// what was let in meanwhile says nothing of a request for it.
    let_in_before: Option<i64>,
    /// It was put on hold because it alone is refused.
    is_held: bool,
}

impl Laws {
    /// What is known of the refusals of a report that was `before` and now is in this state.
    pub(super) fn refused(&self, before: Option<&Life>, state: &State) -> Refused {
        let Some(before) = before else { return Refused::default() };
        let mut refused = before.refused;
        if let State::Unknown { .. } = state {
            refused.let_in_before = None;
        }
        if let State::Sending { .. } = before.state {
            refused.is_held |= matches!(state, State::Held { attempt: 1.. });
            if let State::Queued { .. } = state {
                refused.let_in_before.get_or_insert(self.let_in(before.endpoint));
            }
        }
        refused
    }

    /// How many reports were accepted at this endpoint.
    fn let_in(&self, endpoint: usize) -> i64 {
        let there = |other: &&Life| other.endpoint == endpoint && other.accepted;
        i64::try_from(self.lives.values().filter(there).count()).unwrap_or(i64::MAX)
    }

    /// Nothing moves any more, but what the authority chokes on or never lets in.
    pub(crate) fn at_rest(&self, world: &World) -> bool {
        let at_rest = |(id, life): (&SubmissionId, &Life)| {
            let authority = crate::lock(&world.authorities[life.endpoint]);
            let nature = authority.nature(&life.identifier);
            let is_poison = nature.is_poison() && !self.must_be_held(world, nature, life);
            let now = world.truth();
            let stored = authority.known(&life.identifier, now);
            // A search for changes finds it, which is made with the certificate in use alone.
            let is_there = stored.is_some_and(|it| world.is_shown(it.sender));
            drop(authority);
            // What is on hold after a request and has arrived is found yet.
            let is_found_yet = is_there
                && matches!(life.state, State::Held { attempt: 1.. })
                && !is_opened_again(world, *id);
            let is_settled = life.state.is_settled() && !is_found_yet;
            let waits = self.waits_for_a_person(world, life) || self.waits_beside(world, *id, life);
            is_poison || is_settled || waits
        };
        self.lives.iter().all(at_rest) && self.is_compared(world)
    }

    /// R8: others were let in again and again beside a report that is always refused, so it is put
    /// on hold.
    fn must_be_held(&self, world: &World, nature: Nature, life: &Life) -> bool {
        let is_given_up = matches!(life.state.code(), "withdrawn" | "superseded");
        // Where all of them wait for a person, as after a restore, nobody was let in beside it; nor
        // was anybody where it was sent after all others, as after a long doubt.
        let let_in = self.let_in(life.endpoint) - life.refused.let_in_before.unwrap_or(0);
        let beside = world.plan.edges.beside;
        let has_company = beside > 0 && let_in >= beside;
        nature == Nature::Barred && has_company && !life.refused.is_held && !is_given_up
    }

    /// The authority has forgotten it, and that is known; or it is in doubt, and the authority has
    /// forgotten what it accepted last and nothing was accepted since that it shows. Nobody can
    /// tell then whether it still shows us anything, or answers from an old copy.
    pub(super) fn waits_for_a_person(&self, world: &World, life: &Life) -> bool {
        let authority = crate::lock(&world.authorities[life.endpoint]);
        let now = world.truth();
        let known = |identifier: &str| {
            let stored = authority.known(identifier, now);
            stored.is_some_and(|it| !world.plan.renewals.is_hidden(it.sender, now))
        };
        match &life.state {
            State::InProgress { not_found_since: Some(_), .. } => !known(&life.identifier),
            // The certificate that alone is shown it has expired.
            State::InProgress { .. } if world.plan.renewals.lapse.is_some() => {
                !known(&life.identifier)
            }
            // What the authority has is found yet.
            State::Unknown { .. } if !known(&life.identifier) => {
                let offered = life.state.actions(world.computer.wall());
                let there = |other: &&Life| other.endpoint == life.endpoint && other.accepted;
                let accepted: Vec<&Life> = self.lives.values().filter(there).collect();
                let is_known = |other: &&Life| known(&other.identifier);
                // Where the newest are forgotten, access may be lost for all that anybody can tell.
                // So they may for the certificate that it was sent with.
                let is_renewed = !world.plan.renewals.at.is_empty();
                let is_hidden = match world.plan.edges.renumbers {
                    Some(_) => !accepted.iter().all(is_known),
                    None if is_renewed => !accepted.iter().all(is_known),
                    None => {
                        (!accepted.is_empty() && !accepted.iter().any(is_known))
                            || newest_is_lost(world, life, known)
                    }
                };
                // Nothing else was sent with that certificate, perhaps, and it is shown nothing of
                // what went before; or our clock says an earlier time than that of the change; or
                // that certificate has expired.
                let renewals = &world.plan.renewals;
                let is_unsure = renewals.own_sight || renewals.lapse.is_some();
                (is_hidden || is_unsure) && offered.contains(&Action::SayNotReceived)
            }
            _ => false,
        }
    }

    /// It waits for what becomes of a newer version of its document, and that one for a person.
    pub(super) fn waits_beside(&self, world: &World, id: SubmissionId, life: &Life) -> bool {
        let State::Queued { .. } = life.state else { return false };
        let Ok(others) = world.observer.other_versions_of(id) else { return false };
        let mut newer = others.newer_in_doubt.iter().filter_map(|newer| self.lives.get(newer));
        newer.any(|newer| self.waits_for_a_person(world, newer))
    }
}

/// Of what was accepted beside a report in doubt the last one is not known any more, and none that
/// was sent after the report is.
fn newest_is_lost(world: &World, life: &Life, known: impl Fn(&str) -> bool) -> bool {
    let always = (Instant(i64::MIN), Instant(i64::MAX));
    let endpoint = ENDPOINTS[life.endpoint];
    let newest =
        world.observer.newest_accepted(endpoint, &life.identifier, always, Instant(i64::MAX));
    newest.is_ok_and(|newest| {
        newest.first().is_some_and(|last| !known(&last.identifier))
            && !newest.iter().any(|other| other.is_later && known(&other.identifier))
    })
}
