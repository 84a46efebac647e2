//! Every stored input, and seeded changes of them, through every target: the fuzzer's properties on
//! each test run. `LABCOURIER_MUTATIONS` asks for another number of changes per target.

use std::time::{Duration, Instant};

use hostile::mutation::{Random, changed};
use hostile::{TARGETS, Target, corpus};
use testkit::Figures;

/// Changes tried per target: some seconds in all, unoptimised.
const CHANGES: usize = 4_000;
/// An import derives keys, and a package is compiled, which takes its time.
const CHANGES_OF_SLOW_ONES: usize = 1_500;
/// Memory that the process may have used at its peak, all targets together.
const PEAK_MB_MAX: f64 = 512.0;

fn changes(target: &Target) -> usize {
    let usual = if target.seconds_max > 1.0 { CHANGES_OF_SLOW_ONES } else { CHANGES };
    std::env::var("LABCOURIER_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Peak of the process's memory, megabytes; 0 where the system does not say.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    kilobytes.unwrap_or_default() / 1024.0
}

/// Runs one input within the time that its target may take; the time taken.
fn timed(target: &Target, what: &str, bytes: &[u8]) -> Duration {
    let begun = Instant::now();
    (target.run)(bytes);
    let took = begun.elapsed();
    assert!(took.as_secs_f64() <= target.seconds_max, "{} {what}: {took:?}", target.name);
    took
}

/// Runs a target; the number of inputs and the longest time of one.
fn run(target: &Target) -> (u64, Duration) {
    let stored = corpus::inputs(target.name);
    assert!(stored.len() >= 3, "{}: {} stored inputs", target.name, stored.len());
    let mut longest = Duration::ZERO;
    let mut count = 0;
    for (name, bytes) in &stored {
        longest = longest.max(timed(target, name, bytes));
        count += 1;
    }
    let inputs: Vec<Vec<u8>> = stored.into_iter().map(|(_, bytes)| bytes).collect();
    for seed in 0..changes(target) as u64 {
        let bytes = changed(&inputs, target.words, &mut Random::new(seed));
        longest = longest.max(timed(target, &format!("seed {seed}"), &bytes));
        count += 1;
    }
    (count, longest)
}

fn all(row: &'static str, test: &'static str, targets: impl Fn(&Target) -> bool) {
    let mut figures = Figures::start(row, test);
    let mut longest = Duration::ZERO;
    for target in TARGETS.iter().filter(|target| targets(target)) {
        let (count, slowest) = run(target);
        eprintln!("{:>10}: {count} inputs, longest {slowest:?}", target.name);
        longest = longest.max(slowest);
        figures.cases(count);
    }
    let peak = peak_mb();
    assert!(peak < PEAK_MB_MAX, "{peak} MB at the peak");
    figures.measure("longest seconds", longest.as_secs_f64());
    figures.measure("peak MB", peak.round());
    figures.finish();
}

#[test]
fn texts() {
    all("hostile-text", "stored_and_changed_texts", |target| !target.is_identity);
}

#[test]
fn identities() {
    all("pkcs12", "stored_and_changed_files", |target| target.is_identity);
}

#[test]
fn every_folder_of_inputs_belongs_to_a_target_and_is_small() {
    let root = corpus::folder("");
    let mut bytes = 0;
    for entry in std::fs::read_dir(root).expect("the corpus") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(TARGETS.iter().any(|target| target.name == name), "{name} belongs to no target");
        bytes += corpus::inputs(&name).iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    }
    assert!(bytes < 300_000, "{bytes} bytes are stored");
}
