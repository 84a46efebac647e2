//! The journal's key, and exchanging it for another one.

use identity::{Password, Secrets, SecretsError};
use journal::{Key, OpenProblem, Rotated};

use crate::profile::computer;
use crate::{Profile, ProfileProblem};

/// Why a profile's engine cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The settings.
    #[error(transparent)]
    Profile(#[from] ProfileProblem),
    /// Keychain or vault.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] OpenProblem),
}

/// The key that opens a profile's journal. Where it is to be exchanged, which may have been ended
/// in between, that is finished first; where another program has the journal open, it waits for the
/// next start.
pub fn journal_key(profile: &Profile, secrets: &Secrets) -> Result<Key, OpenError> {
    match finish_rotation(profile, secrets) {
        Ok(_) | Err(OpenError::Journal(OpenProblem::Busy)) => {}
        // The journal is the last file that is sealed anew: where it is damaged or missing, the key
        // of what stands beside it is the one that a recovery needs.
        Err(OpenError::Journal(OpenProblem::WrongKeyOrDamaged | OpenProblem::Missing)) => {
            let next = secrets.next_journal_key()?.map(Key::new);
            if let Some(next) = next
                && journal::is_sealed_beside(&profile.journal_file(), &next)
            {
                return Ok(next);
            }
        }
        Err(error) => return Err(error),
    }
    Ok(Key::new(secrets.journal_key()?))
}

/// Seals a profile's journal, register and backups with a new key. Ended at any point, the next
/// opening of the profile finishes it.
///
/// # Errors
/// [`OpenProblem::Busy`] where a program has the journal open.
pub fn rotate_journal_key(
    profile: &Profile,
    passphrase: Option<&Password>,
) -> Result<Rotated, OpenError> {
    let settings = &profile.settings;
    let secrets = Secrets::open(settings.secrets, profile.folder(), &settings.id, passphrase)?;
    secrets.draw_next_journal_key()?;
    Ok(finish_rotation(profile, &secrets)?.unwrap_or_default())
}

/// `None` where no rotation is under way.
fn finish_rotation(profile: &Profile, secrets: &Secrets) -> Result<Option<Rotated>, OpenError> {
    let Some(next) = secrets.next_journal_key()? else { return Ok(None) };
    let (old, next) = (Key::new(secrets.journal_key()?), Key::new(next));
    let (file, backups) = (profile.journal_file(), profile.backup_folder());
    let done = journal::rotate(&file, &old, &next, &backups, &computer::of)?;
    secrets.use_next_journal_key()?;
    Ok(Some(done))
}
