//! What is kept of the laboratory's journal beside it: backups, their second place, and journals
//! that were set aside. Practice has nothing worth keeping.

use std::path::Path;

use engine::{Engine, Profile, ProfileProblem};
use identity::SecretsKind;
use journal::JournalError;

use super::{Desk, on_pool};
use crate::backups::copy_elsewhere;
use crate::limits;
use crate::mask::masked_file;
use crate::problem::Problem;
use crate::retention;
use crate::rows::{Names, small};
use crate::views::{
    BackupView, LostListView, LostView, RetentionPlanView, SafekeepingView, SetAsideView,
};

/// Lost reports that are shown at once.
const LOST_SHOWN: usize = 1_000;

impl Desk {
    /// What is kept; nothing before the laboratory is set up. Works also where its journal does not
    /// open.
    pub async fn safekeeping(&self) -> Result<Option<SafekeepingView>, Problem> {
        let folder = self.laboratory_folder();
        on_pool(move || match Profile::open(&folder) {
            Ok(profile) => kept(&profile).map(Some),
            Err(ProfileProblem::Missing { .. }) => Ok(None),
            Err(error) => Err(engine::OpenError::from(error).into()),
        })
        .await?
    }

    /// Reports of the room in use that a restore has lost with their content, the newest first.
    /// Each leaves the list once it is handed over again, or found at the authority.
    pub async fn lost_reports(&self, names: Names) -> Result<LostListView, Problem> {
        let engine = self.engine();
        let profile = engine.profile();
        let mut lost = engine.journal().lost_reports()?;
        lost.sort_unstable_by_key(|lost| std::cmp::Reverse(lost.at));
        let view = |lost: journal::LostReport| LostView {
            file: match names {
                Names::Shown => lost.file,
                Names::Masked => masked_file(&lost.file),
            },
            at: lost.at.to_fhir(),
            endpoint: profile.name_of(&lost.endpoint),
        };
        let total = small(lost.len() as u64);
        Ok(LostListView { total, newest: lost.into_iter().take(LOST_SHOWN).map(view).collect() })
    }

    /// Deletes a journal that was set aside, for good.
    pub async fn remove_set_aside(&self, name: String) -> Result<(), Problem> {
        let name = limits::name("name", &name)?;
        let folder = self.laboratory_folder();
        on_pool(move || {
            let profile = Profile::open(&folder).map_err(engine::OpenError::from)?;
            let journal = profile.journal_file();
            // A name, no path: only what stands beside the journal can be meant.
            let file = Path::new(&name).file_name().unwrap_or_default();
            if journal::remove_set_aside(&journal, &journal.with_file_name(file))? {
                return Ok(());
            }
            Err(limits::invalid("name"))
        })
        .await?
    }

    /// Keeps copies of all backups in this folder besides, or in none; gives how many were copied
    /// now.
    pub async fn set_backup_place(&self, path: Option<String>) -> Result<u32, Problem> {
        let place = path.map(limits::path).transpose()?;
        let engine = self.with_backups("backup place").await?;
        let set = engine.clone();
        on_pool(move || set.set_backup_place(place.as_deref())).await??;
        Ok(small(copy_elsewhere(&engine).await? as u64))
    }

    /// Makes a backup of the laboratory's journal now, before something is done to this computer,
    /// and copies it to the second place where there is one.
    ///
    /// # Errors
    /// `backup-place-away` where it is made and only the copy is not.
    pub async fn back_up(&self) -> Result<(), Problem> {
        let engine = self.with_backups("backup").await?;
        let folder = engine.profile().backup_folder();
        let (journal, now) = (engine.journal().clone(), engine.now());
        match on_pool(move || journal.back_up_into(&folder, now)).await? {
            // One of this very second holds the same events: who presses twice has it.
            Ok(_) | Err(JournalError::Exists) => {}
            Err(error) => return Err(error.into()),
        }
        copy_elsewhere(&engine).await.map(|_| ())
    }

    /// Checks the laboratory's whole journal while work goes on: every page, every report and its
    /// digest, and the chain of all entries. Takes seconds, with a million reports minutes. Gives
    /// how many entries there are.
    ///
    /// # Errors
    /// `journal-damaged` where anything does not agree: the next start puts the newest good backup
    /// in its place. `labcourier journal verify` names what it is.
    pub async fn check_journal(&self) -> Result<u32, Problem> {
        let engine = self.with_backups("check").await?;
        let found = on_pool(move || engine.journal().verify()).await??;
        if found.problems.is_empty() {
            Ok(small(found.events))
        } else {
            Err(JournalError::Damaged.into())
        }
    }

    /// How many reports of the laboratory a rule of retention would concern now.
    pub async fn plan_retention(&self, days: u32) -> Result<RetentionPlanView, Problem> {
        let days = retention_days(days)?;
        let engine = self.with_backups("retention").await?;
        let before = journal::Retention::before(days, engine.now()).to_fhir();
        let reports = small(on_pool(move || engine.due_for_retention(days)).await??);
        Ok(RetentionPlanView { reports, before })
    }

    /// Lets the content of the laboratory's settled reports leave the journal after so many days,
    /// or keeps it, and does so at once; gives how many reports that were now.
    pub async fn set_retention(&self, days: Option<u32>) -> Result<u32, Problem> {
        let days = days.map(retention_days).transpose()?;
        let engine = self.with_backups("retention").await?;
        Ok(small(retention::set(&engine, days).await? as u64))
    }

    /// The laboratory's engine: practice has no backups.
    async fn with_backups(&self, trace: &str) -> Result<Engine, Problem> {
        let engine = self.laboratory_engine().await?;
        engine.ok_or_else(|| Problem::new("no-endpoint", &[], trace))
    }
}

fn retention_days(days: u32) -> Result<u32, Problem> {
    let is_within = (1..=retention::DAYS_MAX).contains(&days);
    if is_within { Ok(days) } else { Err(limits::invalid("days")) }
}

fn restorable(backup: &journal::BackupFile, elsewhere: bool) -> BackupView {
    let name = backup.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    BackupView { name, elsewhere, at: backup.at.to_fhir() }
}

fn kept(profile: &Profile) -> Result<SafekeepingView, Problem> {
    let unreadable = |folder: &Path, error: &std::io::Error| {
        let (file, reason) = (folder.display().to_string(), error.kind().to_string());
        Problem::new("file-unreadable", &[("file", &file), ("reason", &reason)], "safekeeping")
    };
    let (journal, backups) = (profile.journal_file(), profile.backup_folder());
    let aside = journal::list_set_aside(&journal).map_err(|e| unreadable(&journal, &e))?;
    let backups = journal::list_backups(&backups).map_err(|e| unreadable(&backups, &e))?;
    let place = profile.settings.backup_place.as_deref();
    // One that is away is told by a notice; what is here can be restored all the same.
    let elsewhere = place.and_then(|place| journal::list_backups(place).ok()).unwrap_or_default();
    let here = backups.iter().map(|backup| restorable(backup, false));
    let restorable = here.chain(elsewhere.iter().map(|backup| restorable(backup, true))).collect();
    let set_aside = aside.into_iter().map(|one| SetAsideView {
        name: one.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        at: one.at.to_fhir(),
        bytes: one.bytes,
    });
    Ok(SafekeepingView {
        backups: crate::rows::small(backups.len() as u64),
        last_backup: backups.first().map(|backup| backup.at.to_fhir()),
        backup_place: profile.settings.backup_place.as_ref().map(|it| it.display().to_string()),
        restorable,
        retention_days: profile.settings.retention_days,
        set_aside: set_aside.collect(),
        needs_passphrase: profile.settings.secrets == SecretsKind::Passphrase,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use super::*;
    use crate::views::EndpointInput;

    async fn backups(desk: &Desk) -> u32 {
        desk.safekeeping().await.unwrap().unwrap().backups
    }

    /// The names in this folder. Their number says little: where a fourth is made, one of the
    /// first three gives way.
    fn names(folder: &Path) -> BTreeSet<OsString> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    /// Takes a report in: two backups of one second differ by their events alone.
    async fn take(desk: &Desk, number: u64) {
        let laboratory = desk.opened_laboratory().unwrap();
        let text = testkit::DocumentBuilder::new(number).json();
        let seen = laboratory.inspect_text("a.json".to_owned(), text.into()).await.unwrap();
        laboratory.take(&seen, engine::ImportOptions::default()).await.unwrap();
    }

    fn endpoint() -> EndpointInput {
        EndpointInput {
            name: "real".to_owned(),
            base_url: "https://127.0.0.1:1/v1/fhir".to_owned(),
            environment: "integration".to_owned(),
            release: None,
            language: None,
            ca_pem: None,
            proxy: None,
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_whole_journal_is_checked_when_a_person_asks() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("home");
        let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
        assert_eq!(desk.check_journal().await.unwrap_err().code, "no-endpoint");
        desk.add_endpoint(endpoint()).await.unwrap();
        let before = desk.check_journal().await.unwrap();
        take(&desk, 1).await;
        assert!(desk.check_journal().await.unwrap() > before, "the entries are counted");

        // One byte of the last page: only its authentication code can tell.
        let file = desk.opened_laboratory().unwrap().profile().journal_file();
        let mut bytes = std::fs::read(&file).unwrap();
        let last = bytes.len() - 2_000;
        bytes[last] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let damaged = desk.check_journal().await.unwrap_err();
        assert_eq!(damaged.code, "journal-damaged");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_backup_is_made_when_a_person_asks_and_copied_to_the_second_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("home");
        let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
        assert_eq!(desk.back_up().await.unwrap_err().code, "no-endpoint", "practice has none");
        desk.add_endpoint(endpoint()).await.unwrap();
        assert_eq!(backups(&desk).await, 0);
        desk.back_up().await.unwrap();
        desk.back_up().await.unwrap();
        assert!(backups(&desk).await > 0, "pressed twice in a second it is no fault");

        let second = folder.path().join("second");
        std::fs::create_dir(&second).unwrap();
        desk.set_backup_place(Some(second.display().to_string())).await.unwrap();
        let copies = desk.safekeeping().await.unwrap().unwrap().backup_place.unwrap();
        let copies = Path::new(&copies);
        let folder = desk.opened_laboratory().unwrap().profile().backup_folder();
        let before = names(&folder);
        take(&desk, 1).await;
        desk.back_up().await.unwrap();
        let after = names(&folder);
        let made: Vec<_> = after.difference(&before).collect();
        assert_eq!(made.len(), 1, "one more: {after:?}");
        assert!(names(copies).contains(made[0]), "and its copy");

        std::fs::remove_dir_all(copies).unwrap();
        take(&desk, 2).await;
        let away = desk.back_up().await.unwrap_err();
        assert_eq!(away.code, "backup-place-away");
        assert_eq!(names(&folder).difference(&after).count(), 1, "it is made all the same");
    }
}
