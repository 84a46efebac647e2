//! Code systems and value sets.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{items, text};

/// Nesting of concepts beyond which a code system is cut: the reader's own limit is far below.
const DEPTH_MAX: usize = 128;

/// Codes and their meaning.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct CodeSystem {
    /// Canonical URL.
    pub(crate) url: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    /// `complete`, `fragment`, `example`, `not-present` or `supplement`.
    pub(crate) content: String,
    /// Whether upper and lower case differ; where nothing is said, they do.
    pub(crate) case_sensitive: bool,
    /// Every code, parents before children.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) concepts: Vec<Concept>,
}

/// A code.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Concept {
    /// The code.
    pub(crate) code: String,
    /// What people read; empty where nothing is said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) display: String,
    /// Places of its parents in the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parents: Vec<u32>,
    /// Properties, for filters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) properties: Vec<(String, String)>,
}

/// A set of codes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ValueSet {
    /// Canonical URL.
    pub(crate) url: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    /// What is in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) include: Vec<Include>,
    /// What is out again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) exclude: Vec<Include>,
    /// The published expansion, (system, code), used where nothing says what is in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) expansion: Vec<(String, String)>,
}

/// A part of a value set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Include {
    /// Code system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) system: Option<String>,
    /// Version of the code system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// These codes only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) codes: Vec<String>,
    /// What the set calls them, by code, where it says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) displays: Vec<(String, String)>,
    /// Only codes that pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) filters: Vec<Filter>,
    /// Only codes that are in each of these value sets too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) value_sets: Vec<String>,
}

/// A condition on codes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Filter {
    /// The property that is looked at.
    pub(crate) property: String,
    /// `=`, `is-a`, `descendent-of`, `is-not-a`, `regex`, `in`, `not-in`, `generalizes`, `exists`.
    pub(crate) operator: String,
    /// The value that it is compared with.
    pub(crate) value: String,
}

impl CodeSystem {
    pub(super) fn of(resource: &Value) -> Self {
        let mut system = Self {
            url: text(resource, "url"),
            version: text(resource, "version"),
            content: text(resource, "content"),
            case_sensitive: resource.get("caseSensitive").and_then(Value::as_bool).unwrap_or(true),
            concepts: Vec::new(),
        };
        system.add(resource, None, 0);
        system.link();
        system
    }

    fn add(&mut self, owner: &Value, parent: Option<u32>, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        for concept in items(owner.get("concept")) {
            let at = self.concepts.len() as u32;
            let properties = items(concept.get("property")).filter_map(|property| {
                let value =
                    property.as_object()?.iter().find(|(name, _)| name.starts_with("value"));
                let value = match value?.1 {
                    Value::String(value) => value.clone(),
                    Value::Object(coding) => coding.get("code")?.as_str()?.to_owned(),
                    other => other.to_string(),
                };
                Some((text(property, "code"), value))
            });
            self.concepts.push(Concept {
                code: text(concept, "code"),
                display: text(concept, "display"),
                parents: parent.into_iter().collect(),
                properties: properties.collect(),
            });
            self.add(concept, Some(at), depth + 1);
        }
    }

    /// Parents that are told as properties (`subsumedBy`, `parent`, `child`).
    fn link(&mut self) {
        let places: std::collections::HashMap<String, u32> = self
            .concepts
            .iter()
            .enumerate()
            .map(|(at, concept)| (concept.code.clone(), at as u32))
            .collect();
        let mut links = Vec::new();
        for (at, concept) in self.concepts.iter().enumerate() {
            for (name, value) in &concept.properties {
                let Some(other) = places.get(value).copied() else { continue };
                match name.as_str() {
                    "subsumedBy" | "parent" => links.push((at, other)),
                    "child" => links.push((other as usize, at as u32)),
                    _ => {}
                }
            }
        }
        // Each once, in the order in which they are named.
        let nested = self.concepts.iter().enumerate();
        let mut known: std::collections::HashSet<(usize, u32)> = nested
            .flat_map(|(at, concept)| concept.parents.iter().map(move |parent| (at, *parent)))
            .collect();
        for (child, parent) in links {
            let parents = &mut self.concepts[child].parents;
            if known.insert((child, parent)) {
                parents.push(parent);
            }
        }
    }
}

impl ValueSet {
    pub(super) fn of(resource: &Value) -> Self {
        let compose = resource.get("compose");
        let part = |name: &str| -> Vec<Include> {
            items(compose.and_then(|compose| compose.get(name))).map(Include::of).collect()
        };
        let mut expansion = Vec::new();
        let include = part("include");
        if include.is_empty() {
            contains(resource.get("expansion"), &mut expansion, 0);
        }
        Self {
            url: text(resource, "url"),
            version: text(resource, "version"),
            include,
            exclude: part("exclude"),
            expansion,
        }
    }
}

fn contains(owner: Option<&Value>, codes: &mut Vec<(String, String)>, depth: usize) {
    if depth > DEPTH_MAX {
        return;
    }
    for entry in items(owner.and_then(|owner| owner.get("contains"))) {
        if entry.get("abstract").and_then(Value::as_bool) != Some(true) {
            codes.push((text(entry, "system"), text(entry, "code")));
        }
        contains(Some(entry), codes, depth + 1);
    }
}

impl Include {
    fn of(include: &Value) -> Self {
        let word = |name: &str| include.get(name).and_then(Value::as_str).map(str::to_owned);
        let filters = items(include.get("filter")).map(|filter| Filter {
            property: text(filter, "property"),
            operator: text(filter, "op"),
            value: text(filter, "value"),
        });
        Self {
            system: word("system"),
            version: word("version"),
            codes: items(include.get("concept")).map(|concept| text(concept, "code")).collect(),
            displays: items(include.get("concept"))
                .map(|concept| (text(concept, "code"), text(concept, "display")))
                .filter(|(_, display)| !display.is_empty())
                .collect(),
            filters: filters.collect(),
            value_sets: items(include.get("valueSet"))
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        }
    }
}
