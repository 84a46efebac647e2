//! Where secrets rest: the journal key, and the identities in entries small enough for every
//! keychain.

mod file;
mod identities;
mod keychain;
mod problem;
mod screen;
mod vault;

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

pub use identities::StoredIdentity;
pub use problem::SecretsError;

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

impl SecretsKind {
    /// Every kind there is.
    pub const ALL: [Self; 3] = [Self::Keychain, Self::Passphrase, Self::Practice];

    /// Stable code in kebab-case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Keychain => "keychain",
            Self::Passphrase => "passphrase",
            Self::Practice => "practice",
        }
    }
}

/// What a passphrase of its own may stand before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// The locked window.
    Window,
    /// What only administrators change.
    Administration,
}

impl Guard {
    const fn name(self) -> &'static str {
        match self {
            Self::Window => "screen",
            Self::Administration => "administration",
        }
    }
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
const NEXT_JOURNAL_KEY: &str = "journal-key/next";
const PROXY: &str = "proxy/";
/// The journal's key, in one place of the memory that is wiped when its last holder is gone: an
/// array that is moved leaves copies on the stack.
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

fn strong(passphrase: &Password) -> Result<&Password, SecretsError> {
    let least = Password::LENGTH_MIN;
    Some(passphrase).filter(|it| it.is_strong()).ok_or(SecretsError::WeakPassphrase { least })
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
    /// [`SecretsError::Exists`] where there is one already; [`SecretsError::WeakPassphrase`];
    /// otherwise as [`Secrets::open`].
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
                Store::File(SecretsFile::create_vault(profile_dir, strong(passphrase)?)?)
            }
            SecretsKind::Practice => Store::File(SecretsFile::create_plain(profile_dir)?),
        };
        Ok(Self { store })
    }

    /// Seals the vault with another passphrase from now on. Other programs that have it open find
    /// that theirs opens it no longer.
    ///
    /// # Errors
    /// [`SecretsError::NoVault`] where the secrets rest elsewhere;
    /// [`SecretsError::WeakPassphrase`].
    pub fn change_passphrase(&self, passphrase: &Password) -> Result<(), SecretsError> {
        match &self.store {
            Store::Keychain(_) => Err(SecretsError::NoVault),
            Store::File(file) => file.reseal(strong(passphrase)?),
        }
    }

    /// The password that a proxy wants of a user, as it was kept under `proxy` (user, host and
    /// port).
    pub fn proxy_password(&self, proxy: &str) -> Result<Option<Zeroizing<String>>, SecretsError> {
        let Some(bytes) = self.get(&format!("{PROXY}{proxy}"))? else { return Ok(None) };
        let text = std::str::from_utf8(&bytes);
        let text = text.map_err(|_| SecretsError::Damaged { name: "proxy-password" })?;
        Ok(Some(Zeroizing::new(text.to_owned())))
    }

    /// Keeps the password that a proxy wants; it is written only where it is another one.
    pub fn set_proxy_password(&self, proxy: &str, password: &str) -> Result<(), SecretsError> {
        if self.proxy_password(proxy)?.is_some_and(|known| *known == password) {
            return Ok(());
        }
        self.put(&format!("{PROXY}{proxy}"), password.as_bytes())
    }

    /// The journal's key.
    ///
    /// # Errors
    /// [`SecretsError::Missing`] where there is none: never make a new one silently, the journal
    /// would be lost.
    pub fn journal_key(&self) -> Result<JournalKey, SecretsError> {
        self.key_named(JOURNAL_KEY)?.ok_or(SecretsError::Missing { name: JOURNAL_KEY })
    }

    /// The key that is to take the place of the journal's, while that is under way.
    pub fn next_journal_key(&self) -> Result<Option<JournalKey>, SecretsError> {
        self.key_named(NEXT_JOURNAL_KEY)
    }

    /// Draws the key that is to take the place of the journal's; one that was drawn before stays.
    pub fn draw_next_journal_key(&self) -> Result<(), SecretsError> {
        if self.next_journal_key()?.is_none() {
            let key = in_place(|key| getrandom::fill(key).map_err(|_| SecretsError::NoRandomness))?;
            self.put(NEXT_JOURNAL_KEY, key.as_slice())?;
        }
        Ok(())
    }

    /// Everything is sealed with the next key: it is the journal's from now on. After a crash in
    /// between both are there, and are the same.
    pub fn use_next_journal_key(&self) -> Result<(), SecretsError> {
        if let Some(key) = self.next_journal_key()? {
            self.put(JOURNAL_KEY, key.as_slice())?;
            self.remove(NEXT_JOURNAL_KEY)?;
        }
        Ok(())
    }

    fn key_named(&self, name: &'static str) -> Result<Option<JournalKey>, SecretsError> {
        let Some(bytes) = self.get(name)? else { return Ok(None) };
        if bytes.len() != 32 {
            return Err(SecretsError::Damaged { name });
        }
        let key = in_place(|key| {
            key.copy_from_slice(&bytes);
            Ok(())
        })?;
        Ok(Some(key))
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

    /// Keeps what proves the passphrase of a guard; `None` forgets it.
    ///
    /// # Errors
    /// [`SecretsError::PassphraseNeeded`] for the empty one.
    pub fn set_guard(
        &self,
        guard: Guard,
        passphrase: Option<&Password>,
    ) -> Result<(), SecretsError> {
        match passphrase {
            None => self.remove(guard.name()).map(drop),
            Some(passphrase) if passphrase.is_empty() => Err(SecretsError::PassphraseNeeded),
            Some(passphrase) => self.put(guard.name(), &screen::record(passphrase)?),
        }
    }

    /// Whether there is one.
    pub fn has_guard(&self, guard: Guard) -> Result<bool, SecretsError> {
        Ok(self.get(guard.name())?.is_some())
    }

    /// Whether it is this one; `true` where there is none. Takes a tenth of a second on purpose.
    pub fn passes(&self, guard: Guard, passphrase: &Password) -> Result<bool, SecretsError> {
        match self.get(guard.name())? {
            None => Ok(true),
            Some(record) => screen::fits(&record, passphrase),
        }
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
