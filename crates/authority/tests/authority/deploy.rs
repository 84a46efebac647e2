//! What stands beside the program for those who put it into use.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_labcourier-authority");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn deployed(name: &str) -> String {
    std::fs::read_to_string(root().join("crates/authority/deploy").join(name)).unwrap()
}

#[test]
fn the_unit_is_one_and_starts_the_program() {
    let unit = deployed("labcourier-authority.service");
    let folder = TempDir::new().unwrap();
    let (_, start) = unit.split_once("ExecStart=").unwrap();
    let start = start.replace("\\\n", " ");
    let mut words = start.lines().next().unwrap().split_whitespace();
    assert_eq!(words.next(), Some("/usr/local/bin/labcourier-authority"));
    let data = folder.path().to_str().unwrap();
    let words: Vec<String> = words
        .map(|word| match word {
            "/var/lib/labcourier-authority" => data.to_owned(),
            other if other.ends_with("43") => "127.0.0.1:0".to_owned(),
            other => other.to_owned(),
        })
        .collect();
    let made = Command::new(PROGRAM).args(["init", "--data", data]).output().unwrap();
    assert!(made.status.success());
    let mut child = Command::new(PROGRAM).args(&words).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = [lines.next().unwrap().unwrap(), lines.next().unwrap().unwrap()];
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(said[0].starts_with("listening on ") && said[1].starts_with("admin on "), "{said:?}");
    // systemd itself says whether it is a unit, where there is one.
    let file = folder.path().join("labcourier-authority.service");
    std::fs::write(&file, unit.replace("/usr/local/bin/labcourier-authority", PROGRAM)).unwrap();
    match Command::new("systemd-analyze").arg("verify").arg(&file).output() {
        Ok(told) => {
            let said = String::from_utf8_lossy(&told.stderr);
            assert!(told.status.success() && said.is_empty(), "{said}");
        }
        Err(error) => println!("skipped: systemd-analyze verify: {error}"),
    }
}

#[test]
fn the_container_file_brings_every_member_of_the_workspace() {
    let file = deployed("Containerfile");
    let copied: Vec<_> = file
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .filter(|line| !line.starts_with("--from"))
        .flat_map(|line| line.split(' '))
        .collect();
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, members) = manifest.split_once("\nmembers = [").unwrap();
    let (members, _) = members.split_once("\n]").unwrap();
    let members: Vec<_> = members.lines().filter_map(|line| line.split('"').nth(1)).collect();
    assert!(members.len() > 10, "{members:?}");
    for member in members.into_iter().chain(["Cargo.toml", "Cargo.lock", "src-tauri"]) {
        let folder = member.split('/').next().unwrap();
        assert!(copied.contains(&folder), "{member} is not copied");
    }
}
