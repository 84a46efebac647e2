//! Elements of a StructureDefinition.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{items, text};
use crate::definition::BASE;

/// What FHIR R5 can say of an element more than R4.
const LATER: &str = "http://hl7.org/fhir/5.0/StructureDefinition/extension-ElementDefinition.";

/// An element as a snapshot or a differential describes it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ElementDefinition {
    /// Unique in its definition, e.g. `Patient.identifier:ahv.value`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) id: String,
    /// Path, e.g. `Patient.identifier.value`.
    pub(crate) path: String,
    /// Name of the slice that it describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) slice: Option<String>,
    /// Least number; `None` where a differential does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) min: Option<u32>,
    /// Greatest number, or `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max: Option<String>,
    /// Greatest number that its base allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base_max: Option<String>,
    /// How its repetitions are told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) slicing: Option<Slicing>,
    /// Types that it may have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) types: Vec<TypeReference>,
    /// Path of the element that describes its content; before it the address of the definition and
    /// `#`, where that is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    /// Exactly this value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fixed: Option<Typed>,
    /// At least this value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pattern: Option<Typed>,
    /// Not below this value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) min_value: Option<Typed>,
    /// Not above this value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_value: Option<Typed>,
    /// Greatest number of characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_length: Option<u64>,
    /// Bounds that extensions of the element set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bounds: Option<Bounds>,
    /// The codes that it may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) binding: Option<Binding>,
    /// What must hold of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) constraints: Vec<Constraint>,
    /// Whether it changes the meaning of what is around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) is_modifier: Option<bool>,
}

/// Bounds of a value that FHIR has extensions for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bounds {
    /// Least number of characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) min_length: Option<u64>,
    /// Greatest number of digits behind the point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_decimals: Option<u64>,
    /// Greatest number of bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_size: Option<u64>,
    /// An expression that the whole value matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pattern: Option<String>,
    /// Whether extensions alone are not enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) must_have_value: bool,
    /// Extensions one of which stands where there is no value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) alternatives: Vec<String>,
}

/// A value with its type, e.g. `Coding`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Typed {
    /// FHIR type.
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    /// The value as JSON.
    pub(crate) value: Value,
}

/// How repetitions of an element are told apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Slicing {
    /// By what.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) discriminators: Vec<Discriminator>,
    /// `closed`, `open` or `openAtEnd`.
    pub(crate) rules: String,
    /// Whether the order of the slices is the order of the elements.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) ordered: bool,
}

/// By what a slice is told from another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Discriminator {
    /// `value`, `exists`, `pattern`, `type`, `profile` or `position`.
    pub(crate) kind: String,
    /// Restricted FHIRPath below the element.
    pub(crate) path: String,
}

/// A type that an element may have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TypeReference {
    /// Name of the type.
    pub(crate) code: String,
    /// Profiles, one of which it must conform to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) profiles: Vec<String>,
    /// What a reference may point to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) targets: Vec<String>,
    /// `contained`, `referenced`, `bundled`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) aggregation: Vec<String>,
}

/// The codes that an element may have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Binding {
    /// `required`, `extensible`, `preferred` or `example`.
    pub(crate) strength: String,
    /// Canonical of the value set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value_set: Option<String>,
    /// Beyond an extensible binding: no code may leave this value set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_value_set: Option<String>,
    /// Further bindings beside this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) additional: Vec<AdditionalBinding>,
}

/// A binding beside the first one, perhaps for certain resources only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AdditionalBinding {
    /// `required`, `extensible`, …: what its purpose comes to.
    pub(crate) strength: String,
    /// Canonical of the value set.
    pub(crate) value_set: String,
    /// It counts where every one of these is met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) usage: Vec<Usage>,
}

/// A condition of an additional binding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// Canonical of the definition whose elements `path` is about; another one says something that
    /// is not in the resource.
    pub(crate) of: String,
    /// Path of an element of the resource.
    pub(crate) path: String,
    /// Codes, one of which that element has, as (system, code).
    pub(crate) codes: Vec<(String, String)>,
}

/// An invariant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Constraint {
    /// Key, e.g. `ele-1`.
    pub(crate) key: String,
    /// `error` or `warning`.
    pub(crate) severity: String,
    /// What it says to people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) human: String,
    /// FHIRPath; empty where there is only an XPath.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) expression: String,
    /// Advice rather than rule.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) best_practice: bool,
}

const ADDITIONAL_BINDING: &str = "http://hl7.org/fhir/tools/StructureDefinition/additional-binding";
const MAX_VALUE_SET: &str = "http://hl7.org/fhir/StructureDefinition/elementdefinition-maxValueSet";
const BEST_PRACTICE: &str =
    "http://hl7.org/fhir/StructureDefinition/elementdefinition-bestpractice";
const FHIR_TYPE: &str = "http://hl7.org/fhir/StructureDefinition/structuredefinition-fhir-type";

impl ElementDefinition {
    /// `owner` is the address of the definition that it stands in.
    pub(super) fn of(element: &Value, owner: &str) -> Self {
        let slice = text(element, "sliceName");
        let number = |name: &str| element.get(name).and_then(Value::as_u64);
        let word = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let content = text(element, "contentReference");
        Self {
            id: text(element, "id"),
            path: text(element, "path"),
            slice: (!slice.is_empty()).then_some(slice),
            min: number("min").map(|min| u32::try_from(min).unwrap_or(u32::MAX)),
            max: word(element.get("max")),
            base_max: word(element.get("base").and_then(|base| base.get("max"))),
            slicing: element.get("slicing").map(Slicing::of),
            types: items(element.get("type")).map(TypeReference::of).collect(),
            content: match content.strip_prefix('#') {
                Some(path) => Some(path.to_owned()),
                None => content.contains('#').then_some(content),
            },
            fixed: typed(element, "fixed"),
            pattern: typed(element, "pattern"),
            min_value: typed(element, "minValue"),
            max_value: typed(element, "maxValue"),
            max_length: number("maxLength"),
            bounds: Bounds::of(element),
            binding: element.get("binding").map(|of| Binding::of(of, owner)),
            constraints: items(element.get("constraint")).map(Constraint::of).collect(),
            is_modifier: element.get("isModifier").and_then(Value::as_bool),
        }
    }
}

/// The member `prefix[x]`.
fn typed(element: &Value, prefix: &str) -> Option<Typed> {
    element.as_object()?.iter().find_map(|(name, value)| {
        let of = name.strip_prefix(prefix)?;
        let first = of.chars().next().filter(char::is_ascii_uppercase)?;
        // `fixedUri` is of the type `uri`, `fixedCoding` of `Coding`: complex types begin with a
        // capital.
        let lower = format!("{}{}", first.to_ascii_lowercase(), &of[1..]);
        let is_complex = value.is_object();
        Some(Typed {
            type_name: if is_complex { of.to_owned() } else { lower },
            value: value.clone(),
        })
    })
}

impl Bounds {
    fn of(element: &Value) -> Option<Self> {
        let told = |name: &str| {
            let of = extension(element, &format!("{BASE}{name}"))?;
            of.as_object()?.iter().find(|(name, _)| name.starts_with("value")).map(|(_, of)| of)
        };
        // Some publish whole numbers as decimals.
        let number = |name: &str| {
            let value = told(name)?;
            value.as_u64().or_else(|| value.as_f64().filter(|of| *of >= 0.0).map(|of| of as u64))
        };
        let later = |name: &str| format!("{LATER}{name}");
        let must_have_value = extension(element, &later("mustHaveValue"));
        let alternatives = items(element.get("extension"))
            .filter(|of| text(of, "url") == later("valueAlternatives"))
            .map(|of| text(of, "valueCanonical"));
        let bounds = Self {
            must_have_value: must_have_value
                .and_then(|of| of.get("valueBoolean"))
                .is_some_and(|of| of.as_bool() == Some(true)),
            alternatives: alternatives.collect(),
            min_length: number("minLength"),
            max_decimals: number("maxDecimalPlaces"),
            max_size: number("maxSize"),
            pattern: told("regex").and_then(Value::as_str).map(str::to_owned),
        };
        (bounds != Self::default()).then_some(bounds)
    }
}

impl AdditionalBinding {
    /// `None` for a purpose that is not checked.
    fn of(told: &Value) -> Option<Self> {
        let value = |name: &str| extension(told, name)?.as_object();
        let text = |name: &str, kinds: [&str; 2]| {
            let of = value(name)?;
            kinds.iter().find_map(|kind| of.get(*kind)?.as_str().map(str::to_owned))
        };
        let strength = match text("purpose", ["valueCode", "valueString"])?.as_str() {
            "maximum" | "required" => "required",
            "extensible" => "extensible",
            "preferred" => "preferred",
            _ => return None,
        };
        let usage = items(told.get("extension"))
            .filter(|of| of.get("url").and_then(Value::as_str) == Some("usage"))
            .filter_map(|of| Some(Usage::of(of.get("valueUsageContext")?)));
        Some(Self {
            strength: strength.to_owned(),
            value_set: text("valueSet", ["valueCanonical", "valueUri"])?,
            usage: usage.collect(),
        })
    }
}

impl Usage {
    fn of(context: &Value) -> Self {
        let code = context.get("code").cloned().unwrap_or_default();
        let concept = context.get("valueCodeableConcept");
        let codings = items(concept.and_then(|concept| concept.get("coding")));
        Self {
            of: text(&code, "system"),
            path: text(&code, "code"),
            codes: codings.map(|of| (text(of, "system"), text(of, "code"))).collect(),
        }
    }
}

impl Slicing {
    fn of(slicing: &Value) -> Self {
        let discriminators = items(slicing.get("discriminator")).map(|discriminator| {
            Discriminator { kind: text(discriminator, "type"), path: text(discriminator, "path") }
        });
        Self {
            discriminators: discriminators.collect(),
            rules: text(slicing, "rules"),
            ordered: slicing.get("ordered").and_then(Value::as_bool).unwrap_or(false),
        }
    }
}

impl TypeReference {
    fn of(reference: &Value) -> Self {
        let list = |name: &str| -> Vec<String> {
            items(reference.get(name)).filter_map(Value::as_str).map(str::to_owned).collect()
        };
        // System types carry the FHIR type that they stand for in an extension.
        let told = extension(reference, FHIR_TYPE)
            .and_then(|told| told.get("valueUrl").or_else(|| told.get("valueUri")))
            .and_then(Value::as_str);
        let code = text(reference, "code");
        let code = told.map_or(code, str::to_owned);
        Self {
            code,
            profiles: list("profile"),
            targets: list("targetProfile"),
            aggregation: list("aggregation"),
        }
    }
}

impl Binding {
    fn of(binding: &Value, owner: &str) -> Self {
        // `#id` is contained in the definition itself.
        let whole = |set: &str| match set.starts_with('#') {
            true => format!("{owner}{set}"),
            false => set.to_owned(),
        };
        let word = |value: Option<&Value>| value.and_then(Value::as_str).map(whole);
        let max = extension(binding, MAX_VALUE_SET)
            .and_then(|max| max.get("valueCanonical").or_else(|| max.get("valueUri")));
        let more = items(binding.get("extension"))
            .filter(|of| of.get("url").and_then(Value::as_str) == Some(ADDITIONAL_BINDING));
        Self {
            strength: text(binding, "strength"),
            value_set: word(binding.get("valueSet")),
            max_value_set: word(max),
            additional: more
                .filter_map(AdditionalBinding::of)
                .map(|of| AdditionalBinding { value_set: whole(&of.value_set), ..of })
                .collect(),
        }
    }
}

impl Constraint {
    fn of(constraint: &Value) -> Self {
        let advice = extension(constraint, BEST_PRACTICE)
            .and_then(|advice| advice.get("valueBoolean"))
            .and_then(Value::as_bool);
        Self {
            key: text(constraint, "key"),
            severity: text(constraint, "severity"),
            human: text(constraint, "human"),
            expression: text(constraint, "expression"),
            best_practice: advice.unwrap_or(false),
        }
    }
}

/// The extension of this url.
fn extension<'v>(value: &'v Value, url: &str) -> Option<&'v Value> {
    items(value.get("extension"))
        .find(|extension| extension.get("url").and_then(Value::as_str) == Some(url))
}
