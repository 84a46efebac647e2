//! The authority of one endpoint: what it stored, and what its search shows of it, late.

use std::collections::{HashMap, HashSet};

use exchange::{Answer, Processing};
use fhir::{Instant, Severity};

use crate::computer::{Computer, SECOND};
use crate::dice::Dice;

/// What a document meets at the authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// It is accepted.
    Fine,
    /// Refused at once, every time.
    Refused,
    /// The authority chokes on it: never stored, never answered.
    Choking,
    /// A gateway before it answers as to a certificate that it does not know, every time.
    Barred,
}

impl Nature {
    /// It has no end.
    pub(crate) fn is_poison(self) -> bool {
        matches!(self, Self::Choking | Self::Barred)
    }
}

/// A document as the authority has it. Times are true ones.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) receipt: String,
    pub(crate) identifier: String,
    /// The certificate that it was sent with, by its place.
    pub(crate) sender: usize,
    pub(crate) accepted: i64,
    /// Its search shows the document from then on.
    pub(crate) indexed: i64,
    pub(crate) finished: i64,
    /// Its search shows the final status from then on.
    pub(crate) told: i64,
    pub(crate) outcome: Processing,
    /// The authority knows nothing of it from then on, and has not finished it before.
    pub(crate) forgotten: i64,
}

/// So late that it never happens.
const NEVER: i64 = i64::MAX / 4;

/// How late its search is at most for what is learned by search, below the overlap of two searches.
const TOLD_LATE_SECONDS: u64 = 100;
/// Later than the overlap: reads by id must find it.
const TOLD_VERY_LATE_SECONDS: u64 = 900;

impl Stored {
    pub(crate) fn is_forgotten(&self, now: i64) -> bool {
        now >= self.forgotten
    }

    pub(crate) fn is_final(&self, now: i64) -> bool {
        now >= self.finished
    }

    /// The search shows its end.
    pub(crate) fn is_told(&self, now: i64) -> bool {
        now >= self.told && now >= self.indexed
    }

    /// Too late for the overlap of two searches.
    pub(crate) fn is_told_very_late(&self) -> bool {
        self.told.max(self.indexed) - self.finished > 115 * SECOND
    }

    fn answer(&self, done: bool) -> Answer {
        let last = if done { self.finished } else { self.accepted };
        Answer {
            receipt: Some(self.receipt.clone()),
            processing: Some(if done { self.outcome } else { Processing::InProgress }),
            identifiers: vec![self.identifier.clone()],
            date: Some(Computer::authority_at(self.accepted)),
            last_updated: Some(Computer::authority_at(last)),
            issues: if done && self.outcome == Processing::Failed { vec![issue()] } else { vec![] },
        }
    }

    /// As a read by id shows it.
    pub(crate) fn read(&self, now: i64) -> Answer {
        self.answer(self.is_final(now))
    }

    /// Whether it is shown to a certificate; `None`: each is shown everything.
    pub(crate) fn is_shown_to(&self, certificate: Option<usize>) -> bool {
        certificate.is_none_or(|certificate| certificate == self.sender)
    }

    /// As the search shows it.
    pub(crate) fn found(&self, now: i64) -> Option<Answer> {
        let shown = now >= self.indexed && !self.is_forgotten(now);
        shown.then(|| self.answer(self.is_told(now)))
    }
}

pub(crate) fn issue() -> fhir::Issue {
    fhir::Issue {
        severity: Severity::Error,
        code: "business-rule".to_owned(),
        rule: None,
        text: "As the world wants it".to_owned(),
        expression: None,
        line: None,
        column: None,
    }
}

/// The authority.
#[derive(Debug, Default)]
pub(crate) struct Authority {
    pub(crate) stored: Vec<Stored>,
    /// What each identifier meets; fine where it is not listed.
    pub(crate) natures: HashMap<String, Nature>,
    /// The certificate sees nothing until then.
    pub(crate) blind_until: i64,
    /// Deliveries that are on their way to it, by identifier.
    pub(crate) coming: Vec<String>,
    /// What it has stored and called a duplicate, by identifier.
    pub(crate) duplicates: HashSet<String>,
    /// How often the question for an identifier had no answer, since it had one last.
    pub(crate) asked_in_vain: HashMap<String, u32>,
    /// The last number that it gave.
    numbers: usize,
    /// The index of its search stands still until then.
    still_until: i64,
}

impl Authority {
    pub(crate) fn nature(&self, identifier: &str) -> Nature {
        self.natures.get(identifier).copied().unwrap_or(Nature::Fine)
    }

    pub(crate) fn is_blind(&self, now: i64) -> bool {
        now < self.blind_until
    }

    /// Stores a document; `late`: its search may lag. Numbers begin at 1 at every authority.
    pub(crate) fn accept(
        &mut self,
        identifier: &str,
        now: i64,
        late: bool,
        dice: &mut Dice,
    ) -> usize {
        let seconds = |seconds: u64| i64::try_from(seconds).unwrap_or(0) * SECOND;
        // Not longer than a doubt lasts, together with a delivery that is late.
        let lag = if late && dice.percent(50) { seconds(dice.below(300)) } else { 0 };
        let most = if dice.percent(70) { 400 } else { 9000 };
        let finished = now + seconds(dice.below(most));
        let told = match (late, dice.below(20)) {
            (true, 0) => seconds(dice.between(TOLD_LATE_SECONDS, TOLD_VERY_LATE_SECONDS)),
            (true, 1..=10) => seconds(dice.below(TOLD_LATE_SECONDS)),
            _ => 0,
        };
        let outcome = if dice.percent(20) { Processing::Failed } else { Processing::Completed };
        self.numbers += 1;
        self.stored.push(Stored {
            receipt: self.numbers.to_string(),
            identifier: identifier.to_owned(),
            sender: 0,
            accepted: now,
            indexed: (now + lag).max(self.still_until),
            finished,
            told: (finished + told).max(self.still_until),
            outcome,
            forgotten: NEVER,
        });
        self.stored.len() - 1
    }

    /// What was stored last came with this certificate, from this place on.
    pub(crate) fn came_with(&mut self, certificate: usize, first: usize) {
        self.stored.iter_mut().skip(first).for_each(|stored| stored.sender = certificate);
    }

    /// Its search shows a delivery, by its place, only so long after it was stored.
    pub(crate) fn show_late(&mut self, place: usize, lag: i64) {
        if let Some(stored) = self.stored.get_mut(place) {
            stored.indexed = stored.indexed.max(stored.accepted + lag);
            stored.told = stored.told.max(stored.indexed);
        }
    }

    /// Stores a delivery that came twice: the first one is called the duplicate of the second,
    /// soon. Its search shows both at once. Gives their places.
    pub(crate) fn accept_twice(
        &mut self,
        identifier: &str,
        now: i64,
        dice: &mut Dice,
    ) -> (usize, usize) {
        let first = self.accept(identifier, now, false, dice);
        let second = self.accept(identifier, now, false, dice);
        if let Some(duplicate) = self.stored.get_mut(first) {
            duplicate.finished = now + i64::try_from(dice.below(400)).unwrap_or(0) * SECOND;
            (duplicate.told, duplicate.outcome) = (duplicate.finished, Processing::Failed);
        }
        (first, second)
    }

    /// It loses what it has just accepted, after so long.
    pub(crate) fn forget(&mut self, number: usize, after: i64) {
        if let Some(stored) = self.stored.get_mut(number) {
            stored.forgotten = stored.accepted + after;
            (stored.finished, stored.told) = (NEVER, NEVER);
        }
    }

    /// It is restored from its backup: it knows nothing of what came since, and gives those numbers
    /// anew.
    pub(crate) fn set_back(&mut self, backup: i64, now: i64) {
        self.numbers = self.stored.iter().filter(|stored| stored.accepted <= backup).count();
        for stored in self.stored.iter_mut().filter(|stored| stored.accepted > backup) {
            stored.forgotten = stored.forgotten.min(now);
            if stored.finished > now {
                (stored.finished, stored.told) = (NEVER, NEVER);
            }
        }
    }

    /// The index of its search stands still until then: what it has of this report is shown then.
    /// Not where that fails: what has failed need not be shown at all.
    pub(crate) fn stand_still(&mut self, identifier: &str, since: i64, until: i64) {
        let here = |stored: &&mut Stored| {
            stored.identifier == identifier
                && stored.accepted >= since
                && stored.outcome == Processing::Completed
        };
        if let Some(stored) = self.stored.iter_mut().find(here) {
            stored.indexed = stored.indexed.max(until);
            stored.told = stored.told.max(until);
            self.still_until = until;
        }
    }

    /// Whether it had finished a report of this identifier, whatever it has forgotten since.
    pub(crate) fn had_ended(&self, identifier: &str) -> bool {
        self.stored.iter().any(|it| it.identifier == identifier && it.finished <= it.forgotten)
    }

    /// Everything that its search shows to a certificate with access; `None`: to any.
    pub(crate) fn found(&self, now: i64, certificate: Option<usize>) -> Vec<Answer> {
        if self.is_blind(now) {
            return Vec::new();
        }
        let shown = self.stored.iter().filter(|stored| stored.is_shown_to(certificate));
        shown.filter_map(|stored| stored.found(now)).collect()
    }

    /// What changed at or after a time, oldest first.
    pub(crate) fn changed(
        &self,
        since: Option<Instant>,
        now: i64,
        certificate: Option<usize>,
    ) -> Vec<Answer> {
        let mut answers = self.found(now, certificate);
        answers.retain(|answer| since.is_none_or(|since| answer.last_updated >= Some(since)));
        answers.sort_by_key(|answer| answer.last_updated);
        answers
    }

    /// What it knows now under this identifier: of several deliveries the one that counts.
    pub(crate) fn known(&self, identifier: &str, now: i64) -> Option<&Stored> {
        let stored = self.stored.iter().filter(|stored| !stored.is_forgotten(now));
        let deliveries = stored.filter(|stored| stored.identifier == identifier);
        deliveries.max_by_key(|stored| (stored.outcome == Processing::Completed, stored.told))
    }
}
