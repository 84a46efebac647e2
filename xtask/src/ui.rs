//! The user interface: npm packages, its scripts, whether its build is current.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;

use crate::process::Call;
use crate::workspace::Workspace;
use crate::{checks, output, packages};

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

/// Runs a script of `package.json`; a missing one is a failure, not a pass.
pub(crate) fn script(workspace: &Workspace, name: &str) -> Result<(), String> {
    if !has_script(workspace, name) {
        return Err(format!("ui/package.json has no script `{name}`"));
    }
    let mut call = Call::npm().args(["run", "--silent", name]).inside(&workspace.ui());
    call = call.env(checks::FIGURES, checks::figures(workspace));
    call = call.env("CARGO_TARGET_DIR", &workspace.target);
