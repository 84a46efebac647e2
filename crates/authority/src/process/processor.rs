//! What becomes of an accepted document: the rules are asked, and nothing else.

use exchange::{Processing, canonical, document_of};
use fhir::{Limits, Tree};
use texts::Language;

use crate::notice::{Notice, constraint_failed};
use crate::process::rules::{Effect, Rules};
use crate::store::{Due, Verdict};

/// The verdict on one document.
pub(crate) fn judge(due: &Due, rules: &Rules) -> Verdict {
    let mut verdict = Verdict {
        document: due.document,
        status: Processing::Completed,
        notices: due.notices.clone(),
    };
    if rules.rules.is_empty() {
        return verdict;
    }
    let tree = Tree::read(&due.body, due.format, &Limits::default());
    let Some(document) = tree.as_ref().ok().and_then(document_of) else {
        // It was readable when it was accepted, perhaps by another release of this program.
        verdict.status = Processing::Failed;
        verdict.notices.push(Notice::error("exception", "The stored document cannot be read"));
        return verdict;
    };
    let language = tree.as_ref().map_or(Language::English, language_of);
    for rule in &rules.rules {
        let Some(place) = rule.when.holds(document, due.seen_before, due.accepted) else {
            continue;
        };
        if rule.effect == Effect::Fail {
            verdict.status = Processing::Failed;
        }
        let value = place.and_then(|element| element.value()).unwrap_or_default();
        let text = rule.text.in_language(language).replace("%value%", value);
        verdict.notices.push(Notice {
            severity: rule.severity,
            kind: rule.issue.clone(),
            rule: Some((canonical::RULES_SYSTEM.to_owned(), rule.code.clone())),
            diagnostics: Some(constraint_failed(&rule.code, &text)),
            text: Some(text),
            expression: place.map(|element| element.expression()),
            line: place.map(|element| element.position().line),
            column: place.map(|element| element.position().column),
        });
    }
    verdict
}

/// The language that the envelope says its report is in: whoever wrote the report reads the answer.
/// A tag may be written in any case (BCP 47).
fn language_of(tree: &Tree) -> Language {
    let tag = tree.root().text("content.attachment.language").unwrap_or_default();
    Language::of_locale(&tag.to_ascii_lowercase())
}
