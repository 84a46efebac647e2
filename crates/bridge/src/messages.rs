//! What is said of a report, as people see it: its messages, and which of them tells most.

use fhir::Severity;
use journal::{Message, Source};
use report::StateCode;

use crate::views::MessageView;

pub(crate) fn message_view(message: &Message) -> MessageView {
    MessageView {
        source: message.source,
        severity: message.severity,
        code: message.code.clone(),
        rule: message.rule.clone(),
        text: message.text.clone(),
        params: message.params.iter().cloned().collect(),
        expression: message.expression.clone(),
        line: message.line,
        column: message.column,
        section: None,
        field: None,
        path: None,
        found: None,
        suggestion: None,
    }
}

/// The message that tells why a person must act: the authority's first error, else the first error,
/// else the first that is more than a note of ours. What is under way waits for an answer, and no
/// message is the reason for that.
pub(crate) fn leading(state: StateCode, messages: &[Message]) -> Option<&Message> {
    use StateCode::{InProgress, Queued, Sending, Unknown};
    if matches!(state, Queued | Sending | Unknown | InProgress) {
        return None;
    }
    let errors = || messages.iter().filter(|message| message.severity == Severity::Error);
    let is_note =
        |it: &Message| it.source != Source::Authority && it.severity == Severity::Information;
    errors()
        .find(|message| message.source == Source::Authority)
        .or_else(|| errors().next())
        .or_else(|| messages.iter().find(|message| !is_note(message)))
}
