//! `simulate`: plays worlds until one breaks a promise, or all are played.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use journal::simulation::Memory;
use world::{Outcome, Tally, run};

const USAGE: &str = "simulate [--seeds N] [--from S] [--threads T] | --seed S";

struct Wish {
    from: u64,
    seeds: u64,
    threads: u64,
    /// Tell the story of one.
    story: bool,
}

fn wish() -> Option<Wish> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let mut wish = Wish { from: 1, seeds: 10_000, threads: cores, story: false };
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        let value = args.next()?.replace('_', "").parse().ok()?;
        match name.as_str() {
            "--seeds" => wish.seeds = value,
            "--from" => wish.from = value,
            "--threads" => wish.threads = value.max(1),
            "--seed" => (wish.from, wish.seeds, wish.story) = (value, 1, true),
            _ => return None,
        }
    }
    Some(wish)
}

fn main() -> ExitCode {
    let Some(wish) = wish() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if wish.story {
        return tell(wish.from);
    }
    let began = Instant::now();
    let (next, stop) = (AtomicU64::new(wish.from), AtomicBool::new(false));
    let end = wish.from.saturating_add(wish.seeds);
    let total = Mutex::new(Tally::default());
    let broken: Mutex<Option<u64>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..wish.threads.min(wish.seeds) {
            scope.spawn(|| play(&next, end, &stop, &total, &broken));
        }
        progress(&wish, &stop, &total, began);
    });
    let total = total.into_inner().unwrap_or_default();
    println!("{total}");
    let seconds = began.elapsed().as_secs_f64();
    println!("{seconds:.1} s, {:.0} worlds a second", total.worlds as f64 / seconds.max(0.001));
    match broken.into_inner().ok().flatten() {
        Some(seed) => tell(seed),
        None => {
            println!("no promise was broken");
            ExitCode::SUCCESS
        }
    }
}

fn play(
    next: &AtomicU64,
    end: u64,
    stop: &AtomicBool,
    total: &Mutex<Tally>,
    broken: &Mutex<Option<u64>>,
) {
    let Ok(memory) = Memory::new() else { return stop.store(true, Ordering::Relaxed) };
    while !stop.load(Ordering::Relaxed) {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            return;
        }
        let Outcome { tally, violation, .. } = run(seed, false, &memory);
        if let Ok(mut total) = total.lock() {
            total.add(&tally);
        }
        if violation.is_some() {
            if let Ok(mut broken) = broken.lock() {
                let first = broken.map_or(seed, |known| known.min(seed));
                *broken = Some(first);
            }
            stop.store(true, Ordering::Relaxed);
        }
    }
}

/// A line every few seconds, until all are played.
fn progress(wish: &Wish, stop: &AtomicBool, total: &Mutex<Tally>, began: Instant) {
    let mut told = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(50));
        let worlds = total.lock().map_or(0, |total| total.worlds);
        if worlds >= wish.seeds || stop.load(Ordering::Relaxed) {
            return;
        }
        if told.elapsed() >= Duration::from_secs(10) {
            told = Instant::now();
            let rate = worlds as f64 / began.elapsed().as_secs_f64();
            let left = (wish.seeds - worlds) as f64 / rate.max(0.001) / 60.0;
            println!("{worlds} of {} worlds, {rate:.0} a second, {left:.0} min left", wish.seeds);
        }
    }
}

/// The story of one world, step by step.
fn tell(seed: u64) -> ExitCode {
    let Ok(memory) = Memory::new() else { return ExitCode::FAILURE };
    let Outcome { tally, violation, history } = run(seed, true, &memory);
    history.iter().for_each(|line| println!("{line}"));
    println!("{tally}");
    let Some(violation) = violation else {
        println!("seed {seed}: no promise was broken");
        return ExitCode::SUCCESS;
    };
    println!("seed {seed}: {:?}: {}", violation.broken, violation.what);
    println!("repeat it: cargo xtask simulate --seed {seed}");
    ExitCode::FAILURE
}
