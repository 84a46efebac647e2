//! The settings in force. Several programs may have one profile open, and each may change its
//! settings: they do it one after the other, and none works on with those of before.

use std::fs;
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use crate::profile::locked;
use crate::profile::proxies;
use crate::{Engine, EngineError, Profile, ProfileProblem, Settings};

/// What a settings file looks like from outside. Each change puts another file in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SettingsStamp {
    modified: Option<SystemTime>,
    length: u64,
    number: u64,
}

impl SettingsStamp {
    fn of(file: &Path) -> Option<Self> {
        let metadata = fs::metadata(file).ok()?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let number = 0;
        Some(Self { modified: metadata.modified().ok(), length: metadata.len(), number })
    }
}

impl Engine {
    /// Changes the settings and writes them; where writing fails nothing changes. What another
    /// program has written since is kept: the window is open while a command imports a certificate.
    pub fn change_settings(
        &self,
        change: impl FnOnce(&mut Settings) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut profile = locked(&self.inner.profile);
        let mut changed = profile.clone();
        let _one_at_a_time = profile.lock()?;
        match Profile::open(profile.folder()) {
            Ok(written) => {
                changed.settings = written.settings;
                proxies::fill(&mut changed.settings, &self.inner.secrets);
            }
            Err(ProfileProblem::Missing { .. }) => {}
            Err(problem) => return Err(problem.into()),
        }
        change(&mut changed.settings)?;
        proxies::keep(&changed.settings, &self.inner.secrets)?;
        changed.save()?;
        self.see(SettingsStamp::of(&changed.settings_file()));
        self.put_in_force(&mut profile, changed);
        Ok(())
    }

    /// Takes over what another program has changed in the settings. Costs one look at the file
    /// where nothing has.
    ///
    /// # Errors
    /// [`EngineError::Profile`] where they cannot be read: those of before stay in force.
    pub fn refresh(&self) -> Result<(), EngineError> {
        let file = self.settings_file();
        if SettingsStamp::of(&file) == self.seen() {
            return Ok(());
        }
        {
            let mut profile = locked(&self.inner.profile);
            // Before the file is read: what is changed meanwhile is seen at the next look.
            let stamp = SettingsStamp::of(&file);
            let written = Profile::open(profile.folder())?;
            let mut changed = profile.clone();
            changed.settings = written.settings;
            proxies::fill(&mut changed.settings, &self.inner.secrets);
            self.see(stamp);
            self.put_in_force(&mut profile, changed);
        }
        Ok(self.note_endpoints()?)
    }

    /// Grows with every change after which something else is sent, or to somewhere else.
    pub fn settings_generation(&self) -> u64 {
        self.inner.generation.load(Ordering::SeqCst)
    }

    /// Whether the settings are still those of this generation, whichever program may have changed
    /// them.
    pub(crate) fn is_in_force(&self, generation: u64) -> bool {
        // What cannot be read now is looked at again; whoever takes reports in says what is wrong.
        let _ = self.refresh();
        self.settings_generation() == generation
    }

    fn put_in_force(&self, profile: &mut Profile, changed: Profile) {
        if working(&profile.settings) != working(&changed.settings) {
            self.inner.generation.fetch_add(1, Ordering::SeqCst);
        }
        *profile = changed;
    }

    fn settings_file(&self) -> std::path::PathBuf {
        self.inner.profile.read().unwrap_or_else(PoisonError::into_inner).settings_file()
    }

    fn seen(&self) -> Option<SettingsStamp> {
        *self.inner.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn see(&self, stamp: Option<SettingsStamp>) {
        *self.inner.seen.lock().unwrap_or_else(PoisonError::into_inner) = stamp;
    }
}

/// What the couriers work by: not what the window likes, nor which folder is watched.
fn working(settings: &Settings) -> Settings {
    let preferences = serde_json::Map::new();
    Settings { preferences, watched_folder: None, left_lying: None, ..settings.clone() }
}
