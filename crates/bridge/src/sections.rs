//! The report as a form for reading: a section for each resource, a field for each fact.

use fhir::Element;
use report::Links;

use crate::views::{FieldView, SectionView};
use crate::words::words;

/// A field of a resource.
struct Field {
    /// Its stable key.
    key: &'static str,
    /// Where the value stands; `[x]` for a choice of types.
    path: &'static str,
    /// Whether it serves machines and support: such a field is shown on request.
    is_technical: bool,
}

const fn field(key: &'static str, path: &'static str) -> Field {
    Field { key, path, is_technical: false }
}

const fn technical(key: &'static str, path: &'static str) -> Field {
    Field { key, path, is_technical: true }
}

/// What is shown of each resource, in reading order. Repeated elements give a field each.
const RESOURCES: &[(&str, &[Field])] = &[
    (
        "Patient",
        &[
            field("patient.name", "name"),
            field("patient.birth-date", "birthDate"),
            field("patient.gender", "gender"),
            field("patient.identifier", "identifier"),
            field("patient.address", "address"),
            field("patient.telecom", "telecom"),
            field("patient.deceased", "deceased[x]"),
        ],
    ),
    (
        "Observation",
        &[
            field("observation.code", "code"),
            field("observation.value", "value[x]"),
            field("observation.component", "component"),
            field("observation.interpretation", "interpretation"),
            field("observation.effective", "effective[x]"),
            field("observation.issued", "issued"),
            field("observation.method", "method"),
            field("observation.absent", "dataAbsentReason"),
            field("observation.note", "note"),
            field("observation.status", "status"),
            technical("observation.category", "category"),
            technical("observation.subject", "subject"),
            field("observation.performer", "performer"),
            field("observation.specimen", "specimen"),
            technical("observation.member", "hasMember"),
        ],
    ),
    (
        "Specimen",
        &[
            field("specimen.type", "type"),
            field("specimen.collected", "collection.collected[x]"),
            field("specimen.body-site", "collection.bodySite"),
            field("specimen.received", "receivedTime"),
            field("specimen.identifier", "identifier"),
            technical("specimen.subject", "subject"),
        ],
    ),
    (
        "ServiceRequest",
        &[
            field("service-request.code", "code"),
            field("service-request.identifier", "identifier"),
            field("service-request.status", "status"),
            technical("service-request.intent", "intent"),
            field("service-request.authored", "authoredOn"),
            field("service-request.reason", "reasonCode"),
            field("service-request.requester", "requester"),
            field("service-request.specimen", "specimen"),
            technical("service-request.subject", "subject"),
        ],
    ),
    (
        "PractitionerRole",
        &[
            field("practitioner-role.practitioner", "practitioner"),
            field("practitioner-role.organization", "organization"),
        ],
    ),
    (
        "Practitioner",
        &[
            field("practitioner.name", "name"),
            field("practitioner.identifier", "identifier"),
            field("practitioner.telecom", "telecom"),
            field("practitioner.address", "address"),
        ],
    ),
    (
        "Organization",
        &[
            field("organization.name", "name"),
            field("organization.identifier", "identifier"),
            field("organization.address", "address"),
            field("organization.telecom", "telecom"),
        ],
    ),
    (
        "DiagnosticReport",
        &[
            field("diagnostic-report.code", "code"),
            field("diagnostic-report.status", "status"),
            field("diagnostic-report.effective", "effective[x]"),
            field("diagnostic-report.issued", "issued"),
            field("diagnostic-report.conclusion", "conclusion"),
            field("diagnostic-report.identifier", "identifier"),
            technical("diagnostic-report.subject", "subject"),
            field("diagnostic-report.performer", "performer"),
            technical("diagnostic-report.result", "result"),
            field("diagnostic-report.based-on", "basedOn"),
            field("diagnostic-report.specimen", "specimen"),
        ],
    ),
    (
        "Composition",
        &[
            field("composition.title", "title"),
            technical("composition.type", "type"),
            field("composition.date", "date"),
            technical("composition.status", "status"),
            technical("composition.language", "language"),
            technical("composition.subject", "subject"),
            field("composition.author", "author"),
            field("composition.custodian", "custodian"),
            technical("composition.identifier", "identifier"),
            technical("composition.section", "section.title"),
        ],
    ),
    (
        "Bundle",
        &[
            technical("bundle.identifier", "identifier"),
            technical("bundle.type", "type"),
            technical("bundle.timestamp", "timestamp"),
            technical("bundle.language", "language"),
        ],
    ),
    (
        "DocumentReference",
        &[
            technical("envelope.identifier", "identifier"),
            technical("envelope.status", "status"),
            technical("envelope.language", "content.attachment.language"),
            technical("envelope.document", "content.attachment.url"),
        ],
    ),
];

/// All field keys, in the order of [`resource_types`] and of reading: the catalogue of the window
/// is complete against this list.
pub fn keys() -> impl Iterator<Item = &'static str> {
    RESOURCES.iter().flat_map(|(_, fields)| fields.iter().map(|field| field.key))
}

/// Resource types with fields, in reading order. Others give a section without fields.
pub fn resource_types() -> impl Iterator<Item = &'static str> {
    RESOURCES.iter().map(|(resource, _)| *resource)
}

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
                technical: field.is_technical,
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
