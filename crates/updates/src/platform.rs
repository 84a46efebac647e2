//! What this computer would install, in the words of Tauri's descriptions.

use std::env::consts::{ARCH, OS};
use std::path::Path;

/// Where dpkg keeps that our package is installed.
const OF_DPKG: &str = "/var/lib/dpkg/info/lab-courier.list";
/// Where rpm keeps what is installed, on newer and older systems.
const OF_RPM: [&str; 2] = ["/usr/lib/sysimage/rpm", "/var/lib/rpm"];

/// Names of what fits this computer, as a description has them. One that came as a package is
/// offered a package of the same kind and nothing else.
pub fn platforms() -> Vec<String> {
    let system = if OS == "macos" { "darwin" } else { OS };
    let general = format!("{system}-{ARCH}");
    match installer() {
        Some(installer) => vec![format!("{general}-{installer}")],
        None => vec![general],
    }
}

/// How the program came here; `None` where the system knows one way, or none is known.
fn installer() -> Option<&'static str> {
    if OS != "linux" {
        return None;
    }
    if std::env::var_os("APPIMAGE").is_some() {
        return Some("appimage");
    }
    if Path::new(OF_DPKG).exists() {
        return Some("deb");
    }
    let is_installed = std::env::current_exe().is_ok_and(|file| file.starts_with("/usr/bin"));
    let is_of_rpm = is_installed && OF_RPM.iter().any(|folder| Path::new(folder).exists());
    is_of_rpm.then_some("rpm")
}
