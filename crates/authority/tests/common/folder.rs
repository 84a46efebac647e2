//! A data folder on the store that this suite is about: SQLite, or a PostgreSQL of the tests' own in the
//! suite `postgres`.

use std::path::Path;

use tempfile::TempDir;

/// Whether this is the suite on PostgreSQL.
pub const ON_POSTGRES: bool = matches!(env!("CARGO_CRATE_NAME").as_bytes(), b"postgres");

pub struct Folder {
    dir: TempDir,
    #[cfg(postgres_is_installed)]
    database: Option<super::postgres::Database>,
}

impl Folder {
    /// An empty folder, which knows its store.
    pub fn new() -> Self {
        #[cfg(postgres_is_installed)]
        if ON_POSTGRES {
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
    pub fn on(database: super::postgres::Database) -> Self {
        let dir = TempDir::new().unwrap();
        authority::record_store(dir.path(), &database.url().parse().unwrap()).unwrap();
        Self { dir, database: Some(database) }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    #[cfg(postgres_is_installed)]
    pub fn database(&self) -> Option<&super::postgres::Database> {
        self.database.as_ref()
    }

    /// One number of the database.
    pub fn count(&self, sql: &str) -> i64 {
        #[cfg(postgres_is_installed)]
        if let Some(database) = &self.database {
            return database.ask(sql).unwrap().trim().parse().unwrap();
        }
        self.sqlite().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Changes the database behind the service's back.
    pub fn execute(&self, sql: &str) -> Result<(), String> {
        #[cfg(postgres_is_installed)]
        if let Some(database) = &self.database {
            return database.ask(sql).map(drop);
        }
        self.sqlite().execute_batch(sql).map_err(|error| error.to_string())
    }

    /// The one stored body.
    pub fn body(&self) -> Vec<u8> {
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
