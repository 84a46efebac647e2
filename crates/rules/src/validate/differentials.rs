//! What a StructureDefinition says of its elements, against the definition that it builds on: HL7's
//! validator makes the snapshot anew and tells what does not go.

use std::collections::HashMap;

use fhir::{Element, TypeDefinition};
use fhirpath::{Expression, TypeProblem};

use super::definitions::{not_allowed, type_of};
use super::matching::{fits, shown};
use super::{Issue, Run, error};
use crate::profile::{Node, Profile};

/// Types whose parts are told elsewhere, or nowhere.
const OPEN: [&str; 5] = ["Resource", "DomainResource", "Element", "BackboneElement", "Base"];
/// Types that stand for narrower ones.
const NARROWER: [(&str, &[&str]); 4] = [
    ("uri", &["url", "canonical", "uuid", "oid"]),
    ("string", &["code", "id", "markdown"]),
    ("integer", &["positiveInt", "unsignedInt"]),
    (
        "Quantity",
        &["Age", "Count", "Distance", "Duration", "Money", "MoneyQuantity", "SimpleQuantity"],
    ),
];
/// What the root of a snapshot does not say (R4, elementdefinition.html#interpretation).
const NOT_AT_ROOTS: [&str; 6] =
    ["sliceName", "slicing", "requirements", "meaningWhenMissing", "maxLength", "example"];
const NOT_AT_ROOTS_OF_TYPES: [&str; 4] = ["sliceName", "slicing", "requirements", "example"];
const VALUES_NOT_AT_ROOTS: [&str; 5] = ["defaultValue", "fixed", "pattern", "minValue", "maxValue"];
/// What all definitions have in common, which R4 does not define, and one of those that have it.
const COMMON: &str = "CanonicalResource";
const HAS_COMMON: &str = "CodeSystem";
const VERSIONS: &str = "http://hl7.org/fhir/StructureDefinition/version-specific-use";

/// Where a path leads in the definitions.
enum Leads<'t> {
    To(&'t Node),
    /// Into something that is not told here.
    Open,
    Nowhere,
}

impl<'t> Run<'t> {
    /// The elements of a differential of a constraint.
    pub(super) fn constrains(&self, of: Element<'t>, base: &'t Profile, issues: &mut Vec<Issue>) {
        let elements: Vec<Element<'t>> =
            of.all("differential").flat_map(|list| list.all("element")).collect();
        for element in &elements {
            let Some(path) = element.text("path") else { continue };
            match self.leads(base, path, &elements) {
                Leads::To(node) => self.within(*element, node, issues),
                Leads::Nowhere => {
                    error(issues, *element, "rule-definition-element-unknown", &[("value", path)]);
                }
                Leads::Open => {}
            }
            let may_be_missing = path == "Extension" || path.ends_with(".extension");
            if let Some(told) = element.child("meaningWhenMissing").filter(|_| !may_be_missing) {
                not_allowed(told, "meaningWhenMissing", path, issues);
            }
        }
    }

    /// An element of a differential against that of the base.
    fn within(&self, of: Element<'t>, node: &'t Node, issues: &mut Vec<Issue>) {
        let allowed: Vec<&str> = node.types.iter().map(|of| &*of.code).collect();
        let is_allowed = |code: &str| {
            allowed.is_empty()
                || allowed.iter().any(|of| *of == code || OPEN.contains(of) || narrows(of, code))
        };
        for told in of.all("type") {
            if let Some(code) = type_of(told).filter(|code| !is_allowed(code)) {
                let params = [("expected", &*allowed.join(", ")), ("found", code)];
                error(issues, told, "rule-definition-type", &params);
            }
        }
        let own: Vec<&str> = of.all("type").filter_map(type_of).collect();
        has_value_of(of, if own.is_empty() { &allowed } else { &own }, issues);
        let is_required = node.binding.as_ref().is_some_and(|of| of.strength == "required");
        let told = of.child("binding").filter(|_| is_required);
        if let Some(told) = told.and_then(|of| of.child("strength"))
            && told.value() != Some("required")
        {
            let found = told.value().unwrap_or_default();
            let params = [("element", "binding"), ("expected", "required"), ("found", found)];
            error(issues, told, "rule-definition-wider", &params);
        }
        if let (Some(own), Some(fixed)) = (of.choice("fixed"), &node.fixed)
            && !fits(own, &fixed.value, true)
        {
            let (expected, found) = (shown(&fixed.value), own.value().unwrap_or_default());
            let params = [("element", own.name()), ("expected", &*expected), ("found", found)];
            error(issues, own, "rule-fixed-value", &params);
        }
    }

    /// Where a path leads from the root of a definition; `elements` may name types on the way.
    fn leads(&self, from: &'t Profile, path: &str, elements: &[Element<'t>]) -> Leads<'t> {
        let mut steps = path.split('.');
        let mut told = steps.next().unwrap_or_default().to_owned();
        let (mut profile, mut at) = (from, 0);
        for step in steps {
            let here = |of: &&Element<'t>| of.text("path") == Some(&told);
            let mut own = elements.iter().filter(here).flat_map(|of| of.all("type"));
            if own.any(|of| type_of(of).is_some_and(|code| !is_type_of(profile.node(at), code))) {
                return Leads::Open;
            }
            match self.child_of(profile, at, step) {
                Ok(Some((of, child))) => (profile, at) = (of, child),
                Ok(None) => return Leads::Nowhere,
                Err(()) => return Leads::Open,
            }
            told = format!("{told}.{step}");
        }
        Leads::To(profile.node(at))
    }

    /// By what slices are told apart is something that there is. Functions are not looked at.
    pub(super) fn discriminators(&self, slicing: Element<'t>, path: &str, issues: &mut Vec<Issue>) {
        let first = path.split('.').next().unwrap_or_default();
        let Some(of) = self.type_profile_of(first) else { return };
        for discriminator in slicing.all("discriminator") {
            let told = discriminator.text("path").unwrap_or_default();
            let is_plain = told.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
            let whole = format!("{path}.{told}");
            if is_plain && !told.is_empty() && matches!(self.leads(of, &whole, &[]), Leads::Nowhere)
            {
                error(issues, discriminator, "rule-definition-element-unknown", &[("value", told)]);
            }
        }
    }

    /// The child of a name, in the definition itself or in a type of the element; an error where
    /// not all is known.
    fn child_of(
        &self,
        profile: &'t Profile,
        at: u32,
        name: &str,
    ) -> Result<Option<(&'t Profile, u32)>, ()> {
        let node = profile.node(at);
        let own = [Some((profile, at)), self.set.content_of(profile, at)];
        let child = |(of, at)| named(of, at, name).map(|child| (of, child));
        if let Some(child) = own.into_iter().flatten().find_map(child) {
            return Ok(Some(child));
        }
        if at == 0 {
            return Ok(None);
        }
        for of in &node.types {
            // What a profile of the type adds is not looked at.
            let of_type = self.type_profile_of(&of.code).filter(|_| of.profiles.is_empty());
            let is_open = OPEN.contains(&&*of.code) && node.children.is_empty();
            let of_type = of_type.filter(|_| !is_open).ok_or(())?;
            if let Some(child) = named(of_type, 0, name) {
                return Ok(Some((of_type, child)));
            }
        }
        Ok(None)
    }

    /// Where an extension may stand is a place that there is.
    pub(super) fn context_is_there(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        let told = of.child("expression").filter(|_| of.text("type") == Some("element"));
        let Some(path) = told.and_then(Element::value) else { return };
        let is_plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
        let begins = path.starts_with(|first: char| first.is_ascii_uppercase());
        if !is_plain || !begins || of.extension(VERSIONS).is_some() {
            return;
        }
        // Without the types of FHIR nobody can tell.
        if self.set.type_profile("Element").is_none() {
            return;
        }
        let common =
            path.strip_prefix(COMMON).filter(|rest| matches!(rest.get(..1), None | Some(".")));
        let plain = common.map_or(path.to_owned(), |rest| format!("{HAS_COMMON}{rest}"));
        let first = plain.split('.').next().unwrap_or_default();
        let is_there = self
            .type_profile_of(first)
            .is_some_and(|of| !matches!(self.leads(of, &plain, &[]), Leads::Nowhere));
        if !is_there {
            error(issues, of, "rule-definition-context-unknown", &[("value", path)]);
        }
    }

    fn type_profile_of(&self, name: &str) -> Option<&'t Profile> {
        self.set.type_profile(name)
    }
}

/// A value that an element must have is of one of its types, as they are written.
fn has_value_of(of: Element<'_>, types: &[&str], issues: &mut Vec<Issue>) {
    let is_closed = |code: &&str| !OPEN.contains(code) && TypeDefinition::named(code).is_some();
    if types.is_empty() || !types.iter().all(is_closed) {
        return;
    }
    let values = ["fixed", "pattern"].into_iter().filter_map(|name| of.choice(name));
    for value in values.filter(|value| !types.contains(&value.type_name())) {
        let params = [("expected", &*types.join(", ")), ("found", value.type_name())];
        error(issues, value, "rule-definition-type", &params);
    }
}

/// An element of a snapshot.
pub(super) fn in_snapshot(of: Element<'_>, is_constraint: bool, issues: &mut Vec<Issue>) {
    let Some(path) = of.text("path") else { return };
    let is_root = !path.contains('.');
    let (plain, values) = match (is_root, is_constraint) {
        (true, true) => (&NOT_AT_ROOTS[..], &VALUES_NOT_AT_ROOTS[..]),
        (true, false) => (&NOT_AT_ROOTS_OF_TYPES[..], &VALUES_NOT_AT_ROOTS[..]),
        (false, true) => (&[][..], &[][..]),
        (false, false) => (&["sliceName"][..], &VALUES_NOT_AT_ROOTS[1..]),
    };
    let plain = plain.iter().filter_map(|name| Some((*name, of.child(name)?)));
    let values = values.iter().filter_map(|name| Some((*name, of.choice(name)?)));
    for (name, told) in plain.chain(values) {
        not_allowed(told, name, path, issues);
    }
    let mut missing = |element: &str| {
        let params = [("element", element), ("expected", "1"), ("found", "0"), ("profile", "")];
        error(issues, of, "rule-missing", &params);
    };
    if is_root {
        return;
    }
    for name in ["min", "max"] {
        if !is_constraint && of.child(name).is_none() {
            missing(name);
        }
    }
    if of.child("type").is_none() && of.child("contentReference").is_none() {
        missing("type");
    }
}

/// A key stands for one expression, which can be read.
pub(super) fn invariants(
    of: Element<'_>,
    list: Element<'_>,
    base: &Profile,
    issues: &mut Vec<Issue>,
) {
    let is_snapshot = list.name() == "snapshot";
    let url = of.text("url").unwrap_or_default();
    let mut known: HashMap<&str, &str> = HashMap::new();
    let of_base = if is_snapshot { &[][..] } else { &base.nodes };
    for rule in of_base.iter().flat_map(|node| &node.rules) {
        known.entry(&rule.key).or_insert(&rule.published);
    }
    let rules = list.all("element").flat_map(|of| of.all("constraint").map(move |rule| (of, rule)));
    for (element, rule) in rules {
        let (Some(key), Some(expression)) = (rule.text("key"), rule.text("expression")) else {
            continue;
        };
        let params = [("rule", key), ("value", expression)];
        let other = *known.entry(key).or_insert(expression);
        if other != expression && key != "ele-1" {
            error(issues, rule, "rule-definition-key-twice", &params);
            continue;
        }
        let source = rule.child("source").filter(|of| plain(of.value()) != Some(url));
        match source {
            None if is_snapshot && !can_be_asked(element, expression) => {
                error(issues, rule, "rule-definition-expression", &params);
            }
            // A differential adds rules of its own.
            Some(source) if !is_snapshot => {
                not_allowed(source, "source", element.text("path").unwrap_or_default(), issues);
            }
            _ => {}
        }
    }
}

/// A canonical without its version.
fn plain(canonical: Option<&str>) -> Option<&str> {
    canonical?.split('|').next()
}

/// Whether an expression can be read, and asks an element for nothing that none of its type has.
fn can_be_asked(of: Element<'_>, expression: &str) -> bool {
    let Ok(expression) = Expression::parse(expression) else { return false };
    let path = of.text("path").unwrap_or_default();
    let types: Vec<&str> = of.all("type").filter_map(type_of).collect();
    let name = match types.as_slice() {
        _ if !path.contains('.') => path,
        [one] if OPEN.contains(one) => path,
        [one] => one,
        _ => return true,
    };
    TypeDefinition::named(name).is_none_or(|on| knows_names(&expression, &[on]))
}

/// Whether an expression on elements of one of these types asks for nothing that none of them has.
/// Of no type nobody can tell, and the definitions of primitives have an element `value`.
pub(super) fn knows_names(expression: &Expression, on: &[TypeDefinition]) -> bool {
    match expression.check_on_any(on) {
        Err(TypeProblem::UnknownElement { name, .. }) => &*name == "value" || on.is_empty(),
        _ => true,
    }
}

fn narrows(base: &str, code: &str) -> bool {
    NARROWER.iter().any(|(of, all)| *of == base && all.contains(&code))
}

fn is_type_of(node: &Node, code: &str) -> bool {
    node.types.iter().any(|of| of.code == code) || TypeDefinition::named(code).is_none()
}

/// The child of a name as a path writes it: `value[x]`, `valueQuantity`, `value`.
fn named(profile: &Profile, of: u32, name: &str) -> Option<u32> {
    let is_named = |at: &u32| {
        let node = profile.node(*at);
        let rest = name.strip_prefix(&*node.name);
        let is_typed = |rest: &str| {
            rest == "[x]" || rest.starts_with(|first: char| first.is_ascii_uppercase())
        };
        rest.is_some_and(|rest| rest.is_empty() || (node.is_choice && is_typed(rest)))
    };
    let children = &profile.node(of).children;
    // Of two that begin alike the longer name is meant.
    children.iter().copied().filter(is_named).max_by_key(|at| profile.node(*at).name.len())
}
