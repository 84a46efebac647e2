//! The official test suite for R4 and the expressions of the published packages, where they lie
//! beside the repository. docs/fhirpath.md names the cases that fail, and why.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fhir::{Element, Format, Instant, Limits, Tree, TypeDefinition};
use fhirpath::{Context, Decimal, Expression, Host, Item, UnknownProfile};
use serde_json::Value;

/// Cases that fail; the docs say why.
const EXCEPTIONS: &[&str] = &[];

struct Types;

impl<'t> Host<'t> for Types {
    fn resolve(&self, _: &str, _: Option<Element<'t>>) -> Option<Item<'t>> {
        None
    }
    fn member_of(&self, _: &Item<'t>, _: &str) -> Option<bool> {
        None
    }
    fn conforms_to(&self, item: &Item<'t>, profile: &str) -> Result<bool, UnknownProfile> {
        let name = profile.strip_prefix("http://hl7.org/fhir/StructureDefinition/");
        let of = name.and_then(TypeDefinition::named).ok_or(UnknownProfile)?;
        Ok(item.type_info().name == of.name())
    }
}

fn suite() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fhirpath-tests")
}

fn format(path: &Path) -> Format {
    if path.extension().is_some_and(|extension| extension == "xml") {
        Format::Xml
    } else {
        Format::Json
    }
}

fn read(path: &Path) -> Tree {
    Tree::read(&std::fs::read(path).unwrap(), format(path), &Limits::default()).unwrap()
}

/// The document in the other encoding.
fn turned(tree: &Tree) -> Tree {
    let other = if tree.format() == Format::Json { Format::Xml } else { Format::Json };
    Tree::read(tree.write(other).as_bytes(), other, &Limits::default()).unwrap()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// Whether an item is what the suite expects.
fn is_expected(item: &Item<'_>, expected: &Value) -> bool {
    let name = item.type_info().name;
    let value = text(expected, "value");
    let of = expected["type"].as_str().unwrap_or(name);
    let same_type = of == name || of.eq_ignore_ascii_case(name) && item.element().is_none();
    let found = item.text().unwrap_or_default();
    let same_value = match item {
        Item::Decimal(found) => Decimal::parse(value).is_some_and(|value| {
            value == *found && (of == "decimal" || value.scale() == found.scale())
        }),
        Item::Time(_) => value == format!("@T{found}"),
        Item::Date(_) | Item::DateTime(_) => value == format!("@{found}"),
        Item::Element(_) if value.starts_with('@') => value == format!("@{found}"),
        _ => value == found,
    };
    same_type && same_value
}

/// What is wrong with a case; `Ok` if nothing is.
fn outcome(case: &Value, tree: Option<&Tree>) -> Result<(), String> {
    let invalid = text(case, "invalid");
    let expression = match Expression::parse(text(case, "expression")) {
        Ok(expression) => expression,
        Err(error) if invalid == "semantic" => return Err(format!("syntax: {error}")),
        Err(_) if !invalid.is_empty() => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    if invalid == "syntax" {
        return Err("parsed".into());
    }
    let on = tree.and_then(|tree| tree.root().type_definition());
    let problem = on.and_then(|on| match text(case, "checkOrderedFunctions") {
        "true" => expression.check_with_order(on).err(),
        _ => expression.check(on).err(),
    });
    match (invalid, problem) {
        ("semantic", Some(_)) => return Ok(()),
        ("semantic", None) => return Err("passed the check of types".into()),
        ("", Some(problem)) => return Err(format!("check of types: {problem}")),
        _ => {}
    }
    let host = Types;
    let now = Instant::parse("2026-11-22T01:00:00Z").unwrap();
    let mut context = Context::new(now).asking(&host);
    let mut focus = Vec::new();
    if let Some(tree) = tree {
        context = context.within(tree.root(), tree.root());
        focus.push(Item::Element(tree.root()));
    }
    let result = expression.evaluate(&context, &focus);
    match (invalid, result) {
        ("execution", Err(_)) => Ok(()),
        ("execution", Ok(_)) => Err("evaluated".into()),
        (_, Err(error)) => Err(error.to_string()),
        (_, Ok(items)) => {
            let expected = case["output"].as_array().cloned().unwrap_or_default();
            if text(case, "predicate") == "true" {
                let holds =
                    expression.holds(&context, &focus).map_err(|error| error.to_string())?;
                let wanted = text(&expected[0], "value") == "true";
                return if holds == wanted { Ok(()) } else { Err(format!("predicate {holds}")) };
            }
            let same = if text(case, "ordered") == "false" {
                expected.iter().all(|expected| items.iter().any(|item| is_expected(item, expected)))
            } else {
                items.iter().zip(&expected).all(|(item, expected)| is_expected(item, expected))
            };
            if same && items.len() == expected.len() {
                return Ok(());
            }
            let found: Vec<_> = items
                .iter()
                .map(|item| {
                    format!("{}:{}", item.type_info().name, item.text().unwrap_or_default())
                })
                .collect();
            Err(format!("gave {found:?}"))
        }
    }
}

#[test]
#[cfg_attr(not(official_suite), ignore = "the official suite does not lie beside the repository")]
fn official_cases() {
    let cases = std::fs::read_to_string(suite().join("tests.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    assert_eq!(cases.len(), 935);
    let mut trees: BTreeMap<String, [Tree; 2]> = BTreeMap::new();
    for case in &cases {
        if let Some(input) = case["input"].as_str() {
            trees.entry(input.into()).or_insert_with(|| {
                let tree = read(&suite().join("input").join(input));
                let other = turned(&tree);
                [tree, other]
            });
        }
    }
    let mut failed = BTreeMap::new();
    for case in &cases {
        let inputs = case["input"].as_str().and_then(|input| trees.get(input));
        let outcomes = match inputs {
            None => vec![outcome(case, None)],
            Some(trees) => trees.iter().map(|tree| outcome(case, Some(tree))).collect(),
        };
        if let Some(Err(why)) = outcomes.into_iter().find(Result::is_err) {
            let id = text(case, "id").to_owned();
            println!("{id}: {} => {why}", text(case, "expression").escape_debug());
            failed.insert(id, why);
        }
    }
    println!("{} of {} pass", cases.len() - failed.len(), cases.len());
    let failed: Vec<_> = failed.keys().map(String::as_str).collect();
    assert_eq!(failed, EXCEPTIONS);
}
