//! A journal from the files of a backup.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::{FILES_MAX, Facts, SHORT_CODE, beside, code, file, raw};
use crate::OpenProblem;
use crate::store::open;

/// The files that a backup consists of, the base first. Whether all of each is there shows by its
/// length; what it holds is looked at when it is put together.
pub(super) fn parts(path: &Path) -> Result<Vec<(PathBuf, Facts)>, OpenProblem> {
    let mut all = vec![(path.to_owned(), file::facts(path)?)];
    while let Some((newer, Facts { after: Some(after), page, .. })) = all.last() {
        if all.len() >= FILES_MAX {
            return Err(OpenProblem::WrongKeyOrDamaged);
        }
        let older = beside(newer, after)?;
        let lacking = || OpenProblem::Incomplete { lacks: after.name.clone() };
        let facts = file::facts(&older).map_err(|problem| match problem {
            OpenProblem::Missing => lacking(),
            other => other,
        })?;
        if facts.state != after.state || facts.page != *page {
            return Err(lacking());
        }
        all.push((older, facts));
    }
    all.reverse();
    Ok(all)
}

/// Writes the journal as it was into a new file. What is given back without an error has every page
/// as it was then.
pub(crate) fn put_together(path: &Path, into: &Path) -> Result<(), OpenProblem> {
    let io = OpenProblem::io("restore");
    let parts = parts(path)?;
    let Some((last, facts)) = parts.last() else { return Err(OpenProblem::Missing) };
    open::private_file(into).map_err(&io)?;
    let mut out = File::options().read(true).write(true).open(into).map_err(&io)?;
    for (part, held) in &parts {
        file::read(part, held, |number, page| {
            out.seek(SeekFrom::Start(u64::from(number - 1) * u64::from(held.page)))?;
            out.write_all(page)
        })?;
    }
    out.set_len(u64::from(facts.pages) * u64::from(facts.page)).map_err(&io)?;
    out.sync_all().map_err(&io)?;
    let mut codes = file::codes(last, facts).map_err(&io)?;
    let mut as_it_was = true;
    raw::each_page(&Mutex::new(out), facts.page, facts.pages, |_, page| {
        let mut code = [0; SHORT_CODE];
        codes.read_exact(&mut code)?;
        as_it_was &= code == code::short(page);
        Ok::<(), io::Error>(())
    })
    .map_err(&io)?;
    if as_it_was { Ok(()) } else { Err(OpenProblem::WrongKeyOrDamaged) }
}
