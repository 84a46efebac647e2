//! The documents of the kit are valid, the same in both encodings, and different for each seed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use fhir::{Format, Limits, Tree};
use testkit::{Disease, DocumentBuilder};

fn read(text: &str, format: Format) -> Tree {
    Tree::read(text.as_bytes(), format, &Limits::default()).unwrap()
}

#[test]
fn valid_and_equal_in_both_encodings() {
    for seed in 0..40 {
        let document = DocumentBuilder::new(seed);
        let json = read(&document.json(), Format::Json);
        let xml = read(&document.xml(), Format::Xml);
        assert_eq!(json.check(), [], "seed {seed}");
        assert_eq!(xml.check(), [], "seed {seed}");
        assert!(json.root().same_as(xml.root()), "seed {seed}");
        assert_eq!(json.root().text("identifier.value"), Some(document.identifier_value()));
    }
}

#[test]
fn every_reference_resolves_inside() {
    let tree = read(&DocumentBuilder::new(3).json(), Format::Json);
    let urls: Vec<&str> =
        tree.root().all("entry").filter_map(|entry| entry.text("fullUrl")).collect();
    assert_eq!(urls.len(), 9);
    let json = DocumentBuilder::new(3).json();
    for part in json.split("\"reference\": \"").skip(1) {
        let target = part.split('"').next().unwrap();
        assert!(urls.iter().any(|url| url.ends_with(target)), "{target}");
    }
}

#[test]
fn seeds_differ_and_settings_show() {
    let all: HashSet<String> = (0..200).map(|seed| DocumentBuilder::new(seed).json()).collect();
    assert_eq!(all.len(), 200);
    assert_eq!(DocumentBuilder::new(5).xml(), DocumentBuilder::new(5).xml());
    let set = DocumentBuilder::new(1)
        .disease(Disease::ALL[3])
        .identifier("urn:uuid:x")
        .timestamp("2025-01-02T03:04:05Z")
        .language(Some("fr-CH"))
        .family("<b>Müller & \"Co\"</b>");
    let (json, xml) = (read(&set.json(), Format::Json), read(&set.xml(), Format::Xml));
    assert!(json.root().same_as(xml.root()));
    assert_eq!(json.root().text("timestamp"), Some("2025-01-02T03:04:05Z"));
    assert_eq!(json.root().text("entry.resource.language"), Some("fr-CH"));
    assert!(set.json().contains("6574-8") && set.language(None).json().contains("\"Composition\""));
}

#[test]
fn the_collection_is_sound_varied_and_the_same_in_both_encodings() {
    let all = testkit::collection();
    assert!(all.len() >= 30, "{}", all.len());
    let names: HashSet<&str> = all.iter().map(|report| report.name).collect();
    assert_eq!(names.len(), all.len());
    for report in &all {
        let json = read(&report.json, Format::Json);
        let xml = read(&report.xml, Format::Xml);
        assert_eq!(json.check(), [], "{}", report.name);
        assert_eq!(xml.check(), [], "{}", report.name);
        assert!(json.root().same_as(xml.root()), "{}", report.name);
    }
    let whole: String = all.iter().map(|report| report.json.as_str()).collect();
    for form in ["CodeableConcept", "Quantity", "Ratio", "Range", "String", "Integer", "Boolean"] {
        assert!(whole.contains(&format!("\"value{form}\"")), "{form}");
    }
    for part in ["\"contained\"", "\"hasMember\"", "\"component\"", "\"_birthDate\"", "fr-", "it-"]
    {
        assert!(whole.contains(part), "{part}");
    }
}
