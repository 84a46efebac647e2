//! What scripts rely on: fields, states, exit codes, links between reports.

use serde_json::Value;

use crate::place::{Place, report};

const FIELDS: [&str; 13] = [
    "id",
    "file",
    "digest",
    "identifier",
    "state",
    "receipt",
    "issues",
    "attempts",
    "corrects",
    "endpoint",
    "environment",
    "created",
    "updated",
];
const ISSUE_FIELDS: [&str; 8] =
    ["severity", "code", "rule", "text", "expression", "line", "column", "source"];

fn keys(line: &str, fields: &[&str]) {
    let mut at = 0;
    for field in fields {
        let found = line[at..].find(&format!("\"{field}\":"));
        at += found.unwrap_or_else(|| panic!("{field} in its place: {line}"));
    }
}

#[test]
fn every_line_is_an_object_with_exactly_the_fields_of_the_contract() {
    let place = Place::ready();
    let fails = place.write("fails.json", report(1).family("Muster-Fehler").json());
    let arguments = ["--json", "--file-names", "send", &fails, "missing.json", "--wait"];
    let done = place.run(&arguments).ends(1);
    assert_eq!(done.err, "", "results alone");
    for line in done.out.lines() {
        keys(line, &FIELDS);
        keys(line.split_once("\"issues\":[").unwrap().1, &ISSUE_FIELDS);
        let object: Value = serde_json::from_str(line).unwrap();
        assert_eq!(object.as_object().unwrap().len(), FIELDS.len());
        for issue in object["issues"].as_array().unwrap() {
            let issue = issue.as_object().unwrap();
            assert_eq!(issue.len(), ISSUE_FIELDS.len());
            assert!(ISSUE_FIELDS.iter().all(|field| issue.contains_key(*field)));
        }
    }
    let objects = done.objects();
    let [failed, missing] = objects.as_slice() else { panic!("two lines: {}", done.out) };
    assert_eq!(failed["id"], 1);
    assert_eq!(failed["file"], "fails.json");
    assert_eq!(failed["state"], "failed");
    assert_eq!(failed["attempts"], 1);
    assert_eq!(failed["corrects"], Value::Null);
    assert!(failed["identifier"].as_str().unwrap().starts_with("urn:uuid:"));
    assert_eq!(failed["digest"].as_str().unwrap().len(), 64);
    assert!(failed["receipt"].is_string());
    assert!(failed["created"].as_str().unwrap().ends_with('Z'));
    let issue = &failed["issues"][0];
    assert_eq!(issue["source"], "authority");
    assert_eq!(issue["severity"], "error");
    assert_eq!(issue["rule"], "FOPH-002");
    assert!(issue["text"].as_str().unwrap().contains("Muster-Fehler"));
    assert_eq!(missing["id"], Value::Null);
    assert_eq!(missing["state"], Value::Null);
    assert_eq!(missing["issues"][0]["code"], "file-not-found");
}

/// Laboratories name files after patients: where the output is kept or read by another program,
/// number and digest stand for them.
#[test]
fn no_command_leaves_names_of_files_in_a_file_or_a_log() {
    const CANARY: &str = "Zwinglicanary";
    let place = Place::ready();
    let sound = place.write(&format!("{CANARY}-1.json"), report(60).json());
    let fails = place.write(&format!("{CANARY}-2.json"), report(61).family("Muster-Fehler").json());
    let junk = place.write(&format!("{CANARY}-3.json"), "no report at all");
    let missing = place.shown(&format!("{CANARY}-4.json"));
    let same = place.write(&format!("{CANARY}-5.json"), report(62).json());
    let other = place.write(&format!("{CANARY}-6.json"), report(62).family("Anders").json());
    let all = [&*sound, &fails, &junk, &missing, &same, &other];
    let with = |first: &'static str| [&[first][..], &all].concat();
    let validated = ["rules", "validate", &sound, &junk];
    let commands = [
        with("check"),
        [&with("send")[..], &["--wait"]].concat(),
        with("send"),
        vec!["list"],
        vec!["show", "1"],
        vec!["follow", "--once"],
        vec!["resubmit", "2", "--with", &*missing],
        vec!["release", "1", "--reason", "x"],
        vec!["export", "--format", "csv"],
        vec!["export", "--format", "json"],
        vec!["journal", "notices"],
        validated.to_vec(),
    ];
    for command in &commands {
        for json in [false, true] {
            let command = [if json { &["--json"][..] } else { &[] }, command].concat();
            place.run(&command).says_not(CANARY);
        }
    }
    // What is no report has no digest: its number in the hand-over stands for it.
    for command in [with("check"), with("send")] {
        let told = place.run(&[&["--json"], &*command].concat()).objects();
        let nameless: Vec<_> =
            told.iter().map(|told| (&told["file"], told["digest"].is_null())).collect();
        let (none, junk, missing) = (&"".into(), &"3".into(), &"4".into());
        let sound = (none, false);
        assert_eq!(nameless, [sound, sound, (junk, true), (missing, true), sound, sound]);
        place.run(&command).says("file 3").says("file 4");
    }
    let record = &place.json(0, &["show", "1"])[0];
    let digest = &record["digest"].as_str().unwrap()[..16];
    for command in [&["list"][..], &["show", "1"], &["export", "--format", "csv"], &with("check")] {
        place.run(command).says(digest);
    }
    for command in [&["list"][..], &["show", "1"], &["export", "--format", "csv"], &with("check")] {
        place.run(&[&["--file-names"], command].concat()).says(CANARY);
    }
    place.run(&["export", "--format", "csv", "--names"]).ends(0).says(CANARY);
}

#[test]
fn from_file_to_completed_in_both_encodings() {
    let place = Place::ready();
    place.write("in/a.json", report(10).json());
    place.write("in/b.xml", report(11).xml());
    let objects = place.json(0, &["send", "in", "--wait"]);
    let states: Vec<_> = objects.iter().map(|o| (o["file"].clone(), o["state"].clone())).collect();
    assert_eq!(
        states,
        [("a.json".into(), "completed".into()), ("b.xml".into(), "completed".into())]
    );
    // The authority knows them under our identifiers.
    for object in &objects {
        let identifier = object["identifier"].as_str().unwrap();
        let hits = place.json(0, &["search", "--identifier", identifier]);
        assert_eq!(hits[0]["id"], object["receipt"]);
        assert_eq!(hits[0]["submission"], object["id"]);
    }
    assert_eq!(place.json(0, &["search", "--count", "0"])[0]["total"], 2);
    assert_eq!(place.json(0, &["search", "--count", "1", "--all"]).len(), 2);
}

#[test]
fn a_failed_report_is_corrected_and_linked() {
    let place = Place::ready();
    let fails = place.write("fails.json", report(20).family("Muster-Fehler").json());
    let corrected = place.write("corrected.json", report(20).family("Muster").json());
    place
        .run(&["send", &fails, "--wait"])
        .ends(1)
        .says("Failed")
        .says("FOPH-002")
        .says("resubmit 1");
    let objects = place.json(0, &["resubmit", "1", "--with", &corrected, "--wait"]);
    assert_eq!(objects[0]["state"], "completed");
    assert_eq!(objects[0]["corrects"], 1);
    assert_eq!(place.json(0, &["show", "1"])[0]["state"], "superseded");
    place.run(&["resubmit", "1"]).ends(2).says("Replaced");
}

/// A slip in the name of a file must not give up the report of another patient.
#[test]
fn a_file_about_another_patient_takes_no_place_by_a_slip() {
    let place = Place::ready();
    let fails = place.write("fails.json", report(25).family("Muster-Fehler").json());
    place.run(&["send", &fails, "--wait"]).ends(1).says("Failed");
    let slip = report(26).family("Beispiel").json().replace("-03-14", "-02-03");
    let slip = place.write("slip.json", slip);
    place
        .run(&["resubmit", "1", "--with", &slip])
        .ends(1)
        .says("another report")
        .says("--other-report");
    assert_eq!(place.json(0, &["list"]).len(), 1);
    assert_eq!(place.json(0, &["show", "1"])[0]["state"], "failed");
    let done = place.json(0, &["resubmit", "1", "--with", &slip, "--other-report", "--wait"]);
    assert_eq!((&done[0]["state"], &done[0]["corrects"]), (&"completed".into(), &1.into()));
}

#[test]
fn an_invalid_document_is_held_then_rejected_when_released_and_corrected() {
    let place = Place::ready();
    let json = report(30).json().replace("\"final\"", "\"finished\"");
    let invalid = place.write("invalid.json", json);
    let held = place.json(1, &["send", &invalid]);
    assert_eq!(held[0]["state"], "held");
    assert!(held[0]["issues"].as_array().unwrap().iter().all(|issue| issue["text"].is_string()));
    let rejected = place.json(1, &["release", "1", "--reason", "let us see"]);
    assert_eq!(rejected[0]["state"], "rejected");
    assert_eq!(rejected[0]["receipt"], Value::Null);
    let sources: Vec<_> = rejected[0]["issues"].as_array().unwrap().to_vec();
    assert!(sources.iter().any(|issue| issue["source"] == "authority"));
    let corrected = place.write("corrected.json", report(30).json());
    let done = place.json(0, &["resubmit", "1", "--with", &corrected, "--wait"]);
    assert_eq!((&done[0]["state"], &done[0]["corrects"]), (&"completed".into(), &1.into()));
}

#[test]
fn known_content_is_shown_and_sent_again_only_when_asked() {
    let place = Place::ready();
    let file = place.write("a.json", report(40).json());
    let first = place.json(0, &["send", &file, "--wait"]);
    let copy = place.write("other-name.json", report(40).json());
    let second = place.json(0, &["send", &copy, "--wait"]);
    assert_eq!(first[0], second[0], "the known submission");
    place.run(&["send", &copy]).ends(0).says("known as 1: Completed");
    place.run(&["check", &copy]).ends(0).says("known as 1: Completed");
    let third = place.json(0, &["send", &copy, "--again", "--wait"]);
    assert_eq!(third[0]["id"], 2);
}

#[test]
fn decisions_export_and_the_journal() {
    let place = Place::ready();
    let fails = place.write("=fails.json", report(50).family("Muster-Fehler").json());
    place.json(1, &["send", &fails, "--wait"]);
    let csv = place.run(&["--file-names", "export", "--format", "csv"]).ends(0).out;
    assert!(csv.starts_with("id,state,file,"), "{csv}");
    assert!(csv.contains("'=fails.json"), "no formula: {csv}");
    assert!(!csv.contains("Muster-Fehler"), "no names: {csv}");
    assert!(
        csv.lines().next().unwrap().ends_with(",disease") && csv.contains(",covid-19\n"),
        "{csv}"
    );
    // In words of the reader's language.
    place.run(&["show", "1"]).says("COVID-19  (");
    let named = place.run(&["export", "--format", "csv", "--names"]).ends(0).out;
    assert!(named.contains("Muster-Fehler"), "{named}");
    let objects = place.json(0, &["export", "--format", "json"]);
    assert_eq!(objects[0].as_object().unwrap().len(), FIELDS.len());

    let withdrawn = place.json(0, &["withdraw", "1", "--reason", "not notifiable"]);
    assert_eq!(withdrawn[0]["state"], "withdrawn");
    place.run(&["show", "1"]).ends(0).says("Withdrawn: not notifiable");
    place.run(&["journal", "verify"]).ends(0).says("1 report, ");
    let backup = place.shown("backup.db");
    place.run(&["journal", "backup", &backup]).ends(0).says(" kB)").says_not("bytes");
    place.run(&["journal", "backup", &backup]).ends(2).says("not overwritten");
    place.run(&["journal", "restore", "nothing.db"]).ends(1);
    let junk = place.write("junk.db", [7_u8; 8192]);
    place.run(&["journal", "restore", &junk]).ends(4).says("left as it is");
    place.run(&["journal", "restore", &backup]).ends(0).says("is kept as");
    assert_eq!(place.json(0, &["list"])[0]["state"], "withdrawn");
}

/// What the program writes for a person no other user of the computer reads, whatever the shell
/// lets them.
#[cfg(unix)]
#[test]
fn what_is_saved_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::ready();
    let (statement, bundle) = (place.shown("day.pdf"), place.shown("help.zip"));
    for arguments in
        [&["statement", "2026-11-24", "--pdf", &statement][..], &["support-bundle", &bundle]]
    {
        place.run(arguments).ends(0);
    }
    for file in [statement, bundle] {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn wrong_usage_is_two_and_help_is_not() {
    let place = Place::ready();
    place.run(&["list", "--state", "nonsense"]).ends(2);
    place.run(&["list", "--since", "yesterday"]).ends(2);
    place.run(&["frobnicate"]).ends(2);
    place.run(&["show", "99"]).ends(2).says("no report 99");
    place.run(&["endpoint", "use", "nowhere"]).ends(2);
    place.run(&["endpoint", "add", "plain", "http://127.0.0.1/v1/fhir"]).ends(2).says("https://");
    // Only what is described is spoken.
    let newer = ["endpoint", "add", "newer", "https://127.0.0.1/v1/fhir", "--release", "1.15.1"];
    place.run(&newer).ends(2).says("1.13.1");
    place.run(&["init", "--practice"]).ends(2);
    let which = place.run(&["init"]).ends(2);
    which.says("init --practice").says("init --endpoint https://HOST/v1/fhir");
    place.run(&["search", "--sort", "colour"]).ends(2);
    for command in ["init", "send", "identity", "endpoint", "search", "journal", "watch"] {
        place.run(&[command, "--help"]).ends(0).says("Usage:");
    }
    place.run(&["generate", "man", &place.shown("man")]).ends(0);
    assert!(place.path("man/labcourier-send.1").exists());
    place.run(&["generate", "completions", &place.shown("completions")]).ends(0);
    assert!(place.path("completions/labcourier.bash").exists());
}
