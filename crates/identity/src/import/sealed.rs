//! Opening what is sealed by a password: `.p12`, encrypted PKCS#8, and OpenSSL's legacy PEM
//! encryption.

use cbc::cipher::{BlockModeDecrypt, KeyIvInit, block_padding::Pkcs7};
use md5::{Digest, Md5};
use p12_keystore::Pkcs12Archive;
use p12_keystore::error::Error as P12Error;
use zeroize::Zeroizing;

use super::{ber, bounds, inside};
use crate::der::{self, CONTEXT_0, OCTET_STRING, SEQUENCE};
use crate::import_error::ImportError;
use crate::password::Password;

/// Certificates and keys (PKCS#8) as they stood in a file.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) certificates: Vec<Vec<u8>>,
    pub(crate) keys: Vec<Zeroizing<Vec<u8>>>,
}

/// Opens a `.p12` that is not in DER. A MAC is checked over the content as it came; only then is
/// the content converted too.
pub(crate) fn pkcs12_in_ber(
    bytes: &[u8],
    password: Option<&Password>,
) -> Result<Opened, ImportError> {
    let damaged = ImportError::Damaged { kind: "pkcs12" };
    let outer = ber::outer(bytes).ok_or(damaged.clone())?;
    let has_mac = der::sequence(&outer).is_some_and(|parts| parts.len() == 3);
    let first = pkcs12(&outer, password);
    let opened_or_final = match &first {
        Ok(_) => true,
        Err(error) => has_mac && *error != damaged,
    };
    if opened_or_final {
        return first;
    }
    pkcs12(&ber::inner(&outer).ok_or(damaged)?, password)
}

/// Opens a `.p12`. Without a password the empty one is tried: some files are sealed with it.
pub(crate) fn pkcs12(bytes: &[u8], password: Option<&Password>) -> Result<Opened, ImportError> {
    let seen = bounds::check(bytes)?;
    let pbmac1 = seen.pbmac1;
    inside::check(bytes, password.map_or("", Password::expose), seen)?;
    let stripped;
    let mut has_mac = der::sequence(bytes).is_some_and(|parts| parts.len() == 3);
    let input = if pbmac1 {
        // The reader does not know PBMAC1. The MAC is left unchecked: a wrong password still shows
        // in the decryption, and a key that was tampered with does not match its certificate.
        stripped = without_mac(bytes).ok_or(ImportError::Damaged { kind: "pkcs12" })?;
        has_mac = false;
        &stripped
    } else {
        bytes
    };
    open(input, password, has_mac, "pkcs12")
}

/// Opens an encrypted PKCS#8 key by wrapping it into a `.p12` without MAC: one reader for both.
pub(crate) fn pkcs8(
    encrypted: &[u8],
    password: Option<&Password>,
) -> Result<Zeroizing<Vec<u8>>, ImportError> {
    bounds::check(encrypted)?;
    if password.is_none() {
        return Err(ImportError::PasswordNeeded);
    }
    // id-data 1.2.840.113549.1.7.1 and pkcs8ShroudedKeyBag 1.2.840.113549.1.12.10.1.2
    const DATA: &[u8] = &[0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];
    const BAG: &[u8] =
        &[0x06, 11, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01, 0x02];
    let bag = der::write(SEQUENCE, &[BAG, &der::write(CONTEXT_0, &[encrypted])]);
    let contents = der::write(SEQUENCE, &[&bag]);
    let data = |content: &[u8]| {
        let explicit = der::write(CONTEXT_0, &[&der::write(OCTET_STRING, &[content])]);
        der::write(SEQUENCE, &[DATA, &explicit])
    };
    let safe = der::write(SEQUENCE, &[&data(&contents)]);
    let pfx = der::write(SEQUENCE, &[&[0x02, 1, 3], &data(&safe)]);
    let opened = open(&pfx, password, false, "private-key")?;
    opened.keys.into_iter().next().ok_or(ImportError::Damaged { kind: "private-key" })
}

fn without_mac(pfx: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let parts = der::sequence(pfx)?;
    Some(der::write(SEQUENCE, &[parts.first()?.whole, parts.get(1)?.whole]))
}

fn open(
    bytes: &[u8],
    password: Option<&Password>,
    has_mac: bool,
    kind: &'static str,
) -> Result<Opened, ImportError> {
    let text = password.map_or("", Password::expose);
    let archive = Pkcs12Archive::from_pkcs12(bytes, text).map_err(|error| {
        let wrong = match error {
            P12Error::MacError(_) => true,
            // Without a MAC a wrong password shows as nonsense after decryption.
            P12Error::UnpadError
            | P12Error::Pkcs5Error(_)
            | P12Error::InvalidPrivateKey
            | P12Error::DerError(_) => !has_mac,
            P12Error::UnsupportedEncryptionScheme | P12Error::UnsupportedMacAlgorithm => {
                return ImportError::UnsupportedEncryption { algorithm: "unknown".to_owned() };
            }
            _ => false,
        };
        match (wrong, password) {
            (true, None) => ImportError::PasswordNeeded,
            (true, Some(_)) => ImportError::WrongPassword,
            (false, _) => ImportError::Damaged { kind },
        }
    })?;
    Ok(Opened {
        certificates: archive.certs.iter().map(|bag| bag.cert.as_der().to_vec()).collect(),
        keys: archive.keys.iter().map(|bag| Zeroizing::new(bag.key.as_der().to_vec())).collect(),
    })
}

/// Opens a PEM block with `Proc-Type: 4,ENCRYPTED` (OpenSSL before version 3 writes PKCS#1 and SEC1
/// so). `dek_info` is `AES-256-CBC,<IV in hex>`; the key is MD5(password, first 8 bytes of IV),
/// repeated.
pub(crate) fn legacy_pem(
    der: &[u8],
    dek_info: &str,
    password: Option<&Password>,
) -> Result<Zeroizing<Vec<u8>>, ImportError> {
    let password = password.ok_or(ImportError::PasswordNeeded)?.expose().as_bytes();
    let (cipher, iv) = dek_info.split_once(',').unwrap_or((dek_info, ""));
    let iv = hex(iv.trim()).filter(|iv| iv.len() >= 8);
    let iv = iv.ok_or(ImportError::Damaged { kind: "private-key" })?;
    let salt = &iv[..8];
    let opened = match cipher {
        "AES-128-CBC" => cbc_open::<aes::Aes128>(der, &stretched(password, salt, 16), &iv),
        "AES-192-CBC" => cbc_open::<aes::Aes192>(der, &stretched(password, salt, 24), &iv),
        "AES-256-CBC" => cbc_open::<aes::Aes256>(der, &stretched(password, salt, 32), &iv),
        "DES-EDE3-CBC" => cbc_open::<des::TdesEde3>(der, &stretched(password, salt, 24), &iv),
        "DES-CBC" => cbc_open::<des::Des>(der, &stretched(password, salt, 8), &iv),
        other => {
            return Err(ImportError::UnsupportedEncryption { algorithm: other.to_owned() });
        }
    };
    // There is no MAC: one wrong password in 256 unpads by chance, so the result must look like a
    // key.
    opened.filter(|plain| der::sequence(plain).is_some()).ok_or(ImportError::WrongPassword)
}

fn cbc_open<C>(der: &[u8], key: &[u8], iv: &[u8]) -> Option<Zeroizing<Vec<u8>>>
where
    C: cbc::cipher::BlockCipherDecrypt + cbc::cipher::KeyInit,
    cbc::Decryptor<C>: KeyIvInit + BlockModeDecrypt,
{
    let decryptor = cbc::Decryptor::<C>::new_from_slices(key, iv).ok()?;
    decryptor.decrypt_padded_vec::<Pkcs7>(der).ok().map(Zeroizing::new)
}

/// OpenSSL's `EVP_BytesToKey` with MD5 and one round.
fn stretched(password: &[u8], salt: &[u8], length: usize) -> Zeroizing<Vec<u8>> {
    let mut key = Zeroizing::new(Vec::with_capacity(length + 16));
    let mut last = Zeroizing::new(Vec::new());
    while key.len() < length {
        let digest = Md5::new().chain_update(&*last).chain_update(password).chain_update(salt);
        last = Zeroizing::new(digest.finalize().to_vec());
        key.extend_from_slice(&last);
    }
    key.truncate(length);
    key
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    digits
        .as_chunks::<2>()
        .0
        .iter()
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}
