//! How a value is written in JSON and in XML, and the elements that hold values.

use fhir::{Element, Format, Tree};

/// The element of an expression, and not the nearest one around it that is there.
pub(crate) fn exactly<'t>(tree: &'t Tree, expression: &str) -> Option<Element<'t>> {
    tree.find(expression).filter(|found| found.expression() == expression)
}

/// Which bytes give way to what.
pub(crate) fn replacement(
    tree: &Tree,
    leaf: Element<'_>,
    value: &str,
) -> Option<(usize, usize, String)> {
    let place = leaf.position();
    let source = std::str::from_utf8(leaf.source()).ok()?;
    match tree.format() {
        Format::Json => {
            // An element that FHIR does not know is written as it was.
            let written = match leaf.type_definition() {
                Some(of) => in_json(of.name(), value)?,
                None if source.starts_with('"') => serde_json::to_string(value).ok()?,
                None => value.to_owned(),
            };
            Some((place.start, place.end, written))
        }
        Format::Xml => {
            let (start, end) = value_attribute(source)?;
            Some((place.start + start, place.start + end, escaped(value)))
        }
    }
}

/// Types of which JSON writes the values as numbers.
const NUMBERS: &[&str] = &["decimal", "integer", "positiveInt", "unsignedInt"];

/// A value as JSON has it: truth values and numbers without quotes. What is none (yet) gets them,
/// so that the text stays a document in which it is found.
pub(crate) fn in_json(kind: &str, value: &str) -> Option<String> {
    let is_bare = if kind == "boolean" {
        matches!(value, "true" | "false")
    } else {
        NUMBERS.contains(&kind)
            && value.trim() == value
            && serde_json::from_str::<serde_json::Number>(value).is_ok()
    };
    if is_bare { Some(value.to_owned()) } else { serde_json::to_string(value).ok() }
}

/// Where, between its quotes, the value of a start tag stands.
fn value_attribute(tag: &str) -> Option<(usize, usize)> {
    let bytes = tag.as_bytes();
    let mut at = tag.find(|c: char| c.is_whitespace())?;
    loop {
        at += tag[at..].find(|c: char| !c.is_whitespace())?;
        if matches!(bytes.get(at)?, b'>' | b'/') {
            return None;
        }
        let equals = at + tag[at..].find('=')?;
        let name = tag[at..equals].trim();
        let open = equals + tag[equals..].find(['"', '\''])?;
        let quote = char::from(*bytes.get(open)?);
        let close = open + 1 + tag[open + 1..].find(quote)?;
        if name == "value" {
            return Some((open + 1, close));
        }
        at = close + 1;
    }
}

pub(crate) fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&apos;"),
            c => text.push(c),
        }
    }
    text
}

/// Every element below (or at) this one that holds a value.
pub(crate) fn leaves<'t>(element: Element<'t>, act: &mut dyn FnMut(Element<'t>)) {
    if element.value().is_some() {
        act(element);
    }
    for child in element.children() {
        leaves(child, act);
    }
}

/// Resource and elements without numbers, e.g. `Patient.name.family`: the same in every document.
pub(crate) fn common_path(leaf: Element<'_>) -> String {
    let mut names = vec![leaf.name()];
    let mut above = leaf.parent();
    while let Some(element) = above {
        if let Some(of) = element.resource_type() {
            names.push(of);
            break;
        }
        names.push(element.name());
        above = element.parent();
    }
    names.reverse();
    names.join(".")
}
