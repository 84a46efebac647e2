//! A profile: one laboratory's folder with its settings, journal and (where no keychain exists)
//! vault.
//!
//! The settings hold no secret and no patient data: they are a text file of their owner, replaced
//! as a whole. The password of a proxy rests with the other secrets.

pub(crate) mod computer;
pub(crate) mod keys;
pub(crate) mod private;
pub(crate) mod proxies;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use exchange::{Endpoint, Environment};
use fhir::Instant;
use identity::SecretsKind;
use journal::{EndpointNote, EventTimes};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Version of the settings file that this program writes. Version 1 knew one certificate for all
/// endpoints.
pub(crate) const VERSION: u32 = 2;
/// Largest settings file that is read, bytes.
const SETTINGS_BYTES_MAX: u64 = 4 << 20;

/// What becomes of a report whose document identifier stands for another content that is on its way
/// or was completed, where nobody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameIdentifier {
    /// It is sent, with a warning.
    #[default]
    Warn,
    /// It is held until a person has looked.
    Hold,
}

/// Settings of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Version of this file's form.
    pub version: u32,
    /// Names the profile's entries in the keychain.
    pub id: String,
    /// Where secrets rest.
    pub secrets: SecretsKind,
    /// Configured authorities.
    #[serde(default)]
    pub endpoints: Vec<Endpoint>,
    /// Id of the endpoint in force.
    #[serde(default)]
    pub in_use: Option<String>,
    /// Which certificate each endpoint uses and used, oldest first.
    #[serde(default)]
    pub certificates: Vec<CertificateUse>,
    /// Folder whose new files are sent.
    #[serde(default)]
    pub watched_folder: Option<PathBuf>,
    /// Names the list of what lay in it when it was chosen and is not sent by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_lying: Option<String>,
    /// Largest report that is taken, bytes (5 MB, settable to 20 MB).
    #[serde(default = "document_bytes_default")]
    pub document_bytes_max: u64,
    /// Days after which a settled report's content leaves the journal; `None` keeps it.
    #[serde(default)]
    pub retention_days: Option<u32>,
    /// What becomes of another content under a document identifier that is on its way or was
    /// completed, where nobody can be asked.
    #[serde(default)]
    pub same_identifier: SameIdentifier,
    /// Days in progress after which a report needs attention; three where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attention_days: Option<u16>,
    /// Folder of this profile in a second place, where copies of all backups are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup_place: Option<PathBuf>,
    /// Preferences of the window, as it likes to keep them (no patient data).
    #[serde(default)]
    pub preferences: serde_json::Map<String, serde_json::Value>,
}

/// From when on an endpoint uses a certificate: until its next entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateUse {
    /// Id of the endpoint.
    pub endpoint: String,
    /// SHA-256 of the certificate, `AB:CD:…`.
    pub fingerprint: String,
    /// Since when, by the clock.
    pub since: Instant,
    /// The newest thing that the journal knew then, where the clock said an earlier time: it was
    /// behind then, or ahead before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Instant>,
    /// Number of the last event that the journal had then: no clock can be wrong about that.
    /// `None` where that was not written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<i64>,
    /// The earliest time that an event of its use has, where that is before its beginning: the
    /// clock was set back meanwhile. It is written when another certificate takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earliest: Option<Instant>,
}

impl CertificateUse {
    /// A change that is made now, by the clock and by all that the journal knows.
    pub fn new(endpoint: &str, fingerprint: &str, now: Instant, known: Option<EventTimes>) -> Self {
        Self {
            endpoint: endpoint.to_owned(),
            fingerprint: fingerprint.to_owned(),
            since: now,
            after: known.map(|known| known.latest).filter(|newest| *newest >= now),
            event: Some(known.map_or(0, |known| known.last)),
            earliest: None,
        }
    }

    /// Another takes its place now; `during`: what the journal knows since [`Self::event`].
    pub fn end(&mut self, during: Option<EventTimes>) {
        self.earliest =
            during.map(|during| during.earliest).filter(|earliest| *earliest < self.since);
    }
}

const fn document_bytes_default() -> u64 {
    5_000_000
}

/// A profile folder and its settings.
#[derive(Debug, Clone)]
pub struct Profile {
    folder: PathBuf,
    /// What the settings file says; [`Profile::save`] writes it back.
    pub settings: Settings,
    /// What the journal knows of endpoints, by their ids: also of those that are configured no
    /// longer.
    pub(crate) noted: BTreeMap<String, EndpointNote>,
}

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileProblem {
    /// There is none in this folder.
    #[error("no profile in this folder")]
    Missing {
        /// The folder.
        folder: PathBuf,
    },
    /// There is one already.
    #[error("the folder holds a profile already")]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// The settings cannot be understood.
    #[error("the settings cannot be read")]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Line in it, from 1.
        line: usize,
    },
    /// Written by a newer program.
    #[error("the settings were written by a newer version")]
    Newer {
        /// Version found.
        found: u32,
    },
    /// The file system said no.
    #[error("the profile cannot be read or written")]
    Io {
        /// The file.
        file: PathBuf,
        /// Its reason.
        #[source]
        source: io::Error,
    },
}

/// The profile of an engine, to be changed.
pub(crate) fn locked(profile: &RwLock<Profile>) -> RwLockWriteGuard<'_, Profile> {
    profile.write().unwrap_or_else(PoisonError::into_inner)
}

impl Profile {
    /// Makes a profile in a folder that has none (the folder is made if missing, readable by its
    /// owner only).
    pub fn create(
        folder: &Path,
        secrets: SecretsKind,
        endpoints: Vec<Endpoint>,
    ) -> Result<Self, ProfileProblem> {
        if folder.join("profile.json").exists() {
            return Err(ProfileProblem::Exists { folder: folder.to_owned() });
        }
        private::make_folder(folder)
            .map_err(|source| ProfileProblem::Io { file: folder.to_owned(), source })?;
        let in_use = endpoints.first().map(|endpoint| endpoint.id().to_owned());
        let settings = Settings {
            version: VERSION,
            id: Uuid::new_v4().to_string(),
            secrets,
            endpoints,
            in_use,
            certificates: Vec::new(),
            watched_folder: None,
            left_lying: None,
            document_bytes_max: document_bytes_default(),
            retention_days: None,
            attention_days: None,
            backup_place: None,
            same_identifier: SameIdentifier::default(),
            preferences: serde_json::Map::new(),
        };
        let profile = Self { folder: folder.to_owned(), settings, noted: BTreeMap::new() };
        profile.save()?;
        Ok(profile)
    }

    /// Opens the profile of a folder.
    pub fn open(folder: &Path) -> Result<Self, ProfileProblem> {
        let file = folder.join("profile.json");
        let io = |source| ProfileProblem::Io { file: file.clone(), source };
        let length = match fs::metadata(&file) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ProfileProblem::Missing { folder: folder.to_owned() });
            }
            Err(error) => return Err(io(error)),
        };
        if length > SETTINGS_BYTES_MAX {
            return Err(ProfileProblem::Damaged { file, line: 1 });
        }
        private::close_file(&file);
        let text = fs::read(&file).map_err(io)?;
        #[derive(Deserialize)]
        struct VersionOnly {
            version: u32,
        }
        let damaged = |error: &serde_json::Error| ProfileProblem::Damaged {
            file: file.clone(),
            line: error.line(),
        };
        let VersionOnly { version } =
            serde_json::from_slice(&text).map_err(|error| damaged(&error))?;
        if version > VERSION {
            return Err(ProfileProblem::Newer { found: version });
        }
        let settings = serde_json::from_slice(&text).map_err(|error| damaged(&error))?;
        Ok(Self { folder: folder.to_owned(), settings, noted: BTreeMap::new() })
    }

    /// Held while the settings are read, changed and written: programs side by side do it one after
    /// the other.
    pub(crate) fn lock(&self) -> Result<fs::File, ProfileProblem> {
        let file = self.folder.join("profile.lock");
        let io = |source| ProfileProblem::Io { file: file.clone(), source };
        let lock = private::kept_file(&file).map_err(io)?;
        match lock.lock() {
            // A file system without locks: then a person does one thing after the other.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(lock),
            locked => locked.map(|()| lock).map_err(io),
        }
    }

    /// Writes the settings: a new file beside the old one, then renamed, so that a crash leaves
    /// either. Passwords of proxies are left out.
    pub fn save(&self) -> Result<(), ProfileProblem> {
        let file = self.settings_file();
        let io = |source| ProfileProblem::Io { file: file.clone(), source };
        let mut settings = self.settings.clone();
        for proxy in settings.endpoints.iter_mut().filter_map(|endpoint| endpoint.proxy.as_mut()) {
            // Fails only where an address can hold no password.
            let _ = proxy.set_password(None);
        }
        let text = serde_json::to_vec_pretty(&settings).map_err(|error| io(error.into()))?;
        let fresh = self.folder.join(format!("profile.json.{}.new", std::process::id()));
        let mut out = private::new_file(&fresh).map_err(io)?;
        out.write_all(&text).and_then(|()| out.sync_all()).map_err(io)?;
        fs::rename(&fresh, &file).map_err(io)?;
        // A name is on disk only when its folder is: else a power failure brings back the settings
        // of before.
        if cfg!(unix) {
            fs::File::open(&self.folder).and_then(|it| it.sync_all()).map_err(io)
        } else {
            Ok(())
        }
    }

    /// The profile's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of the settings.
    pub(crate) fn settings_file(&self) -> PathBuf {
        self.folder.join("profile.json")
    }

    /// The journal's file.
    pub fn journal_file(&self) -> PathBuf {
        self.folder.join("journal.db")
    }

    /// The folder of automatic backups.
    pub fn backup_folder(&self) -> PathBuf {
        self.folder.join("backups")
    }

    /// The endpoint in force.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        let id = self.settings.in_use.as_deref()?;
        self.endpoint_of(id)
    }

    /// An endpoint by its id.
    pub fn endpoint_of(&self, id: &str) -> Option<&Endpoint> {
        self.settings.endpoints.iter().find(|endpoint| endpoint.id() == id)
    }

    /// What people call the endpoint with this id; one that is configured no longer as it was
    /// called last.
    pub fn name_of(&self, id: &str) -> String {
        let noted = || self.noted.get(id).map(|note| note.name.clone());
        let known = self.endpoint_of(id).map(|endpoint| endpoint.name.clone());
        known.or_else(noted).unwrap_or_else(|| id.to_owned())
    }

    /// Whether nothing was ever noted of another endpoint than the one with this id.
    pub fn has_only(&self, id: &str) -> bool {
        let mut ids = self
            .settings
            .endpoints
            .iter()
            .map(Endpoint::id)
            .chain(self.noted.keys().map(String::as_str));
        ids.all(|known| known == id)
    }

    /// What is known of an endpoint that is configured no longer, by its id.
    pub fn gone(&self, id: &str) -> EndpointNote {
        self.noted.get(id).cloned().unwrap_or_else(|| EndpointNote {
            name: id.to_owned(),
            base: String::new(),
            environment: String::new(),
        })
    }

    /// An endpoint by its name.
    pub fn endpoint_named(&self, name: &str) -> Option<&Endpoint> {
        self.settings.endpoints.iter().find(|endpoint| endpoint.name == name)
    }

    /// Whether this is the practice profile: its own authority, made-up patients, no keychain.
    pub fn is_practice(&self) -> bool {
        self.settings.secrets == SecretsKind::Practice
    }

    /// The environment of an endpoint by its id; unknown ones count as production, so that nothing
    /// is taken for practice by mistake.
    pub fn environment_of(&self, id: &str) -> Environment {
        let known = self.endpoint_of(id).map(|known| known.environment);
        let noted = || self.noted.get(id).and_then(|note| Environment::of(&note.environment));
        known.or_else(noted).unwrap_or(Environment::Production)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_the_settings_and_no_password_stands_in_them() {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("made-by-hand");
        fs::create_dir(&at).unwrap();
        fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).unwrap();
        let endpoint = serde_json::json!({
            "name": "authority", "base": "https://host/v1/fhir", "environment": "production",
            "proxy": "http://labor:proxycanary@proxy:3128/",
        });
        let endpoint: Endpoint = serde_json::from_value(endpoint).unwrap();
        let profile = Profile::create(&at, SecretsKind::Practice, vec![endpoint]).unwrap();
        let file = at.join("profile.json");
        assert_eq!((mode(&at), mode(&file)), (0o700, 0o600));
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("http://labor@proxy:3128/"), "{text}");
        assert!(!text.contains("proxycanary"));
        let kept = profile.settings.endpoints[0].proxy.as_ref().unwrap();
        assert_eq!(kept.password(), Some("proxycanary"), "the program has it");

        // A file of an earlier version.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        Profile::open(&at).unwrap();
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn settings_survive_and_foreign_ones_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("profile");
        assert!(matches!(Profile::open(&at), Err(ProfileProblem::Missing { .. })));
        let mut profile = Profile::create(&at, SecretsKind::Practice, Vec::new()).unwrap();
        profile.settings.retention_days = Some(30);
        profile.save().unwrap();
        assert_eq!(Profile::open(&at).unwrap().settings, profile.settings);
        let again = Profile::create(&at, SecretsKind::Practice, Vec::new());
        assert!(matches!(again, Err(ProfileProblem::Exists { .. })));

        let file = at.join("profile.json");
        fs::write(&file, r#"{"version": 99, "shape": "unknown"}"#).unwrap();
        assert!(matches!(Profile::open(&at), Err(ProfileProblem::Newer { found: 99 })));
        fs::write(&file, "{\n\"version\": 2,\n nonsense").unwrap();
        assert!(matches!(Profile::open(&at), Err(ProfileProblem::Damaged { line: 3, .. })));
    }
}
