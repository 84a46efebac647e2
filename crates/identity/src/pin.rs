//! The public key of a server, written down.

use std::fmt;

use rustls_pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use x509_parser::prelude::{FromDer, X509Certificate};

/// SHA-256 of a certificate's `SubjectPublicKeyInfo` (RFC 7469, 2.4): it stays when a certificate
/// is renewed with the same key. Shown as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyPin([u8; 32]);

impl KeyPin {
    /// Of a certificate; `None` where it cannot be read.
    pub fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        Some(Self(Sha256::digest(parsed.public_key().raw).into()))
    }

    /// From 64 hexadecimal digits, in groups divided by `:` or not.
    pub fn read(text: &str) -> Option<Self> {
        let digits: Vec<u8> = text
            .trim()
            .chars()
            .filter(|character| *character != ':')
            .map(|character| u8::try_from(character.to_digit(16)?).ok())
            .collect::<Option<_>>()?;
        let bytes: Vec<u8> =
            digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |all, d| all << 4 | d)).collect();
        (digits.len() == 64).then_some(Self(bytes.try_into().ok()?))
    }
}

impl fmt::Display for KeyPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyPin({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_read_as_it_is_shown_and_in_groups() {
        let text = "00ff".repeat(16);
        let pin = KeyPin::read(&text).unwrap();
        assert_eq!(pin.to_string(), text);
        let grouped = ["00:FF"; 16].join(":");
        assert_eq!(KeyPin::read(&grouped), Some(pin));
        for wrong in ["", "00", "zz", &"0".repeat(63), &"0".repeat(66), "sha256//AAAA"] {
            assert_eq!(KeyPin::read(wrong), None, "{wrong}");
        }
    }
}
