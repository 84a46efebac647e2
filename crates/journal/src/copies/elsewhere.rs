//! Backups in a second place: a disk or a share that may be away at any time.

use std::fs::File;
use std::path::{Path, PathBuf};

use fhir::Instant;

use crate::copies::backup::{draft_beside, of_open};
use crate::copies::{backups, pages};
use crate::store::open;
use crate::{BackupFile, JournalError};

/// Copies what a folder of backups has and another one has not, the oldest first, and then removes
/// there what need not be kept, by the same rule. Each copy is read back before it gets its name;
/// what the other place has besides stays. Gives how many were copied.
///
/// # Errors
/// Those of the file system; what was copied until then stays. [`JournalError::Busy`] where another
/// process is copying.
pub fn copy_backups(from: &Path, to: &Path, now: Instant) -> Result<usize, JournalError> {
    let io = JournalError::io("copy a backup");
    let _alone = pages::alone(from, ".elsewhere.lock")?;
    let mut missing = lacking(from, to).map_err(&io)?;
    if missing.is_empty() {
        return Ok(0);
    }
    pages::sweep(to);
    // What one builds on is older.
    missing.reverse();
    let mut copied = 0;
    for backup in missing {
        let Some(name) = backup.file.file_name() else { continue };
        copied += usize::from(copy(&backup.file, &to.join(name))?);
    }
    backups::thin_out(to, now)?;
    Ok(copied)
}

/// The backups of a folder that another one has not, the newest first.
pub fn lacking(from: &Path, to: &Path) -> std::io::Result<Vec<BackupFile>> {
    // Unlike a folder of backups that was not made yet, a place that is away is an error.
    std::fs::read_dir(to)?;
    let there: Vec<PathBuf> = backups::list(to)?.into_iter().map(|backup| backup.file).collect();
    let mut here = backups::list(from)?;
    here.retain(|backup| !there.iter().any(|file| file.file_name() == backup.file.file_name()));
    Ok(here)
}

/// `false` where it is gone meanwhile: another process has made one and joined this one into the
/// next.
fn copy(from: &Path, to: &Path) -> Result<bool, JournalError> {
    let io = JournalError::io("copy a backup");
    let mut source = match File::open(from) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        source => source.map_err(&io)?,
    };
    let draft = draft_beside(to);
    let mut write = || {
        open::private_file(&draft)?;
        let mut target = File::options().write(true).open(&draft)?;
        let copied = std::io::copy(&mut source, &mut target)?;
        target.sync_all()?;
        Ok(copied == std::fs::metadata(&draft)?.len())
    };
    let outcome = write().map_err(&io).and_then(|all| {
        if !all || (pages::is_one(from) && !pages::is_whole(&draft).map_err(of_open)?) {
            return Err(JournalError::Damaged);
        }
        open::publish(&draft, to).map_err(&io)
    });
    open::discard(&draft);
    outcome.map(|()| true)
}
