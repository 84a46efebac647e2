//! What an operator does beside a running service: laboratories, their certificates, the audit log.
//! Everything takes effect at the next request, without a restart.

use std::path::Path;

use fhir::Instant;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;

use crate::AuthorityError;
use crate::clock;
use crate::private;
use crate::store::{AuditFilter, AuditLine, RegisteredCertificate, Registry, StoreUrl};
use crate::tls::pki::{self, IssuedCertificate, check_name};

/// Shortest start of a fingerprint that names a certificate.
const FINGERPRINT_MIN: usize = 8;

/// A laboratory in the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredLaboratory {
    /// Its name.
    pub name: String,
    /// How many certificates it may use now: neither revoked nor expired.
    pub certificates: u32,
}

/// Records where the store of a data folder is, for every later command and for `serve`; without
/// it, it is a file in the folder. The folder is made if it is not there. A store that cannot be
/// opened is not recorded.
pub fn record_store(data: &Path, store: &StoreUrl) -> Result<(), AuthorityError> {
    if StoreUrl::of(data)? == *store {
        return Ok(());
    }
    private::make_folder(data)
        .map_err(|source| AuthorityError::File { path: data.to_owned(), source })?;
    let opened = Registry::open_at(data, store);
    drop(opened.map_err(|error| AuthorityError::OpenStore {
        store: format!("{store:?}"),
        source: Box::new(error),
    })?);
    store.record(data)
}

/// The same for a folder that has been initialised; another one is refused.
pub fn use_store(data: &Path, store: &StoreUrl) -> Result<(), AuthorityError> {
    if !is_initialised(data) {
        return Err(AuthorityError::NotInitialised(data.to_owned()));
    }
    record_store(data, store)
}

/// Whether `init` has been run on a folder.
pub(crate) fn is_initialised(data: &Path) -> bool {
    data.join("ca.pem").exists()
}

/// Adds a laboratory without a certificate; whether it is new.
pub fn add_laboratory(data: &Path, name: &str) -> Result<bool, AuthorityError> {
    check_name(name)?;
    Ok(registry(data)?.add(name)?)
}

/// Every laboratory, by name.
pub fn laboratories(data: &Path) -> Result<Vec<RegisteredLaboratory>, AuthorityError> {
    let all = registry(data)?.laboratories(clock::now())?;
    let entry = |(name, certificates)| RegisteredLaboratory { name, certificates };
    Ok(all.into_iter().map(entry).collect())
}

/// One more certificate for a laboratory; those that it has stay valid, so that it can change over.
pub fn issue_certificate(
    data: &Path,
    laboratory: &str,
) -> Result<IssuedCertificate, AuthorityError> {
    let registry = known(data, laboratory)?;
    pki::issue(data, &registry, laboratory)
}

/// Registers a certificate of a configured CA (PEM or DER file) for a laboratory; its fingerprint,
/// and whether it is new.
pub fn register_certificate(
    data: &Path,
    laboratory: &str,
    file: &Path,
) -> Result<(String, bool), AuthorityError> {
    let registry = known(data, laboratory)?;
    let bytes = std::fs::read(file)
        .map_err(|source| AuthorityError::File { path: file.to_owned(), source })?;
    let der = CertificateDer::from_pem_slice(&bytes).map_or(bytes, |pem| pem.to_vec());
    pki::register(&registry, laboratory, &der)
}

/// Refuses a certificate from now on; `fingerprint` may be its start, 8 digits or more.
pub fn revoke_certificate(
    data: &Path,
    fingerprint: &str,
) -> Result<RegisteredCertificate, AuthorityError> {
    let registry = registry(data)?;
    let wanted = fingerprint.replace(':', "").to_ascii_lowercase();
    let found = |certificates: Vec<RegisteredCertificate>| {
        let mut all = certificates.into_iter().filter(|one| one.fingerprint.starts_with(&wanted));
        all.next().filter(|_| wanted.len() >= FINGERPRINT_MIN && all.next().is_none())
    };
    let unknown = || AuthorityError::Fingerprint(fingerprint.to_owned());
    let certificate = found(registry.certificates(None)?).ok_or_else(unknown)?;
    registry.revoke(&certificate.fingerprint, clock::now())?;
    found(registry.certificates(None)?).ok_or_else(unknown)
}

/// Certificates of one laboratory, or of all.
pub fn certificates(
    data: &Path,
    laboratory: Option<&str>,
) -> Result<Vec<RegisteredCertificate>, AuthorityError> {
    let registry = match laboratory {
        Some(name) => known(data, name)?,
        None => registry(data)?,
    };
    Ok(registry.certificates(laboratory)?)
}

/// Lines of the audit log, oldest first.
pub fn audit(data: &Path, filter: &AuditFilter) -> Result<Vec<AuditLine>, AuthorityError> {
    let registry = match &filter.laboratory {
        Some(name) => known(data, name)?,
        None => registry(data)?,
    };
    Ok(registry.audit(filter)?)
}

/// Deletes lines of the audit log from before a time, which must be past; how many. That they were
/// deleted is itself on record, and stays.
pub fn forget_audit(data: &Path, until: Instant) -> Result<u64, AuthorityError> {
    let now = clock::now();
    if until > now {
        return Err(AuthorityError::NotPast);
    }
    Ok(registry(data)?.forget_audit(until, now)?)
}

/// Whether a certificate has expired by now.
pub fn is_expired(certificate: &RegisteredCertificate) -> bool {
    certificate.not_after.is_some_and(|Instant(end)| end < clock::now().0)
}

fn known(data: &Path, laboratory: &str) -> Result<Registry, AuthorityError> {
    let registry = registry(data)?;
    if registry.has(laboratory)? {
        Ok(registry)
    } else {
        Err(AuthorityError::UnknownLaboratory(laboratory.to_owned()))
    }
}

fn registry(data: &Path) -> Result<Registry, AuthorityError> {
    if !is_initialised(data) {
        return Err(AuthorityError::NotInitialised(data.to_owned()));
    }
    Registry::open(data)
}
