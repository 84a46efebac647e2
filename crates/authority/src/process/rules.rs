//! Business rules as data: what makes an accepted document fail later, or complete with a notice.

use std::collections::BTreeMap;
use std::path::Path;

use fhir::{Element, Instant, Period, Severity};
use serde::Deserialize;
use texts::Language;

use crate::AuthorityError;

/// Rules of the practice profile: one sample fails on purpose, repeated data get a notice.
pub const PRACTICE_RULES: &str = include_str!("practice-rules.toml");

/// Rules modelled on the codes that the authority has published. Duplicates are accepted, as the
/// authority's integration system accepts them.
const PUBLISHED_RULES: &str = include_str!("published-rules.toml");
/// Codes of duplicates.
const DUPLICATES: [&str; 2] = ["FOPH-020", "FOPH-021"];

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
/// values = ["697-3"]         # a value that is one of these
/// not-values = ["7601…"]     # a value that is none of these
/// longer-than = 2            # a value of more characters
/// older-than-days = 360      # a date that ended so long before the document was accepted
///                            # without any of these four the element need only be there
/// more-than = 1              # more elements than so many are at the path and have such a value
/// absent = "Patient.address" # a resource of this type is there, and none of them has this element
/// family = ["Muster"]        # short for path Patient.name.family
/// leading-code = ["697-3"]   # short for path Observation.code.coding.code
/// identifier = ["urn:uuid:…"]  # short for path Bundle.identifier.value
/// seen-before = true         # the same data from the same laboratory were accepted before
/// ```
///
/// Every rule that matches speaks; one `fail` is enough to fail. Instead of one `text` a rule may
/// have a table `[rule.text]` with `en` and any of `de`, `fr` and `it`: the laboratory reads the
/// one in the language of its report, and English where there is none.
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
    /// How grave the message to the laboratory is.
    pub severity: Severity,
    /// What becomes of the document.
    pub effect: Effect,
    /// Words for the laboratory.
    pub text: Words,
    /// FHIR issue-type.
    #[serde(default = "business_rule")]
    pub issue: String,
    /// When it speaks.
    pub when: When,
}

fn business_rule() -> String {
    "business-rule".to_owned()
}

/// What a rule says to the laboratory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Words {
    /// The same, whatever the language of the report.
    Alike(String),
    /// By the code of the language; English is among them.
    ByLanguage(BTreeMap<String, String>),
}

impl Words {
    /// Those in a language; the English ones where it has none.
    pub fn in_language(&self, language: Language) -> &str {
        match self {
            Self::Alike(text) => text,
            Self::ByLanguage(texts) => {
                let own = texts.get(language.code());
                own.or_else(|| texts.get(ENGLISH)).map_or("", String::as_str)
            }
        }
    }

    /// Whether whoever reads it is told something, and no text is in a language that nobody asks
    /// for.
    fn are_sound(&self) -> bool {
        let is_known = |code: &String| Language::ALL.iter().any(|known| known.code() == code);
        match self {
            Self::Alike(_) => true,
            Self::ByLanguage(texts) => texts.contains_key(ENGLISH) && texts.keys().all(is_known),
        }
    }
}

const ENGLISH: &str = Language::English.code();

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
    /// A value that is none of these must be at `path`.
    pub not_values: Option<Vec<String>>,
    /// Characters; a longer value must be at `path`.
    pub longer_than: Option<usize>,
    /// Days before acceptance; an earlier date must be at `path`.
    pub older_than_days: Option<u32>,
    /// More elements than so many must be at `path`, each with a value as the conditions above say.
    pub more_than: Option<usize>,
    /// Like `path`: resources of this type are there, and none has this element.
    pub absent: Option<String>,
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
            if !rule.text.are_sound() {
                return Err(AuthorityError::Rules(format!(
                    "rule {}: text needs en, and may have de, fr and it beside it",
                    rule.code
                )));
            }
            let asks = rule.when.asks_of_values() || rule.when.more_than.is_some();
            if asks && rule.when.path.is_none() {
                return Err(AuthorityError::Rules(format!(
                    "rule {} asks for values but has no path",
                    rule.code
                )));
            }
        }
        Ok(rules)
    }

    /// The rules that are modelled on the published codes. In production a duplicate fails.
    pub fn published(production: bool) -> Result<Self, AuthorityError> {
        let mut rules = Self::parse(PUBLISHED_RULES)?;
        for rule in &mut rules.rules {
            if production && DUPLICATES.contains(&rule.code.as_str()) {
                rule.effect = Effect::Fail;
                rule.severity = Severity::Error;
            }
        }
        Ok(rules)
    }

    /// Reads a rule file.
    pub fn read(path: &Path) -> Result<Self, AuthorityError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| AuthorityError::File { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|error| error.in_file(path))
    }
}

impl When {
    /// Whether all conditions hold in a document; `None` where one does not. Otherwise it gives the
    /// element at which the rule matched, for the message: `Some(None)` where `seen_before` is the
    /// only condition, because then no element of the document matched.
    pub(crate) fn holds<'t>(
        &self,
        document: Element<'t>,
        seen_before: bool,
        accepted: Instant,
    ) -> Option<Option<Element<'t>>> {
        if self.seen_before.is_some_and(|wanted| wanted != seen_before) {
            return None;
        }
        let mut met = None;
        if let Some(path) = &self.path {
            let all = elements_at(document, path).into_iter();
            // The one that is too many, where they are counted.
            let at = self.more_than.unwrap_or(0);
            met = Some(all.filter(|element| self.fits(*element, accepted)).nth(at)?);
        }
        for (path, values) in [
            ("Patient.name.family", &self.family),
            ("Observation.code.coding.code", &self.leading_code),
            ("Bundle.identifier.value", &self.identifier),
        ] {
            let Some(values) = values else { continue };
            let mut all = elements_at(document, path).into_iter();
            let found = all.find(|element| is_one_of(*element, values))?;
            met = met.or(Some(found));
        }
        if let Some(path) = &self.absent {
            let kind = path.split('.').next().unwrap_or_default();
            let first = elements_at(document, kind).into_iter().next()?;
            if !elements_at(document, path).is_empty() {
                return None;
            }
            met = met.or(Some(first));
        }
        Some(met)
    }

    const fn asks_of_values(&self) -> bool {
        self.values.is_some()
            || self.not_values.is_some()
            || self.longer_than.is_some()
            || self.older_than_days.is_some()
    }

    /// Whether the element at `path` has such a value; being there is enough where none is asked
    /// for.
    fn fits(&self, element: Element<'_>, accepted: Instant) -> bool {
        if !self.asks_of_values() {
            return true;
        }
        let Some(value) = element.value() else { return false };
        let among = |values: &Vec<String>| values.iter().any(|wanted| wanted == value);
        self.values.as_ref().is_none_or(among)
            && !self.not_values.as_ref().is_some_and(among)
            && self.longer_than.is_none_or(|most| value.chars().count() > most)
            && self.older_than_days.is_none_or(|days| {
                let oldest = accepted.plus_seconds(-i64::from(days) * 86_400);
                Period::parse(value).is_some_and(|period| period.end <= oldest)
            })
    }
}

fn is_one_of(element: Element<'_>, values: &[String]) -> bool {
    element.value().is_some_and(|value| values.iter().any(|wanted| wanted == value))
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
        for rule in &rules.rules {
            let said = Language::ALL.map(|language| rule.text.in_language(language));
            let values = said.map(|text| text.matches("%value%").count());
            assert!(values.iter().all(|count| *count == values[0]), "{said:?}");
            assert!(said.iter().skip(1).all(|text| *text != said[0]), "{said:?}");
        }
    }

    #[test]
    fn one_text_is_for_everybody_and_of_several_each_reads_its_own() {
        let head = "[[rule]]\ncode='X'\nseverity='error'\neffect='fail'\n";
        let read = |text: &str| {
            let rules = Rules::parse(&format!("{head}{text}[rule.when]\nfamily=['A']\n"));
            let rule = rules.ok()?.rules.remove(0);
            Some(Language::ALL.map(|language| rule.text.in_language(language).to_owned()))
        };
        let told = |texts: [&str; 4]| Some(texts.map(str::to_owned));
        assert_eq!(read("text='a'\n"), told(["a", "a", "a", "a"]));
        assert_eq!(read("[rule.text]\nen='a'\nfr='b'\n"), told(["a", "a", "b", "a"]));
        assert_eq!(read("[rule.text]\nde='a'\n"), None, "nothing for the others");
        assert_eq!(read("[rule.text]\nen='a'\nrm='b'\n"), None, "nobody asks for it");
        assert_eq!(read(""), None);
    }

    #[test]
    fn a_rule_needs_a_condition_and_known_words() {
        let head = "[[rule]]\ncode='X'\nseverity='error'\neffect='fail'\ntext='t'\n";
        for (tail, fits) in [
            ("[rule.when]\nfamily=['A']\n", true),
            ("[rule.when]\n", false),
            ("[rule.when]\nvalues=['A']\n", false),
            ("[rule.when]\nlonger-than=2\n", false),
            ("[rule.when]\nmore-than=1\n", false),
            ("[rule.when]\nabsent='Patient.address'\n", true),
            ("[rule.when]\nfamly=['A']\n", false),
            ("", false),
        ] {
            assert_eq!(Rules::parse(&format!("{head}{tail}")).is_ok(), fits, "{tail}");
        }
    }
}
