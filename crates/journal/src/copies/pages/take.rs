//! Making a backup of pages: the base where there is nothing to build on, else an increment.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use fhir::Instant;
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use super::code::{self, Codes};
use super::file::{self, Writing};
use super::{After, Facts, SHORT_CODE, VERSION, hex, raw, whole};
use crate::copies::backup::{draft_beside, of_open};
use crate::copies::backups;
use crate::queries::verify;
use crate::store::open::{Access, Pages, Place};
use crate::store::{open, rows, sql};
use crate::{BackedUp, BackupFacts, JournalError, chain};

/// So old a base is not built on any more: what retention has removed from the journal leaves the
/// backups with it.
const BASE_AGE_MICROS: i64 = 28 * 86_400_000_000;
/// Nor where the increments since hold half as many pages as the journal, and at least 16 MB.
const INCREMENTS_MIN: u64 = 4_096;
/// How often the journal is looked at until all of it stands in its file, and the pause before the
/// next look: others write and read meanwhile, and none of them is waited for.
const LOOKS: u32 = 100;
const LOOK_EVERY: Duration = Duration::from_millis(20);

const SUBMISSIONS: &str = "SELECT coalesce(sum(submissions), 0) FROM tally";
const HASH: &str = "SELECT hash FROM event WHERE id = ?1";

/// A backup that was written, as a draft that has its name already, and what is in it.
pub(crate) type Taken = (PathBuf, BackupFacts);
/// What looks at a snapshot; `None` where it has to be looked at once more.
pub(crate) type View<'a> = dyn Fn(&Connection) -> Result<Option<Taken>, JournalError> + 'a;

/// Writes what has changed since the newest backup of a folder, or all, under a name that says
/// when.
///
/// Reads the journal's file once from end to end, from one snapshot and beside whoever writes:
/// nothing is locked. The code of every page is checked. A base is checked in full besides; for an
/// increment the chain of events is, from where the backup before it ended.
///
/// `read` looks at one snapshot of the journal on a connection of its own.
pub(crate) fn take(
    place: &Place,
    folder: &Path,
    now: Instant,
    read: impl Fn(&View<'_>) -> Result<Option<Taken>, JournalError>,
) -> Result<BackedUp, JournalError> {
    let _alone = alone(folder, ".lock")?;
    sweep(folder);
    let before = newest(folder, now);
    let sql = JournalError::sql("back up");
    let settling = open::connect(place, Access::Write).map_err(&sql)?;
    for look in 0..LOOKS {
        if look > 0 {
            std::thread::sleep(LOOK_EVERY);
        }
        settle(&settling).map_err(&sql)?;
        let taken = read(&|snapshot| {
            // What is in the log now and in this snapshot is brought into the file; nothing beyond
            // it is, as long as the snapshot lasts.
            if !settle(&settling).map_err(&sql)? {
                return Ok(None);
            }
            let source = Source { snapshot, place, now };
            source.write(folder, before.as_ref()).map(Some)
        })?;
        if let Some((file, facts)) = taken {
            let removed = backups::thin_out(folder, now).unwrap_or(0);
            return Ok(BackedUp { facts, file, removed });
        }
    }
    Err(JournalError::Busy)
}

/// One process at a time: the lock goes with the handle.
pub(crate) fn alone(folder: &Path, name: &str) -> Result<File, JournalError> {
    let io = JournalError::io("back up");
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let lock = options.open(folder.join(name)).map_err(&io)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(std::fs::TryLockError::WouldBlock) => Err(JournalError::Busy),
        Err(std::fs::TryLockError::Error(error)) => Err(io(error)),
    }
}

/// Drafts that a process left when it was ended: nobody else is writing one.
pub(crate) fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_draft = name.strip_suffix(".part").and_then(|name| name.rsplit_once('.'));
        if is_draft.is_some_and(|(target, _)| backups::is_name(target)) {
            // What cannot be removed now goes with the next backup.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Brings the log into the file, and says whether all of it is there. Waits for nobody: where
/// another process is doing so just now, nothing can be said.
fn settle(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let [busy, log, settled]: [i64; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
        Ok(busy == 0 && log == settled)
    })
}

/// What an increment builds on.
struct Before {
    file: PathBuf,
    facts: Facts,
}

/// The newest backup of pages, where nothing of what it builds on is missing.
fn newest(folder: &Path, now: Instant) -> Option<Before> {
    let mut all = backups::list(folder).ok()?.into_iter();
    let newest = all.find(|backup| !backup.is_ahead_of(now))?;
    let parts = whole::parts(&newest.file).ok()?;
    let (file, facts) = parts.into_iter().next_back()?;
    let is_young = now.0.saturating_sub(facts.base_at) < BASE_AGE_MICROS;
    let is_small = facts.since_base < (u64::from(facts.pages) / 2).max(INCREMENTS_MIN);
    (is_young && is_small).then_some(Before { file, facts })
}

struct Source<'a> {
    snapshot: &'a Connection,
    place: &'a Place,
    now: Instant,
}

impl Source<'_> {
    fn write(
        &self,
        folder: &Path,
        before: Option<&Before>,
    ) -> Result<(PathBuf, BackupFacts), JournalError> {
        let io = JournalError::io("back up");
        let mut facts = self.facts()?;
        let before = match before {
            Some(before) if self.follows(&before.facts, &facts)? => Some(before),
            _ => {
                let found = verify::verify(self.snapshot, Pages::InLog)?;
                if !found.problems.is_empty() {
                    return Err(JournalError::Damaged);
                }
                None
            }
        };
        let target = folder.join(backups::name(self.now, facts.events, super::ENDING));
        if target.try_exists().map_err(&io)? {
            return Err(JournalError::Exists);
        }
        let draft = draft_beside(&target);
        let outcome = self.copy(&draft, before, &mut facts).and_then(|()| {
            file::read(&draft, &facts, |_, _| Ok(())).map_err(of_open)?;
            let bytes = std::fs::metadata(&draft).map_err(&io)?.len();
            open::publish(&draft, &target).map_err(&io)?;
            Ok(BackupFacts { bytes, submissions: facts.submissions, events: facts.events })
        });
        open::discard(&draft);
        Ok((target, outcome?))
    }

    fn facts(&self) -> Result<Facts, JournalError> {
        let number = |statement| -> Result<i64, JournalError> {
            Ok(rows::one(self.snapshot, statement, [], |row| row.get(0))?.unwrap_or(0))
        };
        // SQLCipher answers this one itself, with a text.
        let page = rows::one(self.snapshot, "PRAGMA page_size", [], |row| row.get::<_, String>(0))?;
        let page = page.and_then(|page| page.parse().ok()).ok_or(JournalError::Damaged)?;
        let unsigned = |number: i64| u32::try_from(number).map_err(|_| JournalError::Damaged);
        let head = |row: &rusqlite::Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, Vec<u8>>(1)?));
        let (events, head) =
            rows::one(self.snapshot, sql::LAST_EVENT, [], head)?.unwrap_or_default();
        Ok(Facts {
            version: VERSION,
            page,
            pages: unsigned(number("PRAGMA page_count")?)?,
            held: 0,
            after: None,
            state: String::new(),
            since_base: 0,
            base_at: self.now.0,
            submissions: u64::from(unsigned(number(SUBMISSIONS)?)?),
            events: u64::from(events),
            head: hex(&head),
        })
    }

    /// Whether the journal is the one of the backup before, gone on: its events are there, and the
    /// chain holds from there.
    fn follows(&self, before: &Facts, now: &Facts) -> Result<bool, JournalError> {
        if before.page != now.page {
            return Ok(false);
        }
        let Ok(number) = i64::try_from(before.events) else { return Ok(false) };
        let kept = rows::one(self.snapshot, HASH, [number], |row| row.get::<_, Vec<u8>>(0))?;
        let Some(kept) = kept.filter(|kept| hex(kept) == before.head) else { return Ok(false) };
        let hash = chain::stored(kept).map_err(JournalError::sql("back up"))?;
        if verify::goes_on(self.snapshot, (number, hash))? {
            Ok(true)
        } else {
            Err(JournalError::Damaged)
        }
    }

    fn copy(
        &self,
        draft: &Path,
        before: Option<&Before>,
        facts: &mut Facts,
    ) -> Result<(), JournalError> {
        let io = JournalError::io("back up");
        let mut known: Box<dyn io::Read> = match before {
            Some(before) => Box::new(file::codes(&before.file, &before.facts).map_err(&io)?),
            None => Box::new(io::empty()),
        };
        let journal = raw::beside_sqlite(&self.place.path).map_err(&io)?;
        let codes = Codes::new(&self.place.key, salt(&journal, facts).map_err(&io)?);
        let mut out = Writing::begin(draft).map_err(&io)?;
        let mut kept = Vec::with_capacity(facts.pages as usize * SHORT_CODE);
        raw::each_page(&journal, facts.page, facts.pages, |number, page| {
            let code = code::short(page);
            let mut was = [0; SHORT_CODE];
            let is_known = read_or_end(&mut known, &mut was)?;
            // Also of what has not changed: damage shows within a day.
            if !codes.fit(number, page) {
                return Err(Stopped::Damaged);
            }
            if !is_known || was != code {
                out.page(number, page)?;
            }
            kept.extend_from_slice(&code);
            Ok(())
        })
        .map_err(|stopped| match stopped {
            Stopped::Damaged => JournalError::Damaged,
            Stopped::Io(error) => io(error),
        })?;
        out.codes(&kept).map_err(&io)?;
        facts.state = hex(&Sha256::digest(&kept));
        facts.held = out.held();
        if let Some(before) = before {
            facts.since_base = before.facts.since_base + u64::from(facts.held);
            facts.base_at = before.facts.base_at;
            let name = before.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            facts.after = Some(After { name, state: before.facts.state.clone() });
        }
        out.end(facts).map_err(&io)
    }
}

/// Why the pages are not read to their end.
enum Stopped {
    Damaged,
    Io(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn salt(journal: &Mutex<File>, facts: &Facts) -> io::Result<[u8; code::SALT]> {
    let mut salt = [0; code::SALT];
    raw::each_page(journal, facts.page, 1.min(facts.pages), |_, page| {
        salt = page.first_chunk().copied().unwrap_or_default();
        Ok::<(), io::Error>(())
    })?;
    Ok(salt)
}

/// The next code of the backup before; none where the journal has grown beyond it.
fn read_or_end(from: &mut impl io::Read, into: &mut [u8; SHORT_CODE]) -> io::Result<bool> {
    match from.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
