//! A process of its own, because what is set holds until its end: this test program starts itself.

#![allow(
    clippy::unwrap_used,
    clippy::unnecessary_literal_unwrap,
    reason = "a test fails by panicking, and one of them on purpose"
)]

use std::process::{Command, Output};

const CANARY: &str = "Zwinglicanary";
const PART: &str = "PROCESS_TEST_PART";

fn play(part: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "the_part_that_is_played", "--nocapture", "--test-threads", "1"]);
    command.env(PART, part).env("RUST_BACKTRACE", "full").output().unwrap()
}

/// What the children do; nothing where nobody says so.
#[test]
fn the_part_that_is_played() {
    let Ok(part) = std::env::var(PART) else { return };
    process::begin();
    match part.as_str() {
        "closed" => println!("{:?}", process::state()),
        "panic" => panic!("the report of {CANARY} cannot be read"),
        "thread" => {
            let named = std::thread::Builder::new().name("reader".to_owned());
            let ended = named.spawn(|| {
                let nothing: Result<(), String> = Err(CANARY.to_owned());
                nothing.unwrap();
            });
            assert!(ended.unwrap().join().is_err());
        }
        other => unreachable!("{other}"),
    }
}

#[test]
fn the_process_is_closed() {
    let output = play("closed");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if cfg!(target_os = "linux") {
        assert!(said.contains("Closed { no_core: true, not_dumpable: Some(true) }"), "{said}");
    } else {
        assert!(said.contains("not_dumpable: None"), "{said}");
    }
}

#[test]
fn a_panic_says_where_and_not_what() {
    for (part, thread) in [("panic", "the_part_that_is_played"), ("thread", "reader")] {
        let output = play(part);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let line =
            said.lines().find(|line| line.starts_with("internal-error at ")).expect("a line");
        assert!(line.ends_with(&format!(" in {thread}")), "{line}");
        let all = [said.clone(), String::from_utf8_lossy(&output.stdout).into_owned()].concat();
        assert!(!all.contains("stack backtrace"), "{all}");
        // The test program repeats the payload of its own thread's panic to nobody.
        assert!(!said.contains(CANARY), "{said}");
    }
}
