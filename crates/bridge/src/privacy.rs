//! What the authority would see of a patient in the form that the rules permit for what was found,
//! beside what stands in the report now.

use fhir::{Format, Limits, Tree};
use rules::{RuleSet, TooMuch};

use crate::placement::holds;
use crate::removal::removal;
use crate::sections::sections_of;
use crate::views::{FieldView, PrivacyRowView, PrivacyView, SectionView};
use crate::writing::replacement;

/// `None` where no rules are in use, or where they say nothing about what was found.
pub(crate) fn privacy_of(rules: Option<&RuleSet>, tree: &Tree) -> Option<PrivacyView> {
    let privacy = rules::privacy(rules?, tree)?;
    let all = sections(tree);
    let patient = all.iter().find(|section| section.expression == privacy.patient)?;
    let (reduced, left) = reduced(tree, &privacy.too_much);
    let seen = reduced.map(|tree| sections(&tree)).into_iter().flatten();
    let mut seen: Vec<FieldView> = seen
        .filter(|section| section.expression == privacy.patient)
        .flat_map(|section| section.fields)
        .collect();
    // What cannot be taken out alone is not to be seen either.
    seen.retain(|field| {
        !left.iter().any(|one| holds(&field.expression, one) || holds(one, &field.expression))
    });
    let result = all.iter().find(|section| section.expression == privacy.because);
    let because = result.and_then(|section| values(&section.fields, "observation.code").pop());
    let mut keys: Vec<&str> = Vec::new();
    for field in patient.fields.iter().filter(|field| !field.technical) {
        if !keys.contains(&field.key.as_str()) {
            keys.push(&field.key);
        }
    }
    let rows = keys.into_iter().map(|key| PrivacyRowView {
        key: key.to_owned(),
        now: values(&patient.fields, key),
        seen: values(&seen, key),
    });
    Some(PrivacyView {
        rows: rows.collect(),
        too_much: !privacy.too_much.is_empty(),
        permitted: privacy.permitted,
        patient: privacy.patient,
        because,
    })
}

fn sections(tree: &Tree) -> Vec<SectionView> {
    let root = tree.root();
    sections_of(root, exchange::document_of(tree).unwrap_or(root))
}

fn values(fields: &[FieldView], key: &str) -> Vec<String> {
    fields.iter().filter(|field| field.key == key).map(|field| field.value.clone()).collect()
}

/// The report without what says too much, and the expressions of what could not be taken out alone.
fn reduced<'e>(tree: &Tree, too_much: &'e [TooMuch]) -> (Option<Tree>, Vec<&'e str>) {
    let mut text = String::from_utf8_lossy(tree.source()).into_owned();
    let mut left = Vec::new();
    // From the end, so that what stands before has the same expression still.
    for one in too_much.iter().rev() {
        let Some(tree) = read(&text) else { break };
        let Some(element) = tree.find(&one.expression) else { continue };
        let change = match &one.instead {
            Some(value) => replacement(&tree, element, value),
            None => removal(&tree, element).map(|place| (place.start, place.end, String::new())),
        };
        match change {
            Some((start, end, written)) => text.replace_range(start..end, &written),
            None => left.push(one.expression.as_str()),
        }
    }
    (read(&text), left)
}

fn read(text: &str) -> Option<Tree> {
    Tree::read(text.as_bytes(), Format::sniff(text.as_bytes())?, &Limits::default()).ok()
}
