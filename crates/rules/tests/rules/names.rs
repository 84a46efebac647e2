//! What definitions name: the type that they are of, what tells their slices apart, what their
//! expressions ask for.

use rules::Mode;
use serde_json::{Value, json};

use crate::teaching::{BASE, element, errors, extension, found, profile, set, url};

/// What is said of a definition itself.
const OF_DEFINITIONS: [&str; 11] = [
    "rule-definition-base",
    "rule-definition-context",
    "rule-definition-context-unknown",
    "rule-definition-element-unknown",
    "rule-definition-key-twice",
    "rule-definition-expression",
    "rule-definition-path",
    "rule-definition-not-allowed",
    "rule-definition-type",
    "rule-definition-wider",
    "rule-definition-extension-url",
];
/// What is said of the place of an extension.
const OF_PLACES: [&str; 2] = ["rule-extension-context", "rule-extension-context-rule"];

/// Whether an error, its code before its place, has one of these codes.
fn has_code(error: &str, codes: &[&str]) -> bool {
    error.split(' ').next().is_some_and(|code| codes.contains(&code))
}

/// What is found in a definition that says something of itself, where the types of FHIR are known.
fn check(resource: &Value, expected: &[&str]) {
    let element = json!({ "resourceType": "StructureDefinition", "kind": "complex-type",
        "abstract": true, "url": format!("{BASE}Element"), "type": "Element",
        "snapshot": { "element": [{ "id": "Element", "path": "Element" }] } });
    let found = errors(&found(&set(vec![element]), resource, None, Mode::Authority));
    let found: Vec<&String> = found.iter().filter(|it| has_code(it, &OF_DEFINITIONS)).collect();
    assert_eq!(found, expected, "{resource}");
}

fn with(mut definition: Value, more: Value) -> Value {
    definition["name"] = json!("Case");
    definition["status"] = json!("draft");
    definition.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    definition
}

/// HL7's validator: only a logical model has a type of an address of its own, and only FHIR
/// defines types without one.
#[test]
fn a_definition_is_of_a_type_that_there_is() {
    let own = |kind: &str, name: &str, derivation: &str| {
        let root = name.rsplit('/').next().unwrap_or_default();
        json!({ "resourceType": "StructureDefinition", "url": url("Own"), "name": "Own",
            "status": "draft", "kind": kind, "abstract": false, "type": name,
            "baseDefinition": format!("{BASE}Element"), "derivation": derivation,
            "differential": { "element": [element(root, "0..*", "", json!({}))] } })
    };
    check(&own("logical", &url("Own"), "specialization"), &[]);
    let base = "rule-definition-base StructureDefinition";
    check(&own("complex-type", &url("Own"), "specialization"), &[base]);
    check(
        &own("logical", "Own", "specialization"),
        &["rule-definition-type StructureDefinition.type"],
    );
    check(&own("complex-type", "Coding", "specialization"), &[base]);
    check(&with(profile("case", "Patient", &[]), json!({})), &[]);
}

#[test]
fn slices_are_told_apart_by_what_there_is() {
    let sliced = |path: &str, by: &str| {
        let slicing = json!({ "slicing": { "rules": "open",
            "discriminator": [{ "type": "value", "path": by }] } });
        let of = path.split('.').next().unwrap_or_default();
        with(profile("case", of, &[element(path, "", "", slicing)]), json!({}))
    };
    let place = "StructureDefinition.differential.element[0].slicing.discriminator[0]";
    let unknown = format!("rule-definition-element-unknown {place}");
    for (path, by, expected) in [
        ("Patient.identifier", "system", &[][..]),
        ("Patient.identifier", "type.coding.code", &[]),
        ("Patient.identifier", "$this", &[]),
        ("Patient.identifier", "colour", &[&*unknown]),
        ("Patient.identifier", "type.colour", &[&unknown]),
        ("Patient.extension", "url", &[]),
        ("Patient.extension", "value", &[]),
        ("Patient.contact", "extension('http://a.test/x').value", &[]),
        ("Observation.component", "value", &[]),
        ("Observation.performer", "resolve()", &[]),
        ("Bundle.entry", "resource.code", &[]),
    ] {
        check(&sliced(path, by), expected);
    }
}

#[test]
fn a_differential_adds_rules_of_its_own() {
    let rule = |source: &str| {
        let rule = json!({ "constraint": [{ "key": "own-1", "severity": "error", "human": "x",
            "expression": "family.exists()", "source": source }] });
        with(profile("case", "Patient", &[element("Patient.name", "", "", rule)]), json!({}))
    };
    check(&rule(&url("case")), &[]);
    check(&rule(&format!("{}|1.0.0", url("case"))), &[]);
    let place = "StructureDefinition.differential.element[0].constraint[0].source";
    check(&rule(&url("other")), &[&format!("rule-definition-not-allowed {place}")]);
}

/// Of a snapshot it is known what type an element is of.
#[test]
fn the_rules_of_a_snapshot_ask_for_what_there_is() {
    let rule = |path: &str, kind: &str, expression: &str| {
        let rule = json!({ "constraint": [{ "key": "own-1", "severity": "error", "human": "x",
            "expression": expression }] });
        let mut of = with(profile("case", "Patient", &[]), json!({}));
        of["snapshot"] = json!({ "element": [element("Patient", "0..*", "", json!({})),
            element(path, "0..1", kind, rule)] });
        of
    };
    let place = "StructureDefinition.snapshot.element[1].constraint[0]";
    let wrong = format!("rule-definition-expression {place}");
    for (path, kind, expression, expected) in [
        ("Patient.name", "HumanName", "family.exists()", &[][..]),
        ("Patient.name", "HumanName", "colour.exists()", &[&*wrong]),
        ("Patient.name", "HumanName", "family.exists(", &[&wrong]),
        ("Patient.contact", "BackboneElement", "name.family.exists()", &[]),
        ("Patient.contact", "BackboneElement", "family.exists()", &[&wrong]),
        ("Patient.gender", "code", "value.length() > 1", &[]),
        ("Patient.gender", "code", "%resource.name.exists()", &[]),
    ] {
        check(&rule(path, kind, expression), expected);
    }
}

#[test]
fn a_search_asks_for_what_a_resource_has() {
    let parameter = |bases: &[&str], expression: &str| {
        json!({ "resourceType": "SearchParameter", "url": url("search"), "name": "Own",
            "status": "draft", "description": "x", "code": "own", "type": "string",
            "base": bases, "expression": expression })
    };
    let wrong = ["rule-definition-expression SearchParameter.expression"];
    for (bases, expression, expected) in [
        (&["Patient"][..], "Patient.name.family", &[][..]),
        (&["Patient"], "Patient.colour", &wrong),
        (&["Patient"], "Patient.name.(", &wrong),
        (&["Patient", "Practitioner"], "Patient.name | Practitioner.qualification.code", &[]),
        (&["Patient", "Practitioner"], "Patient.name | Practitioner.colour", &wrong),
        (
            &["Observation"],
            "(Observation.value as Quantity) | Observation.value.ofType(Range)",
            &[],
        ),
        (&["Patient"], "Patient.deceased.exists() and Patient.deceased != false", &[]),
        (&["Resource"], "Resource.id", &[]),
        (&["Bundle"], "Bundle.entry[0].resource", &[]),
        (&["Colour"], "Colour.name", &[]),
    ] {
        check(&parameter(bases, expression), expected);
    }
}

/// HL7's validator has the newest definition of an extension, which may let it stand in more places
/// than that of R4.
#[test]
fn an_extension_of_r4_may_stand_where_its_newest_definition_lets_it() {
    let of = |name: &str, context: &str, rule: bool| {
        let mut definition = extension("any", &[("element", context)], "string", false);
        let url = format!("{BASE}{name}");
        definition["url"] = json!(url);
        definition["differential"]["element"][1]["fixedUri"] = json!(url);
        if rule {
            definition["contextInvariant"] = json!(["false"]);
        }
        definition
    };
    let set = set(vec![
        of("event-basedOn", "Observation", false),
        of("questionnaire-maxOccurs", "Questionnaire", true),
        of("questionnaire-minOccurs", "Questionnaire", true),
    ]);
    let told = |name: &str| json!([{ "url": format!("{BASE}{name}"), "valueString": "x" }]);
    let related = told("event-basedOn");
    let composition = json!({ "resourceType": "Composition", "author": [{ "display": "a" }],
        "extension": related });
    let patient = json!({ "resourceType": "Patient", "extension": related });
    let questionnaire = |name: &str| {
        json!({ "resourceType": "Questionnaire", "status": "draft",
            "extension": told(name) })
    };
    for (resource, expected) in [
        (composition, &[][..]),
        (patient, &["rule-extension-context Patient.extension[0]"]),
        (questionnaire("questionnaire-maxOccurs"), &[]),
        (
            questionnaire("questionnaire-minOccurs"),
            &["rule-extension-context-rule Questionnaire.extension[0]"],
        ),
    ] {
        let mut found = errors(&found(&set, &resource, None, Mode::Authority));
        found.retain(|it| has_code(it, &OF_PLACES));
        assert_eq!(found, *expected, "{resource}");
    }
}
