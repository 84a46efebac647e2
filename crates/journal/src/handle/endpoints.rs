//! Which reports stand at which endpoint, and where each endpoint leads.

use std::collections::BTreeMap;

use crate::queries::endpoints;
use crate::store::writer::Effect;
use crate::{EndpointNote, EndpointReports, Journal, JournalError};

impl Journal {
    /// How many reports this endpoint has. Reads over all of them: for settings, not for views.
    pub fn reports_at(&self, endpoint: &str) -> Result<EndpointReports, JournalError> {
        self.read(|c| endpoints::reports_at(c, endpoint))
    }

    /// Every endpoint that was noted, by its id.
    pub fn endpoint_notes(&self) -> Result<BTreeMap<String, EndpointNote>, JournalError> {
        self.read(endpoints::notes)
    }

    /// Keeps what an endpoint is called and where it leads; what is noted already is not written
    /// again.
    pub fn note_endpoint(&self, id: &str, note: EndpointNote) -> Result<(), JournalError> {
        if self.endpoint_notes()?.get(id) == Some(&note) {
            return Ok(());
        }
        let id = id.to_owned();
        self.write(Effect::Seen, move |c| endpoints::keep_note(c, &id, &note)).wait()
    }
}
