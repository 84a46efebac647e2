//! What the mistakes of a Bundle as a whole bring with them: a kind of resource that is missing, a
//! type that there is not, an entry without an address.

use std::collections::{HashMap, HashSet};

use fhir::Element;

use super::bundle::is_absolute;
use super::references::type_in;
use super::{About, Issue, is_resource_type};

/// Those mistakes, by the number of the Bundle or the entry.
#[derive(Default)]
pub(super) struct Documents {
    /// Kinds of resources that a Bundle is told to lack.
    absent: HashMap<u32, Absent>,
    /// Entries that are told to have no address.
    unaddressed: HashSet<u32>,
}

/// Kinds of resources that a Bundle lacks.
#[derive(Default)]
struct Absent {
    types: HashSet<&'static str>,
    /// Those of which it is told, and by which profile; its slices are told one by one.
    told: HashMap<&'static str, String>,
    /// The first entry is told not to be what it must be.
    is_led_wrongly: bool,
    /// How many entries are of a type that there is not: each may be one of these.
    unknown: usize,
}

impl Documents {
    /// Takes note of a mistake.
    pub(super) fn add(&mut self, issue: &Issue, of: Option<Element<'_>>) {
        let Some(of) = of else { return };
        let types: &[&'static str] = match (issue.code, &issue.about) {
            ("rule-bundle-full-url-missing", _) => {
                self.unaddressed.insert(issue.at);
                return;
            }
            ("rule-slice-missing", Some(About::Types(types))) => types,
            ("rule-bundle-first-entry", _) => &[],
            _ => return,
        };
        let absent = self.absent.entry(issue.at).or_insert_with(|| Absent::of(of));
        let is_there = |name: &str| {
            of.all("entry").any(|entry| {
                entry.child("resource").is_some_and(|of| of.resource_type() == Some(name))
            })
        };
        absent.types.extend(types.iter().filter(|name| !is_there(name)));
        if issue.code == "rule-bundle-first-entry" {
            absent.is_led_wrongly = true;
            let lead = ["Composition", "MessageHeader"];
            let lead = lead.into_iter().find(|lead| issue.param("expected") == Some(lead));
            // It says that there is none, too.
            let lead = lead.filter(|lead| !is_there(lead));
            absent.told.extend(lead.map(|lead| (lead, String::new())));
            absent.types.extend(lead);
        }
    }

    /// Whether an issue follows from one of them.
    pub(super) fn explain(&mut self, issue: &Issue, of: Option<Element<'_>>) -> bool {
        match issue.code {
            "rule-missing" => {
                issue.param("element") == Some("fullUrl") && self.unaddressed.contains(&issue.at)
            }
            // The base check says of each resource that its type is unknown.
            "rule-reference-type" => !is_resource_type(issue.param("found").unwrap_or_default()),
            "rule-bundle-full-url-differs" => of.is_some_and(|entry| is_of_unknown_type(&entry)),
            "rule-bundle-first-entry" => of
                .and_then(|of| of.all("entry").next())
                .is_some_and(|entry| is_of_unknown_type(&entry)),
            "rule-slice-missing" | "rule-invariant" => {
                self.absent.get_mut(&issue.at).is_some_and(|absent| absent.explains(issue))
            }
            _ => false,
        }
    }
}

impl Absent {
    fn of(bundle: Element<'_>) -> Self {
        let unknown = bundle.all("entry").filter(is_of_unknown_type).count();
        Self { unknown, ..Self::default() }
    }

    fn explains(&mut self, issue: &Issue) -> bool {
        let is_about_first = matches!(issue.param("rule"), Some("bdl-11" | "bdl-12"));
        if self.is_led_wrongly && issue.code == "rule-invariant" && is_about_first {
            return true;
        }
        let Some(About::Types(types)) = &issue.about else { return false };
        let mut absent = types.iter().filter(|name| self.types.contains(*name));
        if issue.code == "rule-invariant" {
            return absent.next().is_some();
        }
        let Some(name) = absent.next() else { return false };
        let profile = issue.param("profile").unwrap_or_default();
        let told = self.told.entry(name).or_insert_with(|| profile.to_owned());
        // Told once, and not at all where an entry of an unknown type may be it.
        told != profile || self.types.len() <= self.unknown
    }
}

/// Entries that have a resource and no address.
#[derive(Default)]
pub(super) struct Unaddressed<'t> {
    named: HashSet<(&'t str, &'t str)>,
    /// All resources by type and id, where there are such entries, or some of a type that there is
    /// not.
    resources: HashMap<(&'t str, &'t str), Element<'t>>,
    count: usize,
}

impl<'t> Unaddressed<'t> {
    pub(super) fn of(bundle: Element<'t>) -> Self {
        let mut all = Self::default();
        let name = |of: Element<'t>| of.resource_type().zip(of.text("id"));
        for entry in bundle.all("entry").filter(is_unaddressed) {
            all.count += 1;
            all.named.extend(entry.child("resource").and_then(name));
        }
        if all.count > 0 || bundle.all("entry").any(|entry| is_of_unknown_type(&entry)) {
            let resources = bundle.all("entry").filter_map(|entry| entry.child("resource"));
            all.resources = resources.filter_map(|of| Some((name(of)?, of))).collect();
        }
        all
    }

    /// What a reference by type and id means that leads nowhere because its entry or its target has
    /// no address, or its entry no type.
    pub(super) fn target(&self, from: Element<'t>, reference: &str) -> Option<Element<'t>> {
        let id = reference.rsplit('/').next()?;
        let named = (type_in(reference)?, id);
        let is_odd = is_unaddressed(&from) || is_of_unknown_type(&from);
        let is_meant = is_odd || self.named.contains(&named);
        self.resources.get(&named).copied().filter(|_| is_meant)
    }

    /// The references that lead nowhere for want of an address: those by type and id to such an
    /// entry or, relative, from one; and as many other addresses as there are such entries.
    pub(super) fn explains(
        &self,
        from: Element<'t>,
        lost: &[(Element<'t>, &'t str)],
    ) -> HashSet<&'t str> {
        let is_relative = |reference: &str| is_unaddressed(&from) && !is_absolute(reference);
        let is_named = |reference: &str| {
            let id = reference.rsplit('/').next().unwrap_or_default();
            type_in(reference).is_some_and(|kind| self.named.contains(&(kind, id)))
        };
        let all: HashSet<&str> = lost.iter().map(|(_, reference)| *reference).collect();
        let (mut explained, others): (HashSet<_>, HashSet<_>) =
            all.into_iter().partition(|of| is_relative(of) || is_named(of));
        if others.iter().all(|of| of.starts_with("urn:")) && others.len() <= self.count {
            explained.extend(others);
        }
        explained
    }
}

/// Whether an entry has a resource and no address.
pub(super) fn is_unaddressed(entry: &Element<'_>) -> bool {
    entry.child("resource").is_some() && entry.text("fullUrl").is_none()
}

/// Whether an entry has a resource whose type is none of FHIR's, or is not told.
pub(super) fn is_of_unknown_type(entry: &Element<'_>) -> bool {
    let resource = entry.child("resource");
    resource.is_some_and(|of| !of.resource_type().is_some_and(is_resource_type))
}
