//! `labcourier`: the headless program.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
