//! Faults of a disk, a network and a clock for the real programs, by a library loaded before theirs
//! (`tests/faults/faults.c`). Linux only.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use tempfile::TempDir;

const SOURCE: &str = include_str!("../faults/faults.c");

/// Which operations count. Disk: only those on files below the folder that is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// Whatever needs room on the disk: writing, making a file, changing its length.
    Writes,
    /// Making sure that it is on disk.
    Syncs,
    /// Everything on the disk: also renaming, linking, removing, making folders.
    Disk,
    /// Connecting, sending, receiving.
    Net,
    /// Bytes sent.
    Sent,
    /// Bytes received.
    Received,
}

/// What happens at the chosen operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Death before it is done.
    Before,
    /// Death when half of its bytes are written.
    Within,
    /// Death when it is done.
    After,
    /// `ENOSPC`: no space left.
    Full,
    /// `EDQUOT`: this user's share is used up.
    Quota,
    /// `EIO`: the device fails.
    Broken,
    /// Half is written, and then there is no room.
    Short,
}

/// A fault at the n-th operation of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Which operations count.
    pub on: On,
    /// Which of them, from 1.
    pub at: u64,
    /// What happens.
    pub act: Act,
    /// Failures go on from there.
    pub lasting: bool,
    /// Death is a power cut: what was not synced is taken back at the whim of this seed.
    pub torn: Option<u64>,
    /// The disk says that it synced and did not.
    pub lies: bool,
}

impl Fault {
    /// Once, without a power cut.
    pub const fn once(on: On, at: u64, act: Act) -> Self {
        Self { on, at, act, lasting: false, torn: None, lies: false }
    }
}

/// What was counted in one process, readable while it runs and after its death.
#[derive(Debug)]
pub struct Tally(PathBuf);

impl Tally {
    fn number(&self, index: u64) -> u64 {
        let mut bytes = [0; 8];
        let file = fs::File::open(&self.0).expect("the tally");
        file.read_exact_at(&mut bytes, index * 8).expect("a number");
        u64::try_from(i64::from_le_bytes(bytes)).expect("a count")
    }

    /// How many operations of a kind there were.
    pub fn count(&self, on: On) -> u64 {
        match on {
            On::Writes => self.number(0),
            On::Syncs => self.number(1),
            On::Disk => (0..3).map(|index| self.number(index)).sum(),
            On::Net => self.number(3),
            On::Sent => self.number(4),
            On::Received => self.number(5),
        }
    }

    /// How often the fault happened.
    pub fn fired(&self) -> u64 {
        self.number(6)
    }

    /// Sectors of 512 bytes that a power cut took back.
    pub fn undone(&self) -> u64 {
        self.number(7)
    }
}

/// The library, and one clock for all programs that run under it.
pub struct Surroundings {
    library: PathBuf,
    folder: TempDir,
    ahead: AtomicI64,
    tallies: AtomicU64,
}

impl Surroundings {
    /// Builds the library; `None`, said aloud, where there is no such thing.
    pub fn new() -> Option<Self> {
        if !cfg!(target_os = "linux") {
            eprintln!("SKIPPED: faults of disk and network are made by a preload library on Linux");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("clock"), 0_i64.to_le_bytes()).expect("a clock");
        let library = built();
        Some(Self { library, folder, ahead: AtomicI64::new(0), tallies: AtomicU64::new(0) })
    }

    /// Sets the clock of all programs under it ahead: what a computer sees that slept so long.
    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_micros()).expect("not that long");
        let ahead = self.ahead.fetch_add(by, Ordering::SeqCst) + by;
        let clock = fs::OpenOptions::new().write(true).open(self.folder.path().join("clock"));
        clock.expect("the clock").write_all_at(&ahead.to_le_bytes(), 0).expect("set");
    }

    /// Lets a program live by the common clock.
    pub fn clocked(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAULTS_CLOCK", self.folder.path().join("clock"));
    }

    /// The same for a program that goes on running: its timers pass with the clock.
    pub fn ageing(&self, command: &mut Command) {
        self.clocked(command);
        command.env("FAULTS_PASS", "1");
    }

    /// Counts what a program does to files below a folder (a real path) and on the network.
    pub fn counted(&self, command: &mut Command, under: &Path) -> Tally {
        self.clocked(command);
        let number = self.tallies.fetch_add(1, Ordering::SeqCst);
        let tally = self.folder.path().join(format!("tally-{number}"));
        fs::write(&tally, [0; 64]).expect("a tally");
        command.env("FAULTS_TALLY", &tally).env("FAULTS_UNDER", under);
        Tally(tally)
    }

    /// Lets a program meet a fault.
    pub fn faulty(&self, command: &mut Command, under: &Path, fault: &Fault) -> Tally {
        let tally = self.counted(command, under);
        let on = match fault.on {
            On::Writes => "w",
            On::Syncs => "s",
            On::Disk => "wsn",
            On::Net => "t",
            On::Sent => "o",
            On::Received => "i",
        };
        let act = match fault.act {
            Act::Before => "before",
            Act::Within => "within",
            Act::After => "after",
            Act::Full => "ENOSPC",
            Act::Quota => "EDQUOT",
            Act::Broken => "EIO",
            Act::Short => "short",
        };
        command.env("FAULTS_ON", on).env("FAULTS_AT", fault.at.to_string()).env("FAULTS_DO", act);
        command.env("FAULTS_LAST", if fault.lasting { "1" } else { "0" });
        command.env("FAULTS_LIE", if fault.lies { "1" } else { "0" });
        if let Some(seed) = fault.torn {
            command.env("FAULTS_TORN", seed.to_string());
        }
        tally
    }
}

/// The library beside the test's own executable, compiled once for each version of its source.
fn built() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    SOURCE.hash(&mut hasher);
    let here = std::env::current_exe().expect("a test has an executable");
    let folder = here.parent().expect("a folder");
    let library = folder.join(format!("faults-{:016x}.so", hasher.finish()));
    if !library.exists() {
        let scratch = tempfile::tempdir_in(folder).expect("a folder");
        let (source, draft) = (scratch.path().join("faults.c"), scratch.path().join("faults.so"));
        fs::write(&source, SOURCE).expect("written");
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let output = Command::new(compiler)
            .args(["-std=gnu11", "-O1", "-shared", "-fPIC", "-o"])
            .args([&draft, &source])
            .output()
            .expect("the C compiler that also links Rust programs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // Several tests may build it at the same moment: each gives it the name in one step.
        fs::rename(&draft, &library).expect("renamed");
    }
    library
}
