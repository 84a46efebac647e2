//! Who is asked, and whose signature counts. The build of the program may say it, and a file that
//! only administrators of the computer can write may say something else, or that nobody is asked.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minisign_verify::PublicKey;
use serde::Deserialize;
use url::Url;

/// Of the build: the address of the description, and the public key. Both are empty unless whoever
/// builds the program says otherwise.
const BUILT_ADDRESS: Option<&str> = option_env!("LABCOURIER_UPDATES_ADDRESS");
const BUILT_KEY: Option<&str> = option_env!("LABCOURIER_UPDATES_KEY");

/// Bytes of a file that is read; an own CA takes some thousands.
const BYTES_MAX: u64 = 1 << 20;

/// Whom to ask.
#[derive(Debug, Clone)]
pub enum Setting {
    /// Nobody has said whom: nothing is asked.
    Nobody,
    /// The administrators of this computer want it so: nothing is asked.
    Off,
    /// Said, and not in a way that can be used: nothing is asked.
    Unusable(NotUsable),
    /// This one.
    Ask(Box<Source>),
}

/// Who is asked, and whose signature counts.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) address: Url,
    pub(crate) key: PublicKey,
    pub(crate) ca_pem: Option<String>,
}

/// Why a setting cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotUsable {
    /// The file cannot be read, or is not written as ours are.
    #[error("the file cannot be read")]
    Unreadable,
    /// No address, or one that is neither `https` nor on this computer, or one with a password.
    #[error("the address cannot be used")]
    Address,
    /// No public key of minisign: without one, whatever comes would count.
    #[error("the public key cannot be read")]
    Key,
    /// The CA holds no certificate, or a damaged one.
    #[error("the CA cannot be read")]
    Ca,
}

impl NotUsable {
    /// Codes of all of them.
    pub const CODES: &[&str] = &["unreadable", "address", "key", "ca"];

    /// Stable code in kebab-case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Address => "address",
            Self::Key => "key",
            Self::Ca => "ca",
        }
    }
}

/// What stands in the file of the administrators.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default = "yes")]
    look: bool,
    address: Option<String>,
    key: Option<String>,
    #[serde(rename = "caPem")]
    ca_pem: Option<String>,
}

const fn yes() -> bool {
    true
}

impl Setting {
    /// What the file of the administrators says, else what the build says. A file that is there
    /// and cannot be used ends it: it may have been meant to switch this off.
    pub fn of(file: &Path) -> Self {
        let mut text = String::new();
        let read = File::open(file).and_then(|file| file.take(BYTES_MAX).read_to_string(&mut text));
        match read {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::built(),
            Err(_) => return Self::Unusable(NotUsable::Unreadable),
        }
        let Ok(written) = serde_json::from_str::<Written>(&text) else {
            return Self::Unusable(NotUsable::Unreadable);
        };
        if !written.look {
            return Self::Off;
        }
        let said =
            |said: Option<&str>| said.map(str::trim).filter(|said| !said.is_empty()).is_some();
        if !said(written.address.as_deref()) && !said(written.key.as_deref()) {
            return Self::built();
        }
        let (address, key) = (written.address.unwrap_or_default(), written.key.unwrap_or_default());
        Self::from(Source::new(&address, &key, written.ca_pem))
    }

    fn built() -> Self {
        match (BUILT_ADDRESS, BUILT_KEY) {
            (None | Some(""), None | Some("")) => Self::Nobody,
            (address, key) => {
                let (address, key) = (address.unwrap_or_default(), key.unwrap_or_default());
                Self::from(Source::new(address, key, None))
            }
        }
    }
}

impl From<Result<Source, NotUsable>> for Setting {
    fn from(made: Result<Source, NotUsable>) -> Self {
        made.map_or_else(Self::Unusable, |source| Self::Ask(Box::new(source)))
    }
}

impl Source {
    /// `key`: the line of a minisign key, its whole file, or that file in base64, as Tauri's
    /// command writes it.
    ///
    /// # Errors
    /// [`NotUsable`].
    pub fn new(address: &str, key: &str, ca_pem: Option<String>) -> Result<Self, NotUsable> {
        let address = Url::parse(address.trim()).map_err(|_| NotUsable::Address)?;
        // What is asked is no secret, but whoever can answer in the place of the server could hide
        // that there is something newer.
        if !fetch::is_protected(&address)
            || !address.username().is_empty()
            || address.password().is_some()
        {
            return Err(NotUsable::Address);
        }
        let key = public_key(key.trim()).ok_or(NotUsable::Key)?;
        let trusted = identity::tls_client_config(None, ca_pem.as_deref());
        if matches!(trusted, Err(identity::TrustProblem::CaUnreadable)) {
            return Err(NotUsable::Ca);
        }
        Ok(Self { address, key, ca_pem })
    }

    /// The address, as it was written.
    pub fn address(&self) -> &str {
        self.address.as_str()
    }
}

fn public_key(text: &str) -> Option<PublicKey> {
    let plain = |text: &str| PublicKey::decode(text).or_else(|_| PublicKey::from_base64(text)).ok();
    plain(text).or_else(|| plain(unwrapped(text)?.trim()))
}

/// What Tauri's command has put into base64 as a whole.
pub(crate) fn unwrapped(text: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(text.trim()).ok()?).ok()
}

/// Where the file of the administrators lies on this system: in a folder that others cannot write.
pub fn system_file() -> PathBuf {
    #[cfg(target_os = "windows")]
    let folder = {
        // Not `ProgramData`: everybody may make folders there.
        let program = std::env::current_exe().ok();
        program.and_then(|file| file.parent().map(Path::to_owned)).unwrap_or_default()
    };
    #[cfg(target_os = "macos")]
    let folder = PathBuf::from("/Library/Application Support/Lab Courier");
    #[cfg(not(any(target_os = "windows", target_os = "macos")))]
    let folder = PathBuf::from("/etc/lab-courier");
    folder.join("updates.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of minisign's own documentation.
    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

    fn said(text: &str) -> Setting {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("updates.json");
        std::fs::write(&file, text).unwrap();
        Setting::of(&file)
    }

    #[test]
    fn without_an_address_nobody_is_asked_and_an_administrator_switches_it_off() {
        let nowhere = Path::new("/nowhere/updates.json");
        assert!(matches!(Setting::of(nowhere), Setting::Nobody));
        assert!(matches!(said("{}"), Setting::Nobody));
        assert!(matches!(said(r#"{"look":false}"#), Setting::Off));
        let off = format!(r#"{{"look":false,"address":"https://a.example","key":"{KEY}"}}"#);
        assert!(matches!(said(&off), Setting::Off));
        let on = format!(r#"{{"address":"https://a.example/latest.json","key":"{KEY}"}}"#);
        let Setting::Ask(source) = said(&on) else { panic!("nobody") };
        assert_eq!(source.address(), "https://a.example/latest.json");
    }

    #[test]
    fn a_setting_that_cannot_be_used_asks_nobody() {
        let unusable = |text: &str| match said(text) {
            Setting::Unusable(why) => why,
            other => panic!("{other:?}"),
        };
        for damaged in ["", "[]", r#"{"look":"no"}"#, r#"{"off":true}"#] {
            assert_eq!(unusable(damaged), NotUsable::Unreadable, "{damaged}");
        }
        for address in ["", "a", "http://a.example/x", "ftp://a.example", "https://u:p@a.example"] {
            let text = format!(r#"{{"address":"{address}","key":"{KEY}"}}"#);
            assert_eq!(unusable(&text), NotUsable::Address, "{address}");
        }
        for key in ["", "RWQ", "AAAA"] {
            let text = format!(r#"{{"address":"https://a.example","key":"{key}"}}"#);
            assert_eq!(unusable(&text), NotUsable::Key, "{key}");
        }
        let text = format!(r#"{{"address":"https://a.example","key":"{KEY}","caPem":"x"}}"#);
        assert_eq!(unusable(&text), NotUsable::Ca);
    }

    #[test]
    fn a_key_is_read_as_each_tool_writes_it() {
        let file = format!("untrusted comment: minisign public key\n{KEY}\n");
        let wrapped = STANDARD.encode(&file);
        for key in [KEY, &file, &wrapped] {
            assert!(Source::new("https://a.example", key, None).is_ok(), "{key}");
        }
    }
}
