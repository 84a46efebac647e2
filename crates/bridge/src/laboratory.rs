//! The laboratory's room: where it is kept, whether there is one, opening it, and making it.

use std::path::{Path, PathBuf};

use engine::{Engine, EngineDeps, OpenError, Profile, ProfileProblem};
use identity::{Password, SecretsKind};

use crate::leading_codes;
use crate::problem::Problem;

/// Preference (in the practice profile) that names the room in use.
pub(crate) const PLACE: &str = "place";
/// Preference (in the practice profile) that there is a laboratory, whichever room is in use.
const KNOWN: &str = "laboratory.known";

/// Where the window keeps its two rooms, and the headless program looks for them.
pub(crate) fn rooms_folder() -> PathBuf {
    let chosen = std::env::var_os("LABCOURIER_HOME").filter(|folder| !folder.is_empty());
    chosen.map(PathBuf::from).unwrap_or_else(|| {
        directories::ProjectDirs::from("org", "labcourier", "labcourier")
            .map_or_else(|| PathBuf::from("labcourier"), |dirs| dirs.data_local_dir().to_owned())
    })
}

/// The laboratory's room.
pub(crate) enum Laboratory {
    /// Nobody has set it up.
    Absent,
    Open(Engine),
    /// Keychain, settings or journal do not open; tried again when it is wanted.
    Closed(Problem),
}

pub(crate) async fn open_laboratory(folder: PathBuf, passphrase: Option<Password>) -> Laboratory {
    let opened = on_pool(move || {
        let profile = Profile::open(&folder)?;
        leading_codes::learn(&folder);
        Engine::open(profile, passphrase.as_ref(), EngineDeps::default())
    });
    match opened.await {
        Ok(Ok(engine)) => Laboratory::Open(engine),
        Ok(Err(OpenError::Profile(ProfileProblem::Missing { folder }))) => {
            if was_laboratory(&folder) {
                Laboratory::Closed(settings_missing(&folder))
            } else {
                Laboratory::Absent
            }
        }
        Ok(Err(error)) => Laboratory::Closed(error.into()),
        Err(problem) => Laboratory::Closed(problem),
    }
}

/// Whether the laboratory's room was in use when the window was last closed.
pub(crate) fn wants_laboratory(practice: &Profile) -> bool {
    practice.settings.preferences.get(PLACE).is_some_and(|place| place == "laboratory")
}

/// Whether there was a laboratory once, also where practice was in use when the window was last
/// closed.
pub(crate) fn knows_laboratory(practice: &Profile) -> bool {
    practice.settings.preferences.contains_key(KNOWN) || wants_laboratory(practice)
}

/// Notes that there is a laboratory: its folder may be away one day.
pub(crate) fn remember_laboratory(practice: &Engine) {
    if practice.profile().settings.preferences.contains_key(KNOWN) {
        return;
    }
    // What cannot be written now is written at the next start.
    let _ = practice.change_settings(|settings| {
        settings.preferences.insert(KNOWN.to_owned(), true.into());
        Ok(())
    });
}

impl Laboratory {
    /// One that was there is not taken for one that never was, where all of its folder is gone: its
    /// disk may not be connected.
    pub(crate) fn unless_missed(self, is_known: bool, folder: &Path) -> Self {
        match self {
            Self::Absent if is_known => Self::Closed(settings_missing(folder)),
            laboratory => laboratory,
        }
    }
}

/// Whether a folder without settings holds what a laboratory has left: a journal, its register, or
/// backups.
pub(crate) fn was_laboratory(folder: &Path) -> bool {
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let has_journal = names(folder).iter().any(|name| name.starts_with("journal."));
    has_journal || !names(&folder.join("backups")).is_empty()
}

/// The settings of a laboratory are gone, and its reports are not: nobody follows them.
pub(crate) fn settings_missing(folder: &Path) -> Problem {
    Problem::new("settings-missing", &[("folder", &folder.display().to_string())], "profile")
}

pub(crate) fn make_laboratory(
    folder: &Path,
    secrets: SecretsKind,
    passphrase: Option<&Password>,
) -> Result<Engine, Problem> {
    new_engine(Profile::create(folder, secrets, Vec::new())?, passphrase)
}

/// A new profile's engine; a profile that cannot be completed is taken back, so that the next try
/// finds the folder as it was.
pub(crate) fn new_engine(
    profile: Profile,
    passphrase: Option<&Password>,
) -> Result<Engine, Problem> {
    let settings = profile.folder().join("profile.json");
    Engine::create(profile, passphrase, EngineDeps::default()).map_err(|error| {
        // What cannot be removed is named by the next try.
        let _ = std::fs::remove_file(settings);
        error.into()
    })
}

/// Runs what may wait for a disk or a keychain off the async threads.
pub(crate) async fn on_pool<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    // Only a panic or the end of the program gets here.
    done.map_err(|_| Problem::new("journal-closed", &[], "command"))
}
