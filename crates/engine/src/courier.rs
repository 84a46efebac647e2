//! What decides how the reports of one endpoint are sent and followed: plain data and rules,
//! without IO.
//!
//! It reads no clock and no journal, waits for nothing and asks nobody. The worker, which drives
//! it, tells it the time and what came of each exchange, and does what it says. All that it knows
//! may be lost at any moment: what must not be lost stands in the journal.

pub(crate) mod breaker;
pub(crate) mod content;
pub(crate) mod cursor;
pub(crate) mod deliveries;
mod own_refusals;
pub(crate) mod preflight;
pub(crate) mod questions;
mod queue;
pub(crate) mod searches;
pub(crate) mod sweep;
mod trying;
pub(crate) mod verdict;
pub(crate) mod visibility;
pub(crate) mod whose;

use std::sync::Arc;
use std::time::Duration;

use fhir::Instant;
use report::{Event, State, SubmissionId};

use crate::{ClockReading, Connection, ConnectionState, Timing};
use breaker::{BreakerState, CircuitBreaker, Failure, RequestKind};
use questions::Questions;
use queue::Queue;
use searches::{Searches, Tells};
use sweep::Sweeps;
use trying::Trying;
use verdict::{Health, Verdict};

/// Longest rest between two looks at the journal: another process may have added work.
pub(crate) const REST_MAX: Duration = Duration::from_secs(5);
/// What the time of a change and the beginning of a request may differ by although they fell
/// together: the settings have to be written, and a clock is adjusted now and then.
const CHANGE_SECONDS: i64 = 20;
/// A delivery that began before a certificate was replaced may end so much later: the time limit of
/// a delivery, 180 s, and the same.
pub(crate) const SENT_BEFORE_SECONDS: i64 = 180 + CHANGE_SECONDS;

/// What decides for one endpoint. It may be lost at any moment.
pub(crate) struct Courier {
    timing: Arc<Timing>,
    /// This release tells by search what has changed.
    can_search: bool,
    /// When each certificate that was used before was in use.
    formerly: Vec<Period>,
    breaker: CircuitBreaker,
    searches: Searches,
    questions: Questions,
    queue: Queue,
    sweeps: Sweeps,
    trying: Trying,
    /// The way to the authority has been tried with a question.
    preflight_done: bool,
    /// A request was refused in an answer since the last search: whoever refuses one may answer the
    /// other.
    refused: bool,
    /// The journal failed in the middle of the last round.
    broken_off: bool,
}

/// When a certificate was in use that is no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Period {
    /// Since when it was used.
    pub(crate) from: Instant,
    /// When another took its place.
    pub(crate) until: Instant,
}

impl Period {
    /// Whether a request may have been made with it that began between these two moments.
    pub(crate) fn covers(self, (first, last): (Instant, Instant)) -> bool {
        self.from <= last && first < self.until.plus_seconds(CHANGE_SECONDS)
    }
}

/// When a request began of which only the end is known, or when somebody noticed it.
pub(crate) fn begun_before(end: Instant) -> (Instant, Instant) {
    (end.plus_seconds(CHANGE_SECONDS - SENT_BEFORE_SECONDS), end)
}

/// What an exchange has shown of the connection, for people.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Seen {
    /// The authority has answered now.
    contact: bool,
    /// Where the connection stands from now on, and when the next try is made.
    state: Option<(ConnectionState, Option<Instant>)>,
}

impl Seen {
    /// What people are told from now on.
    pub(crate) fn show(self, connection: &mut Connection, now: Instant) {
        if self.contact {
            connection.last_contact = Some(now);
        }
        if let Some((state, next_try)) = self.state {
            (connection.state, connection.next_try) = (state, next_try);
        }
    }
}

impl Courier {
    /// Nothing is known yet.
    pub(crate) fn new(now: ClockReading, timing: Arc<Timing>, can_search: bool) -> Self {
        Self {
            timing,
            can_search,
            formerly: Vec::new(),
            breaker: CircuitBreaker::default(),
            searches: Searches::default(),
            questions: Questions::default(),
            queue: Queue::default(),
            sweeps: Sweeps::new(now),
            trying: Trying::default(),
            preflight_done: false,
            refused: false,
            broken_off: false,
        }
    }

    /// The times in which certificates were in use that are no more.
    pub(crate) fn used_formerly(&mut self, formerly: Vec<Period>) {
        self.formerly = formerly;
    }

    /// Whether states are learned by search (else by id, one at a time).
    pub(crate) fn searches(&self) -> bool {
        self.can_search && !self.searches.are_refused()
    }

    /// Whether a report that was sent or accepted then may have gone with another certificate than
    /// the one in use: then no search tells of it.
    pub(crate) fn was_sent_formerly(&self, since: Instant) -> bool {
        self.formerly.iter().any(|period| period.covers(begun_before(since)))
    }

    /// No search tells what becomes of this report: it is read by its id as often as others search.
    pub(crate) fn is_unsearched(&self, state: &State) -> bool {
        match state {
            State::InProgress { since, .. } => !self.searches() || self.was_sent_formerly(*since),
            _ => false,
        }
    }

    /// Whether the way is to be tried with a question before a report leaves.
    pub(crate) fn wants_preflight(&self, now: ClockReading) -> bool {
        !matches!(self.breaker.breaker_state(now), BreakerState::Open(_)) && !self.preflight_done
    }

    /// Somebody has answered at the authority's address: what it thinks of reports is its answer to
    /// one.
    pub(crate) fn preflight_ended(&mut self) {
        self.preflight_done = true;
    }

    /// A round has ended, or the journal has broken it off.
    pub(crate) fn round_ended(&mut self, broken_off: bool) {
        self.broken_off = broken_off;
    }

    /// The journal broke off the last round: it left requests without an answer, as a dead process
    /// does.
    pub(crate) fn owes_recovery(&self) -> bool {
        self.broken_off
    }

    /// At the end of a round: whether to search for changes, and who learns from it how the way is.
    pub(crate) fn tells(&mut self, now: ClockReading) -> Option<Tells> {
        let refused = std::mem::take(&mut self.refused);
        match self.breaker.breaker_state(now) {
            BreakerState::Closed | BreakerState::HalfOpen => Some(Tells::TheBreaker),
            // What is in progress does not wait until reports are let in again: one search for each
            // refused probe, and as ever where only one report is refused.
            BreakerState::Open(_) => {
                (refused || self.breaker.suspects_one()).then_some(Tells::Nobody)
            }
        }
    }

    /// When to look again: `owed` is when the next duty is due, `search` when the next search is.
    pub(crate) fn wake_at(
        &self,
        now: ClockReading,
        owed: Option<Instant>,
        search: Option<Instant>,
    ) -> Option<Instant> {
        // Never later than the next look for what a clock has put off.
        let next = owed.into_iter().chain(search).min()?.min(now.after(sweep::LOOK_FAR_EVERY));
        Some(match self.breaker.breaker_state(now) {
            BreakerState::Open(Some(until)) if self.breaker.suspects_one() => {
                // What the others owe meanwhile is looked up, not known here.
                next.max(until).min(now.after(REST_MAX))
            }
            BreakerState::Open(Some(until)) => next.max(until),
            _ => next,
        })
    }

    /// What followed from an exchange about a report; `delivery`: it was sent, not asked for.
    pub(crate) fn concluded(
        &mut self,
        now: ClockReading,
        id: SubmissionId,
        delivery: bool,
        verdict: &Verdict,
        fraction: f64,
    ) -> Option<Seen> {
        let refused = matches!(verdict.health, Health::Unreachable(..) | Health::Locked(_));
        let heard = verdict.evidence.is_some();
        self.refused |= refused && (heard || !delivery);
        if refused && !delivery {
            self.questions.let_others_try(id);
        }
        let event = verdict.event.as_ref();
        if let Some(Event::TurnedAway { .. } | Event::HeldAfterRefusals { .. }) = event {
            self.breaker.turned_away(id);
        }
        let about = if delivery { RequestKind::Report(id) } else { RequestKind::Question };
        let seen = self.observe(now, &verdict.health, about, heard, fraction);
        if delivery {
            let is_of_the_way = matches!(verdict.health, Health::Unreachable(_, None));
            let is_put_off = matches!(event, Some(Event::Deferred { .. })) && is_of_the_way;
            self.trying.delivered(id, is_put_off);
        }
        seen
    }

    /// What an exchange shows about the connection: breaker and banner follow. `heard`: an answer
    /// came.
    pub(crate) fn observe(
        &mut self,
        now: ClockReading,
        health: &Health,
        about: RequestKind,
        heard: bool,
        fraction: f64,
    ) -> Option<Seen> {
        let refused = heard.then_some(about);
        if !matches!(health, Health::OfOne | Health::Answered) {
            self.questions.opened_by(about);
            self.trying.has_failed();
        }
        if *health != Health::OfOne {
            self.trying.is_answered();
        }
        let (state, failure) = match health {
            Health::Unclear => {
                // Whether the authority is there shows at the next request, made alone.
                self.breaker.doubted(now, &self.timing, fraction);
                return None;
            }
            Health::OfOne => return None,
            Health::Answered => {
                self.questions.others_may_be_asked();
                let closed = self.breaker.answered(about);
                let state = closed.then_some((ConnectionState::Connected, None));
                return Some(Seen { contact: true, state });
            }
            Health::Unreachable(why, retry_after) => {
                let failure = Failure { refused, retry_after: *retry_after, locked: false };
                (ConnectionState::Unreachable(why.into()), failure)
            }
            Health::Locked(why) => {
                let failure = Failure { refused, locked: true, retry_after: None };
                (ConnectionState::Locked(why.into()), failure)
            }
        };
        let until = self.breaker.failed(now, &self.timing, failure, fraction);
        Some(Seen { contact: false, state: Some((state, Some(until))) })
    }
}

/// How long a worker rests after a round that ended now, did so much, and owes something next then.
pub(crate) fn rest(done: usize, next: Option<Instant>, now: Instant) -> Duration {
    let Some(next) = next else { return REST_MAX };
    let micros = next.0.saturating_sub(now.0).max(0);
    if done == 0 && micros == 0 {
        // Owed and not done: paused, or another endpoint's. Whoever changes that wakes us.
        return REST_MAX;
    }
    // Woken a moment too early: no busy loop.
    let floor = if done == 0 { 1_000 } else { 0 };
    Duration::from_micros(u64::try_from(micros.max(floor)).unwrap_or(0)).min(REST_MAX)
}

#[cfg(test)]
mod tests;
