//! The chapter "From nothing to the first report" of the manual, word for word.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use journeys::program;

/// Most commands from nothing to a laboratory's first accepted report.
const COMMANDS_MAX: usize = 10;
/// The address in the manual; a test takes a free port instead.
const ADDRESS: &str = "127.0.0.1:8443";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The commands of the chapter.
fn commands() -> Vec<String> {
    let manual = std::fs::read_to_string(root().join("docs/authority.md")).unwrap();
    let (_, chapter) = manual.split_once("## From nothing to the first report").unwrap();
    let (_, block) = chapter.split_once("```sh\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    block.lines().map(str::to_owned).collect()
}

#[test]
fn a_newcomer_follows_the_manual_to_the_first_accepted_report() {
    let commands = commands();
    assert!(commands.len() <= COMMANDS_MAX, "{commands:#?}");
    // Building is done already: its programs lie where the manual says that cargo puts them.
    let (build, others) = commands.split_first().unwrap();
    assert_eq!(build, "cargo build --release -p authority -p cli");
    let folder = tempfile::tempdir().unwrap();
    let built = folder.path().join("target/release");
    std::fs::create_dir_all(&built).unwrap();
    for name in ["labcourier-authority", "labcourier"] {
        std::os::unix::fs::symlink(program(name), built.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(root().join("crates"), folder.path().join("crates")).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let script = others.join("\n").replace(ADDRESS, &free.to_string());
    let done = Command::new("bash")
        .args(["-euc", &format!("trap 'kill $(jobs -p)' EXIT\n{script}\n")])
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let complained = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{}\n{said}\n{complained}", done.status);
    assert!(said.contains("Completed"), "{said}");
    let recorded =
        said.lines().any(|line| line.contains("\tmy-lab\t") && line.contains("\tcreate\t201\t"));
    assert!(recorded, "{said}");
    println!("{} commands, of which one builds", commands.len());
}
