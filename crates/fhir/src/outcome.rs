//! Typed view of OperationOutcome (<https://hl7.org/fhir/R4/operationoutcome.html>).

use serde::{Deserialize, Serialize};

use crate::{Element, Severity};

/// One `OperationOutcome.issue`, as received. Its words may name a patient, so `Debug` leaves them
/// out.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// `issue.severity` (`fatal` reads as error).
    pub severity: Severity,
    /// `issue.code` (FHIR `issue-type`).
    pub code: String,
    /// The authority's rule code (e.g. `FOPH-020`), else the key of a failed constraint; looked for
    /// in `details.coding`, then `details.text`, then `diagnostics`.
    pub rule: Option<String>,
    /// The authority's own words: `details.text`, else `diagnostics`, else the coding's display.
    pub text: String,
    /// First `issue.expression`, else first `issue.location`.
    pub expression: Option<String>,
    /// Line, where the authority names one (extension `operationoutcome-issue-line`, or in a
    /// location).
    pub line: Option<u32>,
    /// Column, likewise.
    pub column: Option<u32>,
}

crate::shows_only!(Issue { severity, line, column });

const LINE: &str = "http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-line";
const COLUMN: &str = "http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-col";
/// The system of HL7's own coarse message codes, which name no rule of the authority.
const FHIR_CODES: &str = "http://terminology.hl7.org/CodeSystem/operation-outcome";

/// The issues of an OperationOutcome element (a root or a contained resource), in their order.
pub fn issues_of(outcome: Element<'_>) -> Vec<Issue> {
    outcome.all("issue").map(issue).collect()
}

fn issue(of: Element<'_>) -> Issue {
    let words = |path| of.text(path).map(str::trim).filter(|text| !text.is_empty());
    let codings = || of.child("details").into_iter().flat_map(|details| details.all("coding"));
    let display = codings().find_map(|coding| coding.text("display"));
    let (details, diagnostics) = (words("details.text"), words("diagnostics"));
    let text = details.or(diagnostics).or(display).unwrap_or_default();
    let locations = || of.all("location").filter_map(Element::value);
    let expression = of.all("expression").filter_map(Element::value).next();
    let located = locations().find_map(line_and_column);
    let extended = |url| of.extension(url)?.text("valueInteger")?.parse().ok();
    Issue {
        severity: severity(of.text("severity").unwrap_or_default()),
        code: of.text("code").unwrap_or_default().to_owned(),
        rule: rule(codings(), details, diagnostics),
        text: text.to_owned(),
        // A location that only says line and column is no expression.
        expression: expression
            .or_else(|| locations().find(|location| line_and_column(location).is_none()))
            .map(str::to_owned),
        line: extended(LINE).or(located.map(|(line, _)| line)),
        column: extended(COLUMN).or(located.map(|(_, column)| column)),
    }
}

/// What is not known weighs as an error: better looked at than passed over.
fn severity(code: &str) -> Severity {
    match code {
        "warning" => Severity::Warning,
        "information" => Severity::Information,
        _ => Severity::Error,
    }
}

fn rule<'t>(
    codings: impl Iterator<Item = Element<'t>>,
    details: Option<&str>,
    diagnostics: Option<&str>,
) -> Option<String> {
    let codes: Vec<(&str, &str)> = codings
        .filter_map(|coding| {
            Some((coding.text("system").unwrap_or_default(), coding.text("code")?))
        })
        .collect();
    let texts = || details.into_iter().chain(diagnostics);
    let coded = codes.iter().find_map(|(_, code)| authority_code(code));
    coded
        .or_else(|| texts().find_map(authority_code))
        .or_else(|| codes.iter().find(|(system, _)| *system != FHIR_CODES).map(|(_, code)| *code))
        .or_else(|| texts().find_map(constraint_key))
        .map(str::to_owned)
}

/// `FOPH-` and three digits, anywhere in a text.
fn authority_code(text: &str) -> Option<&str> {
    text.match_indices("FOPH-").find_map(|(at, prefix)| {
        let end = at + prefix.len() + 3;
        let digits = text.get(at + prefix.len()..end)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| &text[at..end])
    })
}

/// The key in `Constraint failed: <key>: '<text>'` (or `Rule <key>: '…' Failed`).
fn constraint_key(text: &str) -> Option<&str> {
    let starts = ["Constraint failed: ", "Rule "];
    let rest = starts.iter().find_map(|start| text.split_once(start).map(|(_, rest)| rest))?;
    let (key, _) = rest.split_once(':')?;
    let key = key.trim();
    let is_key = !key.is_empty()
        && key.len() <= 100
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    is_key.then_some(key)
}

/// `Line[12] Col[3]`, `Line 12, Column 3` and the like.
fn line_and_column(location: &str) -> Option<(u32, u32)> {
    let lower = location.to_ascii_lowercase();
    let number_after = |word: &str| {
        let rest =
            lower.split_once(word)?.1.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    Some((number_after("line")?, number_after("col")?))
}
