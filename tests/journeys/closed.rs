//! A running program is closed to other programs of the same user: no core dump, no debugger, no
//! look into its memory, its environment or its open files.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use journeys::program;
use testkit::Figures;

/// `nobody`, where the tests run as root: root may look into everything.
const NOBODY: u32 = 65_534;

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A command of an ordinary user.
fn ordinary(program: &Path) -> Command {
    let mut command = Command::new(program);
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.current_dir("/").env_remove("HOME");
    command
}

/// Whether an ordinary user may read a file of a process; in a process of its own, as that user.
fn may_read(file: &str) -> bool {
    let mut read = ordinary(Path::new("/usr/bin/head"));
    let read = read.args(["-c", "1", file]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    read.unwrap().success()
}

/// Whether a process can be opened for reading at all (`mem` at address 0 has nothing to read).
fn may_open(file: &str) -> bool {
    let mut open = ordinary(Path::new("/bin/sh"));
    let open = open.args(["-c", "exec 3< \"$1\"", "sh", file]).stderr(Stdio::null()).status();
    open.unwrap().success()
}

/// Whether a program is closed, once it runs: owner of its files, memory, environment, core limit.
fn assert_closed(id: u32, figures: &mut Figures) {
    let at = |name: &str| format!("/proc/{id}/{name}");
    for name in ["environ", "maps", "auxv"] {
        figures.cases(1);
        assert!(!may_read(&at(name)), "{name} can be read");
    }
    figures.cases(2);
    assert!(!may_open(&at("mem")), "the memory can be opened");
    assert_eq!(std::fs::metadata(at("environ")).unwrap().uid(), 0, "not dumpable");
    let limits = std::fs::read_to_string(at("limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    let words: Vec<_> = core.split_whitespace().collect();
    assert_eq!(words[4..6], ["0", "0"], "{core}");
}

/// A copy that an ordinary user may run.
fn copied(folder: &Path, name: &str) -> PathBuf {
    let copy = folder.join(name);
    std::fs::copy(program(name), &copy).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
    copy
}

#[test]
fn programs_are_closed_to_others_of_the_same_user() {
    let mut figures = Figures::start("canaries", "programs_are_closed_to_others_of_the_same_user");
    let folder = tempfile::tempdir().unwrap();
    let open_to_all = || std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), open_to_all()).unwrap();
    let data = folder.path().join("data");
    let authority = copied(folder.path(), "labcourier-authority");
    let made = ordinary(&authority).args(["init", "--data"]).arg(&data).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    // What an ordinary program of this user lets others see, so that a refusal means something.
    let plain = Running(ordinary(Path::new("/bin/sleep")).arg("600").spawn().unwrap());
    let at = |name: &str| format!("/proc/{}/{name}", plain.0.id());
    if !may_read(&at("environ")) || !may_open(&at("mem")) {
        println!("skipped: this system closes every process to others of the same user");
        return;
    }

    let mut serve = ordinary(&authority);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data).stdout(Stdio::piped());
    let mut serving = Running(serve.spawn().unwrap());
    let mut said = BufReader::new(serving.0.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let base = line.trim().strip_prefix("listening on ").expect("an address").to_owned();
    assert_closed(serving.0.id(), &mut figures);

    // `labcourier` watches a folder, in a practice profile of its own.
    let courier = copied(folder.path(), "labcourier");
    let profile = folder.path().join("profile");
    let watched = folder.path().join("watched");
    std::fs::create_dir(&watched).unwrap();
    let mut init = ordinary(&courier);
    let init = init.arg("--profile").arg(&profile).args(["init", "--practice"]).output().unwrap();
    assert!(init.status.success(), "{}", String::from_utf8_lossy(&init.stderr));
    let mut watch = ordinary(&courier);
    watch.arg("--profile").arg(&profile).arg("watch").arg(&watched);
    let watching = Running(watch.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    // It says that it watches, when it does.
    let mut watching = watching;
    let mut said = BufReader::new(watching.0.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(!line.is_empty(), "it says that it watches");
    assert_closed(watching.0.id(), &mut figures);
    assert!(base.starts_with("https://"));
    figures.finish();
}
