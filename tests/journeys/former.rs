//! Certificates that were in use before, where the program does not know of them any more.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use journeys::faults::Surroundings;
use journeys::{Authority, Laboratory, accepted, column, objects};
use testkit::DocumentBuilder;

fn two_laboratories(data: &Path) {
    let arguments = ["riverside", "hillside", "lakeside"].map(|name| ["--laboratory", name]);
    let arguments = [&["init"], arguments.as_flattened(), &["--data"]].concat();
    let mut command = Command::new(journeys::program("labcourier-authority"));
    assert!(command.args(arguments).arg(data).output().unwrap().status.success());
}

fn run(surroundings: &Surroundings, laboratory: &Laboratory, arguments: &[&str]) -> Output {
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
}

fn written(laboratory: &Laboratory, seed: u64) -> (String, String) {
    let (document, file) = (DocumentBuilder::new(seed), format!("{seed}.json"));
    let file = laboratory.folder().join(file);
    std::fs::write(&file, document.json()).unwrap();
    (file.to_str().unwrap().to_owned(), document.identifier_value().to_owned())
}

fn import_hillside(
    surroundings: &Surroundings,
    laboratory: &Laboratory,
    data: &Path,
    rest: &[&str],
) {
    import(surroundings, laboratory, data, "hillside", rest);
}

fn import(
    surroundings: &Surroundings,
    laboratory: &Laboratory,
    data: &Path,
    name: &str,
    rest: &[&str],
) {
    let pilot = |ending: &str| data.join(format!("pilot/{name}.{ending}"));
    let (p12, password) = (pilot("p12"), pilot("password"));
    let (p12, password) = (p12.to_str().unwrap(), password.to_str().unwrap());
    let import = ["identity", "import", p12, "--password-file", password];
    assert!(run(surroundings, laboratory, &[&import[..], rest].concat()).status.success());
}

fn times(data: &Path, document: &str) -> usize {
    accepted(data).iter().filter(|it| it.document == document).count()
}

/// The passes of a day; something new is sent meanwhile with the certificate in use.
fn day(surroundings: &Surroundings, laboratory: &Laboratory) {
    surroundings.outlive_lease();
    for _ in 0..40 {
        run(surroundings, laboratory, &["follow", "--once"]);
        surroundings.advance(Duration::from_secs(600));
    }
    run(surroundings, laboratory, &["list"]);
    run(surroundings, laboratory, &["journal", "notices"]);
}

/// The authority has a report that was sent with the laboratory's former certificate. The endpoint
/// was removed and added again with the new one, which is shown nothing of that. Then the journal
/// is lost, and its backup, in which the report waits, takes its place.
fn endpoint_set_up_anew(is_removed: bool, is_anew: bool) {
    let Some(surroundings) = Surroundings::new() else { return };
    let data = tempfile::tempdir().unwrap();
    two_laboratories(data.path());
    let authority = Authority::serve_with(data.path(), &[], |command| surroundings.ageing(command));
    let laboratory = Laboratory::at(&authority.base, data.path());
    let s = &surroundings;
    let (first, document) = written(&laboratory, 7401);
    run(s, &laboratory, &["pause"]);
    run(s, &laboratory, &["send", &first]);
    s.advance(Duration::from_secs(60));
    assert!(run(s, &laboratory, &["journal", "backup"]).status.success());
    run(s, &laboratory, &["resume"]);
    s.advance(Duration::from_secs(60));
    let completed = || {
        for _ in 0..10 {
            run(s, &laboratory, &["follow", "--once"]);
            s.advance(Duration::from_secs(60));
        }
        let rows = objects(&run(s, &laboratory, &["list"]));
        assert!(column(&rows, "state").iter().all(|it| it == "completed"), "{rows:?}");
    };
    completed();
    assert_eq!(times(data.path(), &document), 1);

    // The laboratory has a new certificate, and somebody sets the endpoint up anew.
    s.advance(Duration::from_secs(3600));
    let old = laboratory.must(&["identity", "list"]);
    let old = old[0]["fingerprint"].as_str().unwrap().to_owned();
    let ca = authority.ca();
    let add = ["endpoint", "add", "authority", &authority.base, "--ca", ca.to_str().unwrap()];
    if is_anew {
        assert!(run(s, &laboratory, &["endpoint", "remove", "authority"]).status.success());
        if is_removed {
            assert!(run(s, &laboratory, &["identity", "remove", &old]).status.success());
        }
        import_hillside(s, &laboratory, data.path(), &[]);
        assert!(run(s, &laboratory, &add).status.success());
    }
    if !is_anew || !is_removed {
        import_hillside(s, &laboratory, data.path(), &["--endpoint", "authority"]);
    }
    if !is_anew && is_removed {
        assert!(run(s, &laboratory, &["identity", "remove", &old]).status.success());
    }
    s.advance(Duration::from_secs(3600));
    let (second, _) = written(&laboratory, 7402);
    run(s, &laboratory, &["send", &second]);
    completed();

    s.advance(Duration::from_secs(3600));
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(laboratory.profile().join(format!("journal.db{suffix}")));
    }
    day(s, &laboratory);
    let (third, _) = written(&laboratory, 7403);
    run(s, &laboratory, &["send", &third]);
    day(s, &laboratory);
    assert_eq!(times(data.path(), &document), 1, "sent once");
}

#[test]
fn what_was_sent_before_an_endpoint_was_set_up_anew_does_not_go_twice() {
    endpoint_set_up_anew(false, true);
}

#[test]
fn what_was_sent_with_a_removed_certificate_of_an_endpoint_set_up_anew_does_not_go_twice() {
    endpoint_set_up_anew(true, true);
}

/// The controls: the certificate alone is replaced, and the old one kept or removed.
#[test]
fn what_was_sent_before_a_certificate_was_replaced_does_not_go_twice() {
    endpoint_set_up_anew(false, false);
}

#[test]
fn what_was_sent_with_a_removed_certificate_does_not_go_twice() {
    endpoint_set_up_anew(true, false);
}

/// An answer was lost. The computer starts with a clock that is two hours behind, the certificate
/// is replaced, and the clock is set right.
fn replaced_behind(is_behind: bool) {
    let Some(surroundings) = Surroundings::new() else { return };
    let behind = Surroundings::new().unwrap();
    surroundings.advance(Duration::from_secs(7200));
    let data = tempfile::tempdir().unwrap();
    two_laboratories(data.path());
    let faults = data.path().join("faults.toml");
    std::fs::write(&faults, "[[fault]]\non = \"create\"\nnth = 1\nkind = \"cut-after-commit\"\n")
        .unwrap();
    let arguments = ["--faults", faults.to_str().unwrap()];
    let authority =
        Authority::serve_with(data.path(), &arguments, |command| surroundings.ageing(command));
    let laboratory = Laboratory::at(&authority.base, data.path());
    let s = &surroundings;
    let (first, document) = written(&laboratory, 7411);
    run(s, &laboratory, &["send", &first]);
    let rows = objects(&run(s, &laboratory, &["list"]));
    assert_eq!(column(&rows, "state"), ["unknown"]);
    assert_eq!(times(data.path(), &document), 1);

    s.advance(Duration::from_secs(30));
    let clock = if is_behind { &behind } else { s };
    import_hillside(clock, &laboratory, data.path(), &["--endpoint", "authority"]);
    s.advance(Duration::from_secs(30));
    let (second, _) = written(&laboratory, 7412);
    run(s, &laboratory, &["send", &second]);
    day(s, &laboratory);
    assert_eq!(times(data.path(), &document), 1, "sent once");
    let rows = objects(&run(s, &laboratory, &["list"]));
    assert!(column(&rows, "state").iter().all(|it| it == "completed"), "{rows:?}");
}

#[test]
fn a_doubt_from_before_a_certificate_that_a_clock_behind_dates_earlier_does_not_go_twice() {
    replaced_behind(true);
}

/// The control.
#[test]
fn a_doubt_from_before_a_certificate_does_not_go_twice() {
    replaced_behind(false);
}

/// The clock is a day ahead while the certificate is replaced, and set right. An answer is lost,
/// and the certificate is replaced once more.
fn replaced_ahead(is_ahead: bool) {
    let Some(surroundings) = Surroundings::new() else { return };
    let ahead = Surroundings::new().unwrap();
    if is_ahead {
        ahead.advance(Duration::from_secs(86_400));
    }
    let data = tempfile::tempdir().unwrap();
    two_laboratories(data.path());
    let faults = data.path().join("faults.toml");
    std::fs::write(&faults, "[[fault]]\non = \"create\"\nnth = 1\nkind = \"cut-after-commit\"\n")
        .unwrap();
    let arguments = ["--faults", faults.to_str().unwrap()];
    let authority =
        Authority::serve_with(data.path(), &arguments, |command| surroundings.ageing(command));
    let laboratory = Laboratory::at(&authority.base, data.path());
    let s = &surroundings;
    let there = ["--endpoint", "authority"];
    import(&ahead, &laboratory, data.path(), "hillside", &there);
    s.advance(Duration::from_secs(300));
    let (first, document) = written(&laboratory, 7431);
    run(s, &laboratory, &["send", &first]);
    let rows = objects(&run(s, &laboratory, &["list"]));
    assert_eq!(column(&rows, "state"), ["unknown"]);
    s.advance(Duration::from_secs(300));
    import(s, &laboratory, data.path(), "lakeside", &there);
    day(s, &laboratory);
    assert_eq!(times(data.path(), &document), 1, "sent once");
    let rows = objects(&run(s, &laboratory, &["list"]));
    assert_eq!(column(&rows, "state"), ["completed"]);
}

#[test]
fn a_doubt_under_a_certificate_that_a_clock_ahead_dates_later_does_not_go_twice() {
    replaced_ahead(true);
}

/// The control.
#[test]
fn a_doubt_under_the_second_of_three_certificates_does_not_go_twice() {
    replaced_ahead(false);
}

/// A report is in progress in the backup. It was completed since, and its endpoint removed: after
/// the backup has taken the journal's place somebody is told.
#[test]
fn what_a_backup_brings_back_at_a_removed_endpoint_is_told() {
    let Some(surroundings) = Surroundings::new() else { return };
    let data = tempfile::tempdir().unwrap();
    two_laboratories(data.path());
    let delay = ["--processing-delay", "30m"];
    let authority =
        Authority::serve_with(data.path(), &delay, |command| surroundings.ageing(command));
    let laboratory = Laboratory::at(&authority.base, data.path());
    let s = &surroundings;
    let (first, _) = written(&laboratory, 7441);
    run(s, &laboratory, &["send", &first]);
    s.advance(Duration::from_secs(60));
    assert!(run(s, &laboratory, &["journal", "backup"]).status.success());
    day(s, &laboratory);
    let ca = authority.ca();
    let add =
        ["endpoint", "add", "other", "https://127.0.0.1:1/v1/fhir", "--ca", ca.to_str().unwrap()];
    run(s, &laboratory, &add);
    run(s, &laboratory, &["endpoint", "use", "other"]);
    assert!(run(s, &laboratory, &["endpoint", "remove", "authority"]).status.success());
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(laboratory.profile().join(format!("journal.db{suffix}")));
    }
    day(s, &laboratory);
    run(s, &laboratory, &["journal", "notices", "--read"]);
    s.advance(Duration::from_secs(10 * 86_400));
    let told = run(s, &laboratory, &["follow", "--once"]);
    let rows = objects(&run(s, &laboratory, &["list"]));
    run(s, &laboratory, &["show", "1"]);
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    let said = said + &String::from_utf8_lossy(&told.stdout);
    assert!(said.contains("authority"), "told: {rows:?} {said}");
    assert_ne!(told.status.code(), Some(0));
}

/// The files of a profile but those of its journal.
fn settings_and_secrets(profile: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let is_of_journal =
        |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("journal");
    let files = std::fs::read_dir(profile).unwrap().map(|entry| entry.unwrap().path());
    let kept = files.filter(|path| path.is_file() && !is_of_journal(path));
    kept.map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect()
}

/// A disk has died. What was kept of the profile elsewhere, its settings and secrets, is as it was
/// when the laboratory was set up with the test system. Last night's backup is restored, and the
/// production endpoint is added again: at once, or two hours later. What was sent there since the
/// backup fails.
fn endpoint_added_after_a_restore(is_late: bool) {
    let Some(surroundings) = Surroundings::new() else { return };
    let s = &surroundings;
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [test_data, data] = folders.each_ref().map(|folder| folder.path());
    Authority::init(test_data);
    Authority::init(data);
    let rules = data.join("rules.toml");
    std::fs::write(&rules, authority::PRACTICE_RULES).unwrap();
    let test = Authority::serve_with(test_data, &[], |command| s.ageing(command));
    let slowly = ["--processing-delay", "20m", "--rules", rules.to_str().unwrap()];
    let production = Authority::serve_with(data, &slowly, |command| s.ageing(command));

    let laboratory = Laboratory::at(&test.base, test_data);
    let profile = laboratory.profile();
    let kept = settings_and_secrets(&profile);
    let add = || {
        let ca = production.ca();
        let ca = ca.to_str().unwrap();
        let add = ["endpoint", "add", "production", &production.base, "--ca", ca];
        assert!(run(s, &laboratory, &add).status.success());
        import(s, &laboratory, data, "riverside", &["--endpoint", "production"]);
    };
    let passes = |times: u32| {
        for _ in 0..times {
            run(s, &laboratory, &["follow", "--once"]);
            s.advance(Duration::from_secs(600));
        }
    };
    let (first, _) = written(&laboratory, 7421);
    run(s, &laboratory, &["send", &first]);
    passes(2);
    add();
    assert!(run(s, &laboratory, &["endpoint", "use", "production"]).status.success());
    let (second, _) = written(&laboratory, 7422);
    run(s, &laboratory, &["send", &second]);
    passes(4);
    let rows = objects(&run(s, &laboratory, &["list"]));
    assert_eq!(column(&rows, "state"), ["completed", "completed"]);
    let backup = laboratory.folder().join("backup.db");
    let backup = backup.to_str().unwrap();
    assert!(run(s, &laboratory, &["journal", "backup", backup]).status.success());
    s.advance(Duration::from_secs(3600));
    let failing = laboratory.folder().join("failing.json");
    std::fs::write(&failing, DocumentBuilder::new(7423).family("Muster-Fehler").json()).unwrap();
    run(s, &laboratory, &["send", failing.to_str().unwrap()]);

    std::fs::remove_dir_all(&profile).unwrap();
    std::fs::create_dir(&profile).unwrap();
    for (path, bytes) in kept {
        testkit::write_private(&path, bytes);
    }
    s.outlive_lease();
    assert!(run(s, &laboratory, &["journal", "restore", backup]).status.success());
    run(s, &laboratory, &["resume"]);
    if is_late {
        passes(12);
        run(s, &laboratory, &["journal", "notices"]);
    }
    add();
    passes(40);
    let rows = objects(&run(s, &laboratory, &["list"]));
    run(s, &laboratory, &["journal", "notices"]);
    let states: Vec<_> = accepted(data).into_iter().map(|it| it.status).collect();
    assert_eq!(states, ["completed", "failed"], "at the authority");
    let failed = column(&rows, "state").iter().filter(|it| *it == "failed").count();
    assert_eq!(failed, 1, "a person is told that it has failed: {rows:?}");
}

#[test]
fn what_failed_at_an_endpoint_that_is_added_long_after_a_restore_is_told() {
    endpoint_added_after_a_restore(true);
}

/// The control.
#[test]
fn what_failed_at_an_endpoint_that_is_added_just_after_a_restore_is_told() {
    endpoint_added_after_a_restore(false);
}
