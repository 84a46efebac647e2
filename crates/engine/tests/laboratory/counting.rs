//! What became of all that was handed over.

use std::collections::HashMap;

use exchange::Processing;
use journal::Journal;
use report::State;

use super::Laboratory;

impl Laboratory {
    /// Losses, duplicates, false *completed*.
    pub(crate) fn count(&self, journal: &Journal) -> [u64; 3] {
        let service = self.authority.service.lock().unwrap();
        let lost = journal.lost_reports().unwrap();
        let is_lost = |identifier: &str| lost.iter().any(|lost| lost.identifier == identifier);
        let stored = |identifier: &str| service.stored.iter().any(|s| s.identifier == identifier);
        let losses = self.taken.keys().filter(|identifier| {
            let known = journal.find_by_attempt_identifier(identifier).unwrap();
            known.is_none() && (stored(identifier) || !is_lost(identifier))
        });
        let mut contents: HashMap<&str, u64> = HashMap::new();
        for stored in &service.stored {
            *contents.entry(self.taken[&stored.identifier].as_str()).or_default() += 1;
        }
        let twice = contents.values().map(|count| count - 1).sum::<u64>()
            + service.posts.values().map(|posts| posts - 1).sum::<u64>();
        let mut wrong = 0;
        for identifier in self.taken.keys() {
            let Some(id) = journal.find_by_attempt_identifier(identifier).unwrap() else {
                continue;
            };
            if let State::Completed { receipt } = journal.state(id).unwrap() {
                let stored = service.stored.iter().find(|stored| stored.receipt == receipt);
                let right = stored.is_some_and(|s| {
                    s.outcome == Processing::Completed && s.identifier == *identifier
                });
                wrong += u64::from(!right);
            }
        }
        [losses.count() as u64, twice, wrong]
    }
}
