//! Codes against the value sets that they are bound to.

use fhir::{Element, Severity};

use super::invariants::resources_of;
use super::{Issue, Run, error, push};
use crate::definition::{Binding, Usage};
use crate::terminology::Membership;

impl<'t> Run<'t> {
    /// Whether what is coded is in a value set; `None` where the value set or the code is not
    /// there, or the element is not coded.
    pub(super) fn member(
        &self,
        of: Element<'t>,
        value_set: &str,
        package: u16,
    ) -> Option<Membership> {
        self.set.members(value_set, package)?;
        let one = |system: Option<&str>, code: &str| {
            self.set.membership(value_set, package, system, code, self.mode)
        };
        match of.type_name() {
            "Coding" => Some(one(Some(of.text("system")?), of.text("code")?)),
            "CodeableConcept" => of
                .all("coding")
                .filter_map(|coding| Some(one(Some(coding.text("system")?), coding.text("code")?)))
                .max(),
            "Quantity" => Some(one(Some(of.text("system")?), of.text("code")?)),
            "code" | "string" | "uri" | "url" | "canonical" | "id" => {
                let value = of.value()?;
                // A value set of URIs has codes without, one of codes has them with a system.
                Some(one(None, value))
            }
            _ => None,
        }
    }

    /// As FHIRPath's `memberOf` says it, which HL7's validator asks for slices too: nothing of an
    /// unknown value set, and nothing of any other type.
    pub(super) fn is_member(&self, of: Element<'t>, value_set: &str, package: u16) -> Option<bool> {
        let types = ["code", "string", "uri", "Coding", "CodeableConcept"];
        if !types.contains(&of.type_name()) {
            return None;
        }
        self.member(of, value_set, package).map(|answer| answer != Membership::Out)
    }

    /// What a binding says, and those beside it.
    pub(super) fn binding(
        &self,
        of: Element<'t>,
        binding: &Binding,
        package: u16,
        issues: &mut Vec<Issue>,
    ) {
        let own = binding.value_set.as_deref();
        self.bound(of, own, severity_of(&binding.strength), package, issues);
        let max = binding.max_value_set.as_deref().filter(|_| binding.strength == "extensible");
        self.bound(of, max, Severity::Error, package, issues);
        for more in &binding.additional {
            if more.usage.iter().all(|usage| is_met(of, usage)) {
                let severity = severity_of(&more.strength);
                self.bound(of, Some(&more.value_set), severity, package, issues);
            }
        }
    }

    /// One value set; whoever is out of it is told with this severity.
    fn bound(
        &self,
        of: Element<'t>,
        value_set: Option<&str>,
        severity: Severity,
        package: u16,
        issues: &mut Vec<Issue>,
    ) {
        let Some(value_set) = value_set.filter(|_| severity != Severity::Information) else {
            return;
        };
        if !is_coded(of) {
            return;
        }
        if self.set.members(value_set, package).is_none() {
            if self.set.codes(value_set, package).is_some() {
                error(issues, of, "rule-binding-not-value-set", &[("value", value_set)]);
            }
            return;
        }
        if is_without_code(of) {
            if severity == Severity::Error {
                let params = [("element", of.name()), ("value-set", value_set)];
                push(issues, of, "rule-code-missing", severity, &params);
            }
            return;
        }
        if self.member(of, value_set, package) == Some(Membership::Out) {
            let found = codes_of(of);
            let params = [("element", of.name()), ("value", &*found), ("value-set", value_set)];
            push(issues, of, "rule-code-not-in-value-set", severity, &params);
        }
    }
}

/// Preferred and example bindings say nothing that would hold a report.
fn severity_of(strength: &str) -> Severity {
    match strength {
        "required" => Severity::Error,
        "extensible" => Severity::Warning,
        _ => Severity::Information,
    }
}

/// Whether the resource around an element is one that an additional binding is for.
fn is_met(of: Element<'_>, usage: &Usage) -> bool {
    let (resource, _) = resources_of(of);
    let Some(path) = resource
        .resource_type()
        .and_then(|kind| usage.path.strip_prefix(kind))
        .and_then(|rest| rest.strip_prefix('.'))
    else {
        return false;
    };
    let mut places = vec![resource];
    for step in path.split('.') {
        places = places
            .iter()
            .flat_map(|place| place.children().filter(|child| child.name() == step))
            .collect();
    }
    let is_told = |coding: Element<'_>| {
        let told = |(system, code): &(String, String)| {
            coding.text("system") == Some(system) && coding.text("code") == Some(code)
        };
        usage.codes.iter().any(told)
    };
    places.into_iter().any(|place| match place.type_name() {
        "Coding" => is_told(place),
        "CodeableConcept" => place.all("coding").any(is_told),
        _ => false,
    })
}

/// Whether codes are looked at in elements of this type.
fn is_coded(of: Element<'_>) -> bool {
    let names = [
        "Coding",
        "CodeableConcept",
        "Quantity",
        "code",
        "string",
        "uri",
        "url",
        "canonical",
        "id",
    ];
    names.contains(&of.type_name())
}

/// A concept in words alone, or a value that is not there, where a code is asked for.
fn is_without_code(of: Element<'_>) -> bool {
    match of.type_name() {
        "CodeableConcept" => of.child("coding").is_none(),
        "code" | "string" | "uri" | "url" | "canonical" => of.value().is_none(),
        _ => false,
    }
}

/// The codes that stand there, as `system#code`.
fn codes_of(of: Element<'_>) -> String {
    let shown = |coding: Element<'_>| {
        let system = coding.text("system").unwrap_or_default();
        format!("{system}#{}", coding.text("code").unwrap_or_default())
    };
    match of.type_name() {
        "CodeableConcept" => of.all("coding").map(shown).collect::<Vec<_>>().join(", "),
        "Coding" | "Quantity" => shown(of),
        _ => of.value().unwrap_or_default().to_owned(),
    }
}
