//! What a journal that another takes the place of knows beside its reports: what it had lost itself, what people have not
//! read yet, whether everything is asked for first, whether sending is paused, and what people have decided since.

use fhir::Instant;
use report::{Event, Person, SubmissionId};
use rusqlite::{Connection, OptionalExtension as _};

use crate::append::{self, Happening};
use crate::open::{self, Access, Place};
use crate::recover::{COPIED, RECOVERY_NOTICES};
use crate::{
    JournalError, LostReport, Message, Notice, RecordError, attach, guard, lost, notice, pause,
    read,
};

/// Code of the warning on a report of which people had decided otherwise before the journal was restored.
const DECIDED: &str = "decided-before-restore";

const QUEUED: &str = "SELECT id, identifier FROM submission WHERE state = 'queued' ORDER BY id";
/// Whether a report was stopped or closed by people.
const WAS_DECIDED: &str = "SELECT state IN ('held', 'withdrawn', 'superseded') FROM submission WHERE id = ?1 AND identifier = ?2";

/// As far as it can be read.
pub(crate) struct Carried {
    copy: Option<Place>,
    lost: Vec<LostReport>,
    notices: Vec<Notice>,
    /// Everything is asked for first, not only until it was compared.
    pub(crate) is_guarded: bool,
    /// Whether sending was paused, where that is known.
    pub(crate) paused: Option<bool>,
}

impl Carried {
    /// Of what stands there, and a copy of it that can be read.
    pub(crate) fn of(place: &Place, copy: Option<&Place>, now: Instant) -> Self {
        let mut notices = seen(copy, notice::all).unwrap_or_default();
        let is_ours = |code: &str| RECOVERY_NOTICES.iter().any(|(known, _)| *known == code);
        notices.retain(|notice| notice.code == COPIED || is_ours(&notice.code));
        Self {
            copy: copy.cloned(),
            lost: seen(copy, lost::all).unwrap_or_default(),
            notices,
            is_guarded: seen(copy, |c| guard::stands_for_long(c, now)).unwrap_or_default(),
            paused: pause::before(place, copy),
        }
    }

    /// Writes into the new journal what it had lost and what nobody has read.
    pub(crate) fn write(&self, connection: &Connection) -> Result<(), JournalError> {
        for lost in &self.lost {
            if !read::has_attempt(connection, lost)? {
                lost::keep(connection, lost)?;
            }
        }
        for told in &self.notices {
            if !notice::stands(connection, &told.code)? {
                notice::put(connection, told)?;
            }
        }
        Ok(())
    }

    /// Holds what the new journal would send and people had stopped, withdrawn, settled or replaced: they decide again.
    pub(crate) fn hold_decided(
        &self,
        connection: &Connection,
        by: &Person,
        now: Instant,
    ) -> Result<(), RecordError> {
        let row = |row: &rusqlite::Row<'_>| Ok((SubmissionId(row.get(0)?), row.get(1)?));
        let queued: Vec<(SubmissionId, String)> = read::all(connection, QUEUED, [], row)?;
        for (id, identifier) in queued {
            if !self.was_decided(id, &identifier) {
                continue;
            }
            let subject = append::subject_of(connection, id)?;
            let happening = Happening { event: &Event::HeldBack, by, at: now, evidence: None };
            append::advance(connection, &subject, &happening)?;
            attach::warn(connection, id, &Message::warning(DECIDED, &[]))?;
        }
        Ok(())
    }

    fn was_decided(&self, id: SubmissionId, identifier: &str) -> bool {
        let said = seen(self.copy.as_ref(), |connection| {
            connection
                .query_row(WAS_DECIDED, rusqlite::params![id.0, identifier], |row| row.get(0))
                .optional()
                .map_err(JournalError::sql("restore"))
        });
        said.flatten().unwrap_or_default()
    }
}

/// A look with a connection of its own: one that has met a damaged page may refuse everything from then on.
fn seen<T>(
    copy: Option<&Place>,
    view: impl FnOnce(&Connection) -> Result<T, JournalError>,
) -> Option<T> {
    let connection = open::connect(copy?, Access::Write).ok()?;
    view(&connection).ok()
}
