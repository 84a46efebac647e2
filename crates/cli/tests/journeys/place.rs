//! An authority, a profile, and the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use authority::{PRACTICE_RULES, Rules, ServeOptions, Serving, init, serve};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_labcourier");

/// A folder with an authority's data, and a laboratory's profile beside it.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    runtime: Runtime,
    running: Option<(Serving, CancellationToken)>,
    port: u16,
}

/// How the program ended.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn objects(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        let all = format!("{}{}", self.out, self.err);
        assert!(all.contains(text), "{text:?} is not in: {all}");
        self
    }
}

impl Done {
    #[track_caller]
    pub(crate) fn says_not(self, text: &str) -> Self {
        let all = format!("{}{}", self.out, self.err);
        assert!(!all.contains(text), "{text:?} is in: {all}");
        self
    }
}

impl Place {
    /// An authority that runs, and a profile with its certificate.
    pub(crate) fn ready() -> Self {
        let mut place = Self::empty();
        place.start();
        place
            .run(&[
                "init",
                "--endpoint",
                &place.url(),
                "--ca",
                &place.ca(),
                "--vault",
                "passphrase",
            ])
            .ends(0);
        place.import().ends(0);
        place
    }

    /// Data of an authority that does not run yet, no profile.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        init(&folder.path().join("authority"), &["lab".to_owned()]).unwrap();
        testkit::write_private(&folder.path().join("passphrase"), "correct horse\n");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        Self { folder, runtime, running: None, port: 0 }
    }

    pub(crate) fn start(&mut self) {
        self.serve(None);
    }

    /// The authority accepts, and processes nothing: what is accepted stays in progress.
    pub(crate) fn start_without_processing(&mut self) {
        self.serve(Some(Duration::from_secs(3600)));
    }

    fn serve(&mut self, processing_delay: Option<Duration>) {
        let mut options = ServeOptions::new(self.path("authority"));
        options.processing_delay = processing_delay.unwrap_or(options.processing_delay);
        options.rules = Rules::parse(PRACTICE_RULES).unwrap();
        options.listen.set_port(self.port);
        let shutdown = CancellationToken::new();
        let serving = self.runtime.block_on(serve(options, shutdown.clone())).unwrap();
        self.port = serving.addr.port();
        self.running = Some((serving, shutdown));
    }

    pub(crate) fn stop(&mut self) {
        if let Some((serving, shutdown)) = self.running.take() {
            shutdown.cancel();
            self.runtime.block_on(serving.finished());
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn shown(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(crate) fn url(&self) -> String {
        format!("https://127.0.0.1:{}/v1/fhir", self.port)
    }

    pub(crate) fn ca(&self) -> String {
        self.shown("authority/ca.pem")
    }

    pub(crate) fn import(&self) -> Done {
        let p12 = self.shown("authority/pilot/lab.p12");
        let password = self.shown("authority/pilot/lab.password");
        self.run(&["identity", "import", &p12, "--password-file", &password])
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        testkit::write_private(&path, content);
        path.display().to_string()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(self.folder.path());
        command
            .arg("--profile")
            .arg(self.path("profile"))
            .arg("--passphrase-file")
            .arg(self.path("passphrase"))
            .args(arguments)
            .current_dir(self.folder.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        Done::of(&self.command(arguments).output().unwrap())
    }

    /// With `--json` and names of files: the objects, after checking the exit code.
    #[track_caller]
    pub(crate) fn json(&self, code: i32, arguments: &[&str]) -> Vec<Value> {
        let mut all = vec!["--json", "--file-names"];
        all.extend(arguments);
        self.run(&all).ends(code).objects()
    }
}

/// The program without anything of this computer's: own home, own variables.
pub(crate) fn program(home: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .env_clear()
        .env("HOME", home)
        .env("LABCOURIER_HOME", home.join("data"))
        .env("TMPDIR", std::env::temp_dir())
        .stdin(Stdio::null());
    command
}

pub(crate) fn finish(mut command: Command) -> Done {
    Done::of(&command.output().unwrap())
}

/// The same where standard output goes somewhere else.
#[cfg(target_os = "linux")]
pub(crate) fn finish_into(mut command: Command) -> Done {
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    Done::of(&child.wait_with_output().unwrap())
}

/// A sound report of a made-up person, recent at any time: `seed` tells them apart.
pub(crate) fn report(seed: u64) -> testkit::DocumentBuilder {
    let days = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400 - 3;
    testkit::DocumentBuilder::new(seed).timestamp(&format!("{}T10:00:00+01:00", day(days)))
}

/// The date of so many days after 1970-01-01.
fn day(days: u64) -> String {
    let at = fhir_day(i64::try_from(days).unwrap());
    format!("{:04}-{:02}-{:02}", at.0, at.1, at.2)
}

/// Civil date from days (Hinnant's algorithm).
fn fhir_day(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}
