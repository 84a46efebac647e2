//! Starting in the background when the person logs in: an entry of their own, in the place that
//! their system has for it.

use std::io;
use std::path::{Path, PathBuf};

/// The argument of such a start.
pub(crate) const IN_BACKGROUND: &str = "--background";

/// Switches it on or off.
pub(crate) fn set(on: bool) -> io::Result<()> {
    let program = program()?;
    set_entry(on, &program)
}

/// An AppImage lies elsewhere than the program that runs.
fn program() -> io::Result<PathBuf> {
    match std::env::var_os("APPIMAGE") {
        Some(image) => Ok(PathBuf::from(image)),
        None => std::env::current_exe(),
    }
}

#[cfg(not(windows))]
fn set_entry(on: bool, program: &Path) -> io::Result<()> {
    let entry = entry().ok_or(io::ErrorKind::NotFound)?;
    write(on, &entry, &contents(program))
}

#[cfg(not(windows))]
fn write(on: bool, entry: &Path, contents: &str) -> io::Result<()> {
    if on {
        if let Some(folder) = entry.parent() {
            std::fs::create_dir_all(folder)?;
        }
        return std::fs::write(entry, contents);
    }
    match std::fs::remove_file(entry) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(not(windows))]
fn folder_of(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|folder| !folder.is_empty());
    let chosen = set(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
    chosen.or_else(|| set("HOME").map(|home| PathBuf::from(home).join(below_home)))
}

#[cfg(not(any(windows, target_os = "macos")))]
fn entry() -> Option<PathBuf> {
    Some(folder_of("XDG_CONFIG_HOME", ".config")?.join("autostart/lab-courier.desktop"))
}

/// As the specification of desktop entries wants a program quoted.
#[cfg(not(any(windows, target_os = "macos")))]
fn contents(program: &Path) -> String {
    let mut quoted = String::new();
    for letter in program.display().to_string().chars() {
        match letter {
            // Once for the quotes, and once for the file.
            '\\' => quoted.push_str("\\\\\\\\"),
            '"' | '`' | '$' => quoted.extend(["\\\\", &letter.to_string()]),
            '%' => quoted.push_str("%%"),
            letter => quoted.push(letter),
        }
    }
    format!(
        "[Desktop Entry]\nType=Application\nName=Lab Courier\nExec=\"{quoted}\" {IN_BACKGROUND}\n\
         Icon=lab-courier\nTerminal=false\nX-GNOME-Autostart-enabled=true\n"
    )
}

#[cfg(target_os = "macos")]
fn entry() -> Option<PathBuf> {
    Some(folder_of("", "Library/LaunchAgents")?.join("org.labcourier.desktop.plist"))
}

#[cfg(target_os = "macos")]
fn contents(program: &Path) -> String {
    let program = program.display().to_string();
    let program = program.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict>\
         <key>Label</key><string>org.labcourier.desktop</string><key>RunAtLoad</key><true/>\
         <key>ProgramArguments</key><array><string>{program}</string>\
         <string>{IN_BACKGROUND}</string></array></dict></plist>\n"
    )
}

#[cfg(windows)]
fn set_entry(on: bool, program: &Path) -> io::Result<()> {
    let user = winreg::RegKey::predef(winreg::enums::HKEY_CURRENT_USER);
    let (run, _) = user.create_subkey(r"Software\Microsoft\Windows\CurrentVersion\Run")?;
    if on {
        return run.set_value("Lab Courier", &format!("\"{}\" {IN_BACKGROUND}", program.display()));
    }
    match run.delete_value("Lab Courier") {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_entry_is_written_and_taken_away() {
        let folder = std::env::temp_dir().join(format!("autostart-{}", std::process::id()));
        let entry = folder.join("autostart/lab-courier.desktop");
        write(false, &entry, "").unwrap();
        write(true, &entry, &contents(Path::new("/opt/Lab $1 100%/lab-courier"))).unwrap();
        let written = std::fs::read_to_string(&entry).unwrap();
        let exec = written.lines().find(|line| line.starts_with("Exec=")).unwrap();
        assert_eq!(exec, r#"Exec="/opt/Lab \\$1 100%%/lab-courier" --background"#);
        assert!(written.starts_with("[Desktop Entry]\nType=Application\n"), "{written}");
        write(false, &entry, "").unwrap();
        assert!(!entry.exists());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
