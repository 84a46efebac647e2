//! Costs that cannot be seen from outside: keys sealed again within an encrypted safe.

use std::time::{Duration, Instant};

use pkcs5::EncryptionScheme;
use testkit::Figures;

use crate::code;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OCTETS: u8 = 4;
const EXPLICIT: u8 = 0xa0;
const IMPLICIT: u8 = 0x80;
const PASSWORD: &str = "x";
/// 1.2.840.113549.1.7.1 and .6
const DATA: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1];
const ENCRYPTED_DATA: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 6];
/// pkcs8ShroudedKeyBag, 1.2.840.113549.1.12.10.1.2
const SEALED_KEY: &[u8] = &[6, 11, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 10, 1, 2];

/// Shortest form, as DER has it: a reader may be strict.
fn short(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    match content.len() {
        length @ 0..=0x7f => [&[tag, length.to_le_bytes()[0]], &content[..]].concat(),
        length @ 0x80..=0xff => [&[tag, 0x81, length.to_le_bytes()[0]], &content[..]].concat(),
        length @ 0x100..=0xffff => {
            [&[tag, 0x82], &u16::try_from(length).unwrap().to_be_bytes()[..], &content].concat()
        }
        length => {
            let digits = u32::try_from(length).unwrap().to_be_bytes();
            [&[tag, 0x83], &digits[1..], &content].concat()
        }
    }
}

/// PBES2 with PBKDF2 (HMAC-SHA-256) and AES-256-CBC.
fn algorithm(iterations: u32) -> Vec<u8> {
    let rounds = iterations.to_be_bytes();
    let first = rounds.iter().position(|byte| *byte != 0).unwrap();
    // A leading zero where the first bit would be a sign.
    let sign: &[u8] = if rounds[first] & 0x80 == 0 { &[] } else { &[0] };
    let rounds = short(2, &[sign, &rounds[first..]]);
    let hmac = short(SEQUENCE, &[&[6, 8, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 9, 5, 0]]);
    let parameters = short(SEQUENCE, &[&short(OCTETS, &[&[7; 8]]), &rounds, &hmac]);
    let kdf = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 12];
    let cipher = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 42];
    let schemes = short(
        SEQUENCE,
        &[
            &short(SEQUENCE, &[&kdf, &parameters]),
            &short(SEQUENCE, &[&cipher, &short(OCTETS, &[&[9; 16]])]),
        ],
    );
    let pbes2 = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 13];
    short(SEQUENCE, &[&pbes2, &schemes])
}

fn sealed(algorithm: &[u8], plain: &[u8]) -> Vec<u8> {
    EncryptionScheme::try_from(algorithm).unwrap().encrypt(PASSWORD, plain).unwrap()
}

/// The same sealed key so many times within one encrypted safe, without a MAC.
fn nested(inner: &[u8], sealed_key: &[u8], count: usize) -> Vec<u8> {
    let shrouded = short(SEQUENCE, &[inner, &short(OCTETS, &[sealed_key])]);
    let attributes = short(SET, &[]);
    let bag = short(SEQUENCE, &[SEALED_KEY, &short(EXPLICIT, &[&shrouded]), &attributes]);
    let bags = short(SEQUENCE, &[&bag.repeat(count)]);
    let outer = algorithm(1);
    let content = short(IMPLICIT, &[&sealed(&outer, &bags)]);
    let encrypted = short(SEQUENCE, &[DATA, &outer, &content]);
    let encrypted = short(SEQUENCE, &[&[2, 1, 0], &encrypted]);
    let safe = short(SEQUENCE, &[ENCRYPTED_DATA, &short(EXPLICIT, &[&encrypted])]);
    let safes = short(SEQUENCE, &[&safe]);
    let data = short(SEQUENCE, &[DATA, &short(EXPLICIT, &[&short(OCTETS, &[&safes])])]);
    short(SEQUENCE, &[&[2, 1, 3], &data])
}

#[test]
fn keys_sealed_within_an_encrypted_safe_count_too() {
    let mut figures = Figures::start("pkcs12", "keys_sealed_within_an_encrypted_safe");
    let (_, client) = crate::client();
    let certificate = client.chain_pem();
    // One key, sealed twice: read. This shows that the file is built as it should be.
    let cheap = algorithm(2_048);
    let one = nested(&cheap, &sealed(&cheap, &client.key_pkcs8), 1);
    assert_eq!(code_or_read(&[&one, certificate.as_bytes()]), "read");
    figures.cases(1);
    // Hundreds of them, each within the limit of one: minutes, were they opened. And one beyond it.
    for (iterations, count) in [(10_000, 500), (900_000, 500), (1_000_000_000, 1)] {
        let inner = algorithm(iterations);
        // What was never sealed so is nonsense, which nobody may find out by deriving.
        let key = match iterations {
            1_000_000_000 => vec![0; 64],
            _ => sealed(&inner, &client.key_pkcs8),
        };
        let hostile = nested(&inner, &key, count);
        let begun = Instant::now();
        let said = code(&[&hostile, certificate.as_bytes()], Some(PASSWORD));
        let took = begun.elapsed();
        assert_eq!(said, "too-many-iterations", "{iterations} × {count}");
        assert!(took < Duration::from_secs(5), "{iterations} × {count}: {took:?}");
        figures.cases(1);
    }
    figures.finish();
}

fn code_or_read(files: &[&[u8]]) -> &'static str {
    let password = crate::password(PASSWORD);
    identity::Identity::import(files, Some(&password)).map_or_else(|error| error.code(), |_| "read")
}
