//! Backup to one file, verified before it gets its name.

use std::path::{Path, PathBuf};

use fhir::Instant;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::copies::backups;
use crate::queries::verify;
use crate::store::open::{Access, Pages, Place};
use crate::store::{open, rows, sql};
use crate::{BackedUp, BackupFacts, JournalError, OpenProblem};

/// Pages copied at once: 4 MB.
const PAGES: i32 = 1_024;

/// Copies what `source` sees now, verifies the copy, and only then gives it its name.
pub(crate) fn write(
    source: &Connection,
    place: &Place,
    target: &Path,
) -> Result<BackupFacts, JournalError> {
    let io = JournalError::io("back up");
    let target = std::path::absolute(target).map_err(&io)?;
    if target.try_exists().map_err(&io)? {
        return Err(JournalError::Exists);
    }
    let draft = Place { path: draft_beside(&target), key: place.key.clone() };
    let outcome = copy(source, &draft).and_then(|()| {
        let facts = sound(&draft).map_err(of_open)?;
        open::publish(&draft.path, &target).map_err(&io)?;
        Ok(facts)
    });
    open::discard(&draft.path);
    outcome
}

pub(crate) fn draft_beside(target: &Path) -> PathBuf {
    open::with_suffix(target, &format!(".{}.part", uuid::Uuid::new_v4()))
}

fn copy(source: &Connection, draft: &Place) -> Result<(), JournalError> {
    open::private_file(&draft.path).map_err(JournalError::io("back up"))?;
    let sql = JournalError::sql("back up");
    let mut target = open::connect(draft, Access::Write).map_err(&sql)?;
    {
        let backup = Backup::new(source, &mut target).map_err(&sql)?;
        // The source reads one snapshot, so nobody's commit makes this begin again.
        while matches!(backup.step(PAGES).map_err(&sql)?, StepResult::More) {}
    }
    // One file: the copy of a WAL journal would want a log beside it.
    target
        .query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<_, String>(0))
        .map_err(&sql)?;
    target.close().map_err(|(_, error)| sql(error))
}

/// Opens a backup and checks all of it.
fn sound(place: &Place) -> Result<BackupFacts, OpenProblem> {
    let connection = open::readable(place)?;
    let found = verify::verify(&connection, Pages::InFile).map_err(of_journal)?;
    if !found.problems.is_empty() {
        return Err(OpenProblem::WrongKeyOrDamaged);
    }
    let bytes = std::fs::metadata(&place.path).map_err(OpenProblem::io("find"))?.len();
    Ok(BackupFacts { bytes, submissions: found.submissions, events: found.events })
}

pub(crate) fn of_journal(error: JournalError) -> OpenProblem {
    match error {
        JournalError::Busy => OpenProblem::Busy,
        JournalError::Full => OpenProblem::Full,
        JournalError::Io { operation, source } => OpenProblem::Io { operation, source },
        JournalError::NewerSchema { found, known } => OpenProblem::NewerSchema { found, known },
        _ => OpenProblem::WrongKeyOrDamaged,
    }
}

pub(crate) fn of_open(problem: OpenProblem) -> JournalError {
    match problem {
        OpenProblem::Busy => JournalError::Busy,
        OpenProblem::Full => JournalError::Full,
        OpenProblem::Exists => JournalError::Exists,
        OpenProblem::Io { operation, source } => JournalError::Io { operation, source },
        _ => JournalError::Damaged,
    }
}

/// Writes a backup into the folder of automatic ones, under a name that says when, and removes what
/// need not be kept any more. What cannot be removed stays for the next time.
pub(crate) fn write_into(
    source: &Connection,
    place: &Place,
    folder: &Path,
    now: Instant,
) -> Result<BackedUp, JournalError> {
    private_folder(folder).map_err(JournalError::io("back up"))?;
    let last = rows::one(source, sql::LAST_EVENT, [], |row| row.get::<_, i64>(0))?;
    let events = last.and_then(|last| u64::try_from(last).ok()).unwrap_or(0);
    let file = folder.join(backups::name(now, events, backups::WHOLE));
    let facts = write(source, place, &file)?;
    let removed = backups::thin_out(folder, now).unwrap_or(0);
    Ok(BackedUp { facts, file, removed })
}

pub(crate) fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_keeps_its_meaning_on_the_way_through() {
        let io = || JournalError::io("write")(std::io::ErrorKind::TimedOut.into());
        assert!(matches!(of_journal(JournalError::Busy), OpenProblem::Busy));
        assert!(matches!(of_journal(JournalError::Full), OpenProblem::Full));
        assert!(matches!(of_journal(io()), OpenProblem::Io { operation: "write", .. }));
        assert!(matches!(of_journal(JournalError::Damaged), OpenProblem::WrongKeyOrDamaged));
        assert!(matches!(of_open(OpenProblem::Busy), JournalError::Busy));
        assert!(matches!(of_open(OpenProblem::Full), JournalError::Full));
        assert!(matches!(of_open(OpenProblem::Exists), JournalError::Exists));
        assert!(matches!(of_open(of_journal(io())), JournalError::Io { operation: "write", .. }));
        assert!(matches!(of_open(OpenProblem::WrongKeyOrDamaged), JournalError::Damaged));
    }
}
