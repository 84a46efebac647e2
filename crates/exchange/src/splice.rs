//! Writing into a text without reading it through: which bytes are inserted where.
//!
//! The document travels as the text that was received. All that may be added is its local `id` and
//! the canonical URLs of missing profiles; [`permitted_insertions`] is the one place that says
//! what.

use std::ops::Range;

use fhir::{Element, Format, Tree};

use crate::canonical;
use crate::envelope::envelope_of;

/// Local id given to a document that has none.
pub const LOCAL_ID: &str = "document";

/// Text to insert at a byte offset of a source.
pub type Insertion = (usize, String);

/// What is missing from a document before it can travel, whether it is the root of `tree` or stands
/// in an envelope: pairs of offset in [`Tree::source`] and text, by ascending offset. Empty where
/// nothing is missing, or there is no Bundle.
pub fn permitted_insertions(tree: &Tree) -> Vec<Insertion> {
    let root = tree.root();
    let bundle = match root.resource_type() {
        Some("Bundle") => Some(root),
        // Its envelope refers to its `id`, so that only profiles can be missing.
        Some("DocumentReference") => envelope_of(tree).map(|view| view.document),
        _ => None,
    };
    let Some(bundle) = bundle else { return Vec::new() };
    let profiles = missing_profiles(bundle);
    match tree.format() {
        Format::Json => json_insertions(tree.source(), bundle.position().start, &profiles),
        Format::Xml => xml_insertions(tree.source(), bundle, &profiles),
    }
}

/// Where the value of an envelope's identifier stands: the text between its quotes.
pub(crate) fn identifier_place(tree: &Tree) -> Option<Range<usize>> {
    let value = tree.root().child("identifier")?.child("value")?;
    value.value().filter(|value| !value.is_empty())?;
    let place = value.position();
    let text = tree.source().get(place.start..place.end)?;
    match tree.format() {
        Format::Json if text.len() > 2 && text.starts_with(b"\"") => {
            Some(place.start + 1..place.end - 1)
        }
        Format::Json => None,
        Format::Xml => {
            let within = value_attribute(text)?;
            Some(place.start + within.start..place.start + within.end)
        }
    }
}

/// Bytes of a source, and what stands in their place.
pub(crate) type Edit<'a> = (Range<usize>, &'a str);

/// The text of `source[start..end]` with the edits made, which are in ascending order and do not
/// overlap.
pub(crate) fn edited(source: &[u8], start: usize, end: usize, edits: &[Edit<'_>]) -> Vec<u8> {
    let added: usize = edits.iter().map(|(_, text)| text.len()).sum();
    let mut text = Vec::with_capacity(end.saturating_sub(start) + added);
    let mut from = start;
    for (place, new) in edits {
        text.extend_from_slice(source.get(from..place.start).unwrap_or_default());
        text.extend_from_slice(new.as_bytes());
        from = place.end;
    }
    text.extend_from_slice(source.get(from..end).unwrap_or_default());
    text
}

/// Profiles that the specification requires of the contained Bundle and that it does not declare.
/// The strict document profile counts as the document profile; so does a canonical with a
/// `|version`.
pub(crate) fn missing_profiles(bundle: Element<'_>) -> Vec<&'static str> {
    let declares = |wanted: &str| {
        bundle.child("meta").is_some_and(|meta| {
            meta.all("profile")
                .filter_map(Element::value)
                .any(|url| url.split('|').next() == Some(wanted))
        })
    };
    let mut missing = Vec::new();
    if !declares(canonical::DOCUMENT) && !declares(canonical::DOCUMENT_STRICT) {
        missing.push(canonical::DOCUMENT);
    }
    if !declares(canonical::BUNDLE_EU_LAB) {
        missing.push(canonical::BUNDLE_EU_LAB);
    }
    missing
}

// --- JSON
// -------------------------------------------------------------------------------------------

/// One member of a JSON object: its decoded name and where its value stands.
struct Member {
    name: String,
    start: usize,
    end: usize,
}

fn json_insertions(source: &[u8], root: usize, profiles: &[&str]) -> Vec<Insertion> {
    let members = json_members(source, root);
    let find = |name: &str| members.iter().find(|member| member.name == name);
    let mut insertions = Vec::new();
    // After `resourceType`, which some readers want first; a document always has one.
    let head = find("resourceType").map_or(root + 1, |member| member.end);
    let id = find("id");
    if id.is_none() && find("_id").is_none() {
        insertions.push((head, format!(",\"id\":\"{LOCAL_ID}\"")));
    }
    if profiles.is_empty() {
        return insertions;
    }
    let list = profiles.iter().map(|url| format!("\"{url}\"")).collect::<Vec<_>>().join(",");
    match find("meta") {
        None => {
            let at = id.map_or(head, |member| member.end);
            insertions.push((at, format!(",\"meta\":{{\"profile\":[{list}]}}")));
        }
        Some(meta) if source.get(meta.start) == Some(&b'{') => {
            insertions.extend(json_profiles(source, meta.start, &list));
        }
        // Not an object: the base check says so, and nothing that we could add would mend it.
        Some(_) => {}
    }
    insertions.sort_by_key(|(offset, _)| *offset);
    insertions
}

/// The insertion into an existing `meta` object.
fn json_profiles(source: &[u8], meta: usize, list: &str) -> Option<Insertion> {
    let members = json_members(source, meta);
    let Some(profile) = members.iter().find(|member| member.name == "profile") else {
        let comma = if members.is_empty() { "" } else { "," };
        return Some((meta + 1, format!("\"profile\":[{list}]{comma}")));
    };
    if source.get(profile.start) != Some(&b'[') {
        return None;
    }
    // Before the closing bracket: existing entries (and what `_profile` says of them) keep their
    // index.
    let close = profile.end - 1;
    let empty = source[profile.start + 1..close].iter().all(u8::is_ascii_whitespace);
    let last = close - source[..close].iter().rev().take_while(|b| b.is_ascii_whitespace()).count();
    Some(if empty { (profile.start + 1, list.to_owned()) } else { (last, format!(",{list}")) })
}

/// The members of the object whose `{` stands at `open`. The text is known to be well-formed JSON.
fn json_members(source: &[u8], open: usize) -> Vec<Member> {
    let mut members = Vec::new();
    let mut at = skip_space(source, open + 1);
    while source.get(at) == Some(&b'"') {
        let name_end = string_end(source, at);
        let name = source.get(at..name_end).unwrap_or_default();
        let start = skip_space(source, skip_space(source, name_end) + 1);
        let end = value_end(source, start);
        if let Ok(name) = serde_json::from_slice::<String>(name) {
            members.push(Member { name, start, end });
        }
        at = skip_space(source, end);
        if source.get(at) != Some(&b',') {
            break;
        }
        at = skip_space(source, at + 1);
    }
    members
}

fn skip_space(source: &[u8], from: usize) -> usize {
    let rest = source.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Offset after the string whose opening quote stands at `open`.
fn string_end(source: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(byte) = source.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    source.len()
}

/// Offset after the value that begins at `start`.
fn value_end(source: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while let Some(byte) = source.get(at) {
        match byte {
            b'"' => {
                at = string_end(source, at);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b',' if depth == 0 => return at,
            byte if byte.is_ascii_whitespace() && depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    source.len()
}

// --- XML
// --------------------------------------------------------------------------------------------

fn xml_insertions(source: &[u8], root: Element<'_>, profiles: &[&str]) -> Vec<Insertion> {
    let Some(head) = root.inner_start() else { return Vec::new() };
    let prefix = xml_prefix(source, root.position().start);
    let id = root.child("id");
    let mut added = String::new();
    if id.is_none() {
        added = format!("<{prefix}id value=\"{LOCAL_ID}\"/>");
    }
    let at = id.map_or(head, |id| id.position().end);
    let mut insertions = Vec::new();
    match root.child("meta") {
        None if !profiles.is_empty() => {
            let list = xml_profiles(prefix, profiles);
            added.push_str(&format!("<{prefix}meta>{list}</{prefix}meta>"));
        }
        Some(meta) if !profiles.is_empty() => {
            insertions.extend(xml_into_meta(source, meta, profiles));
        }
        _ => {}
    }
    if !added.is_empty() {
        insertions.push((at, added));
    }
    insertions.sort_by_key(|(offset, _)| *offset);
    insertions
}

fn xml_profiles(prefix: &str, profiles: &[&str]) -> String {
    profiles.iter().map(|url| format!("<{prefix}profile value=\"{url}\"/>")).collect()
}

/// The insertions into an existing `meta`: before `security` and `tag`, after everything else.
fn xml_into_meta(source: &[u8], meta: Element<'_>, profiles: &[&str]) -> Vec<Insertion> {
    let position = meta.position();
    let prefix = xml_prefix(source, position.start);
    let Some(inner) = meta.inner_start() else {
        // `<meta/>`: its own `/>` comes to close the last profile.
        let list = xml_profiles(prefix, profiles);
        let open = list.strip_suffix("/>").unwrap_or(&list);
        return vec![
            (position.end - 2, format!(">{open}")),
            (position.end, format!("</{prefix}meta>")),
        ];
    };
    let before = meta.children().find(|child| matches!(child.name(), "security" | "tag"));
    let at = match (before, meta.children().last()) {
        (Some(child), _) => child.position().start,
        // An `id` of meta is an attribute: it stands before the start tag's end.
        (None, Some(child)) => child.position().end.max(inner),
        (None, None) => inner,
    };
    vec![(at, xml_profiles(prefix, profiles))]
}

/// The namespace prefix (with its colon) of the tag whose `<` stands at `start`: what is written
/// inside that element must carry the same.
fn xml_prefix(source: &[u8], start: usize) -> &str {
    let rest = source.get(start + 1..).unwrap_or_default();
    let name = rest
        .iter()
        .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'>' | b'/'))
        .count();
    let tag = std::str::from_utf8(&rest[..name]).unwrap_or_default();
    tag.find(':').map_or("", |colon| &tag[..=colon])
}

/// What stands between the quotes of `value` in the start tag that `tag` begins with.
fn value_attribute(tag: &[u8]) -> Option<Range<usize>> {
    let is_name = |byte: &u8| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'>' | b'/');
    let mut at = 1 + tag.get(1..)?.iter().take_while(|byte| is_name(byte)).count();
    loop {
        at = skip_space(tag, at);
        let length = tag.get(at..)?.iter().take_while(|byte| is_name(byte)).count();
        let name = tag.get(at..at + length).filter(|name| !name.is_empty())?;
        let quote = skip_space(tag, skip_space(tag, at + length) + 1);
        let mark = *tag.get(quote).filter(|mark| matches!(mark, b'"' | b'\''))?;
        let start = quote + 1;
        let end = start + tag.get(start..)?.iter().position(|byte| *byte == mark)?;
        if name == b"value" {
            return Some(start..end);
        }
        at = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_an_object_are_found_by_their_decoded_name() {
        let text = br#" { "a" : [1,{"x":"]}"}] ,"\u0069d":"q\"," , "n":-1.0e3 , "t":true}"#;
        let found: Vec<_> = json_members(text, 1)
            .into_iter()
            .map(|m| (m.name, std::str::from_utf8(&text[m.start..m.end]).unwrap().to_owned()))
            .collect();
        let expected =
            [("a", r#"[1,{"x":"]}"}]"#), ("id", r#""q\",""#), ("n", "-1.0e3"), ("t", "true")]
                .map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_value_is_found_between_its_quotes() {
        for (tag, value) in [
            (r#"<value value="urn:x"/>"#, Some("urn:x")),
            ("<f:value\n id = 'value=\"no\"'  value = 'urn:y' >", Some("urn:y")),
            (r#"<value othervalue="no"/>"#, None),
            ("<value/>", None),
            ("<value value=", None),
        ] {
            let place = value_attribute(tag.as_bytes());
            assert_eq!(place.map(|place| &tag[place]), value, "{tag}");
        }
    }

    #[test]
    fn a_prefix_is_that_of_the_tag() {
        assert_eq!(xml_prefix(b"<f:Bundle xmlns:f='x'>", 0), "f:");
        assert_eq!(xml_prefix(b"  <Bundle>", 2), "");
        assert_eq!(xml_prefix(b"<meta/>", 0), "");
    }
}
