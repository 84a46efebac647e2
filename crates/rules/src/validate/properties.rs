//! Properties of the concepts of a code system: their definitions, and their values at each
//! concept.

use std::collections::HashSet;

use fhir::Element;

use super::bundle::is_absolute;
use super::{Issue, Run, error};

/// Where FHIR defines properties of concepts.
const PROPERTIES: &str = "http://hl7.org/fhir/concept-properties#";
/// Those that HL7's validator knows, with their types.
const KNOWN: &[(&str, &str)] = &[
    ("status", "code"),
    ("inactive", "boolean"),
    ("effectiveDate", "dateTime"),
    ("deprecationDate", "dateTime"),
    ("retirementDate", "dateTime"),
    ("notSelectable", "boolean"),
    ("parent", "code"),
    ("child", "code"),
    ("partOf", "code"),
    ("synonym", "code"),
    ("comment", "string"),
    ("itemWeight", "decimal"),
];
/// Those whose values are codes of the same code system.
const INTERNAL: [&str; 4] = ["parent", "child", "partOf", "synonym"];
/// Those that FHIR defines as well, in one release or another.
const OTHERS: [&str; 4] = ["deprecated", "alternateCode", "order", "definition"];
/// Concepts in concepts that are followed; the reader allows 64.
const DEPTH_MAX: usize = 64;

/// A property that a code system defines.
struct Property<'t> {
    code: &'t str,
    kind: Option<&'t str>,
    is_internal: bool,
}

impl<'t> Run<'t> {
    pub(super) fn concept_properties(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        let mut seen = HashSet::new();
        let mut known: Vec<Property<'t>> = Vec::new();
        for property in of.all("property") {
            definition(of, property, &mut seen, issues);
            let Some(code) = property.text("code") else { continue };
            let told = property.text("uri").and_then(|uri| uri.strip_prefix(PROPERTIES));
            let is_internal = told.is_some_and(|name| INTERNAL.contains(&name));
            known.push(Property { code, kind: property.text("type"), is_internal });
        }
        if !known.is_empty() {
            let mut codes = HashSet::new();
            all_codes(of, &mut codes, 0);
            self.concept_values(of, of, &known, &codes, issues, 0);
        }
    }

    /// Values have the types that the code system says, and those that are codes of itself are
    /// among its codes, or among those of what it adds to.
    fn concept_values(
        &self,
        system: Element<'t>,
        of: Element<'t>,
        known: &[Property<'t>],
        codes: &HashSet<&'t str>,
        issues: &mut Vec<Issue>,
        depth: usize,
    ) {
        for concept in of.all("concept") {
            for told in concept.all("property") {
                let code = told.text("code").unwrap_or_default();
                let property = known.iter().find(|of| of.code == code);
                let (Some(property), Some(value)) = (property, told.choice("value")) else {
                    continue;
                };
                if let Some(expected) = property.kind.filter(|kind| *kind != value.type_name()) {
                    let params = [("expected", expected), ("found", value.type_name())];
                    error(issues, value, "rule-definition-type", &params);
                } else if property.is_internal && !self.is_code_of(system, value, codes) {
                    let url = system.text("supplements").or_else(|| system.text("url"));
                    let found = value.value().unwrap_or_default();
                    let params = [("value", found), ("system", url.unwrap_or_default())];
                    error(issues, value, "rule-code-unknown", &params);
                }
            }
            if depth < DEPTH_MAX {
                self.concept_values(system, concept, known, codes, issues, depth + 1);
            }
        }
    }

    fn is_code_of(
        &self,
        system: Element<'t>,
        value: Element<'t>,
        codes: &HashSet<&'t str>,
    ) -> bool {
        let Some(code) = value.value().filter(|_| value.type_name() == "code") else { return true };
        match system.text("supplements") {
            Some(other) => self.set.has_code(other, 0, code) != Some(false),
            None => codes.contains(code),
        }
    }
}

/// A definition stands once, and its address is that of a property of this name and type.
fn definition<'t>(
    system: Element<'t>,
    of: Element<'t>,
    seen: &mut HashSet<&'t str>,
    issues: &mut Vec<Issue>,
) {
    let (uri, code) = (of.child("uri"), of.child("code"));
    for told in [uri, code].into_iter().flatten() {
        let value = told.value().unwrap_or_default();
        if !value.is_empty() && !seen.insert(value) {
            error(issues, told, "rule-concept-property-twice", &[("value", value)]);
        }
    }
    let Some((uri, told)) = uri.and_then(|uri| Some((uri, uri.value()?))) else { return };
    if !is_absolute(told) {
        let params = [("element", "uri"), ("value", told)];
        return error(issues, uri, "rule-system-not-absolute", &params);
    }
    let code = code.and_then(Element::value).unwrap_or_default();
    let is_known = |name: &str| KNOWN.iter().any(|(known, _)| *known == name);
    let name = told.strip_prefix(PROPERTIES).unwrap_or_default();
    match KNOWN.iter().find(|(known, _)| *known == name) {
        Some((name, _)) if code != *name && is_known(code) => {
            error(issues, uri, "rule-concept-property-address", &[("value", told)]);
        }
        Some((_, kind)) => {
            let other = of.child("type").filter(|of| of.value().is_some_and(|of| of != *kind));
            if let Some(other) = other {
                let params = [("expected", *kind), ("found", other.value().unwrap_or_default())];
                error(issues, other, "rule-definition-type", &params);
            }
        }
        None => {
            let is_told = told.contains("://hl7.org/fhir") && !OTHERS.contains(&name);
            if is_told && !is_of_base(system.text("url"), told) {
                error(issues, uri, "rule-concept-property-address", &[("value", told)]);
            }
        }
    }
}

/// A code system of FHIR itself defines what it likes, and every other one at its own address.
fn is_of_base(url: Option<&str>, uri: &str) -> bool {
    url.is_none_or(|url| {
        let rest = url.strip_prefix("http://hl7.org/fhir/");
        rest.is_some_and(|rest| !rest.contains('/')) || uri.starts_with(url)
    })
}

fn all_codes<'t>(of: Element<'t>, codes: &mut HashSet<&'t str>, depth: usize) {
    for concept in of.all("concept") {
        codes.extend(concept.text("code"));
        if depth < DEPTH_MAX {
            all_codes(concept, codes, depth + 1);
        }
    }
}
