//! What must be true after every write (R1 to R5, R8), said without the code that it is about.

mod rest;
mod restored;
mod waits;

use std::collections::BTreeMap;

use engine::Timing;
use exchange::{Envelope, Processing};
use report::{Action, State, SubmissionId};

use crate::authority::{Authority, Nature};
use crate::computer::{HOUR, MINUTE, SECOND};
use crate::edges;
use crate::history::Broken;
use crate::order::{
    asks_first, failed_beside, held_beside, is_opened_again, may_follow, passed_on, shown,
    stored_beside,
};
use crate::world::{ENDPOINTS, World};
use rest::Refused;

/// One submission as the world has followed it.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    pub(crate) state: State,
    pub(crate) identifier: String,
    pub(crate) endpoint: usize,
    /// Could be sent from then on, in true time.
    ready: i64,
    /// The last end that was learned of it.
    learned: Option<&'static str>,
    /// The authority has accepted it once.
    accepted: bool,
    /// What became of it where it is refused.
    refused: Refused,
}

/// Everything that was seen so far.
#[derive(Debug, Default)]
pub(crate) struct Laws {
    pub(crate) lives: BTreeMap<SubmissionId, Life>,
    events: i64,
    token: i64,
    /// The journal was set back, and must be compared by then.
    set_back: Option<i64>,
}

/// Where the part of a document begins into which nothing is inserted.
const BODY: &[u8] = b",\"identifier\"";
/// The same in XML.
const BODY_XML: &[u8] = b"<identifier>";
/// From then on after the last fault nothing of it is left: a stall of 40 minutes at whose end an
/// hour of `Retry-After` is read, and a lease.
pub(crate) const CALM: i64 = (40 + 60 + 10) * MINUTE;
/// A search for changes comes at least so often (5 minutes), and waits at most for a request under
/// way (180 s) and itself.
const POLL_MAX: i64 = (300 + 180 + 60) * SECOND;
/// Everything is at rest so long after the last fault: the longest pause between two reads is six
/// hours.
pub(crate) const REST_MAX: i64 = 12 * HOUR;

impl Laws {
    /// Looks at whatever moved; says whether something did.
    pub(crate) fn check(&mut self, world: &World) -> bool {
        let Ok((newest, moved)) = world.memory.moved_since(self.events) else {
            world.broken(Broken::Other, "the journal cannot be read".to_owned());
            return false;
        };
        self.events = newest;
        self.lease(world);
        for id in &moved {
            self.moved(world, *id);
        }
        !moved.is_empty()
    }

    fn lease(&mut self, world: &World) {
        let Ok(Some(lease)) = world.observer.lease() else { return };
        if lease.token.0 < self.token {
            world.broken(Broken::Other, "the token of the lease went back".to_owned());
        }
        if lease.token.0 > self.token {
            self.token = lease.token.0;
            world.count(|tally| tally.takeovers += 1);
            world.note("journal", || format!("lease {} to {:?}", lease.token.0, lease.holder));
        }
    }

    fn moved(&mut self, world: &World, id: SubmissionId) {
        let (state, replayed) = (world.observer.state(id), world.observer.replay(id));
        let Ok(state) = state else {
            return world.broken(Broken::Loss, format!("#{} cannot be read", id.0));
        };
        if replayed.ok().as_ref() != Some(&state) {
            world.broken(Broken::Other, format!("#{}: replay does not give {state:?}", id.0));
        }
        self.in_its_place(world, id, &state);
        let now = world.truth();
        let before = self.lives.get(&id).cloned();
        world.note("journal", || {
            let before = before.as_ref().map_or("-", |life| life.state.code());
            format!("#{} {before} -> {}", id.0, shown(&state))
        });
        if let Some(before) = &before {
            self.in_order(world, id, before, &state);
        }
        let (identifier, endpoint) = match &before {
            Some(life) => (life.identifier.clone(), life.endpoint),
            None => match world.observer.row(id) {
                Ok(row) => (row.identifier, usize::from(row.endpoint == ENDPOINTS[1])),
                Err(_) => return world.broken(Broken::Loss, format!("#{} has no row", id.0)),
            },
        };
        let ready = match &state {
            State::Queued { due, .. } => now + (due.0 - world.computer.wall().0).max(0),
            _ => before.as_ref().map_or(now, |life| life.ready),
        };
        let learned = match &state {
            State::Completed { .. } | State::Failed { .. } => Some(state.code()),
            _ => before.as_ref().and_then(|life| life.learned),
        };
        let accepted =
            state.receipt().is_some() || before.as_ref().is_some_and(|life| life.accepted);
        let refused = self.refused(before.as_ref(), &state);
        if accepted && !before.as_ref().is_some_and(|before| before.accepted) {
            edges::stand_still(world, endpoint, &identifier);
        }
        let life = Life { state, identifier, endpoint, ready, learned, accepted, refused };
        self.proven(world, id, &life);
        self.in_time(world, id, &life, before.as_ref());
        self.lives.insert(id, life);
    }

    /// A newer file takes the place of an earlier one only when it is sent.
    fn in_its_place(&self, world: &World, id: SubmissionId, state: &State) {
        let State::Superseded { by } = state else { return };
        // It was given up before, and is open again where this one is withdrawn too.
        let before = self.lives.get(&id).map(|life| &life.state);
        if before.is_some_and(|before| passed_on(world, before, state)) {
            return;
        }
        let linked = world.observer.row(*by).map(|row| row.identifier);
        if !linked.is_ok_and(|identifier| world.papers(|papers| papers.is_linked(&identifier))) {
            return;
        }
        let waits = |state: &State| {
            matches!(state, State::Queued { attempt: 0, .. } | State::Held { attempt: 0 })
        };
        if world.observer.state(*by).is_ok_and(|state| waits(&state)) {
            let what = format!("#{} was given up for #{}, which is not sent", id.0, by.0);
            world.broken(Broken::Loss, what);
        }
    }

    /// R4: what may follow what, and a receipt is exchanged only for that of a completed delivery.
    fn in_order(&self, world: &World, id: SubmissionId, before: &Life, state: &State) {
        let (old, new) = (&before.state, state);
        let same = old.receipt().zip(new.receipt()).is_none_or(|(old, new)| old == new)
            || new.code() == "completed";
        // After a restore whatever may have been sent is asked for; and always what is to be sent
        // once more.
        let asked = new.code() == "unknown"
            && match old {
                State::Queued { attempt, .. } => *attempt > 0 || self.set_back.is_some(),
                State::Held { .. } => self.set_back.is_some(),
                _ => false,
            };
        self.copied(world, id, old, new);
        let stands = passed_on(world, old, new)
            || held_beside(world, id, old, new)
            || failed_beside(world, id, old, new);
        if old == new || stands || (same && (asked || may_follow(old, new.code()))) {
            return;
        }
        world.broken(Broken::Other, format!("#{}: {} became {}", id.0, shown(old), shown(new)));
    }

    /// R5, and the same for every other word of the authority.
    fn proven(&self, world: &World, id: SubmissionId, life: &Life) {
        let authority = crate::lock(&world.authorities[life.endpoint]);
        // An authority that was restored may give one report the same number twice.
        let stored = || {
            let all = authority.stored.iter().filter(|it| it.identifier == life.identifier);
            all.filter(|it| life.state.receipt() == Some(&*it.receipt))
        };
        let now = world.truth();
        let ended = |outcome| stored().any(|it| it.is_final(now) && it.outcome == outcome);
        let true_ = match &life.state {
            State::Completed { .. } => ended(Processing::Completed),
            // Not while another delivery of it is on its way, nor beside one that was completed:
            // unless the question for that had no answer again and again.
            State::Failed { .. } => {
                let counts = authority.known(&life.identifier, now);
                let counts =
                    counts.is_none_or(|it| it.is_final(now) && it.outcome == Processing::Failed);
                let in_vain = authority.asked_in_vain.get(&life.identifier).copied();
                let is_never_told = in_vain.unwrap_or(0) >= Timing::default().refusals_max * 2;
                ended(Processing::Failed) && (counts || is_never_told)
            }
            State::InProgress { .. } => stored().next().is_some(),
            // Or called a duplicate of what the authority has forgotten since: nobody could know
            // better.
            State::Rejected => {
                let refused = authority.nature(&life.identifier) == Nature::Refused
                    || authority.duplicates.contains(&life.identifier);
                refused && authority.known(&life.identifier, now).is_none()
            }
            _ => true,
        };
        drop(authority);
        if !true_ {
            let broken = match life.state {
                State::Completed { .. } => Broken::FalseCompleted,
                _ => Broken::Other,
            };
            world.broken(broken, format!("#{} is not {}", id.0, shown(&life.state)));
        }
    }

    /// R3 and R8 once all faults are over.
    fn in_time(&self, world: &World, id: SubmissionId, life: &Life, before: Option<&Life>) {
        let (now, calm) = (world.truth(), world.plan.quiet + CALM);
        if now < calm {
            return;
        }
        if let (State::Sending { .. }, Some(before)) = (&life.state, before) {
            let waited = now - before.ready.max(calm);
            if waited > waits::longest(world, &self.lives, id, life) {
                world.broken(Broken::Other, format!("#{} waited {} s", id.0, waited / SECOND));
            }
        }
        // Learned in time once, before its correction, which was withdrawn.
        let is_old = before.is_some_and(|before| before.learned == Some(life.state.code()));
        if let State::Completed { .. } | State::Failed { .. } = &life.state
            && !is_old
        {
            let authority = crate::lock(&world.authorities[life.endpoint]);
            let Some(stored) = authority.known(&life.identifier, now) else { return };
            let late = now - stored.told.max(stored.indexed).max(calm);
            let (very_late, told) = (stored.is_told_very_late(), stored.told);
            drop(authority);
            if late > POLL_MAX && !very_late && told >= calm {
                world.broken(Broken::Other, format!("#{} learned {} s late", id.0, late / SECOND));
            }
        }
    }

    /// R1: before the first byte leaves, the journal says so.
    pub(crate) fn leaving(&self, world: &World, endpoint: usize, wrapped: &Envelope) {
        let life = self
            .lives
            .iter()
            .find(|(_, life)| life.identifier == wrapped.identifier && life.endpoint == endpoint);
        let Some((id, life)) = life else {
            return world.broken(Broken::Other, "sent and not in the journal (R1)".to_owned());
        };
        if !matches!(life.state, State::Sending { .. }) {
            let what = format!("#{} sent while {} (R1)", id.0, life.state.code());
            world.broken(Broken::Other, what);
        }
        if let Some(by) = self.replacement(world, *id) {
            let what = format!("#{} sent although #{} is to take its place", id.0, by.0);
            world.broken(Broken::Duplicate, what);
        }
        if let Some(other) = stored_beside(world, endpoint, *id) {
            let what = format!("#{} is sent beside what it corrects, {}", id.0, other.receipt);
            world.broken(Broken::Duplicate, what);
        }
        let document = world.observer.document(*id).unwrap_or_default();
        // The profiles are inserted before it; all that follows goes as it came.
        let at = |begin: &[u8]| document.windows(begin.len()).position(|part| part == begin);
        let from = at(BODY).or_else(|| at(BODY_XML));
        let rest = from.and_then(|from| document.get(from..)).unwrap_or(&document);
        if !wrapped.body.windows(rest.len().max(1)).any(|part| part == rest) {
            world.broken(Broken::Other, format!("#{}: other bytes were sent (R6)", id.0));
        }
    }

    /// A newer version that a file brought, and that nobody has given up.
    fn replacement(&self, world: &World, id: SubmissionId) -> Option<SubmissionId> {
        let stands = |life: &Life| {
            matches!(life.state.code(), "held" | "queued" | "sending" | "unknown" | "in-progress")
                && world.papers(|papers| papers.is_linked(&life.identifier))
        };
        let corrects = |by: SubmissionId| world.observer.row(by).ok()?.corrects;
        let mut newer = self.lives.iter().filter(|(_, life)| stands(life));
        newer.find(|(by, _)| corrects(**by) == Some(id)).map(|(by, _)| *by)
    }

    /// A newer version waits, perhaps on hold, also in the place of one that was itself to do so.
    fn is_being_replaced(&self, world: &World, id: SubmissionId) -> bool {
        let corrects = |by: SubmissionId| world.observer.row(by).ok().and_then(|row| row.corrects);
        let mut newer = self.lives.iter().filter(|(by, _)| corrects(**by) == Some(id));
        newer.any(|(by, life)| match life.state.code() {
            "held" | "queued" | "sending" | "unknown" => true,
            "superseded" | "withdrawn" => self.is_being_replaced(world, *by),
            _ => false,
        })
    }

    /// R3: one complete search teaches everything that it could.
    pub(crate) fn taught(&self, world: &World, endpoint: usize, identifiers: &[String]) {
        for (id, life) in &self.lives {
            let open =
                !matches!(life.state.code(), "completed" | "failed" | "withdrawn" | "superseded");
            if open && life.endpoint == endpoint && identifiers.contains(&life.identifier) {
                let what = format!("#{} is final and was not learned by a search (R3)", id.0);
                world.broken(Broken::Other, what);
            }
        }
    }

    /// Whether a person who asks the authority could say this.
    pub(crate) fn is_true(&self, world: &World, id: SubmissionId, action: Action) -> bool {
        let Some(life) = self.lives.get(&id) else { return false };
        let authority = crate::lock(&world.authorities[life.endpoint]);
        let known = authority.known(&life.identifier, world.truth()).is_some();
        match action {
            Action::SayReceived => known,
            // Who is told that the authority may have it looks first; before that the journal does.
            Action::Release => {
                asks_first(world, id) || !self.has_content(world, &authority, &life.identifier)
            }
            Action::SayNotReceived => !known && !authority.coming.contains(&life.identifier),
            _ => true,
        }
    }

    /// Whether the authority has, or is just being given, what another attempt of the same content
    /// has brought.
    fn has_content(&self, world: &World, authority: &Authority, identifier: &str) -> bool {
        world.papers(|papers| {
            let content = papers.content_of(identifier);
            let same = |other: &str| other != identifier && papers.content_of(other) == content;
            let now = world.truth();
            let mut stored = authority.stored.iter().filter(|stored| !stored.is_forgotten(now));
            content.is_some()
                && (stored.any(|stored| same(&stored.identifier))
                    || authority.coming.iter().any(|coming| same(coming)))
        })
    }

    /// R2 and nothing lost: everything at the authority is known here, and everything here is done.
    pub(crate) fn at_the_end(&self, world: &World) {
        self.all_known(world);
        for (id, life) in &self.lives {
            let authority = crate::lock(&world.authorities[life.endpoint]);
            let nature = authority.nature(&life.identifier);
            let now = world.truth();
            let stored = authority.known(&life.identifier, now);
            let is_hidden = stored.is_some_and(|it| world.plan.renewals.is_hidden(it.sender, now));
            let is_shown = stored.is_some_and(|it| world.is_shown(it.sender));
            let stored = stored.is_some();
            let had_ended = authority.had_ended(&life.identifier);
            drop(authority);
            let code = life.state.code();
            let told = match nature {
                _ if nature.is_poison() => {
                    !stored && !matches!(code, "completed" | "failed" | "in-progress" | "rejected")
                }
                _ => match code {
                    "completed" | "failed" => stored || had_ended,
                    "rejected" => !stored,
                    "held" => !is_shown || is_opened_again(world, *id),
                    "withdrawn" | "superseded" => true,
                    "in-progress" | "unknown" => {
                        (!stored || is_hidden) && self.waits_for_a_person(world, life)
                    }
                    "queued" => self.waits_beside(world, *id, life),
                    _ => false,
                },
            };
            if !told {
                let place = if stored { "at the authority" } else { "not at the authority" };
                world.broken(Broken::Loss, format!("#{} ends {code}, {place}", id.0));
            }
        }
    }
}
