//! The watched folders: that of each room, as long as the desk works. Whoever looks at practice must not keep the
//! laboratory's reports from being sent.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use engine::{Engine, EngineError};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Desk;

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
    /// Watches the practice folder anew, if there is one.
    pub(super) async fn watch_practice(&self) {
        let mut watches = self.inner.watches.lock().await;
        end(&mut watches.practice).await;
        watches.practice = self.begin(&self.inner.practice_engine);
    }

    /// Watches the laboratory's folder anew, if there is one: another endpoint may be in use.
    pub(super) async fn watch_laboratory(&self, laboratory: &Engine) {
        let mut watches = self.inner.watches.lock().await;
        end(&mut watches.laboratory).await;
        watches.laboratory = self.begin(laboratory);
    }

    /// Watches another folder, or none, in the room in use.
    pub(super) async fn watch_folder(&self, folder: Option<PathBuf>) -> Result<(), EngineError> {
        let mut watches = self.inner.watches.lock().await;
        let (engine, is_practice) = self.room();
        let watch = if is_practice { &mut watches.practice } else { &mut watches.laboratory };
        // Before the setting: a watch that still works would tell of the folder that is none any more.
        end(watch).await;
        let set = engine.set_watched_folder(folder);
        *watch = self.begin(&engine);
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

    /// The folders under watch: practice, laboratory.
    #[cfg(test)]
    pub(super) async fn watched(&self) -> [Option<PathBuf>; 2] {
        let watches = self.inner.watches.lock().await;
        [&watches.practice, &watches.laboratory]
            .map(|watch| watch.as_ref().map(|watch| watch.folder.clone()))
    }
}

async fn end(watch: &mut Option<Watch>) {
    if let Some(watch) = watch.take() {
        watch.end().await;
    }
}
