//! What is said of a report, as people see it: its messages, and which of them tells most.

use fhir::Severity;
use journal::{Message, Source};
use report::StateCode;

use crate::codes::DOCUMENT_CODES;
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
/// message is the reason for that. Nor is a warning about the content of a report the reason why it
/// is on hold: a person has held it back.
pub(crate) fn leading(state: StateCode, messages: &[Message]) -> Option<&Message> {
    use StateCode::{InProgress, Queued, Sending, Unknown};
    if matches!(state, Queued | Sending | Unknown | InProgress) {
        return None;
    }
    let errors = || messages.iter().filter(|message| message.severity == Severity::Error);
    let is_note = |it: &Message| {
        let is_held = state == StateCode::Held;
        it.source != Source::Authority
            && (it.severity == Severity::Information || is_held && is_of_content(&it.code))
    };
    errors()
        .find(|message| message.source == Source::Authority)
        .or_else(|| errors().next())
        .or_else(|| messages.iter().find(|message| !is_note(message)))
}

/// Whether a code is of what is found in a document, and not of where it stands beside others.
fn is_of_content(code: &str) -> bool {
    DOCUMENT_CODES.iter().any(|codes| codes.iter().any(|(known, _)| *known == code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str, severity: Severity, source: Source) -> Message {
        Message {
            source,
            severity,
            code: code.to_owned(),
            rule: None,
            text: None,
            params: Vec::new(),
            expression: None,
            line: None,
            column: None,
        }
    }

    #[test]
    fn what_was_held_back_is_not_on_hold_for_a_warning_about_its_content() {
        let of_content = found("test-old", Severity::Warning, Source::Local);
        let beside = found("older-version", Severity::Warning, Source::Local);
        let wrong = found("subject-missing", Severity::Error, Source::Local);
        let refused = found("structure", Severity::Warning, Source::Authority);
        let code = |state, messages: &[Message]| leading(state, messages).map(|it| it.code.clone());
        assert_eq!(code(StateCode::Held, std::slice::from_ref(&of_content)), None);
        let both = [of_content.clone(), beside];
        assert_eq!(code(StateCode::Held, &both).as_deref(), Some("older-version"));
        let all = [of_content.clone(), refused];
        assert_eq!(code(StateCode::Held, &all).as_deref(), Some("structure"));
        let all = [of_content.clone(), wrong];
        assert_eq!(code(StateCode::Held, &all).as_deref(), Some("subject-missing"));
        assert_eq!(code(StateCode::Failed, &[of_content]).as_deref(), Some("test-old"));
    }
}
