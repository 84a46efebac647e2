//! The `openssl` program, for the forms of key files that only it writes.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A folder in which `openssl` runs.
pub struct OpenSsl {
    folder: TempDir,
}

impl OpenSsl {
    /// `None`, with a line on standard error, where the program is not installed.
    pub fn find() -> Option<Self> {
        let version = Command::new("openssl").arg("version").stdout(Stdio::null()).status();
        if !version.is_ok_and(|status| status.success()) {
            eprintln!("skipped: the openssl program is not installed");
            return None;
        }
        Some(Self { folder: tempfile::tempdir().unwrap() })
    }

    /// Writes a file into the folder.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Reads a file of the folder.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Runs it in the folder; panics with its words where it fails.
    pub fn run(&self, arguments: &str) {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        self.run_args(&arguments);
    }

    /// The same with arguments that hold spaces or are empty.
    pub fn run_args(&self, arguments: &[&str]) {
        let output = Command::new("openssl")
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "openssl {arguments:?}: {words}");
    }

    /// Starts it in the folder, its words on a pipe; it is ended when what is returned is dropped.
    pub fn start(&self, arguments: &str) -> RunningOpenSsl {
        let child = Command::new("openssl")
            .args(arguments.split_whitespace())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        RunningOpenSsl(child)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A running `openssl`.
pub struct RunningOpenSsl(pub Child);

impl Drop for RunningOpenSsl {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
