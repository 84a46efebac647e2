//! Definitions that list only what differs: which element each of their lines means, also where
//! ids are missing or wrong and a choice is named by one of its types.

use rules::Mode;
use serde_json::{Value, json};

use crate::slices::slicing;
use crate::teaching::{element, errors, found, profile, set};

/// The elements without their ids.
fn without_ids(elements: &[Value]) -> Vec<Value> {
    let mut elements = elements.to_vec();
    for element in elements.iter_mut().filter_map(Value::as_object_mut) {
        element.remove("id");
    }
    elements
}

fn cases(elements: &[Value], cases: &[(Value, &[&str])]) {
    let set = set(vec![profile("case", "Observation", elements)]);
    for (more, expected) in cases {
        let mut resource = json!({ "resourceType": "Observation", "status": "final", "code": {} });
        resource["code"]["text"] = json!("x");
        if let (Some(resource), Some(more)) = (resource.as_object_mut(), more.as_object()) {
            resource.extend(more.clone());
        }
        let found = found(&set, &resource, Some("case"), Mode::Authority);
        assert_eq!(errors(&found), *expected, "{elements:?} {resource}");
    }
}

#[test]
fn parts_of_a_choice_that_is_named_by_its_type() {
    let named = |id: Option<&str>| {
        let id = |part: &str| id.map_or(json!({}), |id| json!({ "id": format!("{id}{part}") }));
        [
            element("Observation.valueQuantity", "1..1", "", id("")),
            element("Observation.valueQuantity.code", "1..1", "", id(".code")),
        ]
    };
    let plain = named(None);
    let all = [
        without_ids(&plain),
        plain.to_vec(),
        named(Some("Observation.value[x]:valueQuantity")).to_vec(),
        // An older editor wrote them so.
        named(Some("Observation.valueQuantity:valueQuantity")).to_vec(),
        named(Some("of-no-meaning")).to_vec(),
    ];
    for elements in &all {
        cases(
            elements,
            &[
                (json!({ "valueQuantity": { "value": 1, "code": "g" } }), &[]),
                (
                    json!({ "valueQuantity": { "value": 1 } }),
                    &["rule-missing Observation.valueQuantity"],
                ),
                (json!({}), &["rule-slice-missing Observation"]),
            ],
        );
    }
}

#[test]
fn parts_of_a_slice_are_told_by_their_order_where_no_id_says_it() {
    let slice = |name: &str| {
        [
            element("Observation.component", "0..1", "", json!({ "sliceName": name })),
            element("Observation.component.code", "1..1", "", json!({})),
            element("Observation.component.code.text", "1..1", "", json!({ "fixedString": name })),
        ]
    };
    let mut elements =
        vec![element("Observation.component", "", "", slicing("value", "code.text", "open"))];
    elements.extend(slice("a"));
    elements.push(element("Observation.component.valueQuantity", "1..1", "", json!({})));
    elements.extend(slice("b"));
    elements.push(element("Observation.component.valueString", "1..1", "", json!({})));
    let coded = |text: &str| json!({ "code": { "text": text } });
    let with = |text: &str, value: Value| {
        let mut of = coded(text);
        if let (Some(of), Some(value)) = (of.as_object_mut(), value.as_object()) {
            of.extend(value.clone());
        }
        of
    };
    let good = json!([
        with("a", json!({ "valueQuantity": { "value": 1 } })),
        with("b", json!({ "valueString": "x" })),
        coded("c"),
    ]);
    let bad = json!([coded("a"), coded("b"), coded("c")]);
    let missing: &[&str] = &[
        "rule-slice-missing Observation.component[0]",
        "rule-slice-missing Observation.component[1]",
    ];
    // The second has ids that are no more than the paths.
    let mut paths = without_ids(&elements);
    for element in &mut paths {
        element["id"] = element["path"].clone();
    }
    for elements in [without_ids(&elements), paths] {
        cases(
            &elements,
            &[(json!({ "component": good }), &[]), (json!({ "component": bad }), missing)],
        );
    }
}
