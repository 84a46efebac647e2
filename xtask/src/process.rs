//! Other programs: shown before they run, their output streamed, their failure named.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::output;

/// Words of a call in the line about its failure; the whole call stands above its output.
const SHOWN_OF_FAILED: usize = 4;

/// How long the output of a program may go on after its end.
const OUTPUT_ENDS: Duration = Duration::from_secs(5);

/// Lines about tests that failed in what is told of a failure.
const LINES_OF_FAILURES: usize = 60;

/// Lines that follow the name of a test that failed and are told with it: they say why it did.
const LINES_OF_REASON: usize = 9;

/// What `cargo run` tells this program about itself. Handed on, it would be taken for a change by
/// build scripts that look at it (the one of ring does): everything above ring would be built again
/// whenever somebody calls cargo without xtask in between.
const FROM_CARGO_RUN: [&str; 11] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PKG_AUTHORS",
    "CARGO_PKG_DESCRIPTION",
    "CARGO_PKG_HOMEPAGE",
    "CARGO_PKG_NAME",
    "CARGO_PKG_VERSION",
    "CARGO_PKG_VERSION_MAJOR",
    "CARGO_PKG_VERSION_MINOR",
    "CARGO_PKG_VERSION_PATCH",
    "CARGO_PKG_VERSION_PRE",
];

/// A program to call, as data.
#[derive(Debug, Clone)]
pub struct Call {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    label: Option<String>,
}

impl Call {
    /// A call without arguments, in the caller's folder.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            folder: None,
            label: None,
        }
    }

    /// The cargo that runs this program, so that the toolchain is the same.
    pub fn cargo() -> Self {
        Self::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// npm is a script on Windows.
    pub fn npm() -> Self {
        Self::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
    }

    /// Adds arguments.
    pub fn args<T: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Adds one argument.
    pub fn arg(self, arg: impl AsRef<OsStr>) -> Self {
        self.args([arg])
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Runs it in a folder.
    pub fn inside(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// The same call as arguments of another program, its environment and folder kept.
    pub fn under<T: AsRef<OsStr>>(self, outer: impl IntoIterator<Item = T>) -> Self {
        let mut words: Vec<OsString> =
            outer.into_iter().map(|word| word.as_ref().to_owned()).collect();
        words.push(self.program);
        words.extend(self.args);
        let program = words.remove(0);
        Self { program, args: words, env: self.env, folder: self.folder, label: self.label }
    }

    /// What to show instead, where the words themselves would tell a reader less.
    pub fn labelled(mut self, label: String) -> Self {
        self.label = Some(label);
        self
    }

    /// As a person would type it, without the environment.
    pub fn shown(&self) -> String {
        if let Some(label) = &self.label {
            return label.clone();
        }
        let mut words =
            vec![Path::new(&self.program).file_stem().unwrap_or(&self.program).to_string_lossy()];
        words.extend(self.args.iter().map(|arg| arg.to_string_lossy()));
        words.join(" ")
    }

    /// Shows the call, streams its output and waits; an exit code other than 0 is an error.
    pub fn run(&self) -> Result<(), String> {
        match self.code()? {
            0 => Ok(()),
            code => Err(self.ended_with(code)),
        }
    }

    /// Like [`Call::run`], for programs that run many tests: the error names those that failed, and
    /// why, so that whoever sees nothing but the end of a long output learns of them.
    pub fn run_tests(&self) -> Result<(), String> {
        output::line(&format!("$ {}", self.shown()));
        let mut command = self.command();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| self.not_started(&error))?;
        let (sender, failed) = mpsc::channel();
        if let Some(out) = child.stdout.take() {
            let sender = sender.clone();
            std::thread::spawn(move || show(out, &sender));
        }
        if let Some(err) = child.stderr.take() {
            std::thread::spawn(move || show(err, &sender));
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        // A service that outlives the tests holds their output open: nobody waits for its end for
        // long.
        let until = Instant::now() + OUTPUT_ENDS;
        let mut told = Vec::new();
        while let Ok(line) = failed.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if told.len() < LINES_OF_FAILURES && !told.contains(&line) {
                told.push(line);
            }
        }
        if status.success() {
            return Ok(());
        }
        let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        told.insert(0, self.ended_with(code));
        Err(told.join("\n    "))
    }

    fn ended_with(&self, code: u8) -> String {
        let shown = self.shown();
        let words: Vec<_> = shown.split(' ').take(SHOWN_OF_FAILED).collect();
        format!("`{} …` ended with exit code {code}", words.join(" "))
    }

    /// Like [`Call::run`], for programs whose exit code has a meaning. A signal counts as 1.
    pub fn code(&self) -> Result<u8, String> {
        output::line(&format!("$ {}", self.shown()));
        let status = self.command().status().map_err(|error| self.not_started(&error))?;
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }

    /// What it prints, or `None` where the program is missing or fails.
    pub fn text(&self) -> Option<String> {
        let output = self.command().stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// For what must be started and stopped by the caller.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        FROM_CARGO_RUN.iter().for_each(|name| {
            command.env_remove(name);
        });
        if std::env::var_os("CI").is_some() {
            // A clean checkout is built once: what would make the next build faster only fills the
            // disk.
            command.env("CARGO_INCREMENTAL", "0");
        }
        command.args(&self.args).envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::inherit());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    /// The message about a program that cannot be started.
    pub fn not_started(&self, error: &std::io::Error) -> String {
        format!("`{}` cannot be started: {error}", self.program.to_string_lossy())
    }
}

/// Shows what comes, and hands on the lines that name a test that failed, each with what is printed
/// next.
fn show(output: impl std::io::Read, failed: &mpsc::Sender<String>) {
    let mut lines = BufReader::new(output);
    let mut line = Vec::new();
    let mut of_reason = 0;
    while lines.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        let text = String::from_utf8_lossy(&line);
        output::line(&text);
        let text = without_colours(&text);
        // Nobody listens any more once the program has ended.
        if names_a_failure(&text) {
            of_reason = LINES_OF_REASON;
            _ = failed.send(text.trim().to_owned());
        } else if of_reason > 0 && !text.trim().is_empty() {
            of_reason -= 1;
            _ = failed.send(format!("  {}", text.trim_end()));
        }
        line.clear();
    }
}

/// The text without the sequences that colour it (ECMA-48, SGR): Vitest prints them into a pipe.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        let rest = part.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == ';');
        plain + rest.strip_prefix('m').unwrap_or(rest)
    })
}

/// As nextest, cargo, Vitest, Playwright and our own scripts name a test that failed. Vitest fails
/// too where all tests pass and an error came after its test: it tells of "Unhandled Errors" then.
fn names_a_failure(line: &str) -> bool {
    let line = line.trim();
    let is_numbered = || {
        let number = line.split_once(") ").map_or("", |(number, _)| number);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && line.contains('›')
    };
    ["FAIL ", "SIGABRT ", "SIGKILL ", "TIMEOUT "].iter().any(|word| line.starts_with(word))
        || line.ends_with("... FAILED")
        || line.contains("Unhandled Error")
        || is_numbered()
}

/// Where a program lies on the PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| {
            [
                folder.join(program),
                folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX)),
            ]
        })
        .find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_shown_as_typed_and_keeps_its_place_under_another() {
        let call = Call::new("/usr/bin/xdotool").args(["key", "a"]).env("DISPLAY", ":7");
        assert_eq!(call.shown(), "xdotool key a");
        let wrapped = call.under(["dbus-run-session", "--"]);
        assert_eq!(wrapped.shown(), "dbus-run-session -- /usr/bin/xdotool key a");
        assert_eq!(wrapped.env.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn the_tests_that_failed_are_named_once_with_what_follows() {
        let said = "echo '  PASS a::b'; echo '  FAIL [ 0.1s] a::c'; echo '  FAIL [ 0.1s] a::c' \
            >&2; echo '  1) tests/x.spec.ts:5:1 › a journey'; echo; echo '1) no test'; \
            for line in 2 3 4 5 6 7 8 9 10; do echo why $line; done; exit 3";
        let told = Call::new("sh").args(["-c", said]).run_tests().unwrap_err();
        let lines: Vec<&str> = told.lines().map(str::trim).skip(1).collect();
        assert_eq!(lines.len(), 2 + LINES_OF_REASON, "{told}");
        assert!(lines.contains(&"why 9") && !lines.contains(&"why 10"), "{told}");
        for line in ["1) tests/x.spec.ts:5:1 › a journey", "FAIL [ 0.1s] a::c", "1) no test"] {
            assert!(lines.contains(&line), "{told}");
        }
        assert!(told.contains("exit code 3"));
        assert!(Call::new("sh").args(["-c", "echo FAIL x"]).run_tests().is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn what_vitest_tells_in_colours_is_told_plainly() {
        let said = r"printf '\033[41m FAIL \033[49m tests/x.test.ts\033[2m > \033[22my\n'
            printf '\033[31m⎯⎯ \033[1;7m Unhandled Errors \033[27m ⎯⎯\033[39m\nwhy\n'
            exit 1";
        let told = Call::new("sh").args(["-c", said]).run_tests().unwrap_err();
        let lines: Vec<&str> = told.lines().map(str::trim).skip(1).collect();
        assert_eq!(lines, ["FAIL  tests/x.test.ts > y", "⎯⎯  Unhandled Errors  ⎯⎯", "why"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_call_does_not_inherit_what_cargo_told_this_program() {
        // Whoever runs this test has set them.
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
        let said = Call::new("sh").args(["-c", "echo ${CARGO_PKG_NAME-none}"]).text();
        assert_eq!(said.as_deref(), Some("none\n"));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let call = Call::new("no-such-program-anywhere");
        assert!(call.run().unwrap_err().contains("no-such-program-anywhere"));
        assert_eq!(call.text(), None);
        assert_eq!(find("no-such-program-anywhere"), None);
    }
}
