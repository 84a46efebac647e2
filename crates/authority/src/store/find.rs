//! Read and search: a query of the interface becomes SQL. Versions are never changed once another
//! follows them, so that whatever is asked of one moment has one answer, however many questions it
//! takes.

use exchange::{Processing, Query, SortKey, TimeFilter, TimePrefix};
use fhir::Instant;

use crate::notice::Notice;

/// A document's metadata as of some moment.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) receipt: String,
    pub(crate) version: u32,
    pub(crate) status: Processing,
    pub(crate) created: Instant,
    pub(crate) last_updated: Instant,
    pub(crate) identifier_system: Option<String>,
    pub(crate) identifier: String,
    pub(crate) document_identifier: String,
    pub(crate) notices: Vec<Notice>,
}

/// One page to find.
#[derive(Clone)]
pub(crate) struct Search {
    pub(crate) laboratory: i64,
    pub(crate) query: Query,
    /// The moment that is searched; `None`: now.
    pub(crate) as_of: Option<Instant>,
    /// Nothing that happened after this is known yet (a late index).
    pub(crate) known_until: Option<Instant>,
    /// Entries of a page; 0 counts only.
    pub(crate) count: u32,
    /// From 1.
    pub(crate) page: u32,
    /// Where the page begins or ends, where a neighbour is known.
    pub(crate) beside: Option<Beside>,
}

fhir::shows_only!(Found { receipt, version, status, created, last_updated, notices });
fhir::shows_only!(Search { laboratory, as_of, known_until, count, page, beside });

/// A page next to one that was shown: nothing has to be counted off to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Begins behind the document that has this time on the [`axis`].
    After(Instant),
    /// Ends before it.
    Before(Instant),
}

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Result {
    /// When the last thing happened to the laboratory's documents that this search knows of; 0
    /// where nothing did.
    pub(crate) as_of: Instant,
    pub(crate) total: u64,
    pub(crate) found: Vec<Found>,
}

/// How many documents of a laboratory had which status at a moment; each version carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    pub(crate) in_progress: i64,
    pub(crate) completed: i64,
    pub(crate) failed: i64,
}

impl Tally {
    pub(crate) const fn all(self) -> i64 {
        self.in_progress + self.completed + self.failed
    }

    pub(crate) const fn of(self, status: Processing) -> i64 {
        match status {
            Processing::InProgress => self.in_progress,
            Processing::Completed => self.completed,
            Processing::Failed => self.failed,
        }
    }
}

impl Search {
    /// Nothing later than this is searched.
    pub(crate) fn bound(&self) -> Instant {
        let bounds = [self.as_of, self.known_until];
        bounds.into_iter().flatten().min().unwrap_or(Instant(i64::MAX))
    }

    /// Documents before this page.
    pub(crate) fn offset(&self) -> u64 {
        u64::from(self.page.saturating_sub(1)) * u64::from(self.count)
    }
}

/// A time that decides the order of documents alone, for no two documents share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    Date,
    LastUpdated,
}

impl Axis {
    /// A document's place on it.
    pub(crate) const fn place(self, found: &Found) -> Instant {
        match self {
            Self::Date => found.created,
            Self::LastUpdated => found.last_updated,
        }
    }
}

/// The time that orders the result of a query, and whether it descends; `None`: something else
/// comes first.
pub(crate) fn axis(query: &Query) -> Option<(Axis, bool)> {
    match query.sort.first() {
        None => Some((Axis::Date, true)),
        Some((SortKey::Date, down)) => Some((Axis::Date, *down)),
        Some((SortKey::LastUpdated, down)) => Some((Axis::LastUpdated, *down)),
        Some((SortKey::Identifier | SortKey::ElmStatus, _)) => None,
    }
}

/// The one interval that these filters leave; `None`: they leave holes.
pub(crate) fn interval(filters: &[TimeFilter]) -> Option<(Instant, Instant)> {
    let (mut from, mut until) = (Instant(i64::MIN), Instant(i64::MAX));
    for filter in filters {
        let mut alternatives = filter.alternatives();
        let (prefix, period) = alternatives.next()?;
        let period = period.filter(|_| alternatives.next().is_none())?;
        match prefix {
            TimePrefix::Eq => (from, until) = (from.max(period.start), until.min(period.end)),
            TimePrefix::Ne => return None,
            TimePrefix::Gt => from = from.max(period.end),
            TimePrefix::Ge => from = from.max(period.start),
            TimePrefix::Lt => until = until.min(period.start),
            TimePrefix::Le => until = until.min(period.end),
        }
    }
    Some((from, until))
}
