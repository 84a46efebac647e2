//! The interface as data: the routes that are served are those that `/metadata` and `/openapi.json` tell.

use http::Method;
use serde_json::{Value, json};

use exchange::{Release, SearchSupport};

use crate::faults::Interaction;

/// Path of `{base_url}`.
pub(crate) const BASE_PATH: &str = "/v1/fhir";

/// One address and what may be asked of it.
pub(crate) struct Route {
    /// Below `{base_url}`; `{id}` stands for one segment.
    pub(crate) path: &'static str,
    pub(crate) operations: &'static [Operation],
}

/// What one method does there.
pub(crate) struct Operation {
    method: &'static str,
    pub(crate) interaction: Interaction,
    summary: &'static str,
}

const fn operation(
    method: &'static str,
    interaction: Interaction,
    summary: &'static str,
) -> Operation {
    Operation { method, interaction, summary }
}

/// Every address of the interface. A GET is a HEAD too.
pub(crate) const ROUTES: &[Route] = &[
    Route {
        path: "/metadata",
        operations: &[operation("GET", Interaction::Capabilities, "What this service can do")],
    },
    Route {
        path: "/openapi.json",
        operations: &[operation("GET", Interaction::Capabilities, "This description")],
    },
    Route {
        path: "/DocumentReference",
        operations: &[
            operation("GET", Interaction::Search, "Search the laboratory's own documents"),
            operation("POST", Interaction::Create, "Send a report"),
        ],
    },
    Route {
        path: "/DocumentReference/_search",
        operations: &[operation("POST", Interaction::Search, "Search by form")],
    },
    Route {
        path: "/DocumentReference/{id}",
        operations: &[operation("GET", Interaction::Read, "Read what became of a report")],
    },
];

/// The route of a path, and the segment that `{id}` stands for.
pub(crate) fn route_of(path: &str) -> Option<(&'static Route, Option<&str>)> {
    let rest = path.strip_prefix(BASE_PATH)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    ROUTES.iter().find_map(|route| match route.path.strip_suffix("{id}") {
        None => (route.path == rest).then_some((route, None)),
        Some(front) => rest
            .strip_prefix(front)
            .filter(|id| !id.is_empty() && !id.contains('/'))
            .map(|id| (route, Some(id))),
    })
}

impl Route {
    pub(crate) fn interaction(&self, method: &Method) -> Option<Interaction> {
        let method = if *method == Method::HEAD { "GET" } else { method.as_str() };
        let found = self.operations.iter().find(|operation| operation.method == method);
        found.map(|operation| operation.interaction)
    }

    /// Value of `Allow`.
    pub(crate) fn allowed(&self) -> String {
        let methods = self.operations.iter().flat_map(|operation| match operation.method {
            "GET" => vec!["GET", "HEAD"],
            other => vec![other],
        });
        methods.collect::<Vec<_>>().join(", ")
    }
}

/// What the descriptions say beside the routes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) release: Release,
    /// `{base_url}`.
    pub(crate) base: &'a str,
    /// Whether `If-None-Exist` is honoured.
    pub(crate) conditional_create: bool,
}

/// Search parameters of a release: name, FHIR type, words.
fn parameters(release: Release) -> Vec<(&'static str, &'static str, &'static str)> {
    let facts = release.facts();
    let all = [
        ("date", "date", "Time of creation; prefixes eq ne gt ge lt le"),
        (facts.last_updated, "date", "Time of the last change; prefixes as for date"),
        ("identifier", "token", "value, system|value, |value or system|"),
        ("elm-status", "token", "in-progress, completed or failed; one value"),
        ("_id", "token", "Id that the service gave"),
    ];
    let full = facts.search == SearchSupport::Full;
    all.into_iter().filter(|(name, ..)| full || *name == "identifier").collect()
}

/// The CapabilityStatement.
pub(crate) fn capabilities(facts: Facts<'_>) -> String {
    let searched: Vec<_> = parameters(facts.release)
        .iter()
        .map(|(name, kind, _)| format!("{{\"name\":\"{name}\",\"type\":\"{kind}\"}}"))
        .collect();
    let codes = [
        (Interaction::Create, "create"),
        (Interaction::Read, "read"),
        (Interaction::Search, "search-type"),
    ];
    let served = |wanted| {
        let mut all = ROUTES.iter().flat_map(|route| route.operations);
        all.any(|operation| operation.interaction == wanted)
    };
    let interactions: Vec<_> = codes
        .into_iter()
        .filter(|(interaction, _)| served(*interaction))
        .map(|(_, code)| format!("{{\"code\":\"{code}\"}}"))
        .collect();
    include_str!("capabilities.json")
        .replace("{release}", facts.release.facts().name)
        .replace("{version}", env!("CARGO_PKG_VERSION"))
        .replace("{base}", facts.base)
        .replace("{interaction}", &interactions.join(","))
        .replace("{conditionalCreate}", if facts.conditional_create { "true" } else { "false" })
        .replace("{searchParam}", &searched.join(","))
}

/// The OpenAPI 3.0 description.
pub(crate) fn openapi(facts: Facts<'_>) -> String {
    let mut paths = serde_json::Map::new();
    for route in ROUTES {
        let mut methods = serde_json::Map::new();
        for operation in route.operations {
            methods
                .insert(operation.method.to_ascii_lowercase(), described(route, operation, facts));
        }
        paths.insert(route.path.to_owned(), Value::Object(methods));
    }
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Receiving service for laboratory reports",
            "description": "FHIR R4 over mutual TLS; every request shows a client certificate.",
            "version": facts.release.facts().name,
        },
        "servers": [{ "url": facts.base }],
        "paths": paths,
    })
    .to_string()
}

const MEDIA_TYPES: [&str; 2] = ["application/fhir+json", "application/fhir+xml"];

fn described(route: &Route, operation: &Operation, facts: Facts<'_>) -> Value {
    let fhir = |words: &str| {
        let content: serde_json::Map<_, _> =
            MEDIA_TYPES.iter().map(|kind| ((*kind).to_owned(), json!({ "schema": {} }))).collect();
        json!({ "description": words, "content": content })
    };
    let outcome = fhir("An OperationOutcome that says why");
    let mut described = json!({ "summary": operation.summary });
    let mut responses = json!({ "default": outcome });
    let (status, answer) = match (operation.interaction, route.path) {
        (Interaction::Create, _) => ("201", fhir("Accepted and queued: the DocumentReference")),
        (_, "/openapi.json") => (
            "200",
            json!({ "description": "OpenAPI", "content": { "application/json": { "schema": {} } } }),
        ),
        (Interaction::Search, _) => ("200", fhir("A searchset Bundle")),
        (Interaction::Read, _) => ("200", fhir("The DocumentReference with its status")),
        _ => ("200", fhir("A CapabilityStatement")),
    };
    responses[status] = answer;
    match operation.interaction {
        Interaction::Create => {
            responses["400"] = fhir("Not parsable: an OperationOutcome");
            responses["422"] = fhir("Breaks rules: an OperationOutcome with every error");
            let content: serde_json::Map<_, _> = MEDIA_TYPES
                .iter()
                .map(|kind| ((*kind).to_owned(), json!({ "schema": { "type": "object" } })))
                .collect();
            described["requestBody"] = json!({ "required": true, "content": content });
            if facts.conditional_create {
                described["parameters"] =
                    json!([parameter("header", "If-None-Exist", "string", "A search", false)]);
            }
        }
        Interaction::Read => {
            responses["404"] = fhir("There is no such document: an OperationOutcome");
            described["parameters"] =
                json!([parameter("path", "id", "string", "Id that the service gave", true)]);
        }
        Interaction::Search if operation.method == "GET" => {
            responses["400"] = fhir("A malformed value: an OperationOutcome");
            let mut all: Vec<_> = parameters(facts.release)
                .iter()
                .map(|(name, _, words)| parameter("query", name, "string", words, false))
                .collect();
            all.push(parameter("query", "_sort", "string", "Keys, - for descending", false));
            all.push(parameter("query", "_count", "integer", "Entries of a page; 0 counts", false));
            all.push(parameter("query", "page", "integer", "From 1", false));
            described["parameters"] = Value::Array(all);
        }
        Interaction::Search => {
            responses["400"] = fhir("A malformed value: an OperationOutcome");
            described["requestBody"] = json!({ "content": {
                "application/x-www-form-urlencoded": { "schema": { "type": "object" } } } });
        }
        _ => {}
    }
    described["responses"] = responses;
    described
}

fn parameter(place: &str, name: &str, kind: &str, words: &str, required: bool) -> Value {
    let mut schema = json!({ "type": kind });
    if kind == "integer" {
        schema["minimum"] = json!(u8::from(name == "page"));
    }
    json!({ "in": place, "name": name, "required": required, "description": words, "schema": schema })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_route() {
        let found =
            |path: &str| route_of(path).map(|(route, id)| (route.path, id.map(str::to_owned)));
        let some = |path, id: Option<&str>| Some((path, id.map(str::to_owned)));
        assert_eq!(found("/v1/fhir/metadata"), some("/metadata", None));
        assert_eq!(found("/v1/fhir/DocumentReference/"), some("/DocumentReference", None));
        let form = "/DocumentReference/_search";
        assert_eq!(found("/v1/fhir/DocumentReference/_search"), some(form, None));
        let one = "/DocumentReference/{id}";
        assert_eq!(found("/v1/fhir/DocumentReference/a"), some(one, Some("a")));
        for nothing in ["/v1/fhir", "/", "", "/v1/fhir/DocumentReference/a/b", "/v1/fhir/Patient"] {
            assert_eq!(found(nothing), None, "{nothing}");
        }
    }
}
