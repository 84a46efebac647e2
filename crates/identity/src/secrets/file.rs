//! Named secrets in one file, replaced as a whole: sealed (vault) or plain (practice only).

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use zeroize::Zeroizing;

use super::problem::SecretsError;
use super::vault::Seal;
use crate::password::Password;

/// A thousand certificates with their chains fit, so that only a file of somebody else is larger.
const FILE_BYTES_MAX: u64 = 64 << 20;
const PLAIN_MAGIC: &[u8; 8] = b"LCPLAIN1";

type Content = BTreeMap<String, Zeroizing<Vec<u8>>>;

pub(crate) struct SecretsFile {
    path: PathBuf,
    name: &'static str,
    /// `None` for the plain file. Another passphrase exchanges it.
    seal: Option<RwLock<Seal>>,
}

impl SecretsFile {
    pub(crate) fn open_vault(dir: &Path, passphrase: &Password) -> Result<Self, SecretsError> {
        let (path, name) = (dir.join("vault"), "vault");
        let seal = Some(RwLock::new(Seal::of(&read(&path, name)?, passphrase)?));
        let opened = Self { path, name, seal };
        opened.content()?;
        Ok(opened)
    }

    pub(crate) fn create_vault(dir: &Path, passphrase: &Password) -> Result<Self, SecretsError> {
        let seal = Some(RwLock::new(Seal::new(passphrase)?));
        Self { path: dir.join("vault"), name: "vault", seal }.created()
    }

    /// Seals the vault with another passphrase from now on: after a crash the old or the new one
    /// opens it.
    pub(crate) fn reseal(&self, passphrase: &Password) -> Result<(), SecretsError> {
        let Some(current) = &self.seal else { return Err(SecretsError::NoVault) };
        // Before the lock: deriving a key takes a tenth of a second on purpose.
        let fresh = Seal::new(passphrase)?;
        let _lock = self.lock()?;
        let content = self.content()?;
        self.replace_with(&content, Some(&fresh))?;
        *current.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    pub(crate) fn open_plain(dir: &Path) -> Result<Self, SecretsError> {
        let name = "practice-secrets";
        let opened = Self { path: dir.join(name), name, seal: None };
        opened.content()?;
        Ok(opened)
    }

    pub(crate) fn create_plain(dir: &Path) -> Result<Self, SecretsError> {
        let name = "practice-secrets";
        Self { path: dir.join(name), name, seal: None }.created()
    }

    pub(crate) fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretsError> {
        Ok(self.content()?.remove(name))
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Result<(), SecretsError> {
        let _lock = self.lock()?;
        let mut content = self.content()?;
        content.insert(name.to_owned(), Zeroizing::new(bytes.to_vec()));
        self.replace(&content)
    }

    pub(crate) fn put_new(&self, name: &'static str, bytes: &[u8]) -> Result<(), SecretsError> {
        let _lock = self.lock()?;
        let mut content = self.content()?;
        if content.contains_key(name) {
            return Err(SecretsError::Exists { name });
        }
        content.insert(name.to_owned(), Zeroizing::new(bytes.to_vec()));
        self.replace(&content)
    }

    pub(crate) fn remove(&self, name: &str) -> Result<bool, SecretsError> {
        let _lock = self.lock()?;
        let mut content = self.content()?;
        let existed = content.remove(name).is_some();
        if existed {
            self.replace(&content)?;
        }
        Ok(existed)
    }

    fn created(self) -> Result<Self, SecretsError> {
        let _lock = self.lock()?;
        if self.path.symlink_metadata().is_ok() {
            return Err(SecretsError::Exists { name: self.name });
        }
        self.replace(&Content::new())?;
        Ok(self)
    }

    /// Held while reading, changing and replacing: two processes may share a profile.
    fn lock(&self) -> Result<File, SecretsError> {
        let path = self.path.with_extension("lock");
        let file = private(OpenOptions::new().create(true).append(true))
            .open(path)
            .map_err(SecretsError::io("lock-secrets"))?;
        file.lock().map_err(SecretsError::io("lock-secrets"))?;
        Ok(file)
    }

    fn content(&self) -> Result<Content, SecretsError> {
        let bytes = read(&self.path, self.name)?;
        let content = match &self.seal {
            Some(seal) => seal.read().unwrap_or_else(PoisonError::into_inner).open(&bytes)?,
            None => {
                let plain = bytes.strip_prefix(PLAIN_MAGIC);
                Zeroizing::new(plain.ok_or(SecretsError::Damaged { name: self.name })?.to_vec())
            }
        };
        unpack(&content).ok_or(SecretsError::Damaged { name: self.name })
    }

    fn replace(&self, content: &Content) -> Result<(), SecretsError> {
        let seal = self.seal.as_ref().map(|it| it.read().unwrap_or_else(PoisonError::into_inner));
        self.replace_with(content, seal.as_deref())
    }

    /// Temporary file, fsync, rename, fsync of the directory: after a crash the old or the new
    /// content stands.
    fn replace_with(&self, content: &Content, seal: Option<&Seal>) -> Result<(), SecretsError> {
        let packed = pack(content).ok_or(SecretsError::Damaged { name: self.name })?;
        let bytes = match seal {
            Some(seal) => Zeroizing::new(seal.close(&packed)?),
            None => Zeroizing::new([PLAIN_MAGIC.as_slice(), packed.as_slice()].concat()),
        };
        if bytes.len() as u64 > FILE_BYTES_MAX {
            // What could not be read again is not written: what was there stays.
            let source = io::ErrorKind::FileTooLarge.into();
            return Err(SecretsError::Io { operation: "write-secrets", source });
        }
        let temporary = self.path.with_extension("new");
        let write = || -> io::Result<()> {
            // A leftover of a crash may have other permissions.
            match fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file =
                private(OpenOptions::new().write(true).create_new(true)).open(&temporary)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)?;
            sync_directory(&self.path)
        };
        write().map_err(SecretsError::io("write-secrets"))
    }
}

fn read(path: &Path, name: &'static str) -> Result<Zeroizing<Vec<u8>>, SecretsError> {
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SecretsError::Missing { name },
        _ => SecretsError::Io { operation: "read-secrets", source: error },
    })?;
    let mut bytes = Zeroizing::new(Vec::new());
    let mut within = file.take(FILE_BYTES_MAX + 1);
    within.read_to_end(&mut bytes).map_err(SecretsError::io("read-secrets"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(SecretsError::Damaged { name });
    }
    Ok(bytes)
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

/// Windows: the profile directory's access list (the user's own) is inherited.
#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// `name length u16 | name | value length u32 | value`, repeated; numbers little-endian.
fn pack(content: &Content) -> Option<Zeroizing<Vec<u8>>> {
    let size = content.iter().map(|(name, value)| name.len() + value.len() + 6).sum();
    let mut out = Zeroizing::new(Vec::with_capacity(size));
    for (name, value) in content {
        out.extend_from_slice(&u16::try_from(name.len()).ok()?.to_le_bytes());
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&u32::try_from(value.len()).ok()?.to_le_bytes());
        out.extend_from_slice(value);
    }
    Some(out)
}

fn unpack(mut bytes: &[u8]) -> Option<Content> {
    let mut content = Content::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<2>()?;
        let (name, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (value, rest) = rest.split_at_checked(length)?;
        content.insert(String::from_utf8(name.to_vec()).ok()?, Zeroizing::new(value.to_vec()));
        bytes = rest;
    }
    Some(content)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// A chain of certificates may have 40 kB, and each laboratory and each renewal adds one.
    #[test]
    fn many_certificates_are_read_again_and_what_could_not_be_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let passphrase = Password::from("korrekt pferd".to_owned());
        let vault = SecretsFile::create_vault(dir.path(), &passphrase).unwrap();
        for number in 0..60 {
            vault.put(&format!("identity-{number}"), &vec![number; 40_000]).unwrap();
        }
        let beyond = vec![0; usize::try_from(FILE_BYTES_MAX).unwrap()];
        let refused = vault.put("beyond", &beyond).unwrap_err();
        assert_eq!(refused.code(), "secrets-io");
        let again = SecretsFile::open_vault(dir.path(), &passphrase).unwrap();
        assert_eq!(*again.get("identity-59").unwrap().unwrap(), vec![59; 40_000]);
        assert!(again.get("beyond").unwrap().is_none());
    }
}
