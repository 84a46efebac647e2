//! Code systems and value sets as documents: what their elements say of each other.

use fhir::Element;

use super::{Issue, error};

/// Concepts in concepts that are followed; the reader allows 64.
const DEPTH_MAX: usize = 64;

/// Counts, and what belongs to a supplement and what does not.
pub(super) fn code_system(of: Element<'_>, issues: &mut Vec<Issue>) {
    let content = of.text("content").unwrap_or_default();
    let is_supplement = of.child("supplements").is_some();
    if is_supplement {
        for name in ["caseSensitive", "hierarchyMeaning"] {
            if let Some(child) = of.child(name) {
                error(issues, child, "rule-code-system-supplement", &[("element", name)]);
            }
        }
    }
    if let Some(child) = of.child("content")
        && is_supplement != (content == "supplement")
    {
        error(issues, child, "rule-code-system-supplement", &[("element", "content")]);
    }
    let count = concepts(of, 0);
    let told = of.child("count").filter(|_| content == "complete");
    if let Some(told) = told.filter(|told| told.value() != Some(&count.to_string())) {
        let (expected, found) = (count.to_string(), told.value().unwrap_or_default());
        let params = [("expected", &*expected), ("found", found)];
        error(issues, told, "rule-code-system-count", &params);
    }
    if let Some(concept) = of.child("concept").filter(|_| content == "not-present") {
        error(issues, concept, "rule-code-system-not-present", &[]);
    }
}

/// The version of a code system has an element of its own.
pub(super) fn value_set(of: Element<'_>, issues: &mut Vec<Issue>) {
    let parts = of.all("compose").flat_map(|of| of.all("include").chain(of.all("exclude")));
    for system in parts.filter_map(|part| part.child("system")) {
        let told = system.value().unwrap_or_default();
        if told.split_once('|').is_some_and(|(_, version)| !version.is_empty()) {
            error(issues, system, "rule-value-set-version", &[("value", told)]);
        }
    }
}

fn concepts(of: Element<'_>, depth: usize) -> usize {
    let below = |concept| if depth < DEPTH_MAX { concepts(concept, depth + 1) } else { 0 };
    of.all("concept").map(|concept| 1 + below(concept)).sum()
}
