//! A small package of our own: as much of the types of FHIR as the cases need, and one profile a
//! case.

use fhir::{Finding, Format, Instant, Limits, Severity, Tree};
use rules::{Asked, Mode, Package, PackageLimits, RuleSet};
use serde_json::{Value, json};

pub(crate) const BASE: &str = "http://hl7.org/fhir/StructureDefinition/";

/// An element of a definition: path, cardinality, types separated by `|`, and what else there is.
pub(crate) fn element(path: &str, cardinality: &str, types: &str, more: Value) -> Value {
    let (min, max) = cardinality.split_once("..").unwrap_or(("", ""));
    let mut element = json!({ "path": path });
    if let Ok(min) = min.parse::<u32>() {
        element["min"] = json!(min);
    }
    if !max.is_empty() {
        element["max"] = json!(max);
    }
    if !types.is_empty() {
        let types: Vec<Value> = types.split('|').map(|code| json!({ "code": code })).collect();
        element["type"] = json!(types);
    }
    if let (Some(element), Some(more)) = (element.as_object_mut(), more.as_object()) {
        element.extend(more.clone());
    }
    if element.get("id").is_none() {
        let slice = element.get("sliceName").and_then(Value::as_str);
        element["id"] = json!(slice.map_or(path.to_owned(), |slice| format!("{path}:{slice}")));
    }
    element
}

/// A type or resource with its whole snapshot.
fn base(name: &str, kind: &str, elements: &[(&str, &str, &str)]) -> Value {
    let mut all = vec![element(name, "0..*", "", json!({}))];
    all.extend(elements.iter().map(|(path, cardinality, types)| {
        element(&format!("{name}.{path}"), cardinality, types, json!({}))
    }));
    json!({
        "resourceType": "StructureDefinition", "url": format!("{BASE}{name}"), "version": "4.0.1",
        "kind": kind, "type": name, "abstract": false, "derivation": "specialization",
        "snapshot": { "element": all }
    })
}

/// A profile that says only what differs.
pub(crate) fn profile(name: &str, of: &str, elements: &[Value]) -> Value {
    // A definition says something of one element at least, and be it that it is there.
    let root = [element(of, "", "", json!({}))];
    let elements = if elements.is_empty() { &root } else { elements };
    json!({
        "resourceType": "StructureDefinition", "url": url(name), "version": "1.0.0", "kind": "resource",
        "type": of, "derivation": "constraint", "abstract": false,
        "baseDefinition": format!("{BASE}{of}"), "differential": { "element": elements }
    })
}

/// An extension, where it may stand, and the type of its value.
pub(crate) fn extension(
    name: &str,
    context: &[(&str, &str)],
    value: &str,
    modifier: bool,
) -> Value {
    let contexts: Vec<Value> = context
        .iter()
        .map(|(kind, expression)| json!({ "type": kind, "expression": expression }))
        .collect();
    let mut definition = profile(
        name,
        "Extension",
        &[
            element("Extension", "0..*", "", json!({ "isModifier": modifier })),
            element("Extension.url", "1..1", "", json!({ "fixedUri": url(name) })),
            element("Extension.value[x]", "1..1", value, json!({})),
        ],
    );
    definition["kind"] = json!("complex-type");
    definition["context"] = json!(contexts);
    definition
}

/// Canonical of a definition of ours.
pub(crate) fn url(name: &str) -> String {
    format!("http://rules.test/StructureDefinition/{name}")
}

/// Canonical of a value set of ours.
pub(crate) fn value_set(name: &str) -> String {
    format!("http://rules.test/ValueSet/{name}")
}

fn datatypes() -> Vec<Value> {
    let complex = |name: &str, elements: &[(&str, &str, &str)]| {
        let mut all = vec![("id", "0..1", "string"), ("extension", "0..*", "Extension")];
        all.extend_from_slice(elements);
        base(name, "complex-type", &all)
    };
    let mut reference = complex(
        "Reference",
        &[("reference", "0..1", "string"), ("type", "0..1", "uri"), ("display", "0..1", "string")],
    );
    reference["snapshot"]["element"][0]["constraint"] = json!([{
        "key": "ref-1", "severity": "error", "human": "SHALL have a contained resource",
        "expression": "reference.startsWith('#').not() or \
            (reference.substring(1) in %rootResource.contained.id)"
    }]);
    let mut period =
        complex("Period", &[("start", "0..1", "dateTime"), ("end", "0..1", "dateTime")]);
    period["snapshot"]["element"][0]["constraint"] = json!([{
        "key": "per-1", "severity": "error", "human": "start is before end",
        "expression": "start.hasValue().not() or end.hasValue().not() or (start <= end)"
    }]);
    let mut extension = complex(
        "Extension",
        &[
            ("url", "1..1", "uri"),
            ("value[x]", "0..1", "string|code|boolean|integer|Coding|CodeableConcept|Quantity"),
        ],
    );
    extension["snapshot"]["element"][0]["constraint"] = json!([{
        "key": "ext-1", "severity": "error", "human": "Must have either extensions or value[x]",
        "expression": "extension.exists() != value.exists()"
    }]);
    vec![
        reference,
        period,
        extension,
        complex(
            "Identifier",
            &[
                ("use", "0..1", "code"),
                ("type", "0..1", "CodeableConcept"),
                ("system", "0..1", "uri"),
                ("value", "0..1", "string"),
                ("period", "0..1", "Period"),
            ],
        ),
        complex("CodeableConcept", &[("coding", "0..*", "Coding"), ("text", "0..1", "string")]),
        complex(
            "Coding",
            &[("system", "0..1", "uri"), ("code", "0..1", "code"), ("display", "0..1", "string")],
        ),
        complex("HumanName", &[("family", "0..1", "string"), ("given", "0..*", "string")]),
        complex(
            "Quantity",
            &[("value", "0..1", "decimal"), ("system", "0..1", "uri"), ("code", "0..1", "code")],
        ),
        complex("string", &[]),
        complex("code", &[]),
    ]
}

fn resources() -> Vec<Value> {
    let resource = |name: &str, elements: &[(&str, &str, &str)]| {
        let mut all = vec![
            ("contained", "0..*", "Resource"),
            ("extension", "0..*", "Extension"),
            ("modifierExtension", "0..*", "Extension"),
        ];
        all.extend_from_slice(elements);
        base(name, "resource", &all)
    };
    let mut all = vec![
        resource(
            "Patient",
            &[
                ("identifier", "0..*", "Identifier"),
                ("name", "0..*", "HumanName"),
                ("gender", "0..1", "code"),
                ("multipleBirth[x]", "0..1", "boolean|integer"),
                ("contact", "0..*", "BackboneElement"),
                ("contact.extension", "0..*", "Extension"),
                ("contact.name", "0..1", "HumanName"),
                ("generalPractitioner", "0..*", "Reference"),
                ("managingOrganization", "0..1", "Reference"),
            ],
        ),
        resource(
            "Observation",
            &[
                ("status", "1..1", "code"),
                ("category", "0..*", "CodeableConcept"),
                ("code", "1..1", "CodeableConcept"),
                ("subject", "0..1", "Reference"),
                ("performer", "0..*", "Reference"),
                ("value[x]", "0..1", "Quantity|CodeableConcept|string|integer|boolean"),
                ("component", "0..*", "BackboneElement"),
                ("component.code", "1..1", "CodeableConcept"),
                ("component.value[x]", "0..1", "Quantity|CodeableConcept|string"),
            ],
        ),
        resource("Organization", &[("name", "0..1", "string"), ("partOf", "0..1", "Reference")]),
        resource(
            "Questionnaire",
            &[
                ("status", "1..1", "code"),
                ("item", "0..*", "BackboneElement"),
                ("item.linkId", "1..1", "string"),
            ],
        ),
        resource(
            "Composition",
            &[
                ("subject", "0..1", "Reference"),
                ("author", "1..*", "Reference"),
                ("section", "0..*", "BackboneElement"),
                ("section.title", "0..1", "string"),
                ("section.entry", "0..*", "Reference"),
            ],
        ),
        base(
            "Bundle",
            "resource",
            &[
                ("type", "1..1", "code"),
                ("entry", "0..*", "BackboneElement"),
                ("entry.fullUrl", "0..1", "uri"),
                ("entry.resource", "0..1", "Resource"),
            ],
        ),
        base("Resource", "resource", &[]),
    ];
    // Content of `item` in `item`, and what references may point to.
    let questionnaire = &mut all[3]["snapshot"]["element"];
    if let Some(elements) = questionnaire.as_array_mut() {
        elements.push(json!({
            "id": "Questionnaire.item.item", "path": "Questionnaire.item.item", "min": 0, "max": "*",
            "contentReference": "#Questionnaire.item"
        }));
    }
    for (path, targets) in [
        ("Observation.subject", &["Patient"][..]),
        ("Composition.author", &["Organization"]),
        ("Patient.managingOrganization", &["Organization"]),
        ("Organization.partOf", &["Organization"]),
    ] {
        for definition in &mut all {
            let elements = definition["snapshot"]["element"].as_array_mut();
            for element in elements.into_iter().flatten().filter(|of| of["path"] == path) {
                let targets: Vec<_> = targets.iter().map(|of| format!("{BASE}{of}")).collect();
                element["type"][0]["targetProfile"] = json!(targets);
            }
        }
    }
    all
}

fn terms() -> Vec<Value> {
    let set = |name: &str, include: Value| json!({ "resourceType": "ValueSet", "url": value_set(name), "compose": { "include": include } });
    vec![
        json!({
            "resourceType": "CodeSystem", "url": "http://rules.test/colours", "content": "complete",
            "concept": [
                { "code": "red", "concept": [{ "code": "pink" }, { "code": "ruby" }] },
                { "code": "blue" }
            ]
        }),
        set("colours", json!([{ "system": "http://rules.test/colours" }])),
        set(
            "reds",
            json!([{
                "system": "http://rules.test/colours",
                "filter": [{ "property": "concept", "op": "is-a", "value": "red" }]
            }]),
        ),
        set(
            "listed",
            json!([{
                "system": "http://loinc.org", "concept": [{ "code": "1-8" }, { "code": "2-6" }]
            }]),
        ),
        set(
            "pattern",
            json!([{
                "system": "http://loinc.org",
                "filter": [{ "property": "code", "op": "regex", "value": "1-[0-9]" }]
            }]),
        ),
        set("foreign", json!([{ "system": "http://snomed.info/sct" }])),
        json!({ "resourceType": "ValueSet", "url": value_set("empty") }),
    ]
}

/// The base as one package, and what a case adds as another.
pub(crate) fn set(definitions: Vec<Value>) -> RuleSet {
    let all = [datatypes(), resources(), terms()].concat();
    let base = RuleSet::of(vec![package(all)]);
    if definitions.is_empty() { base } else { base.with(vec![package(definitions)]) }
}

/// Definitions as one package.
pub(crate) fn package(definitions: Vec<Value>) -> Package {
    let entries: Vec<Value> =
        definitions.into_iter().map(|resource| json!({ "resource": resource })).collect();
    let bundle = json!({ "resourceType": "Bundle", "type": "collection", "entry": entries });
    Package::read(bundle.to_string().as_bytes(), &PackageLimits::default()).unwrap()
}

/// What is found in a resource, in JSON and in XML alike.
pub(crate) fn found(
    set: &RuleSet,
    resource: &Value,
    profile: Option<&str>,
    mode: Mode,
) -> Vec<Finding> {
    let text = resource.to_string();
    let json = Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap();
    let xml = json.to_xml();
    let xml = Tree::read(xml.as_bytes(), Format::Xml, &Limits::default()).unwrap();
    let profiles: Vec<String> = profile.map(url).into_iter().collect();
    let asked = Asked { profiles: &profiles, mode, now: Instant(0) };
    let found = set.validate(&json, &asked);
    let same = set.validate(&xml, &asked);
    let told = |all: &[Finding]| {
        let mut all: Vec<_> =
            all.iter().map(|of| (of.expression.clone(), of.code.clone())).collect();
        all.sort();
        all
    };
    assert_eq!(told(&found), told(&same), "JSON and XML differ");
    found
}

/// Codes and places of the errors.
pub(crate) fn errors(findings: &[Finding]) -> Vec<String> {
    let errors = findings.iter().filter(|of| of.severity == Severity::Error);
    errors.map(|of| format!("{} {}", of.code, of.expression)).collect()
}
