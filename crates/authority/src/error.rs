//! Why the authority cannot be set up or started.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// What an operator has to mend before the authority can run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorityError {
    /// A file or folder of the data directory.
    #[error("cannot use {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// What is wrong is in this file.
    #[error("in {}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: Box<AuthorityError>,
    },
    /// A laboratory's name that cannot be a file name.
    #[error(
        "laboratory name {0:?}: letters, digits, `.`, `_` and `-`, at most 64, not starting \
         with `.`"
    )]
    LaboratoryName(String),
    /// A certificate or key that cannot be made or read.
    #[error("cannot {operation}")]
    Certificate {
        /// What was tried.
        operation: &'static str,
        /// What lies beneath.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// `init` has not been run on this folder.
    #[error("{} is not an initialised data folder (run `init` first)", .0.display())]
    NotInitialised(PathBuf),
    /// A name or address that no server certificate can have.
    #[error("host {0:?}: a name like authority.example or an IP address")]
    HostName(String),
    /// No laboratory of this name is registered.
    #[error("no laboratory is called {0:?} (see `laboratory list`)")]
    UnknownLaboratory(String),
    /// No registered certificate, or several, have a fingerprint that starts so.
    #[error("{0:?} is not the start of exactly one fingerprint (see `certificate list`)")]
    Fingerprint(String),
    /// The admin port would be open to other computers.
    #[error("the admin port is for this computer only: {0} is not a loopback address")]
    AdminAddress(SocketAddr),
    /// Fault plans are taken by a Unix socket, which this system does not have.
    #[error("fault plans are taken by a Unix socket, and this system has none")]
    NoSocket,
    /// The fault plan.
    #[error("cannot read the fault plan: {0}")]
    Faults(String),
    /// The file with limits of single laboratories.
    #[error("cannot read the limits: {0}")]
    Limits(String),
    /// Lines of the audit log are deleted up to a time that is past.
    #[error("that time is not past")]
    NotPast,
    /// The rule file.
    #[error("cannot read the rules: {0}")]
    Rules(String),
    /// A file that is no package of FHIR definitions.
    #[error("{} is not a package of rules", path.display())]
    Package {
        /// The file.
        path: PathBuf,
        /// What lies beneath.
        #[source]
        reason: rules::Fault,
    },
    /// The packages of rules in the data folder.
    #[error("cannot use the packages of rules")]
    RulesPackages(#[source] rules::StoreFault),
    /// `--store`, or what is recorded in the data folder.
    #[error("cannot use this store: {0}")]
    StoreUrl(String),
    /// A store that was named and cannot be opened.
    #[error("cannot open the store {store}")]
    OpenStore {
        /// Its address, without a password.
        store: String,
        /// What lies beneath.
        #[source]
        source: Box<AuthorityError>,
    },
    /// The database.
    #[error("cannot use the database")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The address to listen on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What lies beneath.
        #[source]
        source: std::io::Error,
    },
}

impl AuthorityError {
    /// The same, told of this file.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        match self {
            Self::File { .. } | Self::InFile { .. } => self,
            other => Self::InFile { path: path.to_owned(), source: Box::new(other) },
        }
    }
}
