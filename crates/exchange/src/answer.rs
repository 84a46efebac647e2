//! What the authority says of one report.

use std::collections::HashSet;

use fhir::{Element, Instant, Issue, Period, issues_of};
use serde::{Deserialize, Serialize};

use crate::canonical::STATUS_EXTENSION;

/// Processing status at the authority (docs/interface.md, "States"). In the order of what counts
/// among several deliveries of one report: the authority completes one and calls the others
/// duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Processing {
    /// Not stored; must be corrected and resubmitted.
    Failed,
    /// Accepted and queued.
    InProgress,
    /// Processed successfully.
    Completed,
}

/// A DocumentReference or OperationOutcome as an answer. `Debug` leaves out identifiers, which a
/// laboratory may form as it likes.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// `DocumentReference.id`: the authority's receipt. `None` in an OperationOutcome.
    pub receipt: Option<String>,
    /// Processing status. `None` in an OperationOutcome.
    pub processing: Option<Processing>,
    /// All `identifier.value`.
    pub identifiers: Vec<String>,
    /// `DocumentReference.date`, the time of receipt.
    pub date: Option<Instant>,
    /// `DocumentReference.meta.lastUpdated`, the time of the last change.
    pub last_updated: Option<Instant>,
    /// Messages, in every state.
    pub issues: Vec<Issue>,
}

fhir::shows_only!(Answer { receipt, processing, date, last_updated, issues });

/// Why an element is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerProblem {
    /// Another resource, or none.
    NotAnAnswer {
        /// What it was.
        found: String,
    },
    /// A DocumentReference without id, without status, or with one that the specification does not
    /// know.
    Incomplete {
        /// The element in question.
        element: &'static str,
    },
}

impl Processing {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::InProgress, Self::Completed, Self::Failed];

    /// The code on the wire.
    pub const fn code(self) -> &'static str {
        match self {
            Self::InProgress => "in-progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// From the code on the wire.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.code() == code)
    }
}

impl Answer {
    /// Reads a DocumentReference (returned form) or an OperationOutcome. The outcome is read in
    /// every state (it may be present on `completed` too). A DocumentReference without id is an
    /// answer only where it says `failed`: so releases before 1.13.1 refuse an invalid document.
    pub fn read(resource: Element<'_>) -> Result<Self, AnswerProblem> {
        match resource.resource_type() {
            Some("OperationOutcome") => Ok(Self { issues: issues_of(resource), ..Self::default() }),
            Some("DocumentReference") => Self::read_reference(resource),
            other => {
                Err(AnswerProblem::NotAnAnswer { found: other.unwrap_or_default().to_owned() })
            }
        }
    }

    fn read_reference(resource: Element<'_>) -> Result<Self, AnswerProblem> {
        let status = resource.extension(STATUS_EXTENSION);
        let processing =
            status_of(resource).ok_or(AnswerProblem::Incomplete { element: "status" })?;
        let receipt = resource.text("id").filter(|id| !id.is_empty()).map(str::to_owned);
        if receipt.is_none() && processing != Processing::Failed {
            return Err(AnswerProblem::Incomplete { element: "id" });
        }
        let time = |path| resource.text(path).and_then(Period::parse).map(|period| period.start);
        Ok(Self {
            receipt,
            processing: Some(processing),
            identifiers: resource
                .all("identifier")
                .filter_map(|identifier| identifier.text("value").map(str::to_owned))
                .collect(),
            date: time("date"),
            last_updated: time("meta.lastUpdated"),
            issues: outcome_issues(resource, status),
        })
    }
}

/// Leaves out what one search result calls completed and failed at once, under the same id: it says
/// nothing of that report, whichever comes first. Gives how many reports these are. *In progress*
/// and a final status are no contradiction, because reports move while pages are read.
pub fn leave_out_contradictions(answers: &mut Vec<Answer>) -> usize {
    let told = |processing| -> HashSet<String> {
        let said = answers.iter().filter(|answer| answer.processing == Some(processing));
        said.filter_map(|answer| answer.receipt.clone()).collect()
    };
    let (completed, failed) = (told(Processing::Completed), told(Processing::Failed));
    let both: HashSet<_> = completed.intersection(&failed).collect();
    answers.retain(|answer| !answer.receipt.as_ref().is_some_and(|id| both.contains(id)));
    both.len()
}

/// The processing status. It stands there exactly once: where it stands twice and differs, there is
/// none, so that no report is taken for completed that may have failed.
fn status_of(resource: Element<'_>) -> Option<Processing> {
    let named = |element: Element<'_>, url| element.text("url") == Some(url);
    let mut codes = resource
        .all("extension")
        .filter(|extension| named(*extension, STATUS_EXTENSION))
        .flat_map(|extension| extension.all("extension").collect::<Vec<_>>())
        .filter(|part| named(*part, "status"))
        .map(|part| part.choice("value").and_then(Element::value).and_then(Processing::from_code));
    let first = codes.next()?;
    codes.all(|code| code == first).then_some(first)?
}

/// Messages of the contained OperationOutcome that the status extension names; of all contained
/// ones where it names none that is there.
fn outcome_issues(resource: Element<'_>, status: Option<Element<'_>>) -> Vec<Issue> {
    let named = status
        .and_then(|extension| extension.extension("outcome"))
        .and_then(|part| part.choice("value")?.text("reference"))
        .and_then(|reference| reference.strip_prefix('#'));
    let outcomes: Vec<_> = resource
        .all("contained")
        .filter(|contained| contained.resource_type() == Some("OperationOutcome"))
        .collect();
    let one = outcomes.iter().find(|outcome| named.is_some() && outcome.text("id") == named);
    match one {
        Some(outcome) => issues_of(*outcome),
        None => outcomes.into_iter().flat_map(issues_of).collect(),
    }
}
