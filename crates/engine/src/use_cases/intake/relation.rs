//! How a report stands to those that the journal has: the same content, a correction, or another
//! content under the same identifier. Each destination is judged by itself.

use exchange::{Endpoint, document_of};
use fhir::{Difference, Finding, Format, Instant, Limits, Severity, Tree};
use journal::{Destination, JournalError, Relative};
use report::{StateCode, SubmissionId, Summary};

use crate::candidate::{Age, Candidate, Origin, Parsed, Relation, Verdict};
use crate::courier::deliveries::open_request;
use crate::use_cases::intake::inspect::content_digest;
use crate::{Engine, EngineError};

mod purpose;

pub(crate) use purpose::Purpose;

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
        let journal = self.journal();
        // First: what comes from here on was not compared with.
        parsed.compared_through = journal.newest()?;
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
            let others = relatives.iter().filter(|it| purpose.concerns(it, parsed));
            parsed.relation = match purpose {
                Purpose::New if !parsed.known.is_empty() => None,
                _ => self.relation(others, parsed, purpose, here.endpoint)?,
            };
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

    /// The one with the latest date that stands decides, and of those with one date, or with none,
    /// the newest; of another case only where none is about the same one.
    fn relation<'a>(
        &self,
        others: impl DoubleEndedIterator<Item = &'a Relative>,
        parsed: &Parsed,
        purpose: Purpose,
        here: &str,
    ) -> Result<Option<Relation>, EngineError> {
        let mut standing = Vec::new();
        let others: Vec<_> = others.collect();
        if others.is_empty() {
            return Ok(None);
        }
        let told = self.told_beside(purpose, &parsed.known)?;
        let is_withdrawn = |it: &&&Relative| it.state == StateCode::Withdrawn;
        let withdrawn: Vec<_> = others.iter().filter(is_withdrawn).copied().collect();
        for relative in others.into_iter().rev().filter(|relative| counts(relative.state)) {
            let earlier = self.journal().row(relative.id)?.summary;
            let is_later = purpose.is_followed_by(relative.id) || told.contains(&relative.id);
            if is_later || is_older(&parsed.summary, earlier.date) {
                let is_same = earlier.may_be_case_of(&parsed.summary);
                standing.push((relative, is_same, earlier.date));
            }
        }
        if standing.is_empty() && matches!(purpose, Purpose::New) {
            let arrived = self.may_have_arrived(&withdrawn, parsed)?;
            standing.extend(arrived.map(|it| (it, true, None)));
        }
        let of_case = standing.iter().filter(|(_, is_same, _)| *is_same);
        let found = of_case.max_by_key(|(relative, _, date)| (*date, relative.id));
        // Of other cases people were told when what this one is to replace was taken in.
        let found = match purpose {
            Purpose::New => found.or(standing.first()),
            Purpose::InPlaceOf(_) | Purpose::Again(_) => found,
        };
        let Some(&(relative, is_same, date)) = found else { return Ok(None) };
        let age = match is_same {
            true if is_older(&parsed.summary, date) => Age::Older,
            true if is_newer(&parsed.summary, date) => Age::NotOlder,
            true if told.contains(&relative.id) => Age::Overtaken,
            true if purpose.is_overtaken_by(relative.id, &parsed.known) => Age::Overtaken,
            _ => Age::NotOlder,
        };
        // A correction goes where the other one went.
        let is_here = relative.endpoint == here;
        let earlier = if relative.has_content { self.tree_of(relative.id)? } else { None };
        let later = Tree::read(&parsed.bytes, parsed.format, &Limits::default()).ok();
        let differences = earlier.zip(later).map(|(earlier, later)| differences(&earlier, &later));
        Ok(Some(Relation {
            submission: relative.id,
            state: relative.state,
            at: relative.updated,
            // What goes once more corrects nothing but itself.
            corrects: is_same
                && !matches!(purpose, Purpose::Again(_))
                && age == Age::NotOlder
                && is_here
                && self.journal().is_correctable(relative.id)?,
            age,
            differences: differences.unwrap_or_default(),
        }))
    }

    /// The reports beside which those were on hold, in whose place, or as whose content, this one
    /// comes: a decision about one of them is none about what comes after it.
    fn told_beside(
        &self,
        purpose: Purpose,
        known: &[SubmissionId],
    ) -> Result<Vec<SubmissionId>, EngineError> {
        let mut beside = Vec::new();
        for id in purpose.earlier_ones(known) {
            let messages = self.journal().messages(*id)?;
            let told = messages.iter().filter(|it| it.code == OLDER || it.code == LATER);
            let params = told.flat_map(|it| &it.params).filter(|(name, _)| name == "submission");
            beside.extend(params.filter_map(|(_, id)| id.parse().ok().map(SubmissionId)));
        }
        Ok(beside)
    }

    /// The newest of these that were withdrawn and is about the same case, where a request for it
    /// may have arrived.
    fn may_have_arrived<'a>(
        &self,
        withdrawn: &[&'a Relative],
        parsed: &Parsed,
    ) -> Result<Option<&'a Relative>, EngineError> {
        for relative in withdrawn.iter().rev() {
            let detail = self.journal().detail(relative.id)?;
            let events = detail.timeline.iter().map(|entry| &entry.event);
            let is_same = detail.row.summary.may_be_case_of(&parsed.summary);
            if is_same && detail.row.erased.is_none() && open_request(events).is_some() {
                return Ok(Some(relative));
            }
        }
        Ok(None)
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

/// Whether a document is dated before another one; what says no date is not.
fn is_older(document: &Summary, other: Option<Instant>) -> bool {
    document.date.zip(other).is_some_and(|(date, other)| date < other)
}

/// Whether a document is dated after another one; what says no date is not.
fn is_newer(document: &Summary, other: Option<Instant>) -> bool {
    document.date.zip(other).is_some_and(|(date, other)| date > other)
}

/// Whether one in this state is on its way, at the authority, or waits for a person.
fn counts(state: StateCode) -> bool {
    !state.is_closed() || state == StateCode::SaidReceived
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
fn told(relation: &Relation, identifier: &str) -> (Origin, Finding) {
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
            ("identifier".to_owned(), identifier.to_owned()),
            ("submission".to_owned(), relation.submission.0.to_string()),
        ],
    };
    (Origin::Local, finding)
}
