//! The audit log: who sent and read what, without patient data. Rows are only ever added.

use fhir::Instant;
use rusqlite::{Connection, Transaction, params};

/// One answered request.
#[derive(Debug, Clone)]
pub(crate) struct AuditEntry {
    /// `None`: the certificate is not registered, or revoked.
    pub(crate) laboratory: Option<i64>,
    pub(crate) certificate: String,
    pub(crate) interaction: &'static str,
    pub(crate) receipt: Option<String>,
    pub(crate) entries: Option<u32>,
    pub(crate) status: u16,
}

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLine {
    /// When it was answered.
    pub at: Instant,
    /// Name of the laboratory; `None`: the certificate was not registered, or revoked.
    pub laboratory: Option<String>,
    /// Fingerprint of the client certificate.
    pub certificate: String,
    /// `create`, `read`, `search` or `other`.
    pub interaction: String,
    /// The document, where the request was about one of the laboratory's own.
    pub receipt: Option<String>,
    /// How many documents a search showed.
    pub entries: Option<u32>,
    /// HTTP status of the answer.
    pub status: u16,
}

/// Which lines of the audit log are wanted.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Of this laboratory.
    pub laboratory: Option<String>,
    /// About this document.
    pub receipt: Option<String>,
    /// The newest so many; `None`: all.
    pub last: Option<u32>,
}

pub(super) fn append(
    transaction: &Transaction<'_>,
    entry: &AuditEntry,
    at: Instant,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO audit (at, laboratory, certificate, interaction, receipt, entries, status)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            at.0,
            entry.laboratory,
            entry.certificate,
            entry.interaction,
            entry.receipt,
            entry.entries,
            entry.status
        ])?;
    Ok(())
}

/// The wanted lines, oldest first.
pub(crate) fn lines(
    connection: &Connection,
    filter: &AuditFilter,
) -> rusqlite::Result<Vec<AuditLine>> {
    let mut statement = connection.prepare(
        "SELECT at, name, certificate, interaction, receipt, entries, status FROM audit
         LEFT JOIN laboratory ON laboratory.id = laboratory
         WHERE (?1 IS NULL OR name = ?1) AND (?2 IS NULL OR receipt = ?2)
         ORDER BY audit.id DESC LIMIT ?3",
    )?;
    let last = filter.last.map_or(-1, i64::from);
    let rows = statement.query_map(params![filter.laboratory, filter.receipt, last], |row| {
        Ok(AuditLine {
            at: Instant(row.get(0)?),
            laboratory: row.get(1)?,
            certificate: row.get(2)?,
            interaction: row.get(3)?,
            receipt: row.get(4)?,
            entries: row.get(5)?,
            status: row.get(6)?,
        })
    })?;
    let mut lines = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    lines.reverse();
    Ok(lines)
}
