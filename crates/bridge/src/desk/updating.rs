//! A newer version of the program: when is asked for it, and what is known of it. Nothing is
//! installed here, and what is offered has a right signature.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use fhir::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use updates::{Checked, Fault, Limits, Setting, Source, Version, fetch, newer, platforms};

use super::{Desk, Inner, on_pool};
use crate::audit::Change;
use crate::problem::Problem;
use crate::views::UpdatesView;

/// After the start, which has something better to do.
const FIRST: Duration = Duration::from_secs(60);
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// The setting of the window that switches it off, beside which room is in use.
const SETTING: &str = "updates";

/// What is known of a newer version.
pub(super) struct Updating {
    /// Where the administrators of the computer say whom to ask.
    file: Mutex<PathBuf>,
    known: Mutex<Option<Known>>,
    /// Held while the server is asked.
    asking: tokio::sync::Mutex<()>,
    looking: tokio::sync::Mutex<Option<Looking>>,
}

impl Default for Updating {
    fn default() -> Self {
        Self {
            file: Mutex::new(updates::system_file()),
            known: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
            looking: tokio::sync::Mutex::default(),
        }
    }
}

/// What came of asking.
#[derive(Clone)]
struct Known {
    asked: Instant,
    came: Result<Option<Checked>, Fault>,
}

/// The daily question; dropped, it ends.
struct Looking {
    cancel: DropGuard,
    task: tokio::task::JoinHandle<()>,
}

impl Desk {
    /// Reads from another file whom to ask: for whoever hosts the desk of a test.
    pub fn read_updates_from(&self, file: &Path) {
        *self.inner.updating.file.lock().unwrap_or_else(PoisonError::into_inner) = file.to_owned();
    }

    /// What is known of a newer version. Asks nobody.
    pub async fn updates(&self) -> Result<UpdatesView, Problem> {
        let file = self.updates_file();
        let mut view = UpdatesView {
            state: "nobody",
            reason: None,
            version: None,
            asked: None,
            address: None,
            file: file.display().to_string(),
        };
        let source = match on_pool(move || Setting::of(&file)).await? {
            Setting::Nobody => return Ok(view),
            Setting::Off => return Ok(UpdatesView { state: "off", ..view }),
            Setting::Unusable(why) => {
                return Ok(UpdatesView { state: "unusable", reason: Some(why.code()), ..view });
            }
            Setting::Ask(source) => source,
        };
        view.address = Some(source.address().to_owned());
        if !self.wants_updates() {
            return Ok(UpdatesView { state: "switched-off", ..view });
        }
        let known = self.known_update();
        view.asked = known.as_ref().map(|known| known.asked.to_fhir());
        match known.map(|known| known.came) {
            Some(Ok(Some(checked))) if checked.is_of(&source) => {
                view.version = Some(checked.version.to_string());
                view.state = "ready";
            }
            None | Some(Ok(Some(_))) => view.state = "unasked",
            Some(Ok(None)) => view.state = "current",
            Some(Err(fault)) => {
                (view.state, view.reason) = ("failed", Some(fault.code()));
            }
        }
        Ok(view)
    }

    /// Asks now, where somebody may be asked.
    pub async fn look_for_updates(&self) -> Result<UpdatesView, Problem> {
        let _one_at_a_time = self.inner.updating.asking.lock().await;
        let file = self.updates_file();
        if let Setting::Ask(source) = on_pool(move || Setting::of(&file)).await?
            && self.wants_updates()
        {
            let came = self.ask_for_update(&source).await;
            self.know_update(came);
        }
        self.updates().await
    }

    /// Whether is asked at all, from now on.
    pub async fn set_updates(&self, on: bool) -> Result<(), Problem> {
        self.inner.practice_engine.change_settings(|settings| {
            settings.preferences.insert(SETTING.to_owned(), on.into());
            Ok(())
        })?;
        Ok(())
    }

    /// The file of the version that is ready, once its signature was found right again. `None`
    /// where there is none, or none any more: [`Desk::updates`] says why.
    ///
    /// # Errors
    /// `update-not-noted`: that somebody opens it could not be written down, so nobody does.
    pub async fn update_to_install(&self) -> Result<Option<PathBuf>, Problem> {
        if self.updates().await?.state != "ready" {
            return Ok(None);
        }
        let Some(Known { came: Ok(Some(checked)), .. }) = self.known_update() else {
            return Ok(None);
        };
        match on_pool(move || checked.path().map(Path::to_owned)).await? {
            Ok(path) => {
                let noted = self.note_change(Change::new("update-installed", &[])).await;
                noted.map_err(not_noted)?;
                Ok(Some(path))
            }
            Err(fault) => {
                self.know_update(Err(fault));
                Ok(None)
            }
        }
    }

    async fn ask_for_update(&self, source: &Source) -> Result<Option<Checked>, Fault> {
        let here: Version = env!("CARGO_PKG_VERSION").parse().map_err(|()| Fault::NoDescription)?;
        let offer = newer(source, here, &platforms(), Limits::default()).await?;
        let Some(offer) = offer else { return Ok(None) };
        // What lies here already is not fetched again.
        if let Some(Known { came: Ok(Some(checked)), .. }) = self.known_update()
            && checked.version == offer.version
            && checked.is_of(source)
        {
            let again = checked.clone();
            if let Ok(Ok(())) = on_pool(move || again.path().map(drop)).await {
                return Ok(Some(checked));
            }
        }
        fetch(source, &offer, &self.inner.root.join("updates"), Limits::default()).await.map(Some)
    }

    fn wants_updates(&self) -> bool {
        let profile = self.inner.practice_engine.profile();
        profile.settings.preferences.get(SETTING).is_none_or(|on| on != false)
    }

    fn updates_file(&self) -> PathBuf {
        self.inner.updating.file.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn known_update(&self) -> Option<Known> {
        self.inner.updating.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn know_update(&self, came: Result<Option<Checked>, Fault>) {
        let asked = self.inner.practice_engine.now();
        let known = Some(Known { asked, came });
        *self.inner.updating.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }

    /// Asks every day, where somebody may be asked then.
    pub(super) async fn keep_looking_for_updates(&self) {
        self.stop_looking_for_updates().await;
        let cancel = CancellationToken::new();
        let (desk, until) = (Arc::downgrade(&self.inner), cancel.clone());
        let task = tokio::spawn(async move {
            // `None`: cancelled.
            let _ = until.run_until_cancelled(looks(desk)).await;
        });
        let looking = Looking { cancel: cancel.drop_guard(), task };
        *self.inner.updating.looking.lock().await = Some(looking);
    }

    pub(super) async fn stop_looking_for_updates(&self) {
        if let Some(looking) = self.inner.updating.looking.lock().await.take() {
            looking.cancel.disarm().cancel();
            // A panic of the task has been printed by its thread.
            let _ = looking.task.await;
        }
    }
}

/// What is noted elsewhere was done before; this is not done.
fn not_noted(problem: Problem) -> Problem {
    if problem.code != "audit-not-written" {
        return problem;
    }
    Problem { params: problem.params, ..Problem::new("update-not-noted", &[], "update") }
}

async fn looks(desk: Weak<Inner>) {
    let mut pause = FIRST;
    loop {
        tokio::time::sleep(pause).await;
        let Some(inner) = desk.upgrade() else { return };
        // What came of it the settings say.
        let _ = Desk { inner, stays_in: None }.look_for_updates().await;
        pause = EVERY;
    }
}
