//! `labcourier`: the headless program over `bridge`. Its commands, output and exit codes are a
//! contract that others script against.
//!
//! - `arguments`: what can be asked (help, man page and completions come from it)
//! - `commands`: one file per group of commands; each asks `bridge::headless` and prints
//! - `catalogue`: every word that it says, by code
//! - `output`: the only door to standard output and error
//!
//! It knows no rule about reports: what is wrong, what may be done and what is owed comes from
//! `bridge`.

mod arguments;
mod catalogue;
mod commands;
mod exit;
mod files;
mod output;
mod passphrase;
mod progress;
mod report_lines;
mod stop;
mod terms;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use arguments::{Arguments, Command};
use catalogue::Catalogue;
use exit::Exit;
use output::{Line, Names, Output};

/// How long what still runs in other threads is waited for at the end.
const SHUTDOWN_MAX: std::time::Duration = std::time::Duration::from_secs(10);

/// Runs the program with the arguments of the process.
pub fn run() -> ExitCode {
    process::begin();
    let arguments = match Arguments::try_parse_from(arguments::told_apart(std::env::args_os())) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    log_if_asked();
    // Whoever asks for patients' names may see those of files.
    let named = matches!(&arguments.command, Command::Export(export) if export.names);
    let names = Names::of(arguments.global.file_names || named);
    let output = Output::new(arguments.global.json, arguments.global.quiet, names);
    let named = arguments.global.profile.as_deref();
    let from_environment = std::env::var_os("LABCOURIER_PROFILE");
    let named = named.filter(|folder| Some(folder.as_os_str()) != from_environment.as_deref());
    let texts = Catalogue::of_the_environment(named);
    let started = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let exit = match started {
        Ok(runtime) => {
            let exit = runtime.block_on(commands::run(arguments, &output, &texts));
            // A look at a share whose server has gone may never come back.
            runtime.shutdown_timeout(SHUTDOWN_MAX);
            exit
        }
        Err(error) => {
            let reason = error.kind().to_string();
            output.error(Line::of(texts.text("say.internal", &[("reason", &reason)])));
            Exit::Locked
        }
    };
    output.finish(exit, &texts).into()
}

/// Wrong usage, or `--help` and `--version`, which clap reports the same way.
fn usage(error: &clap::Error) -> ExitCode {
    // Where nobody reads there is nobody to tell.
    let _ = error.print();
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Well.into() }
}

/// Logs go to standard error, only where `LABCOURIER_LOG` asks for them (e.g. `debug`,
/// `engine=trace`).
fn log_if_asked() {
    let Ok(filter) = tracing_subscriber::EnvFilter::try_from_env("LABCOURIER_LOG") else { return };
    let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter);
    // A second start in one process (tests) keeps the first log.
    let _ = log.try_init();
}

/// The definition of all commands, for man page and completions.
pub(crate) fn definition() -> clap::Command {
    Arguments::command()
}
