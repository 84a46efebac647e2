//! The identities of a profile, side by side: each in a slot of its own, found by its fingerprint.
//!
//! A slot is written in full before the list of slots names it, so that a crash never leaves a key
//! beside another's certificate. What an interrupted write has left is cleared when its slot is
//! written again.

use rustls_pki_types::PrivateKeyDer;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{Bytes, Secrets, SecretsError};
use crate::identity::Identity;
use crate::import::{DerKind, key_of, pair};
use crate::inspection::Inspection;

/// The list of slots that hold an identity. Profiles of the first version had one identity; their
/// entry of this name is its description.
const LIST: &str = "identity/index";
/// Names of the slots. Two of them stood for the one identity of the first version.
const SLOTS: &str = "abcdefghijklmnopqrstuvwxyz";
/// Windows stores at most 2560 bytes in one entry.
const PART_BYTES_MAX: usize = 2400;
/// Far above any real chain or key; bounds what a damaged description can make us read.
const PARTS_MAX: usize = 16;

/// One stored identity as it is listed; its key is not read for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredIdentity {
    /// SHA-256 of the certificate, `AB:CD:…`.
    pub fingerprint: String,
    /// What can be told of it; `None` where entries are missing or do not belong together: it is to
    /// be imported again or removed.
    pub inspection: Option<Inspection>,
}

/// Which slots hold an identity, as letters. Written last: until then the former list stands.
#[derive(Serialize, Deserialize)]
struct List {
    slots: String,
}

/// Says which entries make up the identity of a slot.
#[derive(Clone, Serialize, Deserialize)]
struct Description {
    /// Of the first version, which kept no list.
    #[serde(default, skip_serializing)]
    slot: Option<char>,
    key_form: KeyForm,
    key_parts: usize,
    /// Number of parts of each certificate, in the order of the chain.
    certificates: Vec<usize>,
    fingerprint: String,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KeyForm {
    Pkcs8,
    Pkcs1,
    Sec1,
}

/// A slot with what is written of it; `None` where that is missing or unreadable.
struct Kept {
    slot: char,
    description: Option<Description>,
}

impl Secrets {
    /// Every stored identity, in no particular order.
    pub fn identities(&self) -> Result<Vec<StoredIdentity>, SecretsError> {
        let mut all = Vec::new();
        for kept in self.kept()? {
            // A slot without a description has no fingerprint by which anybody could ask for it.
            let Some(description) = kept.description else { continue };
            let inspection = match self.chain(kept.slot, &description) {
                Ok(chain) => {
                    let chain: Vec<_> = chain.iter().map(|bytes| bytes.as_slice().into()).collect();
                    Inspection::of(&chain).ok()
                }
                Err(SecretsError::Damaged { .. }) => None,
                Err(error) => return Err(error),
            };
            let fingerprint = description.fingerprint;
            let inspection = inspection.filter(|seen| seen.fingerprint_sha256 == fingerprint);
            all.push(StoredIdentity { fingerprint, inspection });
        }
        Ok(all)
    }

    /// The identity with this fingerprint, if it is stored.
    ///
    /// # Errors
    /// [`SecretsError::Damaged`] where entries are missing or do not belong together.
    pub fn identity(&self, fingerprint: &str) -> Result<Option<Identity>, SecretsError> {
        let found = self.kept()?.into_iter().find_map(|kept| {
            kept.description.filter(|it| it.fingerprint == fingerprint).map(|it| (kept.slot, it))
        });
        let Some((slot, description)) = found else { return Ok(None) };
        let key = self.joined(&entry(slot, "key"), description.key_parts)?.ok_or_else(damaged)?;
        let certificates = self.chain(slot, &description)?;
        let kind = match description.key_form {
            KeyForm::Pkcs8 => DerKind::Pkcs8,
            KeyForm::Pkcs1 => DerKind::Pkcs1,
            KeyForm::Sec1 => DerKind::Sec1,
        };
        let key = key_of(key, kind).ok_or_else(damaged)?;
        let identity = pair(key, &certificates)
            .and_then(|(chain, key)| Identity::assemble(chain, key))
            .map_err(|_| damaged())?;
        if identity.inspect().fingerprint_sha256 != fingerprint {
            return Err(damaged());
        }
        Ok(Some(identity))
    }

    /// Stores an identity beside the others; one with the same certificate is replaced. After a
    /// crash in between, what was stored before stands.
    ///
    /// # Errors
    /// [`SecretsError::TooMany`] where every place is taken.
    pub fn store_identity(&self, identity: &Identity) -> Result<(), SecretsError> {
        let fingerprint = identity.inspect().fingerprint_sha256;
        // A damaged list is written anew: that is how a person repairs it.
        let kept = match self.kept() {
            Err(SecretsError::Damaged { .. }) => Vec::new(),
            kept => kept?,
        };
        self.write_descriptions(&kept)?;
        let taken = |slot: char| kept.iter().any(|kept| kept.slot == slot);
        let limit = SLOTS.len();
        let slot = SLOTS.chars().find(|slot| !taken(*slot));
        let slot = slot.ok_or(SecretsError::TooMany { limit })?;
        self.clear(slot)?;
        self.write(slot, identity, &fingerprint)?;
        let is_replaced =
            |kept: &Kept| kept.description.as_ref().is_none_or(|it| it.fingerprint == fingerprint);
        let (replaced, stay): (Vec<_>, Vec<_>) = kept.iter().partition(|kept| is_replaced(kept));
        let slots = stay.iter().map(|kept| kept.slot).chain([slot]).collect();
        self.write_list(&List { slots })?;
        replaced.iter().try_for_each(|kept| self.clear(kept.slot))
    }

    /// Removes an identity with its key; says whether there was one.
    pub fn remove_identity(&self, fingerprint: &str) -> Result<bool, SecretsError> {
        let kept = self.kept()?;
        let is_it =
            |kept: &Kept| kept.description.as_ref().is_some_and(|it| it.fingerprint == fingerprint);
        let (gone, stay): (Vec<_>, Vec<_>) = kept.iter().partition(|kept| is_it(kept));
        if gone.is_empty() {
            return Ok(false);
        }
        self.write_descriptions(&kept)?;
        self.write_list(&List { slots: stay.iter().map(|kept| kept.slot).collect() })?;
        gone.iter().try_for_each(|kept| self.clear(kept.slot))?;
        Ok(true)
    }

    /// What the list names. The one identity of a profile of the first version is found here too.
    fn kept(&self) -> Result<Vec<Kept>, SecretsError> {
        let Some(bytes) = self.get(LIST)? else { return Ok(Vec::new()) };
        if let Ok(List { slots }) = serde_json::from_slice(&bytes) {
            let known = slots.chars().filter(|slot| SLOTS.contains(*slot));
            return known
                .map(|slot| {
                    let description = self.get(&entry(slot, "index"))?;
                    let description =
                        description.and_then(|bytes| serde_json::from_slice(&bytes).ok());
                    Ok(Kept { slot, description })
                })
                .collect();
        }
        let only: Description = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
        let slot = only.slot.filter(|slot| SLOTS.contains(*slot)).ok_or_else(damaged)?;
        Ok(vec![Kept { slot, description: Some(only) }])
    }

    /// Before the list is written for the first time: what stood in its place finds its own.
    fn write_descriptions(&self, kept: &[Kept]) -> Result<(), SecretsError> {
        for Kept { slot, description } in kept {
            if let Some(description) = description.as_ref().filter(|it| it.slot.is_some()) {
                self.put(&entry(*slot, "index"), &json(description)?)?;
            }
        }
        Ok(())
    }

    fn write_list(&self, list: &List) -> Result<(), SecretsError> {
        self.put(LIST, &json(list)?)
    }

    fn write(
        &self,
        slot: char,
        identity: &Identity,
        fingerprint: &str,
    ) -> Result<(), SecretsError> {
        let key_form = match identity.key() {
            PrivateKeyDer::Pkcs1(_) => KeyForm::Pkcs1,
            PrivateKeyDer::Sec1(_) => KeyForm::Sec1,
            _ => KeyForm::Pkcs8,
        };
        let key_parts = self.split(&entry(slot, "key"), identity.key().secret_der())?;
        let mut certificates = Vec::new();
        for (number, certificate) in identity.chain().iter().enumerate() {
            let name = entry(slot, &format!("certificate/{number}"));
            certificates.push(self.split(&name, certificate)?);
        }
        let fingerprint = fingerprint.to_owned();
        let description =
            Description { slot: None, key_form, key_parts, certificates, fingerprint };
        self.put(&entry(slot, "index"), &json(&description)?)
    }

    fn chain(&self, slot: char, description: &Description) -> Result<Vec<Vec<u8>>, SecretsError> {
        let parts = description.certificates.iter().enumerate().take(PARTS_MAX);
        parts
            .map(|(number, parts)| {
                let name = entry(slot, &format!("certificate/{number}"));
                Ok(self.joined(&name, *parts)?.ok_or_else(damaged)?.to_vec())
            })
            .collect()
    }

    fn split(&self, name: &str, bytes: &[u8]) -> Result<usize, SecretsError> {
        let parts = bytes.chunks(PART_BYTES_MAX);
        let count = parts.len();
        if count > PARTS_MAX {
            return Err(damaged());
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

    /// Removes every entry of a slot, also those of an interrupted write that nothing names.
    fn clear(&self, slot: char) -> Result<(), SecretsError> {
        self.remove(&entry(slot, "index"))?;
        self.clear_parts(&entry(slot, "key"))?;
        for number in 0..PARTS_MAX {
            if self.clear_parts(&entry(slot, &format!("certificate/{number}")))? == 0 {
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
}

fn entry(slot: char, part: &str) -> String {
    format!("identity/{slot}/{part}")
}

fn json(content: &impl Serialize) -> Result<Vec<u8>, SecretsError> {
    serde_json::to_vec(content).map_err(|_| damaged())
}

const fn damaged() -> SecretsError {
    SecretsError::Damaged { name: "identity" }
}
