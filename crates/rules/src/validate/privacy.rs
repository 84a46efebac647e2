//! What a report says of its patient beyond what its organism permits: told at the place that says
//! too much, not at the result whose invariant asks for it.

mod texts;

use std::rc::Rc;

use fhir::{Element, Severity};

use super::{Issue, Run, push};
use crate::facts::privacy::{MAPS, Name, NameForms};
use crate::profile::Profile;
use crate::rule::Rule;

/// What one result says about the form of its patient's name.
pub(crate) struct Demand<'t> {
    pub(crate) forms: &'static NameForms,
    /// Code of the form.
    pub(crate) form: &'t str,
    /// The leading code that says so.
    code: &'t str,
    pub(crate) patient: Element<'t>,
    /// The invariant that asks for it, where one did.
    rule: &'t str,
}

impl Demand<'_> {
    fn profiles(&self) -> impl Iterator<Item = (&'static str, Name)> {
        self.forms.profiles(self.form)
    }

    /// The strictest form comes first.
    pub(crate) fn rank(&self) -> usize {
        let place = self.forms.forms.iter().position(|(form, _)| *form == self.form);
        place.unwrap_or(usize::MAX)
    }
}

impl<'t> Run<'t> {
    /// Says at its own place why an invariant about the form of the name does not hold: what is too
    /// much, what else is wrong with the patient, or that there is none. `false` where nothing of
    /// that kind was found: then the invariant speaks for itself.
    pub(super) fn name_form(
        &self,
        of: Element<'t>,
        rule: &'t Rule,
        forms: &'static NameForms,
        issues: &mut Vec<Issue>,
    ) -> bool {
        let severity = if rule.is_error { Severity::Error } else { Severity::Warning };
        let Some(mut demand) = self.demand(of, forms) else {
            return self.without_patient(of, rule, forms, severity, issues);
        };
        demand.rule = &rule.key;
        let Some((profile, _, _)) = self.nearest_form(&demand) else { return false };
        // A mistake of every patient is a mistake of one in this form too: it is the cause, at its
        // own place.
        let plain = self.of_every_patient(&demand);
        let nearest = self.conform(demand.patient, profile);
        let common = nearest.iter().filter(|of| plain.iter().any(|other| is_same(of, other)));
        let mut causes: Vec<Issue> = common.filter(|of| of.is_error()).cloned().collect();
        causes.extend(self.too_much(&demand, severity));
        let told = causes.iter().any(|of| of.is_error() || of.is_private());
        issues.extend(causes);
        told
    }

    /// A result whose patient nobody finds: nobody can tell which form of the name it has.
    fn without_patient(
        &self,
        of: Element<'t>,
        rule: &'t Rule,
        forms: &'static NameForms,
        severity: Severity,
        issues: &mut Vec<Issue>,
    ) -> bool {
        let Some((code, form)) = self.form_of(of, forms) else { return false };
        if forms.profiles(form).next().is_none() || self.patient_of(of).is_some() {
            return false;
        }
        let at = of.child("subject").unwrap_or(of);
        push(
            issues,
            at,
            "rule-subject-not-found",
            severity,
            &[("value", code), ("rule", &rule.key)],
        );
        true
    }

    /// Every result of a document that says something about the form of its patient's name.
    pub(crate) fn demands(&self) -> Vec<(Element<'t>, Demand<'t>)> {
        let mut results = Vec::new();
        observations(self.tree.root(), &mut results);
        let mut all = Vec::new();
        for forms in MAPS {
            for of in &results {
                all.extend(self.demand(*of, forms).map(|demand| (*of, demand)));
            }
        }
        all
    }

    fn demand(&self, of: Element<'t>, forms: &'static NameForms) -> Option<Demand<'t>> {
        let (code, form) = self.form_of(of, forms)?;
        let patient = self.patient_of(of)?;
        Some(Demand { forms, form, code, patient, rule: "" })
    }

    /// The leading code of a result, and the code of the form that it permits.
    fn form_of(&self, of: Element<'t>, forms: &'static NameForms) -> Option<(&'t str, &'t str)> {
        let map = self.set.tree(forms.map, 0)?.root();
        of.child("code")?.all("coding").find_map(|coding| {
            let (system, code) = (coding.text("system")?, coding.text("code")?);
            let group = map.all("group").find(|group| group.text("source") == Some(system))?;
            let row = group.all("element").find(|row| row.text("code") == Some(code))?;
            Some((code, row.child("target")?.text("code")?))
        })
    }

    fn patient_of(&self, of: Element<'t>) -> Option<Element<'t>> {
        let subject = of.child("subject")?;
        let patient = self.resolve(subject.text("reference")?, subject)?;
        (patient.resource_type() == Some("Patient")).then_some(patient)
    }

    /// What the patient shows beyond the form that comes nearest.
    pub(crate) fn too_much(&self, demand: &Demand<'t>, severity: Severity) -> Vec<Issue> {
        let Some((_, name, found)) = self.nearest_form(demand) else { return Vec::new() };
        let elements = self.elements(&found);
        let mut told = Vec::new();
        self.in_texts(demand, severity, &mut told);
        for issue in found {
            let Some(at) = elements.get(&issue.at) else { continue };
            let before = told.len();
            demand.tell(&issue, *at, name, severity, &mut told);
            if told.len() == before {
                // Not about privacy: the reason of the nearest form, at its own place.
                told.push(issue);
            }
        }
        told
    }

    /// Of the profiles of a form the one that the patient comes nearest to, how it shows the name,
    /// and the errors against it.
    fn nearest_form(&self, demand: &Demand<'t>) -> Option<(&'t Profile, Name, Vec<Issue>)> {
        let known = |(url, name): (&str, Name)| Some((self.set.profile(url, 0)?, name));
        let all = demand.profiles().filter_map(known);
        let told = all.map(|(profile, name)| (profile, name, self.beyond(demand, profile)));
        told.min_by_key(|(_, _, found)| found.len())
    }

    /// The errors of a patient against a form, save those of every patient.
    fn beyond(&self, demand: &Demand<'t>, profile: &'t Profile) -> Vec<Issue> {
        let plain = self.of_every_patient(demand);
        let found = self.conform(demand.patient, profile);
        let is_new =
            |issue: &&Issue| issue.is_error() && !plain.iter().any(|of| is_same(of, issue));
        found.iter().filter(is_new).cloned().collect()
    }

    /// What is said of the patient whatever its form.
    fn of_every_patient(&self, demand: &Demand<'t>) -> Rc<Vec<Issue>> {
        let plain = self.set.profile(demand.forms.patient, 0);
        plain.map(|plain| self.conform(demand.patient, plain)).unwrap_or_default()
    }
}

impl Demand<'_> {
    fn say(&self, at: Element<'_>, code: &'static str, severity: Severity, told: &mut Vec<Issue>) {
        let params = [
            ("element", at.name()),
            ("value", self.code),
            ("expected", self.form),
            ("rule", self.rule),
        ];
        let params = if self.rule.is_empty() { &params[..3] } else { &params[..] };
        push(told, at, code, severity, params);
    }

    fn tell(
        &self,
        issue: &Issue,
        at: Element<'_>,
        name: Name,
        severity: Severity,
        told: &mut Vec<Issue>,
    ) {
        let mut say = |code: &'static str, at: Element<'_>| self.say(at, code, severity, told);
        if issue.code == "rule-too-many" && issue.param("expected") == Some("0") {
            let is_slice = issue.param("element").is_some_and(|element| element.contains(':'));
            match at.parent().filter(|_| !is_slice) {
                Some(owner) => {
                    owner.all(at.name()).for_each(|at| say("rule-privacy-not-permitted", at));
                }
                None => say("rule-privacy-not-permitted", at),
            }
            return;
        }
        let Some(whole) = name_around(at) else { return };
        match name {
            Name::Initials => {
                let parts = whole.all("family").chain(whole.all("given"));
                let is_long =
                    |of: &Element<'_>| of.value().is_some_and(|text| text.chars().nth(1).is_some());
                parts.filter(is_long).for_each(|part| say("rule-privacy-initials", part));
            }
            Name::Code => say("rule-privacy-code", whole),
        }
    }
}

impl Issue {
    fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Whether it is about what a patient shows.
    pub(crate) fn is_private(&self) -> bool {
        crate::codes::is_private(self.code)
    }

    pub(super) fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(of, _)| *of == name).map(|(_, value)| value.as_str())
    }
}

/// Whether two profiles say the same of the same element.
fn is_same(a: &Issue, b: &Issue) -> bool {
    let plain = |of: &Issue| -> Vec<(&'static str, String)> {
        of.params.iter().filter(|(name, _)| *name != "profile").cloned().collect()
    };
    a.at == b.at && a.code == b.code && plain(a) == plain(b)
}

/// The name that an element is, or is a part of.
fn name_around(of: Element<'_>) -> Option<Element<'_>> {
    let mut at = of;
    loop {
        if at.is_of("HumanName") {
            return Some(at);
        }
        if at.resource_type().is_some() {
            return None;
        }
        at = at.parent()?;
    }
}

fn observations<'t>(of: Element<'t>, found: &mut Vec<Element<'t>>) {
    if of.resource_type() == Some("Observation") {
        found.push(of);
    }
    for child in of.children() {
        observations(child, found);
    }
}
