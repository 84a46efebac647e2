//! Packages of rules as they are handed over: incomplete, broken, outdated, or FHIR's own alone.

use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::place::PROGRAM;

const PATIENT: &str = "http://hl7.org/fhir/StructureDefinition/Patient";

/// Runs `labcourier rules …` as people do, with a profile's folder of its own.
fn rules(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let done = Command::new(PROGRAM)
        .arg("--profile")
        .arg(folder.join("profile"))
        .arg("rules")
        .args(arguments)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
}

/// Writes a package in npm layout.
fn write(folder: &Path, file: &str, manifest: &Value, definitions: &[Value]) {
    let gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let mut archive = tar::Builder::new(gzip);
    let mut add = |name: &str, content: &Value| {
        let content = content.to_string();
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, format!("package/{name}"), content.as_bytes()).unwrap();
    };
    add("package.json", manifest);
    for (at, definition) in definitions.iter().enumerate() {
        add(&format!("{at}.json"), definition);
    }
    let bytes = archive.into_inner().unwrap().finish().unwrap();
    std::fs::write(folder.join(file), bytes).unwrap();
}

fn manifest(name: &str, version: &str, dependencies: &Value) -> Value {
    json!({ "name": name, "version": version, "fhirVersions": ["4.0.1"],
        "dependencies": dependencies })
}

/// A definition of Patient that demands so many names.
fn patient(url: &str, names: u32) -> Value {
    json!({
        "resourceType": "StructureDefinition", "url": url, "version": "4.0.1", "kind": "resource",
        "type": "Patient", "derivation": "specialization",
        "snapshot": { "element": [
            { "id": "Patient", "path": "Patient", "min": 0, "max": "*" },
            { "id": "Patient.name", "path": "Patient.name", "min": names, "max": "*" }
        ] }
    })
}

#[test]
fn a_missing_dependency_is_said_and_keeps_nobody_from_going_on() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| rules(folder.path(), arguments);
    let wants = json!({ "hl7.fhir.r4.core": "4.0.1", "nobody.has.this": "1.0.x" });
    let own = [patient("http://rules.test/own", 1)];
    write(folder.path(), "own.tgz", &manifest("own.rules", "1.0.0", &wants), &own);
    let core = [patient(PATIENT, 1)];
    let told = manifest("hl7.fhir.r4.core", "4.0.0", &json!({}));
    write(folder.path(), "core.tgz", &told, &core);
    let missing = ["hl7.fhir.r4.core 4.0.1", "nobody.has.this 1.0.x"];
    for arguments in [&["import", "own.tgz"][..], &["use", "own.rules@1.0.0"]] {
        let (code, _, told) = run(arguments);
        assert_eq!(code, 0, "{told}");
        assert!(missing.iter().all(|name| told.contains(name)), "{arguments:?}: {told}");
    }
    // Another version stands in, and the package in use stays as it was put to use.
    let (code, _, told) = run(&["import", "core.tgz"]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("4.0.0 stands in for hl7.fhir.r4.core 4.0.1"), "{told}");
    for arguments in ["list", "show"] {
        let (code, _, told) = run(&[arguments]);
        assert_eq!(code, 0, "{told}");
        assert!(told.contains("own.rules@1.0.0 stays in use as it was put to use"), "{told}");
    }
    assert_eq!(run(&["use", "own.rules@1.0.0"]).0, 0);
    let (_, _, told) = run(&["list"]);
    assert_eq!(told, "");
}

#[test]
fn fhir_itself_can_be_used_alone() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| rules(folder.path(), arguments);
    let core = manifest("hl7.fhir.r4.core", "4.0.1", &Value::Null);
    write(folder.path(), "core.tgz", &core, &[patient(PATIENT, 1)]);
    assert_eq!(run(&["import", "core.tgz"]).0, 0);
    let (code, out, told) = run(&["use", "hl7.fhir.r4.core@4.0.1"]);
    assert_eq!((code, told.as_str()), (0, ""), "{out}");
    std::fs::write(
        folder.path().join("bare.json"),
        r#"{"resourceType":"Patient","gender":"male"}"#,
    )
    .unwrap();
    let (code, out, told) = run(&["validate", "bare.json"]);
    assert_eq!(code, 1, "{out}{told}");
    assert!(run(&["show"]).1.contains("hl7.fhir.r4.core@4.0.1"));
}

#[test]
fn a_broken_package_is_refused_with_what_is_wrong_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| rules(folder.path(), arguments);
    let core = || manifest("hl7.fhir.r4.core", "4.0.1", &json!({}));
    let listed = manifest("own.rules", "1.0.0", &json!(["hl7.fhir.r4.core"]));
    write(folder.path(), "listed.tgz", &listed, &[patient(PATIENT, 1)]);
    let mut other = core();
    other["fhirVersions"] = json!("5.0.0");
    write(folder.path(), "other.tgz", &other, &[patient(PATIENT, 1)]);
    let mut orphan = patient(PATIENT, 1);
    orphan["snapshot"]["element"][1]["path"] = json!("Patient.contact.name");
    write(folder.path(), "orphan.tgz", &core(), &[orphan]);
    for (file, reason) in [
        ("listed.tgz", "its dependencies are not listed as name and version"),
        ("other.tgz", "for another release of FHIR"),
        ("orphan.tgz", "snapshot.element[1].path"),
    ] {
        let (code, _, told) = run(&["import", file]);
        assert_eq!(code, 2, "{file}: {told}");
        assert!(told.contains(reason), "{file}: {told}");
    }
    assert_eq!(run(&["list"]).1, "");
}
