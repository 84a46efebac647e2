//! One mistake, one line: what follows from a mistake that is told is not told beside it.

use rules::Mode;
use serde_json::{Value, json};

use crate::teaching::{BASE, element, errors, found, profile, set, url, value_set};

/// What is told of a resource under these profiles.
fn told(profiles: Vec<Value>, resource: &Value) -> Vec<String> {
    let mut resource = resource.clone();
    let urls: Vec<Value> = profiles.iter().map(|of| of["url"].clone()).collect();
    resource["meta"] = json!({ "profile": urls });
    errors(&found(&set(profiles), &resource, None, Mode::Authority))
}

/// An entry that is there twice makes its address mean two things and stands too often, and nothing
/// leads to it.
#[test]
fn an_entry_that_is_there_twice_is_told_at_the_second_one() {
    let (one, two) = (
        "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000001",
        "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000002",
    );
    let own_rule = json!({ "constraint": [{ "key": "bdl-7", "severity": "error", "human": "unique",
        "expression": "entry.where(fullUrl.exists()).select(fullUrl).isDistinct()" }] });
    let few = element("Bundle.entry", "", "", json!({ "max": "2" }));
    let rules = || {
        vec![profile(
            "whole",
            "Bundle",
            &[element("Bundle", "", "", own_rule.clone()), few.clone()],
        )]
    };
    let lab =
        json!({ "fullUrl": two, "resource": { "resourceType": "Organization", "name": "A" } });
    let composition = json!({ "resourceType": "Composition", "author": [{ "reference": two }] });
    let of = |entries: &[&Value]| {
        let first = json!({ "fullUrl": one, "resource": composition });
        let entries: Vec<&Value> = [&[&first], entries].concat();
        let all = told(
            rules(),
            &json!({ "resourceType": "Bundle", "type": "document", "entry": entries }),
        );
        all.into_iter().filter(|of| of.starts_with("rule-")).collect::<Vec<_>>()
    };
    assert_eq!(of(&[&lab]), [""; 0]);
    assert_eq!(of(&[&lab, &lab]), ["rule-invariant Bundle.entry[2]"]);
    // Another entry that nothing leads to is a mistake of its own.
    let loose = json!({ "fullUrl": "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000003", "resource": { "resourceType": "Organization", "name": "B" } });
    assert_eq!(
        of(&[&lab, &lab, &loose]),
        [
            "rule-invariant Bundle.entry[2]",
            "rule-too-many Bundle.entry[2]",
            "rule-bundle-not-reached Bundle.entry[3]"
        ]
    );
}

/// Two entries of one address that are not the same: taking the address from one of them leaves
/// both, so what is wrong with both is told.
#[test]
fn two_entries_that_share_an_address_and_differ_are_told_with_all_else() {
    let address = "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000002";
    let own_rule = json!({ "constraint": [{ "key": "bdl-7", "severity": "error", "human": "unique",
        "expression": "entry.where(fullUrl.exists()).select(fullUrl).isDistinct()" }] });
    let few = element("Bundle.entry", "", "", json!({ "max": "1" }));
    let rules = vec![profile("whole", "Bundle", &[element("Bundle", "", "", own_rule), few])];
    let lab = |name: &str| json!({ "fullUrl": address, "resource": { "resourceType": "Organization", "name": name } });
    let of = |entries: &[Value]| {
        let bundle = json!({ "resourceType": "Bundle", "type": "collection", "entry": entries });
        let all = told(rules.clone(), &bundle).into_iter();
        all.filter(|of| of.starts_with("rule-")).collect::<Vec<_>>()
    };
    assert_eq!(of(&[lab("A"), lab("A")]), ["rule-invariant Bundle.entry[1]"]);
    assert_eq!(
        of(&[lab("A"), lab("B")]),
        ["rule-invariant Bundle.entry[1]", "rule-too-many Bundle.entry[1]"]
    );
    // Each of them is named.
    assert_eq!(
        of(&[lab("A"), lab("A"), lab("A")]),
        ["rule-invariant Bundle.entry[1]", "rule-invariant Bundle.entry[2]"]
    );
}

/// Too many of one slice are told beside too many of all, unless they are the same ones.
#[test]
fn too_many_of_a_slice_and_of_all_are_one_cause_only_where_they_are_the_same() {
    let rules = |most: &str| {
        let sliced = json!({ "max": most, "slicing": {
            "discriminator": [{ "type": "value", "path": "family" }], "rules": "open" } });
        let elements = [
            element("Patient.name", "", "", sliced),
            element("Patient.name", "", "", json!({ "sliceName": "o", "max": "1" })),
            element(
                "Patient.name.family",
                "1..1",
                "",
                json!({ "id": "Patient.name:o.family", "fixedString": "O" }),
            ),
        ];
        vec![profile("few", "Patient", &elements)]
    };
    let of = |most: &str, families: &[&str]| {
        let names: Vec<Value> = families.iter().map(|of| json!({ "family": of })).collect();
        told(rules(most), &json!({ "resourceType": "Patient", "name": names }))
    };
    assert_eq!(of("1", &["O", "O"]), ["rule-too-many Patient.name[1]"]);
    let both = of("3", &["A", "O", "B", "O", "C"]);
    assert_eq!(both, ["rule-too-many Patient.name[3]"; 2]);
}

/// Where nobody has defined the type of a resource, what the base check says of it stands.
#[test]
fn without_the_definitions_of_fhir_the_base_check_speaks() {
    let other = profile("other", "Organization", &[]);
    let rules = rules::RuleSet::of(vec![crate::teaching::package(vec![other])]);
    let observation = json!({ "resourceType": "Observation", "code": { "text": "x" } });
    let all = errors(&found(&rules, &observation, None, Mode::Authority));
    assert_eq!(all, ["missing-element Observation"]);
}

/// What an empty element lacks is not listed: it is empty.
#[test]
fn of_an_empty_element_it_is_told_that_it_is_empty() {
    let there = json!({ "constraint": [{ "key": "a-1", "severity": "error", "human": "a part is there",
        "expression": "family.exists() or given.exists()" }] });
    let elements = [
        element("Patient.name", "", "", there),
        element("Patient.name.family", "1..1", "", json!({})),
        element("Patient.name.given", "1..*", "", json!({})),
    ];
    let rules = || vec![profile("named", "Patient", &elements)];
    let of = |names: Value| told(rules(), &json!({ "resourceType": "Patient", "name": names }));
    assert_eq!(of(json!([{ "given": ["A"] }])), ["rule-missing Patient.name[0]"]);
    // An invariant may be about more than what stands in the element.
    assert_eq!(
        of(json!([{}])),
        ["empty-element Patient.name[0]", "rule-invariant Patient.name[0]"]
    );
}

/// A code that must be a certain one: which others its value set has is no help.
#[test]
fn where_one_code_is_demanded_its_value_set_is_not_told() {
    let status = |name: &str, more: Value| {
        profile(name, "Patient", &[element("Patient.gender", "", "", more)])
    };
    let bound = |set: &str| json!({ "binding": { "strength": "required", "valueSet": set } });
    let set = value_set("listed");
    let versioned = format!("{set}|1.0.0");
    let patient = json!({ "resourceType": "Patient", "gender": "x" });
    let twice = vec![status("bound", bound(&set)), status("again", bound(&versioned))];
    assert_eq!(told(twice, &patient), ["rule-code-not-in-value-set Patient.gender"]);
    let exact =
        vec![status("bound", bound(&set)), status("exact", json!({ "patternCode": "1-8" }))];
    assert_eq!(told(exact, &patient), ["rule-fixed-value Patient.gender"]);
}

/// A reference to what no profile allows: the one that allows least is told.
#[test]
fn a_reference_that_leads_to_a_wrong_type_is_told_once() {
    let to = |name: &str, targets: &[&str]| {
        let targets: Vec<String> = targets.iter().map(|of| format!("{BASE}{of}")).collect();
        let types = json!({ "type": [{ "code": "Reference", "targetProfile": targets }] });
        profile(name, "Observation", &[element("Observation.subject", "", "", types)])
    };
    let rules = vec![to("many", &["Patient", "Patient", "Observation"]), to("one", &["Patient"])];
    let observation = json!({ "resourceType": "Observation", "status": "final", "code": { "text": "a" },
        "contained": [{ "resourceType": "Organization", "id": "a", "name": "A" }],
        "subject": { "reference": "#a" } });
    let all =
        found(&set(rules), &with_profiles(&observation, &["many", "one"]), None, Mode::Authority);
    let wrong: Vec<_> = all.iter().filter(|of| of.code == "rule-reference-type").collect();
    assert_eq!(wrong.len(), 1, "{all:?}");
    let expected = ("expected".to_owned(), "Patient".to_owned());
    assert!(wrong[0].params.contains(&expected), "{wrong:?}");
}

/// An element of which a slice is missing: the slice says more exactly what is missing.
#[test]
fn a_missing_slice_says_that_its_element_is_missing() {
    let sliced = json!({ "min": 1, "slicing": { "discriminator": [{ "type": "value", "path": "system" }],
        "rules": "open" } });
    let slice = json!({ "sliceName": "own", "min": 1 });
    let system = json!({ "id": "Patient.identifier:own.system", "fixedUri": "http://a.test" });
    let elements = [
        element("Patient.identifier", "", "", sliced),
        element("Patient.identifier", "", "", slice),
        element("Patient.identifier.system", "1..1", "", system),
    ];
    let of = |more: Value| told(vec![profile("own", "Patient", &elements)], &more);
    let other = json!([{ "system": "http://b.test", "value": "1" }]);
    let empty = json!({ "resourceType": "Patient", "name": [{ "family": "A" }] });
    assert_eq!(of(empty), ["rule-slice-missing Patient"]);
    assert_eq!(
        of(json!({ "resourceType": "Patient", "identifier": other })),
        ["rule-slice-missing Patient"]
    );
}

fn with_profiles(resource: &Value, names: &[&str]) -> Value {
    let mut resource = resource.clone();
    resource["meta"] = json!({ "profile": names.iter().map(|of| url(of)).collect::<Vec<_>>() });
    resource
}

/// HL7's validator tells each rule that fails; what two publishers write alike is one.
#[test]
fn rules_of_one_key_are_told_apart_by_what_they_ask() {
    let rule = |expression: &str| {
        json!({ "constraint": [{ "key": "own-1", "severity": "error", "human": "own",
            "expression": expression }] })
    };
    let of = |name: &str, expression: &str| {
        profile(name, "Patient", &[element("Patient", "", "", rule(expression))])
    };
    let profiles = vec![
        of("one", "name.family.exists()"),
        of("two", "name.trace('n').family .exists()"),
        of("three", "gender.exists()"),
    ];
    let urls: Vec<Value> = profiles.iter().map(|of| of["url"].clone()).collect();
    let patient = json!({ "resourceType": "Patient", "meta": { "profile": urls },
        "active": true });
    let found = found(&set(profiles), &patient, None, Mode::Authority);
    assert_eq!(errors(&found), ["rule-invariant Patient"; 2]);
    let texts: Vec<&str> = found
        .iter()
        .flat_map(|of| of.params.iter().filter(|(name, _)| name == "text"))
        .map(|(_, text)| text.as_str())
        .collect();
    assert_eq!(texts, ["own (name.family.exists())", "own (gender.exists())"]);
}

/// A rule that asks a result to conform to a profile says why it does not: the reasons stand at
/// their own places, with the key of the rule.
#[test]
fn what_does_not_conform_is_told_where_it_does_not() {
    let rule = |expression: &str| {
        json!({ "constraint": [{ "key": "form-loinc", "severity": "error",
            "human": "of the mapped form", "expression": expression }] })
    };
    let strict = || {
        let positive = json!({ "constraint": [{ "key": "positive", "severity": "error",
            "human": "more than nought", "expression": "value.value > 0" }] });
        let elements = [
            element("Observation", "", "", positive),
            element("Observation.value[x]", "1..1", "Quantity", json!({})),
            element("Observation.performer", "0..0", "", json!({})),
        ];
        profile("strict", "Observation", &elements)
    };
    let mapped = format!("code.exists() implies conformsTo('{}')", url("strict"));
    let result = |more: Value| {
        let mut of =
            json!({ "resourceType": "Observation", "status": "final", "code": { "text": "x" } });
        of.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        of
    };
    let of = |expression: &str, more: &[Value], resource: &Value| {
        let root = element("Observation", "", "", rule(expression));
        let elements = [&[root], more].concat();
        let set = set(vec![profile("case", "Observation", &elements), strict()]);
        let found = found(&set, resource, Some("case"), Mode::Authority);
        let key = |of: &fhir::Finding| {
            of.params.iter().find(|(name, _)| name == "rule").map(|(_, key)| key.clone())
        };
        let keys: Vec<_> = found.iter().filter_map(key).collect();
        (errors(&found), keys)
    };
    let text = result(json!({ "valueString": "x" }));
    let (told, keys) = of(&mapped, &[], &text);
    assert_eq!(told, ["rule-type-not-allowed Observation.valueString"]);
    assert_eq!(keys, ["form-loinc"]);
    assert_eq!(of(&mapped, &[], &result(json!({}))).0, ["rule-missing Observation"]);
    assert_eq!(of(&mapped, &[], &result(json!({ "valueQuantity": { "value": 1 } }))).0, [""; 0]);
    // Nought is a mistake of its own, with a key of its own; that nothing is no more than nought
    // follows from its being missing.
    let (told, keys) = of(&mapped, &[], &result(json!({ "valueQuantity": { "value": 0 } })));
    assert_eq!(told, ["rule-invariant Observation", "rule-invariant Observation"]);
    assert_eq!(keys, ["positive", "form-loinc"]);
    // What another profile asks for too is one line, and has the key all the same.
    let same = [element("Observation.value[x]", "1..1", "", json!({}))];
    let (told, keys) = of(&mapped, &same, &result(json!({})));
    assert_eq!(told, ["rule-missing Observation"]);
    assert_eq!(keys, ["form-loinc"]);
    // A profile that nobody has gives no reasons, and what may not conform has none.
    let unknown = format!("code.exists() implies conformsTo('{}')", url("nowhere"));
    assert_eq!(of(&unknown, &[], &text).0, ["rule-invariant-not-evaluated Observation"]);
    let never = format!("conformsTo('{}').not() and code.empty()", url("strict"));
    assert_eq!(of(&never, &[], &text).0, ["rule-invariant Observation"]);
}
