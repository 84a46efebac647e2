//! Bounds of a value that FHIR has extensions for: its length, form, digits and size.

use fhir::Element;

use super::{Issue, Run, error};
use crate::profile::Bounded;

impl<'t> Run<'t> {
    pub(super) fn bounds(&self, of: Element<'t>, bounds: &Bounded, issues: &mut Vec<Issue>) {
        let mut tell = |code: &'static str, expected: u64, found: u64| {
            let (expected, found) = (expected.to_string(), found.to_string());
            let params = [("element", of.name()), ("expected", &*expected), ("found", &*found)];
            error(issues, of, code, &params);
        };
        let value = of.value().filter(|value| !value.is_empty());
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

/// Bytes of what is attached: of the data that are there, else as it is told.
fn size_of(of: Element<'_>) -> Option<u64> {
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
