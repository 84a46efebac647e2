//! Measures against baselines: heavy, on demand, never part of `test`.

use crate::process::Call;
use crate::workspace::Workspace;

/// Builds the programs as they are shipped, and has package `bench` measure them. The number is the exit
/// code of the program.
pub(crate) fn measure(workspace: &Workspace, args: &[String]) -> Result<u8, String> {
    Call::cargo()
        .args(["build", "--release", "-p", "cli", "-p", "authority", "-p", "bench"])
        .inside(&workspace.root)
        .run()?;
    let program = format!("bench{}", std::env::consts::EXE_SUFFIX);
    Call::new(workspace.target.join("release").join(program)).args(args).code()
}
