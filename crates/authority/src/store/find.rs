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
    /// More was said of it than is here.
    pub(crate) is_cut: bool,
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
    /// Only what has happened after this. It is not counted: the total is that of a full page.
    pub(crate) since: Option<Instant>,
}

fhir::shows_only!(Found { receipt, version, status, created, last_updated, notices });
fhir::shows_only!(Search { laboratory, as_of, known_until, count, page, beside, since });

/// A page next to one that was shown: nothing has to be counted off to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Begins behind the document that has this time on the [`axis`].
    After(Instant),
    /// Ends before it.
    Before(Instant),
}

/// Bytes of what is said of all documents of one page, as they are stored. FHIR needs up to twice
/// as many for the same, and a courier reads 8 MB of one answer.
const NOTICES_MAX: usize = 3 << 20;

/// How much of what was said of a document is read from the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Everything,
    /// Everything, or nothing where it has more bytes than this.
    Short(usize),
    /// Its beginning, of about so many bytes.
    Beginning(usize),
}

impl Told {
    /// What of each document of a page is read at first. Mostly that is everything.
    pub(crate) fn at_first(documents: usize) -> Self {
        Self::Short(NOTICES_MAX / documents.max(1))
    }

    /// What is read where that was too little for some of the page, which have so many bytes each:
    /// as much as is possible of all of them together, and of none more than of another that is
    /// cut.
    pub(crate) fn fairly(mut lengths: Vec<usize>) -> Self {
        lengths.sort_unstable();
        let (mut left, mut documents) = (NOTICES_MAX, lengths.len());
        for length in lengths {
            if length > left / documents {
                break;
            }
            left -= length;
            documents -= 1;
        }
        match documents {
            0 => Self::Everything,
            cut => Self::Beginning(left / cut),
        }
    }

    /// The columns of `version v`: what was said, or a part of it, and how many bytes it has.
    pub(crate) fn columns(self) -> String {
        let told = match self {
            Self::Everything => "v.notices".to_owned(),
            Self::Short(most) => {
                format!("CASE WHEN octet_length(v.notices) <= {most} THEN v.notices ELSE '' END")
            }
            Self::Beginning(most) => format!("substr(v.notices, 1, {most})"),
        };
        format!("{told}, octet_length(v.notices)")
    }
}

/// What was said of a document, from its JSON or the beginning of that: the messages that are
/// there in full. `None`: it is none of ours.
pub(crate) fn notices(json: &str, length: usize) -> Option<Vec<Notice>> {
    if json.len() == length {
        return serde_json::from_str(json).ok();
    }
    let mut notices = Vec::new();
    let mut rest = json.strip_prefix('[').unwrap_or_default();
    loop {
        let mut next = serde_json::Deserializer::from_str(rest).into_iter::<Notice>();
        let Some(Ok(notice)) = next.next() else { return Some(notices) };
        notices.push(notice);
        rest = rest.get(next.byte_offset()..)?.trim_start_matches(',');
    }
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
    /// What matches the condition of a conditional create; two are as telling as all.
    pub(crate) fn of_condition(laboratory: i64, query: Query, since: Option<Instant>) -> Self {
        let (as_of, known_until, beside) = (None, None, None);
        Self { laboratory, query, as_of, known_until, count: 2, page: 1, beside, since }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_told_fairly_and_never_more_than_it_may() {
        let upto = |lengths: &[usize]| match Told::fairly(lengths.to_vec()) {
            Told::Beginning(most) => most,
            other => panic!("{other:?}"),
        };
        let all = |lengths: &[usize]| -> usize {
            lengths.iter().map(|length| *length.min(&upto(lengths))).sum()
        };
        assert_eq!(upto(&[NOTICES_MAX * 9]), NOTICES_MAX, "one alone has everything there is");
        let one_of_many = [vec![100; 999], vec![NOTICES_MAX * 2]].concat();
        assert_eq!(upto(&one_of_many), NOTICES_MAX - 99_900, "what others leave is its own");
        for lengths in [
            vec![NOTICES_MAX; 1_000],
            (0..1_000).map(|number| number * 50).collect(),
            vec![0, NOTICES_MAX, 7, NOTICES_MAX],
        ] {
            let told = all(&lengths);
            assert!(told <= NOTICES_MAX && told + 1_000 > NOTICES_MAX, "{told}");
        }
        let few = vec![NOTICES_MAX / 4; 3];
        assert_eq!(Told::fairly(few), Told::Everything);
        assert_eq!(Told::fairly(Vec::new()), Told::Everything);
    }

    #[test]
    fn of_the_beginning_of_a_text_whole_messages_are_read() {
        let all = vec![Notice::error("value", "Zoë, [\"}],"); 3];
        let json = serde_json::to_string(&all).unwrap();
        let (mut last, length) = (0, json.len());
        for (end, _) in json.char_indices() {
            let told = notices(&json[..end], length).unwrap();
            assert!(told.len() >= last && told.len() <= 3 && told[..] == all[..told.len()]);
            last = told.len();
        }
        assert_eq!((last, notices(&json, length)), (3, Some(all)));
        assert_eq!(notices("", 9), Some(Vec::new()));
        assert_eq!(notices("none", 4), None);
    }
}
