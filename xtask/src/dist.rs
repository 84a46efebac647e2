//! What a laboratory installs: release builds of the programs, and the packages of this operating
//! system.
//!
//! A package that cannot be made here is named as NOT made; it is never taken for made.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::digest::sha256;
use crate::process::{Call, find};
use crate::workspace::{DESKTOP, Workspace};
use crate::{appimage, output, prerequisites, product, session, ui};

/// The sums of all that was made.
const SUMS: &str = "SHA256SUMS";

/// How the programs in the packages are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Build {
    Release,
    /// As for all tests, so that nothing is built twice.
    Development,
}

impl Build {
    fn folder(self, workspace: &Workspace) -> PathBuf {
        workspace.target.join(match self {
            Self::Release => "release",
            Self::Development => "debug",
        })
    }
}

/// A kind of package, as the Tauri CLI names it, and whether every machine can make it.
struct Kind {
    name: &'static str,
    /// It is made with programs that are downloaded.
    needs_download: bool,
}

/// The packages of this operating system.
const KINDS: &[Kind] = if cfg!(target_os = "linux") {
    &[
        Kind { name: "deb", needs_download: false },
        Kind { name: "rpm", needs_download: false },
        Kind { name: "appimage", needs_download: true },
    ]
} else if cfg!(windows) {
    &[Kind { name: "nsis", needs_download: true }, Kind { name: "msi", needs_download: true }]
} else {
    &[Kind { name: "dmg", needs_download: false }]
};

/// Release builds of the three programs, and the packages, with their sums, in `target/dist`.
pub(crate) fn release(workspace: &Workspace) -> Result<(), String> {
    build(workspace, Build::Release)?;
    let mut made = Vec::new();
    let mut missing = Vec::new();
    for kind in KINDS {
        match bundle(workspace, Build::Release, kind.name) {
            Ok(package) => made.push(package),
            Err(why) if kind.needs_download => missing.push((kind.name, why)),
            Err(why) => return Err(why),
        }
    }
    for program in ["lab-courier", "labcourier", "labcourier-authority"] {
        let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        made.push(Build::Release.folder(workspace).join(name));
    }
    let folder = workspace.target.join("dist");
    gather(&made, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    output::line(&format!("programs and packages, with {SUMS}: {}", workspace.shown(&folder)));
    for (kind, why) in missing {
        output::problem(&format!(
            "{kind}: NOT made. What it is made with is downloaded, and here that failed: {why}"
        ));
    }
    Ok(())
}

/// Installs the .deb, uses the app, removes it, and uses the app of the AppImage. Of `cargo xtask
/// dist` with `--release`, else of development builds.
pub(crate) fn test(workspace: &Workspace, of_release: bool) -> Result<u8, String> {
    if find("dpkg").is_none() {
        return Err(
            "the test of the package needs a Debian or a relative of it: no dpkg".to_owned()
        );
    }
    let folder = workspace.target.join("package-test");
    let folder = if of_release { workspace.target.join("dist") } else { folder };
    if !of_release {
        build(workspace, Build::Development)?;
        let mut made = vec![bundle(workspace, Build::Development, "deb")?];
        match bundle(workspace, Build::Development, "appimage") {
            Ok(image) => made.push(image),
            Err(why) => output::problem(&why),
        }
        gather(&made, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let deb = package_in(&folder, "deb")
        .ok_or_else(|| format!("no .deb in {}: cargo xtask dist", workspace.shown(&folder)))?;
    let image = package_in(&folder, "AppImage");
    if image.is_none() {
        output::problem("the AppImage is NOT tried: it was not made");
    }
    if of_release {
        workspace.cargo(&["build", "--locked", "--bin", "package-test"]).run()?;
    }
    let mut path = vec![workspace.tools().join("bin")];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
    let call = Call::new(workspace.program("package-test")).arg(deb).args(image);
    let home = workspace.target.join("home/package");
    let call = session::with_keychain(call, &home)?.env("PATH", path);
    fs::create_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))?;
    // An AppImage unpacks itself where no file systems can be mounted, as in a container, and is
    // killed by its test: what it unpacked goes with this home.
    let code = call.env("APPIMAGE_EXTRACT_AND_RUN", "1").env("TMPDIR", &home).code();
    _ = fs::remove_dir_all(home);
    code
}

/// The user interface, the programs, and the manual pages that go into the packages.
fn build(workspace: &Workspace, build: Build) -> Result<(), String> {
    prerequisites::node()?;
    ui::install(workspace)?;
    match build {
        Build::Release => {
            ui::script(workspace, "build")?;
            let release = |words: &[&str]| {
                let call = Call::cargo().args(["build", "--release", "--locked"]).args(words);
                call.inside(&workspace.root).run()
            };
            release(&["-p", "cli", "-p", DESKTOP, "--features", crate::workspace::FEATURES])?;
            // By itself: its store for servers is no part of what a laboratory installs.
            release(&["-p", "authority"])?;
        }
        Build::Development => {
            ui::build_if_stale(workspace)?;
            // In one set of features with the rest, or most of it would be compiled again.
            let bins = ["--bin", "lab-courier", "--bin", "labcourier", "--bin", "package-test"];
            workspace.cargo(&["build", "--locked"]).args(bins).run()?;
        }
    }
    product::write_manual(workspace, &build.folder(workspace).join("labcourier"))
}

/// Makes one package; where it lies.
fn bundle(workspace: &Workspace, build: Build, kind: &str) -> Result<PathBuf, String> {
    let bundles = build.folder(workspace).join("bundle").join(kind);
    if bundles.exists() {
        // What was made before is no sign that it was made now.
        fs::remove_dir_all(&bundles).map_err(|error| format!("{}: {error}", bundles.display()))?;
    }
    let label = format!("tauri bundle --bundles {kind}");
    let mut call = Call::new(tauri(workspace)?).args(["bundle", "--ci", "--bundles", kind]);
    if build == Build::Development {
        call = call.arg("--debug");
    }
    if kind == "appimage" {
        call = appimage::with_tools(workspace, call)?;
    }
    let files = files(workspace, build).to_string();
    call.args(["--config", files.as_str()]).inside(&workspace.root).labelled(label).run()?;
    let made = |end: &&str| package_in(&bundles, end);
    ["deb", "rpm", "AppImage", "exe", "msi", "dmg"]
        .iter()
        .find_map(made)
        .ok_or_else(|| format!("no package in {}", workspace.shown(&bundles)))
}

/// What lies in the packages for Linux beside the app: where it goes, and from where.
fn files(workspace: &Workspace, build: Build) -> Value {
    let manual = product::manual_folder(workspace);
    let files = json!({
        "/usr/bin/labcourier": build.folder(workspace).join("labcourier"),
        "/usr/share/man/man1": manual.join("man"),
        "/usr/share/bash-completion/completions/labcourier": manual.join("completions/labcourier.bash"),
        "/usr/share/zsh/vendor-completions/_labcourier": manual.join("completions/_labcourier"),
        "/usr/share/fish/vendor_completions.d/labcourier.fish": manual.join("completions/labcourier.fish"),
        "/usr/share/doc/lab-courier/copyright": workspace.root.join("LICENSE"),
        "/usr/share/doc/lab-courier/labcourier.service": workspace.root.join("packaging/labcourier.service"),
    });
    let of_one = json!({ "files": files });
    json!({ "bundle": { "linux": { "deb": of_one, "rpm": of_one, "appimage": of_one } } })
}

/// The Tauri CLI, which the npm packages of the user interface bring along.
pub(crate) fn tauri(workspace: &Workspace) -> Result<PathBuf, String> {
    let name = if cfg!(windows) { "tauri.cmd" } else { "tauri" };
    let tauri = workspace.ui().join("node_modules/.bin").join(name);
    if tauri.is_file() {
        return Ok(tauri);
    }
    Err("@tauri-apps/cli is missing from ui/node_modules: npm ci, in ui".to_owned())
}

/// The one package of this kind in a folder.
fn package_in(folder: &Path, end: &str) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut found = files.filter(|path| path.extension().is_some_and(|is| is == end));
    found.next()
}

/// Copies what was made into an empty folder, with the sums that people check it by.
fn gather(made: &[PathBuf], folder: &Path) -> std::io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut sums = String::new();
    for path in made {
        let Some(name) = path.file_name() else { continue };
        fs::copy(path, folder.join(name))?;
        let sum = sha256(&fs::read(path)?);
        sums.push_str(&format!("{sum}  {}\n", name.to_string_lossy()));
    }
    fs::write(folder.join(SUMS), sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_gathered_with_its_sums() {
        let folder = std::env::temp_dir().join(format!("xtask-dist-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let package = folder.join("a b_1.deb");
        fs::write(&package, "abc").unwrap();
        let dist = folder.join("dist");
        fs::create_dir_all(&dist).unwrap();
        fs::write(dist.join("old.deb"), "old").unwrap();
        gather(&[package], &dist).unwrap();
        let sums = fs::read_to_string(dist.join(SUMS)).unwrap();
        // The example of FIPS 180-2.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sums, format!("{abc}  a b_1.deb\n"));
        assert_eq!(package_in(&dist, "deb"), Some(dist.join("a b_1.deb")), "nothing old");
        assert_eq!(package_in(&dist, "rpm"), None);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_goes_into_the_packages_lies_in_the_checkout_or_is_built() {
        let workspace = Workspace::open().unwrap();
        let files = files(&workspace, Build::Release);
        let files = files["bundle"]["linux"]["deb"]["files"].as_object().unwrap();
        for (to, from) in files {
            let from = Path::new(from.as_str().unwrap());
            assert!(to.starts_with("/usr/"), "{to}");
            assert!(from.starts_with(&workspace.target) || from.is_file(), "{}", from.display());
        }
    }
}
