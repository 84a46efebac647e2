//! Questions about many reports: by identifier, by time of change, and the search as such.

use std::collections::{BTreeSet, HashSet};

use exchange::canonical::URI_SYSTEM;
use exchange::{
    Answer, Page, Processing, Query, SearchSupport, SortKey, TimeFilter, TimePrefix, followable,
};
use fhir::{Instant, Severity};
use url::Url;

use crate::authority::{Changes, Found};
use crate::evidence::Evidence;
use crate::fault::{Fault, Why};
use crate::http::HttpAuthority;
use crate::outcome;

/// Parameters that narrow a result: where one of them is ignored, the result is not what was asked.
const FILTERS: [&str; 6] =
    ["identifier", "date", "_lastUpdated", "_lastUpdate", "elm-status", "_id"];
/// Asked for; the authority may give less.
const PAGE_ENTRIES: u32 = 100;
/// Pages of a search by identifier: one report has few deliveries, and an endpoint may have several
/// reports under one identifier.
const FIND_PAGES_MAX: usize = 20;
/// All pages of one search together.
const PAGES_BYTES_MAX: usize = 64_000_000;
/// How often pages are read again that do not show as much as they say there is.
const REREADS_MAX: usize = 2;

/// One page, and what of the question the server ignored.
async fn ask(
    authority: &HttpAuthority,
    query: &Query,
) -> Result<(Page, Evidence, Vec<String>), Fault> {
    if query.beyond(authority.release).is_some() {
        return Err(Fault::transient(Why::SearchUnsupported));
    }
    let asked = query.to_query_string(authority.release);
    let url = authority.url(&["DocumentReference"], Some(&asked));
    let (page, evidence) = fetch(authority, url).await?;
    let ignored = exchange::ignored(&asked, page.links.self_.as_deref());
    Ok((page, evidence, ignored))
}

/// The first that narrows a result. What only orders or divides it, a server may leave out without
/// showing less.
fn ignored_filter(ignored: Vec<String>) -> Option<Why> {
    let name = ignored.into_iter().find(|name| FILTERS.contains(&name.as_str()))?;
    Some(Why::ParameterIgnored { name })
}

async fn fetch(authority: &HttpAuthority, url: Url) -> Result<(Page, Evidence), Fault> {
    let (tree, evidence) = match outcome::of_question(authority.get(url).await?) {
        // A search that finds nothing answers 200: so this is a wrong address, or no access at all.
        Err(Fault::Transient { why: Why::NotFound { status }, evidence, .. }) => {
            return Err(Fault::Locked { why: Why::Status { status }, evidence });
        }
        other => other?,
    };
    match Page::read(tree.root()) {
        Some(page) => Ok((page, evidence)),
        None => {
            let found = outcome::resource(&tree);
            Err(outcome::with(Why::NotFhir { status: evidence.status, found }, evidence))
        }
    }
}

pub(crate) async fn page(
    authority: &HttpAuthority,
    query: &Query,
) -> Result<(Page, Evidence), Fault> {
    let (page, evidence, mut ignored) = ask(authority, query).await?;
    if ignored.is_empty() {
        return Ok((page, evidence));
    }
    let why = Why::ParameterIgnored { name: ignored.swap_remove(0) };
    Err(Fault::Locked { why, evidence: Some(Box::new(evidence)) })
}

impl HttpAuthority {
    /// A further page of a search by its link, as the authority gave it; to this authority only.
    ///
    /// # Errors
    /// [`Fault`], as of every question; [`Why::ForeignLink`] where the link leads elsewhere.
    pub async fn follow(&self, link: &str) -> Result<(Page, Evidence), Fault> {
        match followable(self.base(), link) {
            Some(url) => fetch(self, url).await,
            None => Err(Fault::Locked { why: Why::ForeignLink, evidence: None }),
        }
    }
}

/// The form of the parameter is open: bare first, then `system|value`. What would separate in it is
/// escaped, as FHIR has it; a server that knows no escapes is asked in its way too.
pub(crate) fn forms(identifier: &str) -> Vec<String> {
    let escaped = exchange::escape(identifier);
    let mut forms = vec![escaped.clone(), format!("{URI_SYSTEM}|{escaped}")];
    if escaped != identifier {
        forms.push(identifier.to_owned());
    }
    forms
}

/// What the forms of one question came to, none of which has shown anything: another form may say
/// more. Nothing found outweighs a refusal, unless that is of the form in which this authority
/// shows what it has: a form that it does not know is answered with nothing too.
pub(crate) struct Said<T> {
    nothing: Option<T>,
    refused: Option<Fault>,
    /// The refusal counts.
    is_of_known_form: bool,
}

impl<T> Default for Said<T> {
    fn default() -> Self {
        Self { nothing: None, refused: None, is_of_known_form: false }
    }
}

impl<T> Said<T> {
    /// What one form came to; an error where it concerns every form.
    pub(crate) fn note(&mut self, said: Result<T, Fault>, is_known: bool) -> Result<(), Fault> {
        match said {
            Ok(nothing) => self.nothing = Some(nothing),
            Err(refused) if refused.refuses_the_question() => {
                self.is_of_known_form |= is_known;
                self.refused = Some(refused);
            }
            Err(fault) => return Err(fault),
        }
        Ok(())
    }

    /// What all of them say together.
    pub(crate) fn most(self) -> Result<T, Fault> {
        match (self.nothing, self.refused) {
            (Some(nothing), None) => Ok(nothing),
            (Some(nothing), Some(_)) if !self.is_of_known_form => Ok(nothing),
            (_, Some(refused)) => Err(refused),
            (None, None) => Err(Fault::transient(Why::SearchUnsupported)),
        }
    }
}

/// The deliveries under an identifier, in whichever of its forms shows some.
pub(crate) async fn find(authority: &HttpAuthority, identifier: &str) -> Result<Found, Fault> {
    let mut said = Said::default();
    for (number, form) in forms(identifier).into_iter().enumerate() {
        match ask_identifier(authority, identifier, form).await {
            Ok(found) if !found.answers.is_empty() => {
                authority.shows_in(number);
                return Ok(found);
            }
            other => said.note(other, authority.has_shown_in(number))?,
        }
    }
    said.most()
}

async fn ask_identifier(
    authority: &HttpAuthority,
    identifier: &str,
    parameter: String,
) -> Result<Found, Fault> {
    let began = tokio::time::Instant::now();
    let query = Query { identifier: vec![parameter], ..Query::default() };
    let (page, evidence, ignored) = ask(authority, &query).await?;
    let mut lookup = Lookup::new(identifier, ignored);
    let mut visited = HashSet::new();
    let mut next = lookup.take(page, evidence);
    while let Some(link) = next.take() {
        lookup.cut = lookup.pages >= FIND_PAGES_MAX || began.elapsed() > authority.limits.walk;
        if lookup.cut || !visited.insert(link.clone()) {
            lookup.cut = true;
            break;
        }
        match authority.follow(&link).await {
            Ok((page, evidence)) => next = lookup.take(page, evidence),
            // What was found stays found; what was not found may stand on the page that is lacking.
            Err(fault) if lookup.hits.is_empty() => return Err(fault),
            Err(_) => break,
        }
    }
    lookup.end()
}

/// The pages of a search by identifier, as they come.
struct Lookup<'a> {
    identifier: &'a str,
    /// Of the question.
    ignored: Option<Why>,
    /// Those that carry the identifier.
    hits: Vec<Answer>,
    /// The page with the hit that counts for most; until there is a hit, the first page.
    evidence: Evidence,
    weight: Option<Processing>,
    pages: usize,
    entries: usize,
    /// A page says that something went wrong.
    failed: bool,
    /// A page says that there is more than nothing.
    more: bool,
    /// Not all pages were read.
    cut: bool,
}

impl<'a> Lookup<'a> {
    fn new(identifier: &'a str, ignored: Vec<String>) -> Self {
        Self {
            identifier,
            ignored: ignored_filter(ignored),
            hits: Vec::new(),
            evidence: Evidence::default(),
            weight: None,
            pages: 0,
            entries: 0,
            failed: false,
            more: false,
            cut: false,
        }
    }

    /// Adds a page; returns its `next` link.
    fn take(&mut self, page: Page, evidence: Evidence) -> Option<String> {
        self.pages += 1;
        self.entries += page.answers.len() + page.unreadable;
        self.failed |= page.issues.iter().any(|issue| issue.severity == Severity::Error);
        self.more |= page.total.is_some_and(|total| total > 0);
        let ours = |answer: &Answer| {
            answer.identifiers.iter().any(|id| id.eq_ignore_ascii_case(self.identifier))
        };
        let hits: Vec<_> = page.answers.into_iter().filter(ours).collect();
        let weight = hits.iter().filter_map(|hit| hit.processing).max();
        let is_first_hit = self.hits.is_empty() && !hits.is_empty();
        if self.pages == 1 || is_first_hit || weight > self.weight {
            (self.evidence, self.weight) = (evidence, weight);
        }
        self.hits.extend(hits);
        page.links.next
    }

    /// Strangers in the result, an unreadable entry, or a result that is not whole by its own
    /// words: this says nothing about our report.
    fn end(self) -> Result<Found, Fault> {
        let status = self.evidence.status;
        let why = match self.ignored {
            _ if !self.hits.is_empty() => None,
            None if self.entries > 0 => {
                Some(Why::ParameterIgnored { name: "identifier".to_owned() })
            }
            None if self.failed => {
                Some(Why::NotFhir { status, found: "OperationOutcome".to_owned() })
            }
            None if self.cut => Some(Why::TooManyPages),
            None if self.more => Some(Why::PagesMoved),
            other => other,
        };
        match why {
            Some(why) => Err(outcome::with(why, self.evidence)),
            None => Ok(Found { answers: self.hits, evidence: self.evidence }),
        }
    }
}

pub(crate) async fn changed_since(
    authority: &HttpAuthority,
    since: Option<Instant>,
) -> Result<Changes, Fault> {
    if authority.release.facts().search != SearchSupport::Full {
        return Err(Fault::transient(Why::SearchUnsupported));
    }
    let since = since.map(|at| TimeFilter { prefix: TimePrefix::Ge, value: at.to_search() });
    let plain = Query { last_updated: since.into_iter().collect(), ..Query::default() };
    let ordered = Query {
        sort: vec![(SortKey::LastUpdated, false)],
        count: Some(PAGE_ENTRIES),
        ..plain.clone()
    };
    let first = match authority.asks_plainly() {
        true => ask(authority, &plain).await,
        false => match ask(authority, &ordered).await {
            // Perhaps it knows no order or no size of pages; what matters is what changed.
            Err(fault) if fault.refuses_the_question() => {
                let answer = ask(authority, &plain).await;
                if answer.is_ok() {
                    authority.ask_plainly();
                }
                answer
            }
            answer => answer,
        },
    };
    let mut read = Read { bytes: 0, began: tokio::time::Instant::now() };
    let mut walk = walk(authority, first?, &mut read).await?;
    for _ in 0..REREADS_MAX {
        if !walk.lacks_entries() {
            return Ok(walk.changes);
        }
        let again = match authority.asks_plainly() {
            true => ask(authority, &plain).await?,
            false => ask(authority, &ordered).await?,
        };
        let mut again = self::walk(authority, again, &mut read).await?;
        // Nothing moves, and the total counts what this certificate is not shown.
        let is_still = again.changes.incomplete.is_none() && again.shown == walk.shown;
        // Cut off, it shows no end that a search could go on from: the first reading lacked
        // something before it.
        again.changes.incomplete = again.changes.incomplete.and(Some(Why::PagesMoved));
        walk = again.after(walk);
        if is_still {
            return Ok(walk.changes);
        }
    }
    if walk.lacks_entries() {
        walk.changes.incomplete = Some(Why::PagesMoved);
    }
    Ok(walk.changes)
}

/// What one search has cost, however often its pages were read.
struct Read {
    bytes: usize,
    began: tokio::time::Instant,
}

/// All pages of a search, read once.
struct Walk {
    changes: Changes,
    /// Receipts of what was shown.
    shown: BTreeSet<String>,
    /// As the last page gave it.
    total: Option<u64>,
    pages: usize,
}

impl Walk {
    /// Pages by number: what changes while they are read moves to the end, and another moves over
    /// from the page that comes next to the one that was read already.
    fn lacks_entries(&self) -> bool {
        let shown = self.shown.len() + self.changes.unreadable;
        let is_whole = self.changes.incomplete.is_none() && self.pages > 1;
        is_whole && self.total.is_some_and(|total| total > shown as u64)
    }

    /// With what an earlier walk has shown and this one has not.
    fn after(mut self, before: Self) -> Self {
        let mut earlier = before.changes;
        let is_new = |answer: &Answer| {
            answer.receipt.as_ref().is_none_or(|receipt| !self.shown.contains(receipt))
        };
        earlier.answers.retain(is_new);
        earlier.answers.append(&mut self.changes.answers);
        earlier.evidence.append(&mut self.changes.evidence);
        earlier.issues.append(&mut self.changes.issues);
        self.shown.extend(before.shown);
        self.changes = Changes {
            answers: earlier.answers,
            evidence: earlier.evidence,
            issues: earlier.issues,
            // What changes from then on, the next search must find.
            server_time: earlier.server_time,
            ..self.changes
        };
        self
    }

    /// Adds a page; returns its `next` link.
    fn take(&mut self, page: Page, evidence: Evidence) -> Option<String> {
        self.shown.extend(page.answers.iter().filter_map(|answer| answer.receipt.clone()));
        self.total = page.total;
        self.pages += 1;
        self.changes.answers.extend(page.answers);
        self.changes.unreadable += page.unreadable;
        self.changes.issues.extend(page.issues);
        self.changes.evidence.push(evidence);
        page.links.next
    }
}

async fn walk(
    authority: &HttpAuthority,
    (page, evidence, ignored): (Page, Evidence, Vec<String>),
    read: &mut Read,
) -> Result<Walk, Fault> {
    let incomplete = ignored_filter(ignored);
    let server_time = page.timestamp.or(evidence.server_date);
    let changes = Changes { server_time, incomplete, ..Changes::default() };
    let mut walk = Walk { changes, shown: BTreeSet::new(), total: None, pages: 0 };
    read.bytes += evidence.body.len();
    let mut next = walk.take(page, evidence);
    let mut visited = HashSet::new();
    while let Some(link) = next {
        let url = match followable(authority.base(), &link) {
            Some(url) => url,
            None => {
                walk.changes.incomplete = Some(Why::ForeignLink);
                break;
            }
        };
        let full = walk.pages >= authority.limits.pages_max
            || read.bytes > PAGES_BYTES_MAX
            || read.began.elapsed() > authority.limits.walk;
        if full || !visited.insert(url.clone()) {
            walk.changes.incomplete = Some(Why::TooManyPages);
            break;
        }
        match fetch(authority, url).await {
            Ok((page, evidence)) => {
                read.bytes += evidence.body.len();
                next = walk.take(page, evidence);
            }
            // What the pages before it told counts, and the next search begins where this one did.
            Err(fault) => {
                let Some(why) = fault.why() else { return Err(fault) };
                walk.changes.incomplete = Some(why.clone());
                break;
            }
        }
    }
    Ok(walk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_with_the_server() {
        let base = Url::parse("https://a.example/v1/fhir").unwrap();
        let same = "https://a.example:443/v1/fhir/DocumentReference?_page=0&_count=4";
        assert!(followable(&base, same).is_some());
        assert!(followable(&base, "/v1/fhir/DocumentReference?_page=1").is_some());
        for foreign in
            ["https://b.example/", "http://a.example/", "https://a.example:8443/", "//b/x"]
        {
            assert_eq!(followable(&base, foreign), None, "{foreign}");
        }
    }
}
