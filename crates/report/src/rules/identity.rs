//! Who and what: the document's identifier, its language, and that it has a subject and an author.

use fhir::Element;

use super::{Findings, all};
use crate::links::{Links, Target};

/// System of identifiers that are URIs (docs/interface.md, "The DocumentReference that is sent").
const URI_SYSTEM: &str = "urn:ietf:rfc:3986";

pub(super) fn check(document: Element<'_>, links: &Links<'_>, findings: &mut Findings) {
    check_identifier(document, findings);
    check_language(document, findings);
    let Some(composition) = links.composition() else { return };
    check_language(composition, findings);
    check_subject(composition, links, findings);
    if !all(composition, "author").any(says_something) {
        findings.error("author-missing", composition, &[]);
    }
}

pub(super) fn check_identifier(document: Element<'_>, findings: &mut Findings) {
    let Some(identifier) = document.child("identifier") else {
        findings.error("identifier-missing", document, &[]);
        return;
    };
    match identifier.child("system").and_then(|at| Some((at, at.value()?))) {
        None => findings.error("identifier-system-missing", identifier, &[]),
        Some((at, system)) if system != URI_SYSTEM => {
            findings.error("identifier-system", at, &[("found", system)]);
        }
        Some(_) => {}
    }
    match identifier.child("value").and_then(|at| Some((at, at.value()?))) {
        None => findings.error("identifier-value-missing", identifier, &[]),
        Some((at, value)) => match value.strip_prefix("urn:uuid:") {
            None => findings.error("identifier-not-uuid", at, &[("value", value)]),
            Some(uuid) if !is_uuid(uuid) => {
                findings.warning("identifier-uuid-malformed", at, &[("value", value)]);
            }
            Some(_) => {}
        },
    }
}

/// Eight, four, four, four, twelve hexadecimal digits. The other ways to write one, which the
/// parser also takes, are not UUIDs after `urn:uuid:` (RFC 4122).
fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

fn check_language(resource: Element<'_>, findings: &mut Findings) {
    let Some((at, found)) = resource.child("language").and_then(|at| Some((at, at.value()?)))
    else {
        return;
    };
    if !fhir::is_language_region(found) {
        findings.error("language-form", at, &[("found", found)]);
    }
}

fn check_subject(composition: Element<'_>, links: &Links<'_>, findings: &mut Findings) {
    let Some(subject) = composition.child("subject").filter(|subject| says_something(*subject))
    else {
        findings.error("subject-missing", composition, &[]);
        return;
    };
    // Where it leads nowhere, the rule on references says so.
    let Some(reference) = subject.text("reference") else { return };
    if let Target::Inside(found) | Target::ByIdOnly(found) = links.resolve(composition, reference)
        && let Some(found) = found.resource_type().filter(|found| *found != "Patient")
    {
        findings.error("subject-not-patient", subject, &[("found", found)]);
    }
}

/// A Reference that refers: by address, by identifier or at least in words.
fn says_something(reference: Element<'_>) -> bool {
    ["reference", "identifier", "display"].iter().any(|name| reference.child(name).is_some())
}
