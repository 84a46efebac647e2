//! What somebody has edited of a report and not sent.

use report::SubmissionId;

use crate::events::edited;
use crate::store::writer::Effect;
use crate::{Journal, JournalError};

impl Journal {
    /// The edited text of a report that was not sent, if there is one.
    pub fn edited(&self, id: SubmissionId) -> Result<Option<String>, JournalError> {
        let kept = self.setting(&edited::name(id))?;
        Ok(kept.and_then(|value| value.as_str().map(str::to_owned)))
    }

    /// Keeps it as long as the report can be corrected; it goes with the step that ends that, and
    /// with what retention removes. An empty one is forgotten.
    pub fn keep_edited(&self, id: SubmissionId, text: String) -> Result<(), JournalError> {
        self.write(Effect::Seen, move |c| edited::keep(c, id, text)).wait()
    }
}
