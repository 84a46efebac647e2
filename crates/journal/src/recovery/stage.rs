//! Copies of journals and backups, brought into one file and checked: what may take a journal's
//! place.

use std::cmp::Reverse;
use std::path::Path;

use fhir::Instant;

use crate::copies::backup::{draft_beside, of_journal};
use crate::copies::{backups, pages};
use crate::queries::verify;
use crate::recovery::recover::Base;
use crate::store::open::Pages;
use crate::store::open::{self, Access, Place};
use crate::store::schema;
use crate::{BackupFacts, OpenProblem};

/// What is copied of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum With {
    Log,
    FileOnly,
}

/// The newest sound state: of what remains of the journal, of its file alone, or of a backup. A
/// backup that is dated later than `now` was made by a wrong clock: it comes after the others.
pub(crate) fn candidates(
    place: &Place,
    remains: &Place,
    folders: &[&Path],
    now: Instant,
) -> Result<Option<(Place, Base, BackupFacts)>, OpenProblem> {
    let mut best: Option<(Place, Base, BackupFacts)> = None;
    let mut offer = |staged: Result<(Place, BackupFacts), OpenProblem>, base: Base| match staged {
        Ok((draft, facts)) => {
            // A backup that has as much is as good; what remains has to have more.
            let better = best.as_ref().is_none_or(|(.., known)| facts.events > known.events);
            let worse = if better {
                best.replace((draft, base, facts)).map(|(draft, ..)| draft)
            } else {
                Some(draft)
            };
            if let Some(worse) = worse {
                open::discard(&worse.path);
            }
            Ok(true)
        }
        Err(problem @ (OpenProblem::Full | OpenProblem::NewerSchema { .. })) => Err(problem),
        Err(_) => Ok(false),
    };
    let mut backups: Vec<_> =
        folders.iter().flat_map(|folder| backups::list(folder).unwrap_or_default()).collect();
    // The newest first, of two alike the one in the first folder.
    backups.sort_by_key(|backup| (backup.is_ahead_of(now), Reverse(backup.at)));
    for backup in backups {
        let source = Place { path: backup.file, key: place.key.clone() };
        let base = Base::Backup(source.path.clone());
        match offer(stage(&source, place, With::FileOnly), base) {
            Ok(false) | Err(OpenProblem::NewerSchema { .. }) => {}
            Ok(true) => break,
            Err(problem) => return Err(problem),
        }
    }
    for with in [With::Log, With::FileOnly] {
        if let Err(problem @ OpenProblem::Full) = offer(stage(remains, place, with), Base::Remains)
        {
            return Err(problem);
        }
    }
    Ok(best)
}

/// Copies a journal or backup beside `place`, brings it into one file of the present schema, and
/// checks it.
pub(crate) fn stage(
    source: &Place,
    place: &Place,
    with: With,
) -> Result<(Place, BackupFacts), OpenProblem> {
    open::present(&source.path)?;
    let draft = copied(source, place, with)?;
    let checked = check(&draft);
    if checked.is_err() {
        open::discard(&draft.path);
    }
    Ok((draft, checked?))
}

fn check(draft: &Place) -> Result<BackupFacts, OpenProblem> {
    let sql = OpenProblem::sql("restore");
    let connection = open::connect(draft, Access::Write).map_err(&sql)?;
    schema::check_readable(&connection)?;
    schema::migrate(&connection)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(&sql)?;
    connection
        .query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<_, String>(0))
        .map_err(&sql)?;
    let found = verify::verify(&connection, Pages::InFile).map_err(of_journal)?;
    if !found.problems.is_empty() {
        return Err(OpenProblem::WrongKeyOrDamaged);
    }
    connection.close().map_err(|(_, error)| sql(error))?;
    let bytes = std::fs::metadata(&draft.path).map_err(OpenProblem::io("find"))?.len();
    Ok(BackupFacts { bytes, submissions: found.submissions, events: found.events })
}

pub(crate) fn copied(source: &Place, place: &Place, with: With) -> Result<Place, OpenProblem> {
    let draft = Place { path: draft_beside(&place.path), key: source.key.clone() };
    if pages::is_one(&source.path) {
        return pages::put_together(&source.path, &draft.path)
            .inspect_err(|_| open::discard(&draft.path))
            .map(|()| draft);
    }
    let suffixes: &[&str] = if with == With::Log { &["", "-wal"] } else { &[""] };
    let outcome = suffixes.iter().try_for_each(|suffix| {
        let (mut from, to) =
            (open::with_suffix(&source.path, suffix), open::with_suffix(&draft.path, suffix));
        if !suffix.is_empty() && from.symlink_metadata().is_err() {
            // Of a journal that was being set aside the log may still stand in its old place.
            from = open::with_suffix(&place.path, suffix);
            if from.symlink_metadata().is_err() {
                return Ok(());
            }
        }
        copy(&from, &to)
    });
    match outcome {
        Ok(()) => Ok(draft),
        Err(error) => {
            open::discard(&draft.path);
            Err(OpenProblem::io("restore")(error))
        }
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    open::private_file(to)?;
    let mut from = std::fs::File::open(from)?;
    let mut to = std::fs::OpenOptions::new().write(true).open(to)?;
    std::io::copy(&mut from, &mut to)?;
    to.sync_all()
}
