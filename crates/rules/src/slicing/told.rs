//! What HL7's validator compares where a fixed value or a pattern tells a slice apart: of some
//! types some parts, of others nothing at all.

use serde_json::Value;

use super::Test;
use crate::definition::Typed;

/// A fixed value as a discriminator: of a concept, a coding or an identifier some parts alone.
pub(super) fn of_fixed(told: &Typed) -> Test {
    match &*told.type_name {
        "CodeableConcept" | "Coding" | "Identifier" => of_pattern(told),
        "string" | "code" | "id" | "markdown" | "uri" | "url" | "canonical" | "oid" | "uuid"
        | "integer" | "positiveInt" | "unsignedInt" | "boolean" => Test::Fixed(told.clone()),
        _ => Test::NotAsked,
    }
}

/// A pattern as a discriminator.
pub(super) fn of_pattern(told: &Typed) -> Test {
    let parts = |names: &[&str]| {
        let members = told.value.as_object().into_iter().flatten();
        let kept = members.filter(|(name, _)| names.contains(&name.as_str()));
        let kept: serde_json::Map<_, _> = kept.map(|(n, v)| (n.clone(), v.clone())).collect();
        if kept.is_empty() { Test::NotAsked } else { Test::Pattern(Value::Object(kept)) }
    };
    let has = |name: &str| told.value.get(name).is_some();
    match &*told.type_name {
        "CodeableConcept" if has("text") || has("extension") => Test::NotAsked,
        "CodeableConcept" => parts(&["coding"]),
        "Coding" => parts(&["system", "version", "code", "display"]),
        "Identifier" => parts(&["system", "value", "use", "type"]),
        "HumanName" if ["given", "prefix", "suffix", "period"].into_iter().any(has) => {
            Test::NotAsked
        }
        "HumanName" => parts(&["use", "text", "family"]),
        "Address" if has("line") || has("period") => Test::NotAsked,
        "Address" => {
            parts(&["use", "type", "text", "city", "district", "state", "postalCode", "country"])
        }
        _ if told.value.is_object() => Test::NotAsked,
        _ => Test::Pattern(told.value.clone()),
    }
}
