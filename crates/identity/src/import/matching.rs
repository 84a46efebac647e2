//! Which certificate belongs to a key, and whether the TLS stack can use the two.

use rustls::crypto::ring::sign::any_supported_type;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use x509_parser::prelude::{FromDer, X509Certificate};

use zeroize::Zeroizing;

use super::kind::DerKind;
use crate::der::{self, BIT_STRING, CONTEXT_0, CONTEXT_1, OCTET_STRING, OID, SEQUENCE};
use crate::import_error::ImportError;
use crate::inspection::curve_name;

/// A private key that is wiped when dropped: `rustls_pki_types` can wipe, and does so for nobody by
/// itself.
pub(crate) type SecretKey = Zeroizing<PrivateKeyDer<'static>>;

/// The certificate that belongs to the key (the one valid longest, if it was renewed for the same
/// key), followed by its issuers as far as they are among the others, without the root; and the key
/// in a form that the TLS stack takes.
pub(crate) fn pair(
    key: SecretKey,
    certificates: &[Vec<u8>],
) -> Result<(Vec<CertificateDer<'static>>, SecretKey), ImportError> {
    let mut parsed = Vec::new();
    for bytes in certificates {
        let (rest, certificate) = X509Certificate::from_der(bytes)
            .map_err(|_| ImportError::Damaged { kind: "certificate" })?;
        // A `TRUSTED CERTIFICATE` block carries OpenSSL's notes behind the certificate.
        parsed.push((&bytes[..bytes.len() - rest.len()], certificate));
    }
    let mut usable = any_supported_type(&key).is_ok();
    let mut leaf: Option<(usize, SecretKey)> = None;
    for (index, (_, certificate)) in parsed.iter().enumerate() {
        let spki = certificate.public_key().raw;
        let Some(candidate) = fitting(&key, spki) else { continue };
        usable = true;
        let until = |index: usize| parsed[index].1.validity().not_after.timestamp();
        if leaf.as_ref().is_none_or(|(best, _)| until(index) > until(*best)) {
            leaf = Some((index, candidate));
        }
    }
    let Some((leaf, key)) = leaf else {
        return Err(match describe(&key) {
            Description::Unsupported(key_type) => ImportError::UnsupportedKey { key_type },
            Description::Supported if usable => ImportError::KeyDoesNotMatch,
            // Keys of elliptic curves may lack their public half, which is then tried from each
            // certificate.
            Description::Curve => ImportError::KeyDoesNotMatch,
            Description::Supported => ImportError::Damaged { kind: "private-key" },
        });
    };
    let mut chain = vec![leaf];
    while let Some(last) = chain.last().map(|index| &parsed[*index].1) {
        let issuer = parsed.iter().enumerate().position(|(index, (_, candidate))| {
            !chain.contains(&index)
                && candidate.subject() == last.issuer()
                && candidate.subject() != candidate.issuer()
        });
        match issuer {
            Some(issuer) if last.subject() != last.issuer() => chain.push(issuer),
            _ => break,
        }
    }
    let chain = chain.iter().map(|index| CertificateDer::from(parsed[*index].0.to_vec()));
    Ok((chain.collect(), key))
}

/// The key, if it belongs to this public key.
fn fitting(key: &SecretKey, spki: &[u8]) -> Option<SecretKey> {
    let candidate = match any_supported_type(key) {
        Ok(_) => Zeroizing::new(key.clone_key()),
        Err(_) => completed(key, spki)?,
    };
    let signing = any_supported_type(&candidate).ok()?;
    (signing.public_key()?.as_ref() == spki).then_some(candidate)
}

/// An elliptic-curve key written without its public half (Java does so), completed from a
/// certificate. The TLS stack then checks that the two halves fit.
fn completed(key: &PrivateKeyDer<'_>, spki: &[u8]) -> Option<SecretKey> {
    let public = der::sequence(spki)?;
    let (algorithm, point) =
        (public.first()?, public.get(1).filter(|item| item.tag == BIT_STRING)?);
    let ec = match key {
        PrivateKeyDer::Sec1(sec1) => sec1.secret_sec1_der(),
        PrivateKeyDer::Pkcs8(pkcs8) => {
            let parts = der::sequence(pkcs8.secret_pkcs8_der())?;
            parts.get(2).filter(|item| item.tag == OCTET_STRING)?.value
        }
        _ => return None,
    };
    let scalar = der::sequence(ec)?.get(1).filter(|item| item.tag == OCTET_STRING)?.value;
    // The point is 0x00 (unused bits), 0x04 (uncompressed), then two coordinates.
    let width = point.value.len().checked_sub(2)? / 2;
    let zeros = scalar.iter().take_while(|byte| **byte == 0).count();
    let digits = scalar.get(zeros..)?;
    let mut padded = Zeroizing::new(vec![0u8; width]);
    padded.get_mut(width.checked_sub(digits.len())?..)?.copy_from_slice(digits);
    let inner = der::write(
        SEQUENCE,
        &[
            &[0x02, 1, 1],
            &der::write(OCTET_STRING, &[&padded]),
            &der::write(CONTEXT_1, &[point.whole]),
        ],
    );
    let mut whole = der::write(
        SEQUENCE,
        &[&[0x02, 1, 0], algorithm.whole, &der::write(OCTET_STRING, &[&inner])],
    );
    Some(Zeroizing::new(PrivatePkcs8KeyDer::from(std::mem::take(&mut *whole)).into()))
}

enum Description {
    Supported,
    Curve,
    Unsupported(String),
}

/// What kind of key it is, for the message.
fn describe(key: &PrivateKeyDer<'_>) -> Description {
    let named = |bytes: Option<String>| Description::Unsupported(bytes.unwrap_or_default());
    match key {
        PrivateKeyDer::Pkcs1(pkcs1) => rsa(pkcs1.secret_pkcs1_der()),
        PrivateKeyDer::Sec1(sec1) => {
            let curve = der::sequence(sec1.secret_sec1_der()).and_then(|items| {
                let parameters = items.iter().find(|item| item.tag == CONTEXT_0)?;
                der::read(parameters.value).map(|(item, _)| item)
            });
            curve.map_or(Description::Curve, |item| curve_of(item.value))
        }
        PrivateKeyDer::Pkcs8(pkcs8) => {
            let Some(parts) = der::sequence(pkcs8.secret_pkcs8_der()) else { return named(None) };
            let algorithm =
                parts.get(1).and_then(|item| der::items(item.value)).unwrap_or_default();
            let oid = algorithm.first().map(|item| der::dotted(item.value)).unwrap_or_default();
            match oid.as_str() {
                "1.2.840.113549.1.1.1" => rsa(parts.get(2).map_or(&[], |item| item.value)),
                "1.2.840.10045.2.1" => algorithm
                    .get(1)
                    .filter(|item| item.tag == OID)
                    .map_or(Description::Curve, |item| curve_of(item.value)),
                "1.3.101.112" => Description::Supported,
                "1.3.101.113" => named(Some("Ed448".to_owned())),
                "1.3.101.110" => named(Some("X25519".to_owned())),
                "1.2.840.10040.4.1" => named(Some("DSA".to_owned())),
                "1.2.840.113549.1.1.10" => named(Some("RSA-PSS".to_owned())),
                _ => named(Some(oid)),
            }
        }
        _ => named(None),
    }
}

fn curve_of(oid: &[u8]) -> Description {
    let dotted = der::dotted(oid);
    match curve_name(&dotted) {
        "P-256" | "P-384" => Description::Curve,
        other => Description::Unsupported(format!("EC {other}")),
    }
}

/// The TLS stack takes RSA keys of 2048 to 4096 bits.
fn rsa(pkcs1: &[u8]) -> Description {
    let modulus = der::sequence(pkcs1).and_then(|items| items.get(1).copied());
    let bits =
        modulus.map_or(0, |item| item.value.iter().skip_while(|byte| **byte == 0).count() * 8);
    match bits {
        0 | 2048..=4096 => Description::Supported,
        bits => Description::Unsupported(format!("RSA {bits}")),
    }
}

/// A key of a known shape; the bytes are moved, not copied.
pub(crate) fn key_of(mut bytes: Zeroizing<Vec<u8>>, kind: DerKind) -> Option<SecretKey> {
    let mut take = || std::mem::take(&mut *bytes);
    Some(Zeroizing::new(match kind {
        DerKind::Pkcs8 => PrivatePkcs8KeyDer::from(take()).into(),
        DerKind::Pkcs1 => rustls_pki_types::PrivatePkcs1KeyDer::from(take()).into(),
        DerKind::Sec1 => rustls_pki_types::PrivateSec1KeyDer::from(take()).into(),
        _ => return None,
    }))
}
