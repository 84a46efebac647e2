//! Whether the elements of a definition go together: each stands below one that is listed, and its
//! values are of its type.

use fhir::TypeDefinition;
use serde_json::Value;

/// Extensions that bound a value, and whether they say a number; the others say a text.
const BOUNDS: [(&str, bool); 4] =
    [("minLength", true), ("maxDecimalPlaces", true), ("maxSize", true), ("regex", false)];

/// Values that an element names, with their type behind.
const VALUES: [&str; 4] = ["fixed", "pattern", "minValue", "maxValue"];

/// The first part of a StructureDefinition's elements that does not go with the others, e.g.
/// `snapshot.element[3].path`.
pub(super) fn first_incoherent(resource: &Value) -> Option<String> {
    let elements = |part: &str| {
        let listed = resource.get(part).and_then(|part| part.get("element"));
        listed.and_then(Value::as_array).map_or(&[][..], |all| all)
    };
    let orphan = orphan(elements("snapshot")).map(|at| format!("snapshot.element[{at}].path"));
    orphan.or_else(|| {
        ["snapshot", "differential"].into_iter().find_map(|part| {
            elements(part).iter().enumerate().find_map(|(at, element)| {
                let wrong = wrong_value(element).or_else(|| wrong_bound(element))?;
                Some(format!("{part}.element[{at}].{wrong}"))
            })
        })
    })
}

/// The first element whose parent is not the open one above it. A snapshot lists all of them.
fn orphan(elements: &[Value]) -> Option<usize> {
    let mut open: Vec<&str> = Vec::new();
    elements.iter().position(|element| {
        let path = element.get("path").and_then(Value::as_str).unwrap_or_default();
        let depth = path.matches('.').count();
        let parent = path.rsplit_once('.').map(|(parent, _)| parent);
        let is_orphan = depth.checked_sub(1).and_then(|above| open.get(above)).copied() != parent;
        open.truncate(depth);
        open.push(path);
        is_orphan
    })
}

/// A value that is of no type of its element, or not written as its type is.
fn wrong_value(element: &Value) -> Option<String> {
    let members = element.as_object()?;
    members.iter().find_map(|(name, value)| {
        let kind = VALUES.into_iter().find_map(|prefix| name.strip_prefix(prefix))?;
        kind.starts_with(|letter: char| letter.is_ascii_uppercase()).then_some(())?;
        let of = type_of(kind)?;
        (!is_written_as(value, of) || !is_allowed(element, of)).then(|| name.clone())
    })
}

/// `Uri` is the type `uri`, `Coding` is `Coding`.
fn type_of(kind: &str) -> Option<TypeDefinition> {
    let lower = format!("{}{}", kind[..1].to_ascii_lowercase(), &kind[1..]);
    TypeDefinition::named(&lower).or_else(|| TypeDefinition::named(kind))
}

fn is_written_as(value: &Value, of: TypeDefinition) -> bool {
    match of.name() {
        "boolean" => value.is_boolean(),
        "integer" | "positiveInt" | "unsignedInt" | "decimal" => value.is_number(),
        _ if of.is_primitive() => value.is_string(),
        _ => value.is_object(),
    }
}

/// Whether an element that lists its types has this one among them.
fn is_allowed(element: &Value, of: TypeDefinition) -> bool {
    let types = element.get("type").and_then(Value::as_array).map_or(&[][..], |all| all);
    let is_it = |told: &Value| {
        let code = told.get("code").and_then(Value::as_str).unwrap_or_default();
        // What is no type of FHIR R4 is nothing to compare with.
        TypeDefinition::named(code).is_none_or(|told| told.is(of.name()))
    };
    types.is_empty() || types.iter().any(is_it)
}

/// An extension for bounds with a value of another kind than it has.
fn wrong_bound(element: &Value) -> Option<String> {
    let extensions = element.get("extension").and_then(Value::as_array)?;
    extensions.iter().enumerate().find_map(|(at, told)| {
        let url = told.get("url").and_then(Value::as_str)?.strip_prefix(crate::definition::BASE)?;
        let (_, is_number) = BOUNDS.into_iter().find(|(name, _)| *name == url)?;
        let value = told.as_object()?.iter().find(|(name, _)| name.starts_with("value"));
        let fits = value.is_some_and(|(_, value)| match is_number {
            true => value.as_f64().is_some_and(|number| number >= 0.0),
            false => value.is_string(),
        });
        (!fits).then(|| format!("extension[{at}]"))
    })
}
