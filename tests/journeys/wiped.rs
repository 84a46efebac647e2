//! Keys and passwords are wiped: once nobody holds them any more, the memory of the process is
//! searched for them. Linux only: elsewhere a process cannot read its own memory as a file.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use identity::{Password, Secrets, SecretsKind};
use journeys::{Authority, Laboratory};
use testkit::Figures;

/// What is looked for is itself kept under this mask, so that it is not found where it is
/// remembered.
const MASK: u8 = 0x5a;

struct Masked(Vec<u8>);

impl Masked {
    fn new(secret: &[u8]) -> Self {
        assert!(secret.len() >= 16, "too short to look for");
        Self(secret.iter().map(|byte| byte ^ MASK).collect())
    }

    /// How often it stands in the writable memory of this process.
    fn copies(&self) -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mut memory = File::open("/proc/self/mem").unwrap();
        let mut chunk = vec![0_u8; 1 << 20];
        // Not into itself: what is being read would be found again where it is put.
        let own = chunk.as_ptr_range();
        let own = own.start as u64..own.end as u64;
        let mut copies = 0;
        for map in maps.lines() {
            let mut columns = map.split_whitespace();
            let (Some(range), Some(rights)) = (columns.next(), columns.next()) else { continue };
            if !rights.starts_with("rw") || map.contains("[vvar]") {
                continue;
            }
            let (from, to) = range.split_once('-').unwrap();
            let mut at = u64::from_str_radix(from, 16).unwrap();
            let end = u64::from_str_radix(to, 16).unwrap();
            while at < end {
                if own.contains(&at) {
                    at = own.end;
                    continue;
                }
                let end = if at < own.start { end.min(own.start) } else { end };
                let size = usize::try_from(end - at).unwrap().min(chunk.len());
                let part = &mut chunk[..size];
                // A mapping may be gone, or not be backed by memory.
                let read = memory.seek(SeekFrom::Start(at)).and_then(|_| memory.read_exact(part));
                if read.is_err() {
                    break;
                }
                part.iter_mut().for_each(|byte| *byte ^= MASK);
                let first = self.0[0];
                let here = (0..size.saturating_sub(self.0.len() - 1))
                    .filter(|start| part[*start] == first && part[*start..].starts_with(&self.0));
                copies += here.count();
                let whole = size < chunk.len();
                at += if whole { size } else { size - self.0.len() + 1 } as u64;
            }
        }
        copies
    }
}

/// A text that nobody has written down: every call gives another one.
fn passphrase() -> String {
    uuid::Uuid::new_v4().to_string()
}

fn gone(secret: &Masked, what: &str, figures: &mut Figures) {
    assert_eq!(secret.copies(), 0, "copies of {what}");
    figures.cases(1);
}

#[test]
fn what_is_secret_is_wiped_from_memory() {
    let mut figures = Figures::start("canaries", "what_is_secret_is_wiped_from_memory");
    // The search sees what is there.
    let kept = passphrase();
    let secret = Masked::new(kept.as_bytes());
    assert!(secret.copies() >= 1);
    drop(kept);

    let password = Password::from(passphrase());
    let data = tempfile::tempdir().unwrap();
    let created = Secrets::create(SecretsKind::Passphrase, data.path(), "wiped", Some(&password));
    let secrets = created.unwrap();
    let key = secrets.new_journal_key().unwrap();
    let masked_key = Masked::new(key.as_slice());
    assert!(masked_key.copies() >= 1);
    drop((key, secrets));
    gone(&masked_key, "the journal's key, made", &mut figures);
    let secrets = Secrets::open(SecretsKind::Passphrase, data.path(), "wiped", Some(&password));
    let key = secrets.as_ref().unwrap().journal_key().unwrap();
    assert!(masked_key.copies() >= 1);
    drop((key, secrets));
    gone(&masked_key, "the journal's key, opened", &mut figures);
    drop(password);

    // As a running program has it: from the vault. (The library that reads a `.p12` once, in a
    // process that ends, leaves a copy of its own.)
    let pilot = tempfile::tempdir().unwrap();
    Authority::init(pilot.path());
    let laboratory = Laboratory::at("https://localhost:9/v1/fhir", pilot.path());
    let profile = laboratory.profile();
    let settings = std::fs::read(profile.join("profile.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_slice(&settings).unwrap();
    let file = File::open(laboratory.folder().join("passphrase")).unwrap();
    let password = Password::first_line(file).unwrap();
    let id = settings["id"].as_str().unwrap();
    let secrets = Secrets::open(SecretsKind::Passphrase, &profile, id, Some(&password)).unwrap();
    let fingerprint = secrets.identities().unwrap().remove(0).fingerprint;
    let identity = secrets.identity(&fingerprint).unwrap().expect("imported");
    let der = identity.key().secret_der();
    let masked_scalar = Masked::new(&der[der.len() / 4..der.len() / 4 + 32]);
    assert!(masked_scalar.copies() >= 1);
    drop((identity, secrets, password));
    gone(&masked_scalar, "the private key", &mut figures);
    figures.finish();
}
