//! Forms that are read.

use fhir::Instant;
use testkit::{ClientCertificate, KeyKind, OpenSsl, Purpose, TestCa, Validity};

use crate::{client, code, counted, imported, password};

#[test]
fn modern_p12_with_password_umlaut_and_empty() {
    counted("modern_p12_with_password_umlaut_and_empty", || {
        let (_, client) = client();
        for text in ["geheim", "Prüfgerät €5", ""] {
            imported(&[&client.p12(text)], Some(text), &client);
        }
        imported(&[&client.p12("")], None, &client);
        let sealed = client.p12("geheim");
        assert_eq!(code(&[&sealed], None), "password-needed");
        assert_eq!(code(&[&sealed], Some("Geheim")), "wrong-password");
        assert_eq!(code(&[&sealed], Some("")), "wrong-password");
    });
}

#[test]
fn p12_as_openssl_writes_it() {
    counted("p12_as_openssl_writes_it", || {
        let Some(openssl) = OpenSsl::find() else { return };
        let (_, client) = client();
        openssl.write("pair.pem", client.pem());
        for (name, options) in [
            ("modern", vec![]),
            ("legacy RC2 and 3DES", vec!["-legacy"]),
            ("3DES only", vec!["-legacy", "-descert"]),
            (
                "AES with SHA-1",
                vec!["-keypbe", "AES-128-CBC", "-certpbe", "AES-128-CBC", "-macalg", "sha1"],
            ),
            ("no MAC", vec!["-nomac"]),
            ("no encryption", vec!["-keypbe", "NONE", "-certpbe", "NONE"]),
        ] {
            let mut arguments = vec!["pkcs12", "-export", "-in", "pair.pem", "-out", "out.p12"];
            arguments.extend(options);
            arguments.extend(["-passout", "pass:Prüf gerät"]);
            openssl.run_args(&arguments);
            let sealed = openssl.read("out.p12");
            imported(&[&sealed], Some("Prüf gerät"), &client);
            if name != "no MAC" {
                assert_eq!(code(&[&sealed], None), "password-needed", "{name}");
            }
            assert_eq!(code(&[&sealed], Some("falsch")), "wrong-password", "{name}");
        }
    });
}

/// Rewrites DER as Java writes BER: every constructed item with an indefinite length, every long
/// octet string in pieces; also within octet strings that carry a structure, so many levels deep.
fn ber(der: &[u8], levels: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = der;
    while !rest.is_empty() {
        let digits = if rest[1] < 0x80 { 0 } else { usize::from(rest[1] & 0x7f) };
        let length = match digits {
            0 => usize::from(rest[1]),
            _ => rest[2..2 + digits].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
        };
        let (tag, start) = (rest[0], 2 + digits);
        let value = &rest[start..start + length];
        if tag & 0x20 != 0 {
            out.extend([tag, 0x80]);
            out.extend(ber(value, levels));
            out.extend([0, 0]);
        } else if tag == 0x80 || tag == 4 && length > 64 {
            let inner = match levels > 0 && value[0] == 0x30 && tag == 4 {
                true => ber(value, levels - 1),
                false => value.to_vec(),
            };
            out.extend([tag | 0x20, 0x80]);
            for piece in inner.chunks(100) {
                out.extend([4, piece.len().to_le_bytes()[0]]);
                out.extend_from_slice(piece);
            }
            out.extend([0, 0]);
        } else {
            out.extend_from_slice(&rest[..start + length]);
        }
        rest = &rest[start + length..];
    }
    out
}

#[test]
fn p12_in_ber_as_java_and_mozilla_write_it() {
    counted("p12_in_ber_as_java_and_mozilla_write_it", || {
        let (_, client) = client();
        let outside = ber(&client.p12("x"), 0);
        imported(&[&outside], Some("x"), &client);
        assert_eq!(code(&[&outside], Some("y")), "wrong-password");
        assert_eq!(code(&[&outside], None), "password-needed");
        assert_eq!(code(&[&outside[..outside.len() / 2]], Some("x")), "damaged");
        let Some(openssl) = OpenSsl::find() else { return };
        openssl.write("pair.pem", client.pem());
        openssl.run("pkcs12 -export -nomac -in pair.pem -out out.p12 -passout pass:x");
        // Two levels: the safes, and the bags in them.
        let throughout = ber(&openssl.read("out.p12"), 2);
        imported(&[&throughout], Some("x"), &client);
        assert_eq!(code(&[&throughout], Some("y")), "wrong-password");
        openssl.write("cert.pem", client.chain_pem());
        openssl.run("crl2pkcs7 -nocrl -certfile cert.pem -outform DER -out out");
        let pkcs7 = ber(&openssl.read("out"), 0);
        assert_eq!(code(&[&pkcs7], None), "not-a-certificate-file");
    });
}

/// OpenSSL 3.4 and later can seal with PBMAC1 (RFC 9579), which is passed over.
#[test]
fn p12_with_pbmac1() {
    counted("p12_with_pbmac1", || {
        let (_, client) = client();
        let sealed = client.p12("x");
        // PFX { version (3 bytes), ContentInfo, MacData }, the first and the third with two bytes
        // of length
        assert_eq!((sealed[1], &sealed[7..9]), (0x82, &[0x30, 0x82][..]));
        let mac_at = 11 + usize::from(u16::from_be_bytes([sealed[9], sealed[10]]));
        // MacData { DigestInfo { { pbmac1, { } }, digest }, salt, iterations }
        let pbmac1 = [0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 14, 0x30, 0];
        let info = [&[0x30, 19][..], &pbmac1, &[4, 2, 1, 2]].concat();
        let mac = [&[0x30, 28][..], &info, &[4, 2, 1, 2, 2, 1, 1]].concat();
        let mut rewritten = sealed[..mac_at].to_vec();
        rewritten.extend_from_slice(&mac);
        let length = u16::try_from(rewritten.len() - 4).unwrap().to_be_bytes();
        assert_eq!(rewritten[..2], [0x30, 0x82]);
        rewritten[2..4].copy_from_slice(&length);
        imported(&[&rewritten], Some("x"), &client);
        assert_eq!(code(&[&rewritten], Some("y")), "wrong-password");
        assert_eq!(code(&[&rewritten], None), "password-needed");
    });
}

#[test]
fn pairs_of_files_in_every_form() {
    counted("pairs_of_files_in_every_form", || {
        let Some(openssl) = OpenSsl::find() else { return };
        let ca = TestCa::new("Testzertifizierung");
        openssl.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem");
        let rsa =
            ca.client_for_key("labor-rsa", &String::from_utf8(openssl.read("rsa.pem")).unwrap());
        let ec = ca.client("labor-ec");
        openssl.write("ec.pem", &ec.key_pem);
        openssl.run("rsa -in rsa.pem -traditional -out rsa.pkcs1.pem");
        openssl.run("rsa -in rsa.pem -traditional -outform DER -out rsa.pkcs1.der");
        openssl.run("pkcs8 -topk8 -nocrypt -in rsa.pem -outform DER -out rsa.pkcs8.der");
        openssl.run("ec -in ec.pem -out ec.sec1.pem");
        openssl.run("ec -in ec.pem -outform DER -out ec.sec1.der");
        openssl.run("ec -in ec.pem -no_public -out ec.no-public.pem");
        openssl.run(
            "pkcs8 -topk8 -nocrypt -in ec.no-public.pem -outform DER -out ec.no-public.pkcs8.der",
        );
        let plain: [(&str, &ClientCertificate); 8] = [
            ("rsa.pem", &rsa),
            ("rsa.pkcs1.pem", &rsa),
            ("rsa.pkcs1.der", &rsa),
            ("rsa.pkcs8.der", &rsa),
            ("ec.sec1.pem", &ec),
            ("ec.sec1.der", &ec),
            ("ec.no-public.pem", &ec),
            ("ec.no-public.pkcs8.der", &ec),
        ];
        for (name, of) in plain {
            let key = openssl.read(name);
            // PEM and DER certificates, in either order; a password that is not needed does no
            // harm.
            imported(&[of.chain_pem().as_bytes(), &key], None, of);
            imported(&[&key, &of.chain[0]], Some("unnötig"), of);
        }
        for (name, of, command) in [
            ("aes", &rsa, "pkcs8 -topk8 -in rsa.pem -out aes -passout pass:geheim"),
            (
                "aes.der",
                &rsa,
                "pkcs8 -topk8 -in rsa.pem -outform DER -out aes.der -passout pass:geheim",
            ),
            ("aes128", &ec, "pkcs8 -topk8 -in ec.pem -v2 aes128 -out aes128 -passout pass:geheim"),
            (
                "3des",
                &ec,
                "pkcs8 -topk8 -in ec.pem -v2 des3 -v2prf hmacWithSHA1 -out 3des -passout \
                 pass:geheim",
            ),
            ("scrypt", &ec, "pkcs8 -topk8 -in ec.pem -scrypt -out scrypt -passout pass:geheim"),
            (
                "pbe",
                &rsa,
                "pkcs8 -topk8 -in rsa.pem -v1 PBE-SHA1-3DES -out pbe -passout pass:geheim",
            ),
            (
                "legacy",
                &rsa,
                "rsa -in rsa.pem -traditional -aes256 -out legacy -passout pass:geheim",
            ),
            (
                "legacy128",
                &rsa,
                "rsa -in rsa.pem -traditional -aes128 -out legacy128 -passout pass:geheim",
            ),
            ("legacy3des", &ec, "ec -in ec.pem -des3 -out legacy3des -passout pass:geheim"),
        ] {
            openssl.run(command);
            let key = openssl.read(name);
            let certificate = of.chain_pem();
            imported(&[certificate.as_bytes(), &key], Some("geheim"), of);
            assert_eq!(code(&[certificate.as_bytes(), &key], None), "password-needed", "{name}");
            assert_eq!(
                code(&[certificate.as_bytes(), &key], Some("x")),
                "wrong-password",
                "{name}"
            );
        }
    });
}

#[test]
fn one_pem_with_both_in_any_order_and_with_noise() {
    counted("one_pem_with_both_in_any_order_and_with_noise", || {
        let root = TestCa::new("Wurzel");
        let middle = root.intermediate("Ausgabe");
        let client = middle.client("labor-kette");
        assert_eq!(client.chain.len(), 2);
        let reversed = format!(
            "Bag Attributes\n    friendlyName: Labor\n{}\n{}{}{}",
            client.key_pem,
            root.pem(),
            middle.pem(),
            TestCa::new("Fremd").pem()
        ) + &client.chain_pem();
        let identity = imported(&[reversed.as_bytes()], None, &client);
        assert_eq!(identity.chain(), client.chain, "leaf, issuer, and neither root nor stranger");

        let windows = reversed.replace('\n', "\r\n");
        imported(&[windows.as_bytes()], None, &client);
        let utf16: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain(windows.encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        imported(&[&utf16], None, &client);
    });
}

#[test]
fn every_supported_kind_of_key() {
    let ca = TestCa::new("CA");
    for (kind, name) in
        [(KeyKind::P256, "EC P-256"), (KeyKind::P384, "EC P-384"), (KeyKind::Ed25519, "Ed25519")]
    {
        let client = ca.client_with("labor", kind, Validity::Current, Purpose::ClientAuth);
        let identity = imported(&[&client.p12("x")], Some("x"), &client);
        assert_eq!(identity.inspect().key_type, name);
    }
}

#[test]
fn inspection_says_what_a_person_needs() {
    let ca = TestCa::new("Ausgabestelle");
    let client = ca.client_with("labor", KeyKind::P256, Validity::Expired, Purpose::ServerAuth);
    let identity = imported(&[client.pem().as_bytes()], None, &client);
    let seen = identity.inspect();
    assert!(seen.subject.contains("CN=labor") && seen.subject.contains("O=Labor Beispiel"));
    assert!(seen.issuer.contains("CN=Ausgabestelle"));
    assert_eq!(seen.purposes, ["server-auth"]);
    assert!(!seen.client_auth);
    assert_eq!(seen.fingerprint_sha256.len(), 95);
    assert_eq!(seen.chain_length, 1);
    // 2021-01-01T00:00:00Z
    assert_eq!(seen.not_after, Instant::from_seconds(1_609_459_200));
    assert_eq!(seen.days_left(Instant::from_seconds(1_609_459_200 - 86_400 * 3)), 3);
    assert_eq!(seen.days_left(Instant::from_seconds(1_609_459_201)), -1);
    let begins = seen.not_before.0 / 1_000_000;
    for (seconds, days) in [(-86_401, 2), (-86_400, 1), (-1, 1), (0, 0), (86_400 * 9, 0)] {
        assert_eq!(seen.days_ahead(Instant::from_seconds(begins + seconds)), days, "{seconds}");
    }
    assert!(!format!("{identity:?}").contains("key"), "{identity:?}");

    let free = ca.client_with("labor", KeyKind::P256, Validity::Current, Purpose::Unlimited);
    let seen = imported(&[free.pem().as_bytes()], None, &free).inspect();
    assert!(seen.client_auth && seen.purposes.is_empty());
}

#[test]
fn renewed_certificate_for_the_same_key_wins() {
    let ca = TestCa::new("CA");
    let old = ca.client_with("labor", KeyKind::P256, Validity::Expired, Purpose::ClientAuth);
    let new = ca.renewed(&old, Validity::Current);
    let file = format!("{}{}", old.pem(), new.chain_pem());
    imported(&[file.as_bytes()], None, &new);
}

#[test]
fn nothing_secret_is_shown() {
    let text = format!("{:?}", password("hunter2"));
    assert!(!text.contains("hunter2"));
}
