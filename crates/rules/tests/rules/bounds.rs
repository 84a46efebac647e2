//! Bounds by extension, bindings beside others, profiles that a profile imposes, and what nobody
//! defines.

use rules::Mode;
use serde_json::{Value, json};

use crate::teaching::{element, errors, extension, found, profile, set, url, value_set};

const BASE: &str = "http://hl7.org/fhir/StructureDefinition/";

/// A profile named `case` of these elements, and what is found in resources.
fn cases(more: Vec<Value>, of: &str, elements: &[Value], cases: &[(Value, &[&str])]) {
    let set = set([more, vec![profile("case", of, elements)]].concat());
    for (resource, expected) in cases {
        let found = found(&set, resource, Some("case"), Mode::Authority);
        assert_eq!(errors(&found), *expected, "{resource}");
    }
}

fn observation(more: Value) -> Value {
    let mut all = json!({ "resourceType": "Observation", "status": "final",
        "code": { "text": "a" } });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn told(name: &str, kind: &str, value: Value) -> Value {
    json!({ "extension": [{ "url": format!("{BASE}{name}"), kind: value }] })
}

#[test]
fn length_form_and_digits_of_a_value() {
    let named = |family: &str| json!({ "resourceType": "Patient", "name": [{ "family": family }] });
    let place = "Patient.name[0].family";
    cases(
        Vec::new(),
        "Patient",
        &[element("Patient.name.family", "", "", told("minLength", "valueInteger", json!(3)))],
        &[(named("Ada"), &[]), (named("Al"), &[&format!("rule-too-short {place}")])],
    );
    cases(
        Vec::new(),
        "Patient",
        &[element(
            "Patient.name.family",
            "",
            "",
            told("regex", "valueString", json!("[A-Z][a-z]+")),
        )],
        &[
            (named("Ada"), &[]),
            // The whole value, not a part of it.
            (named("Ada3"), &[&format!("rule-text-pattern {place}")]),
        ],
    );
    let measured = |value: Value| observation(json!({ "valueQuantity": { "value": value } }));
    cases(
        Vec::new(),
        "Observation",
        &[element(
            "Observation.value[x]",
            "",
            "Quantity",
            told("maxDecimalPlaces", "valueInteger", json!(1)),
        )],
        &[
            (measured(json!(1.5)), &[]),
            (measured(json!(2)), &[]),
            (measured(json!(1.25)), &["rule-too-many-decimals Observation.valueQuantity"]),
        ],
    );
}

#[test]
fn bindings_beside_the_first() {
    let tools = "http://hl7.org/fhir/tools/StructureDefinition/additional-binding";
    let more = |usage: Value| {
        let mut parts = vec![
            json!({ "url": "purpose", "valueCode": "required" }),
            json!({ "url": "valueSet", "valueCanonical": value_set("reds") }),
        ];
        parts.extend(usage.as_array().unwrap().iter().cloned());
        let binding = json!({ "strength": "required", "valueSet": value_set("colours"),
            "extension": [{ "url": tools, "extension": parts }] });
        [element("Observation.code", "", "", json!({ "binding": binding }))]
    };
    let coded = |code: &str, category: &str| {
        let coding = |code: &str| json!([{ "system": "http://rules.test/colours", "code": code }]);
        observation(json!({ "code": { "coding": coding(code) },
            "category": [{ "coding": coding(category) }] }))
    };
    let out: &[&str] = &["rule-code-not-in-value-set Observation.code"];
    cases(
        Vec::new(),
        "Observation",
        &more(json!([])),
        &[(coded("pink", "red"), &[]), (coded("blue", "red"), out)],
    );
    let usage = json!([{ "url": "usage", "valueUsageContext": {
        "code": { "system": url("case"), "code": "Observation.category" },
        "valueCodeableConcept": { "coding": [
            { "system": "http://rules.test/colours", "code": "red" }] } } }]);
    cases(
        Vec::new(),
        "Observation",
        &more(usage),
        // It counts only where the category is red.
        &[(coded("blue", "red"), out), (coded("blue", "blue"), &[])],
    );
}

#[test]
fn a_binding_to_a_code_system_says_nothing_that_can_be_checked() {
    let binding = json!({ "binding": {
        "strength": "required", "valueSet": "http://rules.test/colours" } });
    let coded = observation(json!({ "code": { "coding": [
        { "system": "http://rules.test/colours", "code": "red" }] } }));
    cases(
        Vec::new(),
        "Observation",
        &[element("Observation.code", "", "", binding)],
        &[(coded, &["rule-binding-not-value-set Observation.code"])],
    );
}

#[test]
fn profiles_that_a_profile_imposes() {
    let imposes = "structuredefinition-imposeProfile";
    let mut one = profile("one", "Patient", &[]);
    one["extension"] = told(imposes, "valueCanonical", json!(url("two")))["extension"].clone();
    let two = profile("two", "Patient", &[element("Patient.name", "1..1", "", json!({}))]);
    let set = set(vec![one, two]);
    let check = |patient: Value| errors(&found(&set, &patient, Some("one"), Mode::Authority));
    assert_eq!(check(json!({ "resourceType": "Patient", "name": [{ "family": "A" }] })), [""; 0]);
    let bare = json!({ "resourceType": "Patient", "gender": "female" });
    assert_eq!(check(bare), ["rule-missing Patient"]);
}

#[test]
fn places_of_extensions_that_other_releases_have() {
    let versions = format!("{BASE}version-specific-use");
    let of_release = |kind: &str, release: &str| json!([{ "url": versions, "extension": [{ "url": kind, "valueCode": release }] }]);
    for (bound, expected) in [
        (of_release("startFhirVersion", "4.0"), &[][..]),
        (of_release("endFhirVersion", "5.0"), &[]),
        (of_release("startFhirVersion", "5.0"), &["rule-extension-context Patient.extension[0]"]),
        (of_release("endFhirVersion", "3.0"), &["rule-extension-context Patient.extension[0]"]),
    ] {
        let mut definition = extension("e", &[("element", "Patient")], "string", false);
        definition["context"][0]["extension"] = bound;
        let patient = json!({ "resourceType": "Patient",
            "extension": [{ "url": url("e"), "valueString": "x" }] });
        cases(vec![definition], "Patient", &[], &[(patient, expected)]);
    }
}

#[test]
fn what_a_definition_needs_and_nobody_has() {
    let typed = json!({ "type": [{ "code": "HumanName", "profile": [url("nobody")] }] });
    let patient = json!({ "resourceType": "Patient", "name": [{ "family": "A" }] });
    cases(
        Vec::new(),
        "Patient",
        &[element("Patient.name", "", "", typed)],
        &[(patient, &["rule-profile-unknown Patient.name[0]"])],
    );
}

/// What FHIR R5 can say of a primitive: that it has a value, or one of certain extensions.
#[test]
fn a_value_that_must_be_there_is_not_an_extension() {
    let later = |name: &str, kind: &str, value: Value| {
        let of = "http://hl7.org/fhir/5.0/StructureDefinition/extension-ElementDefinition.";
        json!({ "extension": [{ "url": format!("{of}{name}"), kind: value }] })
    };
    let gender = |value: Value, extension: &str| {
        let mut patient = json!({ "resourceType": "Patient" });
        if value.is_string() {
            patient["gender"] = value;
        }
        if !extension.is_empty() {
            let of = json!({ "url": extension, "valueString": "x" });
            patient["_gender"] = json!({ "extension": [of] });
        }
        patient
    };
    let (one, other) = ("http://example.org/one", "http://example.org/other");
    let missing = &["rule-missing Patient.gender"][..];
    let must = later("mustHaveValue", "valueBoolean", json!(true));
    let may = later("mustHaveValue", "valueBoolean", json!(false));
    let either = later("valueAlternatives", "valueCanonical", json!(one));
    for (told, value, extension, expected) in [
        (&must, json!("male"), one, &[][..]),
        (&must, json!(null), "", &[]),
        (&must, json!(null), one, missing),
        (&may, json!(null), one, &[]),
        (&either, json!(null), one, &[]),
        (&either, json!(null), other, missing),
        (&either, json!("male"), other, &[]),
    ] {
        let elements = [element("Patient.gender", "", "", told.clone())];
        cases(Vec::new(), "Patient", &elements, &[(gender(value, extension), expected)]);
    }
}
