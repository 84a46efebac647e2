//! Upkeep of an open profile: opening a journal whatever happened to it, backups that nobody has to think of,
//! and, after a restore, the comparison with the authority.

use std::path::Path;
use std::time::Duration;

use fhir::Instant;
use journal::{BackedUp, Journal, JournalError, Key, Notice, OpenProblem};
use tokio_util::sync::CancellationToken;

use crate::{Engine, Profile, reconcile};

/// A backup is due when the last one is so old …
const BACKUP_AGE: i64 = 86_400;
/// … or when so many events have come since, and at least a quarter of all: a backup reads the whole journal,
/// so the cost for each event stays the same while the journal grows.
const BACKUP_EVENTS: u64 = 5_000;
/// Pause between two looks at what is due.
const LOOK_EVERY: Duration = Duration::from_secs(600);
/// Failures in a row of which a person is told: half an hour, so that a disk that is full for a moment or a
/// share that is away is no matter.
const FAILURES_TOLD: u32 = 3;
/// The authority is compared with until the restore is so old: its search may lag.
const COMPARED_SECONDS: i64 = 3_600;

/// Codes of notices that arise here, with the names of their parameters.
pub const UPKEEP_NOTICES: &[(&str, &[&str])] = &[
    ("backups-failing", &["last", "reason"]),
    ("journal-damage-met", &[]),
    ("journal-reconciled", &["added", "doubted", "lost"]),
    ("journal-unanchored", &[]),
];

/// Opens a profile's journal. One that is damaged, missing or older than what was confirmed is set aside, and
/// the newest sound state takes its place; what cannot be judged (another key, a newer schema, a lock) is
/// left alone.
pub(crate) fn open_journal(
    profile: &Profile,
    key: &Key,
    now: Instant,
) -> Result<Journal, OpenProblem> {
    let file = profile.journal_file();
    let journal = match Journal::open(&file, key) {
        Err(
            OpenProblem::WrongKeyOrDamaged | OpenProblem::Missing | OpenProblem::Outdated { .. },
        ) => {
            journal::recover(&file, key, &profile.backup_folder(), now)?;
            Journal::open(&file, key)?
        }
        opened => opened?,
    };
    if journal.lacked_register() {
        tell(&journal, "journal-unanchored", &[], now);
    }
    Ok(journal)
}

/// Keeps a notice; a journal that cannot take it has greater troubles, which show elsewhere.
pub(crate) fn tell(journal: &Journal, code: &str, params: &[(&str, &str)], now: Instant) {
    let _ = journal.put_notice(Notice::new(code, params, now));
}

/// Whether a backup is due.
fn is_due(journal: &Journal, folder: &Path, now: Instant) -> Result<bool, JournalError> {
    let all = journal::list_backups(folder).unwrap_or_default();
    // What a wrong clock dated ahead is as old as nobody knows.
    let Some(last) = all.into_iter().find(|backup| !backup.is_ahead_of(now)) else {
        return Ok(true);
    };
    let age = now.0.saturating_sub(last.at.0);
    let events = journal.events()?;
    let fresh = events.saturating_sub(last.events);
    Ok(age >= BACKUP_AGE * 1_000_000 || fresh >= BACKUP_EVENTS.max(events / 4))
}

/// Makes a backup if one is due. Reads the whole journal: not for an async thread.
fn back_up_if_due(
    journal: &Journal,
    folder: &Path,
    now: Instant,
) -> Result<Option<BackedUp>, JournalError> {
    if is_due(journal, folder, now)? {
        journal.back_up_into(folder, now).map(Some)
    } else {
        Ok(None)
    }
}

fn reason(error: &JournalError) -> &'static str {
    match error {
        JournalError::Full => "disk-full",
        JournalError::Damaged => "journal-damaged",
        _ => "profile-io",
    }
}

impl Engine {
    /// Makes a backup if the last one is older than a day or many events have come since.
    pub async fn back_up_if_due(&self) -> Result<Option<BackedUp>, JournalError> {
        let (journal, now) = (self.journal().clone(), self.now());
        let folder = self.profile().backup_folder();
        let made = tokio::task::spawn_blocking(move || back_up_if_due(&journal, &folder, now));
        made.await.unwrap_or(Err(JournalError::Closed))
    }

    /// What is due, again and again, until cancelled.
    pub(crate) async fn keep_up(self, cancel: CancellationToken) {
        let mut failures = 0;
        loop {
            // A backup under way is finished in the background: it never overlaps with another one, because
            // it is the only task that begins one, and a new task finds it not due or begins after it.
            tokio::select! {
                () = cancel.cancelled() => return,
                made = self.back_up_if_due() => self.told_of_backup(&made, &mut failures),
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                // An authority that cannot be reached is asked again at the next look.
                _ = self.reconcile() => {}
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    fn told_of_backup(&self, made: &Result<Option<BackedUp>, JournalError>, failures: &mut u32) {
        let (journal, now) = (self.journal(), self.now());
        match made {
            Ok(Some(_)) => {
                *failures = 0;
                // A notice that stays says less than one that is taken back too late.
                let _ = journal.remove_notice("backups-failing");
            }
            Ok(None) => {}
            Err(JournalError::Damaged) => tell(journal, "journal-damage-met", &[], now),
            Err(error) => {
                *failures += 1;
                if *failures >= FAILURES_TOLD {
                    let all = journal::list_backups(&self.profile().backup_folder());
                    let last = all.ok().and_then(|all| all.first().map(|last| last.at.to_fhir()));
                    let last = last.unwrap_or_default();
                    let params = [("last", &*last), ("reason", reason(error))];
                    tell(journal, "backups-failing", &params, now);
                }
            }
        }
    }

    /// After a restore: what the authority knows and the journal does not becomes visible. Gives what was
    /// found; `None` where there is nothing to compare.
    pub async fn reconcile(&self) -> Result<Option<reconcile::Comparison>, crate::EngineError> {
        let Some(open) = self.journal().unreconciled()? else { return Ok(None) };
        let endpoint = self.endpoint()?;
        let authority = self.authority(&endpoint).map_err(crate::EngineError::Obstructed)?;
        let tools = reconcile::Tools {
            journal: self.journal(),
            authority: &authority,
            endpoint: &endpoint,
            clock: &*self.inner.clock,
        };
        let found = reconcile::compare(&tools, open).await?;
        let lost = self.journal().lost_reports()?.len();
        if found.added + found.doubted > 0 || lost > 0 {
            let counts = [found.added, found.doubted, lost].map(|count| count.to_string());
            let [added, doubted, lost] = counts.each_ref().map(String::as_str);
            let params = [("added", added), ("doubted", doubted), ("lost", lost)];
            tell(self.journal(), "journal-reconciled", &params, self.now());
        }
        if found.complete && open.restored.plus_seconds(COMPARED_SECONDS) <= self.now() {
            self.journal().set_reconciled()?;
        }
        Ok(Some(found))
    }
}
