//! Another key for a journal and everything that was written with it: register, backups, what was
//! set aside.
//!
//! Each file is copied, sealed anew in the copy, checked, and renamed over the old one. Ended at
//! any point, each file opens with the old key or with the new one, and doing it again with the
//! same two keys finishes it.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;

use crate::copies::{backup, backups, pages};
use crate::queries::verify;
use crate::recovery::{aside, home, register};
use crate::store::open::Pages;
use crate::store::open::{self, Access, Place};
use crate::store::{hold, schema};
use crate::{Find, Key, OpenProblem, problem};

/// What a rotation did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rotated {
    /// Files that the new key opens now.
    pub files: usize,
    /// Files beside the journal that neither key opens: they stay as they are, under whatever key
    /// they have.
    pub left: Vec<PathBuf>,
}

/// Seals a journal, with what stands beside it and its backups, with another key. The journal is
/// another file then: where it was at home ([`crate::Journal::settle_on`]), by what `find` tells,
/// it is so still, and no copy.
///
/// # Errors
/// [`OpenProblem::Busy`] where a process has the journal open; [`OpenProblem::WrongKeyOrDamaged`]
/// where neither key opens it, which is looked at first. Nothing is lost by any error: the same
/// call finishes what was begun.
pub fn rotate(
    path: &Path,
    old: &Key,
    new: &Key,
    backups: &Path,
    find: Find<'_>,
) -> Result<Rotated, OpenProblem> {
    let journal = Place::new(path, old)?;
    let _held = hold::alone(&journal.path)?;
    if is_sealed(&journal.path, new)? {
        // Begun before: the journal is the last file, so that all is done but what appeared since.
        schema::check_readable(
            &open::connect(&at(&journal.path, new), Access::Read).map_err(sql)?,
        )?;
    } else {
        open::readable(&journal)?;
    }
    litter(&journal.path, backups);
    let mut done = Rotated::default();
    for file in others(&journal.path, backups) {
        let sealed = match pages::is_one(&file) {
            true => whole_and_sealed(&file, old, new),
            false if file == register::path(&journal.path) => {
                sealed_anew(&file, old, new, Content::Register(find))
            }
            false => sealed_anew(&file, old, new, Content::Other),
        };
        match sealed {
            Ok(()) => done.files += 1,
            // What is damaged stays for whoever can still read something of it.
            Err(OpenProblem::WrongKeyOrDamaged | OpenProblem::Incomplete { .. }) => {
                done.left.push(file);
            }
            Err(problem) => return Err(problem),
        }
    }
    sealed_anew(&journal.path, old, new, Content::Journal(find))?;
    done.files += 1;
    for file in others(&journal.path, backups) {
        if pages::is_one(&file) && !done.left.contains(&file) {
            std::fs::remove_file(&file).map_err(OpenProblem::io("rotate the key"))?;
        }
    }
    Ok(done)
}

/// A backup of pages as a journal of its own under the new key, beside it: pages under two keys do
/// not go together. The pages go once the journal has the new key too.
fn whole_and_sealed(file: &Path, old: &Key, new: &Key) -> Result<(), OpenProblem> {
    let target = file.with_extension(backups::WHOLE.trim_start_matches('.'));
    if target.is_file() {
        return sealed_anew(&target, old, new, Content::Other);
    }
    let draft = backup::draft_beside(&target);
    let outcome = pages::put_together(file, &draft)
        .and_then(|()| sealed_anew(&draft, old, new, Content::Other))
        .and_then(|()| open::publish(&draft, &target).map_err(OpenProblem::io("rotate the key")));
    open::discard(&draft);
    outcome
}

/// Whether a key opens the register beside a journal.
pub fn is_sealed_beside(journal: &Path, key: &Key) -> bool {
    is_sealed(&register::path(journal), key).unwrap_or(false)
}

#[derive(Clone, Copy)]
enum Content<'a> {
    /// Checked in full before it takes its place, and at home there.
    Journal(Find<'a>),
    /// At home in its place too.
    Register(Find<'a>),
    Other,
}

/// The register, what was set aside, and the backups.
fn others(journal: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        backups::list(folder).unwrap_or_default().into_iter().map(|it| it.file).collect();
    let register = register::path(journal);
    if register.is_file() {
        all.push(register);
    }
    all.extend(aside::all(journal));
    all
}

/// Drafts that a process left when it was ended: nobody else has the journal open, so nobody is
/// writing one. They are under the old key.
fn litter(journal: &Path, folder: &Path) {
    for folder in [problem::folder_of(journal), folder] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_draft = name
                .to_string_lossy()
                .split('.')
                .any(|part| part == "part" || part.starts_with("part-"));
            if is_draft {
                // What cannot be removed now goes with the next rotation.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

fn at(path: &Path, key: &Key) -> Place {
    Place { path: path.to_owned(), key: key.clone() }
}

fn sql(error: rusqlite::Error) -> OpenProblem {
    OpenProblem::sql("rotate the key")(error)
}

/// Whether this key opens a file.
fn is_sealed(path: &Path, key: &Key) -> Result<bool, OpenProblem> {
    open::present(path)?;
    // A process was ended while it wrote: the pages of before are put back first, which takes no
    // key.
    let interrupted = open::with_suffix(path, "-journal").exists();
    let access = if interrupted { Access::Write } else { Access::Read };
    match open::connect(&at(path, key), access).and_then(|connection| {
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
    }) {
        Ok(_) => Ok(true),
        Err(error) => match sql(error) {
            OpenProblem::WrongKeyOrDamaged => Ok(false),
            problem => Err(problem),
        },
    }
}

fn sealed_anew(path: &Path, old: &Key, new: &Key, content: Content<'_>) -> Result<(), OpenProblem> {
    if is_sealed(path, new)? {
        return Ok(());
    }
    settle(&at(path, old))?;
    let draft = at(&backup::draft_beside(path), new);
    let outcome = rewritten(path, old, &draft, content).and_then(|()| {
        std::fs::File::open(&draft.path)
            .and_then(|file| file.sync_all())
            .and_then(|()| std::fs::rename(&draft.path, path))
            .and_then(|()| open::sync_folder(path))
            .map_err(OpenProblem::io("rotate the key"))
    });
    open::discard(&draft.path);
    outcome
}

/// Brings the log into the file, and does without one: the copy is of one file.
fn settle(place: &Place) -> Result<(), OpenProblem> {
    let connection = open::connect(place, Access::Write).map_err(sql)?;
    // Also the proof that the key fits, before anything is written.
    connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
        .map_err(sql)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(sql)?;
    connection
        .query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<_, String>(0))
        .map_err(sql)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(sql)?;
    connection.close().map_err(|(_, error)| sql(error))
}

fn rewritten(
    path: &Path,
    old: &Key,
    draft: &Place,
    content: Content<'_>,
) -> Result<(), OpenProblem> {
    open::private_file(&draft.path).map_err(OpenProblem::io("rotate the key"))?;
    let copy = || {
        let mut to = std::fs::OpenOptions::new().write(true).open(&draft.path)?;
        std::io::copy(&mut std::fs::File::open(path)?, &mut to)
    };
    copy().map_err(OpenProblem::io("rotate the key"))?;
    let connection = open::connect(&at(&draft.path, old), Access::Write).map_err(sql)?;
    connection.execute_batch(&draft.key.rekey()).map_err(|_| OpenProblem::WrongKeyOrDamaged)?;
    let files = (path, draft.path.as_path());
    match content {
        Content::Journal(find) => {
            home::follow(&connection, find, files).map_err(backup::of_journal)?;
        }
        Content::Register(find) => home::follow_register(&connection, find, files),
        Content::Other => {}
    }
    connection.close().map_err(|(_, error)| sql(error))?;
    if matches!(content, Content::Journal(_)) {
        let connection = open::readable(draft)?;
        let found = verify::verify(&connection, Pages::InFile).map_err(backup::of_journal)?;
        if !found.problems.is_empty() {
            return Err(OpenProblem::WrongKeyOrDamaged);
        }
    }
    Ok(())
}
