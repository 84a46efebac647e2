//! A certificate chain with its private key.

use std::fmt;

use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::import::{self, SecretKey};
use crate::import_error::ImportError;
use crate::inspection::Inspection;
use crate::password::Password;

/// A client certificate, its chain and its private key. The key matches the first certificate, and
/// the TLS stack can use it: an `Identity` for which that is not so cannot be made. Has no
/// `Serialize` and no `Clone`; `Debug` shows the fingerprint only; the key is wiped on drop.
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: SecretKey,
    inspection: Inspection,
}

impl Identity {
    /// Reads one `.p12`/`.pfx`, or a certificate and a key in one file or in several
    /// (docs/interface.md, "Search, capability, certificates, corpus"). Files are recognised by
    /// content, never by name.
    ///
    /// # Errors
    /// [`ImportError`] names what is wrong with which kind of file. An expired certificate is no
    /// error: the inspection shows it.
    pub fn import(files: &[&[u8]], password: Option<&Password>) -> Result<Self, ImportError> {
        let (chain, key) = import::import(files, password)?;
        Self::assemble(chain, key)
    }

    /// From parts that are known to belong together.
    pub(crate) fn assemble(
        chain: Vec<CertificateDer<'static>>,
        key: SecretKey,
    ) -> Result<Self, ImportError> {
        let inspection = Inspection::of(&chain)?;
        Ok(Self { chain, key, inspection })
    }

    /// What can be told of it without the key.
    pub fn inspect(&self) -> Inspection {
        self.inspection.clone()
    }

    /// The certificates, the laboratory's own first, each followed by its issuer; without the root.
    pub fn chain(&self) -> &[CertificateDer<'static>] {
        &self.chain
    }

    /// The private key.
    pub fn key(&self) -> &PrivateKeyDer<'static> {
        &self.key
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("fingerprint_sha256", &self.inspection.fingerprint_sha256)
            .finish_non_exhaustive()
    }
}
