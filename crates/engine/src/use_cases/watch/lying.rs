//! What lay in a folder when it was chosen to be watched, and is not sent by itself because a
//! person said so. Each file is known by its path, length and time of change: one that is written
//! to again is a new one, and no clock is asked, for what is copied into the folder may keep an old
//! time. The list holds digests beside the settings: it outlives a journal that is restored, and no
//! name of a file stands in it.

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fhir::Instant;
use uuid::Uuid;

use super::look_at_folder;
use super::memory::{Away, FileStamp, Look};
use crate::profile::private;
use crate::{Engine, EngineError, Profile, ProfileProblem, Settings};

/// What the name of a list begins with; the id of it in the settings follows.
const NAME: &str = "left-lying.";

/// The files that lie in a folder, as one look saw them.
#[derive(Default)]
pub struct Lying {
    folder: PathBuf,
    files: Vec<(PathBuf, FileStamp)>,
    away: Option<Away>,
}

impl Lying {
    /// Looks at a folder. What cannot be looked at is not in it: it counts as new once it can be.
    pub fn in_folder(folder: &Path) -> Self {
        let Look { files, away } = look_at_folder(folder);
        Self { folder: folder.to_owned(), files, away }
    }

    /// The first place in it, or itself, that cannot be looked at, and why: a code where there are
    /// words for it, else the operating system's word.
    pub fn unseen(&self) -> Option<(&Path, &str)> {
        self.away.as_ref().map(|away| (away.path.as_path(), away.reason.as_str()))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// When the newest of them was changed last.
    pub fn newest(&self) -> Option<Instant> {
        let micros = |at: SystemTime| {
            i64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_micros()).ok().map(Instant)
        };
        self.files.iter().filter_map(|(_, stamp)| stamp.modified.and_then(micros)).max()
    }

    /// The files, by name.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }
}

/// The files that are left where they lie, by their digests.
#[derive(Default)]
pub(super) struct Left(HashSet<String>);

impl Left {
    pub(super) fn holds(&self, path: &Path, stamp: &FileStamp) -> bool {
        !self.0.is_empty() && self.0.contains(&digest(path, stamp))
    }

    /// Those of the settings. A list that is missing is no empty one: all would be sent unasked.
    fn read(profile: &Profile) -> Result<Self, ProfileProblem> {
        let Some(file) = file_of(profile) else { return Ok(Self::default()) };
        let text =
            fs::read_to_string(&file).map_err(|source| ProfileProblem::Io { file, source })?;
        Ok(Self(text.lines().map(str::to_owned).collect()))
    }

    fn write(&self, profile: &Profile, id: &str) -> Result<(), ProfileProblem> {
        let file = profile.folder().join(format!("{NAME}{id}"));
        let io = |source| ProfileProblem::Io { file: file.clone(), source };
        let mut text = self.0.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        text.push('\n');
        let fresh = profile.folder().join(format!("{NAME}{id}.new"));
        let mut out = private::new_file(&fresh).map_err(io)?;
        out.write_all(text.as_bytes()).and_then(|()| out.sync_all()).map_err(io)?;
        fs::rename(&fresh, &file).map_err(io)
    }
}

fn file_of(profile: &Profile) -> Option<PathBuf> {
    let id = profile.settings.left_lying.as_ref()?;
    Some(profile.folder().join(format!("{NAME}{id}")))
}

fn digest(path: &Path, stamp: &FileStamp) -> String {
    let at = stamp.modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let mut bytes = path.as_os_str().as_encoded_bytes().to_vec();
    bytes.push(0);
    bytes.extend(stamp.length.to_be_bytes());
    bytes.extend(at.map(|at| at.as_nanos()).unwrap_or_default().to_be_bytes());
    report::digest(&bytes)
}

impl Engine {
    /// Watches a folder from now on: what a person has seen lying there stays unsent, until it is
    /// written to again or handed over.
    pub fn set_watched_folder_leaving(&self, there: &Lying) -> Result<(), EngineError> {
        let id = Uuid::new_v4().to_string();
        let digests = there.files.iter().map(|(path, stamp)| digest(path, stamp));
        // Before the settings name it: a crash between leaves a file that nothing reads.
        Left(digests.collect()).write(&self.profile(), &id)?;
        self.watch_another(Some(there.folder.clone()), Some(id))
    }

    /// What was left lying in the watched folder and lies there still.
    pub fn left_lying(&self) -> Result<Lying, EngineError> {
        let profile = self.profile();
        let Some(folder) = profile.settings.watched_folder.clone() else {
            return Ok(Lying::default());
        };
        let left = self.left()?;
        if left.0.is_empty() {
            return Ok(Lying { folder, ..Lying::default() });
        }
        let mut there = Lying::in_folder(&folder);
        there.files.retain(|(path, stamp)| left.holds(path, stamp));
        Ok(there)
    }

    /// These were handed over: they count as everything else in the folder does.
    pub fn no_longer_left(&self, paths: &[PathBuf]) -> Result<(), EngineError> {
        let profile = self.profile();
        let Some(id) = profile.settings.left_lying.clone() else { return Ok(()) };
        let _one_at_a_time = profile.lock()?;
        let mut left = self.left()?;
        let before = left.0.len();
        for (path, stamp) in self.left_lying()?.files {
            if paths.contains(&path) {
                left.0.remove(&digest(&path, &stamp));
            }
        }
        if left.0.len() < before {
            left.write(&profile, &id)?;
        }
        Ok(())
    }

    pub(super) fn left(&self) -> Result<Left, EngineError> {
        Ok(Left::read(&self.profile())?)
    }

    /// Puts the folder and the list of what stays in it into the settings.
    pub(super) fn watch_another(
        &self,
        folder: Option<PathBuf>,
        left_lying: Option<String>,
    ) -> Result<(), EngineError> {
        let before = self.profile();
        let mut is_another = false;
        self.change_settings(|settings| {
            is_another = settings.watched_folder != folder;
            *settings = Settings { watched_folder: folder, left_lying, ..settings.clone() };
            Ok(())
        })?;
        if let Some(file) = file_of(&before) {
            // What the settings name no longer is read by nobody: it may as well stay.
            let _ = fs::remove_file(file);
        }
        if is_another {
            for (code, _) in super::WATCH_NOTICES {
                self.journal().remove_notice(code)?;
            }
        }
        Ok(())
    }
}
