//! The authority's own packages and samples, where they lie beside the workspace; ignored
//! elsewhere.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fhir::{Finding, Format, Instant, Limits, Severity, Tree};
use rules::{Asked, Mode, Package, PackageLimits, RuleSet, Store};
use serde_json::{Map, Value};

pub(crate) const DOCUMENT: &str =
    "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-elm-document-strict";

pub(crate) fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

/// The whole set. It is imported once for each build of these tests, and loaded in each of them.
fn set() -> &'static RuleSet {
    static SET: OnceLock<RuleSet> = OnceLock::new();
    SET.get_or_init(|| {
        let program = std::env::current_exe().unwrap();
        let built = std::fs::metadata(program).unwrap().modified().unwrap();
        let built = built.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rules-of-published");
        let store = Store::at(all.join(built.to_string()));
        for file in files(&shared().join("packages"), &["tgz"]) {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let known = store
                .list()
                .unwrap()
                .into_iter()
                .any(|of| format!("{}-{}", of.manifest.name, of.manifest.version) == name);
            if !known {
                let bytes = std::fs::read(&file).unwrap();
                let package = Package::read(&bytes, &PackageLimits::default()).unwrap();
                store.import(&package, String::new()).unwrap();
            }
        }
        for old in std::fs::read_dir(&all).unwrap().flatten() {
            if old.file_name().to_string_lossy() != built.to_string() {
                let _ = std::fs::remove_dir_all(old.path());
            }
        }
        store.load(Some("ch.fhir.ig.ch-elm@1.14.0-cibuild")).unwrap()
    })
}

fn files(folder: &Path, kinds: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|end| kinds.iter().any(|kind| end == *kind)))
        .collect();
    files.sort();
    files
}

pub(crate) fn found_in(bytes: &[u8], profile: &str) -> Vec<Finding> {
    let tree = Tree::read(bytes, Format::sniff(bytes).unwrap(), &Limits::default()).unwrap();
    let now = Instant::parse("2026-04-20T00:00:00Z").unwrap();
    let asked = Asked { profiles: &[profile.to_owned()], mode: Mode::Authority, now };
    set().validate(&tree, &asked)
}

pub(crate) fn errors(findings: &[Finding]) -> Vec<String> {
    let errors = findings.iter().filter(|of| of.severity == Severity::Error);
    errors.map(|of| format!("{} {} {:?}", of.code, of.expression, of.params)).collect()
}

#[published::needs("packages")]
#[test]
fn every_published_sample_is_valid() {
    let corpus = shared().join("corpus");
    let mut count = 0;
    for folder in ["documents/json", "documents/xml", "documents-1.14"] {
        for file in files(&corpus.join(folder), &["json", "xml"]) {
            let found = found_in(&std::fs::read(&file).unwrap(), DOCUMENT);
            assert_eq!(errors(&found), [""; 0], "{}", file.display());
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

#[published::needs("packages")]
#[test]
fn invalid_samples_show_the_named_rules() {
    let folder = shared().join("corpus/invalid");
    let expected = std::fs::read(folder.join("expected.json")).unwrap();
    let expected: Vec<Value> = serde_json::from_slice(&expected).unwrap();
    assert!(!expected.is_empty());
    for case in expected {
        let file = case["file"].as_str().unwrap();
        let found =
            found_in(&std::fs::read(folder.join(file)).unwrap(), case["profile"].as_str().unwrap());
        let named = |severity: Severity| -> Vec<&str> {
            let of = found.iter().filter(|of| of.severity == severity);
            of.filter_map(|of| of.params.iter().find(|(name, _)| name == "rule"))
                .map(|(_, rule)| rule.as_str())
                .collect()
        };
        assert_eq!(errors(&found).is_empty(), case["expect"]["errors"] == 0, "{file}");
        for (kind, severity) in
            [("error_rules", Severity::Error), ("warning_rules", Severity::Warning)]
        {
            for rule in case["expect"][kind].as_array().into_iter().flatten() {
                assert!(named(severity).contains(&rule.as_str().unwrap()), "{file}: {rule}");
            }
        }
    }
}

/// Changes that no valid report has: where, what, and what must be found.
#[published::needs("packages")]
#[test]
fn what_breaks_a_sample_is_found() {
    let file = shared().join("corpus/documents-1.14/Bundle-11Doc-Malaria.json");
    let sample: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let entry = |kind: &str| {
        let entries = sample["entry"].as_array().unwrap();
        entries.iter().position(|entry| entry["resource"]["resourceType"] == kind).unwrap()
    };
    let of = |kind: &str, path: &str| format!("/entry/{}/resource{path}", entry(kind));
    let mut missed = Vec::new();
    for (place, value) in [
        ("/identifier".to_owned(), None),
        ("/timestamp".to_owned(), None),
        ("/type".to_owned(), Some(Value::from("collection"))),
        (
            "/entry/1/fullUrl".to_owned(),
            Some(Value::from("urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-0000000000ff")),
        ),
        (of("Composition", "/author"), None),
        (of("Composition", "/section"), None),
        (of("Composition", "/status"), Some(Value::from("finished"))),
        (of("Composition", "/section/0/code"), None),
        (of("Patient", "/gender"), Some(Value::from("männlich"))),
        (of("Patient", "/birthDate"), Some(Value::from("31.12.1990"))),
        (of("Patient", "/name"), None),
        (of("Observation", "/status"), None),
        (of("Observation", "/code/coding/0/code"), Some(Value::from("1-8"))),
        (of("Observation", "/specimen"), None),
        (of("Observation", "/subject"), None),
        (of("Specimen", "/type"), Some(Value::from("blood"))),
        (of("DiagnosticReport", "/result"), None),
        (of("ServiceRequest", "/requester"), None),
    ] {
        let mut mutant = sample.clone();
        let (owner, last) = place.rsplit_once('/').unwrap();
        let owner = mutant.pointer_mut(owner).and_then(Value::as_object_mut);
        let owner: &mut Map<String, Value> = owner.unwrap_or_else(|| panic!("{place}"));
        match value {
            Some(value) => drop(owner.insert(last.to_owned(), value)),
            None => assert!(owner.remove(last).is_some(), "{place}"),
        }
        if errors(&found_in(mutant.to_string().as_bytes(), DOCUMENT)).is_empty() {
            missed.push(place);
        }
    }
    assert_eq!(missed, [""; 0]);
}
