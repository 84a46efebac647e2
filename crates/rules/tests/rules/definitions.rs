//! StructureDefinitions, code systems, value sets and reports of measures as documents.

use rules::Mode;
use serde_json::{Value, json};

use crate::teaching::{element, errors, extension, found, profile, set, url};

/// What is found in a resource that says something of its definitions.
fn check(resource: &Value, expected: &[&str]) {
    let found = errors(&found(&set(Vec::new()), resource, None, Mode::Authority));
    let own = |code: &&String| code.starts_with("rule-");
    let found: Vec<&String> = found.iter().filter(own).collect();
    assert_eq!(found, expected, "{resource}");
}

fn with(mut definition: Value, more: Value) -> Value {
    definition["name"] = json!("Case");
    definition["status"] = json!("draft");
    definition.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    definition
}

#[test]
fn a_definition_goes_with_its_base() {
    let case = || profile("case", "Patient", &[element("Patient.name", "1..1", "", json!({}))]);
    check(&with(case(), json!({})), &[]);
    check(
        &with(case(), json!({ "kind": "complex-type" })),
        &["rule-definition-base StructureDefinition"],
    );
    check(
        &with(case(), json!({ "derivation": "specialization" })),
        &["rule-definition-base StructureDefinition"],
    );
    check(
        &with(case(), json!({ "context": [{ "type": "element", "expression": "Patient" }] })),
        &["rule-definition-context StructureDefinition.context[0]"],
    );
    let other = profile("case", "Patient", &[element("Person.name", "1..1", "", json!({}))]);
    let place = "StructureDefinition.differential.element[0]";
    check(&with(other, json!({})), &[&format!("rule-definition-path {place}")]);
    let wider = profile("case", "Patient", &[element("Patient.gender", "0..2", "", json!({}))]);
    check(&with(wider, json!({})), &[&format!("rule-definition-wider {place}")]);
    // Of a base that nobody has nobody can tell what its elements may say.
    let slicing = element("Patient.gender", "", "", json!({ "slicing": { "rules": "open" } }));
    let told = || profile("case", "Patient", std::slice::from_ref(&slicing));
    check(&with(told(), json!({})), &[&format!("rule-definition-not-allowed {place}.slicing")]);
    check(&with(told(), json!({ "baseDefinition": url("none") })), &[]);
}

#[test]
fn an_element_says_what_its_type_can() {
    let of = |elements: &[Value]| with(profile("case", "Patient", elements), json!({}));
    let place = "StructureDefinition.differential.element[0]";
    let bound = json!({ "binding": { "strength": "example" } });
    check(&of(&[element("Patient.gender", "", "code", bound.clone())]), &[]);
    check(
        &of(&[element("Patient.multipleBirth[x]", "", "boolean", bound)]),
        &[&format!("rule-definition-not-allowed {place}.binding")],
    );
    let slicing = json!({ "slicing": { "discriminator": [{ "type": "value", "path": "$this" }],
        "rules": "open" } });
    check(&of(&[element("Patient.name", "", "", slicing.clone())]), &[]);
    check(
        &of(&[element("Patient.gender", "", "", slicing)]),
        &[&format!("rule-definition-not-allowed {place}.slicing")],
    );
    let target = json!({ "type": [{ "code": "string", "targetProfile": [url("x")] }] });
    check(
        &of(&[element("Patient.name.family", "", "", target)]),
        &[&format!("rule-definition-not-allowed {place}.type[0].targetProfile[0]")],
    );
    let system =
        json!({ "binding": { "strength": "required", "valueSet": "http://rules.test/colours" } });
    check(
        &of(&[element("Patient.gender", "", "code", system)]),
        &[&format!("rule-binding-not-value-set {place}.binding.valueSet")],
    );
}

#[test]
fn an_element_stays_within_its_base() {
    let of = |elements: &[Value]| with(profile("case", "Patient", elements), json!({}));
    let one = |path: &str, types: &str, more: Value| of(&[element(path, "", types, more)]);
    let place = "StructureDefinition.differential.element[0]";
    let unknown = [format!("rule-definition-element-unknown {place}")];
    for (path, is_there) in [
        ("Patient.name.family", true),
        ("Patient.multipleBirth[x]", true),
        ("Patient.multipleBirthInteger", true),
        ("Patient.contact.name.family", true),
        ("Patient.contained.anything", true),
        ("Patient.foo", false),
        ("Patient.name.foo", false),
        ("Patient.gender.foo", false),
        ("Patient.multipleBirthFoo", true),
    ] {
        let expected: Vec<&str> = unknown.iter().map(|of| &**of).filter(|_| !is_there).collect();
        check(&one(path, "", json!({})), &expected);
    }
    let wrong = format!("rule-definition-type {place}.type[0]");
    check(&one("Patient.multipleBirth[x]", "integer", json!({})), &[]);
    check(&one("Patient.multipleBirth[x]", "string", json!({})), &[&wrong]);
    check(&one("Patient.gender", "string", json!({})), &[&wrong]);
    check(&one("Patient.gender", "", json!({ "fixedCode": "male" })), &[]);
    check(
        &one("Patient.gender", "", json!({ "fixedString": "male" })),
        &[&format!("rule-definition-type {place}.fixedString")],
    );
    check(&one("Patient.multipleBirth[x]", "", json!({ "patternBoolean": true })), &[]);
    check(
        &one("Patient.multipleBirth[x]", "integer", json!({ "patternBoolean": true })),
        &[&format!("rule-definition-type {place}.patternBoolean")],
    );
    let missing = json!({ "meaningWhenMissing": "x" });
    check(
        &one("Patient.gender", "", missing),
        &[&format!("rule-definition-not-allowed {place}.meaningWhenMissing")],
    );
    // What one definition demands another one that builds on it may not take back.
    let required = json!({ "fixedCode": "male", "binding":
        { "strength": "required", "valueSet": "http://rules.test/ValueSet/colours" } });
    let base = profile("base", "Patient", &[element("Patient.gender", "", "", required)]);
    let set = set(vec![base]);
    for (more, expected) in [
        (json!({ "fixedCode": "male", "binding": { "strength": "required" } }), vec![]),
        (json!({ "fixedCode": "other" }), vec![format!("rule-fixed-value {place}.fixedCode")]),
        (
            json!({ "binding": { "strength": "extensible" } }),
            vec![format!("rule-definition-wider {place}.binding.strength")],
        ),
    ] {
        let base = json!({ "baseDefinition": url("base") });
        let case = with(one("Patient.gender", "", more), base);
        assert_eq!(errors(&found(&set, &case, None, Mode::Authority)), expected, "{case}");
    }
}

#[test]
fn an_extension_may_stand_where_there_is_something() {
    for (path, is_there) in [
        ("Patient", true),
        ("Patient.name.family", true),
        ("HumanName.given", true),
        // R4 does not define what all definitions have in common.
        ("CanonicalResource", true),
        ("CanonicalResource.url", true),
        ("CanonicalResource.foo", false),
        ("Patient.foo", false),
        ("Foo", false),
        ("Foo.bar", false),
    ] {
        let mut types = extension("case", &[("element", path)], "string", false);
        types["name"] = json!("Case");
        types["status"] = json!("draft");
        // The types of FHIR are here as soon as their root is.
        let of = |name: &str, elements: Value| {
            json!({ "resourceType": "StructureDefinition", "kind": "complex-type",
                "url": format!("http://hl7.org/fhir/StructureDefinition/{name}"), "type": name,
                "snapshot": { "element": elements } })
        };
        let root = of("Element", json!([element("Element", "0..*", "", json!({}))]));
        let system = [
            element("CodeSystem", "0..*", "", json!({})),
            element("CodeSystem.url", "0..1", "uri", json!({})),
        ];
        let here = vec![root, of("CodeSystem", json!(system))];
        let found = errors(&found(&set(here), &types, None, Mode::Authority));
        let unknown = ["rule-definition-context-unknown StructureDefinition.context[0]"];
        assert_eq!(found, if is_there { &[][..] } else { &unknown[..] }, "{path}");
    }
}

#[test]
fn a_snapshot_says_what_it_must() {
    let snapshot = |elements: Value| {
        let mut of = with(profile("case", "Patient", &[]), json!({}));
        of["snapshot"] = json!({ "element": elements });
        of
    };
    let place = "StructureDefinition.snapshot.element";
    let root = json!({ "id": "Patient", "path": "Patient" });
    let name = json!({ "id": "Patient.name", "path": "Patient.name",
        "type": [{ "code": "HumanName" }] });
    check(&snapshot(json!([root, name])), &[]);
    let bare = json!({ "id": "Patient.name", "path": "Patient.name" });
    check(&snapshot(json!([root, bare])), &[&format!("rule-missing {place}[1]")]);
    let told = json!({ "id": "Patient", "path": "Patient", "requirements": "x" });
    check(
        &snapshot(json!([told, name])),
        &[&format!("rule-definition-not-allowed {place}[0].requirements")],
    );
    let told = json!({ "id": "Patient", "path": "Patient",
        "example": [{ "label": "x", "valueString": "x" }] });
    check(
        &snapshot(json!([told, name])),
        &[&format!("rule-definition-not-allowed {place}[0].example[0]")],
    );
    // A length may stand in the definition of a type, at the type itself and at its elements.
    let mut of_type = snapshot(json!([
        { "id": "Case", "path": "Case", "maxLength": 9 },
        { "id": "Case.a", "path": "Case.a", "min": 0, "max": "1", "maxLength": 9,
            "type": [{ "code": "string" }] },
    ]));
    of_type["type"] = json!(url("Case"));
    of_type["derivation"] = json!("specialization");
    of_type["differential"] = json!({ "element": [{ "id": "Case", "path": "Case" }] });
    check(&of_type, &[]);
    of_type["snapshot"]["element"][1]["sliceName"] = json!("x");
    check(&of_type, &[&format!("rule-definition-not-allowed {place}[1].sliceName")]);
    let rule = |key: &str, expression: &str| {
        let human = "h";
        json!({ "key": key, "severity": "error", "human": human, "expression": expression })
    };
    let ruled = |first: Value, second: Value| {
        let (mut root, mut name) = (root.clone(), name.clone());
        root["constraint"] = json!([first]);
        name["constraint"] = json!([second]);
        snapshot(json!([root, name]))
    };
    check(&ruled(rule("a", "true"), rule("a", "true")), &[]);
    check(
        &ruled(rule("a", "true"), rule("a", "false")),
        &[&format!("rule-definition-key-twice {place}[1].constraint[0]")],
    );
    check(
        &ruled(rule("a", "true"), rule("b", "name.")),
        &[&format!("rule-definition-expression {place}[1].constraint[0]")],
    );
    let mut other = rule("b", "name.");
    other["source"] = json!(url("other"));
    check(&ruled(rule("a", "true"), other), &[]);
}

#[test]
fn an_extension_names_itself() {
    let right = extension("case", &[("element", "Patient")], "string", false);
    check(&with(right.clone(), json!({})), &[]);
    let mut wrong = right;
    wrong["differential"]["element"][1]["fixedUri"] = json!(url("other"));
    check(
        &with(wrong, json!({})),
        &["rule-definition-extension-url StructureDefinition.differential.element[1].fixedUri"],
    );
}

#[test]
fn value_sets_take_codes_from_code_systems() {
    let of = |system: &str| {
        json!({ "resourceType": "ValueSet", "status": "draft",
            "compose": { "include": [{ "system": system }] } })
    };
    let place = "ValueSet.compose.include[0].system";
    check(&of("http://rules.test/colours"), &[]);
    check(&of("colours"), &[&format!("rule-system-not-absolute {place}")]);
    check(&of("http://rules.test/ValueSet/reds"), &[&format!("rule-value-set-system {place}")]);
    let supplement = json!({ "resourceType": "CodeSystem", "status": "draft", "content": "supplement",
        "supplements": "http://rules.test/colours", "concept": [{ "code": "red" }, { "code": "x" }] });
    check(&supplement, &["rule-code-unknown CodeSystem.concept[1].code"]);
    let property = |value: Value| {
        let mut property = json!({ "code": "weight" });
        property.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        json!({ "resourceType": "CodeSystem", "status": "draft", "content": "complete",
            "url": "http://rules.test/weights",
            "property": [{ "code": "weight", "type": "integer" }],
            "concept": [{ "code": "a", "concept": [{ "code": "b", "property": [property] }] }] })
    };
    check(&property(json!({ "valueInteger": 1 })), &[]);
    check(&property(json!({ "code": "other", "valueString": "1" })), &[]);
    check(
        &property(json!({ "valueString": "1" })),
        &["rule-definition-type CodeSystem.concept[0].concept[0].property[0].valueString"],
    );
    let system = |set: &str| {
        json!({ "resourceType": "CodeSystem", "status": "draft", "content": "complete",
            "url": "http://rules.test/colours", "concept": [{ "code": "red" }],
            "valueSet": format!("http://rules.test/ValueSet/{set}") })
    };
    check(&system("colours"), &[]);
    check(&system("reds"), &["rule-code-system-value-set CodeSystem.valueSet"]);
}

#[test]
fn a_concept_map_maps_codes_that_there_are() {
    let colours = "http://rules.test/colours";
    let map = |source: &str, target: &str, more: Value| {
        let element = json!({ "code": source,
            "target": [{ "code": target, "equivalence": "equivalent" }] });
        let mut of = json!({ "resourceType": "ConceptMap", "status": "draft",
            "group": [{ "source": colours, "target": colours, "element": [element] }] });
        of.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        of
    };
    let place = "ConceptMap.group[0].element[0]";
    check(&map("red", "blue", json!({})), &[]);
    check(&map("green", "blue", json!({})), &[&format!("rule-code-unknown {place}.code")]);
    check(&map("red", "green", json!({})), &[&format!("rule-code-unknown {place}.target[0].code")]);
    let reds = json!({ "targetCanonical": "http://rules.test/ValueSet/reds" });
    check(&map("blue", "red", reds.clone()), &[]);
    check(
        &map("red", "blue", reds),
        &[&format!("rule-code-not-in-value-set {place}.target[0].code")],
    );
    let mut foreign = map("1", "2", json!({}));
    foreign["group"][0]["source"] = json!("http://loinc.org");
    foreign["group"][0]["target"] = json!("http://snomed.info/sct|1");
    check(&foreign, &[]);
}

#[test]
fn an_operation_is_told_by_profiles_of_parameters() {
    let of = |name: &str| {
        json!({ "resourceType": "OperationDefinition", "name": "Case", "status": "draft",
            "kind": "operation", "code": "case", "system": true, "type": false,
            "instance": false, "inputProfile": url(name) })
    };
    let parameters = json!({ "resourceType": "StructureDefinition", "kind": "resource",
        "url": url("in"), "type": "Parameters",
        "snapshot": { "element": [{ "id": "Parameters", "path": "Parameters" }] } });
    let set = set(vec![parameters, profile("patient", "Patient", &[])]);
    let place = "OperationDefinition.inputProfile";
    for (name, expected) in [
        ("in", None),
        ("none", Some("rule-profile-unknown")),
        ("patient", Some("rule-profile-type")),
    ] {
        let found = errors(&found(&set, &of(name), None, Mode::Authority));
        let expected: Vec<String> =
            expected.map(|code| format!("{code} {place}")).into_iter().collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn reports_give_what_their_measure_asks_for() {
    let code = |code: &str| json!({ "coding": [{ "system": "http://m.test", "code": code }] });
    let measure = json!({ "resourceType": "Measure", "id": "m", "status": "draft",
        "scoring": { "coding": [{ "code": "proportion" }] },
        "group": [{ "population": [
            { "code": code("all"), "criteria": { "language": "text/fhirpath", "expression": "true" } },
            { "code": code("ill"), "criteria": { "language": "text/fhirpath", "expression": "true" } }
        ] }] });
    let report = |group: Value| {
        json!({ "resourceType": "MeasureReport", "status": "complete", "type": "summary",
            "measure": "#m", "contained": [measure.clone()], "period": { "start": "2026" },
            "group": [group] })
    };
    let populations = |codes: &[&str]| -> Vec<Value> {
        codes.iter().map(|of| json!({ "code": code(of), "count": 1 })).collect()
    };
    let group = "MeasureReport.group[0]";
    let score = json!({ "value": 0.5 });
    check(
        &report(json!({ "population": populations(&["all", "ill"]), "measureScore": score })),
        &[],
    );
    check(
        &report(json!({ "population": populations(&["all"]), "measureScore": score })),
        &[&format!("rule-measure-missing {group}")],
    );
    check(
        &report(
            json!({ "population": populations(&["all", "ill", "old"]), "measureScore": score }),
        ),
        &[&format!("rule-measure-unknown {group}.population[2]")],
    );
    check(
        &report(json!({ "population": populations(&["all", "ill"]) })),
        &[&format!("rule-measure-score-missing {group}")],
    );
    check(
        &report(json!({ "population": populations(&["all", "ill"]),
            "measureScore": { "value": 5, "unit": "%" } })),
        &[
            &format!("rule-measure-count {group}.measureScore"),
            &format!("rule-measure-not-allowed {group}.measureScore.unit"),
        ],
    );
}
