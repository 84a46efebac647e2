//! The smallest report that is accepted, as a JSON schema and as an example: for the OpenAPI
//! description. FHIR has far more elements than stand here; each of these is needed, or is of this
//! form where it stands.

use exchange::canonical;
use serde_json::{Value, json};

/// A name within one resource.
const LOCAL: &str = "document";
const PATIENT: &str = "urn:uuid:2b8a3a32-3d1c-4f0e-8f5e-0c8f8e1b7a02";

fn only(value: &str) -> Value {
    json!({ "type": "string", "enum": [value] })
}

fn pattern(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

/// An object of these elements, all of which it needs.
fn object(properties: Value) -> Value {
    let names: Vec<_> = properties.as_object().into_iter().flat_map(|all| all.keys()).collect();
    json!({ "type": "object", "required": names, "properties": properties,
        "additionalProperties": false, "minProperties": 1 })
}

/// The same, of which it does not need this one.
fn object_with(properties: Value, optional: &str) -> Value {
    let mut object = object(properties);
    if let Some(required) = object["required"].as_array_mut() {
        required.retain(|name| name != optional);
        if required.is_empty() {
            // The list may not be empty.
            if let Some(object) = object.as_object_mut() {
                object.remove("required");
            }
        }
    }
    object
}

fn one(item: &Value) -> Value {
    json!({ "type": "array", "minItems": 1, "maxItems": 1, "items": item })
}

fn some(item: &Value) -> Value {
    json!({ "type": "array", "minItems": 1, "items": item })
}

/// Schema of a DocumentReference as sent.
pub(crate) fn document() -> Value {
    let uuid =
        pattern("^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");
    // FHIR's string: no control characters. Its uri: no white space either. U+FFFE and U+FFFF: not
    // in XML.
    let text = pattern(r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]+$");
    let uri = pattern(r"^[^\u0000-\u0020\ufffe\uffff]+$");
    let day = "[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])";
    let time = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])";
    let identifier =
        |system: &Value, value: &Value| object(json!({ "system": system, "value": value }));
    let code = pattern(r"^[^\u0000-\u0020\ufffe\uffff]+( [^\u0000-\u0020\ufffe\uffff]+)*$");
    // Either is enough.
    let mut coding = object_with(json!({ "code": code }), "code");
    coding["properties"]["system"] = uri.clone();
    let composition = object_with(
        json!({
            "resourceType": only("Composition"),
            "status": { "type": "string",
                "enum": ["preliminary", "final", "amended", "entered-in-error"] },
            "type": object(json!({ "coding": some(&coding) })),
            "subject": object(json!({ "reference": text })),
            "date": pattern(&format!("^([1-9][0-9]{{3}}(-(0[1-9]|1[0-2]))?|{day}(T{time})?)$")),
            "author": some(&object(json!({ "display": text }))),
            "title": text,
        }),
        "subject",
    );
    let profiles = json!({ "type": "array", "minItems": 2, "maxItems": 2, "uniqueItems": true,
        "items": { "type": "string", "enum": [canonical::DOCUMENT, canonical::BUNDLE_EU_LAB] } });
    let bundle = object(json!({
        "resourceType": only("Bundle"),
        "id": only(LOCAL),
        "meta": object(json!({ "profile": profiles })),
        "identifier": identifier(&only(canonical::URI_SYSTEM), &uuid),
        "type": only("document"),
        "timestamp": pattern(&format!("^{day}T{time}$")),
        "entry": some(&object(json!({ "resource": composition }))),
    }));
    let language = pattern("^[a-z]{2,3}-[A-Z]{2}$");
    let attachment = object(json!({ "language": language, "url": only(&format!("#{LOCAL}")) }));
    object(json!({
        "resourceType": only("DocumentReference"),
        "contained": one(&bundle),
        "identifier": one(&identifier(&only(canonical::URI_SYSTEM), &uuid)),
        "status": only("current"),
        "content": one(&object(json!({ "attachment": attachment }))),
    }))
}

/// A DocumentReference that is accepted.
pub(crate) fn example() -> Value {
    let time = "2025-07-10T08:30:00+02:00";
    let identifier = |value: &str| json!({ "system": canonical::URI_SYSTEM, "value": value });
    let coding = json!({ "system": "http://loinc.org", "code": "11502-2" });
    let composition = json!({ "resourceType": "Composition", "status": "final",
        "type": { "coding": [coding] }, "subject": { "reference": PATIENT }, "date": time,
        "author": [{ "display": "Labor Muster" }], "title": "Laborbericht" });
    json!({
        "resourceType": "DocumentReference",
        "contained": [{
            "resourceType": "Bundle",
            "id": LOCAL,
            "meta": { "profile": [canonical::DOCUMENT, canonical::BUNDLE_EU_LAB] },
            "identifier": identifier("urn:uuid:c0a1e0d8-6d5a-4a0e-9c9b-3f3c6f7a1b04"),
            "type": "document",
            "timestamp": time,
            "entry": [{ "resource": composition }],
        }],
        "identifier": [identifier("urn:uuid:9e1b6d4c-2f61-4b8e-8a57-7c2d9f0e3c05")],
        "status": "current",
        "content": [{ "attachment": { "language": "de-CH", "url": format!("#{LOCAL}") } }],
    })
}

#[cfg(test)]
mod tests {
    use exchange::Strictness;
    use fhir::Format;

    use super::*;
    use crate::process::intake::{Submission, examine};
    use crate::process::validation::Validation;

    #[test]
    fn the_example_is_accepted() {
        let body = example().to_string();
        let examined =
            examine(body.as_bytes(), Format::Json, Strictness::Specified, &Validation::none());
        assert!(matches!(examined, Submission::Fits(_, notices) if notices.is_empty()));
    }
}
