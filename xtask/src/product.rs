//! The manual pages and shell completions, from the definitions that `--help` uses.

use std::fs;
use std::path::{Path, PathBuf};

use crate::output;
use crate::process::Call;
use crate::workspace::Workspace;

/// Where they are written.
pub(crate) fn manual_folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("man")
}

/// Builds `labcourier` and writes them.
pub(crate) fn manual(workspace: &Workspace) -> Result<(), String> {
    Call::cargo()
        .args(["build", "-p", "cli", "--bin", "labcourier"])
        .inside(&workspace.root)
        .run()?;
    write_manual(workspace, &workspace.program("labcourier"))?;
    output::line(&format!("written to {}", workspace.shown(&manual_folder(workspace))));
    Ok(())
}

/// Writes them with a program that is built already.
pub(crate) fn write_manual(workspace: &Workspace, labcourier: &Path) -> Result<(), String> {
    for kind in ["man", "completions"] {
        let folder = manual_folder(workspace).join(kind);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Call::new(labcourier).args(["generate", kind]).arg(&folder).run()?;
    }
    Ok(())
}
