//! Search on DocumentReference (docs/interface.md, "Search"): the query and the page.

use fhir::{Element, Instant, Period};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{Answer, Processing, Release};

/// Prefix of a date parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are FHIR's")]
pub enum TimePrefix {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
}

/// A date parameter: prefix and value as written (any precision).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeFilter {
    /// Defaults to `eq`.
    pub prefix: TimePrefix,
    /// The value as written, e.g. `2025-07`; alternatives after a comma keep their prefix.
    pub value: String,
}

/// Key of `_sort`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names are the parameters'")]
pub enum SortKey {
    Identifier,
    Date,
    ElmStatus,
    LastUpdated,
}

/// A search as asked. `Debug` shows what narrows it, not by which identifier.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Query {
    /// `date`, all must hold.
    pub date: Vec<TimeFilter>,
    /// `_lastUpdated`, all must hold.
    pub last_updated: Vec<TimeFilter>,
    /// `identifier`: as written, `value`, `system|value`, `|value` or `system|`. Repeats are AND, a
    /// comma is OR.
    pub identifier: Vec<String>,
    /// The search parameter `elm-status`.
    pub status: Option<Processing>,
    /// The search parameter `_id`.
    pub id: Option<String>,
    /// `_sort`: key and whether it descends, in priority order.
    pub sort: Vec<(SortKey, bool)>,
    /// The search parameter `_count`.
    pub count: Option<u32>,
    /// `page`, from 1.
    pub page: Option<u32>,
}

fhir::shows_only!(Query { date, last_updated, status, id, sort, count, page });

/// Why a query cannot be read.
#[derive(Clone, PartialEq, Eq)]
pub struct SearchProblem {
    /// Parameter name as written.
    pub parameter: String,
    /// Stable reason: `not-a-date`, `unknown-prefix`, `unknown-status`, `several-statuses`,
    /// `unknown-sort-key`, `not-a-number`, `not-a-token`, `several-values` (a parameter that takes
    /// one).
    pub reason: &'static str,
    /// The value as written.
    pub value: String,
}

fhir::shows_only!(SearchProblem { parameter, reason });

/// Links of a search result, as given. They repeat what was asked, so `Debug` leaves them out.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are FHIR's link relations")]
pub struct Links {
    pub self_: Option<String>,
    pub first: Option<String>,
    pub next: Option<String>,
    pub prev: Option<String>,
    pub last: Option<String>,
}

fhir::shows_only!(Links {});

/// One page of a search result.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Page {
    /// `Bundle.total`, where the server gave it.
    pub total: Option<u64>,
    /// `Bundle.meta.lastUpdated` or `Bundle.timestamp`: the server's time.
    pub timestamp: Option<Instant>,
    /// Answers, in the order given; entries that are OperationOutcomes are in `issues`.
    pub answers: Vec<Answer>,
    /// Entries that could not be read as answers.
    pub unreadable: usize,
    /// Messages of the search itself.
    pub issues: Vec<fhir::Issue>,
    /// Links, as given.
    pub links: Links,
}

impl TimeFilter {
    /// Reads `ge2025-07-10`. Alternatives (`ge2025-07-10,2024`) are kept as written and are OR.
    pub fn parse(text: &str) -> Option<Self> {
        let (prefix, value) = split_prefix(text)?;
        let filter = Self { prefix, value: value.to_owned() };
        let readable = filter.alternatives().all(|(_, period)| period.is_some());
        readable.then_some(filter)
    }
    /// What the value covers; `None` also where there are alternatives.
    pub fn period(&self) -> Option<Period> {
        Period::parse(&self.value)
    }
    /// Prefix and period of each alternative (nearly always one); `None` where it is no date.
    pub fn alternatives(&self) -> impl Iterator<Item = (TimePrefix, Option<Period>)> {
        self.value.split(',').enumerate().map(|(index, part)| {
            if index == 0 {
                return (self.prefix, Period::parse(part));
            }
            match split_prefix(part) {
                Some((prefix, value)) => (prefix, Period::parse(value)),
                None => (TimePrefix::Eq, None),
            }
        })
    }
    /// Whether a point in time matches (FHIR range semantics: `eq2025-07` is the whole month).
    pub fn matches(&self, at: Instant) -> bool {
        self.alternatives().any(|(prefix, period)| {
            period.is_some_and(|period| {
                let (after_start, before_end) = (at >= period.start, at < period.end);
                match prefix {
                    TimePrefix::Eq => after_start && before_end,
                    TimePrefix::Ne => !(after_start && before_end),
                    TimePrefix::Gt => !before_end,
                    TimePrefix::Ge => after_start,
                    TimePrefix::Lt => !after_start,
                    TimePrefix::Le => before_end,
                }
            })
        })
    }
}

impl TimePrefix {
    /// All, in the specification's order.
    pub const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Gt, Self::Ge, Self::Lt, Self::Le];

    /// The prefix on the wire.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::Lt => "lt",
            Self::Le => "le",
        }
    }
}

/// Prefix (`eq` where there is none) and the rest; `None` for a prefix that is not supported.
pub(crate) fn split_prefix(text: &str) -> Option<(TimePrefix, &str)> {
    if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Some((TimePrefix::Eq, text));
    }
    TimePrefix::ALL.into_iter().find_map(|prefix| Some((prefix, text.strip_prefix(prefix.code())?)))
}

impl SortKey {
    /// All, in the specification's order.
    pub const ALL: [Self; 4] = [Self::Identifier, Self::Date, Self::ElmStatus, Self::LastUpdated];

    /// The key on the wire. The specification names the same keys for every release: `_lastUpdated`
    /// also where the parameter is `_lastUpdate`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::Date => "date",
            Self::ElmStatus => "elm-status",
            Self::LastUpdated => "_lastUpdated",
        }
    }

    /// By the key on the wire, or by the name that the parameter of the time of last change has in
    /// a release.
    pub fn named(name: &str) -> Option<Self> {
        let last_updated = |release: &Release| release.facts().last_updated == name;
        Self::ALL
            .into_iter()
            .find(|key| key.name() == name)
            .or_else(|| Release::ALL.iter().any(last_updated).then_some(Self::LastUpdated))
    }
}

impl Page {
    /// Reads a searchset Bundle; `None` for anything else.
    pub fn read(bundle: Element<'_>) -> Option<Self> {
        if bundle.resource_type() != Some("Bundle") || bundle.text("type") != Some("searchset") {
            return None;
        }
        let time = |path| bundle.text(path).and_then(Instant::parse);
        let mut page = Self {
            total: bundle.text("total").and_then(|total| total.parse().ok()),
            timestamp: time("meta.lastUpdated").or_else(|| time("timestamp")),
            links: read_links(bundle),
            ..Self::default()
        };
        for entry in bundle.all("entry") {
            let Some(resource) = entry.child("resource") else {
                page.unreadable += 1;
                continue;
            };
            match (resource.resource_type(), Answer::read(resource)) {
                (Some("OperationOutcome"), Ok(outcome)) => page.issues.extend(outcome.issues),
                (_, Ok(answer)) => page.answers.push(answer),
                (_, Err(_)) => page.unreadable += 1,
            }
        }
        Some(page)
    }
}

/// The address of a further page, or `None` where the link leads away. Links are followed as given,
/// but only to the server that was configured, and without credentials: our certificate and the
/// report's identifiers go nowhere else, and nothing that an answer says is sent as ours.
pub fn followable(base: &Url, link: &str) -> Option<Url> {
    let url = base.join(link).ok()?;
    let is_bare = url.username().is_empty() && url.password().is_none();
    (url.origin() == base.origin() && url.scheme() == base.scheme() && is_bare).then_some(url)
}

fn read_links(bundle: Element<'_>) -> Links {
    let mut links = Links::default();
    for link in bundle.all("link") {
        let place = match link.text("relation") {
            Some("self") => &mut links.self_,
            Some("first") => &mut links.first,
            Some("next") => &mut links.next,
            // FHIR's example spells it out.
            Some("prev" | "previous") => &mut links.prev,
            Some("last") => &mut links.last,
            _ => continue,
        };
        *place = link.text("url").map(str::to_owned);
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_configured_server_or_nowhere() {
        let base = Url::parse("https://a.example/v1/fhir").unwrap();
        for same in
            ["https://A.example:443/x?_page=0", "/v1/fhir/DocumentReference?_page=1", "?page=2"]
        {
            assert!(followable(&base, same).is_some(), "{same}");
        }
        for foreign in [
            "https://b.example/",
            "http://a.example/",
            "https://a.example:8443/",
            "//b/x",
            "\\\\b\\x",
            "https://a.example@b.example/",
            "https://user:pass@a.example/v1/fhir",
            "//me@a.example/",
            "blob:https://a.example/x",
            "javascript:alert(1)",
            "file:///etc/passwd",
        ] {
            assert_eq!(followable(&base, foreign), None, "{foreign}");
        }
    }
}
