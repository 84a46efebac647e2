//! Plays seeded worlds (crate `world`) until one breaks a promise, or all are played: on demand.

use crate::process::Call;
use crate::workspace::Workspace;

/// Builds the program and runs it. The number is its exit code.
pub(crate) fn simulate(workspace: &Workspace, args: &[String]) -> Result<u8, String> {
    Call::cargo()
        .args(["build", "--profile", "simulate", "-p", "world"])
        .inside(&workspace.root)
        .run()?;
    let program = format!("simulate{}", std::env::consts::EXE_SUFFIX);
    Call::new(workspace.target.join("simulate").join(program)).args(args).code()
}
