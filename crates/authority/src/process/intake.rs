//! What is accepted: the text is read, checked in full, and either everything fits or every error
//! is told.

use std::collections::BTreeSet;

use exchange::{Strictness, check_envelope, envelope_of};
use fhir::{Element, Finding, Format, Limits, Severity, Tree};
use sha2::{Digest, Sha256};

use crate::notice::Notice;
use crate::process::diagnostics::{notice_of, notice_of_text};
use crate::process::validation::Validation;

/// What a request body turned out to be.
pub(crate) enum Submission {
    /// Fits; what is told of it are warnings at most.
    Fits(Metadata, Vec<Notice>),
    /// No tree can be made of it: 400.
    Unreadable(Vec<Notice>),
    /// The rules in use cannot be read, so nobody can say whether it fits: 503.
    NotJudged,
    /// Breaks rules: 422.
    Refused {
        notices: Vec<Notice>,
        /// What a DocumentReference says of itself; `None`: it is another resource.
        metadata: Option<Metadata>,
    },
}

/// What is stored of a document beside its text. Of a refused one every text may be empty.
pub(crate) struct Metadata {
    pub(crate) identifier_system: Option<String>,
    pub(crate) identifier: String,
    pub(crate) document_system: Option<String>,
    pub(crate) document_identifier: String,
    pub(crate) digest: [u8; 32],
}

/// Reads and checks a request body.
pub(crate) fn examine(
    body: &[u8],
    format: Format,
    strictness: Strictness,
    validation: &Validation,
) -> Submission {
    let tree = match Tree::read(body, format, &Limits::default()) {
        Ok(tree) => tree,
        Err(finding) => return Submission::Unreadable(vec![notice_of_text(&finding)]),
    };
    let mut findings = findings_of(&tree, strictness);
    match validation.findings(&tree) {
        Ok(found) => findings.extend(found),
        Err(error) => {
            tracing::error!(%error, "the rules in use cannot be read: nothing is accepted");
            return Submission::NotJudged;
        }
    }
    findings.sort_by_key(|finding| finding.position.map(|position| position.start));
    cut(&mut findings);
    let notices = findings.iter().map(notice_of).collect();
    let metadata = metadata_of(&tree);
    let broken = findings.iter().any(|finding| finding.severity == Severity::Error);
    match metadata {
        // Nothing that fits is without a document: a finding of `check_envelope` says so.
        Some(metadata) if !broken => Submission::Fits(metadata, notices),
        metadata => Submission::Refused { notices, metadata },
    }
}

/// Findings that are told of one request: an answer with all of a document made for it would be
/// many times as large as that.
const FINDINGS_TOLD: usize = 1_000;

/// Leaves the first ones, and says that there are more. What is refused stays refused.
fn cut(findings: &mut Vec<Finding>) {
    if findings.len() <= FINDINGS_TOLD {
        return;
    }
    let is_refused = findings.iter().any(|finding| finding.severity == Severity::Error);
    findings.truncate(FINDINGS_TOLD);
    let severity = if is_refused { Severity::Error } else { Severity::Warning };
    findings.push(more_than(FINDINGS_TOLD, severity));
}

/// There is more than these many findings.
pub(crate) fn more_than(told: usize, severity: Severity) -> Finding {
    Finding {
        code: "too-many-findings".to_owned(),
        severity,
        expression: String::new(),
        position: None,
        params: vec![("limit".to_owned(), told.to_string())],
    }
}

/// What is to be said of what was sent whether or not there are packages of rules. Here and in
/// `Validation` a document is judged before it is accepted, and nowhere else.
fn findings_of(tree: &Tree, strictness: Strictness) -> Vec<Finding> {
    let mut findings = tree.check();
    findings.extend(check_envelope(tree, strictness));
    findings.extend(too_long(tree.root()));
    if let Some(envelope) = envelope_of(tree) {
        check_document(envelope.document, &mut findings);
        findings.extend(too_long(envelope.document));
        let own = report::check_identifier(envelope.document).into_iter();
        let overlooked = strictness.overlooked();
        findings.extend(own.map(|finding| {
            let severity = match finding.severity {
                Severity::Error => overlooked,
                other => other,
            };
            Finding { severity, ..finding }
        }));
    }
    findings
}

/// What a DocumentReference says of itself and of its document. What no database could keep is left
/// out: that it is too long is a finding.
fn metadata_of(tree: &Tree) -> Option<Metadata> {
    let root = tree.root();
    if root.resource_type() != Some("DocumentReference") {
        return None;
    }
    let document = envelope_of(tree).map(|envelope| envelope.document);
    let kept = |resource: Option<Element<'_>>, path: &str| {
        let text = resource?.text(path).filter(|text| text.len() <= IDENTIFIER_MAX)?;
        Some(text.replace('\0', "\u{fffd}"))
    };
    Some(Metadata {
        identifier_system: kept(Some(root), "identifier.system"),
        identifier: kept(Some(root), "identifier.value").unwrap_or_default(),
        document_system: kept(document, "identifier.system"),
        document_identifier: kept(document, "identifier.value").unwrap_or_default(),
        digest: digest_of(document.unwrap_or(root)),
    })
}

/// Bytes of an identifier that can be searched: what every database keeps in an index.
const IDENTIFIER_MAX: usize = 2_000;

fn too_long(resource: Element<'_>) -> Option<Finding> {
    let value = resource.at_path("identifier.value")?;
    let is_long = value.value().is_some_and(|text| text.len() > IDENTIFIER_MAX);
    is_long.then(|| Finding {
        code: "identifier-too-long".to_owned(),
        severity: Severity::Error,
        expression: value.expression(),
        position: Some(value.position()),
        params: vec![("limit".to_owned(), IDENTIFIER_MAX.to_string())],
    })
}

/// FHIR's own invariants on documents (<https://hl7.org/fhir/R4/bundle.html#invs>).
fn check_document(document: Element<'_>, findings: &mut Vec<Finding>) {
    let mut add = |code: &str, place: Element<'_>, params: &[(&str, &str)]| {
        findings.push(Finding {
            code: code.to_owned(),
            severity: Severity::Error,
            expression: place.expression(),
            position: Some(place.position()),
            params: params.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
        });
    };
    let present = |path| document.text(path).is_some_and(|value| !value.is_empty());
    if !present("identifier.system") || !present("identifier.value") {
        add("bdl-9", document.child("identifier").unwrap_or(document), &[]);
    }
    if !present("timestamp") {
        add("bdl-10", document, &[]);
    }
    let first = document.child("entry").and_then(|entry| entry.child("resource"));
    let found = first.and_then(Element::resource_type).unwrap_or_default();
    if found != "Composition" {
        add("bdl-11", first.unwrap_or(document), &[("found", found)]);
    }
    let mut urls = BTreeSet::new();
    for entry in document.all("entry") {
        let Some(url) = entry.child("fullUrl") else { continue };
        let version = entry.at_path("resource.meta").and_then(|meta| meta.text("versionId"));
        if !urls.insert((url.value(), version)) {
            add("bdl-7", url, &[("url", url.value().unwrap_or_default())]);
        }
    }
}

/// SHA-256 of a document's data: the same for JSON and XML, whatever the white space; without the
/// local id and the declared profiles, which the sender may add.
fn digest_of(document: Element<'_>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for child in ordered(document) {
        if !matches!(child.name(), "id" | "meta") {
            add_element(&mut hash, child);
        }
    }
    hash.finalize().into()
}

fn add_element(hash: &mut Sha256, element: Element<'_>) {
    // Lengths keep neighbours apart: `ab`,`c` is not `a`,`bc`.
    let mut add = |text: Option<&str>| {
        let text = text.unwrap_or_default();
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    add(Some(element.name()));
    add(element.resource_type());
    add(element.value());
    let children = ordered(element);
    hash.update((children.len() as u64).to_le_bytes());
    for child in children {
        add_element(hash, child);
    }
}

/// Children by name; those of one name in their order. JSON objects have no order between names.
fn ordered(element: Element<'_>) -> Vec<Element<'_>> {
    let mut children: Vec<_> = element.children().collect();
    children.sort_by_key(|child| child.name());
    children
}
