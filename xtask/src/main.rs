//! `cargo xtask …`: the one entry for people and for CI.
//!
//! It installs what is missing, builds, tests and starts Lab Courier. It holds no rule of the product
//! and is no part of what a laboratory installs.

mod bench;
mod checks;
mod conformance;
mod deaths;
mod fuzz;
mod kills;
mod licences;
mod mutants;
mod output;
mod packages;
mod prerequisites;
mod process;
mod product;
mod prove;
mod reliability;
mod reproducible;
mod session;
mod simulate;
mod start;
mod steps;
mod structure;
mod supply;
#[cfg(feature = "table")]
mod table;
mod types;
mod ui;
mod workspace;

use std::process::ExitCode;

use workspace::Workspace;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  run [--no-install] [--headless]    build Lab Courier and open it in practice mode
  test [--no-install] [--only STEP]… install what is missing, then run every check and test
  test --list                        name the steps of `test`
  setup [--no-install]               install what building and testing need
  types                              write the TypeScript types of the bridge into the user interface
  gen-table [PACKAGE [OUTPUT]]       write the FHIR element table from the published definitions
  man                                write man pages and shell completions to target/man
  bench [--rounds N] [--reports N] [--only ROW]…
                                     measure against baselines, with release builds; takes minutes
  fuzz [--seconds N] [--only TARGET]…
                                     look for inputs that break a reader, by coverage; a minute each
  conformance [--examples N] [--seed N] [--only TOOL]…
                                     clients and a fuzzer that others wrote, against the authority
  deaths [--times N] [--seed S] [--only CAMPAIGN]
                                     kill labcourier and the window's core N times in every way; one table
  kills [--no-install] [N]           kill the authority N times under load, on each store; 200 without N
  simulate [--seeds N] [--from S] [--threads T] | --seed S
                                     play seeded worlds until one breaks a promise; --seed tells a story
  prove [NAME]…                      make deliberate mistakes in a copy; the tests must notice each
  reliability [--no-install] [--table]
                                     run every test of a fault; one table of what each counted
                                     (--table: of the figures at hand)
  mutants [--no-install] [--one-in N | --rest | --unnoticed | --page] [AREA]…
                                     make small mistakes in a copy and write docs/mutants.md; takes hours
                                     (one in N; what was not tried yet; what nobody noticed; only the page)
  supply-chain [--no-install]        licences, advisories, lock files, bills of materials (target/sbom)
  reproducible                       build the headless programs twice, in different folders, and compare
  dist                               release builds of the programs and the .deb of the desktop app

--no-install leaves the machine alone and names what is missing.
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

/// Runs one command; the number is the exit code of the program.
fn dispatch(args: &[String]) -> Result<u8, String> {
    let Some((command, rest)) = args.split_first() else {
        output::problem(USAGE);
        return Ok(2);
    };
    match command.as_str() {
        "run" => {
            let flags = Flags::parse(rest, &["--no-install", "--headless"])?;
            start::practice(&Workspace::open()?, flags.install(), flags.has("--headless"))
        }
        "test" => {
            let flags = Flags::parse(rest, &["--no-install", "--list", "--only"])?;
            if flags.has("--list") {
                checks::list_steps(&Workspace::open()?);
                return Ok(0);
            }
            checks::run(&Workspace::open()?, flags.install(), &flags.only)
        }
        "setup" => {
            let flags = Flags::parse(rest, &["--no-install"])?;
            checks::setup(&Workspace::open()?, flags.install()).map(|()| 0)
        }
        "types" => types::write(&Workspace::open()?).map(|()| 0),
        "gen-table" => generate_table(&Workspace::open()?, rest).map(|()| 0),
        "man" => product::manual(&Workspace::open()?).map(|()| 0),
        "bench" => bench::measure(&Workspace::open()?, rest),
        "fuzz" => fuzz::fuzz(&Workspace::open()?, rest),
        "conformance" => conformance::check(&Workspace::open()?, rest),
        "deaths" => deaths::run(&Workspace::open()?, rest),
        "kills" => {
            let (counts, flags): (Vec<_>, Vec<_>) =
                rest.iter().cloned().partition(|arg| !arg.starts_with("--"));
            let flags = Flags::parse(&flags, &["--no-install"])?;
            let count = counts.first().map(String::as_str);
            kills::kill(&Workspace::open()?, flags.install(), count).map(|()| 0)
        }
        "simulate" => simulate::simulate(&Workspace::open()?, rest),
        "prove" => prove::prove(&Workspace::open()?, rest),
        "reliability" => {
            let flags = Flags::parse(rest, &["--no-install", "--table"])?;
            let workspace = Workspace::open()?;
            match flags.has("--table") {
                true => reliability::show(&reliability::folder(&workspace)),
                false => reliability::measure(&workspace, flags.install()),
            }
        }
        "mutants" => mutants(rest),
        "supply-chain" => {
            let flags = Flags::parse(rest, &["--no-install"])?;
            supply::chain(&Workspace::open()?, flags.install())
        }
        "reproducible" => reproducible::compare(&Workspace::open()?).map(|()| 0),
        "dist" => product::release(&Workspace::open()?).map(|()| 0),
        "help" | "--help" | "-h" => {
            output::line(USAGE);
            Ok(0)
        }
        other => {
            output::problem(&format!("no such command: {other}\n\n{USAGE}"));
            Ok(2)
        }
    }
}

fn mutants(args: &[String]) -> Result<u8, String> {
    let mut args = args.to_vec();
    let mut which = mutants::Which::OneIn(1);
    if let Some(at) = args.iter().position(|arg| arg == "--one-in") {
        let number = args.get(at + 1).and_then(|text| text.parse().ok());
        which = mutants::Which::OneIn(number.ok_or("--one-in needs a number")?);
        args.drain(at..=at + 1);
    }
    let (flags, areas): (Vec<_>, Vec<_>) = args.into_iter().partition(|arg| arg.starts_with("--"));
    let flags = Flags::parse(&flags, &["--no-install", "--rest", "--unnoticed", "--page"])?;
    if flags.has("--rest") {
        which = mutants::Which::Rest;
    } else if flags.has("--unnoticed") {
        which = mutants::Which::Unnoticed;
    } else if flags.has("--page") {
        which = mutants::Which::None;
    }
    mutants::try_all(&Workspace::open()?, flags.install(), &areas, which)
}

/// Without its feature, this program builds itself again with it: decompressing and compressing are C
/// code, and everything else starts half a minute sooner without them.
#[cfg(not(feature = "table"))]
fn generate_table(workspace: &Workspace, args: &[String]) -> Result<(), String> {
    process::Call::cargo()
        .args(["run", "--quiet", "-p", "xtask", "--features", "table", "--", "gen-table"])
        .args(args)
        .inside(&workspace.root)
        .run()
}

#[cfg(feature = "table")]
fn generate_table(workspace: &Workspace, args: &[String]) -> Result<(), String> {
    std::env::set_current_dir(&workspace.root).map_err(|error| error.to_string())?;
    table::generate(args)
}

/// May this run change the machine (packages), or only say what is missing?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Install {
    Missing,
    Nothing,
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
                return Err(format!("unknown argument: {arg}\n\n{USAGE}"));
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
    fn an_unknown_or_incomplete_flag_is_refused() {
        assert!(parse(&["--fast"]).unwrap_err().starts_with("unknown argument: --fast"));
        assert!(parse(&["--only"]).is_err());
    }
}
