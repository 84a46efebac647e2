//! `cargo xtask package-test DEB [APPIMAGE]`: the packages as a laboratory has them. The .deb is
//! looked at, installed, used and removed; of the system everything is as before, and of the
//! person's files the profile is left. The AppImage is used as it lies there.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use journeys::window::Window;
use walkdir::WalkDir;
use xtask::output;
use xtask::process::find;
use xtask::workspace::Workspace;

/// Name of the package.
const PACKAGE: &str = "lab-courier";
/// Longest that using the installed app may take.
const LIMIT: Duration = Duration::from_secs(300);
/// What must lie there once it is installed, and with which permissions.
const INSTALLED: [(&str, u32); 14] = [
    ("/usr/bin/lab-courier", 0o755),
    ("/usr/bin/labcourier", 0o755),
    ("/usr/share/applications/Lab Courier.desktop", 0o644),
    ("/usr/share/icons/hicolor/32x32/apps/lab-courier.png", 0o644),
    ("/usr/share/icons/hicolor/64x64/apps/lab-courier.png", 0o644),
    ("/usr/share/icons/hicolor/128x128/apps/lab-courier.png", 0o644),
    ("/usr/share/icons/hicolor/256x256@2/apps/lab-courier.png", 0o644),
    ("/usr/share/icons/hicolor/512x512/apps/lab-courier.png", 0o644),
    ("/usr/share/man/man1/labcourier.1", 0o644),
    ("/usr/share/bash-completion/completions/labcourier", 0o644),
    ("/usr/share/zsh/vendor-completions/_labcourier", 0o644),
    ("/usr/share/fish/vendor_completions.d/labcourier.fish", 0o644),
    ("/usr/share/doc/lab-courier/copyright", 0o644),
    ("/usr/share/doc/lab-courier/labcourier.service", 0o644),
];
/// Where a package may put things.
const SYSTEM: [&str; 4] = ["/usr", "/etc", "/opt", "/var"];
/// What the package manager itself and the caches of the desktop write there.
const BOOKS: [&str; 9] = [
    "/var/lib/dpkg",
    "/var/lib/apt",
    "/var/log",
    "/var/cache",
    "/var/tmp",
    "/usr/share/applications/mimeinfo.cache",
    "/usr/share/icons/hicolor/icon-theme.cache",
    "/usr/share/mime",
    "/usr/local",
];

fn main() -> std::process::ExitCode {
    xtask::program(run)
}

fn run(_: &Workspace, args: &[String]) -> Result<u8, String> {
    let (deb, image) = match args {
        [deb] => (Path::new(deb), None),
        [deb, image] => (Path::new(deb), Some(Path::new(image))),
        _ => return Err("it takes the .deb, and the AppImage if there is one".to_owned()),
    };
    may_install()?;
    is_sound(deb)?;
    let before = system();
    output::heading("installing");
    said("dpkg", &["--install", &deb.display().to_string()])?;
    let used = used();
    // Whatever became of it, the machine is as it was.
    output::heading("removing");
    said("dpkg", &["--purge", PACKAGE])?;
    used?;
    nothing_is_left(&before, &system())?;
    output::line(
        "the package was installed, used and removed; of the person's files the profile is left",
    );
    if let Some(image) = image {
        output::heading("using the AppImage");
        through(image)?;
    }
    Ok(0)
}

/// It must not remove an installation that somebody works with.
fn may_install() -> Result<(), String> {
    let user = said("id", &["--user"])?;
    if user.trim() != "0" {
        return Err("installing a package needs root: run this in a container".to_owned());
    }
    let query = Command::new("dpkg-query").args(["--show", PACKAGE]).output();
    match query {
        Ok(query) if query.status.success() => {
            Err(format!("{PACKAGE} is installed here already, and this test would remove it"))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(format!("dpkg-query: {error}")),
    }
}

/// What the package says of itself, and that nothing in it is another's or runs with the rights of
/// another.
fn is_sound(deb: &Path) -> Result<(), String> {
    output::heading("the package");
    let path = deb.display().to_string();
    let fields = said("dpkg-deb", &["--field", &path])?;
    output::line(&fields);
    for wanted in [
        format!("Package: {PACKAGE}"),
        format!("Version: {}", env!("CARGO_PKG_VERSION")),
        "libwebkit2gtk-4.1-0".to_owned(),
        "libssl3".to_owned(),
        "Section: science".to_owned(),
    ] {
        must(fields.contains(&wanted), &format!("the package does not say {wanted:?}"))?;
    }
    let listed = said("dpkg-deb", &["--contents", &path])?;
    for line in listed.lines() {
        let mode = line.get(..10).unwrap_or_default();
        let sound = ["drwxr-xr-x", "-rw-r--r--", "-rwxr-xr-x"].contains(&mode);
        must(sound, &format!("permissions in the package: {line}"))?;
        let owner = line.split_whitespace().nth(1).unwrap_or_default();
        must(["root/root", "0/0"].contains(&owner), &format!("owner in the package: {line}"))?;
    }
    output::line(&format!(
        "{} entries, all of root, none writable for others",
        listed.lines().count()
    ));
    Ok(())
}

/// The installed programs: files, versions, libraries, and the window.
fn used() -> Result<(), String> {
    output::heading("what is installed");
    for (path, mode) in INSTALLED {
        let found = std::fs::metadata(path).map_err(|error| format!("{path}: {error}"))?;
        let is = found.permissions().mode() & 0o7777;
        must(
            is == mode && found.uid() == 0,
            &format!("{path}: mode {is:o}, owner {}", found.uid()),
        )?;
    }
    let said_version = said("/usr/bin/labcourier", &["--version"])?;
    must(said_version.contains(env!("CARGO_PKG_VERSION")), &format!("--version: {said_version}"))?;
    for program in ["/usr/bin/lab-courier", "/usr/bin/labcourier"] {
        let linked = said("ldd", &[program])?;
        must(!linked.contains("not found"), &format!("{program} lacks a library:\n{linked}"))?;
    }
    let entry = "/usr/share/applications/Lab Courier.desktop";
    let words = std::fs::read_to_string(entry).map_err(|error| format!("{entry}: {error}"))?;
    for line in ["Exec=lab-courier %U", "Icon=lab-courier", "Name=Lab Courier"] {
        must(
            words.lines().any(|is| is == line),
            &format!("{entry} does not say {line}:\n{words}"),
        )?;
    }
    must(words.contains("x-scheme-handler/labcourier;"), "links to reports are not opened by it")?;
    match find("desktop-file-validate") {
        Some(_) => drop(said("desktop-file-validate", &[entry])?),
        None => output::line("the desktop entry: NOT validated, desktop-file-validate is not here"),
    }
    output::line(&format!("{} files; {}", INSTALLED.len(), said_version.trim()));
    output::heading("using it");
    through(Path::new("/usr/bin/lab-courier"))
}

/// Uses the app, from the first look to a completed report.
fn through(app: &Path) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    // What it expects it demands by panics, as every journey does.
    let journey = std::panic::catch_unwind(|| {
        runtime.block_on(async { tokio::time::timeout(LIMIT, journey(app)).await })
    });
    match journey {
        Ok(Ok(left)) => left,
        Ok(Err(_)) => Err(format!("{}: not through after {LIMIT:?}", app.display())),
        Err(_) => Err(format!("{} did not do what it should: see above", app.display())),
    }
}

/// Sends the samples with this app, and looks at what it has written.
async fn journey(app: &Path) -> Result<(), String> {
    let window = Window::open_installed(app).await;
    window.click("[data-testid=send-samples]").await;
    window.shows("[data-testid=candidate-row]", 5).await;
    window.click("[data-testid=send-button]").await;
    window.click("[data-testid=nav-reports]").await;
    // The practice authority answers: one sample fails on purpose.
    window.shows("[data-testid=report-row][data-state=completed]", 3).await;
    window.shows("[data-testid=report-row][data-state=failed]", 1).await;
    let is_image = app.extension().is_some_and(|end| end == "AppImage");
    window.picture(if is_image { "appimage" } else { "installed" }).await;
    for drawing in window.drawing_processes() {
        let program = std::fs::read_link(format!("/proc/{drawing}/exe"));
        let program = program.map_err(|error| error.to_string())?;
        // An AppImage brings its web view along.
        must(program.starts_with("/usr") != is_image, &format!("drawn by {}", program.display()))?;
    }
    output::line("the samples were sent: 3 completed, 1 failed on purpose");
    let home = window.kill();
    let mut left: Vec<String> = std::fs::read_dir(home.path())
        .map_err(|error| error.to_string())?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    left.sort_unstable();
    // The profile, and beside it what the web view keeps; no report leaves the profile.
    let known = ["cache", "config", "data", "labcourier"];
    must(
        left.iter().all(|name| known.contains(&name.as_str())),
        &format!("in the home: {left:?}"),
    )?;
    must(left.iter().any(|name| name == "labcourier"), "the profile is gone")?;
    let files = WalkDir::new(home.path()).into_iter().flatten().filter(|e| e.file_type().is_file());
    for file in files.filter(|file| !file.path().starts_with(home.path().join("labcourier"))) {
        let bytes = std::fs::read(file.path()).unwrap_or_default();
        for word in ["urn:uuid:", "Patient", "AHV", "756."] {
            let holds = bytes.windows(word.len()).any(|part| part == word.as_bytes());
            let is_ours = file.path().extension().is_some_and(|end| end == "js" || end == "bin");
            must(!holds || is_ours, &format!("{word} in {}", file.path().display()))?;
        }
    }
    Ok(())
}

/// Everything that lies where a package may put something.
fn system() -> BTreeSet<PathBuf> {
    let is_kept = |path: &Path| !BOOKS.iter().any(|books| path.starts_with(books));
    SYSTEM
        .iter()
        .flat_map(|root| WalkDir::new(root).into_iter().filter_entry(|e| is_kept(e.path())))
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .collect()
}

fn nothing_is_left(before: &BTreeSet<PathBuf>, after: &BTreeSet<PathBuf>) -> Result<(), String> {
    let left: Vec<_> = after.difference(before).take(20).collect();
    must(left.is_empty(), &format!("removing the package left: {left:?}"))?;
    let gone: Vec<_> = before.difference(after).take(20).collect();
    must(gone.is_empty(), &format!("removing the package took away: {gone:?}"))
}

/// What a program prints, where it succeeds.
fn said(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(words);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {}: {}\n{words}{errors}", args.join(" "), output.status))
}

fn must(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}
