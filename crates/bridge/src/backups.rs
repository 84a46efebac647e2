//! The second place of backups, and a backup in the journal's place, whoever asks for it.

use std::path::{Path, PathBuf};

use engine::{Engine, Profile};
use identity::{Password, Secrets};
use serde::Serialize;

use crate::problem::Problem;

/// Copies to the second place what it lacks; gives how many backups that were.
///
/// # Errors
/// `backup-place-away` where it does not answer or refuses.
pub(crate) async fn copy_elsewhere(engine: &Engine) -> Result<usize, Problem> {
    match engine.back_up_elsewhere().await {
        None => Ok(0),
        Some(Ok(copied)) => Ok(copied),
        Some(Err(reason)) => {
            let place = engine.profile().settings.backup_place.unwrap_or_default();
            let place = place.display().to_string();
            let params = [("place", &*place), ("reason", &*reason)];
            Err(Problem::new("backup-place-away", &params, "backup place"))
        }
    }
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoreFacts {
    /// Submissions in the backup.
    pub submissions: u64,
    /// Events in the backup.
    pub events: u64,
    /// Where the journal that stood there before is now.
    pub set_aside: Option<String>,
    /// Reports that are asked for before they are sent.
    pub doubted: u64,
    /// Reports that were read from the journal that was set aside.
    pub salvaged: u64,
    /// Reports whose content is not there any more.
    pub lost: u64,
}

/// Puts a backup in the place of a profile's journal; see [`crate::headless::Headless::restore`].
pub(crate) fn restore(
    folder: &Path,
    passphrase: Option<&Password>,
    backup: &Path,
) -> Result<RestoreFacts, Problem> {
    if let Err(error) = std::fs::File::open(backup) {
        let (file, reason) = (backup.display().to_string(), error.kind().to_string());
        let params = [("file", &*file), ("reason", &*reason)];
        return Err(Problem::new("file-unreadable", &params, "restore"));
    }
    let profile = Profile::open(folder)?;
    let settings = &profile.settings;
    let secrets = Secrets::open(settings.secrets, profile.folder(), &settings.id, passphrase)?;
    let key = engine::journal_key(&profile, &secrets)?;
    let now = engine::Clock::now(&engine::SystemClock);
    let restored = journal::restore(backup, &key, &profile.journal_file(), &engine::home_of, now)?;
    let shown = |path: PathBuf| path.display().to_string();
    Ok(RestoreFacts {
        submissions: restored.facts.submissions,
        events: restored.facts.events,
        set_aside: restored.set_aside.map(shown),
        doubted: restored.doubted,
        salvaged: restored.salvaged,
        lost: restored.lost,
    })
}
