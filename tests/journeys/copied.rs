//! A profile that is copied before its journal has found its home anew: after its key was
//! exchanged.

use std::time::Duration;

use journeys::faults::Surroundings;
use journeys::{Authority, Laboratory, accepted};
use testkit::DocumentBuilder;

/// Programs are stopped, the key is exchanged if so, the folder is copied, and both copies go on.
fn copied_after(what: &str) {
    let Some(surroundings) = Surroundings::new() else { return };
    let data = tempfile::tempdir().unwrap();
    Authority::init(data.path());
    // A create takes some seconds, of up to 52 that were seen.
    let faults = data.path().join("faults.toml");
    std::fs::write(&faults, "[[fault]]\non = \"create\"\nnth = 1\nkind = { delay = \"8s\" }\n")
        .unwrap();
    let arguments = ["--faults", faults.to_str().unwrap()];
    let authority = Authority::serve_with(data.path(), &arguments, |command| {
        surroundings.clocked(command);
    });
    let laboratory = Laboratory::at(&authority.base, data.path());
    let run = |laboratory: &Laboratory, arguments: &[&str]| {
        let mut command = laboratory.command(arguments);
        surroundings.clocked(&mut command);
        let output = command.output().unwrap();
        eprintln!(
            "{arguments:?}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        output
    };
    let file = laboratory.folder().join("report.json");
    std::fs::write(&file, DocumentBuilder::new(7501).json()).unwrap();
    run(&laboratory, &["pause"]);
    run(&laboratory, &["send", file.to_str().unwrap()]);
    run(&laboratory, &["list"]);
    match what {
        "rotate-key" => assert!(run(&laboratory, &["journal", what]).status.success()),
        "restore" => {
            let backup = laboratory.folder().join("backup.db");
            let backup = backup.to_str().unwrap();
            assert!(run(&laboratory, &["journal", "backup", backup]).status.success());
            assert!(run(&laboratory, &["journal", what, backup]).status.success());
        }
        _ => {}
    }
    let copy = laboratory.copy();
    surroundings.outlive_lease();
    // Side by side.
    for one in [&laboratory, &copy] {
        run(one, &["resume"]);
    }
    for _ in 0..20 {
        std::thread::scope(|scope| {
            for one in [&laboratory, &copy] {
                scope.spawn(|| run(one, &["follow", "--once"]));
            }
        });
        surroundings.advance(Duration::from_secs(300));
    }
    for one in [&laboratory, &copy] {
        run(one, &["list"]);
        run(one, &["journal", "notices"]);
    }
    assert_eq!(accepted(data.path()).len(), 1, "sent once");
    let told = run(&copy, &["journal", "notices"]);
    assert!(String::from_utf8_lossy(&told.stdout).contains("journal-copied"), "a person is told");
}

#[test]
fn a_copy_that_is_made_after_the_key_was_exchanged_is_noticed() {
    copied_after("rotate-key");
}

/// The control.
#[test]
fn a_copy_is_noticed() {
    copied_after("nothing");
}

#[test]
fn a_copy_that_is_made_after_a_restore_is_noticed() {
    copied_after("restore");
}
