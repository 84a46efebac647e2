//! The files of a hand-over some at a time: a folder of a million is never in memory as a whole.

use std::collections::{BinaryHeap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{SourceLimits, is_hidden, unsorted};
use crate::use_cases::intake::inspect::on_pool;
use crate::{Candidate, Engine, EngineError};

/// Names of one folder in memory at once. A folder with more is read once for each so many: at a
/// million that is sixteen times, a few seconds of the half an hour that sending them takes.
const NAMES_AT_ONCE: usize = 65_536;

/// All files below some paths, in turn: a file as itself, a folder as what is in it, in name order.
/// What is neither file nor folder (a link to a folder, a link that leads nowhere, a pipe) stands
/// as itself; so does a folder of which nothing can be taken (empty, not readable, too many files):
/// reading it says why.
pub struct FilesInTurn {
    paths: VecDeque<Below>,
    open: Vec<Folder>,
    names_at_once: usize,
    expected: usize,
}

impl Engine {
    /// The files that paths lead to some at a time, for as many as nobody could hold in memory.
    pub async fn files_in_turn(&self, paths: Vec<PathBuf>) -> Result<FilesInTurn, EngineError> {
        let limits = self.source_limits().in_turn();
        on_pool(move || FilesInTurn::below(&paths, &limits)).await
    }

    /// The next so many of them, and the others.
    pub async fn next_files(
        &self,
        mut files: FilesInTurn,
        most: usize,
    ) -> Result<(Vec<PathBuf>, FilesInTurn), EngineError> {
        on_pool(move || (files.by_ref().take(most).collect(), files)).await
    }

    /// Looks at some of these files; the result holds the bytes of all.
    pub async fn inspect_some(&self, files: Vec<PathBuf>) -> Result<Vec<Candidate>, EngineError> {
        self.look_and(files, self.source_limits().in_turn(), |candidates| candidates).await
    }
}

/// What is below one path.
enum Below {
    Itself(PathBuf),
    Folder(PathBuf),
}

/// A folder whose files are given.
struct Folder {
    path: PathBuf,
    next: VecDeque<Name>,
    /// The last name that was in `next`.
    last: Option<OsString>,
    is_whole: bool,
}

/// A name in a folder, ordered as names are.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    name: OsString,
    is_folder: bool,
}

impl FilesInTurn {
    /// Counts them first: a folder with too many is refused as a whole, for a part would look like
    /// the whole.
    pub(crate) fn below(paths: &[PathBuf], limits: &SourceLimits) -> Self {
        let mut expected = 0;
        let below = |path: &PathBuf| {
            let room = limits.files_max.saturating_sub(expected);
            let count = path.is_dir().then(|| count(path, room)).flatten();
            expected += count.unwrap_or(1);
            match count {
                Some(_) => Below::Folder(path.clone()),
                None => Below::Itself(path.clone()),
            }
        };
        let paths = paths.iter().map(below).collect();
        Self { paths, open: Vec::new(), names_at_once: NAMES_AT_ONCE, expected }
    }

    /// How many there were when they were counted.
    pub fn expected(&self) -> usize {
        self.expected
    }
}

impl Iterator for FilesInTurn {
    type Item = PathBuf;

    fn next(&mut self) -> Option<PathBuf> {
        loop {
            let Some(folder) = self.open.last_mut() else {
                match self.paths.pop_front()? {
                    Below::Itself(path) => return Some(path),
                    Below::Folder(path) => self.open.push(Folder::new(path)),
                }
                continue;
            };
            match folder.next_name(self.names_at_once) {
                Ok(Some(Name { name, is_folder })) => {
                    let path = folder.path.join(name);
                    if !is_folder {
                        return Some(path);
                    }
                    self.open.push(Folder::new(path));
                }
                Ok(None) => drop(self.open.pop()),
                // A folder that cannot be read is answered by its name.
                Err(_) => return self.open.pop().map(|folder| folder.path),
            }
        }
    }
}

impl Folder {
    fn new(path: PathBuf) -> Self {
        Self { path, next: VecDeque::new(), last: None, is_whole: false }
    }

    fn next_name(&mut self, at_once: usize) -> io::Result<Option<Name>> {
        if self.next.is_empty() && !self.is_whole {
            let (names, is_whole) = names_after(&self.path, self.last.as_deref(), at_once)?;
            (self.next, self.is_whole) = (names.into(), is_whole);
            self.last = self.next.back().map(|last| last.name.clone());
        }
        Ok(self.next.pop_front())
    }
}

/// The first names of a folder behind `after`, in order, and whether these are all.
fn names_after(folder: &Path, after: Option<&OsStr>, most: usize) -> io::Result<(Vec<Name>, bool)> {
    let mut first: BinaryHeap<Name> = BinaryHeap::new();
    let mut is_whole = true;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if is_hidden(&name) || after.is_some_and(|after| *name <= *after) {
            continue;
        }
        if first.len() >= most {
            is_whole = false;
            if first.peek().is_some_and(|greatest| greatest.name < name) {
                continue;
            }
            first.pop();
        }
        first.push(Name { is_folder: entry.file_type()?.is_dir(), name });
    }
    Ok((first.into_sorted_vec(), is_whole))
}

/// How many files are below a folder; `None` where there are none, or more than so many.
fn count(folder: &Path, most: usize) -> Option<usize> {
    let is_file = |entry: &walkdir::Result<walkdir::DirEntry>| {
        entry.as_ref().map_or(true, |entry| !entry.file_type().is_dir())
    };
    let count = unsorted(folder).filter(is_file).take(most.saturating_add(1)).count();
    (1..=most).contains(&count).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceLimits;

    #[test]
    fn the_files_of_a_folder_come_in_name_order_however_few_are_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("m/n");
        fs::create_dir_all(&inside).unwrap();
        let mut expected = Vec::new();
        for number in (0..40).rev() {
            let name = format!("{:02}.json", number * 7 % 40);
            fs::write(folder.path().join(&name), "{}").unwrap();
            expected.push(folder.path().join(name));
        }
        for name in ["a", "b", "c"] {
            fs::write(inside.join(name), "{}").unwrap();
            expected.push(inside.join(name));
        }
        for name in ["z.json", ".hidden"] {
            fs::write(folder.path().join(name), "{}").unwrap();
        }
        expected.sort();
        expected.push(folder.path().join("z.json"));
        let limits = SourceLimits::with_document_bytes(1_000);
        for at_once in [1, 2, 3, 7, 100] {
            let paths = [folder.path().join("z.json"), folder.path().to_owned()];
            let mut files = FilesInTurn::below(&paths, &limits);
            files.names_at_once = at_once;
            assert_eq!(files.expected(), 45);
            assert_eq!(files.next().as_ref(), Some(&paths[0]));
            assert_eq!(files.collect::<Vec<_>>(), expected, "{at_once} at once");
        }
    }
}
