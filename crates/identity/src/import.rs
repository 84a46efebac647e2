//! Import: from files as they come to a chain and its key, recognised by content.

mod ber;
mod bounds;
mod inside;
pub(crate) mod kind;
mod matching;
pub(crate) mod pem;
mod sealed;

use rustls_pki_types::CertificateDer;
use zeroize::Zeroizing;

pub(crate) use kind::DerKind;
pub(crate) use matching::{SecretKey, key_of, pair};

use crate::import_error::ImportError;
use crate::inspection;
use crate::password::Password;

/// A `.p12` with a long chain is below 32 kB.
const FILE_BYTES_MAX: usize = 256 * 1024;

/// What the files held, so far.
#[derive(Default)]
struct Found {
    certificates: Vec<Vec<u8>>,
    keys: Vec<(DerKind, Zeroizing<Vec<u8>>)>,
    /// Things that are neither: named if a certificate or key is missing in the end.
    others: Vec<&'static str>,
}

/// A chain and the key that matches its first certificate.
pub(crate) fn import(
    files: &[&[u8]],
    password: Option<&Password>,
) -> Result<(Vec<CertificateDer<'static>>, SecretKey), ImportError> {
    let mut found = Found::default();
    if let Some(file) = files.iter().find(|file| file.len() > FILE_BYTES_MAX) {
        return Err(ImportError::TooLarge { bytes: file.len(), limit: FILE_BYTES_MAX });
    }
    // Before one of them is opened: the password of another would be called wrong.
    let sealed = files.iter().filter(|file| kind::is_pkcs12(file)).count();
    if sealed > 1 {
        return Err(ImportError::SeveralFiles { count: sealed });
    }
    for file in files {
        found.read(file, password)?;
    }
    let Found { certificates, mut keys, others } = found;
    let foreign = others.first().copied();
    if certificates.is_empty() && keys.is_empty() {
        return Err(ImportError::NotACertificateFile { found: foreign.unwrap_or("empty") });
    }
    if keys.len() > 1 {
        return Err(ImportError::SeveralKeys { count: keys.len() });
    }
    let missing = |problem: ImportError| {
        // "There is a request instead of a certificate" tells more than "there is no certificate".
        foreign.map_or(problem, |found| ImportError::NotACertificateFile { found })
    };
    if certificates.is_empty() {
        return Err(missing(ImportError::NoCertificate));
    }
    let Some((kind, bytes)) = keys.pop() else {
        let is_of_ca = certificates.iter().all(|der| inspection::is_ca(der));
        let why = if is_of_ca { ImportError::CaWithoutKey } else { ImportError::NoKey };
        return Err(missing(why));
    };
    let key = match kind {
        DerKind::DsaKey => {
            return Err(ImportError::UnsupportedKey { key_type: "DSA".to_owned() });
        }
        kind => key_of(bytes, kind).ok_or(ImportError::Damaged { kind: "private-key" })?,
    };
    pair(key, &certificates)
}

impl Found {
    fn read(&mut self, file: &[u8], password: Option<&Password>) -> Result<(), ImportError> {
        if let Some(text) = pem::text_of(file) {
            let blocks = pem::blocks(&text).map_err(|()| ImportError::Damaged { kind: "pem" })?;
            return blocks.iter().try_for_each(|block| self.block(block, password));
        }
        match kind::of_der(file) {
            Some(DerKind::Pkcs12) if ber::is_needed(file) => {
                self.opened(sealed::pkcs12_in_ber(file, password)?);
                Ok(())
            }
            Some(kind) => self.der(kind, file, password),
            // With indefinite lengths the shape is seen only after conversion.
            None if ber::is_needed(file) => {
                let kind = ber::outer(file).and_then(|der| kind::of_der(&der));
                match kind {
                    Some(DerKind::Pkcs12) => self.opened(sealed::pkcs12_in_ber(file, password)?),
                    Some(DerKind::Other(name)) => self.others.push(name),
                    _ => return Err(ImportError::Damaged { kind: "der" }),
                }
                Ok(())
            }
            None if kind::begins_like_der(file) => Err(ImportError::Damaged { kind: "der" }),
            None => {
                self.others.push(kind::of_foreign(file));
                Ok(())
            }
        }
    }

    fn block(
        &mut self,
        block: &pem::Block,
        password: Option<&Password>,
    ) -> Result<(), ImportError> {
        let opened;
        let bytes: &[u8] = match &block.dek_info {
            Some(dek_info) => {
                opened = sealed::legacy_pem(&block.der, dek_info, password)?;
                &opened
            }
            None => &block.der,
        };
        let other = match block.label.as_str() {
            "EC PARAMETERS" | "X509 CRL" => return Ok(()),
            "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => "csr",
            "PUBLIC KEY" | "RSA PUBLIC KEY" => "public-key",
            "PKCS7" | "CMS" => "pkcs7",
            "OPENSSH PRIVATE KEY" => "ssh-key",
            label if label.starts_with("PGP ") => "pgp",
            label => {
                let kind = kind::of_der(bytes);
                let damaged =
                    if label.ends_with("PRIVATE KEY") { "private-key" } else { "certificate" };
                return match kind {
                    Some(kind) => self.der(kind, bytes, password),
                    None => Err(ImportError::Damaged { kind: damaged }),
                };
            }
        };
        self.others.push(other);
        Ok(())
    }

    fn opened(&mut self, opened: sealed::Opened) {
        self.certificates.extend(opened.certificates);
        opened.keys.into_iter().for_each(|key| self.key(DerKind::Pkcs8, key));
    }

    /// The same key twice (in a `.p12` and beside it) is one key.
    fn key(&mut self, kind: DerKind, bytes: Zeroizing<Vec<u8>>) {
        if !self.keys.iter().any(|(_, known)| *known == bytes) {
            self.keys.push((kind, bytes));
        }
    }

    fn der(
        &mut self,
        kind: DerKind,
        bytes: &[u8],
        password: Option<&Password>,
    ) -> Result<(), ImportError> {
        match kind {
            DerKind::Certificate => self.certificates.push(bytes.to_vec()),
            DerKind::Pkcs12 => {
                self.opened(sealed::pkcs12(bytes, password)?);
            }
            DerKind::EncryptedPkcs8 => {
                self.key(DerKind::Pkcs8, sealed::pkcs8(bytes, password)?);
            }
            DerKind::Pkcs8 | DerKind::Pkcs1 | DerKind::Sec1 | DerKind::DsaKey => {
                self.key(kind, Zeroizing::new(bytes.to_vec()));
            }
            DerKind::Other(name) => self.others.push(name),
        }
        Ok(())
    }
}
