//! A field of a correction that is emptied: its element leaves the report, unless the report needs
//! it.

use std::collections::BTreeMap;
use std::ops::Range;

use fhir::{Element, Format, Limits, Tree};
use journal::Message;

use crate::removal::removal;

/// The text without the element of a value; above it goes what would be left empty, for FHIR allows
/// nothing empty. `None` where there is no such value, or more hangs on it than a field shows.
pub(crate) fn without(text: &str, expression: &str) -> Option<String> {
    let format = Format::sniff(text.as_bytes())?;
    let tree = Tree::read(text.as_bytes(), format, &Limits::default()).ok()?;
    let leaf = tree.find(expression)?;
    leaf.value()?;
    let place = place(&tree, leaf)?;
    let mut left = text.to_owned();
    left.is_char_boundary(place.start).then_some(())?;
    left.is_char_boundary(place.end).then_some(())?;
    left.replace_range(place, "");
    // What could not be read any more was no removal.
    Tree::read(left.as_bytes(), format, &Limits::default()).ok()?;
    Some(left)
}

fn place(tree: &Tree, leaf: Element<'_>) -> Option<Range<usize>> {
    let mut at = leaf;
    while at.children().count() <= usize::from(at.value().is_none()) {
        let owner = at.parent()?;
        if owner.children().count() > 1 || owner.resource_type().is_some() {
            return removal(tree, at);
        }
        at = owner;
    }
    // Beside the value stands an extension, which no field shows.
    None
}

/// Whether something is wrong after the removal that was not before: then the report needs the
/// value.
pub(crate) fn is_needed(before: &[Message], after: &[Message]) -> bool {
    let errors = |all: &[Message]| {
        let mut counts: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
        for message in all.iter().filter(|it| it.severity == fhir::Severity::Error) {
            *counts.entry((message.code.clone(), message.rule.clone())).or_default() += 1;
        }
        counts
    };
    let known = errors(before);
    errors(after).iter().any(|(kind, count)| *count > known.get(kind).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_goes_with_what_it_would_leave_empty_and_with_nothing_else() {
        let json = r#"{"resourceType":"Patient","name":[{"family":"A","given":["B"]}],"telecom":[{"value":"1"}]}"#;
        let given = without(json, "Patient.name[0].given[0]").unwrap();
        assert_eq!(given, json.replace(r#","given":["B"]"#, ""));
        let telecom = without(json, "Patient.telecom[0].value").unwrap();
        assert_eq!(telecom, json.replace(r#","telecom":[{"value":"1"}]"#, ""));
        assert_eq!(without(json, "Patient.name[0]"), None, "no value");
        assert_eq!(without(json, "Patient.birthDate"), None, "not there");
        let extended = r#"{"resourceType":"Patient","gender":"male","birthDate":"1970-01-01","_birthDate":{"extension":[{"url":"http://x","valueString":"y"}]}}"#;
        assert_eq!(without(extended, "Patient.birthDate"), None, "an extension hangs on it");
        let xml = "<Patient xmlns=\"http://hl7.org/fhir\"><gender value=\"male\"/><telecom><value \
                   value=\"1\"/></telecom></Patient>";
        let left = without(xml, "Patient.telecom[0].value").unwrap();
        assert_eq!(
            left,
            "<Patient xmlns=\"http://hl7.org/fhir\"><gender value=\"male\"/></Patient>"
        );
    }
}
