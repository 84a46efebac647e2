//! The files of the watched folder.

use report::StateCode;
use serde::Serialize;
use ts_rs::TS;

use super::MessageView;
use crate::codes;

/// A file of the watched folder that cannot be sent as it lies there.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RefusedFileView {
    /// Its name, masked unless asked for.
    pub file: String,
    /// When it was changed last, ISO instant; as far as the file system tells.
    pub changed: Option<String>,
    /// Why it cannot be sent.
    pub message: MessageView,
}

// A file may be named after a patient.
fhir::shows_only!(RefusedFileView { changed });

/// A report that came from the watched folder.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct TakenFileView {
    /// Name of its file, masked unless asked for.
    pub file: String,
    /// When it was taken in, ISO instant.
    pub at: String,
    /// Number of the report.
    #[ts(type = "number")]
    pub id: i64,
    /// Where it stands.
    #[ts(as = "codes::State")]
    pub state: StateCode,
}

fhir::shows_only!(TakenFileView { at, id, state });

/// What is known of the files in the watched folder.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct WatchedFilesView {
    /// So many cannot be sent.
    pub refused_count: u32,
    /// The newest of them, the newest first.
    pub refused: Vec<RefusedFileView>,
    /// The last reports that came from it, the newest first.
    pub taken: Vec<TakenFileView>,
}
