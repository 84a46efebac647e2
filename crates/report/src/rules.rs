//! Our own rules: what makes a report good enough to send, before the authority's profiles are
//! asked.
//!
//! Errors hold a report; warnings never do. Every rule looks at what is there and collects; what
//! the base check of `fhir` already says (types, lexical forms, cardinality) is not said again.

mod dates;
mod identity;
mod references;
mod shape;

pub use dates::lies_ahead;

use fhir::{Element, Finding, Instant, Severity};

use crate::links::Links;

/// Checks a document Bundle. `now` is the time of the check.
pub fn check(document: Element<'_>, now: Instant) -> Vec<Finding> {
    let links = Links::of(document);
    let mut findings = Findings::default();
    shape::check(document, &mut findings);
    identity::check(document, &links, &mut findings);
    references::check(&links, &mut findings);
    dates::check(document, &links, now, &mut findings);
    let mut findings = findings.0;
    // In the order of the text; a missing element stands where it is missed.
    findings.sort_by_key(|finding| finding.position.map(|position| position.start));
    findings
}

/// What is demanded of the identifier of a document Bundle: these rules alone, for whoever receives
/// reports.
pub fn check_identifier(document: Element<'_>) -> Vec<Finding> {
    let mut findings = Findings::default();
    identity::check_identifier(document, &mut findings);
    findings.0
}

/// Findings in the making.
#[derive(Default)]
struct Findings(Vec<Finding>);

/// Longest parameter, in characters: enough to recognise a value, too little to flood a message.
const PARAM_MAX: usize = 200;

impl Findings {
    fn error(&mut self, code: &str, at: Element<'_>, params: &[(&str, &str)]) {
        self.add(Severity::Error, code, at, params);
    }

    fn warning(&mut self, code: &str, at: Element<'_>, params: &[(&str, &str)]) {
        self.add(Severity::Warning, code, at, params);
    }

    fn add(&mut self, severity: Severity, code: &str, at: Element<'_>, params: &[(&str, &str)]) {
        let cut = |text: &str| text.chars().take(PARAM_MAX).collect::<String>();
        self.0.push(Finding {
            code: code.to_owned(),
            severity,
            expression: at.expression(),
            position: Some(at.position()),
            params: params.iter().map(|(name, text)| ((*name).to_owned(), cut(text))).collect(),
        });
    }
}

/// Children of this name.
fn all<'t>(element: Element<'t>, name: &'static str) -> impl Iterator<Item = Element<'t>> {
    element.children().filter(move |child| child.name() == name)
}
