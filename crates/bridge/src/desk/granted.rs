//! The paths that a person has allowed the page: those that were dropped on the window or chosen in
//! a dialog. The page is not trusted to name others: it shows the authority's words and what stands
//! in documents.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::Desk;
use crate::problem::Problem;

/// So long a path may be used: a person looks at what was found, and asks somebody.
const LIVES: Duration = Duration::from_secs(3_600);
/// Paths kept at most: two drops of the largest size. The oldest go first.
const PATHS_MAX: usize = 20_000;

/// Each path with the time at which it was handed over last.
#[derive(Default)]
pub(super) struct Granted {
    paths: Mutex<HashMap<PathBuf, Instant>>,
}

impl Granted {
    fn add(&self, paths: impl IntoIterator<Item = PathBuf>, now: Instant) {
        let mut known = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, at| now.duration_since(*at) < LIVES);
        known.extend(paths.into_iter().map(|path| (path, now)));
        if known.len() > PATHS_MAX {
            let mut times: Vec<Instant> = known.values().copied().collect();
            times.sort_unstable();
            let oldest = times[times.len() - PATHS_MAX];
            known.retain(|_, at| *at >= oldest);
        }
    }

    /// The path itself, or what lies below a folder that was handed over.
    fn holds(&self, path: &Path, now: Instant) -> bool {
        if path.components().any(|part| part == Component::ParentDir) {
            return false;
        }
        let known = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        path.ancestors()
            .filter_map(|above| known.get(above))
            .any(|at| now.duration_since(*at) < LIVES)
    }
}

impl Desk {
    /// A person has handed these files or folders to the window: it may name them for an hour.
    pub fn grant(&self, paths: impl IntoIterator<Item = PathBuf>) {
        self.inner.granted.add(paths, Instant::now());
    }

    /// Refuses paths that no person has handed over.
    pub(crate) fn permits_paths(&self, paths: &[&str]) -> Result<(), Problem> {
        let now = Instant::now();
        if paths.iter().all(|path| self.inner.granted.holds(Path::new(path), now)) {
            return Ok(());
        }
        Err(Problem::new("path-not-granted", &[], "path"))
    }

    /// Whether this is the folder that is watched already.
    pub(crate) fn watches(&self, path: &str) -> bool {
        let watched = self.engine().profile().settings.watched_folder;
        watched.is_some_and(|folder| folder == Path::new(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_handed_over_and_only_for_a_while() {
        let (granted, now) = (Granted::default(), Instant::now());
        let holds = |path: &str, at| granted.holds(Path::new(path), at);
        assert!(!holds("/data/a.json", now));
        granted.add([PathBuf::from("/data/a.json"), PathBuf::from("/outbox")], now);
        for given in ["/data/a.json", "/outbox", "/outbox/b.json", "/outbox/deep/c.json"] {
            assert!(holds(given, now), "{given}");
        }
        for other in [
            "/data/b.json",
            "/data",
            "/",
            "",
            "/outbox2/a",
            "/outbox/../etc/passwd",
            "/data/a.json/../b",
            "outbox/b.json",
        ] {
            assert!(!holds(other, now), "{other}");
        }
        let late = now + LIVES;
        assert!(!holds("/data/a.json", late), "an hour later");
        granted.add([PathBuf::from("/data/a.json")], late);
        assert!(holds("/data/a.json", late) && !holds("/outbox", late));
    }

    #[test]
    fn the_set_is_bounded_and_the_oldest_go_first() {
        let (granted, now) = (Granted::default(), Instant::now());
        let drop = |name: &str| {
            (0..PATHS_MAX).map(|n| PathBuf::from(format!("/{name}/{n}"))).collect::<Vec<_>>()
        };
        granted.add(drop("first"), now);
        granted.add(drop("second"), now + Duration::from_secs(1));
        let later = now + Duration::from_secs(2);
        assert!(granted.holds(Path::new("/second/7"), later));
        assert!(!granted.holds(Path::new("/first/7"), later));
        assert_eq!(granted.paths.lock().unwrap().len(), PATHS_MAX);
    }
}
