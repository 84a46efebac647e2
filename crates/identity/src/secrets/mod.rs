//! Where secrets rest: the journal key, and the identity in entries small enough for every keychain.

mod file;
mod keychain;
mod problem;
mod screen;
mod vault;

use std::path::Path;
use std::sync::Arc;

use rustls_pki_types::PrivateKeyDer;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

pub use problem::SecretsError;

use crate::identity::Identity;
use crate::import::{DerKind, key_of, pair};
use crate::password::Password;
use file::SecretsFile;
use keychain::Keychain;

/// Where the secrets of a profile rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretsKind {
    /// The operating system's keychain.
    Keychain,
    /// A vault file in the profile, sealed by a passphrase (servers).
    Passphrase,
    /// A plain file, for the practice profile only: it guards nothing real.
    Practice,
}

/// The secrets of one profile. Calls may block (a keychain may ask the person).
pub struct Secrets {
    store: Store,
}

enum Store {
    Keychain(Keychain),
    File(SecretsFile),
}

type Bytes = Zeroizing<Vec<u8>>;

const JOURNAL_KEY: &str = "journal-key";
const INDEX: &str = "identity/index";
const SCREEN: &str = "screen";
/// Windows stores at most 2560 bytes in one entry.
const PART_BYTES_MAX: usize = 2400;
/// Far above any real chain or key; bounds what a damaged index can make us read.
const PARTS_MAX: usize = 16;

/// Says which entries make up the identity. Written last: until then the former identity stands.
#[derive(Serialize, Deserialize)]
struct Index {
    slot: Slot,
    key_form: KeyForm,
    key_parts: usize,
    /// Number of parts of each certificate, in the order of the chain.
    certificates: Vec<usize>,
    fingerprint: String,
}

/// Two places for an identity, used in turn, so that a crash never leaves a key with another's certificate.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Slot {
    A,
    B,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KeyForm {
    Pkcs8,
    Pkcs1,
    Sec1,
}

/// The journal's key, in one place of the memory that is wiped when its last holder is gone: an array that is
/// moved leaves copies on the stack.
pub type JournalKey = Arc<Zeroizing<[u8; 32]>>;

fn in_place(
    fill: impl FnOnce(&mut [u8]) -> Result<(), SecretsError>,
) -> Result<JournalKey, SecretsError> {
    let mut key = Arc::new(Zeroizing::new([0_u8; 32]));
    if let Some(key) = Arc::get_mut(&mut key) {
        fill(key.as_mut_slice())?;
    }
    Ok(key)
}

impl Secrets {
    /// Opens the secrets of an existing profile.
    ///
    /// # Errors
    /// [`SecretsError::Missing`] where the vault or practice file does not exist yet; otherwise
    /// [`SecretsError`] by what has to be done.
    pub fn open(
        kind: SecretsKind,
        profile_dir: &Path,
        profile_id: &str,
        passphrase: Option<&Password>,
    ) -> Result<Self, SecretsError> {
        let store = match kind {
            SecretsKind::Keychain => Store::Keychain(Keychain::open(profile_id)?),
            SecretsKind::Passphrase => {
                let passphrase = passphrase.ok_or(SecretsError::PassphraseNeeded)?;
                Store::File(SecretsFile::open_vault(profile_dir, passphrase)?)
            }
            SecretsKind::Practice => Store::File(SecretsFile::open_plain(profile_dir)?),
        };
        Ok(Self { store })
    }

    /// Makes the place for a new profile's secrets.
    ///
    /// # Errors
    /// [`SecretsError::Exists`] where there is one already; otherwise as [`Secrets::open`].
    pub fn create(
        kind: SecretsKind,
        profile_dir: &Path,
        profile_id: &str,
        passphrase: Option<&Password>,
    ) -> Result<Self, SecretsError> {
        let store = match kind {
            SecretsKind::Keychain => Store::Keychain(Keychain::open(profile_id)?),
            SecretsKind::Passphrase => {
                let passphrase = passphrase.filter(|passphrase| !passphrase.is_empty());
                let passphrase = passphrase.ok_or(SecretsError::PassphraseNeeded)?;
                Store::File(SecretsFile::create_vault(profile_dir, passphrase)?)
            }
            SecretsKind::Practice => Store::File(SecretsFile::create_plain(profile_dir)?),
        };
        Ok(Self { store })
    }

    /// The journal's key.
    ///
    /// # Errors
    /// [`SecretsError::Missing`] where there is none: never make a new one silently, the journal would be lost.
    pub fn journal_key(&self) -> Result<JournalKey, SecretsError> {
        let bytes = self.get(JOURNAL_KEY)?.ok_or(SecretsError::Missing { name: JOURNAL_KEY })?;
        let damaged = SecretsError::Damaged { name: JOURNAL_KEY };
        if bytes.len() != 32 {
            return Err(damaged);
        }
        in_place(|key| {
            key.copy_from_slice(&bytes);
            Ok(())
        })
    }

    /// Makes a random key for a new journal and stores it.
    ///
    /// # Errors
    /// [`SecretsError::Exists`] where there is one: it is never overwritten.
    pub fn new_journal_key(&self) -> Result<JournalKey, SecretsError> {
        let key = in_place(|key| getrandom::fill(key).map_err(|_| SecretsError::NoRandomness))?;
        self.put_new(JOURNAL_KEY, key.as_slice())?;
        Ok(key)
    }

    /// Keeps what proves a passphrase for unlocking the window; `None` forgets it.
    ///
    /// # Errors
    /// [`SecretsError::PassphraseNeeded`] for the empty one.
    pub fn set_screen_passphrase(&self, passphrase: Option<&Password>) -> Result<(), SecretsError> {
        match passphrase {
            None => self.remove(SCREEN).map(drop),
            Some(passphrase) if passphrase.is_empty() => Err(SecretsError::PassphraseNeeded),
            Some(passphrase) => self.put(SCREEN, &screen::record(passphrase)?),
        }
    }

    /// Whether there is one.
    pub fn has_screen_passphrase(&self) -> Result<bool, SecretsError> {
        Ok(self.get(SCREEN)?.is_some())
    }

    /// Whether it is this one; `true` where there is none. Takes a tenth of a second on purpose.
    pub fn opens_screen(&self, passphrase: &Password) -> Result<bool, SecretsError> {
        match self.get(SCREEN)? {
            None => Ok(true),
            Some(record) => screen::fits(&record, passphrase),
        }
    }

    /// The stored identity, if any.
    ///
    /// # Errors
    /// [`SecretsError::Damaged`] where entries are missing or do not belong together.
    pub fn identity(&self) -> Result<Option<Identity>, SecretsError> {
        let damaged = || SecretsError::Damaged { name: "identity" };
        let Some(index) = self.index()? else { return Ok(None) };
        let key = self.joined(&index.slot.name("key"), index.key_parts)?.ok_or_else(damaged)?;
        let mut certificates = Vec::new();
        for (number, parts) in index.certificates.iter().enumerate().take(PARTS_MAX) {
            let name = index.slot.name(&format!("certificate/{number}"));
            certificates.push(self.joined(&name, *parts)?.ok_or_else(damaged)?.to_vec());
        }
        let kind = match index.key_form {
            KeyForm::Pkcs8 => DerKind::Pkcs8,
            KeyForm::Pkcs1 => DerKind::Pkcs1,
            KeyForm::Sec1 => DerKind::Sec1,
        };
        let key = key_of(key, kind).ok_or_else(damaged)?;
        let identity = pair(key, &certificates)
            .and_then(|(chain, key)| Identity::assemble(chain, key))
            .map_err(|_| damaged())?;
        if identity.inspect().fingerprint_sha256 != index.fingerprint {
            return Err(damaged());
        }
        Ok(Some(identity))
    }

    /// Stores an identity in place of the former one. After a crash in between, the former one stands.
    pub fn store_identity(&self, identity: &Identity) -> Result<(), SecretsError> {
        let former = match self.index() {
            Ok(former) => former.map(|index| index.slot),
            // A damaged index is replaced: that is how a person repairs it.
            Err(SecretsError::Damaged { .. }) => None,
            Err(error) => return Err(error),
        };
        let slot = former.map_or(Slot::A, Slot::other);
        self.clear(slot)?;
        let key_form = match identity.key() {
            PrivateKeyDer::Pkcs1(_) => KeyForm::Pkcs1,
            PrivateKeyDer::Sec1(_) => KeyForm::Sec1,
            _ => KeyForm::Pkcs8,
        };
        let key_parts = self.split(&slot.name("key"), identity.key().secret_der())?;
        let mut certificates = Vec::new();
        for (number, certificate) in identity.chain().iter().enumerate() {
            certificates
                .push(self.split(&slot.name(&format!("certificate/{number}")), certificate)?);
        }
        let fingerprint = identity.inspect().fingerprint_sha256;
        let index = Index { slot, key_form, key_parts, certificates, fingerprint };
        let text = serde_json::to_vec(&index).map_err(|_| SecretsError::Damaged { name: INDEX })?;
        self.put(INDEX, &text)?;
        match former {
            Some(former) => self.clear(former),
            None => Ok(()),
        }
    }

    /// Removes the identity; nothing happens where there is none.
    pub fn remove_identity(&self) -> Result<(), SecretsError> {
        self.remove(INDEX)?;
        self.clear(Slot::A)?;
        self.clear(Slot::B)
    }

    fn index(&self) -> Result<Option<Index>, SecretsError> {
        let Some(bytes) = self.get(INDEX)? else { return Ok(None) };
        let index = serde_json::from_slice(&bytes);
        index.map(Some).map_err(|_| SecretsError::Damaged { name: "identity" })
    }

    fn split(&self, name: &str, bytes: &[u8]) -> Result<usize, SecretsError> {
        let parts = bytes.chunks(PART_BYTES_MAX);
        let count = parts.len();
        if count > PARTS_MAX {
            return Err(SecretsError::Damaged { name: "identity" });
        }
        for (number, part) in parts.enumerate() {
            self.put(&format!("{name}/{number}"), part)?;
        }
        Ok(count)
    }

    fn joined(&self, name: &str, parts: usize) -> Result<Option<Bytes>, SecretsError> {
        let mut all = Zeroizing::new(Vec::with_capacity(parts.min(PARTS_MAX) * PART_BYTES_MAX));
        for number in 0..parts.min(PARTS_MAX) {
            let Some(part) = self.get(&format!("{name}/{number}"))? else { return Ok(None) };
            all.extend_from_slice(&part);
        }
        Ok(Some(all))
    }

    /// Removes every entry of a slot, also those of an interrupted write that no index names.
    fn clear(&self, slot: Slot) -> Result<(), SecretsError> {
        self.clear_parts(&slot.name("key"))?;
        for number in 0..PARTS_MAX {
            if self.clear_parts(&slot.name(&format!("certificate/{number}")))? == 0 {
                break;
            }
        }
        Ok(())
    }

    fn clear_parts(&self, name: &str) -> Result<usize, SecretsError> {
        for number in 0..PARTS_MAX {
            if !self.remove(&format!("{name}/{number}"))? {
                return Ok(number);
            }
        }
        Ok(PARTS_MAX)
    }

    fn get(&self, name: &str) -> Result<Option<Bytes>, SecretsError> {
        match &self.store {
            Store::Keychain(keychain) => keychain.get(name),
            Store::File(file) => file.get(name),
        }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), SecretsError> {
        match &self.store {
            Store::Keychain(keychain) => keychain.put(name, bytes),
            Store::File(file) => file.put(name, bytes),
        }
    }

    fn put_new(&self, name: &'static str, bytes: &[u8]) -> Result<(), SecretsError> {
        match &self.store {
            Store::Keychain(keychain) => match keychain.get(name)? {
                Some(_) => Err(SecretsError::Exists { name }),
                None => keychain.put(name, bytes),
            },
            Store::File(file) => file.put_new(name, bytes),
        }
    }

    fn remove(&self, name: &str) -> Result<bool, SecretsError> {
        match &self.store {
            Store::Keychain(keychain) => keychain.remove(name),
            Store::File(file) => file.remove(name),
        }
    }
}

impl Slot {
    const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    fn name(self, part: &str) -> String {
        let slot = match self {
            Self::A => "a",
            Self::B => "b",
        };
        format!("identity/{slot}/{part}")
    }
}
