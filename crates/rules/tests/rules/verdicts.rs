//! What HL7's validator decides where FHIR leaves room, one verdict a test.

use rules::Mode;
use serde_json::{Value, json};

use crate::slices::slicing;
use crate::teaching::{element, errors, found, profile, set, url, value_set};

const UCUM: &str = "http://unitsofmeasure.org";

/// A profile named `case` of these elements, and what must be found in each resource.
fn cases(of: &str, elements: &[Value], cases: &[(Value, &[&str])]) {
    let set = set(vec![profile("case", of, elements)]);
    for (resource, expected) in cases {
        let found = found(&set, resource, Some("case"), Mode::Authority);
        assert_eq!(errors(&found), *expected, "{resource}");
    }
}

fn patient(more: Value) -> Value {
    let mut patient = json!({ "resourceType": "Patient" });
    patient.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    patient
}

fn observation(more: Value) -> Value {
    let mut all = json!({ "resourceType": "Observation", "status": "final",
        "code": { "text": "a" } });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn measured(quantity: Value) -> Value {
    observation(json!({ "valueQuantity": quantity }))
}

/// What would only warn holds nobody up, unless nobody can read it.
#[test]
fn an_invariant_that_nobody_can_read_is_an_error() {
    for (expression, expected) in [
        ("given.exists()", &[][..]),
        ("{}", &[]),
        ("conformsTo('http://nowhere')", &[]),
        ("nonsense(", &["rule-invariant-not-evaluated Patient.name[0]"]),
    ] {
        let rule = json!({ "key": "own-1", "severity": "warning", "human": "own",
            "expression": expression });
        let ruled = element("Patient.name", "", "", json!({ "constraint": [rule] }));
        cases("Patient", &[ruled], &[(patient(json!({ "name": [{ "family": "A" }] })), expected)]);
    }
}

/// What is said of all repetitions holds for those of a slice too.
#[test]
fn the_sliced_element_and_its_slice_both_count() {
    // A snapshot, for one that is made from a differential repeats in each slice what the sliced
    // element says.
    let mut definition = profile("case", "Patient", &[]);
    definition.as_object_mut().unwrap().remove("differential");
    let sliced = json!({ "type": [{ "code": "Identifier" }], "slicing": {
        "discriminator": [{ "type": "value", "path": "system" }], "rules": "open" } });
    definition["snapshot"] = json!({ "element": [
        element("Patient", "0..*", "", json!({})),
        element("Patient.identifier", "0..*", "", sliced),
        element("Patient.identifier.system", "0..1", "uri", json!({})),
        element("Patient.identifier.value", "1..1", "string", json!({ "maxLength": 3 })),
        element("Patient.identifier", "0..1", "Identifier", json!({ "sliceName": "a" })),
        element("Patient.identifier.system", "1..1", "uri",
            json!({ "id": "Patient.identifier:a.system", "fixedUri": "http://a" })),
    ] });
    let set = set(vec![definition]);
    for (identifier, expected) in [
        (json!({ "system": "http://a", "value": "1" }), &[][..]),
        (json!({ "system": "http://a" }), &["rule-missing Patient.identifier[0]"]),
        (json!({ "system": "http://b" }), &["rule-missing Patient.identifier[0]"]),
        (
            json!({ "system": "http://a", "value": "1234" }),
            &["rule-too-long Patient.identifier[0].value"],
        ),
    ] {
        let resource = patient(json!({ "identifier": [identifier] }));
        let found = errors(&found(&set, &resource, Some("case"), Mode::Authority));
        assert_eq!(found, *expected, "{resource}");
    }
}

#[test]
fn the_code_system_of_a_quantity_is_looked_at_like_that_of_a_code() {
    let coded =
        |system: &str, code: &str| measured(json!({ "value": 1, "system": system, "code": code }));
    let place = "Observation.valueQuantity";
    cases(
        "Observation",
        &[],
        &[
            (coded(UCUM, "mg"), &[]),
            (coded("ucum", "mg"), &[&format!("rule-system-not-absolute {place}.system")]),
            (coded(&value_set("reds"), "red"), &[&format!("rule-system-is-value-set {place}")]),
            (coded("http://rules.test/colours", "red"), &[]),
            (coded("http://rules.test/colours", "mg"), &[&format!("rule-code-unknown {place}")]),
            (
                coded("https://unitsofmeasure.org", "mg"),
                &[&format!("rule-code-system-wrong {place}")],
            ),
        ],
    );
}

#[test]
fn nothing_stands_beside_a_fixed_value() {
    let extension = json!([{ "url": "http://nobody.test/x", "valueString": "x" }]);
    let gender = |more: Value| {
        let mut patient = patient(json!({ "gender": "male" }));
        patient.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        patient
    };
    cases(
        "Patient",
        &[element("Patient.gender", "", "", json!({ "fixedCode": "male" }))],
        &[
            (gender(json!({})), &[]),
            (gender(json!({ "_gender": { "id": "a" } })), &[]),
            (
                gender(json!({ "_gender": { "extension": extension } })),
                &["rule-fixed-extension Patient.gender"],
            ),
        ],
    );
    // A pattern lets it stand.
    cases(
        "Patient",
        &[element("Patient.gender", "", "", json!({ "patternCode": "male" }))],
        &[(gender(json!({ "_gender": { "extension": extension } })), &[])],
    );
    let fixed = json!({ "fixedIdentifier": { "system": "http://a.test", "value": "1" } });
    cases(
        "Patient",
        &[element("Patient.identifier", "", "", fixed)],
        &[(
            patient(json!({ "identifier": [{ "system": "http://a.test", "value": "1",
                "_value": { "extension": extension } }] })),
            &["rule-fixed-value Patient.identifier[0]"],
        )],
    );
}

#[test]
fn bounds_of_quantities_are_compared_in_their_units() {
    let bound = |more: Value| {
        [element("Observation.value[x]", "", "Quantity", json!({ "minValueQuantity": more }))]
    };
    let value = |value: Value, code: &str| {
        measured(json!({ "value": value, "system": UCUM, "code": code }))
    };
    let place = "Observation.valueQuantity";
    let (small, other) =
        (&*format!("rule-too-small {place}"), &*format!("rule-unit-not-comparable {place}"));
    cases(
        "Observation",
        &bound(json!({ "value": 150, "system": UCUM, "code": "cm" })),
        &[
            (value(json!(150), "cm"), &[]),
            (value(json!(149), "cm"), &[small]),
            (value(json!(1.5), "m"), &[]),
            (value(json!(1.49), "m"), &[small]),
            (value(json!(200), "kg"), &[other]),
            (value(json!(200), "no-such-unit"), &[other]),
            // What has no code or another system is not compared.
            (measured(json!({ "value": 1 })), &[]),
            (measured(json!({ "value": 1, "system": UCUM })), &[]),
            (measured(json!({ "value": 1, "system": "http://other.test", "code": "cm" })), &[]),
        ],
    );
    // A bound that says no unit bounds nothing.
    for bare in [json!({ "value": 150 }), json!({ "value": 150, "system": UCUM })] {
        cases("Observation", &bound(bare), &[(value(json!(1), "cm"), &[])]);
    }
    // Of other code systems only the same code can be compared.
    let own = json!({ "value": 2, "system": "http://own.test", "code": "a" });
    let of_own =
        |code: &str| measured(json!({ "value": 1, "system": "http://own.test", "code": code }));
    cases("Observation", &bound(own), &[(of_own("a"), &[small]), (of_own("b"), &[])]);
    let great = element(
        "Observation.value[x]",
        "",
        "Quantity",
        json!({ "maxValueQuantity": { "value": 1, "system": UCUM, "code": "m" } }),
    );
    let exact: Value = serde_json::from_str("1").unwrap();
    let set = set(vec![profile("case", "Observation", std::slice::from_ref(&great))]);
    for (digits, expected) in [("1", 0), ("1.00000000000000001", 1), ("100.1", 1)] {
        // As text, for digits that no floating-point number keeps.
        let text = value(exact.clone(), "m")
            .to_string()
            .replace("\"value\":1", &format!("\"value\":{digits}"));
        let tree = fhir::Tree::read(text.as_bytes(), fhir::Format::Json, &fhir::Limits::default())
            .unwrap();
        let asked =
            rules::Asked { profiles: &[url("case")], mode: Mode::Authority, now: fhir::Instant(0) };
        let found = errors(&set.validate(&tree, &asked));
        assert_eq!(found, vec![format!("rule-too-great {place}"); expected], "{digits}");
    }
}

#[test]
fn a_slice_by_a_value_set_that_nobody_has_takes_nothing() {
    let slices = |set: &str| {
        let binding = json!({ "id": "Observation.category:known",
            "sliceName": "known", "binding": { "strength": "required", "valueSet": value_set(set) } });
        [
            element("Observation.category", "", "", slicing("value", "$this", "open")),
            element("Observation.category", "1..1", "", binding),
        ]
    };
    let coded = observation(json!({ "category": [{ "coding": [
        { "system": "http://rules.test/colours", "code": "red" }] }] }));
    cases("Observation", &slices("colours"), &[(coded.clone(), &[])]);
    cases("Observation", &slices("nowhere"), &[(coded, &["rule-slice-missing Observation"])]);
}

#[test]
fn membership_is_asked_of_codes_alone() {
    let holds = |resource: Value, expression: &str, is_kept: bool| {
        let rule = json!({ "constraint": [{ "key": "own-1", "severity": "error", "human": "own",
            "expression": expression }] });
        let expected: &[&str] = if is_kept { &[] } else { &["rule-invariant Observation"] };
        cases("Observation", &[element("Observation", "", "", rule)], &[(resource, expected)]);
    };
    let red = json!({ "value": 1, "system": "http://rules.test/colours", "code": "red" });
    let is_red = format!("value.memberOf('{}')", value_set("colours"));
    let coding = json!({ "coding": [{ "system": "http://rules.test/colours", "code": "red" }] });
    holds(observation(json!({ "valueCodeableConcept": coding })), &is_red, true);
    // Of a quantity it says nothing, whatever its code.
    holds(measured(red.clone()), &is_red, false);
    holds(measured(red), &format!("{is_red}.empty()"), true);
}

/// A value set whose filters leave nothing of a code system that is here.
#[test]
fn a_value_set_of_which_nothing_is_left_accepts_everything() {
    let include = |filter: &str| {
        json!([{ "system": "http://rules.test/colours", "filter": [
            { "property": "concept", "op": "is-a", "value": filter }] }])
    };
    let own = |include: Value| json!({ "resourceType": "ValueSet", "url": value_set("own"), "compose": { "include": include } });
    let mut without = own(include("blue"));
    without["compose"]["exclude"] = include("blue");
    let bound = json!({ "binding": { "strength": "required", "valueSet": value_set("own") } });
    let case = profile("case", "Observation", &[element("Observation.code", "", "", bound)]);
    let coded = json!({ "resourceType": "Observation", "status": "final", "code": { "coding": [
        { "system": "http://rules.test/colours", "code": "red" }] } });
    let out: &[&str] = &["rule-code-not-in-value-set Observation.code"];
    for (value_set, mode, expected) in [
        (own(include("blue")), Mode::Authority, out),
        (own(include("no-such-colour")), Mode::Authority, &[]),
        (without.clone(), Mode::Authority, &[]),
        (own(include("no-such-colour")), Mode::Strict, out),
    ] {
        let set = set(vec![case.clone(), value_set.clone()]);
        let found = errors(&found(&set, &coded, Some("case"), mode));
        assert_eq!(found, *expected, "{value_set} {mode:?}");
    }
}

#[test]
fn references_in_a_bundle_are_counted_by_their_parts() {
    let bundle = |reference: &str| {
        json!({ "resourceType": "Bundle", "type": "collection", "entry": [
            { "fullUrl": "http://x.test/Organization/1", "resource": {
                "resourceType": "Organization", "id": "1", "name": "A" } },
            { "fullUrl": "http://x.test/Organization/2", "resource": {
                "resourceType": "Organization", "id": "2", "name": "B",
                "partOf": { "reference": reference } } }] })
    };
    let form: &[&str] = &["rule-reference-form Bundle.entry[1].resource.partOf"];
    cases(
        "Bundle",
        &[],
        &[
            (bundle("Organization/1"), &[]),
            (bundle("Organization/1/"), &[]),
            (bundle("a/b/c/"), form),
            (bundle("a/b/c/d/"), &[]),
            (bundle("a"), form),
        ],
    );
}

#[test]
fn a_choice_that_two_slices_fit_belongs_to_the_last() {
    let slice = |name: &str, more: Value| {
        let mut all = json!({ "sliceName": name });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        element("Observation.value[x]", "0..1", "Quantity", all)
    };
    cases(
        "Observation",
        &[
            element("Observation.value[x]", "", "", slicing("type", "$this", "open")),
            slice("valueQuantity", json!({})),
            slice("measured", json!({})),
        ],
        &[(measured(json!({ "value": 1 })), &[])],
    );
}

#[test]
fn a_value_set_may_be_contained_in_the_definition() {
    let set_of = |code: &str| {
        json!({ "resourceType": "ValueSet", "id": "own", "status": "active",
            "compose": { "include": [{ "system": "http://a.b", "concept": [{ "code": code }] }] } })
    };
    let bound = json!({ "binding": { "strength": "required", "valueSet": "#own" } });
    let of = |name: &str, code: &str| {
        let mut of =
            profile(name, "Observation", &[element("Observation.code", "", "", bound.clone())]);
        of["contained"] = json!([set_of(code)]);
        of
    };
    // Each has its own of that id, and what builds on one keeps that one.
    let mut on = profile("on", "Observation", &[]);
    on["baseDefinition"] = json!(url("one"));
    let set = set(vec![of("one", "x"), of("two", "y"), on]);
    for (code, name, is_in) in [
        ("x", "one", true),
        ("y", "one", false),
        ("y", "two", true),
        ("x", "two", false),
        ("x", "on", true),
        ("y", "on", false),
    ] {
        let resource = json!({ "resourceType": "Observation", "status": "final",
            "code": { "coding": [{ "system": "http://a.b", "code": code }] } });
        let found = errors(&found(&set, &resource, Some(name), Mode::Authority));
        let out = ["rule-code-not-in-value-set Observation.code"];
        assert_eq!(found, if is_in { &[][..] } else { &out }, "{code} in {name}");
    }
}
