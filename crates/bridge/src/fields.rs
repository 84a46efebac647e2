//! Which fields are shown of which resource, each under a stable key.

/// A field of a resource.
pub(crate) struct Field {
    /// Its stable key.
    pub(crate) key: &'static str,
    /// Where the value stands; `[x]` for a choice of types.
    pub(crate) path: &'static str,
    /// Whether it serves machines and support: such a field is shown on request.
    pub(crate) is_technical: bool,
}

const fn field(key: &'static str, path: &'static str) -> Field {
    Field { key, path, is_technical: false }
}

const fn technical(key: &'static str, path: &'static str) -> Field {
    Field { key, path, is_technical: true }
}

/// What is shown of each resource, in reading order. Repeated elements give a field each.
pub(crate) const RESOURCES: &[(&str, &[Field])] = &[
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
