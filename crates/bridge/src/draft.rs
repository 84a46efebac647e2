//! A report that is being corrected: the values in question as a form, and what has gone missing.

use std::collections::BTreeSet;

use fhir::{Element, Tree};
use journal::{Message, Source};

use crate::edit::{common_path, leaves};
use crate::missing::Missing;
use crate::placement::found;
use crate::rows::message_view;
use crate::views::{FormFieldView, MessageView};

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

/// The values that are in question, each once: what was said of the report as it was sent, and what
/// is found in the draft now, which stands beside its value.
pub(crate) fn form(tree: &Tree, asked: &[Message], now: &[MessageView]) -> Vec<FormFieldView> {
    let mut fields: Vec<FormFieldView> = Vec::new();
    for message in asked {
        let message = message_view(message);
        let _ = missing_of(&mut fields, tree, &message);
        for leaf in in_question(tree, &message) {
            let _ = field_of(&mut fields, leaf);
        }
    }
    for (at, message) in now.iter().enumerate() {
        if let Some(field) = missing_of(&mut fields, tree, message) {
            field.messages.push(u32::try_from(at).unwrap_or(u32::MAX));
        }
        for (nth, leaf) in in_question(tree, message).into_iter().enumerate() {
            let field = field_of(&mut fields, leaf);
            // A message about several values stands beside the first of them.
            if nth == 0 {
                field.messages.push(u32::try_from(at).unwrap_or(u32::MAX));
            }
        }
    }
    fields
}

/// The values at the element of a message. Where our own checks speak of a whole resource, or of
/// what is not there, no value that is there is in question.
fn in_question<'t>(tree: &'t Tree, message: &MessageView) -> Vec<Element<'t>> {
    let mut own = Vec::new();
    let Some(element) = found(message, tree) else { return own };
    let is_ours = message.source != Source::Authority;
    let is_missing = message.code.ends_with("-missing") || message.code == "missing-element";
    if is_ours && (is_missing || element.resource_type().is_some()) {
        return own;
    }
    leaves(element, &mut |leaf| own.push(leaf));
    own.truncate(FIELDS_MAX);
    own
}

/// The field of what a message misses: empty, until somebody has typed something into it.
fn missing_of<'f>(
    fields: &'f mut Vec<FormFieldView>,
    tree: &Tree,
    message: &MessageView,
) -> Option<&'f mut FormFieldView> {
    if message.source == Source::Authority {
        return None;
    }
    let missing = Missing::of(message, tree)?;
    Some(match missing.present() {
        Some(leaf) => field_of(fields, leaf),
        None => {
            let line = missing.owner.position().line;
            field_at(fields, missing.expression(), missing.path(), "", line)
        }
    })
}

/// The field of a value; it is made where there is none yet.
fn field_of<'f>(fields: &'f mut Vec<FormFieldView>, leaf: Element<'_>) -> &'f mut FormFieldView {
    let (value, line) = (leaf.value().unwrap_or_default(), leaf.position().line);
    field_at(fields, leaf.expression(), common_path(leaf), value, line)
}

fn field_at<'f>(
    fields: &'f mut Vec<FormFieldView>,
    expression: String,
    path: String,
    value: &str,
    line: u32,
) -> &'f mut FormFieldView {
    let known = fields.iter().position(|field| field.expression == expression);
    let at = known.unwrap_or_else(|| {
        let choices = CHOICES.iter().find(|(of, _)| *of == path).map_or(&[][..], |(_, c)| c);
        fields.push(FormFieldView {
            value: value.to_owned(),
            line,
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            messages: Vec::new(),
            expression,
            path,
        });
        fields.len() - 1
    });
    &mut fields[at]
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
