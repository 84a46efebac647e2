//! Conformance resources, cut down to what validation needs. This is also the form in which an
//! imported package is kept: narrative, explanations and mappings are gone, and every value says
//! its type.

use serde::{Deserialize, Serialize};
use serde_json::Value;

mod elements;
mod terms;

pub(crate) use elements::{
    Binding, Bounds, Constraint, Discriminator, ElementDefinition, Slicing, TypeReference, Typed,
    Usage,
};
pub(crate) use terms::{CodeSystem, Filter, Include, ValueSet};

/// Where the types of FHIR are defined.
pub(crate) const BASE: &str = "http://hl7.org/fhir/StructureDefinition/";

const IMPOSED: &str = "http://hl7.org/fhir/StructureDefinition/structuredefinition-imposeProfile";
const VERSIONS: &str = "http://hl7.org/fhir/StructureDefinition/version-specific-use";

/// One definition of a package.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Definition {
    /// A type, a resource, an extension, or a profile of one.
    Structure(Structure),
    /// A set of codes.
    ValueSet(ValueSet),
    /// Codes and their meaning.
    CodeSystem(CodeSystem),
    /// Kept as its source: rules look into it with FHIRPath.
    Source(Source),
    /// What a guide demands of every resource of a type.
    Guide(Guide),
}

/// An ImplementationGuide.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Guide {
    /// Canonical URL.
    pub(crate) url: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    /// Types, and the profile that each resource of one conforms to.
    pub(crate) global: Vec<(String, String)>,
}

/// A resource that is kept as it was published.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Source {
    /// Canonical URL.
    pub(crate) url: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    /// The resource as JSON.
    pub(crate) json: String,
}

/// A StructureDefinition.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Structure {
    /// Canonical URL.
    pub(crate) url: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    /// `primitive-type`, `complex-type`, `resource` or `logical`.
    pub(crate) kind: String,
    /// The type it describes or constrains.
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    /// Whether there are no instances of exactly this type.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_abstract: bool,
    /// Whether it constrains another definition of the same type.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_constraint: bool,
    /// The definition that it builds on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    /// Where an extension may stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) contexts: Vec<ExtensionContext>,
    /// Profiles that a resource must conform to beside this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) imposed: Vec<String>,
    /// What must hold where an extension stands (FHIRPath).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) context_invariants: Vec<String>,
    /// The elements of its snapshot; empty where only a differential was published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) snapshot: Vec<ElementDefinition>,
    /// The elements of its differential, kept only where there is no snapshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) differential: Vec<ElementDefinition>,
}

/// Where an extension may stand.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ExtensionContext {
    /// `element`, `extension` or `fhirpath`.
    pub(crate) kind: String,
    /// A path, a canonical URL or an expression.
    pub(crate) expression: String,
}

impl Definition {
    /// Takes from a conformance resource what validation needs; `None` for any other resource.
    pub(crate) fn of(resource: &Value) -> Option<Self> {
        let url = text(resource, "url");
        Some(match resource.get("resourceType")?.as_str()? {
            "StructureDefinition" if !url.is_empty() => Self::Structure(Structure::of(resource)),
            "ValueSet" if !url.is_empty() => Self::ValueSet(ValueSet::of(resource)),
            "CodeSystem" if !url.is_empty() => Self::CodeSystem(CodeSystem::of(resource)),
            "ConceptMap" | "Measure" | "NamingSystem" | "Questionnaire" if !url.is_empty() => {
                Self::Source(Source {
                    url,
                    version: text(resource, "version"),
                    json: without_narrative(resource).to_string(),
                })
            }
            "ImplementationGuide" if resource.get("global").is_some() && !url.is_empty() => {
                Self::Guide(Guide::of(resource))
            }
            _ => return None,
        })
    }

    /// What it is, as a word for lists.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Structure(_) => "structure",
            Self::ValueSet(_) => "value-set",
            Self::CodeSystem(_) => "code-system",
            Self::Source(_) => "source",
            Self::Guide(_) => "guide",
        }
    }

    /// The canonicals that it builds on: the base of a structure, the value sets that one includes
    /// or excludes.
    pub(crate) fn builds_on(&self) -> impl Iterator<Item = &str> {
        let (base, parts) = match self {
            Self::Structure(of) => (of.base.as_deref(), None),
            Self::ValueSet(of) => (None, Some(of.include.iter().chain(&of.exclude))),
            Self::CodeSystem(_) | Self::Source(_) | Self::Guide(_) => (None, None),
        };
        let sets = parts.into_iter().flatten().flat_map(|part| &part.value_sets);
        base.into_iter().chain(sets.map(String::as_str))
    }

    /// Canonical URL.
    pub(crate) fn url(&self) -> &str {
        match self {
            Self::Structure(of) => &of.url,
            Self::ValueSet(of) => &of.url,
            Self::CodeSystem(of) => &of.url,
            Self::Source(of) => &of.url,
            Self::Guide(of) => &of.url,
        }
    }

    /// Its version, empty if it has none.
    pub(crate) fn version(&self) -> &str {
        match self {
            Self::Structure(of) => &of.version,
            Self::ValueSet(of) => &of.version,
            Self::CodeSystem(of) => &of.version,
            Self::Source(of) => &of.version,
            Self::Guide(of) => &of.version,
        }
    }
}

impl Guide {
    fn of(resource: &Value) -> Self {
        let global = items(resource.get("global"));
        Self {
            url: text(resource, "url"),
            version: text(resource, "version"),
            global: global.map(|of| (text(of, "type"), text(of, "profile"))).collect(),
        }
    }
}

impl Structure {
    fn of(resource: &Value) -> Self {
        let url = text(resource, "url");
        let elements = |name: &str| -> Vec<ElementDefinition> {
            let list = resource.get(name).and_then(|part| part.get("element"));
            items(list).map(|element| ElementDefinition::of(element, &url)).collect()
        };
        let snapshot = elements("snapshot");
        let differential = if snapshot.is_empty() { elements("differential") } else { Vec::new() };
        let imposed = extensions(resource, IMPOSED)
            .filter_map(|of| of.get("valueCanonical").or_else(|| of.get("valueUri"))?.as_str());
        let contexts = items(resource.get("context")).filter(|of| is_of_r4(of)).map(|context| {
            ExtensionContext {
                kind: text(context, "type"),
                expression: text(context, "expression"),
            }
        });
        let invariants = items(resource.get("contextInvariant")).filter_map(Value::as_str);
        // A logical model names its type by URL; what counts is the name.
        let type_name = text(resource, "type");
        Self {
            url: url.clone(),
            version: text(resource, "version"),
            kind: text(resource, "kind"),
            type_name: type_name.rsplit('/').next().unwrap_or_default().to_owned(),
            is_abstract: resource.get("abstract").and_then(Value::as_bool).unwrap_or(false),
            is_constraint: resource.get("derivation").and_then(Value::as_str) == Some("constraint"),
            base: resource.get("baseDefinition").and_then(Value::as_str).map(str::to_owned),
            contexts: contexts.collect(),
            imposed: imposed.map(str::to_owned).collect(),
            context_invariants: invariants.map(str::to_owned).collect(),
            snapshot,
            differential,
        }
    }
}

/// Whether a place of an extension counts in FHIR R4.
fn is_of_r4(context: &Value) -> bool {
    let bound = |name: &str| {
        let told = extensions(context, VERSIONS).next()?;
        let part = extensions(told, name).next()?;
        let text = part.get("valueCode").or_else(|| part.get("valueString"))?.as_str()?;
        let mut numbers = text.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        Some((numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)))
    };
    bound("startFhirVersion").is_none_or(|from| from <= (4, 0))
        && bound("endFhirVersion").is_none_or(|to| to >= (4, 0))
}

/// The extensions of this url.
fn extensions<'v>(value: &'v Value, url: &str) -> impl Iterator<Item = &'v Value> {
    items(value.get("extension"))
        .filter(move |of| of.get("url").and_then(Value::as_str) == Some(url))
}

fn without_narrative(resource: &Value) -> Value {
    let mut resource = resource.clone();
    if let Some(members) = resource.as_object_mut() {
        for name in ["text", "contact", "description", "purpose", "copyright", "jurisdiction"] {
            members.remove(name);
        }
    }
    resource
}

/// The items of a JSON array; nothing for anything else.
fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// A text member, or nothing.
fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
