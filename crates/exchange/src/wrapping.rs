//! What an envelope adds to a text, apart from the text: one that was read once can be wrapped
//! without reading it again.

use std::ops::Range;

use fhir::{Element, Format, Tree};

use crate::canonical::URI_SYSTEM;
use crate::envelope::{Envelope, WrapProblem, envelope_of};
use crate::splice::{Edit, Insertion, LOCAL_ID, edited, identifier_place, permitted_insertions};

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
    Ok(Wrapping::of(tree)?.around(tree.source(), identifier, language_default))
}

/// All that [`crate::wrap`] adds to a text, and where.
#[derive(Clone, PartialEq, Eq)]
pub struct Wrapping {
    format: Format,
    insertions: Vec<Insertion>,
    form: Form,
}

fhir::shows_only!(Wrapping { format });

#[derive(Clone, PartialEq, Eq)]
enum Form {
    /// A document that stands at this place, with its local id and its own language.
    Document { at: Range<usize>, id: String, language: Option<String> },
    /// A ready envelope with its own identifier, and where another one may be written.
    Ready { own: String, place: Option<Range<usize>> },
}

impl Wrapping {
    /// Of a text that was read.
    pub fn of(tree: &Tree) -> Result<Self, WrapProblem> {
        let root = tree.root();
        let form = match root.resource_type() {
            Some("DocumentReference") => {
                let view = envelope_of(tree).ok_or(WrapProblem::NoContainedDocument)?;
                let own = view.identifier.unwrap_or_default().to_owned();
                Form::Ready { own, place: identifier_place(tree) }
            }
            // Without a type it goes as well, if a person releases it: the authority says what it
            // thinks.
            Some("Bundle") if root.text("type").is_none_or(|code| code == "document") => {
                let place = root.position();
                let id = root.child("id").map_or(LOCAL_ID, |id| id.value().unwrap_or_default());
                let language = language_of(root).map(str::to_owned);
                Form::Document { at: place.start..place.end, id: id.to_owned(), language }
            }
            _ => return Err(WrapProblem::NotADocument),
        };
        Ok(Self { format: tree.format(), insertions: permitted_insertions(tree), form })
    }

    /// The envelope around that very text; around another one it is nonsense.
    pub fn around(&self, source: &[u8], identifier: &str, language_default: &str) -> Envelope {
        let mut edits: Vec<Edit<'_>> =
            self.insertions.iter().map(|(at, text)| (*at..*at, text.as_str())).collect();
        let (body, identifier) = match &self.form {
            Form::Document { at, id, language } => {
                let bundle = edited(source, at.start, at.end, &edits);
                let language = language.as_deref().unwrap_or(language_default);
                (written(self.format, &bundle, identifier, (language, id)), identifier)
            }
            Form::Ready { own, place } => {
                let place = place.clone().filter(|_| own != identifier);
                let has = if place.is_some() { identifier } else { own };
                let between_quotes = match self.format {
                    Format::Json => {
                        let quoted = serde_json::Value::from(identifier).to_string();
                        quoted[1..quoted.len() - 1].to_owned()
                    }
                    Format::Xml => xml_attribute(identifier).replace('\'', "&apos;"),
                };
                edits.extend(place.map(|place| (place, between_quotes.as_str())));
                edits.sort_by_key(|(place, _)| place.start);
                (edited(source, 0, source.len(), &edits), has)
            }
        };
        Envelope { body, format: self.format, identifier: identifier.to_owned() }
    }
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

fn written(
    format: Format,
    bundle: &[u8],
    identifier: &str,
    (language, id): (&str, &str),
) -> Vec<u8> {
    let (head, tail) = match format {
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
    body.extend_from_slice(bundle);
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
