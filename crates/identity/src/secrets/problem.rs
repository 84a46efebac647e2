//! Why secrets cannot be read or kept.

use std::io;

use thiserror::Error;

/// Typed by what has to be done next. `cause` and `Io` are for the log, not for a message.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "fields are parameters named in `params`")]
pub enum SecretsError {
    /// This computer has no keychain, or it cannot be reached: use a vault, or start the keychain.
    #[error("no keychain: {cause}")]
    NoKeychain { cause: String },
    /// The keychain is locked: unlock it and try again.
    #[error("the keychain is locked: {cause}")]
    Locked { cause: String },
    /// The person refused access.
    #[error("access to the keychain was refused")]
    Denied,
    /// `journal-key`, `vault` or `practice-secrets` does not exist (any more).
    #[error("{name} is missing")]
    Missing { name: &'static str },
    /// It exists already and is not overwritten.
    #[error("{name} exists already")]
    Exists { name: &'static str },
    /// The entries do not belong together; the identity is to be imported again.
    #[error("{name} is damaged")]
    Damaged { name: &'static str },
    /// There is no room for one more identity: one that is not needed any more is to be removed.
    #[error("{limit} identities are stored already")]
    TooMany { limit: usize },
    /// The passphrase does not open the vault.
    #[error("the passphrase does not open the vault")]
    WrongPassphrase,
    /// The vault needs a passphrase (not an empty one).
    #[error("the vault needs a passphrase")]
    PassphraseNeeded,
    /// A new passphrase is too short or says the same again and again.
    #[error("the passphrase is too weak")]
    WeakPassphrase { least: usize },
    /// There is no vault whose passphrase could be changed: the secrets rest elsewhere.
    #[error("there is no vault")]
    NoVault,
    /// The passphrase may be right, but the vault was altered or cut.
    #[error("the vault is damaged")]
    VaultDamaged,
    /// The operating system gives no random numbers.
    #[error("no randomness")]
    NoRandomness,
    /// A file could not be read or written; `operation` says which.
    #[error("{operation}")]
    Io {
        operation: &'static str,
        #[source]
        source: io::Error,
    },
}

impl SecretsError {
    /// Stable code in kebab-case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoKeychain { .. } => "no-keychain",
            Self::Locked { .. } => "keychain-locked",
            Self::Denied => "keychain-denied",
            Self::Missing { .. } => "secret-missing",
            Self::Exists { .. } => "secret-exists",
            Self::Damaged { .. } => "secret-damaged",
            Self::TooMany { .. } => "too-many-certificates",
            Self::WrongPassphrase => "wrong-passphrase",
            Self::PassphraseNeeded => "passphrase-needed",
            Self::WeakPassphrase { .. } => "passphrase-weak",
            Self::NoVault => "no-vault",
            Self::VaultDamaged => "vault-damaged",
            Self::NoRandomness => "no-randomness",
            Self::Io { .. } => "secrets-io",
        }
    }

    /// Parameters of the message, by name.
    pub fn params(&self) -> Vec<(String, String)> {
        let pair = |name: &str, value: String| vec![(name.to_owned(), value)];
        match self {
            Self::NoKeychain { cause } | Self::Locked { cause } => pair("cause", cause.clone()),
            Self::Missing { name } | Self::Exists { name } | Self::Damaged { name } => {
                pair("name", (*name).to_owned())
            }
            Self::WeakPassphrase { least } => pair("least", least.to_string()),
            Self::TooMany { limit } => pair("limit", limit.to_string()),
            Self::Io { operation, source } => vec![
                ("operation".to_owned(), (*operation).to_owned()),
                ("cause".to_owned(), source.kind().to_string()),
            ],
            _ => Vec::new(),
        }
    }

    pub(crate) const fn io(operation: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { operation, source }
    }
}
