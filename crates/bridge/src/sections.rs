//! The report as a form for reading: a section for each resource, a field for each fact.

use fhir::Element;
use report::Links;

use crate::fields::{RESOURCES, resource_types};
use crate::views::{FieldView, SectionView};
use crate::words::words;

/// Sections and fields at most: a hostile document may have any number of either.
const SECTIONS_MAX: usize = 500;
const FIELDS_MAX: usize = 5_000;

/// The sections of a document: its resources in reading order (patient, results, specimens, order,
/// people, organisations, report, Composition, the rest), each kind in the order of the document;
/// then Bundle and envelope.
pub(crate) fn sections_of(root: Element<'_>, document: Element<'_>) -> Vec<SectionView> {
    let links = Links::of(document);
    let mut resources: Vec<Element<'_>> = links.resources().map(|(_, resource)| resource).collect();
    resources.sort_by_key(|resource| rank(*resource));
    let envelope = (root.resource_type() == Some("DocumentReference")).then_some(root);
    // As a laboratory prints it: who, what was found, in what, who asked; what serves machines
    // comes last.
    let all = resources.into_iter().chain([document]).chain(envelope);
    let mut room = FIELDS_MAX;
    all.take(SECTIONS_MAX)
        .map(|resource| {
            let section = section(resource, &links, room);
            room -= section.fields.len();
            section
        })
        .collect()
}

/// What of a resource no field shows: by its path, so that nothing of a report is ever unseen. A
/// text made for reading (`text.div`) says nothing more than the report, and is left out.
fn others<'t>(resource: Element<'t>, shown: &[FieldView], room: usize) -> Vec<FieldView> {
    let start = resource.expression().len() + 1;
    let mut views = Vec::new();
    leaves_of(resource, &mut |leaf| {
        let (expression, value) = (leaf.expression(), leaf.value().unwrap_or_default());
        let path: String = expression.get(start..).unwrap_or_default().to_owned();
        let narrative = path == "text.div" || path == "text.status";
        if narrative || views.len() >= room || shown.iter().any(|f| tells(f, &expression, value)) {
            return;
        }
        views.push(FieldView {
            key: OTHER.to_owned(),
            label: Some(path),
            technical: true,
            value: value.chars().take(VALUE_MAX).collect(),
            coded: Vec::new(),
            detail: None,
            expression,
            line: leaf.position().line,
        });
    });
    views
}

/// Whether a field shows the value of this element.
fn tells(field: &FieldView, expression: &str, value: &str) -> bool {
    let inside = expression
        .strip_prefix(field.expression.as_str())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    let value = value.trim();
    inside
        && (field.value.contains(value)
            || field.detail.as_deref().is_some_and(|detail| detail.contains(value)))
}

/// The values below an element, but not those of entries and of the Bundle in an envelope: they
/// have sections of their own. Any other resource inside (`contained`) has none, and is part of
/// this one.
fn leaves_of<'t>(element: Element<'t>, act: &mut dyn FnMut(Element<'t>)) {
    for child in element.children() {
        if child.value().is_some() {
            act(child);
        }
        let own_section = match child.resource_type() {
            Some(of) => child.name() == "resource" || of == "Bundle",
            None => false,
        };
        if !own_section {
            leaves_of(child, act);
        }
    }
}

/// Key of a field that has no name of ours: its path stands as its label.
const OTHER: &str = "other";
/// Longest such value shown, in characters.
const VALUE_MAX: usize = 2_000;

fn rank(resource: Element<'_>) -> usize {
    let of = resource.resource_type().unwrap_or_default();
    resource_types().position(|known| known == of).unwrap_or(RESOURCES.len())
}

fn section<'t>(resource: Element<'t>, links: &Links<'t>, room: usize) -> SectionView {
    let of = resource.resource_type().unwrap_or_default();
    let fields = RESOURCES.iter().find(|(known, _)| *known == of).map_or(&[][..], |(_, f)| f);
    let mut views = Vec::new();
    for field in fields {
        let mut places = Vec::new();
        places_of(resource, field.path, &mut places);
        for place in places {
            let Some(found) = words(place, resource, links) else { continue };
            if views.len() == room {
                break;
            }
            views.push(FieldView {
                key: field.key.to_owned(),
                label: None,
                technical: field.is_technical || is_mere_link(place, &found.value, resource, links),
                value: found.value,
                coded: found.coded,
                detail: found.detail,
                expression: place.expression(),
                line: place.position().line,
            });
        }
    }
    let others = others(resource, &views, room.saturating_sub(views.len()));
    views.extend(others);
    SectionView { resource: of.to_owned(), expression: resource.expression(), fields: views }
}

/// Whether a value is nothing but the address of what has a section of its own: it says nothing to
/// whoever reads the report.
fn is_mere_link<'t>(
    place: Element<'t>,
    value: &str,
    resource: Element<'t>,
    links: &Links<'t>,
) -> bool {
    place.text("reference").is_some_and(|address| {
        address == value && links.resolve(resource, address).resource().is_some()
    })
}

/// Every element that a path leads to.
fn places_of<'t>(element: Element<'t>, path: &str, places: &mut Vec<Element<'t>>) {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let found: Vec<_> = match name.strip_suffix("[x]") {
        Some(stem) => element.choice(stem).into_iter().collect(),
        None => element.children().filter(|child| child.name() == name).collect(),
    };
    for child in found {
        match rest {
            Some(rest) => places_of(child, rest, places),
            None => places.push(child),
        }
    }
}
