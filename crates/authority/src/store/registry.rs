//! Which certificate belongs to which laboratory, and until when.

use std::path::Path;

use fhir::Instant;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::open_writing;

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

/// The registry, opened for an administrator's command.
pub(crate) struct Registry(Connection);

impl Registry {
    pub(crate) fn open(database: &Path) -> rusqlite::Result<Self> {
        open_writing(database).map(Self)
    }

    /// Whether a laboratory of this name has a certificate.
    pub(crate) fn knows(&self, name: &str) -> rusqlite::Result<bool> {
        self.0.query_row(
            "SELECT EXISTS (SELECT 1 FROM certificate JOIN laboratory ON laboratory.id = laboratory
             WHERE name = ?1)",
            [name],
            |row| row.get(0),
        )
    }

    /// Whether there is a laboratory of this name, with certificates or without.
    pub(crate) fn has(&self, name: &str) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM laboratory WHERE name = ?1)";
        self.0.query_row(sql, [name], |row| row.get(0))
    }

    /// Adds a laboratory; whether it is new.
    pub(crate) fn add(&self, name: &str) -> rusqlite::Result<bool> {
        let sql = "INSERT INTO laboratory (name) VALUES (?1) ON CONFLICT DO NOTHING";
        Ok(self.0.execute(sql, [name])? == 1)
    }

    /// Every laboratory by name, with how many certificates it may use at this time.
    pub(crate) fn laboratories(&self, now: Instant) -> rusqlite::Result<Vec<(String, u32)>> {
        let mut statement = self.0.prepare(
            "SELECT name, (SELECT count(*) FROM certificate c WHERE c.laboratory = l.id
                           AND c.revoked IS NULL AND coalesce(c.not_after, ?1) >= ?1)
             FROM laboratory l ORDER BY name",
        )?;
        let rows = statement.query_map([now.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }

    /// Adds a certificate to a laboratory, and the laboratory if it is new; whether the certificate is
    /// new.
    pub(crate) fn register(
        &self,
        name: &str,
        fingerprint: &str,
        issued: Instant,
        not_after: Instant,
    ) -> rusqlite::Result<bool> {
        self.add(name)?;
        let added = self.0.execute(
            "INSERT INTO certificate (fingerprint, laboratory, issued, not_after)
             SELECT ?2, id, ?3, ?4 FROM laboratory WHERE name = ?1 ON CONFLICT DO NOTHING",
            params![name, fingerprint, issued.0, not_after.0],
        )?;
        Ok(added == 1)
    }

    /// Certificates of one laboratory, or of all.
    pub(crate) fn certificates(
        &self,
        laboratory: Option<&str>,
    ) -> rusqlite::Result<Vec<RegisteredCertificate>> {
        let mut statement = self.0.prepare(
            "SELECT fingerprint, name, issued, not_after, revoked FROM certificate
             JOIN laboratory ON laboratory.id = laboratory
             WHERE ?1 IS NULL OR name = ?1 ORDER BY name, issued, fingerprint",
        )?;
        let rows = statement.query_map([laboratory], certificate)?;
        rows.collect()
    }

    /// Refuses a certificate from this time on; one that is refused already stays as it is.
    pub(crate) fn revoke(&self, fingerprint: &str, at: Instant) -> rusqlite::Result<()> {
        self.0.execute(
            "UPDATE certificate SET revoked = coalesce(revoked, ?2) WHERE fingerprint = ?1",
            params![fingerprint, at.0],
        )?;
        Ok(())
    }
}

/// The laboratory that a certificate belongs to, unless it is revoked.
pub(super) fn laboratory(
    connection: &Connection,
    fingerprint: &str,
) -> rusqlite::Result<Option<Laboratory>> {
    connection
        .prepare_cached(
            "SELECT laboratory.id, name FROM certificate
             JOIN laboratory ON laboratory.id = laboratory
             WHERE fingerprint = ?1 AND revoked IS NULL",
        )?
        .query_row([fingerprint], |row| Ok(Laboratory { id: row.get(0)?, name: row.get(1)? }))
        .optional()
}

fn certificate(row: &Row<'_>) -> rusqlite::Result<RegisteredCertificate> {
    let time = |column| row.get::<_, Option<i64>>(column).map(|time| time.map(Instant));
    Ok(RegisteredCertificate {
        fingerprint: row.get(0)?,
        laboratory: row.get(1)?,
        issued: time(2)?,
        not_after: time(3)?,
        revoked: time(4)?,
    })
}
