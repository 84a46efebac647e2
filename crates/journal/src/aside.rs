//! Journals that were set aside: renamed to `name.set-aside-<microseconds>`, with their log, and never deleted.

use std::path::{Path, PathBuf};

use fhir::Instant;

use crate::OpenProblem;
use crate::open;

const SET_ASIDE: &str = ".set-aside-";

/// The journal that was set aside last.
pub(crate) fn last(path: &Path) -> Option<PathBuf> {
    let prefix = open::with_suffix(Path::new(path.file_name()?), SET_ASIDE);
    let prefix = prefix.to_str()?;
    let when = |name: &str| name.strip_prefix(prefix)?.parse::<i64>().ok();
    let folder = std::fs::read_dir(crate::problem::folder_of(path)).ok()?;
    let names = folder.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let last = names.filter_map(|name| when(&name)).max()?;
    Some(open::with_suffix(path, &format!("{SET_ASIDE}{last}")))
}

/// Where what stands in a journal's place goes: beside what an ended recovery has set aside `already`, or under a name
/// of its own. `None` where nothing stands there.
pub(crate) fn of(path: &Path, already: Option<&Path>, now: Instant) -> Option<PathBuf> {
    let there = |path: &Path, suffix| open::with_suffix(path, suffix).symlink_metadata().is_ok();
    let stands: Vec<&str> =
        open::COMPANIONS.iter().copied().filter(|suffix| there(path, suffix)).collect();
    let joins = |aside: &&Path| !stands.iter().any(|suffix| there(aside, suffix));
    let own = || open::with_suffix(path, &format!("{SET_ASIDE}{}", now.0));
    let aside = || already.filter(joins).map_or_else(own, Path::to_path_buf);
    (!stands.is_empty()).then(aside)
}

/// Sets aside what stands in the journal's place and gives the place to the draft.
pub(crate) fn exchange(draft: &Path, path: &Path, aside: Option<&Path>) -> Result<(), OpenProblem> {
    if let Some(aside) = aside {
        open::rename_all(path, aside).map_err(OpenProblem::io("set aside"))?;
    }
    open::publish(draft, path).map_err(|error| {
        // Back again, so that the next recovery finds what this one found.
        if let Some(aside) = aside {
            let _ = open::rename_all(aside, path);
        }
        OpenProblem::io("restore")(error)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test that cannot go on panics.
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_replaced_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let [path, aside] = ["journal.db", "journal.db.set-aside-1"].map(|n| folder.path().join(n));
        for suffix in ["", "-wal"] {
            std::fs::write(open::with_suffix(&path, suffix), suffix).unwrap();
        }
        let outcome = exchange(&folder.path().join("no-draft"), &path, Some(&aside));
        assert!(matches!(outcome, Err(OpenProblem::Missing)), "{outcome:?}");
        for suffix in ["", "-wal"] {
            let kept = std::fs::read_to_string(open::with_suffix(&path, suffix)).unwrap();
            assert_eq!(kept, suffix);
            assert!(!open::with_suffix(&aside, suffix).exists());
        }
    }

    #[test]
    fn the_journal_that_was_set_aside_last_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        assert_eq!(last(&path), None);
        let others = ["9-wal", "x", "99-shm"].map(|end| format!("journal.db.set-aside-{end}"));
        let asides = [5, 40, 7].map(|at| format!("journal.db.set-aside-{at}"));
        let foreign = ["other.db.set-aside-90".to_owned()];
        for name in others.iter().chain(&asides).chain(&foreign) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(last(&path), Some(folder.path().join(&asides[1])));
    }
}
