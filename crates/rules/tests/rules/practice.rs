//! The rules of practice: every kind of rule has a lesson, and each lesson can be kept and broken.

use fhir::{Format, Instant, Limits, Severity, Tree};
use rules::{Asked, Mode, Package, RuleSet};
use serde_json::{Value, json};

const PROFILE: &str = "http://labcourier.example/practice/StructureDefinition";
const COLOURS: &str = "http://labcourier.example/practice/CodeSystem/colours";

fn set() -> RuleSet {
    RuleSet::of(vec![Package::practice().unwrap()])
}

/// Codes and places of the errors in a resource.
fn errors(set: &RuleSet, text: &str) -> Vec<String> {
    let format = Format::sniff(text.as_bytes()).unwrap();
    let tree = Tree::read(text.as_bytes(), format, &Limits::default()).unwrap();
    let profiles = set.entry_profiles(tree.root().resource_type().unwrap());
    let now = Instant::parse("2026-10-08T12:00:00Z").unwrap();
    let asked = Asked { profiles: &profiles, mode: Mode::Authority, now };
    let found = set.validate(&tree, &asked).into_iter();
    let errors = found.filter(|of| of.severity == Severity::Error);
    errors.map(|of| format!("{} {}", of.code, of.expression)).collect()
}

/// A result that opts into lessons, and what it contains.
fn result(lessons: &[&str], more: &Value) -> Value {
    let profiles: Vec<String> =
        lessons.iter().map(|name| format!("{PROFILE}/lesson-{name}")).collect();
    let mut result = json!({
        "resourceType": "Observation", "status": "final",
        "category": [{ "coding": [{ "code": "laboratory" }] }],
        "code": { "coding": [{ "system": "http://loinc.org", "code": "32700-7" }] }
    });
    if !profiles.is_empty() {
        result["meta"] = json!({ "profile": profiles });
    }
    for (name, value) in more.as_object().unwrap() {
        result[name] = value.clone();
    }
    result
}

fn colour(code: &str) -> Value {
    json!({ "coding": [{ "system": COLOURS, "code": code }] })
}

fn coded(system: &str, code: &str) -> Value {
    json!({ "coding": [{ "system": system, "code": code }] })
}

/// A contained result or specimen, and a reference to it.
fn pointing(element: &str, target: &Value) -> Value {
    let mut target = target.clone();
    target["id"] = json!("t");
    let reference = json!({ "reference": "#t" });
    let value = if element == "specimen" { reference } else { json!([reference]) };
    let mut more = json!({ "contained": [target] });
    more[element] = value;
    more
}

fn remark(value: &str) -> Value {
    json!([{ "url": format!("{PROFILE}/lesson-remark"), "valueString": value }])
}

/// One case a lesson: what it is about, what opts in, what keeps it, what breaks it, and the code
/// of that.
#[test]
fn every_kind_of_rule_has_a_lesson_that_can_be_broken() {
    let set = set();
    let quantity = |more: Value| json!({ "valueQuantity": more });
    let measured = result(&[], &quantity(json!({ "value": 1, "unit": "g" })));
    let specimen = |profile: bool| {
        let mut of = json!({ "resourceType": "Specimen" });
        if profile {
            of["meta"] = json!({ "profile": [format!("{PROFILE}/lesson-specimen")] });
        }
        pointing("specimen", &of)
    };
    let component = |codes: &[&str]| {
        let all: Vec<_> = codes.iter().map(|code| json!({ "code": colour(code) })).collect();
        json!({ "component": all })
    };
    let judged = |times: usize| {
        let one = json!({ "code": colour("red"), "interpretation": [colour("red")] });
        json!({ "component": vec![one; times] })
    };
    let range = |text: Option<&str>| {
        let range =
            text.map_or(json!({ "appliesTo": [colour("red")] }), |text| json!({ "text": text }));
        json!({ "component": [{ "code": colour("red"), "referenceRange": [range] }] })
    };
    let signed =
        |count: usize| json!({ "note": vec![json!({ "authorString": "A", "text": "b" }); count] });
    let performers =
        |count: usize| json!({ "performer": vec![json!({ "extension": remark("first") }); count] });
    let doubt = |kind: &str| json!({ kind: [{ "url": format!("{PROFILE}/lesson-doubt"), "valueBoolean": true }] });
    let number =
        |value: i32| json!({ "component": [{ "code": colour("red"), "valueInteger": value }] });
    let three = json!({ "component": vec![json!({ "code": colour("red") }); 3] });
    let good = json!({});
    for (about, lesson, keeps, breaks, code) in [
        ("cardinality", "values", &good, &three, "rule-too-many"),
        ("fixed value", "values", &good, &json!({ "status": "amended" }), "rule-fixed-value"),
        ("pattern", "values", &good, &json!({ "category": [colour("red")] }), "rule-pattern"),
        ("least value", "values", &number(1), &number(0), "rule-too-small"),
        ("greatest value", "values", &number(4), &number(5), "rule-too-great"),
        (
            "length",
            "values",
            &json!({ "note": [{ "text": "short" }] }),
            &json!({ "note": [{ "text": "longer than twenty characters" }] }),
            "rule-too-long",
        ),
        (
            "invariant of a datatype",
            "measured",
            &quantity(json!({ "value": 1, "unit": "g" })),
            &quantity(json!({ "value": 1 })),
            "rule-invariant",
        ),
        (
            "profile that imposes another",
            "measured",
            &quantity(json!({ "value": 1, "unit": "g" })),
            &json!({ "status": "amended", "valueQuantity": { "value": 1, "unit": "g" } }),
            "rule-fixed-value",
        ),
        (
            "code that is in or out",
            "codes",
            &json!({ "interpretation": [colour("red")] }),
            &json!({ "interpretation": [colour("green")] }),
            "rule-code-not-in-value-set",
        ),
        (
            "code by a pattern; one that nobody can know passes",
            "codes",
            &json!({ "bodySite": coded("http://loinc.org", "LA11-1"), "method": coded("http://snomed.info/sct", "1") }),
            &json!({ "bodySite": coded("http://loinc.org", "11-1") }),
            "rule-code-not-in-value-set",
        ),
        (
            "slices by value, closed",
            "slices",
            &component(&["red", "blue"]),
            &component(&["red", "green"]),
            "rule-slice-unknown",
        ),
        (
            "slices in order",
            "slices",
            &component(&["red", "blue"]),
            &component(&["blue", "red"]),
            "rule-slice-order",
        ),
        ("slices of a slice", "slices", &judged(1), &judged(2), "rule-too-many"),
        (
            "slices by type",
            "slices",
            &json!({ "valueString": "short" }),
            &json!({ "valueString": "more than ten" }),
            "rule-too-long",
        ),
        (
            "slices by pattern",
            "slices",
            &good,
            &json!({ "category": [colour("red")] }),
            "rule-slice-missing",
        ),
        ("slices by existence", "slices", &signed(1), &signed(2), "rule-too-many"),
        ("slices by extension", "slices", &performers(1), &performers(2), "rule-too-many"),
        (
            "slices by profile, through a reference",
            "members",
            &pointing("hasMember", &measured),
            &pointing("hasMember", &result(&[], &quantity(json!({ "value": 1 })))),
            "rule-invariant",
        ),
        (
            "reference to a profile, which must be declared",
            "references",
            &specimen(true),
            &specimen(false),
            "rule-missing",
        ),
        (
            "where a reference may lead",
            "references",
            &good,
            &json!({ "device": { "reference": "Device/elsewhere" } }),
            "rule-reference-aggregation",
        ),
        ("content of another element", "content", &range(Some("a")), &range(None), "rule-missing"),
        (
            "context of an extension",
            "extensions",
            &json!({ "extension": remark("a") }),
            &json!({ "category": [{ "extension": remark("a") }] }),
            "rule-extension-context",
        ),
        (
            "modifier extension",
            "extensions",
            &doubt("modifierExtension"),
            &doubt("extension"),
            "rule-extension-is-modifier",
        ),
        (
            "modifier extension that nobody knows",
            "extensions",
            &good,
            &json!({ "modifierExtension": [{ "url": "http://nobody.example/e", "valueBoolean": true }] }),
            "rule-extension-unknown",
        ),
    ] {
        let found = |more: &Value| errors(&set, &result(&[lesson], more).to_string());
        assert_eq!(found(keeps), [""; 0], "{about}");
        let broken = found(breaks);
        assert!(broken.iter().any(|of| of.split(' ').next() == Some(code)), "{about}: {broken:?}");
    }
    // A definition that leads back to itself comes to an end, and so does a document that does.
    let mut round = pointing("hasMember", &result(&["circle"], &json!({})));
    round["contained"][0]["hasMember"] = json!([{ "reference": "#t" }]);
    assert_eq!(errors(&set, &result(&["circle"], &round).to_string()), [""; 0]);
}
