//! A resource as such: its type, the profiles that it names, what it contains.

use std::collections::HashSet;
use std::rc::Rc;

use fhir::Element;

use super::{Issue, Run, error, warning};
use crate::profile::Profile;

/// Stands for "as a resource" where a profile has its number.
const AS_RESOURCE: u32 = u32::MAX;

impl<'t> Run<'t> {
    /// What a resource shows against its type and the profiles that it names, looked at once.
    pub(super) fn resource(&self, of: Element<'t>) -> Rc<Vec<Issue>> {
        self.remembered((of.number(), AS_RESOURCE), |issues| {
            let Some(kind) = of.resource_type() else { return };
            if let Some(base) = self.type_profile(kind) {
                issues.extend(self.conform(of, base).iter().cloned());
            }
            if let Some(meta) = of.child("meta") {
                for named in meta.all("profile") {
                    self.named_profile(of, named, issues);
                }
            }
            self.contained(of, issues);
            if kind == "Bundle" {
                self.bundle(of, issues);
            }
        })
    }

    fn named_profile(&self, of: Element<'t>, named: Element<'t>, issues: &mut Vec<Issue>) {
        let Some(canonical) = named.value() else { return };
        match self.set.profile(canonical, 0) {
            Some(profile) => self.against(of, profile, issues),
            None => {
                warning(issues, named, "rule-profile-unknown", &[("profile", canonical)]);
            }
        }
    }

    /// A resource against a profile of its own type.
    pub(super) fn against(&self, of: Element<'t>, profile: &'t Profile, issues: &mut Vec<Issue>) {
        if !of.is_of(&profile.type_name) {
            let found = of.resource_type().unwrap_or_default();
            let params =
                [("profile", &*profile.url), ("expected", &profile.type_name), ("found", found)];
            return error(issues, of, "rule-profile-type", &params);
        }
        issues.extend(self.conform(of, profile).iter().cloned());
    }

    /// Contained resources have an id of their own and are referred to (`dom-3`).
    fn contained(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        if of.child("contained").is_none() {
            return;
        }
        let mut local = HashSet::new();
        references_to(of, &mut local);
        let mut ids = HashSet::new();
        for contained in of.all("contained") {
            let Some(id) = contained.text("id") else {
                error(issues, contained, "rule-contained-without-id", &[]);
                continue;
            };
            if !ids.insert(id) {
                error(issues, contained, "rule-contained-twice", &[("value", id)]);
            }
            let mut back = HashSet::new();
            references_to(contained, &mut back);
            if !local.contains(id) && !back.contains("") {
                let params = [("value", id), ("rule", "dom-3")];
                error(issues, contained, "rule-contained-not-used", &params);
            }
        }
    }
}

/// What stands after `#` in any reference, URI or canonical below an element.
fn references_to<'t>(of: Element<'t>, found: &mut HashSet<&'t str>) {
    for child in of.children() {
        if matches!(child.type_name(), "string" | "uri" | "url" | "canonical")
            && let Some((before, id)) = child.value().and_then(|value| value.split_once('#'))
            && before.is_empty()
        {
            found.insert(id);
        }
        references_to(child, found);
    }
}
