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

/// Issue types that speak of what the authority has already, whatever they name.
const OF_OTHERS: [&str; 3] = ["duplicate", "conflict", "multiple-matches"];

/// Whether a refusal with these messages of the authority is one of the content, which is the same
/// in every delivery of it: then none of them was stored. Servers differ in their issue types, and
/// some say `processing` of everything: what names a rule or a place in the document judges it too.
/// That a report is a duplicate by the authority's own rule is told before
/// ([`client::Fault::may_be_stored`]).
pub(crate) fn is_verdict_on_content<'a>(messages: impl Iterator<Item = &'a Message>) -> bool {
    let judges = |error: &Message| {
        let names_something =
            error.rule.is_some() || error.expression.is_some() || error.line.is_some();
        OF_CONTENT.contains(&&*error.code) || names_something && !OF_OTHERS.contains(&&*error.code)
    };
    let mut errors = messages.filter(|message| message.severity == Severity::Error).peekable();
    errors.peek().is_some() && errors.all(judges)
}
