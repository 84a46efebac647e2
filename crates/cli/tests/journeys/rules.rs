//! `labcourier rules`: with no identity, no journal and no authority.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::place::PROGRAM;

/// Runs `labcourier rules …` with a profile's folder of its own.
fn rules(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let done = Command::new(PROGRAM)
        .args(["--json", "--profile"])
        .arg(folder.join("profile"))
        .arg("rules")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
}

fn profile() -> Value {
    json!({
        "resourceType": "StructureDefinition", "url": "http://rules.test/named", "version": "1.0.0",
        "kind": "resource", "type": "Patient", "derivation": "constraint",
        "snapshot": { "element": [
            { "id": "Patient", "path": "Patient", "min": 0, "max": "*", "constraint": [{
                "key": "own-1", "severity": "warning", "human": "A gender is expected.",
                "expression": "gender.exists()"
            }] },
            { "id": "Patient.name", "path": "Patient.name", "min": 1, "max": "*" }
        ] }
    })
}

#[test]
fn a_definition_for_one_call_decides() {
    let folder = tempfile::tempdir().unwrap();
    let write =
        |name: &str, content: &str| std::fs::write(folder.path().join(name), content).unwrap();
    write("profile.json", &profile().to_string());
    write("good.json", r#"{"resourceType":"Patient","gender":"male","name":[{"family":"A"}]}"#);
    write(
        "bad.xml",
        "<Patient xmlns=\"http://hl7.org/fhir\">\n  <birthDate value=\"x\"/>\n</Patient>",
    );
    write("broken.json", "{");
    let asked = ["--profile", "http://rules.test/named", "--package", "profile.json"];
    let validate = |file: &str| rules(folder.path(), &[&["validate", file][..], &asked].concat());
    let (code, out, err) = validate("good.json");
    assert_eq!((code, out.trim()), (0, r#"{"file":"good.json","issues":[]}"#), "{err}");
    let (code, out, _) = validate("bad.xml");
    assert_eq!(code, 1);
    let told: Value = serde_json::from_str(&out).unwrap();
    let issues = told["issues"].as_array().unwrap();
    let find = |code: &str| issues.iter().find(|issue| issue["code"] == code).unwrap();
    assert_eq!(find("rule-missing")["severity"], "error");
    assert_eq!(find("rule-missing")["expression"], "Patient");
    assert_eq!(find("rule-missing")["source"], "rules");
    let own = find("rule-invariant");
    assert_eq!((&own["rule"], &own["severity"]), (&json!("own-1"), &json!("warning")));
    assert!(own["text"].as_str().unwrap().contains("A gender is expected."));
    assert_eq!(
        (&find("invalid-value")["line"], &find("invalid-value")["column"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(validate("broken.json").0, 1);
    assert_eq!(validate("nowhere.json").0, 1);
}

#[test]
fn wrong_usage_and_unreadable_packages_end_with_2() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.json"), r#"{"resourceType":"Patient"}"#).unwrap();
    std::fs::write(folder.path().join("a.tgz"), b"\x1f\x8b\x08damaged").unwrap();
    let code = |arguments: &[&str]| rules(folder.path(), arguments).0;
    assert_eq!(code(&["validate"]), 2);
    assert_eq!(code(&["validate", "a.json"]), 2, "no rules at all");
    assert_eq!(code(&["validate", "a.json", "--package", "a.tgz"]), 2);
    assert_eq!(code(&["validate", "a.json", "--mode", "other"]), 2);
    assert_eq!(code(&["import", "a.tgz"]), 2);
    assert_eq!(code(&["use", "nobody@1.0.0"]), 2);
    assert_eq!(code(&["remove", "nobody@1.0.0"]), 2);
    assert_eq!(code(&["list"]), 0);
    assert_eq!(code(&["show"]), 0);
}
