//! Tools that others wrote, against a running authority: what they find is ours to mend. Heavy and
//! needs the registries of npm and Python, so on demand only, never part of `test`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use xtask::output;
use xtask::prerequisites;
use xtask::process::Call;
use xtask::workspace::{Workspace, list};

/// How much is tried.
struct Effort {
    /// Examples that schemathesis makes for each operation.
    examples: String,
    /// Where its choice starts from: the same seed tries the same.
    seed: String,
    only: Vec<String>,
}

/// One tool: its row in the table, and how it is run against an authority of its own.
struct Tool {
    name: &'static str,
    run: fn(&Kit, &Authority, &Effort) -> Result<Found, String>,
}

/// What a tool found.
struct Found {
    cases: u64,
    faults: Vec<String>,
}

const TOOLS: &[Tool] = &[
    Tool { name: "fhir-kit-client", run: fhir_kit_client },
    Tool { name: "fhirpy, fhirclient, fhir.resources", run: typed_models },
    Tool { name: "schemathesis", run: schemathesis },
];

/// Where the tools are, and where they work.
struct Kit {
    /// Our scripts, the lists of pinned versions among them.
    scripts: PathBuf,
    /// Everything that may be thrown away.
    folder: PathBuf,
    program: PathBuf,
}

fn main() -> std::process::ExitCode {
    xtask::program(check)
}

/// Runs every tool against the real program, and prints one table. The number is the exit code.
fn check(workspace: &Workspace, args: &[String]) -> Result<u8, String> {
    let effort = Effort::parse(args)?;
    prerequisites::node()?;
    Call::cargo().args(["build", "-p", "authority"]).inside(&workspace.root).run()?;
    let kit = Kit {
        scripts: workspace.root.join("tests/conformance"),
        folder: workspace.target.join("conformance"),
        program: workspace.program("labcourier-authority"),
    };
    kit.install()?;
    let mut rows = Vec::new();
    for tool in TOOLS {
        if !effort.only.is_empty() && !effort.only.iter().any(|name| tool.name.contains(name)) {
            continue;
        }
        output::heading(tool.name);
        let authority = Authority::start(&kit)?;
        rows.push((tool.name, (tool.run)(&kit, &authority, &effort)?));
    }
    for (name, found) in &rows {
        found.faults.iter().for_each(|fault| output::problem(&format!("{name}: {fault}")));
    }
    output::line(&format!("\n{:<36} {:>8} {:>8}", "tool", "cases", "faults"));
    for (name, found) in &rows {
        output::line(&format!("{name:<36} {:>8} {:>8}", found.cases, found.faults.len()));
    }
    let sound = rows.iter().all(|(_, found)| found.cases > 0 && found.faults.is_empty());
    Ok(u8::from(!sound || rows.is_empty()))
}

impl Effort {
    fn parse(args: &[String]) -> Result<Self, String> {
        let mut effort = Self { examples: "50".into(), seed: "1".into(), only: Vec::new() };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let value = args.next().ok_or_else(|| format!("{arg} needs a value"))?.clone();
            let number = |value: String| match value.parse::<u32>() {
                Ok(_) => Ok(value),
                Err(_) => Err(format!("{arg} needs a number, not {value}")),
            };
            match arg.as_str() {
                "--examples" => effort.examples = number(value)?,
                "--seed" => effort.seed = number(value)?,
                "--only" => effort.only.push(value),
                _ => return Err(format!("unknown argument: {arg}")),
            }
        }
        Ok(effort)
    }
}

impl Kit {
    /// Installs what the lists pin, unless it is there.
    fn install(&self) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.folder.display());
        fs::create_dir_all(self.node()).map_err(failed)?;
        for name in ["package.json", "package-lock.json", "kit.mjs"] {
            fs::copy(self.scripts.join(name), self.node().join(name)).map_err(failed)?;
        }
        Call::npm()
            .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
            .inside(&self.node())
            .run()?;
        let (list, stamp) = (self.scripts.join("requirements.txt"), self.folder.join("installed"));
        if fs::read(&list).ok() == fs::read(&stamp).ok() {
            return Ok(());
        }
        let _ = fs::remove_dir_all(self.folder.join("python"));
        let base = if cfg!(windows) { "python" } else { "python3" };
        Call::new(base).args(["-m", "venv"]).arg(self.folder.join("python")).run().map_err(
            |error| format!("{error}. Python 3.11 or newer with `venv` is needed (python3-venv)"),
        )?;
        self.python("python")
            .args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "-r"])
            .arg(&list)
            .run()?;
        fs::copy(&list, &stamp).map_err(failed)?;
        Ok(())
    }

    fn node(&self) -> PathBuf {
        self.folder.join("node")
    }

    /// A program of the throw-away Python.
    fn python(&self, program: &str) -> Call {
        let place = if cfg!(windows) { "Scripts" } else { "bin" };
        let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        Call::new(self.folder.join("python").join(place).join(name))
    }
}

/// A running authority with a CA and one laboratory of its own; it ends with this.
struct Authority {
    child: Child,
    base: String,
    data: PathBuf,
}

impl Authority {
    fn start(kit: &Kit) -> Result<Self, String> {
        let data = kit.folder.join("data");
        let _ = fs::remove_dir_all(&data);
        Call::new(&kit.program)
            .args(["init", "--laboratory", "conformance", "--data"])
            .arg(&data)
            .run()?;
        kit.python("python").arg(kit.scripts.join("pem.py")).arg(&data).run()?;
        let mut child = Command::new(&kit.program)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(&data)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("the authority cannot be started: {error}"))?;
        let mut line = String::new();
        let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        let mut authority = Self { child, base: String::new(), data };
        match (read, line.trim().strip_prefix("listening on ")) {
            (Some(Ok(_)), Some(base)) => base.clone_into(&mut authority.base),
            _ => return Err("the authority did not start".to_owned()),
        }
        Ok(authority)
    }

    fn pem(&self) -> PathBuf {
        self.data.join("pilot").join("conformance.pem")
    }

    /// Tells a tool where it is, and what to show.
    fn told(&self, call: Call) -> Call {
        // Some read a CA from here and prefer it to the one that they are given.
        ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]
            .into_iter()
            .fold(call, |call, name| call.env(name, ""))
            .env("BASE", &self.base)
            .env("CA", self.data.join("ca.pem"))
            .env("PEM", self.pem())
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn fhir_kit_client(kit: &Kit, authority: &Authority, _: &Effort) -> Result<Found, String> {
    let call = Call::new("node").arg("kit.mjs").inside(&kit.node());
    counted(&authority.told(call))
}

fn typed_models(kit: &Kit, authority: &Authority, _: &Effort) -> Result<Found, String> {
    counted(&authority.told(kit.python("python").arg(kit.scripts.join("models.py"))))
}

/// Every check that schemathesis has, in all its phases.
fn schemathesis(kit: &Kit, authority: &Authority, effort: &Effort) -> Result<Found, String> {
    let call = kit
        .python("schemathesis")
        .args(["run", &format!("{}/openapi.json", authority.base), "--checks", "all"])
        .args(["--phases", "examples,coverage,fuzzing,stateful", "--continue-on-failure"])
        .args(["--max-examples", &effort.examples, "--seed", &effort.seed, "--request-cert"])
        .arg(authority.pem())
        .arg("--tls-verify")
        .arg(authority.data.join("ca.pem"))
        .env("SCHEMATHESIS_HOOKS", kit.scripts.join("hooks.py"))
        .inside(&kit.folder);
    let (said, passed) = spoken(&authority.told(call))?;
    let counts: Vec<u64> = said.lines().filter_map(generated).collect();
    let [cases] = counts[..] else { return Err(format!("schemathesis does not count:\n{said}")) };
    let faults = if passed { Vec::new() } else { vec![said] };
    Ok(Found { cases, faults })
}

/// The number of `    944 generated, …`.
fn generated(line: &str) -> Option<u64> {
    let (number, _) = line.trim().split_once(" generated")?;
    number.replace(',', "").parse().ok()
}

/// A script of ours, whose last line is the result.
fn counted(call: &Call) -> Result<Found, String> {
    let (said, passed) = spoken(call)?;
    let last = said.lines().last().filter(|_| passed).unwrap_or_default();
    let told: Value = serde_json::from_str(last).map_err(|_| format!("no result:\n{said}"))?;
    let cases = told.get("cases").and_then(Value::as_u64).unwrap_or(0);
    let faults = list(&told, "faults").iter().filter_map(Value::as_str).map(str::to_owned);
    Ok(Found { cases, faults: faults.collect() })
}

/// What a program prints, and whether it ended well.
fn spoken(call: &Call) -> Result<(String, bool), String> {
    output::line(&format!("$ {}", call.shown()));
    let done = call
        .command()
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| call.not_started(&error))?;
    Ok((String::from_utf8_lossy(&done.stdout).into_owned(), done.status.success()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_schemathesis_is_found() {
        assert_eq!(generated("    944 generated, 1 found 1 unique failure"), Some(944));
        assert_eq!(generated("    1,091 generated, 1,091 passed"), Some(1091));
        assert_eq!(generated("Test cases:"), None);
    }

    #[test]
    fn the_effort_is_numbers() {
        let parse = |args: &[&str]| {
            Effort::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(parse(&["--examples", "7"]).map(|effort| effort.examples), Ok("7".to_owned()));
        assert!(parse(&["--examples", "many"]).is_err());
        assert!(parse(&["--seed"]).is_err());
        assert!(parse(&["--fast", "1"]).is_err());
    }
}
