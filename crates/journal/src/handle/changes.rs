//! Whether there is anything new in a journal, for those who look at it again and again.

use crate::{Journal, JournalError};

/// What one of them has seen of it.
pub struct Changes {
    journal: Journal,
    /// The revision at the last look.
    seen: Option<u64>,
}

impl Journal {
    /// Tells from now on whether this journal has changed, whichever process changes it.
    pub fn changes(&self) -> Changes {
        Changes { journal: self.clone(), seen: None }
    }
}

impl Changes {
    /// Whether something was committed since this was asked last; the first time there always is.
    /// Asked before a look, so that what is committed meanwhile is seen by the next one.
    pub fn are_there(&mut self) -> Result<bool, JournalError> {
        let now = self.journal.revision()?;
        Ok(self.seen.replace(now) != Some(now))
    }
}
