//! The audit log: who sent and read what, without patient data. Rows are only ever added.

use fhir::Instant;

/// One answered request.
#[derive(Debug, Clone)]
pub(crate) struct AuditEntry {
    /// `None`: the certificate is not registered, or revoked.
    pub(crate) laboratory: Option<i64>,
    pub(crate) certificate: String,
    pub(crate) interaction: &'static str,
    pub(crate) receipt: Option<String>,
    pub(crate) entries: Option<u32>,
    /// Ids of the documents that a search showed, with spaces between them.
    pub(crate) shown: Option<String>,
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
    /// `create`, `read`, `search`, `capabilities`, `throttled` or `other`.
    pub interaction: String,
    /// The document, where the request was about one of the laboratory's own.
    pub receipt: Option<String>,
    /// How many documents a search showed; of `throttled`: how many requests were refused.
    pub entries: Option<u32>,
    /// Which documents a search showed.
    pub shown: Vec<String>,
    /// HTTP status of the answer.
    pub status: u16,
}

/// Which lines of the audit log are wanted.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Of this laboratory.
    pub laboratory: Option<String>,
    /// About this document, or showing it.
    pub receipt: Option<String>,
    /// The newest so many; `None`: all.
    pub last: Option<u32>,
}

/// Parameters: at, laboratory, certificate, interaction, receipt, entries, status, shown.
pub(super) const APPEND: &str =
    "INSERT INTO audit (at, laboratory, certificate, interaction, receipt, entries, status, shown)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// The wanted lines, newest first. Parameters: laboratory's name or NULL, receipt or NULL, how
/// many.
pub(super) const LINES: &str =
    "SELECT at, name, certificate, interaction, receipt, entries, status, shown FROM audit
     LEFT JOIN laboratory ON laboratory.id = laboratory
     WHERE (CAST(?1 AS TEXT) IS NULL OR name = ?1)
       AND (CAST(?2 AS TEXT) IS NULL OR receipt = ?2 OR ' ' || shown || ' ' LIKE '% ' || ?2 || ' %')
     ORDER BY audit.id DESC LIMIT ?3";

/// Says for ever that lines before a time are not kept. Parameters: now, that time.
pub(super) const NOT_KEPT: &str = "INSERT INTO audit_retention (at, until) VALUES (?1, ?2)";
/// Deletes them. Parameter: that time.
pub(super) const FORGET: &str = "DELETE FROM audit WHERE at < ?1";

/// Ids as they are kept, one by one.
pub(super) fn ids(shown: Option<&str>) -> Vec<String> {
    shown.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}
