//! The encrypted safes of a `.p12`, opened to see what the keys in them would cost: a key may be
//! sealed again within a safe, where no look from outside sees it. A hostile file of 256 kB holds
//! hundreds of such keys.

use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use pkcs5::EncryptionScheme;
use pkcs12::kdf::{Pkcs12KeyType, derive_key_utf8};
use sha1::Sha1;
use zeroize::Zeroizing;

use super::bounds::Seen;
use crate::der::{self, CONTEXT_0, Item, OCTET_STRING, OID, SEQUENCE};
use crate::import_error::ImportError;

/// `[0] IMPLICIT OCTET STRING`, in one piece.
const CONTENT: u8 = 0x80;
/// id-encryptedData 1.2.840.113549.1.7.6
const ENCRYPTED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x06];
/// pbeWithSHAAnd3-KeyTripleDES-CBC and pbeWithSHAAnd40BitRC2-CBC, 1.2.840.113549.1.12.1.3 and .6
const TRIPLE_DES: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x01, 0x03];
const RC2_40: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x01, 0x06];

/// Adds to what was seen from outside what stands in each encrypted safe. A safe that does not open
/// (a wrong password, or damage) adds nothing: the reader will say so without opening what is in
/// it.
///
/// # Errors
/// [`ImportError::TooManyIterations`], [`ImportError::UnsupportedEncryption`],
/// [`ImportError::Damaged`].
pub(crate) fn check(pfx: &[u8], password: &str, mut seen: Seen) -> Result<(), ImportError> {
    for safe in safes(pfx).unwrap_or_default() {
        if let Some(open) = open(safe, password) {
            seen.inside(&open)?;
        }
    }
    Ok(())
}

/// PFX ::= SEQUENCE { version, ContentInfo of an OCTET STRING of SEQUENCE OF ContentInfo, … }
fn safes(pfx: &[u8]) -> Option<Vec<Item<'_>>> {
    let content_info = der::items(der::sequence(pfx)?.get(1)?.value)?;
    let (octets, _) = der::read(content_info.get(1).filter(|item| item.tag == CONTEXT_0)?.value)?;
    (octets.tag == OCTET_STRING).then(|| der::sequence(octets.value)).flatten()
}

/// EncryptedData ::= SEQUENCE { version, SEQUENCE { contentType, algorithm, [0] IMPLICIT OCTET
/// STRING } }
fn open(safe: Item<'_>, password: &str) -> Option<Zeroizing<Vec<u8>>> {
    let content_info = der::items(safe.value)?;
    let [kind, explicit] = content_info.as_slice() else { return None };
    if kind.tag != OID || kind.value != ENCRYPTED_DATA {
        return None;
    }
    let encrypted = der::sequence(explicit.value)?;
    let parts = der::items(encrypted.get(1)?.value)?;
    let [_, algorithm, content, ..] = parts.as_slice() else { return None };
    if algorithm.tag != SEQUENCE || content.tag != CONTENT {
        return None;
    }
    decrypted(*algorithm, content.value, password)
}

fn decrypted(algorithm: Item<'_>, data: &[u8], password: &str) -> Option<Zeroizing<Vec<u8>>> {
    let parts = der::items(algorithm.value)?;
    let [oid, parameters] = parts.as_slice() else { return None };
    match oid.value {
        TRIPLE_DES => pkcs12_pbe::<des::TdesEde3>(*parameters, data, password, 24),
        RC2_40 => pkcs12_pbe::<rc2::Rc2>(*parameters, data, password, 5),
        _ => {
            let scheme = EncryptionScheme::try_from(algorithm.whole).ok()?;
            scheme.decrypt(password.as_bytes(), data).ok().map(Zeroizing::new)
        }
    }
}

/// RFC 7292, appendix C: key and initial vector come from the password; parameters are salt and
/// iterations.
fn pkcs12_pbe<C>(
    parameters: Item<'_>,
    data: &[u8],
    password: &str,
    key_bytes: usize,
) -> Option<Zeroizing<Vec<u8>>>
where
    C: BlockCipherDecrypt + KeyInit,
    cbc::Decryptor<C>: KeyIvInit + BlockModeDecrypt,
{
    let parts = der::items(parameters.value)?;
    let [salt, iterations] = parts.as_slice() else { return None };
    let rounds = i32::try_from(der::unsigned(*iterations)?).ok()?;
    let derive = |kind, bytes| {
        derive_key_utf8::<Sha1>(password, salt.value, kind, rounds, bytes).ok().map(Zeroizing::new)
    };
    let key = derive(Pkcs12KeyType::EncryptionKey, key_bytes)?;
    let vector = derive(Pkcs12KeyType::Iv, 8)?;
    let decryptor = cbc::Decryptor::<C>::new_from_slices(&key, &vector).ok()?;
    decryptor.decrypt_padded_vec::<Pkcs7>(data).ok().map(Zeroizing::new)
}
