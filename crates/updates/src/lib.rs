//! A newer version of the program: one address is asked what the newest one is, its file is
//! fetched, and it counts only where the signature is by the one key that is trusted and names the
//! very version (docs/decisions/0008).
//!
//! Nothing is installed here. What is asked names nothing but the address: no version, no
//! laboratory, no certificate, no cookie. No redirect is followed, and no proxy is used.

mod ask;
mod file;
mod offer;
mod platform;
mod setting;
mod version;

pub use ask::Limits;
pub use file::{Checked, fetch};
pub use offer::{Offer, newer};
pub use platform::platforms;
pub use setting::{NotUsable, Setting, Source, system_file};
pub use version::Version;

/// Codes of why nothing newer is offered, although somebody was asked. [`Fault::code`] is one of
/// them.
pub const FAULTS: &[&str] = &[
    "not-reached",
    "not-trusted",
    "too-long",
    "broken",
    "too-large",
    "refused",
    "no-description",
    "not-signed",
    "signature-wrong",
    "signed-for-other",
    "not-kept",
];

/// Why nothing newer is offered, although somebody was asked. Nothing of it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No connection.
    #[error("no connection")]
    NotReached,
    /// The server's certificate is not trusted for this name, or nobody can be trusted.
    #[error("the server cannot be trusted")]
    NotTrusted,
    /// It took too long.
    #[error("no answer in time")]
    TooLong,
    /// The connection ended before the answer did.
    #[error("the connection broke")]
    Broken,
    /// The answer is larger than the bound.
    #[error("the answer is too large")]
    TooLarge,
    /// The server answers with something else than success, or leads elsewhere.
    #[error("the server does not give it")]
    Refused,
    /// What it says is no description of a version.
    #[error("the description cannot be read")]
    NoDescription,
    /// The description has no signature that can be read.
    #[error("the file is not signed")]
    NotSigned,
    /// Signed by another key, or the file is not the one that was signed.
    #[error("the signature is wrong")]
    SignatureWrong,
    /// Rightly signed, and as another version than the one that was promised.
    #[error("the file was signed as another version")]
    SignedForOther,
    /// The file cannot be written or read here.
    #[error("the file cannot be kept")]
    NotKept,
}

impl Fault {
    /// Stable code in kebab-case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotReached => "not-reached",
            Self::NotTrusted => "not-trusted",
            Self::TooLong => "too-long",
            Self::Broken => "broken",
            Self::TooLarge => "too-large",
            Self::Refused => "refused",
            Self::NoDescription => "no-description",
            Self::NotSigned => "not-signed",
            Self::SignatureWrong => "signature-wrong",
            Self::SignedForOther => "signed-for-other",
            Self::NotKept => "not-kept",
        }
    }
}

impl From<fetch::Fault> for Fault {
    fn from(fault: fetch::Fault) -> Self {
        match fault {
            fetch::Fault::NotReached => Self::NotReached,
            fetch::Fault::NobodyTrusted | fetch::Fault::NotTrusted => Self::NotTrusted,
            fetch::Fault::TooLong => Self::TooLong,
            fetch::Fault::Broken => Self::Broken,
            fetch::Fault::TooLarge => Self::TooLarge,
        }
    }
}
