//! Backup to one file, and restore from it.

use std::path::{Path, PathBuf};

use fhir::Instant;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::open::{self, Access, Place};
use crate::problem::folder_of;
use crate::verify::Pages;
use crate::{BackupFacts, JournalError, Key, OpenProblem, Restored, verify};

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

fn draft_beside(target: &Path) -> PathBuf {
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

fn of_journal(error: JournalError) -> OpenProblem {
    match error {
        JournalError::Busy => OpenProblem::Busy,
        JournalError::Full => OpenProblem::Full,
        JournalError::Io { operation, source } => OpenProblem::Io { operation, source },
        _ => OpenProblem::WrongKeyOrDamaged,
    }
}

fn of_open(problem: OpenProblem) -> JournalError {
    match problem {
        OpenProblem::Busy => JournalError::Busy,
        OpenProblem::Full => JournalError::Full,
        OpenProblem::Exists => JournalError::Exists,
        OpenProblem::Io { operation, source } => JournalError::Io { operation, source },
        _ => JournalError::Damaged,
    }
}

/// Puts a backup in the place of a journal, after checking all of it. A journal that stands there is set
/// aside (`name.set-aside-<microseconds of now>`, with its log), never overwritten. No process may have
/// it open.
pub fn restore(
    backup: &Path,
    key: &Key,
    into: &Path,
    now: Instant,
) -> Result<Restored, OpenProblem> {
    let source = Place::new(backup, key)?;
    let facts = sound(&source)?;
    let target = Place::new(into, key)?.path;
    let draft = draft_beside(&target);
    let outcome = fetch(&source.path, &draft).and_then(|()| {
        let set_aside = set_aside(&target, now)?;
        open::publish(&draft, &target).map_err(OpenProblem::io("restore"))?;
        Ok(Restored { facts, set_aside })
    });
    open::discard(&draft);
    outcome
}

fn fetch(backup: &Path, draft: &Path) -> Result<(), OpenProblem> {
    let io = OpenProblem::io("restore");
    std::fs::create_dir_all(folder_of(draft)).map_err(&io)?;
    open::private_file(draft).map_err(&io)?;
    let mut from = std::fs::File::open(backup).map_err(&io)?;
    let mut to = std::fs::OpenOptions::new().write(true).open(draft).map_err(&io)?;
    std::io::copy(&mut from, &mut to).map_err(&io)?;
    to.sync_all().map_err(&io)
}

/// Renames a journal with its companions: a log beside a restored journal would be taken for its own. The
/// journal first: should the process end in between, it is missing and the next restore goes on, while a
/// journal without its log would open and lack its last steps.
fn set_aside(target: &Path, now: Instant) -> Result<Option<PathBuf>, OpenProblem> {
    let io = OpenProblem::io("set aside");
    let suffix = format!(".set-aside-{}", now.0);
    let aside = open::with_suffix(target, &suffix);
    let mut moved = false;
    for companion in open::COMPANIONS {
        let from = open::with_suffix(target, companion);
        if !from.try_exists().map_err(&io)? {
            continue;
        }
        let to = open::with_suffix(&aside, companion);
        if to.try_exists().map_err(&io)? {
            return Err(OpenProblem::Exists);
        }
        std::fs::rename(&from, &to).map_err(&io)?;
        moved = true;
    }
    Ok(moved.then_some(aside))
}
