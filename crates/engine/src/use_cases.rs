//! The engine of one open profile: it owns clock, journal, secrets and the worker.

pub(crate) mod couriers;
pub(crate) mod endpoints;
pub(crate) mod intake;
pub(crate) mod settings;
pub(crate) mod upkeep;
pub(crate) mod watch;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use exchange::Endpoint;
use identity::{Identity, Password, Secrets};
use journal::{Journal, Key, Retention};
use report::Person;
use tokio::sync::{self, Notify};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::profile::VERSION;
use crate::profile::proxies;
use crate::use_cases::settings::SettingsStamp;
use crate::worker::wrappings::Wrappings;
use crate::{
    Clock, EngineError, OpenError, Profile, SourceLimits, SystemClock, Timing, journal_key, person,
};
use crate::{ClockReading, Connection};

/// An open profile. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) profile: RwLock<Profile>,
    /// The settings file as it was read or written last.
    pub(crate) seen: Mutex<Option<SettingsStamp>>,
    pub(crate) generation: AtomicU64,
    pub(crate) secrets: Secrets,
    pub(crate) journal: Journal,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timing: Timing,
    person: Person,
    pub(crate) holder: String,
    /// One for each courier at work.
    pub(crate) wakes: Mutex<Vec<Arc<Notify>>>,
    /// What a person may see of the watched folder.
    pub(crate) watched: Mutex<watch::WatchedFiles>,
    /// How often a person has wanted the next try now.
    pub(crate) wishes: Arc<AtomicU64>,
    /// Something waits to be compared with the authority.
    pub(crate) compare: Notify,
    /// When was looked last whether something waits for that; at first when the journal was opened.
    pub(crate) looked: Mutex<ClockReading>,
    /// A restored journal was compared, or that was tried, before anything was taken in.
    pub(crate) compared_first: tokio::sync::Mutex<bool>,
    /// The endpoints that a person was told of last as not compared yet, by name.
    pub(crate) told_of_left: Mutex<String>,
    /// What is known about the way to each endpoint.
    pub(crate) connections: Mutex<BTreeMap<String, Arc<sync::watch::Sender<Connection>>>>,
    pub(crate) working: tokio::sync::Mutex<Option<Working>>,
    pub(crate) keeping: tokio::sync::Mutex<Option<Working>>,
    pub(crate) rules: rules::InUse,
    /// Of reports that were taken in a moment ago.
    pub(crate) wrappings: Arc<Wrappings>,
    /// Held by whoever unpacks: one archive is in memory at a time, whoever has handed it over.
    pub(crate) unpacking: tokio::sync::Mutex<()>,
}

/// Running tasks: their owner can stop them and waits for them.
pub(crate) struct Working {
    pub(crate) cancel: CancellationToken,
    pub(crate) tasks: Vec<JoinHandle<()>>,
}

/// What an engine runs with; the default is for people, tests pass their own.
pub struct EngineDeps {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The worker's times.
    pub timing: Timing,
}

impl Default for EngineDeps {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock), timing: Timing::default() }
    }
}

/// Brings the settings of an earlier version up to date.
fn migrate(profile: &mut Profile, secrets: &Secrets) -> Result<(), OpenError> {
    if profile.settings.version < VERSION || proxies::stand_in(&profile.settings) {
        let _one_at_a_time = profile.lock()?;
        // Another program may just have done it.
        profile.settings = Profile::open(profile.folder())?.settings;
        let settings = &mut profile.settings;
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
        surroundings: EngineDeps,
    ) -> Result<Self, OpenError> {
        let settings = &profile.settings;
        let secrets =
            Secrets::create(settings.secrets, profile.folder(), &settings.id, passphrase)?;
        let key = Key::new(secrets.new_journal_key()?);
        proxies::keep(settings, &secrets)?;
        let journal = Journal::create(&profile.journal_file(), &key)?;
        let began = ClockReading::now(&*surroundings.clock);
        upkeep::settle(&journal, began.wall)?;
        let engine = Self::assemble(profile, secrets, journal, surroundings, began);
        engine.settle_endpoints();
        Ok(engine)
    }

    /// Opens a profile that was made before.
    pub fn open(
        mut profile: Profile,
        passphrase: Option<&Password>,
        surroundings: EngineDeps,
    ) -> Result<Self, OpenError> {
        let settings = &profile.settings;
        let secrets = Secrets::open(settings.secrets, profile.folder(), &settings.id, passphrase)?;
        let key = journal_key(&profile, &secrets)?;
        migrate(&mut profile, &secrets)?;
        let began = ClockReading::now(&*surroundings.clock);
        let journal = upkeep::open_journal(&profile, &key, began.wall)?;
        let engine = Self::assemble(profile, secrets, journal, surroundings, began);
        engine.settle_endpoints();
        Ok(engine)
    }

    fn assemble(
        profile: Profile,
        secrets: Secrets,
        journal: Journal,
        surroundings: EngineDeps,
        began: ClockReading,
    ) -> Self {
        let inner = Inner {
            profile: RwLock::new(profile),
            seen: Mutex::new(None),
            generation: AtomicU64::new(0),
            secrets,
            journal,
            clock: surroundings.clock,
            timing: surroundings.timing,
            person: person::system_user(),
            holder: format!("{}-{}", std::process::id(), uuid::Uuid::new_v4()),
            wakes: Mutex::default(),
            watched: Mutex::default(),
            wishes: Arc::default(),
            compare: Notify::new(),
            looked: Mutex::new(began),
            compared_first: tokio::sync::Mutex::new(false),
            told_of_left: Mutex::default(),
            connections: Mutex::default(),
            working: tokio::sync::Mutex::new(None),
            keeping: tokio::sync::Mutex::new(None),
            rules: rules::InUse::default(),
            wrappings: Arc::default(),
            unpacking: tokio::sync::Mutex::default(),
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

    /// The endpoint in force.
    pub fn endpoint(&self) -> Result<Endpoint, EngineError> {
        self.profile().endpoint().cloned().ok_or(EngineError::NoEndpoint)
    }

    /// Bounds on what is taken in.
    pub fn source_limits(&self) -> SourceLimits {
        SourceLimits::with_document_bytes(self.profile().settings.document_bytes_max)
    }

    /// Whether sending is paused.
    pub fn is_paused(&self) -> Result<bool, EngineError> {
        Ok(self.inner.journal.is_paused()?)
    }

    /// Pauses or resumes sending, for every program that works with this journal and until it is
    /// changed again; what is under way is finished, following goes on.
    pub fn set_paused(&self, paused: bool) -> Result<(), EngineError> {
        self.inner.journal.set_paused(paused)?;
        self.wake();
        Ok(())
    }

    /// How many settled reports would lose their content now, if they kept it for so many days.
    ///
    /// # Errors
    /// Where the journal cannot be read.
    pub fn due_for_retention(&self, days: u32) -> Result<u64, EngineError> {
        Ok(self.inner.journal.erasable(after(days), self.now())?)
    }

    /// Lets the content of settled reports leave the journal, as the settings say; gives how many.
    pub async fn apply_retention(&self) -> Result<usize, EngineError> {
        let Some(days) = self.profile().settings.retention_days else { return Ok(0) };
        let (journal, now) = (self.inner.journal.clone(), self.now());
        let done = tokio::task::spawn_blocking(move || journal.retain(after(days), now)).await;
        Ok(done.unwrap_or(Err(journal::JournalError::Closed))?)
    }

    /// Tests the connection to an endpoint, layer by layer.
    pub async fn probe(&self, name: &str) -> Result<Vec<client::ProbeStep>, EngineError> {
        let profile = self.profile();
        let endpoint = profile
            .endpoint_named(name)
            .ok_or_else(|| EngineError::UnknownEndpoint(name.to_owned()))?;
        let identity = self.client_identity(endpoint.id())?;
        Ok(client::probe(endpoint, identity.as_ref()).await)
    }

    /// Tests the connection to an endpoint with a certificate that is to take the place of its own.
    /// Empty where it has none: nothing is lost by a first one.
    pub async fn probe_with(
        &self,
        name: &str,
        identity: &Identity,
    ) -> Result<Vec<client::ProbeStep>, EngineError> {
        let profile = self.profile();
        let endpoint = profile
            .endpoint_named(name)
            .ok_or_else(|| EngineError::UnknownEndpoint(name.to_owned()))?;
        if self.client_identity(endpoint.id())?.is_none() {
            return Ok(Vec::new());
        }
        Ok(client::probe(endpoint, Some(identity)).await)
    }
}

/// The rule that all settled reports keep their content for so many days.
fn after(days: u32) -> Retention {
    Retention { completed_days: Some(days), closed_days: Some(days) }
}
