//! Bundles, contained resources, and references inside of them.

use rules::Mode;
use serde_json::{Value, json};

use crate::teaching::{element, errors, found, profile, set, url};

const ONE: &str = "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000001";
const TWO: &str = "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000002";

fn bundle(kind: &str, entries: &[(&str, Value)]) -> Value {
    let entries: Vec<Value> = entries
        .iter()
        .map(|(url, resource)| json!({ "fullUrl": url, "resource": resource }))
        .collect();
    json!({ "resourceType": "Bundle", "type": kind, "entry": entries })
}

fn observation(subject: &str) -> Value {
    json!({ "resourceType": "Observation", "status": "final", "code": { "text": "a" },
        "subject": { "reference": subject } })
}

fn check(definitions: Vec<Value>, resource: &Value, mode: Mode, expected: &[&str]) {
    assert_eq!(errors(&found(&set(definitions), resource, None, mode)), *expected, "{resource}");
}

#[test]
fn addresses_of_entries() {
    let patient = || json!({ "resourceType": "Patient", "id": "1" });
    for (url, expected) in [
        (ONE, &[][..]),
        ("http://a.test/fhir/Patient/1", &[]),
        ("http://a.test/anything", &[]),
        ("Patient/1", &["rule-bundle-full-url-relative Bundle.entry[0]"]),
        ("http://a.test/fhir/Patient/2", &["rule-bundle-full-url-differs Bundle.entry[0]"]),
        ("http://a.test/fhir/Group/1", &["rule-bundle-full-url-differs Bundle.entry[0]"]),
    ] {
        check(Vec::new(), &bundle("collection", &[(url, patient())]), Mode::Authority, expected);
    }
    let bare = json!({ "resourceType": "Bundle", "type": "collection", "entry": [{ "resource": patient() }] });
    check(Vec::new(), &bare, Mode::Authority, &["rule-bundle-full-url-missing Bundle.entry[0]"]);
    let mut batch = bare;
    batch["type"] = json!("batch");
    check(Vec::new(), &batch, Mode::Authority, &[]);
}

#[test]
fn references_in_a_bundle() {
    let patient = || json!({ "resourceType": "Patient", "id": "1" });
    let group = || json!({ "resourceType": "Group", "id": "1", "type": "person", "actual": true });
    let rest = "http://a.test/fhir/Observation/9";
    let mut own = observation("Patient/1");
    own["id"] = json!("9");
    let place = "Bundle.entry[0].resource.subject";
    let relative =
        bundle("collection", &[(rest, own), ("http://a.test/fhir/Patient/1", patient())]);
    check(Vec::new(), &relative, Mode::Authority, &[]);
    for (entries, expected) in [
        (vec![(ONE, observation(TWO)), (TWO, patient())], None),
        (vec![(ONE, observation(TWO)), (TWO, group())], Some("rule-reference-type")),
        (
            vec![(ONE, observation(TWO)), (TWO, patient()), (TWO, patient())],
            Some("rule-reference-ambiguous"),
        ),
        (vec![(ONE, observation("not a reference"))], Some("rule-reference-form")),
        (vec![(ONE, observation("nowhere"))], Some("rule-reference-form")),
        (vec![(ONE, observation("http://elsewhere.test/Patient/1"))], None),
        // A search stands for an address in a transaction alone.
        (vec![(ONE, observation("Patient?identifier=1"))], Some("rule-reference-form")),
    ] {
        let expected: Vec<String> =
            expected.map(|code| format!("{code} {place}")).into_iter().collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(Vec::new(), &bundle("collection", &entries), Mode::Authority, &expected);
    }
}

#[test]
fn forms_of_references() {
    let form = &["rule-reference-form Observation.subject"][..];
    for (reference, expected) in [
        ("Patient?identifier=http://x|1", &[][..]),
        ("Patient?identifier", form),
        ("Patient?a=b=c", form),
        // Only what is contained can mean what contains it.
        ("#", form),
    ] {
        check(Vec::new(), &observation(reference), Mode::Authority, expected);
    }
    let mut address = observation("Patient/1");
    address["subject"]["type"] = json!("http://hl7.org/fhir/StructureDefinition/Patient");
    check(Vec::new(), &address, Mode::Authority, &["rule-reference-type Observation.subject"]);
    // Under `urn:uuid:` the address does not say the type; what stands there does.
    let (one, two) =
        ("urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000001", "0b1f4f0c-6b3f-4f8e-9d55-000000000002");
    let organization = json!({ "resourceType": "Organization", "name": "A" });
    let entries = [
        (one, observation(&format!("Patient/{two}"))),
        (&*format!("urn:uuid:{two}"), organization),
    ];
    let place = "rule-reference-type Bundle.entry[0].resource.subject";
    check(Vec::new(), &bundle("collection", &entries), Mode::Authority, &[place]);
    let transaction = json!({ "resourceType": "Bundle", "type": "transaction",
        "entry": [{ "resource": observation("Patient/1") }] });
    let place = "rule-bundle-full-url-missing Bundle.entry[0]";
    check(Vec::new(), &transaction, Mode::Authority, &[place]);
    let mut transaction = bundle("transaction", &[(ONE, observation("Patient?identifier=1"))]);
    transaction["entry"][0]["request"] = json!({ "method": "POST", "url": "Observation" });
    let found = errors(&found(&set(Vec::new()), &transaction, None, Mode::Authority));
    assert!(!found.iter().any(|of| of.starts_with("rule-reference-form")), "{found:?}");
}

#[test]
fn a_style_sheet_that_is_not_an_address_stands_in_the_document() {
    let mut document = bundle("collection", &[(ONE, observation(TWO))]);
    document["type"] = json!("document");
    document["link"] = json!([{ "relation": "stylesheet", "url": "Binary/1" }]);
    let found = errors(&found(&set(Vec::new()), &document, None, Mode::Authority));
    let missing = "rule-bundle-not-in-document Bundle.link[0]".to_owned();
    assert!(found.contains(&missing), "{found:?}");
    document["link"][0]["url"] = json!("http://style.test/a.css");
    let found = errors(&crate::teaching::found(&set(Vec::new()), &document, None, Mode::Authority));
    assert!(!found.contains(&missing), "{found:?}");
}

#[test]
fn what_a_reference_says_of_its_target() {
    let mut typed = observation("Patient/1");
    typed["subject"]["type"] = json!("Group");
    check(Vec::new(), &typed, Mode::Authority, &["rule-reference-type Observation.subject"]);
    let implied = observation("Group/1");
    check(Vec::new(), &implied, Mode::Authority, &[]);
    check(Vec::new(), &implied, Mode::Strict, &["rule-reference-type Observation.subject"]);
    let absolute = observation("http://elsewhere.test/fhir/Group/1");
    check(Vec::new(), &absolute, Mode::Authority, &[]);
    check(Vec::new(), &absolute, Mode::Strict, &["rule-reference-type Observation.subject"]);
}

#[test]
fn targets_are_followed_and_aggregation_is_kept() {
    let target = json!({ "type": [{ "code": "Reference", "aggregation": ["contained"],
        "targetProfile": [url("named")] }] });
    let definitions = || {
        vec![
            profile("named", "Patient", &[element("Patient.name", "1..*", "", json!({}))]),
            profile(
                "case",
                "Observation",
                &[element("Observation.subject", "", "", target.clone())],
            ),
        ]
    };
    let with_profile = |mut of: Value| {
        of["meta"] = json!({ "profile": [url("case")] });
        of
    };
    let contained = |patient: Value| {
        let mut of = with_profile(observation("#p"));
        of["contained"] = json!([patient]);
        of
    };
    let named = json!({ "resourceType": "Patient", "id": "p", "name": [{ "family": "A" }] });
    check(definitions(), &contained(named.clone()), Mode::Authority, &[]);
    check(
        definitions(),
        &contained(json!({ "resourceType": "Patient", "id": "p" })),
        Mode::Authority,
        &["rule-missing Observation.contained[0]"],
    );
    let bundled = bundle("collection", &[(ONE, with_profile(observation(TWO))), (TWO, named)]);
    check(
        definitions(),
        &bundled,
        Mode::Authority,
        &["rule-reference-aggregation Bundle.entry[0].resource.subject"],
    );
}

#[test]
fn contained_resources() {
    let organization = |id: Option<&str>| {
        let mut of = json!({ "resourceType": "Organization", "name": "A" });
        if let Some(id) = id {
            of["id"] = json!(id);
        }
        of
    };
    let patient = |contained: Value, reference: &str| {
        json!({ "resourceType": "Patient", "contained": contained,
            "managingOrganization": { "reference": reference } })
    };
    let one = json!([organization(Some("o"))]);
    check(Vec::new(), &patient(one.clone(), "#o"), Mode::Authority, &[]);
    check(
        Vec::new(),
        &patient(one, "#x"),
        Mode::Authority,
        &[
            "rule-contained-not-used Patient.contained[0]",
            "rule-invariant Patient.managingOrganization",
        ],
    );
    check(
        Vec::new(),
        &patient(json!([organization(Some("o")), organization(Some("o"))]), "#o"),
        Mode::Authority,
        &["rule-contained-twice Patient.contained[1]"],
    );
    check(
        Vec::new(),
        &patient(json!([organization(Some("o")), organization(None)]), "#o"),
        Mode::Authority,
        &["rule-contained-without-id Patient.contained[1]"],
    );
}

#[test]
fn documents_hang_together() {
    let composition = |author: &str, entry: &str| {
        json!({ "resourceType": "Composition", "author": [{ "reference": author }],
            "section": [{ "title": "A", "entry": [{ "reference": entry }] }] })
    };
    let lab = || json!({ "resourceType": "Organization", "name": "A" });
    let three = "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000003";
    let whole = bundle("document", &[(ONE, composition(TWO, three)), (TWO, lab()), (three, lab())]);
    // What R4 asks of a Composition itself is the base check's.
    let own = |resource: &Value| -> Vec<String> {
        let all = errors(&found(&set(Vec::new()), resource, None, Mode::Authority));
        all.into_iter().filter(|of| of.starts_with("rule-")).collect()
    };
    assert_eq!(own(&whole), [""; 0]);
    let loose = bundle("document", &[(ONE, composition(TWO, TWO)), (TWO, lab()), (three, lab())]);
    assert_eq!(own(&loose), ["rule-bundle-not-reached Bundle.entry[2]"]);
    let absent = bundle("document", &[(ONE, composition(TWO, three)), (TWO, lab())]);
    assert_eq!(
        own(&absent),
        ["rule-bundle-not-in-document Bundle.entry[0].resource.section[0].entry[0]"]
    );
    let wrong = bundle("document", &[(TWO, lab())]);
    assert_eq!(own(&wrong), ["rule-bundle-first-entry Bundle"]);
}

/// What is referred to by type and id stands there under an address of another form, or under
/// another base: nobody finds it.
#[test]
fn a_relative_reference_finds_only_what_its_own_address_leads_to() {
    let own = |entries: &[(&str, Value)]| -> Vec<String> {
        let resource = bundle("document", entries);
        let all = errors(&found(&set(Vec::new()), &resource, None, Mode::Authority));
        all.into_iter().filter(|of| of.starts_with("rule-bundle-not-in")).collect()
    };
    let composition = |author: &str| json!({ "resourceType": "Composition", "id": "c", "author": [{ "reference": author }] });
    let lab = |part_of: Option<&str>| {
        let mut lab = json!({ "resourceType": "Organization", "id": "o", "name": "A" });
        if let Some(reference) = part_of {
            lab["partOf"] = json!({ "reference": reference });
        }
        lab
    };
    let (rest, other) = ("http://a.test/fhir/Composition/c", "http://a.test/fhir/Organization/o");
    assert_eq!(own(&[(rest, composition("Organization/o")), (other, lab(None))]), [""; 0]);
    assert_eq!(own(&[(ONE, composition(TWO)), (TWO, lab(None))]), [""; 0]);
    let author = ["rule-bundle-not-in-document Bundle.entry[0].resource.author[0]"];
    assert_eq!(own(&[(ONE, composition("Organization/o")), (TWO, lab(None))]), author);
    let elsewhere = "http://b.test/fhir/Organization/o";
    assert_eq!(own(&[(rest, composition("Organization/o")), (elsewhere, lab(None))]), author);
    // Anywhere else in the document only where it is there under another address: what is not there
    // at all may be outside.
    let part_of = |reference| own(&[(ONE, composition(TWO)), (TWO, lab(Some(reference)))]);
    assert_eq!(part_of("Organization/x"), [""; 0]);
    let place = ["rule-bundle-not-in-document Bundle.entry[1].resource.partOf"];
    assert_eq!(part_of("Organization/o"), place);
}

#[test]
fn a_search_gives_what_it_asked_for() {
    let search = |asked: &str, mode: &str| {
        json!({ "resourceType": "Bundle", "type": "searchset",
            "link": [{ "relation": "self", "url": format!("http://a.test/fhir/{asked}") }],
            "entry": [{
                "fullUrl": "http://a.test/fhir/Organization/1",
                "resource": { "resourceType": "Organization", "id": "1", "name": "A" },
                "search": { "mode": mode }
            }] })
    };
    let wrong = &["rule-bundle-entry-type Bundle.entry[0].resource"][..];
    for (asked, mode, expected) in [
        ("Organization?name=A", "match", &[][..]),
        ("Patient?name=A", "match", wrong),
        ("Patient?name=A", "include", &[]),
        ("?_type=Patient,Organization", "match", &[]),
        ("?_type=Patient", "match", wrong),
        ("somewhere", "match", &[]),
        ("Patient", "outcome", wrong),
    ] {
        check(Vec::new(), &search(asked, mode), Mode::Authority, expected);
    }
}

#[test]
fn an_attachment_connects_an_entry_with_its_document() {
    let document = |url: &str| {
        let composition = json!({ "resourceType": "Composition", "author": [{ "reference": TWO }],
            "extension": [{ "url": "http://example.org/scan", "valueAttachment": { "url": url } }] });
        let binary = json!({ "resourceType": "Binary", "contentType": "application/pdf" });
        let lab = json!({ "resourceType": "Organization", "name": "A" });
        let three = "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000003";
        bundle("document", &[(ONE, composition), (TWO, lab), (three, binary)])
    };
    let loose = |url: &str| -> Vec<String> {
        let all =
            errors(&found(&set(Vec::new()), &document(url), None, Mode::Authority)).into_iter();
        all.filter(|of| of.starts_with("rule-bundle")).collect()
    };
    assert_eq!(loose("urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000003"), [""; 0]);
    assert_eq!(loose("http://a.test/x.pdf"), ["rule-bundle-not-reached Bundle.entry[2]"]);
}

#[test]
fn contained_resources_are_reached_from_outside() {
    let html = "<div xmlns=\"http://www.w3.org/1999/xhtml\">";
    let organization = |id: &str, part_of: &str| {
        json!({ "resourceType": "Organization", "id": id, "name": "A",
            "partOf": { "reference": part_of } })
    };
    let patient = |contained: Value, more: Value| {
        let mut of = json!({ "resourceType": "Patient", "contained": contained });
        of.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        of
    };
    let shown = json!({ "text": { "status": "generated",
        "div": format!("{html}<a href=\"#a\">the laboratory</a></div>") } });
    let ring = || json!([organization("a", "#b"), organization("b", "#a")]);
    check(Vec::new(), &patient(ring(), shown), Mode::Authority, &[]);
    check(
        Vec::new(),
        &patient(ring(), json!({})),
        Mode::Authority,
        &[
            "rule-contained-not-used Patient.contained[0]",
            "rule-contained-not-used Patient.contained[1]",
        ],
    );
}
