//! What a person may see of the watched folder: the files that are refused, and the last reports
//! that came from it. It is told from memory alone, which a start fills anew: the files stay where
//! they are, and the journal knows those that were taken in. No name of a file is written anywhere.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::UNIX_EPOCH;

use fhir::Instant;
use report::SubmissionId;

use super::memory::{FileStamp, Memory, Refused};
use crate::{Engine, Reason};

/// Refused files that are named, the newest first; the others are counted.
const REFUSED_SHOWN: usize = 100;

/// What is known of the files in a watched folder.
#[derive(Clone, Default)]
pub struct WatchedFiles {
    folder: PathBuf,
    /// How many are refused.
    pub refused_count: usize,
    /// The newest of them, the newest first.
    pub refused: Vec<RefusedFile>,
    /// The last reports that came from it, the newest first, each with the name of its file.
    pub taken: Vec<(SubmissionId, String)>,
}

/// A file that is refused as it lies there.
#[derive(Clone)]
pub struct RefusedFile {
    /// Its name, or that of the first refused piece in it.
    pub name: String,
    /// Why it is refused.
    pub reason: Reason,
    /// When it was changed last, as far as the file system tells.
    pub changed: Option<Instant>,
}

// A file may be named after a patient.
fhir::shows_only!(WatchedFiles { refused_count });
fhir::shows_only!(RefusedFile { changed });

impl WatchedFiles {
    pub(super) fn of(memory: &Memory, folder: &Path) -> Self {
        let mut refused: Vec<_> = memory.refused_files().collect();
        refused.sort_by_key(|(stamp, file)| Reverse((stamp.modified, file.order)));
        Self {
            folder: folder.to_owned(),
            refused_count: refused.len(),
            refused: refused.into_iter().take(REFUSED_SHOWN).map(RefusedFile::of).collect(),
            taken: memory.taken().map(|(id, name)| (id, name.to_owned())).collect(),
        }
    }
}

impl RefusedFile {
    fn of((stamp, file): (&FileStamp, &Refused)) -> Self {
        let since = stamp.modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let micros = since.and_then(|since| i64::try_from(since.as_micros()).ok());
        Self { name: file.name.clone(), reason: file.reason.clone(), changed: micros.map(Instant) }
    }
}

impl Engine {
    /// What is known of the files in the watched folder; nothing before it was looked at.
    pub fn watched_files(&self) -> WatchedFiles {
        let folder = self.profile().settings.watched_folder;
        let known = self.inner.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if folder.as_ref() == Some(&known.folder) { known.clone() } else { WatchedFiles::default() }
    }

    /// Shows it from now on. Before every file has been seen twice, what an earlier watch of the
    /// folder has shown stays.
    pub(super) fn show_watched(&self, memory: &Memory, folder: &Path) {
        let mut known = self.inner.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.has_seen_all() || known.folder != folder {
            *known = WatchedFiles::of(memory, folder);
        }
    }
}
