//! Where secrets rest: vault, practice file, and a real Secret Service in a session of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use identity::{Identity, Password, Secrets, SecretsError, SecretsKind};
use tempfile::TempDir;
use testkit::{ClientCertificate, Figures, OpenSsl, TestCa};

fn password(text: &str) -> Password {
    Password::from(text.to_owned())
}

fn identity_of(client: &ClientCertificate) -> Identity {
    Identity::import(&[client.pem().as_bytes()], None).unwrap()
}

fn create(kind: SecretsKind, dir: &Path) -> Result<Secrets, SecretsError> {
    Secrets::create(kind, dir, "profil-1", Some(&password("korrekt pferd")))
}

fn open(kind: SecretsKind, dir: &Path) -> Result<Secrets, SecretsError> {
    Secrets::open(kind, dir, "profil-1", Some(&password("korrekt pferd")))
}

/// What every place must do.
fn keeps_secrets(kind: SecretsKind, dir: &Path) {
    let ca = TestCa::new("CA").intermediate("Ausgabe");
    let (first, second) = (ca.client("eins"), ca.client("zwei"));
    let secrets = create(kind, dir).unwrap();
    assert_eq!(secrets.journal_key().unwrap_err().code(), "secret-missing");
    let key = secrets.new_journal_key().unwrap();
    assert_eq!(secrets.new_journal_key().unwrap_err().code(), "secret-exists");
    assert!(secrets.identities().unwrap().is_empty());
    let (first_name, second_name) = (fingerprint_of(&first), fingerprint_of(&second));
    assert!(secrets.identity(&first_name).unwrap().is_none());
    assert!(!secrets.remove_identity(&first_name).unwrap());

    secrets.store_identity(&identity_of(&first)).unwrap();
    let again = open(kind, dir).unwrap();
    assert_eq!(*again.journal_key().unwrap(), *key);
    let stored = again.identity(&first_name).unwrap().unwrap();
    assert_eq!(stored.chain(), first.chain);
    assert_eq!(stored.key().secret_der(), first.key_pkcs8);

    // Beside it, and each again: the other one is never touched.
    for client in [&second, &first, &second] {
        again.store_identity(&identity_of(client)).unwrap();
        for client in [&first, &second] {
            let stored = secrets.identity(&fingerprint_of(client)).unwrap().unwrap();
            assert_eq!(stored.chain(), client.chain);
            assert_eq!(stored.key().secret_der(), client.key_pkcs8);
        }
        assert_eq!(names(&secrets), BTreeSet::from([first_name.clone(), second_name.clone()]));
    }
    assert!(again.remove_identity(&first_name).unwrap());
    assert!(secrets.identity(&first_name).unwrap().is_none());
    assert_eq!(names(&secrets), BTreeSet::from([second_name.clone()]));
    assert_eq!(secrets.identity(&second_name).unwrap().unwrap().chain(), second.chain);
    assert!(again.remove_identity(&second_name).unwrap());
    assert!(secrets.identities().unwrap().is_empty());
    proxies_keep_their_passwords(&secrets, &again);
    assert_eq!(*secrets.journal_key().unwrap(), *key, "the journal key stays");
}

fn proxies_keep_their_passwords(secrets: &Secrets, again: &Secrets) {
    assert!(secrets.proxy_password("labor@proxy:3128").unwrap().is_none());
    secrets.set_proxy_password("labor@proxy:3128", "proxycanary").unwrap();
    let kept = again.proxy_password("labor@proxy:3128").unwrap().unwrap();
    assert_eq!(*kept, "proxycanary");
    assert!(again.proxy_password("other@proxy:3128").unwrap().is_none());
}

fn fingerprint_of(client: &ClientCertificate) -> String {
    identity_of(client).inspect().fingerprint_sha256
}

/// Fingerprints of all that is stored and sound.
fn names(secrets: &Secrets) -> BTreeSet<String> {
    let all = secrets.identities().unwrap();
    all.into_iter().map(|it| it.inspection.unwrap().fingerprint_sha256).collect()
}

#[test]
fn vault_keeps_secrets_and_nothing_is_readable() {
    let dir = tempfile::tempdir().unwrap();
    keeps_secrets(SecretsKind::Passphrase, dir.path());
    let client = TestCa::new("CA").client("labor-canary");
    let secrets = open(SecretsKind::Passphrase, dir.path()).unwrap();
    secrets.store_identity(&identity_of(&client)).unwrap();
    let bytes = fs::read(dir.path().join("vault")).unwrap();
    assert!(!bytes.windows(12).any(|window| window == b"labor-canary"));
    assert!(!bytes.windows(16).any(|window| window == &client.key_pkcs8[40..56]));
    only_for_the_owner(&dir.path().join("vault"));
}

#[test]
fn practice_file_keeps_secrets() {
    let dir = tempfile::tempdir().unwrap();
    keeps_secrets(SecretsKind::Practice, dir.path());
    only_for_the_owner(&dir.path().join("practice-secrets"));
}

#[cfg(unix)]
fn only_for_the_owner(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(not(unix))]
fn only_for_the_owner(_: &Path) {}

#[test]
fn vault_says_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let kind = SecretsKind::Passphrase;
    assert_eq!(open(kind, dir.path()).err().unwrap().code(), "secret-missing");
    assert_eq!(
        Secrets::create(kind, dir.path(), "p", None).err().unwrap().code(),
        "passphrase-needed"
    );
    let empty = password("");
    assert_eq!(
        Secrets::create(kind, dir.path(), "p", Some(&empty)).err().unwrap().code(),
        "passphrase-needed"
    );
    create(kind, dir.path()).unwrap().new_journal_key().unwrap();
    assert_eq!(create(kind, dir.path()).err().unwrap().code(), "secret-exists");
    assert_eq!(
        Secrets::open(kind, dir.path(), "p", None).err().unwrap().code(),
        "passphrase-needed"
    );
    let wrong = password("falsch");
    assert_eq!(
        Secrets::open(kind, dir.path(), "p", Some(&wrong)).err().unwrap().code(),
        "wrong-passphrase"
    );

    let path = dir.path().join("vault");
    let sound = fs::read(&path).unwrap();
    let damaged = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        open(kind, dir.path()).err().map(|error| error.code())
    };
    assert_eq!(damaged(b""), Some("vault-damaged"));
    assert_eq!(damaged(&sound[..60]), Some("vault-damaged"));
    assert_eq!(damaged(&sound[..sound.len() - 1]), Some("vault-damaged"));
    let flipped = |at: usize, by: u8| {
        let mut bytes = sound.clone();
        bytes[at] ^= by;
        bytes
    };
    assert_eq!(damaged(&flipped(sound.len() - 1, 1)), Some("vault-damaged"));
    // Header asking for 4 TiB of memory: refused before it is allocated.
    assert_eq!(damaged(&flipped(11, 0xff)), Some("vault-damaged"));
    // Another salt derives another key: the same words as for a wrong passphrase.
    assert_eq!(damaged(&flipped(20, 1)), Some("wrong-passphrase"));
    assert_eq!(damaged(&sound), None);
}

#[test]
fn two_processes_make_one_journal_key() {
    let dir = tempfile::tempdir().unwrap();
    create(SecretsKind::Practice, dir.path()).unwrap();
    let made = |_| {
        let dir = dir.path().to_owned();
        std::thread::spawn(move || {
            let secrets = open(SecretsKind::Practice, &dir).unwrap();
            secrets.new_journal_key().map(|key| **key).map_err(|error| error.code())
        })
    };
    let threads: Vec<_> = (0..8).map(made).collect();
    let results: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    assert!(lost.iter().all(|result| *result == Err("secret-exists")));
    let secrets = open(SecretsKind::Practice, dir.path()).unwrap();
    assert_eq!(**secrets.journal_key().unwrap(), *won[0].as_ref().unwrap());
}

/// The entries of a practice file.
fn entries(file: &Path) -> BTreeMap<String, Vec<u8>> {
    let bytes = fs::read(file).unwrap();
    let mut rest = bytes.strip_prefix(b"LCPLAIN1").unwrap();
    let mut all = BTreeMap::new();
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let (name, after) = after.split_at(u16::from_le_bytes(*length).into());
        let (length, after) = after.split_first_chunk::<4>().unwrap();
        let (value, after) = after.split_at(u32::from_le_bytes(*length).try_into().unwrap());
        all.insert(String::from_utf8(name.to_vec()).unwrap(), value.to_vec());
        rest = after;
    }
    all
}

fn write_entries(file: &Path, entries: &BTreeMap<String, Vec<u8>>) {
    let mut bytes = b"LCPLAIN1".to_vec();
    for (name, value) in entries {
        bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
        bytes.extend(value);
    }
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_crash_at_any_write_leaves_the_former_identities() {
    let dir = tempfile::tempdir().unwrap();
    let ca = TestCa::new("CA");
    let (first, second) = (ca.client("eins"), ca.client("zwei"));
    let secrets = create(SecretsKind::Practice, dir.path()).unwrap();
    secrets.store_identity(&identity_of(&first)).unwrap();
    let path = dir.path().join("practice-secrets");
    let before = entries(&path);
    secrets.store_identity(&identity_of(&second)).unwrap();
    let after = entries(&path);
    let fresh: Vec<_> = after.keys().filter(|name| !before.contains_key(*name)).collect();
    assert!(fresh.len() >= 3, "key, certificate and description: {fresh:?}");
    // The list is the last entry that is written; until then any number of the others may be there.
    for written in 0..=fresh.len() {
        let mut cut = before.clone();
        cut.extend(fresh[..written].iter().map(|name| ((*name).clone(), after[*name].clone())));
        write_entries(&path, &cut);
        fs::write(path.with_extension("new"), b"half").unwrap();
        assert_eq!(names(&secrets), BTreeSet::from([fingerprint_of(&first)]));
        secrets.store_identity(&identity_of(&second)).unwrap();
        assert_eq!(names(&secrets).len(), 2);
        assert_eq!(entries(&path), after, "what the crash left is written over");
    }
    // Removing goes the other way: the list first.
    let mut cut = after.clone();
    cut.insert("identity/index".to_owned(), before["identity/index"].clone());
    write_entries(&path, &cut);
    assert_eq!(names(&secrets), BTreeSet::from([fingerprint_of(&first)]));
}

#[test]
fn the_one_identity_of_the_first_version_is_found_and_others_come_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let ca = TestCa::new("CA");
    let (first, second) = (ca.client("eins"), ca.client("zwei"));
    let secrets = create(SecretsKind::Practice, dir.path()).unwrap();
    secrets.store_identity(&identity_of(&first)).unwrap();
    let path = dir.path().join("practice-secrets");
    for slot in ["a", "b"] {
        // As the first version wrote it: one description, which names its slot, and no list.
        let mut old = BTreeMap::new();
        for (name, value) in entries(&path) {
            match name.strip_prefix("identity/a/") {
                Some("index") => {
                    let mut value: serde_json::Value = serde_json::from_slice(&value).unwrap();
                    value["slot"] = slot.into();
                    old.insert("identity/index".to_owned(), serde_json::to_vec(&value).unwrap());
                }
                Some(part) => _ = old.insert(format!("identity/{slot}/{part}"), value),
                None => {}
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("practice-secrets");
        write_entries(&path, &old);
        let secrets = open(SecretsKind::Practice, dir.path()).unwrap();
        assert_eq!(names(&secrets), BTreeSet::from([fingerprint_of(&first)]));
        secrets.store_identity(&identity_of(&second)).unwrap();
        assert_eq!(names(&secrets).len(), 2);
        let kept = secrets.identity(&fingerprint_of(&first)).unwrap().unwrap();
        assert_eq!(kept.key().secret_der(), first.key_pkcs8);
        assert!(secrets.remove_identity(&fingerprint_of(&first)).unwrap());
        assert_eq!(names(&secrets), BTreeSet::from([fingerprint_of(&second)]));
    }
}

#[test]
fn a_damaged_identity_is_listed_without_words_and_replaced_by_importing_it_again() {
    let dir = tempfile::tempdir().unwrap();
    let ca = TestCa::new("CA");
    let (first, second) = (ca.client("eins"), ca.client("zwei"));
    let secrets = create(SecretsKind::Practice, dir.path()).unwrap();
    for client in [&first, &second] {
        secrets.store_identity(&identity_of(client)).unwrap();
    }
    let path = dir.path().join("practice-secrets");
    let mut cut = entries(&path);
    cut.remove("identity/a/certificate/0/0").unwrap();
    write_entries(&path, &cut);
    let name = fingerprint_of(&first);
    assert_eq!(secrets.identity(&name).unwrap_err().code(), "secret-damaged");
    let listed = secrets.identities().unwrap();
    let damaged = listed.iter().find(|it| it.fingerprint == name).unwrap();
    assert!(damaged.inspection.is_none());
    assert!(secrets.identity(&fingerprint_of(&second)).unwrap().is_some(), "the other one works");
    secrets.store_identity(&identity_of(&first)).unwrap();
    assert_eq!(names(&secrets).len(), 2);
}

#[test]
fn a_profile_keeps_so_many_identities_and_says_when_it_is_full() {
    let dir = tempfile::tempdir().unwrap();
    let ca = TestCa::new("CA");
    let secrets = create(SecretsKind::Practice, dir.path()).unwrap();
    for number in 0..26 {
        secrets.store_identity(&identity_of(&ca.client(&format!("labor-{number}")))).unwrap();
    }
    let one_more = identity_of(&ca.client("labor-26"));
    assert_eq!(secrets.store_identity(&one_more).unwrap_err().code(), "too-many-certificates");
    assert_eq!(secrets.identities().unwrap().len(), 26);
}

#[test]
fn a_weak_passphrase_seals_nothing_and_the_passphrase_can_be_changed() {
    let dir = tempfile::tempdir().unwrap();
    let kind = SecretsKind::Passphrase;
    for weak in ["a", "geheim", "aaaaaaaaaaaaaaaaaaaa"] {
        let made = Secrets::create(kind, dir.path(), "p", Some(&password(weak)));
        assert_eq!(made.err().unwrap().code(), "passphrase-weak", "{weak}");
        assert!(!dir.path().join("vault").exists());
    }
    let secrets = create(kind, dir.path()).unwrap();
    let key = secrets.new_journal_key().unwrap();
    let other = open(kind, dir.path()).unwrap();
    assert_eq!(secrets.change_passphrase(&password("kurz")).unwrap_err().code(), "passphrase-weak");
    secrets.change_passphrase(&password("ein anderes pferd")).unwrap();
    assert_eq!(open(kind, dir.path()).err().unwrap().code(), "wrong-passphrase");
    assert_eq!(other.journal_key().unwrap_err().code(), "wrong-passphrase", "open elsewhere");
    let again = Secrets::open(kind, dir.path(), "p", Some(&password("ein anderes pferd")));
    assert_eq!(*again.unwrap().journal_key().unwrap(), *key);
    assert_eq!(*secrets.journal_key().unwrap(), *key, "whoever changed it goes on");
    only_for_the_owner(&dir.path().join("vault"));

    let practice = tempfile::tempdir().unwrap();
    let plain = create(SecretsKind::Practice, practice.path()).unwrap();
    let refused = plain.change_passphrase(&password("ein anderes pferd")).unwrap_err();
    assert_eq!(refused.code(), "no-vault");
}

/// The child half of `keychain_…`: runs only where the parent says so.
#[test]
fn in_a_session_of_its_own() {
    match std::env::var("IDENTITY_TEST_SESSION").as_deref() {
        Ok("unlocked") => {
            let dir = tempfile::tempdir().unwrap();
            keeps_secrets(SecretsKind::Keychain, dir.path());
            large_entries_are_split(dir.path());
            // Nothing of it may rest in the profile.
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        }
        Ok("locked") => {
            let before = std::time::Instant::now();
            let secrets = open(SecretsKind::Keychain, Path::new("/nonexistent")).unwrap();
            let error = secrets.journal_key().unwrap_err();
            assert!(
                matches!(error.code(), "keychain-locked" | "keychain-denied"),
                "never taken for a missing key: {error}"
            );
            assert!(before.elapsed().as_secs() < 60);
        }
        Ok("absent") => {
            let error = open(SecretsKind::Keychain, Path::new("/nonexistent")).err().unwrap();
            assert_eq!(error.code(), "no-keychain", "{error}");
        }
        _ => {}
    }
}

/// RSA 4096 is the largest key that TLS takes; a certificate with many names is larger than an
/// entry.
fn large_entries_are_split(dir: &Path) {
    let Some(openssl) = OpenSsl::find() else { return };
    let names: Vec<String> = (0..200).map(|n| format!("DNS:labor-{n}.example.org")).collect();
    let names = format!("subjectAltName={}", names.join(","));
    openssl.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:4096 -out key.pem");
    let request = "req -x509 -key key.pem -subj /CN=labor-gross -days 9 -out cert.pem -addext";
    openssl.run_args(&request.split(' ').chain([names.as_str()]).collect::<Vec<_>>());
    let files = [&openssl.read("key.pem")[..], &openssl.read("cert.pem")[..]];
    let identity = Identity::import(&files, None).unwrap();
    assert!(identity.chain()[0].len() > 5000 && identity.key().secret_der().len() > 2300);
    let secrets = open(SecretsKind::Keychain, dir).unwrap();
    secrets.store_identity(&identity).unwrap();
    let name = identity.inspect().fingerprint_sha256;
    let stored = secrets.identity(&name).unwrap().unwrap();
    assert_eq!(stored.chain(), identity.chain());
    assert_eq!(stored.key().secret_der(), identity.key().secret_der());
}

fn session(script: &str, mode: &str) -> bool {
    session_in(&tempfile::tempdir().unwrap(), script, mode)
}

/// Runs the other half in a session of its own; `false` where this system has no such thing.
fn session_in(home: &TempDir, script: &str, mode: &str) -> bool {
    let this = std::env::current_exe().unwrap();
    let output = Command::new("dbus-run-session")
        .args(["--", "sh", "-ec", script])
        .env("HOME", home.path())
        .env("XDG_RUNTIME_DIR", home.path())
        .env_remove("XDG_DATA_HOME")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env("IDENTITY_TEST_SESSION", mode)
        .env("TEST_BINARY", this)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: dbus-run-session is not installed");
        return false;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{words}");
    true
}

const RUN: &str = "\"$TEST_BINARY\" --exact in_a_session_of_its_own";

#[test]
fn keychain_keeps_secrets() {
    if Command::new("gnome-keyring-daemon").arg("--version").output().is_err() {
        eprintln!("skipped: gnome-keyring-daemon is not installed");
        return;
    }
    let mut figures = Figures::start("keychain", "keychain_keeps_secrets");
    let home = tempfile::tempdir().unwrap();
    let unlock = "eval \"$(printf pw | gnome-keyring-daemon --unlock --components=secrets)\"";
    let both = session_in(&home, &format!("{unlock}; {RUN}"), "unlocked");
    // The same keychain after a restart, and nobody there to unlock it.
    let locked = "gnome-keyring-daemon --start --components=secrets >/dev/null";
    if both && session_in(&home, &format!("{locked}; {RUN}"), "locked") {
        figures.cases(2);
        figures.finish();
    }
}

#[test]
fn no_keychain_is_said() {
    let mut figures = Figures::start("keychain", "no_keychain_is_said");
    if session(&format!("DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent {RUN}"), "absent") {
        figures.cases(1);
        figures.finish();
    }
}
