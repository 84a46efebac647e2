//! Tells by content what a file (or a PEM block) is.

use super::ber;
use crate::der::{self, BIT_STRING, CONTEXT_0, INTEGER, OCTET_STRING, OID, SEQUENCE};

/// A DER structure, by its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DerKind {
    Certificate,
    Pkcs12,
    Pkcs8,
    EncryptedPkcs8,
    Pkcs1,
    Sec1,
    DsaKey,
    /// Named in [`crate::ImportError::NotACertificateFile`].
    Other(&'static str),
}

/// OID 1.2.840.113549.1.7.2 and its siblings begin so.
const PKCS7: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07];

/// What a DER structure is. `None` where the input is no complete DER SEQUENCE.
pub(crate) fn of_der(bytes: &[u8]) -> Option<DerKind> {
    let items = der::sequence(bytes)?;
    let tags: Vec<u8> = items.iter().map(|item| item.tag).collect();
    Some(match tags.as_slice() {
        [INTEGER, SEQUENCE] | [INTEGER, SEQUENCE, SEQUENCE]
            if der::unsigned(items[0]) == Some(3) =>
        {
            DerKind::Pkcs12
        }
        [INTEGER, SEQUENCE, OCTET_STRING, ..] => DerKind::Pkcs8,
        [INTEGER, OCTET_STRING, ..] => DerKind::Sec1,
        [INTEGER, rest @ ..] if rest.len() >= 8 && rest[..8].iter().all(|t| *t == INTEGER) => {
            DerKind::Pkcs1
        }
        [INTEGER, INTEGER, INTEGER, INTEGER, INTEGER, INTEGER] => DerKind::DsaKey,
        [INTEGER, INTEGER] => DerKind::Other("public-key"),
        [SEQUENCE, OCTET_STRING] => DerKind::EncryptedPkcs8,
        [SEQUENCE, BIT_STRING] => DerKind::Other("public-key"),
        [SEQUENCE, SEQUENCE, BIT_STRING] => signed(items[0].value),
        [OID, ..] if items[0].value.starts_with(PKCS7) => DerKind::Other("pkcs7"),
        _ => DerKind::Other("unknown"),
    })
}

/// Whether a file holds certificates and keys sealed together, in DER or in BER.
pub(crate) fn is_pkcs12(bytes: &[u8]) -> bool {
    let in_ber = || ber::outer(bytes).and_then(|der| of_der(&der));
    of_der(bytes).or_else(in_ber) == Some(DerKind::Pkcs12)
}

/// Certificate, request and revocation list are all "signed data": told by what is signed.
fn signed(to_be_signed: &[u8]) -> DerKind {
    let Some(items) = der::items(to_be_signed) else { return DerKind::Other("unknown") };
    let tags: Vec<u8> = items.iter().map(|item| item.tag).collect();
    match tags.as_slice() {
        [CONTEXT_0, INTEGER, SEQUENCE, SEQUENCE, SEQUENCE, SEQUENCE, ..]
        | [INTEGER, SEQUENCE, SEQUENCE, SEQUENCE, SEQUENCE, SEQUENCE, ..] => DerKind::Certificate,
        [INTEGER, SEQUENCE, SEQUENCE, CONTEXT_0] | [INTEGER, SEQUENCE, SEQUENCE] => {
            DerKind::Other("csr")
        }
        _ => DerKind::Other("crl"),
    }
}

/// What a file is that is neither PEM nor DER.
pub(crate) fn of_foreign(bytes: &[u8]) -> &'static str {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
    let starts = |magic: &[u8]| text.starts_with(magic);
    match () {
        () if text.is_empty() => "empty",
        () if starts(b"%PDF") => "pdf",
        () if starts(b"PK\x03\x04") => "zip",
        () if starts(b"\xfe\xed\xfe\xed") || starts(b"\xce\xce\xce\xce") => "java-keystore",
        () if starts(b"ssh-") || starts(b"ecdsa-sha2-") || starts(b"PuTTY-User-Key-File") => {
            "ssh-key"
        }
        () if starts(b"<") => "xml",
        () if starts(b"{") || starts(b"[") => "json",
        () if std::str::from_utf8(text).is_ok_and(|t| !t.contains('\0')) => "text",
        () => "unknown",
    }
}

/// Whether a file at least begins like a DER SEQUENCE (so: cut or damaged rather than foreign).
pub(crate) fn begins_like_der(bytes: &[u8]) -> bool {
    matches!(bytes, [0x30, 0x80..=0x84, ..])
}
