//! Writes the tables of facts that the product carries, from definitions that others publish. It is
//! run by hand from the root of the checkout, and what it writes is committed: the product is built
//! without the definitions.
#![allow(clippy::print_stderr, reason = "a program for the terminal")]

mod diseases;
mod fhir;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let written = match args.split_first() {
        Some((table, rest)) if table == "fhir" => fhir::generate(rest),
        Some((table, rest)) if table == "diseases" => diseases::generate(rest),
        _ => {
            Err("usage: tables fhir [PACKAGE.tgz [OUTPUT.zst]] | diseases [PACKAGE.tgz]".to_owned())
        }
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
