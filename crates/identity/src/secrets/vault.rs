//! The seal of a vault: Argon2id over the passphrase, XChaCha20-Poly1305 over the content.
//!
//! `LCVAULT1 | memory KiB u32 | passes u32 | lanes u32 | salt 16 | verifier 32 | nonce 24 | ciphertext`,
//! numbers little-endian. Everything before the ciphertext is authenticated with it. The verifier
//! is the second half of the derived bytes: it tells a wrong passphrase from a damaged vault.

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use super::problem::SecretsError;
use crate::password::Password;

const MAGIC: &[u8; 8] = b"LCVAULT1";
/// RFC 9106's second recommended choice asks for 64 MiB and 3 passes.
pub(super) const COST: Cost = Cost { memory_kib: 64 * 1024, passes: 3, lanes: 1 };
const SALT: usize = 16;
const VERIFIER: usize = 32;
const NONCE: usize = 24;
const HEADER: usize = 8 + 12 + SALT + VERIFIER + NONCE;

#[derive(Clone, Copy)]
pub(super) struct Cost {
    pub(super) memory_kib: u32,
    pub(super) passes: u32,
    pub(super) lanes: u32,
}

impl Cost {
    /// A hostile header must not ask for all memory or all day.
    pub(super) fn bounded(self) -> Option<Self> {
        let bounded = (8 * 1024..=1024 * 1024).contains(&self.memory_kib)
            && (1..=16).contains(&self.passes)
            && (1..=8).contains(&self.lanes);
        bounded.then_some(self)
    }
}

/// The derived key, kept while the program runs: each change seals anew with a fresh nonce.
pub(crate) struct Seal {
    cost: Cost,
    salt: [u8; SALT],
    // Boxed: an array that is moved leaves copies on the stack.
    derived: Box<Zeroizing<[u8; 64]>>,
}

impl Seal {
    pub(crate) fn new(passphrase: &Password) -> Result<Self, SecretsError> {
        let mut salt = [0u8; SALT];
        getrandom::fill(&mut salt).map_err(|_| SecretsError::NoRandomness)?;
        Ok(Self { cost: COST, salt, derived: derive(passphrase, COST, &salt)? })
    }

    /// The seal of an existing vault.
    pub(crate) fn of(vault: &[u8], passphrase: &Password) -> Result<Self, SecretsError> {
        let header = Header::read(vault)?;
        let derived = derive(passphrase, header.cost, &header.salt)?;
        // Compared without a secret-dependent shortcut being of use: whoever times this has the
        // vault file.
        if derived[32..] != header.verifier {
            return Err(SecretsError::WrongPassphrase);
        }
        Ok(Self { cost: header.cost, salt: header.salt, derived })
    }

    pub(crate) fn close(&self, content: &[u8]) -> Result<Vec<u8>, SecretsError> {
        let mut nonce = [0u8; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| SecretsError::NoRandomness)?;
        let mut out = Vec::with_capacity(HEADER + content.len() + 16);
        out.extend_from_slice(MAGIC);
        for number in [self.cost.memory_kib, self.cost.passes, self.cost.lanes] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.salt);
        out.extend_from_slice(&self.derived[32..]);
        out.extend_from_slice(&nonce);
        let sealed = self
            .cipher()?
            .encrypt(XNonce::from_slice(&nonce), Payload { msg: content, aad: &out })
            .map_err(|_| SecretsError::VaultDamaged)?;
        out.extend_from_slice(&sealed);
        Ok(out)
    }

    pub(crate) fn open(&self, vault: &[u8]) -> Result<Zeroizing<Vec<u8>>, SecretsError> {
        let header = Header::read(vault)?;
        let (aad, sealed) = vault.split_at(HEADER);
        // Another process may have changed the passphrase since.
        if header.salt != self.salt {
            return Err(SecretsError::WrongPassphrase);
        }
        let content = self
            .cipher()?
            .decrypt(XNonce::from_slice(&header.nonce), Payload { msg: sealed, aad })
            .map_err(|_| SecretsError::VaultDamaged)?;
        Ok(Zeroizing::new(content))
    }

    fn cipher(&self) -> Result<XChaCha20Poly1305, SecretsError> {
        XChaCha20Poly1305::new_from_slice(&self.derived[..32])
            .map_err(|_| SecretsError::VaultDamaged)
    }
}

struct Header {
    cost: Cost,
    salt: [u8; SALT],
    verifier: [u8; VERIFIER],
    nonce: [u8; NONCE],
}

impl Header {
    fn read(vault: &[u8]) -> Result<Self, SecretsError> {
        Self::parse(vault).ok_or(SecretsError::VaultDamaged)
    }

    fn parse(vault: &[u8]) -> Option<Self> {
        let rest = vault.strip_prefix(MAGIC)?;
        let (memory_kib, rest) = number(rest)?;
        let (passes, rest) = number(rest)?;
        let (lanes, rest) = number(rest)?;
        let (salt, rest) = rest.split_first_chunk::<SALT>()?;
        let (verifier, rest) = rest.split_first_chunk::<VERIFIER>()?;
        let (nonce, _) = rest.split_first_chunk::<NONCE>()?;
        let cost = Cost { memory_kib, passes, lanes }.bounded()?;
        Some(Self { cost, salt: *salt, verifier: *verifier, nonce: *nonce })
    }
}

pub(super) fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*digits), rest))
}

pub(super) fn derive(
    passphrase: &Password,
    cost: Cost,
    salt: &[u8],
) -> Result<Box<Zeroizing<[u8; 64]>>, SecretsError> {
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(64))
        .map_err(|_| SecretsError::VaultDamaged)?;
    let mut derived = Box::new(Zeroizing::new([0u8; 64]));
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.expose().as_bytes(), salt, derived.as_mut_slice())
        .map_err(|_| SecretsError::VaultDamaged)?;
    Ok(derived)
}
