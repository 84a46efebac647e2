//! The server's own description (docs/interface.md, "Search, capability, certificates, corpus").

use fhir::Element;
use serde::Serialize;

/// What the server says it can do with reports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Capability {
    /// `software.name` and `software.version`.
    pub software: Option<String>,
    /// `fhirVersion`, e.g. `4.0.1`.
    pub fhir_version: Option<String>,
    /// The formats that the server names, `CapabilityStatement.format`.
    pub formats: Vec<String>,
    /// Interactions on DocumentReference, e.g. `create`, `read`, `search-type`.
    pub interactions: Vec<String>,
    /// Search parameters on DocumentReference.
    pub parameters: Vec<String>,
}

impl Capability {
    /// Reads a CapabilityStatement; `None` for anything else.
    pub(crate) fn read(statement: Element<'_>) -> Option<Self> {
        if statement.resource_type() != Some("CapabilityStatement") {
            return None;
        }
        let texts = |elements: Vec<Element<'_>>, path: &str| {
            elements.iter().filter_map(|element| element.text(path)).map(str::to_owned).collect()
        };
        let resources: Vec<_> = statement
            .all("rest")
            .flat_map(|rest| rest.all("resource").collect::<Vec<_>>())
            .filter(|resource| resource.text("type") == Some("DocumentReference"))
            .collect();
        let below =
            |name: &str| resources.iter().flat_map(|r| r.all(name).collect::<Vec<_>>()).collect();
        let software =
            statement.text("software.name").map(|name| match statement.text("software.version") {
                Some(version) => format!("{name} {version}"),
                None => name.to_owned(),
            });
        Some(Self {
            software,
            fhir_version: statement.text("fhirVersion").map(str::to_owned),
            formats: statement.all("format").filter_map(|f| f.value()).map(str::to_owned).collect(),
            interactions: texts(below("interaction"), "code"),
            parameters: texts(below("searchParam"), "name"),
        })
    }
}
