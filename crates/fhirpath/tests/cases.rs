//! Every function and every operator on an invented patient, from JSON and from XML; and what
//! hostile expressions meet.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use fhir::{Element, Format, Instant, Limits, Tree};
use fhirpath::{
    Collection, Context, EvaluationError, Expression, Host, Item, Limit, SyntaxReason,
    UnknownProfile,
};

struct Known<'t>(Element<'t>);

impl<'t> Host<'t> for Known<'t> {
    fn resolve(&self, reference: &str, _: Option<Element<'t>>) -> Option<Item<'t>> {
        (reference == "http://example.org/known").then_some(Item::Element(self.0))
    }
    fn member_of(&self, _: &Item<'t>, value_set: &str) -> Option<bool> {
        match value_set {
            "http://example.org/in" => Some(true),
            "http://example.org/out" => Some(false),
            _ => None,
        }
    }
    fn conforms_to(&self, _: &Item<'t>, profile: &str) -> Result<bool, UnknownProfile> {
        if profile == "http://example.org/known" { Ok(true) } else { Err(UnknownProfile) }
    }
}

fn patients() -> [Tree; 2] {
    let json = include_bytes!("patient.json");
    let json = Tree::read(json, Format::Json, &Limits::default()).unwrap();
    let xml = Tree::read(json.to_xml().as_bytes(), Format::Xml, &Limits::default()).unwrap();
    [json, xml]
}

fn now() -> Instant {
    Instant::parse("2026-11-22T01:15:00Z").unwrap()
}

fn shown(result: &Result<Collection<'_>, EvaluationError>) -> String {
    match result {
        Err(error) => format!("! {}", error.code()),
        Ok(items) if items.is_empty() => "{}".into(),
        Ok(items) => {
            let item = |item: &Item<'_>| {
                format!("{} {}", item.type_info().name, item.text().unwrap_or_default())
            };
            items.iter().map(item).collect::<Vec<_>>().join(", ").replace('\n', "\\n")
        }
    }
}

#[test]
fn every_case_from_either_encoding() {
    let cases: Vec<_> =
        include_str!("cases.txt").lines().filter_map(|line| line.split_once(" => ")).collect();
    assert!(cases.len() > 300, "{}", cases.len());
    let mut wrong = Vec::new();
    for tree in &patients() {
        let host = Known(tree.root());
        for (text, expected) in cases.iter().skip(1) {
            let expression =
                Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let context = Context::new(now())
                .within(tree.root(), tree.root())
                .asking(&host)
                .with("given", Collection::one(Item::Integer(7)));
            let found = shown(&expression.evaluate(&context, &[Item::Element(tree.root())]));
            if found.trim_end() != expected.trim_end() {
                wrong.push(format!("{text} => {found}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_invariant_holds_as_hl7s_validator_says() {
    let [tree, _] = patients();
    for (text, holds) in [
        ("name.exists()", Ok(true)),
        ("name.suffix", Ok(false)),
        ("active", Ok(true)),
        ("active.not()", Ok(false)),
        ("name", Ok(true)),
        ("'false'", Ok(true)),
        ("birthDate < @1974-12", Ok(false)),
        ("name.single().exists()", Err("not-single")),
    ] {
        let expression = Expression::parse(text).unwrap();
        let context = Context::new(now()).within(tree.root(), tree.root());
        let found = expression.holds(&context, &[Item::Element(tree.root())]);
        assert_eq!(found.map_err(|error| error.code()), holds, "{text}");
    }
}

#[test]
fn without_a_host_what_must_be_asked_is_an_error() {
    let [tree, _] = patients();
    for text in ["resolve()", "gender.memberOf('a')", "conformsTo('a')"] {
        let expression = Expression::parse(text).unwrap();
        let context = Context::new(now()).within(tree.root(), tree.root());
        let found = expression.evaluate(&context, &[Item::Element(tree.root())]);
        assert!(matches!(found, Err(EvaluationError::NotSupported(_))), "{text}");
    }
}

#[test]
fn what_is_not_fhirpath_is_told_with_its_place() {
    for (text, position) in [
        ("", 0),
        ("1 +", 3),
        ("name.", 5),
        ("name.given1)", 11),
        ("name..given", 5),
        ("a b", 2),
        ("name.foo()", 5),
        ("name.where()", 5),
        ("name.exists(1, 2)", 5),
        ("1 = ", 4),
        ("$that", 0),
        ("'a", 0),
        ("[1]", 0),
    ] {
        assert_eq!(Expression::parse(text).unwrap_err().position, position, "{text}");
    }
}

#[test]
fn a_hostile_expression_is_refused_or_ends() {
    let deep = ["(", "-", "iif(", "a.where(", "a[", "1+("];
    for opening in deep {
        let text = opening.repeat(20_000 / opening.len());
        let error = Expression::parse(&text).unwrap_err();
        assert_eq!(error.reason, SyntaxReason::TooComplex, "{opening}");
    }
    let long = "1 + ".repeat(5_000) + "1";
    assert_eq!(Expression::parse(&long).unwrap_err().reason, SyntaxReason::TooComplex);
    assert!(Expression::parse(&"a".repeat(70_000)).is_err());
    // A long chain of one operator is not a deep one.
    let [tree, _] = patients();
    for (text, expected) in [
        ("active or ".repeat(2_000) + "true", "Boolean true"),
        ("iif(active, ".repeat(90) + "1" + &", 2)".repeat(90), "Integer 1"),
        ("name.where(".repeat(45) + "true" + &")".repeat(45), "{}"),
    ] {
        let expression = Expression::parse(&text).unwrap();
        let context = Context::new(now()).within(tree.root(), tree.root());
        let found = expression.evaluate(&context, &[Item::Element(tree.root())]);
        assert_eq!(shown(&found), expected, "{}", &text[..20]);
    }
}

#[test]
fn an_evaluation_has_limits() {
    let [tree, _] = patients();
    let limits = fhirpath::Limits { steps_max: 20_000, items_max: 200, text_max: 1_000 };
    for (text, limit) in [
        ("'a'.repeat($this & 'a')", Limit::Steps),
        ("descendants().select(descendants()).select(%resource.descendants())", Limit::Items),
        (
            "descendants().all(%resource.descendants().all(%resource.descendants().exists()))",
            Limit::Steps,
        ),
        ("(1|2|3|4|5|6|7|8|9).aggregate($total & $total & 'aaaaaaaaaa', '')", Limit::Text),
        (
            "'aaaaaaaaaa'.replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
            Limit::Text,
        ),
    ] {
        let expression = Expression::parse(text).unwrap();
        let context = Context::new(now()).within(tree.root(), tree.root()).limited(limits);
        let found = expression.evaluate(&context, &[Item::Element(tree.root())]);
        assert_eq!(found.unwrap_err(), EvaluationError::Limit(limit), "{text}");
    }
}

#[test]
fn a_check_finds_what_is_certainly_wrong() {
    let patient = fhir::TypeDefinition::named("Patient").unwrap();
    let observation = fhir::TypeDefinition::named("Observation").unwrap();
    for (on, text, good) in [
        (patient, "name.given1", false),
        (patient, "name.given.startsWith('A')", true),
        (patient, "name.startsWith('A')", false),
        (patient, "Encounter.name", false),
        (patient, "contact.name.given", true),
        (patient, "contact.relation", false),
        (patient, "contained.whatever", true),
        (patient, "birthDate.extension.value.code", true),
        (patient, "birthDate + 7", false),
        (patient, "birthDate + 7 days", true),
        (patient, "iif(name, 1, 2)", false),
        (patient, "descendants().anything", true),
        (observation, "value.unit", true),
        (observation, "valueQuantity.unit", false),
        (observation, "(value as Period).unit", false),
        (observation, "component.value.ofType(Quantity).value", true),
    ] {
        let found = Expression::parse(text).unwrap().check(on);
        assert_eq!(found.is_ok(), good, "{text}: {found:?}");
    }
    let unordered = Expression::parse("children().skip(1)").unwrap();
    assert!(unordered.check(patient).is_ok() && unordered.check_with_order(patient).is_err());
}

#[test]
fn nothing_of_a_document_is_in_an_error_or_a_debug_text() {
    let [tree, _] = patients();
    for text in [
        "name.family.first() + 1",
        "name.single()",
        "1 < name.family.first()",
        "name.family | name.family.first().toString() | 1.5 'mg' | name",
    ] {
        let expression = Expression::parse(text).unwrap();
        let context = Context::new(now()).within(tree.root(), tree.root());
        let found = expression.evaluate(&context, &[Item::Element(tree.root())]);
        let error = found.as_ref().map_err(ToString::to_string).err().unwrap_or_default();
        let shown = format!("{found:?} {error}");
        assert!(!shown.contains("Muster") && !shown.contains("1.5"), "{shown}");
    }
}
