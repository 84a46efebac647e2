//! `cargo xtask …`: the one entry for people and for CI.
//!
//! It installs what is missing, builds, tests and starts Lab Courier. It holds no rule of the
//! product and is no part of what a laboratory installs.

mod appimage;
mod campaigns;
mod checks;
mod digest;
mod dist;
mod icons;
mod packages;
mod product;
mod session;
mod start;
mod steps;
mod supply;
mod types;
mod ui;

use std::process::ExitCode;

use xtask::workspace::Workspace;
use xtask::{Install, output, prerequisites, process, workspace};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  run [--no-install] [--headless]    build Lab Courier and open it in practice mode
  test [--no-install] [--only STEP]… install what is missing, then run every check and test
  test --list                        name the steps of `test`
  setup [--no-install]               install what building and testing need
  types                              write the TypeScript types of the bridge into the user interface
  man                                write man pages and shell completions to target/man
  supply-chain [--no-install]        advisories and bills of materials (target/sbom)
  dist                               release builds of the programs and the packages of this system (target/dist)
  package-test [--release]           install the .deb, use it, remove it; use the AppImage; needs root (--release: of `dist`)
  icons                              draw the icons of all sizes from icons/icon.svg

--no-install leaves the machine alone and names what is missing.

At length, on demand:
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            output::problem(&message);
            ExitCode::from(1)
        }
    }
}

fn usage() -> String {
    let campaign = |campaign: &campaigns::Campaign| {
        format!("\n  {} {}\n      {}", campaign.name, campaign.takes, campaign.says)
    };
    USAGE.to_owned() + &campaigns::CAMPAIGNS.iter().map(campaign).collect::<String>()
}

/// Runs one command; the number is the exit code of the program.
fn dispatch(args: &[String]) -> Result<u8, String> {
    let Some((command, rest)) = args.split_first() else {
        output::problem(&usage());
        return Ok(2);
    };
    // Before anything is built: a campaign hands what it does not know to its own program.
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        output::line(&usage());
        return Ok(0);
    }
    let flags = |known: &[&str]| Flags::parse(rest, known);
    match command.as_str() {
        "run" => {
            let flags = flags(&["--no-install", "--headless"])?;
            start::practice(&Workspace::open()?, flags.install(), flags.has("--headless"))
        }
        "test" => {
            let flags = flags(&["--no-install", "--list", "--only"])?;
            if flags.has("--list") {
                checks::list_steps(&Workspace::open()?);
                return Ok(0);
            }
            checks::run(&Workspace::open()?, flags.install(), &flags.only)
        }
        "setup" => {
            checks::setup(&Workspace::open()?, flags(&["--no-install"])?.install()).map(|()| 0)
        }
        "types" => types::write(&Workspace::open()?).map(|()| 0),
        "man" => product::manual(&Workspace::open()?).map(|()| 0),
        "supply-chain" => supply::chain(&Workspace::open()?, flags(&["--no-install"])?.install()),
        "dist" => {
            flags(&[])?;
            dist::release(&Workspace::open()?).map(|()| 0)
        }
        "package-test" => dist::test(&Workspace::open()?, flags(&["--release"])?.has("--release")),
        "icons" => icons::draw(&Workspace::open()?).map(|()| 0),
        "help" | "--help" | "-h" => {
            output::line(&usage());
            Ok(0)
        }
        other => match campaigns::named(other) {
            Some(campaign) => campaign.run(&Workspace::open()?, rest),
            None => {
                output::problem(&format!("no such command: {other}\n\n{}", usage()));
                Ok(2)
            }
        },
    }
}

/// The flags of a command.
#[derive(Debug, Default, PartialEq, Eq)]
struct Flags {
    given: Vec<String>,
    only: Vec<String>,
}

impl Flags {
    fn parse(args: &[String], known: &[&str]) -> Result<Self, String> {
        let mut flags = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (arg.as_str(), None),
            };
            if !known.contains(&name) {
                return Err(format!("unknown argument: {arg}\n\n{}", usage()));
            }
            if name == "--only" {
                let step = value.or_else(|| args.next().cloned());
                flags.only.push(step.ok_or("--only needs the name of a step")?);
            } else {
                flags.given.push(name.to_owned());
            }
        }
        Ok(flags)
    }

    fn has(&self, name: &str) -> bool {
        self.given.iter().any(|given| given == name)
    }

    fn install(&self) -> Install {
        if self.has("--no-install") { Install::Nothing } else { Install::Missing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Flags, String> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        Flags::parse(&args, &["--no-install", "--only"])
    }

    #[test]
    fn flags_are_read_in_either_form() {
        let flags = parse(&["--only", "clippy", "--no-install", "--only=docs"]).unwrap();
        assert_eq!(flags.only, ["clippy", "docs"]);
        assert_eq!(flags.install(), Install::Nothing);
        assert_eq!(parse(&[]).unwrap().install(), Install::Missing);
    }

    #[test]
    fn who_asks_for_help_builds_nothing() {
        let asked = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            dispatch(&args)
        };
        assert_eq!(asked(&["bench", "--help"]), Ok(0));
        assert_eq!(asked(&["simulate", "-h"]), Ok(0));
        assert_eq!(asked(&["no-such-command"]), Ok(2));
    }

    #[test]
    fn an_unknown_or_incomplete_flag_is_refused() {
        assert!(parse(&["--fast"]).unwrap_err().starts_with("unknown argument: --fast"));
        assert!(parse(&["--only"]).is_err());
    }
}
