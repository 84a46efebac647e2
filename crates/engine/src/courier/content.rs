//! Whether a refusal judges what a report says. Pure.

use fhir::Severity;
use journal::Message;

/// FHIR issue types (`issue-type` of R4) that judge what a report says. The others (a business
/// rule, a conflict, a duplicate, processing, security) may speak of what the authority has
/// already.
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

/// Whether a refusal with these messages of the authority is one of the content, which is the same
/// in every delivery of it: then none of them was stored.
pub(crate) fn is_verdict_on_content<'a>(messages: impl Iterator<Item = &'a Message>) -> bool {
    let mut errors = messages.filter(|message| message.severity == Severity::Error).peekable();
    errors.peek().is_some() && errors.all(|error| OF_CONTENT.contains(&&*error.code))
}
