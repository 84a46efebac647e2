//! Worlds of every test run: the seeds that once broke a promise, then the same three hundred. Many
//! more on demand: `cargo xtask simulate`.

#![allow(clippy::print_stderr, reason = "a broken world tells its story")]
#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

use std::sync::Mutex;

use journal::simulation::Memory;
use testkit::Figures;
use world::{Broken, Outcome, Tally, regressions, run};

/// Worlds of a run, unless `LABCOURIER_WORLDS` says otherwise.
const SEEDS: u64 = 300;

fn seeds() -> u64 {
    let asked = std::env::var("LABCOURIER_WORLDS").ok();
    asked.map_or(SEEDS, |asked| asked.parse().unwrap())
}

/// Plays a world; where it breaks a promise, tells its story.
fn play(seed: u64, memory: &Memory) -> (Tally, Option<Broken>) {
    let Outcome { tally, violation, .. } = run(seed, false, memory);
    let Some(violation) = violation else { return (tally, None) };
    let story = run(seed, true, memory).history;
    eprintln!("{}", story.join("\n"));
    eprintln!("seed {seed}: {:?}: {}", violation.broken, violation.what);
    eprintln!("repeat it: cargo xtask simulate --seed {seed}");
    (tally, Some(violation.broken))
}

/// Plays the worlds of all these seeds, one core each; a world knows of no other.
fn play_all(seeds: impl Iterator<Item = u64> + Send) -> Vec<(u64, Tally, Option<Broken>)> {
    let seeds = Mutex::new(seeds);
    let next = || seeds.lock().ok()?.next();
    let share = || {
        let memory = Memory::new().unwrap();
        let played = std::iter::from_fn(next).map(|seed| (seed, play(seed, &memory)));
        played.map(|(seed, (tally, broken))| (seed, tally, broken)).collect::<Vec<_>>()
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let shares: Vec<_> = (0..cores).map(|_| scope.spawn(share)).collect();
        shares.into_iter().flat_map(|share| share.join().unwrap()).collect()
    })
}

#[test]
fn nothing_is_lost_and_nothing_doubled_in_any_world() {
    const TEST: &str = "nothing_is_lost_and_nothing_doubled_in_any_world";
    type Cases = fn(&Tally) -> u64;
    let rows: [(&'static str, Cases); 5] = [
        ("kill", |tally| tally.worlds_killed),
        ("answer-lost", |tally| tally.worlds_lost),
        ("search-lag", |tally| tally.worlds_lagging),
        ("clock", |tally| tally.worlds_jumping),
        ("processes", |tally| tally.worlds_shared),
    ];
    let mut figures: Vec<_> =
        rows.iter().map(|(row, cases)| (Figures::start(row, TEST), *cases)).collect();
    let (mut total, mut others) = (Tally::default(), Vec::new());
    for (seed, tally, broken) in play_all(regressions().into_iter().chain(1..=seeds())) {
        for (figures, cases) in &mut figures {
            figures.cases(cases(&tally));
            match broken {
                Some(Broken::Loss) => figures.losses(1),
                Some(Broken::Duplicate) => figures.duplicates(1),
                Some(Broken::FalseCompleted) => figures.false_completed(1),
                _ => {}
            }
        }
        if broken == Some(Broken::Other) {
            others.push(seed);
        }
        total.add(&tally);
    }
    eprintln!("{total}");
    assert_eq!(others, Vec::<u64>::new(), "seeds that broke another promise");
    // A world in which nothing goes wrong proves nothing.
    for (what, count) in [
        ("deaths", total.crashes),
        ("stalls", total.stalls),
        ("lost answers", total.answers_lost),
        ("late searches", total.lags),
        ("jumps", total.jumps),
        ("deeds of people", total.deeds),
        ("takeovers", total.takeovers.saturating_sub(total.worlds)),
    ] {
        assert!(count > seeds() / 4, "only {count} {what}");
    }
    figures.into_iter().for_each(|(figures, _)| figures.finish());
}

#[test]
fn a_seed_repeats_its_story() {
    let memory = Memory::new().unwrap();
    for seed in [3, 11, 20_000] {
        let story = run(seed, true, &memory).history;
        assert!(story.len() > 10);
        assert_eq!(run(seed, true, &memory).history, story, "seed {seed}");
        assert_eq!(run(seed, true, &Memory::new().unwrap()).history, story, "seed {seed}");
    }
}
