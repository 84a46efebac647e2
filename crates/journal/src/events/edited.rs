//! What somebody has edited of a report and not sent: patient data, kept no longer than it can
//! still be sent.

use report::SubmissionId;
use rusqlite::Connection;
use serde_json::Value;

use crate::queries::read;
use crate::store::settings;
use crate::store::writer::Effect;
use crate::{Journal, JournalError};

impl Journal {
    /// The edited text of a report that was not sent, if there is one.
    pub fn edited(&self, id: SubmissionId) -> Result<Option<String>, JournalError> {
        let kept = self.setting(&name(id))?;
        Ok(kept.and_then(|value| value.as_str().map(str::to_owned)))
    }

    /// Keeps it as long as the report can be corrected; it goes with the step that ends that, and
    /// with what retention removes. An empty one is forgotten.
    pub fn keep_edited(&self, id: SubmissionId, text: String) -> Result<(), JournalError> {
        self.write(Effect::Seen, move |c| keep(c, id, text)).wait()
    }
}

fn keep(connection: &Connection, id: SubmissionId, text: String) -> Result<(), JournalError> {
    let is_open = read::state(connection, id)?.shown().may_be_corrected();
    if text.is_empty() || !is_open {
        return forget(connection, id);
    }
    settings::set(connection, &name(id), &Value::String(text))
}

pub(crate) fn forget(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    settings::remove(connection, &name(id))
}

fn name(id: SubmissionId) -> String {
    format!("draft:{}", id.0)
}
