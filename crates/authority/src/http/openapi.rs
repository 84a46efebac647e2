//! The OpenAPI 3.0 description, from the routes and the parameters that are served. It is exact
//! enough that what it allows is accepted and what it forbids is refused, as far as OpenAPI can say
//! it.

use exchange::canonical;
use serde_json::{Map, Value, json};

use crate::faults::Interaction;
use crate::http::definition::{Facts, OPENAPI_PATH, Operation, ROUTES, Route, parameters};
use crate::http::intake_schema::{document, example};

const FHIR_TYPES: [&str; 2] = ["application/fhir+json", "application/fhir+xml"];

/// The description.
pub(crate) fn openapi(facts: Facts<'_>) -> String {
    let mut paths = Map::new();
    for route in ROUTES {
        let mut methods = Map::new();
        for operation in route.operations {
            let method = operation.method.to_ascii_lowercase();
            methods.insert(method, described(route, operation, facts));
        }
        paths.insert(route.path.to_owned(), Value::Object(methods));
    }
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Receiving service for laboratory reports",
            "description": "FHIR R4 over mutual TLS; every request shows a client certificate. \
                            Every GET is a HEAD too.",
            "version": facts.release.facts().name,
        },
        "servers": [{ "url": facts.base }],
        "paths": paths,
        "components": { "schemas": schemas() },
    })
    .to_string()
}

fn described(route: &Route, operation: &Operation, facts: Facts<'_>) -> Value {
    let mut described =
        json!({ "summary": operation.summary, "operationId": id_of(operation, route) });
    let mut responses = Map::new();
    // What any request may be answered, beside what it asks for.
    for (status, words) in [
        ("400", "The request cannot be read, or holds a malformed value"),
        ("403", "The certificate belongs to no laboratory, or was revoked"),
        ("406", "Answers are application/fhir+json or application/fhir+xml"),
        ("408", "The request did not arrive in time"),
        ("413", "The body is too large"),
        ("429", "Above the limits of this laboratory"),
        ("431", "The request's header is too long"),
        ("503", "The service is ending, or cannot use its database"),
    ] {
        responses.insert(status.to_owned(), outcome(status, words));
    }
    let mut given: Vec<Value> = vec![query("_format", format_schema(), "Encoding of the answer")];
    match operation.interaction {
        Interaction::Create => {
            responses
                .insert("201".into(), resource("Accepted and queued", "DocumentReference", true));
            responses.insert("415".into(), outcome("415", "No encoding of FHIR, or not UTF-8"));
            responses.insert("422".into(), refused(facts));
            described["requestBody"] = body_sent();
            given.push(header("Prefer", "return=minimal, representation or OperationOutcome"));
            if facts.conditional_create {
                responses.insert("200".into(), resource("Was there", "DocumentReference", true));
                responses.insert("412".into(), outcome("412", "Several documents match"));
                given.push(header("If-None-Exist", "A search: created only where nothing matches"));
            }
        }
        Interaction::Read => {
            responses.insert("200".into(), resource("The document", "DocumentReference", false));
            responses.insert("304".into(), json!({ "description": "As If-None-Match knows it" }));
            responses.insert("404".into(), outcome("404", "There is no such document"));
            given.push(json!({ "in": "path", "name": "id", "required": true,
                "description": "Id that the service gave",
                "schema": { "type": "string", "minLength": 1 } }));
            given.push(header("If-None-Match", "ETags that are known"));
        }
        Interaction::Search if operation.method == "GET" => {
            responses.insert("200".into(), resource("A searchset", "Bundle", false));
            let all = searched(facts);
            given.extend(all.into_iter().map(|(name, schema, words)| query(&name, schema, &words)));
            given.push(header("Prefer", "handling=strict: unknown parameters are errors"));
        }
        Interaction::Search => {
            responses.insert("200".into(), resource("A searchset", "Bundle", false));
            responses.insert("415".into(), outcome("415", "No form, or not UTF-8"));
            described["requestBody"] = form(facts);
            given.push(header("Prefer", "handling=strict: unknown parameters are errors"));
        }
        Interaction::Capabilities | Interaction::Handshake => {
            let told = match route.path {
                OPENAPI_PATH => json!({ "description": "OpenAPI", "headers": headers(&[]),
                    "content": { "application/json": { "schema": { "type": "object" } } } }),
                _ => resource("What this service can do", "CapabilityStatement", false),
            };
            responses.insert("200".into(), told);
        }
    }
    described["parameters"] = Value::Array(given);
    described["responses"] = Value::Object(responses);
    described
}

fn id_of(operation: &Operation, route: &Route) -> String {
    match (operation.interaction, operation.method, route.path) {
        (Interaction::Search, "POST", _) => "searchByForm".to_owned(),
        (Interaction::Capabilities, _, OPENAPI_PATH) => "description".to_owned(),
        (interaction, ..) => format!("{interaction:?}").to_ascii_lowercase(),
    }
}

/// Search parameters, result parameters too: name, schema, words.
fn searched(facts: Facts<'_>) -> Vec<(String, Value, String)> {
    let text = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    let last_updated = facts.release.facts().last_updated;
    let schema = |name: &str| match name {
        "date" => text(&dates()),
        "identifier" => text(&listed(r"([^|,]+(\|[^|,]*)?|\|[^|,]+)")),
        "elm-status" => text(r"^(\|?(in-progress|failed|completed))?$"),
        other if other == last_updated => text(&dates()),
        _ => json!({ "type": "string" }),
    };
    let mut all: Vec<_> = parameters(facts.release)
        .into_iter()
        .map(|(name, _, words)| (name.to_owned(), schema(name), words.to_owned()))
        .collect();
    let keys = listed(&format!("-?(identifier|date|elm-status|_lastUpdated|{last_updated})"));
    all.push(("_sort".into(), text(&keys), "Keys by priority, - for descending".into()));
    let whole = |least: u8| json!({ "type": "integer", "minimum": least, "maximum": u32::MAX });
    all.push(("_count".into(), whole(0), "Entries of a page, 1000 at most; 0 counts".into()));
    all.push(("page".into(), whole(1), "From 1".into()));
    let summary = json!({ "type": "string" });
    all.push(("_summary".into(), summary, "count: no entries; others are ignored".into()));
    all
}

/// A date parameter: prefix and FHIR date, to the precision that is meant; a comma is OR.
fn dates() -> String {
    let year = r"(000[1-9]|00[1-9]\d|0[1-9]\d{2}|[1-9]\d{3})";
    let day = r"((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))";
    let zone = r"(Z|[+-](0\d|1[0-3]):[0-5]\d|[+-]14:00)?";
    let time = format!(r"T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{{1,6}})?)?{zone}");
    listed(&format!(r"(eq|ne|gt|ge|lt|le)?{year}(-(0[1-9]|1[0-2])|-{day}({time})?)?"))
}

/// A pattern of values with commas between them; a parameter may be empty too, and is ignored then.
fn listed(one: &str) -> String {
    format!("^({one}(,{one})*)?$").replace(r"\d", "[0-9]")
}

fn format_schema() -> Value {
    // Empty is as not given.
    json!({ "type": "string", "enum": ["", "json", "xml", FHIR_TYPES[0], FHIR_TYPES[1],
        "application/json", "application/xml", "text/json", "text/xml"] })
}

fn query(name: &str, schema: Value, words: &str) -> Value {
    json!({ "in": "query", "name": name, "required": false, "description": words,
            "schema": schema })
}

fn header(name: &str, words: &str) -> Value {
    let schema = json!({ "type": "string" });
    json!({ "in": "header", "name": name, "required": false, "description": words,
            "schema": schema })
}

fn form(facts: Facts<'_>) -> Value {
    let mut properties: Map<_, _> =
        searched(facts).into_iter().map(|(name, schema, _)| (name, schema)).collect();
    properties.insert("_format".into(), format_schema());
    json!({ "required": false, "content": { "application/x-www-form-urlencoded": {
        "schema": { "type": "object", "properties": properties } } } })
}

fn body_sent() -> Value {
    let json = json!({ "schema": document(), "example": example() });
    // The same resource in the form of <https://hl7.org/fhir/R4/xml.html>.
    let xml = json!({ "schema": document() });
    json!({ "required": true, "content": { FHIR_TYPES[0]: json, FHIR_TYPES[1]: xml } })
}

/// Headers of an answer; the id of the request is in every one.
fn headers(more: &[(&str, &str)]) -> Value {
    let mut all = Map::new();
    let text = |words: &str| {
        let schema = json!({ "type": "string" });
        json!({ "required": true, "description": words, "schema": schema })
    };
    all.insert("X-Request-Id".into(), text("The caller's id of the request, or a new one"));
    for (name, words) in more {
        all.insert((*name).to_owned(), text(words));
    }
    Value::Object(all)
}

fn content(schema: &Value) -> Value {
    // A schema says nothing of XML: it describes the JSON form.
    json!({ FHIR_TYPES[0]: { "schema": schema }, FHIR_TYPES[1]: {} })
}

fn resource(words: &str, kind: &str, located: bool) -> Value {
    let mut more = Vec::new();
    if kind == "DocumentReference" {
        more.extend([("ETag", "Version, weak"), ("Last-Modified", "Time of the last change")]);
    }
    if located {
        more.push(("Location", "Address of the document"));
    }
    let mut schema = json!({ "$ref": format!("#/components/schemas/{kind}") });
    if located {
        // `Prefer: return=OperationOutcome`; `minimal` has no body at all.
        schema = json!({ "oneOf": [schema, { "$ref": "#/components/schemas/OperationOutcome" }] });
    }
    json!({ "description": words, "headers": headers(&more), "content": content(&schema) })
}

fn outcome(status: &str, words: &str) -> Value {
    let more: &[_] = match status {
        "429" | "503" => &[("Retry-After", "Seconds")],
        _ => &[],
    };
    let schema = json!({ "$ref": "#/components/schemas/OperationOutcome" });
    json!({ "description": format!("{words}: an OperationOutcome"), "headers": headers(more),
        "content": content(&schema) })
}

/// The answer to a document that breaks rules, as the release has it.
fn refused(facts: Facts<'_>) -> Value {
    let words = "Breaks rules: every error is told";
    let mut told = outcome("422", words);
    if facts.release.facts().invalid == exchange::InvalidAnswer::StatusAndOutcome {
        let kinds = ["OperationOutcome", "FailedDocumentReference"];
        let any = kinds.map(|kind| json!({ "$ref": format!("#/components/schemas/{kind}") }));
        told["content"] = content(&json!({ "oneOf": any }));
    }
    told
}

fn schemas() -> Value {
    let kind = |name: &str| json!({ "type": "string", "enum": [name] });
    let text = || json!({ "type": "string" });
    let meta = json!({ "type": "object", "properties": { "versionId": text(),
        "lastUpdated": { "type": "string", "format": "date-time" } } });
    let issue = json!({ "type": "object", "required": ["severity", "code"], "properties": {
        "severity": { "type": "string", "enum": ["fatal", "error", "warning", "information"] },
        "code": text(), "details": { "type": "object" }, "diagnostics": text(),
        "expression": { "type": "array", "items": text() } } });
    let reference = |required: &[&str]| {
        json!({ "type": "object", "required": required, "properties": {
            "resourceType": kind("DocumentReference"), "id": text(), "meta": meta,
            "contained": {
                "type": "array", "items": { "$ref": "#/components/schemas/OperationOutcome" }
            },
            "extension": { "type": "array", "minItems": 1, "items": { "type": "object",
                "required": ["url", "extension"],
                "properties": {
                    "url": { "type": "string", "enum": [canonical::STATUS_EXTENSION] }
                } } },
            "identifier": { "type": "array", "items": { "type": "object", "required": ["value"] } },
            "status": kind("current"), "date": { "type": "string", "format": "date-time" },
            "content": { "type": "array", "minItems": 1, "maxItems": 1 } } })
    };
    let link = json!({ "type": "object", "required": ["relation", "url"], "properties": {
        "relation": { "type": "string", "enum": ["self", "first", "prev", "next", "last"] },
        "url": text() } });
    let entry = json!({ "type": "object", "required": ["fullUrl", "resource", "search"],
        "properties": { "fullUrl": text(),
            "resource": { "$ref": "#/components/schemas/DocumentReference" } } });
    json!({
        "OperationOutcome": { "type": "object", "required": ["resourceType", "issue"],
        "properties": {
            "resourceType": kind("OperationOutcome"),
            "issue": { "type": "array", "minItems": 1, "items": issue } } },
        "DocumentReference": reference(
            &["resourceType", "id", "meta", "extension", "identifier", "status", "date", "content"]),
        // Before release 1.13.1: what was not created has no id.
        "FailedDocumentReference": reference(&["resourceType", "extension", "status", "content"]),
        "Bundle": { "type": "object", "required": ["resourceType", "type", "total", "link"],
            "properties": { "resourceType": kind("Bundle"), "type": kind("searchset"),
                "total": { "type": "integer", "minimum": 0 },
                "link": { "type": "array", "minItems": 1, "items": link },
                "entry": { "type": "array", "minItems": 1, "items": entry } } },
        "CapabilityStatement": { "type": "object",
            "required": ["resourceType", "status", "date", "kind", "fhirVersion", "format", "rest"],
            "properties": {
                "resourceType": kind("CapabilityStatement"), "fhirVersion": kind("4.0.1")
            } },
    })
}
