//! What the authority may see of a patient, for a preview before a report is sent.

use fhir::{Instant, Severity, Tree};

use crate::set::RuleSet;
use crate::suggestion::initial;
use crate::terminology::Mode;
use crate::validate::Run;

/// Which form of its patient's name a report may have, and what it says beyond that.
#[derive(Clone, PartialEq, Eq)]
pub struct Privacy {
    /// The form: a code of the ConceptMap, e.g. `full-name` or `initials`.
    pub permitted: String,
    /// FHIRPath of the result that decides it.
    pub because: String,
    /// FHIRPath of the patient.
    pub patient: String,
    /// What says more than is permitted, in the order of the document.
    pub too_much: Vec<TooMuch>,
}

fhir::shows_only!(Privacy { permitted, because, patient });

/// An element that says more of a patient than is permitted.
#[derive(Clone, PartialEq, Eq)]
pub struct TooMuch {
    /// Its FHIRPath.
    pub expression: String,
    /// What may stand there in its place; `None`: it has to go.
    pub instead: Option<String>,
}

fhir::shows_only!(TooMuch { expression });

/// What the rules permit the authority to see of the patient of a report. `None` where they say
/// nothing about it, or nothing about what was found. Where several results decide, the strictest
/// counts.
pub fn privacy(set: &RuleSet, tree: &Tree) -> Option<Privacy> {
    // No rule about the form of a name looks at the clock.
    let run = Run::new(set, tree, Mode::Authority, Instant::from_seconds(0));
    let (because, demand) = run.demands().into_iter().min_by_key(|(_, demand)| demand.rank())?;
    let found = run.too_much(&demand, Severity::Error);
    let elements = run.elements(&found);
    let told = found.iter().filter(|issue| issue.is_private());
    let mut places: Vec<_> =
        told.filter_map(|issue| Some((*elements.get(&issue.at)?, issue.code))).collect();
    places.sort_by_key(|(at, _)| at.position().start);
    places.dedup_by_key(|(at, _)| at.number());
    let too_much = places.into_iter().map(|(at, code)| TooMuch {
        expression: at.expression(),
        instead: (code == "rule-privacy-initials").then(|| initial(at)).flatten(),
    });
    Some(Privacy {
        permitted: demand.form.to_owned(),
        because: because.expression(),
        patient: demand.patient.expression(),
        too_much: too_much.collect(),
    })
}
