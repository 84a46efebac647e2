//! A real keychain that is locked, emptied, absent or denies: `labcourier` opens nothing, says why,
//! goes on when the keychain is back, and never falls back to a file.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use journeys::program;
use tempfile::TempDir;
use testkit::{DocumentBuilder, Figures};

/// A home with a keychain of its own, and a profile.
struct Place {
    home: TempDir,
}

/// What a command of a session ended with and said.
#[derive(Debug)]
struct Ended {
    code: i32,
    said: String,
}

const UNLOCKED: &str = "printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null";
const AGAIN: &str =
    "printf pw | gnome-keyring-daemon --replace --unlock --components=secrets >/dev/null 2>&1";
const LOCKED: &str = "gnome-keyring-daemon --start --components=secrets >/dev/null";

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(home.path(), private).unwrap();
        std::fs::write(home.path().join("report.json"), DocumentBuilder::new(1).json()).unwrap();
        Self { home }
    }

    fn profile(&self) -> PathBuf {
        self.home.path().join("profile")
    }

    /// Runs lines of shell on a bus of their own; each line that begins with `labcourier` is one
    /// `Ended`.
    fn session(&self, lines: &[&str]) -> Vec<Ended> {
        let mut script = String::new();
        let mut count = 0;
        for line in lines {
            match line.strip_prefix("labcourier ") {
                Some(rest) => {
                    let run = format!("\"$COURIER\" --profile \"$HOME/profile\" {rest}");
                    script.push_str(&format!("{run} >said.{count} 2>&1; echo $? >code.{count}\n"));
                    count += 1;
                }
                None => script.push_str(&format!("{line}\n")),
            }
        }
        let output = Command::new("dbus-run-session")
            .args(["--", "sh", "-c", &script])
            .current_dir(self.home.path())
            .env("HOME", self.home.path())
            .env("XDG_RUNTIME_DIR", self.home.path())
            .env("COURIER", program("labcourier"))
            .env("LANG", "C.UTF-8")
            .env_remove("XDG_DATA_HOME")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .output()
            .unwrap();
        let read = |name: &str, number| {
            let file = self.home.path().join(format!("{name}.{number}"));
            std::fs::read_to_string(&file).unwrap_or_else(|_| {
                panic!("{name}.{number}: {}", String::from_utf8_lossy(&output.stderr))
            })
        };
        let ended = |number| Ended {
            code: read("code", number).trim().parse().unwrap(),
            said: read("said", number),
        };
        (0..count).map(ended).collect()
    }

    /// The files of the profile, by name.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let Ok(entries) = std::fs::read_dir(self.profile()) else { return BTreeMap::new() };
        let named = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let files = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
        files.map(|path| (named(&path), std::fs::read(&path).unwrap())).collect()
    }

    /// Nothing that could hold a key in the clear.
    fn holds_no_secret(&self) {
        let files = self.files();
        for name in ["vault", "practice-secrets"] {
            assert!(!files.contains_key(name), "{name} appeared");
        }
    }
}

fn is_installed() -> bool {
    let there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    there("dbus-run-session") && there("gnome-keyring-daemon")
}

#[track_caller]
fn refused(ended: &Ended, words: &[&str], figures: &mut Figures) {
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(words.iter().any(|word| ended.said.contains(word)), "{ended:?}");
    assert!(!ended.said.contains("internal-error"), "{ended:?}");
    figures.cases(1);
}

const INIT: &str =
    "labcourier init --endpoint https://127.0.0.1:1/v1/fhir --environment integration";

#[test]
fn a_keychain_that_does_not_open_is_explained_and_asked_again() {
    assert!(is_installed(), "dbus-run-session and gnome-keyring-daemon: `cargo xtask setup`");
    let mut figures =
        Figures::start("keychain", "a_keychain_that_does_not_open_is_explained_and_asked_again");
    let place = Place::new();
    let list = "labcourier list --file-names";
    let first = place.session(&[UNLOCKED, INIT, list, "labcourier send report.json"]);
    assert_eq!(first.iter().map(|ended| ended.code).collect::<Vec<_>>()[..2], [0, 0], "{first:?}");
    place.holds_no_secret();
    let journal = place.files().remove("journal.db").expect("a journal");

    // Locked, and nobody there to unlock it; then it is back.
    let locked = place.session(&[LOCKED, list, "labcourier send report.json", AGAIN, list]);
    let closed = ["The keychain is locked", "The keychain refused access"];
    refused(&locked[0], &closed, &mut figures);
    refused(&locked[1], &closed, &mut figures);
    assert_eq!(locked[2].code, 0, "tried again, it opens: {:?}", locked[2]);
    assert!(locked[2].said.contains("report.json"), "and nothing was lost: {:?}", locked[2]);
    figures.cases(1);
    place.holds_no_secret();

    // Absent: no bus to ask on.
    let bus = "export DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent";
    let absent = place.session(&[bus, list]);
    refused(&absent[0], &["This computer has no keychain"], &mut figures);

    // Emptied: the key is gone, and no other is made in its place.
    for keyrings in [".local/share/keyrings", ".local/share/keyring"] {
        let _ = std::fs::remove_dir_all(place.home.path().join(keyrings));
    }
    let emptied = place.session(&[UNLOCKED, list, "labcourier send report.json", list]);
    for ended in &emptied {
        refused(ended, &["A stored key is missing"], &mut figures);
    }
    place.holds_no_secret();
    let after = place.files().remove("journal.db").expect("still a journal");
    assert_eq!(after[..64], journal[..64], "the journal is the same one");
    figures.finish();
}

#[test]
fn without_a_keychain_no_profile_is_made_and_no_key_is_written() {
    assert!(is_installed(), "dbus-run-session and gnome-keyring-daemon: `cargo xtask setup`");
    let mut figures =
        Figures::start("keychain", "without_a_keychain_no_profile_is_made_and_no_key_is_written");
    let place = Place::new();
    let bus = "export DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent";
    let absent = place.session(&[bus, INIT]);
    refused(&absent[0], &["This computer has no keychain"], &mut figures);
    assert!(place.files().is_empty(), "{:?}", place.files().keys());
    // The next try, with a keychain, finds the folder as it was.
    let there = place.session(&[UNLOCKED, INIT]);
    assert_eq!(there[0].code, 0, "{there:?}");
    place.holds_no_secret();
    figures.cases(1);
    figures.finish();
}
