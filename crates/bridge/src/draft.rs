//! A report that is being corrected: the values in question as a form, and what has gone missing.

use std::collections::BTreeSet;

use fhir::{Element, Tree};
use journal::{Message, Source};
use rules::{ListedCode, RuleSet};

use crate::coded::id_of;
use crate::messages::message_view;
use crate::missing::Missing;
use crate::placement::found;
use crate::views::{ChoiceView, FormFieldView, MessageView};
use crate::writing::{common_path, exactly, leaves};

/// Values offered for one message: more is no question any more, and the source serves better.
const FIELDS_MAX: usize = 12;

/// Codes offered for one value: among more nobody finds the right one by looking.
const LISTED_MAX: usize = 200;

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
/// is found in the draft now, which stands beside its value; with the codes that the rules allow
/// where they are few.
pub(crate) fn form(
    tree: &Tree,
    asked: &[Message],
    now: &[MessageView],
    rules: Option<&RuleSet>,
) -> Vec<FormFieldView> {
    let mut fields: Vec<FormFieldView> = Vec::new();
    for message in asked {
        let message = message_view(message);
        let _ = missing_of(&mut fields, tree, &message);
        let listed = rules.and_then(|rules| listed_for(&message, rules));
        for leaf in in_question(tree, &message) {
            let field = field_of(&mut fields, leaf);
            offer_codes(field, tree, leaf, listed.as_deref().unwrap_or_default());
        }
    }
    for (at, message) in now.iter().enumerate() {
        if let Some(field) = missing_of(&mut fields, tree, message) {
            field.messages.push(u32::try_from(at).unwrap_or(u32::MAX));
        }
        let listed = rules.and_then(|rules| listed_for(message, rules));
        for (nth, leaf) in in_question(tree, message).into_iter().enumerate() {
            let field = field_of(&mut fields, leaf);
            // A message about several values stands beside the first of them.
            if nth == 0 {
                field.messages.push(u32::try_from(at).unwrap_or(u32::MAX));
            }
            offer_codes(field, tree, leaf, listed.as_deref().unwrap_or_default());
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

/// The codes that the rules allow instead of the one that a message speaks of.
fn listed_for(message: &MessageView, rules: &RuleSet) -> Option<Vec<ListedCode>> {
    let param = |name: &str| message.params.get(name).map(String::as_str);
    match &*message.code {
        "rule-code-not-in-value-set" => rules.codes_of_value_set(param("value-set")?, LISTED_MAX),
        "rule-code-unknown" => rules.codes_of_system(param("system")?, LISTED_MAX),
        _ => None,
    }
}

/// Offers codes at a value that is one: by itself, or in a coding, whose system stays.
fn offer_codes(field: &mut FormFieldView, tree: &Tree, leaf: Element<'_>, listed: &[ListedCode]) {
    let beside = |name: &str| {
        let owner = field.expression.strip_suffix(".code")?;
        exactly(tree, &format!("{owner}.{name}"))
    };
    let system = beside("system").and_then(|system| system.value());
    field.id = system.and_then(|system| id_of(system, &field.value));
    let is_in_coding = system.is_some();
    let is_other_part = matches!(leaf.name(), "system" | "display" | "version" | "text");
    if !field.choices.is_empty() || is_other_part {
        return;
    }
    let fits = |of: &&ListedCode| system.is_none_or(|system| system == of.system);
    let choice = |of: &ListedCode| ChoiceView {
        code: of.code.clone(),
        display: of.display.clone(),
        id: id_of(&of.system, &of.code),
    };
    field.choices = listed.iter().filter(fits).map(choice).collect();
    if is_in_coding {
        field.display = beside("display").map(|display| display.expression());
    }
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
            choices: choices.iter().map(named_by_window).collect(),
            id: None,
            display: None,
            messages: Vec::new(),
            expression,
            path,
        });
        fields.len() - 1
    });
    &mut fields[at]
}

/// A code whose name the window has in every language.
fn named_by_window(code: &&str) -> ChoiceView {
    ChoiceView { code: (*code).to_owned(), display: String::new(), id: None }
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

#[cfg(test)]
mod tests {
    use fhir::{Format, Limits};
    use rules::{Package, PackageLimits};
    use serde_json::json;

    use super::*;

    /// In a coding the system stays, so that only its codes are offered; what stands beside the
    /// code is its name, and follows it.
    #[test]
    fn the_codes_of_the_same_system_are_offered_and_their_display_follows() {
        let set = |system: &str, code: &str| {
            let concept = json!([{ "code": code, "display": format!("The {code}") }]);
            json!({ "system": system, "concept": concept })
        };
        let value_set = json!({
            "resourceType": "ValueSet", "url": "http://rules.test/colours", "version": "1.0.0",
            "compose": { "include": [set("http://loinc.org", "red"), set("urn:two", "blue")] }
        });
        let entry = json!([{ "resource": value_set }]);
        let bundle = json!({ "resourceType": "Bundle", "type": "collection", "entry": entry });
        let package =
            Package::read(bundle.to_string().as_bytes(), &PackageLimits::default()).unwrap();
        let rules = RuleSet::of(vec![package]);
        let coding =
            json!({ "system": "http://loinc.org", "code": "green", "display": "The green" });
        let text = json!({ "resourceType": "Observation", "code": { "coding": [coding] } });
        let tree =
            Tree::read(text.to_string().as_bytes(), Format::Json, &Limits::default()).unwrap();
        let set = [("value-set", "http://rules.test/colours")];
        let mut message = Message::warning("rule-code-not-in-value-set", &set);
        message.expression = Some("Observation.code".to_owned());
        let message = message_view(&message);
        let fields = form(&tree, &[], &[message], Some(&rules));
        let field = fields.iter().find(|field| field.path == "Observation.code.coding.code");
        let field = field.unwrap();
        assert!(field.choices.len() == 1 && field.choices[0].code == "red");
        assert_eq!(field.choices[0].display, "The red");
        // What the reader calls them, where the catalogue knows them.
        assert_eq!(field.choices[0].id.as_deref(), Some("loinc.red"));
        assert_eq!(field.id.as_deref(), Some("loinc.green"));
        assert_eq!(field.display.as_deref(), Some("Observation.code.coding[0].display"));
        assert!(fields.iter().all(|of| of.path == field.path || of.choices.is_empty()));
    }
}
