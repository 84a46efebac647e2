//! A Bundle: what stands in it under which address, and the rules for it as a whole.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use fhir::{Element, TypeDefinition};

use super::documents::{Unaddressed, is_of_unknown_type, is_unaddressed};
use super::references::{Target, type_in};
use super::{Issue, Run, error};

/// The entries of a Bundle by address, made once.
pub(crate) struct Entries<'t> {
    by_url: HashMap<&'t str, Vec<Element<'t>>>,
    is_transaction: bool,
}

impl<'t> Entries<'t> {
    fn of(bundle: Element<'t>) -> Self {
        let mut by_url: HashMap<&str, Vec<Element<'t>>> = HashMap::new();
        for entry in bundle.all("entry") {
            if let (Some(url), Some(resource)) = (entry.text("fullUrl"), entry.child("resource")) {
                by_url.entry(url).or_default().push(resource);
            }
        }
        let kind = bundle.text("type").unwrap_or_default();
        Self { by_url, is_transaction: matches!(kind, "transaction" | "batch") }
    }

    /// What a reference means, seen from an entry with this `fullUrl`.
    pub(super) fn target(&self, reference: &str, full_url: Option<&str>) -> Target<'t> {
        let (plain, version) = match reference.split_once("/_history/") {
            Some((plain, version)) => (plain, Some(version)),
            None => (reference, None),
        };
        let plain = plain.split('#').next().unwrap_or_default();
        let (url, kind) = if is_absolute(plain) {
            (plain.to_owned(), None)
        } else {
            // What is behind the last slash may be missing: HL7's validator counts the parts before
            // it.
            let parts: Vec<&str> = plain.trim_end_matches('/').split('/').collect();
            let [kind, id] = parts[..] else {
                let is_query = plain.contains('?');
                // It counts: four parts are taken for an address with a version.
                let is_counted = version.is_none() && parts.len() == 4;
                let fine = (self.is_transaction && is_query) || full_url.is_none() || is_counted;
                return if fine { Target::Elsewhere } else { Target::Malformed };
            };
            let Some(full_url) = full_url else { return Target::Elsewhere };
            match base_of(full_url) {
                Base::Urn(base) => (format!("{base}{id}"), Some(kind)),
                Base::Rest(base) => (format!("{base}{plain}"), None),
            }
        };
        let named = self.by_url.get(url.as_str()).into_iter().flatten().copied();
        let fits = |of: &Element<'t>| {
            version.is_none_or(|version| of.text("meta.versionId") == Some(version))
        };
        let mut found = named.filter(fits);
        match (found.next(), found.next()) {
            (None, _) => Target::Elsewhere,
            (Some(one), None) if kind.is_some_and(|kind| one.resource_type() != Some(kind)) => {
                Target::OtherType(one)
            }
            (Some(one), None) => Target::Bundled(one),
            (Some(one), Some(_)) => Target::Ambiguous(one),
        }
    }
}

enum Base {
    Urn(String),
    Rest(String),
}

/// What a relative reference is relative to.
fn base_of(full_url: &str) -> Base {
    if full_url.starts_with("urn:") {
        let end = full_url.rfind(':').map_or(0, |at| at + 1);
        return Base::Urn(full_url[..end].to_owned());
    }
    let mut parts: Vec<&str> = full_url.split('/').collect();
    parts.truncate(parts.len().saturating_sub(2));
    let base = parts.join("/");
    Base::Rest(if base.is_empty() { base } else { format!("{base}/") })
}

/// A scheme and something after it.
pub(super) fn is_absolute(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, rest)| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        !rest.is_empty()
            && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(plain)
    })
}

impl<'t> Run<'t> {
    /// The addresses of a Bundle.
    pub(super) fn entries(&self, bundle: Element<'t>) -> Rc<Entries<'t>> {
        let key = bundle.number();
        if let Some(known) = self.bundles.borrow().get(&key) {
            return Rc::clone(known);
        }
        let entries = Rc::new(Entries::of(bundle));
        self.bundles.borrow_mut().insert(key, Rc::clone(&entries));
        entries
    }

    /// Rules that FHIRPath does not say.
    pub(super) fn bundle(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        let kind = of.text("type").unwrap_or_default();
        let entries: Vec<Element<'t>> = of.all("entry").collect();
        let first = entries.first().and_then(|entry| entry.child("resource"));
        let lead = match kind {
            "document" => Some("Composition"),
            "message" => Some("MessageHeader"),
            _ => None,
        };
        if let Some(lead) = lead {
            match first {
                Some(resource) if resource.resource_type() == Some(lead) => {
                    self.lead(of, resource, entries[0], issues);
                }
                other => {
                    let found = other.and_then(Element::resource_type).unwrap_or_default();
                    let params = [("expected", lead), ("found", found)];
                    error(issues, of, "rule-bundle-first-entry", &params);
                }
            }
        }
        let may_lack = ["transaction", "transaction-response", "batch", "batch-response"];
        let asked = asked_types(of);
        for entry in &entries {
            self.full_url(*entry, may_lack.contains(&kind), issues);
            if kind == "searchset" {
                search_entry(*entry, &asked, issues);
            }
        }
        links(of, kind, issues);
    }

    fn full_url(&self, entry: Element<'t>, may_lack: bool, issues: &mut Vec<Issue>) {
        let resource = entry.child("resource");
        let Some(url) = entry.text("fullUrl") else {
            if !may_lack {
                error(issues, entry, "rule-bundle-full-url-missing", &[]);
            }
            return;
        };
        if !is_absolute(url) {
            return error(issues, entry, "rule-bundle-full-url-relative", &[("value", url)]);
        }
        Self::canonical(entry, url, issues);
        // Only an address in the form of FHIR's REST says type and id.
        let is_rest = url.starts_with("http://") || url.starts_with("https://");
        let told = type_in(url).filter(|_| is_rest && is_rest_form(url));
        if let (Some(_), Some(resource)) = (told, resource) {
            let (kind, id) = (resource.resource_type().unwrap_or_default(), resource.text("id"));
            let expected = format!("/{kind}/{}", id.unwrap_or_default());
            if id.is_none() || !url.ends_with(&expected) {
                let params = [("value", url), ("expected", &*expected)];
                error(issues, entry, "rule-bundle-full-url-differs", &params);
            }
        }
    }

    /// A definition whose own address is that of the entry: it ends in type and id, as such
    /// addresses do.
    fn canonical(entry: Element<'t>, url: &str, issues: &mut Vec<Issue>) {
        let Some(resource) = entry.child("resource") else { return };
        if resource.text("url") != Some(url) || url.starts_with("http://hl7.org/fhir/v") {
            return;
        }
        let id = resource.text("id").unwrap_or_default();
        if type_in(url).is_none() || !url.ends_with(&format!("/{id}")) {
            let kind = resource.resource_type().unwrap_or_default();
            let expected = format!("/{kind}/{id}");
            let params = [("value", url), ("expected", &*expected)];
            error(issues, entry, "rule-bundle-full-url-differs", &params);
        }
    }

    /// A document's Composition and a message's header: their references lead to entries, and every
    /// entry hangs together with them.
    fn lead(
        &self,
        bundle: Element<'t>,
        lead: Element<'t>,
        entry: Element<'t>,
        issues: &mut Vec<Issue>,
    ) {
        let is_document = lead.resource_type() == Some("Composition");
        let mut owed = Vec::new();
        if is_document {
            for name in ["subject", "author", "encounter", "custodian"] {
                owed.extend(lead.all(name));
            }
            owed.extend(lead.all("attester").flat_map(|of| of.all("party")));
            owed.extend(lead.all("event").flat_map(|of| of.all("detail")));
            lead.all("section").for_each(|section| section_references(section, &mut owed, 0));
        } else {
            owed.extend(lead.all("focus"));
        }
        let mut lost = Vec::new();
        for of in owed {
            let reference = of.text("reference").filter(|text| !text.starts_with('#'));
            let Some(reference) = reference.filter(|text| !text.is_empty()) else { continue };
            if self.lookup(bundle, reference, entry).is_none() {
                lost.push((of, reference));
            }
        }
        let told: HashSet<u32> = lost.iter().map(|(of, _)| of.number()).collect();
        let explained = Unaddressed::of(bundle).explains(entry, &lost);
        for (of, reference) in lost.iter().filter(|(_, reference)| !explained.contains(reference)) {
            error(issues, *of, "rule-bundle-not-in-document", &[("value", reference)]);
        }
        if is_document {
            self.misled(bundle, &told, issues);
            self.reachable(bundle, issues);
        }
    }

    /// As the Bundle itself looks a reference up: by address alone, and a relative one only from an
    /// entry whose own address is one of FHIR's REST (R4 Bundle, "Resolving references in
    /// Bundles").
    fn lookup(
        &self,
        bundle: Element<'t>,
        reference: &str,
        from: Element<'t>,
    ) -> Option<Element<'t>> {
        if !is_absolute(reference) && !is_at_rest_address(from) {
            return None;
        }
        match self.entries(bundle).target(reference, from.text("fullUrl")) {
            Target::Contained(of) | Target::Bundled(of) | Target::Ambiguous(of) => Some(of),
            Target::OtherType(_) | Target::Malformed | Target::Elsewhere => None,
        }
    }

    /// References of a document by type and id to what stands in it under another address: whoever
    /// reads it does not find that.
    fn misled(&self, bundle: Element<'t>, told: &HashSet<u32>, issues: &mut Vec<Issue>) {
        let there: HashSet<(&str, &str)> = bundle
            .all("entry")
            .filter(|entry| !is_unaddressed(entry))
            .filter_map(|entry| entry.child("resource"))
            .filter_map(|resource| Some((resource.resource_type()?, resource.text("id")?)))
            .collect();
        // What an entry without an address refers to by type and id leads nowhere for want of that.
        for entry in bundle.all("entry").filter(|entry| !is_unaddressed(entry)) {
            let mut references = Vec::new();
            reference_elements(entry, &mut references, 0);
            for of in references.into_iter().filter(|of| !told.contains(&of.number())) {
                let Some(reference) = of.text("reference") else { continue };
                let mut parts = reference.split('/');
                let (Some(kind), Some(id)) = (parts.next(), parts.next()) else { continue };
                if there.contains(&(kind, id)) && self.lookup(bundle, reference, entry).is_none() {
                    error(issues, of, "rule-bundle-not-in-document", &[("value", reference)]);
                }
            }
        }
    }

    /// Every entry of a document is reached from the Composition, or reaches what is.
    fn reachable(&self, bundle: Element<'t>, issues: &mut Vec<Issue>) {
        let entries: Vec<Element<'t>> =
            bundle.all("entry").filter(|entry| entry.child("resource").is_some()).collect();
        let places: HashMap<u32, usize> = entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| Some((entry.child("resource")?.number(), at)))
            .collect();
        let unaddressed = Unaddressed::of(bundle);
        let mut links: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
        for (at, entry) in entries.iter().enumerate() {
            let mut references = HashSet::new();
            linked(*entry, &mut references, 0);
            for reference in references {
                let target = self.lookup(bundle, reference, *entry);
                let target = target.or_else(|| unaddressed.target(*entry, reference));
                let target = target.and_then(|of| places.get(&of.number()));
                if let Some(target) = target.filter(|target| **target != at) {
                    // Both ways: a link from an entry to what is reached counts too.
                    links[at].push(*target);
                    links[*target].push(at);
                }
            }
        }
        let mut seen = vec![false; entries.len()];
        // Nothing can lead to an entry without an address or a type, so what hangs together with it
        // is not told.
        let is_start = |(at, entry): (usize, &Element<'t>)| {
            (at == 0 || is_unaddressed(entry) || is_of_unknown_type(entry)).then_some(at)
        };
        let mut open: Vec<usize> = entries.iter().enumerate().filter_map(is_start).collect();
        while let Some(at) = open.pop() {
            if let Some(seen) = seen.get_mut(at).filter(|seen| !**seen) {
                *seen = true;
                open.extend(&links[at]);
            }
        }
        for (entry, _) in entries.iter().zip(&seen).filter(|(_, seen)| !**seen) {
            error(issues, *entry, "rule-bundle-not-reached", &[]);
        }
    }
}

/// References of a section and those below it.
fn section_references<'t>(section: Element<'t>, owed: &mut Vec<Element<'t>>, depth: usize) {
    for name in ["author", "focus", "entry"] {
        owed.extend(section.all(name));
    }
    if depth < 64 {
        section.all("section").for_each(|below| section_references(below, owed, depth + 1));
    }
}

/// What an element and all below it refer to; not into a Bundle inside.
fn linked<'t>(of: Element<'t>, found: &mut HashSet<&'t str>, depth: usize) {
    for child in of.children() {
        let told = match child.type_name() {
            "Reference" => child.text("reference"),
            "url" | "uri" if !is_name(of, child) => child.value(),
            // In a resource of a type that there is not.
            "" if child.name() == "reference" => child.value(),
            _ => None,
        };
        found.extend(told.filter(|told| !told.starts_with('#')));
        if child.resource_type() != Some("Bundle") && depth < 64 {
            linked(child, found, depth + 1);
        }
    }
}

/// The references of an element and of all below it; not those of a Bundle inside.
fn reference_elements<'t>(of: Element<'t>, found: &mut Vec<Element<'t>>, depth: usize) {
    for child in of.children() {
        if child.type_name() == "Reference" {
            found.push(child);
        }
        if child.resource_type() != Some("Bundle") && depth < 64 {
            reference_elements(child, found, depth + 1);
        }
    }
}

/// Whether the address of an entry is one of FHIR's REST, which ends in the type and the id of what
/// stands there.
fn is_at_rest_address(entry: Element<'_>) -> bool {
    let Some((url, resource)) = entry.text("fullUrl").zip(entry.child("resource")) else {
        return false;
    };
    let Some((kind, id)) = resource.resource_type().zip(resource.text("id")) else { return false };
    let is_rest = url.starts_with("http://") || url.starts_with("https://");
    is_rest && url.ends_with(&format!("/{kind}/{id}"))
}

/// Whether an address is the name of something, and leads nowhere.
fn is_name(of: Element<'_>, child: Element<'_>) -> bool {
    match child.name() {
        "system" | "fullUrl" => true,
        "url" => of.is_of("Extension"),
        "endpoint" => matches!(of.name(), "source" | "destination"),
        "address" => of.resource_type() == Some("Endpoint"),
        _ => false,
    }
}

/// `https://host/…/Type/id`, with an id that could be one.
fn is_rest_form(url: &str) -> bool {
    let plain = url.split("/_history/").next().unwrap_or_default();
    let id = plain.rsplit('/').next().unwrap_or_default();
    let byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
    !id.is_empty() && id.len() <= 64 && id.bytes().all(byte)
}

/// The types that a search asked for, as its own link says; none where that does not say.
fn asked_types<'t>(of: Element<'t>) -> Vec<&'t str> {
    let own = of.all("link").find(|link| link.text("relation") == Some("self"));
    let Some(url) = own.and_then(|link| link.text("url")) else { return Vec::new() };
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_type = TypeDefinition::named(last).is_some_and(TypeDefinition::is_resource);
    if is_type && !last.contains('.') {
        return vec![last];
    }
    let told = query.split('&').filter_map(|part| part.strip_prefix("_type="));
    told.flat_map(|types| types.split(',')).collect()
}

fn search_entry(entry: Element<'_>, asked: &[&str], issues: &mut Vec<Issue>) {
    let Some(resource) = entry.child("resource") else {
        return error(issues, entry, "rule-bundle-entry-without-resource", &[]);
    };
    let mode = entry.text("search.mode");
    if matches!(mode, Some("match" | "include")) && resource.text("id").is_none() {
        error(issues, resource, "rule-bundle-entry-without-id", &[]);
    }
    let kind = resource.resource_type().unwrap_or_default();
    if mode == Some("match") && !asked.is_empty() && !asked.contains(&kind) {
        let params = [("expected", &*asked.join(", ")), ("found", kind)];
        error(issues, resource, "rule-bundle-entry-type", &params);
    }
    if mode == Some("outcome") && kind != "OperationOutcome" {
        let params = [("expected", "OperationOutcome"), ("found", kind)];
        error(issues, resource, "rule-bundle-entry-type", &params);
    }
}

/// Links for paging belong to searches and histories; each of them stands once.
fn links(of: Element<'_>, kind: &str, issues: &mut Vec<Issue>) {
    let paging = ["first", "previous", "next", "last"];
    let mut seen = HashSet::new();
    for link in of.all("link") {
        let Some(relation) = link.text("relation") else { continue };
        let is_paging = paging.contains(&relation);
        let params = [("value", relation)];
        if is_paging && !matches!(kind, "searchset" | "history") {
            error(issues, link, "rule-bundle-link-not-allowed", &params);
        } else if (is_paging || relation == "self") && !seen.insert(relation) {
            error(issues, link, "rule-bundle-link-twice", &params);
        }
        let url = link.text("url").filter(|url| !is_absolute(url));
        if let Some(url) = url.filter(|_| kind == "document" && relation == "stylesheet") {
            let is_meant = |of: Element<'_>| {
                let (kind, id) = (of.resource_type(), of.text("id"));
                kind.zip(id).is_some_and(|(kind, id)| url == format!("{kind}/{id}"))
            };
            let mut all = of.all("entry").filter_map(|entry| entry.child("resource"));
            if !all.any(is_meant) {
                error(issues, link, "rule-bundle-not-in-document", &[("value", url)]);
            }
        }
    }
}
