//! Backups in a second place: a disk or a share that may be away at any time. Nothing waits for it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fhir::Instant;
use journal::JournalError;
use tokio::task::JoinHandle;

use crate::profile::private;
use crate::use_cases::upkeep::{reason, tell};
use crate::use_cases::watch::folder_reason;
use crate::{Engine, EngineError, Profile};

const AWAY: &str = "backup-place-away";

/// How many were copied, or why none can be.
type Copied = Result<usize, String>;

/// Copying that is under way, and what was told of it.
#[derive(Default)]
pub(crate) struct Copying {
    task: Option<JoinHandle<Copied>>,
    /// The newest backup that could not be copied when a person was told so.
    told: Option<PathBuf>,
}

impl Copying {
    /// Waits for what is under way; for ever where nothing is.
    pub(crate) async fn finished(&mut self) -> Copied {
        let done = match &mut self.task {
            Some(task) => task.await,
            None => std::future::pending().await,
        };
        self.task = None;
        done.unwrap_or_else(|_| Err("profile-io".to_owned()))
    }
}

impl Engine {
    /// Sets the folder in which copies of all backups are kept besides, or none. They go into a
    /// folder of this profile in it, which is made now and never again: without it the place is
    /// away, whatever stands there. Gives that folder.
    pub fn set_backup_place(&self, place: Option<&Path>) -> Result<Option<PathBuf>, EngineError> {
        let profile = self.profile();
        let folder = place.map(|place| folder_in(place, &profile)).transpose()?;
        self.change_settings(|settings| {
            settings.backup_place.clone_from(&folder);
            Ok(())
        })?;
        self.journal().remove_notice(AWAY)?;
        Ok(folder)
    }

    /// Copies to the second place what it lacks. `None` where there is none; the reason where it is
    /// away, or refuses.
    pub async fn back_up_elsewhere(&self) -> Option<Result<usize, String>> {
        let (from, to) = self.backup_places()?;
        Some(copying(from, to, self.now()).await.unwrap_or_else(|_| Err("profile-io".to_owned())))
    }

    fn backup_places(&self) -> Option<(PathBuf, PathBuf)> {
        let profile = self.profile();
        let place = profile.settings.backup_place.clone()?;
        Some((profile.backup_folder(), place))
    }

    /// Begins to copy, unless that is under way: a share that does not answer holds up nothing but
    /// itself.
    pub(crate) fn begin_copying(&self, copying_now: &mut Copying) {
        if let (Some((from, to)), None) = (self.backup_places(), &copying_now.task) {
            copying_now.task = Some(copying(from, to, self.now()));
        }
    }

    /// Tells of a place that is away, and takes that back.
    pub(crate) fn told_of_copies(&self, done: Copied, copying: &mut Copying) {
        let Some((from, to)) = self.backup_places() else { return };
        let Err(reason) = done else {
            copying.told = None;
            // A notice that stays says less than one that is taken back too late.
            let _ = self.journal().remove_notice(AWAY);
            return;
        };
        let newest = journal::list_backups(&from).ok().and_then(|all| all.into_iter().next());
        let newest = newest.map(|newest| newest.file);
        // Told again only once there is something new that is in one place only.
        if newest.is_some() && newest != copying.told {
            let place = to.display().to_string();
            let params = [("place", place.as_str()), ("reason", reason.as_str())];
            tell(self.journal(), AWAY, &params, self.now());
            copying.told = newest;
        }
    }
}

fn copying(from: PathBuf, to: PathBuf, now: Instant) -> JoinHandle<Copied> {
    tokio::task::spawn_blocking(move || {
        fs::read_dir(&to).map_err(|error| folder_reason(&error))?;
        match journal::copy_backups(&from, &to, now) {
            // Another program of this profile is copying: it will say how that went.
            Err(JournalError::Busy) => Ok(0),
            copied => copied.map_err(|error| reason(&error).to_owned()),
        }
    })
}

/// The profile's own folder in a place.
fn folder_in(place: &Path, profile: &Profile) -> Result<PathBuf, EngineError> {
    let refused = |error: &io::Error| EngineError::File {
        file: place.to_owned(),
        reason: folder_reason(error),
    };
    let place = place.canonicalize().map_err(|error| refused(&error))?;
    fs::read_dir(&place).map_err(|error| refused(&error))?;
    let own = profile.folder().canonicalize().map_err(|error| refused(&error))?;
    if place.starts_with(&own) {
        let reason = "inside-profile".to_owned();
        return Err(EngineError::File { file: place, reason });
    }
    let id: String = profile.settings.id.chars().take(8).collect();
    let folder = place.join(format!("labcourier-backups-{id}"));
    private::make_folder(&folder).map_err(|error| refused(&error))?;
    Ok(folder)
}
