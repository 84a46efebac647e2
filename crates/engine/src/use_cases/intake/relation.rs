//! How a report stands to those that the journal has: the same content, a correction, or another
//! content under the same identifier. Each destination is judged by itself.

use exchange::{Endpoint, document_of};
use fhir::{Difference, Finding, Format, Limits, Severity, Tree};
use journal::{Destination, JournalError, Relative};
use report::SubmissionId;

use crate::candidate::{Age, Candidate, Origin, Parsed, Relation, Verdict};
use crate::use_cases::intake::inspect::content_digest;
use crate::{Engine, EngineError};

mod purpose;
mod slips;
mod standing;

pub(crate) use purpose::Purpose;
use standing::decisive;

/// Code of the warning that another content has this document identifier.
pub(crate) const SAME_IDENTIFIER: &str = "same-identifier-other-content";
/// Code of the warning that another version of the same document is dated later.
pub(crate) const OLDER: &str = "older-version";
/// Code of the warning that another version counts as the newer one, by the order in which they
/// came, because no date says otherwise.
pub(crate) const LATER: &str = "later-version";
/// Differences that are looked for: enough to see what a correction corrects.
const DIFFERENCES_MAX: usize = 20;
/// Places named in the warning.
const PLACES_MAX: usize = 3;

impl Engine {
    /// Compares for the endpoint in use.
    pub(crate) fn compare(&self, candidate: &mut Candidate) -> Result<(), EngineError> {
        self.compare_for(candidate, self.endpoint().ok().as_ref())
    }

    /// Compares with what the journal knows: the same content there or elsewhere, or the same
    /// identifier with other content.
    pub(crate) fn compare_for(
        &self,
        candidate: &mut Candidate,
        endpoint: Option<&Endpoint>,
    ) -> Result<(), EngineError> {
        self.compare_as(candidate, endpoint, Purpose::New)
    }

    /// Compares what is to take the place of a report, where that went: told is what of its
    /// document is on its way or with the authority, and was taken in after that report or is dated
    /// after what takes its place. Of what else came before it people were told when that was taken
    /// in.
    ///
    /// # Errors
    /// Where the journal cannot be read, or that report went to an endpoint that is not there any
    /// more.
    pub fn compare_in_place_of(
        &self,
        id: SubmissionId,
        candidate: &mut Candidate,
    ) -> Result<(), EngineError> {
        let endpoint = self.endpoint_of_report(id)?;
        self.compare_as(candidate, Some(&endpoint), Purpose::InPlaceOf(id))
    }

    pub(crate) fn compare_as(
        &self,
        candidate: &mut Candidate,
        endpoint: Option<&Endpoint>,
        purpose: Purpose,
    ) -> Result<(), EngineError> {
        let are_told_here = [SAME_IDENTIFIER, OLDER, LATER];
        candidate.findings.retain(|(_, it)| !are_told_here.contains(&it.code.as_str()));
        let Verdict::Report(parsed) = &mut candidate.verdict else { return Ok(()) };
        let here = endpoint.map(|endpoint| Destination {
            endpoint: endpoint.id(),
            environment: Some(endpoint.environment.code()),
        });
        let (digest, canonical) = (parsed.digest.clone(), parsed.canonical.clone());
        let document = parsed.summary.identifier.as_deref();
        let found = self.journal().known_reports((&digest, &canonical), document, here)?;
        parsed.compared_through = found.through;
        parsed.known = found.there;
        parsed.elsewhere = found.anywhere.into_iter().next_back();
        parsed.relation = None;
        parsed.compared_for = endpoint.map(|endpoint| endpoint.id().to_owned());
        if let Some(here) = here {
            let relatives = self.judged(found.relatives, parsed)?;
            // What has just been recognised as the same content.
            let same = relatives.iter().filter(|it| it.canonical.as_ref() == Some(&canonical));
            parsed.known.extend(same.map(|relative| relative.id));
            parsed.known.sort_unstable();
            parsed.known.dedup();
            parsed.relation = match purpose {
                Purpose::New if !parsed.known.is_empty() => None,
                _ => self.relation(relatives, parsed, purpose, here)?,
            };
            let other = parsed.relation.as_ref().filter(|relation| !relation.corrects);
            candidate.findings.extend(other.map(told));
        }
        parsed.known.reverse();
        Ok(())
    }

    /// What has this document identifier at a destination.
    fn of_document(
        &self,
        identifier: &str,
        here: Destination<'_>,
        parsed: &Parsed,
    ) -> Result<Vec<Relative>, EngineError> {
        self.judged(self.journal().of_document(identifier, here)?, parsed)
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

    /// How it stands to the others of its document, and of the documents of what it takes the place
    /// of, which may have another identifier.
    fn relation(
        &self,
        mut relatives: Vec<Relative>,
        parsed: &Parsed,
        purpose: Purpose,
        here: Destination<'_>,
    ) -> Result<Option<Relation>, EngineError> {
        let line = self.line(purpose, &parsed.known)?;
        for identifier in line.other_identifiers(parsed.summary.identifier.as_deref()) {
            relatives.extend(self.of_document(identifier, here, parsed)?);
        }
        relatives.sort_unstable_by_key(|relative| relative.id);
        relatives.dedup_by_key(|relative| relative.id);
        relatives.retain(|it| purpose.concerns(it, parsed) && !line.has(it.id));
        let mut standing = self.standing(&relatives, parsed, purpose, &line)?;
        if standing.is_empty() && matches!(purpose, Purpose::New) {
            let arrived = self.may_have_arrived(&relatives, parsed)?;
            standing.extend(arrived);
        }
        let Some((found, age)) = decisive(&standing, parsed, purpose, &line) else {
            return Ok(None);
        };
        let relative = found.relative;
        let earlier = if relative.has_content { self.tree_of(relative.id)? } else { None };
        let later = Tree::read(&parsed.bytes, parsed.format, &Limits::default()).ok();
        let differences = earlier.zip(later).map(|(earlier, later)| differences(&earlier, &later));
        Ok(Some(Relation {
            submission: relative.id,
            identifier: found.identifier.clone(),
            state: relative.state,
            at: relative.updated,
            // A correction goes where the other one went.
            corrects: found.says_same
                && age == Age::NotOlder
                // What goes once more corrects nothing but itself.
                && (purpose.is_anew() || matches!(purpose, Purpose::InPlaceOf(_)))
                && relative.endpoint == here.endpoint
                // What differs in more than the slip may be any other version, also an older one.
                && found.slip.is_none_or(|slip| slips::mends(slip, parsed, differences.as_deref()))
                && self.journal().is_correctable(relative.id)?,
            age,
            differences: differences.unwrap_or_default(),
        }))
    }

    fn tree_of(&self, id: SubmissionId) -> Result<Option<Tree>, EngineError> {
        let bytes = match self.journal().document(id) {
            Ok(bytes) => bytes,
            // Retention was faster; or what is kept is damaged, which must not keep another report
            // from being taken in.
            Err(JournalError::NotFound(_) | JournalError::Damaged) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let format = Format::sniff(&bytes);
        Ok(format.and_then(|format| Tree::read(&bytes, format, &Limits::default()).ok()))
    }
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

/// Where the contents differ is said by place and never by value: the warning is kept, printed and
/// logged.
fn told(relation: &Relation) -> (Origin, Finding) {
    let places = relation.differences.iter().take(PLACES_MAX);
    let mut elements: Vec<&str> = places.map(|it| it.expression.as_str()).collect();
    if relation.differences.len() > PLACES_MAX {
        elements.push("…");
    }
    let code = match relation.age {
        Age::Older => OLDER,
        Age::Overtaken => LATER,
        Age::NotOlder => SAME_IDENTIFIER,
    };
    let finding = Finding {
        code: code.to_owned(),
        severity: Severity::Warning,
        expression: "Bundle.identifier".to_owned(),
        position: None,
        params: vec![
            ("elements".to_owned(), elements.join(", ")),
            ("identifier".to_owned(), relation.identifier.clone().unwrap_or_default()),
            ("submission".to_owned(), relation.submission.0.to_string()),
        ],
    };
    (Origin::Local, finding)
}
