//! Kinds of findings that no other table is about, each with what keeps the rule and what breaks
//! it; and that no kind is without a case.

use fhir::{Format, Instant, Limits, Severity, Tree};
use rules::{Asked, Mode};
use serde_json::{Value, json};

use crate::teaching::{element, errors, extension, found, profile, set, url, value_set};

const COLOURS: &str = "http://rules.test/colours";
const ONE: &str = "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000001";

fn patient(more: Value) -> Value {
    let mut patient = json!({ "resourceType": "Patient" });
    patient.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    patient
}

fn observation(coding: Value) -> Value {
    json!({ "resourceType": "Observation", "status": "final", "code": { "coding": [coding] } })
}

/// What is found with these definitions, in JSON and in XML alike.
fn check(definitions: &[Value], against: Option<&str>, cases: &[(Value, &[&str])]) {
    let set = set(definitions.to_vec());
    for (resource, expected) in cases {
        let found = errors(&found(&set, resource, against, Mode::Authority));
        assert_eq!(found, *expected, "{resource}");
    }
}

#[test]
fn a_resource_is_held_against_profiles_of_its_own_type() {
    let organization = json!({ "resourceType": "Organization", "name": "A" });
    let mut named = organization.clone();
    named["meta"] = json!({ "profile": [url("case")] });
    let case = profile("case", "Patient", &[element("Patient.name", "1..*", "", json!({}))]);
    let wrong = &["rule-profile-type Organization"][..];
    check(
        std::slice::from_ref(&case),
        None,
        &[
            (organization.clone(), &[]),
            (named, wrong),
            // Every resource against the profiles that it names itself, wherever it stands.
            (patient(json!({ "meta": { "profile": [url("case")] } })), &["rule-missing Patient"]),
            (
                json!({ "resourceType": "Bundle", "type": "collection", "entry": [{ "fullUrl": ONE,
                    "resource": patient(json!({ "meta": { "profile": [url("case")] } })) }] }),
                &["rule-missing Bundle.entry[0].resource"],
            ),
        ],
    );
    check(&[case], Some("case"), &[(organization, wrong)]);
}

#[test]
fn an_element_belongs_to_one_slice() {
    let by_existence = json!({ "slicing": {
        "discriminator": [{ "type": "exists", "path": "family" }], "rules": "open" } });
    let slice = |name: &str| {
        let id = format!("Patient.name:{name}.family");
        [
            element("Patient.name", "0..*", "", json!({ "sliceName": name })),
            element("Patient.name.family", "1..1", "", json!({ "id": id })),
        ]
    };
    let elements =
        [&[element("Patient.name", "", "", by_existence)][..], &slice("a"), &slice("b")].concat();
    check(
        &[profile("case", "Patient", &elements)],
        Some("case"),
        &[
            (patient(json!({ "name": [{ "given": ["A"] }] })), &[]),
            (
                patient(json!({ "name": [{ "family": "A" }] })),
                &["rule-slice-several Patient.name[0]"],
            ),
        ],
    );
}

#[test]
fn code_systems_are_named_by_their_own_address() {
    let place = "Observation.code.coding[0]";
    for (system, code) in [
        (COLOURS, None),
        ("https://loinc.org", Some("rule-code-system-wrong")),
        (&*value_set("colours"), Some("rule-system-is-value-set")),
    ] {
        let expected: Vec<String> = code.iter().map(|code| format!("{code} {place}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(&[], None, &[(observation(json!({ "system": system, "code": "red" })), &expected)]);
    }
    // A coding is an address, too, and one that lacks a half is in no value set and in no other.
    let required =
        json!({ "binding": { "strength": "required", "valueSet": value_set("colours") } });
    let case = profile("case", "Observation", &[element("Observation.code", "", "", required)]);
    check(
        &[case],
        Some("case"),
        &[
            (observation(json!({ "system": COLOURS, "code": "red" })), &[]),
            (observation(json!({ "system": COLOURS })), &[]),
            (observation(json!({ "code": "red" })), &[]),
            (
                observation(json!({ "system": COLOURS, "code": "green" })),
                &[
                    "rule-code-not-in-value-set Observation.code",
                    "rule-code-unknown Observation.code.coding[0]",
                ],
            ),
        ],
    );
    let relative = observation(json!({ "system": "colours", "code": "red" }));
    check(
        &[],
        None,
        &[(relative, &["rule-system-not-absolute Observation.code.coding[0].system"])],
    );
}

/// Whoever decides asks a terminology server, and a code system that is not there is no error of
/// the document: not even one that is said to be FHIR's own.
#[test]
fn a_code_system_of_fhir_that_nobody_has_is_a_warning() {
    for system in ["http://hl7.org/fhir/v2/nobody", "http://build.fhir.org/nobody"] {
        let resource = observation(json!({ "system": system, "code": "red" }));
        for mode in [Mode::Authority, Mode::Strict] {
            let found = found(&set(Vec::new()), &resource, None, mode);
            let told: Vec<_> = found.iter().map(|of| (&*of.code, of.severity)).collect();
            assert_eq!(told, [("rule-code-system-unknown", Severity::Warning)], "{system}");
        }
    }
}

#[test]
fn an_extension_is_what_its_definition_says() {
    let mut asking = extension("asking", &[("element", "Patient")], "string", false);
    asking["contextInvariant"] = json!(["%resource.gender.exists()"]);
    let definitions = [
        asking,
        extension("plain", &[("element", "Patient")], "string", false),
        profile("case", "Patient", &[]),
    ];
    let of = |name: &str| json!([{ "url": url(name), "valueString": "x" }]);
    check(
        &definitions,
        None,
        &[
            (patient(json!({ "extension": of("plain") })), &[]),
            (
                patient(json!({ "modifierExtension": of("plain") })),
                &["rule-extension-not-modifier Patient.modifierExtension[0]"],
            ),
            (
                patient(json!({ "extension": of("case") })),
                &["rule-extension-not-defined Patient.extension[0]"],
            ),
            (patient(json!({ "extension": of("asking"), "gender": "other" })), &[]),
            (
                patient(json!({ "extension": of("asking") })),
                &["rule-extension-context-rule Patient.extension[0]"],
            ),
        ],
    );
}

#[test]
fn links_and_entries_of_a_bundle_go_with_its_type() {
    let link = |relation: &str| json!({ "relation": relation, "url": "http://a.test/fhir/x" });
    let linked = |kind: &str, relations: &[&str]| {
        let links: Vec<Value> = relations.iter().map(|of| link(of)).collect();
        json!({ "resourceType": "Bundle", "type": kind, "link": links })
    };
    let entry = |more: Value| {
        let mut entry = json!({ "fullUrl": ONE, "search": { "mode": "match" } });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "resourceType": "Bundle", "type": "searchset", "entry": [entry] })
    };
    let organization = |id: Value| {
        let mut of = json!({ "resourceType": "Organization", "name": "A" });
        of.as_object_mut().unwrap().extend(id.as_object().unwrap().clone());
        json!({ "resource": of })
    };
    check(
        &[],
        None,
        &[
            (linked("searchset", &["self", "next", "previous"]), &[]),
            (linked("history", &["self", "first", "last"]), &[]),
            (linked("collection", &["self", "other", "other"]), &[]),
            (linked("collection", &["next"]), &["rule-bundle-link-not-allowed Bundle.link[0]"]),
            (linked("searchset", &["next", "next"]), &["rule-bundle-link-twice Bundle.link[1]"]),
            (linked("collection", &["self", "self"]), &["rule-bundle-link-twice Bundle.link[1]"]),
            (entry(organization(json!({ "id": "1" }))), &[]),
            (
                entry(organization(json!({}))),
                &["rule-bundle-entry-without-id Bundle.entry[0].resource"],
            ),
            (entry(json!({})), &["rule-bundle-entry-without-resource Bundle.entry[0]"]),
        ],
    );
}

#[test]
fn an_attachment_has_a_size() {
    let size = "http://hl7.org/fhir/StructureDefinition/maxSize";
    let most = json!({ "extension": [{ "url": size, "valueDecimal": 3 }] });
    let attached = |data: &str| {
        json!({ "resourceType": "DocumentReference", "status": "current",
            "content": [{ "attachment": { "contentType": "text/plain", "data": data } }] })
    };
    // As much of the type as the case needs.
    let of = |path: &str, kind: &str, more: Value| element(path, "0..*", kind, more);
    let base = json!({
        "resourceType": "StructureDefinition", "kind": "resource", "type": "DocumentReference",
        "url": "http://hl7.org/fhir/StructureDefinition/DocumentReference", "abstract": false,
        "derivation": "specialization", "snapshot": { "element": [
            of("DocumentReference", "", json!({})),
            of("DocumentReference.status", "code", json!({})),
            of("DocumentReference.content", "BackboneElement", json!({})),
            of("DocumentReference.content.attachment", "Attachment", most),
        ] }
    });
    let place = "DocumentReference.content[0].attachment";
    check(
        &[base],
        None,
        &[(attached("AAAA"), &[]), (attached("AAAAAA=="), &[&format!("rule-too-large {place}")])],
    );
}

#[test]
fn a_definition_and_a_questionnaire_point_to_what_is_there() {
    let typed = |of: &str| {
        let base = format!("http://hl7.org/fhir/StructureDefinition/{of}");
        let kind = json!({ "type": [{ "code": "HumanName", "profile": [base] }] });
        let mut case = profile("case", "Patient", &[element("Patient.name", "", "", kind)]);
        (case["name"], case["status"]) = (json!("Case"), json!("draft"));
        case
    };
    let questionnaire = |question: &str| {
        json!({ "resourceType": "Questionnaire", "status": "draft", "item": [
            { "linkId": "a", "type": "string" },
            { "linkId": "b", "type": "string", "enableWhen": [
                { "question": question, "operator": "exists", "answerBoolean": true }] }
        ] })
    };
    let place = "StructureDefinition.differential.element[0].type[0].profile[0]";
    check(
        &[],
        None,
        &[
            (typed("HumanName"), &[]),
            (typed("Identifier"), &[&format!("rule-definition-type {place}")]),
            (questionnaire("a"), &[]),
            (
                questionnaire("c"),
                &["rule-questionnaire-question Questionnaire.item[1].enableWhen[0]"],
            ),
        ],
    );
}

/// The forms that no tree of JSON and XML alike can show: what is empty, unknown, or written wrong.
#[test]
fn what_is_empty_or_unknown_is_an_error() {
    let set = set(Vec::new());
    let xml = |inner: &str| format!("<Patient xmlns=\"http://hl7.org/fhir\">{inner}</Patient>");
    let json = |inner: &str| format!("{{\"resourceType\":\"Patient\"{inner}}}");
    let mut wrong = Vec::new();
    for (text, is_right) in [
        (json(""), true),
        (json(r#","gender":"male""#), true),
        (json(r#","name":[]"#), false),
        (json(r#","name":[{}]"#), false),
        (json(r#","name":{"family":"A"}"#), false),
        (json(r#","name":[{"family":""}]"#), false),
        (json(r#","name":[{"family":null}]"#), false),
        (json(r#","name":[{"given":["A",null],"_given":[null,{"id":"x"}]}]"#), false),
        (json(r#","name":[{"given":[null]}]"#), false),
        (json(r#","gender":["male"]"#), false),
        (json(r#","gender":true"#), false),
        (json(r#","active":"true""#), false),
        (json(r#","active":true"#), true),
        (json(r#","sex":"male""#), false),
        (json(r#","birthDate":"1970-13-01""#), false),
        (json(r#","birthDate":"1970-02-30""#), false),
        (json(r#","birthDate":"1970-2-3""#), false),
        (json(r#","birthDate":"1970""#), true),
        (json(r#","id":"a b","gender":"male""#), false),
        (json(r#","deceasedDateTime":"2026-01-01T10:00:00""#), false),
        (json(r#","deceasedDateTime":"2026-01-01T10:00:00Z""#), true),
        (json(r#","deceasedDateTime":"2026-01-01T24:00:00Z""#), false),
        (json(r#","deceasedBoolean":true,"deceasedDateTime":"2026""#), false),
        (json(r#","multipleBirthInteger":1.5"#), false),
        (json(r#","multipleBirthInteger":2147483648"#), false),
        (json(r#","photo":[{"data":"A A="}]"#), false),
        (json(r#","photo":[{"data":"%%"}]"#), false),
        (json(r#","meta":{}"#), false),
        (json(r#","meta":{"versionId":"1 2"}"#), false),
        (xml("<gender value=\"male\"/>"), true),
        (xml("<gender/>"), false),
        (xml("<gender value=\"\"/>"), false),
        (xml("<name/>"), false),
        (xml("<sex value=\"male\"/>"), false),
        (xml("<gender value=\"male\"/><gender value=\"male\"/>"), false),
        (xml("<gender value=\"male\"/><name><family value=\"A\"/></name>"), false),
        (xml("<active value=\"TRUE\"/>"), false),
        (xml("<birthDate value=\"1970-13-01\"/>"), false),
        (xml("text"), false),
    ] {
        let format = Format::sniff(text.as_bytes()).unwrap();
        let asked = Asked { profiles: &[], mode: Mode::Authority, now: Instant(0) };
        let found = match Tree::read(text.as_bytes(), format, &Limits::default()) {
            Ok(tree) => errors(&set.validate(&tree, &asked)),
            Err(finding) => vec![finding.code],
        };
        if found.is_empty() != is_right {
            wrong.push(format!("{text}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A kind of finding that no case is about may be wrong for years.
#[test]
fn no_kind_of_finding_is_without_a_case() {
    let cases = [
        include_str!("bounds.rs"),
        include_str!("bundles.rs"),
        include_str!("causes.rs"),
        include_str!("definitions.rs"),
        include_str!("discriminators.rs"),
        include_str!("elements.rs"),
        include_str!("forms.rs"),
        include_str!("kinds.rs"),
        include_str!("practice.rs"),
        include_str!("privacy.rs"),
        include_str!("questionnaires.rs"),
        include_str!("slices.rs"),
        include_str!("terms.rs"),
        include_str!("verdicts.rs"),
    ];
    for (code, _) in rules::codes::CODES {
        assert!(cases.iter().any(|case| case.contains(code)), "{code}");
    }
}
