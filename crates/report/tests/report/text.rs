//! A small sound document, and ways to damage it.

use fhir::{Finding, Format, Instant, Limits, Tree};

/// 2025-07-15T12:00:00Z, six days after the document below.
pub(crate) fn now() -> Instant {
    Instant::parse("2025-07-15T12:00:00Z").unwrap()
}

/// A document that breaks no rule.
pub(crate) const SOUND: &str = r##"{
  "resourceType": "Bundle",
  "language": "de-CH",
  "identifier": {"system": "urn:ietf:rfc:3986", "value": "urn:uuid:2f1c7a52-90c4-4c1e-8a3e-55d1c0f5a001"},
  "type": "document",
  "timestamp": "2025-07-09T10:00:00+02:00",
  "entry": [
    {"fullUrl": "http://lab.example/r4/Composition/c",
     "resource": {"resourceType": "Composition", "id": "c", "status": "final",
       "type": {"coding": [{"system": "http://loinc.org", "code": "11502-2"}]},
       "subject": {"reference": "Patient/p"}, "date": "2025-07-09T10:00:00+02:00",
       "author": [{"reference": "Organization/o"}], "title": "Report",
       "section": [{"entry": [{"reference": "Observation/x"}]}]}},
    {"fullUrl": "http://lab.example/r4/Patient/p",
     "resource": {"resourceType": "Patient", "id": "p",
       "name": [{"family": "Muster", "given": ["Mia", "Eva"]}], "birthDate": "1990-02-03"}},
    {"fullUrl": "http://lab.example/r4/Observation/x",
     "resource": {"resourceType": "Observation", "id": "x", "status": "final",
       "code": {"coding": [{"system": "http://loinc.org", "code": "697-3",
         "display": "Neisseria gonorrhoeae [Presence]"}]},
       "subject": {"reference": "Patient/p"}, "effectiveDateTime": "2025-07-08T09:00:00+02:00",
       "valueCodeableConcept": {"coding": [{"system": "http://snomed.info/sct", "code": "10828004",
         "display": "Positive (qualifier value)"}]}}},
    {"fullUrl": "http://lab.example/r4/Organization/o",
     "resource": {"resourceType": "Organization", "id": "o", "name": "Labor Muster"}}
  ]
}"##;

/// The sound document with each text replaced that must stand in it.
pub(crate) fn with(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(SOUND.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from} is not in the document");
        text.replace(from, to)
    })
}

pub(crate) fn read(text: &str) -> Tree {
    let format = if text.starts_with('<') { Format::Xml } else { Format::Json };
    Tree::read(text.as_bytes(), format, &Limits::default()).unwrap()
}

/// Findings of our rules for a text.
pub(crate) fn check(text: &str) -> Vec<Finding> {
    report::check(read(text).root(), now())
}
