//! Every way in which a certificate file can be wrong.

use thiserror::Error;

/// Why nothing was imported. The code is for the message catalogue; nothing here carries file
/// content.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "fields are parameters named in `params`")]
pub enum ImportError {
    /// The file is sealed and no password was given.
    #[error("a password is needed")]
    PasswordNeeded,
    /// The password does not open the file.
    #[error("the password does not open the file")]
    WrongPassword,
    /// The file is of a kind that can be imported, but it is damaged. `kind` says what could not be
    /// read: `certificate`, `private-key`, `pkcs12`, `pem` or `der`.
    #[error("damaged {kind}")]
    Damaged { kind: &'static str },
    /// Certificates, but no private key.
    #[error("no private key")]
    NoKey,
    /// The same, and every certificate is that of a CA: it belongs to the authority's address.
    #[error("the certificate of a CA")]
    CaWithoutKey,
    /// Where a CA is wanted: a certificate that a CA has issued to somebody, or such a one with its
    /// key.
    #[error("no CA")]
    NotACa,
    /// Several files that each hold a certificate with its key, mostly with a password of its own.
    #[error("{count} files of PKCS #12")]
    SeveralFiles { count: usize },
    /// A private key (or nothing at all), but no certificate.
    #[error("no certificate")]
    NoCertificate,
    /// More than one private key: which one is meant cannot be told.
    #[error("{count} private keys")]
    SeveralKeys { count: usize },
    /// No certificate belongs to the key.
    #[error("the key belongs to none of the certificates")]
    KeyDoesNotMatch,
    /// The file is something else. `found` says what it seems to be: `empty`, `csr`, `public-key`,
    /// `pkcs7`, `crl`, `java-keystore`, `ssh-key`, `pgp`, `pdf`, `zip`, `xml`, `json`, `text` or
    /// `unknown`.
    #[error("not a certificate file: {found}")]
    NotACertificateFile { found: &'static str },
    /// The TLS stack cannot use this kind of key.
    #[error("unsupported key: {key_type}")]
    UnsupportedKey { key_type: String },
    /// The file is encrypted with an algorithm that this program does not know.
    #[error("unsupported encryption: {algorithm}")]
    UnsupportedEncryption { algorithm: String },
    /// Deriving the key would take unreasonably long.
    #[error("{iterations} iterations of key derivation")]
    TooManyIterations { iterations: u64, limit: u64 },
    /// Larger than any certificate file (bytes).
    #[error("{bytes} bytes")]
    TooLarge { bytes: usize, limit: usize },
}

impl ImportError {
    /// Stable code in kebab-case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::PasswordNeeded => "password-needed",
            Self::WrongPassword => "wrong-password",
            Self::Damaged { .. } => "damaged",
            Self::NoKey => "no-key",
            Self::CaWithoutKey => "ca-without-key",
            Self::NotACa => "not-a-ca",
            Self::SeveralFiles { .. } => "several-files",
            Self::NoCertificate => "no-certificate",
            Self::SeveralKeys { .. } => "several-keys",
            Self::KeyDoesNotMatch => "key-does-not-match",
            Self::NotACertificateFile { .. } => "not-a-certificate-file",
            Self::UnsupportedKey { .. } => "unsupported-key",
            Self::UnsupportedEncryption { .. } => "unsupported-encryption",
            Self::TooManyIterations { .. } => "too-many-iterations",
            Self::TooLarge { .. } => "too-large",
        }
    }

    /// Parameters of the message, by name.
    pub fn params(&self) -> Vec<(String, String)> {
        let pair = |name: &str, value: String| (name.to_owned(), value);
        match self {
            Self::Damaged { kind } => vec![pair("kind", (*kind).to_owned())],
            Self::SeveralKeys { count } | Self::SeveralFiles { count } => {
                vec![pair("count", count.to_string())]
            }
            Self::NotACertificateFile { found } => vec![pair("found", (*found).to_owned())],
            Self::UnsupportedKey { key_type } => vec![pair("keyType", key_type.clone())],
            Self::UnsupportedEncryption { algorithm } => vec![pair("algorithm", algorithm.clone())],
            Self::TooManyIterations { iterations, limit } => {
                vec![pair("iterations", iterations.to_string()), pair("limit", limit.to_string())]
            }
            Self::TooLarge { bytes, limit } => {
                vec![pair("bytes", bytes.to_string()), pair("limit", limit.to_string())]
            }
            _ => Vec::new(),
        }
    }
}
