//! Single elements: number, type, value, code, invariant, extension, reference.

use rules::{Asked, Mode};
use serde_json::{Value, json};

use crate::teaching::{element, errors, extension, found, package, profile, set, url, value_set};

/// A profile of one element, and resources with what must be found in each.
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

#[test]
fn number_of_elements() {
    cases(
        "Patient",
        &[
            element("Patient.name", "1..2", "", json!({})),
            element("Patient.contact", "0..0", "", json!({})),
        ],
        &[
            (patient(json!({ "name": [{ "family": "A" }] })), &[]),
            (patient(json!({})), &["rule-missing Patient"]),
            (
                patient(
                    json!({ "name": [{ "family": "A" }, { "family": "B" }, { "family": "C" }] }),
                ),
                &["rule-too-many Patient.name[2]"],
            ),
            (
                patient(
                    json!({ "name": [{ "family": "A" }], "contact": [{ "name": { "family": "A" } }] }),
                ),
                &["rule-too-many Patient.contact[0]"],
            ),
        ],
    );
}

#[test]
fn elements_of_a_datatype_are_reached_by_a_differential() {
    cases(
        "Patient",
        &[element("Patient.name.family", "1..1", "", json!({ "maxLength": 3 }))],
        &[
            (patient(json!({ "name": [{ "family": "Abc" }] })), &[]),
            (patient(json!({ "name": [{ "given": ["A"] }] })), &["rule-missing Patient.name[0]"]),
            (
                patient(json!({ "name": [{ "family": "Abcd" }] })),
                &["rule-too-long Patient.name[0].family"],
            ),
        ],
    );
}

#[test]
fn type_of_a_choice() {
    cases(
        "Patient",
        &[element(
            "Patient.multipleBirth[x]",
            "",
            "integer",
            json!({ "minValueInteger": 1, "maxValueInteger": 8 }),
        )],
        &[
            (patient(json!({ "multipleBirthInteger": 8 })), &[]),
            (
                patient(json!({ "multipleBirthBoolean": true })),
                &["rule-type-not-allowed Patient.multipleBirthBoolean"],
            ),
            (
                patient(json!({ "multipleBirthInteger": 0 })),
                &["rule-too-small Patient.multipleBirthInteger"],
            ),
            (
                patient(json!({ "multipleBirthInteger": 9 })),
                &["rule-too-great Patient.multipleBirthInteger"],
            ),
        ],
    );
}

#[test]
fn fixed_and_pattern_values() {
    let coded = |coding: Value| json!({ "resourceType": "Observation", "status": "final", "code": { "coding": coding } });
    let pattern = json!({ "patternCodeableConcept": { "coding": [{ "system": "http://a.b", "code": "x" }] } });
    cases(
        "Observation",
        &[
            element("Observation.status", "", "", json!({ "fixedCode": "final" })),
            element("Observation.code", "", "", pattern),
        ],
        &[
            (
                coded(
                    json!([{ "system": "http://c.d", "code": "y" }, { "system": "http://a.b", "code": "x", "display": "X" }]),
                ),
                &[],
            ),
            (
                coded(json!([{ "system": "http://a.b", "code": "y" }])),
                &["rule-pattern Observation.code"],
            ),
            (
                json!({ "resourceType": "Observation", "status": "amended",
                    "code": { "coding": [{ "system": "http://a.b", "code": "x" }] } }),
                &["rule-fixed-value Observation.status"],
            ),
        ],
    );
    let fixed = json!({ "fixedCoding": { "system": "http://a.b", "code": "x" } });
    cases(
        "Observation",
        &[element("Observation.code.coding", "", "", fixed)],
        &[
            (coded(json!([{ "system": "http://a.b", "code": "x" }])), &[]),
            (
                coded(json!([{ "system": "http://a.b", "code": "x", "display": "X" }])),
                &["rule-fixed-value Observation.code.coding[0]"],
            ),
        ],
    );
}

#[test]
fn codes_are_in_out_or_unknown() {
    let bound = |set: &str| {
        let binding = json!({ "binding": { "strength": "required", "valueSet": value_set(set) } });
        vec![element("Observation.code", "", "", binding)]
    };
    let coded = |system: &str, code: &str| {
        json!({ "resourceType": "Observation", "status": "final",
            "code": { "coding": [{ "system": system, "code": code }] } })
    };
    let out: &[&str] = &["rule-code-not-in-value-set Observation.code"];
    let colours = "http://rules.test/colours";
    for (set, system, code, expected) in [
        ("colours", colours, "pink", &[][..]),
        ("reds", colours, "pink", &[]),
        ("reds", colours, "red", &[]),
        ("reds", colours, "blue", out),
        ("listed", "http://loinc.org", "1-8", &[]),
        ("listed", "http://loinc.org", "9-9", out),
        ("listed", colours, "red", out),
        ("pattern", "http://loinc.org", "1-8", &[]),
        ("pattern", "http://loinc.org", "11-8", out),
        ("foreign", "http://snomed.info/sct", "anything", &[]),
        ("foreign", "http://loinc.org", "1-8", out),
        ("empty", "http://loinc.org", "1-8", &[]),
        ("nowhere", "http://loinc.org", "1-8", &[]),
    ] {
        cases("Observation", &bound(set), &[(coded(system, code), expected)]);
    }
    let words =
        json!({ "resourceType": "Observation", "status": "final", "code": { "text": "red" } });
    cases("Observation", &bound("colours"), &[(words, &["rule-code-missing Observation.code"])]);
    // Without its code system a coding says nothing.
    let bare = json!({ "resourceType": "Observation", "status": "final", "code": { "coding": [{ "code": "x" }] } });
    cases("Observation", &bound("colours"), &[(bare, &[])]);
    let unknown = coded(colours, "green");
    cases("Observation", &[], &[(unknown, &["rule-code-unknown Observation.code.coding[0]"])]);
}

#[test]
fn an_extensible_binding_warns_and_its_bound_does_not() {
    let max = "http://hl7.org/fhir/StructureDefinition/elementdefinition-maxValueSet";
    let binding = json!({ "binding": {
        "strength": "extensible", "valueSet": value_set("reds"),
        "extension": [{ "url": max, "valueCanonical": value_set("colours") }]
    } });
    let elements = [element("Observation.code", "", "", binding)];
    let coded = |system: &str, code: &str| {
        json!({ "resourceType": "Observation", "status": "final",
            "code": { "coding": [{ "system": system, "code": code }] } })
    };
    let set = set(vec![profile("case", "Observation", &elements)]);
    let blue =
        found(&set, &coded("http://rules.test/colours", "blue"), Some("case"), Mode::Authority);
    assert_eq!(errors(&blue), [""; 0]);
    assert_eq!(blue.len(), 1, "{blue:?}");
    let other = found(&set, &coded("http://loinc.org", "1-8"), Some("case"), Mode::Authority);
    assert_eq!(errors(&other), ["rule-code-not-in-value-set Observation.code"]);
}

#[test]
fn invariants_of_elements_and_datatypes() {
    let constraint = |expression: &str| json!({ "constraint": [{ "key": "own-1", "severity": "error", "human": "own", "expression": expression }] });
    let named = |more: Value| patient(json!({ "name": [more] }));
    for (expression, fails) in [
        ("family.exists()", false),
        ("given.count() = 1", true),
        // Nothing is no consent.
        ("{}", true),
        // What cannot be evaluated has failed, unless it is not asked.
        ("nonsense(", true),
        ("given.exists() implies conformsTo('http://nowhere')", false),
    ] {
        let expected: &[&str] = match (fails, expression) {
            (true, "nonsense(") => &["rule-invariant-not-evaluated Patient.name[0]"],
            (true, _) => &["rule-invariant Patient.name[0]"],
            _ => &[],
        };
        let elements = [element("Patient.name", "", "", constraint(expression))];
        cases("Patient", &elements, &[(named(json!({ "family": "A" })), expected)]);
    }
    let period = |start: &str, end: &str| {
        patient(json!({ "identifier": [{ "period": { "start": start, "end": end } }] }))
    };
    cases(
        "Patient",
        &[],
        &[
            (period("2024-01", "2024-01-15"), &[]),
            (period("2024-02", "2024-01-15"), &["rule-invariant Patient.identifier[0].period"]),
        ],
    );
}

#[test]
fn an_invariant_that_several_profiles_repeat_is_said_once() {
    let own = json!({ "constraint": [{ "key": "own-1", "severity": "error", "human": "own", "expression": "family.exists()" }] });
    let one = profile("one", "Patient", &[element("Patient.name", "", "", own.clone())]);
    let two = profile("two", "Patient", &[element("Patient.name", "", "", own)]);
    let set = set(vec![one, two]);
    let patient =
        patient(json!({ "meta": { "profile": [url("two")] }, "name": [{ "given": ["A"] }] }));
    assert_eq!(
        errors(&found(&set, &patient, Some("one"), Mode::Authority)),
        ["rule-invariant Patient.name[0]"]
    );
}

#[test]
fn extensions_where_they_may_stand() {
    let set = set(vec![
        extension("on-name", &[("element", "Patient.contact.name")], "string", false),
        extension("on-type", &[("element", "HumanName.family")], "string", false),
        extension("by-path", &[("fhirpath", "Patient.contact")], "string", false),
        extension("change", &[("element", "Patient")], "boolean", true),
    ]);
    let of = |name: &str| json!({ "url": url(name), "valueString": "x" });
    let context = "rule-extension-context Patient.extension[0]";
    for (resource, expected) in [
        (
            patient(
                json!({ "contact": [{ "name": { "extension": [of("on-name")], "family": "A" } }] }),
            ),
            &[][..],
        ),
        (patient(json!({ "contact": [{ "extension": [of("by-path")] }] })), &[]),
        (
            patient(
                json!({ "name": [{ "family": "A", "_family": { "extension": [of("on-type")] } }] }),
            ),
            &[],
        ),
        (patient(json!({ "extension": [of("on-name")] })), &[context]),
        (patient(json!({ "extension": [of("by-path")] })), &[context]),
        (patient(json!({ "extension": [of("on-type")] })), &[context]),
        (
            patient(
                json!({ "modifierExtension": [{ "url": url("change"), "valueBoolean": true }] }),
            ),
            &[],
        ),
        (
            patient(json!({ "extension": [{ "url": url("change"), "valueBoolean": true }] })),
            &["rule-extension-is-modifier Patient.extension[0]"],
        ),
        (
            patient(
                json!({ "contact": [{ "name": { "extension": [{ "url": url("on-name"), "valueBoolean": true }] } }] }),
            ),
            &["rule-type-not-allowed Patient.contact[0].name.extension[0].valueBoolean"],
        ),
        (
            patient(json!({ "extension": [{ "url": "relative", "valueString": "x" }] })),
            &["rule-extension-url-relative Patient.extension[0]"],
        ),
        (
            patient(json!({ "extension": [{ "url": "http://example.org/x" }] })),
            &["rule-invariant Patient.extension[0]"],
        ),
    ] {
        assert_eq!(errors(&found(&set, &resource, None, Mode::Strict)), *expected, "{resource}");
    }
}

#[test]
fn parts_and_values_of_extensions() {
    let part = |cardinality: &str| {
        let named = |name: &str| format!("Extension.extension:a{name}");
        [
            element(
                "Extension.extension",
                "",
                "",
                json!({ "slicing": {
                "discriminator": [{ "type": "value", "path": "url" }], "rules": "open" } }),
            ),
            element("Extension.extension", cardinality, "", json!({ "sliceName": "a" })),
            element(
                "Extension.extension.url",
                "1..1",
                "",
                json!({ "id": named(".url"), "fixedUri": "a" }),
            ),
        ]
    };
    let mut complex = extension("complex", &[("element", "Patient")], "string", false);
    complex["differential"]["element"] = json!(
        [&part("0..1")[..], &[element("Extension.value[x]", "0..0", "", json!({}))]].concat()
    );
    let mut optional = extension("optional", &[("element", "Patient")], "string", false);
    optional["differential"]["element"][2]["min"] = json!(0);
    let set = set(vec![complex, optional]);
    let of = |name: &str, part: &str| {
        patient(json!({ "extension": [{ "url": url(name),
            "extension": [{ "url": part, "valueString": "x" }] }] }))
    };
    let version = patient(
        json!({ "extension": [{ "url": format!("{}|1.0.0", url("optional")), "valueString": "x" }] }),
    );
    // A code is no string, although it is made of letters.
    let code = patient(json!({ "extension": [{ "url": url("optional"), "valueCode": "x" }] }));
    for (resource, expected) in [
        (code, &["rule-type-not-allowed Patient.extension[0].valueCode"][..]),
        (of("complex", "a"), &[][..]),
        (of("complex", "b"), &["rule-extension-part-unknown Patient.extension[0].extension[0]"]),
        (
            of("optional", "http://example.org/x"),
            &["rule-extension-value-missing Patient.extension[0]"],
        ),
        (version, &["rule-extension-version Patient.extension[0]"]),
    ] {
        let found = errors(&found(&set, &resource, None, Mode::Authority));
        assert_eq!(found, *expected, "{resource}");
    }
}

#[test]
fn an_unknown_extension_is_an_error_in_strict_mode_and_as_a_modifier() {
    let set = set(Vec::new());
    let unknown = json!([{ "url": "http://nobody.test/x", "valueString": "x" }]);
    for (name, mode, expected) in [
        ("extension", Mode::Authority, &[][..]),
        ("extension", Mode::Strict, &["rule-extension-unknown Patient.extension[0]"]),
        (
            "modifierExtension",
            Mode::Authority,
            &["rule-extension-unknown Patient.modifierExtension[0]"],
        ),
    ] {
        let resource = patient(json!({ name: unknown }));
        assert_eq!(errors(&found(&set, &resource, None, mode)), *expected, "{name} {mode:?}");
    }
    // What stands for an element of another release is of one that there is.
    for (release, expected) in
        [("5.0", &[][..]), ("3.0", &[]), ("9.0", &["rule-extension-unknown Patient.extension[0]"])]
    {
        let url = format!("http://hl7.org/fhir/{release}/StructureDefinition/extension-Patient.x");
        let resource = patient(json!({ "extension": [{ "url": url, "valueString": "x" }] }));
        let found = found(&set, &resource, None, Mode::Authority);
        assert_eq!(errors(&found), *expected, "{release}");
    }
}

#[test]
fn profiles_that_name_each_other_end() {
    let target =
        |name: &str| json!({ "type": [{ "code": "Reference", "targetProfile": [url(name)] }] });
    let one = profile(
        "one",
        "Organization",
        &[element("Organization.partOf", "1..1", "", target("two"))],
    );
    let two = profile(
        "two",
        "Organization",
        &[element("Organization.partOf", "1..1", "", target("one"))],
    );
    // Each in a package of its own: within one package the circle is refused when it is read.
    let on = |name: &str, base: &str| {
        let mut profile = profile(name, "Organization", &[]);
        profile["baseDefinition"] = json!(url(base));
        package(vec![profile])
    };
    let set = set(vec![one, two]).with(vec![on("three", "four"), on("four", "three")]);
    let entry = |id: &str, other: &str| {
        json!({ "fullUrl": format!("http://x.test/Organization/{id}"),
            "resource": { "resourceType": "Organization", "id": id, "name": id,
                "partOf": { "reference": format!("Organization/{other}") } } })
    };
    let bundle = json!({ "resourceType": "Bundle", "type": "collection",
        "entry": [entry("a", "b"), entry("b", "a")] });
    // A profile that is not one of a Bundle is asked of its first resource.
    assert_eq!(errors(&found(&set, &bundle, Some("one"), Mode::Authority)), [""; 0]);
    let alone = json!({ "resourceType": "Bundle", "type": "collection",
        "entry": [{ "fullUrl": "http://x.test/Organization/a",
            "resource": { "resourceType": "Organization", "id": "a", "name": "a" } }] });
    assert_eq!(
        errors(&found(&set, &alone, Some("one"), Mode::Authority)),
        ["rule-missing Bundle.entry[0].resource"]
    );
    let own = found(
        &set,
        &json!({ "resourceType": "Organization", "name": "A" }),
        Some("three"),
        Mode::Authority,
    );
    assert_eq!(errors(&own), ["rule-profile-unusable Organization"]);
}

/// What the type, its profile and another profile demand alike has one cause, and one line that
/// says the most.
#[test]
fn what_several_definitions_demand_is_told_once() {
    let demanding = |name: &str, min: u32, max: &str| {
        let names = element("Patient.name", "", "", json!({ "min": min, "max": max }));
        profile(name, "Patient", &[names])
    };
    let set = set(vec![
        demanding("one", 1, "*"),
        demanding("two", 2, "*"),
        demanding("three", 1, "*"),
        demanding("few", 0, "2"),
        demanding("fewer", 0, "1"),
    ]);
    let told = |profiles: &[&str], resource: Value| {
        let mut resource = resource;
        resource["resourceType"] = json!("Patient");
        resource["meta"] =
            json!({ "profile": profiles.iter().map(|of| url(of)).collect::<Vec<_>>() });
        let found = found(&set, &resource, Some(profiles[0]), Mode::Authority);
        let param = |of: &fhir::Finding, name: &str| {
            let mut all = of.params.iter();
            all.find(|(of, _)| of == name).map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let told = found.iter().map(|of| format!("{} {}", of.code, param(of, "expected")));
        told.collect::<Vec<_>>()
    };
    assert_eq!(told(&["one", "two", "three"], json!({})), ["rule-missing 2"]);
    // Each profile that nobody has is a cause of its own.
    let asked = Asked {
        profiles: &[url("nobody"), url("nowhere")],
        mode: Mode::Authority,
        now: fhir::Instant(0),
    };
    let tree = fhir::Tree::read(
        br#"{"resourceType":"Patient","name":[{"family":"A"}]}"#,
        fhir::Format::Json,
        &fhir::Limits::default(),
    )
    .unwrap();
    let unknown = ["rule-profile-unknown Patient"; 2];
    assert_eq!(errors(&set.validate(&tree, &asked)), unknown);
    let three = json!([{ "family": "A" }, { "family": "B" }, { "family": "C" }]);
    // The second name is one too many for one of them, the third for the other: two places.
    assert_eq!(
        told(&["few", "fewer"], json!({ "name": three })),
        ["rule-too-many 1", "rule-too-many 2"]
    );
}

/// A report with more notes than are kept: an error behind them holds it all the same.
#[test]
fn an_error_is_told_however_many_notes_stand_before_it() {
    let names = element("Patient.name", "", "", json!({ "min": 0, "max": "1" }));
    let set = set(vec![profile("few", "Patient", &[names])]);
    let note = |number| json!({ "url": format!("http://own.test/{number}"), "valueString": "x" });
    let notes: Vec<Value> = (0..10_050).map(note).collect();
    let patient = json!({
        "resourceType": "Patient", "extension": notes,
        "name": [{ "family": "A" }, { "family": "B" }]
    });
    let found = found(&set, &patient, Some("few"), Mode::Authority);
    assert_eq!(errors(&found), ["rule-too-many Patient.name[1]"]);
    assert!(found.iter().any(|of| of.code == "too-many-findings"), "{}", found.len());
    assert!(found.len() <= 10_001);
}
