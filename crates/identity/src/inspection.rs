//! What a person may see of a certificate.

use std::fmt::Write as _;

use fhir::Instant;
use rustls_pki_types::CertificateDer;
use serde::Serialize;
use sha2::{Digest, Sha256};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;

use crate::import_error::ImportError;

/// A certificate as shown before and after import. Names are the certificate's own words: text,
/// never markup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// Subject, e.g. `C=CH, O=Labor Beispiel, CN=labor-beispiel`.
    pub subject: String,
    /// Issuer, likewise.
    pub issuer: String,
    /// Serial number, hexadecimal with colons.
    pub serial: String,
    /// First moment of validity.
    pub not_before: Instant,
    /// Last moment of validity.
    pub not_after: Instant,
    /// SHA-256 of the certificate, `AB:CD:…`.
    pub fingerprint_sha256: String,
    /// E.g. `RSA 4096`, `EC P-256`, `Ed25519`.
    pub key_type: String,
    /// Extended key usages: names of [`KEY_USAGES`], or a dotted object identifier. Empty where the
    /// certificate limits nothing.
    pub purposes: Vec<String>,
    /// Whether it may be used as a client certificate. `false` is a warning: an authority will
    /// refuse it.
    pub client_auth: bool,
    /// Certificates in the chain that is presented.
    pub chain_length: usize,
}

const MICROS_PER_DAY: i64 = 24 * 60 * 60 * 1_000_000;

impl Inspection {
    pub(crate) fn of(chain: &[CertificateDer<'_>]) -> Result<Self, ImportError> {
        let leaf = chain.first().ok_or(ImportError::NoCertificate)?;
        let (_, certificate) = X509Certificate::from_der(leaf)
            .map_err(|_| ImportError::Damaged { kind: "certificate" })?;
        let (purposes, client_auth) = purposes(&certificate);
        Ok(Self {
            subject: certificate.subject().to_string(),
            issuer: certificate.issuer().to_string(),
            serial: colons(certificate.raw_serial()),
            not_before: Instant::from_seconds(certificate.validity().not_before.timestamp()),
            not_after: Instant::from_seconds(certificate.validity().not_after.timestamp()),
            fingerprint_sha256: fingerprint_of(leaf),
            key_type: key_type(&certificate),
            purposes,
            client_auth,
            chain_length: chain.len(),
        })
    }

    /// Whole days until `not_after`; negative once it has passed.
    pub fn days_left(&self, now: Instant) -> i64 {
        self.not_after.0.saturating_sub(now.0).div_euclid(MICROS_PER_DAY)
    }

    /// Days until `not_before`, begun ones counted: 0 from then on. Until then nobody takes the
    /// certificate.
    pub fn days_ahead(&self, now: Instant) -> i64 {
        let ahead = self.not_before.0.saturating_sub(now.0).max(0);
        ahead.saturating_add(MICROS_PER_DAY - 1).div_euclid(MICROS_PER_DAY)
    }
}

/// Whether a certificate may issue others (RFC 5280 section 4.2.1.9).
pub(crate) fn is_ca(der: &[u8]) -> bool {
    X509Certificate::from_der(der).is_ok_and(|(_, certificate)| certificate.is_ca())
}

/// Whether a certificate was issued by another one, and may issue none itself: it vouches for
/// nobody.
pub(crate) fn is_issued_to_somebody(der: &[u8]) -> bool {
    X509Certificate::from_der(der).is_ok_and(|(_, certificate)| {
        !certificate.is_ca() && certificate.issuer() != certificate.subject()
    })
}

/// SHA-256 of a certificate, `AB:CD:…`.
pub(crate) fn fingerprint_of(der: &[u8]) -> String {
    colons(&Sha256::digest(der))
}

/// Extended key usages that have a name; every other one is a dotted object identifier.
pub const KEY_USAGES: [&str; 7] = [
    "any",
    "client-auth",
    "server-auth",
    "code-signing",
    "email-protection",
    "time-stamping",
    "ocsp-signing",
];

fn purposes(certificate: &X509Certificate<'_>) -> (Vec<String>, bool) {
    let Ok(Some(usage)) = certificate.extended_key_usage() else {
        return (Vec::new(), true);
    };
    let usage = usage.value;
    let is_set = [
        usage.any,
        usage.client_auth,
        usage.server_auth,
        usage.code_signing,
        usage.email_protection,
        usage.time_stamping,
        usage.ocsp_signing,
    ];
    let named = is_set.into_iter().zip(KEY_USAGES).filter(|(is_set, _)| *is_set);
    let mut purposes: Vec<String> = named.map(|(_, name)| name.to_owned()).collect();
    purposes.extend(usage.other.iter().map(ToString::to_string));
    (purposes, usage.any || usage.client_auth)
}

fn key_type(certificate: &X509Certificate<'_>) -> String {
    let key = certificate.public_key();
    match key.parsed() {
        Ok(PublicKey::RSA(rsa)) => {
            let digits = rsa.modulus.iter().skip_while(|byte| **byte == 0).count();
            format!("RSA {}", digits * 8)
        }
        Ok(PublicKey::EC(_)) => {
            let curve = key.algorithm.parameters.as_ref().and_then(|any| any.as_oid().ok());
            let curve = curve.map(|oid| oid.to_string()).unwrap_or_default();
            format!("EC {}", curve_name(&curve))
        }
        _ => match key.algorithm.algorithm.to_string().as_str() {
            "1.3.101.112" => "Ed25519".to_owned(),
            "1.3.101.113" => "Ed448".to_owned(),
            "1.2.840.10040.4.1" => "DSA".to_owned(),
            other => other.to_owned(),
        },
    }
}

/// Common name of a curve's object identifier (RFC 5480), else the identifier itself.
pub(crate) fn curve_name(oid: &str) -> &str {
    match oid {
        "1.2.840.10045.3.1.7" => "P-256",
        "1.3.132.0.34" => "P-384",
        "1.3.132.0.35" => "P-521",
        "1.3.132.0.10" => "secp256k1",
        other => other,
    }
}

pub(crate) fn colons(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 3);
    for (index, byte) in bytes.iter().enumerate() {
        let separator = if index == 0 { "" } else { ":" };
        // Writing to a String cannot fail.
        let _ = write!(out, "{separator}{byte:02X}");
    }
    out
}
