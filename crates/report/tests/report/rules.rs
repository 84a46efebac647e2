use std::collections::BTreeSet;

use fhir::{Finding, Severity};
use report::codes::CODES;

use crate::text::{SOUND, check, now, read, with};

/// The one finding of a text, as code and expression.
fn only(text: &str) -> (String, String) {
    let findings = check(text);
    assert_eq!(findings.len(), 1, "{findings:?}");
    (findings[0].code.clone(), findings[0].expression.clone())
}

fn codes(text: &str) -> Vec<String> {
    check(text).into_iter().map(|finding| finding.code).collect()
}

#[track_caller]
fn expect(changes: &[(&str, &str)], code: &str, expression: &str) {
    assert_eq!(only(&with(changes)), (code.to_owned(), expression.to_owned()));
}

/// A document without any entry.
const NO_ENTRIES: &str = r#"{"resourceType":"Bundle","type":"document",
    "timestamp":"2025-07-09T10:00:00Z", "identifier":{"system":"urn:ietf:rfc:3986",
    "value":"urn:uuid:2f1c7a52-90c4-4c1e-8a3e-55d1c0f5a001"}}"#;

#[test]
fn a_sound_document_has_no_findings() {
    assert_eq!(check(SOUND), Vec::<Finding>::new());
}

#[test]
fn shape() {
    expect(&[("\"document\"", "\"collection\"")], "bundle-type", "Bundle.type");
    expect(&[("  \"type\": \"document\",\n", "")], "bundle-type", "Bundle");
    let unnamed = with(&[("\"fullUrl\": \"http://lab.example/r4/Organization/o\",", "")]);
    assert_eq!(codes(&unnamed), ["reference-by-id-only", "full-url-missing"]);
    assert_eq!(only(NO_ENTRIES), ("entries-missing".to_owned(), "Bundle".to_owned()));
}

#[test]
fn the_first_entry_is_the_composition() {
    let text = SOUND.replacen("\"entry\": [", "\"entry\": [{\"fullUrl\": \"http://l.example/r/Patient/q\", \"resource\": {\"resourceType\": \"Patient\", \"id\": \"q\"}},", 1);
    let expected =
        ("first-entry-not-composition".to_owned(), "Bundle.entry[0].resource".to_owned());
    assert_eq!(only(&text), expected);
}

#[test]
fn entries() {
    let twice = with(&[("r4/Organization/o", "r4/Patient/p")]);
    let found = codes(&twice);
    assert!(found.contains(&"full-url-repeated".to_owned()), "{found:?}");
    let empty = SOUND.replacen("\"entry\": [", "\"entry\": [{\"fullUrl\": \"urn:x:1\"},", 1);
    assert!(codes(&empty).contains(&"entry-without-resource".to_owned()));
    let relative = with(&[("http://lab.example/r4/Organization/o", "Organization/o")]);
    let found = codes(&relative);
    assert!(found.contains(&"full-url-form".to_owned()), "{found:?}");
    let other = with(&[("Organization\", \"id\": \"o\"", "Organization\", \"id\": \"z\"")]);
    assert_eq!(codes(&other), ["full-url-other-id"]);
    // An address that is none of the type's says nothing about the id.
    for address in ["http://lab.example/r4/Party/o", "urn:lab:Organization/o"] {
        let elsewhere = other.replace("http://lab.example/r4/Organization/o", address);
        assert_ne!(elsewhere, other);
        let found = codes(&elsewhere);
        assert!(!found.contains(&"full-url-other-id".to_owned()), "{found:?}");
    }
}

#[test]
fn identifier() {
    let value = "urn:uuid:2f1c7a52-90c4-4c1e-8a3e-55d1c0f5a001";
    let at = "Bundle.identifier.value";
    expect(&[(value, "2f1c7a52-90c4-4c1e-8a3e-55d1c0f5a001")], "identifier-not-uuid", at);
    expect(&[(value, "urn:oid:1.2.3")], "identifier-not-uuid", at);
    for malformed in [
        "urn:uuid:1991332d-6012-443f-9690-9291dtb2cb3b",
        "urn:uuid:2f1c7a5290c44c1e8a3e55d1c0f5a001",
        "urn:uuid:",
        "urn:uuid:{2f1c7a52-90c4-4c1e-8a3e-55d1c0f5a001}",
    ] {
        expect(&[(value, malformed)], "identifier-uuid-malformed", at);
        assert_eq!(check(&with(&[(value, malformed)]))[0].severity, Severity::Warning);
    }
    assert!(check(&with(&[(value, &value.replace("90c4", "90C4"))])).is_empty());
    let system = "\"system\": \"urn:ietf:rfc:3986\", ";
    expect(&[(system, "")], "identifier-system-missing", "Bundle.identifier");
    expect(&[("urn:ietf:rfc:3986", "http://x")], "identifier-system", "Bundle.identifier.system");
    let absent = [("\"identifier\": {", "\"_x\": {")];
    assert!(codes(&with(&absent)).contains(&"identifier-missing".to_owned()));
    let no_value = format!(", \"value\": \"{value}\"");
    expect(&[(&no_value, "")], "identifier-value-missing", "Bundle.identifier");
}

#[test]
fn language() {
    for wrong in ["de", "de_CH", "DE-CH", "de-ch", "de-", "-CH", "deutsch", "de-CH-1996"] {
        expect(&[("de-CH", wrong)], "language-form", "Bundle.language");
    }
    for right in ["fr-CH", "gsw-CH", "es-419"] {
        assert!(check(&with(&[("de-CH", right)])).is_empty());
    }
    assert!(check(&with(&[("\"language\": \"de-CH\",", "")])).is_empty());
    let composition = [("\"id\": \"c\",", "\"id\": \"c\", \"language\": \"german\",")];
    expect(&composition, "language-form", "Bundle.entry[0].resource.language");
}

#[test]
fn subject_and_author() {
    let resource = "Bundle.entry[0].resource";
    let subject = "\"subject\": {\"reference\": \"Patient/p\"}, \"date\"";
    expect(&[(subject, "\"date\"")], "subject-missing", resource);
    let other = "\"subject\": {\"reference\": \"Organization/o\"}, \"date\"";
    expect(&[(subject, other)], "subject-not-patient", &format!("{resource}.subject"));
    expect(
        &[("\"author\": [{\"reference\": \"Organization/o\"}],", "")],
        "author-missing",
        resource,
    );
    expect(&[("[{\"reference\": \"Organization/o\"}]", "[{}]")], "author-missing", resource);
}

#[test]
fn references_to_nothing_are_errors() {
    let at = "Bundle.entry[0].resource.section[0].entry[0].reference";
    let entry = "{\"entry\": [{\"reference\": \"Observation/x\"}]}";
    for nowhere in [
        "Observation/y",
        "urn:uuid:00000000-0000-4000-8000-000000000000",
        "#y",
        "x",
        "",
        "http://elsewhere.example/Observation/x",
    ] {
        let to = format!("{{\"entry\": [{{\"reference\": \"{nowhere}\"}}]}}");
        let text = with(&[(entry, &to)]);
        if !nowhere.is_empty() {
            assert_eq!(only(&text), ("reference-unresolved".to_owned(), at.to_owned()));
        }
    }
}

#[test]
fn references_find_their_target() {
    let entry = "{\"entry\": [{\"reference\": \"Observation/x\"}]}";
    for inside in [
        "http://lab.example/r4/Observation/x",
        "http://lab.example/r4/Observation/x/_history/3",
        "Observation/x/_history/1",
        "#",
    ] {
        let to = format!("{{\"entry\": [{{\"reference\": \"{inside}\"}}]}}");
        assert_eq!(check(&with(&[(entry, &to)])), Vec::new(), "{inside}");
    }
    let contained = [
        (
            "\"status\": \"final\",\n       \"type\"",
            "\"contained\": [{\"resourceType\": \"Observation\", \"id\": \"in\"}], \"status\": \"final\",\n       \"type\"",
        ),
        (entry, "{\"entry\": [{\"reference\": \"#in\"}]}"),
    ];
    assert_eq!(check(&with(&contained)), Vec::new());
}

#[test]
fn references_from_urn_entries() {
    let urn = "urn:uuid:5e4e2c38-0b4c-4f0b-9d3c-1f7a3f4f0c01";
    let text = with(&[
        ("http://lab.example/r4/Patient/p", urn),
        ("\"reference\": \"Patient/p\"", &format!("\"reference\": \"{urn}\"")),
    ]);
    assert_eq!(check(&text), Vec::new());
    // Relative from a place that is no REST address: only type and id fit.
    let text = with(&[("http://lab.example/r4/Composition/c", urn)]);
    let found = codes(&text);
    assert_eq!(found, ["reference-by-id-only"; 3]);
}

#[test]
fn an_address_on_the_web_may_be_outside() {
    let to = "\"performer\": [{\"reference\": \"https://mpi.example/Organization/1\"}], \"effectiveDateTime\"";
    let findings = check(&with(&[("\"effectiveDateTime\"", to)]));
    assert_eq!(findings.len(), 1);
    assert_eq!(
        (findings[0].code.as_str(), findings[0].severity),
        ("reference-outside", Severity::Warning)
    );
}

#[test]
fn dates() {
    let timestamp = ("\"timestamp\": \"2025-07-09T10:00:00+02:00\",", "");
    expect(&[timestamp], "document-date-missing", "Bundle");
    let at = "Bundle.timestamp";
    let stamp = |date: &str| format!("\"timestamp\": \"{date}\",");
    expect(&[(timestamp.0, &stamp("2025-07-16T12:00:01Z"))], "date-in-future", at);
    assert!(check(&with(&[(timestamp.0, &stamp("2025-07-16T12:00:00Z"))])).is_empty());
    let early = codes(&with(&[(timestamp.0, &stamp("1899-12-31T23:59:59Z"))]));
    assert!(early.contains(&"date-too-early".to_owned()), "{early:?}");
    let born = "Bundle.entry[1].resource.birthDate";
    expect(&[("1990-02-03", "1899")], "date-too-early", born);
    assert!(check(&with(&[("1990-02-03", "1900")])).is_empty());
    expect(&[("1990-02-03", "2025-07-11")], "birth-date-after-document", born);
    assert!(check(&with(&[("1990-02-03", "2025-07-09")])).is_empty());
    let future = codes(&with(&[("1990-02-03", "2031")]));
    assert_eq!(future, ["date-in-future", "birth-date-after-document"]);
}

#[test]
fn old_tests_are_warned_of() {
    let test = "2025-07-08T09:00:00+02:00";
    let text = with(&[(test, "2024-07-20")]);
    // From the end of that day, 360 days later, on: 2025-07-16.
    let found = |text: &str, now: &str| {
        report::check(read(text).root(), fhir::Instant::parse(now).unwrap())
    };
    assert_eq!(found(&text, "2025-07-15T23:59:59Z"), Vec::new());
    let findings = found(&text, "2025-07-16T00:00:00Z");
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].code.as_str(), findings[0].severity), ("test-old", Severity::Warning));
    assert_eq!(findings[0].params[1], ("days".to_owned(), "360".to_owned()));
    let specimen = with(&[
        ("\"effectiveDateTime\": \"2025-07-08T09:00:00+02:00\",", ""),
        (
            "{\"fullUrl\": \"http://lab.example/r4/Organization/o\",",
            "{\"fullUrl\": \"urn:x:s\", \"resource\": {\"resourceType\": \"Specimen\", \"collection\": {\"collectedPeriod\": {\"start\": \"2020-01-01\"}}}}, {\"fullUrl\": \"http://lab.example/r4/Organization/o\",",
        ),
    ]);
    assert_eq!(codes(&specimen), ["test-old"]);
}

#[test]
fn long_values_are_cut() {
    let long = format!("urn:uuid:{}", "x".repeat(100_000));
    let findings = check(&with(&[("urn:uuid:2f1c7a52-90c4-4c1e-8a3e-55d1c0f5a001", &long)]));
    assert_eq!(findings[0].params[0].1.chars().count(), 200);
}

#[test]
fn xml_has_the_same_findings() {
    let json = with(&[
        ("de-CH", "de"),
        ("1990-02-03", "2031-01-01"),
        ("Observation/x\"}]", "Observation/y\"}]"),
    ]);
    let of_json = check(&json);
    let of_xml = check(&read(&json).to_xml());
    let told = |findings: &[Finding]| -> Vec<_> {
        findings.iter().map(|f| (f.code.clone(), f.expression.clone(), f.params.clone())).collect()
    };
    assert_eq!(told(&of_json).len(), 4, "{of_json:?}");
    assert_eq!(
        told(&of_json).into_iter().collect::<BTreeSet<_>>(),
        told(&of_xml).into_iter().collect()
    );
    assert!(of_xml.iter().all(|finding| finding.position.is_some()));
}

#[test]
fn nothing_at_all() {
    for text in ["{\"resourceType\":\"Bundle\"}", "{\"resourceType\":\"Bundle\",\"entry\":[{}]}"] {
        let _ = report::check(read(text).root(), now());
    }
}

#[test]
fn the_list_of_codes_is_in_order() {
    let sorted: BTreeSet<_> = CODES.iter().map(|(code, _)| *code).collect();
    assert!(sorted.iter().eq(CODES.iter().map(|(code, _)| code)), "in order, each once");
}

/// Documents that together are wrong in every way that has a code.
fn wrong() -> Vec<String> {
    let changed = [
        vec![("\"document\"", "\"collection\""), ("de-CH", "de"), ("1990-02-03", "2031")],
        vec![("r4/Organization/o", "r4/Patient/p"), ("urn:ietf:rfc:3986", "x")],
        vec![("http://lab.example/r4/Organization/o", "Organization/o")],
        vec![("\"fullUrl\": \"http://lab.example/r4/Organization/o\",", "")],
        vec![("Organization\", \"id\": \"o\"", "Organization\", \"id\": \"z\"")],
        vec![("urn:uuid:2f", "urn:uuid:zz"), ("2025-07-08T", "2024-01-08T")],
        vec![("urn:uuid:2f", "2f"), ("\"reference\": \"Organization/o\"", "\"reference\": \"#o\"")],
        vec![("\"identifier\": {", "\"_x\": {")],
        vec![("\"system\": \"urn:ietf:rfc:3986\", ", "")],
        vec![(", \"value\": \"urn:uuid:2f1c7a52-90c4-4c1e-8a3e-55d1c0f5a001\"", "")],
        vec![("\"reference\": \"Patient/p\"", "\"reference\": \"Organization/o\"")],
        vec![("\"subject\": {\"reference\": \"Patient/p\"}, \"date\"", "\"date\"")],
        vec![("[{\"reference\": \"Organization/o\"}]", "[{}]")],
        vec![("http://lab.example/r4/Composition/c", "urn:x:1"), ("1990-02-03", "1800")],
        vec![("\"reference\": \"Patient/p\"", "\"reference\": \"https://x.example/Patient/p\"")],
        vec![("\"timestamp\": \"2025-07-09T10:00:00+02:00\",", "")],
        vec![("\"Composition\"", "\"List\"")],
    ];
    let bare = SOUND.replacen("\"entry\": [", "\"entry\": [{\"fullUrl\": \"urn:x:1\"},", 1);
    let texts = changed.iter().map(|changes| with(changes));
    texts.chain([bare, NO_ENTRIES.to_owned()]).collect()
}

#[test]
fn every_code_is_brought_about_and_has_its_listed_parameters() {
    let mut brought_about = BTreeSet::new();
    for finding in wrong().iter().flat_map(|text| check(text)) {
        let (code, params) = CODES.iter().find(|(code, _)| *code == finding.code).expect("listed");
        let names: Vec<_> = finding.params.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, *params, "{code}");
        brought_about.insert(*code);
    }
    let listed: BTreeSet<_> = CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(brought_about, listed, "a code that nothing brings about is no code of these rules");
}
