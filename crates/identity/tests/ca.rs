//! The authority's CA as it comes in files.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use identity::{AuthorityCa, ImportError, Trust, server_trust};
use testkit::TestCa;

#[test]
fn pem_and_der_are_read_and_only_the_certificates_are_kept() {
    let (root, other) = (TestCa::new("Root of the authority"), TestCa::new("Another"));
    let client = root.client("labor");
    let from_pem = AuthorityCa::read(root.pem().as_bytes()).unwrap();
    assert!(from_pem.first.subject.contains("Root of the authority"), "{from_pem:?}");
    assert_eq!(AuthorityCa::read(root.der()).unwrap(), from_pem);
    let several = format!("Bag Attributes\n{}{}{}", root.pem(), other.pem(), client.pem());
    let several = AuthorityCa::read(several.as_bytes()).unwrap();
    assert_eq!(several.fingerprints.len(), 3);
    assert_eq!(several.first.fingerprint_sha256, from_pem.first.fingerprint_sha256);
    assert!(!several.pem.contains("PRIVATE KEY"));
    let utf16: Vec<u8> = root.pem().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let with_mark = [&[0xff, 0xfe][..], &utf16].concat();
    assert_eq!(AuthorityCa::read(&with_mark).unwrap(), from_pem);
    // It is trusted as it is handed on.
    let trust = Trust { ca_pem: Some(&from_pem.pem), ..Trust::default() };
    assert_eq!(server_trust(&trust, Vec::new).unwrap().len(), 1);
}

#[test]
fn what_is_no_ca_is_named() {
    let read = |bytes: &[u8]| AuthorityCa::read(bytes).unwrap_err();
    let key = TestCa::new("CA").client("labor");
    let key = key.pem();
    let key = &key[key.find("-----BEGIN PRIVATE KEY").unwrap()..];
    assert_eq!(read(key.as_bytes()), ImportError::NoCertificate);
    assert_eq!(read(b"%PDF-1.7"), ImportError::NotACertificateFile { found: "pdf" });
    let root = TestCa::new("CA");
    let client = root.client("labor");
    let certificate = client.pem();
    let certificate = &certificate[..certificate.find("-----BEGIN PRIVATE KEY").unwrap()];
    assert_eq!(read(certificate.as_bytes()), ImportError::NotACa);
    assert_eq!(read(&client.chain[0]), ImportError::NotACa);
    assert_eq!(read(&client.p12("x")), ImportError::NotACa);
    let cut = &root.der()[..root.der().len() / 2];
    assert!(matches!(read(cut), ImportError::Damaged { .. }));
    let broken = root.pem().replace("-----END", "-----ENDE");
    assert!(matches!(read(broken.as_bytes()), ImportError::Damaged { .. }));
}
