//! Whether the parts of a definition that validation reads have the form that FHIR gives them. A
//! part in another form would be read as if it were not there, so that the rules would demand less
//! than their publisher means.

use serde_json::Value;

use super::elements;

/// Elements of one definition. The largest published one has some thousand, and the work for one
/// grows faster than their number.
const ELEMENTS_MAX: usize = 5_000;

/// What FHIR says of a part (<https://hl7.org/fhir/R4/structuredefinition.html>,
/// <https://hl7.org/fhir/R4/valueset.html>, <https://hl7.org/fhir/R4/codesystem.html>).
enum Form {
    /// A text with something in it.
    Text,
    /// One of these codes.
    Code(&'static [&'static str]),
    /// A whole number that is not negative.
    Count,
    /// `*`, or a whole number in quotation marks.
    Max,
    /// `true` or `false`.
    Flag,
    /// An object of which these parts are read.
    Parts(&'static [Part]),
    /// A list of at least one of these.
    List(&'static Form),
    /// A list of the elements of a definition, of which there are not too many.
    Elements,
}

/// A part of an object.
struct Part {
    name: &'static str,
    form: Form,
    is_required: bool,
}

const fn may(name: &'static str, form: Form) -> Part {
    Part { name, form, is_required: false }
}

const fn must(name: &'static str, form: Form) -> Part {
    Part { name, form, is_required: true }
}

static STRUCTURE: [Part; 12] = [
    must("url", Form::Text),
    may("version", Form::Text),
    must("kind", Form::Code(&["primitive-type", "complex-type", "resource", "logical"])),
    must("type", Form::Text),
    may("abstract", Form::Flag),
    may("derivation", Form::Code(&["specialization", "constraint"])),
    may("baseDefinition", Form::Text),
    may("context", Form::List(&Form::Parts(&CONTEXT))),
    may("contextInvariant", Form::List(&Form::Text)),
    may("extension", Form::List(&Form::Parts(&EXTENSION))),
    may("snapshot", Form::Parts(&ELEMENTS)),
    may("differential", Form::Parts(&ELEMENTS)),
];

static CONTEXT: [Part; 2] = [must("type", Form::Text), must("expression", Form::Text)];

static EXTENSION: [Part; 1] = [must("url", Form::Text)];

static ELEMENTS: [Part; 1] = [must("element", Form::Elements)];

static ELEMENT_LIST: Form = Form::List(&Form::Parts(&ELEMENT));

static ELEMENT: [Part; 13] = [
    may("id", Form::Text),
    must("path", Form::Text),
    may("sliceName", Form::Text),
    may("min", Form::Count),
    may("max", Form::Max),
    may("base", Form::Parts(&BASE)),
    may("slicing", Form::Parts(&SLICING)),
    may("type", Form::List(&Form::Parts(&TYPE))),
    may("contentReference", Form::Text),
    may("maxLength", Form::Count),
    may("binding", Form::Parts(&BINDING)),
    may("constraint", Form::List(&Form::Parts(&CONSTRAINT))),
    may("isModifier", Form::Flag),
];

static BASE: [Part; 1] = [may("max", Form::Max)];

static SLICING: [Part; 3] = [
    may("discriminator", Form::List(&Form::Parts(&DISCRIMINATOR))),
    may("rules", Form::Code(&["closed", "open", "openAtEnd"])),
    may("ordered", Form::Flag),
];

static DISCRIMINATOR: [Part; 2] = [
    // FHIR R5 has `position` beside them, and publishers of today's packages use it.
    must("type", Form::Code(&["value", "exists", "pattern", "type", "profile", "position"])),
    must("path", Form::Text),
];

static TYPE: [Part; 4] = [
    must("code", Form::Text),
    may("profile", Form::List(&Form::Text)),
    may("targetProfile", Form::List(&Form::Text)),
    may("aggregation", Form::List(&Form::Code(&["contained", "referenced", "bundled"]))),
];

static BINDING: [Part; 2] = [
    must("strength", Form::Code(&["required", "extensible", "preferred", "example"])),
    may("valueSet", Form::Text),
];

static CONSTRAINT: [Part; 4] = [
    must("key", Form::Text),
    must("severity", Form::Code(&["error", "warning"])),
    may("human", Form::Text),
    may("expression", Form::Text),
];

static VALUE_SET: [Part; 4] = [
    must("url", Form::Text),
    may("version", Form::Text),
    may("compose", Form::Parts(&COMPOSE)),
    may("expansion", Form::Parts(&EXPANSION)),
];

static EXPANSION: [Part; 1] = [may("contains", Form::List(&Form::Parts(&[])))];

static COMPOSE: [Part; 2] = [
    must("include", Form::List(&Form::Parts(&INCLUDE))),
    may("exclude", Form::List(&Form::Parts(&INCLUDE))),
];

static INCLUDE: [Part; 5] = [
    may("system", Form::Text),
    may("version", Form::Text),
    may("concept", Form::List(&Form::Parts(&CONCEPT))),
    may("filter", Form::List(&Form::Parts(&FILTER))),
    may("valueSet", Form::List(&Form::Text)),
];

static FILTER: [Part; 3] =
    [must("property", Form::Text), must("op", Form::Text), must("value", Form::Text)];

static CODE_SYSTEM: [Part; 4] = [
    must("url", Form::Text),
    may("version", Form::Text),
    may("content", Form::Text),
    may("concept", Form::List(&Form::Parts(&CONCEPT))),
];

static CONCEPT: [Part; 2] =
    [must("code", Form::Text), may("concept", Form::List(&Form::Parts(&CONCEPT)))];

/// The first part of a definition that has another form than FHIR gives it, e.g.
/// `snapshot.element[3].min`.
pub(super) fn first_misshapen(resource: &Value) -> Option<String> {
    let parts: &[Part] = match kind_of(resource) {
        "StructureDefinition" => &STRUCTURE,
        "ValueSet" => &VALUE_SET,
        "CodeSystem" => &CODE_SYSTEM,
        _ => return None,
    };
    let mut place = String::new();
    if !parts_are_well(resource, parts, &mut place) {
        return Some(place);
    }
    let is_structure = kind_of(resource) == "StructureDefinition";
    stray_element(resource)
        .or_else(|| elements::first_incoherent(resource).filter(|_| is_structure))
}

/// Whether a StructureDefinition says nothing of any element.
pub(super) fn is_empty(resource: &Value) -> bool {
    let says = |part: &str| resource.get(part).is_some_and(|of| !of.is_null());
    kind_of(resource) == "StructureDefinition" && !says("snapshot") && !says("differential")
}

fn kind_of(resource: &Value) -> &str {
    resource.get("resourceType").and_then(Value::as_str).unwrap_or_default()
}

/// The first element that does not stand below the root of its definition: it describes nothing.
fn stray_element(resource: &Value) -> Option<String> {
    let type_name = resource.get("type").and_then(Value::as_str)?;
    // The root of a logical model has a name of its own.
    if kind_of(resource) != "StructureDefinition" || resource.get("kind")? == "logical" {
        return None;
    }
    let root = type_name.rsplit('/').next()?;
    ["snapshot", "differential"].into_iter().find_map(|part| {
        let elements = resource.get(part)?.get("element")?.as_array()?;
        let is_stray = |element: &Value| {
            let path = element.get("path").and_then(Value::as_str).unwrap_or_default();
            !path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let at = elements.iter().position(is_stray)?;
        Some(format!("{part}.element[{at}].path"))
    })
}

/// Whether a value has this form. Where it has not, `place` ends at the part that is wrong.
fn is_well(value: &Value, form: &Form, place: &mut String) -> bool {
    let text = value.as_str();
    match form {
        Form::Text => text.is_some_and(|text| !text.is_empty()),
        Form::Code(codes) => text.is_some_and(|text| codes.contains(&text)),
        Form::Count => value.as_u64().is_some_and(|number| u32::try_from(number).is_ok()),
        Form::Max => text.is_some_and(|text| text == "*" || text.parse::<u32>().is_ok()),
        Form::Flag => value.is_boolean(),
        Form::Parts(parts) => value.is_object() && parts_are_well(value, parts, place),
        Form::Elements => {
            let is_bounded = value.as_array().is_none_or(|items| items.len() <= ELEMENTS_MAX);
            is_bounded && is_well(value, &ELEMENT_LIST, place)
        }
        Form::List(form) => {
            let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
                return false;
            };
            let length = place.len();
            items.iter().enumerate().all(|(at, item)| {
                place.truncate(length);
                place.push_str(&format!("[{at}]"));
                is_well(item, form, place)
            })
        }
    }
}

fn parts_are_well(value: &Value, parts: &[Part], place: &mut String) -> bool {
    let length = place.len();
    parts.iter().all(|part| {
        place.truncate(length);
        if length > 0 {
            place.push('.');
        }
        place.push_str(part.name);
        match value.get(part.name).filter(|value| !value.is_null()) {
            Some(value) => is_well(value, &part.form, place),
            // A primitive without a value may say why in the member beside it.
            None => !part.is_required || value.get(format!("_{}", part.name)).is_some(),
        }
    })
}
