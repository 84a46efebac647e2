//! A desktop session for tests: a bus with an unlocked keychain, a home that is thrown away.

use std::fs;
use std::path::{Path, PathBuf};

use crate::output;
use crate::process::{Call, find};

/// Starts the keychain with a password of no value (its home is thrown away), then the program.
const WITH_KEYCHAIN: &str =
    "printf test | gnome-keyring-daemon --unlock --components=secrets >/dev/null; exec \"$@\"";

/// Wraps a call in a bus session of its own with an unlocked Secret Service, so that the tests of
/// the keychain meet a real one and never the user's. `home` is emptied first.
pub(crate) fn with_keychain(call: Call, home: &Path) -> Result<Call, String> {
    if find("dbus-run-session").is_none() || find("gnome-keyring-daemon").is_none() {
        output::line("no dbus-run-session or gnome-keyring-daemon here: no keychain for the tests");
        return Ok(call);
    }
    let fresh = || -> std::io::Result<()> {
        if home.exists() {
            fs::remove_dir_all(home)?;
        }
        fs::create_dir_all(home.join("runtime"))?;
        only_for_its_owner(&home.join("runtime"))
    };
    fresh().map_err(|error| format!("{}: {error}", home.display()))?;
    let label = format!("{} (with a bus, a keychain and a home of its own)", call.shown());
    let mut call =
        call.labelled(label).under(["dbus-run-session", "--", "sh", "-c", WITH_KEYCHAIN, "sh"]);
    // The toolchain lives in the real home.
    for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        if std::env::var_os(name).is_none()
            && let Some(real) = std::env::var_os("HOME")
        {
            call = call.env(name, PathBuf::from(real).join(folder));
        }
    }
    Ok(call
        .env("HOME", home)
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("XDG_RUNTIME_DIR", home.join("runtime"))
        // Tests of the keychain fail instead of stepping aside where one was promised.
        .env("LABCOURIER_TEST_KEYCHAIN", "1"))
}

/// What a runtime folder must be; some programs refuse to work with another.
#[cfg(unix)]
fn only_for_its_owner(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn only_for_its_owner(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// A person can see a window here.
pub(crate) fn has_display() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}
