//! Whether sending is paused: kept in the journal, and in the register beside it.

use crate::recovery::register;
use crate::store::writer::Effect;
use crate::store::{notice, pause};
use crate::{Journal, JournalError};

impl Journal {
    /// Whether a person has paused sending. Every program that sends looks before each report.
    pub fn is_paused(&self) -> Result<bool, JournalError> {
        self.read(pause::is_paused)
    }

    /// Pauses sending until it is resumed, or resumes it.
    pub fn set_paused(&self, paused: bool) -> Result<(), JournalError> {
        self.write(Effect::Seen, move |c| {
            notice::remove(c, pause::UNKNOWN)?;
            pause::set(c, paused)
        })
        .wait()?;
        register::note_pause(&self.0.place, paused);
        Ok(())
    }
}
