//! Who may have a journal's files open. Every open journal shares a lock; a restore, which renames
//! the files, wants it alone: a process that went on writing into a renamed file would lose what it
//! confirms.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::OpenProblem;
use crate::store::open;

/// A restore of another process takes seconds at most.
const WAIT: Duration = Duration::from_secs(10);
/// A program that is just closing is waited for.
const WAIT_ALONE: Duration = Duration::from_secs(2);
/// Pause between two tries.
const TRY_EVERY: Duration = Duration::from_millis(20);

/// Held together with other processes, until dropped.
pub(crate) fn shared(journal: &Path) -> Result<File, OpenProblem> {
    wait(journal, WAIT, File::try_lock_shared)
}

/// Held by this handle only, until dropped.
pub(crate) fn alone(journal: &Path) -> Result<File, OpenProblem> {
    wait(journal, WAIT_ALONE, File::try_lock)
}

fn wait(
    journal: &Path,
    at_most: Duration,
    attempt: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<File, OpenProblem> {
    // Beside the journal, not the journal itself: closing any handle of that would drop SQLite's
    // own locks.
    let path = open::with_suffix(journal, "-lock");
    // Its owner's only: whoever else could open it could lock it, and keep everybody out.
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path).map_err(OpenProblem::io("lock"))?;
    close_to_others(&file);
    let began = Instant::now();
    loop {
        match attempt(&file) {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < at_most => {
                std::thread::sleep(TRY_EVERY);
            }
            Err(TryLockError::WouldBlock) => return Err(OpenProblem::Busy),
            Err(TryLockError::Error(error)) => return Err(OpenProblem::io("lock")(error)),
        }
    }
}

/// Closes a lock that an earlier version left open to others. One that is somebody else's stays as
/// it is.
#[cfg(unix)]
fn close_to_others(file: &File) {
    use std::os::unix::fs::PermissionsExt as _;

    if file.metadata().is_ok_and(|it| it.permissions().mode() & 0o077 != 0) {
        let _ = file.set_permissions(std::fs::Permissions::from_mode(0o600));
    }
}

/// Elsewhere the access list of the folder is inherited, which is the user's own.
#[cfg(not(unix))]
fn close_to_others(_: &File) {}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn whoever_holds_it_for_a_moment_is_waited_for_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal.db");
        let tries = Cell::new(0);
        let free_after = |most: u32| {
            tries.set(0);
            let tries = &tries;
            move |_: &File| {
                tries.set(tries.get() + 1);
                if tries.get() > most { Ok(()) } else { Err(TryLockError::WouldBlock) }
            }
        };
        assert!(wait(&journal, WAIT, free_after(3)).is_ok());
        assert_eq!(tries.get(), 4);
        let held = wait(&journal, Duration::ZERO, free_after(u32::MAX));
        assert!(matches!(held, Err(OpenProblem::Busy)));
        assert_eq!(tries.get(), 1);
        let broken = wait(&journal, WAIT, |_: &File| {
            Err(TryLockError::Error(std::io::ErrorKind::Unsupported.into()))
        });
        assert!(matches!(broken, Err(OpenProblem::Io { .. })));
    }
}
