//! The report as a form for reading: a section for each resource, a field for each fact.

use fhir::Element;
use report::Links;

use crate::views::{FieldView, SectionView};
use crate::words::words;

/// Fields of a resource: stable key, and where the value stands (`[x]` for a choice of types).
type Fields = &'static [(&'static str, &'static str)];

/// What is shown of each resource, in reading order. Repeated elements give a field each.
const RESOURCES: &[(&str, Fields)] = &[
    (
        "Patient",
        &[
            ("patient.name", "name"),
            ("patient.birth-date", "birthDate"),
            ("patient.gender", "gender"),
            ("patient.identifier", "identifier"),
            ("patient.address", "address"),
            ("patient.telecom", "telecom"),
            ("patient.deceased", "deceased[x]"),
        ],
    ),
    (
        "Observation",
        &[
            ("observation.code", "code"),
            ("observation.value", "value[x]"),
            ("observation.component", "component"),
            ("observation.interpretation", "interpretation"),
            ("observation.effective", "effective[x]"),
            ("observation.issued", "issued"),
            ("observation.method", "method"),
            ("observation.absent", "dataAbsentReason"),
            ("observation.note", "note"),
            ("observation.status", "status"),
            ("observation.category", "category"),
            ("observation.subject", "subject"),
            ("observation.performer", "performer"),
            ("observation.specimen", "specimen"),
            ("observation.member", "hasMember"),
        ],
    ),
    (
        "Specimen",
        &[
            ("specimen.type", "type"),
            ("specimen.collected", "collection.collected[x]"),
            ("specimen.body-site", "collection.bodySite"),
            ("specimen.received", "receivedTime"),
            ("specimen.identifier", "identifier"),
            ("specimen.subject", "subject"),
        ],
    ),
    (
        "ServiceRequest",
        &[
            ("service-request.code", "code"),
            ("service-request.identifier", "identifier"),
            ("service-request.status", "status"),
            ("service-request.intent", "intent"),
            ("service-request.authored", "authoredOn"),
            ("service-request.reason", "reasonCode"),
            ("service-request.requester", "requester"),
            ("service-request.specimen", "specimen"),
            ("service-request.subject", "subject"),
        ],
    ),
    (
        "PractitionerRole",
        &[
            ("practitioner-role.practitioner", "practitioner"),
            ("practitioner-role.organization", "organization"),
        ],
    ),
    (
        "Practitioner",
        &[
            ("practitioner.name", "name"),
            ("practitioner.identifier", "identifier"),
            ("practitioner.telecom", "telecom"),
            ("practitioner.address", "address"),
        ],
    ),
    (
        "Organization",
        &[
            ("organization.name", "name"),
            ("organization.identifier", "identifier"),
            ("organization.address", "address"),
            ("organization.telecom", "telecom"),
        ],
    ),
    (
        "DiagnosticReport",
        &[
            ("diagnostic-report.code", "code"),
            ("diagnostic-report.status", "status"),
            ("diagnostic-report.effective", "effective[x]"),
            ("diagnostic-report.issued", "issued"),
            ("diagnostic-report.conclusion", "conclusion"),
            ("diagnostic-report.identifier", "identifier"),
            ("diagnostic-report.subject", "subject"),
            ("diagnostic-report.performer", "performer"),
            ("diagnostic-report.result", "result"),
            ("diagnostic-report.based-on", "basedOn"),
            ("diagnostic-report.specimen", "specimen"),
        ],
    ),
    (
        "Composition",
        &[
            ("composition.title", "title"),
            ("composition.type", "type"),
            ("composition.date", "date"),
            ("composition.status", "status"),
            ("composition.language", "language"),
            ("composition.subject", "subject"),
            ("composition.author", "author"),
            ("composition.custodian", "custodian"),
            ("composition.identifier", "identifier"),
            ("composition.section", "section.title"),
        ],
    ),
    (
        "Bundle",
        &[
            ("bundle.identifier", "identifier"),
            ("bundle.type", "type"),
            ("bundle.timestamp", "timestamp"),
            ("bundle.language", "language"),
        ],
    ),
    (
        "DocumentReference",
        &[
            ("envelope.identifier", "identifier"),
            ("envelope.status", "status"),
            ("envelope.language", "content.attachment.language"),
            ("envelope.document", "content.attachment.url"),
        ],
    ),
];

/// All field keys, in the order of [`resource_types`] and of reading: the catalogue of the window is
/// complete against this list.
pub fn keys() -> impl Iterator<Item = &'static str> {
    RESOURCES.iter().flat_map(|(_, fields)| fields.iter().map(|(key, _)| *key))
}

/// Resource types with fields, in reading order. Others give a section without fields.
pub fn resource_types() -> impl Iterator<Item = &'static str> {
    RESOURCES.iter().map(|(resource, _)| *resource)
}

/// Sections and fields at most: a hostile document may have any number of either.
const SECTIONS_MAX: usize = 500;
const FIELDS_MAX: usize = 5_000;

/// The sections of a document: its resources in reading order (patient, results, specimens, order, people,
/// organisations, report, Composition, the rest), each kind in the order of the document; then Bundle and envelope.
pub(crate) fn sections_of(root: Element<'_>, document: Element<'_>) -> Vec<SectionView> {
    let links = Links::of(document);
    let mut resources: Vec<Element<'_>> = links.resources().map(|(_, resource)| resource).collect();
    resources.sort_by_key(|resource| rank(*resource));
    let envelope = (root.resource_type() == Some("DocumentReference")).then_some(root);
    // As a laboratory prints it: who, what was found, in what, who asked; what serves machines comes last.
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

/// What of a resource no field shows: by its path, so that nothing of a report is ever unseen. A text made for
/// reading (`text.div`) says nothing more than the report, and is left out.
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

/// The values below an element, but not those of entries and of the Bundle in an envelope: they have sections of
/// their own. Any other resource inside (`contained`) has none, and is part of this one.
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

/// Fields that serve machines and support: they are shown on request.
fn is_technical(key: &str) -> bool {
    const ALSO: [&str; 9] = [
        "composition.type",
        "composition.identifier",
        "composition.language",
        "composition.status",
        "composition.section",
        "observation.category",
        "observation.member",
        "service-request.intent",
        "diagnostic-report.result",
    ];
    key.starts_with("envelope.")
        || key.starts_with("bundle.")
        || key.ends_with(".subject")
        || ALSO.contains(&key)
}

fn rank(resource: Element<'_>) -> usize {
    let of = resource.resource_type().unwrap_or_default();
    resource_types().position(|known| known == of).unwrap_or(RESOURCES.len())
}

fn section<'t>(resource: Element<'t>, links: &Links<'t>, room: usize) -> SectionView {
    let of = resource.resource_type().unwrap_or_default();
    let fields = RESOURCES.iter().find(|(known, _)| *known == of).map_or(&[][..], |(_, f)| f);
    let mut views = Vec::new();
    for (key, path) in fields {
        let mut places = Vec::new();
        places_of(resource, path, &mut places);
        for place in places {
            let Some(found) = words(place, resource, links) else { continue };
            if views.len() == room {
                break;
            }
            views.push(FieldView {
                key: (*key).to_owned(),
                label: None,
                technical: is_technical(key),
                value: found.value,
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
