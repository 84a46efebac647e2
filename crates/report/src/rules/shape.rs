//! A document: a Bundle of type `document` whose first entry is a Composition, and every entry a
//! resource under an address of its own (<https://hl7.org/fhir/R4/documents.html>).

use std::collections::HashMap;

use fhir::Element;

use super::{Findings, all};

pub(super) fn check(document: Element<'_>, findings: &mut Findings) {
    let found = document.text("type").unwrap_or_default();
    if found != "document" {
        let at = document.child("type").unwrap_or(document);
        findings.error("bundle-type", at, &[("found", found)]);
    }
    let entries: Vec<_> = all(document, "entry").collect();
    let Some(first) = entries.first() else {
        findings.error("entries-missing", document, &[]);
        return;
    };
    let leading = first.child("resource");
    let found = leading.and_then(Element::resource_type).unwrap_or_default();
    if found != "Composition" {
        let at = leading.unwrap_or(*first);
        findings.error("first-entry-not-composition", at, &[("found", found)]);
    }
    check_entries(&entries, findings);
}

fn check_entries(entries: &[Element<'_>], findings: &mut Findings) {
    let mut seen: HashMap<&str, Element<'_>> = HashMap::new();
    for entry in entries {
        let resource = entry.child("resource");
        if resource.is_none() {
            findings.error("entry-without-resource", *entry, &[]);
        }
        let Some((at, url)) = entry.child("fullUrl").and_then(|at| Some((at, at.value()?))) else {
            findings.error("full-url-missing", *entry, &[]);
            continue;
        };
        if let Some(first) = seen.get(url) {
            let first = first.expression();
            findings.error("full-url-repeated", at, &[("first", &first), ("url", url)]);
        } else {
            seen.insert(url, at);
        }
        if !url.contains(':') {
            findings.error("full-url-form", at, &[("url", url)]);
        } else if let Some(id) = resource.and_then(|resource| other_id(url, resource)) {
            findings.warning("full-url-other-id", at, &[("id", id), ("url", url)]);
        }
    }
}

/// The resource's id, if a REST address of its type ends in another one.
fn other_id<'t>(url: &str, resource: Element<'t>) -> Option<&'t str> {
    let id = resource.text("id")?;
    let (rest, last) = url.split("/_history/").next()?.rsplit_once('/')?;
    let is_rest = url.starts_with("http") && rest.ends_with(resource.resource_type()?);
    (is_rest && last != id).then_some(id)
}
