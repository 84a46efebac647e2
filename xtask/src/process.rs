//! Other programs: shown before they run, their output streamed, their failure named.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::output;

/// Words of a call in the line about its failure; the whole call stands above its output.
const SHOWN_OF_FAILED: usize = 4;

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
            code => {
                let shown = self.shown();
                let words: Vec<_> = shown.split(' ').take(SHOWN_OF_FAILED).collect();
                Err(format!("`{} …` ended with exit code {code}", words.join(" ")))
            }
        }
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

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let call = Call::new("no-such-program-anywhere");
        assert!(call.run().unwrap_err().contains("no-such-program-anywhere"));
        assert_eq!(call.text(), None);
        assert_eq!(find("no-such-program-anywhere"), None);
    }
}
