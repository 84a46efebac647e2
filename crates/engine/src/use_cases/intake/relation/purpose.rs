//! What a report is compared for, and which others count then. Pure.

use journal::Relative;
use report::SubmissionId;

use crate::candidate::Parsed;

/// What a report is compared for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// It is taken in as one that was not there before, or as the correction of what it is found to
    /// correct.
    New,
    /// It takes the place of this one, as a person has said.
    InPlaceOf(SubmissionId),
    /// It is sent once more, as a person has said; this is the newest of its content that has left
    /// and was not withdrawn, or 0 where there is none.
    Again(SubmissionId),
}

impl Purpose {
    /// Whether another report of its document counts.
    pub(super) fn concerns(self, other: &Relative, parsed: &Parsed) -> bool {
        match self {
            Self::New => true,
            Self::InPlaceOf(_) => says_other(other, parsed) && !other.state.may_be_corrected(),
            Self::Again(_) => says_other(other, parsed),
        }
    }

    /// Whether another report was taken in after what this one is compared for. Of those before it
    /// people were told, so that they count only where they are dated later.
    pub(super) fn is_followed_by(self, other: SubmissionId) -> bool {
        match self {
            Self::New => true,
            Self::InPlaceOf(id) | Self::Again(id) => other > id,
        }
    }

    /// Whether a content that goes once more would follow this one, which came after it.
    pub(super) fn is_overtaken_by(self, other: SubmissionId, known: &[SubmissionId]) -> bool {
        let Self::Again(left) = self else { return false };
        // What never left has no request after which another one came.
        let before = if left.0 > 0 { Some(left) } else { known.iter().min().copied() };
        before.is_some_and(|before| other > before)
    }

    /// Whether it was not there before, or all of its content was withdrawn or never left.
    pub(super) fn is_anew(self) -> bool {
        matches!(self, Self::New | Self::Again(SubmissionId(0)))
    }

    /// Those of the same content, or in whose place it comes: who decided about them was told of
    /// others.
    pub(super) fn earlier_ones<'a>(&'a self, known: &'a [SubmissionId]) -> &'a [SubmissionId] {
        match self {
            Self::New => &[],
            Self::Again(_) => known,
            Self::InPlaceOf(id) => std::slice::from_ref(id),
        }
    }
}

fn says_other(other: &Relative, parsed: &Parsed) -> bool {
    other.digest != parsed.digest && other.canonical.as_deref() != Some(parsed.canonical.as_str())
}
