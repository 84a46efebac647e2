//! The simulated authority alone, to be held beside the real one.

use exchange::Answer;
use fhir::Instant;

use crate::authority::Authority;
use crate::computer::SECOND;
use crate::dice::Dice;

/// The authority of a world in which nothing goes wrong, without anybody who asks it.
#[derive(Debug)]
pub struct Alone {
    authority: Authority,
    dice: Dice,
    now: i64,
}

impl Alone {
    /// An empty authority.
    pub fn new(seed: u64) -> Self {
        Self { authority: Authority::default(), dice: Dice::new(seed), now: 0 }
    }

    /// Time passes, in seconds.
    pub fn pass(&mut self, seconds: i64) {
        self.now += seconds * SECOND;
    }

    /// Stores a document; its answer.
    pub fn accept(&mut self, identifier: &str) -> Answer {
        let number = self.authority.accept(identifier, self.now, false, &mut self.dice);
        self.authority.stored[number].read(self.now)
    }

    /// What a read by id answers; `None`: not found.
    pub fn status(&self, receipt: &str) -> Option<Answer> {
        let mut stored = self.authority.stored.iter();
        Some(stored.find(|stored| stored.receipt == receipt)?.read(self.now))
    }

    /// What a search by identifier answers.
    pub fn find(&self, identifier: &str) -> Vec<Answer> {
        let mut answers = self.authority.found(self.now, None);
        answers.retain(|answer| answer.identifiers.iter().any(|known| known == identifier));
        answers
    }

    /// What a search for changes answers.
    pub fn changed_since(&self, since: Option<Instant>) -> Vec<Answer> {
        self.authority.changed(since, self.now, None)
    }
}
