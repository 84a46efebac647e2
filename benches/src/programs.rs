//! The real programs, as a laboratory runs them, and what the kernel says they used.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::Result;

/// A release build beside this executable.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    let here = std::env::current_exe()?;
    let file = here.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if file.exists() { Ok(file) } else { Err(format!("{} is missing", file.display()).into()) }
}

/// A running `labcourier-authority`, ended when dropped.
pub(crate) struct Authority {
    child: Child,
    /// The base address of the service, `https://…/v1/fhir`.
    pub(crate) base: String,
}

impl Authority {
    /// Makes one in a folder and serves it.
    pub(crate) fn serve(data: &Path) -> Result<Self> {
        Self::serve_on(data, None, true)
    }

    /// Serves a folder, first making it where it is new, with its documents in a PostgreSQL or
    /// beside.
    pub(crate) fn serve_on(data: &Path, store: Option<&str>, new: bool) -> Result<Self> {
        let command = |name: &str| -> Result<Command> {
            let mut command = Command::new(program("labcourier-authority")?);
            command.arg(name).arg("--data").arg(data);
            command.args(store.map(|url| format!("--store={url}")));
            Ok(command)
        };
        if new {
            run(command("init")?.args(["--laboratory", "bench"]))?;
        }
        let limits = ["--requests-per-second", "1000000", "--open-requests", "1000"];
        let mut child = command("serve")?
            .args(["--listen", "127.0.0.1:0"])
            .args(limits)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the authority has no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let base = line.trim().strip_prefix("listening on ").unwrap_or_default().to_owned();
        Ok(Self { child, base })
    }

    /// Its resident memory, in MB.
    pub(crate) fn resident_mb(&self) -> f64 {
        resident(self.child.id())
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A profile with a passphrase vault and a certificate.
pub(crate) struct Laboratory {
    folder: TempDir,
}

/// What one run of a program used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    /// Wall time.
    pub(crate) time: Duration,
    /// Time of all its threads on a processor, in seconds; 0 where the system does not tell.
    pub(crate) cpu_seconds: f64,
    /// Most resident memory in the second half of the run, in MB: the first opens the vault, whose
    /// derivation of a key takes 64 MB for a moment. 0 where the system does not tell.
    pub(crate) resident_mb: f64,
}

impl Laboratory {
    /// Sets it up as an administrator does.
    pub(crate) fn new(
        base: &str,
        ca: &Path,
        identity: &Path,
        password_file: Option<&Path>,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        testkit::write_private(&folder.path().join("passphrase"), "only for measuring");
        let laboratory = Self { folder };
        let mut init = laboratory.command()?;
        init.args(["init", "--endpoint", base, "--vault", "passphrase", "--ca"]).arg(ca);
        run(&mut init)?;
        let mut import = laboratory.command()?;
        import.args(["identity", "import"]).arg(identity);
        if let Some(file) = password_file {
            import.arg("--password-file").arg(file);
        }
        run(&mut import)?;
        Ok(laboratory)
    }

    /// Imports packages of rules and puts one of them to use.
    pub(crate) fn use_rules(&self, packages: &[PathBuf], name: &str) -> Result<()> {
        let mut import = self.command()?;
        let output = import.args(["rules", "import"]).args(packages).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        let told = String::from_utf8(output.stdout)?;
        let mut entries = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let version = entries.rfind(|entry| entry["name"] == name);
        let version = version.as_ref().and_then(|entry| entry["version"].as_str());
        let label = format!("{name}@{}", version.ok_or("the package is not among them")?);
        run(self.command()?.args(["rules", "use"]).arg(label))
    }

    fn command(&self) -> Result<Command> {
        let mut command = Command::new(program("labcourier")?);
        command.arg("--profile").arg(self.folder.path().join("profile"));
        command.arg("--passphrase-file").arg(self.folder.path().join("passphrase"));
        command.arg("--json").stdin(Stdio::null());
        Ok(command)
    }

    /// Begins to send a folder; what becomes of each file is told on its output.
    pub(crate) fn sending(&self, folder: &Path) -> Result<Child> {
        let mut command = self.command()?;
        Ok(command.arg("send").arg(folder).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
    }

    /// Follows what is open until dropped.
    pub(crate) fn follow(&self) -> Result<Running> {
        let mut command = self.command()?;
        command.arg("follow").stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Running(command.spawn()?))
    }

    /// Sends a folder and tells what that used.
    pub(crate) fn send(&self, folder: &Path) -> Result<Used> {
        let before = children_cpu();
        let began = Instant::now();
        let mut command = self.command()?;
        let mut child =
            command.arg("send").arg(folder).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut seen: Vec<(Duration, f64)> = Vec::new();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            seen.push((began.elapsed(), resident(child.id())));
            std::thread::sleep(Duration::from_millis(10));
        };
        let time = began.elapsed();
        let second_half = seen.iter().filter(|(at, _)| *at * 2 >= time);
        let resident_mb = second_half.map(|(_, size)| *size).fold(0.0, f64::max);
        if !status.success() {
            let told = std::io::read_to_string(child.stderr.take().ok_or("no output")?)?;
            return Err(format!("labcourier send: {status}\n{told}").into());
        }
        Ok(Used { time, cpu_seconds: children_cpu() - before, resident_mb })
    }
}

/// A program that runs, ended when dropped.
pub(crate) struct Running(Child);

impl Running {
    /// Time of all its threads on a processor so far, in seconds; 0 where the system does not tell.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        cpu_of(&format!("/proc/{}/stat", self.0.id()), OWN_TIMES)
    }

    pub(crate) fn has_ended(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
}

/// Resident memory of a living process, in MB.
pub(crate) fn resident(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

/// Processor time of all children that have ended, in seconds.
fn children_cpu() -> f64 {
    cpu_of("/proc/self/stat", CHILDREN_TIMES)
}

/// Where the two times of a process stand after its name in brackets, and those of its children.
const OWN_TIMES: usize = 11;
const CHILDREN_TIMES: usize = 13;

/// Clock ticks are 1/100 s on Linux.
fn cpu_of(file: &str, place: usize) -> f64 {
    let stat = std::fs::read_to_string(file).unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(place).take(2).filter_map(|n| n.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// How busy the machine is, in words for the reader.
pub(crate) fn load() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match std::fs::read_to_string("/proc/loadavg") {
        Ok(load) => {
            let minute = load.split(' ').next().unwrap_or("?").to_owned();
            format!("{cores} cores, load of the last minute {minute} (our own included).")
        }
        Err(_) => format!("{cores} cores."),
    }
}
