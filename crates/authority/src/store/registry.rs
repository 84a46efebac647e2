//! Which certificate belongs to which laboratory.

use std::path::Path;

use rusqlite::{Connection, params};

use super::open_writing;

/// A laboratory as the authority knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Laboratory {
    pub(crate) id: i64,
    pub(crate) name: String,
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

    /// Adds a certificate to a laboratory, and the laboratory if it is new.
    pub(crate) fn register(&self, name: &str, fingerprint: &str) -> rusqlite::Result<()> {
        self.0
            .execute("INSERT INTO laboratory (name) VALUES (?1) ON CONFLICT DO NOTHING", [name])?;
        self.0.execute(
            "INSERT INTO certificate (fingerprint, laboratory)
             SELECT ?2, id FROM laboratory WHERE name = ?1",
            params![name, fingerprint],
        )?;
        Ok(())
    }
}
