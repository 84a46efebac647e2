//! A document is complete in itself: what it refers to is in it.
//!
//! What leads nowhere (a relative or `urn:` address that no entry has, a `#id` that is not
//! contained) is an error wherever it stands, because nobody can ever follow it. An address on the
//! web that is not in the document is an error where the Composition itself points to it, because
//! the standard requires those resources inside the document; elsewhere it is a warning.

use fhir::Element;

use super::Findings;
use crate::links::{Links, Target};

pub(super) fn check(links: &Links<'_>, findings: &mut Findings) {
    for (url, resource) in links.resources() {
        let place = Place { links, url, resource };
        place.walk(resource, findings);
    }
}

/// An entry's resource, in which references stand.
struct Place<'l, 't> {
    links: &'l Links<'t>,
    url: Option<&'t str>,
    resource: Element<'t>,
}

impl<'t> Place<'_, 't> {
    /// Every Reference below this element. The reader bounds the depth.
    fn walk(&self, element: Element<'t>, findings: &mut Findings) {
        for child in element.children() {
            if child.type_name() == "Reference" {
                self.check(child, findings);
            }
            self.walk(child, findings);
        }
    }

    fn check(&self, element: Element<'t>, findings: &mut Findings) {
        let Some((at, reference)) =
            element.child("reference").and_then(|at| Some((at, at.value()?)))
        else {
            return;
        };
        let params = [("reference", reference)];
        match self.links.resolve_from(self.url, self.resource, reference) {
            Target::Inside(_) => {}
            Target::ByIdOnly(_) => findings.warning("reference-by-id-only", at, &params),
            Target::Nowhere => findings.error("reference-unresolved", at, &params),
            Target::Outside if self.resource.resource_type() == Some("Composition") => {
                findings.error("reference-unresolved", at, &params);
            }
            Target::Outside => findings.warning("reference-outside", at, &params),
        }
    }
}
