//! Looking at a watched folder, also at one that is away or does not answer.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use journal::JournalError;
use tokio_util::sync::CancellationToken;

use super::memory::{Away, FileStamp, Look};
use super::{NO_ANSWER_MAX, Watch, Watched, mounted};
use crate::use_cases::intake::source::{linked, walk};
use crate::{Engine, EngineError};

impl Engine {
    /// One look, or nothing where the watch is to end. A share that does not answer keeps a thread
    /// waiting and nothing else: no second look begins, and people are told.
    pub(super) async fn look_once(
        &self,
        watch: &mut Watch,
        folder: &Path,
        cancel: &CancellationToken,
        each: &mut impl FnMut(Watched<'_>),
    ) -> Result<Option<Look>, EngineError> {
        let (at, left, look_at) = (folder.to_owned(), watch.left.clone(), watch.look_at);
        let (mounted, began) = (watch.mounted.clone(), Instant::now());
        let mut looking = tokio::task::spawn_blocking(move || {
            let mut look = look_at(&at);
            mounted.judge(&at, &mut look);
            look.files.retain(|(path, stamp)| !left.holds(path, stamp));
            look
        });
        loop {
            tokio::select! {
                look = &mut looking => {
                    watch.no_answer_after = patience(watch.no_answer_after, began.elapsed());
                    return Ok(Some(look.map_err(|_| JournalError::Closed)?));
                }
                () = cancel.cancelled() => return Ok(None),
                () = tokio::time::sleep(watch.no_answer_after) => {
                    let reason = "folder-no-answer".to_owned();
                    let silent = Away { path: folder.to_owned(), reason };
                    self.tell_place(watch, Some(&silent), each).await;
                }
            }
        }
    }

    /// Tells whether the folder can be looked at.
    pub(super) async fn tell_place(
        &self,
        watch: &mut Watch,
        away: Option<&Away>,
        each: &mut impl FnMut(Watched<'_>),
    ) {
        if watch.place.is_another(away) {
            match watch.place.notice(self.now()) {
                Some(notice) => each(Watched::Away(&notice)),
                None => each(Watched::Back),
            }
        }
        watch.place.say(self.journal(), self.now()).await;
    }
}

/// How long the next look is waited for, after one that took so long: a folder that is only slow is
/// not told at every look, and one that has been away for hours is told soon when it goes again.
pub(super) fn patience(before: Duration, took: Duration) -> Duration {
    before.max(took.saturating_mul(2).min(NO_ANSWER_MAX))
}

impl FileStamp {
    pub(super) fn of(facts: &Metadata) -> Self {
        Self { length: facts.len(), modified: facts.modified().ok(), changed: changed(facts) }
    }
}

#[cfg(unix)]
fn changed(facts: &Metadata) -> Option<(i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    Some((facts.ctime(), facts.ctime_nsec()))
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> Option<(i64, i64)> {
    None
}

/// Whether a file is still the one that a look saw; one that cannot be asked about may be.
pub(super) fn is_as_seen(path: &Path, stamp: &FileStamp) -> bool {
    let facts = match fs::metadata(path) {
        // A link that leads nowhere is there itself.
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::symlink_metadata(path),
        facts => facts,
    };
    match facts {
        Ok(facts) => FileStamp::of(&facts) == *stamp,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// What can be seen of a folder and of the folders in it.
pub(super) fn look_at_folder(folder: &Path) -> Look {
    let mut look = Look { is_mounted: mounted::is_mounted(folder), ..Look::default() };
    // Asked first: a walk gives what is no folder as a file.
    if let Err(error) = fs::read_dir(folder) {
        look.away = Some(Away { path: folder.to_owned(), reason: folder_reason(&error) });
        return look;
    }
    for entry in walk(folder) {
        let seen = entry.and_then(|entry| {
            if entry.file_type().is_dir() {
                return Ok(None);
            }
            // A link shows the stamp of its file. One that leads nowhere is read too: reading it
            // says why.
            let metadata = linked(&entry).map_or_else(|| entry.metadata(), Ok)?;
            Ok(Some((entry.into_path(), metadata)))
        });
        match seen {
            Ok(Some((path, metadata))) => {
                look.files.push((path, FileStamp::of(&metadata)));
            }
            Ok(None) => {}
            Err(error) => look.away = look.away.or_else(|| away(folder, error)),
        }
    }
    look
}

/// Something in a folder that cannot be looked at; what has gone since the folder was listed is no
/// matter.
fn away(folder: &Path, error: walkdir::Error) -> Option<Away> {
    let path = error.path().unwrap_or(folder).to_owned();
    let error = io::Error::from(error);
    let is_gone = error.kind() == io::ErrorKind::NotFound && path != folder;
    (!is_gone).then(|| Away { path, reason: folder_reason(&error) })
}

/// Why a folder cannot be looked at: a code where there are words for it, else the operating
/// system's word.
pub(crate) fn folder_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "folder-missing".to_owned(),
        io::ErrorKind::NotADirectory => "not-a-folder".to_owned(),
        io::ErrorKind::PermissionDenied => "no-permission".to_owned(),
        kind => kind.to_string(),
    }
}
