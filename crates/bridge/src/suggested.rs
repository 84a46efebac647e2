//! Cures that need no judgement: shown with what is said of a report, and put into its text when
//! somebody asks.

use fhir::{Finding, Format, Limits, Severity, Tree};
use journal::{Message, Source};

use crate::messages::message_view;
use crate::placement::{found, holds};
use crate::record::SuggestionRecord;
use crate::views::{MessageView, SuggestionView};
use crate::writing::common_path;

/// Longest value shown beside a message, in characters.
const FOUND_MAX: usize = 200;
/// Suggestions put in at once: the text is read again for each.
const APPLIED_MAX: usize = 200;

/// Says what stands at the element of a message, and what would cure it.
pub(crate) fn offer(message: &mut MessageView, tree: &Tree) {
    let Some(element) = found(message, tree) else { return };
    message.path = Some(common_path(element));
    message.found = element.value().map(|value| value.chars().take(FOUND_MAX).collect());
    message.suggestion = cure(message, tree).map(|cure| {
        let leaf = tree.find(&cure.expression);
        SuggestionView {
            path: leaf.map(common_path).unwrap_or_default(),
            before: leaf.and_then(|leaf| leaf.value()).map(str::to_owned),
            expression: cure.expression,
            value: cure.value,
        }
    });
}

/// The text with every suggestion for it, or with those for one element and what is in it; and how
/// many were put in.
pub(crate) fn applied(text: &str, messages: &[Message], only: Option<&str>) -> (String, usize) {
    let mut text = text.to_owned();
    let mut wanted = match read(&text) {
        Some(tree) => places(&tree, messages, only),
        None => return (text, 0),
    };
    // From the end, so that what stands before has the same expression still. Two that change one
    // element do it once.
    wanted.sort_by_key(|(start, ..)| std::cmp::Reverse(*start));
    wanted.dedup_by(|a, b| a.1 == b.1);
    let mut count = 0;
    for (_, _, message) in wanted.iter().take(APPLIED_MAX) {
        // Looked up anew: what went before may have ended this one too.
        let Some(cure) = read(&text).and_then(|tree| cure(message, &tree)) else { continue };
        if text.is_char_boundary(cure.start) && text.is_char_boundary(cure.end) {
            text.replace_range(cure.start..cure.end, &cure.text);
            count += 1;
        }
    }
    (text, count)
}

/// Where each suggestion begins, which element it changes, and the message that it would cure.
fn places(
    tree: &Tree,
    messages: &[Message],
    only: Option<&str>,
) -> Vec<(usize, String, MessageView)> {
    let views = messages.iter().map(message_view);
    let cures = views.filter_map(|message| Some((cure(&message, tree)?, message)));
    cures
        .filter(|(cure, _)| only.is_none_or(|only| holds(only, &cure.expression)))
        .map(|(cure, message)| (cure.start, cure.expression, message))
        .collect()
}

fn read(text: &str) -> Option<Tree> {
    Tree::read(text.as_bytes(), Format::sniff(text.as_bytes())?, &Limits::default()).ok()
}

/// Only what this program found itself is cured: the authority's own messages have no such form.
fn cure(message: &MessageView, tree: &Tree) -> Option<SuggestionRecord> {
    if message.source == Source::Authority {
        return None;
    }
    let finding = Finding {
        code: message.code.clone(),
        severity: Severity::Error,
        expression: message.expression.clone()?,
        position: None,
        params: message.params.clone().into_iter().collect(),
    };
    SuggestionRecord::of(tree, &finding)
}
