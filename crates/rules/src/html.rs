//! HTML as far as a narrative may use it: names, places and a walk over the tags of a text that is
//! known to be well-formed.

/// Elements that format text: HTML 4.0, chapters 7 to 11 and 15, images and links.
pub(crate) const ELEMENTS: &[&str] = &[
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
    "samp",
    "small",
    "span",
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
    "ul",
    "var",
];

/// Attributes of every element.
const ATTRIBUTES: &[&str] = &[
    "title",
    "style",
    "class",
    "id",
    "lang",
    "xml:lang",
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
    "xml:space",
];

/// Attributes of some elements.
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

/// Elements that may stand only in these.
const PLACES: &[(&str, &[&str])] = &[
    ("tr", &["table", "thead", "tfoot", "tbody"]),
    ("tbody", &["table"]),
    ("thead", &["table"]),
    ("tfoot", &["table"]),
    ("caption", &["table"]),
    ("colgroup", &["table"]),
    ("col", &["colgroup", "table"]),
    ("th", &["tr", "thead", "tfoot"]),
    ("td", &["tr", "thead", "tfoot"]),
    ("li", &["ul", "ol"]),
    ("dd", &["dl"]),
    ("dt", &["dl"]),
];

/// Elements that hold only these, and no text.
const CONTENTS: &[(&str, &[&str])] = &[
    ("table", &["tbody", "tr", "caption", "thead", "tfoot", "col", "colgroup"]),
    ("tr", &["td", "th"]),
    ("tbody", &["tr"]),
    ("thead", &["tr"]),
    ("tfoot", &["tr"]),
    ("ul", &["li"]),
    ("ol", &["li"]),
    ("dl", &["dd", "dt"]),
    ("map", &["area"]),
    ("br", &[]),
    ("img", &[]),
    ("hr", &[]),
    ("area", &[]),
];

/// Elements of running text: no block stands in them, however deep.
const TEXTS: &[&str] = &[
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "address", "a", "b", "em", "i", "strong",
    "small", "big", "sub", "sup", "code", "tt", "dfn", "q", "var", "abbr", "acronym", "cite",
    "bdo", "kbd", "samp", "span", "caption", "dd", "dt",
];

/// Those of them that do not stand in themselves.
const ONCE: &[&str] = &[
    "a", "b", "em", "i", "strong", "small", "big", "sub", "sup", "code", "tt", "dfn", "q", "var",
    "abbr", "acronym", "cite", "bdo", "kbd", "samp",
];

/// The names that HTML 4 gives to characters.
const ENTITIES: &str = "AElig Aacute Acirc Agrave Alpha Aring Atilde Auml Beta Ccedil Chi Dagger Delta ETH Eacute \
    Ecirc Egrave Epsilon Eta Euml Gamma Iacute Icirc Igrave Iota Iuml Kappa Lambda Mu Ntilde Nu \
    OElig Oacute Ocirc Ograve Omega Omicron Oslash Otilde Ouml Phi Pi Prime Psi Rho Scaron Sigma \
    THORN Tau Theta Uacute Ucirc Ugrave Upsilon Uuml Xi Yacute Yuml Zeta aacute acirc acute \
    aelig agrave alefsym alpha amp and ang aring asymp atilde auml bdquo beta brvbar bull cap \
    ccedil cedil cent chi circ clubs cong copy crarr cup curren dArr dagger darr deg delta diams \
    divide eacute ecirc egrave empty emsp ensp epsilon equiv eta eth euml euro exist fnof forall \
    frac12 frac14 frac34 frasl gamma ge gt hArr harr hearts hellip iacute icirc iexcl igrave \
    image infin int iota iquest isin iuml kappa lArr lambda lang laquo larr lceil ldquo le \
    lfloor lowast loz lrm lsaquo lsquo lt macr mdash micro middot minus mu nabla nbsp ndash ne \
    ni not notin nsub ntilde nu oacute ocirc oelig ograve oline omega omicron oplus or ordf ordm \
    oslash otilde otimes ouml para part permil perp phi pi piv plusmn pound prime prod prop psi \
    quot rArr radic rang raquo rarr rceil rdquo real reg rfloor rho rlm rsaquo rsquo sbquo \
    scaron sdot sect shy sigma sigmaf sim spades sub sube sum sup sup1 sup2 sup3 supe szlig tau \
    there4 theta thetasym thinsp thorn tilde times trade uArr uacute uarr ucirc ugrave uml upsih \
    upsilon uuml weierp xi yacute yen yuml zeta zwj zwnj";

/// What [`walk`] comes across.
pub(crate) enum Event<'t> {
    /// The text of a start tag, and whether it is empty.
    Start(&'t str, bool),
    /// The end of the last element that is open.
    End,
    /// Text between tags.
    Text(&'t str),
}

/// Whether an element may have an attribute.
pub(crate) fn may_have(element: &str, attribute: &str) -> bool {
    let own = OWN_ATTRIBUTES.iter().find(|(of, _)| *of == element);
    attribute.starts_with("xmlns")
        || ATTRIBUTES.contains(&attribute)
        || own.is_some_and(|(_, names)| names.contains(&attribute))
}

/// Whether an element may stand right inside another.
pub(crate) fn may_stand_in(element: &str, around: &str) -> bool {
    let place = PLACES.iter().find(|(of, _)| *of == element);
    let content = CONTENTS.iter().find(|(of, _)| *of == around);
    place.is_none_or(|(_, names)| names.contains(&around))
        && content.is_none_or(|(_, names)| names.contains(&element))
}

/// Whether an element may not stand in another, however deep.
pub(crate) fn may_not_hold(around: &str, element: &str) -> bool {
    let is_block = matches!(element, "div" | "pre" | "table" | "ul" | "ol");
    let is_in_paragraph = around == "p" && matches!(element, "blockquote" | "p");
    (is_block && TEXTS.contains(&around))
        || is_in_paragraph
        || (element == around && ONCE.contains(&element))
}

/// Whether text may not stand right inside an element.
pub(crate) fn holds_no_text(element: &str) -> bool {
    CONTENTS.iter().any(|(of, _)| *of == element)
}

/// Whether every named character of a text is one of HTML's. A narrative in JSON may have them; in
/// XML they would have to be declared.
pub(crate) fn knows_entities(text: &str) -> bool {
    let names = text.split('&').skip(1).map(|after| after.split(';').next().unwrap_or_default());
    let mut named = names.filter(|name| !name.starts_with('#'));
    named.all(|name| name == "apos" || ENTITIES.split_whitespace().any(|known| known == name))
}

/// The name of a start tag, without a prefix.
pub(crate) fn name(tag: &str) -> &str {
    let end = tag.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(tag.len());
    tag[..end].rsplit(':').next().unwrap_or_default()
}

/// The attributes of a start tag.
pub(crate) fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let end = tag.find(|c: char| c.is_whitespace()).unwrap_or(tag.len());
    let mut rest = tag[end..].trim_start();
    std::iter::from_fn(move || {
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, after) = after[1..].split_once(quote)?;
        rest = after.trim_start();
        Some((name.trim(), value))
    })
}

/// Goes over the tags and texts of well-formed XHTML.
pub(crate) fn walk<'t>(text: &'t str, mut each: impl FnMut(Event<'t>)) {
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        each(Event::Text(&rest[..start]));
        rest = &rest[start..];
        if let Some(after) = rest.strip_prefix("<!--") {
            rest = after.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        if let Some(after) = rest.strip_prefix("<![CDATA[") {
            let (content, after) = after.split_once("]]>").unwrap_or((after, ""));
            each(Event::Text(content));
            rest = after;
            continue;
        }
        let Some(end) = end_of_tag(rest) else { return };
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if tag.starts_with('/') {
            each(Event::End);
        } else if !tag.starts_with(['!', '?']) {
            let is_empty = tag.ends_with('/');
            each(Event::Start(tag.trim_end_matches('/'), is_empty));
        }
    }
    each(Event::Text(rest));
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
