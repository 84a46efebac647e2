//! What a laboratory installs: manual pages, release builds, the .deb.

use std::fs;

use crate::output;
use crate::process::Call;
use crate::workspace::Workspace;
use crate::{prerequisites, ui};

/// Writes the manual pages and shell completions, from the definitions that `--help` uses.
pub(crate) fn manual(workspace: &Workspace) -> Result<(), String> {
    let folder = workspace.target.join("man");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Call::cargo()
        .args(["build", "-p", "cli", "--bin", "labcourier"])
        .inside(&workspace.root)
        .run()?;
    for kind in ["man", "completions"] {
        let call = Call::new(workspace.program("labcourier")).args(["generate", kind]);
        call.arg(&folder).run()?;
    }
    output::line(&format!("written to {}", workspace.shown(&folder)));
    Ok(())
}

/// Release builds; the desktop app as a package of this operating system.
pub(crate) fn release(workspace: &Workspace) -> Result<(), String> {
    prerequisites::node()?;
    ui::install(workspace)?;
    ui::script(workspace, "build")?;
    Call::cargo()
        .args(["build", "--release", "--locked", "-p", "cli", "-p", "authority"])
        .inside(&workspace.root)
        .run()?;
    let tauri = workspace.ui().join("node_modules/.bin").join(if cfg!(windows) {
        "tauri.cmd"
    } else {
        "tauri"
    });
    if !tauri.is_file() {
        return Err(
            "ui/package.json has no @tauri-apps/cli, which makes the desktop package".to_owned()
        );
    }
    Call::new(tauri).args(["build"]).inside(&workspace.root).run()?;
    let release = workspace.target.join("release");
    output::line(&format!("programs and bundle/ are in {}", workspace.shown(&release)));
    Ok(())
}
