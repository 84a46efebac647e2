//! The user interface: npm packages, its scripts, whether its build is current.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::process::Call;
use crate::workspace::Workspace;
use crate::{output, packages};

/// What the build of the user interface is made from.
const SOURCES: &[&str] = &[
    "build",
    "src",
    "public",
    "index.html",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
    // What the window says by code, and the names of diseases.
    "../texts",
    "../crates/report/src/diseases/names.tsv",
];

/// Installs the npm packages where the lock file is newer than they are.
pub(crate) fn install(workspace: &Workspace) -> Result<(), String> {
    let ui = workspace.ui();
    // npm writes this file last.
    let marker = ui.join("node_modules/.package-lock.json");
    if !is_stale(&marker, &[&ui.join("package-lock.json")]) {
        output::line("npm packages are current");
        return Ok(());
    }
    Call::npm().args(["ci", "--no-audit", "--no-fund"]).inside(&ui).run()
}

/// Builds the user interface where a source is newer than the build.
pub(crate) fn build_if_stale(workspace: &Workspace) -> Result<(), String> {
    let ui = workspace.ui();
    let sources: Vec<_> = SOURCES.iter().map(|name| ui.join(name)).collect();
    let sources: Vec<&Path> = sources.iter().map(|path| path.as_path()).collect();
    if is_stale(&ui.join("dist/index.html"), &sources) {
        return script(workspace, "build");
    }
    output::line("the user interface is current");
    Ok(())
}

/// Runs a script of `package.json`; npm fails where there is none.
pub(crate) fn script(workspace: &Workspace, name: &str) -> Result<(), String> {
    let call = Call::npm().args(["run", "--silent", name]).inside(&workspace.ui());
    let mut call = workspace.with_figures(call).env("CARGO_TARGET_DIR", &workspace.target);
    if let Some(browser) = packages::browser() {
        call = call.env("CHROMIUM", browser);
    }
    call.run_tests()
}

/// The result is missing or older than one of its sources.
fn is_stale(result: &Path, sources: &[&Path]) -> bool {
    let Some(made) = modified(result) else { return true };
    sources.iter().filter_map(|source| newest(source)).any(|time| time > made)
}

/// The latest change of a file, or of anything in a folder.
fn newest(path: &Path) -> Option<SystemTime> {
    let own = modified(path)?;
    let Ok(entries) = fs::read_dir(path) else { return Some(own) };
    entries.flatten().filter_map(|entry| newest(&entry.path())).chain([own]).max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    // Not `metadata`: a link to a folder above would be walked for ever.
    fs::symlink_metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::Duration;

    #[test]
    fn a_build_is_stale_when_anything_below_its_sources_is_newer() {
        let folder = std::env::temp_dir().join(format!("xtask-stale-{}", std::process::id()));
        fs::create_dir_all(folder.join("src/deep")).unwrap();
        let (result, source) = (folder.join("index.html"), folder.join("src/deep/a.ts"));
        let src = folder.join("src");
        assert!(is_stale(&result, &[&src]));

        File::create(&source).unwrap();
        let made = modified(&source).unwrap() + Duration::from_secs(10);
        File::create(&result).unwrap().set_modified(made).unwrap();
        assert!(!is_stale(&result, &[&src, &folder.join("absent")]));

        let edited = made + Duration::from_secs(1);
        File::options().write(true).open(&source).unwrap().set_modified(edited).unwrap();
        assert!(is_stale(&result, &[&src]));
        fs::remove_dir_all(&folder).unwrap();
    }
}
