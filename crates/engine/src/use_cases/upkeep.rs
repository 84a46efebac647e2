//! Upkeep of an open profile: opening a journal whatever happened to it, backups that nobody has to
//! think of, and, after a restore, the comparison with the authority.

pub(crate) mod elsewhere;

use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;

use exchange::Endpoint;
use fhir::Instant;
use journal::{BackedUp, Journal, JournalError, Key, Notice, OpenProblem, Unreconciled};
use tokio_util::sync::CancellationToken;

use crate::profile::computer;
use crate::use_cases::upkeep::elsewhere::Copying;
use crate::{ClockReading, Engine, Profile, person, reconcile};

/// A backup is due when the last one is so old …
const BACKUP_AGE: i64 = 86_400;
/// … or when so many events have come since, and at least a quarter of all: a backup reads the
/// whole journal, so the cost for each event stays the same while the journal grows.
const BACKUP_EVENTS: u64 = 5_000;
/// Between two backups for many events, in seconds: while many reports are sent at once, their own
/// commits come first.
const BACKUP_PAUSE: i64 = 600;
/// Pause between two looks at what is due.
const LOOK_EVERY: Duration = Duration::from_secs(600);
/// Beyond the time after which the authority is believed.
const LOOK_AFTER: Duration = Duration::from_secs(5);
/// Failures in a row of which a person is told: half an hour, so that a disk that is full for a
/// moment or a share that is away is no matter.
const FAILURES_TOLD: u32 = 3;
/// Retention is applied so often, in seconds.
const RETAIN_EVERY: i64 = 86_400;
/// What is to be taken in waits so long for the first comparison after a restore. Then it is held
/// until it was asked for.
const FIRST_COMPARISON: Duration = Duration::from_secs(20);

/// From so much on, the computer's clock counts as set ahead.
const CLOCK_SET_MIN: Duration = Duration::from_secs(60);

/// Codes of notices that arise here, with the names of their parameters.
pub const UPKEEP_NOTICES: &[(&str, &[&str])] = &[
    ("journal-copied", &["doubted"]),
    ("backups-failing", &["last", "reason"]),
    ("comparison-incomplete", &["names"]),
    ("backup-place-away", &["place", "reason"]),
    ("journal-damage-met", &[]),
    ("journal-reconciled", &["added", "doubted", "lost"]),
    ("journal-unanchored", &[]),
];

/// Opens a profile's journal. One that is damaged, missing or older than what was confirmed is set
/// aside, and the newest sound state takes its place; what cannot be judged (another key, a newer
/// schema, a lock) is left alone.
pub(crate) fn open_journal(
    profile: &Profile,
    key: &Key,
    now: Instant,
) -> Result<Journal, OpenProblem> {
    let (file, backups) = (profile.journal_file(), profile.backup_folder());
    let mut opened = Journal::open(&file, key);
    if matches!(opened, Err(OpenProblem::OlderSchema { .. })) {
        // What is damaged shows while it is backed up, and is recovered below.
        opened = match journal::migrate(&file, key, &backups, now) {
            Ok(_) => Journal::open(&file, key),
            Err(problem) => Err(problem),
        };
    }
    let journal = match opened {
        Err(
            OpenProblem::WrongKeyOrDamaged | OpenProblem::Missing | OpenProblem::Outdated { .. },
        ) => {
            let elsewhere = profile.settings.backup_place.as_deref();
            let folders: Vec<&Path> = std::iter::once(&*backups).chain(elsewhere).collect();
            journal::recover_from(&file, key, &folders, &computer::of, now)?;
            Journal::open(&file, key)?
        }
        opened => opened?,
    };
    if journal.lacked_register() {
        tell(&journal, "journal-unanchored", &[], now);
    }
    settle(&journal, now)?;
    Ok(journal)
}

/// Notices that the profile was copied: to another computer, or to another place on this one. A
/// person is told.
pub(crate) fn settle(journal: &Journal, now: Instant) -> Result<(), OpenProblem> {
    journal.settle_on(&computer::of, &person::worker(), now)?;
    Ok(())
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
    Ok(is_old(now.0.saturating_sub(last.at.0), last.events, journal.events()?))
}

/// Whether a backup of so many events, so many microseconds ago, calls for another one now that
/// there are so many.
fn is_old(age: i64, then: u64, now: u64) -> bool {
    let many = now.saturating_sub(then) >= BACKUP_EVENTS.max(now / 4);
    age >= BACKUP_AGE * 1_000_000 || many && age >= BACKUP_PAUSE * 1_000_000
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

pub(crate) fn reason(error: &JournalError) -> &'static str {
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
        let mut copying = Copying::default();
        // At the start it was done already.
        let mut retained = self.now();
        loop {
            // A backup under way is finished in the background: it never overlaps with another one,
            // because it is the only task that begins one, and a new task finds it not due or
            // begins after it.
            tokio::select! {
                () = cancel.cancelled() => return,
                made = self.back_up_if_due() => self.told_of_backup(&made, &mut failures),
            }
            self.begin_copying(&mut copying);
            // What cannot be removed now is removed at the next look.
            let passed = self.now().0.saturating_sub(retained.0);
            if !(0..RETAIN_EVERY * 1_000_000).contains(&passed)
                && self.apply_retention().await.is_ok()
            {
                retained = self.now();
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                // An authority that cannot be reached is asked again at the next look.
                _ = self.reconcile() => {}
            }
            loop {
                tokio::select! {
                    () = cancel.cancelled() => return,
                    done = copying.finished() => self.told_of_copies(done, &mut copying),
                    () = self.inner.compare.notified() => break,
                    () = tokio::time::sleep(self.look_every()) => break,
                }
            }
        }
    }

    /// What waits because the authority may show it late is asked for again when that time is over.
    fn look_every(&self) -> Duration {
        LOOK_EVERY.min(self.inner.timing.doubt_min) + LOOK_AFTER
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

    /// After a restore: what the authorities know and the journal does not becomes visible, and
    /// what waits for that is decided. Every endpoint is asked; gives what was found, `None` where
    /// there is nothing to compare. The first fault is told once all were asked: one that cannot be
    /// reached must not keep the others' reports.
    pub async fn reconcile(&self) -> Result<Option<reconcile::Comparison>, crate::EngineError> {
        let is_set = self.see_the_clock()?;
        self.journal().count_guarded_time(self.now())?;
        let (open, at_each) = (self.journal().unreconciled()?, self.unreconciled()?);
        let is_owed = open.is_some() || at_each.iter().any(|(_, open)| open.is_some());
        if !is_owed && !self.journal().is_guarded(self.now())? {
            return Ok(None);
        }
        let (mut found, mut fault) = (reconcile::Comparison::default(), None);
        found.complete = true;
        let now = self.now();
        let is_ahead = |open: Option<Unreconciled>| open.is_some_and(|open| open.restored > now);
        if (is_set && open.is_some()) || at_each.iter().any(|(_, open)| is_ahead(*open)) {
            // The clock was ahead at the restore, or is set ahead by now: the hour begins now.
            self.journal().set_unreconciled_from(now)?;
        }
        let is_old =
            |open: Unreconciled| open.restored.plus_seconds(reconcile::COMPARED_SECONDS) <= now;
        let is_late = |open: Option<Unreconciled>| !is_set && open.is_some_and(is_old);
        let (mut left, mut stuck, is_any) = (Vec::new(), Vec::new(), !at_each.is_empty());
        for (endpoint, open) in at_each {
            match self.reconcile_at(&endpoint, open).await {
                Ok(at_one) if at_one.complete && is_late(open) => {
                    self.journal().set_reconciled_at(endpoint.id())?;
                    found.add(at_one);
                }
                // There was no time for all that waits.
                Ok(at_one) if open.is_none() && !at_one.complete => stuck.push(endpoint.name),
                Ok(at_one) => {
                    left.extend((!at_one.complete).then_some(endpoint.name));
                    found.add(at_one);
                }
                Err(error) => {
                    if open.is_some() {
                        left.push(endpoint.name);
                    } else if self.waits_for_a_person(endpoint.id())? {
                        stuck.push(endpoint.name);
                    }
                    fault = fault.or(Some(error));
                }
            }
        }
        self.wake();
        if is_owed {
            self.told_of_comparison(&found)?;
        }
        // An endpoint may be removed only to be added again, with another CA.
        if is_late(open) && left.is_empty() && is_any {
            self.journal().set_reconciled()?;
        }
        if is_late(open) || open.is_none() {
            left.extend(stuck);
            self.told_of_left(&left)?;
        }
        fault.map_or_else(|| Ok(is_owed.then_some(found)), Err)
    }

    /// The endpoints, each with the restore after which it has not shown everything yet.
    fn unreconciled(&self) -> Result<Vec<(Endpoint, Option<Unreconciled>)>, JournalError> {
        let endpoints = self.profile().settings.endpoints.into_iter();
        let with_open = |endpoint: Endpoint| {
            let open = self.journal().unreconciled_at(endpoint.id(), self.now())?;
            Ok((endpoint, open))
        };
        endpoints.map(with_open).collect()
    }

    /// Whether the computer's clock was set ahead since the last look: that much time has not
    /// passed.
    fn see_the_clock(&self) -> Result<bool, JournalError> {
        let now = ClockReading::now(&*self.inner.clock);
        let mut looked = self.inner.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = now.set_ahead_since(*looked);
        let is_set = ahead >= CLOCK_SET_MIN;
        if is_set {
            self.journal().clock_set_ahead(ahead)?;
        }
        // Where that cannot be written, the next look sees it.
        *looked = now;
        Ok(is_set)
    }

    /// Whether something that was taken in for an endpoint waits for an answer that does not come,
    /// so that a person may release it.
    fn waits_for_a_person(&self, endpoint: &str) -> Result<bool, JournalError> {
        for id in self.journal().guarded(endpoint)? {
            if !self.journal().release_waits(id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The restore is compared with every endpoint, or these have not shown everything yet, or do
    /// not answer for what waits.
    fn told_of_left(&self, names: &[String]) -> Result<(), JournalError> {
        let (journal, code) = (self.journal(), "comparison-incomplete");
        if names.is_empty() {
            self.inner.told_of_left.lock().unwrap_or_else(PoisonError::into_inner).clear();
            let stands = journal.notices()?.iter().any(|notice| notice.code == code);
            return if stands { journal.remove_notice(code) } else { Ok(()) };
        }
        // Once for these: it has been read, perhaps.
        let names = names.join(", ");
        let mut told = self.inner.told_of_left.lock().unwrap_or_else(PoisonError::into_inner);
        if *told != names {
            tell(journal, code, &[("names", &names)], self.now());
            *told = names;
        }
        Ok(())
    }

    /// The first comparison after a restore comes before anything is taken in: what the authority
    /// has is known then, and a newer version of it is seen to be one. Says whether there was one
    /// to be made.
    pub(crate) async fn compare_first(&self) -> Result<bool, JournalError> {
        let mut done = self.inner.compared_first.lock().await;
        if std::mem::replace(&mut *done, true)
            || self.unreconciled()?.iter().all(|(_, open)| open.is_none())
        {
            return Ok(false);
        }
        // What fails or takes longer goes on in the background.
        let _ = tokio::time::timeout(FIRST_COMPARISON, self.reconcile()).await;
        Ok(true)
    }

    async fn reconcile_at(
        &self,
        endpoint: &Endpoint,
        open: Option<Unreconciled>,
    ) -> Result<reconcile::Comparison, crate::EngineError> {
        let authority = self.authority(endpoint).map_err(crate::EngineError::Obstructed)?;
        let tools = reconcile::ReconcileDeps {
            journal: self.journal(),
            authority: &authority,
            former: &self.forgotten_ways(endpoint)?,
            endpoint,
            clock: &*self.inner.clock,
            timing: &self.inner.timing,
        };
        match open {
            Some(open) => reconcile::compare(&tools, open).await,
            None => {
                let complete = reconcile::decide_guarded(&tools).await?;
                Ok(reconcile::Comparison { complete, ..Default::default() })
            }
        }
    }

    fn told_of_comparison(&self, found: &reconcile::Comparison) -> Result<(), JournalError> {
        let lost = self.journal().lost_reports()?.len();
        if found.added + found.doubted > 0 || lost > 0 {
            let counts = [found.added, found.doubted, lost].map(|count| count.to_string());
            let [added, doubted, lost] = counts.each_ref().map(String::as_str);
            let params = [("added", added), ("doubted", doubted), ("lost", lost)];
            tell(self.journal(), "journal-reconciled", &params, self.now());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_old;

    /// A backup reads the whole journal: while thousands of reports are sent at once, nine of them
    /// within minutes took half of a processor.
    #[test]
    fn a_backup_is_due_after_a_day_or_after_many_events_and_some_minutes() {
        const MINUTE: i64 = 60_000_000;
        for (age, then, now, due) in [
            (24 * 60 * MINUTE, 100, 100, true),
            (24 * 60 * MINUTE - 1, 100, 100, false),
            (10 * MINUTE, 100, 5_100, true),
            (10 * MINUTE - 1, 100, 5_100, false),
            (10 * MINUTE, 100, 5_099, false),
            // A quarter of all.
            (10 * MINUTE, 76_000, 100_000, false),
            (10 * MINUTE, 75_000, 100_000, true),
        ] {
            assert_eq!(is_old(age, then, now), due, "{age} {then} {now}");
        }
    }
}
