//! Which certificate belongs to which laboratory, and until when.

use std::path::Path;

use fhir::Instant;

use super::location::StoreUrl;
use super::{AuditFilter, AuditLine, StoreError, postgres, sqlite};
use crate::AuthorityError;

/// A laboratory as the authority knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Laboratory {
    pub(crate) id: i64,
    pub(crate) name: String,
}

/// A laboratory's certificate in the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredCertificate {
    /// SHA-256 of the certificate (DER), lower-case hexadecimal.
    pub fingerprint: String,
    /// Name of its laboratory.
    pub laboratory: String,
    /// Start of its validity; not known of those registered by the first version of this program.
    pub issued: Option<Instant>,
    /// End of its validity.
    pub not_after: Option<Instant>,
    /// Since when it is refused; `None`: it is not.
    pub revoked: Option<Instant>,
}

/// The registry and the audit log, opened for an administrator's command.
pub(crate) enum Registry {
    Sqlite(sqlite::Records),
    Postgres(postgres::Records),
}

/// The laboratory that a certificate belongs to, unless it is revoked.
pub(super) const LABORATORY: &str = "SELECT laboratory.id, name FROM certificate
     JOIN laboratory ON laboratory.id = laboratory
     WHERE fingerprint = ?1 AND revoked IS NULL";
pub(super) const KNOWS: &str = "SELECT EXISTS (SELECT 1 FROM certificate
     JOIN laboratory ON laboratory.id = laboratory WHERE name = ?1)";
pub(super) const HAS: &str = "SELECT EXISTS (SELECT 1 FROM laboratory WHERE name = ?1)";
pub(super) const ADD: &str = "INSERT INTO laboratory (name) VALUES (?1) ON CONFLICT DO NOTHING";
pub(super) const LABORATORIES: &str =
    "SELECT name, (SELECT count(*) FROM certificate c WHERE c.laboratory = l.id
                   AND c.revoked IS NULL AND coalesce(c.not_after, ?1) >= ?1)
     FROM laboratory l ORDER BY name";
pub(super) const REGISTER: &str =
    "INSERT INTO certificate (fingerprint, laboratory, issued, not_after)
     SELECT ?2, id, ?3, ?4 FROM laboratory WHERE name = ?1 ON CONFLICT DO NOTHING";
pub(super) const CERTIFICATES: &str =
    "SELECT fingerprint, name, issued, not_after, revoked FROM certificate
     JOIN laboratory ON laboratory.id = laboratory
     WHERE CAST(?1 AS TEXT) IS NULL OR name = ?1 ORDER BY name, issued, fingerprint";
pub(super) const REVOKE: &str =
    "UPDATE certificate SET revoked = coalesce(revoked, ?2) WHERE fingerprint = ?1";

impl Registry {
    /// Opens the store of a data folder, and brings it up to date.
    pub(crate) fn open(data: &Path) -> Result<Self, AuthorityError> {
        Self::open_at(data, &StoreUrl::of(data)?)
    }

    /// Opens this store for a data folder, and brings it up to date.
    pub(crate) fn open_at(data: &Path, store: &StoreUrl) -> Result<Self, AuthorityError> {
        Ok(match store.postgres() {
            None => Self::Sqlite(sqlite::Records::open(data).map_err(StoreError::from)?),
            Some(url) => Self::Postgres(postgres::Records::open(url)?),
        })
    }

    /// Whether a laboratory of this name has a certificate.
    pub(crate) fn knows(&self, name: &str) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(records) => Ok(records.knows(name)?),
            Self::Postgres(records) => records.knows(name),
        }
    }

    /// Whether there is a laboratory of this name, with certificates or without.
    pub(crate) fn has(&self, name: &str) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(records) => Ok(records.has(name)?),
            Self::Postgres(records) => records.has(name),
        }
    }

    /// Adds a laboratory; whether it is new.
    pub(crate) fn add(&self, name: &str) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(records) => Ok(records.add(name)?),
            Self::Postgres(records) => records.add(name),
        }
    }

    /// Every laboratory by name, with how many certificates it may use at this time.
    pub(crate) fn laboratories(&self, now: Instant) -> Result<Vec<(String, u32)>, StoreError> {
        match self {
            Self::Sqlite(records) => Ok(records.laboratories(now)?),
            Self::Postgres(records) => records.laboratories(now),
        }
    }

    /// Adds a certificate to a laboratory, and the laboratory if it is new; whether the certificate
    /// is new.
    pub(crate) fn register(
        &self,
        name: &str,
        fingerprint: &str,
        issued: Instant,
        not_after: Instant,
    ) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(records) => Ok(records.register(name, fingerprint, issued, not_after)?),
            Self::Postgres(records) => records.register(name, fingerprint, issued, not_after),
        }
    }

    /// Certificates of one laboratory, or of all.
    pub(crate) fn certificates(
        &self,
        laboratory: Option<&str>,
    ) -> Result<Vec<RegisteredCertificate>, StoreError> {
        match self {
            Self::Sqlite(records) => Ok(records.certificates(laboratory)?),
            Self::Postgres(records) => records.certificates(laboratory),
        }
    }

    /// Refuses a certificate from this time on; one that is refused already stays as it is.
    pub(crate) fn revoke(&self, fingerprint: &str, at: Instant) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(records) => Ok(records.revoke(fingerprint, at)?),
            Self::Postgres(records) => records.revoke(fingerprint, at),
        }
    }

    /// The wanted lines of the audit log, oldest first.
    pub(crate) fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditLine>, StoreError> {
        let mut lines = match self {
            Self::Sqlite(records) => records.audit(filter)?,
            Self::Postgres(records) => records.audit(filter)?,
        };
        lines.reverse();
        Ok(lines)
    }

    /// Deletes lines of the audit log before a time, and records that; how many.
    pub(crate) fn forget_audit(&self, until: Instant, now: Instant) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(records) => Ok(records.forget_audit(until, now)?),
            Self::Postgres(records) => records.forget_audit(until, now),
        }
    }
}
