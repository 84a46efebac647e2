//! Journals that were set aside: renamed to `name.set-aside-<microseconds>`, with their log, and
//! deleted only where a person says so.

use std::path::{Path, PathBuf};

use fhir::Instant;

use crate::OpenProblem;
use crate::problem::folder_of;
use crate::recovery::register::{self, Look};
use crate::recovery::stage::{With, copied};
use crate::store::open::{self, Access, Place};
use crate::store::{hold, settings};

const SET_ASIDE: &str = ".set-aside-";

/// A journal that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// Where it is.
    pub file: PathBuf,
    /// When it was set aside.
    pub at: Instant,
    /// Size in bytes, with its log.
    pub bytes: u64,
}

/// The journals that were set aside from a place, the last one first. What they hold stays readable
/// with the key that they had, also what retention has removed from the journal since.
pub fn list_set_aside(journal: &Path) -> std::io::Result<Vec<SetAside>> {
    let one = |(at, file): (i64, PathBuf)| {
        let mut bytes = 0;
        for suffix in open::COMPANIONS {
            match open::with_suffix(&file, suffix).symlink_metadata() {
                Ok(facts) => bytes += facts.len(),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(SetAside { file, at: Instant(at), bytes })
    };
    dated(journal)?.into_iter().map(one).collect()
}

/// Deletes one of them; gives `false` where it is none of them. While a recovery that was ended in
/// between has still to read it (the journal is missing), nothing is deleted.
pub fn remove_set_aside(journal: &Path, file: &Path) -> Result<bool, OpenProblem> {
    let _held = hold::shared(journal)?;
    open::present(journal)?;
    let of_ours = |(_, aside): &(i64, PathBuf)| aside == file;
    if !dated(journal).map_err(OpenProblem::io("list"))?.iter().any(of_ours) {
        return Ok(false);
    }
    // The log first: by its own name the journal is found again where this is ended in between.
    for suffix in open::COMPANIONS.iter().rev() {
        match std::fs::remove_file(open::with_suffix(file, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(OpenProblem::io("remove")(error));
            }
            _ => {}
        }
    }
    Ok(true)
}

/// The journal that a recovery has set aside before it was ended: it has the register's lineage
/// still. What was set aside by a recovery that came to its end has another one, and all that was
/// worth keeping of it was kept.
pub(crate) fn of_ended_recovery(
    place: &Place,
    look: &Look,
) -> Result<Option<PathBuf>, OpenProblem> {
    let Some(lineage) = register::lineage(look) else { return Ok(None) };
    for aside in all(&place.path) {
        let source = Place { path: aside.clone(), key: place.key.clone() };
        // Without a log: the one that stands in the journal's place may be another's.
        let Some(copy) = readable(copied(&source, place, With::FileOnly))? else { continue };
        let found =
            open::connect(&copy, Access::Write).ok().and_then(|c| settings::lineage(&c).ok());
        open::discard(&copy.path);
        if found.is_some_and(|found| found.id == lineage) {
            return Ok(Some(aside));
        }
    }
    Ok(None)
}

/// A copy to read from, if there can be one. On a full disk nothing is replaced: there may be more
/// to read once there is room.
pub(crate) fn readable(copy: Result<Place, OpenProblem>) -> Result<Option<Place>, OpenProblem> {
    match copy {
        Ok(copy) => Ok(Some(copy)),
        Err(OpenProblem::Full) => Err(OpenProblem::Full),
        Err(_) => Ok(None),
    }
}

/// The journals that were set aside, the last one first.
pub(crate) fn all(path: &Path) -> Vec<PathBuf> {
    dated(path).unwrap_or_default().into_iter().map(|(_, file)| file).collect()
}

fn dated(path: &Path) -> std::io::Result<Vec<(i64, PathBuf)>> {
    let Some(name) = path.file_name() else { return Ok(Vec::new()) };
    let prefix = open::with_suffix(Path::new(name), SET_ASIDE).display().to_string();
    let when = |name: &str| name.strip_prefix(&prefix)?.parse::<i64>().ok();
    let names = std::fs::read_dir(folder_of(path))?.flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut times: Vec<i64> = names.filter_map(|name| when(&name)).collect();
    times.sort_unstable_by_key(|time| std::cmp::Reverse(*time));
    let file = |time| (time, open::with_suffix(path, &format!("{SET_ASIDE}{time}")));
    Ok(times.into_iter().map(file).collect())
}

/// Where what stands in a journal's place goes: beside what an ended recovery has set aside
/// `already`, or under a name of its own. `None` where nothing stands there.
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
    fn what_there_is_no_room_to_read_is_not_given_up() {
        assert!(matches!(readable(Err(OpenProblem::Full)), Err(OpenProblem::Full)));
        assert!(matches!(readable(Err(OpenProblem::Missing)), Ok(None)));
    }

    #[test]
    fn journals_that_were_set_aside_are_found_the_last_one_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        assert_eq!(all(&path), Vec::<PathBuf>::new());
        let others = ["9-wal", "x", "99-shm"].map(|end| format!("journal.db.set-aside-{end}"));
        let asides = [5, 40, 7].map(|at| format!("journal.db.set-aside-{at}"));
        let foreign = ["other.db.set-aside-90".to_owned()];
        for name in others.iter().chain(&asides).chain(&foreign) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = [1, 2, 0].map(|n| folder.path().join(&asides[n]));
        assert_eq!(all(&path), found);
    }
}
