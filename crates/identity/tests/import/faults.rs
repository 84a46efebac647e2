//! Files that are refused, each with its own code.

use identity::{Identity, ImportError};
use testkit::{ClientCertificate, OpenSsl, TestCa};

use crate::{client, code, counted, imported, password};

#[test]
fn many_derivations_count_together() {
    counted("many_derivations_count_together", || {
        let ca = TestCa::new("CA");
        let clients: Vec<_> = (0..6).map(|n| ca.client(&format!("labor-{n}"))).collect();
        let all: Vec<_> = clients.iter().collect();
        let mut hostile = ClientCertificate::p12_with_iterations(&all, "x", 32_768);
        // 32,768 becomes 900,000 for each key: below the limit of one derivation.
        for at in 0..hostile.len() - 5 {
            if hostile[at..at + 5] == [2, 3, 0, 0x80, 0] {
                hostile[at + 2..at + 5].copy_from_slice(&[0x0d, 0xbb, 0xa0]);
            }
        }
        let start = std::time::Instant::now();
        assert_eq!(code(&[&hostile], Some("x")), "too-many-iterations");
        assert!(start.elapsed().as_millis() < 500);
    });
}

#[test]
fn missing_and_mismatched_parts() {
    counted("missing_and_mismatched_parts", || {
        let (ca, client) = client();
        let other = ca.client("anderes-labor");
        let certificate = client.chain_pem();
        assert_eq!(code(&[certificate.as_bytes()], None), "no-key");
        assert_eq!(code(&[client.key_pem.as_bytes()], None), "no-certificate");
        let mismatch = [certificate.as_bytes(), other.key_pem.as_bytes()];
        assert_eq!(code(&mismatch, None), "key-does-not-match");
        let several = format!("{}{}", client.pem(), other.pem());
        assert_eq!(code(&[several.as_bytes()], None), "several-keys");
        let p12 = ClientCertificate::p12_of(&[&client, &other], "x");
        assert_eq!(code(&[&p12], Some("x")), "several-keys");
        // Each has a password of its own, which the other one's would be called wrong by.
        let two: [&[u8]; 2] = [&client.p12("x"), &other.p12("y")];
        assert_eq!(code(&two, Some("y")), "several-files");
        assert_eq!(code(&[ca.pem().as_bytes()], None), "ca-without-key");
        assert_eq!(code(&[ca.der()], None), "ca-without-key");
        // The same key twice is one key.
        imported(&[&client.p12("x"), client.key_pem.as_bytes()], Some("x"), &client);
        if let Some(openssl) = OpenSsl::find() {
            openssl.write("pair.pem", client.pem());
            openssl.run("pkcs12 -export -nokeys -in pair.pem -out certs.p12 -passout pass:x");
            assert_eq!(code(&[&openssl.read("certs.p12")], Some("x")), "no-key");
            openssl.run("pkcs12 -export -nocerts -in pair.pem -out key.p12 -passout pass:x");
            assert_eq!(code(&[&openssl.read("key.p12")], Some("x")), "no-certificate");
        }
    });
}

#[test]
fn anything_else_is_named() {
    let found = |bytes: &[u8]| match Identity::import(&[bytes], None) {
        Err(ImportError::NotACertificateFile { found }) => found,
        other => panic!("{other:?}"),
    };
    for (bytes, name) in [
        (&b""[..], "empty"),
        (b"  \n", "empty"),
        (b"%PDF-1.7 ...", "pdf"),
        (b"PK\x03\x04....", "zip"),
        (b"\xfe\xed\xfe\xed\0\0\0\x02", "java-keystore"),
        (b"ssh-ed25519 AAAA labor", "ssh-key"),
        (
            b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----",
            "ssh-key",
        ),
        (
            b"-----BEGIN PGP PRIVATE KEY BLOCK-----\nAAAA\n-----END PGP PRIVATE KEY BLOCK-----",
            "pgp",
        ),
        (b"<html>", "xml"),
        (b"{\"resourceType\":\"Bundle\"}", "json"),
        (b"geheim", "text"),
        (b"\x00\x01\x02\xff", "unknown"),
    ] {
        assert_eq!(found(bytes), name);
    }
    let Some(openssl) = OpenSsl::find() else { return };
    let (_, client) = client();
    openssl.write("key.pem", &client.key_pem);
    openssl.write("cert.pem", client.chain_pem());
    for (command, name) in [
        ("req -new -key key.pem -subj /CN=labor -out out", "csr"),
        ("req -new -key key.pem -subj /CN=labor -outform DER -out out", "csr"),
        ("pkey -in key.pem -pubout -out out", "public-key"),
        ("pkey -in key.pem -pubout -outform DER -out out", "public-key"),
        ("crl2pkcs7 -nocrl -certfile cert.pem -out out", "pkcs7"),
        ("crl2pkcs7 -nocrl -certfile cert.pem -outform DER -out out", "pkcs7"),
    ] {
        openssl.run(command);
        assert_eq!(found(&openssl.read("out")), name, "{command}");
    }
    openssl.run("req -new -key key.pem -subj /CN=labor -out out");
    let pair = [&openssl.read("out")[..], client.key_pem.as_bytes()];
    assert_eq!(code(&pair, None), "not-a-certificate-file", "a request is no certificate");
}

#[test]
fn keys_that_tls_cannot_use_are_named() {
    let Some(openssl) = OpenSsl::find() else { return };
    openssl.run("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521 -out p521.pem");
    openssl.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out rsa1024.pem");
    openssl.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:5120 -out rsa5120.pem");
    openssl.run("genpkey -algorithm ED448 -out ed448.pem");
    openssl.run("genpkey -genparam -algorithm DSA -pkeyopt dsa_paramgen_bits:1024 -out dsa.param");
    openssl.run("genpkey -paramfile dsa.param -out dsa.pem");
    for (name, key_type) in [
        ("p521", "EC P-521"),
        ("rsa1024", "RSA 1024"),
        ("rsa5120", "RSA 5120"),
        ("ed448", "Ed448"),
        ("dsa", "DSA"),
    ] {
        openssl.run(&format!("req -x509 -key {name}.pem -subj /CN=labor -days 9 -out cert.pem"));
        let (key, certificate) = (openssl.read(&format!("{name}.pem")), openssl.read("cert.pem"));
        let error = Identity::import(&[&key, &certificate], None).unwrap_err();
        assert_eq!(error, ImportError::UnsupportedKey { key_type: key_type.to_owned() });
    }
}

#[test]
fn unsupported_encryption_is_named() {
    let Some(openssl) = OpenSsl::find() else { return };
    let (_, client) = client();
    openssl.write("key.pem", &client.key_pem);
    openssl.write("pair.pem", client.pem());
    let certificate = client.chain_pem();
    let algorithm = |files: &[&[u8]]| match Identity::import(files, Some(&password("x"))) {
        Err(ImportError::UnsupportedEncryption { algorithm }) => algorithm,
        other => panic!("{other:?}"),
    };
    openssl.run(
        "pkcs8 -topk8 -in key.pem -v1 PBE-MD5-DES -provider legacy -provider default -out \
                 md5 -passout pass:x",
    );
    assert_eq!(algorithm(&[certificate.as_bytes(), &openssl.read("md5")]), "pbeWithMD5AndDES-CBC");
    openssl.run("pkcs8 -topk8 -in key.pem -v2 camellia-128-cbc -out camellia -passout pass:x");
    assert_eq!(
        algorithm(&[certificate.as_bytes(), &openssl.read("camellia")]),
        "1.2.392.200011.61.1.1.1.2"
    );
    openssl.run(
        "pkcs12 -export -in pair.pem -legacy -keypbe PBE-SHA1-RC4-128 -out rc4.p12 -passout pass:x",
    );
    // The key bag is inside an unencrypted safe, so it is seen before any derivation.
    assert_eq!(algorithm(&[&openssl.read("rc4.p12")]), "pbeWithSHAAnd128BitRC4");
}

#[test]
fn a_billion_iterations_are_refused_at_once() {
    counted("a_billion_iterations_are_refused_at_once", || {
        let Some(openssl) = OpenSsl::find() else { return };
        let (_, client) = client();
        openssl.write("pair.pem", client.pem());
        openssl
            .run("pkcs12 -export -in pair.pem -iter 70000 -maciter -out out.p12 -passout pass:x");
        // 70000 is 02 03 01 11 70 in DER; 0x7fffff in its place keeps the lengths. The MAC's stands
        // last.
        let sealed = openssl.read("out.p12");
        let asked = [2u8, 3, 1, 0x11, 0x70];
        let places: Vec<usize> = (0..sealed.len() - 5)
            .filter(|at| sealed[*at..*at + 5] == asked)
            .chain([sealed.len() - 5])
            .collect();
        assert!(places.len() >= 2);
        for at in places {
            let mut hostile = sealed.clone();
            assert_eq!(hostile[at..at + 2], [2, 3], "an INTEGER of three bytes");
            hostile[at + 2..at + 5].copy_from_slice(&[0x7f, 0xff, 0xff]);
            let start = std::time::Instant::now();
            assert_eq!(code(&[&hostile], Some("x")), "too-many-iterations");
            assert!(start.elapsed().as_millis() < 500);
        }
    });
}

#[test]
fn damaged_and_oversized_files() {
    counted("damaged_and_oversized_files", || {
        let (_, client) = client();
        let p12 = client.p12("x");
        assert_eq!(code(&[&p12[..p12.len() / 2]], Some("x")), "damaged");
        assert_eq!(code(&[&client.chain[0][..100]], None), "damaged");
        let pem = client.pem();
        assert_eq!(code(&[&pem.as_bytes()[..pem.len() / 3]], None), "damaged");
        assert_eq!(code(&[pem.replace("MII", "M!I").as_bytes()], None), "damaged");
        assert_eq!(code(&[&vec![b'x'; 300_000]], None), "too-large");
        // No single flipped or missing byte makes it panic or be accepted as something else.
        for at in 0..p12.len() {
            let mut flipped = p12.clone();
            flipped[at] ^= 0x55;
            if at % 16 == 0 {
                let _ = Identity::import(&[&p12[..at]], Some(&password("x")));
            }
            if (at < 64 || at % 97 == 0)
                && let Ok(identity) = Identity::import(&[&flipped], Some(&password("x")))
            {
                assert_eq!(identity.chain()[0], client.chain[0]);
            }
        }
    });
}
