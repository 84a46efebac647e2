//! Discriminators where HL7's validator has a way of its own.

use rules::Mode;
use serde_json::{Value, json};

use crate::slices::{check, identifiers, slicing};
use crate::teaching::{element, errors, extension, found, profile, set, url};

/// HL7's validator compares some parts of some types only, and does not ask of others at all.
#[test]
fn by_fixed_values_of_types() {
    let of = |path: &str, fixed: Value| {
        let (owner, last) = path.rsplit_once('.').unwrap();
        let mut own = fixed;
        own["id"] = json!(format!("{owner}:one.{last}"));
        vec![profile(
            "case",
            "Patient",
            &[
                element(owner, "", "", slicing("value", last, "open")),
                element(owner, "0..1", "", json!({ "sliceName": "one" })),
                element(path, "", "", own),
            ],
        )]
    };
    let typed = |coding: Value| json!({ "resourceType": "Patient", "identifier": [{ "type": { "coding": [coding] } }] });
    let fixed = json!({ "fixedCodeableConcept": { "coding": [
        { "system": "http://a.b", "code": "x" }] } });
    let by_type = || of("Patient.identifier.type", fixed.clone());
    check(by_type(), &typed(json!({ "system": "http://c.d", "code": "x" })), &[]);
    // It belongs to the slice, and then more stands there than is allowed.
    check(
        by_type(),
        &typed(json!({ "system": "http://a.b", "code": "x", "display": "X" })),
        &["rule-fixed-value Patient.identifier[0].type"],
    );
    let period = json!({ "fixedPeriod": { "start": "2026" } });
    check(
        of("Patient.identifier.period", period),
        &json!({ "resourceType": "Patient", "identifier": [{ "period": { "start": "2026" } }] }),
        &["rule-slicing-not-decided Patient.identifier[0]"],
    );
}

/// A slice by position stands behind those before it, each of which has a certain number.
#[test]
fn by_position_behind_others() {
    let of = |number: &str| {
        let family = |slice: &str, family: &str| {
            element(
                "Patient.name.family",
                "1..1",
                "",
                json!({ "id": format!("Patient.name:{slice}.family"), "fixedString": family }),
            )
        };
        vec![profile(
            "case",
            "Patient",
            &[
                element("Patient.name", "", "", slicing("position", "$this", "open")),
                element("Patient.name", number, "", json!({ "sliceName": "one" })),
                family("one", "A"),
                element("Patient.name", "1..1", "", json!({ "sliceName": "two" })),
                family("two", "B"),
            ],
        )]
    };
    let names = |all: &[&str]| {
        let all: Vec<Value> = all.iter().map(|family| json!({ "family": family })).collect();
        json!({ "resourceType": "Patient", "name": all })
    };
    check(of("2..2"), &names(&["A", "A", "B"]), &[]);
    check(of("2..2"), &names(&["A", "B", "B"]), &["rule-fixed-value Patient.name[1].family"]);
    // Where the first begins to vary in number, nobody can tell where the second stands.
    let expected = [
        "rule-slicing-not-decided Patient.name[0]",
        "rule-slicing-not-decided Patient.name[1]",
        "rule-fixed-value Patient.name[1].family",
    ];
    check(of("1..2"), &names(&["A", "B"]), &expected);
}

/// Nobody can tell which element is meant by a text alone; but where there is none, a slice that
/// must be there is missing.
#[test]
fn a_slice_that_cannot_be_told_is_missing_where_there_is_nothing() {
    let one = json!({ "sliceName": "one", "patternCodeableConcept": { "text": "A" } });
    let of = || {
        vec![profile(
            "case",
            "Observation",
            &[
                element("Observation.category", "", "", slicing("pattern", "$this", "open")),
                element("Observation.category", "1..1", "", one.clone()),
            ],
        )]
    };
    let mut observation = json!({ "resourceType": "Observation", "status": "final",
        "code": { "text": "x" } });
    check(of(), &observation, &["rule-slice-missing Observation"]);
    observation["category"] = json!([{ "text": "A" }]);
    check(of(), &observation, &["rule-slicing-not-decided Observation.category[0]"]);
}

/// HL7's validator finds no element for a slice that may not occur and is told by the element
/// itself; FHIR forbids it.
#[test]
fn a_slice_that_may_not_occur_is_forbidden_strictly() {
    let by_type = vec![profile(
        "case",
        "Observation",
        &[
            element("Observation.value[x]", "", "", slicing("type", "$this", "open")),
            element(
                "Observation.value[x]",
                "0..0",
                "string",
                json!({ "sliceName": "valueString" }),
            ),
        ],
    )];
    let none = json!({ "sliceName": "none", "patternIdentifier": { "system": "http://none" } });
    let by_pattern = vec![profile(
        "case",
        "Patient",
        &[
            element("Patient.identifier", "", "", slicing("value", "$this", "open")),
            element("Patient.identifier", "0..0", "", none),
        ],
    )];
    let observation = |name: &str, value: Value| {
        json!({ "resourceType": "Observation", "status": "final", "code": { "text": "x" },
            name: value })
    };
    for (definitions, resource, place) in [
        (&by_type, observation("valueString", json!("a")), Some("Observation.valueString")),
        (&by_type, observation("valueInteger", json!(1)), None),
        (&by_pattern, identifiers(&[("http://none", "1")]), Some("Patient.identifier[0]")),
        (&by_pattern, identifiers(&[("http://one", "1")]), None),
    ] {
        check(definitions.clone(), &resource, &[]);
        let set = set(definitions.clone());
        let strict = errors(&found(&set, &resource, Some("case"), Mode::Strict));
        let expected: Vec<String> =
            place.iter().map(|place| format!("rule-too-many {place}")).collect();
        assert_eq!(strict, expected, "{resource}");
    }
}

/// A slice that is told by an extension may say in a slice of a slice which value that has.
#[test]
fn the_value_of_an_extension_is_told_by_a_slice_of_its_slice() {
    let kind = || {
        let mut kind = extension("kind", &[("element", "Observation.component")], "code", false);
        // Written for a slice, which the parts of the profile have then, too.
        for member in ["id", "path"] {
            kind["differential"]["element"][2][member] = json!("Extension.valueCode");
        }
        kind
    };
    let typed = json!({ "type": [{ "code": "Extension", "profile": [url("kind")] }] });
    let told = |name: &str| {
        let own = format!("Observation.component:{name}.extension:kind/{name}");
        let mut slice = typed.clone();
        slice["id"] = json!(own);
        slice["sliceName"] = json!(format!("kind/{name}"));
        let value = json!({ "id": format!("{own}.valueCode"), "fixedCode": name });
        let part = format!("Observation.component:{name}.valueQuantity");
        [
            element("Observation.component", "1..*", "", json!({ "sliceName": name })),
            element("Observation.component.extension", "1..1", "", slice),
            element("Observation.component.extension.valueCode", "1..1", "code", value),
            element("Observation.component.valueQuantity", "1..1", "", json!({ "id": part })),
        ]
    };
    let by_value = format!("extension('{}').value", url("kind"));
    let mut plain = typed.clone();
    plain["sliceName"] = json!("kind");
    let mut elements = vec![
        element("Observation.component", "", "", slicing("value", &by_value, "open")),
        element("Observation.component.extension", "", "", plain),
    ];
    elements.extend(told("single"));
    elements.extend(told("other"));
    let part = |name: &str, more: Value| {
        let mut part = json!({ "code": { "text": "x" },
            "extension": [{ "url": url("kind"), "valueCode": name }] });
        part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        part
    };
    let amount = || json!({ "valueQuantity": { "value": 1 } });
    let of = |parts: &[Value]| {
        json!({ "resourceType": "Observation", "status": "final", "code": { "text": "x" },
            "component": parts })
    };
    for (resource, expected) in [
        (of(&[part("single", amount()), part("other", amount())]), &[][..]),
        (
            of(&[part("single", amount()), part("other", json!({}))]),
            &["rule-slice-missing Observation.component[1]"],
        ),
        (of(&[part("single", amount())]), &["rule-slice-missing Observation"]),
    ] {
        check(vec![kind(), profile("case", "Observation", &elements)], &resource, expected);
    }
}
