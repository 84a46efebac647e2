//! The laboratory's identity towards the authority: import of a certificate and its private key in
//! every form they come in, what can be seen of them, where they and the journal key rest
//! (operating system's keychain, or a vault sealed by a passphrase), and the TLS configuration made
//! of them.
//!
//! Deliberately not here: HTTP, the journal, prose for people (errors are codes with parameters).
//! The private key never leaves this crate except inside [`Identity::key`], which the TLS stack
//! takes.

mod ca;
mod der;
mod identity;
mod import;
mod import_error;
mod inspection;
mod password;
mod pin;
mod secrets;
mod trust;

pub use ca::AuthorityCa;
pub use identity::Identity;
pub use import_error::ImportError;
pub use inspection::{Inspection, KEY_USAGES};
pub use password::Password;
pub use pin::KeyPin;
pub use secrets::{Guard, JournalKey, Secrets, SecretsError, SecretsKind, StoredIdentity};
pub use trust::{
    AnotherKey, MutualTls, Presentation, SelfSigned, Trust, TrustProblem, server_trust,
    system_roots, tls_client_config,
};
