//! `cargo xtask deaths`: kills `labcourier` and the core of the window many times, in every way
//! that the journeys know, and prints one table of what became of the reports. On demand; `test`
//! takes a sample.

use std::fs;
use std::path::Path;

use serde_json::Value;

use testkit::FIGURES;
use xtask::output;
use xtask::process::Call;
use xtask::workspace::{Workspace, text};

/// Deaths where no number is given: what was promised to be run once.
const TIMES: u64 = 1500;

/// Columns of the table, and where a figure has each: at its top, or among its measures.
const COLUMNS: [(&str, &str); 9] = [
    ("cases", "cases"),
    ("deaths", "deaths"),
    ("restarts", "restarts"),
    ("reports", "reports"),
    ("lost", "losses"),
    ("doubled", "duplicates"),
    ("false completed", "falseCompleted"),
    ("verify problems", "verify problems"),
    ("seconds", "seconds"),
];

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    times: u64,
    seed: Option<u64>,
    only: Option<String>,
}

impl Asked {
    fn parse(args: &[String]) -> Result<Self, String> {
        let mut asked = Self { times: TIMES, seed: None, only: None };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            let number =
                |text: &String| text.parse::<u64>().map_err(|_| format!("{arg} needs a number"));
            match arg.as_str() {
                "--times" => asked.times = number(value()?)?.max(1),
                "--seed" => asked.seed = Some(number(value()?)?),
                "--only" => asked.only = Some(value()?.clone()),
                _ => return Err(format!("unknown argument: {arg}")),
            }
        }
        Ok(asked)
    }
}

fn main() -> std::process::ExitCode {
    xtask::program(run)
}

/// Runs the campaigns; 0 where nothing was lost, doubled or falsely shown.
fn run(workspace: &Workspace, args: &[String]) -> Result<u8, String> {
    if !cfg!(target_os = "linux") {
        return Err("the faults are made by a preload library, on Linux only".to_owned());
    }
    let asked = Asked::parse(args)?;
    let folder = workspace.target.join("deaths");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    let programs = ["build", "-p", "cli", "-p", "authority", "-p", "journeys", "--bins"];
    Call::cargo().args(programs).inside(&workspace.root).run()?;
    let mut call = Call::cargo()
        .args(["test", "-p", "journeys", "--test", "kills", "--"])
        // The test of the test fails on purpose inside, and all of one process count their panics
        // together.
        .args(["--nocapture", "--test-threads", "3", "--skip", "a_disk_that_lies"])
        .env("LABCOURIER_KILLS", asked.times.to_string())
        .env(FIGURES, &folder)
        .inside(&workspace.root);
    if let Some(seed) = asked.seed {
        call = call.env("LABCOURIER_SEED", seed.to_string());
    }
    if let Some(only) = &asked.only {
        call = call.arg(only);
    }
    let code = call.code()?;
    let figures = read(&folder)?;
    output::heading("real deaths");
    output::line(&table(&figures));
    Ok(code)
}

fn read(folder: &Path) -> Result<Vec<Value>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut figures = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let file = fs::read_to_string(entry.map_err(failed)?.path()).map_err(failed)?;
        for line in file.lines() {
            figures.push(serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?);
        }
    }
    figures.sort_by(|a, b| text(a, "test").cmp(text(b, "test")));
    Ok(figures)
}

fn cell(figure: &Value, name: &str) -> f64 {
    let measured = || figure.get("measures").and_then(|measures| measures.get(name));
    figure.get(name).or_else(measured).and_then(Value::as_f64).unwrap_or(0.0)
}

/// The table in Markdown, with the sum of every column.
fn table(figures: &[Value]) -> String {
    let heads: Vec<&str> = COLUMNS.iter().map(|(head, _)| *head).collect();
    let mut lines = vec![
        format!("| campaign | {} |", heads.join(" | ")),
        format!("|---{}|", "|--:".repeat(COLUMNS.len())),
    ];
    let mut sums = [0.0; COLUMNS.len()];
    let row = |name: &str, cells: &[f64]| {
        let cells: Vec<String> = cells.iter().map(|value| format!("{value:.0}")).collect();
        format!("| {name} | {} |", cells.join(" | "))
    };
    for figure in figures {
        let cells = COLUMNS.map(|(_, name)| cell(figure, name));
        for (sum, value) in sums.iter_mut().zip(cells) {
            *sum += value;
        }
        lines.push(row(&text(figure, "test").replace('_', " "), &cells));
    }
    lines.push(row("**all**", &sums));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_become_a_table_with_sums() {
        let figure = |test: &str, deaths: f64| {
            json!({
                "test": test, "cases": 5, "losses": 0, "duplicates": 1, "falseCompleted": 0,
                "seconds": 2.6, "measures": { "deaths": deaths, "reports": 8.0 },
            })
        };
        let shown = table(&[figure("it_dies", 4.0), figure("power_fails", 3.0)]);
        assert!(shown.contains("| it dies | 5 | 4 | 0 | 8 | 0 | 1 | 0 | 0 | 3 |"), "{shown}");
        assert!(shown.ends_with("| **all** | 10 | 7 | 0 | 16 | 0 | 2 | 0 | 0 | 5 |"), "{shown}");
    }

    #[test]
    fn arguments_are_read() {
        let parse = |args: &[&str]| {
            Asked::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(parse(&[]).unwrap(), Asked { times: 1500, seed: None, only: None });
        let all = parse(&["--times", "20", "--seed", "7", "--only", "power"]).unwrap();
        assert_eq!(all, Asked { times: 20, seed: Some(7), only: Some("power".to_owned()) });
        assert!(parse(&["--times"]).is_err());
        assert!(parse(&["--times", "many"]).is_err());
        assert!(parse(&["--fast"]).is_err());
    }
}
