//! The lesson, and a practice profile from one command to the first completed report.

use crate::place::{finish, program, report};

#[test]
fn the_lesson_ends_well_and_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let mut command = program(home.path());
    command.arg("practice").env("TMPDIR", home.path());
    let done = finish(command).ends(0).says("FOPH-002").says("One failed, on purpose");
    let done = done.says("Change the name to Muster");
    let done = done.says("resubmit 6 --with corrections/");
    assert_eq!(done.out.matches("Completed").count(), 6, "{}", done.out);
    assert_eq!(done.out.matches("Failed").count(), 1, "{}", done.out);
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What the authority says of the report that fails is the lesson: it has to be understood.
#[test]
fn the_authority_of_the_lesson_answers_in_the_language_of_the_terminal() {
    let home = tempfile::tempdir().unwrap();
    let mut command = program(home.path());
    command.arg("practice").env("TMPDIR", home.path()).env("LC_ALL", "fr_CH.UTF-8");
    let done = finish(command).ends(0).says("Exercice\u{a0}: cette déclaration échoue exprès");
    done.says_not("this report fails on purpose");
}

#[test]
fn two_commands_from_nothing_to_completed() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = program(home.path());
        command.args(arguments).current_dir(home.path());
        finish(command)
    };
    run(&["init", "--practice"]).ends(0);
    let done = run(&["--json", "send", "samples", "--wait"]).ends(1);
    let mut states: Vec<_> =
        done.objects().iter().map(|o| o["state"].as_str().unwrap().to_owned()).collect();
    states.sort();
    let expected = ["completed", "completed", "completed", "completed", "completed", "failed"];
    assert_eq!(states, expected);
    // The same again: known, nothing sent, and one still needs a person.
    run(&["send", "samples", "--wait"]).ends(1).says("6 known").says("FOPH-002");
    run(&["identity", "import", "x"]).ends(2).says("Practice has its own");
    run(&["endpoint", "add", "real", "https://authority.example/v1/fhir"]).ends(2).says("practice");
    run(&["practice"]).ends(0);
}

/// A script that lost the name of its profile must not send reports of patients to an authority
/// that is none.
#[test]
fn a_practice_profile_that_nobody_named_sends_its_own_samples_alone() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = program(home.path());
        command.args(arguments).current_dir(home.path());
        finish(command)
    };
    run(&["init", "--practice"]).ends(0);
    let own = home.path().join("reports");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("a.json"), report(300).json()).unwrap();
    let own = own.to_str().unwrap();
    for command in [&["send", "--quiet", "--wait", own][..], &["watch", own]] {
        run(command)
            .ends(2)
            .says("No profile was named")
            .says("--profile")
            .says("LABCOURIER_PROFILE");
    }
    assert!(run(&["--json", "list"]).ends(0).objects().is_empty(), "nothing was taken in");
    // Named, it takes whatever a person practises with; and completed in practice proves nothing.
    let folder = home.path().join("data/practice");
    let named = |arguments: &[&str]| {
        let profile = ["--profile", folder.to_str().unwrap()];
        run(&[&profile[..], arguments].concat())
    };
    named(&["send", "--wait", own]).ends(0).says("Completed");
    named(&["send", "--wait", "--require-verified", own]).ends(5);
    // What was sent so is not sent again, corrected or followed by a command that names nobody.
    std::fs::write(home.path().join("b.json"), report(301).json()).unwrap();
    let held = home.path().join("held.json");
    std::fs::write(&held, report(302).json().replace("\"final\"", "\"finished\"")).unwrap();
    named(&["send", held.to_str().unwrap()]).ends(1);
    run(&["release", "2", "--reason", "so"]).ends(2).says("No profile was named");
    run(&["resubmit", "2", "--with", "b.json"]).ends(2).says("No profile was named");
    assert_eq!(run(&["--json", "show", "2"]).ends(0).objects()[0]["state"], "held");
    // Nor is anything decided, kept or answered for in the name of a laboratory that nobody named.
    for command in [
        &["follow", "--once"][..],
        &["pause"],
        &["hold", "2"],
        &["withdraw", "2", "--reason", "wrong"],
        &["journal", "backup"],
        &["journal", "notices"],
        &["journal", "verify"],
        &["search", "--count", "0"],
        &["export", "--format", "csv"],
    ] {
        run(command).ends(2).says("No profile was named").says_not("Nothing is open");
    }
    run(&["list"]).ends(0).says("This is the practice profile").says("LABCOURIER_PROFILE");
    assert_eq!(named(&["--json", "show", "2"]).ends(0).objects()[0]["state"], "held");
    named(&["pause"]).ends(0).says_not("This is the practice profile");
}

/// The settings of the laboratory are gone, its journal is not: practice must not stand in for it.
#[test]
fn practice_does_not_stand_in_for_a_laboratory_whose_settings_are_gone() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = program(home.path());
        command.args(arguments).current_dir(home.path());
        finish(command)
    };
    run(&["init", "--practice"]).ends(0);
    let laboratory = home.path().join("data/laboratory");
    std::fs::create_dir_all(&laboratory).unwrap();
    std::fs::write(laboratory.join("journal.db"), "sealed").unwrap();
    for command in [&["send", "samples"][..], &["list"], &["follow", "--once"]] {
        run(command).ends(4).says("laboratory");
    }
    // All of its folder is gone, and the window was in its room last: its disk may not be
    // connected.
    std::fs::remove_dir_all(&laboratory).unwrap();
    run(&["list"]).ends(0);
    let settings = home.path().join("data/practice/profile.json");
    let mut practice: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&settings).unwrap()).unwrap();
    practice["preferences"]["place"] = "laboratory".into();
    testkit::write_private(&settings, practice.to_string());
    for command in [&["send", "samples"][..], &["list"], &["follow", "--once"]] {
        run(command).ends(4).says("settings of the laboratory are gone");
    }
}

/// A report that breaks the rules of practice is held before it is sent, and suggestions alone
/// bring it to order.
#[test]
fn the_rules_of_practice_hold_a_report_until_it_keeps_them() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = program(home.path());
        command.args(arguments).current_dir(home.path());
        finish(command)
    };
    run(&["init", "--practice", "--profile", "p"]).ends(0);
    let lesson = home.path().join("p/lessons/syphilis-full-name.json");
    let file = lesson.display().to_string();
    let check = |code| {
        let done = run(&["--json", "--profile", "p", "check", &file]).ends(code);
        done.objects().remove(0)["issues"].as_array().unwrap().clone()
    };
    let issues = check(1);
    let codes: Vec<_> = issues.iter().map(|issue| issue["code"].as_str().unwrap()).collect();
    let expected = [
        "rule-invariant",
        "rule-privacy-initials",
        "rule-privacy-initials",
        "rule-privacy-not-permitted",
        "rule-privacy-not-permitted",
        "rule-too-long",
    ];
    assert_eq!(codes, expected);
    assert_eq!(issues[1]["rule"], "practice-name-form");
    let kinds: Vec<_> = issues.iter().map(|of| of["suggestion"]["kind"].as_str()).collect();
    let [replace, remove] = [Some("replace"), Some("remove")];
    assert_eq!(kinds, [replace, replace, replace, remove, remove, replace]);
    // From the end, so that the places of the others stay what they are.
    let mut text = std::fs::read_to_string(&lesson).unwrap();
    for issue in issues.iter().rev() {
        let cure = &issue["suggestion"];
        let place = |name: &str| usize::try_from(cure[name].as_u64().unwrap()).unwrap();
        text.replace_range(place("start")..place("end"), cure["text"].as_str().unwrap());
    }
    std::fs::write(&lesson, text).unwrap();
    assert_eq!(check(0), [serde_json::Value::Null; 0]);
    // Who does without them goes on without them.
    run(&["--profile", "p", "rules", "remove", "labcourier.practice@1.0.0"]).ends(0);
    run(&["--json", "--profile", "p", "check", &file]).ends(0);
    let list = run(&["--json", "--profile", "p", "rules", "list"]).ends(0);
    assert_eq!(list.objects().len(), 0);
}

/// Two programs use one practice profile at once: one of them runs its authority, both get through.
#[test]
fn two_programs_share_one_practice_authority() {
    let home = tempfile::tempdir().unwrap();
    let profile = home.path().join("shared");
    let command = |arguments: &[&str]| {
        let mut command = program(home.path());
        command.arg("--profile").arg(&profile).args(arguments);
        command
    };
    finish(command(&["init", "--practice"])).ends(0);
    let samples = profile.join("samples");
    let one = samples.join("malaria.json").display().to_string();
    let two = samples.join("legionellosis.xml").display().to_string();
    let first = std::thread::spawn({
        let command = command(&["--json", "send", &one, "--wait"]);
        move || finish(command)
    });
    let second = finish(command(&["--json", "send", &two, "--wait"])).ends(0);
    let first = first.join().unwrap().ends(0);
    assert_eq!(first.objects()[0]["state"], "completed");
    assert_eq!(second.objects()[0]["state"], "completed");
}

#[cfg(unix)]
#[test]
fn a_watched_folder_is_sent_followed_and_left_alone() {
    use std::io::{BufRead as _, BufReader};
    let home = tempfile::tempdir().unwrap();
    let profile = home.path().join("watched");
    let mut init = program(home.path());
    init.arg("--profile").arg(&profile).args(["init", "--practice"]);
    finish(init).ends(0);
    let folder = home.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let sample = profile.join("samples/malaria.json");
    std::fs::copy(&sample, folder.join("malaria.json")).unwrap();
    let mut command = program(home.path());
    command.arg("--profile").arg(&profile).args(["--json", "watch"]).arg(&folder);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let completed = lines.map_while(Result::ok).find(|line| line.contains("\"completed\""));
    assert!(completed.is_some());
    let told = std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().code(), Some(0), "stops when told");
    assert_eq!(
        std::fs::read(folder.join("malaria.json")).unwrap(),
        std::fs::read(&sample).unwrap()
    );
}

#[cfg(unix)]
#[test]
fn a_watched_folder_that_goes_away_is_told_once_and_watched_again() {
    use std::io::{BufRead as _, BufReader};
    let home = tempfile::tempdir().unwrap();
    let profile = home.path().join("watched");
    let mut init = program(home.path());
    init.arg("--profile").arg(&profile).args(["init", "--practice"]);
    finish(init).ends(0);
    let (folder, away) = (home.path().join("folder"), home.path().join("away"));
    std::fs::create_dir(&folder).unwrap();
    let mut command = program(home.path());
    command.arg("--profile").arg(&profile).arg("watch").arg(&folder);
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut until = |text: &str| {
        let mut passed: Vec<String> = Vec::new();
        for line in lines.by_ref() {
            let found = line.contains(text);
            passed.push(line);
            if found {
                return passed;
            }
        }
        panic!("never said {text:?}: {passed:?}");
    };
    until("Watching");
    std::fs::rename(&folder, &away).unwrap();
    until("The watched folder cannot be looked at");
    until("Reconnect the folder");
    std::fs::rename(&away, &folder).unwrap();
    let passed = until("Watching");
    assert_eq!(passed.len(), 1, "said once: {passed:?}");
    let told = std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().code(), Some(0), "stops when told");
}

/// A laboratory's profile is named once and for all, and somebody wants to practise.
#[test]
fn practice_beside_a_named_profile_says_the_way_out() {
    let place = crate::place::Place::ready();
    let mut command = program(place.folder.path());
    command.arg("practice").env("LABCOURIER_PROFILE", place.path("profile"));
    finish(command).ends(2).says("in practice only").says("without LABCOURIER_PROFILE");
}

#[test]
fn the_language_is_the_one_that_the_system_speaks() {
    let home = tempfile::tempdir().unwrap();
    for (language, told, next) in [
        ("de_CH.UTF-8", "In nirgends ist Lab Courier nicht eingerichtet", "Legen Sie"),
        (
            "fr_CH.UTF-8",
            "Lab Courier n’est pas configuré dans nirgends",
            "Créez-en un\u{a0}: labcourier",
        ),
        ("it_CH", "Lab Courier non è configurato in nirgends", "Ne crei uno: labcourier"),
        ("C.UTF-8", "Lab Courier is not set up in nirgends", "Make one: labcourier"),
    ] {
        let mut command = program(home.path());
        command.args(["list", "--profile", "nirgends"]).env("LANG", language);
        finish(command).ends(4).says(told).says(next);
    }
}
