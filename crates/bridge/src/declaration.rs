//! One more profile that a resource declares, written into its text: everything else stays as it
//! was received, to the byte.

use std::ops::Range;

use fhir::{Element, Format, Tree};

use crate::writing::escaped;

/// Which bytes give way to what, so that `meta.profile` of a resource names this profile too.
/// `None` where its `meta` is not of the form that FHIR gives it.
pub(crate) fn declaration(
    tree: &Tree,
    resource: Element<'_>,
    profile: &str,
) -> Option<(Range<usize>, String)> {
    let meta = resource.child("meta");
    let last = meta.and_then(|meta| meta.all("profile").last());
    match tree.format() {
        Format::Json => {
            let value = serde_json::to_string(profile).ok()?;
            let (at, text) = match (meta, last) {
                // A place that only `_profile` tells of has no value to stand behind.
                (_, Some(last)) => {
                    (last.value().map(|_| last.position().end)?, format!(",{value}"))
                }
                (Some(meta), None) => {
                    let comma = if meta.children().next().is_some() { "," } else { "" };
                    (meta.inner_start()?, format!("\"profile\":[{value}]{comma}"))
                }
                (None, None) => {
                    let at = json_head(tree.source(), resource)?;
                    (at, format!(",\"meta\":{{\"profile\":[{value}]}}"))
                }
            };
            Some((at..at, text))
        }
        Format::Xml => {
            let place = meta.unwrap_or(resource).position();
            let prefix = xml_prefix(tree.source(), place.start)?;
            let element = format!("<{prefix}profile value=\"{}\"/>", escaped(profile));
            match meta {
                None => {
                    let id = resource.child("id").map(|id| id.position().end);
                    let at = id.or_else(|| resource.inner_start())?;
                    Some((at..at, format!("<{prefix}meta>{element}</{prefix}meta>")))
                }
                Some(meta) => Some(match meta.inner_start() {
                    // `<meta/>`
                    None => (place.end - 2..place.end, format!(">{element}</{prefix}meta>")),
                    Some(inner) => {
                        let at = xml_place(meta, inner);
                        (at..at, element)
                    }
                }),
            }
        }
    }
}

/// Behind the `id` of a JSON object, or its `resourceType`, which some readers want first.
pub(crate) fn json_head(source: &[u8], resource: Element<'_>) -> Option<usize> {
    if let Some(id) = resource.child("id") {
        return id.value().map(|_| id.position().end);
    }
    let start = resource.inner_start()?;
    let text = std::str::from_utf8(source.get(start..resource.position().end)?).ok()?;
    let quoted = format!("\"{}\"", resource.resource_type()?);
    let named = text.find("\"resourceType\"")? + "\"resourceType\"".len();
    let value = text.get(named..)?.find(&quoted)?;
    // Nothing but the colon stands between a name and its value.
    let between = text.get(named..named + value)?.trim();
    (between == ":").then_some(start + named + value + quoted.len())
}

/// Inside of `meta`: before `security` and `tag`, after everything else.
fn xml_place(meta: Element<'_>, inner: usize) -> usize {
    let before = meta.children().find(|child| matches!(child.name(), "security" | "tag"));
    match (before, meta.children().last()) {
        (Some(child), _) => child.position().start,
        // An `id` of meta is an attribute: it stands before the end of the start tag.
        (None, Some(child)) => child.position().end.max(inner),
        (None, None) => inner,
    }
}

/// The prefix, with its colon, of the tag that begins at `start`: what is written inside of it
/// needs the same.
pub(crate) fn xml_prefix(source: &[u8], start: usize) -> Option<&str> {
    let rest = source.get(start + 1..)?;
    let is_name = |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(byte, b'>' | b'/');
    let name = std::str::from_utf8(rest.get(..rest.iter().take_while(is_name).count())?).ok()?;
    Some(name.find(':').map_or("", |colon| &name[..=colon]))
}

#[cfg(test)]
mod tests {
    use fhir::Limits;

    use super::*;

    const PROFILE: &str = "http://x.example/b&c";

    #[test]
    fn a_resource_declares_one_more_profile() {
        let xml =
            |inner: &str| format!("<f:Patient xmlns:f=\"http://hl7.org/fhir\">{inner}</f:Patient>");
        for (text, before) in [
            (r#"{ "resourceType" : "Patient","active":true}"#.to_owned(), 0),
            (r#"{"active":true,"resourceType":"Patient"}"#.to_owned(), 0),
            (r#"{"id":"a","resourceType":"Patient"}"#.to_owned(), 0),
            (r#"{"resourceType":"Patient","meta":{"versionId":"1"}}"#.to_owned(), 0),
            (r#"{"resourceType":"Patient","meta":{"profile":["http://x.org/a"]}}"#.to_owned(), 1),
            (xml("<f:active value=\"true\"/>"), 0),
            (xml("<f:id value=\"a\"/><f:active value=\"true\"/>"), 0),
            (xml("<f:meta/><f:active value=\"true\"/>"), 0),
            (xml("<f:meta><f:tag><f:code value=\"t\"/></f:tag></f:meta>"), 0),
            (xml("<f:meta><f:profile value=\"http://x.org/a\"/></f:meta>"), 1),
        ] {
            let format = Format::sniff(text.as_bytes()).unwrap();
            let read =
                |text: &str| Tree::read(text.as_bytes(), format, &Limits::default()).unwrap();
            let tree = read(&text);
            let (place, new) = declaration(&tree, tree.root(), PROFILE).unwrap();
            let mut declared = text.clone();
            declared.replace_range(place, &new);
            let after = read(&declared);
            assert_eq!(
                after.check().len(),
                tree.check().len() - usize::from(text.contains("meta/")),
                "{declared}"
            );
            let profiles: Vec<_> = after.root().child("meta").unwrap().all("profile").collect();
            assert_eq!(profiles.len(), before + 1, "{declared}");
            assert_eq!(profiles.last().and_then(|of| of.value()), Some(PROFILE), "{declared}");
            let others =
                |tree: &Tree| tree.root().children().filter(|of| of.name() != "meta").count();
            assert_eq!(others(&tree), others(&after), "{declared}");
        }
    }
}
