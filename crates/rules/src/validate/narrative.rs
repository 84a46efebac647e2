//! Narrative: only what formats text, and some text (`txt-1`, `txt-2`).

use fhir::Element;

use super::{Issue, error};

/// Elements that format text: HTML 4.0, chapters 7 to 11 and 15, images and links.
const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "acronym",
    "address",
    "area",
    "b",
    "bdo",
    "big",
    "blockquote",
    "br",
    "caption",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "kbd",
    "li",
    "map",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
];

/// Attributes of theirs.
const ATTRIBUTES: &[&str] = &[
    "abbr",
    "accesskey",
    "align",
    "alt",
    "axis",
    "border",
    "cellpadding",
    "cellspacing",
    "char",
    "charoff",
    "charset",
    "cite",
    "class",
    "clear",
    "colspan",
    "compact",
    "coords",
    "datetime",
    "dir",
    "frame",
    "headers",
    "height",
    "href",
    "hreflang",
    "hspace",
    "id",
    "idref",
    "ismap",
    "lang",
    "longdesc",
    "name",
    "noshade",
    "nowrap",
    "rel",
    "rev",
    "rowspan",
    "rules",
    "scope",
    "shape",
    "size",
    "span",
    "src",
    "start",
    "style",
    "summary",
    "tabindex",
    "title",
    "type",
    "usemap",
    "valign",
    "value",
    "vspace",
    "width",
];

/// Checks the `div` of a narrative. That it is well-formed the base check has said.
pub(super) fn check(div: Element<'_>, issues: &mut Vec<Issue>) {
    let Some(text) = div.value() else { return };
    let mut has_text = false;
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        has_text |= !rest[..start].trim().is_empty();
        rest = &rest[start..];
        if let Some(after) = rest.strip_prefix("<!--") {
            rest = after.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        if let Some(after) = rest.strip_prefix("<![CDATA[") {
            let (content, after) = after.split_once("]]>").unwrap_or((after, ""));
            has_text |= !content.trim().is_empty();
            rest = after;
            continue;
        }
        let Some(end) = end_of_tag(rest) else { break };
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if tag.starts_with(['/', '!', '?']) {
            continue;
        }
        has_text |= check_tag(div, tag, issues);
    }
    has_text |= !rest.trim().is_empty();
    if !has_text {
        let params = [("rule", "txt-2")];
        error(issues, div, "rule-narrative-empty", &params);
    }
}

/// The place of the `>` that ends a tag.
fn end_of_tag(tag: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'>') => return Some(at),
            _ => {}
        }
    }
    None
}

/// Checks the names of a start tag; says whether it shows something itself.
fn check_tag(div: Element<'_>, tag: &str, issues: &mut Vec<Issue>) -> bool {
    let tag = tag.trim_end_matches('/');
    let end = tag.find(|c: char| c.is_whitespace()).unwrap_or(tag.len());
    let name = tag[..end].rsplit(':').next().unwrap_or_default();
    if !ELEMENTS.contains(&name) {
        let params = [("element", name), ("rule", "txt-1")];
        error(issues, div, "rule-narrative-element", &params);
    }
    let mut rest = tag[end..].trim_start();
    while let Some((attribute, after)) = rest.split_once('=') {
        let attribute = attribute.trim();
        let is_allowed = attribute == "xmlns"
            || attribute.starts_with("xmlns:")
            || attribute.starts_with("xml:")
            || ATTRIBUTES.contains(&attribute);
        if !is_allowed {
            let params = [("element", name), ("value", attribute), ("rule", "txt-1")];
            error(issues, div, "rule-narrative-attribute", &params);
        }
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else { break };
        rest = after[1..].split_once(quote).map_or("", |(_, after)| after).trim_start();
    }
    name == "img"
}
