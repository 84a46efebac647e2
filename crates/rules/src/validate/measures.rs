//! A MeasureReport against its Measure, where that is at hand: contained, or among the rules in
//! use.

use fhir::Element;

use super::{Issue, Run, error};

/// Populations that a report may leave out.
const MAY_LACK: &str = "measure-observation";

impl<'t> Run<'t> {
    pub(super) fn measure_report(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        let Some(told) = of.text("measure") else { return };
        let measure = match told.strip_prefix('#') {
            Some(id) => of.all("contained").find(|of| of.text("id") == Some(id)),
            None => self.set.tree(told, 0).map(fhir::Tree::root),
        };
        let Some(measure) = measure.filter(|of| of.resource_type() == Some("Measure")) else {
            return;
        };
        let report = Report {
            kind: of.text("type").unwrap_or_default(),
            scoring: measure
                .child("scoring")
                .and_then(|scoring| scoring.all("coding").next())
                .and_then(|coding| coding.text("code"))
                .unwrap_or_default(),
        };
        let asked: Vec<Element<'t>> = measure.all("group").collect();
        let given: Vec<Element<'t>> = of.all("group").collect();
        if let ([asked], [given]) = (&asked[..], &given[..]) {
            // The only group needs no code; two that are there must be the same.
            if let (Some(expected), Some(found)) = (asked.child("code"), given.child("code"))
                && !is_same(expected, found)
            {
                unknown(found, issues);
            }
            return report.group(*asked, *given, issues);
        }
        let pairs = pair(&asked, &given, of, report.kind != "data-collection", issues);
        for (asked, given) in pairs {
            report.group(asked, given, issues);
        }
    }
}

struct Report<'m> {
    kind: &'m str,
    scoring: &'m str,
}

impl Report<'_> {
    fn group<'t>(&self, asked: Element<'t>, given: Element<'t>, issues: &mut Vec<Issue>) {
        let list = |of: Element<'t>, name: &'static str| of.all(name).collect::<Vec<_>>();
        let (expected, found) = (list(asked, "population"), list(given, "population"));
        for (_, population) in pair(&expected, &found, given, true, issues) {
            self.population(population, issues);
        }
        let (expected, found) = (list(asked, "stratifier"), list(given, "stratifier"));
        pair(&expected, &found, given, true, issues);
        self.score(given, issues);
    }

    /// A list of subjects has as many as it counts; other reports have none.
    fn population(&self, of: Element<'_>, issues: &mut Vec<Issue>) {
        let subjects = of.all("subjectResults").count();
        if self.kind == "subject-list" {
            let count = of.text("count").filter(|count| **count != *subjects.to_string());
            if let Some(count) = count {
                let params = [("expected", count), ("found", &*subjects.to_string())];
                error(issues, of, "rule-measure-count", &params);
            }
        } else if let Some(subject) = of.child("subjectResults") {
            not_allowed(subject, issues);
        }
    }

    fn score(&self, group: Element<'_>, issues: &mut Vec<Issue>) {
        let score = group.child("measureScore");
        if self.kind == "data-collection" || self.scoring == "cohort" {
            return score.into_iter().for_each(|score| not_allowed(score, issues));
        }
        if !matches!(self.scoring, "proportion" | "ratio" | "continuous-variable") {
            return;
        }
        let value = score.and_then(|score| score.text("value"));
        let Some((score, value)) = score.zip(value) else {
            let at = score.unwrap_or(group);
            return error(issues, at, "rule-measure-score-missing", &[("value", self.scoring)]);
        };
        if self.scoring == "proportion" {
            for name in ["unit", "system", "code"] {
                score.all(name).for_each(|of| not_allowed(of, issues));
            }
            let is_share = value.parse::<f64>().is_ok_and(|value| (0.0..=1.0).contains(&value));
            if !is_share {
                let params = [("expected", "0..1"), ("found", value)];
                error(issues, score, "rule-measure-count", &params);
            }
        }
    }
}

/// Brings together what is asked for and what is given, by code; tells what has no other half.
fn pair<'t>(
    asked: &[Element<'t>],
    given: &[Element<'t>],
    owner: Element<'t>,
    is_all: bool,
    issues: &mut Vec<Issue>,
) -> Vec<(Element<'t>, Element<'t>)> {
    let mut pairs: Vec<(usize, Element<'t>)> = Vec::new();
    for of in given {
        let code = of.child("code");
        let place = code.and_then(|code| {
            asked.iter().position(|of| of.child("code").is_some_and(|told| is_same(told, code)))
        });
        match place {
            Some(place) if !pairs.iter().any(|(other, _)| *other == place) => {
                pairs.push((place, *of));
            }
            _ => unknown(*of, issues),
        }
    }
    for (place, of) in asked.iter().enumerate().filter(|_| is_all) {
        if !pairs.iter().any(|(other, _)| *other == place) && !may_lack(*of) {
            error(issues, owner, "rule-measure-missing", &[("value", &code_of(*of))]);
        }
    }
    pairs.into_iter().filter_map(|(place, of)| Some((*asked.get(place)?, of))).collect()
}

fn may_lack(of: Element<'_>) -> bool {
    let mut codes = of.all("code").flat_map(|code| code.all("coding"));
    codes.any(|coding| coding.text("code") == Some(MAY_LACK))
}

/// One coding in common, or the same words where there is none.
fn is_same(expected: Element<'_>, found: Element<'_>) -> bool {
    let key = |of: Element<'_>| {
        (of.text("system").map(str::to_owned), of.text("code").map(str::to_owned))
    };
    let codings: Vec<_> = found.all("coding").map(key).collect();
    if expected.child("coding").is_none() && codings.is_empty() {
        return expected.text("text") == found.text("text");
    }
    expected.all("coding").any(|coding| codings.contains(&key(coding)))
}

fn code_of(of: Element<'_>) -> String {
    let coding = of.child("code").and_then(|code| code.all("coding").next());
    coding.and_then(|coding| coding.text("code")).unwrap_or_default().to_owned()
}

fn unknown(of: Element<'_>, issues: &mut Vec<Issue>) {
    let of_code = if of.type_name() == "CodeableConcept" { of.parent() } else { Some(of) };
    error(
        issues,
        of,
        "rule-measure-unknown",
        &[("value", &of_code.map(code_of).unwrap_or_default())],
    );
}

fn not_allowed(of: Element<'_>, issues: &mut Vec<Issue>) {
    error(issues, of, "rule-measure-not-allowed", &[("element", of.name())]);
}
