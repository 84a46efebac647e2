//! What `cargo xtask` and the programs of the campaigns share: calling other programs, and where
//! things lie.

pub mod output;
pub mod prerequisites;
pub mod process;
pub mod workspace;

/// May a run change the machine (packages), or only say what is missing?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Install {
    /// What is missing is installed.
    Missing,
    /// Nothing is installed; what is missing is named.
    Nothing,
}

/// Runs a program of a campaign: its arguments without its name, its exit code, and the message of
/// what failed.
pub fn program(
    run: impl Fn(&workspace::Workspace, &[String]) -> Result<u8, String>,
) -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let code = workspace::Workspace::open().and_then(|workspace| run(&workspace, &args));
    std::process::ExitCode::from(code.unwrap_or_else(|message| {
        output::problem(&message);
        1
    }))
}
