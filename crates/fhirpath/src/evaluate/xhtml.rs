//! What FHIR allows in a narrative (<https://hl7.org/fhir/R4/narrative.html>, txt-1 and txt-2).
//! That it is well-formed, the base check of `fhir` says.

const ELEMENTS: &[&str] = &[
    "p",
    "br",
    "div",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "a",
    "span",
    "b",
    "em",
    "i",
    "strong",
    "small",
    "big",
    "tt",
    "dfn",
    "q",
    "var",
    "abbr",
    "acronym",
    "cite",
    "blockquote",
    "hr",
    "address",
    "bdo",
    "kbd",
    "sub",
    "sup",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "pre",
    "table",
    "caption",
    "colgroup",
    "col",
    "thead",
    "tr",
    "tfoot",
    "tbody",
    "th",
    "td",
    "code",
    "samp",
    "img",
    "map",
    "area",
];

const ATTRIBUTES: &[&str] = &[
    "title",
    "style",
    "class",
    "id",
    "idref",
    "lang",
    "xml:lang",
    "xml:space",
    "dir",
    "accesskey",
    "tabindex",
    "span",
    "width",
    "align",
    "valign",
    "char",
    "charoff",
    "abbr",
    "axis",
    "headers",
    "scope",
    "rowspan",
    "colspan",
];

/// Attributes of one element each.
const OWN_ATTRIBUTES: &[(&str, &[&str])] = &[
    ("a", &["href", "name", "charset", "type", "hreflang", "rel", "rev", "shape", "coords"]),
    ("img", &["src", "border", "alt", "longdesc", "height", "width", "usemap", "ismap"]),
    ("blockquote", &["cite"]),
    ("q", &["cite"]),
    ("map", &["name"]),
    ("area", &["shape", "coords", "href", "nohref", "alt"]),
    ("table", &["summary", "width", "border", "frame", "rules", "cellspacing", "cellpadding"]),
    ("pre", &["space"]),
    ("td", &["nowrap"]),
];

/// Whether a narrative has only elements and attributes that FHIR allows.
pub(crate) fn is_allowed(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(after) = passed_over(rest) {
            rest = after;
            continue;
        }
        if rest.starts_with(['/', '!', '?']) {
            if rest.starts_with("!DOCTYPE") {
                return false;
            }
            continue;
        }
        let Some((name, after)) = word(rest) else { return false };
        if !ELEMENTS.contains(&name) {
            return false;
        }
        let Some(after) = attributes(name, after) else { return false };
        rest = after;
    }
    true
}

/// Whether there is anything to read or to see.
pub(crate) fn has_content(text: &str) -> bool {
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('<').unwrap_or((rest, ""));
        if !before.trim().is_empty() {
            return true;
        }
        if after.is_empty() {
            return false;
        }
        if let Some(after) = passed_over(after) {
            rest = after;
            continue;
        }
        if word(after).is_some_and(|(name, _)| name == "img") {
            return true;
        }
        rest = end_of_tag(after);
    }
}

/// What follows a comment or a section of characters.
fn passed_over(rest: &str) -> Option<&str> {
    let end = |mark: &str| rest.split_once(mark).map_or("", |(_, after)| after);
    if rest.starts_with("!--") {
        Some(end("-->"))
    } else if rest.starts_with("![CDATA[") {
        Some(end("]]>"))
    } else {
        None
    }
}

fn word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|letter: char| letter.is_whitespace() || "/>=<\"'".contains(letter));
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    (!word.is_empty()).then_some((word, rest))
}

/// The text after the tag, if all its attributes are allowed.
fn attributes<'s>(element: &str, text: &'s str) -> Option<&'s str> {
    let mut rest = text.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix("/>").or_else(|| rest.strip_prefix('>')) {
            return Some(after);
        }
        let (name, after) = word(rest)?;
        let own = OWN_ATTRIBUTES.iter().find(|(of, _)| *of == element);
        let is_own = own.is_some_and(|(_, names)| names.contains(&name));
        if !name.starts_with("xmlns") && !ATTRIBUTES.contains(&name) && !is_own {
            return None;
        }
        let value = after.trim_start().strip_prefix('=')?.trim_start();
        let mark = value.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
        rest = value[1..].split_once(mark)?.1.trim_start();
    }
}

/// Past the end of a tag; a quoted `>` is none.
fn end_of_tag(text: &str) -> &str {
    let mut mark = None;
    for (at, letter) in text.char_indices() {
        match (mark, letter) {
            (None, '>') => return &text[at + 1..],
            (None, '"' | '\'') => mark = Some(letter),
            (Some(open), letter) if open == letter => mark = None,
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_is_allowed() {
        for good in [
            "<div xmlns=\"http://www.w3.org/1999/xhtml\"><p class='x'>a &lt; b<br/></p></div>",
            "<div><!-- <script> --><table border=\"1\"><tr><td nowrap=\"nowrap\">1</td></tr></table></div>",
            "<div><img src=\"a.png\" alt=\"> x\"/></div>",
        ] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in [
            "<div><script>alert(1)</script></div>",
            "<div onclick=\"x()\">a</div>",
            "<div><form></form></div>",
            "<div><p href=\"x\">a</p></div>",
            "<!DOCTYPE div><div/>",
            "<div class=>",
            "<div",
        ] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }

    #[test]
    fn tags_alone_are_no_content() {
        assert!(has_content("<div><p> a </p></div>"));
        assert!(has_content("<div><img src=\"x\"/></div>"));
        assert!(!has_content("<div title=\"a > b\"> <p/> <!-- a --> </div>"));
        assert!(!has_content(""));
    }
}
