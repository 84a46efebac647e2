//! The interface as data: the routes that are served are those that `/metadata` and `/openapi.json`
//! tell.

use fhir::Instant;
use http::Method;

use exchange::{Release, SearchSupport};

use crate::faults::Interaction;
pub(crate) use crate::http::openapi::openapi;
use crate::http::percent::decoded;

/// Path of `{base_url}`.
pub(crate) const BASE_PATH: &str = "/v1/fhir";
/// Below it, the description for programs.
pub(crate) const OPENAPI_PATH: &str = "/openapi.json";

/// One address and what may be asked of it.
pub(crate) struct Route {
    /// Below `{base_url}`; `{id}` stands for one segment.
    pub(crate) path: &'static str,
    pub(crate) operations: &'static [Operation],
}

/// What one method does there.
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) interaction: Interaction,
    pub(crate) summary: &'static str,
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
        path: OPENAPI_PATH,
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

/// The route of a path, and the segment that `{id}` stands for. Segments are compared decoded, as
/// RFC 3986 (section 6.2.2.2) has it; a path that cannot be decoded has no route.
pub(crate) fn route_of(path: &str) -> Option<(&'static Route, Option<String>)> {
    let rest = path.strip_prefix(BASE_PATH)?.strip_prefix('/')?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let segments: Vec<String> = rest.split('/').map(decoded).collect::<Option<_>>()?;
    ROUTES.iter().find_map(|route| {
        let wanted: Vec<_> = route.path.split('/').skip(1).collect();
        if wanted.len() != segments.len() {
            return None;
        }
        let mut id = None;
        for (wanted, segment) in wanted.iter().zip(&segments) {
            match *wanted {
                "{id}" if !segment.is_empty() => id = Some(segment.clone()),
                other if other == segment => {}
                _ => return None,
            }
        }
        Some((route, id))
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
    /// The base address of the service, `https://…/v1/fhir`.
    pub(crate) base: &'a str,
    /// Whether `If-None-Exist` is honoured.
    pub(crate) conditional_create: bool,
}

/// Search parameters of a release: name, FHIR type, words.
pub(crate) fn parameters(release: Release) -> Vec<(&'static str, &'static str, &'static str)> {
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
        .replace("{date}", &built())
        .replace("{base}", facts.base)
        .replace("{interaction}", &interactions.join(","))
        .replace("{conditionalCreate}", if facts.conditional_create { "true" } else { "false" })
        .replace("{searchParam}", &searched.join(","))
}

/// When this program was built (`build.rs`): what it can do has not changed since.
fn built() -> String {
    let seconds: i64 = env!("AUTHORITY_BUILT").parse().unwrap_or(0);
    Instant(seconds.saturating_mul(1_000_000)).to_fhir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_route() {
        let found = |path: &str| route_of(path).map(|(route, id)| (route.path, id));
        let some = |path, id: Option<&str>| Some((path, id.map(str::to_owned)));
        assert_eq!(found("/v1/fhir/metadata"), some("/metadata", None));
        assert_eq!(found("/v1/fhir/DocumentReference/"), some("/DocumentReference", None));
        let form = "/DocumentReference/_search";
        assert_eq!(found("/v1/fhir/DocumentReference/_search"), some(form, None));
        let one = "/DocumentReference/{id}";
        assert_eq!(found("/v1/fhir/DocumentReference/a"), some(one, Some("a")));
        assert_eq!(found("/v1/fhir/Document%52eference/%61%2Fb"), some(one, Some("a/b")));
        for nothing in [
            "/v1/fhir",
            "/",
            "",
            "/v1/fhir/DocumentReference/a/b",
            "/v1/fhir/Patient",
            "/v1/fhir/%",
        ] {
            assert_eq!(found(nothing), None, "{nothing}");
        }
    }
}
