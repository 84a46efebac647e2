//! `cargo xtask kills`: the authority's processes killed at random moments under load, many times, on each
//! store. A few kills are part of every run of tests.

use crate::process::Call;
use crate::workspace::Workspace;
use crate::{Install, output, packages};

/// On each store.
const KILLS: u32 = 200;

/// Kills so many times (200 without a number), and stops the database server itself a tenth as often.
pub(crate) fn kill(
    workspace: &Workspace,
    install: Install,
    count: Option<&str>,
) -> Result<(), String> {
    let kills = match count {
        None => KILLS,
        Some(text) => text.parse().map_err(|_| format!("{text} is no number of kills"))?,
    };
    packages::ensure(&[packages::Purpose::Core, packages::Purpose::Test], install)?;
    output::line(&format!("{kills} kills on each store"));
    // Not by nextest, which ends what takes minutes.
    let tests = ["--test", "kills", "--test", "postgres"];
    Call::cargo()
        .args(["test", "-p", "authority"])
        .args(tests)
        .args(["--", "--nocapture", "--test-threads", "1", "killed_at_any_moment", "is_away"])
        .env("LABCOURIER_KILLS", kills.to_string())
        .inside(&workspace.root)
        .run()
}
