//! An element taken out of a document's text, with the comma or the space that it leaves:
//! everything else stays as it was received, to the byte.

use std::ops::Range;

use fhir::{Element, Format, Tree};

/// The bytes that hold an element. `None` where something would be left that FHIR does not allow,
/// or where they do not lie together.
pub(crate) fn removal(tree: &Tree, of: Element<'_>) -> Option<Range<usize>> {
    let owner = of.parent()?;
    if of.resource_type().is_some() || owner.children().count() < 2 {
        return None;
    }
    let place = of.position();
    match tree.format() {
        Format::Xml => Some(with_space(tree.source(), place.start)..place.end),
        Format::Json => json(tree.source(), of, owner, place.start..place.end),
    }
}

/// Where the white space before an element begins.
fn with_space(source: &[u8], start: usize) -> usize {
    start - blank_before(source, start)
}

fn json(
    source: &[u8],
    of: Element<'_>,
    owner: Element<'_>,
    value: Range<usize>,
) -> Option<Range<usize>> {
    let before = value.start.checked_sub(1 + blank_before(source, value.start))?;
    let after = value.end + blank_after(source, value.end);
    match (source.get(before)?, source.get(after)?) {
        (b':', _) => member(source, owner, of.name(), value),
        // The only item: its list goes with it.
        (b'[', b']') => member(source, owner, of.name(), before..after + 1),
        // What `_name` says of the items is told by their places.
        _ if source_names(source, owner, &format!("_{}", of.name())) => None,
        (_, b',') => Some(value.start..after + 1 + blank_after(source, after + 1)),
        (b',', _) => Some(before..value.end),
        _ => None,
    }
}

/// A member of an object, from its name to its value, with one of the commas around it, and with
/// what `_name` says of it: that must stand right behind it.
fn member(
    source: &[u8],
    owner: Element<'_>,
    name: &str,
    value: Range<usize>,
) -> Option<Range<usize>> {
    let (own, start) = key_before(source, value.start)?;
    let mut whole = start..value.end;
    if own != name {
        return None;
    }
    let beside = format!("_{name}");
    if source_names(source, owner, &beside) {
        let comma = whole.end + blank_after(source, whole.end);
        let key = comma + 1 + blank_after(source, comma + 1);
        let quoted = format!("\"{beside}\"");
        if !source.get(key..)?.starts_with(quoted.as_bytes()) {
            return None;
        }
        let colon = key + quoted.len();
        let start = colon + blank_after(source, colon) + 1;
        whole.end = value_end(source, start + blank_after(source, start))?;
    }
    let next = whole.end + blank_after(source, whole.end);
    if source.get(next) == Some(&b',') {
        whole.end = next + 1 + blank_after(source, next + 1);
        return Some(whole);
    }
    let last = whole.start.checked_sub(1 + blank_before(source, whole.start))?;
    if source.get(last) == Some(&b',') {
        whole.start = last;
    }
    Some(whole)
}

/// The name of the member whose value begins at `value`, and where its opening quote stands.
fn key_before(source: &[u8], value: usize) -> Option<(&str, usize)> {
    let colon = value.checked_sub(1 + blank_before(source, value))?;
    (source.get(colon) == Some(&b':')).then_some(())?;
    let close = colon.checked_sub(1 + blank_before(source, colon))?;
    (source.get(close) == Some(&b'"')).then_some(())?;
    let open = source.get(..close)?.iter().rposition(|byte| *byte == b'"')?;
    // A name that is written with escapes ends elsewhere, and is no name that is looked for.
    Some((std::str::from_utf8(source.get(open + 1..close)?).ok()?, open))
}

/// Whether an object has a member of this name.
fn source_names(source: &[u8], owner: Element<'_>, name: &str) -> bool {
    let place = owner.position();
    let quoted = format!("\"{name}\"");
    let text = source.get(place.start..place.end).unwrap_or_default();
    text.windows(quoted.len()).any(|part| part == quoted.as_bytes())
}

/// Offset after the value that begins at `start`. The text is known to be well-formed.
fn value_end(source: &[u8], start: usize) -> Option<usize> {
    let mut stream = serde_json::Deserializer::from_slice(source.get(start..)?)
        .into_iter::<serde::de::IgnoredAny>();
    stream.next()?.ok()?;
    Some(start + stream.byte_offset())
}

fn blank_before(source: &[u8], at: usize) -> usize {
    let before = source.get(..at).unwrap_or_default().iter().rev();
    before.take_while(|byte| byte.is_ascii_whitespace()).count()
}

fn blank_after(source: &[u8], at: usize) -> usize {
    let after = source.get(at..).unwrap_or_default().iter();
    after.take_while(|byte| byte.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use fhir::Limits;

    use super::*;

    fn without(text: &str, expression: &str) -> Option<String> {
        let format = Format::sniff(text.as_bytes())?;
        let tree = Tree::read(text.as_bytes(), format, &Limits::default()).ok()?;
        let place = removal(&tree, tree.find(expression)?)?;
        let mut text = text.to_owned();
        text.replace_range(place, "");
        let left = Tree::read(text.as_bytes(), format, &Limits::default()).ok()?;
        assert_eq!(left.check(), [], "{text}");
        Some(text)
    }

    #[test]
    fn an_element_goes_with_its_comma_and_nothing_else() {
        let head = r#"{"resourceType":"Patient""#;
        for (json, expression, left) in [
            (
                r#", "telecom" : [ {"value":"1"} ] , "gender":"male"}"#,
                "telecom[0]",
                r#", "gender":"male"}"#,
            ),
            (
                r#","gender":"male", "telecom":[{"value":"1"}]}"#,
                "telecom[0]",
                r#","gender":"male"}"#,
            ),
            (
                r#","telecom":[{"value":"1"}, {"value":"2"}]}"#,
                "telecom[0]",
                r#","telecom":[{"value":"2"}]}"#,
            ),
            (
                r#","telecom":[{"value":"1"}, {"value":"2"}]}"#,
                "telecom[1]",
                r#","telecom":[{"value":"1"}]}"#,
            ),
            (r#","gender":"male"}"#, "gender", ""),
            (
                r#","address":[{"line":["a"],"_line":[{"extension":[{"url":"http://x","valueString":"]"}]}],"city":"B"}]}"#,
                "address[0].line[0]",
                r#","address":[{"city":"B"}]}"#,
            ),
            (
                r#","address":[{"line":["a","b"],"_line":[null,{"id":"x"}],"city":"B"}]}"#,
                "address[0].line[0]",
                "",
            ),
        ] {
            let found = without(&format!("{head}{json}"), &format!("Patient.{expression}"));
            let expected = (!left.is_empty()).then(|| format!("{head}{left}"));
            assert_eq!(found, expected, "{json}");
        }
        let xml = "<Patient xmlns=\"http://hl7.org/fhir\">\n  <telecom><value \
                   value=\"1\"/></telecom>\n  <gender value=\"male\"/>\n</Patient>";
        let left =
            "<Patient xmlns=\"http://hl7.org/fhir\">\n  <gender value=\"male\"/>\n</Patient>";
        assert_eq!(without(xml, "Patient.telecom[0]").as_deref(), Some(left));
    }
}
