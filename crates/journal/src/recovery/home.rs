//! On which computer, and in which file, a journal lives: the copy of a profile must not send what
//! the other one sends too. Kept in the journal, of its own file, and in the register, of the
//! register's: one of the two may be lost.

use std::path::Path;

use fhir::Instant;
use report::Person;
use rusqlite::Connection;

use crate::events::{compared, doubt, guard, standing};
use crate::problem::folder_of;
use crate::recovery::register;
use crate::store::open::{Access, Place};
use crate::store::{open, rows, settings};
use crate::{JournalError, RecordError};

const COMPUTER: &str = "computer";

/// Where a file is: the same for the same file on the same computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The computer's name for itself, where it has one.
    pub computer: Option<String>,
    /// The number of the file, where it keeps one.
    pub file: Option<String>,
}

impl Home {
    fn text(&self) -> String {
        let parts = [self.computer.as_deref(), self.file.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Whether a text that was kept is of the same computer, wherever the file was there.
    fn is_on(&self, kept: &str) -> bool {
        self.computer.as_deref().is_none_or(|computer| kept.split(' ').next() == Some(computer))
    }
}

/// Tells where a file is; `None` where nothing can be told.
pub type Find<'a> = &'a dyn Fn(&Path) -> Option<Home>;

fn kept(connection: &Connection) -> Result<Option<String>, JournalError> {
    let value = settings::get(connection, COMPUTER)?;
    Ok(value.and_then(|value| value.as_str().map(str::to_owned)))
}

/// Notes where the journal lives. Where that was elsewhere, the profile was copied, and the other
/// copy may have gone on: whatever may be sent is put in doubt, everything is asked for first, and
/// a person is told. Gives how many are in doubt then.
pub(crate) fn settle(
    connection: &Connection,
    home: &Home,
    by: &Person,
    now: Instant,
) -> Result<Option<u64>, RecordError> {
    let before = kept(connection)?;
    let here = home.text();
    if before.as_ref() == Some(&here) {
        return Ok(None);
    }
    settings::set(connection, COMPUTER, &here.into())?;
    if before.is_none() {
        return Ok(None);
    }
    let number = |statement| -> Result<Option<i64>, JournalError> {
        Ok(rows::one(connection, statement, [], |row| row.get::<_, Option<i64>>(0))?.flatten())
    };
    let since = number("SELECT max(at) FROM event")?.map(Instant);
    let through = number("SELECT max(id) FROM submission")?.unwrap_or(0);
    let doubted = doubt::all(connection, now, by)?;
    doubt::set_mark(connection, doubt::Mark { at: now, through })?;
    standing::raise(connection, now)?;
    guard::wait_anew(connection)?;
    compared::reconcile_since(connection, since, now)?;
    compared::tell_of_copy(connection, doubted, now)?;
    Ok(Some(doubted))
}

/// Notes in the register where that lives.
pub(crate) fn settle_register(journal: &Place, find: Find<'_>) {
    if let Some(home) = find(&register::path(&journal.path)) {
        register::settle(journal, &home.text());
    }
}

/// Whether what is to be replaced, or what is to take its place, shows that it was copied: the
/// register or the journal lived elsewhere, or the backup is of another computer. `standing`: where
/// the journal's file is, and a copy of it that can be read.
pub(crate) fn is_copied(
    place: &Place,
    standing: (&Path, Option<&Place>),
    backup: &Connection,
    find: Find<'_>,
) -> Result<bool, JournalError> {
    let moved = |before: Option<String>, file: &Path| {
        before.zip(find(file)).is_some_and(|(before, home)| before != home.text())
    };
    let (file, copy) = standing;
    let journal = copy.and_then(|copy| {
        let connection = open::connect(copy, Access::Write).ok()?;
        kept(&connection).ok()?
    });
    let elsewhere = kept(backup)?.zip(find(folder_of(&place.path)));
    Ok(moved(register::home(place), &register::path(&place.path))
        || moved(journal, file)
        || elsewhere.is_some_and(|(before, home)| !home.is_on(&before)))
}

/// A journal that is at home gets another file, `draft`, which is renamed to take its place. One
/// that is not stays so: it was copied, and nobody has noticed yet.
pub(crate) fn follow(
    connection: &Connection,
    find: Find<'_>,
    (file, draft): (&Path, &Path),
) -> Result<(), JournalError> {
    let at_home = kept(connection)? == find(file).as_ref().map(Home::text);
    if at_home { enter(connection, find, draft) } else { Ok(()) }
}

/// The same of a register. What cannot be noted is noted at the next opening.
pub(crate) fn follow_register(
    connection: &Connection,
    find: Find<'_>,
    (file, draft): (&Path, &Path),
) {
    let was = register::home_in(connection);
    let (Some(was), Some(home), Some(next)) = (was, find(file), find(draft)) else { return };
    if was == home.text() {
        register::set_home_in(connection, &next.text());
    }
}

/// What is to take a journal's place is at home before it does: a file that is renamed, or gets a
/// second name, keeps its number. Noted later it would be a journal without a home in between, and
/// whoever opened a copy of that would count as at home.
pub(crate) fn enter(
    connection: &Connection,
    find: Find<'_>,
    draft: &Path,
) -> Result<(), JournalError> {
    match find(draft) {
        Some(home) => settings::set(connection, COMPUTER, &home.text().into()),
        None => settings::remove(connection, COMPUTER),
    }
}
