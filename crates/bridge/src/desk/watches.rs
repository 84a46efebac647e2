//! The watched folders: that of each room, as long as the desk works. Whoever looks at practice
//! must not keep the laboratory's reports from being sent.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use engine::{Engine, EngineError, Lying};
use fhir::Instant;
use journal::JournalError;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Desk, on_pool};
use crate::candidates::refusal;
use crate::limits;
use crate::mask::masked_file;
use crate::messages::message_view;
use crate::problem::Problem;
use crate::rows::{Names, small};
use crate::views::{LeftView, LyingView, RefusedFileView, TakenFileView, WatchedFilesView};

/// The watches of both rooms.
#[derive(Default)]
pub(super) struct Watches {
    practice: Option<Watch>,
    laboratory: Option<Watch>,
}

/// A watched folder under watch; dropped, it ends.
struct Watch {
    #[cfg(test)]
    folder: PathBuf,
    cancel: DropGuard,
    task: tokio::task::JoinHandle<()>,
}

impl Watch {
    fn begin(engine: &Engine, folder: PathBuf) -> Self {
        let cancel = CancellationToken::new();
        let (engine, at, until) = (engine.clone(), folder.clone(), cancel.clone());
        let task = tokio::spawn(async move { engine.keep_watching(&at, until).await });
        Self {
            #[cfg(test)]
            folder,
            cancel: cancel.drop_guard(),
            task,
        }
    }

    async fn end(self) {
        self.cancel.disarm().cancel();
        // A panic of the task has been printed by its thread.
        let _ = self.task.await;
    }
}

impl Desk {
    /// Watches the practice folder anew, if there is one, as long as practice is in use because a
    /// person chose it: behind the laboratory, real reports that are exported into it would go to
    /// practice too.
    pub(super) async fn watch_practice(&self) {
        let mut watches = self.inner.watches.lock().await;
        end(&mut watches.practice).await;
        watches.practice = self.begin_practice();
    }

    /// Whoever goes on to the laboratory practises no more: the folder that was tried there may
    /// become the laboratory's.
    pub(super) async fn leave_practice_folder(&self) -> Result<(), EngineError> {
        let mut watches = self.inner.watches.lock().await;
        end(&mut watches.practice).await;
        let practice = &self.inner.practice_engine;
        match practice.profile().settings.watched_folder {
            Some(_) => practice.set_watched_folder(None),
            None => Ok(()),
        }
    }

    fn begin_practice(&self) -> Option<Watch> {
        let place = self.place();
        let is_chosen = place.is_practice && self.stands_in(place).is_none();
        is_chosen.then(|| self.begin(&self.inner.practice_engine)).flatten()
    }

    /// Watches the laboratory's folder anew, if there is one: another endpoint may be in use.
    pub(super) async fn watch_laboratory(&self, laboratory: &Engine) {
        let mut watches = self.inner.watches.lock().await;
        end(&mut watches.laboratory).await;
        watches.laboratory = self.begin(laboratory);
    }

    pub(super) async fn stop_watching_laboratory(&self) {
        end(&mut self.inner.watches.lock().await.laboratory).await;
    }

    /// What lies in a folder. Where only what comes from now on is sent, it is this that stays:
    /// what is exported while a person reads the question is new.
    pub async fn look_at_folder(&self, path: String) -> Result<LyingView, Problem> {
        let folder = folder_of(path)?;
        let there = seen(folder).await?;
        let newest = there.newest().map(Instant::to_fhir);
        let view = LyingView { count: small(there.count() as u64), newest };
        *self.shown() = Some(there);
        Ok(view)
    }

    /// Watches another folder with all that lies in it, or none.
    pub async fn set_watched_folder(&self, path: Option<String>) -> Result<(), Problem> {
        let folder = path.map(folder_of).transpose()?;
        self.refuse_standing_in(&[]).await?;
        if let Some(folder) = &folder {
            seen(folder.clone()).await?;
        }
        Ok(self.watch_folder(|engine| engine.set_watched_folder(folder)).await?)
    }

    /// Watches another folder; what lay there when it was shown stays unsent.
    pub async fn watch_what_comes(&self, path: String) -> Result<(), Problem> {
        let folder = folder_of(path)?;
        self.refuse_standing_in(&[]).await?;
        let shown = self.shown().take().filter(|there| there.folder() == folder);
        let there = match shown {
            Some(there) => there,
            None => seen(folder).await?,
        };
        let limits = self.engine().source_limits();
        let leaving = on_pool(move || there.leaving(&limits)).await?;
        Ok(self.watch_folder(|engine| engine.set_watched_folder_leaving(leaving)).await?)
    }

    /// What was left lying in the watched folder of the room in use, and lies there still. The page
    /// may name these files: the folder was chosen by a person.
    pub async fn left_lying(&self) -> Result<LeftView, Problem> {
        let engine = self.engine();
        let there = on_pool(move || engine.left_lying()).await??;
        let paths = there.paths().filter_map(Path::to_str).take(limits::PATHS_MAX);
        let paths: Vec<String> = paths.map(str::to_owned).collect();
        self.grant(paths.iter().map(PathBuf::from));
        let newest = there.newest().map(Instant::to_fhir);
        Ok(LeftView { count: small(there.count() as u64), newest, paths })
    }

    /// What is known of the files in the watched folder of the room in use.
    pub async fn watched_files(&self, names: Names) -> Result<WatchedFilesView, Problem> {
        let engine = self.engine();
        on_pool(move || watched_files(&engine, names)).await?
    }

    fn shown(&self) -> std::sync::MutexGuard<'_, Option<Arc<Lying>>> {
        self.inner.lying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes which folder is watched in the room in use, and watches it.
    async fn watch_folder(
        &self,
        change: impl FnOnce(&Engine) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut watches = self.inner.watches.lock().await;
        let (engine, is_practice) = self.room();
        let watch = if is_practice { &mut watches.practice } else { &mut watches.laboratory };
        // Before the setting: a watch that still works would tell of the folder that is none any
        // more.
        end(watch).await;
        let set = change(&engine);
        *watch = if is_practice { self.begin_practice() } else { self.begin(&engine) };
        set
    }

    pub(super) async fn stop_watches(&self) {
        let mut watches = self.inner.watches.lock().await;
        end(&mut watches.practice).await;
        end(&mut watches.laboratory).await;
    }

    /// Nothing before the desk works, and after it has ended.
    fn begin(&self, engine: &Engine) -> Option<Watch> {
        let folder = engine.profile().settings.watched_folder?;
        self.inner.working.load(Ordering::SeqCst).then(|| Watch::begin(engine, folder))
    }

    /// Whether a folder is under watch: as long as the program runs, what comes into it is sent.
    pub async fn watches_a_folder(&self) -> bool {
        let watches = self.inner.watches.lock().await;
        watches.practice.is_some() || watches.laboratory.is_some()
    }

    /// The folders under watch: practice, laboratory.
    #[cfg(test)]
    pub(super) async fn watched(&self) -> [Option<PathBuf>; 2] {
        let watches = self.inner.watches.lock().await;
        [&watches.practice, &watches.laboratory]
            .map(|watch| watch.as_ref().map(|watch| watch.folder.clone()))
    }
}

fn watched_files(engine: &Engine, names: Names) -> Result<WatchedFilesView, Problem> {
    let files = engine.watched_files();
    let name = |file: &str| match names {
        Names::Shown => file.to_owned(),
        Names::Masked => masked_file(file),
    };
    let refused = files.refused.iter().map(|it| RefusedFileView {
        file: name(&it.name),
        changed: it.changed.map(Instant::to_fhir),
        message: message_view(&refusal(&it.reason)),
    });
    let mut taken = Vec::new();
    for (id, file) in &files.taken {
        match engine.journal().row(*id) {
            Ok(row) => taken.push(TakenFileView {
                file: name(file),
                at: row.created.to_fhir(),
                id: row.id.0,
                state: row.state.shown(),
            }),
            // What a restore has taken out of the journal is no report of it any more.
            Err(JournalError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(WatchedFilesView {
        refused_count: small(files.refused_count as u64),
        refused: refused.collect(),
        taken,
    })
}

/// A look at a folder that is to be watched.
///
/// # Errors
/// `folder-not-seen` where something in it cannot be looked at: whatever lies there, perhaps for
/// years, would be sent unasked as soon as it can be.
pub(super) async fn seen(folder: PathBuf) -> Result<Arc<Lying>, Problem> {
    let there = on_pool(move || Lying::in_folder(&folder)).await?;
    if let Some((place, reason)) = there.unseen() {
        let params = [("folder", &*place.display().to_string()), ("reason", reason)];
        return Err(Problem::new("folder-not-seen", &params, "watch"));
    }
    Ok(Arc::new(there))
}

fn folder_of(path: String) -> Result<PathBuf, Problem> {
    let folder = limits::path(path)?;
    if folder.is_dir() { Ok(folder) } else { Err(limits::invalid("path")) }
}

/// Files that were left lying in the watched folder and are handed over: those of which all is in
/// the journal now are left no longer. What cannot be looked at stays on the list.
pub(super) async fn settle_left(engine: &Engine, handed: HashSet<PathBuf>) {
    let at = engine.clone();
    let Ok(Ok(there)) = on_pool(move || at.left_lying()).await else { return };
    let is_handed = |path: &Path| path.ancestors().any(|above| handed.contains(above));
    let mut taken = Vec::new();
    for path in there.paths().filter(|path| is_handed(path)) {
        let Ok(found) = engine.inspect(vec![path.to_owned()]).await else { continue };
        let is_known = |it: &engine::Candidate| it.parsed().is_some_and(|it| !it.known.is_empty());
        if !found.is_empty() && found.iter().all(is_known) {
            taken.push(path.to_owned());
        }
    }
    if !taken.is_empty() {
        // It is offered again otherwise, and recognised.
        let _ = engine.no_longer_left(&taken);
    }
}

async fn end(watch: &mut Option<Watch>) {
    if let Some(watch) = watch.take() {
        watch.end().await;
    }
}
