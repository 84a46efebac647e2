//! A content that has taken the place of a report. Only one of a hand-over can.

use engine::Candidate;
use report::SubmissionId;

use super::steps::known;
use crate::candidates::{candidate_view, refused_view};
use crate::rows::Names;
use crate::views::CandidateView;

pub(super) struct Placed {
    name: String,
    canonical: Option<String>,
    id: SubmissionId,
}

impl Placed {
    pub(super) fn new(candidate: &Candidate, id: SubmissionId) -> Self {
        let canonical = candidate.parsed().map(|parsed| parsed.canonical.clone());
        Self { name: candidate.name.clone(), canonical, id }
    }

    /// Another content of the same hand-over for the same report: the same once more, or another
    /// one, of which nobody has said which is meant.
    pub(super) fn beside(&self, candidate: &Candidate) -> CandidateView {
        if candidate.parsed().map(|parsed| &parsed.canonical) == self.canonical.as_ref() {
            return known(candidate_view(candidate, Names::Masked), self.id);
        }
        refused_view(candidate, "corrected-by-other-file", vec![("file", self.name.clone())])
    }
}
