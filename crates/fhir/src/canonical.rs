//! The canonical form of a resource and its digest. What it is made of is written at
//! [`Tree::canonical_digest`].

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::Event;
use sha2::{Digest as _, Sha256};

use crate::table::Kind;
use crate::{Element, Finding, Severity, Tree, xml_text};

const VERSION: &[u8] = b"fhir-canonical-1";

impl Tree {
    /// SHA-256, lower-case hex, of the canonical form: what the resource says, without how it was
    /// written. `findings` are those of [`Tree::check`].
    ///
    /// Two texts have the same form exactly when they say the same in FHIR's terms: pretty-printed
    /// or compact, as JSON or as XML. It is fed to a hash as it is made, element by element, and
    /// never stands in memory.
    ///
    /// # What counts
    ///
    /// - The type of every resource, the name of every element, and the order of repeats of one
    ///   name.
    /// - The lexical value of every primitive: `1.0` and `1.00` are different, so are
    ///   `2024-01-01T00:00:00Z` and `2024-01-01T00:00:00+00:00`. White space inside a value counts.
    ///   A UUID as a URN is taken in small letters ([`uuid_in_small`]).
    /// - Ids and extensions, also of primitives, and a primitive that has nothing else.
    /// - The narrative as a text: the names of its elements, their attributes in alphabetical
    ///   order, and the characters between them. Entities are resolved; white space, comments,
    ///   processing instructions, prefixes and declarations of namespaces do not count.
    /// - Errors that the base check finds ([`Tree::check`]), by code and place: an order that XML
    ///   does not allow or a number written as a string is no difference of the data, but a text
    ///   with such an error is held where the corrected one is sent, so that the two must not be
    ///   taken for each other.
    ///
    /// # What does not count
    ///
    /// - The encoding, its white space between elements, escapes, quotes, comments, namespace
    ///   prefixes, the order of JSON members, a byte order mark.
    /// - The order of differently named elements: they are taken in the order of the table, unknown
    ///   ones after the known ones by their names.
    ///
    /// # Its bytes
    ///
    /// The ASCII text `fhir-canonical-1`, then the root. An element is `E`, its name (for the root
    /// its type), then `R` and the type if it is a resource, `V` and the value if it has one, its
    /// children, and `.`. A text is preceded by its length in bytes, eight bytes with the highest
    /// first. Each error follows as `!` with code and FHIRPath, in the order of these two. The
    /// digest is SHA-256.
    pub fn canonical_digest(&self, findings: &[Finding]) -> String {
        self.canonical_digest_of(self.root(), findings)
    }

    /// The same of one resource in this one, as if it stood alone: a contained resource has the
    /// digest that it has in a file of its own. `findings` are those of the whole. Errors around
    /// the resource count as well, each with its place in the whole: they hold what is sent, too.
    pub fn canonical_digest_of(&self, part: Element<'_>, findings: &[Finding]) -> String {
        let place = part.expression();
        let alone = |expression: &str| {
            let inside = expression.strip_prefix(place.as_str())?;
            let is_inside = inside.is_empty() || inside.starts_with(['.', '[']);
            is_inside.then(|| format!("{}{inside}", part.resource_type().unwrap_or_default()))
        };
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        let errors = errors.map(|finding| {
            let expression = alone(&finding.expression);
            (finding.code.as_str(), expression.unwrap_or_else(|| finding.expression.clone()))
        });
        digest(part, errors.collect()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A UUID as a URN in small letters, anything else as it is: capital letters make no other UUID
/// (RFC 9562, 4), and systems of one laboratory write it in either.
pub fn uuid_in_small(value: &str) -> Cow<'_, str> {
    let is_uuid = value.len() == UUID_URN.len()
        && value.bytes().zip(UUID_URN.bytes()).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_hexdigit(),
            form => byte.eq_ignore_ascii_case(&form),
        });
    if is_uuid { Cow::Owned(value.to_ascii_lowercase()) } else { Cow::Borrowed(value) }
}

/// Its form, with a zero for each digit.
const UUID_URN: &str = "urn:uuid:00000000-0000-0000-0000-000000000000";

/// Digest of an element's canonical form, with the errors that were found in it: code and place.
pub(crate) fn digest(root: Element<'_>, mut errors: Vec<(&str, String)>) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(VERSION);
    // A resource is called by its type where it stands alone, wherever it stands now.
    element_as(root.resource_type().unwrap_or_else(|| root.name()), root, &mut hash);
    errors.sort_unstable();
    for (code, expression) in errors {
        text(b"!", code, &mut hash);
        text(b"@", &expression, &mut hash);
    }
    hash.finalize().into()
}

fn element(of: Element<'_>, hash: &mut Sha256) {
    element_as(of.name(), of, hash);
}

fn element_as(name: &str, of: Element<'_>, hash: &mut Sha256) {
    text(b"E", name, hash);
    if let Some(kind) = of.resource_type() {
        text(b"R", kind, hash);
    }
    match of.value() {
        Some(value) if of.kind() == Some(Kind::Xhtml) => text(b"V", &narrative(value), hash),
        Some(value) => text(b"V", &uuid_in_small(value), hash),
        None => {}
    }
    for child in ordered(of) {
        element(child, hash);
    }
    hash.update(b".");
}

fn text(tag: &[u8], text: &str, hash: &mut Sha256) {
    hash.update(tag);
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text.as_bytes());
}

/// Children in the order of the table; repeats of one name keep theirs.
pub(crate) fn ordered(of: Element<'_>) -> Vec<Element<'_>> {
    let place = |child: &Element<'_>| child.field().map_or(u16::MAX, |field| field.order);
    let mut children: Vec<_> = of.children().collect();
    let before = |a: &Element<'_>, b: &Element<'_>| {
        place(a).cmp(&place(b)).then_with(|| a.name().cmp(b.name()))
    };
    children.sort_by(before);
    children
}

/// The canonical text of a narrative. One that is no XHTML is taken as it is, but for its white
/// space.
pub(crate) fn narrative(value: &str) -> String {
    tags(value).unwrap_or_else(|| {
        let mut plain = String::from("?");
        add_without_space(value, &mut plain);
        plain
    })
}

fn tags(value: &str) -> Option<String> {
    let mut out = String::with_capacity(value.len());
    let mut events = Reader::from_str(value);
    loop {
        match events.read_event().ok()? {
            Event::Start(tag) => open(tag.name().as_ref(), tag.attributes_raw(), &mut out)?,
            Event::Empty(tag) => {
                open(tag.name().as_ref(), tag.attributes_raw(), &mut out)?;
                out.push_str("</>");
            }
            // Which element ends is clear from what began.
            Event::End(_) => out.push_str("</>"),
            Event::Text(text) => escaped(&text, &mut out),
            Event::CData(text) => escaped(&text, &mut out),
            Event::GeneralRef(name) => {
                let letter = xml_text::reference(&name)?;
                escaped(letter.encode_utf8(&mut [0; 4]), &mut out);
            }
            Event::Eof => return Some(out),
            _ => {}
        }
    }
}

fn open(name: &str, attributes: &str, out: &mut String) -> Option<()> {
    let mut rest = attributes;
    let mut kept = Vec::new();
    while let Some(next) = xml_text::attribute(&mut rest) {
        let (key, value) = next?;
        if key == "xmlns" || key.starts_with("xmlns:") {
            continue;
        }
        kept.push((key, xml_text::unescape(value).ok()?));
    }
    kept.sort_unstable();
    out.push('<');
    out.push_str(name.split_once(':').map_or(name, |(_, local)| local));
    for (key, value) in kept {
        out.push(' ');
        out.push_str(key);
        out.push_str("=\"");
        escaped(&value, out);
        out.push('"');
    }
    out.push('>');
    Some(())
}

/// So that no text can look like a tag.
fn escaped(text: &str, out: &mut String) {
    for letter in text.chars().filter(|letter| !letter.is_ascii_whitespace()) {
        match letter {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(letter),
        }
    }
}

fn add_without_space(text: &str, out: &mut String) {
    out.extend(text.chars().filter(|letter| !letter.is_ascii_whitespace()));
}
