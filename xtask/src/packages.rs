//! What building and testing need from the operating system, and how it gets there.
//!
//! Debian and Ubuntu: apt. Elsewhere (and with `--no-install`) what is missing is named, with the
//! command that would install it.

use crate::Install;
use crate::output;
use crate::process::{Call, find};

/// What a need is for; a run asks only for what it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The programs without a window.
    Core,
    /// The desktop app.
    Desktop,
    /// The tests: browser, real window, keychain.
    Test,
}

/// How to tell without a package database that a need is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// One of these programs is on the PATH.
    Program(&'static [&'static str]),
    /// `pkg-config` knows this library.
    Library(&'static str),
    /// Python can import this.
    Python(&'static str),
    /// Nothing to see from outside.
    None,
}

/// A package by its Debian name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Need {
    package: &'static str,
    purpose: Purpose,
    sign: Sign,
}

const fn need(package: &'static str, purpose: Purpose, sign: Sign) -> Need {
    Need { package, purpose, sign }
}

const NEEDS: &[Need] = &[
    // SQLCipher, zstd and ring compile C; SQLCipher links libcrypto.
    need("build-essential", Purpose::Core, Sign::Program(&["cc"])),
    need("pkg-config", Purpose::Core, Sign::Program(&["pkg-config"])),
    need("libssl-dev", Purpose::Core, Sign::Library("libcrypto")),
    need("libwebkit2gtk-4.1-dev", Purpose::Desktop, Sign::Library("webkit2gtk-4.1")),
    need("librsvg2-dev", Purpose::Desktop, Sign::Library("librsvg-2.0")),
    need(
        "libayatana-appindicator3-dev",
        Purpose::Desktop,
        Sign::Library("ayatana-appindicator3-0.1"),
    ),
    need("webkit2gtk-driver", Purpose::Test, Sign::Program(&["WebKitWebDriver"])),
    need("xvfb", Purpose::Test, Sign::Program(&["Xvfb"])),
    need("xauth", Purpose::Test, Sign::Program(&["xauth"])),
    need("dbus", Purpose::Test, Sign::Program(&["dbus-run-session"])),
    need("gnome-keyring", Purpose::Test, Sign::Program(&["gnome-keyring-daemon"])),
    need("libsecret-tools", Purpose::Test, Sign::Program(&["secret-tool"])),
    need("chromium", Purpose::Test, Sign::Program(BROWSERS)),
    need("fonts-dejavu-core", Purpose::Test, Sign::None),
    need("xdotool", Purpose::Test, Sign::Program(&["xdotool"])),
    need("python3-gi", Purpose::Test, Sign::Python("gi")),
    need("gir1.2-gtk-3.0", Purpose::Test, Sign::None),
    // Counts the instructions of the work on a report.
    need("valgrind", Purpose::Test, Sign::Program(&["valgrind"])),
    need("openssl", Purpose::Test, Sign::Program(&["openssl"])),
    // Off the PATH in Debian: the sign is for other systems.
    need("postgresql", Purpose::Test, Sign::Program(&["initdb"])),
];

/// Browsers that drive the user interface in tests; Debian's name first.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

/// The browser for tests.
pub(crate) fn browser() -> Option<std::path::PathBuf> {
    BROWSERS.iter().find_map(|name| find(name))
}

/// Makes sure that what these purposes need is there.
pub(crate) fn ensure(purposes: &[Purpose], install: Install) -> Result<(), String> {
    // Elsewhere the webview comes with the system, and the journeys of the window run on Linux
    // only.
    let purposes = match std::env::consts::OS {
        "linux" => purposes,
        "windows" => &[],
        _ => &[Purpose::Core],
    };
    let debian = find("apt-get").is_some() && find("dpkg-query").is_some();
    let known = if debian { installed() } else { Vec::new() };
    let missing: Vec<&str> = NEEDS
        .iter()
        .filter(|need| purposes.contains(&need.purpose))
        .filter(|need| !is_met(need, &known, debian))
        .map(|need| need.package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let user = User::of_this_process();
    if !debian {
        return Err(elsewhere(&missing));
    }
    if install == Install::Nothing {
        return Err(format!(
            "missing: {}\nInstall with: {}",
            missing.join(" "),
            by_hand(user, &missing)
        ));
    }
    if user == User::WithoutSudo {
        return Err(format!(
            "missing: {}\nThis user may not install packages and there is no sudo. As root: {}",
            missing.join(" "),
            by_hand(user, &missing)
        ));
    }
    output::line(&format!("installing {} packages: {}", missing.len(), missing.join(" ")));
    apt_install(user, &missing)
}

/// The package database first (exact), then the sign (a Chrome from elsewhere is as good). Where
/// there is neither, as for fonts outside Debian, it is taken as there.
fn is_met(need: &Need, installed: &[String], debian: bool) -> bool {
    if installed.iter().any(|name| name == need.package) {
        return true;
    }
    match need.sign {
        Sign::Program(names) => names.iter().any(|name| find(name).is_some()),
        Sign::Library(name) => Call::new("pkg-config").args(["--exists", name]).text().is_some(),
        Sign::Python(module) => {
            let import = format!("import {module}");
            Call::new("python3").args(["-c", &import]).text().is_some()
        }
        Sign::None => !debian,
    }
}

/// The packages of [`NEEDS`] that are installed.
fn installed() -> Vec<String> {
    let format = "-f=${Package} ${db:Status-Status}\\n";
    let call = Call::new("dpkg-query").args(["-W", format]);
    // dpkg-query fails where one of the named packages is unknown, so it is asked for all.
    installed_of(&call.text().unwrap_or_default())
}

fn installed_of(list: &str) -> Vec<String> {
    list.lines().filter_map(|line| line.strip_suffix(" installed")).map(str::to_owned).collect()
}

/// Who would install.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    Root,
    WithSudo,
    WithoutSudo,
}

impl User {
    fn of_this_process() -> Self {
        let id = Call::new("id").args(["-u"]).text().unwrap_or_default();
        match (id.trim(), find("sudo")) {
            ("0", _) => Self::Root,
            (_, Some(_)) => Self::WithSudo,
            _ => Self::WithoutSudo,
        }
    }
}

fn apt_install(user: User, packages: &[&str]) -> Result<(), String> {
    let update = || apt(user, &["update", "-q"]).run();
    // A fresh machine has no lists at all; an old one has lists that name files long gone.
    let unknown = packages.iter().any(|package| !has_candidate(package));
    if unknown {
        update()?;
    }
    let mut words = vec!["install", "-q", "-y", "--no-install-recommends"];
    words.extend(packages);
    let install = apt(user, &words);
    if install.run().is_ok() {
        return Ok(());
    }
    if unknown {
        return Err(format!("apt-get could not install: {}", packages.join(" ")));
    }
    output::line("apt-get failed; trying once more with fresh lists");
    update()?;
    install.run()
}

fn apt(user: User, words: &[&str]) -> Call {
    let mut line: Vec<&str> = if user == User::WithSudo { vec!["sudo"] } else { Vec::new() };
    // `env`, because sudo drops the caller's environment. The lock is waited for: a new machine
    // often installs updates of its own.
    line.extend(["env", "DEBIAN_FRONTEND=noninteractive"]);
    Call::new("apt-get")
        .args(["-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0"])
        .args(words)
        .under(line)
}

fn has_candidate(package: &str) -> bool {
    let policy = Call::new("apt-cache").args(["policy", package]).env("LC_ALL", "C").text();
    policy.is_some_and(|text| names_candidate(&text))
}

fn names_candidate(policy: &str) -> bool {
    policy.lines().any(|line| {
        line.trim().strip_prefix("Candidate:").is_some_and(|version| version.trim() != "(none)")
    })
}

fn by_hand(user: User, packages: &[&str]) -> String {
    let sudo = if user == User::WithSudo { "sudo " } else { "" };
    format!(
        "{sudo}apt-get update && {sudo}apt-get install --no-install-recommends {}",
        packages.join(" ")
    )
}

fn elsewhere(packages: &[&str]) -> String {
    format!(
        "missing, by their Debian names: {}\nLab Courier installs packages only on Debian and \
         Ubuntu. Install the equivalents with your system's package manager (for the desktop app \
         https://tauri.app/start/prerequisites names them per system) and run this again.",
        packages.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_need_is_named_once() {
        let mut names: Vec<_> = NEEDS.iter().map(|need| need.package).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), NEEDS.len());
    }

    #[test]
    fn only_installed_packages_count() {
        let list =
            "dbus installed\nxvfb config-files\nlibssl-dev installed\nxvfb-extra not-installed\n";
        assert_eq!(installed_of(list), ["dbus", "libssl-dev"]);
    }

    #[test]
    fn a_need_is_met_by_the_package_or_by_its_sign() {
        let chromium = need("chromium", Purpose::Test, Sign::Program(&["no-such-browser"]));
        assert!(is_met(&chromium, &["chromium".to_owned()], true));
        assert!(!is_met(&chromium, &[], true));
        let cargo = need("x", Purpose::Test, Sign::Program(&["no-such-program", "cargo"]));
        assert!(is_met(&cargo, &[], true));
        let font = need("fonts-x", Purpose::Test, Sign::None);
        assert!(!is_met(&font, &[], true));
        assert!(is_met(&font, &[], false));
    }

    #[test]
    fn empty_lists_of_a_fresh_machine_are_recognised() {
        assert!(!names_candidate(""));
        assert!(!names_candidate("xvfb:\n  Installed: (none)\n  Candidate: (none)\n"));
        assert!(names_candidate("xvfb:\n  Installed: (none)\n  Candidate: 2:21.1.7\n"));
    }

    #[test]
    fn the_command_by_hand_fits_the_user() {
        assert!(
            by_hand(User::WithSudo, &["xvfb"]).starts_with("sudo apt-get update && sudo apt-get")
        );
        assert!(by_hand(User::Root, &["xvfb"]).starts_with("apt-get update"));
        let call = apt(User::WithSudo, &["update"]).shown();
        assert!(call.starts_with("sudo env DEBIAN_FRONTEND=noninteractive apt-get"), "{call}");
    }
}
