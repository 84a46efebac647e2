//! Looks up what is owed, for the courier to decide what of it begins.

use client::Authority;
use journal::{Due, JournalError};

use super::Worker;

/// What a look found that was put off too far.
pub(super) struct Far {
    /// What is owed of it.
    pub(super) due: Vec<Due>,
    /// There is no more of it.
    is_whole: bool,
}

impl<A: Authority> Worker<A> {
    /// Looks up what is owed, many at a time: a look costs as much as a report.
    pub(super) fn fill(&self) -> Result<(), JournalError> {
        let paused = self.journal.is_paused()?;
        let mut limit = Some(self.courier().look_up());
        while let Some(most) = limit {
            let due = self.journal.due_at(self.endpoint.id(), self.clock.now(), most)?;
            limit = self.courier().owed(due, most, paused);
        }
        let hurried = self.hurried()?;
        let far = self.put_off_too_far()?;
        let now = self.clock_reading();
        let mut courier = self.courier();
        courier.swept(now, far.as_ref().is_some_and(|far| far.is_whole));
        let mut early = far.map(|far| far.due).unwrap_or_default();
        let is_new = |due: &Due| !early.iter().any(|one| one.id == due.id);
        let hurried: Vec<_> = hurried.into_iter().filter(is_new).collect();
        early.extend(hurried);
        courier.looked(now, early, paused);
        Ok(())
    }

    /// What a fault of the way has put off, where a person does not want to wait.
    fn hurried(&self) -> Result<Vec<Due>, JournalError> {
        let most = {
            let courier = self.courier();
            if !courier.hurries() {
                return Ok(Vec::new());
            }
            courier.look_up()
        };
        let by = self.clock_reading().after(self.timing.backoff_max);
        let due = self.journal.due_at(self.endpoint.id(), by, most)?;
        let is_all = due.len() < most;
        Ok(self.courier().hurried(due, is_all))
    }

    /// What was put off too far, where it is time to look for it.
    pub(super) fn put_off_too_far(&self) -> Result<Option<Far>, JournalError> {
        let sweep = self.courier().sweep(self.clock_reading());
        let Some(sweep) = sweep else { return Ok(None) };
        let mut far = Far { due: Vec::new(), is_whole: true };
        for look in sweep.looks {
            let found = self.journal.due_beyond(look.due, look.recorded, look.state, look.most)?;
            far.is_whole &= found.len() < look.most;
            far.due.extend(found);
        }
        let courier = self.courier();
        far.due.retain(|due| due.endpoint == self.endpoint.id() && courier.is_put_off(&sweep, due));
        Ok(Some(far))
    }
}
