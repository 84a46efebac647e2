//! Slices by every discriminator, closed, ordered, open at the end, re-sliced, and without
//! discriminator.

use rules::Mode;
use serde_json::{Value, json};

use crate::teaching::{element, errors, extension, found, profile, set, url, value_set};

pub(crate) fn slicing(kind: &str, path: &str, rules: &str) -> Value {
    json!({ "slicing": { "discriminator": [{ "type": kind, "path": path }], "rules": rules } })
}

pub(crate) fn identifiers(of: &[(&str, &str)]) -> Value {
    let all: Vec<Value> =
        of.iter().map(|(system, value)| json!({ "system": system, "value": value })).collect();
    json!({ "resourceType": "Patient", "identifier": all })
}

/// Two slices of `Patient.identifier` by `system`.
fn by_system(rules: &str) -> Vec<Value> {
    let slice = |name: &str, cardinality: &str, system: &str| {
        [
            element("Patient.identifier", cardinality, "", json!({ "sliceName": name })),
            element(
                "Patient.identifier.system",
                "1..1",
                "",
                json!({ "id": format!("Patient.identifier:{name}.system"), "fixedUri": system }),
            ),
        ]
    };
    let mut all = vec![element("Patient.identifier", "", "", slicing("value", "system", rules))];
    all.extend(slice("one", "1..1", "http://one"));
    all.extend(slice("two", "0..1", "http://two"));
    all
}

pub(crate) fn check(definitions: Vec<Value>, resource: &Value, expected: &[&str]) {
    let set = set(definitions);
    assert_eq!(
        errors(&found(&set, resource, Some("case"), Mode::Authority)),
        *expected,
        "{resource}"
    );
}

#[test]
fn by_value_open_closed_ordered_and_open_at_end() {
    let of = |rules: &str| vec![profile("case", "Patient", &by_system(rules))];
    check(of("open"), &identifiers(&[("http://x", "1"), ("http://one", "2")]), &[]);
    check(of("open"), &identifiers(&[("http://two", "2")]), &["rule-slice-missing Patient"]);
    check(
        of("open"),
        &identifiers(&[("http://one", "1"), ("http://one", "2")]),
        &["rule-too-many Patient.identifier[1]"],
    );
    check(
        of("closed"),
        &identifiers(&[("http://one", "1"), ("http://x", "2")]),
        &["rule-slice-unknown Patient.identifier[1]"],
    );
    check(of("openAtEnd"), &identifiers(&[("http://one", "1"), ("http://x", "2")]), &[]);
    let late = identifiers(&[("http://x", "2"), ("http://one", "1")]);
    check(of("openAtEnd"), &late, &[]);
    let strict = found(&set(of("openAtEnd")), &late, Some("case"), Mode::Strict);
    assert_eq!(errors(&strict), ["rule-slice-order Patient.identifier[1]"]);
    let mut ordered = by_system("open");
    ordered[0]["slicing"]["ordered"] = json!(true);
    check(
        vec![profile("case", "Patient", &ordered)],
        &identifiers(&[("http://two", "2"), ("http://one", "1")]),
        &["rule-slice-order Patient.identifier[1]"],
    );
}

#[test]
fn by_pattern_of_the_parent_and_of_this() {
    let coded = |slices: Value, discriminator: Value| {
        let pattern = json!({ "coding": [{ "system": "http://a.b", "code": "x" }] });
        let mut slice = json!({ "sliceName": "x", "patternCodeableConcept": pattern });
        slice.as_object_mut().unwrap().extend(slices.as_object().unwrap().clone());
        vec![profile(
            "case",
            "Observation",
            &[
                element("Observation.category", "", "", discriminator),
                element("Observation.category", "1..1", "", slice),
            ],
        )]
    };
    let observation = |code: &str| {
        json!({ "resourceType": "Observation", "status": "final", "code": { "text": "a" },
            "category": [{ "text": "y" }, { "coding": [{ "system": "http://a.b", "code": code }] }] })
    };
    for (kind, path) in [("pattern", "$this"), ("value", "$this"), ("value", "coding.code")] {
        check(coded(json!({}), slicing(kind, path, "open")), &observation("x"), &[]);
        check(
            coded(json!({}), slicing(kind, path, "open")),
            &observation("z"),
            &["rule-slice-missing Observation"],
        );
    }
}

#[test]
fn by_a_required_binding() {
    let binding = json!({ "sliceName": "red",
        "binding": { "strength": "required", "valueSet": value_set("reds") } });
    let definitions = || {
        vec![profile(
            "case",
            "Observation",
            &[
                element("Observation.category", "", "", slicing("value", "$this", "open")),
                element("Observation.category", "1..1", "", binding.clone()),
            ],
        )]
    };
    let observation = |code: &str| {
        json!({ "resourceType": "Observation", "status": "final", "code": { "text": "a" },
            "category": [{ "coding": [{ "system": "http://rules.test/colours", "code": code }] }] })
    };
    check(definitions(), &observation("pink"), &[]);
    check(definitions(), &observation("blue"), &["rule-slice-missing Observation"]);
}

#[test]
fn by_type_and_by_existence() {
    let typed = || {
        vec![profile(
            "case",
            "Observation",
            &[
                element("Observation.value[x]", "", "", slicing("type", "$this", "closed")),
                element(
                    "Observation.value[x]",
                    "1..1",
                    "Quantity",
                    json!({ "sliceName": "valueQuantity" }),
                ),
                element(
                    "Observation.value[x].code",
                    "1..1",
                    "",
                    json!({ "id": "Observation.value[x]:valueQuantity.code" }),
                ),
            ],
        )]
    };
    let observation = |more: Value| {
        let mut of =
            json!({ "resourceType": "Observation", "status": "final", "code": { "text": "a" } });
        of.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        of
    };
    check(typed(), &observation(json!({ "valueQuantity": { "value": 1, "code": "g" } })), &[]);
    check(
        typed(),
        &observation(json!({ "valueQuantity": { "value": 1 } })),
        &["rule-missing Observation.valueQuantity"],
    );
    let exists = || {
        let slice = |name: &str, cardinality: &str, period: &str| {
            [
                element("Patient.identifier", cardinality, "", json!({ "sliceName": name })),
                element(
                    "Patient.identifier.period",
                    period,
                    "",
                    json!({ "id": format!("Patient.identifier:{name}.period") }),
                ),
            ]
        };
        let mut all =
            vec![element("Patient.identifier", "", "", slicing("exists", "period", "open"))];
        all.extend(slice("dated", "0..1", "1..1"));
        all.extend(slice("plain", "1..*", "0..0"));
        vec![profile("case", "Patient", &all)]
    };
    let dated = json!({ "value": "1", "period": { "start": "2024" } });
    let plain = json!({ "value": "2" });
    let of = |all: Value| json!({ "resourceType": "Patient", "identifier": all });
    check(exists(), &of(json!([dated, plain])), &[]);
    check(exists(), &of(json!([dated])), &["rule-slice-missing Patient"]);
    check(exists(), &of(json!([dated, dated, plain])), &["rule-too-many Patient.identifier[1]"]);
}

#[test]
fn by_the_profile_of_a_target_with_the_nearest_reasons() {
    let named =
        profile("named", "Organization", &[element("Organization.name", "1..1", "", json!({}))]);
    let definitions = || {
        let target = json!({ "sliceName": "lab",
            "type": [{ "code": "Reference", "targetProfile": [url("named")] }] });
        vec![
            named.clone(),
            profile(
                "case",
                "Observation",
                &[
                    element(
                        "Observation.performer",
                        "",
                        "",
                        slicing("profile", "$this.resolve()", "open"),
                    ),
                    element("Observation.performer", "1..1", "", target),
                ],
            ),
        ]
    };
    let observation = |organization: Value| {
        json!({ "resourceType": "Observation", "status": "final", "code": { "text": "a" },
            "contained": [organization], "performer": [{ "reference": "#o" }] })
    };
    let named = json!({ "resourceType": "Organization", "id": "o", "name": "Lab" });
    check(definitions(), &observation(named), &[]);
    // Not "slice missing", but why: where it is to be mended.
    let unnamed = json!({ "resourceType": "Organization", "id": "o" });
    check(definitions(), &observation(unnamed), &["rule-missing Observation.contained[0]"]);
}

#[test]
fn by_the_type_and_a_value_of_a_target() {
    let definitions = |kind: &str, path: &str, slice: Value| {
        let target = json!({ "sliceName": "lab",
            "type": [{ "code": "Reference", "targetProfile": [url("fixed")] }] });
        let fixed =
            profile("fixed", "Organization", &[element("Organization.name", "1..1", "", slice)]);
        vec![
            fixed,
            profile(
                "case",
                "Observation",
                &[
                    element("Observation.performer", "", "", slicing(kind, path, "open")),
                    element("Observation.performer", "1..1", "", target),
                ],
            ),
        ]
    };
    let observation = |contained: Value| {
        json!({ "resourceType": "Observation", "status": "final", "code": { "text": "a" },
            "contained": [contained], "performer": [{ "reference": "#o" }] })
    };
    let lab = json!({ "resourceType": "Organization", "id": "o", "name": "Lab" });
    let other = json!({ "resourceType": "Organization", "id": "o", "name": "Other" });
    let patient = json!({ "resourceType": "Patient", "id": "o" });
    let fixed = json!({ "fixedString": "Lab" });
    check(definitions("value", "resolve().name", fixed.clone()), &observation(lab.clone()), &[]);
    check(
        definitions("value", "resolve().name", fixed),
        &observation(other),
        &["rule-slice-missing Observation"],
    );
    check(definitions("type", "resolve()", json!({})), &observation(lab), &[]);
    check(
        definitions("type", "resolve()", json!({})),
        &observation(patient),
        &["rule-slice-missing Observation"],
    );
}

#[test]
fn by_the_value_of_an_extension_and_by_a_type_inside() {
    let definitions = |path: &str| {
        let slice = json!({ "sliceName": "marked" });
        let marked = element("Patient.name", "1..1", "", slice);
        let inside = element(
            "Patient.name.extension",
            "1..1",
            "Extension",
            json!({ "id": "Patient.name:marked.extension:mark", "sliceName": "mark",
                "type": [{ "code": "Extension", "profile": [url("mark")] }] }),
        );
        let mut mark = extension("mark", &[("element", "HumanName")], "code", false);
        mark["differential"]["element"][2]["fixedCode"] = json!("yes");
        vec![
            mark,
            profile(
                "case",
                "Patient",
                &[element("Patient.name", "", "", slicing("value", path, "open")), marked, inside],
            ),
        ]
    };
    let name = |code: &str| {
        json!({ "resourceType": "Patient", "name": [{ "family": "A",
            "extension": [{ "url": url("mark"), "valueCode": code }] }] })
    };
    for path in [
        "extension('http://rules.test/StructureDefinition/mark').value",
        "extension('http://rules.test/StructureDefinition/mark').value.ofType(code)",
    ] {
        check(definitions(path), &name("yes"), &[]);
        let found = found(&set(definitions(path)), &name("no"), Some("case"), Mode::Authority);
        assert!(errors(&found).contains(&"rule-slice-missing Patient".to_owned()), "{found:?}");
    }
}

#[test]
fn re_sliced() {
    let mut all = by_system("open");
    all[1]["max"] = json!("*");
    all[1]["slicing"] = slicing("value", "use", "open")["slicing"].clone();
    let again = |name: &str, cardinality: &str, code: &str| {
        [
            element(
                "Patient.identifier",
                cardinality,
                "",
                json!({ "sliceName": format!("one/{name}"), "id": format!("Patient.identifier:one/{name}") }),
            ),
            element(
                "Patient.identifier.use",
                "1..1",
                "",
                json!({ "id": format!("Patient.identifier:one/{name}.use"), "fixedCode": code }),
            ),
        ]
    };
    all.extend(again("old", "0..1", "old"));
    all.extend(again("usual", "1..1", "usual"));
    let of = |uses: &[&str]| {
        let all: Vec<Value> = uses
            .iter()
            .map(|of| json!({ "use": of, "system": "http://one", "value": "1" }))
            .collect();
        json!({ "resourceType": "Patient", "identifier": all })
    };
    let definitions = || vec![profile("case", "Patient", &all)];
    check(definitions(), &of(&["usual", "old"]), &[]);
    check(definitions(), &of(&["old"]), &["rule-slice-missing Patient"]);
    check(definitions(), &of(&["usual", "old", "old"]), &["rule-too-many Patient.identifier[2]"]);
}

#[test]
fn by_position_and_without_discriminator() {
    let of = |slicing: Value| {
        let first = json!({ "sliceName": "first" });
        vec![profile(
            "case",
            "Patient",
            &[
                element("Patient.name", "", "", slicing),
                element("Patient.name", "0..1", "", first),
                element(
                    "Patient.name.family",
                    "1..1",
                    "",
                    json!({ "id": "Patient.name:first.family" }),
                ),
            ],
        )]
    };
    let names =
        |first: Value| json!({ "resourceType": "Patient", "name": [first, { "given": ["B"] }] });
    let by_position = || of(slicing("position", "$this", "open"));
    check(by_position(), &names(json!({ "family": "A" })), &[]);
    check(by_position(), &names(json!({ "given": ["A"] })), &["rule-missing Patient.name[0]"]);
    let without = || of(json!({ "slicing": { "rules": "open" } }));
    check(without(), &names(json!({ "given": ["A"] })), &[]);
}

#[test]
fn by_values_that_nothing_in_the_slice_decides() {
    let bare = || {
        let slice = json!({ "sliceName": "bare" });
        let slicing = slicing("value", "system", "open");
        vec![profile(
            "case",
            "Patient",
            &[
                element("Patient.identifier", "", "", slicing),
                element("Patient.identifier", "0..1", "", slice),
            ],
        )]
    };
    check(bare(), &json!({ "resourceType": "Patient" }), &[]);
    check(
        bare(),
        &identifiers(&[("http://x", "1")]),
        &["rule-slicing-not-decided Patient.identifier[0]"],
    );
}

/// The slice is described twice: by elements of its own, and by the profile of its type.
#[test]
fn by_a_value_that_only_the_profile_of_the_type_names() {
    let mut of_type = profile(
        "of-type",
        "Identifier",
        &[element("Identifier.system", "1..1", "", json!({ "fixedUri": "http://one" }))],
    );
    of_type["kind"] = json!("complex-type");
    let typed = json!({ "sliceName": "one",
        "type": [{ "code": "Identifier", "profile": [url("of-type")] }] });
    let bound = json!({ "id": "Patient.identifier:one.system",
        "binding": { "strength": "required", "valueSet": value_set("foreign") } });
    let definitions = || {
        let elements = [
            element("Patient.identifier", "", "", slicing("value", "system", "closed")),
            element("Patient.identifier", "0..1", "", typed.clone()),
            element("Patient.identifier.system", "", "", bound.clone()),
        ];
        vec![of_type.clone(), profile("case", "Patient", &elements)]
    };
    let unknown = &["rule-slice-unknown Patient.identifier[0]"];
    check(definitions(), &identifiers(&[("http://two", "1")]), unknown);
}
