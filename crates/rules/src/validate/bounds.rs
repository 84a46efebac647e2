//! Bounds of a value: the least and the greatest, and those that FHIR has extensions for: its
//! length, form, digits and size.

use std::cmp::Ordering;

use fhir::{Element, TypeDefinition};
use fhirpath::{Decimal, Quantity};
use serde_json::Value;

use super::matching::shown;
use super::{Issue, Run, error};
use crate::definition::Typed;
use crate::profile::{Bounded, Node};

const UCUM: &str = "http://unitsofmeasure.org";

/// A value beside a bound.
enum Beside {
    Order(Ordering),
    /// Their units measure different kinds of things.
    OtherUnit,
}

impl<'t> Run<'t> {
    pub(super) fn bounds(&self, of: Element<'t>, bounds: &Bounded, issues: &mut Vec<Issue>) {
        let mut tell = |code: &'static str, expected: u64, found: u64| {
            let (expected, found) = (expected.to_string(), found.to_string());
            let params = [("element", of.name()), ("expected", &*expected), ("found", &*found)];
            error(issues, of, code, &params);
        };
        let value = of.value().filter(|value| !value.is_empty());
        if value.is_none() && of.type_definition().is_some_and(TypeDefinition::is_primitive) {
            without_value(of, bounds, issues);
            return;
        }
        if let (Some(min), Some(value)) = (bounds.told.min_length, value) {
            let length = value.encode_utf16().count() as u64;
            if length < min {
                tell("rule-too-short", min, length);
            }
        }
        let number = match of.type_name() {
            "decimal" => value,
            "Quantity" | "Age" | "Count" | "Distance" | "Duration" | "Money" => of.text("value"),
            _ => None,
        };
        if let (Some(max), Some(number)) = (bounds.told.max_decimals, number) {
            let digits = number.split_once('.').map_or(0, |(_, digits)| digits.len() as u64);
            if digits > max {
                tell("rule-too-many-decimals", max, digits);
            }
        }
        if let (Some(max), Some(size)) = (bounds.told.max_size, size_of(of))
            && size > max
        {
            tell("rule-too-large", max, size);
        }
        if let (Some(pattern), Some(value)) = (&bounds.pattern, value)
            && !pattern.is_match(value)
        {
            let expected = bounds.told.pattern.as_deref().unwrap_or_default();
            let params = [("element", of.name()), ("expected", expected), ("found", value)];
            error(issues, of, "rule-text-pattern", &params);
        }
    }
}

/// Extensions alone, where a value must be, or one of certain extensions.
fn without_value(of: Element<'_>, bounds: &Bounded, issues: &mut Vec<Issue>) {
    let alternatives = &bounds.told.alternatives;
    let has_one = alternatives.iter().any(|url| of.extension(url).is_some());
    if bounds.told.must_have_value || !(alternatives.is_empty() || has_one) {
        let params = [("element", of.name()), ("expected", "1"), ("found", "0"), ("profile", "")];
        error(issues, of, "rule-missing", &params);
    }
}

/// Bytes of what is attached: of the data that are there, else as it is told.
pub(super) fn size_of(of: Element<'_>) -> Option<u64> {
    match of.type_name() {
        "base64Binary" => Some(decoded(of.value()?)),
        "Attachment" => match of.text("data") {
            Some(data) => Some(decoded(data)),
            None => of.text("size")?.parse().ok(),
        },
        _ => None,
    }
}

/// Bytes that a text in base64 stands for.
pub(super) fn decoded(text: &str) -> u64 {
    let letters = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let (mut count, mut padding) = (0_u64, 0_u64);
    for byte in letters {
        count += 1;
        padding += u64::from(byte == b'=');
    }
    (count / 4 * 3).saturating_sub(padding)
}

/// The least and the greatest value.
pub(super) fn range(of: Element<'_>, node: &Node, issues: &mut Vec<Issue>) {
    for (bound, wrong, code) in [
        (&node.min_value, Ordering::Less, "rule-too-small"),
        (&node.max_value, Ordering::Greater, "rule-too-great"),
    ] {
        let Some(bound) = bound else { continue };
        let code = match compare(of, bound) {
            Some(Beside::Order(order)) if order == wrong => code,
            Some(Beside::OtherUnit) => "rule-unit-not-comparable",
            _ => continue,
        };
        let (expected, found) = (shown_bound(&bound.value), shown_value(of));
        let params = [("element", of.name()), ("expected", &*expected), ("found", &*found)];
        error(issues, of, code, &params);
    }
}

/// `None` where nothing can be said, which is no error.
fn compare(of: Element<'_>, bound: &Typed) -> Option<Beside> {
    match &bound.value {
        Value::Number(_) => order(of.value()?, &bound.value).map(Beside::Order),
        Value::String(text) => {
            // Dates and times of the same form compare as text; to the coarser of both.
            let found = of.value()?;
            let length = found.len().min(text.len());
            Some(Beside::Order(found.get(..length)?.cmp(text.get(..length)?)))
        }
        Value::Object(_) => compare_quantity(of, &bound.value),
        _ => None,
    }
}

/// As HL7's validator does: both have a code of the same system, and a code of another unit is
/// converted.
fn compare_quantity(of: Element<'_>, bound: &Value) -> Option<Beside> {
    let told = |name: &str| bound.get(name).and_then(Value::as_str);
    let (found, value) = (of.text("value")?, bound.get("value")?);
    let (system, code) = (of.text("system")?, of.text("code")?);
    let unit = told("code").filter(|_| told("system") == Some(system))?;
    if unit == code {
        return order(found, value).map(Beside::Order);
    }
    if system != UCUM {
        return None;
    }
    let found = Quantity::ucum(Decimal::parse(found)?, code);
    let expected = Quantity::ucum(Decimal::parse(&value.to_string())?, unit);
    Some(found.compare(&expected).map_or(Beside::OtherUnit, Beside::Order))
}

/// Exact, as far as the digits can be counted here.
fn order(found: &str, expected: &Value) -> Option<Ordering> {
    match (Decimal::parse(found), Decimal::parse(&expected.to_string())) {
        (Some(found), Some(expected)) => Some(found.cmp(&expected)),
        _ => found.parse::<f64>().ok()?.partial_cmp(&expected.as_f64()?),
    }
}

fn shown_bound(value: &Value) -> String {
    match (value.get("value"), value.get("code").and_then(Value::as_str)) {
        (Some(number), Some(unit)) => format!("{number} {unit}"),
        (Some(number), None) => number.to_string(),
        _ => shown(value),
    }
}

fn shown_value(of: Element<'_>) -> String {
    match (of.value(), of.text("value"), of.text("code")) {
        (None, Some(number), Some(unit)) => format!("{number} {unit}"),
        (None, Some(number), None) => number.to_owned(),
        (value, ..) => value.unwrap_or_default().to_owned(),
    }
}
