//! The engine of one open profile: it owns clock, journal, secrets and the worker.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use client::HttpAuthority;
use exchange::Endpoint;
use identity::{Password, Secrets};
use journal::{Journal, Key, Retention};
use report::{Person, SubmissionId};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::profile::VERSION;
use crate::worker::{Connection, ConnectionState, Tools, Worker};
use crate::{
    Clock, EngineError, Obstacle, OpenError, Pace, Profile, Settings, SourceLimits, SystemClock,
    journal_key, person, proxies, upkeep,
};

/// An open profile. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    profile: RwLock<Profile>,
    secrets: Secrets,
    pub(crate) journal: Journal,
    pub(crate) clock: Arc<dyn Clock>,
    pace: Pace,
    person: Person,
    holder: String,
    wake: Arc<Notify>,
    paused: watch::Sender<bool>,
    connection: Arc<watch::Sender<Connection>>,
    working: tokio::sync::Mutex<Option<Working>>,
    keeping: tokio::sync::Mutex<Option<Working>>,
}

/// A running task: its owner can stop it and waits for it.
struct Working {
    cancel: CancellationToken,
    task: JoinHandle<()>,
}

/// What an engine runs with; the default is for people, tests pass their own.
pub struct Surroundings {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The worker's times.
    pub pace: Pace,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock), pace: Pace::default() }
    }
}

/// Brings the settings of an earlier version up to date.
fn migrate(profile: &mut Profile, secrets: &Secrets) -> Result<(), OpenError> {
    let settings = &mut profile.settings;
    if settings.version < VERSION || proxies::stand_in(settings) {
        // What is damaged is replaced when a certificate is imported again.
        let stored = secrets.identities().unwrap_or_default();
        settings.migrate_certificates(&stored);
        proxies::keep(settings, secrets)?;
        profile.save()?;
    }
    proxies::fill(&mut profile.settings, secrets);
    Ok(())
}

impl Engine {
    /// Makes secrets and journal of a new profile and opens it.
    pub fn create(
        profile: Profile,
        passphrase: Option<&Password>,
        surroundings: Surroundings,
    ) -> Result<Self, OpenError> {
        let settings = &profile.settings;
        let secrets =
            Secrets::create(settings.secrets, profile.folder(), &settings.id, passphrase)?;
        let key = Key::new(secrets.new_journal_key()?);
        proxies::keep(settings, &secrets)?;
        let journal = Journal::create(&profile.journal_file(), &key)?;
        Ok(Self::assemble(profile, secrets, journal, surroundings))
    }

    /// Opens a profile that was made before.
    pub fn open(
        mut profile: Profile,
        passphrase: Option<&Password>,
        surroundings: Surroundings,
    ) -> Result<Self, OpenError> {
        let settings = &profile.settings;
        let secrets = Secrets::open(settings.secrets, profile.folder(), &settings.id, passphrase)?;
        let key = journal_key(&profile, &secrets)?;
        migrate(&mut profile, &secrets)?;
        let journal = upkeep::open_journal(&profile, &key, surroundings.clock.now())?;
        Ok(Self::assemble(profile, secrets, journal, surroundings))
    }

    fn assemble(
        profile: Profile,
        secrets: Secrets,
        journal: Journal,
        surroundings: Surroundings,
    ) -> Self {
        let inner = Inner {
            profile: RwLock::new(profile),
            secrets,
            journal,
            clock: surroundings.clock,
            pace: surroundings.pace,
            person: person::system_user(),
            holder: format!("{}-{}", std::process::id(), uuid::Uuid::new_v4()),
            wake: Arc::new(Notify::new()),
            paused: watch::Sender::new(false),
            connection: Arc::new(watch::Sender::new(Connection::default())),
            working: tokio::sync::Mutex::new(None),
            keeping: tokio::sync::Mutex::new(None),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The journal, for views.
    pub fn journal(&self) -> &Journal {
        &self.inner.journal
    }

    /// Where the profile's secrets rest. Calls may block: a keychain may ask the person.
    pub fn secrets(&self) -> &Secrets {
        &self.inner.secrets
    }

    /// Now, by the engine's clock.
    pub fn now(&self) -> fhir::Instant {
        self.inner.clock.now()
    }

    /// The system user on whose behalf things are done.
    pub fn person(&self) -> &Person {
        &self.inner.person
    }

    /// A copy of the profile as it is now.
    pub fn profile(&self) -> Profile {
        self.inner.profile.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the settings and writes them; where writing fails nothing changes.
    pub fn change_settings(
        &self,
        change: impl FnOnce(&mut Settings) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut profile = self.inner.profile.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = profile.clone();
        // Another program may have changed them since: the window is open while a command imports a certificate.
        if let Ok(written) = Profile::open(profile.folder()) {
            changed.settings = written.settings;
            proxies::fill(&mut changed.settings, &self.inner.secrets);
        }
        change(&mut changed.settings)?;
        proxies::keep(&changed.settings, &self.inner.secrets)?;
        changed.save()?;
        *profile = changed;
        Ok(())
    }

    /// The endpoint in force.
    pub fn endpoint(&self) -> Result<Endpoint, EngineError> {
        self.profile().endpoint().cloned().ok_or(EngineError::NoEndpoint)
    }

    /// Bounds on what is taken in.
    pub fn source_limits(&self) -> SourceLimits {
        SourceLimits::with_document_bytes(self.profile().settings.document_bytes_max)
    }

    /// What is known about the connection; changes can be awaited.
    pub fn connection(&self) -> watch::Receiver<Connection> {
        self.inner.connection.subscribe()
    }

    /// Something may be owed: look now.
    pub fn wake(&self) {
        self.inner.wake.notify_one();
    }

    /// Whether sending is paused.
    pub fn is_paused(&self) -> bool {
        *self.inner.paused.borrow()
    }

    /// Pauses or resumes sending; what is under way is finished, following goes on.
    pub fn set_paused(&self, paused: bool) {
        self.inner.paused.send_replace(paused);
        self.wake();
    }

    // --- the worker ------------------------------------------------------------------------------

    /// Starts working the queue and keeping the journal in the background; does nothing where it works
    /// already.
    pub async fn start(&self) {
        self.start_keeping().await;
        let mut working = self.inner.working.lock().await;
        if working.is_some() {
            return;
        }
        // What cannot be removed now is removed at the next start; a damaged journal shows elsewhere.
        let _ = self.apply_retention().await;
        match self.worker() {
            Ok(worker) => {
                let cancel = CancellationToken::new();
                let task = tokio::spawn(worker.run(self.inner.wake.clone(), cancel.clone()));
                *working = Some(Working { cancel, task });
            }
            Err(obstacle) => self.inner.connection.send_modify(|connection| {
                connection.state = ConnectionState::Locked(obstacle);
            }),
        }
    }

    /// Backups and comparisons, also where there is nobody to send to.
    async fn start_keeping(&self) {
        let mut keeping = self.inner.keeping.lock().await;
        if keeping.is_none() {
            let cancel = CancellationToken::new();
            let task = tokio::spawn(self.clone().keep_up(cancel.clone()));
            *keeping = Some(Working { cancel, task });
        }
    }

    /// Lets the content of settled reports leave the journal, as the settings say; gives how many.
    pub async fn apply_retention(&self) -> Result<usize, EngineError> {
        let Some(days) = self.profile().settings.retention_days else { return Ok(0) };
        let rule = Retention { completed_days: Some(days), closed_days: Some(days) };
        let (journal, now) = (self.inner.journal.clone(), self.now());
        let done = tokio::task::spawn_blocking(move || journal.retain(rule, now)).await;
        Ok(done.unwrap_or(Err(journal::JournalError::Closed))?)
    }

    /// Stops the worker; requests under way are finished first.
    pub async fn stop(&self) {
        let working = self.inner.working.lock().await.take();
        let keeping = self.inner.keeping.lock().await.take();
        for Working { cancel, task } in [working, keeping].into_iter().flatten() {
            cancel.cancel();
            // A panic in the worker has been printed by its thread; there is nothing to add here.
            let _ = task.await;
        }
    }

    /// Lets the worker see a new certificate or endpoint, or try again now although a fault holds it.
    pub async fn restart(&self) {
        let was_working = self.inner.working.lock().await.is_some();
        let was_locked = matches!(self.inner.connection.borrow().state, ConnectionState::Locked(_));
        self.stop().await;
        self.inner.connection.send_replace(Connection::default());
        if was_working || was_locked {
            self.start().await;
        }
    }

    /// One pass without a background task: recover, do what is owed, learn what changed. Gives the number
    /// of things done; `None` where another process works the queue.
    pub async fn follow_once(&self) -> Result<Option<usize>, EngineError> {
        let worker = match self.worker() {
            Ok(worker) => worker,
            Err(obstacle) => return Err(EngineError::Obstructed(obstacle)),
        };
        // What fails here is tried again by the next pass; the worker says what is wrong with the way.
        let _ = self.reconcile().await;
        Ok(worker.once().await?)
    }

    fn worker(&self) -> Result<Worker<HttpAuthority>, Obstacle> {
        let endpoint = self.endpoint().map_err(|_| Obstacle::new("no-endpoint", &[]))?;
        let authority = self.authority(&endpoint)?;
        Ok(Worker::new(Tools {
            journal: self.inner.journal.clone(),
            authority,
            endpoint,
            clock: self.inner.clock.clone(),
            pace: self.inner.pace.clone(),
            holder: self.inner.holder.clone(),
            paused: self.inner.paused.subscribe(),
            connection: self.inner.connection.clone(),
        }))
    }

    /// Tests the connection to an endpoint, layer by layer.
    pub async fn probe(&self, name: &str) -> Result<Vec<client::ProbeStep>, EngineError> {
        let profile = self.profile();
        let endpoint = profile
            .endpoint_named(name)
            .ok_or_else(|| EngineError::UnknownEndpoint(name.to_owned()))?;
        let identity = self.client_identity(name)?;
        Ok(client::probe(endpoint, identity.as_ref()).await)
    }

    // --- endpoints -------------------------------------------------------------------------------

    /// Adds an endpoint; the first one is used at once. Where the profile has one certificate, it uses that.
    pub async fn add_endpoint(&self, endpoint: Endpoint) -> Result<(), EngineError> {
        if endpoint.base.scheme() != "https" {
            return Err(EngineError::EndpointUnusable { reason: "not-https".to_owned() });
        }
        if let Err(problem) = HttpAuthority::new(&endpoint, None) {
            return Err(EngineError::EndpointUnusable { reason: problem.code().to_owned() });
        }
        let (only, now) = (self.only_certificate(), self.now());
        self.change_settings(|settings| {
            if settings.endpoints.iter().any(|known| known.name == endpoint.name) {
                return Err(EngineError::EndpointExists(endpoint.name.clone()));
            }
            settings.in_use.get_or_insert_with(|| endpoint.name.clone());
            if let Some(only) = only {
                Self::assign_only(settings, &endpoint.name, &only, now);
            }
            settings.endpoints.push(endpoint);
            Ok(())
        })?;
        self.restart().await;
        Ok(())
    }

    /// Replaces an endpoint of the same name (the practice authority's port changes at each start).
    pub async fn replace_endpoint(&self, endpoint: Endpoint) -> Result<(), EngineError> {
        self.change_settings(|settings| {
            let known = settings.endpoints.iter_mut().find(|known| known.name == endpoint.name);
            match known {
                Some(known) => *known = endpoint,
                None => return Err(EngineError::UnknownEndpoint(endpoint.name)),
            }
            Ok(())
        })?;
        self.restart().await;
        Ok(())
    }

    /// Uses another endpoint for what is taken in from now on.
    pub async fn use_endpoint(&self, name: &str) -> Result<(), EngineError> {
        self.change_settings(|settings| {
            if !settings.endpoints.iter().any(|known| known.name == name) {
                return Err(EngineError::UnknownEndpoint(name.to_owned()));
            }
            settings.in_use = Some(name.to_owned());
            Ok(())
        })?;
        self.restart().await;
        Ok(())
    }

    // --- waiting ---------------------------------------------------------------------------------

    /// Waits until none of these submissions moves by itself any more, or until `patience` is over.
    /// Calls `each` whenever the journal has changed.
    pub async fn settled(
        &self,
        ids: &[SubmissionId],
        patience: Option<Duration>,
        mut each: impl FnMut(),
    ) -> Result<bool, EngineError> {
        let deadline = patience.map(|patience| tokio::time::Instant::now() + patience);
        let mut open: Vec<SubmissionId> = ids.to_vec();
        let mut revision = None;
        loop {
            let now = self.inner.journal.revision()?;
            if revision != Some(now) {
                revision = Some(now);
                let mut still = Vec::with_capacity(open.len());
                for id in open {
                    if !self.inner.journal.state(id)?.is_settled() {
                        still.push(id);
                    }
                }
                open = still;
                each();
            }
            if open.is_empty() {
                return Ok(true);
            }
            if deadline.is_some_and(|deadline| tokio::time::Instant::now() >= deadline) {
                return Ok(false);
            }
            // The journal may be moved by another process, so its revision is looked at, not an event.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
