//! What lay in a folder when it was chosen to be watched, and is not sent by itself because a
//! person said so. Each file is known by its name, length and time of change, so that it may be
//! moved within the folder, and by its content, so that it may be touched, or come back from a
//! backup with another time. One that is written to again is a new one, and no clock is asked, for
//! what is copied into the folder may keep an old time. The list holds digests beside the settings:
//! it outlives a journal that is restored, and no name of a file stands in it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use fhir::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::memory::{Away, FileStamp, Look};
use super::notices::GONE;
use super::{Watch, look_at_folder};
use crate::profile::private;
use crate::use_cases::intake::source::pieces_of_bytes;
use crate::{
    Candidate, Engine, EngineError, Profile, ProfileProblem, Settings, SourceLimits, WATCH_NOTICES,
};

/// What the name of a list begins with; the id of it in the settings follows.
const NAME: &str = "left-lying.";

/// Bytes that are read to know files by their content: beyond these, files are known by name,
/// length and time of change alone. Reading them takes seconds from a disk, a minute from a slow
/// share.
const CONTENT_MAX: u64 = 1 << 30;

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
        let Look { files, away, .. } = look_at_folder(folder);
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

    /// The same to be left where it is. Reads the files, which may take a minute.
    pub fn leaving(&self, limits: &SourceLimits) -> Leaving {
        Leaving { folder: self.folder.clone(), left: Left::of(self, limits) }
    }

    /// The files, by name.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }
}

/// What lies in a folder and is to stay there unsent.
pub struct Leaving {
    folder: PathBuf,
    left: Left,
}

/// The files that are left where they lie, by their digests.
#[derive(Clone, Default)]
pub(super) struct Left {
    /// Of name, length and time of change; a program of before took the whole path.
    files: HashSet<String>,
    /// Of their contents, by length: only what is as long as one of them has to be read.
    contents: HashMap<u64, HashSet<String>>,
}

impl Left {
    fn of(there: &Lying, limits: &SourceLimits) -> Self {
        let mut left = Self::default();
        let mut size: u64 = 0;
        for (path, stamp) in &there.files {
            left.files.insert(digest(name_of(path), stamp));
            size = size.saturating_add(stamp.length);
            if size <= CONTENT_MAX {
                for (length, content) in contents_of(path, stamp, limits) {
                    left.contents.entry(length).or_default().insert(content);
                }
            }
        }
        left
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.contents.is_empty()
    }

    pub(super) fn holds(&self, path: &Path, stamp: &FileStamp) -> bool {
        !self.files.is_empty()
            && (self.files.contains(&digest(name_of(path), stamp))
                || self.files.contains(&digest(path, stamp)))
    }

    /// Whether it is one of them by its content, which is read where it may be.
    fn holds_content(&self, path: &Path, stamp: &FileStamp) -> bool {
        let of_length = self.contents.get(&stamp.length);
        of_length.is_some_and(|all| content_of(path, stamp).is_some_and(|it| all.contains(&it)))
    }

    /// Whether a report is one of those that were in them: a file that holds several may have got
    /// more of them since.
    pub(super) fn holds_report(&self, candidate: &Candidate) -> bool {
        candidate.parsed().is_some_and(|parsed| {
            let of_length = self.contents.get(&(parsed.bytes.len() as u64));
            of_length.is_some_and(|all| all.contains(&parsed.digest))
        })
    }

    fn remove(&mut self, path: &Path, stamp: &FileStamp, limits: &SourceLimits) {
        self.files.remove(&digest(name_of(path), stamp));
        self.files.remove(&digest(path, stamp));
        for (length, content) in contents_of(path, stamp, limits) {
            if let Some(all) = self.contents.get_mut(&length) {
                all.remove(&content);
            }
        }
    }

    /// Those of the settings. A list that is missing is no empty one: all would be sent unasked.
    fn read(profile: &Profile) -> Result<Self, ProfileProblem> {
        let mut left = Self::default();
        let Some(file) = file_of(profile) else { return Ok(left) };
        let text =
            fs::read_to_string(&file).map_err(|source| ProfileProblem::Io { file, source })?;
        for line in text.lines() {
            let content = line.split_once(' ');
            match content.and_then(|(length, it)| Some((length.parse().ok()?, it))) {
                Some((length, it)) => {
                    left.contents.entry(length).or_default().insert(it.to_owned());
                }
                None => {
                    left.files.insert(line.to_owned());
                }
            }
        }
        Ok(left)
    }

    fn write(&self, profile: &Profile, id: &str) -> Result<(), ProfileProblem> {
        let file = profile.folder().join(format!("{NAME}{id}"));
        let io = |source| ProfileProblem::Io { file: file.clone(), source };
        let contents = self.contents.iter();
        let contents = contents.flat_map(|(length, all)| all.iter().map(move |it| (length, it)));
        let lines = self.files.iter().map(|it| format!("{it}\n"));
        let text: String = lines.chain(contents.map(|(len, it)| format!("{len} {it}\n"))).collect();
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

fn name_of(path: &Path) -> &Path {
    path.file_name().map_or(path, Path::new)
}

/// Length and digest of what is in a file, and of each report in it where it may hold several.
fn contents_of(path: &Path, stamp: &FileStamp, limits: &SourceLimits) -> Vec<(u64, String)> {
    let Some(bytes) = bytes_of(path, stamp) else { return Vec::new() };
    let of = |bytes: &[u8]| (bytes.len() as u64, report::digest(bytes));
    // Without the end of its line a single report is what it will be as one of several.
    let mut all = vec![of(&bytes), of(bytes.trim_ascii_end())];
    let pieces = pieces_of_bytes(String::new(), bytes, limits);
    all.extend(pieces.iter().filter_map(|piece| piece.content.as_deref().ok()).map(of));
    all
}

/// The digest of what is in a file.
fn content_of(path: &Path, stamp: &FileStamp) -> Option<String> {
    bytes_of(path, stamp).map(|bytes| report::digest(&bytes))
}

/// What is in a file, unless that is no longer the file that was seen. What is no file is not
/// opened: a pipe would be waited for.
fn bytes_of(path: &Path, stamp: &FileStamp) -> Option<Vec<u8>> {
    let is_seen = || {
        let facts = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        facts.is_some_and(|facts| FileStamp::of(&facts) == *stamp)
    };
    if stamp.length > CONTENT_MAX || !is_seen() {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    is_seen().then_some(bytes)
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
    pub fn set_watched_folder_leaving(&self, leaving: Leaving) -> Result<(), EngineError> {
        let id = Uuid::new_v4().to_string();
        // Before the settings name it: a crash between leaves a file that nothing reads.
        leaving.left.write(&self.profile(), &id)?;
        self.watch_another(Some(leaving.folder), Some(id))
    }

    /// What was left lying in the watched folder and lies there still.
    pub fn left_lying(&self) -> Result<Lying, EngineError> {
        let profile = self.profile();
        let Some(folder) = profile.settings.watched_folder.clone() else {
            return Ok(Lying::default());
        };
        let left = self.left()?;
        if left.is_empty() {
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
        let before = left.files.len();
        for (path, stamp) in self.left_lying()?.files {
            if paths.contains(&path) {
                left.remove(&path, &stamp, &self.source_limits());
            }
        }
        if left.files.len() < before {
            left.write(&profile, &id)?;
        }
        Ok(())
    }

    /// What is to be read, without what was left lying and has been touched since: that is on the
    /// list again as it looks now.
    pub(super) async fn without_left(
        &self,
        watch: &mut Watch,
        ready: Vec<(PathBuf, FileStamp)>,
        cancel: &CancellationToken,
    ) -> Vec<(PathBuf, FileStamp)> {
        if ready.is_empty() || watch.left.contents.is_empty() {
            return ready;
        }
        // What was handed over since is left no longer.
        if let Ok(left) = self.left() {
            watch.left = Arc::new(left);
        }
        let left = watch.left.clone();
        let looking = tokio::task::spawn_blocking(move || {
            ready.into_iter().partition(|(path, stamp)| left.holds_content(path, stamp))
        });
        // Nothing in it panics; were it so, nothing would be sent.
        let (touched, ready): (Vec<_>, Vec<_>) = tokio::select! {
            looked = looking => looked.unwrap_or_default(),
            () = cancel.cancelled() => return Vec::new(),
        };
        for (path, stamp) in &touched {
            watch.memory.settle(path, *stamp, None);
        }
        if let Ok(Some(left)) = self.leave_too(&touched) {
            watch.left = Arc::new(left);
        }
        ready
    }

    /// Puts these on the list. A list that cannot be written leaves them known by their content.
    fn leave_too(&self, files: &[(PathBuf, FileStamp)]) -> Result<Option<Left>, EngineError> {
        let profile = self.profile();
        let Some(id) = profile.settings.left_lying.clone().filter(|_| !files.is_empty()) else {
            return Ok(None);
        };
        let _one_at_a_time = profile.lock()?;
        let mut left = self.left()?;
        left.files.extend(files.iter().map(|(path, stamp)| digest(name_of(path), stamp)));
        left.write(&profile, &id)?;
        Ok(Some(left))
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
            // What left the folder before is gone all the same.
            for (code, _) in WATCH_NOTICES.iter().filter(|(code, _)| *code != GONE) {
                self.journal().remove_notice(code)?;
            }
        }
        Ok(())
    }
}
