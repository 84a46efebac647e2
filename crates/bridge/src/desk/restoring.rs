//! A backup takes the place of the laboratory's journal while the window runs: the room is closed,
//! the restore of the command line is made, and the room is opened again, whatever came of it.

use std::path::{Path, PathBuf};

use engine::{Engine, Profile};
use fhir::Instant;
use identity::{Password, Secrets, SecretsKind};
use journal::{BackupFile, Filter, JournalError, Row};
use report::{StateCode, SubmissionId};

use super::taking::UnderWay;
use super::trying::TRY_FIRST;
use super::{Desk, Laboratory, on_pool};
use crate::backups::{self, RestoreFacts};
use crate::limits;
use crate::problem::Problem;
use crate::rows::small;
use crate::views::{RestorePlanView, RestoredView};

/// Why the laboratory is closed meanwhile.
const RESTORING: &str = "journal-restoring";
/// Each try waits two seconds for whoever has the journal open: an answer that began before the
/// room was closed, or another program.
const TRIES: u32 = 5;
/// Reports that are looked at together.
const PAGE: usize = 1_000;

/// Something edited and not sent of the report with this identifier, endpoint and content.
struct Edited {
    id: SubmissionId,
    name: [String; 3],
    text: String,
}

impl Desk {
    /// What a restore of this backup would mean now.
    pub async fn plan_restore(
        &self,
        name: String,
        elsewhere: bool,
    ) -> Result<RestorePlanView, Problem> {
        let name = limits::name("name", &name)?;
        let (folder, engine) = (self.laboratory_folder(), self.opened_laboratory());
        on_pool(move || {
            let profile = Profile::open(&folder)?;
            let at = chosen(&profile, &name, elsewhere)?.at;
            let since = |engine: Engine| engine.journal().tally(at, Instant(i64::MAX));
            let since = engine.map(since).transpose()?;
            Ok(RestorePlanView {
                at: at.to_fhir(),
                reports_since: since.map(|counts| small(counts.values().sum())),
                needs_passphrase: profile.settings.secrets == SecretsKind::Passphrase,
            })
        })
        .await?
    }

    /// Puts a backup in the place of the laboratory's journal, which is set aside. The room is
    /// closed for it and opened again, also where nothing comes of it.
    ///
    /// # Errors
    /// `restore-while-taking`, and `restore-busy` where somebody else has the journal open;
    /// `backup-unusable`; what the secrets say. The journal is then as it was.
    pub async fn restore_backup(
        &self,
        name: String,
        elsewhere: bool,
        passphrase: String,
    ) -> Result<RestoredView, Problem> {
        let name = limits::name("name", &name)?;
        limits::line("passphrase", &passphrase)?;
        let passphrase = Some(passphrase).filter(|it| !it.is_empty()).map(Password::from);
        let desk = Self { inner: self.inner.clone(), stays_in: None };
        // A task of its own: a page that goes away meanwhile must not leave the room closed. The
        // end of the program waits for it, see `UnderWay`.
        let task = tokio::spawn(async move {
            let done = desk.replace_journal(&name, elsewhere, passphrase.as_ref()).await;
            // What keeps the room closed the status says.
            let _ = desk.read_certificate().await;
            done
        });
        task.await.map_err(|_| Problem::new("journal-closed", &[], "restore"))?
    }

    /// Whether a backup is being put in the journal's place.
    pub(super) fn is_restoring(&self) -> bool {
        matches!(&*self.laboratory(), Laboratory::Closed(why) if why.code == RESTORING)
    }

    async fn replace_journal(
        &self,
        name: &str,
        elsewhere: bool,
        passphrase: Option<&Password>,
    ) -> Result<RestoredView, Problem> {
        let opening = self.inner.opening.lock().await;
        let (folder, name) = (self.laboratory_folder(), name.to_owned());
        let (at, key) = (folder.clone(), again(passphrase));
        // Before anything is stopped: what is certain to fail is said by then.
        let backup = on_pool(move || ready(&at, &name, elsewhere, key.as_ref())).await??;
        let (_under_way, edited) = self.close_laboratory().await?;
        let (at, key) = (folder, again(passphrase));
        let restored = on_pool(move || restore(&at, &backup, key.as_ref())).await;
        let opened = self.open_again(again(passphrase)).await;
        drop(opening);
        if opened.is_err() {
            self.go_on_trying().await;
        }
        let facts = restored??;
        let begun = small(edited.len() as u64);
        let (edited_lost, closed) = match opened {
            Ok(Some(engine)) => (on_pool(move || keep_again(&engine, edited)).await?, None),
            Ok(None) => (begun, None),
            Err(problem) => (begun, Some(problem)),
        };
        Ok(view(facts, edited_lost, closed))
    }

    /// Closes the laboratory's room, so that nobody here has its journal open; gives what was
    /// edited in it and not sent.
    async fn close_laboratory(&self) -> Result<(UnderWay, Vec<Edited>), Problem> {
        self.refuse_while_taking()?;
        let was_in_use = !self.place().is_practice;
        self.step_out();
        // What the page hands over from now on is refused; what it has begun before is seen here.
        // Between the two, it goes on in the old journal, and the restore waits for it.
        if let Err(problem) = self.refuse_while_taking() {
            if was_in_use {
                self.enter(false);
            }
            return Err(problem);
        }
        let (under_way, engine) = (self.takes(1), self.opened_laboratory());
        self.set_laboratory(Laboratory::Closed(Problem::new(RESTORING, &[], "restore")));
        self.stop_watching_laboratory().await;
        let Some(engine) = engine else { return Ok((under_way, Vec::new())) };
        engine.stop().await;
        // A journal that cannot be read any more is what restores are for: what was edited in it
        // stays in the one that is set aside.
        let edited = on_pool(move || edited(&engine)).await?.unwrap_or_default();
        Ok((under_way, edited))
    }

    fn refuse_while_taking(&self) -> Result<(), Problem> {
        match self.taken_in_now() {
            0 => Ok(()),
            _ => Err(Problem::new("restore-while-taking", &[], "restore")),
        }
    }

    async fn go_on_trying(&self) {
        if self.inner.working.load(std::sync::atomic::Ordering::SeqCst) {
            self.keep_trying(TRY_FIRST).await;
        }
    }
}

/// A second one of the same words: passphrases are not cloned by accident.
fn again(passphrase: Option<&Password>) -> Option<Password> {
    passphrase.map(|passphrase| Password::from(passphrase.expose().to_owned()))
}

/// The backup of this name. A name, no path: only what is listed can be meant.
fn chosen(profile: &Profile, name: &str, elsewhere: bool) -> Result<BackupFile, Problem> {
    let here = profile.backup_folder();
    let folder = if elsewhere { profile.settings.backup_place.clone() } else { Some(here) };
    let listed = folder.map(|folder| journal::list_backups(&folder)).transpose();
    let listed = listed.ok().flatten().unwrap_or_default();
    let named = |backup: &BackupFile| backup.file.file_name().is_some_and(|it| it == name);
    listed.into_iter().find(named).ok_or_else(|| Problem::new("backup-gone", &[], "restore"))
}

/// The file of the backup, where the secrets of the laboratory are within reach.
fn ready(
    folder: &Path,
    name: &str,
    elsewhere: bool,
    passphrase: Option<&Password>,
) -> Result<PathBuf, Problem> {
    let profile = Profile::open(folder)?;
    let settings = &profile.settings;
    let backup = chosen(&profile, name, elsewhere)?.file;
    Secrets::open(settings.secrets, profile.folder(), &settings.id, passphrase)?;
    Ok(backup)
}

fn restore(
    folder: &Path,
    backup: &Path,
    passphrase: Option<&Password>,
) -> Result<RestoreFacts, Problem> {
    let mut tries = 1;
    loop {
        match backups::restore(folder, passphrase, backup) {
            Err(problem) if problem.code == "journal-busy" && tries < TRIES => tries += 1,
            Err(problem) => return Err(told(problem)),
            Ok(facts) => return Ok(facts),
        }
    }
}

/// What is in the way of a restore, which is not what it is elsewhere: nobody tries it again, and
/// it is the backup that cannot be opened, because it is looked at first.
fn told(problem: Problem) -> Problem {
    let code = match problem.code.as_str() {
        "journal-busy" => "restore-busy",
        "journal-wrong-key-or-damaged" => "backup-unusable",
        _ => return problem,
    };
    Problem::new(code, &[], "restore")
}

fn view(facts: RestoreFacts, edited_lost: u32, closed: Option<Problem>) -> RestoredView {
    RestoredView {
        reports: small(facts.submissions),
        doubted: small(facts.doubted),
        salvaged: small(facts.salvaged),
        lost: small(facts.lost),
        edited_lost,
        closed,
    }
}

fn name_of(row: &Row) -> [String; 3] {
    [&row.identifier, &row.endpoint, &row.digest].map(Clone::clone)
}

/// What somebody has edited of a report and not sent.
fn edited(engine: &Engine) -> Result<Vec<Edited>, JournalError> {
    let correctable = StateCode::KEPT.into_iter().filter(|state| state.may_be_corrected());
    let journal = engine.journal();
    let mut filter = Filter { states: correctable.collect(), limit: PAGE, ..Filter::default() };
    let mut found = Vec::new();
    loop {
        let rows = journal.list(&filter)?;
        for row in &rows {
            if let Some(text) = journal.edited(row.id)? {
                found.push(Edited { id: row.id, name: name_of(row), text });
            }
        }
        match rows.last() {
            Some(last) if rows.len() == PAGE => filter.before = Some(last.id),
            _ => return Ok(found),
        }
    }
}

/// Keeps it for the same reports of the restored journal; gives how much of it found none that can
/// be corrected.
fn keep_again(engine: &Engine, edited: Vec<Edited>) -> u32 {
    let kept = |one: Edited| -> Result<bool, JournalError> {
        let journal = engine.journal();
        let is_it = |id: &SubmissionId| journal.row(*id).is_ok_and(|row| name_of(&row) == one.name);
        let id = match Some(one.id).filter(is_it) {
            Some(id) => Some(id),
            None => journal.find_by_attempt_identifier(&one.name[0])?.filter(is_it),
        };
        let Some(id) = id else { return Ok(false) };
        journal.keep_edited(id, one.text)?;
        Ok(journal.edited(id)?.is_some())
    };
    let lost = edited.into_iter().filter_map(|one| (!kept(one).unwrap_or(false)).then_some(()));
    small(lost.count() as u64)
}
