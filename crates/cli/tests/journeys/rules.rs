//! `labcourier rules`: with no identity, no journal and no authority.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::place::{PROGRAM, Place, report};

/// Runs `labcourier rules …` with a profile's folder of its own.
fn rules(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let done = Command::new(PROGRAM)
        .args(["--json", "--file-names", "--profile"])
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

const ENTRY: &str = "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-elm-document-strict";

/// What every report is held against, with one rule.
fn entry(version: &str, expression: &str) -> Value {
    let mut entry = profile();
    entry["url"] = json!(ENTRY);
    entry["version"] = json!(version);
    entry["type"] = json!("Bundle");
    entry["snapshot"]["element"] = json!([
        { "id": "Bundle", "path": "Bundle", "min": 0, "max": "*", "constraint": [{
            "key": "own-2", "severity": "error", "human": "Signed only.",
            "expression": expression
        }] }
    ]);
    entry
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

/// For one call a definition with a flaw is used as far as it goes, and other resources stand in
/// nobody's way.
#[test]
fn what_cannot_be_used_of_a_definition_for_one_call_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &Value| {
        std::fs::write(folder.path().join(name), content.to_string()).unwrap();
    };
    let mut flawed = profile();
    flawed["snapshot"]["element"][1]["maxLength"] = json!("many");
    write("flawed.json", &flawed);
    let kind = "SearchParameter";
    write("search.json", &json!({ "resourceType": kind, "url": "http://rules.test/search" }));
    write("a.json", &json!({ "resourceType": "Patient", "gender": "male" }));
    let asked = ["validate", "a.json", "--profile", "http://rules.test/named"];
    let packages = ["--package", "flawed.json", "--package", "search.json"];
    let (code, out, told) = rules(folder.path(), &[&asked[..], &packages].concat());
    assert_eq!(code, 1, "{told}");
    assert!(out.contains("rule-missing"), "{out}");
    for part in ["http://rules.test/named|1.0.0 (snapshot.element[1].maxLength)", "search.json"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // Whoever imports it is told that it is refused.
    assert_eq!(rules(folder.path(), &["import", "flawed.json"]).0, 2);
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
    // A file without an end is read as far as a package may be long.
    #[cfg(unix)]
    assert_eq!(code(&["import", "/dev/zero"]), 2);
    assert_eq!(code(&["list"]), 0);
    assert_eq!(code(&["show"]), 0);
}

/// A definition that builds on itself is refused by its name, and what could be imported before can
/// be used as before.
#[test]
fn a_broken_definition_is_named_and_nothing_changes() {
    let folder = tempfile::tempdir().unwrap();
    let write = |definition: &Value| {
        std::fs::write(folder.path().join("profile.json"), definition.to_string()).unwrap();
    };
    write(&profile());
    let run = |arguments: &[&str]| rules(folder.path(), arguments);
    assert_eq!(run(&["import", "profile.json"]).0, 0);
    let before = run(&["list"]).1;
    let mut circular = profile();
    circular["baseDefinition"] = circular["url"].clone();
    write(&circular);
    let (code, _, told) = run(&["import", "profile.json"]);
    assert_eq!(code, 2, "{told}");
    for part in ["http://rules.test/named in profile.json", "builds on itself"] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(run(&["list"]).1, before);
}

/// What is in use was held apart, and that was damaged: it can be removed all the same.
#[test]
fn a_package_in_use_that_is_damaged_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("profile.json"), profile().to_string()).unwrap();
    let run = |arguments: &[&str]| rules(folder.path(), arguments);
    let label = "http://rules.test/named@1.0.0";
    assert_eq!(run(&["import", "profile.json"]).0, 0);
    assert_eq!(run(&["use", label]).0, 0);
    let store = folder.path().join("profile/rules");
    let held = std::fs::read_dir(&store).unwrap().flatten().find(|of| of.path().is_dir()).unwrap();
    std::fs::remove_dir_all(held.path()).unwrap();
    let (code, out, told) = run(&["remove", label]);
    assert_eq!(code, 0, "{out} {told}");
    assert_eq!(run(&["show"]).0, 0);
}

#[test]
fn rules_in_use_hold_a_report_and_no_authority_is_asked() {
    let place = Place::empty();
    place
        .run(&["init", "--endpoint", "https://localhost:9/v1/fhir", "--vault", "passphrase"])
        .ends(0);
    let file = place.write("report.json", report(1).json());
    let check = |code| place.json(code, &["check", &file]).remove(0);
    assert_eq!(check(0)["issues"], json!([]));
    let url = ENTRY;
    let package = place.write("entry.json", entry("1.0.0", "signature.exists()").to_string());
    place.run(&["rules", "import", &package]).ends(0);
    assert_eq!(check(0)["issues"], json!([]), "imported is not in use");
    place.run(&["rules", "use", &format!("{url}@1.0.0")]).ends(0);
    let issue = &check(1)["issues"][0];
    assert_eq!((&issue["rule"], &issue["severity"]), (&json!("own-2"), &json!("error")));
    let sent = &place.json(1, &["send", &file])[0];
    assert_eq!(sent["state"], "held");
    // The version is kept with the report.
    let issues = sent["issues"].as_array().unwrap();
    let applied = issues.iter().find(|issue| issue["code"] == "rules-applied");
    let text = applied.map(|issue| issue["text"].as_str().unwrap_or_default());
    assert!(text.is_some_and(|text| text.contains(&format!("{url}@1.0.0"))), "{issues:?}");
    let removed = place.run(&["rules", "remove", &format!("{url}@1.0.0")]).ends(0);
    removed.says("No rules are in use any more");
    assert_eq!(place.json(0, &["rules", "show"]).len(), 0);
}

/// Where reports would be held that are not held now, nothing changes before somebody says so; and
/// an import alone changes nothing at all.
#[test]
fn what_other_rules_would_change_is_said_before_they_are_used() {
    let place = Place::ready();
    let sent = place.write("report.json", report(1).json());
    place.run(&["send", &sent, "--wait"]).ends(0);
    let import = |version: &str, expression: &str| {
        let file = place.write("entry.json", entry(version, expression).to_string());
        place.run(&["rules", "import", &file]).ends(0)
    };
    import("1.0.0", "type = 'document'").says_not("stays in use");
    import("2.0.0", "signature.exists()");
    let (first, second) = (format!("{ENTRY}@1.0.0"), format!("{ENTRY}@2.0.0"));
    let used = || place.json(0, &["rules", "show"])[0]["version"].clone();

    let told = &place.json(0, &["rules", "use", &first])[0];
    assert_eq!((&told["version"], &told["inUse"]), (&json!("1.0.0"), &json!(true)));
    assert_eq!((&told["change"]["looked"], &told["change"]["refused"]), (&json!(1), &json!(0)));
    let told = &place.json(1, &["rules", "use", &second])[0];
    assert_eq!(told["name"], Value::Null);
    let change = &told["change"];
    assert_eq!((&change["inUse"], &change["refused"]), (&json!(first), &json!(1)));
    assert_eq!((&change["reports"], &change["accepted"]), (&json!([1]), &json!(0)));
    let reason = &change["reasons"][0];
    assert_eq!((&reason["issue"]["rule"], &reason["reports"]), (&json!("own-2"), &json!(1)));
    assert!(reason["issue"]["text"].as_str().is_some_and(|text| text.contains("Signed only.")));
    assert_eq!(used(), "1.0.0");
    place
        .run(&["rules", "use", &second])
        .ends(1)
        .says("Of the last 1 report, 1 would be held")
        .says("Signed only.")
        .says("--confirm");
    place.run(&["rules", "use", &second, "--confirm"]).ends(0);
    assert_eq!(used(), "2.0.0");

    // The same version with other content, as builds of a guide have it.
    let next = place.write("next.json", report(2).json());
    place.run(&["check", &next]).ends(1);
    import("2.0.0", "type = 'document'").says("stays in use as it was");
    place.run(&["check", &next]).ends(1);
    place.run(&["rules", "use", &second]).ends(0).says("1 would pass");
    place.run(&["check", &next]).ends(0);

    // Nobody needs the passphrase to choose rules; the reports are not looked at then.
    let (code, out, _) = rules(place.folder.path(), &["use", &first]);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &told["change"], &told["version"]), (0, &Value::Null, &json!("1.0.0")));
}

/// The suggestion says which bytes give way to what; with them the finding is gone.
#[test]
fn a_mechanical_cure_is_suggested_and_cures() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("named.json"), profile().to_string()).unwrap();
    let coded = |system: &str| {
        format!(
            r#"{{"resourceType":"Patient","name":[{{"family":"A"}}],"gender":"other","meta":{{"tag":[{{"system":"{system}","code":"x"}}]}}}}"#
        )
    };
    let xml = r#"<Patient xmlns="http://hl7.org/fhir"><meta><tag><system value='https://loinc.org'/><code value="x"/></tag></meta><name><family value="A"/></name><gender value="other"/></Patient>"#;
    for (file, text) in [("a.json", coded("https://loinc.org")), ("a.xml", xml.to_owned())] {
        std::fs::write(folder.join(file), &text).unwrap();
        let validate = || {
            let (code, out, err) = rules(folder, &["validate", file, "--package", "named.json"]);
            let told: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out} {err}"));
            (code, told["issues"].as_array().unwrap().clone())
        };
        let (code, issues) = validate();
        assert_eq!((code, issues.len()), (1, 1), "{issues:?}");
        let cure = &issues[0]["suggestion"];
        assert_eq!(cure["expression"], "Patient.meta.tag[0].system");
        assert_eq!(cure["value"], "http://loinc.org");
        let place = |name: &str| usize::try_from(cure[name].as_u64().unwrap()).unwrap();
        let mut cured = text;
        cured.replace_range(place("start")..place("end"), cure["text"].as_str().unwrap());
        std::fs::write(folder.join(file), cured).unwrap();
        assert_eq!(validate(), (0, Vec::new()));
    }
}
