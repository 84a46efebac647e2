//! What the parts of one list have to know of each other.

use std::collections::{HashMap, HashSet};

use exchange::Endpoint;
use report::SubmissionId;

use super::KnownContent;
use crate::EngineError;
use crate::candidate::{Candidate, Parsed, Taken};

/// What is handed over together, which several calls of [`crate::Engine::submit`] take in: what
/// they have brought, and what of it failed, counts for the next one.
#[derive(Debug, Default)]
pub struct Listed {
    /// Id of the endpoint that the person saw it go to: nothing of it goes to another one.
    goes_to: Option<String>,
    /// Digests of the contents that are to go once more where they are known.
    again: HashSet<String>,
    /// Digests of the contents that were new when they were looked at: where another one was faster
    /// nobody has said that they go twice.
    unknown: HashSet<String>,
    /// Digests of the contents of which a person who was shown it has said that they go beside
    /// another one under their identifier; `None`: of all.
    beside: Option<HashSet<String>>,
    /// What the reports so far go by.
    names: HashSet<Name>,
    /// What those go by that could not be taken in.
    failed: HashSet<Name>,
    /// What was taken in as new, by the digest of what it says: it goes once, also where that has
    /// arrived meanwhile.
    new: HashMap<String, SubmissionId>,
}

impl Listed {
    /// A list that goes to the endpoint of this id and to no other. What of it is known goes once
    /// more only where its digest is among these.
    pub fn new(goes_to: &str, again: HashSet<String>) -> Self {
        Self { goes_to: Some(goes_to.to_owned()), again, ..Self::default() }
    }

    /// The same list, of which only these contents, by their digests, go beside another one under
    /// their identifier as a person has said.
    #[must_use]
    pub fn with_beside(self, beside: HashSet<String>) -> Self {
        Self { beside: Some(beside), ..self }
    }

    /// What a command hands over: it goes to the endpoint of this id, if there is one, and to no
    /// other.
    pub fn of_command(goes_to: Option<String>) -> Self {
        Self { goes_to, ..Self::default() }
    }

    /// The next part was looked at after this one was taken in, so that what this one has brought
    /// is compared with in the journal: only what failed is remembered.
    pub fn next_part(&mut self) {
        self.names.clear();
        self.new.clear();
    }

    /// One of the list was taken in in another way, as the correction of a report; `failed`: it
    /// could not be.
    pub fn note(&mut self, candidate: &Candidate, failed: bool) {
        self.names.extend(candidate.parsed().into_iter().flat_map(names));
        self.fail(failed, candidate);
    }

    /// What goes by the names of this one fails too, where it has `failed`.
    pub(super) fn fail(&mut self, failed: bool, candidate: &Candidate) {
        self.failed.extend(candidate.parsed().filter(|_| failed).into_iter().flat_map(names));
    }

    /// Whether one of its names is that of one that has failed.
    pub(super) fn follows_failed(&self, candidate: &Candidate) -> bool {
        candidate.parsed().is_some_and(|it| names(it).any(|name| self.failed.contains(&name)))
    }

    /// What became of these counts for what says the same later on the list.
    pub(super) fn settle(&mut self, candidates: &[Candidate], taken: &[Taken]) {
        for (candidate, taken) in candidates.iter().zip(taken) {
            if let (Taken::New(id), Some(parsed)) = (taken, candidate.parsed()) {
                self.new.insert(parsed.canonical.clone(), *id);
            }
        }
    }

    /// The submission that an earlier one of the list became, which says the same.
    pub(super) fn taken_before(&self, parsed: &Parsed) -> Option<SubmissionId> {
        self.new.get(&parsed.canonical).copied()
    }

    /// Whether no earlier one goes by one of its names; those without are all first.
    pub(super) fn is_first(&mut self, parsed: &Parsed) -> bool {
        // Each is noted, also where an earlier one was met.
        let new = names(parsed).map(|name| usize::from(self.names.insert(name))).sum::<usize>();
        new == names(parsed).count()
    }

    /// Whether what goes to this endpoint is what the person saw.
    ///
    /// # Errors
    /// [`EngineError::EndpointChanged`] where it is not.
    pub fn check(&self, endpoint: Option<&Endpoint>) -> Result<(), EngineError> {
        let is_same =
            |wanted: &String| endpoint.map(Endpoint::id).unwrap_or_default() == wanted.as_str();
        match self.goes_to.as_ref().is_none_or(is_same) {
            true => Ok(()),
            false => Err(EngineError::EndpointChanged),
        }
    }

    /// Whether a person may have been shown the other content under its identifier.
    pub(super) fn may_be_seen(&self, parsed: &Parsed) -> bool {
        self.beside.as_ref().is_none_or(|beside| beside.contains(&parsed.digest))
    }

    /// Which of these were new when they were looked at.
    pub(super) fn see(&mut self, candidates: &[Candidate]) {
        let parsed = candidates.iter().filter_map(Candidate::parsed);
        let new = parsed.filter(|it| it.compared_for.is_some() && it.known.is_empty());
        self.unknown.extend(new.map(|it| it.digest.clone()));
    }

    /// What becomes of it where it is known.
    pub(super) fn known(&self, parsed: &Parsed, otherwise: KnownContent) -> KnownContent {
        match otherwise {
            _ if self.again.contains(&parsed.digest) => KnownContent::SendAgain,
            KnownContent::SendAgain if self.unknown.contains(&parsed.digest) => KnownContent::Show,
            otherwise => otherwise,
        }
    }
}

/// What a report goes by: its document, and the envelope that it came in.
#[derive(PartialEq, Eq, Hash)]
enum Name {
    Document(String),
    Envelope(String),
}

impl std::fmt::Debug for Name {
    /// Never the identifier: a laboratory may have put a patient's number into it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Name")
    }
}

fn names(parsed: &Parsed) -> impl Iterator<Item = Name> + use<> {
    let document = parsed.summary.identifier.clone().map(Name::Document);
    document.into_iter().chain(parsed.envelope_identifier.clone().map(Name::Envelope))
}
