//! What only administrators change, on a computer that several people share: the authority, its
//! certificates and rules, the watched folder, deadlines, backups and passphrases.
//!
//! Without a passphrase everybody is one (docs/decisions/0007).

use identity::{Guard, Password};

use super::Desk;
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
}
