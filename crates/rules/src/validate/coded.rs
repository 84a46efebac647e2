//! Codes against the value sets that they are bound to.

use fhir::{Element, Severity};

use super::{Issue, Run, push};
use crate::definition::Binding;
use crate::terminology::Membership;

impl<'t> Run<'t> {
    /// Whether what is coded is in a value set; `None` where the value set or the code is not there, or
    /// the element is not coded.
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

    /// What a binding says. Preferred and example bindings say nothing that would hold a report.
    pub(super) fn binding(
        &self,
        of: Element<'t>,
        binding: &Binding,
        package: u16,
        issues: &mut Vec<Issue>,
    ) {
        let severity = match &*binding.strength {
            "required" => Severity::Error,
            "extensible" => Severity::Warning,
            _ => Severity::Information,
        };
        let bound = [
            (binding.value_set.as_deref(), severity),
            (binding.max_value_set.as_deref(), Severity::Error),
        ];
        for (value_set, severity) in bound {
            let Some(value_set) = value_set.filter(|_| severity != Severity::Information) else {
                continue;
            };
            if is_without_code(of) {
                if severity == Severity::Error && self.set.members(value_set, package).is_some() {
                    let params = [("element", of.name()), ("value-set", value_set)];
                    push(issues, of, "rule-code-missing", severity, &params);
                }
                continue;
            }
            if self.member(of, value_set, package) == Some(Membership::Out) {
                let found = codes_of(of);
                let params = [("element", of.name()), ("value", &*found), ("value-set", value_set)];
                push(issues, of, "rule-code-not-in-value-set", severity, &params);
                if severity == Severity::Error {
                    return;
                }
            }
        }
    }
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
