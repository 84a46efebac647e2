//! The folder of automatic backups: names that say when, and which of them stay.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fhir::Instant;

use crate::copies::pages;
use crate::{BackupFacts, JournalError};

/// The newest are kept whatever their age: a file may be damaged after it was verified.
const NEWEST: usize = 3;
/// Days of which the last backup is kept.
const DAYS: usize = 7;
/// Weeks of which the last backup is kept.
const WEEKS: usize = 4;
/// A clock that is set every now and then is off by less.
const AHEAD_SECONDS: i64 = 3_600;
const DAY_MICROS: i64 = 86_400_000_000;

const PREFIX: &str = "journal-";
/// Of a backup that is a journal by itself; the others are files of pages.
pub(crate) const WHOLE: &str = ".db";

/// An automatic backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    /// Where the backup lies.
    pub file: PathBuf,
    /// When it was made.
    pub at: Instant,
    /// Number of the last event in it.
    pub events: u64,
    /// Size in bytes.
    pub bytes: u64,
}

/// A backup that was made and verified, and what went for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackedUp {
    /// What it holds.
    pub facts: BackupFacts,
    /// Where it is.
    pub file: PathBuf,
    /// Older backups that were removed.
    pub removed: usize,
}

impl BackupFile {
    /// Dated so much later than now that a wrong clock did it, then or now.
    pub fn is_ahead_of(&self, now: Instant) -> bool {
        self.at > now.plus_seconds(AHEAD_SECONDS)
    }
}

/// All backups of a folder, the newest first; none where there is no folder. Other files are left
/// out.
pub fn list(folder: &Path) -> std::io::Result<Vec<BackupFile>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some((at, events)) = name.to_str().and_then(parse) else { continue };
        let facts = entry.metadata()?;
        if facts.is_file() {
            found.push(BackupFile { file: entry.path(), at, events, bytes: facts.len() });
        }
    }
    found.sort_by(|a, b| (b.at, b.events, &b.file).cmp(&(a.at, a.events, &a.file)));
    Ok(found)
}

/// The name of a backup, such as `journal-20261121T063211Z-1234.db`.
pub(crate) fn name(at: Instant, events: u64, ending: &str) -> String {
    let text = at.to_fhir();
    let seconds = text.split(['.', 'Z']).next().unwrap_or_default();
    let plain: String = seconds.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    format!("{PREFIX}{plain}Z-{events}{ending}")
}

fn parse(name: &str) -> Option<(Instant, u64)> {
    let stem = name.strip_prefix(PREFIX)?;
    let stem = stem.strip_suffix(WHOLE).or_else(|| stem.strip_suffix(pages::ENDING))?;
    let (when, events) = stem.split_once('-')?;
    if when.len() != 16 || !when.is_ascii() {
        return None;
    }
    let part = |from: usize, to: usize| when.get(from..to);
    let text = format!(
        "{}-{}-{}T{}:{}:{}Z",
        part(0, 4)?,
        part(4, 6)?,
        part(6, 8)?,
        part(9, 11)?,
        part(11, 13)?,
        part(13, 15)?
    );
    Some((Instant::parse(&text)?, events.parse().ok()?))
}

/// Whether a file of this name is one of them.
pub(crate) fn is_name(name: &str) -> bool {
    parse(name).is_some()
}

/// Which of the backups (newest first) are not kept: all but the newest three, the last of each of
/// the last days that have one, and the last of each of the last weeks. Those that are dated ahead
/// of `now` are judged by themselves: after a clock that fell back nobody knows which one was
/// right, and what is made by the one must not give way to what was made by the other.
fn superfluous(backups: &[BackupFile], now: Instant) -> Vec<&BackupFile> {
    let (ahead, others) = backups.split_at(backups.partition_point(|backup| backup.at > now));
    [ahead, others].into_iter().flat_map(superfluous_of_one_clock).collect()
}

fn superfluous_of_one_clock(backups: &[BackupFile]) -> Vec<&BackupFile> {
    let mut kept = BTreeSet::new();
    for (most, length) in [(DAYS, DAY_MICROS), (WEEKS, 7 * DAY_MICROS)] {
        let mut spans = BTreeSet::new();
        for (index, backup) in backups.iter().enumerate() {
            if spans.len() < most && spans.insert(backup.at.0.div_euclid(length)) {
                kept.insert(index);
            }
        }
    }
    let all = backups.iter().enumerate();
    all.filter(|(index, _)| *index >= NEWEST && !kept.contains(index))
        .map(|(_, backup)| backup)
        .collect()
}

/// Removes what is not kept; only to be called after a backup was written and verified. An
/// increment is joined into those that build on it first. A base stays as long as any does: it is
/// one more backup then.
pub(crate) fn thin_out(folder: &Path, now: Instant) -> Result<usize, JournalError> {
    let io = JournalError::io("remove a backup");
    let backups = list(folder).map_err(&io)?;
    let mut builds: Vec<(PathBuf, PathBuf)> = backups
        .iter()
        .filter_map(|backup| Some((backup.file.clone(), pages::parent(&backup.file)?)))
        .collect();
    let mut removed = 0;
    // The newest first: what builds on one is newer.
    for backup in superfluous(&backups, now) {
        let parent = pages::parent(&backup.file);
        let mut is_needed = false;
        for (newer, on) in builds.iter_mut().filter(|(_, on)| *on == backup.file) {
            // What cannot be joined, because one of the two is damaged, stays as it is.
            match (&parent, pages::join_into(newer, &backup.file)) {
                (Some(parent), Ok(true)) => on.clone_from(parent),
                _ => is_needed = true,
            }
        }
        if !is_needed {
            std::fs::remove_file(&backup.file).map_err(&io)?;
            builds.retain(|(newer, _)| *newer != backup.file);
            removed += 1;
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(at: i64) -> BackupFile {
        let at = Instant(at);
        BackupFile { file: name(at, 1, WHOLE).into(), at, events: 1, bytes: 1 }
    }

    #[test]
    fn names_are_read_back_and_others_are_not_touched() {
        let at = Instant::from_seconds(1_795_000_000);
        for ending in [WHOLE, pages::ENDING] {
            assert_eq!(parse(&name(at, 1_234, ending)), Some((at, 1_234)));
        }
        for other in [
            "journal-.db",
            "journal-20261121T063211Z.db",
            "journal-20261121T063211Z-x.db",
            "journal-20261121T063211ZZ-1.db",
            "journal-20261121T063211Z-1.db.part",
            "journal-2026112éT06321Z-1.db",
            "notes.txt",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    /// A year of backups every six hours: never more than fourteen stay, always the newest, and the
    /// oldest reaches back more than two weeks once there have been so many.
    #[test]
    fn few_stay_and_they_reach_back() {
        let mut kept: Vec<BackupFile> = Vec::new();
        let step = DAY_MICROS / 4;
        for turn in 0..365 * 4 {
            let now = 1_795_000_000_000_000 + turn * step;
            kept.insert(0, made(now));
            let gone: Vec<_> = superfluous(&kept, Instant(now)).into_iter().cloned().collect();
            kept.retain(|backup| !gone.contains(backup));
            assert_eq!(kept[0].at, Instant(now));
            assert!(kept.len() <= NEWEST + DAYS + WEEKS, "{}", kept.len());
            if turn > 30 * 4 {
                let oldest = kept.last().unwrap().at.0;
                assert!(now - oldest >= 14 * DAY_MICROS);
            }
        }
    }

    /// Of each day and each week only so many.
    #[test]
    fn no_more_than_a_week_of_days_and_a_month_of_weeks_stay() {
        let now = 1_795_000_000_000_000 - 1_795_000_000_000_000 % (7 * DAY_MICROS);
        let daily: Vec<_> = (0..100).map(|day| made(now - day * DAY_MICROS)).collect();
        let gone = superfluous(&daily, Instant(now));
        let kept = |day: usize| !gone.contains(&&daily[day]);
        assert_eq!((0..7).filter(|day| kept(*day)).count(), 7);
        let older: Vec<usize> = (7..100).filter(|day| kept(*day)).collect();
        assert_eq!(older, [8, 15], "the last of the two weeks before");
    }

    #[test]
    fn what_is_thinned_out_is_counted_and_gone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(list(&folder.path().join("none")).unwrap().is_empty());
        let file = folder.path().join("file");
        std::fs::write(&file, b"").unwrap();
        assert!(list(&file).is_err(), "a file is no folder");
        let noon = 1_795_000_000_000_000_i64;
        let day = noon - noon.rem_euclid(DAY_MICROS);
        for hour in 1..=6 {
            let name = name(Instant(day + hour * 3_600_000_000), 1, WHOLE);
            std::fs::write(folder.path().join(name), b"x").unwrap();
        }
        assert_eq!(thin_out(folder.path(), Instant(day + DAY_MICROS)).unwrap(), 3);
        assert_eq!(list(folder.path()).unwrap().len(), NEWEST);
        assert_eq!(thin_out(folder.path(), Instant(day + DAY_MICROS)).unwrap(), 0);
        assert!(file.exists());
    }
}
