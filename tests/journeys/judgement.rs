//! Laboratory and authority judge a report alike: what the laboratory holds the authority refuses,
//! and what it lets pass the authority accepts. The real program checks the files; the real
//! authority, which demands all that the specification does, is sent what would have left.

use std::collections::BTreeMap;

use client::{Authority as _, Fault, HttpAuthority};
use exchange::wrap;
use fhir::{Format, Limits, Tree};
use journeys::outage::{endpoint, patient, pilot};
use journeys::{Authority, Laboratory, objects};
use testkit::DocumentBuilder;

const IDENTIFIER: &str = "urn:uuid:2a3c5f0e-8d1b-4c77-9d54-0a1b2c3d4e5f";

fn tree(text: &str) -> Tree {
    Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap()
}

/// Ready envelopes, each with one thing changed, and whether it may be sent.
const ENVELOPES: &[(&str, &str, &str, bool)] = &[
    ("as it is", "", "", true),
    ("document profile", "StructureDefinition/ch-elm-document\"", "StructureDefinition/x\"", true),
    ("european profile", "Bundle-eu-lab", "Bundle-x", true),
    ("no language", "\"language\":\"de-CH\",\"url\"", "\"url\"", false),
    (
        "language in words",
        "\"language\":\"de-CH\",\"url\"",
        "\"language\":\"german\",\"url\"",
        false,
    ),
    (
        "language of POSIX",
        "\"language\":\"de-CH\",\"url\"",
        "\"language\":\"de_CH\",\"url\"",
        false,
    ),
    ("region in digits", "\"language\":\"de-CH\",\"url\"", "\"language\":\"es-419\",\"url\"", true),
    ("status", "\"status\":\"current\"", "\"status\":\"superseded\"", false),
    (
        "docStatus",
        "\"status\":\"current\"",
        "\"docStatus\":\"final\",\"status\":\"current\"",
        false,
    ),
    (
        "relatesTo",
        "\"status\":\"current\"",
        "\"relatesTo\":[{\"code\":\"replaces\",\"target\":{\"display\":\"x\"}}],\"status\":\"current\"",
        false,
    ),
    (
        "modifier",
        "\"status\":\"current\"",
        "\"modifierExtension\":[{\"url\":\"urn:x\",\"valueCode\":\"x\"}],\"status\":\"current\"",
        false,
    ),
    (
        "envelope system",
        "\"identifier\":[{\"system\":\"urn:ietf:rfc:3986\"",
        "\"identifier\":[{\"system\":\"urn:oid:1.2\"",
        false,
    ),
    ("envelope no urn", "\"value\":\"urn:uuid:2a3c5f0e", "\"value\":\"2a3c5f0e", false),
    ("envelope no uuid", "2a3c5f0e-8d1b", "2a3c5f0e-8d1t", true),
];

/// Documents, each with one thing changed, and whether it may be sent.
const DOCUMENTS: &[(&str, &str, &str, bool)] = &[
    ("as it is", "", "", true),
    ("system", "\"urn:ietf:rfc:3986\"", "\"urn:oid:1.2\"", false),
    ("no urn", "\"urn:uuid:", "\"urn-uuid-", false),
    ("a status", "\"final\"", "\"finished\"", false),
    ("an element", "\"timestamp\"", "\"timestampp\"", false),
    ("first entry", "\"resourceType\": \"Composition\"", "\"resourceType\": \"Basic\"", false),
];

/// The files by name, and whether each may be sent.
fn files() -> BTreeMap<String, (String, bool)> {
    let mut files = BTreeMap::new();
    let changed = |text: &str, name: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{name}: {from} is not there");
        text.replacen(from, to, usize::from(!from.is_empty()))
    };
    for (seed, (name, from, to, may)) in (8100..).zip(ENVELOPES) {
        let document = DocumentBuilder::new(seed).json();
        let wrapped = wrap(&tree(&document), IDENTIFIER, "de-CH").unwrap();
        let text = String::from_utf8(wrapped.body).unwrap();
        files.insert(format!("envelope {name}.json"), (changed(&text, name, from, to), *may));
    }
    for (seed, (name, from, to, may)) in (8200..).zip(DOCUMENTS) {
        let text = DocumentBuilder::new(seed).json();
        files.insert(format!("document {name}.json"), (changed(&text, name, from, to), *may));
    }
    files
}

#[test]
fn client_and_authority_judge_reports_by_the_same_rules() {
    let data = tempfile::tempdir().unwrap();
    Authority::init(data.path());
    let authority = Authority::serve(data.path(), &[]);
    let laboratory = Laboratory::at(&authority.base, data.path());
    let files = files();
    let folder = laboratory.folder().join("reports");
    std::fs::create_dir(&folder).unwrap();
    for (name, (text, _)) in &files {
        std::fs::write(folder.join(name), text).unwrap();
    }

    let checked = objects(&laboratory.run(&["check", folder.to_str().unwrap()]));
    assert_eq!(checked.len(), files.len());
    for one in &checked {
        let name = one["file"].as_str().unwrap();
        let issues = one["issues"].as_array().unwrap();
        let held = issues.iter().any(|issue| issue["severity"] == "error");
        assert_eq!(held, !files[name].1, "{name}: {issues:?}");
    }

    let ca = std::fs::read_to_string(authority.ca()).unwrap();
    let endpoint = endpoint(&authority.base, &ca);
    let identity = pilot(data.path());
    let client = HttpAuthority::with_limits(&endpoint, Some(&identity), patient()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for (name, (text, may)) in &files {
            // A ready envelope keeps the identifier that it brings along.
            let read = tree(text);
            let own = exchange::envelope_of(&read).and_then(|view| view.identifier);
            let wrapped = wrap(&read, own.unwrap_or(IDENTIFIER), "de-CH").unwrap();
            match client.submit(&wrapped).await {
                Ok(_) => assert!(may, "{name} is accepted, and the laboratory holds it"),
                Err(Fault::Refused { answer, .. }) => {
                    assert!(!may, "{name} is refused, and the laboratory sends it: {answer:?}");
                }
                Err(other) => panic!("{name}: {other:?}"),
            }
        }
    });
    println!("{} reports, judged alike", files.len());
}
