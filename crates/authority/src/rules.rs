//! Business rules as data: what makes an accepted document fail later, or complete with a notice.

use std::path::Path;

use fhir::{Element, Severity};
use serde::Deserialize;

use crate::AuthorityError;

/// Rules of the practice profile: one sample fails on purpose, repeated data get a notice.
pub const PRACTICE_RULES: &str = include_str!("practice-rules.toml");

/// A rule set. The default has none.
///
/// A rule file is TOML, a list of `[[rule]]`:
///
/// ```toml
/// [[rule]]
/// code = "FOPH-012"          # rule code told to the laboratory
/// severity = "error"         # error | warning | information
/// effect = "fail"            # fail: the document is not stored; notice: it completes, and is told
/// text = "Unknown: %value%"  # the laboratory reads this; %value% is what matched
/// issue = "business-rule"    # FHIR issue-type; this is the default
///
/// [rule.when]                # at least one condition; all given must hold
/// path = "Observation.code.coding.code"  # resource type and elements, in any entry (or Bundle.…)
/// values = ["697-3"]         # one of these; without `values` the element need only be there
/// family = ["Muster"]        # short for path Patient.name.family
/// leading-code = ["697-3"]   # short for path Observation.code.coding.code
/// identifier = ["urn:uuid:…"]  # short for path Bundle.identifier.value
/// seen-before = true         # the same data from the same laboratory were accepted before
/// ```
///
/// Every rule that matches speaks; one `fail` is enough to fail.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// In the order of the file.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Rule code, e.g. `FOPH-012`.
    pub code: String,
    /// Of the message.
    pub severity: Severity,
    /// What becomes of the document.
    pub effect: Effect,
    /// Words for the laboratory.
    pub text: String,
    /// FHIR issue-type.
    #[serde(default = "business_rule")]
    pub issue: String,
    /// When it speaks.
    pub when: When,
}

fn business_rule() -> String {
    "business-rule".to_owned()
}

/// What a rule does to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It is not stored.
    Fail,
    /// It completes all the same.
    Notice,
}

/// Conditions of a rule; all that are given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct When {
    /// Resource type and names of elements, with dots.
    pub path: Option<String>,
    /// Values at `path`, of which one must be there.
    pub values: Option<Vec<String>>,
    /// Family names of the patient.
    pub family: Option<Vec<String>>,
    /// Codes of an Observation.
    pub leading_code: Option<Vec<String>>,
    /// Identifiers of the document.
    pub identifier: Option<Vec<String>>,
    /// Whether the same data were accepted before.
    pub seen_before: Option<bool>,
}

impl Rules {
    /// Reads a rule set.
    pub fn parse(text: &str) -> Result<Self, AuthorityError> {
        let rules: Self =
            toml::from_str(text).map_err(|error| AuthorityError::Rules(error.to_string()))?;
        for rule in &rules.rules {
            if rule.when == When::default() {
                return Err(AuthorityError::Rules(format!("rule {} has no condition", rule.code)));
            }
            if rule.when.values.is_some() && rule.when.path.is_none() {
                return Err(AuthorityError::Rules(format!(
                    "rule {} has values but no path",
                    rule.code
                )));
            }
        }
        Ok(rules)
    }

    /// Reads a rule file.
    pub fn read(path: &Path) -> Result<Self, AuthorityError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| AuthorityError::File { path: path.to_owned(), source })?;
        Self::parse(&text)
    }
}

impl When {
    /// Where the conditions hold in a document: the element that the first of them met, `Some(None)`
    /// where they need none.
    pub(crate) fn holds<'t>(
        &self,
        document: Element<'t>,
        seen_before: bool,
    ) -> Option<Option<Element<'t>>> {
        if self.seen_before.is_some_and(|wanted| wanted != seen_before) {
            return None;
        }
        let conditions = [
            (self.path.as_deref(), self.values.as_deref()),
            (self.family.is_some().then_some("Patient.name.family"), self.family.as_deref()),
            (
                self.leading_code.is_some().then_some("Observation.code.coding.code"),
                self.leading_code.as_deref(),
            ),
            (
                self.identifier.is_some().then_some("Bundle.identifier.value"),
                self.identifier.as_deref(),
            ),
        ];
        let mut met = None;
        for (path, values) in conditions {
            let Some(path) = path else { continue };
            let element = elements_at(document, path).into_iter().find(|element| {
                values.is_none_or(|values| {
                    element.value().is_some_and(|value| values.iter().any(|wanted| wanted == value))
                })
            })?;
            met = met.or(Some(element));
        }
        Some(met)
    }
}

/// Every element of a document at `Type.name.name`.
fn elements_at<'t>(document: Element<'t>, path: &str) -> Vec<Element<'t>> {
    let mut names = path.split('.');
    let kind = names.next().unwrap_or_default();
    let mut elements: Vec<_> = if kind == "Bundle" {
        vec![document]
    } else {
        document
            .all("entry")
            .filter_map(|entry| entry.child("resource"))
            .filter(|resource| resource.resource_type() == Some(kind))
            .collect()
    };
    for name in names {
        elements = elements.into_iter().flat_map(|element| element.all(name)).collect();
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_practice_rules_read() {
        let rules = Rules::parse(PRACTICE_RULES).unwrap();
        assert!(rules.rules.iter().any(|rule| rule.effect == Effect::Fail));
        assert!(rules.rules.iter().any(|rule| rule.effect == Effect::Notice));
    }

    #[test]
    fn a_rule_needs_a_condition_and_known_words() {
        let head = "[[rule]]\ncode='X'\nseverity='error'\neffect='fail'\ntext='t'\n";
        for (tail, fits) in [
            ("[rule.when]\nfamily=['A']\n", true),
            ("[rule.when]\n", false),
            ("[rule.when]\nvalues=['A']\n", false),
            ("[rule.when]\nfamly=['A']\n", false),
            ("", false),
        ] {
            assert_eq!(Rules::parse(&format!("{head}{tail}")).is_ok(), fits, "{tail}");
        }
    }
}
