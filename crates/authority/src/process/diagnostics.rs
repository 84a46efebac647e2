//! What the authority says of a finding: its English text and a FHIR issue-type.

mod kinds;

use fhir::Finding;
use texts::{CATALOGUE, Language};

use crate::notice::{Notice, constraint_failed};

/// System of the finding codes in `issue.details.coding`.
const FINDING_SYSTEM: &str = "urn:labcourier:finding";

/// A rule that was broken, as a message to the laboratory: told in each of the ways in which
/// clients look for it.
pub(crate) fn notice_of(finding: &Finding) -> Notice {
    let key = key_of(finding);
    let notice = notice_of_text(finding);
    let told = notice.text.as_deref().map(|text| constraint_failed(key, text));
    Notice { diagnostics: told, ..notice }
}

/// A text that could not be read: no rule says how it has to be.
pub(crate) fn notice_of_text(finding: &Finding) -> Notice {
    let text = text_of(finding);
    Notice {
        severity: finding.severity,
        kind: kinds::kind(&finding.code).to_owned(),
        rule: Some((FINDING_SYSTEM.to_owned(), finding.code.clone())),
        text: Some(text.clone()),
        diagnostics: Some(text),
        expression: (!finding.expression.is_empty()).then(|| finding.expression.clone()),
        line: finding.position.map(|position| position.line),
        column: finding.position.map(|position| position.column),
    }
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

/// The text of a code with its parameters; of a code without a text the parameters are listed.
fn text_of(finding: &Finding) -> String {
    let reason = |value: &str| CATALOGUE.text(Language::English, &format!("reason.{value}"));
    let params: Vec<(&str, &str)> = finding
        .params
        .iter()
        .map(|(name, value)| match name.as_str() {
            "reason" => ("reason", reason(value).unwrap_or(value)),
            name => (name, value.as_str()),
        })
        .collect();
    if let Some(text) = text(&finding.code) {
        return Language::English.filled(text, &params).trim_end().to_owned();
    }
    let listed: Vec<_> = params.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    format!("{} ({})", finding.code, listed.join(", "))
}

/// The text of a code: that of the catalogue, but for what only the authority finds or sees from
/// its side.
fn text(code: &str) -> Option<&'static str> {
    let own = OWN.iter().find(|(known, _)| *known == code).map(|(_, text)| *text);
    own.or_else(|| CATALOGUE.text(Language::English, &format!("finding.{code}")))
}

/// Codes that only the authority has (the invariants of FHIR on Bundles that are documents), and
/// those that it must say in another way than whoever sends.
const OWN: &[(&str, &str)] = &[
    ("empty", "The request has no body"),
    ("identifier-uuid-malformed", "“{value}” is not a well-formed UUID"),
    ("identifier-too-long", "An identifier holds at most {limit} bytes"),
    ("bdl-7", "fullUrl {url} must not stand twice in one Bundle"),
    ("bdl-9", "a document needs an identifier with system and value"),
    ("bdl-10", "a document needs a timestamp"),
    ("bdl-11", "the first entry of a document must be a Composition, not {found}"),
];

const _: () = {
    CATALOGUE.must_have_each("finding", fhir::codes::CODES);
    CATALOGUE.must_have_each("finding", exchange::CODES);
    CATALOGUE.must_have_each("finding", rules::codes::CODES);
    CATALOGUE.must_have_each("finding", report::codes::CODES);
    CATALOGUE.must_have("reason", fhir::codes::XML_REASONS);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_issue_type_and_a_text_that_uses_its_parameters() {
        let identifier =
            report::codes::CODES.iter().filter(|(code, _)| code.starts_with("identifier-"));
        let all = fhir::codes::CODES.iter().chain(exchange::CODES).chain(identifier);
        for (code, params) in all.chain(rules::codes::CODES) {
            assert_ne!(kinds::kind(code), "invalid", "{code}");
            assert!(CATALOGUE.foreign(&format!("finding.{code}"), params).is_empty(), "{code}");
        }
    }

    /// In ICU messages an apostrophe before a brace makes the brace a letter: the place stays empty
    /// then.
    #[test]
    fn the_texts_of_the_authority_alone_have_their_parameters_filled_in() {
        for (code, _) in OWN {
            let params = ["value", "limit", "url", "found"];
            let params = params.map(|name| (name.to_owned(), "x-1".to_owned()));
            let finding = Finding {
                code: (*code).to_owned(),
                severity: fhir::Severity::Error,
                expression: String::new(),
                position: None,
                params: params.into(),
            };
            let said = text_of(&finding);
            assert!(!said.contains('{'), "{said}");
            assert_eq!(
                said.contains("x-1"),
                text(code).is_some_and(|it| it.contains('{')),
                "{said}"
            );
        }
    }

    #[test]
    fn a_reason_is_said_in_words() {
        let finding = Finding {
            code: "xml-syntax".to_owned(),
            severity: fhir::Severity::Error,
            expression: String::new(),
            position: None,
            params: vec![("reason".to_owned(), "unclosed-tag".to_owned())],
        };
        assert_eq!(text_of(&finding), "The XML is broken here: an element is not closed.");
    }
}
