//! What opening a sealed file would cost, and with which algorithms, read from its DER before any
//! key is derived: a hostile file may ask for 10⁹ iterations. What its encrypted safes hold is
//! added once they are open ([`Seen::inside`]), before the keys in them are.

use crate::der::{self, CONTEXT_0, INTEGER, Item, OCTET_STRING, OID, SEQUENCE};

use crate::import_error::ImportError;

/// Iterations of one derivation. 600,000 is the highest common default (OWASP 2023 for PBKDF2).
const ITERATIONS_MAX: u64 = 1_000_000;
/// All derivations of one file together: about two seconds.
const ITERATIONS_SUM_MAX: u64 = 4_000_000;
/// scrypt's N·r·p; 128 bytes each, so 256 MiB.
const SCRYPT_MAX: u64 = 1 << 21;
/// Nesting of a real `.p12` is below 16.
const DEPTH_MAX: usize = 32;

const PKCS12_PBE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x01];
const PKCS5: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05];
const SCRYPT: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b];

/// What octets are that are looked through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Octets {
    /// A structure by their tag.
    Structure,
    /// The same, in an explicit tag: octets in it are the content of a safe, or a certificate.
    Explicit,
    /// Such content, where it is a structure.
    Content,
    /// A salt, a start value, or what is encrypted: by chance it may look like a structure.
    Random,
}

/// What was seen in a sealed file.
#[derive(Default)]
pub(crate) struct Seen {
    sum: u64,
    highest: u64,
    scrypt: u64,
    unsupported: Option<String>,
    /// `MacData` uses PBMAC1 (RFC 9579).
    pub(crate) pbmac1: bool,
    /// A structure could not be looked through, so that its cost is unknown.
    unreadable: bool,
}

/// Looks through the structure of a `.p12` or an encrypted PKCS#8 key.
///
/// # Errors
/// [`ImportError::TooManyIterations`], [`ImportError::UnsupportedEncryption`].
pub(crate) fn check(bytes: &[u8]) -> Result<Seen, ImportError> {
    let mut seen = Seen::default();
    if let Some(top) = der::sequence(bytes) {
        if let [_, _, mac] = top.as_slice() {
            seen.mac(*mac);
        }
        seen.walk(bytes, 0, Octets::Structure);
    }
    seen.verdict()?;
    Ok(seen)
}

impl Seen {
    /// Adds what stands in an encrypted safe, now that it is open.
    ///
    /// # Errors
    /// As [`check`], for the whole file.
    pub(crate) fn inside(&mut self, safe: &[u8]) -> Result<(), ImportError> {
        // Opened by a wrong password it is nonsense, which is for the reader to say.
        self.walk(safe, 0, Octets::Content);
        self.verdict()
    }

    fn verdict(&self) -> Result<(), ImportError> {
        if self.highest > ITERATIONS_MAX || self.sum > ITERATIONS_SUM_MAX {
            let iterations = self.highest.max(self.sum);
            return Err(ImportError::TooManyIterations { iterations, limit: ITERATIONS_MAX });
        }
        if self.scrypt > SCRYPT_MAX {
            let (iterations, limit) = (self.scrypt, SCRYPT_MAX);
            return Err(ImportError::TooManyIterations { iterations, limit });
        }
        if self.unreadable {
            return Err(ImportError::Damaged { kind: "pkcs12" });
        }
        match &self.unsupported {
            Some(algorithm) => {
                Err(ImportError::UnsupportedEncryption { algorithm: algorithm.clone() })
            }
            None => Ok(()),
        }
    }

    fn cost(&mut self, iterations: u64) {
        self.highest = self.highest.max(iterations);
        self.sum = self.sum.saturating_add(iterations);
    }

    /// MacData ::= SEQUENCE { mac DigestInfo, macSalt OCTET STRING, iterations INTEGER DEFAULT 1 }
    fn mac(&mut self, mac: Item<'_>) {
        if let Some(parts) = der::sequence(mac.whole)
            && let Some(iterations) = parts.get(2).and_then(|item| der::unsigned(*item))
        {
            self.cost(iterations);
        }
    }

    fn walk(&mut self, bytes: &[u8], depth: usize, octets: Octets) {
        let Some(items) = der::items(bytes).filter(|_| depth < DEPTH_MAX) else {
            // Octets that only begin like a structure are none; what was announced as one must be.
            self.unreadable |= matches!(octets, Octets::Structure | Octets::Explicit);
            return;
        };
        if let [first, second, ..] = items.as_slice()
            && first.tag == OID
            && second.tag == SEQUENCE
        {
            self.algorithm(first.value, *second);
        }
        for item in items {
            let is_structure = item.tag & 0x20 != 0;
            let may_be_one = item.tag == OCTET_STRING && item.value.first() == Some(&SEQUENCE);
            let inside = match octets {
                // Whatever stands in what only looks like a structure.
                Octets::Random => Octets::Random,
                _ if is_structure && item.tag == CONTEXT_0 => Octets::Explicit,
                _ if is_structure => Octets::Structure,
                Octets::Explicit => Octets::Content,
                Octets::Structure | Octets::Content => Octets::Random,
            };
            if is_structure || may_be_one {
                self.walk(item.value, depth + 1, inside);
            }
        }
    }

    /// AlgorithmIdentifier: the object identifier and its parameters.
    fn algorithm(&mut self, oid: &[u8], parameters: Item<'_>) {
        let numbers: Vec<u64> = der::items(parameters.value)
            .unwrap_or_default()
            .iter()
            .filter(|item| item.tag == INTEGER)
            .filter_map(|item| der::unsigned(*item))
            .collect();
        let first = numbers.first().copied().unwrap_or_default();
        if let Some([kind]) = oid.strip_prefix(PKCS12_PBE) {
            self.cost(first);
            // 3 is 3-key Triple DES, 6 is 40-bit RC2: what `.p12` files were sealed with until
            // 2021.
            if !matches!(kind, 3 | 6) {
                self.unsupported = Some(pkcs12_name(*kind).to_owned());
            }
        } else if let Some([kind]) = oid.strip_prefix(PKCS5) {
            match kind {
                12 => self.cost(first),
                13 => self.cipher(parameters),
                14 => self.pbmac1 = true,
                1 | 3 | 4 | 6 | 10 | 11 => {
                    self.cost(first);
                    self.unsupported = Some(pkcs5_name(*kind).to_owned());
                }
                _ => {}
            }
        } else if oid == SCRYPT {
            let product =
                numbers.iter().take(3).fold(1u64, |all, n| all.saturating_mul((*n).max(1)));
            self.scrypt = self.scrypt.max(product);
        }
    }

    /// PBES2-params ::= SEQUENCE { keyDerivationFunc, encryptionScheme }
    fn cipher(&mut self, parameters: Item<'_>) {
        const AES: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01];
        const DES3: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x03, 0x07];
        const DES: &[u8] = &[0x2b, 0x0e, 0x03, 0x02, 0x07];
        let scheme = der::items(parameters.value)
            .and_then(|parts| der::items(parts.get(1)?.value)?.first().copied());
        let Some(scheme) = scheme else { return };
        // AES-CBC with 128, 192 and 256 bits are the arcs 2, 22 and 42.
        let known = matches!(scheme.value.strip_prefix(AES), Some([2 | 22 | 42]))
            || scheme.value == DES3
            || scheme.value == DES;
        if !known {
            self.unsupported = Some(der::dotted(scheme.value));
        }
    }
}

fn pkcs12_name(kind: u8) -> &'static str {
    match kind {
        1 => "pbeWithSHAAnd128BitRC4",
        2 => "pbeWithSHAAnd40BitRC4",
        4 => "pbeWithSHAAnd2-KeyTripleDES-CBC",
        5 => "pbeWithSHAAnd128BitRC2-CBC",
        _ => "PKCS#12 PBE",
    }
}

fn pkcs5_name(kind: u8) -> &'static str {
    match kind {
        1 => "pbeWithMD2AndDES-CBC",
        3 => "pbeWithMD5AndDES-CBC",
        4 => "pbeWithMD2AndRC2-CBC",
        6 => "pbeWithMD5AndRC2-CBC",
        10 => "pbeWithSHA1AndDES-CBC",
        _ => "pbeWithSHA1AndRC2-CBC",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sealed key of which the salt looks like a structure that cannot be read: by chance one of
    /// some ten thousand does.
    #[test]
    fn a_salt_that_looks_like_a_structure_is_none() {
        const TRIPLE_DES: &[u8] =
            &[OID, 10, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x01, 0x03];
        let salt = [SEQUENCE, 6, SEQUENCE, 0x7f, 1, 2, 3, 4];
        let sealed = |salt: &[u8]| {
            let iterations = der::write(INTEGER, &[&[8, 0]]);
            let parameters =
                der::write(SEQUENCE, &[&der::write(OCTET_STRING, &[salt]), &iterations]);
            let algorithm = der::write(SEQUENCE, &[TRIPLE_DES, &parameters]);
            der::write(SEQUENCE, &[&algorithm, &der::write(OCTET_STRING, &[salt])])
        };
        assert_eq!(check(&sealed(&salt)).map(|seen| seen.sum), Ok(2_048));
        // What stands where a structure must be is looked through, or the file is refused.
        let broken = der::write(SEQUENCE, &[&salt]);
        assert!(check(&broken).is_err());
    }
}
