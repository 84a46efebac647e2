//! The recipe for a service: the unit is one, and its very command sends what is put into the
//! folder.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::place::{Place, report};

fn unit_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/labcourier.service")
}

/// The values of a setting, in the order in which they stand.
fn values(unit: &str, name: &str) -> Vec<String> {
    let of = |line: &str| line.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
    unit.lines().filter_map(of).collect()
}

#[test]
fn the_command_of_the_unit_sends_what_is_put_into_the_folder() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::ready();
    let unit = std::fs::read_to_string(unit_file()).unwrap();
    let credentials = place.path("credentials");
    std::fs::create_dir(&credentials).unwrap();
    std::fs::copy(place.path("passphrase"), credentials.join("passphrase")).unwrap();
    // As systemd leaves it where access lists say who reads.
    let mode = std::fs::Permissions::from_mode(0o440);
    std::fs::set_permissions(credentials.join("passphrase"), mode).unwrap();
    assert_eq!(values(&unit, "LoadCredential"), ["passphrase:/etc/labcourier/passphrase"]);
    let spool = place.path("spool");
    std::fs::create_dir(&spool).unwrap();
    let local = |text: &str| {
        text.replace("/usr/bin/labcourier", env!("CARGO_BIN_EXE_labcourier"))
            .replace("/var/lib/labcourier/profile", &place.shown("profile"))
            .replace("/var/spool/labcourier", &place.shown("spool"))
            .replace("%d", &place.shown("credentials"))
    };
    let start = values(&unit, "ExecStart");
    let [start] = start.as_slice() else { panic!("one command: {start:?}") };
    let words: Vec<String> = start.split(' ').map(local).collect();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_clear().stdin(Stdio::null()).stdout(Stdio::piped());
    for setting in values(&unit, "Environment") {
        let (name, value) = setting.split_once('=').unwrap();
        command.env(name, local(value));
    }
    let mut child = command.spawn().unwrap();
    std::fs::write(spool.join("Zwinglicanary.json"), report(930).json()).unwrap();
    let mut said = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
        let done = line.contains("Completed");
        said.push(line);
        if done {
            break;
        }
    }
    assert_eq!(values(&unit, "KillSignal"), ["SIGTERM"]);
    let told = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().code(), Some(0), "stops when told");
    assert!(said.last().is_some_and(|line| line.contains("Completed")), "{said:?}");
    assert!(!said.concat().contains("Zwinglicanary"), "{said:?}");
}

/// A share that is not there at one start of the computer must not stop the service for good: what
/// is in the journal needs no share.
#[test]
fn the_unit_starts_without_its_share() {
    let unit = std::fs::read_to_string(unit_file()).unwrap();
    for name in ["RequiresMountsFor", "Requires", "Requisite", "BindsTo", "PartOf"] {
        assert_eq!(values(&unit, name), [""; 0], "{name}");
    }
    let order = values(&unit, "After").concat();
    assert!(order.split(' ').any(|one| one == "var-spool-labcourier.mount"), "{order}");
    // A path of its own is bound when the service begins, and hides what is mounted there later.
    for name in ["ReadOnlyPaths", "ReadWritePaths", "BindPaths", "BindReadOnlyPaths"] {
        assert_eq!(values(&unit, name), [""; 0], "{name}");
    }
}

#[published::needs_program("systemd-analyze")]
#[test]
fn systemd_takes_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    let unit = std::fs::read_to_string(unit_file()).unwrap();
    let file = folder.path().join("labcourier.service");
    let program = env!("CARGO_BIN_EXE_labcourier");
    std::fs::write(&file, unit.replace("/usr/bin/labcourier", program)).unwrap();
    let told = Command::new("systemd-analyze").arg("verify").arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success() && said.is_empty(), "{said}");
}
