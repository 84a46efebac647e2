//! Invariants that were published wrong, and what the authority's validator does with them. Facts
//! about `matchbox` 4.1.5 on HL7's core 6.9.4: a table of data, for each new version may change it.

mod contexts;
pub(crate) mod privacy;
pub(crate) mod vitals;

use crate::definition::BASE;

/// What the authority validates a whole exchange against, by resource type, beside what a resource
/// names.
const ENTRIES: &[(&str, &str)] = &[
    ("Bundle", "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-elm-document-strict"),
    ("DocumentReference", "http://fhir.ch/ig/ch-elm/StructureDefinition/PublishDocumentReference"),
    // The rules of practice.
    ("Bundle", "http://labcourier.example/practice/StructureDefinition/document"),
];

/// What is evaluated in place of a published expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Instead {
    /// Nothing is checked in its place.
    Skip,
    /// Code of ours.
    Native(Native),
    /// This expression.
    Text(String),
}

/// Rules that are decided without FHIRPath.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Native {
    /// `per-1`: start and end are compared to the coarser precision.
    Period,
    /// `ext-1`: extensions or a value, not both.
    Extension,
    /// `ref-1`: what is named by `#id` is contained.
    Contained,
}

/// `ref-1` as R4 publishes it. As an expression it compares each reference with the ids of all that
/// is contained: in a resource that contains thousands that takes the square of their number.
const CONTAINED: &str = "reference.startsWith('#').not() or \
                         (reference.substring(1) in %rootResource.contained.id)";

/// Key, expression (`{}` stands for the published one), and why.
const REWRITTEN: &[(&str, &str, &str)] = &[
    (
        "ref-1",
        "reference.empty() or reference = '#' or ({})",
        "a reference without `reference` would fail",
    ),
    ("bdl-8", "fullUrl.empty() or ({})", "an entry without fullUrl would fail"),
    (
        "tim-9",
        "offset.empty() or (when.exists() and \
         when.where($this in ('C' | 'CM' | 'CD' | 'CV')).empty())",
        "`in` takes one item, `when` repeats",
    ),
    ("con-3", "true", "the replacement can never fail"),
    ("que-7", "operator = 'exists' implies answer is boolean", "a type in capitals"),
    ("que-12", "enableWhen.count() < 2 or enableBehavior.exists()", "off by one"),
    ("ras-2", "probability.empty() or ({})", "an assessment without a probability would fail"),
];

/// Invariants whose expression must match a whole text, and matches a part of it as published.
const WHOLE: &[&str] = &["eld-19", "eld-20"];

/// Extensions whose published context is not where they are used, and where they may stand instead.
const CONTEXTS: &[(&str, &str)] = &[
    (
        "http://hl7.org/fhir/StructureDefinition/structuredefinition-fhir-type",
        "ElementDefinition.type",
    ),
    ("http://hl7.org/fhir/StructureDefinition/regex", "ElementDefinition.type"),
    ("http://hl7.org/fhir/StructureDefinition/structuredefinition-normative-version", "Element"),
    ("http://hl7.org/fhir/StructureDefinition/capabilitystatement-expectation", "Element"),
    ("http://hl7.org/fhir/StructureDefinition/capabilitystatement-prohibited", "Element"),
];

/// Profiles that a resource of this type is held against when it is exchanged with the authority.
pub(crate) fn entries_of(kind: &str) -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().filter(move |(of, _)| *of == kind).map(|(_, url)| *url)
}

/// Where an extension may stand beside its published context.
pub(crate) fn contexts_of(extension: &str) -> impl Iterator<Item = &'static str> {
    let name = extension.strip_prefix(BASE).unwrap_or_default();
    let wrong = CONTEXTS.iter().filter(move |(url, _)| *url == extension).map(|(_, of)| *of);
    let wider = contexts::WIDER.iter().filter(move |(of, _)| *of == name);
    wrong.chain(wider.flat_map(|(_, contexts)| contexts.iter().copied()))
}

/// Whether the rule of an extension for its place is evaluated.
pub(crate) fn is_ruled(extension: &str) -> bool {
    !extension.strip_prefix(BASE).is_some_and(|name| contexts::UNRULED.contains(&name))
}

/// What is not evaluated as an expression: `ele-1` and the narrative are part of the base check and
/// of the checks of narrative here; `dom-3` is part of the checks of contained resources; `dom-6`
/// is advice.
const ELSEWHERE: &[&str] = &["ele-1", "txt-1", "txt-2", "dom-3", "dom-6"];

/// Elements that a rule is not asked of: `eld-24` is not meant for ids and for addresses of
/// extensions.
pub(crate) fn is_exempt(key: &str, path: Option<&str>) -> bool {
    let ends = |path: &str| path.ends_with("xtension.url") || path.ends_with(".id");
    key == "eld-24" && path.is_some_and(ends)
}

/// What is evaluated for this key.
pub(crate) fn instead(key: &str, published: &str) -> Instead {
    if ELSEWHERE.contains(&key) {
        return Instead::Skip;
    }
    match key {
        "per-1" => return Instead::Native(Native::Period),
        "ext-1" => return Instead::Native(Native::Extension),
        "ref-1" if is_contained_rule(published) => return Instead::Native(Native::Contained),
        _ => {}
    }
    if published.starts_with("name.matches(") || published.contains(" name.matches(") {
        // 30 keys: a definition without a name would fail, and the whole name is meant.
        return Instead::Text(
            "name.empty() or name.matches('^[A-Z][A-Za-z0-9_]{0,254}$')".to_owned(),
        );
    }
    if WHOLE.contains(&key) {
        let whole = published.replace("matches('", "matches('^").replace("')", "$')");
        return Instead::Text(whole);
    }
    match REWRITTEN.iter().find(|(of, ..)| *of == key) {
        Some((_, text, _)) => Instead::Text(text.replace("{}", published)),
        None => Instead::Text(published.to_owned()),
    }
}

/// Whether an expression is the one of R4, with or without what it shows of itself on the way.
fn is_contained_rule(published: &str) -> bool {
    let words = published.replace(".trace('url')", "").replace(".trace('ids')", "");
    words.split_whitespace().eq(CONTAINED.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_expressions_stay_inside_what_replaces_them() {
        let text = "reference.startsWith('#').not()";
        let Instead::Text(instead) = instead("ref-1", text) else { panic!("an expression") };
        assert!(instead.ends_with(&format!("({text})")));
        let published = "reference.startsWith('#').not() or (reference.substring(1).trace('url') \
                         in %rootResource.contained.id.trace('ids'))";
        let native = Instead::Native(Native::Contained);
        assert_eq!(super::instead("ref-1", published), native);
        assert_eq!(super::instead("ref-1", CONTAINED), native);
        assert_eq!(
            super::instead("eld-20", "path.matches('[A-Z][a-z]*')"),
            Instead::Text("path.matches('^[A-Z][a-z]*$')".to_owned())
        );
        assert_eq!(super::instead("dom-6", "text.div.exists()"), Instead::Skip);
        assert_eq!(super::instead("x-1", "a"), Instead::Text("a".to_owned()));
    }
}
