//! A report that is being corrected: the values in question as a form, and what has gone missing.

use std::collections::BTreeSet;

use fhir::Tree;
use journal::Message;

use crate::edit::{common_path, leaves};
use crate::placement::found;
use crate::rows::message_view;
use crate::views::FormFieldView;

/// Values offered for one message: more is no question any more, and the source serves better.
const FIELDS_MAX: usize = 12;

/// Codes that may stand at an element, where they are few and for people.
const CHOICES: &[(&str, &[&str])] = &[
    ("Patient.gender", &["female", "male", "other", "unknown"]),
    ("Patient.name.use", &["official", "usual", "maiden", "old", "anonymous"]),
    ("Patient.address.use", &["home", "work", "temp", "old", "billing"]),
    ("Observation.status", &["final", "amended", "corrected", "preliminary"]),
    ("DiagnosticReport.status", &["final", "amended", "corrected", "preliminary"]),
    ("Composition.status", &["final", "amended", "preliminary"]),
];

/// The values that the messages of a report are about, each once.
pub(crate) fn form(tree: &Tree, messages: &[Message]) -> Vec<FormFieldView> {
    let mut fields: Vec<FormFieldView> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let Some(element) = found(&message_view(message), tree) else { continue };
        let mut own = Vec::new();
        leaves(element, &mut |leaf| own.push(leaf));
        for leaf in own.into_iter().take(FIELDS_MAX) {
            let expression = leaf.expression();
            if fields.iter().any(|field| field.expression == expression) {
                continue;
            }
            let path = common_path(leaf);
            let choices = CHOICES.iter().find(|(of, _)| *of == path).map_or(&[][..], |(_, c)| c);
            fields.push(FormFieldView {
                value: leaf.value().unwrap_or_default().to_owned(),
                line: leaf.position().line,
                choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
                message: u32::try_from(at).unwrap_or(u32::MAX),
                expression,
                path,
            });
        }
    }
    fields
}

/// Elements that the report had and the draft has not, e.g. `Patient.name.family`.
pub(crate) fn vanished(before: &Tree, after: &Tree) -> Vec<String> {
    let paths = |tree: &Tree| {
        let mut paths = BTreeSet::new();
        leaves(tree.root(), &mut |leaf| {
            paths.insert(common_path(leaf));
        });
        paths
    };
    let left = paths(after);
    paths(before).into_iter().filter(|path| !left.contains(path)).collect()
}
