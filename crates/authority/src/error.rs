//! Why the authority cannot be set up or started.

use std::net::SocketAddr;
use std::path::PathBuf;

/// What an operator has to mend before the authority can run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorityError {
    /// A file or folder of the data directory.
    #[error("cannot use {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A laboratory's name that cannot be a file name.
    #[error(
        "laboratory name {0:?}: letters, digits, `.`, `_` and `-`, at most 64, not starting with `.`"
    )]
    LaboratoryName(String),
    /// A certificate or key that cannot be made or read.
    #[error("cannot {operation}")]
    Certificate {
        /// What was tried.
        operation: &'static str,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// `init` has not been run on this folder.
    #[error("{} is not an initialised data folder (run `init` first)", .0.display())]
    NotInitialised(PathBuf),
    /// The rule file.
    #[error("cannot read the rules: {0}")]
    Rules(String),
    /// The database.
    #[error("cannot use the database")]
    Store(#[source] rusqlite::Error),
    /// The address to listen on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl From<rusqlite::Error> for AuthorityError {
    fn from(source: rusqlite::Error) -> Self {
        Self::Store(source)
    }
}
