//! Every way of a report in each release of the interface, from the file to its end: completed,
//! failed with messages, rejected with messages, corrected. With real programs over mutual TLS.

use std::path::{Path, PathBuf};

use journeys::{Accepted, Authority, Laboratory, accepted, column, objects};
use serde_json::Value;
use testkit::DocumentBuilder;

/// Most bytes of a report at this authority; ours have some 20,000.
const BODY_MAX: usize = 100_000;

#[test]
fn reports_go_every_way_and_are_corrected_in_1_13_1() {
    every_way("1.13.1");
}

#[test]
fn reports_go_every_way_and_are_corrected_in_1_8_0() {
    every_way("1.8.0");
}

#[test]
fn reports_go_every_way_and_are_corrected_in_1_0_0_trialuse() {
    every_way("1.0.0-trialuse");
}

fn every_way(release: &str) {
    let folder = tempfile::tempdir().unwrap();
    Authority::init(folder.path());
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, authority::PRACTICE_RULES).unwrap();
    let body_max = BODY_MAX.to_string();
    let arguments = ["--processing-delay", "50ms", "--rules", rules.to_str().unwrap()];
    let terms = ["--release", release, "--body-max", &body_max];
    let authority = Authority::serve(folder.path(), &[&arguments[..], &terms].concat());
    let laboratory = Laboratory::speaking(&authority.base, folder.path(), release);

    completes(&laboratory);
    fails_in_processing(&laboratory);
    is_invalid(&laboratory, release);
    is_rejected(&laboratory);

    // Each delivery once: two that complete, and what was corrected with its correction. What is
    // rejected leaves no trace; an invalid document leaves one in the earlier releases.
    let there: Vec<Accepted> = accepted(folder.path());
    let failed = there.iter().filter(|one| one.status == "failed").count();
    let invalid = usize::from(release != "1.13.1");
    assert_eq!((there.len() - failed, failed), (5, 1 + invalid), "{there:?}");
    let mut states = column(&laboratory.must(&["list"]), "state");
    states.sort();
    let completed = ["completed"; 5];
    assert_eq!(states, [&completed[..], &["superseded"; 3]].concat(), "corrected is superseded");
    let sound = laboratory.must(&["journal", "verify"]);
    println!("{release}: journal: {}", sound[0]);
}

fn completes(laboratory: &Laboratory) {
    let json = write(laboratory, "a.json", &DocumentBuilder::new(1).json());
    let xml = write(laboratory, "b.xml", &DocumentBuilder::new(2).xml());
    let send = ["send", shown(&json), shown(&xml), "--wait", "--timeout", "60s"];
    let sent = laboratory.must(&send);
    assert_eq!(column(&sent, "state"), ["completed", "completed"]);
    assert!(sent.iter().all(|one| one["receipt"].is_string() && one["attempts"] == 1), "{sent:?}");
}

/// It existed at the authority, which tells why it is not stored.
fn fails_in_processing(laboratory: &Laboratory) {
    let failing = DocumentBuilder::new(3).family("Muster-Fehler").xml();
    let failing = write(laboratory, "failing.xml", &failing);
    let output = laboratory.run(&["send", shown(&failing), "--wait", "--timeout", "60s"]);
    assert_eq!(output.status.code(), Some(1), "a failed report needs a person");
    let failed = objects(&output).remove(0);
    assert_eq!(failed["state"], "failed");
    assert!(failed["receipt"].is_string());
    assert!(words_of_the_authority(&failed), "{failed}");
    let right = DocumentBuilder::new(3).family("Muster").xml();
    corrected(laboratory, &failed, &write(laboratory, "right.xml", &right));
}

/// Rejected without an id since 1.13.1; before, failed at once with an id and the messages.
fn is_invalid(laboratory: &Laboratory, release: &str) {
    let good = DocumentBuilder::new(4).json();
    let wrong = good.replacen("\"final\"", "\"finished-somehow\"", 1);
    let held = laboratory.run(&["send", shown(&write(laboratory, "wrong.json", &wrong))]);
    assert_eq!(held.status.code(), Some(1), "an error holds");
    let held = objects(&held);
    assert_eq!(column(&held, "state"), ["held"]);
    let id = held[0]["id"].to_string();
    let released = laboratory.run(&["release", &id, "--reason", "the authority shall decide"]);
    let answered = objects(&released).remove(0);
    let (state, has_receipt) = match release {
        "1.13.1" => ("rejected", false),
        _ => ("failed", true),
    };
    assert_eq!(answered["state"], state);
    assert_eq!(answered["receipt"].is_string(), has_receipt);
    assert!(words_of_the_authority(&answered), "{answered}");
    corrected(laboratory, &answered, &write(laboratory, "right.json", &good));
}

/// In every release what the authority does not even read has no id.
fn is_rejected(laboratory: &Laboratory) {
    let good = DocumentBuilder::new(5).json();
    let large = good.replacen('{', &format!("{{{}", " ".repeat(BODY_MAX)), 1);
    let large = write(laboratory, "large.json", &large);
    let output = laboratory.run(&["send", shown(&large), "--wait", "--timeout", "60s"]);
    assert_eq!(output.status.code(), Some(1), "a rejected report needs a person");
    let rejected = objects(&output).remove(0);
    assert_eq!(rejected["state"], "rejected", "{rejected}");
    assert!(rejected["receipt"].is_null());
    assert!(words_of_the_authority(&rejected), "{rejected}");
    corrected(laboratory, &rejected, &write(laboratory, "small.json", &good));
}

fn write(laboratory: &Laboratory, name: &str, text: &str) -> PathBuf {
    let file = laboratory.folder().join(name);
    std::fs::write(&file, text).unwrap();
    file
}

fn shown(file: &Path) -> &str {
    file.to_str().unwrap()
}

fn words_of_the_authority(record: &Value) -> bool {
    record["issues"].as_array().unwrap().iter().any(|issue| {
        issue["source"] == "authority"
            && issue["text"].as_str().is_some_and(|text| !text.is_empty())
    })
}

fn corrected(laboratory: &Laboratory, before: &Value, file: &Path) {
    let id = before["id"].to_string();
    let resubmit = ["resubmit", &id, "--with", shown(file), "--wait", "--timeout", "60s"];
    let done = laboratory.must(&resubmit);
    assert_eq!(column(&done, "state"), ["completed"]);
    assert_eq!(done[0]["corrects"], before["id"], "linked to its predecessor");
    assert_ne!(done[0]["identifier"], before["identifier"]);
}
