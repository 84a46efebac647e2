//! What is told apart by a name inside of one resource: ids of elements, contained resources,
//! security labels; and the links to them (`#id`).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use fhir::Element;

use super::invariants::resources_of;
use super::narrative::{self, Links};
use super::{Issue, Run, error};

/// Deepest nesting that is followed; the reader allows 64.
const DEPTH_MAX: usize = 80;

/// What a resource refers to inside of itself.
struct Inner<'t> {
    /// The contained resource; the one around all of them is not among these.
    of: Element<'t>,
    references: HashSet<&'t str>,
}

impl<'t> Run<'t> {
    /// Ids and labels that stand twice, and contained resources that are not used.
    pub(super) fn identity(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        let mut seen = HashSet::new();
        ids(of, &mut seen, issues, 0);
        let mut labels = HashSet::new();
        for label in of.child("meta").into_iter().flat_map(|meta| meta.all("security")) {
            let told = (label.text("system"), label.text("code"));
            if !labels.insert(told) {
                let value = told.1.unwrap_or_default();
                error(issues, label, "rule-security-label-twice", &[("value", value)]);
            }
        }
        self.contained(of, issues);
    }

    /// Contained resources have an id of their own and are referred to (`dom-3`).
    fn contained(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        if of.child("contained").is_none() {
            return;
        }
        let mut own = HashSet::new();
        references(of, false, &mut own, 0);
        let inner: Vec<Inner<'t>> = of
            .all("contained")
            .map(|of| {
                let mut found = HashSet::new();
                references(of, true, &mut found, 0);
                Inner { of, references: found }
            })
            .collect();
        let used = used(&own, &inner);
        let mut known = HashSet::new();
        for (at, contained) in inner.iter().enumerate() {
            let Some(id) = contained.of.text("id") else {
                error(issues, contained.of, "rule-contained-without-id", &[]);
                continue;
            };
            if !known.insert(id) {
                error(issues, contained.of, "rule-contained-twice", &[("value", id)]);
            }
            if !used[at] {
                let params = [("value", id), ("rule", "dom-3")];
                error(issues, contained.of, "rule-contained-not-used", &params);
            }
        }
    }

    /// A link to something in the same resource (`#id`) leads somewhere.
    pub(super) fn fragment(&self, of: Element<'t>, id: &str, issues: &mut Vec<Issue>) {
        let (_, root) = resources_of(of);
        let mut at = Some(root);
        while let Some(resource) = at {
            if self.anchors(resource).contains(id) {
                return;
            }
            at = resource.parent().and_then(|entry| entry.parent());
        }
        error(issues, of, "rule-fragment-unknown", &[("value", id)]);
    }

    /// Everything in a resource that a link can name.
    fn anchors(&self, resource: Element<'t>) -> Rc<HashSet<&'t str>> {
        let key = resource.number();
        if let Some(known) = self.anchors.borrow().get(&key) {
            return Rc::clone(known);
        }
        let mut found = HashSet::new();
        anchors(resource, &mut found, 0);
        let found = Rc::new(found);
        self.anchors.borrow_mut().insert(key, Rc::clone(&found));
        found
    }
}

/// Which contained resources are reached from the one around them, or refer to it (`#`).
fn used(own: &HashSet<&str>, inner: &[Inner<'_>]) -> Vec<bool> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, of) in inner.iter().enumerate() {
        places.entry(of.of.text("id").unwrap_or_default()).or_default().push(at);
    }
    let is_start = |of: &Inner<'_>| {
        let is_named = of.of.text("id").is_some_and(|id| own.contains(id));
        is_named || of.references.contains("")
    };
    let mut used = vec![false; inner.len()];
    let mut open: Vec<usize> = (0..inner.len()).filter(|at| is_start(&inner[*at])).collect();
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut used[at], true) {
            continue;
        }
        let named = inner[at].references.iter().filter_map(|id| places.get(id));
        open.extend(named.flatten().copied().filter(|other| *other != at && !used[*other]));
    }
    used
}

/// Ids of elements that stand twice in one resource. Snapshot and differential repeat each other.
fn ids<'t>(of: Element<'t>, seen: &mut HashSet<&'t str>, issues: &mut Vec<Issue>, depth: usize) {
    for child in of.children().filter(|child| child.resource_type().is_none()) {
        if let Some(id) = child.text("id").filter(|id| !id.is_empty())
            && !seen.insert(id)
        {
            error(issues, child, "rule-id-twice", &[("value", id)]);
        }
        if depth > DEPTH_MAX {
            continue;
        }
        if child.name() == "snapshot" {
            ids(child, &mut HashSet::new(), issues, depth + 1);
        } else {
            ids(child, seen, issues, depth + 1);
        }
    }
}

/// What stands after `#` in any reference, address or link below an element; in contained resources
/// only where the element is one itself.
fn references<'t>(of: Element<'t>, is_contained: bool, found: &mut HashSet<&'t str>, depth: usize) {
    for child in of.children() {
        if child.name() == "contained" && child.resource_type().is_some() && !is_contained {
            continue;
        }
        match child.type_name() {
            "string" | "uri" | "url" | "canonical" => {
                found.extend(child.value().and_then(|value| value.strip_prefix('#')));
            }
            "xhtml" => {
                let mut links = Links::default();
                narrative::links(child, &mut links);
                found.extend(links.fragments);
            }
            _ => {}
        }
        if depth < DEPTH_MAX {
            references(child, is_contained, found, depth + 1);
        }
    }
}

fn anchors<'t>(of: Element<'t>, found: &mut HashSet<&'t str>, depth: usize) {
    for child in of.children() {
        if child.name() == "id" {
            found.extend(child.value());
        } else if child.type_name() == "xhtml" {
            let mut links = Links::default();
            narrative::links(child, &mut links);
            found.extend(links.anchors);
        }
        if depth < DEPTH_MAX {
            anchors(child, found, depth + 1);
        }
    }
}
