//! Whether a refusal judges what a report says. Pure.

use fhir::Severity;
use journal::Message;

/// FHIR issue types (`issue-type` of R4) that judge what a report says, whatever they name.
const OF_CONTENT: [&str; 9] = [
    "invalid",
    "structure",
    "required",
    "value",
    "invariant",
    "code-invalid",
    "extension",
    "too-long",
    "not-supported",
];

/// Issue types that judge it where they name a rule or a place in the document. Any other speaks
/// of the server, of access, or of what the authority has already.
const OF_CONTENT_NAMED: [&str; 2] = ["processing", "business-rule"];

/// Where a document has the identifiers by which an authority may know it already.
const OF_DOCUMENT: [&str; 3] =
    ["Bundle.identifier", "DocumentReference.identifier", "masterIdentifier"];

/// Whether a refusal with these messages of the authority is one of the content, which is the same
/// in every delivery of it: then none of them was stored. Servers differ in their issue types, and
/// some say `processing` of everything: what names a rule or a place in the document judges it too,
/// but for the identifier of the document, which may be there already. That a report is a duplicate
/// by the authority's own rule is told before ([`client::Fault::may_be_stored`]).
pub(crate) fn is_verdict_on_content<'a>(messages: impl Iterator<Item = &'a Message>) -> bool {
    let judges = |error: &Message| {
        let place = error.expression.as_deref();
        let names_something = error.rule.is_some() || place.is_some() || error.line.is_some();
        let is_known_by_it =
            place.is_some_and(|place| OF_DOCUMENT.iter().any(|of| place.contains(of)));
        OF_CONTENT.contains(&&*error.code)
            || OF_CONTENT_NAMED.contains(&&*error.code) && names_something && !is_known_by_it
    };
    let mut errors = messages.filter(|message| message.severity == Severity::Error).peekable();
    errors.peek().is_some() && errors.all(judges)
}
