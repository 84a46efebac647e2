//! Where an authority is and what it speaks: releases are data, not branches through the code.

use serde::{Deserialize, Serialize};
use url::Url;

/// One authority as configured. `Debug` leaves out the proxy, whose address may hold a password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// What reports, certificates and the place in the search are kept under, for life: the name
    /// that it was added under, unless something else is said here. See [`Endpoint::id`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name given by the administrator, unique in a profile; it may be changed.
    pub name: String,
    /// `{base_url}`, e.g. `https://host/v1/fhir` (no trailing slash needed).
    pub base: Url,
    /// Practice, integration or production.
    pub environment: Environment,
    /// Release of the interface.
    #[serde(default)]
    pub release: Release,
    /// The authority's own CA (PEM): it alone is trusted then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_pem: Option<String>,
    /// The computer's roots count beside an own CA too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub also_system_roots: bool,
    /// The only public key that the server may have: SHA-256 of its `SubjectPublicKeyInfo` in
    /// hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_key: Option<String>,
    /// `attachment.language` where the document names none, e.g. `de-CH`.
    #[serde(default = "default_language")]
    pub language: String,
    /// What `DocumentReference.identifier` is.
    #[serde(default)]
    pub identifier: IdentifierChoice,
    /// Proxy (`http://host:port`, `socks5://host:port`); `None` connects directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Url>,
}

fhir::shows_only!(Endpoint { id, name, base, environment, release, language, identifier });

fn default_language() -> String {
    "de-CH".to_owned()
}

/// What an endpoint is for; never shown by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Environment {
    /// The built-in authority on this computer.
    Practice,
    /// The authority's integration system.
    Integration,
    /// The real thing.
    Production,
}

impl Environment {
    /// All, from what is least to what is most serious.
    pub const ALL: [Self; 3] = [Self::Practice, Self::Integration, Self::Production];

    /// The one of this code.
    pub fn of(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|environment| environment.code() == code)
    }

    /// Stable code in kebab-case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Practice => "practice",
            Self::Integration => "integration",
            Self::Production => "production",
        }
    }
}

/// What stands in `DocumentReference.identifier`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdentifierChoice {
    /// A `urn:uuid:` of our own for each attempt (default): a lost answer can be told from an
    /// earlier delivery of another report with the same document identifier.
    #[default]
    Attempt,
    /// The document's own identifier.
    Document,
}

/// A described release of the interface (docs/interface.md, "Versioning").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Release {
    /// Release 1.13.1.
    #[default]
    #[serde(rename = "1.13.1")]
    R1_13_1,
    /// Release 1.8.0.
    #[serde(rename = "1.8.0")]
    R1_8_0,
    /// Release 1.0.0-trialuse.
    #[serde(rename = "1.0.0-trialuse")]
    R1_0_0Trialuse,
}

/// What search an endpoint offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchSupport {
    /// All parameters of the specification.
    Full,
    /// `identifier` only: states are learned by id.
    IdentifierOnly,
}

/// What the answer to an invalid document looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidAnswer {
    /// OperationOutcome alone.
    OutcomeOnly,
    /// A DocumentReference with status `failed` and the outcome contained (before 1.13.1).
    StatusAndOutcome,
}

/// How a point in time is written in a search where a person names no zone: it is meant as UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// Without a zone: the release says that this means UTC, and recommends it.
    WithoutZone,
    /// With `Z`: the release says nothing, so nothing is left to guess.
    Utc,
}

/// The differences between releases, as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReleaseFacts {
    /// Name as configured and shown.
    pub name: &'static str,
    /// Search parameter for the time of last change.
    pub last_updated: &'static str,
    /// What can be searched.
    pub search: SearchSupport,
    /// How an invalid document is answered.
    pub invalid: InvalidAnswer,
    /// How points in time are written in a search.
    pub times: Times,
}

impl Endpoint {
    /// An endpoint of the newest release under its own name, reached directly, with the trust of
    /// this computer.
    pub fn new(name: &str, base: Url, environment: Environment) -> Self {
        Self {
            id: None,
            name: name.to_owned(),
            base,
            environment,
            release: Release::default(),
            ca_pem: None,
            also_system_roots: false,
            server_key: None,
            language: default_language(),
            identifier: IdentifierChoice::default(),
            proxy: None,
        }
    }

    /// What stands for this endpoint wherever something is kept of it. It never changes; the name
    /// is a label.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.name)
    }

    /// Gives it another id, or another name under the id that it has.
    #[must_use]
    pub fn identified(mut self, id: &str, name: &str) -> Self {
        self.id = (id != name).then(|| id.to_owned());
        name.clone_into(&mut self.name);
        self
    }

    /// Whether both lead to the same address in the same environment.
    pub fn leads_to(&self, base: &str, environment: &str) -> bool {
        let plain = |address: &str| address.trim_end_matches('/').to_owned();
        plain(self.base.as_str()) == plain(base) && self.environment.code() == environment
    }

    /// See [`has_usual_path`].
    pub fn has_usual_path(&self) -> bool {
        has_usual_path(&self.base)
    }
}

/// Whether a base address ends as those of the authority do: with the major version and `fhir`
/// (docs/interface.md, "Addresses"). Another one may work, but is more often a mistake.
pub fn has_usual_path(base: &Url) -> bool {
    base.path().trim_end_matches('/').ends_with("/v1/fhir")
}

impl Release {
    /// All, newest first.
    pub const ALL: [Self; 3] = [Self::R1_13_1, Self::R1_8_0, Self::R1_0_0Trialuse];

    /// What is particular to this release.
    pub const fn facts(self) -> &'static ReleaseFacts {
        match self {
            Self::R1_13_1 => &ReleaseFacts {
                name: "1.13.1",
                last_updated: "_lastUpdated",
                search: SearchSupport::Full,
                invalid: InvalidAnswer::OutcomeOnly,
                times: Times::WithoutZone,
            },
            Self::R1_8_0 => &ReleaseFacts {
                name: "1.8.0",
                last_updated: "_lastUpdate",
                search: SearchSupport::Full,
                invalid: InvalidAnswer::StatusAndOutcome,
                times: Times::Utc,
            },
            Self::R1_0_0Trialuse => &ReleaseFacts {
                name: "1.0.0-trialuse",
                last_updated: "_lastUpdate",
                search: SearchSupport::IdentifierOnly,
                invalid: InvalidAnswer::StatusAndOutcome,
                times: Times::Utc,
            },
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|release| release.facts().name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_stored_by_an_earlier_program_trusts_its_own_ca_alone() {
        let stored = r#"{"name":"a","base":"https://a.example/v1/fhir","environment":"production",
            "release":"1.13.1","ca_pem":"PEM","language":"de-CH","identifier":"attempt"}"#;
        let endpoint: Endpoint = serde_json::from_str(stored).unwrap();
        assert!(endpoint.ca_pem.is_some() && !endpoint.also_system_roots);
        assert_eq!(endpoint.server_key, None);
        for (base, usual) in [
            ("https://a.example/v1/fhir", true),
            ("https://a.example/elm/v1/fhir/", true),
            ("https://a.example/", false),
            ("https://a.example/fhir", false),
            ("https://a.example/v1/fhir/DocumentReference", false),
            ("https://a.example/v2/fhir", false),
        ] {
            let endpoint = Endpoint { base: base.parse().unwrap(), ..endpoint.clone() };
            assert_eq!(endpoint.has_usual_path(), usual, "{base}");
        }
        let again: serde_json::Value = serde_json::to_value(&endpoint).unwrap();
        assert_eq!(again, serde_json::from_str::<serde_json::Value>(stored).unwrap());
    }
}
