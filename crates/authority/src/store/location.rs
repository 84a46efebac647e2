//! Where the store is: a file in the data folder, or a PostgreSQL that many processes share.

use std::fmt;
use std::io::Write as _;
use std::path::Path;
use std::str::FromStr;

use crate::{AuthorityError, private};

/// Where documents, laboratories, the queue and the audit log are kept.
///
/// `sqlite` is a file in the data folder. `postgres://user@host:port/database` is shared by any
/// number of processes; `postgres:///database?host=/run/postgresql` goes by a Unix socket. The
/// password comes from the URL, from `password_file=FILE`, or from the environment variable
/// `PGPASSWORD`. The connection is by TLS, with the server's certificate verified, unless it stays
/// on this computer; `sslmode=require` and `sslmode=disable` say otherwise, `sslrootcert=FILE`
/// names CAs (PEM) in place of the system's.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct StoreUrl(Option<String>);

/// File in the data folder that remembers where the store is.
const RECORD: &str = "store.url";

impl StoreUrl {
    /// The store of a data folder: as recorded there, or SQLite.
    pub(crate) fn of(data: &Path) -> Result<Self, AuthorityError> {
        let path = data.join(RECORD);
        match std::fs::read_to_string(&path) {
            Ok(text) => text.trim().parse(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(AuthorityError::File { path, source }),
        }
    }

    /// Records it in a data folder, for every later command; readable by its owner only, for it may
    /// hold a password. Whoever records it has opened it.
    pub(crate) fn record(&self, data: &Path) -> Result<(), AuthorityError> {
        if Self::of(data)? == *self {
            return Ok(());
        }
        let path = data.join(RECORD);
        let written = || {
            private::make_folder(data)?;
            let fresh = path.with_extension("new");
            let mut file = private::create(&fresh)?;
            writeln!(file, "{}", self.0.as_deref().unwrap_or("sqlite"))?;
            file.sync_all()?;
            std::fs::rename(&fresh, &path)
        };
        written().map_err(|source| AuthorityError::File { path: path.clone(), source })
    }

    /// The URL of a PostgreSQL; `None`: SQLite.
    pub(crate) fn postgres(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl FromStr for StoreUrl {
    type Err = AuthorityError;

    fn from_str(text: &str) -> Result<Self, AuthorityError> {
        if text == "sqlite" {
            return Ok(Self(None));
        }
        let url = Self(Some(text.to_owned()));
        // Said now and not when it is used first.
        super::postgres::Target::parse(text)?;
        Ok(url)
    }
}

/// Without the password, wherever it stands.
impl fmt::Debug for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(url) = &self.0 else { return formatter.write_str("sqlite") };
        let address = url.split('?').next().unwrap_or_default();
        let place = address.rsplit_once('@').map_or(address, |(_, place)| place);
        let place = place.strip_prefix("postgres://").unwrap_or(place);
        write!(formatter, "postgres://…@{place}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_folder_remembers_its_store_and_nobody_else_reads_it() {
        let folder = tempfile::TempDir::new().unwrap();
        assert_eq!(StoreUrl::of(folder.path()).unwrap(), StoreUrl::default());
        let url: StoreUrl =
            "postgres://u:geheim@db.example:6000/a?password=geheim".parse().unwrap();
        url.record(folder.path()).unwrap();
        assert_eq!(StoreUrl::of(folder.path()).unwrap(), url);
        assert!(
            !format!("{url:?}").contains("geheim") && format!("{url:?}").contains("db.example")
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let facts = std::fs::metadata(folder.path().join(RECORD)).unwrap();
            assert_eq!(facts.permissions().mode() & 0o777, 0o600);
        }
        "sqlite".parse::<StoreUrl>().unwrap().record(folder.path()).unwrap();
        assert_eq!(StoreUrl::of(folder.path()).unwrap(), StoreUrl::default());
        for wrong in ["mysql://x/y", "postgres://h/d?sslmode=prefer", "postgres://h/d?colour=red"] {
            assert!(wrong.parse::<StoreUrl>().is_err(), "{wrong}");
        }
    }
}
