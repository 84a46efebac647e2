//! What the journal knows of an endpoint by its name: how many reports, and another name for all of them.

use rusqlite::{Connection, params};

use crate::writer::Effect;
use crate::{Journal, JournalError, lost, read, register, settings};

const REPORTS: &str = "SELECT count(*), coalesce(sum(state IN \
     ('held', 'queued', 'sending', 'unknown', 'in-progress')), 0) FROM submission WHERE endpoint = ?1";
const RENAME: &str = "UPDATE submission SET endpoint = ?2 WHERE endpoint = ?1";

/// Reports of one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointReports {
    /// All that were ever taken in for it.
    pub all: u32,
    /// Those that wait for something there: on hold, waiting, on their way, in doubt or in progress.
    pub open: u32,
}

impl Journal {
    /// How many reports this endpoint has. Reads over all of them: for settings, not for views.
    pub fn reports_at(&self, endpoint: &str) -> Result<EndpointReports, JournalError> {
        let found = self.read(|c| {
            read::one(c, REPORTS, [endpoint], |row| {
                Ok(EndpointReports { all: row.get(0)?, open: row.get(1)? })
            })
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Everything that is kept under the name of an endpoint is kept under another one from now on. Done again, it
    /// changes nothing. Nobody may work the queue meanwhile.
    pub fn rename_endpoint(&self, from: &str, to: &str) -> Result<(), JournalError> {
        // What a lost journal is found again by; before the journal, so that it knows either name until both do.
        register::rename(self.place(), from, to)?;
        let (from, to) = (from.to_owned(), to.to_owned());
        self.write(Effect::Seen, move |c| rename(c, &from, &to)).wait()
    }
}

fn rename(connection: &Connection, from: &str, to: &str) -> Result<(), JournalError> {
    connection.execute(RENAME, params![from, to]).map_err(JournalError::sql("record"))?;
    if let Some(watermark) = settings::watermark(connection, from)? {
        settings::set_watermark(connection, to, watermark)?;
        settings::forget_watermark(connection, from)?;
    }
    lost::rename_endpoint(connection, from, to)
}
