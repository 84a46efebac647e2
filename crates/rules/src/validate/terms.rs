//! Code systems and value sets as documents: what their elements say of each other.

use fhir::{Element, TypeDefinition};
use fhirpath::Expression;

use super::bundle::is_absolute;
use super::differentials::knows_names;
use super::{Issue, Run, error};
use crate::terminology::Membership;

/// Concepts in concepts that are followed; the reader allows 64.
const DEPTH_MAX: usize = 64;

impl<'t> Run<'t> {
    /// A code system with its value set, and a supplement with what it adds to.
    pub(super) fn code_system(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        code_system(of, issues);
        self.concept_properties(of, issues);
        if let Some(told) = of.child("valueSet")
            && let Some(canonical) = told.value()
            && let Some((members, _)) = self.set.members(canonical, 0)
            && !members.is_all_of(of.text("url").unwrap_or_default())
        {
            error(issues, told, "rule-code-system-value-set", &[("value", canonical)]);
        }
        let Some(supplemented) = of.text("supplements") else { return };
        for code in of.all("concept").filter_map(|concept| concept.child("code")) {
            let value = code.value().unwrap_or_default();
            if self.set.has_code(supplemented, 0, value) == Some(false) {
                let params = [("value", value), ("system", supplemented)];
                error(issues, code, "rule-code-unknown", &params);
            }
        }
    }

    /// What a value set includes are code systems, named by complete addresses.
    pub(super) fn value_set(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        value_set(of, issues);
        let parts = of.all("compose").flat_map(|of| of.all("include").chain(of.all("exclude")));
        for (part, system) in parts.filter_map(|part| Some((part, part.child("system")?))) {
            let told = system.value().unwrap_or_default();
            let told = told.split('|').next().unwrap_or_default();
            part.all("filter").for_each(|of| self.filter(of, told, issues));
            if !told.is_empty() && !is_absolute(told) {
                let params = [("element", "system"), ("value", told)];
                error(issues, system, "rule-system-not-absolute", &params);
            } else if self.set.codes(told, 0).is_some_and(crate::vocabulary::Codes::is_supplement)
                || (self.set.codes(told, 0).is_none() && self.set.members(told, 0).is_some())
            {
                error(issues, system, "rule-value-set-system", &[("value", told)]);
            }
        }
    }
}

impl<'t> Run<'t> {
    /// What a filter asks of the codes of every code system; terminologies of others, and
    /// properties, have filters of their own.
    fn filter(&self, of: Element<'t>, system: &str, issues: &mut Vec<Issue>) {
        let told = |name: &str| of.text(name).unwrap_or_default();
        let (property, op, value) = (told("property"), told("op"), told("value"));
        // Of a code system that is here as a whole it is known whether it has a code.
        let is_here = self.set.has_code(system, 0, value).is_some();
        if !is_here || value.is_empty() || !matches!(property, "concept" | "code") {
            return;
        }
        let is_code = |code: &str| self.set.has_code(system, 0, code) != Some(false);
        let wrong = match op {
            "in" | "not-in" => value.split(',').find(|code| !is_code(code)),
            "=" | "is-a" | "descendent-of" | "is-not-a" | "generalizes" => {
                Some(value).filter(|code| !is_code(code))
            }
            "regex" if property == "code" && regex::Regex::new(value).is_ok() => None,
            "regex" | "exists" => {
                let params = [("element", property), ("value", op)];
                return error(issues, of, "rule-value-set-filter", &params);
            }
            _ => None,
        };
        if let Some(code) = wrong {
            error(issues, of, "rule-code-unknown", &[("value", code), ("system", system)]);
        }
    }

    /// The codes that a ConceptMap maps are codes of the systems that it names, and of its scopes.
    pub(super) fn concept_map(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        let scope = |name: &str| of.choice(name).and_then(Element::value);
        let (from, to) = (scope("source"), scope("target"));
        for group in of.all("group") {
            let version = |name: &str| group.text(name);
            let source = System::of(group.text("source"), version("sourceVersion"));
            let target = System::of(group.text("target"), version("targetVersion"));
            for element in group.all("element") {
                self.mapped(element, &source, from, issues);
                element.all("target").for_each(|of| self.mapped(of, &target, to, issues));
            }
        }
    }

    fn mapped(
        &self,
        of: Element<'t>,
        system: &Option<System>,
        scope: Option<&str>,
        issues: &mut Vec<Issue>,
    ) {
        let (Some(code), Some(system)) = (of.child("code"), system) else { return };
        let value = code.value().unwrap_or_default();
        match self.set.has_code(&system.canonical, 0, value) {
            Some(false) => {
                let params = [("value", value), ("system", &*system.url)];
                error(issues, code, "rule-code-unknown", &params);
            }
            Some(true) => {
                let Some(set) = scope.filter(|set| self.set.members(set, 0).is_some()) else {
                    return;
                };
                let answer = self.set.membership(set, 0, Some(&system.url), value, self.mode);
                if answer == Membership::Out {
                    let params = [("element", "code"), ("value", value), ("value-set", set)];
                    error(issues, code, "rule-code-not-in-value-set", &params);
                }
            }
            None => {}
        }
    }

    /// What is searched for is something that resources of one of the types have.
    pub(super) fn search_parameter(of: Element<'t>, issues: &mut Vec<Issue>) {
        let Some(told) = of.child("expression") else { return };
        let text = told.value().filter(|text| !text.is_empty());
        let Some(text) = text else { return };
        let bases: Option<Vec<TypeDefinition>> =
            of.all("base").map(|base| TypeDefinition::named(base.value()?)).collect();
        let is_fine = Expression::parse(text)
            .is_ok_and(|expression| knows_names(&expression, &bases.unwrap_or_default()));
        if !is_fine {
            let code = of.text("code").unwrap_or_default();
            let params = [("rule", code), ("value", text)];
            error(issues, told, "rule-definition-expression", &params);
        }
    }

    /// What goes in and out of an operation is told by profiles of Parameters.
    pub(super) fn operation(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        for told in ["inputProfile", "outputProfile"].into_iter().filter_map(|name| of.child(name))
        {
            let Some(canonical) = told.value() else { continue };
            match self.set.profile(canonical, 0) {
                None => error(issues, told, self.absent(canonical), &[("profile", canonical)]),
                Some(profile) if profile.type_name != "Parameters" => {
                    let found = ("found", &*profile.type_name);
                    let params = [("profile", canonical), ("expected", "Parameters"), found];
                    error(issues, told, "rule-profile-type", &params);
                }
                Some(_) => {}
            }
        }
    }
}

/// A code system that a ConceptMap names, with and without its version.
struct System {
    url: String,
    canonical: String,
}

impl System {
    fn of(told: Option<&str>, version: Option<&str>) -> Option<Self> {
        let told = told?;
        let url = told.split('|').next().unwrap_or_default().to_owned();
        let canonical = match version {
            Some(version) => format!("{url}|{version}"),
            None => told.to_owned(),
        };
        Some(Self { url, canonical })
    }
}

/// Counts, and what belongs to a supplement and what does not.
fn code_system(of: Element<'_>, issues: &mut Vec<Issue>) {
    let content = of.text("content").unwrap_or_default();
    let is_supplement = of.child("supplements").is_some();
    if is_supplement {
        // FHIR demands `hierarchyMeaning` where concepts are nested, whatever they add to.
        if let Some(child) = of.child("caseSensitive") {
            let params = [("element", "caseSensitive")];
            error(issues, child, "rule-code-system-supplement", &params);
        }
    }
    if let Some(child) = of.child("content")
        && is_supplement != (content == "supplement")
    {
        error(issues, child, "rule-code-system-supplement", &[("element", "content")]);
    }
    let count = concepts(of, 0);
    let told = of.child("count").filter(|_| content == "complete");
    if let Some(told) = told.filter(|told| told.value() != Some(&count.to_string())) {
        let (expected, found) = (count.to_string(), told.value().unwrap_or_default());
        let params = [("expected", &*expected), ("found", found)];
        error(issues, told, "rule-code-system-count", &params);
    }
    if let Some(concept) = of.child("concept").filter(|_| content == "not-present") {
        error(issues, concept, "rule-code-system-not-present", &[]);
    }
}

/// The version of a code system has an element of its own.
fn value_set(of: Element<'_>, issues: &mut Vec<Issue>) {
    let parts = of.all("compose").flat_map(|of| of.all("include").chain(of.all("exclude")));
    for system in parts.filter_map(|part| part.child("system")) {
        let told = system.value().unwrap_or_default();
        if told.split_once('|').is_some_and(|(_, version)| !version.is_empty()) {
            error(issues, system, "rule-value-set-version", &[("value", told)]);
        }
    }
}

fn concepts(of: Element<'_>, depth: usize) -> usize {
    let below = |concept| if depth < DEPTH_MAX { concepts(concept, depth + 1) } else { 0 };
    of.all("concept").map(|concept| 1 + below(concept)).sum()
}
