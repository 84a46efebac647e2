//! Invariants, each evaluated once for an element, however many profiles repeat it.

use std::sync::Arc;

use fhir::{Element, Severity, TypeDefinition};
use fhirpath::{Context, Item};

use super::{About, Held, Issue, Run, is_resource_type, push};
use crate::facts::{self, Native};
use crate::rule::{How, Rule};

impl<'t> Run<'t> {
    pub(super) fn rules(&self, of: Element<'t>, rules: &'t [Arc<Rule>], issues: &mut Vec<Issue>) {
        for rule in rules {
            let held = self.held(of, rule);
            let is_no = held == Held::No;
            if held == Held::Yes
                || (is_no && self.says_too_much(of, rule, issues))
                || (is_no && self.says_why(of, rule, issues))
            {
                continue;
            }
            // What nobody can read is wrong however much it would weigh.
            let is_error = rule.is_error || (held == Held::NotEvaluated && !rule.is_readable());
            let severity = if is_error { Severity::Error } else { Severity::Warning };
            let code =
                if held == Held::No { "rule-invariant" } else { "rule-invariant-not-evaluated" };
            push(issues, of, code, severity, &[("rule", &rule.key), ("text", &rule.human)]);
            if let Some(told) = issues.last_mut() {
                told.about = types_in(rule).filter(|_| of.is_of("Bundle")).map(About::Types);
                told.asked = Some(Arc::clone(&rule.published));
            }
        }
    }

    /// An invariant about the form of a patient's name: told where the name stands.
    fn says_too_much(&self, of: Element<'t>, rule: &'t Rule, issues: &mut Vec<Issue>) -> bool {
        let How::Expression { text, .. } = &rule.how else { return false };
        facts::privacy::asked_by(text).is_some_and(|forms| self.name_form(of, rule, forms, issues))
    }

    /// An invariant that asks the element to conform to a profile: why it does not, each reason at
    /// its own place. `false` where no reason is known, or where each has a rule of its own.
    fn says_why(&self, of: Element<'t>, rule: &'t Rule, issues: &mut Vec<Issue>) -> bool {
        let wanted = self.wanted.borrow().get(&(self.place(of), rule.number)).copied();
        let Some(profile) = wanted else { return false };
        let found = self.conform(of, profile);
        let missing = found.iter().filter_map(|reason| missing_in(of, reason));
        let missing: Vec<&str> = missing.collect();
        let reasons = found.iter().filter(|of| of.severity == Severity::Error);
        // What a rule asks of a part that is missing, or of another type, follows from that.
        let follows = |reason: &Issue| {
            let asked = reason.asked.as_deref().unwrap_or_default();
            let mut words = asked.split(|letter: char| !letter.is_ascii_alphanumeric());
            reason.at == of.number() && words.any(|word| missing.contains(&word))
        };
        let reasons = reasons.filter(|reason| !follows(reason));
        let mut is_said = false;
        for reason in reasons {
            let mut reason = reason.clone();
            if !rule.is_error {
                reason.severity = Severity::Warning;
            }
            if reason.param("rule").is_none() && reason.breaks.is_none() {
                reason.breaks = Some(Arc::clone(&rule.key));
                is_said = true;
            }
            issues.push(reason);
        }
        is_said
    }

    fn held(&self, of: Element<'t>, rule: &'t Rule) -> Held {
        if facts::is_exempt(&rule.key, of.text("path")) {
            return Held::Yes;
        }
        let key = (self.place(of), rule.number);
        if let Some(held) = self.held.borrow().get(&key) {
            return *held;
        }
        let held = match &rule.how {
            How::Native(Native::Period) => yes_or_no(period_holds(of)),
            How::Native(Native::Extension) => yes_or_no(extension_holds(of)),
            How::Native(Native::Contained) => yes_or_no(self.contained_holds(of)),
            How::Expression { text, .. } if asks_to_conform(text) => self.conforming(of, rule),
            How::Expression { .. } => self.evaluated(of, rule),
        };
        self.held.borrow_mut().insert(key, held);
        held
    }

    /// What an element has to conform to is remembered where it does not.
    fn conforming(&self, of: Element<'t>, rule: &'t Rule) -> Held {
        let outer = self.unmet.take();
        let held = self.evaluated(of, rule);
        let unmet = self.unmet.replace(outer);
        let place = self.place(of);
        if held == Held::No
            && let Some((_, profile)) = unmet.iter().rev().find(|(unmet, _)| *unmet == place)
        {
            self.wanted.borrow_mut().insert((place, rule.number), profile);
        }
        held
    }

    /// `ref-1`: a reference within the resource (`#id`) leads to something contained.
    fn contained_holds(&self, of: Element<'t>) -> bool {
        let Some(reference) = of.child("reference") else { return true };
        let Some(text) = reference.value() else { return false };
        match text.strip_prefix('#') {
            None | Some("") => true,
            Some(id) => self.contained_in(resources_of(of).1).contains_key(id),
        }
    }

    /// An expression that cannot be evaluated has failed, and says so.
    pub(super) fn evaluated(&self, of: Element<'t>, rule: &'t Rule) -> Held {
        let Some(expression) = rule.expression() else { return Held::NotEvaluated };
        let (resource, root) = resources_of(of);
        let context = Context::new(self.now).within(resource, root).on(Item::Element(of));
        let context = context.asking(self).counting(&self.steps);
        match expression.holds(&context, &[Item::Element(of)]) {
            Ok(holds) => yes_or_no(holds),
            Err(_) => Held::NotEvaluated,
        }
    }
}

/// The name of the part that an element lacks or has of another type, where an issue says so.
fn missing_in<'i>(of: Element<'i>, issue: &'i Issue) -> Option<&'i str> {
    if issue.code == "rule-type-not-allowed" {
        let part = of.children().find(|part| part.number() == issue.at)?;
        let (name, kind) = (part.name(), part.type_name());
        // `valueString` is `value` to a rule.
        let stem = name.len().checked_sub(kind.len()).and_then(|end| name.split_at_checked(end));
        let stem = stem.filter(|(stem, end)| !stem.is_empty() && end.eq_ignore_ascii_case(kind));
        return Some(stem.map_or(name, |(stem, _)| stem));
    }
    let is_missing = matches!(issue.code, "rule-missing" | "rule-slice-missing");
    let part = issue.param("element").filter(|_| is_missing && issue.at == of.number())?;
    let name = part.split(':').next()?.trim_end_matches("[x]");
    // A part that is there too seldom is there.
    (of.all(name).next().is_none() && of.choice(name).is_none()).then_some(name)
}

/// Whether an expression does not hold for want of conformance: what is asked on its right side is
/// that the element conforms.
fn asks_to_conform(text: &str) -> bool {
    let last = text.rsplit(" implies ").next().unwrap_or(text).trim_start_matches([' ', '(']);
    last.starts_with("conformsTo(") && !last.contains(".not()")
}

/// The types of resources that an expression names.
fn types_in(rule: &Rule) -> Option<Vec<&'static str>> {
    let How::Expression { text, .. } = &rule.how else { return None };
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let named = words.filter(|word| is_resource_type(word)).filter_map(TypeDefinition::named);
    let mut types: Vec<&str> = named.map(TypeDefinition::name).collect();
    types.sort_unstable();
    types.dedup();
    (!types.is_empty()).then_some(types)
}

const fn yes_or_no(holds: bool) -> Held {
    if holds { Held::Yes } else { Held::No }
}

/// The resource around an element (or itself), and the one that contains that, if it is contained.
pub(super) fn resources_of(of: Element<'_>) -> (Element<'_>, Element<'_>) {
    let resource = around(of);
    let mut root = resource;
    while root.name() == "contained" {
        match root.parent() {
            Some(parent) => root = around(parent),
            None => break,
        }
    }
    (resource, root)
}

/// The resource that an element is part of, or itself.
pub(super) fn around(of: Element<'_>) -> Element<'_> {
    let mut at = of;
    while at.resource_type().is_none() {
        match at.parent() {
            Some(parent) => at = parent,
            None => break,
        }
    }
    at
}

/// `per-1`: not after its end, as far as both are precise.
fn period_holds(of: Element<'_>) -> bool {
    let (Some(start), Some(end)) = (of.text("start"), of.text("end")) else { return true };
    let instant = |text: &str| fhir::Instant::parse(text);
    if let (Some(start), Some(end)) = (instant(start), instant(end)) {
        return start <= end;
    }
    // The year, the month or the day that both name.
    let date = |text: &'_ str| text.split('T').next().map(str::len).unwrap_or(0);
    let length = date(start).min(date(end)).min(start.len()).min(end.len());
    start.get(..length) <= end.get(..length)
}

/// `ext-1`: extensions or a value, not both, not neither.
fn extension_holds(of: Element<'_>) -> bool {
    of.child("extension").is_some() != of.choice("value").is_some()
}

#[cfg(test)]
mod tests {
    use fhir::{Format, Instant, Limits, Tree};
    use serde_json::{Value, json};

    use super::*;
    use crate::{Mode, Package, PackageLimits, RuleSet};

    /// As much of FHIR as a reference needs, with the rule as R4 publishes it.
    fn rules() -> RuleSet {
        let expression = "reference.startsWith('#').not() or (reference.substring(1).trace('url') \
                          in %rootResource.contained.id.trace('ids'))";
        let rule = json!({ "key": "ref-1", "severity": "error", "expression": expression });
        let element = |path: &str, of: &str| {
            let types = json!([{ "code": of }]);
            json!({ "id": path, "path": path, "min": 0, "max": "*", "type": types })
        };
        let of = |name: &str, elements: Value| {
            json!({ "resource": { "resourceType": "StructureDefinition", "kind": "resource",
                "url": format!("http://hl7.org/fhir/StructureDefinition/{name}"), "type": name,
                "snapshot": { "element": elements } } })
        };
        let root = json!({ "id": "Reference", "path": "Reference", "constraint": [rule] });
        let patient = json!({ "id": "Patient", "path": "Patient" });
        let bundle = json!({ "resourceType": "Bundle", "entry": [
            of("Reference", json!([root, element("Reference.reference", "string")])),
            of("Patient", json!([patient, element("Patient.contained", "Resource"),
                element("Patient.generalPractitioner", "Reference")])),
        ] });
        let package = Package::read(bundle.to_string().as_bytes(), &PackageLimits::default());
        RuleSet::of(vec![package.unwrap()])
    }

    /// Failed rules, steps of expressions, and indexes of what is contained.
    fn looked_at(set: &RuleSet, contained: usize) -> (usize, u64, usize) {
        let inner = |at: usize| json!({ "resourceType": "Practitioner", "id": format!("p{at}") });
        let to = |at: usize| json!({ "reference": format!("#p{at}") });
        // One of the references leads to nothing.
        let patient = json!({ "resourceType": "Patient",
            "contained": (0..contained).map(inner).collect::<Vec<_>>(),
            "generalPractitioner": (0..=contained).map(to).collect::<Vec<_>>() });
        let text = patient.to_string();
        let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap();
        let run = Run::new(set, &tree, Mode::Authority, Instant(0));
        let issues = run.resource(tree.root());
        let failed = issues.iter().filter(|of| of.param("rule") == Some("ref-1")).count();
        (failed, run.steps.get(), run.contained.borrow().len())
    }

    #[test]
    fn references_to_what_is_contained_take_work_in_proportion() {
        let set = rules();
        let (failed, few, indexes) = looked_at(&set, 100);
        assert_eq!((failed, indexes), (1, 1));
        let (failed, many, indexes) = looked_at(&set, 1_000);
        assert_eq!((failed, indexes), (1, 1));
        assert!(many <= 10 * few.max(1_000), "{few} steps for 100, {many} for 1,000");
    }
}
