//! `cargo xtask run`: from a checkout to Lab Courier in practice mode.

use crate::Install;
use crate::packages::{self, Purpose};
use crate::process::Call;
use crate::workspace::{DESKTOP, Workspace};
use crate::{output, prerequisites, session, ui};

/// Opens the window in practice mode, or does the same work headless where there is no display. The
/// exit code is the program's own.
pub(crate) fn practice(
    workspace: &Workspace,
    install: Install,
    headless: bool,
) -> Result<u8, String> {
    if headless {
        return practice_headless(workspace, install);
    }
    if !session::has_display() {
        output::line(
            "No display here (neither DISPLAY nor WAYLAND_DISPLAY is set): practising without a \
             window.",
        );
        return practice_headless(workspace, install);
    }
    prerequisites::node()?;
    packages::ensure(&[Purpose::Core, Purpose::Desktop], install)?;
    output::heading("user interface");
    ui::install(workspace)?;
    ui::build_if_stale(workspace)?;
    output::heading("desktop app (the first time takes some minutes)");
    Call::cargo()
        .args(["build", "-p", DESKTOP, "--features", "custom-protocol"])
        .inside(&workspace.root)
        .run()?;
    output::heading("Lab Courier, practice mode");
    Call::new(workspace.program("lab-courier")).args(["--practice"]).code()
}

fn practice_headless(workspace: &Workspace, install: Install) -> Result<u8, String> {
    packages::ensure(&[Purpose::Core], install)?;
    output::heading("labcourier (the first time takes some minutes)");
    Call::cargo()
        .args(["build", "-p", "cli", "--bin", "labcourier"])
        .inside(&workspace.root)
        .run()?;
    output::heading("practice");
    Call::new(workspace.program("labcourier")).args(["practice"]).code()
}
