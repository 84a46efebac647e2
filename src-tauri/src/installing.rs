//! The installer of a newer version: the system's own opens the file, and asks whom it has to ask.
//! Lab Courier has no rights that it could install with, and takes no password for it.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Hands the file to the system. An AppImage has no installer: the folder in which it lies opens.
pub(crate) fn open(file: &Path) -> io::Result<()> {
    let is_image = file.extension().is_some_and(|extension| extension == "AppImage");
    let shown = if is_image { file.parent().unwrap_or(file) } else { file };
    let mut opener = Command::new(OPENER);
    if std::env::var_os("APPIMAGE").is_some() {
        for name in OF_IMAGE {
            opener.env_remove(name);
        }
    }
    let mut child = opener
        .arg(shown)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // It ends by itself; nothing of it is needed any more but that it is not left behind.
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// Where an AppImage has its own libraries: programs of the system do not start with them.
const OF_IMAGE: [&str; 9] = [
    "LD_LIBRARY_PATH",
    "PYTHONHOME",
    "PYTHONPATH",
    "PERLLIB",
    "QT_PLUGIN_PATH",
    "GSETTINGS_SCHEMA_DIR",
    "GIO_MODULE_DIR",
    "GTK_PATH",
    "GDK_PIXBUF_MODULE_FILE",
];

#[cfg(target_os = "windows")]
const OPENER: &str = "explorer.exe";
#[cfg(target_os = "macos")]
const OPENER: &str = "/usr/bin/open";
#[cfg(not(any(target_os = "windows", target_os = "macos")))]
const OPENER: &str = "xdg-open";
