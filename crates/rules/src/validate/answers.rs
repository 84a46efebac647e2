//! The values of answers: whether two are the same, and what a question says of its own: its
//! length, bounds, form, digits and unit (by extensions, but for `maxLength`).

use std::cmp::Ordering;

use fhir::{Element, Instant};
use fhirpath::Decimal;

use super::bounds::size_of;
use super::{Issue, error};
use crate::vocabulary::whole;

/// Where FHIR's own extensions have their addresses.
const CORE: &str = "http://hl7.org/fhir/StructureDefinition/";

/// An answer of the type that is asked for, against what its question says of it.
pub(super) fn limits(
    question: Element<'_>,
    kind: &str,
    value: Element<'_>,
    issues: &mut Vec<Issue>,
) {
    match kind {
        "string" => text(question, value, issues),
        "integer" | "date" | "dateTime" | "time" => range(question, value, issues),
        "decimal" => {
            range(question, value, issues);
            digits(question, value, value.value(), issues);
        }
        "quantity" => {
            digits(question, value, value.text("value"), issues);
            unit(question, value, issues);
        }
        "attachment" => attachment(question, value, issues),
        _ => {}
    }
}

/// What an extension of a question says.
fn told<'t>(question: Element<'t>, name: &str) -> Option<&'t str> {
    question.extension(&format!("{CORE}{name}"))?.choice("value")?.value()
}

fn number(question: Element<'_>, name: &str) -> Option<u64> {
    told(question, name)?.parse().ok()
}

fn tell(of: Element<'_>, code: &'static str, bound: &str, found: &str, issues: &mut Vec<Issue>) {
    let params = [("element", of.name()), ("expected", bound), ("found", found)];
    error(issues, of, code, &params);
}

fn text(question: Element<'_>, value: Element<'_>, issues: &mut Vec<Issue>) {
    let Some(found) = value.value().filter(|found| !found.is_empty()) else { return };
    let length = found.encode_utf16().count() as u64;
    let max = question.text("maxLength").and_then(|max| max.parse().ok());
    if let Some(max) = max.filter(|max| length > *max) {
        tell(value, "rule-too-long", &max.to_string(), &length.to_string(), issues);
    }
    if let Some(min) = number(question, "minLength").filter(|min| length < *min) {
        tell(value, "rule-too-short", &min.to_string(), &length.to_string(), issues);
    }
    let form = told(question, "regex");
    if let Some(form) = form.filter(|of| whole(of).is_some_and(|form| !form.is_match(found))) {
        tell(value, "rule-text-pattern", form, found, issues);
    }
}

fn range(question: Element<'_>, value: Element<'_>, issues: &mut Vec<Issue>) {
    let Some(found) = value.value() else { return };
    for (name, wrong, code) in [
        ("minValue", Ordering::Less, "rule-too-small"),
        ("maxValue", Ordering::Greater, "rule-too-great"),
    ] {
        let Some(bound) = told(question, name) else { continue };
        if order(value.type_name(), found, bound) == Some(wrong) {
            tell(value, code, bound, found, issues);
        }
    }
}

/// Numbers by their value, moments as such; dates and times to the coarser of both.
fn order(kind: &str, found: &str, bound: &str) -> Option<Ordering> {
    if matches!(kind, "integer" | "decimal") {
        return Some(Decimal::parse(found)?.cmp(&Decimal::parse(bound)?));
    }
    if let (Some(found), Some(bound)) = (Instant::parse(found), Instant::parse(bound)) {
        return Some(found.cmp(&bound));
    }
    let length = found.len().min(bound.len());
    Some(found.get(..length)?.cmp(bound.get(..length)?))
}

fn digits(question: Element<'_>, value: Element<'_>, found: Option<&str>, issues: &mut Vec<Issue>) {
    let Some(max) = number(question, "maxDecimalPlaces") else { return };
    let digits = found.and_then(|of| of.split_once('.')).map_or(0, |(_, of)| of.len() as u64);
    if digits > max {
        let code = "rule-too-many-decimals";
        tell(value, code, &max.to_string(), &digits.to_string(), issues);
    }
}

/// A quantity in one of the units that may be chosen.
fn unit(question: Element<'_>, value: Element<'_>, issues: &mut Vec<Issue>) {
    let url = format!("{CORE}questionnaire-unitOption");
    let options: Vec<Element<'_>> = question
        .all("extension")
        .filter(|of| of.text("url") == Some(&url))
        .filter_map(|of| of.choice("value"))
        .collect();
    let parts = [("system", "system"), ("code", "code"), ("display", "unit")];
    let is_of = |option: &Element<'_>| {
        parts.iter().all(|(told, found)| match option.text(told) {
            Some(told) => value.text(found) == Some(told),
            None => true,
        })
    };
    if !options.is_empty() && !options.iter().any(is_of) {
        let shown = value.text("code").or_else(|| value.text("unit")).unwrap_or_default();
        error(issues, value, "rule-answer-option", &[("value", shown)]);
    }
}

fn attachment(question: Element<'_>, value: Element<'_>, issues: &mut Vec<Issue>) {
    let url = format!("{CORE}mimeType");
    let kinds: Vec<&str> = question
        .all("extension")
        .filter(|of| of.text("url") == Some(&url))
        .filter_map(|of| of.choice("value")?.value())
        .collect();
    let found = value.text("contentType").unwrap_or_default();
    if !kinds.is_empty() && !kinds.iter().any(|kind| found.starts_with(kind)) {
        let params = [("expected", &*kinds.join(", ")), ("found", found)];
        error(issues, value, "rule-answer-type", &params);
    }
    if let (Some(max), Some(size)) = (number(question, "maxSize"), size_of(value))
        && size > max
    {
        tell(value, "rule-too-large", &max.to_string(), &size.to_string(), issues);
    }
}

/// What a condition asks for: of a code without a code system, that of any.
pub(super) fn is_expected(expected: Element<'_>, found: Element<'_>) -> bool {
    let is_any = expected.type_name() == "Coding" && expected.text("system").is_none();
    let is_code = || found.type_name() == "Coding" && expected.text("code") == found.text("code");
    if is_any { is_code() } else { is_same(expected, found) }
}

/// The same code, or the same value.
pub(super) fn is_same(expected: Element<'_>, found: Element<'_>) -> bool {
    if expected.type_name() != found.type_name() {
        return false;
    }
    match expected.type_name() {
        "Coding" => ["system", "code"].iter().all(|part| expected.text(part) == found.text(part)),
        "Quantity" => compared(found, expected).is_some_and(Ordering::is_eq),
        _ => expected.value() == found.value(),
    }
}

/// Numbers by their value, dates and times as they are written.
pub(super) fn compared(found: Element<'_>, expected: Element<'_>) -> Option<Ordering> {
    let value = |of: Element<'_>| match of.type_name() {
        "Quantity" => of.text("value").map(str::to_owned),
        _ => of.value().map(str::to_owned),
    };
    let (found, expected) = (value(found)?, value(expected)?);
    match (found.parse::<f64>(), expected.parse::<f64>()) {
        (Ok(found), Ok(expected)) => found.partial_cmp(&expected),
        _ => Some(found.cmp(&expected)),
    }
}
