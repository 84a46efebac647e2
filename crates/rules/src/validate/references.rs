//! References: what they point to inside the document, and whether that is what they may point to.

use std::collections::HashMap;
use std::rc::Rc;

use fhir::{Element, TypeDefinition};

use super::invariants::{around, resources_of};
use super::{Issue, Run, error, has_errors};
use crate::definition::BASE;
use crate::definition::TypeReference;
use crate::profile::Profile;
use crate::terminology::Mode;

/// Where a reference leads.
pub(super) enum Target<'t> {
    Contained(Element<'t>),
    Bundled(Element<'t>),
    /// Several entries answer to it.
    Ambiguous(Element<'t>),
    /// What stands there is not of the type that it says.
    OtherType(Element<'t>),
    /// Not a form that could be resolved in a Bundle.
    Malformed,
    /// Nothing in this document; what lies outside is nobody's business here.
    Elsewhere,
}

impl<'t> Run<'t> {
    /// The resource that a reference means.
    pub(super) fn resolve(&self, reference: &str, from: Element<'t>) -> Option<Element<'t>> {
        match self.target(reference, from) {
            Target::Contained(of) | Target::Bundled(of) | Target::Ambiguous(of) => Some(of),
            Target::OtherType(_) | Target::Malformed | Target::Elsewhere => None,
        }
    }

    pub(super) fn target(&self, reference: &str, from: Element<'t>) -> Target<'t> {
        let (resource, root) = resources_of(from);
        if let Some(id) = reference.strip_prefix('#') {
            if id.is_empty() {
                // What is contained means what contains it; everything else means nothing by it.
                let is_contained = !resource.is_same_place(root);
                return if is_contained { Target::Contained(root) } else { Target::Malformed };
            }
            let named = self.contained_in(root).get(id).copied();
            return named.map_or(Target::Elsewhere, Target::Contained);
        }
        let mut at = root;
        loop {
            let Some(holder) = at.parent() else { return Target::Elsewhere };
            if matches!(holder.name(), "parameter" | "part") {
                let parameters = around(holder);
                if let Some(found) = among_parameters(parameters, reference, 0) {
                    return Target::Bundled(found);
                }
                at = parameters;
                continue;
            }
            let Some(bundle) = holder.parent().filter(|_| holder.name() == "entry") else {
                return Target::Elsewhere;
            };
            if bundle.resource_type() == Some("Bundle") {
                let found = self.entries(bundle).target(reference, holder.text("fullUrl"));
                if !matches!(found, Target::Elsewhere) {
                    return found;
                }
            }
            // A Bundle in a Bundle: the outer one may know.
            at = bundle;
        }
    }

    /// The resources that one contains, by their ids; of two with one id the first.
    pub(super) fn contained_in(&self, root: Element<'t>) -> Rc<HashMap<&'t str, Element<'t>>> {
        let key = self.place(root);
        if let Some(known) = self.contained.borrow().get(&key) {
            return Rc::clone(known);
        }
        let mut found = HashMap::new();
        for of in root.all("contained") {
            if let Some(id) = of.text("id") {
                found.entry(id).or_insert(of);
            }
        }
        let found = Rc::new(found);
        self.contained.borrow_mut().insert(key, Rc::clone(&found));
        found
    }

    /// A reference against what it may point to.
    pub(super) fn reference(
        &self,
        of: Element<'t>,
        told: &'t TypeReference,
        profile: &'t Profile,
        issues: &mut Vec<Issue>,
    ) {
        let Some(reference) = of.text("reference").filter(|text| !text.is_empty()) else { return };
        if reference.contains(char::is_whitespace) {
            return error(issues, of, "rule-reference-form", &[("value", reference)]);
        }
        if let Some(query) = query_in(reference) {
            // A search takes the place of an address in a transaction alone (R4, http.html#trules).
            let is_out_of_place = matches!(self.target(reference, of), Target::Malformed);
            if is_out_of_place || !is_query(query) {
                error(issues, of, "rule-reference-form", &[("value", reference)]);
            }
            return;
        }
        if let Some(entry) = without_full_url(of).filter(|_| !reference.starts_with('#')) {
            error(issues, entry, "rule-bundle-full-url-missing", &[]);
        }
        let target = self.target(reference, of);
        let (found, mode) = match target {
            Target::Contained(found) => (Some(found), "contained"),
            Target::Bundled(found) => (Some(found), "bundled"),
            Target::Ambiguous(found) => {
                error(issues, of, "rule-reference-ambiguous", &[("value", reference)]);
                (Some(found), "bundled")
            }
            Target::OtherType(found) => {
                let expected = type_in(reference).unwrap_or_default();
                let found = found.resource_type().unwrap_or_default();
                let params = [("expected", expected), ("found", found)];
                return error(issues, of, "rule-reference-type", &params);
            }
            Target::Malformed => {
                error(issues, of, "rule-reference-form", &[("value", reference)]);
                (None, "referenced")
            }
            Target::Elsewhere => (None, "referenced"),
        };
        if found.is_none() && mode == "referenced" && reference.starts_with('#') {
            // `ref-1` says so.
            return;
        }
        let kind = found.and_then(Element::resource_type).or_else(|| type_in(reference));
        self.told_type(of, kind, told, profile, issues);
        self.aggregation(of, told, mode, issues);
        match (found, kind) {
            (Some(found), _) => self.followed(of, found, told, profile, issues),
            (None, Some(kind)) if self.mode == Mode::Strict => {
                self.implied(of, kind, told, profile, issues);
            }
            _ => {}
        }
    }

    /// `Reference.type` against what may stand there and what does.
    fn told_type(
        &self,
        of: Element<'t>,
        kind: Option<&str>,
        told: &'t TypeReference,
        profile: &'t Profile,
        issues: &mut Vec<Issue>,
    ) {
        let Some(said) = of.text("type") else { return };
        let name = said.strip_prefix(BASE).unwrap_or(said);
        if let Some(kind) = kind.filter(|kind| *kind != said) {
            let params = [("expected", said), ("found", kind)];
            return error(issues, of, "rule-reference-type", &params);
        }
        if let Some(types) = self.target_types(told, profile)
            && !types.contains(&name)
        {
            let params = [("expected", &*types.join(", ")), ("found", name)];
            error(issues, of, "rule-reference-type", &params);
        }
    }

    fn aggregation(
        &self,
        of: Element<'t>,
        told: &TypeReference,
        mode: &str,
        issues: &mut Vec<Issue>,
    ) {
        let allowed = told
            .aggregation
            .iter()
            .any(|allowed| allowed == mode || (allowed == "referenced" && mode != "contained"));
        if !told.aggregation.is_empty() && !allowed {
            let expected = told.aggregation.join(", ");
            let params = [("expected", &*expected), ("found", mode)];
            error(issues, of, "rule-reference-aggregation", &params);
        }
    }

    /// The types that a reference may point to; `None` where any is allowed or not all are known.
    fn target_types(&self, told: &'t TypeReference, profile: &'t Profile) -> Option<Vec<&'t str>> {
        if told.targets.is_empty() {
            return None;
        }
        let mut types = Vec::with_capacity(told.targets.len());
        for target in &told.targets {
            match self.set.profile(target, profile.package)?.type_name.as_str() {
                "Resource" | "DomainResource" => return None,
                // Several profiles of one type are one type to a reader.
                name if types.contains(&name) => {}
                name => types.push(name),
            }
        }
        Some(types)
    }

    /// What was found against the profiles that are allowed; one of them is enough.
    fn followed(
        &self,
        of: Element<'t>,
        found: Element<'t>,
        told: &'t TypeReference,
        profile: &'t Profile,
        issues: &mut Vec<Issue>,
    ) {
        let Some(types) = self.target_types(told, profile) else {
            return self.missing_targets(of, told, profile, issues);
        };
        let kind = found.resource_type().unwrap_or_default();
        if !types.contains(&kind) {
            let params = [("expected", &*types.join(", ")), ("found", kind)];
            return error(issues, of, "rule-reference-type", &params);
        }
        let mut nearest: Option<Rc<Vec<Issue>>> = None;
        for target in &told.targets {
            let Some(target) = self.set.profile(target, profile.package) else { continue };
            if target.type_name != kind {
                continue;
            }
            // What is wrong with the resource as such is said of itself.
            if !target.is_constraint {
                return;
            }
            let found = self.conform(found, target);
            if !has_errors(&found) {
                return;
            }
            if nearest.as_ref().is_none_or(|best| found.len() < best.len()) {
                nearest = Some(found);
            }
        }
        if let Some(reasons) = nearest {
            issues.extend(reasons.iter().cloned());
        }
    }

    /// Definitions of what a reference may point to that nobody has.
    fn missing_targets(
        &self,
        of: Element<'t>,
        told: &'t TypeReference,
        profile: &'t Profile,
        issues: &mut Vec<Issue>,
    ) {
        if !self.wants_all(profile) {
            return;
        }
        let unknown = |of: &&String| self.set.profile(of, profile.package).is_none();
        for missing in told.targets.iter().filter(unknown) {
            error(issues, of, self.absent(missing), &[("profile", missing)]);
        }
    }

    /// The type that an address names, where the resource is elsewhere.
    fn implied(
        &self,
        of: Element<'t>,
        kind: &str,
        told: &'t TypeReference,
        profile: &'t Profile,
        issues: &mut Vec<Issue>,
    ) {
        let Some(types) = self.target_types(told, profile) else { return };
        if !types.contains(&kind) {
            let params = [("expected", &*types.join(", ")), ("found", kind)];
            error(issues, of, "rule-reference-type", &params);
        }
    }
}

/// The resource type that a reference names: `…/Patient/1`, `Patient/1/_history/2`.
pub(super) fn type_in(reference: &str) -> Option<&'static str> {
    let plain = reference.split("/_history/").next().unwrap_or_default();
    let (before, _id) = plain.rsplit_once('/')?;
    let name = before.rsplit('/').next().unwrap_or_default();
    let of = TypeDefinition::named(name)?;
    (of.is_resource() && !of.is_abstract_resource() && !name.contains('.')).then(|| of.name())
}

/// The search behind `Type?`.
fn query_in(reference: &str) -> Option<&str> {
    let (name, query) = reference.split_once('?')?;
    let is_resource = |of: &TypeDefinition| of.is_resource() && !name.contains('.');
    TypeDefinition::named(name).filter(is_resource).map(|_| query)
}

/// `name=value`, once or more.
fn is_query(query: &str) -> bool {
    let first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let name = |name: &str| {
        name.bytes().next().is_some_and(first)
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    query.split('&').all(|part| {
        part.split_once('=').is_some_and(|(of, value)| name(of) && !value.contains('='))
    })
}

/// The entry around an element, where it has no address although references in it need one.
fn without_full_url(of: Element<'_>) -> Option<Element<'_>> {
    let mut at = around(of);
    loop {
        let holder = at.parent()?;
        if holder.name() == "entry" && at.name() == "resource" {
            let kind = holder.parent()?.text("type").unwrap_or_default();
            let may_lack = matches!(kind, "batch-response" | "transaction-response");
            return (holder.text("fullUrl").is_none() && !may_lack).then_some(holder);
        }
        at = around(holder);
    }
}

/// Deepest nesting of parameters that is followed; the reader allows 64.
const DEPTH_MAX: usize = 64;

/// A resource among parameters, by type and id.
fn among_parameters<'t>(of: Element<'t>, reference: &str, depth: usize) -> Option<Element<'t>> {
    let (kind, id) = reference.split_once('/')?;
    of.all("parameter").chain(of.all("part")).find_map(|part| {
        let is_meant =
            |of: &Element<'t>| of.resource_type() == Some(kind) && of.text("id") == Some(id);
        let own = part.child("resource").filter(is_meant);
        let below = || (depth < DEPTH_MAX).then(|| among_parameters(part, reference, depth + 1));
        own.or_else(|| below().flatten())
    })
}
