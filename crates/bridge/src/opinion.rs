//! A second opinion: what a validator of the laboratory's choosing says of a report, and where that
//! is something else than what is found here. It decides nothing: whether a report may be sent is
//! said by the rules in use.

use std::path::Path;

use fhir::{Element, Finding, Format, Issue, Limits, Severity, Tree};
use rules::RuleSet;
use validator::{SettingFault, Validator};

use crate::placement::{found, holds};
use crate::problem::Problem;
use crate::record::{IssueRecord, IssueSource, Opinion};
use crate::views::MessageView;

/// Codes of why a validator says nothing.
pub const OPINION_FAULTS: &[&str] = &[
    "nobody-trusted",
    "not-reached",
    "not-trusted",
    "too-long",
    "broken",
    "too-large",
    "leads-elsewhere",
    "not-let-in",
    "no-outcome",
];

/// The validator that a person has chosen for the profile in this folder.
pub(crate) fn chosen(folder: &Path) -> Result<Option<Validator>, Problem> {
    Validator::of(&folder.join("rules")).map_err(of_setting)
}

pub(crate) fn of_setting(fault: SettingFault) -> Problem {
    match fault {
        SettingFault::Io { path, source } => {
            let (file, reason) = (path.display().to_string(), source.kind().to_string());
            Problem::new("profile-io", &[("file", &file), ("reason", &reason)], "validator")
        }
        SettingFault::Damaged { path } => {
            let file = path.display().to_string();
            Problem::new("validator-damaged", &[("file", &file)], "validator")
        }
    }
}

/// Asks what the validator says of a report in which this was found here.
pub(crate) async fn opinion(
    validator: &Validator,
    rules: Option<&RuleSet>,
    report: (Vec<u8>, Format),
    ours: &[&Finding],
) -> Opinion {
    let (bytes, format) = report;
    let mut opinion = Opinion {
        address: validator.address().to_owned(),
        fault: None,
        both: 0,
        only_there: Vec::new(),
        only_here: Vec::new(),
    };
    let read = Tree::read(&bytes, format, &Limits::default());
    let Some(tree) = read.ok().filter(|tree| tree.root().resource_type().is_some()) else {
        // What is no resource is no question.
        opinion.fault = Some("no-outcome");
        return opinion;
    };
    let kind = tree.root().resource_type().unwrap_or_default();
    let profiles = rules.map(|rules| rules.entry_profiles(kind)).unwrap_or_default();
    match validator::ask(validator, bytes, format, kind, &profiles).await {
        Ok(theirs) => compare(&mut opinion, &tree, &theirs, ours),
        Err(fault) => opinion.fault = Some(fault.code()),
    }
    opinion
}

/// Both speak of one cause where they name the same rule, or the same place: an element, or one
/// inside of it. Which of two nested elements a validator points to is its own choice.
fn compare(opinion: &mut Opinion, tree: &Tree, theirs: &[Issue], ours: &[&Finding]) {
    let root = tree.root().expression();
    let is_same = |there: &Issue, place: Option<&str>, here: &Finding| {
        let key = here.params.iter().find(|(name, _)| name == "rule").map(|(_, key)| key.as_str());
        let same_rule = key.is_some() && key == there.rule.as_deref();
        let near = |place: &str| {
            let here = here.expression.as_str();
            place == here
                || (holds(place, here) && place != root)
                || (holds(here, place) && here != root)
        };
        match place {
            Some(place) => near(place),
            None => same_rule,
        }
    };
    let ours: Vec<&Finding> =
        ours.iter().copied().filter(|of| of.severity == Severity::Error).collect();
    let mut is_shared = vec![false; ours.len()];
    for there in theirs.iter().filter(|issue| issue.severity == Severity::Error) {
        let place = element_of(there, tree);
        let expression = place.map(Element::expression);
        let mut shared = false;
        for (here, is_shared) in ours.iter().zip(&mut is_shared) {
            if is_same(there, expression.as_deref(), here) {
                (shared, *is_shared) = (true, true);
            }
        }
        if shared {
            opinion.both += 1;
        } else {
            opinion.only_there.push(record(there, place));
        }
    }
    let alone = ours.iter().zip(&is_shared).filter(|(_, is_shared)| !**is_shared);
    opinion.only_here = alone
        .map(|(here, _)| {
            IssueRecord::of(&journal::Message::from_finding(journal::Source::Local, here))
        })
        .collect();
}

fn element_of<'t>(issue: &Issue, tree: &'t Tree) -> Option<Element<'t>> {
    let message = MessageView {
        source: journal::Source::Base,
        severity: issue.severity,
        code: issue.code.clone(),
        rule: issue.rule.clone(),
        text: Some(issue.text.clone()),
        params: std::collections::BTreeMap::new(),
        expression: issue.expression.clone(),
        line: issue.line,
        column: issue.column,
        section: None,
        field: None,
        path: None,
        found: None,
        suggestion: None,
    };
    found(&message, tree)
}

fn record(issue: &Issue, place: Option<Element<'_>>) -> IssueRecord {
    let position = place.map(Element::position);
    IssueRecord {
        severity: issue.severity,
        code: issue.code.clone(),
        rule: issue.rule.clone(),
        text: Some(issue.text.clone()),
        expression: place.map(Element::expression).or_else(|| issue.expression.clone()),
        line: position.map(|at| at.line).or(issue.line),
        column: position.map(|at| at.column).or(issue.column),
        source: IssueSource::Validator,
        suggestion: None,
        params: std::collections::BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &[u8] = br#"{"resourceType":"Patient","gender":"x","name":[{"family":"A"},
        {"given":["B"]}]}"#;

    fn there(expression: &str, rule: Option<&str>) -> Issue {
        Issue {
            severity: Severity::Error,
            code: "invariant".to_owned(),
            rule: rule.map(str::to_owned),
            text: "its words".to_owned(),
            expression: Some(expression.to_owned()).filter(|of| !of.is_empty()),
            line: None,
            column: None,
        }
    }

    fn here(expression: &str, rule: Option<&str>) -> Finding {
        Finding {
            code: "rule-invariant".to_owned(),
            severity: Severity::Error,
            expression: expression.to_owned(),
            position: None,
            params: rule.map(|key| ("rule".to_owned(), key.to_owned())).into_iter().collect(),
        }
    }

    fn compared(theirs: &[Issue], ours: &[Finding]) -> (usize, Vec<String>, Vec<String>) {
        let tree = Tree::read(REPORT, Format::Json, &Limits::default()).unwrap();
        let mut opinion = Opinion {
            address: String::new(),
            fault: None,
            both: 0,
            only_there: Vec::new(),
            only_here: Vec::new(),
        };
        compare(&mut opinion, &tree, theirs, &ours.iter().collect::<Vec<_>>());
        let places = |of: &[IssueRecord]| -> Vec<String> {
            of.iter().map(|issue| issue.expression.clone().unwrap_or_default()).collect()
        };
        (opinion.both, places(&opinion.only_there), places(&opinion.only_here))
    }

    #[test]
    fn what_both_find_is_told_from_what_one_of_them_finds() {
        let nobody: Vec<String> = Vec::new();
        // The same place, said as HL7's validator says it; and one inside of the other.
        let same = compared(
            &[there("Patient.name[0]/*name*/.family", None), there("Patient.gender", None)],
            &[here("Patient.name[0]", None), here("Patient.gender", None)],
        );
        assert_eq!(same, (2, nobody.clone(), nobody.clone()));
        let apart = compared(
            &[there("Patient.name[1].given[0]", None)],
            &[here("Patient.name[0].family", None)],
        );
        let (there_alone, here_alone) = (
            vec!["Patient.name[1].given[0]".to_owned()],
            vec!["Patient.name[0].family".to_owned()],
        );
        assert_eq!(apart, (0, there_alone, here_alone));
        // The whole document is no place: it holds everything.
        let whole = compared(&[there("Patient", None)], &[here("Patient.gender", None)]);
        assert_eq!((whole.0, whole.1.len(), whole.2.len()), (0, 1, 1));
        // Without a place the rule decides.
        let by_rule =
            compared(&[there("", Some("pat-1"))], &[here("Patient.gender", Some("pat-1"))]);
        assert_eq!(by_rule, (1, nobody.clone(), nobody));
    }
}
