//! `cargo xtask fuzz`: drives the targets of `fuzz/` by coverage, each for so many seconds. On
//! demand, never part of `test`, which runs the same targets over the stored inputs.
//!
//! The pinned compiler is enough: counting coverage needs no nightly one, only sanitizers would,
//! and our own code has no `unsafe` for them to watch.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use xtask::output;
use xtask::process::{Call, find};
use xtask::workspace::Workspace;

const USAGE: &str = "Usage: cargo xtask fuzz [--seconds N] [--only TARGET]…";
/// One minute for each target, where nothing else is said.
const SECONDS: u32 = 60;
/// Longest time of one input, seconds by the clock: a second of work on a machine that does other
/// things too (the tests of `hostile` hold each stored input to one). Megabytes of memory in all.
const INPUT_SECONDS: u32 = 10;
/// An import may derive keys within its bounds: some seconds, see `hostile`.
const IMPORT_SECONDS: u32 = 30;
const MEMORY_MB: u32 = 512;
/// Longest input. A report of a laboratory is about as long.
const BYTES_MAX: u32 = 16 << 10;

/// What the compiler is told: counters and comparisons of every branch, as libFuzzer reads them.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    seconds: u32,
    only: Vec<String>,
}

/// What a target did.
struct Row {
    target: String,
    executions: u64,
    coverage: u64,
    stored: u64,
    memory_mb: u64,
    found: Option<PathBuf>,
    problem: Option<String>,
}

fn main() -> std::process::ExitCode {
    xtask::program(fuzz)
}

/// Drives the targets; 0 where nothing was found.
fn fuzz(workspace: &Workspace, args: &[String]) -> Result<u8, String> {
    let asked = asked(args)?;
    let folder = workspace.root.join("fuzz");
    let targets = chosen(&targets(&folder.join("corpus"))?, &asked.only)?;
    let program = build(workspace, &folder)?;
    let mut rows = Vec::new();
    for target in &targets {
        let begun = Instant::now();
        let row = drive(workspace, &program, target, asked.seconds)?;
        output::line(&shown(&row, begun.elapsed().as_secs()));
        rows.push(row);
    }
    let executions: u64 = rows.iter().map(|row| row.executions).sum();
    let found: Vec<&Row> =
        rows.iter().filter(|row| row.found.is_some() || row.problem.is_some()).collect();
    output::line(&format!(
        "{} targets, {executions} executions, {} with a finding",
        rows.len(),
        found.len()
    ));
    for row in &found {
        if let Some(input) = &row.found {
            output::line(&format!(
                "{}: the input is kept in {}; mend it and store it as fuzz/corpus/{}/NAME",
                row.target,
                workspace.shown(input),
                row.target
            ));
        }
    }
    Ok(u8::from(!found.is_empty()))
}

fn asked(args: &[String]) -> Result<Asked, String> {
    let mut asked = Asked { seconds: SECONDS, only: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value\n\n{USAGE}"));
        match arg.as_str() {
            "--seconds" => {
                let text = value()?;
                let seconds = text.parse().ok().filter(|seconds| *seconds > 0);
                asked.seconds = seconds.ok_or_else(|| format!("{text} is no number of seconds"))?;
            }
            "--only" => asked.only.push(value()?.clone()),
            other => return Err(format!("unknown argument: {other}\n\n{USAGE}")),
        }
    }
    Ok(asked)
}

/// Targets have a folder of stored inputs each; the tests of `hostile` see to that.
fn targets(corpus: &Path) -> Result<Vec<String>, String> {
    let listed = fs::read_dir(corpus).map_err(|error| format!("{}: {error}", corpus.display()))?;
    let mut names: Vec<String> = listed
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    Ok(names)
}

fn chosen(targets: &[String], only: &[String]) -> Result<Vec<String>, String> {
    if let Some(unknown) = only.iter().find(|name| !targets.contains(name)) {
        return Err(format!("no target {unknown}; there are: {}", targets.join(" ")));
    }
    let wanted = |name: &&String| only.is_empty() || only.contains(name);
    Ok(targets.iter().filter(wanted).cloned().collect())
}

/// Builds the one program of all targets, with the versions that the product is built with.
fn build(workspace: &Workspace, folder: &Path) -> Result<PathBuf, String> {
    if find("c++").is_none() {
        return Err("the fuzzer needs a C++ compiler (Debian: build-essential)".to_owned());
    }
    let host = host()?;
    let own = folder.join("libfuzzer");
    let lock = own.join("Cargo.lock");
    fs::copy(workspace.root.join("Cargo.lock"), &lock)
        .map_err(|error| format!("{}: {error}", lock.display()))?;
    let target = workspace.target.join("fuzz");
    // Named, even where it is the host's: so build scripts and macros are compiled without
    // counters.
    Call::cargo()
        .args(["build", "--release", "--target", &host])
        .env("RUSTFLAGS", FLAGS)
        .env("CARGO_TARGET_DIR", &target)
        .inside(&own)
        .run()?;
    Ok(target.join(host).join("release").join(format!("libfuzzer{}", std::env::consts::EXE_SUFFIX)))
}

fn host() -> Result<String, String> {
    let told = Call::new("rustc").args(["--version", "--verbose"]).text().unwrap_or_default();
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not name its host".to_owned())
}

fn drive(workspace: &Workspace, program: &Path, target: &str, seconds: u32) -> Result<Row, String> {
    let work = workspace.target.join("fuzz/work").join(target);
    let found = workspace.target.join("fuzz/found").join(target);
    for folder in [&work, &found] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let before = files(&found);
    let import = ["pkcs12", "pem"].contains(&target);
    let timeout = if import { IMPORT_SECONDS } else { INPUT_SECONDS };
    let call = Call::new("nice")
        .args(["-n", "10"])
        .arg(program)
        .arg(&work)
        .arg(workspace.root.join("fuzz/corpus").join(target))
        .args([
            format!("-max_total_time={seconds}"),
            format!("-timeout={timeout}"),
            format!("-rss_limit_mb={MEMORY_MB}"),
            format!("-max_len={BYTES_MAX}"),
            "-print_final_stats=1".to_owned(),
            format!("-artifact_prefix={}/", found.display()),
        ])
        .env("LABCOURIER_FUZZ", target)
        // Naming every function of a stack takes longer than an input may.
        .env("RUST_BACKTRACE", "0");
    output::line(&format!("$ {target} for {seconds} s"));
    let mut command = call.command();
    let output = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| call.not_started(&error))?;
    let told = String::from_utf8_lossy(&output.stderr);
    let new = files(&found).into_iter().find(|file| !before.contains(file));
    let problem = (!output.status.success()).then(|| why(&told));
    if let Some(problem) = &problem {
        output::problem(problem);
    }
    Ok(Row {
        target: target.to_owned(),
        executions: last_number(&told, "stat::number_of_executed_units:"),
        coverage: last_number(&told, " cov: "),
        stored: last_number(&told, " corp: "),
        memory_mb: last_number(&told, "stat::peak_rss_mb:"),
        found: new,
        problem,
    })
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()));
    listed.map(Iterator::collect).unwrap_or_default()
}

/// The panic and what libFuzzer says of it.
fn why(told: &str) -> String {
    let says = |line: &&str| {
        line.contains("panicked at")
            || line.contains("ERROR: libFuzzer")
            || line.contains("SUMMARY")
    };
    let mut lines: Vec<&str> = Vec::new();
    let mut all = told.lines().peekable();
    while let Some(line) = all.next() {
        if says(&line) {
            lines.push(line);
            // The message of a panic stands below its place.
            lines.extend(all.peek().filter(|_| line.contains("panicked at")));
        }
    }
    lines.join("\n")
}

/// The number after the last of these words, 0 where there is none.
fn last_number(told: &str, words: &str) -> u64 {
    let after = told.rsplit_once(words).map_or("", |(_, after)| after.trim_start());
    let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    after[..digits].parse().unwrap_or_default()
}

fn shown(row: &Row, seconds: u64) -> String {
    let Row { target, executions, coverage, stored, memory_mb, .. } = row;
    let verdict = if row.problem.is_some() { "FOUND SOMETHING" } else { "nothing found" };
    format!(
        "{target:<10} {executions:>10} executions  {coverage:>6} places reached  {stored:>5} \
         inputs  {memory_mb:>4} MB  {seconds:>4} s  {verdict}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn arguments_are_read_or_refused() {
        let parsed =
            asked(&words(&["--seconds", "5", "--only", "pem", "--only", "links"])).unwrap();
        assert_eq!(parsed, Asked { seconds: 5, only: words(&["pem", "links"]) });
        assert_eq!(asked(&[]).unwrap().seconds, 60);
        for wrong in [&["--seconds"][..], &["--seconds", "0"], &["--seconds", "x"], &["--fast"]] {
            assert!(asked(&words(wrong)).is_err(), "{wrong:?}");
        }
        let targets = words(&["links", "pem"]);
        assert_eq!(chosen(&targets, &words(&["pem"])).unwrap(), words(&["pem"]));
        assert!(chosen(&targets, &words(&["pme"])).is_err());
    }

    #[test]
    fn what_the_fuzzer_says_is_read() {
        let told = "#2\tINITED cov: 12 ft: 13 corp: 1/1b\n#9\tDONE   cov: 345 ft: 9 corp: 27/3Kb\n\
                    thread '<unnamed>' panicked at fuzz/src/a.rs:1:2:\nno such thing\n\
                    SUMMARY: libFuzzer: deadly signal\nstat::number_of_executed_units: 4096\n";
        assert_eq!(last_number(told, " cov: "), 345);
        assert_eq!(last_number(told, " corp: "), 27);
        assert_eq!(last_number(told, "stat::number_of_executed_units:"), 4096);
        assert_eq!(last_number(told, "stat::peak_rss_mb:"), 0);
        assert!(why(told).contains("no such thing") && why(told).contains("SUMMARY"));
    }
}
