//! Departures from the profile of a sent DocumentReference (docs/interface.md, "Profiles and
//! identifiers").

use fhir::{Element, Finding, Severity, Tree};

use crate::canonical::URI_SYSTEM;
use crate::envelope::contained_bundle;
use crate::splice::missing_profiles;

/// Every code that [`check_envelope`] can report, with the parameters of its message.
pub const CODES: &[(&str, &[&str])] = &[
    ("envelope-root", &["found"]),
    ("envelope-document-count", &["count"]),
    ("envelope-document-type", &["found"]),
    ("envelope-document-id", &[]),
    (PROFILE_MISSING, &["profile"]),
    ("envelope-identifier-count", &["count"]),
    ("envelope-identifier-system", &["found"]),
    ("envelope-identifier-value", &["found"]),
    ("envelope-identifier-uuid", &["found"]),
    ("envelope-status", &["found"]),
    ("envelope-doc-status", &[]),
    ("envelope-modifier-extension", &[]),
    ("envelope-relates-to", &[]),
    ("envelope-content-count", &["count"]),
    ("envelope-url-missing", &[]),
    ("envelope-url-unresolved", &["url"]),
    ("envelope-language-missing", &[]),
    ("envelope-language-form", &["found"]),
];

const PROFILE_MISSING: &str = "envelope-profile-missing";

/// How much of what the specification requires is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// All of it.
    #[default]
    Specified,
    /// As much as the deployed service demands: a document that declares no profiles, and a
    /// language that is absent or of another form, are accepted with a warning.
    Deployed,
}

impl Strictness {
    /// Severity of a departure that the deployed service overlooks.
    pub const fn overlooked(self) -> Severity {
        match self {
            Self::Specified => Severity::Error,
            Self::Deployed => Severity::Warning,
        }
    }
}

/// Departures of a DocumentReference from the profile of the sent form. A root of another type
/// gives one finding, `envelope-root`. Cardinalities that FHIR itself sets (`date`, `description`,
/// `authenticator` at most once) are the base check's.
///
/// Errors are what the specification forbids; [`Strictness`] says what becomes of that which the
/// published requests do without. A malformed UUID is always a warning.
pub fn check_envelope(tree: &Tree, strictness: Strictness) -> Vec<Finding> {
    let root = tree.root();
    if root.resource_type() != Some("DocumentReference") {
        let found = root.resource_type().unwrap_or_default();
        return vec![finding("envelope-root", Severity::Error, root, &[("found", found)])];
    }
    let mut findings = Vec::new();
    check_contained(root, strictness, &mut findings);
    check_identifier(root, &mut findings);
    check_fixed(root, &mut findings);
    check_content(root, strictness, &mut findings);
    findings
}

/// What the specification forbids in a ready envelope and still does when it is sent:
/// [`crate::wrap`] inserts the profiles that its document lacks, so that they are nobody's fault.
pub fn check_before_seal(tree: &Tree) -> Vec<Finding> {
    let mut findings = check_envelope(tree, Strictness::Specified);
    findings.retain(|finding| finding.code != PROFILE_MISSING);
    findings
}

fn check_contained(root: Element<'_>, strictness: Strictness, findings: &mut Vec<Finding>) {
    let bundles: Vec<_> =
        root.all("contained").filter(|r| r.resource_type() == Some("Bundle")).collect();
    let [document] = bundles.as_slice() else {
        let count = bundles.len().to_string();
        let place = bundles.get(1).copied().unwrap_or(root);
        findings.push(finding(
            "envelope-document-count",
            Severity::Error,
            place,
            &[("count", &count)],
        ));
        return;
    };
    let kind = document.text("type").unwrap_or_default();
    if kind != "document" {
        let place = document.child("type").unwrap_or(*document);
        findings.push(finding(
            "envelope-document-type",
            Severity::Error,
            place,
            &[("found", kind)],
        ));
    }
    if document.text("id").is_none_or(str::is_empty) {
        findings.push(finding("envelope-document-id", Severity::Error, *document, &[]));
    }
    for profile in missing_profiles(*document) {
        let place = document.child("meta").unwrap_or(*document);
        findings.push(finding(
            PROFILE_MISSING,
            strictness.overlooked(),
            place,
            &[("profile", profile)],
        ));
    }
}

/// Of how many identifiers it is said what is wrong with each: one is right, and each that is too
/// much would be told twice.
const IDENTIFIERS_JUDGED: usize = 10;

fn check_identifier(root: Element<'_>, findings: &mut Vec<Finding>) {
    let identifiers: Vec<_> = root.all("identifier").collect();
    if identifiers.len() != 1 {
        let count = identifiers.len().to_string();
        let place = identifiers.get(1).copied().unwrap_or(root);
        findings.push(finding(
            "envelope-identifier-count",
            Severity::Error,
            place,
            &[("count", &count)],
        ));
    }
    for identifier in identifiers.into_iter().take(IDENTIFIERS_JUDGED) {
        let system = identifier.text("system").unwrap_or_default();
        if system != URI_SYSTEM {
            let place = identifier.child("system").unwrap_or(identifier);
            findings.push(finding(
                "envelope-identifier-system",
                Severity::Error,
                place,
                &[("found", system)],
            ));
        }
        let value = identifier.text("value").unwrap_or_default();
        let place = identifier.child("value").unwrap_or(identifier);
        let (code, severity) = match value.strip_prefix("urn:uuid:") {
            None => ("envelope-identifier-value", Severity::Error),
            Some(id) if !is_uuid(id) => ("envelope-identifier-uuid", Severity::Warning),
            Some(_) => continue,
        };
        findings.push(finding(code, severity, place, &[("found", value)]));
    }
}

/// What is fixed or absent in the profile.
fn check_fixed(root: Element<'_>, findings: &mut Vec<Finding>) {
    let status = root.text("status").unwrap_or_default();
    if status != "current" {
        let place = root.child("status").unwrap_or(root);
        findings.push(finding("envelope-status", Severity::Error, place, &[("found", status)]));
    }
    for (name, code) in [
        ("docStatus", "envelope-doc-status"),
        ("modifierExtension", "envelope-modifier-extension"),
        ("relatesTo", "envelope-relates-to"),
    ] {
        if let Some(place) = root.child(name) {
            findings.push(finding(code, Severity::Error, place, &[]));
        }
    }
}

fn check_content(root: Element<'_>, strictness: Strictness, findings: &mut Vec<Finding>) {
    let contents: Vec<_> = root.all("content").collect();
    if contents.len() != 1 {
        let count = contents.len().to_string();
        let place = contents.get(1).copied().unwrap_or(root);
        findings.push(finding(
            "envelope-content-count",
            Severity::Error,
            place,
            &[("count", &count)],
        ));
    }
    for content in contents {
        let place = content.child("attachment").unwrap_or(content);
        match content.text("attachment.url") {
            None => findings.push(finding("envelope-url-missing", Severity::Error, place, &[])),
            Some(url) if contained_bundle(root, url).is_none() => {
                let place = place.child("url").unwrap_or(place);
                findings.push(finding(
                    "envelope-url-unresolved",
                    Severity::Error,
                    place,
                    &[("url", url)],
                ));
            }
            Some(_) => {}
        }
        match content.text("attachment.language") {
            None => {
                let severity = strictness.overlooked();
                findings.push(finding("envelope-language-missing", severity, place, &[]));
            }
            Some(language) if !fhir::is_language_region(language) => {
                let place = place.child("language").unwrap_or(place);
                findings.push(finding(
                    "envelope-language-form",
                    strictness.overlooked(),
                    place,
                    &[("found", language)],
                ));
            }
            Some(_) => {}
        }
    }
}

fn finding(code: &str, severity: Severity, place: Element<'_>, params: &[(&str, &str)]) -> Finding {
    Finding {
        code: code.to_owned(),
        severity,
        expression: place.expression(),
        position: Some(place.position()),
        params: params.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
    }
}

/// The 8-4-4-4-12 form; `Uuid::parse_str` alone would also take braces and bare digits.
fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}
