//! When a journal cannot be used: it is set aside, the newest sound state takes its place, and
//! whatever that state has forgotten is put in doubt. A person's restore goes the same way.
//!
//! Everything is made ready in a draft first; the old files are renamed, never written, never
//! deleted. Ended in between, the next opening finds the journal missing, begins again, and reads
//! what was set aside.

use std::ops::Range;
use std::path::{Path, PathBuf};

use fhir::Instant;
use report::SubmissionId;
use rusqlite::Connection;

use crate::copies::backup::{draft_beside, of_journal};
use crate::events::{compared, doubt, guard, lost, person, standing};
use crate::queries::read;
use crate::recovery::attempts::Attempts;
use crate::recovery::carried::Carried;
use crate::recovery::register::Look;
use crate::recovery::stage::{With, candidates, copied, stage};
use crate::recovery::{aside, attempts, carried, content, home, pause, register, sound, take_back};
use crate::store::open::{Access, Place};
use crate::store::settings::Lineage;
use crate::store::{hold, notice, open, rows, settings, sql};
use crate::{BackupFacts, Find, JournalError, Key, LostReport, Notice, OpenProblem, RecordError};

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
    (crate::store::pause::UNKNOWN, &[]),
    ("journal-from-backup", NOTICE_PARAMS),
    ("journal-from-remains", NOTICE_PARAMS),
    ("journal-from-nothing", NOTICE_PARAMS),
];
const NOTICE_PARAMS: &[&str] = &["aside", "doubted", "last", "lost", "salvaged", "submissions"];

/// Numbers that are looked for where the register does not name them: each costs a look at the old
/// journal.
const GAP_MAX: i64 = 200_000;

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
    match sound::sound_of_any_schema(&place) {
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
    let recovery =
        write(&connection, &draft.path, recovery, old, now).map_err(|error| match error {
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
    draft: &Path,
    mut recovery: Recovery,
    old: &Old<'_>,
    now: Instant,
) -> Result<Recovery, RecordError> {
    let number = |statement| -> Result<Option<i64>, JournalError> {
        Ok(rows::one(connection, statement, [], |row| row.get::<_, Option<i64>>(0))?.flatten())
    };
    recovery.last = number("SELECT max(at) FROM event")?.map(Instant);
    let through = number("SELECT max(id) FROM submission")?.unwrap_or(0);
    let names_all = old.names_all_after(through, number("SELECT max(id) FROM event")?);
    let by = person::program();
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
    compared::reconcile_since(connection, since, now)?;
    let file = old.remains().path;
    let standing = (file.as_path(), old.copy.as_ref());
    recovery.copied = home::is_copied(&old.place, standing, connection, old.find)?;
    home::enter(connection, old.find, draft)?;
    if recovery.copied {
        compared::tell_of_copy(connection, recovery.doubted, now)?;
    }
    guard::wait_anew(connection)?;
    // Without a register nothing says what was taken in since; one of a program of before does not
    // say what else would be the same report, and none what another computer sends, nor what the
    // journal that stood there had forgotten itself.
    let is_said = lost::all(connection)?.iter().all(|lost| lost.canonical.is_some());
    if recovery.copied || carried.is_guarded || !is_said || !names_all {
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

    /// Whether a register names everything that was taken in after what was restored, whose last
    /// submission and event have these numbers. One that ends before that event has lost its end,
    /// and says nothing of what came later.
    fn names_all_after(&self, through: i64, event: Option<i64>) -> bool {
        let Look::Present(head) = &self.look else { return false };
        if event.is_some_and(|event| head.events < event) {
            return false;
        }
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
