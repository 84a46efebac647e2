//! A list that a person sends, and what became of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::IntakeView;

/// One thing on the list: what lies at a path (a file, a folder, an archive), or a pasted text.
#[derive(Clone, Deserialize, TS)]
#[serde(untagged, deny_unknown_fields)]
#[ts(export)]
pub enum HandedItem {
    /// What lies there.
    File {
        /// Where the file lies.
        path: String,
    },
    /// What was pasted.
    Text {
        /// The name that the list has it by.
        name: String,
        /// All of it.
        text: String,
    },
}

/// A content of the list that was shown as the correction of a report.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(export)]
pub struct NamedCorrection {
    /// Number of the report.
    #[ts(type = "number")]
    pub id: i64,
    /// SHA-256 of the content, hex.
    pub digest: String,
}

/// What became of a list.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct HandedView {
    /// One for each thing on the list, in its order. Without files and with a problem: it could not
    /// be looked at, and nothing of it was taken in.
    pub items: Vec<IntakeView>,
    /// What was shown and lies nowhere any more, by its digests.
    pub gone: IntakeView,
    /// What was held back again, where the hand-over was stopped and nothing of it waits to be sent
    /// any more: what had left by then is not among it.
    #[ts(type = "Array<number> | null")]
    pub taken_back: Option<Vec<i64>>,
}

/// How far the hand-over is that began last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct TakingView {
    /// Reports of which is known what became of them.
    pub done: u32,
    /// Reports in all; 0 until all of the list is read.
    pub total: u32,
    /// It has not ended: a page that is loaded meanwhile has not asked for it, and shows it.
    pub under_way: bool,
}

/// What starts of the program have handed over: files to be looked at, or a link to a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct OpenedView {
    /// Full paths of files and folders.
    pub paths: Vec<String>,
    /// So many files that none of them was taken; 0 where all were.
    pub refused: u32,
    /// Number of the report to be shown.
    #[ts(type = "number | null")]
    pub report: Option<i64>,
}
