//! Whose report it is and what of, where several could be meant.

use report::Summary;

use crate::text::{SOUND, check, read, with};

fn summary(text: &str) -> Summary {
    Summary::of(read(text).root())
}

/// Further entries before the laboratory's.
fn and(entries: &str, changes: &[(&str, &str)]) -> Summary {
    let place = "    {\"fullUrl\": \"http://lab.example/r4/Organization/o\"";
    let more = format!("{entries},\n{place}");
    let mut all = vec![(place, more.as_str())];
    all.extend(changes);
    summary(&with(&all))
}

fn entry(resource: &str, id: &str, inner: &str) -> String {
    format!(
        r#"{{"fullUrl": "http://lab.example/r4/{resource}/{id}",
            "resource": {{"resourceType": "{resource}", "id": "{id}", {inner}}}}}"#
    )
}

const SUBJECT: &str = r#""subject": {"reference": "Patient/p"}, "date""#;

#[test]
fn the_patient_is_the_one_that_the_composition_names() {
    let second = entry("Patient", "q", r#""name": [{"family": "Zweite"}]"#);
    let named = (SUBJECT, r#""subject": {"reference": "Patient/q"}, "date""#);
    assert_eq!(and(&second, &[named]).patient.as_deref(), Some("Zweite"));
    assert_eq!(and(&second, &[]).patient.as_deref(), Some("Muster, Mia Eva"));
    // What is named is no patient: the first patient of the document.
    let odd = (SUBJECT, r#""subject": {"reference": "Organization/o"}, "date""#);
    assert_eq!(summary(&with(&[odd])).patient.as_deref(), Some("Muster, Mia Eva"));
}

#[test]
fn the_author_may_be_a_person_or_a_role() {
    let author = |reference: &str| {
        (r#""reference": "Organization/o""#.to_owned(), format!(r#""reference": "{reference}""#))
    };
    let name = r#""name": [{"family": "Arzt", "given": ["Anna"]}]"#;
    let person = entry("Practitioner", "a", name);
    let (from, to) = author("Practitioner/a");
    assert_eq!(and(&person, &[(&from, &to)]).laboratory.as_deref(), Some("Arzt, Anna"));
    let role = |inner: &str| format!("{person},\n{}", entry("PractitionerRole", "r", inner));
    let (from, to) = author("PractitionerRole/r");
    let of_organization = role(r#""organization": {"reference": "Organization/z"}"#);
    let organization = entry("Organization", "z", r#""name": "Labor Z""#);
    let found = and(&format!("{of_organization},\n{organization}"), &[(&from, &to)]);
    assert_eq!(found.laboratory.as_deref(), Some("Labor Z"));
    let of_person = role(r#""practitioner": {"reference": "Practitioner/a"}"#);
    assert_eq!(and(&of_person, &[(&from, &to)]).laboratory.as_deref(), Some("Arzt, Anna"));
}

#[test]
fn the_first_composition_is_the_reports() {
    let organization = entry("Organization", "z", r#""name": "Labor Z""#);
    let second = entry("Composition", "d", r#""author": [{"reference": "Organization/z"}]"#);
    let found = and(&format!("{organization},\n{second}"), &[]);
    assert_eq!(found.laboratory.as_deref(), Some("Labor Muster"));
}

fn observation(id: &str, display: &str) -> String {
    let code = format!(r#""code": {{"coding": [{{"code": "1-{id}", "display": "{display}"}}]}}"#);
    entry("Observation", id, &code)
}

#[test]
fn the_leading_result_is_the_one_that_the_sections_name_first() {
    let second = observation("y", "Second");
    let section = r#""section": [{"entry": [{"reference": "Observation/x"}]}]"#;
    let named = (section, r#""section": [{"entry": [{"reference": "Observation/y"}]}]"#);
    assert_eq!(and(&second, &[named]).subject.as_deref(), Some("Second"));
    // A section may name other things before.
    let behind = (
        section,
        r#""section": [{"entry": [{"reference": "Patient/p"}, {"reference": "Observation/y"}]}]"#,
    );
    assert_eq!(and(&second, &[behind]).subject.as_deref(), Some("Second"));
    // Without sections: the results of the DiagnosticReport, and only then the first observation.
    let report = entry("DiagnosticReport", "d", r#""result": [{"reference": "Observation/y"}]"#);
    let without = (section, r#""title": "x""#);
    let both = format!("{second},\n{report}");
    assert_eq!(and(&both, &[without]).subject.as_deref(), Some("Second"));
    let odd = entry("DiagnosticReport", "d", r#""result": [{"reference": "Patient/p"}]"#);
    let found = and(&format!("{second},\n{odd}"), &[without]);
    assert_eq!(found.subject.as_deref(), Some("Neisseria gonorrhoeae [Presence]"));
}

#[test]
fn words_go_before_codes_and_an_organism_before_all() {
    // What was observed has no words; what was ordered has.
    let wordless = (",\n         \"display\": \"Neisseria gonorrhoeae [Presence]\"", "");
    let order = r#""code": {"coding": [{"code": "9-9", "display": "Chlamydia test"}]}"#;
    let order = entry("ServiceRequest", "s", order);
    let found = and(&order, &[wordless]);
    assert_eq!(found.subject.as_deref(), Some("Chlamydia test"));
    assert_eq!(found.code.as_deref(), Some("9-9"));
    // A value in words that is no organism stands behind what was observed, but before a bare code.
    let value = [("10828004", "31-4"), ("Positive (qualifier value)", "Genotype A")];
    let found = summary(&with(&value));
    assert_eq!(found.subject.as_deref(), Some("Neisseria gonorrhoeae [Presence]"));
    let found = summary(&with(&[value[0], value[1], wordless]));
    assert_eq!(found.subject.as_deref(), Some("Genotype A"));
}

#[test]
fn a_report_that_says_only_that_it_is_one_says_nothing() {
    let observed = SOUND.find("    {\"fullUrl\": \"http://lab.example/r4/Observation/x\"").unwrap();
    let end = SOUND.find("    {\"fullUrl\": \"http://lab.example/r4/Organization/o\"").unwrap();
    let without = format!("{}{}", &SOUND[..observed], &SOUND[end..]);
    assert_eq!(summary(&without).subject, None);
    let with_report = |code: &str| {
        let inner = format!(r#""code": {{"coding": [{{"code": "{code}", "display": "Words"}}]}}"#);
        let report = entry("DiagnosticReport", "d", &inner);
        summary(&without.replacen("\"entry\": [", &format!("\"entry\": [{report},"), 1))
    };
    assert_eq!(with_report("11502-2").subject, None, "LOINC: laboratory report");
    assert_eq!(with_report("1-1").subject.as_deref(), Some("Words"));
}

/// Only an address on the web may lead outside; an identifier that nothing here carries leads
/// nowhere.
#[test]
fn an_identifier_is_no_address_on_the_web() {
    let code = |reference: &str| {
        let to =
            format!("\"performer\": [{{\"reference\": \"{reference}\"}}], \"effectiveDateTime\"");
        let findings = check(&with(&[("\"effectiveDateTime\"", &to)]));
        findings.into_iter().map(|finding| finding.code).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(code("http://mpi.example/Organization/1"), "reference-outside");
    assert_eq!(code("https://mpi.example/Organization/1"), "reference-outside");
    assert_eq!(code("urn:uuid:00000000-0000-4000-8000-000000000000"), "reference-unresolved");
    assert_eq!(code("ftp://mpi.example/Organization/1"), "reference-unresolved");
}

/// Relative references count from a REST address, with TLS or without, and from nothing else.
#[test]
fn what_relative_references_count_from() {
    let secure = SOUND.replace("http://lab.example", "https://lab.example");
    assert_eq!(check(&secure), Vec::new());
    for place in ["http://lab.example/r4/x/c", "http:/r4/Composition/c"] {
        let odd = with(&[("http://lab.example/r4/Composition/c", place)]);
        let codes: Vec<String> = check(&odd).into_iter().map(|finding| finding.code).collect();
        assert!(codes.iter().any(|code| code == "reference-by-id-only"), "{place}: {codes:?}");
    }
}
