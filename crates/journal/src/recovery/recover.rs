//! When a journal cannot be used: it is set aside, the newest sound state takes its place, and
//! whatever that state has forgotten is put in doubt. A person's restore goes the same way.
//!
//! Everything is made ready in a draft first; the old files are renamed, never written, never
//! deleted. Ended in between, the next opening finds the journal missing, begins again, and reads
//! what was set aside.

use std::ops::Range;
use std::path::{Path, PathBuf};

use fhir::Instant;
use report::{Person, SubmissionId};
use rusqlite::Connection;

use crate::copies::backup::{draft_beside, of_journal};
use crate::events::{doubt, guard, lost, standing};
use crate::notices::{notice, pause};
use crate::queries::read;
use crate::recovery::attempts::{self, Attempts};
use crate::recovery::carried::{self, Carried};
use crate::recovery::register::{self, Look};
use crate::recovery::stage::{With, candidates, copied, stage};
use crate::recovery::{aside, content, home, take_back};
use crate::store::open::{self, Access, Place};
use crate::store::settings::Lineage;
use crate::store::{hold, settings, sql};
use crate::{
    BackupFacts, Find, JournalError, Key, LostReport, Notice, OpenProblem, RecordError, handle,
};

/// What a restored journal was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// A backup.
    Backup(PathBuf),
    /// What was left of the journal: sound, but not all that was confirmed.
    Remains,
    /// Nothing: the journal begins anew.
    Nothing,
}

/// What a recovery did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    /// What the journal was made of.
    pub base: Base,
    /// What that held.
    pub facts: BackupFacts,
    /// When the last thing in it happened.
    pub last: Option<Instant>,
    /// Where the journal that stood there before is now.
    pub set_aside: Option<PathBuf>,
    /// Reports that the worker asks for before it sends them.
    pub doubted: u64,
    /// Reports that were read from the damaged journal.
    pub salvaged: u64,
    /// The profile, or the backup, was copied from elsewhere, and what is there may have gone on.
    pub copied: bool,
    /// Sending is paused: it was before, or nothing says whether it was.
    pub paused: bool,
    /// Reports whose content is not there any more: the authority is asked for them, and a person
    /// may have to hand them over again.
    pub lost: u64,
}

/// Codes of the notices about a recovery, with the names of their parameters: by [`Base`], and of
/// what nobody knows.
pub const RECOVERY_NOTICES: &[(&str, &[&str])] = &[
    (pause::UNKNOWN, &[]),
    ("journal-from-backup", NOTICE_PARAMS),
    ("journal-from-remains", NOTICE_PARAMS),
    ("journal-from-nothing", NOTICE_PARAMS),
];
const NOTICE_PARAMS: &[&str] = &["aside", "doubted", "last", "lost", "salvaged", "submissions"];

/// Setting: what became of the restored journal still has to be compared with the authorities.
const RECONCILE: &str = "reconcile";
/// Setting: what the journal may have forgotten, kept when that was compared.
const FORGOTTEN: &str = "forgotten";
/// Longer than what is taken in is asked for first after a restore.
const FORGOTTEN_SECONDS: i64 = 40 * 86_400;
/// One setting for each endpoint, by its id, that has shown everything since the restore.
const COMPARED: &str = "compared:";

/// Code of the notice that the profile was copied.
pub(crate) const COPIED: &str = "journal-copied";

/// Numbers that are looked for where the register does not name them: each costs a look at the old
/// journal.
const GAP_MAX: i64 = 200_000;

/// In whose name a recovery acts.
pub(crate) fn program() -> Person {
    Person("labcourier".to_owned())
}

/// Replaces a journal that cannot be opened, or that is missing. `None` where another process has
/// done so already, or where it only is of an older program. Where nothing opens with this key, the
/// key may be the wrong one: then nothing is touched. `find` tells whether the profile was copied.
pub fn recover(
    path: &Path,
    key: &Key,
    backups: &Path,
    find: Find<'_>,
    now: Instant,
) -> Result<Option<Recovery>, OpenProblem> {
    recover_from(path, key, &[backups], find, now)
}

/// The same from the backups of several folders. One that is away is passed over.
pub fn recover_from(
    path: &Path,
    key: &Key,
    folders: &[&Path],
    find: Find<'_>,
    now: Instant,
) -> Result<Option<Recovery>, OpenProblem> {
    let place = Place::new(path, key)?;
    let _held = hold::alone(&place.path)?;
    match handle::sound_of_any_schema(&place) {
        Ok(_) => return Ok(None),
        Err(
            OpenProblem::WrongKeyOrDamaged | OpenProblem::Missing | OpenProblem::Outdated { .. },
        ) => {}
        Err(other) => return Err(other),
    }
    let old = Old::of(&place, Occasion::Damage, find)?;
    let outcome =
        candidates(&place, &old.remains(), folders, now).and_then(|chosen| match chosen {
            Some((draft, base, facts)) => replace(&place, &draft, base, facts, &old, now).map(Some),
            None if matches!(old.look, Look::Present(_)) => {
                let draft = Place { path: draft_beside(&place.path), key: key.clone() };
                open::build(&draft)?;
                replace(&place, &draft, Base::Nothing, BackupFacts::default(), &old, now).map(Some)
            }
            // Nothing shows that this is the right key.
            None if place.path.symlink_metadata().is_ok() => Err(OpenProblem::WrongKeyOrDamaged),
            None => Err(OpenProblem::Missing),
        });
    old.discard();
    outcome
}

/// Puts a backup in the place of a journal, after checking all of it. A journal that stands there
/// is set aside (`name.set-aside-<microseconds of now>`, with its log), never overwritten. What it
/// had and the backup has not is kept as far as it can be read; everything that may have been sent
/// is put in doubt. [`OpenProblem::Busy`] where a process has the journal open. `find` tells
/// whether profile or backup were copied.
pub fn restore(
    backup: &Path,
    key: &Key,
    into: &Path,
    find: Find<'_>,
    now: Instant,
) -> Result<Recovery, OpenProblem> {
    let source = Place::new(backup, key)?;
    let place = Place::new(into, key)?;
    std::fs::create_dir_all(crate::problem::folder_of(&place.path))
        .map_err(OpenProblem::io("restore"))?;
    let _held = hold::alone(&place.path)?;
    let old = Old::of(&place, Occasion::Wish, find)?;
    let (draft, facts) = stage(&source, &place, With::FileOnly).inspect_err(|_| old.discard())?;
    let base = Base::Backup(source.path);
    let outcome = replace(&place, &draft, base, facts, &old, now);
    old.discard();
    outcome
}

/// Why a journal is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// It cannot be used: people have to be told.
    Damage,
    /// A person wants it, and hears at once what became of it.
    Wish,
}

/// The journal that is to be replaced.
pub(crate) struct Old<'a> {
    place: Place,
    find: Find<'a>,
    occasion: Occasion,
    look: Look,
    taken: Vec<LostReport>,
    pub(crate) numbers: Vec<i64>,
    /// Where it is, if a recovery was ended between setting it aside and putting another in its
    /// place. Part of it may still stand there.
    aside: Option<PathBuf>,
    /// A copy of its files, to be read as far as possible.
    pub(crate) copy: Option<Place>,
}

impl<'a> Old<'a> {
    fn of(place: &Place, occasion: Occasion, find: Find<'a>) -> Result<Self, OpenProblem> {
        let look = register::look(place)?;
        let taken = register::taken(place);
        let numbers = taken.iter().map(|taken| taken.submission).collect();
        let taken = taken.into_iter().map(LostReport::from).collect();
        // Where there are no hard links, a name is reserved by an empty file first.
        let missing = std::fs::metadata(&place.path).map_or(true, |facts| facts.len() == 0);
        let aside = if missing { aside::of_ended_recovery(place, &look)? } else { None };
        let place = place.clone();
        let mut old = Self { place, find, occasion, look, taken, numbers, aside, copy: None };
        old.copy = aside::readable(copied(&old.remains(), &old.place, With::Log))?;
        Ok(old)
    }

    /// Where its files are. Its log may still stand in its place.
    fn remains(&self) -> Place {
        let path = self.aside.as_ref().unwrap_or(&self.place.path).clone();
        Place { path, key: self.place.key.clone() }
    }

    fn discard(&self) {
        if let Some(copy) = &self.copy {
            open::discard(&copy.path);
        }
    }
}

/// Completes the draft and gives it the journal's place.
fn replace(
    place: &Place,
    draft: &Place,
    base: Base,
    facts: BackupFacts,
    old: &Old<'_>,
    now: Instant,
) -> Result<Recovery, OpenProblem> {
    let aside = aside::of(&place.path, old.aside.as_deref(), now);
    let set_aside = aside.clone().or_else(|| old.aside.clone());
    let recovery = Recovery {
        base,
        facts,
        last: None,
        set_aside,
        doubted: 0,
        salvaged: 0,
        copied: false,
        paused: false,
        lost: 0,
    };
    let outcome = complete(draft, recovery, old, now).and_then(|recovery| {
        aside::exchange(&draft.path, &place.path, aside.as_deref())?;
        Ok(recovery)
    });
    open::discard(&draft.path);
    outcome
}

/// One transaction: what the restored journal has to know about what it has forgotten.
fn complete(
    draft: &Place,
    recovery: Recovery,
    old: &Old<'_>,
    now: Instant,
) -> Result<Recovery, OpenProblem> {
    let sql = OpenProblem::sql("restore");
    let connection = open::connect(draft, Access::Write).map_err(&sql)?;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(&sql)?;
    let recovery = write(&connection, recovery, old, now).map_err(|error| match error {
        RecordError::Journal(error) => of_journal(error),
        // The events were made here: that one cannot follow means damage.
        _ => OpenProblem::WrongKeyOrDamaged,
    })?;
    connection.execute_batch("COMMIT").map_err(&sql)?;
    connection.close().map_err(|(_, error)| sql(error))?;
    Ok(recovery)
}

fn write(
    connection: &Connection,
    mut recovery: Recovery,
    old: &Old<'_>,
    now: Instant,
) -> Result<Recovery, RecordError> {
    let number = |statement| -> Result<Option<i64>, JournalError> {
        Ok(read::one(connection, statement, [], |row| row.get::<_, Option<i64>>(0))?.flatten())
    };
    recovery.last = number("SELECT max(at) FROM event")?.map(Instant);
    let through = number("SELECT max(id) FROM submission")?.unwrap_or(0);
    let by = program();
    let carried = Carried::of(&old.place, old.copy.as_ref(), now);
    let attempts = old.attempts(through);
    carried::hold_decided(connection, &attempts, &by, now)?;
    recovery.doubted = doubt::all(connection, now, &by)?;
    doubt::set_mark(connection, doubt::Mark { at: now, through })?;
    let mut forgotten = carried.write(connection, &attempts)?;
    let back = take_back::all(connection, old, &attempts, now, &by)?;
    recovery.salvaged = back.len() as u64;
    for (number, taken) in old.numbers.iter().zip(&old.taken) {
        let name = attempts::name(taken);
        let is_back = is_one_of_name(connection, back.get(number).copied(), &name)?;
        if !is_back && !attempts.has(connection, &name, *number)? {
            lost::keep(connection, taken)?;
            forgotten.push(taken);
        }
    }
    for lost in forgotten {
        content::settle_beside_lost(connection, &attempts, lost, &by, now)?;
    }
    recovery.lost = lost::all(connection)?.len() as u64;
    let would_send = recovery.doubted + recovery.salvaged > 0;
    recovery.paused = pause::carry_over(connection, carried.paused, would_send, now)?;
    let (id, before) = (uuid::Uuid::new_v4().to_string(), register::lineage(&old.look));
    let before = before.map(str::to_owned);
    settings::set_lineage(connection, &Lineage { id, before, registered: false })?;
    let since = carried.unreconciled.map_or(recovery.last, |open| open.since.min(recovery.last));
    reconcile_since(connection, since, now)?;
    let file = old.remains().path;
    let standing = (file.as_path(), old.copy.as_ref());
    recovery.copied = home::is_copied(&old.place, standing, connection, old.find)?;
    home::forget(connection)?;
    if recovery.copied {
        tell_of_copy(connection, recovery.doubted, now)?;
    }
    guard::wait_anew(connection)?;
    // Without a register nothing says what was taken in since; one of a program of before does not
    // say what else would be the same report, and none what another computer sends, nor what the
    // journal that stood there had forgotten itself.
    let is_said = lost::all(connection)?.iter().all(|lost| lost.canonical.is_some());
    if recovery.copied || carried.is_guarded || !is_said || !old.names_all_after(through) {
        standing::raise(connection, now)?;
    } else {
        standing::raise_until_compared(connection, now)?;
    }
    if old.occasion == Occasion::Damage {
        notice::put(connection, &told(&recovery, now))?;
    }
    connection.execute(sql::REVISION_GROWS, []).map_err(JournalError::sql("restore"))?;
    Ok(recovery)
}

/// Whether what came back is the report of this name: a register that is of another journal gives
/// the number of another one.
fn is_one_of_name(
    connection: &Connection,
    back: Option<SubmissionId>,
    name: &attempts::Name,
) -> Result<bool, JournalError> {
    let Some(id) = back else { return Ok(false) };
    let row = read::row(connection, id)?;
    Ok([row.identifier, row.endpoint, row.digest] == *name)
}

impl Old<'_> {
    /// What is known of its reports, beside those of the new journal up to this number.
    fn attempts(&self, through: i64) -> Attempts {
        let names = self.taken.iter().map(attempts::name);
        Attempts::new(self.numbers.iter().copied().zip(names), self.copy.as_ref(), through)
    }

    /// Numbers after what was restored that the register does not name: programs of before forgot
    /// there what was old.
    pub(crate) fn gap(&self, through: i64) -> Range<i64> {
        let first = self.numbers.first().copied().unwrap_or(0);
        (through + 1).max(first - GAP_MAX)..first
    }

    /// Whether a register names everything that was taken in after what was restored.
    fn names_all_after(&self, through: i64) -> bool {
        let Look::Present(head) = &self.look else { return false };
        self.gap(through).is_empty() && (!self.numbers.is_empty() || head.events == 0)
    }

    /// Whether the register says that this number is a report that is known.
    pub(crate) fn has(
        &self,
        number: i64,
        attempts: &Attempts,
        connection: &Connection,
    ) -> Result<bool, JournalError> {
        let Ok(index) = self.numbers.binary_search(&number) else { return Ok(false) };
        match self.taken.get(index) {
            Some(taken) => attempts.has(connection, &attempts::name(taken), number),
            None => Ok(false),
        }
    }
}

fn told(recovery: &Recovery, now: Instant) -> Notice {
    let code = match recovery.base {
        Base::Backup(_) => "journal-from-backup",
        Base::Remains => "journal-from-remains",
        Base::Nothing => "journal-from-nothing",
    };
    let shown = |path: &PathBuf| path.display().to_string();
    let aside = recovery.set_aside.as_ref().map(shown).unwrap_or_default();
    let last = recovery.last.map(Instant::to_fhir).unwrap_or_default();
    let counts = [recovery.facts.submissions, recovery.doubted, recovery.salvaged, recovery.lost]
        .map(|count| count.to_string());
    let [submissions, doubted, salvaged, lost] = counts.each_ref().map(String::as_str);
    let params = [
        ("aside", aside.as_str()),
        ("doubted", doubted),
        ("last", &last),
        ("lost", lost),
        ("salvaged", salvaged),
        ("submissions", submissions),
    ];
    Notice::new(code, &params, now)
}

/// Notes that a person has to read that the profile is a copy. What the guard of a copy rests on:
/// it comes with what is put in doubt, or not at all.
pub(crate) fn tell_of_copy(
    connection: &Connection,
    doubted: u64,
    now: Instant,
) -> Result<(), JournalError> {
    let doubted = doubted.to_string();
    notice::put(connection, &Notice::new(COPIED, &[("doubted", &doubted)], now))
}

/// What is still to be compared with the authorities after a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreconciled {
    /// The restored state ends there; `None`: it is empty.
    pub since: Option<Instant>,
    /// When it was restored.
    pub restored: Instant,
}

pub(crate) fn unreconciled(connection: &Connection) -> Result<Option<Unreconciled>, JournalError> {
    span(connection, RECONCILE)
}

fn span(connection: &Connection, name: &str) -> Result<Option<Unreconciled>, JournalError> {
    let Some(kept) = settings::get(connection, name)? else { return Ok(None) };
    let field = |name: &str| kept.get(name).and_then(serde_json::Value::as_i64).map(Instant);
    let restored = field("restored").ok_or(JournalError::Damaged)?;
    Ok(Some(Unreconciled { since: field("since"), restored }))
}

/// What was owed before is owed still: from the earlier of both.
pub(crate) fn reconcile_since(
    connection: &Connection,
    since: Option<Instant>,
    restored: Instant,
) -> Result<(), JournalError> {
    let since = unreconciled(connection)?.map_or(since, |open| open.since.min(since));
    forget(connection, Unreconciled { since, restored })?;
    let since = since.map(|since| since.0);
    let value = serde_json::json!({ "since": since, "restored": restored.0 });
    forget_compared(connection)?;
    settings::set(connection, RECONCILE, &value)
}

/// Notes what the journal may have forgotten. Of restores that follow each other soon, the earliest
/// counts.
fn forget(connection: &Connection, new: Unreconciled) -> Result<(), JournalError> {
    let soon =
        |before: &Unreconciled| before.restored.plus_seconds(FORGOTTEN_SECONDS) > new.restored;
    let before = forgotten(connection)?.filter(soon);
    let since = before.map_or(new.since, |before| before.since.min(new.since));
    let since = since.map(|since| since.0);
    let value = serde_json::json!({ "since": since, "restored": new.restored.0 });
    settings::set(connection, FORGOTTEN, &value)
}

/// What lies between both may have happened without this journal knowing, also once everything was
/// compared; `None` where it was never restored, or by a program of before, which did not note it.
pub(crate) fn forgotten(connection: &Connection) -> Result<Option<Unreconciled>, JournalError> {
    span(connection, FORGOTTEN)
}

pub(crate) fn count_from(connection: &Connection, now: Instant) -> Result<(), JournalError> {
    let Some(open) = unreconciled(connection)? else { return Ok(()) };
    let since = open.since.map(|since| since.0);
    let value = serde_json::json!({ "since": since, "restored": now.0 });
    settings::set(connection, RECONCILE, &value)
}

/// What is still to be compared with one endpoint.
pub(crate) fn unreconciled_at(
    connection: &Connection,
    endpoint: &str,
) -> Result<Option<Unreconciled>, JournalError> {
    match is_compared(connection, endpoint)? {
        true => Ok(None),
        false => unreconciled(connection),
    }
}

/// Whether an endpoint has shown everything since the restore that is not wholly compared yet.
pub(crate) fn is_compared(connection: &Connection, endpoint: &str) -> Result<bool, JournalError> {
    Ok(settings::get(connection, &format!("{COMPARED}{endpoint}"))?.is_some())
}

pub(crate) fn reconciled_at(connection: &Connection, endpoint: &str) -> Result<(), JournalError> {
    settings::set(connection, &format!("{COMPARED}{endpoint}"), &true.into())
}

pub(crate) fn reconciled(connection: &Connection) -> Result<(), JournalError> {
    standing::compared(connection)?;
    forget_compared(connection)?;
    settings::remove(connection, RECONCILE)
}

fn forget_compared(connection: &Connection) -> Result<(), JournalError> {
    let kept = settings::beginning(connection, COMPARED)?;
    kept.iter().try_for_each(|(name, _)| settings::remove(connection, name))
}
