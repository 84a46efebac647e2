//! Certificates and keys as they come: one file, or two where a line of four dashes parts them.

use identity::{Identity, ImportError, Password};

/// The password of the stored inputs.
const PASSWORD: &str = "x";
const PARTED_BY: &[u8] = b"\n----\n";

pub(crate) const DER_WORDS: &[&str] = &[
    "\u{0}",
    "\u{2}\u{1}\u{3}",
    "\u{2}\u{3}\u{7f}",
    "\u{2}\u{4}\u{3b}",
    "\u{4}\u{8}",
    "\u{4}\u{0}",
    "0\u{0}",
    "\u{6}\u{9}*",
    "\u{1f}\u{1}",
    "\u{5}\u{0}",
];
pub(crate) const PEM_WORDS: &[&str] = &[
    "-----BEGIN CERTIFICATE-----\n",
    "-----END CERTIFICATE-----\n",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----\n",
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
    "-----END ENCRYPTED PRIVATE KEY-----\n",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "Proc-Type: 4,ENCRYPTED\n",
    "DEK-Info: AES-256-CBC,",
    "DEK-Info: DES-CBC,00",
    "-----BEGIN ",
    "-----END ",
    "-----",
    "MII",
    "=",
    "\r\n",
    "\n----\n",
    "\u{feff}",
];

const CODES: [&str; 15] = [
    "password-needed",
    "wrong-password",
    "damaged",
    "no-key",
    "ca-without-key",
    "not-a-ca",
    "several-files",
    "no-certificate",
    "several-keys",
    "key-does-not-match",
    "not-a-certificate-file",
    "unsupported-key",
    "unsupported-encryption",
    "too-many-iterations",
    "too-large",
];

pub(crate) fn pkcs12(bytes: &[u8]) {
    import(&[bytes]);
}

pub(crate) fn pem(bytes: &[u8]) {
    let at = bytes.windows(PARTED_BY.len()).position(|window| window == PARTED_BY);
    match at {
        Some(at) => import(&[&bytes[..at], &bytes[at + PARTED_BY.len()..]]),
        None => import(&[bytes]),
    }
}

/// An import ends in an identity that fits together, or with a reason that has a code.
fn import(files: &[&[u8]]) {
    let password = Password::from(PASSWORD.to_owned());
    for password in [None, Some(&password)] {
        match Identity::import(files, password) {
            Ok(identity) => {
                let seen = identity.inspect();
                assert!(seen.chain_length == identity.chain().len() && seen.chain_length > 0);
                assert_eq!(seen.fingerprint_sha256.len(), 95);
                let printed = format!("{identity:?}");
                assert!(printed.len() < 200, "{printed}");
            }
            Err(problem) => said(&problem),
        }
    }
}

fn said(problem: &ImportError) {
    assert!(CODES.contains(&problem.code()), "{}", problem.code());
    assert!(!problem.to_string().is_empty());
    assert!(problem.params().iter().all(|(name, text)| !name.is_empty() && text.len() < 2_000));
}
