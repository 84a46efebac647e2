//! The installer of a newer version: the system's own opens the file, and asks whom it has to ask.
//! Lab Courier has no rights that it could install with, and takes no password for it.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Hands the file to the system. An AppImage has no installer: the folder in which it lies opens.
pub(crate) fn open(file: &Path) -> io::Result<()> {
    let is_image = file.extension().is_some_and(|extension| extension == "AppImage");
    let shown = if is_image { file.parent().unwrap_or(file) } else { file };
    let mut child = Command::new(OPENER)
        .arg(shown)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // It ends by itself; nothing of it is needed any more but that it is not left behind.
    std::thread::spawn(move || child.wait());
    Ok(())
}

#[cfg(target_os = "windows")]
const OPENER: &str = "explorer.exe";
#[cfg(target_os = "macos")]
const OPENER: &str = "/usr/bin/open";
#[cfg(not(any(target_os = "windows", target_os = "macos")))]
const OPENER: &str = "xdg-open";
