//! Backups that need not be kept any more, and what others have of them.

use std::path::{Path, PathBuf};

use super::file::{self, Writing};
use super::{Facts, SHORT_CODE, beside};
use crate::OpenProblem;
use crate::copies::backup::draft_beside;
use crate::store::open;

/// The backup that another one builds on: `None` where it is a base, or no backup of pages.
pub(crate) fn parent(path: &Path) -> Option<PathBuf> {
    let facts = file::facts(path).ok()?;
    beside(path, &facts.after?).ok()
}

/// Joins an increment into the one that builds on it, which builds on that one's predecessor then.
/// Gives `false` where the older one is a base: all of it would have to be written again. Whenever
/// this is ended, both are as they were, or the newer one needs the older one no more.
pub(crate) fn join_into(newer: &Path, older: &Path) -> Result<bool, OpenProblem> {
    let io = OpenProblem::io("back up");
    let (new, old) = (file::facts(newer)?, file::facts(older)?);
    if old.after.is_none() {
        return Ok(false);
    }
    if new.after.as_ref().is_none_or(|after| after.state != old.state) {
        return Err(OpenProblem::WrongKeyOrDamaged);
    }
    let draft = draft_beside(newer);
    let outcome = joined(&draft, (newer, &new), (older, &old)).and_then(|facts| {
        file::read(&draft, &facts, |_, _| Ok(()))?;
        std::fs::rename(&draft, newer).and_then(|()| open::sync_folder(newer)).map_err(&io)
    });
    open::discard(&draft);
    outcome.map(|()| true)
}

fn joined(
    draft: &Path,
    (newer, new): (&Path, &Facts),
    (older, old): (&Path, &Facts),
) -> Result<Facts, OpenProblem> {
    let io = OpenProblem::io("back up");
    let mut out = Writing::begin(draft).map_err(&io)?;
    // One for each page of the journal.
    let mut written = vec![false; new.pages as usize + 1];
    file::read(newer, new, |number, page| {
        if let Some(written) = written.get_mut(number as usize) {
            *written = true;
        }
        out.page(number, page)
    })?;
    file::read(older, old, |number, page| match written.get(number as usize) {
        Some(false) => out.page(number, page),
        // Newer, or beyond the end.
        _ => Ok(()),
    })?;
    let mut codes = Vec::with_capacity(new.pages as usize * SHORT_CODE);
    let mut from = file::codes(newer, new).map_err(&io)?;
    std::io::Read::read_to_end(&mut from, &mut codes).map_err(&io)?;
    out.codes(&codes).map_err(&io)?;
    let facts = Facts { held: out.held(), after: old.after.clone(), ..new.clone() };
    out.end(&facts).map_err(&io)?;
    Ok(facts)
}
