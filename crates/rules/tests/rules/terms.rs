//! Code systems and value sets as documents.

use rules::Mode;
use serde_json::{Value, json};

use crate::teaching::{errors, found, set};

#[test]
fn code_systems_and_value_sets_go_with_themselves() {
    let system = |more: Value| {
        let mut of = json!({ "resourceType": "CodeSystem", "url": "http://a.test/c",
            "status": "draft", "content": "complete" });
        of.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        of
    };
    let set_of = |system: &str| {
        json!({ "resourceType": "ValueSet", "status": "draft",
            "compose": { "include": [{ "system": system }] } })
    };
    let nested = json!([{ "code": "a", "concept": [{ "code": "b" }] }]);
    for (resource, expected) in [
        (system(json!({ "count": 2, "concept": nested })), &[][..]),
        (system(json!({ "count": 3, "concept": nested })), &["rule-code-system-count"]),
        (system(json!({ "content": "supplement" })), &["rule-code-system-supplement"]),
        (system(json!({ "content": "supplement", "supplements": "http://a.test/d" })), &[]),
        (system(json!({ "supplements": "http://a.test/d" })), &["rule-code-system-supplement"]),
        (
            system(json!({ "content": "not-present", "concept": nested })),
            &["rule-code-system-not-present"],
        ),
        (system(json!({ "url": "c" })), &["rule-system-not-absolute"]),
        (set_of("http://a.test/c"), &[]),
        (set_of("http://a.test/c|2"), &["rule-value-set-version"]),
    ] {
        let found = errors(&found(&set(Vec::new()), &resource, None, Mode::Authority));
        let codes: Vec<&str> = found.iter().filter_map(|of| of.split(' ').next()).collect();
        assert_eq!(codes, *expected, "{resource}");
    }
}

/// A code system with one property, and two concepts of which the second has a value of it.
fn with_property(property: Value, value: Value) -> Value {
    let mut told = json!({ "code": "up", "type": "code" });
    told.as_object_mut().unwrap().extend(property.as_object().unwrap().clone());
    let mut at = json!({ "code": told["code"] });
    at.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
    json!({ "resourceType": "CodeSystem", "url": "http://a.test/c", "status": "draft",
        "content": "complete", "property": [told],
        "concept": [{ "code": "a", "concept": [{ "code": "b" }] },
            { "code": "c", "property": [at] }] })
}

#[test]
fn properties_of_concepts_go_with_their_definitions() {
    let of_fhir = |name: &str| format!("http://hl7.org/fhir/concept-properties#{name}");
    let code = |code: &str| json!({ "valueCode": code });
    let parent = json!({ "uri": of_fhir("parent") });
    let weight = json!({ "code": "itemWeight", "type": "decimal", "uri": of_fhir("itemWeight") });
    let place = "CodeSystem.property[0]";
    let value = "CodeSystem.concept[1].property[0]";
    for (property, given, expected) in [
        (json!({}), code("z"), String::new()),
        (json!({ "uri": "http://a.test/p" }), code("z"), String::new()),
        (parent.clone(), code("b"), String::new()),
        (parent.clone(), code("z"), format!("rule-code-unknown {value}.valueCode")),
        (weight.clone(), json!({ "valueDecimal": 1.5 }), String::new()),
        (
            weight,
            json!({ "valueInteger": 1 }),
            format!("rule-definition-type {value}.valueInteger"),
        ),
        (
            json!({ "code": "parent", "uri": of_fhir("child") }),
            code("a"),
            format!("rule-concept-property-address {place}.uri"),
        ),
        (
            json!({ "uri": of_fhir("comment") }),
            code("a"),
            format!("rule-definition-type {place}.type"),
        ),
        (
            json!({ "uri": of_fhir("colour") }),
            code("a"),
            format!("rule-concept-property-address {place}.uri"),
        ),
        (json!({ "uri": of_fhir("order") }), code("a"), String::new()),
        (json!({ "uri": "colour" }), code("a"), format!("rule-system-not-absolute {place}.uri")),
    ] {
        let resource = with_property(property, given);
        let found = errors(&found(&set(Vec::new()), &resource, None, Mode::Authority));
        assert_eq!(found.join("; "), expected, "{resource}");
    }
    let mut twice = with_property(parent, code("a"));
    let again = twice["property"][0].clone();
    twice["property"].as_array_mut().unwrap().push(again);
    let found = errors(&found(&set(Vec::new()), &twice, None, Mode::Authority));
    let told = ["code", "uri"]
        .map(|of| format!("rule-concept-property-twice CodeSystem.property[1].{of}"));
    assert_eq!(found, told);
}

#[test]
fn filters_ask_for_codes_that_there_are() {
    let colours = "http://rules.test/colours";
    let place = "ValueSet.compose.include[0].filter[0]";
    for (system, property, op, value, expected) in [
        (colours, "concept", "is-a", "red", None),
        (colours, "concept", "in", "red,blue", None),
        (colours, "code", "regex", "r.*", None),
        (colours, "concept", "is-a", "green", Some("rule-code-unknown")),
        (colours, "concept", "not-in", "red,green", Some("rule-code-unknown")),
        (colours, "concept", "regex", "r.*", Some("rule-value-set-filter")),
        (colours, "code", "regex", "r(", Some("rule-value-set-filter")),
        (colours, "code", "exists", "true", Some("rule-value-set-filter")),
        // Properties of its own, and filters of terminologies that are not here.
        (colours, "hue", "=", "x", None),
        ("http://loinc.org", "concept", "is-a", "x", None),
    ] {
        let filter = json!({ "property": property, "op": op, "value": value });
        let resource = json!({ "resourceType": "ValueSet", "status": "draft",
            "compose": { "include": [{ "system": system, "filter": [filter] }] } });
        let found = errors(&found(&set(Vec::new()), &resource, None, Mode::Authority));
        let expected: Vec<String> = expected.iter().map(|code| format!("{code} {place}")).collect();
        assert_eq!(found, expected, "{resource}");
    }
}

#[test]
fn a_supplement_is_no_code_system_of_a_code() {
    let supplement = json!({ "resourceType": "CodeSystem", "url": "http://a.test/more",
        "status": "draft", "content": "supplement", "supplements": "http://loinc.org",
        "concept": [{ "code": "1-8" }] });
    let coded = |system: &str| {
        json!({ "resourceType": "Patient",
            "maritalStatus": { "coding": [{ "system": system, "code": "1-8" }] } })
    };
    for (system, expected) in [
        ("http://loinc.org", &[][..]),
        ("http://a.test/more", &["rule-system-is-supplement Patient.maritalStatus.coding[0]"]),
    ] {
        let set = set(vec![supplement.clone()]);
        let found = errors(&found(&set, &coded(system), None, Mode::Authority));
        assert_eq!(found, *expected, "{system}");
    }
}
