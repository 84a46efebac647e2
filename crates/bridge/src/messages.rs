//! What is said of a report, as people see it: its messages, and which of them tells most.

use fhir::Severity;
use journal::Message;

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

/// The message that tells most: the authority's first error, else the first error, else the first.
pub(crate) fn leading(messages: &[Message]) -> Option<&Message> {
    let errors = || messages.iter().filter(|message| message.severity == Severity::Error);
    errors()
        .find(|message| message.source == journal::Source::Authority)
        .or_else(|| errors().next())
        .or_else(|| messages.first())
}
