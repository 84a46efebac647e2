//! The authority's own CA as it comes in a file: PEM or DER, one certificate or several.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::CertificateDer;

use crate::import::{kind, pem};
use crate::import_error::ImportError;
use crate::inspection::{Inspection, fingerprint_of, is_issued_to_somebody};
use crate::trust::{Trust, server_trust};

/// Characters of base64 in one line of PEM (RFC 7468).
const LINE: usize = 64;
const LABEL: &str = "CERTIFICATE";

/// A CA that can be trusted: its certificates as PEM, and what a person may see of the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorityCa {
    /// Every certificate of the file, as PEM; nothing else of it.
    pub pem: String,
    /// The first certificate.
    pub first: Inspection,
    /// SHA-256 of each, `AB:CD:…`.
    pub fingerprints: Vec<String>,
}

impl AuthorityCa {
    /// Reads a file. Keys and whatever else stands in it are left out.
    ///
    /// # Errors
    /// [`ImportError::NoCertificate`] where there is none, [`ImportError::NotACa`] where all of
    /// them were issued to somebody, [`ImportError::Damaged`] where one cannot be trusted as it
    /// stands.
    pub fn read(bytes: &[u8]) -> Result<Self, ImportError> {
        let damaged = || ImportError::Damaged { kind: "certificate" };
        if kind::is_pkcs12(bytes) {
            return Err(ImportError::NotACa);
        }
        let found: Vec<Vec<u8>> = match pem::text_of(bytes) {
            Some(text) => {
                let blocks = pem::blocks(&text).map_err(|()| damaged())?;
                let of_kind = blocks.into_iter().filter(|block| block.label == LABEL);
                of_kind.map(|block| block.der.to_vec()).collect()
            }
            None => vec![bytes.to_vec()],
        };
        let chain: Vec<_> = found.iter().map(|der| CertificateDer::from(der.as_slice())).collect();
        let first = Inspection::of(&chain).map_err(|error| match error {
            // A file of another kind is not a damaged certificate.
            ImportError::Damaged { .. } if !kind::begins_like_der(bytes) && found.len() == 1 => {
                ImportError::NotACertificateFile { found: kind::of_foreign(bytes) }
            }
            other => other,
        })?;
        if found.iter().all(|der| is_issued_to_somebody(der)) {
            return Err(ImportError::NotACa);
        }
        let pem: String = found.iter().map(Vec::as_slice).map(block).collect();
        let trust = Trust { ca_pem: Some(&pem), ..Trust::default() };
        server_trust(&trust, Vec::new).map_err(|_| damaged())?;
        let fingerprints = found.iter().map(|der| fingerprint_of(der)).collect();
        Ok(Self { pem, first, fingerprints })
    }
}

fn block(der: &[u8]) -> String {
    let digits = STANDARD.encode(der);
    let mut text = format!("-----BEGIN {LABEL}-----\n");
    let mut rest = digits.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text + "-----END " + LABEL + "-----\n"
}
