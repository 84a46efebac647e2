//! For tests only: certificates made at run time, valid report documents of made-up people, and
//! servers that misbehave on purpose. Nothing here is shipped, and nothing here is copied from a
//! real report.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test that cannot be set up fails; it has no better way"
)]

mod certificates;
mod collection;
mod document;
mod figures;
mod node;
mod openssl;
mod reaction;
mod server;
mod signing;

pub use certificates::{
    ClientCertificate, KeyKind, Purpose, ServerCertificate, TestCa, Validity, certificate_of_pem,
};
pub use collection::{Report, collection};
pub use document::{Disease, DocumentBuilder};
pub use figures::{FIGURES, Figures};
pub use openssl::{OpenSsl, RunningOpenSsl};
pub use reaction::Reaction;
pub use rustls_pki_types::CertificateDer;
pub use server::{ScriptedServer, ScriptedTls, Seen, TlsVersions};
pub use signing::FileSigner;

/// Writes a file that only its owner may read, as passphrases are kept.
///
/// # Panics
/// Where it cannot be written.
pub fn write_private(file: &std::path::Path, content: impl AsRef<[u8]>) {
    std::fs::write(file, content).expect("written");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let closed = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(file, closed).expect("closed to others");
    }
}
