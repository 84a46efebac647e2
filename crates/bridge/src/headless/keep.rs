//! Keeping the journal: verify, back up, restore.

use std::path::{Path, PathBuf};

use engine::Profile;
use identity::{Password, Secrets};
use journal::Key;
use serde::Serialize;

use super::Headless;
use crate::problem::Problem;

/// What a check of the whole journal found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Soundness {
    /// Submissions read.
    pub submissions: u64,
    /// Events replayed.
    pub events: u64,
    /// Documents whose digest agrees.
    pub digests: u64,
    /// What does not agree; empty in a sound journal.
    pub flaws: Vec<Flaw>,
}

/// One thing that does not agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flaw {
    /// What.
    pub code: &'static str,
    /// Whose.
    pub id: Option<i64>,
    /// Number of the event.
    pub event: Option<i64>,
}

/// A backup that was written and verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupFacts {
    /// The file.
    pub file: String,
    /// Its size, bytes.
    pub bytes: u64,
    /// Submissions in it.
    pub submissions: u64,
    /// Events in it.
    pub events: u64,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoreFacts {
    /// Submissions restored.
    pub submissions: u64,
    /// Events restored.
    pub events: u64,
    /// Where the journal that stood there before is now.
    pub set_aside: Option<String>,
}

impl Headless {
    /// Checks the whole journal. Others can work meanwhile.
    pub fn verify(&self) -> Result<Soundness, Problem> {
        let found = self.engine.journal().verify()?;
        let flaw = |problem: &journal::Discrepancy| Flaw {
            code: problem.kind.code(),
            id: problem.id.map(|id| id.0),
            event: problem.event,
        };
        Ok(Soundness {
            submissions: found.submissions,
            events: found.events,
            digests: found.digests_ok,
            flaws: found.problems.iter().map(flaw).collect(),
        })
    }

    /// Copies the journal into one file under the same key. Never overwrites.
    pub fn backup(&self, target: &Path) -> Result<BackupFacts, Problem> {
        let facts = self.engine.journal().backup(target)?;
        Ok(BackupFacts {
            file: target.display().to_string(),
            bytes: facts.bytes,
            submissions: facts.submissions,
            events: facts.events,
        })
    }

    /// Puts a backup in the place of the profile's journal, which is set aside. Works also where the
    /// journal cannot be opened any more; no program may have it open.
    pub fn restore(
        folder: &Path,
        passphrase: Option<String>,
        backup: &Path,
    ) -> Result<RestoreFacts, Problem> {
        if let Err(error) = std::fs::File::open(backup) {
            let (file, reason) = (backup.display().to_string(), error.kind().to_string());
            let params = [("file", &*file), ("reason", &*reason)];
            return Err(Problem::new("file-unreadable", &params, "restore"));
        }
        let profile = Profile::open(folder)?;
        let settings = &profile.settings;
        let passphrase = passphrase.map(Password::from);
        let secrets =
            Secrets::open(settings.secrets, profile.folder(), &settings.id, passphrase.as_ref())?;
        let key = Key::new(secrets.journal_key()?);
        let now = engine::Clock::now(&engine::SystemClock);
        let restored = journal::restore(backup, &key, &profile.journal_file(), now)?;
        let shown = |path: PathBuf| path.display().to_string();
        Ok(RestoreFacts {
            submissions: restored.facts.submissions,
            events: restored.facts.events,
            set_aside: restored.set_aside.map(shown),
        })
    }
}
