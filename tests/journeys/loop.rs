//! Rejected and failed reports, and how each is corrected: with real programs over mutual TLS.

use std::path::PathBuf;

use journeys::{Authority, Laboratory, column, objects};
use serde_json::Value;
use testkit::DocumentBuilder;

fn write(laboratory: &Laboratory, name: &str, text: &str) -> PathBuf {
    let file = laboratory.folder().join(name);
    std::fs::write(&file, text).unwrap();
    file
}

/// A report refused at submission never existed at the authority; one that fails in processing did.
#[test]
fn rejected_and_failed_reports_are_corrected_and_complete() {
    let folder = tempfile::tempdir().unwrap();
    Authority::init(folder.path());
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, authority::PRACTICE_RULES).unwrap();
    let arguments = ["--processing-delay", "50ms", "--rules", rules.to_str().unwrap()];
    let authority = Authority::serve(folder.path(), &arguments);
    let laboratory = Laboratory::at(&authority.base, folder.path());

    let good = DocumentBuilder::new(1).json();
    let wrong = good.replacen("\"final\"", "\"finished-somehow\"", 1);
    let held =
        laboratory.run(&["send", write(&laboratory, "wrong.json", &wrong).to_str().unwrap()]);
    assert_eq!(held.status.code(), Some(1), "an error holds");
    let held = objects(&held);
    assert_eq!(column(&held, "state"), ["held"]);
    let id = held[0]["id"].to_string();
    laboratory.run(&["release", &id, "--reason", "the authority shall decide"]);
    let rejected = follow_to_the_end(&laboratory, &id);
    assert_eq!(rejected["state"], "rejected");
    assert!(rejected["receipt"].is_null(), "a rejected report has no authority id");
    assert!(words_of_the_authority(&rejected), "{rejected}");
    corrected(&laboratory, &rejected, &write(&laboratory, "right.json", &good));

    let failing = DocumentBuilder::new(2).family("Muster-Fehler").xml();
    let failing = write(&laboratory, "failing.xml", &failing);
    let output = laboratory.run(&["send", failing.to_str().unwrap(), "--wait", "--timeout", "60s"]);
    assert_eq!(output.status.code(), Some(1), "a failed report needs a person");
    let failed = objects(&output).remove(0);
    assert_eq!(failed["state"], "failed");
    assert!(failed["receipt"].is_string(), "a failed report existed at the authority");
    assert!(words_of_the_authority(&failed), "{failed}");
    let right = DocumentBuilder::new(2).family("Muster").xml();
    corrected(&laboratory, &failed, &write(&laboratory, "right.xml", &right));

    let sound = laboratory.must(&["journal", "verify"]);
    println!("journal: {}", sound[0]);
}

fn follow_to_the_end(laboratory: &Laboratory, id: &str) -> Value {
    loop {
        laboratory.run(&["follow", "--once"]);
        let shown = objects(&laboratory.run(&["show", id])).remove(0);
        let moving = ["queued", "sending", "unknown", "in-progress"];
        if !moving.contains(&shown["state"].as_str().unwrap()) {
            return shown;
        }
    }
}

fn words_of_the_authority(record: &Value) -> bool {
    record["issues"].as_array().unwrap().iter().any(|issue| {
        issue["source"] == "authority"
            && issue["text"].as_str().is_some_and(|text| !text.is_empty())
    })
}

fn corrected(laboratory: &Laboratory, before: &Value, file: &std::path::Path) {
    let id = before["id"].to_string();
    let file = file.to_str().unwrap();
    let done = laboratory.must(&["resubmit", &id, "--with", file, "--wait", "--timeout", "60s"]);
    assert_eq!(column(&done, "state"), ["completed"]);
    assert_eq!(done[0]["corrects"], before["id"], "linked to its predecessor");
    assert_ne!(done[0]["identifier"], before["identifier"]);
    let former = objects(&laboratory.run(&["show", &id])).remove(0);
    assert_eq!(former["state"], "superseded");
}
