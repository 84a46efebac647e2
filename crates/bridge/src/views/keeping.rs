//! What is kept of the laboratory's journal, and for how long.

use serde::Serialize;
use ts_rs::TS;

use crate::problem::Problem;

/// What is kept of the laboratory's journal beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct SafekeepingView {
    /// Backups on this computer.
    pub backups: u32,
    /// When the last one was made, ISO instant.
    pub last_backup: Option<String>,
    /// The folder that keeps copies of them, if there is one.
    pub backup_place: Option<String>,
    /// Days after which the content of settled reports leaves the journal; `None` keeps it.
    pub retention_days: Option<u32>,
    /// What can be put in the journal's place, the newest first: here, then in the second place.
    pub restorable: Vec<BackupView>,
    /// Journals that were set aside, the last one first. Retention does not reach them.
    pub set_aside: Vec<SetAsideView>,
    /// The laboratory opens with a passphrase, which can be changed.
    pub needs_passphrase: bool,
}

/// A journal that was set aside when another one took its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct SetAsideView {
    /// Name of its file; names it in the other calls.
    pub name: String,
    /// When it was set aside, ISO instant.
    pub at: String,
    /// Its size with its log, bytes.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// A backup that can be put in the journal's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct BackupView {
    /// Name of its file; names it in the other calls, with its place.
    pub name: String,
    /// Whether it is the copy in the second place.
    pub elsewhere: bool,
    /// When it was made, ISO instant.
    pub at: String,
}

/// What the restore of a backup would mean now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RestorePlanView {
    /// When it was made, ISO instant.
    pub at: String,
    /// Reports that were taken in since; `None` where the journal does not open.
    pub reports_since: Option<u32>,
    /// The laboratory opens with a passphrase, which is kept nowhere.
    pub needs_passphrase: bool,
}

/// What a restore has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RestoredView {
    /// Reports in the backup.
    pub reports: u32,
    /// Reports that the authority is asked for before they are sent.
    pub doubted: u32,
    /// Reports that were taken in since and were read from the journal that was set aside.
    pub salvaged: u32,
    /// Reports whose content is not there any more.
    pub lost: u32,
    /// Corrections that were begun and are now only in the journal that was set aside.
    pub edited_lost: u32,
    /// Why the laboratory does not open, where it does not.
    pub closed: Option<Problem>,
}

/// What a rule of retention would do now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RetentionPlanView {
    /// Reports whose content would leave the journal.
    pub reports: u32,
    /// They were settled before, ISO instant.
    pub before: String,
}
