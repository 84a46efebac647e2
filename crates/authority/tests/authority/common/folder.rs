//! A data folder on the store that a test runs on: SQLite, or a PostgreSQL of the tests' own.

use std::path::Path;

use tempfile::TempDir;

use crate::setting::on_postgres;

pub(crate) struct Folder {
    dir: TempDir,
    #[cfg(postgres_is_installed)]
    database: Option<super::postgres::Database>,
}

impl Folder {
    /// An empty folder, which knows its store.
    pub(crate) fn new() -> Self {
        #[cfg(postgres_is_installed)]
        if on_postgres() {
            return Self::on(super::postgres::Database::new());
        }
        Self {
            dir: TempDir::new().unwrap(),
            #[cfg(postgres_is_installed)]
            database: None,
        }
    }

    /// An empty folder, whose store is this database.
    #[cfg(postgres_is_installed)]
    pub(crate) fn on(database: super::postgres::Database) -> Self {
        let dir = TempDir::new().unwrap();
        authority::record_store(dir.path(), &database.url().parse().unwrap()).unwrap();
        Self { dir, database: Some(database) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Address of its PostgreSQL, where it is on one.
    pub(crate) fn url(&self) -> Option<String> {
        #[cfg(postgres_is_installed)]
        if let Some(database) = &self.database {
            return Some(database.url());
        }
        None
    }

    /// One number of the database.
    pub(crate) fn count(&self, sql: &str) -> i64 {
        #[cfg(postgres_is_installed)]
        if let Some(database) = &self.database {
            return database.ask(sql).unwrap().trim().parse().unwrap();
        }
        self.sqlite().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Changes the database behind the service's back.
    pub(crate) fn execute(&self, sql: &str) -> Result<(), String> {
        #[cfg(postgres_is_installed)]
        if let Some(database) = &self.database {
            return database.ask(sql).map(drop);
        }
        self.sqlite().execute_batch(sql).map_err(|error| error.to_string())
    }

    /// The one stored body.
    pub(crate) fn body(&self) -> Vec<u8> {
        #[cfg(postgres_is_installed)]
        if let Some(database) = &self.database {
            let hex = database.ask("SELECT encode(body, 'hex') FROM content").unwrap();
            let digit =
                |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
            return hex.trim().as_bytes().chunks(2).map(digit).collect();
        }
        self.sqlite().query_row("SELECT body FROM content", [], |row| row.get(0)).unwrap()
    }

    fn sqlite(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path().join("authority.sqlite")).unwrap()
    }
}
