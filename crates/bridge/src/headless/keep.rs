//! Keeping the journal: verify, back up, restore.

use std::path::Path;

use engine::Profile;
use identity::Password;
use journal::JournalError;
use serde::Serialize;

use super::Headless;
use crate::backups::{RestoreFacts, copy_elsewhere, restore};
use crate::problem::Problem;
use crate::retention;
use crate::views::NoticeView;

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
    /// Code of the flaw that was found.
    pub code: &'static str,
    /// The submission that it belongs to, if it belongs to one.
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

/// An automatic backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupEntry {
    /// The file.
    pub file: String,
    /// When it was made, ISO instant.
    pub at: String,
    /// Events in it.
    pub events: u64,
    /// Its size, bytes.
    pub bytes: u64,
}

/// A journal that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetAsideFacts {
    /// The file.
    pub file: String,
    /// When it was set aside, ISO instant.
    pub at: String,
    /// Its size with its log, bytes.
    pub bytes: u64,
}

/// What an exchange of the journal's key did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RotationFacts {
    /// Files that the new key opens.
    pub files: usize,
    /// Files that no key opens; they stay as they are.
    pub left: Vec<String>,
}

/// A report whose content is not in the journal any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostFacts {
    /// Its file; empty where unknown.
    pub file: String,
    /// When it was taken in, ISO instant.
    pub at: String,
    /// Identifier of its attempt.
    pub identifier: String,
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
    ///
    /// # Errors
    /// `file-unreadable` with the file's path where it cannot be written: the journal is well.
    pub fn backup(&self, target: &Path) -> Result<BackupFacts, Problem> {
        let file = target.display().to_string();
        let facts = self.engine.journal().backup(target).map_err(|error| match error {
            JournalError::Io { source, .. } => {
                let reason = source.to_string();
                Problem::new("file-unreadable", &[("file", &file), ("reason", &reason)], "backup")
            }
            other => other.into(),
        })?;
        Ok(BackupFacts {
            file,
            bytes: facts.bytes,
            submissions: facts.submissions,
            events: facts.events,
        })
    }

    /// Puts a backup in the place of the profile's journal, which is set aside. Works also where
    /// the journal cannot be opened any more; no program may have it open.
    pub fn restore(
        folder: &Path,
        passphrase: Option<Password>,
        backup: &Path,
    ) -> Result<RestoreFacts, Problem> {
        restore(folder, passphrase.as_ref(), backup)
    }

    /// Seals journal and backups with a new key; no program may have the journal open. Gives the
    /// files that no key opens, which stay as they are.
    pub fn rotate_key(
        folder: &Path,
        passphrase: Option<Password>,
    ) -> Result<RotationFacts, Problem> {
        let done = engine::rotate_journal_key(&Profile::open(folder)?, passphrase.as_ref())?;
        let left = done.left.iter().map(|file| file.display().to_string());
        Ok(RotationFacts { files: done.files, left: left.collect() })
    }

    /// Backs up into the profile's folder of backups, and removes those that need not be kept.
    pub fn backup_now(&self) -> Result<BackupFacts, Problem> {
        let folder = self.engine.profile().backup_folder();
        let made = self.engine.journal().back_up_into(&folder, self.engine.now())?;
        Ok(BackupFacts {
            file: made.file.display().to_string(),
            bytes: made.facts.bytes,
            submissions: made.facts.submissions,
            events: made.facts.events,
        })
    }

    /// Where copies of all backups are kept besides.
    pub fn backup_place(&self) -> Option<String> {
        let place = self.engine.profile().settings.backup_place;
        place.map(|place| place.display().to_string())
    }

    /// Sets the folder in which they are kept, or none, and copies what it lacks; gives how many
    /// that were.
    pub async fn set_backup_place(&self, place: Option<&Path>) -> Result<usize, Problem> {
        self.engine.set_backup_place(place)?;
        copy_elsewhere(&self.engine).await
    }

    /// The backups of a profile, the newest first. Works also where the journal cannot be opened
    /// any more.
    pub fn backups(folder: &Path) -> Result<Vec<BackupEntry>, Problem> {
        let backups = Profile::open(folder)?.backup_folder();
        let all = journal::list_backups(&backups).map_err(|error| {
            let (file, reason) = (backups.display().to_string(), error.kind().to_string());
            Problem::new("file-unreadable", &[("file", &file), ("reason", &reason)], "backups")
        })?;
        let entry = |backup: journal::BackupFile| BackupEntry {
            file: backup.file.display().to_string(),
            at: backup.at.to_fhir(),
            events: backup.events,
            bytes: backup.bytes,
        };
        Ok(all.into_iter().map(entry).collect())
    }

    /// The journals of a profile that were set aside, the last one first. Retention does not reach
    /// them.
    pub fn set_aside(folder: &Path) -> Result<Vec<SetAsideFacts>, Problem> {
        let journal = Profile::open(folder)?.journal_file();
        let all = journal::list_set_aside(&journal).map_err(|error| {
            let (file, reason) = (journal.display().to_string(), error.kind().to_string());
            Problem::new("file-unreadable", &[("file", &file), ("reason", &reason)], "set-aside")
        })?;
        let facts = |one: journal::SetAside| SetAsideFacts {
            file: one.file.display().to_string(),
            at: one.at.to_fhir(),
            bytes: one.bytes,
        };
        Ok(all.into_iter().map(facts).collect())
    }

    /// Deletes one of them for good.
    pub fn remove_set_aside(folder: &Path, file: &Path) -> Result<(), Problem> {
        let journal = Profile::open(folder)?.journal_file();
        // By its name: whoever names it may stand in another folder.
        let named = journal.with_file_name(file.file_name().unwrap_or_default());
        if journal::remove_set_aside(&journal, &named)? {
            return Ok(());
        }
        let file = file.display().to_string();
        Err(Problem::new("argument-invalid", &[("argument", &file)], "set-aside"))
    }

    /// What a person has to be told.
    pub fn notices(&self) -> Result<Vec<NoticeView>, Problem> {
        let all = self.engine.journal().notices()?;
        let facts = |notice: &journal::Notice| NoticeView {
            problem: notice.into(),
            at: notice.at.to_fhir(),
        };
        Ok(all.iter().map(facts).collect())
    }

    /// A person has read these notices. What has taken the place of one since is something else,
    /// and stays.
    pub fn acknowledge_notices(&self, read: &[NoticeView]) -> Result<(), Problem> {
        let journal = self.engine.journal();
        let is_read = |notice: &&journal::Notice| {
            let at = notice.at.to_fhir();
            read.iter().any(|read| read.problem.code == notice.code && read.at == at)
        };
        for notice in journal.notices()?.iter().filter(is_read) {
            match &notice.about {
                Some(about) => journal.remove_notice_about(&notice.code, about)?,
                None => journal.remove_notice(&notice.code)?,
            }
        }
        Ok(())
    }

    /// Reports that were taken in before a restore and whose content is gone: to be handed over
    /// again.
    pub fn lost_reports(&self) -> Result<Vec<LostFacts>, Problem> {
        let lost = self.engine.journal().lost_reports()?;
        let facts = |lost: journal::LostReport| LostFacts {
            file: lost.file,
            at: lost.at.to_fhir(),
            identifier: lost.identifier,
        };
        Ok(lost.into_iter().map(facts).collect())
    }

    /// Days after which the content of settled reports leaves the journal; `None` keeps it.
    pub fn retention_days(&self) -> Option<u32> {
        self.engine.profile().settings.retention_days
    }

    /// Days in progress after which a report needs attention.
    pub fn attention_days(&self) -> u64 {
        self.engine.attention_days()
    }

    /// Sets them; `None`: three.
    pub async fn set_attention_days(&self, days: Option<u16>) -> Result<(), Problem> {
        Ok(self.engine.set_attention_days(days).await?)
    }

    /// Sets them, and applies them at once; gives how many reports have lost their content.
    pub async fn set_retention_days(&self, days: Option<u32>) -> Result<usize, Problem> {
        retention::set(&self.engine, days).await
    }
}
