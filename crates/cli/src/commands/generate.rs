//! Man pages and shell completions, from the definitions that `--help` uses.

use std::path::Path;

use bridge::Problem;
use clap_complete::Shell;

use super::{Scene, unreadable};
use crate::arguments::Generated;
use crate::exit::Exit;

pub(super) fn generate(scene: &Scene<'_>, what: Generated, dir: &Path) -> Result<Exit, Problem> {
    let failed = |error: std::io::Error| unreadable(dir, &error);
    std::fs::create_dir_all(dir).map_err(failed)?;
    let mut definition = crate::definition();
    match what {
        Generated::Man => clap_mangen::generate_to(definition, dir).map_err(failed)?,
        Generated::Completions => {
            for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
                clap_complete::generate_to(shell, &mut definition, "labcourier", dir)
                    .map_err(failed)?;
            }
        }
    }
    scene.line("say.written", &[("folder", &dir.display().to_string())]);
    Ok(Exit::Well)
}
