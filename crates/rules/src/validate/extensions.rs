//! Extensions: whether anybody defines them, whether they may stand where they stand, and whether
//! they may change the meaning of what is around them.

use std::sync::Arc;

use fhir::{Element, ElementDefinition, TypeDefinition};
use fhirpath::{Context, Expression, Item};

use super::bundle::is_absolute;
use super::invariants::resources_of;
use super::{Held, Issue, Run, error, has_errors, push};
use crate::definition::ExtensionContext;
use crate::facts;
use crate::profile::Profile;
use crate::rule::Rule;
use crate::terminology::Mode;

/// Addresses of examples: nobody defines them, and nobody is told.
const EXAMPLES: &[&str] = &["example.org", "example.com", "acme.com", "acme.org", "nema.org"];
/// What stands there is a value for other documents: every extension is allowed in it.
const VALUES: &[&str] =
    &["ElementDefinition.example.value", "ElementDefinition.pattern", "ElementDefinition.fixed"];
/// Extensions of HL7's own tools, which no package needs to define.
const TOOLS: &[&str] = &[
    "http://hl7.org/fhir/tools/StructureDefinition/",
    "http://hl7.org/fhir/build/StructureDefinition/",
];
/// Extensions that stand for elements of other releases of FHIR.
const OTHER_RELEASES: &str = "/StructureDefinition/extension-";

impl<'t> Run<'t> {
    pub(super) fn extension(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        let Some(url) = of.text("url") else { return };
        let Some(owner) = of.parent() else { return };
        let is_nested = owner.type_name() == "Extension";
        if !is_absolute(url) {
            // Inside of a complex extension its definition says which names there are.
            if is_nested {
                return self.part(of, owner, url, issues);
            }
            return error(issues, of, "rule-extension-url-relative", &[("value", url)]);
        }
        let is_modifier = of.name() == "modifierExtension";
        if let Some((plain, version)) = url.split_once('|')
            && self.set.profile(plain, 0).is_some()
            && !version.is_empty()
        {
            return error(issues, of, "rule-extension-version", &[("value", url)]);
        }
        let Some(profile) = self.set.profile(url, 0) else {
            return self.unknown_extension(of, url, is_modifier, issues);
        };
        if profile.type_name != "Extension" {
            return error(issues, of, "rule-extension-not-defined", &[("value", url)]);
        }
        if profile.node(0).is_modifier != is_modifier {
            let code = if is_modifier {
                "rule-extension-not-modifier"
            } else {
                "rule-extension-is-modifier"
            };
            error(issues, of, code, &[("value", url)]);
        }
        value_is_there(of, url, profile, issues);
        issues.extend(self.conform(of, profile).iter().cloned());
        self.context(of, owner, profile, issues);
    }

    /// A part of a complex extension: its definition must name it, if anybody defines that
    /// extension.
    fn part(&self, of: Element<'t>, owner: Element<'t>, url: &str, issues: &mut Vec<Issue>) {
        let around = owner.text("url").filter(|around| is_absolute(around));
        let Some(profile) = around.and_then(|around| self.set.profile(around, 0)) else { return };
        let is_told = profile.nodes.iter().any(|node| {
            let fixed = node.fixed.as_ref().and_then(|told| told.value.as_str());
            node.path == "Extension.extension.url" && fixed == Some(url)
        });
        if !is_told {
            let params = [("value", url), ("profile", &*profile.url)];
            error(issues, of, "rule-extension-part-unknown", &params);
        }
    }

    fn unknown_extension(
        &self,
        of: Element<'t>,
        url: &str,
        is_modifier: bool,
        issues: &mut Vec<Issue>,
    ) {
        let is_example = TOOLS.iter().any(|tools| url.starts_with(tools))
            || EXAMPLES.iter().any(|example| url.contains(example));
        let release = url
            .strip_prefix("http://hl7.org/fhir/")
            .and_then(|rest| rest.split_once(OTHER_RELEASES))
            .map(|(release, _)| release);
        if self.set.is_empty() || release.is_some_and(|of| !is_no_release(of)) {
            return;
        }
        let is_error = is_modifier || self.mode == Mode::Strict || release.is_some();
        if is_error && !is_example {
            error(issues, of, "rule-extension-unknown", &[("value", url)]);
        } else if !is_example {
            let severity = fhir::Severity::Information;
            push(issues, of, "rule-extension-unknown", severity, &[("value", url)]);
        }
    }

    /// Where the extension stands, against where its definition lets it stand.
    fn context(
        &self,
        of: Element<'t>,
        owner: Element<'t>,
        profile: &'t Profile,
        issues: &mut Vec<Issue>,
    ) {
        let instead = || facts::contexts_of(&profile.url);
        if !instead().any(|of| of == "Element") {
            let names = names_of(owner);
            let fits = profile.contexts.iter().any(|told| self.is_there(owner, told, &names));
            let is_value = VALUES.iter().any(|value| names.iter().any(|of| of.starts_with(value)));
            let is_named = |of: &str| match of {
                "CanonicalResource" => is_canonical(owner),
                of => names.iter().any(|name| name == of),
            };
            let is_instead = instead().any(is_named);
            if !(fits || is_value || is_instead) {
                let told: Vec<&str> = profile.contexts.iter().map(|of| &*of.expression).collect();
                let found = names.first().map(String::as_str).unwrap_or_default();
                let params =
                    [("value", &*profile.url), ("expected", &told.join(", ")), ("found", found)];
                error(issues, of, "rule-extension-context", &params);
            }
        }
        for rule in profile.context_rules.iter().filter(|_| facts::is_ruled(&profile.url)) {
            if self.context_rule(of, owner, rule) == Held::No {
                let params = [("value", &*profile.url), ("text", &*rule.human)];
                error(issues, of, "rule-extension-context-rule", &params);
            }
        }
    }

    fn is_there(&self, owner: Element<'t>, told: &ExtensionContext, names: &[String]) -> bool {
        let expression = told.expression.as_str();
        match &*told.kind {
            "extension" => {
                // Beside the value, or at the value itself.
                let around = owner.parent().filter(|_| owner.name().starts_with("value"));
                let is_meant = |of: Element<'_>| {
                    of.type_name() == "Extension" && of.text("url") == Some(expression)
                };
                [Some(owner), around].into_iter().flatten().any(is_meant)
            }
            "fhirpath" => self.is_among(owner, expression),
            // An element of resources that conform to a profile.
            _ if expression.contains('#') => {
                let (url, path) = expression.split_once('#').unwrap_or_default();
                names.iter().any(|name| name == path) && self.is_in_profile(owner, url)
            }
            _ => {
                let plain = expression.replace("[x]", "");
                matches!(expression, "Element" | "Any" | "*")
                    || (expression == "CanonicalResource" && is_canonical(owner))
                    || names.contains(&plain)
            }
        }
    }

    fn is_in_profile(&self, owner: Element<'t>, url: &str) -> bool {
        let (resource, _) = resources_of(owner);
        match self.set.profile(url, 0) {
            Some(profile) if resource.is_of(&profile.type_name) => {
                !has_errors(&self.conform(resource, profile))
            }
            Some(_) => true,
            None => false,
        }
    }

    /// Whether an expression, asked of the resource, gives this element.
    fn is_among(&self, owner: Element<'t>, expression: &str) -> bool {
        let (resource, root) = resources_of(owner);
        let Ok(expression) = Expression::parse(expression) else { return true };
        // The expression lives as long as this question only; so does what it gives.
        among(self, &expression, owner, resource, root)
    }

    fn context_rule(&self, of: Element<'t>, owner: Element<'t>, rule: &'t Arc<Rule>) -> Held {
        let Some(expression) = rule.expression() else { return Held::NotEvaluated };
        let (resource, root) = resources_of(owner);
        let extension = [Item::Element(of)].into_iter().collect();
        let context = Context::new(self.now)
            .within(resource, root)
            .on(Item::Element(owner))
            .with("extension", extension)
            .asking(self);
        match expression.holds(&context, &[Item::Element(owner)]) {
            Ok(true) => Held::Yes,
            Ok(false) => Held::No,
            Err(_) => Held::NotEvaluated,
        }
    }
}

/// `9.0`: written as a release of FHIR, and none.
fn is_no_release(told: &str) -> bool {
    let parts = told.split_once('.').map(|(major, minor)| (major.parse(), minor.parse::<u8>()));
    matches!(parts, Some((Ok(major), Ok(_))) if !(1..=6_u8).contains(&major))
}

/// A definition that names types for its value asks for one, also where it may be left out.
fn value_is_there(of: Element<'_>, url: &str, profile: &Profile, issues: &mut Vec<Issue>) {
    let Some(value) = profile.child(0, "value").map(|at| profile.node(at)) else { return };
    if value.max > 0 && !value.types.is_empty() && of.choice("value").is_none() {
        error(issues, of, "rule-extension-value-missing", &[("value", url)]);
    }
}

/// A resource that has a canonical address of its own.
fn is_canonical(of: Element<'_>) -> bool {
    let is_url =
        |element: ElementDefinition| element.name().text() == "url" && element.of().name() == "uri";
    let resource = of.resource_type().and_then(TypeDefinition::named);
    resource.is_some_and(|of| of.elements().any(is_url))
}

fn among<'e>(
    run: &Run<'_>,
    expression: &'e Expression,
    owner: Element<'e>,
    resource: Element<'e>,
    root: Element<'e>,
) -> bool {
    let context = Context::new(run.now).within(resource, root);
    let found = expression.evaluate(&context, &[Item::Element(resource)]);
    found.is_ok_and(|found| {
        found.iter().any(|item| match item {
            Item::Element(of) => of.is_same_place(owner),
            Item::Boolean(holds) => *holds,
            _ => false,
        })
    })
}

/// Every name under which a context may mean an element: its path from the resource, from each type
/// around it, and its own types.
fn names_of(owner: Element<'_>) -> Vec<String> {
    let mut names = Vec::new();
    let mut tail = String::new();
    let mut at = owner;
    loop {
        let mut types: Vec<&str> = vec![at.type_name()];
        types.extend(bases(at.type_name()));
        if let Some(kind) = at.resource_type() {
            types = vec!["Resource", "DomainResource", kind];
        }
        for of in types {
            names.push(format!("{of}{tail}"));
            names.push(collapsed(&format!("{of}{tail}")));
        }
        if at.resource_type().is_some() {
            break;
        }
        tail = format!(".{}{tail}", at.stem());
        match at.parent() {
            Some(parent) => at = parent,
            None => break,
        }
    }
    // The path from the resource says most.
    names.reverse();
    names
}

/// `Questionnaire.item.item` is described as `Questionnaire.item`.
fn collapsed(path: &str) -> String {
    let mut parts: Vec<&str> = path.split('.').collect();
    parts.dedup();
    parts.join(".")
}

fn bases(name: &str) -> &'static [&'static str] {
    match name {
        "code" | "id" | "markdown" => &["string"],
        "url" | "canonical" | "uuid" | "oid" => &["uri"],
        "unsignedInt" | "positiveInt" => &["integer"],
        "Age" | "Count" | "Distance" | "Duration" => &["Quantity"],
        "Timing" | "Dosage" | "ElementDefinition" => &["BackboneElement"],
        _ => &[],
    }
}
