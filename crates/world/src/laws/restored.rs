//! A journal that was set back, and what must be true of it once it was compared.

use report::{Event, State, SubmissionId};

use super::{Laws, Life};
use crate::computer::HOUR;
use crate::history::Broken;
use crate::laws::rest::Refused;
use crate::order::asks_first;
use crate::world::{ENDPOINTS, World};

impl Laws {
    /// The journal is another one from now on: its lives are read anew.
    pub(crate) fn set_back(&mut self, world: &World, compared: i64) {
        let Ok((newest, all)) = world.memory.moved_since(0) else {
            return world.broken(Broken::Other, "the restored journal cannot be read".to_owned());
        };
        (self.events, self.token, self.set_back) = (newest, 0, Some(compared));
        self.lives.clear();
        for id in all {
            let Ok(row) = world.observer.row(id) else { continue };
            let endpoint = usize::from(row.endpoint == ENDPOINTS[1]);
            let (identifier, ready) = (row.identifier, world.truth());
            let accepted = row.receipt.is_some();
            let (state, learned, refused) = (row.state, None, Refused::default());
            let life = Life { state, identifier, endpoint, ready, learned, accepted, refused };
            self.lives.insert(id, life);
        }
    }

    /// When the restored journal may be taken for compared.
    pub(crate) fn is_compared_from(&self) -> Option<i64> {
        self.set_back
    }

    /// Whether the journal knows of a report there that the authority shows for sure: one that
    /// failed it need not show.
    pub(crate) fn was_accepted(&self, endpoint: usize) -> bool {
        let shown =
            |state: &State| matches!(state, State::Completed { .. } | State::InProgress { .. });
        self.lives.values().any(|it| it.endpoint == endpoint && shown(&it.state))
    }

    /// Nothing waits for a comparison any more, but what only a person can decide: nothing that the
    /// authority has shows whether it can be asked for a document.
    pub(super) fn is_compared(&self, world: &World) -> bool {
        let Self { set_back: Some(from), .. } = self else { return true };
        let journal = &world.observer;
        // Nothing was ever shown to this certificate: what waits is a person's to release.
        if world.plan.renewals.own_sight && world.certificate() > 0 {
            return world.truth() > from + 2 * HOUR;
        }
        // Where it has accepted something of ours and shows none of it by its document.
        let is_undecidable = |name: &str, id: SubmissionId| {
            !asks_first(world, id)
                && journal.has_accepted(name).is_ok_and(|accepted| accepted)
                && journal.witnesses_by_document(name, id).is_ok_and(|all| all.is_empty())
        };
        // This one goes only if the newer one does not.
        let is_being_replaced = |id: SubmissionId| self.is_being_replaced(world, id);
        journal.unreconciled().is_ok_and(|open| open.is_none())
            && ENDPOINTS.iter().all(|name| {
                let waiting = journal.guarded(name);
                let for_a_person = |id| is_undecidable(name, id) || is_being_replaced(id);
                waiting.is_ok_and(|all| all.into_iter().all(for_a_person))
            })
    }

    /// What the authority has is in the journal, also after that was set back.
    pub(super) fn all_known(&self, world: &World) {
        for (endpoint, authority) in world.authorities.iter().enumerate() {
            let authority = crate::lock(authority);
            for stored in &authority.stored {
                let ours =
                    |life: &Life| life.endpoint == endpoint && life.identifier == stored.identifier;
                let now = world.truth();
                let is_shown =
                    !stored.is_forgotten(now) && !world.plan.renewals.is_hidden(stored.sender, now);
                if is_shown && !self.lives.values().any(ours) {
                    let what = format!("{} is not in the journal", stored.identifier);
                    world.broken(Broken::Loss, what);
                }
            }
        }
    }

    /// What a restore on another computer has put in doubt is not let go before a person has read
    /// of it: the other copy may still send it.
    pub(super) fn copied(&self, world: &World, id: SubmissionId, old: &State, new: &State) {
        let (State::Unknown { since, .. }, State::Queued { .. }) = (old, new) else { return };
        let journal = &world.observer;
        let stands =
            journal.notices().is_ok_and(|all| all.iter().any(|it| it.code == "journal-copied"));
        let first = journal.may_be_sent_since(id, *since, world.computer.wall());
        let forgotten = first.is_ok_and(|first| first < *since);
        let said = journal.detail(id).is_ok_and(|detail| {
            let last = detail.timeline.last();
            last.is_some_and(|it| matches!(it.event, Event::SaidNotReceived { .. }))
        });
        if stands && forgotten && !said {
            world.broken(Broken::Duplicate, format!("#{}: another copy may send it", id.0));
        }
    }
}
