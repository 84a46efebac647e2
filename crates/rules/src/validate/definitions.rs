//! StructureDefinitions as documents: whether one goes with its base, and whether each of its
//! elements may say what it says.

use fhir::Element;

use super::bundle::is_absolute;
use super::{Issue, Run, differentials, error};
use crate::definition::BASE;
use crate::profile::{Profile, UNBOUNDED};

/// What bounds and bindings the types of FHIR can have.
const ABILITIES: &[(&str, &[&str])] = &[
    (
        "maxLength",
        &[
            "integer",
            "integer64",
            "decimal",
            "instant",
            "string",
            "uri",
            "date",
            "dateTime",
            "time",
            "canonical",
            "code",
            "id",
            "markdown",
            "oid",
            "positiveInt",
            "unsignedInt",
            "url",
            "uuid",
        ],
    ),
    ("minValue", RANGES),
    ("maxValue", RANGES),
    (
        "binding",
        &[
            "string",
            "uri",
            "code",
            "oid",
            "url",
            "uuid",
            "Age",
            "CodeableConcept",
            "CodeableReference",
            "Coding",
            "Distance",
            "Duration",
            "Quantity",
            "Range",
            "Extension",
            "MoneyQuantity",
            "SimpleQuantity",
        ],
    ),
];
const RANGES: &[&str] = &[
    "integer",
    "integer64",
    "decimal",
    "instant",
    "date",
    "dateTime",
    "time",
    "positiveInt",
    "unsignedInt",
    "Age",
    "Count",
    "Distance",
    "Duration",
    "Money",
    "Quantity",
    "MoneyQuantity",
    "SimpleQuantity",
];
const FHIR_TYPE: &str = "http://hl7.org/fhir/StructureDefinition/structuredefinition-fhir-type";

impl<'t> Run<'t> {
    pub(super) fn structure_definition(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        let told = of.text("type").unwrap_or_default();
        let name = told.rsplit('/').next().unwrap_or_default();
        if name != "Extension" {
            for context in of.all("context").chain(of.all("contextInvariant")) {
                error(issues, context, "rule-definition-context", &[]);
            }
        } else {
            of.all("context").for_each(|context| self.context_is_there(context, issues));
        }
        let base = of.text("baseDefinition").and_then(|base| self.set.profile(base, 0));
        if let Some(base) = base {
            base_goes(of, name, base, issues);
        }
        self.own_name(of, issues);
        // Without its base HL7's validator looks at no element.
        let Some(base) = base else { return };
        for (list, is_snapshot) in [("differential", false), ("snapshot", true)] {
            let lists = of.all(list);
            lists.for_each(|list| differentials::invariants(of, list, base, issues));
            for element in of.all(list).flat_map(|list| list.all("element")) {
                self.definition_element(element, name, is_snapshot, issues);
                if is_snapshot {
                    differentials::in_snapshot(element, is_constraint(of), issues);
                } else if is_constraint(of) {
                    narrows(element, base, issues);
                }
            }
        }
        if is_constraint(of) && base.type_name == name {
            self.constrains(of, base, issues);
        }
        if name == "Extension"
            && of.text("baseDefinition").is_some_and(|of| of.ends_with("/Extension"))
        {
            own_url(of, issues);
        }
    }

    /// Only a logical model is a type of an address of its own; every other definition is of a type
    /// of FHIR, and constrains it.
    fn own_name(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        let Some((at, name)) = of.child("type").and_then(|at| Some((at, at.value()?))) else {
            return;
        };
        let is_told =
            issues.iter().any(|told| told.at == of.number() && told.code == "rule-definition-base");
        // Without the types of FHIR nobody can tell.
        if is_told || self.set.type_profile("Element").is_none() {
            return;
        }
        let told = |name: &str| of.text(name).unwrap_or_default();
        if is_absolute(name) {
            if told("kind") != "logical" {
                let params = [("expected", "logical"), ("found", told("kind"))];
                error(issues, of, "rule-definition-base", &params);
            }
        } else if self.set.type_profile(name).is_none() {
            let params = [("expected", told("url")), ("found", name)];
            error(issues, at, "rule-definition-type", &params);
        } else if told("derivation") != "constraint" && told("url") != format!("{BASE}{name}") {
            let params = [("expected", "constraint"), ("found", told("derivation"))];
            error(issues, of, "rule-definition-base", &params);
        }
    }

    fn definition_element(
        &self,
        of: Element<'t>,
        name: &str,
        is_snapshot: bool,
        issues: &mut Vec<Issue>,
    ) {
        let Some(path) = of.text("path") else { return };
        let rest = path.strip_prefix(name);
        if !name.is_empty() && !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
            return error(
                issues,
                of,
                "rule-definition-path",
                &[("expected", name), ("found", path)],
            );
        }
        let is_root = !path.contains('.');
        if let Some(slicing) = of.child("slicing") {
            let first = path.split('.').next().unwrap_or_default();
            let node = self.set.type_profile(first).and_then(|of| of.at_path(path));
            let is_one = node.is_some_and(|node| node.max == 1) && !path.contains("[x]");
            if is_one || (is_root && !is_snapshot) {
                not_allowed(slicing, "slicing", path, issues);
            }
            if node.is_some() {
                self.discriminators(slicing, path, issues);
            }
        }
        let types: Vec<&str> = of.all("type").filter_map(type_of).collect();
        for (name, able) in ABILITIES {
            let stands = || of.child(name).or_else(|| of.choice(name));
            if let Some(child) = stands().filter(|_| !types.is_empty())
                && !types.iter().any(|of| able.contains(of) || !is_known(of))
            {
                not_allowed(child, name, path, issues);
            }
        }
        for kind in ["fixed", "pattern", "defaultValue"] {
            let Some(value) = of.choice(kind).filter(|_| is_snapshot && !is_root) else { continue };
            if !types.contains(&value.type_name()) {
                let params = [("expected", &*types.join(", ")), ("found", value.type_name())];
                error(issues, value, "rule-definition-type", &params);
            }
        }
        of.all("type").for_each(|of| self.definition_type(of, path, issues));
        if let Some(set) = of.child("binding").and_then(|of| of.child("valueSet"))
            && let Some(url) = set.value()
            && self.set.members(url, 0).is_none()
            && self.set.codes(url, 0).is_some()
        {
            error(issues, set, "rule-binding-not-value-set", &[("value", url)]);
        }
    }

    /// The profiles of a type are profiles of that type, and only references have targets.
    fn definition_type(&self, of: Element<'t>, path: &str, issues: &mut Vec<Issue>) {
        let Some(code) = type_of(of) else { return };
        for profile in of.all("profile") {
            let known = profile.value().and_then(|url| self.set.profile(url, 0));
            let Some(known) = known else { continue };
            let is_modifier = path.ends_with(".modifierExtension");
            let fits = known.type_name == code || known.url.ends_with(&format!("/{code}"));
            let is_abstract =
                matches!(code, "Resource" | "DomainResource" | "Element" | "BackboneElement");
            if !(fits || is_abstract) {
                let params = [("expected", code), ("found", &*known.type_name)];
                error(issues, profile, "rule-definition-type", &params);
            } else if known.type_name == "Extension" && known.node(0).is_modifier != is_modifier {
                not_allowed(profile, &known.url, path, issues);
            }
        }
        if let Some(target) = of.child("targetProfile")
            && !matches!(code, "Reference" | "CodeableReference" | "canonical")
        {
            not_allowed(target, "targetProfile", path, issues);
        }
    }
}

pub(super) fn not_allowed(at: Element<'_>, element: &str, path: &str, issues: &mut Vec<Issue>) {
    error(issues, at, "rule-definition-not-allowed", &[("element", element), ("value", path)]);
}

fn is_constraint(of: Element<'_>) -> bool {
    of.text("derivation") == Some("constraint")
}

fn is_known(name: &str) -> bool {
    fhir::TypeDefinition::named(name).is_some()
}

/// The type of FHIR that a type stands for.
pub(super) fn type_of<'t>(of: Element<'t>) -> Option<&'t str> {
    let told = of.child("code").into_iter().flat_map(|code| code.all("extension"));
    let told = of.all("extension").chain(told).find(|of| of.text("url") == Some(FHIR_TYPE));
    told.and_then(|of| of.choice("value")).and_then(Element::value).or_else(|| of.text("code"))
}

/// Kind and type of a definition against those of its base.
fn base_goes(of: Element<'_>, name: &str, base: &Profile, issues: &mut Vec<Issue>) {
    let mut differs = |expected: &str, found: &str| {
        let params = [("expected", expected), ("found", found)];
        error(issues, of, "rule-definition-base", &params);
    };
    let kind = of.text("kind").unwrap_or_default();
    let must_be_same = is_constraint(of) || !base.is_abstract;
    if must_be_same && !kind.is_empty() && kind != base.kind {
        return differs(&base.kind, kind);
    }
    match of.text("derivation") {
        Some("constraint") if name != base.type_name => differs(&base.type_name, name),
        Some("specialization") if name == base.type_name => differs("specialization", name),
        None => differs("derivation", ""),
        _ => {}
    }
}

/// A differential may allow less than its base, not more.
fn narrows(of: Element<'_>, base: &Profile, issues: &mut Vec<Issue>) {
    let path = of.text("path").unwrap_or_default();
    if of.child("sliceName").is_some() || of.text("id").is_some_and(|id| id.contains(':')) {
        return;
    }
    let Some(node) = base.at_path(path) else { return };
    let min = of.text("min").and_then(|min| min.parse::<u32>().ok());
    let max = of.text("max").map(|max| max.parse().unwrap_or(UNBOUNDED));
    let wider = match (min, max) {
        (Some(min), _) if min < node.min => Some(("min", node.min, min)),
        (_, Some(max)) if max > node.max => Some(("max", node.max, max)),
        _ => None,
    };
    if let Some((element, expected, found)) = wider {
        let shown = |bound: u32| match bound {
            UNBOUNDED => "*".to_owned(),
            bound => bound.to_string(),
        };
        let (expected, found) = (shown(expected), shown(found));
        let params = [("element", element), ("expected", &*expected), ("found", &*found)];
        error(issues, of, "rule-definition-wider", &params);
    }
}

/// An extension fixes its own address as `Extension.url`.
fn own_url(of: Element<'_>, issues: &mut Vec<Issue>) {
    let (Some(url), Some(differential)) = (of.text("url"), of.child("differential")) else {
        return;
    };
    let mut elements = differential.all("element");
    let own = elements.find(|of| of.text("path") == Some("Extension.url"));
    let fixed = own.and_then(|of| of.choice("fixed"));
    let found = fixed.and_then(Element::value).unwrap_or_default();
    if found != url {
        let params = [("expected", url), ("found", found)];
        error(issues, fixed.or(own).unwrap_or(of), "rule-definition-extension-url", &params);
    }
}
