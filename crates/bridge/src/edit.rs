//! One value of a document changed in its text: everything else stays as it was received, to the
//! byte.

use fhir::{Element, Format, Limits, Tree};

use crate::missing::with_new;

/// Longest value that a form writes.
pub(crate) const VALUE_MAX: usize = 2_000;

/// The text with another value at one element, which is written where it is missing and may stand;
/// `None` where there can be none, or it holds no value.
pub(crate) fn with_value(text: &str, expression: &str, value: &str) -> Option<String> {
    let format = Format::sniff(text.as_bytes())?;
    let tree = Tree::read(text.as_bytes(), format, &Limits::default()).ok()?;
    match exactly(&tree, expression) {
        Some(leaf) => changed(&tree, leaf, value),
        None => with_new(&tree, expression, value),
    }
}

/// The element of an expression, and not the nearest one around it that is there.
pub(crate) fn exactly<'t>(tree: &'t Tree, expression: &str) -> Option<Element<'t>> {
    tree.find(expression).filter(|found| found.expression() == expression)
}

/// As [`with_value`], for every leaf that `wanted` names the new value of.
pub(crate) fn with_values<'v>(
    tree: &Tree,
    wanted: impl Fn(Element<'_>) -> Option<&'v str>,
) -> Option<String> {
    let mut text = String::from_utf8(tree.source().to_vec()).ok()?;
    let mut found = Vec::new();
    leaves(tree.root(), &mut |leaf| {
        if let Some(value) = wanted(leaf) {
            found.push((leaf, value));
        }
    });
    if found.is_empty() {
        return None;
    }
    // From the end, so that the places of the others stay what they are.
    found.sort_by_key(|(leaf, _)| std::cmp::Reverse(leaf.position().start));
    for (leaf, value) in found {
        let (start, end, written) = replacement(tree, leaf, value)?;
        text.replace_range(start..end, &written);
    }
    Some(text)
}

fn changed(tree: &Tree, leaf: Element<'_>, value: &str) -> Option<String> {
    leaf.value()?;
    let mut text = String::from_utf8(tree.source().to_vec()).ok()?;
    let (start, end, written) = replacement(tree, leaf, value)?;
    text.replace_range(start..end, &written);
    Some(text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_values_and_numbers_are_written_as_json_has_them() {
        let json = r#"{"resourceType":"Observation","valueQuantity":{"value":1.5},"component":[{"valueInteger":"3"},{"valueBoolean":"true"},{"valueString":"1"}]}"#;
        let (number, truth) =
            ("Observation.valueQuantity.value", "Observation.component[1].valueBoolean");
        // On the way to 1.50 there is no number; what is typed then is no end of the document.
        let open = with_value(json, number, "1.").unwrap();
        assert_eq!(open, json.replace("1.5", "\"1.\""));
        assert_eq!(with_value(&open, number, "1.50").unwrap(), json.replace("1.5", "1.50"));
        assert_eq!(with_value(json, truth, "false").unwrap(), json.replace("\"true\"", "false"));
        assert_eq!(with_value(json, truth, "1").unwrap(), json.replace("\"true\"", "\"1\""));
        let count = "Observation.component[0].valueInteger";
        assert_eq!(with_value(json, count, "4").unwrap(), json.replace("\"3\"", "4"));
        assert_eq!(with_value(json, count, "true").unwrap(), json.replace("\"3\"", "\"true\""));
        let text = "Observation.component[2].valueString";
        assert_eq!(with_value(json, text, "2").unwrap(), json.replace("\"1\"", "\"2\""));
    }

    #[test]
    fn only_the_value_changes() {
        let json = "{\n \"resourceType\":\"Patient\", \"active\": true,\n \"name\":[{\"family\":\"A\\u00e9\"}]}";
        let edited = with_value(json, "Patient.name[0].family", "O\"Neil\\").unwrap();
        assert_eq!(edited, json.replace("\"A\\u00e9\"", "\"O\\\"Neil\\\\\""));
        let edited = with_value(json, "Patient.active", "false").unwrap();
        assert_eq!(edited, json.replace("true", "false"));
        assert!(with_value(json, "Patient.name[0]", "x").is_none());
        assert!(with_value(json, "Patient.nothing", "x").is_none());
        assert!(with_value(json, "Patient.active.value", "x").is_none());
        assert!(with_value(json, "Patient.birthDate", "1970").unwrap().contains("1970"));

        let xml = "<Patient xmlns=\"http://hl7.org/fhir\">\n <name id='value=\"x\"' ><family  id=\"a\" value='A' ><extension url=\"http://x\"><valueString value=\"s\"/></extension></family></name></Patient>";
        let edited = with_value(xml, "Patient.name[0].family", "O'Neil & <Co>").unwrap();
        assert_eq!(edited, xml.replace("value='A'", "value='O&apos;Neil &amp; &lt;Co&gt;'"));
        let tree = Tree::read(edited.as_bytes(), Format::Xml, &Limits::default()).unwrap();
        assert_eq!(tree.root().text("name.family"), Some("O'Neil & <Co>"));
    }

    #[test]
    fn all_of_one_path_change_at_once() {
        let json =
            r#"{"resourceType":"Patient","name":[{"family":"A"},{"family":"B"},{"family":"A"}]}"#;
        let tree = Tree::read(json.as_bytes(), Format::Json, &Limits::default()).unwrap();
        let wanted = |leaf: Element<'_>| {
            (common_path(leaf) == "Patient.name.family" && leaf.value() == Some("A"))
                .then_some("Long")
        };
        assert_eq!(with_values(&tree, wanted).unwrap(), json.replace("\"A\"", "\"Long\""));
        assert!(with_values(&tree, |_| None).is_none());
    }
}
