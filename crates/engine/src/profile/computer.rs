//! On which computer, and in which file, a journal lives: a profile that was copied must not send
//! what the other copy sends too.

use std::path::Path;

use journal::Home;

/// File systems where the number of a file stays with it as long as it exists.
#[cfg(unix)]
const NUMBERED: [&str; 9] =
    ["apfs", "btrfs", "ext2", "ext3", "ext4", "overlay", "tmpfs", "xfs", "zfs"];

/// The computer and the number of the file; `None` where nothing can be told.
pub fn of(file: &Path) -> Option<Home> {
    let home = Home { computer: machine(), file: number(file) };
    (home.computer.is_some() || home.file.is_some()).then_some(home)
}

/// The computer's own name for itself, by digest. A container has another one at each start, or
/// none.
fn machine() -> Option<String> {
    let in_container =
        ["/.dockerenv", "/run/.containerenv"].iter().any(|it| Path::new(it).exists());
    if in_container {
        return None;
    }
    let id = named()?;
    let id = id.trim();
    (!id.is_empty()).then(|| report::digest(format!("labcourier {id}").as_bytes()))
}

#[cfg(not(windows))]
fn named() -> Option<String> {
    let read = |path| std::fs::read_to_string(path).ok();
    ["/etc/machine-id", "/var/lib/dbus/machine-id"].iter().find_map(read)
}

#[cfg(windows)]
fn named() -> Option<String> {
    let machine = winreg::RegKey::predef(winreg::enums::HKEY_LOCAL_MACHINE);
    let key = machine.open_subkey("SOFTWARE\\Microsoft\\Cryptography").ok()?;
    key.get_value::<String, _>("MachineGuid").ok()
}

#[cfg(unix)]
fn number(file: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let kind = journal::file_system_of(file)?;
    let facts = std::fs::metadata(file).ok()?;
    NUMBERED.contains(&kind.as_str()).then(|| facts.ino().to_string())
}

#[cfg(not(unix))]
fn number(_: &Path) -> Option<String> {
    None
}
