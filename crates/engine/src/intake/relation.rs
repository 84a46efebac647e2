//! How a report stands to those that the journal has: the same content, a correction, or another content under
//! the same identifier. Each destination is judged by itself.

use exchange::{Endpoint, document_of};
use fhir::{Difference, Finding, Format, Instant, Limits, Severity, Tree};
use journal::{Destination, JournalError, Relative};
use report::{StateCode, SubmissionId, Summary};
use serde::{Deserialize, Serialize};

use crate::intake::{Candidate, Origin, Parsed, Verdict, content_digest};
use crate::{Engine, EngineError};

/// Code of the warning that another content has this document identifier.
pub(crate) const SAME_IDENTIFIER: &str = "same-identifier-other-content";
/// Differences that are looked for: enough to see what a correction corrects.
const DIFFERENCES_MAX: usize = 20;
/// Places named in the warning.
const PLACES_MAX: usize = 3;

/// What becomes of a report whose document identifier stands for another content that is on its way or was
/// completed, where nobody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameIdentifier {
    /// It is sent, with a warning.
    #[default]
    Warn,
    /// It is held until a person has looked.
    Hold,
}

/// The submission whose document has the same identifier and another content.
#[derive(Clone, PartialEq)]
pub struct Relation {
    /// Which.
    pub submission: SubmissionId,
    /// Its state, as the journal keeps it.
    pub state: StateCode,
    /// Its last event.
    pub at: Instant,
    /// Whether the report is a correction that takes its place when it is sent: it failed, was rejected or is
    /// held, and both are about the same case. Else it is on its way or was completed, or it is another case.
    pub corrects: bool,
    /// Where the two differ; empty where the earlier content is not kept any more.
    pub differences: Vec<Difference>,
}

// Without the differences: they are the content.
fhir::shows_only!(Relation { submission, state, at, corrects });

impl Engine {
    /// Compares for the endpoint in use.
    pub(crate) fn compare(&self, candidate: &mut Candidate) -> Result<(), EngineError> {
        self.compare_for(candidate, self.endpoint().ok().as_ref())
    }

    /// Compares with what the journal knows: the same content there or elsewhere, or the same identifier with
    /// other content.
    pub(crate) fn compare_for(
        &self,
        candidate: &mut Candidate,
        endpoint: Option<&Endpoint>,
    ) -> Result<(), EngineError> {
        candidate.findings.retain(|(_, finding)| finding.code != SAME_IDENTIFIER);
        let Verdict::Report(parsed) = &mut candidate.verdict else { return Ok(()) };
        let here = endpoint.map(|endpoint| Destination {
            endpoint: endpoint.id(),
            environment: Some(endpoint.environment.code()),
        });
        let journal = self.journal();
        let (digest, canonical) = (parsed.digest.clone(), parsed.canonical.clone());
        let canonical = Some(canonical.as_str());
        parsed.known = journal.of_content(&digest, canonical, here)?;
        parsed.elsewhere = journal.of_content(&digest, canonical, None)?.into_iter().next_back();
        parsed.relation = None;
        parsed.compared_for = endpoint.map(|endpoint| endpoint.id().to_owned());
        if let (Some(here), Some(identifier)) = (here, parsed.summary.identifier.clone()) {
            let relatives = self.judged(journal.of_document(&identifier, here)?, parsed)?;
            // What has just been recognised as the same content.
            let same = relatives.iter().filter(|it| it.canonical.as_deref() == canonical);
            parsed.known.extend(same.map(|relative| relative.id));
            parsed.known.sort_unstable();
            parsed.known.dedup();
            if parsed.known.is_empty() {
                parsed.relation = self.relation(&relatives, parsed)?;
            }
            let other = parsed.relation.as_ref().filter(|relation| !relation.corrects);
            candidate.findings.extend(other.map(|relation| told(relation, &identifier)));
        }
        parsed.known.reverse();
        Ok(())
    }

    /// Finds out what submissions of an older program say, where this report may say the same.
    fn judged(
        &self,
        mut relatives: Vec<Relative>,
        parsed: &Parsed,
    ) -> Result<Vec<Relative>, EngineError> {
        for relative in &mut relatives {
            if relative.canonical.is_some() || !relative.has_content {
                continue;
            }
            if relative.digest == parsed.digest {
                relative.canonical = Some(parsed.canonical.clone());
            } else {
                let tree = self.tree_of(relative.id)?;
                relative.canonical = tree.as_ref().map(content_digest);
            }
            if let Some(canonical) = &relative.canonical {
                self.journal().set_canonical(relative.id, canonical)?;
            }
        }
        Ok(relatives)
    }

    /// The newest one that stands decides; of another case only where none is about the same one.
    fn relation(
        &self,
        relatives: &[Relative],
        parsed: &Parsed,
    ) -> Result<Option<Relation>, EngineError> {
        let mut standing = Vec::new();
        for relative in relatives.iter().rev().filter(|relative| !relative.state.is_closed()) {
            let earlier = self.journal().row(relative.id)?.summary;
            standing.push((relative, is_same_case(&earlier, &parsed.summary)));
        }
        let found = standing.iter().find(|(_, is_same)| *is_same).or(standing.first());
        let Some(&(relative, is_same)) = found else { return Ok(None) };
        let earlier = if relative.has_content { self.tree_of(relative.id)? } else { None };
        let later = Tree::read(&parsed.bytes, parsed.format, &Limits::default()).ok();
        let differences = earlier.zip(later).map(|(earlier, later)| differences(&earlier, &later));
        Ok(Some(Relation {
            submission: relative.id,
            state: relative.state,
            at: relative.updated,
            corrects: is_same && relative.state.may_be_corrected(),
            differences: differences.unwrap_or_default(),
        }))
    }

    fn tree_of(&self, id: SubmissionId) -> Result<Option<Tree>, EngineError> {
        let bytes = match self.journal().document(id) {
            Ok(bytes) => bytes,
            // Retention was faster; or what is kept is damaged, which must not keep another report from being taken in.
            Err(JournalError::NotFound(_) | JournalError::Damaged) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let format = Format::sniff(&bytes);
        Ok(format.and_then(|format| Tree::read(&bytes, format, &Limits::default()).ok()))
    }
}

/// Whether two reports with one document identifier may be about the same case. Laboratories reuse identifiers: one that
/// stands for an order is in the reports of all its diseases, and in those of several patients. A correction may change
/// the patient's name or the birth date, not both, and not what was found: what does is sent as a report of its own, so
/// that nothing is given up for it. What one of them does not say tells nothing.
fn is_same_case(earlier: &Summary, later: &Summary) -> bool {
    let agree = |one: &Option<String>, other: &Option<String>| match (one, other) {
        (Some(one), Some(other)) => Some(one.trim().eq_ignore_ascii_case(other.trim())),
        _ => None,
    };
    let patient =
        [agree(&earlier.patient, &later.patient), agree(&earlier.birth_date, &later.birth_date)];
    let is_same_patient = patient.contains(&Some(true)) || patient == [None, None];
    is_same_patient && agree(&earlier.code, &later.code) != Some(false)
}

/// Of a document in an envelope and a bare one, where the documents differ.
fn differences(earlier: &Tree, later: &Tree) -> Vec<Difference> {
    let is_same_form = earlier.root().resource_type() == later.root().resource_type();
    match (document_of(earlier), document_of(later)) {
        (Some(earlier), Some(later)) if !is_same_form => {
            earlier.differences(later, DIFFERENCES_MAX)
        }
        _ => earlier.differences(later, DIFFERENCES_MAX),
    }
}

/// Where the contents differ is said by place and never by value: the warning is kept, printed and logged.
fn told(relation: &Relation, identifier: &str) -> (Origin, Finding) {
    let places = relation.differences.iter().take(PLACES_MAX);
    let mut elements: Vec<&str> = places.map(|it| it.expression.as_str()).collect();
    if relation.differences.len() > PLACES_MAX {
        elements.push("…");
    }
    let finding = Finding {
        code: SAME_IDENTIFIER.to_owned(),
        severity: Severity::Warning,
        expression: "Bundle.identifier".to_owned(),
        position: None,
        params: vec![
            ("elements".to_owned(), elements.join(", ")),
            ("identifier".to_owned(), identifier.to_owned()),
            ("submission".to_owned(), relation.submission.0.to_string()),
        ],
    };
    (Origin::Local, finding)
}
