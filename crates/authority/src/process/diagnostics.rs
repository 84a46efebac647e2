//! What the authority says of a finding: English words and a FHIR issue-type for each code.

mod rules;

use fhir::Finding;

use crate::http::fhir_json::Notice;

/// System of the finding codes in `issue.details.coding`.
const FINDING_SYSTEM: &str = "urn:labcourier:finding";

/// A rule that was broken, as a message to the laboratory: told in each of the ways in which clients look for it.
pub(crate) fn notice_of(finding: &Finding) -> Notice {
    let key = key_of(finding);
    let notice = notice_of_text(finding);
    let told = notice.text.as_deref().map(|text| constraint_failed(key, text));
    Notice { diagnostics: told, ..notice }
}

/// A text that could not be read: no rule says how it has to be.
pub(crate) fn notice_of_text(finding: &Finding) -> Notice {
    let (kind, words) = words(&finding.code);
    let text = filled(words, finding);
    Notice {
        severity: finding.severity,
        kind: kind.to_owned(),
        rule: Some((FINDING_SYSTEM.to_owned(), finding.code.clone())),
        text: Some(text.clone()),
        diagnostics: Some(text),
        expression: (!finding.expression.is_empty()).then(|| finding.expression.clone()),
        line: finding.position.map(|position| position.line),
        column: finding.position.map(|position| position.column),
    }
}

/// A broken rule as validators of FHIR tell it.
pub(crate) fn constraint_failed(key: &str, text: &str) -> String {
    format!("Constraint failed: {key}: '{text}'")
}

/// The key of a rule: FHIR's own, where the rule is one of FHIR's or of a package.
fn key_of(finding: &Finding) -> &str {
    let named = finding.params.iter().find(|(name, _)| name == "rule");
    match (named, &*finding.code) {
        (Some((_, key)), _) => key,
        (None, "empty-element") => "ele-1",
        (None, code) => code,
    }
}

/// Puts the parameters into `{name}`; of a code without words the parameters are listed.
fn filled(words: &str, finding: &Finding) -> String {
    if words.is_empty() {
        let params: Vec<_> = finding.params.iter().map(|(n, v)| format!("{n}: {v}")).collect();
        return format!("{} ({})", finding.code, params.join(", "));
    }
    finding
        .params
        .iter()
        .fold(words.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// Issue-type and words of a code; empty words for a code that is not known here.
fn words(code: &str) -> (&'static str, &'static str) {
    match code {
        "empty" => ("structure", "The request has no body"),
        "too-large" => ("too-long", "More than {limit} bytes"),
        "too-deep" => ("too-costly", "Nested deeper than {limit} levels"),
        "too-many-elements" => ("too-costly", "More than {limit} elements"),
        "too-many-attributes" => ("too-costly", "More than {limit} attributes on one element"),
        "not-utf8" => ("structure", "The text is not UTF-8 {encoding}"),
        "json-syntax" => ("structure", "Not well-formed JSON: expected {expected}, found {found}"),
        "lone-surrogate" => ("structure", "Half of a surrogate pair in a JSON string"),
        "xml-syntax" => ("structure", "Not well-formed XML: {reason}"),
        "mismatched-end-tag" => {
            ("structure", "Not well-formed XML: end tag of {found} where {expected} is open")
        }
        "dtd-refused" => ("security", "A document type declaration is not accepted"),
        "entity-refused" => ("security", "The entity {entity} is not accepted"),
        "no-resource" => ("structure", "There is no FHIR resource"),
        "wrong-namespace" => {
            ("structure", "{element} is in namespace {value}, expected {expected}")
        }
        "unknown-resource-type" => ("structure", "{type} is not a FHIR R4 resource"),
        "resource-type-missing" => ("structure", "{element} does not say its resource type"),
        "two-resources" => ("structure", "A second resource, {type}, in the same place"),
        "unknown-element" => ("structure", "{element} is not an element of {type}"),
        "unknown-attribute" => ("structure", "Unknown attribute {attribute}"),
        "unexpected-text" => ("structure", "Unexpected text: {value}"),
        "choice-type-not-allowed" => ("structure", "{element} cannot be of type {type}"),
        "two-choices" => ("structure", "{element} stands beside {found}: only one type is allowed"),
        "missing-element" => ("required", "{element} is required in {type}"),
        "too-many" => ("structure", "{element} may stand once only"),
        "wrong-order" => ("structure", "{element} stands where {expected} was expected"),
        "duplicate-key" => ("structure", "{element} stands twice in one JSON object"),
        "wrong-json-type" => ("structure", "{element}: expected {expected}, found {found}"),
        "array-expected" => ("structure", "{element} must be a JSON array"),
        "array-not-allowed" => ("structure", "{element} must not be a JSON array"),
        "attribute-expected" => ("structure", "{element} must be an XML attribute"),
        "empty-array" => ("structure", "{element} is an empty JSON array"),
        "empty-element" => ("invariant", "{element} must have a value or children"),
        "empty-value" => ("value", "{element} has an empty value"),
        "null-not-allowed" => ("structure", "{element} must not be null"),
        "value-not-allowed" => ("structure", "{element} of type {type} has no value of its own"),
        "invalid-value" => ("value", "{element}: '{value}' is no valid {type}"),
        "code-not-allowed" => ("code-invalid", "{element}: '{value}' is none of {expected}"),
        "narrative-not-xhtml" => ("structure", "The narrative is no valid XHTML: {reason}"),
        "too-many-findings" => ("too-costly", "More than {limit} findings; the rest is not listed"),
        other => envelope_words(other),
    }
}

fn envelope_words(code: &str) -> (&'static str, &'static str) {
    match code {
        "envelope-root" => ("structure", "A DocumentReference is expected, found {found}"),
        "envelope-document-count" => {
            ("structure", "Exactly one contained Bundle is expected, found {count}")
        }
        "envelope-document-type" => {
            ("value", "The contained Bundle must be of type document, not '{found}'")
        }
        "envelope-document-id" => ("required", "The contained Bundle needs an id"),
        "envelope-profile-missing" => {
            ("required", "The contained Bundle does not declare the profile {profile}")
        }
        "envelope-identifier-count" => {
            ("structure", "Exactly one identifier is expected, found {count}")
        }
        "envelope-identifier-system" => {
            ("value", "identifier.system must be urn:ietf:rfc:3986, not '{found}'")
        }
        "envelope-identifier-value" => {
            ("value", "identifier.value must be urn:uuid:<uuid>, not '{found}'")
        }
        "envelope-identifier-uuid" => ("value", "'{found}' is not a well-formed UUID"),
        "envelope-status" => ("value", "status must be current, not '{found}'"),
        "envelope-doc-status" => ("not-supported", "docStatus is not allowed"),
        "envelope-modifier-extension" => ("extension", "modifierExtension is not allowed"),
        "envelope-relates-to" => ("not-supported", "relatesTo is not supported"),
        "envelope-content-count" => ("structure", "Exactly one content is expected, found {count}"),
        "envelope-url-missing" => ("required", "content.attachment.url is required"),
        "envelope-url-unresolved" => {
            ("not-found", "content.attachment.url '{url}' names no contained Bundle")
        }
        "envelope-language-missing" => ("required", "content.attachment.language is required"),
        "envelope-language-form" => {
            ("value", "content.attachment.language '{found}' is not of the form de-CH")
        }
        other => document_words(other),
    }
}

/// The invariants of FHIR on Bundles that are documents.
fn document_words(code: &str) -> (&'static str, &'static str) {
    match code {
        "bdl-7" => ("invariant", "fullUrl {url} must not stand twice in one Bundle"),
        "bdl-9" => ("invariant", "a document needs an identifier with system and value"),
        "bdl-10" => ("invariant", "a document needs a timestamp"),
        "bdl-11" => {
            ("invariant", "the first entry of a document must be a Composition, not {found}")
        }
        "identifier-too-long" => ("too-long", "An identifier holds at most {limit} bytes"),
        other => identifier_words(other),
    }
}

/// The rules on a document's identifier.
fn identifier_words(code: &str) -> (&'static str, &'static str) {
    match code {
        "identifier-missing" => ("required", "A document needs an identifier"),
        "identifier-system-missing" => ("required", "identifier.system is required"),
        "identifier-value-missing" => ("required", "identifier.value is required"),
        "identifier-system" => {
            ("value", "identifier.system must be urn:ietf:rfc:3986, not '{found}'")
        }
        "identifier-not-uuid" => {
            ("value", "identifier.value must be urn:uuid:<uuid>, not '{value}'")
        }
        "identifier-uuid-malformed" => ("value", "'{value}' is not a well-formed UUID"),
        other => rules::words(other).unwrap_or(("invalid", "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_words_that_use_its_parameters() {
        let identifier =
            report::codes::CODES.iter().filter(|(code, _)| code.starts_with("identifier-"));
        let all = fhir::codes::CODES.iter().chain(exchange::CODES).chain(identifier);
        let all = all.chain(::rules::codes::CODES);
        for (code, params) in all {
            let (_, words) = words(code);
            assert!(!words.is_empty(), "{code} has no words");
            for param in words.split('{').skip(1).filter_map(|part| part.split('}').next()) {
                assert!(params.contains(&param), "{code} has no parameter {param}");
            }
        }
    }
}
