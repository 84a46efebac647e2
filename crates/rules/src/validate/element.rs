//! One element against one description of it.

use fhir::Element;

use super::{Issue, Run, error, has_errors};
use crate::definition::TypeReference;
use crate::profile::{Node, Profile};
use crate::terminology::Mode;

impl<'t> Run<'t> {
    /// Looks at an element as an element of a definition says; `at` 0 is the definition's root.
    pub(super) fn element(
        &self,
        of: Element<'t>,
        profile: &'t Profile,
        at: u32,
        issues: &mut Vec<Issue>,
    ) {
        let node = profile.node(at);
        self.rules(of, &node.rules, issues);
        self.values(of, node, issues);
        if let Some(binding) = &node.binding {
            self.binding(of, binding, profile.package, issues);
        }
        if at > 0 {
            self.types(of, node, profile, issues);
        }
        self.children(of, profile, at, issues);
    }

    /// The type of an element, the profiles that it names for it, and what a reference points to.
    fn types(
        &self,
        of: Element<'t>,
        node: &'t Node,
        profile: &'t Profile,
        issues: &mut Vec<Issue>,
    ) {
        let is_resource = of.resource_type().is_some();
        let name = of.type_name();
        // The name of a choice says its type: a `code` does not stand where a `string` may.
        let is_kind = |of: Element<'t>, kind: &str| {
            if node.is_choice { kind == "Element" } else { of.is_of(kind) }
        };
        let fits = |reference: &&TypeReference| {
            name.is_empty() || reference.code == name || is_kind(of, &reference.code)
        };
        let fitting: Vec<&TypeReference> = node.types.iter().filter(fits).collect();
        if (node.is_choice || is_resource) && fitting.is_empty() && !node.types.is_empty() {
            let allowed: Vec<&str> = node.types.iter().map(|of| &*of.code).collect();
            let params =
                [("element", of.name()), ("found", name), ("expected", &allowed.join(", "))];
            return error(issues, of, "rule-type-not-allowed", &params);
        }
        self.own_type(of, issues);
        self.type_profiles(of, &fitting, profile, issues);
        if matches!(name, "Reference" | "CodeableReference") {
            let target = node.types.iter().find(|of| of.code == "Reference");
            if let Some(target) = target {
                self.reference(of, target, profile, issues);
            }
        }
    }

    /// What its type says of it, wherever it stands.
    fn own_type(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        if of.resource_type().is_some() {
            issues.extend(self.resource(of).iter().cloned());
            return;
        }
        let Some(known) = of.type_definition() else { return };
        let name = of.type_name();
        if matches!(name, "BackboneElement" | "Element" | "xhtml" | "") {
            return;
        }
        // A primitive without id and extensions is all said by its form.
        if known.is_primitive() && of.children().next().is_none() {
            return;
        }
        if let Some(base) = self.type_profile(name) {
            issues.extend(self.conform(of, base).iter().cloned());
        }
        if name == "Extension" {
            self.extension(of, issues);
        }
    }

    /// Whether a definition that nobody has is an error. The authority has every package that its
    /// own need; a laboratory may lack one, and has been told so when it imported the others.
    pub(super) fn wants_all(&self, profile: &Profile) -> bool {
        self.mode == Mode::Strict || self.set.is_overlay(profile.package)
    }

    /// Of several profiles for a type one is enough; where none fits, the nearest says why.
    fn type_profiles(
        &self,
        of: Element<'t>,
        types: &[&'t TypeReference],
        profile: &'t Profile,
        issues: &mut Vec<Issue>,
    ) {
        let named = types.iter().flat_map(|of| &of.profiles);
        if self.wants_all(profile) {
            let known = |url: &&String| self.set.profile(url, profile.package).is_none();
            for missing in named.clone().filter(known) {
                error(issues, of, self.absent(missing), &[("profile", missing)]);
            }
        }
        let known: Vec<&'t Profile> =
            named.filter_map(|url| self.set.profile(url, profile.package)).collect();
        let mut nearest = None;
        for candidate in known {
            // A plain extension may be allowed beside profiled ones; its own definition was asked
            // already.
            let found = self.conform(of, candidate);
            if !has_errors(&found) {
                issues.extend(found.iter().cloned());
                return;
            }
            let count = found.len();
            if nearest.as_ref().is_none_or(|(least, _)| count < *least) {
                nearest = Some((count, found));
            }
        }
        if let Some((_, found)) = nearest {
            issues.extend(found.iter().cloned());
        }
    }
}
