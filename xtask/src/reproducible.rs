//! `cargo xtask reproducible`: the headless programs built twice, from two copies in folders of different
//! names, are the same to the byte.

use std::fs;
use std::path::{Path, PathBuf};

use crate::output;
use crate::process::Call;
use crate::workspace::Workspace;

/// The programs that are compared; the desktop app is built by its bundler, with paths of its own.
const PROGRAMS: [&str; 2] = ["labcourier", "labcourier-authority"];
/// Names of different length, so that a path that got into a program shows in its size too.
const FOLDERS: [&str; 2] = ["one", "the-other-place"];

/// Where the copy of the sources lies in its folder.
const SOURCES: &str = "sources";

/// Builds and compares. Both folders are removed where the programs are the same.
pub(crate) fn compare(workspace: &Workspace) -> Result<(), String> {
    let base = workspace.target.join("reproducible");
    let epoch = epoch(workspace);
    let folders = FOLDERS.map(|name| base.join(name));
    if base.exists() {
        fs::remove_dir_all(&base).map_err(|error| format!("{}: {error}", base.display()))?;
    }
    // Both at once: somebody may be at work in the checkout.
    copy(workspace, &folders.each_ref().map(|folder| folder.join(SOURCES)))?;
    let mut built = Vec::new();
    for folder in &folders {
        built.push(build(folder, &epoch)?);
    }
    let mut different = Vec::new();
    for program in PROGRAMS {
        let bytes = |folder: &PathBuf| {
            let path = folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX));
            fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let (first, second) = (bytes(&built[0])?, bytes(&built[1])?);
        match first_difference(&first, &second) {
            None => output::line(&format!("{program}: the same {} bytes twice", first.len())),
            Some(at) => {
                let sizes = format!("{} and {} bytes", first.len(), second.len());
                output::problem(&format!("{program}: differs from byte {at} on ({sizes})"));
                different.push(program);
            }
        }
    }
    if !different.is_empty() {
        return Err(format!("not reproducible: {}", different.join(", ")));
    }
    fs::remove_dir_all(&base).map_err(|error| format!("{}: {error}", base.display()))
}

fn first_difference(first: &[u8], second: &[u8]) -> Option<usize> {
    let differs = first.iter().zip(second).position(|(a, b)| a != b);
    differs.or_else(|| (first.len() != second.len()).then(|| first.len().min(second.len())))
}

/// The time of the last commit, which a builder elsewhere has too; 0 without a repository.
fn epoch(workspace: &Workspace) -> String {
    let call = Call::new("git").args(["log", "-1", "--format=%ct"]).inside(&workspace.root);
    call.text().map_or_else(|| "0".to_owned(), |text| text.trim().to_owned())
}

/// Builds a copy and gives the folder of the programs.
fn build(folder: &Path, epoch: &str) -> Result<PathBuf, String> {
    let (sources, target) = (folder.join(SOURCES), folder.join("target"));
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        let home = std::env::home_dir()?;
        Some(home.join(".cargo"))
    });
    let mut places = vec![(sources.clone(), "/labcourier"), (target.clone(), "/target")];
    places.extend(cargo_home.map(|home| (home, "/cargo")));
    let joined = |option: &str, separator: &str| -> String {
        let flag = |(from, to): &(PathBuf, &str)| format!("{option}={}={to}", from.display());
        places.iter().map(flag).collect::<Vec<_>>().join(separator)
    };
    Call::cargo()
        .args(["build", "--release", "--locked", "-p", "cli", "-p", "authority", "--bins"])
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_ENCODED_RUSTFLAGS", joined("--remap-path-prefix", "\u{1f}"))
        // The C of SQLCipher, zstd and ring.
        .env("CFLAGS", joined("-ffile-prefix-map", " "))
        .env("SOURCE_DATE_EPOCH", epoch)
        .env("CARGO_INCREMENTAL", "0")
        .inside(&sources)
        .run()?;
    Ok(target.join("release"))
}

/// Copies what git knows, and what it would.
fn copy(workspace: &Workspace, copies: &[PathBuf]) -> Result<(), String> {
    let listed = Call::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .inside(&workspace.root)
        .text()
        .ok_or("the sources are listed by git, which has no repository here")?;
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let from = workspace.root.join(name);
        // Listed and removed since.
        if !from.is_file() {
            continue;
        }
        let bytes = fs::read(&from).map_err(|error| format!("{}: {error}", from.display()))?;
        for to in copies.iter().map(|copy| copy.join(name)) {
            let parent = to.parent().unwrap_or(&to);
            fs::create_dir_all(parent)
                .and_then(|()| fs::write(&to, &bytes))
                .map_err(|error| format!("{}: {error}", to.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_found() {
        assert_eq!(first_difference(b"same", b"same"), None);
        assert_eq!(first_difference(b"same", b"sane"), Some(2));
        assert_eq!(first_difference(b"same", b"sameness"), Some(4));
    }
}
