//! The DocumentReference around a document: written around the text as received, never through it.

use fhir::{Element, Format, Tree};

use crate::canonical::URI_SYSTEM;
use crate::splice::{Edit, LOCAL_ID, edited, identifier_place, permitted_insertions, spliced};

/// A document ready to travel. Patient data: `Debug` shows neither body nor identifier.
#[derive(Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The request body.
    pub body: Vec<u8>,
    /// Its encoding, that of the file.
    pub format: Format,
    /// `DocumentReference.identifier.value`, with its `urn:uuid:`.
    pub identifier: String,
}

fhir::shows_only!(Envelope { format });

/// Why no envelope can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrapProblem {
    /// The root is neither a document Bundle nor a DocumentReference.
    NotADocument,
    /// The DocumentReference does not point to exactly one contained Bundle.
    NoContainedDocument,
}

/// What an envelope says of itself.
#[derive(Clone, Copy)]
pub struct EnvelopeView<'t> {
    /// The DocumentReference.
    pub reference: Element<'t>,
    /// The contained Bundle that `content.attachment.url` names.
    pub document: Element<'t>,
    /// `DocumentReference.identifier.value`, where there is one.
    pub identifier: Option<&'t str>,
}

fhir::shows_only!(EnvelopeView<'t> { reference, document });

/// Writes the envelope (docs/interface.md, "The DocumentReference that is sent"): the Bundle's text
/// spliced in, with a local `id` and the two profile URLs inserted where missing
/// ([`permitted_insertions`]), and nothing else changed. A root that is a DocumentReference already
/// travels as it is, with the missing profile URLs inserted in the same way; where its own
/// identifier is another one (it was sent before), the given one stands in its place. One that has
/// none keeps none.
pub fn wrap(
    tree: &Tree,
    identifier: &str,
    language_default: &str,
) -> Result<Envelope, WrapProblem> {
    let root = tree.root();
    match root.resource_type() {
        Some("DocumentReference") => {
            let view = envelope_of(tree).ok_or(WrapProblem::NoContainedDocument)?;
            let own = view.identifier.unwrap_or_default();
            let (body, identifier) = readdressed(tree, own, identifier);
            Ok(Envelope { body, format: tree.format(), identifier: identifier.to_owned() })
        }
        // Without a type it goes as well, if a person releases it: the authority says what it
        // thinks.
        Some("Bundle") if root.text("type").is_none_or(|code| code == "document") => Ok(Envelope {
            body: written(tree, identifier, language_default),
            format: tree.format(),
            identifier: identifier.to_owned(),
        }),
        _ => Err(WrapProblem::NotADocument),
    }
}

/// A ready envelope with what may be added to its document, and the identifier that it then has.
fn readdressed<'i>(tree: &Tree, own: &'i str, identifier: &'i str) -> (Vec<u8>, &'i str) {
    let place = if own == identifier { None } else { identifier_place(tree) };
    let has = if place.is_some() { identifier } else { own };
    let between_quotes = match tree.format() {
        Format::Json => {
            let quoted = serde_json::Value::from(identifier).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        }
        Format::Xml => xml_attribute(identifier).replace('\'', "&apos;"),
    };
    let insertions = permitted_insertions(tree);
    let mut edits: Vec<Edit<'_>> =
        insertions.iter().map(|(offset, text)| (*offset..*offset, text.as_str())).collect();
    edits.extend(place.map(|place| (place, between_quotes.as_str())));
    edits.sort_by_key(|(place, _)| place.start);
    (edited(tree.source(), 0, tree.source().len(), &edits), has)
}

/// Reads an envelope; `None` where the root is no DocumentReference or its document cannot be
/// found: the first `content` that names a contained Bundle, of which there must be exactly one of
/// that id.
pub fn envelope_of(tree: &Tree) -> Option<EnvelopeView<'_>> {
    let reference = tree.root();
    if reference.resource_type() != Some("DocumentReference") {
        return None;
    }
    let document = reference
        .all("content")
        .filter_map(|content| content.text("attachment.url"))
        .find_map(|url| contained_bundle(reference, url))?;
    Some(EnvelopeView { reference, document, identifier: reference.text("identifier.value") })
}

/// The document Bundle of a file: the root itself or the one contained in a DocumentReference.
pub fn document_of(tree: &Tree) -> Option<Element<'_>> {
    let root = tree.root();
    match root.resource_type() {
        Some("Bundle") if root.text("type") == Some("document") => Some(root),
        Some("DocumentReference") => envelope_of(tree).map(|view| view.document),
        _ => None,
    }
}

/// The one contained Bundle that a fragment reference names.
pub(crate) fn contained_bundle<'t>(reference: Element<'t>, url: &str) -> Option<Element<'t>> {
    let id = url.strip_prefix('#').filter(|id| !id.is_empty())?;
    let mut found = reference.all("contained").filter(|resource| {
        resource.resource_type() == Some("Bundle") && resource.text("id") == Some(id)
    });
    let document = found.next()?;
    found.next().is_none().then_some(document)
}

/// Language of a document: that of the Bundle, else of its Composition.
fn language_of(bundle: Element<'_>) -> Option<&str> {
    bundle.text("language").or_else(|| {
        bundle
            .all("entry")
            .filter_map(|entry| entry.child("resource"))
            .find(|resource| resource.resource_type() == Some("Composition"))?
            .text("language")
    })
}

fn written(tree: &Tree, identifier: &str, language_default: &str) -> Vec<u8> {
    let root = tree.root();
    let place = root.position();
    let insertions = permitted_insertions(tree);
    let bundle = spliced(tree.source(), place.start, place.end, &insertions);
    let id = root.child("id").map_or(LOCAL_ID, |id| id.value().unwrap_or_default());
    let language = language_of(root).unwrap_or(language_default);
    let (head, tail) = match tree.format() {
        Format::Json => (
            "{\"resourceType\":\"DocumentReference\",\"contained\":[",
            json_tail(identifier, language, id),
        ),
        Format::Xml => (
            "<DocumentReference xmlns=\"http://hl7.org/fhir\"><contained>",
            xml_tail(identifier, language, id),
        ),
    };
    let mut body = Vec::with_capacity(head.len() + bundle.len() + tail.len());
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(&bundle);
    body.extend_from_slice(tail.as_bytes());
    body
}

fn json_tail(identifier: &str, language: &str, id: &str) -> String {
    let text = |value: &str| serde_json::Value::from(value).to_string();
    format!(
        "],\"identifier\":[{{\"system\":\"{URI_SYSTEM}\",\"value\":{}}}],\"status\":\"current\",\
         \"content\":[{{\"attachment\":{{\"language\":{},\"url\":{}}}}}]}}",
        text(identifier),
        text(language),
        text(&format!("#{id}")),
    )
}

fn xml_tail(identifier: &str, language: &str, id: &str) -> String {
    format!(
        "</contained><identifier><system value=\"{URI_SYSTEM}\"/><value value=\"{}\"/></identifier>\
         <status value=\"current\"/><content><attachment><language value=\"{}\"/>\
         <url value=\"#{}\"/></attachment></content></DocumentReference>",
        xml_attribute(identifier),
        xml_attribute(language),
        xml_attribute(id),
    )
}

/// A value as it may stand between the quotes of an attribute.
fn xml_attribute(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            // Attribute normalisation would turn these into spaces.
            '\t' | '\n' | '\r' => text.push_str(&format!("&#{};", u32::from(character))),
            other => text.push(other),
        }
    }
    text
}
