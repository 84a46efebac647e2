//! The watched folder: new files in it are taken in and sent; they stay where they are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio_util::sync::CancellationToken;

use crate::source::files_below;
use crate::{Candidate, Engine, EngineError, Taken, Terms};

/// Pause between two looks at the folder. Looking works on network shares too, where notices do not.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// What a file looked like; the same twice in a row means that nobody writes to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Face {
    length: u64,
    modified: Option<SystemTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Once(Face),
    Taken(Face),
}

/// What the watch remembers of a folder between two looks.
#[derive(Debug, Default)]
pub(crate) struct Memory(HashMap<PathBuf, Seen>);

impl Memory {
    /// The files that are new (or changed) and stood still since the last look.
    fn ready(&mut self, files: Vec<(PathBuf, Face)>) -> Vec<PathBuf> {
        let mut next = HashMap::with_capacity(files.len());
        let mut ready = Vec::new();
        for (path, face) in files {
            let seen = match self.0.get(&path) {
                Some(Seen::Taken(known)) if *known == face => Seen::Taken(face),
                Some(Seen::Once(known)) if *known == face && face.length > 0 => {
                    ready.push(path.clone());
                    Seen::Taken(face)
                }
                _ => Seen::Once(face),
            };
            next.insert(path, seen);
        }
        self.0 = next;
        ready
    }
}

impl Engine {
    /// Watches a folder until cancelled; `each` is told of every file taken in or refused.
    pub async fn watch(
        &self,
        folder: &Path,
        cancel: CancellationToken,
        mut each: impl FnMut(&Candidate, Taken),
    ) -> Result<(), EngineError> {
        let mut memory = Memory::default();
        loop {
            let (limits, at) = (self.source_limits(), folder.to_owned());
            let files = tokio::task::spawn_blocking(move || faces(&files_below(&[at], &limits)))
                .await
                .unwrap_or_default();
            let ready = memory.ready(files);
            if !ready.is_empty() {
                let candidates = self.inspect(ready).await?;
                let taken = self.take(&candidates, Terms::default()).await?;
                for (candidate, taken) in candidates.iter().zip(taken) {
                    each(candidate, taken);
                }
            }
            tokio::select! {
                () = cancel.cancelled() => return Ok(()),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }
}

fn faces(files: &[PathBuf]) -> Vec<(PathBuf, Face)> {
    files
        .iter()
        .filter_map(|path| {
            let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let face = Face { length: metadata.len(), modified: metadata.modified().ok() };
            Some((path.clone(), face))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_once_it_stands_still_and_again_when_it_changes() {
        let (path, mut memory) = (PathBuf::from("report.json"), Memory::default());
        let mut look = |length| {
            let face = Face { length, modified: None };
            memory.ready(vec![(path.clone(), face)]).len()
        };
        assert_eq!(look(10), 0, "just appeared");
        assert_eq!(look(20), 0, "still growing");
        assert_eq!(look(20), 1, "stands still");
        assert_eq!(look(20), 0, "taken");
        assert_eq!(look(30), 0, "changed");
        assert_eq!(look(30), 1, "the change stands still");
    }

    #[test]
    fn an_empty_file_is_still_being_written() {
        let mut memory = Memory::default();
        let face = Face { length: 0, modified: None };
        for _ in 0..3 {
            assert!(memory.ready(vec![(PathBuf::from("new.json"), face)]).is_empty());
        }
    }
}
