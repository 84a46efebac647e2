//! Whether sending is paused: kept beside the reports, so that it outlives the program and holds for every one.

use serde_json::Value;

use crate::writer::Effect;
use crate::{Journal, JournalError, settings};

const PAUSED: &str = "paused";

impl Journal {
    /// Whether a person has paused sending. Every program that sends looks before each report.
    pub fn is_paused(&self) -> Result<bool, JournalError> {
        Ok(self.setting(PAUSED)?.is_some_and(|value| value != Value::Bool(false)))
    }

    /// Pauses sending until it is resumed, or resumes it.
    pub fn set_paused(&self, paused: bool) -> Result<(), JournalError> {
        self.write(Effect::Seen, move |c| match paused {
            true => settings::set(c, PAUSED, &Value::Bool(true)),
            false => settings::remove(c, PAUSED),
        })
        .wait()
    }
}
