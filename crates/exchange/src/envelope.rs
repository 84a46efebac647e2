//! The DocumentReference around a document: written around the text as received, never through it.

use fhir::{Element, Format, Tree};

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
