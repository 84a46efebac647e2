//! Which validator is asked: a setting of its own beside the imported rules, so that it works as
//! they do, without identity and authority. It holds no secret and no patient data.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fhir::Instant;
use serde::{Deserialize, Serialize};
use url::Url;

/// The setting, in the folder of the rules.
const FILE: &str = "validator.json";
/// Bytes of a setting that is read; an own CA takes some thousands.
const BYTES_MAX: u64 = 1 << 20;
/// What the operation is called.
const OPERATION: &str = "$validate";

/// A validator that may be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Validator {
    /// Its base address (`https://host/fhir`), or that of the operation itself (`…/$validate`).
    address: Url,
    /// Its own CA (PEM): it alone is trusted then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ca_pem: Option<String>,
    /// When a person chose it.
    chosen: Instant,
}

/// Why an address or a CA cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotUsable {
    /// No address with a host.
    #[error("this is no address")]
    NoAddress,
    /// Neither `https` nor this computer: patient data would be read on the way.
    #[error("the address is neither https nor on this computer")]
    NotProtected,
    /// A name or a password in the address: this setting keeps no secret.
    #[error("the address holds a password")]
    WithPassword,
    /// A search or a fragment in the address.
    #[error("the address holds more than a path")]
    WithMore,
    /// The CA holds no certificate, or a damaged one.
    #[error("the CA cannot be read")]
    Ca,
}

impl NotUsable {
    /// Stable code in kebab-case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoAddress => "no-address",
            Self::NotProtected => "not-protected",
            Self::WithPassword => "with-password",
            Self::WithMore => "with-more",
            Self::Ca => "ca-unreadable",
        }
    }
}

/// What goes wrong with the file of the setting.
#[derive(Debug, thiserror::Error)]
pub enum SettingFault {
    /// The file system says no.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// It is none of ours, or names what may not be asked.
    #[error("{path} is damaged")]
    Damaged {
        /// The file concerned.
        path: PathBuf,
    },
}

impl Validator {
    /// Chosen by a person at this time.
    ///
    /// # Errors
    /// [`NotUsable`].
    pub fn new(address: &str, ca_pem: Option<String>, chosen: Instant) -> Result<Self, NotUsable> {
        let address = Url::parse(address.trim()).map_err(|_| NotUsable::NoAddress)?;
        let validator = Self { address, ca_pem, chosen };
        validator.check()?;
        Ok(validator)
    }

    fn check(&self) -> Result<(), NotUsable> {
        if self.address.host().is_none() {
            return Err(NotUsable::NoAddress);
        }
        if !fetch::is_protected(&self.address) {
            return Err(NotUsable::NotProtected);
        }
        if !self.address.username().is_empty() || self.address.password().is_some() {
            return Err(NotUsable::WithPassword);
        }
        if self.address.query().is_some() || self.address.fragment().is_some() {
            return Err(NotUsable::WithMore);
        }
        let trusted = identity::tls_client_config(None, self.ca_pem.as_deref());
        match trusted {
            Err(identity::TrustProblem::CaUnreadable) => Err(NotUsable::Ca),
            _ => Ok(()),
        }
    }

    /// The address, as it was chosen.
    pub fn address(&self) -> &str {
        self.address.as_str()
    }

    /// When a person chose it.
    pub const fn chosen(&self) -> Instant {
        self.chosen
    }

    /// Its own CA.
    pub(crate) fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// Where a resource of this type is asked about: as FHIR says, `[base]/[type]/$validate`,
    /// unless the address names the operation itself (HL7's Java validators answer at
    /// `[base]/$validate`).
    pub(crate) fn operation(&self, kind: &str, profiles: &[String]) -> Url {
        let mut url = self.address.clone();
        let names_it = self.address.path().trim_end_matches('/').ends_with(OPERATION);
        // An address with a host always has a path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty();
            if !names_it {
                path.push(kind).push(OPERATION);
            }
        }
        if !profiles.is_empty() {
            let mut query = url.query_pairs_mut();
            profiles.iter().for_each(|profile| {
                query.append_pair("profile", profile);
            });
        }
        url
    }

    /// The validator that was chosen for the rules in this folder; `None` where nobody is to be
    /// asked.
    ///
    /// # Errors
    /// [`SettingFault`]: nobody is asked then.
    pub fn of(folder: &Path) -> Result<Option<Self>, SettingFault> {
        let path = folder.join(FILE);
        let io = |source| SettingFault::Io { path: path.clone(), source };
        let length = match std::fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let damaged = || SettingFault::Damaged { path: path.clone() };
        if length > BYTES_MAX {
            return Err(damaged());
        }
        let text = std::fs::read(&path).map_err(io)?;
        let read: Self = serde_json::from_slice(&text).map_err(|_| damaged())?;
        // Whoever edits the file by hand gets no weaker connection.
        read.check().map_err(|_| damaged())?;
        Ok(Some(read))
    }

    /// Makes it the one that is asked; the file is replaced as a whole or not at all.
    ///
    /// # Errors
    /// [`SettingFault::Io`].
    pub fn choose(&self, folder: &Path) -> Result<(), SettingFault> {
        let path = folder.join(FILE);
        let io = |source| SettingFault::Io { path: path.clone(), source };
        std::fs::create_dir_all(folder).map_err(io)?;
        let text = serde_json::to_vec_pretty(self).map_err(|error| io(error.into()))?;
        let fresh = folder.join(format!("{FILE}.{}.new", std::process::id()));
        let written = File::create(&fresh).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()
        });
        written.and_then(|()| std::fs::rename(&fresh, &path)).map_err(|error| {
            // What is half written is of no use to anybody.
            let _ = std::fs::remove_file(&fresh);
            io(error)
        })
    }

    /// Nobody is asked from now on.
    ///
    /// # Errors
    /// [`SettingFault::Io`].
    pub fn forget(folder: &Path) -> Result<(), SettingFault> {
        let path = folder.join(FILE);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(|source| SettingFault::Io { path, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHOSEN: Instant = Instant::from_seconds(1_800_000_000);

    fn new(address: &str) -> Result<Validator, NotUsable> {
        Validator::new(address, None, CHOSEN)
    }

    #[test]
    fn only_what_is_protected_or_on_this_computer_is_asked() {
        for (address, expected) in [
            ("https://validator.example/fhir", Ok(())),
            ("http://localhost:8080/fhir", Ok(())),
            ("http://127.0.0.1/matchbox/fhir/$validate", Ok(())),
            ("http://[::1]/fhir", Ok(())),
            ("http://validator.example/fhir", Err(NotUsable::NotProtected)),
            ("http://localhost.example/fhir", Err(NotUsable::NotProtected)),
            ("ftp://localhost/fhir", Err(NotUsable::NotProtected)),
            ("https://a:b@validator.example/fhir", Err(NotUsable::WithPassword)),
            ("https://validator.example/fhir?key=1", Err(NotUsable::WithMore)),
            ("validator.example/fhir", Err(NotUsable::NoAddress)),
            ("", Err(NotUsable::NoAddress)),
        ] {
            assert_eq!(new(address).map(|_| ()), expected, "{address}");
        }
        let damaged = Validator::new("https://validator.example/", Some("no".to_owned()), CHOSEN);
        assert_eq!(damaged, Err(NotUsable::Ca));
    }

    #[test]
    fn the_operation_is_of_the_type_unless_the_address_names_it() {
        let asked = |address: &str, profiles: &[&str]| {
            let profiles: Vec<String> = profiles.iter().map(|of| (*of).to_owned()).collect();
            new(address).unwrap().operation("Bundle", &profiles).to_string()
        };
        assert_eq!(asked("https://a/fhir/", &[]), "https://a/fhir/Bundle/$validate");
        assert_eq!(
            asked("https://a/fhir", &["http://b/c|1", "http://d"]),
            "https://a/fhir/Bundle/$validate?profile=http%3A%2F%2Fb%2Fc%7C1&profile=http%3A%2F%2Fd"
        );
        assert_eq!(asked("https://a/fhir/$validate", &[]), "https://a/fhir/$validate");
    }

    #[test]
    fn a_choice_is_kept_and_what_was_weakened_by_hand_asks_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let rules = folder.path().join("rules");
        assert_eq!(Validator::of(&rules).unwrap(), None);
        let chosen = new("https://validator.example/fhir").unwrap();
        chosen.choose(&rules).unwrap();
        assert_eq!(Validator::of(&rules).unwrap(), Some(chosen));
        let file = rules.join(FILE);
        let weaker = std::fs::read_to_string(&file).unwrap().replace("https", "http");
        std::fs::write(&file, weaker).unwrap();
        assert!(matches!(Validator::of(&rules), Err(SettingFault::Damaged { .. })));
        Validator::forget(&rules).unwrap();
        Validator::forget(&rules).unwrap();
        assert_eq!(Validator::of(&rules).unwrap(), None);
    }
}
