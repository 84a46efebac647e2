//! What only administrators change, on a computer that several people share: the authority, its
//! certificates and rules, the watched folder, deadlines, backups and passphrases.
//!
//! Without a passphrase everybody is one (docs/decisions/0007).

use identity::{Guard, Password};

use super::{Desk, on_pool};
use crate::audit::{self, AuditEntry, Change};
use crate::problem::Problem;

impl Desk {
    /// Whether a passphrase stands before it.
    pub(super) fn has_administration_passphrase(&self) -> bool {
        self.inner.locks.administration.has_passphrase()
    }

    /// Whether that passphrase has to be entered first.
    pub(crate) fn is_administration_closed(&self) -> bool {
        self.inner.locks.administration.is_locked()
    }

    /// Opens it, until the window is locked.
    pub async fn open_administration(&self, passphrase: String) -> Result<(), Problem> {
        self.check_passphrase(Guard::Administration, Password::from(passphrase)).await?;
        self.inner.locks.administration.opened();
        Ok(())
    }

    /// Closes it again.
    pub async fn close_administration(&self) -> Result<(), Problem> {
        self.inner.locks.administration.lock_again();
        Ok(())
    }

    /// Chooses the passphrase of administrators; an empty one makes everybody one from now on.
    pub async fn set_administration_passphrase(
        &self,
        current: String,
        passphrase: String,
    ) -> Result<(), Problem> {
        self.set_passphrase(Guard::Administration, current, passphrase).await
    }

    /// Who has changed what of the settings, the newest change first: of the laboratory, and of
    /// practice before there was one.
    pub async fn audit_log(&self) -> Result<Vec<AuditEntry>, Problem> {
        let practice = self.inner.practice_engine.profile().folder().to_owned();
        let laboratory = self.laboratory_folder();
        on_pool(move || audit::entries(&[&laboratory, &practice])).await?
    }

    /// Writes to the audit log what was changed. It is the laboratory's, whichever room is in use;
    /// practice keeps it until there is one.
    pub(crate) async fn note_change(&self, change: Change) -> Result<(), Problem> {
        let practice = || self.inner.practice_engine.clone();
        let engine = self.opened_laboratory().unwrap_or_else(practice);
        on_pool(move || audit::note(engine.profile().folder(), &change, engine.now())).await?
    }

    /// Whether this desk is in the practice room.
    pub(crate) fn is_in_practice(&self) -> bool {
        self.room().1
    }
}
