//! Search: a query string in, a searchset Bundle out.

use std::sync::Arc;

use exchange::{Links, Processing, Query, Release, SearchProblem, SortKey, pairs};
use fhir::{Instant, Severity};
use http::StatusCode;

use crate::clock;
use crate::faults::Oddities;
use crate::http::context::Context;
use crate::http::definition::parameters;
use crate::http::fhir_json::{
    CreatedFacts, Link, Reference, ReferenceFacts, SearchSet, displace_rules,
};
use crate::http::refusals::too_costly;
use crate::http::reply::Reply;
use crate::http::turns::Turn;
use crate::notice::Notice;
use crate::process::diagnostics::notice_of_text;
use crate::process::intake::more_than;
use crate::store::{Beside, Found, FoundPage, Laboratory, Search, StoreError, axis};

/// Entries of a page where `_count` is not given.
const COUNT_DEFAULT: u32 = 50;
/// Most entries of a page: about 1 MB.
const COUNT_MAX: u32 = 1000;
/// Documents and messages of an answer that is written beside other requests, and not before them.
const HEAVY: usize = 200;
/// Bytes of a search by form. In an address the header's limit holds.
pub(crate) const FORM_MAX: usize = 64 << 10;
/// Parameters of a search.
const PARAMETERS_MAX: usize = 20;
/// Alternatives of all its parameters together: each is a question to the database.
const ALTERNATIVES_MAX: usize = 100;
/// Parameter of our links: the moment that is paged through, so that pages do not shift.
const SNAPSHOT: &str = "_snapshot";
/// Parameters of our links: the neighbours of a page, so that nothing is counted off to find it.
const AFTER: &str = "_after";
const BEFORE: &str = "_before";
/// Parameters that shape the answer and are no search parameters.
const SHAPING: [&str; 7] =
    ["_format", "_pretty", "_summary", SNAPSHOT, AFTER, BEFORE, ZERO_BASED_PAGE];
/// `page` as the links of the deployed service name it, from 0.
const ZERO_BASED_PAGE: &str = "_page";

/// What was asked, beside the query string.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner<'a> {
    /// `{base_url}` as the caller names it.
    pub(crate) base: &'a str,
    /// `Prefer: handling=strict`.
    pub(crate) strict: bool,
    /// `_format`, which the links repeat.
    pub(crate) shape: Option<&'a str>,
    /// How the answer is odd, by the fault plan.
    pub(crate) odd: &'a Oddities,
    /// `HEAD`: what is found is not shown.
    pub(crate) head: bool,
}

/// The answer to more parameters, or more alternatives, than one search may have.
pub(crate) fn too_many(raw: &str) -> Option<Reply> {
    let parameters = raw.split('&').filter(|pair| !pair.is_empty()).count();
    if parameters > PARAMETERS_MAX {
        let words = format!("A search has at most {PARAMETERS_MAX} parameters");
        return Some(too_costly(words));
    }
    let alternatives: usize = pairs(raw).map(|(_, value)| exchange::split(&value, ',').len()).sum();
    (alternatives > ALTERNATIVES_MAX)
        .then(|| too_costly(format!("A search has at most {ALTERNATIVES_MAX} alternatives")))
}

/// What cannot be done with parameters that are not known. A modifier that is not known must never
/// be ignored (<https://hl7.org/fhir/R4/search.html#modifiers>); others are, unless the caller
/// wants to be told.
fn unsupported(raw: &str, unknown: &[String], release: Release, strict: bool) -> Vec<Notice> {
    let told = |name: &str, words: String| {
        let expression = Some(format!("http.{name}"));
        Notice { expression, ..Notice::error("not-supported", words) }
    };
    let known = |name: &str| parameters(release).iter().any(|(own, ..)| *own == name);
    let mut notices = Vec::new();
    for name in unknown {
        let (stem, modifier) = name.split_once(':').unwrap_or((name, ""));
        if known(stem) && !modifier.is_empty() {
            let words = format!("Parameter {stem}: the modifier {modifier} is not supported");
            notices.push(told(name, words));
        } else if strict && !SHAPING.contains(&name.as_str()) && !known(name) {
            notices.push(told(name, format!("Unknown parameter {name}")));
        }
    }
    let summary = pairs(raw).find(|(name, value)| {
        name == "_summary" && !matches!(value.as_str(), "" | "count" | "false")
    });
    if let Some((name, value)) = summary.filter(|_| strict) {
        notices.push(told(&name, format!("Parameter _summary: '{value}' is not supported")));
    }
    notices
}

pub(crate) async fn answer(
    context: &Context,
    caller: &Laboratory,
    raw: &str,
    manner: Manner<'_>,
) -> Result<Reply, StoreError> {
    if let Some(refusal) = too_many(raw) {
        return Ok(refusal);
    }
    let (mut query, unknown) = match Query::parse(raw, context.release) {
        Ok(read) => read,
        Err(problems) => return Ok(refused(&problems)),
    };
    let notices = unsupported(raw, &unknown, context.release, manner.strict);
    if !notices.is_empty() {
        return Ok(Reply::outcome(StatusCode::BAD_REQUEST, &notices));
    }
    let snapshot = pairs(raw).find(|(name, _)| name == SNAPSHOT);
    let snapshot = match snapshot.map(|(_, value)| value.parse::<i64>()) {
        None => None,
        Some(Ok(at)) => Some(Instant(at)),
        Some(Err(_)) => return Ok(not_a_snapshot()),
    };
    query.count = query.count.map(|count| count.min(COUNT_MAX));
    let shape = pairs(raw).find(|(name, value)| name == "_format" && !value.is_empty());
    let shape = shape.map(|(_, value)| value);
    let manner = Manner { shape: shape.as_deref(), ..manner };
    let zero_based = pairs(raw).find(|(name, _)| name == ZERO_BASED_PAGE);
    if let (None, Some((_, page))) = (query.page, zero_based) {
        query.page = page.parse().ok().map(|page: u32| page.saturating_add(1));
    }
    let snapshot = snapshot.filter(|_| !manner.odd.shifted_pages);
    if manner.odd.newest_first {
        query.sort.clear();
    }
    let search = Search {
        laboratory: caller.id,
        as_of: snapshot,
        known_until: manner.odd.lag.map(|lag| {
            clock::now().plus_micros(-i64::try_from(lag.as_micros()).unwrap_or(i64::MAX))
        }),
        count: query.count.unwrap_or(COUNT_DEFAULT),
        page: query.page.unwrap_or(1),
        beside: None,
        since: None,
        query,
    };
    let beside = snapshot.and_then(|_| beside(raw, &search));
    page(context, Search { beside, ..search }, manner, snapshot).await
}

async fn page(
    context: &Context,
    search: Search,
    manner: Manner<'_>,
    snapshot: Option<Instant>,
) -> Result<Reply, StoreError> {
    let (result, turn) = searched(context, search.clone()).await?;
    let Manner { base, odd, shape, .. } = manner;
    let moment = (!odd.shifted_pages).then_some(result.as_of);
    let release = context.release;
    let mut links = links(&search, base, release, &result, moment, snapshot);
    if let Some(shape) = shape {
        links.iter_mut().for_each(|link| link.url = shaped(&link.url, shape));
    }
    if odd.zero_based_pages {
        links.iter_mut().for_each(|link| link.url = zero_based_pages(&link.url));
    }
    let weight: usize = result.found.iter().map(|found| 1 + found.notices.len()).sum();
    let ids: Vec<_> = result.found.iter().map(|found| found.receipt.as_str()).collect();
    let ids = (!ids.is_empty() && !manner.head).then(|| ids.join(" "));
    let entries = u32::try_from(result.found.len()).ok();
    let mut reply = if weight > HEAVY {
        let (base, odd) = (base.to_owned(), odd.clone());
        let writing = move || written_out(result, links, &base, &odd, turn);
        tokio::task::spawn_blocking(writing).await.map_err(|_| StoreError::Closed)?
    } else {
        written_out(result, links, base, odd, turn)
    };
    (reply.shown.entries, reply.shown.ids) = (entries, ids);
    Ok(reply)
}

/// What is found, and the turn that it took.
pub(crate) async fn searched(
    context: &Context,
    search: Search,
) -> Result<(FoundPage, Turn), StoreError> {
    let turn = context.rate_limiter.searching.take(search.laboratory).await;
    let store = Arc::clone(&context.store);
    // In a task of its own: a client that goes away gives no turn back while the database works.
    let searching = tokio::spawn(async move { (store.search(search).await, turn) });
    let (result, turn) = searching.await.map_err(|_| StoreError::Closed)?;
    Ok((result?, turn))
}

/// A page as FHIR. The turn is given back when it is in the encoding that was asked for.
fn written_out(
    mut result: FoundPage,
    links: Vec<Link>,
    base: &str,
    odd: &Oddities,
    turn: Turn,
) -> Reply {
    let mut set = SearchSet::new(moment_of(&result), clock::now(), result.total, links);
    for found in &mut result.found {
        say_more(found);
        displace_rules(&mut found.notices, odd);
    }
    for found in &result.found {
        set.push(format!("{base}/DocumentReference/{}", found.receipt), reference(found, odd));
    }
    Reply::resource(StatusCode::OK, &set).in_turn(turn)
}

/// Says that there is more, where a page has room for a part of what was said of a document.
pub(crate) fn say_more(found: &mut Found) {
    if !found.is_cut {
        return;
    }
    let is_refused = found.status == Processing::Failed;
    let severity = if is_refused { Severity::Error } else { Severity::Warning };
    let words = "The read by id tells all of them".to_owned();
    let more = notice_of_text(&more_than(found.notices.len(), severity));
    found.notices.push(Notice { diagnostics: Some(words), ..more });
}

/// What happened to the laboratory's documents up to this moment is in the result; `None`: nothing
/// ever did. What happened to documents of others does not show in it.
fn moment_of(result: &FoundPage) -> Option<Instant> {
    Some(result.as_of).filter(|at| at.0 != 0)
}

/// A document's DocumentReference.
pub(crate) fn reference<'a>(found: &'a Found, odd: &Oddities) -> Reference<'a> {
    let reference = Reference::new(&ReferenceFacts {
        created: CreatedFacts {
            receipt: &found.receipt,
            version: found.version,
            last_updated: found.last_updated,
            created: found.created,
        },
        status: found.status,
        notices: &found.notices,
        identifier_system: found.identifier_system.as_deref(),
        identifier: &found.identifier,
        document: &found.document_identifier,
    });
    if odd.hostile_narrative { reference.with_hostile_text() } else { reference }
}

/// The address with `_format`.
fn shaped(url: &str, shape: &str) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}_format={}", exchange::encode(shape))
}

/// `page=N` as `_page=N-1`.
fn zero_based_pages(url: &str) -> String {
    let Some((address, query)) = url.split_once('?') else { return url.to_owned() };
    let named = |pair: &str| {
        let page = pair.strip_prefix("page=").and_then(|page| page.parse::<u32>().ok());
        page.map_or_else(
            || pair.to_owned(),
            |page| format!("{ZERO_BASED_PAGE}={}", page.saturating_sub(1)),
        )
    };
    format!("{address}?{}", query.split('&').map(named).collect::<Vec<_>>().join("&"))
}

/// Where our link says that its page begins or ends: `PAGE.COUNT.MICROS`. It is left out of account
/// where page or count have been changed, and where it is not ours.
fn beside(raw: &str, search: &Search) -> Option<Beside> {
    pairs(raw).find_map(|(name, value)| {
        let make = match name.as_str() {
            AFTER => Beside::After,
            BEFORE => Beside::Before,
            _ => return None,
        };
        let (page, rest) = value.split_once('.')?;
        let (count, at) = rest.split_once('.')?;
        let same = page.parse() == Ok(search.page) && count.parse() == Ok(search.count);
        at.parse().ok().filter(|_| same).map(|at| make(Instant(at)))
    })
}

/// A query as our links say it: also with what a client of this release is not offered, and we
/// understood.
fn written(query: &Query, release: Release) -> String {
    let mut text = query.to_query_string(release);
    let key =
        |(key, down): &(SortKey, bool)| format!("{}{}", if *down { "-" } else { "" }, key.name());
    let sort: Vec<_> = query.sort.iter().map(key).collect();
    let understood = [
        ("_sort", (!sort.is_empty()).then(|| sort.join(","))),
        ("_count", query.count.map(|count| count.to_string())),
        ("page", query.page.map(|page| page.to_string())),
    ];
    for (name, value) in understood {
        let Some(value) = value else { continue };
        if !pairs(&text).any(|(there, _)| there == name) {
            let separator = if text.is_empty() { "" } else { "&" };
            text.push_str(&format!("{separator}{name}={}", exchange::encode(&value)));
        }
    }
    text
}

/// `self` repeats what was understood; the others page through the moment that was searched.
fn links(
    search: &Search,
    base: &str,
    release: Release,
    result: &FoundPage,
    as_of: Option<Instant>,
    snapshot: Option<Instant>,
) -> Vec<Link> {
    let total = result.total;
    let url = |query: &Query, snapshot: Option<Instant>, beside: Option<Beside>| {
        let mut text = written(query, release);
        if let Some(at) = snapshot {
            let separator = if text.is_empty() { "" } else { "&" };
            text.push_str(&format!("{separator}{SNAPSHOT}={}", at.0));
            if let Some(beside) = beside {
                let (name, at) = match beside {
                    Beside::After(at) => (AFTER, at),
                    Beside::Before(at) => (BEFORE, at),
                };
                let page = query.page.unwrap_or(1);
                text.push_str(&format!("&{name}={page}.{}.{}", search.count, at.0));
            }
        }
        let mark = if text.is_empty() { "" } else { "?" };
        format!("{base}/DocumentReference{mark}{text}")
    };
    let own_url = url(&search.query, snapshot, search.beside);
    let own = Links { self_: Some(own_url), ..Links::default() };
    let mut links: Vec<_> =
        own.self_.into_iter().map(|url| Link { relation: "self", url }).collect();
    if search.count == 0 {
        return links;
    }
    let last = u32::try_from(total.div_ceil(u64::from(search.count))).unwrap_or(u32::MAX).max(1);
    let mut add = |relation, page: u32, beside| {
        let query = Query { page: Some(page), count: Some(search.count), ..search.query.clone() };
        links.push(Link { relation, url: url(&query, as_of, beside) });
    };
    let place = |found: Option<&Found>| Some(axis(&search.query)?.0.place(found?));
    add("first", 1, None);
    if search.page > 1 {
        add("prev", (search.page - 1).min(last), place(result.found.first()).map(Beside::Before));
    }
    if search.page < last {
        add("next", search.page + 1, place(result.found.last()).map(Beside::After));
    }
    add("last", last, None);
    links
}

fn refused(problems: &[SearchProblem]) -> Reply {
    let notices: Vec<_> = problems
        .iter()
        .map(|problem| {
            let (name, value) = (&problem.parameter, &problem.value);
            let words = match problem.reason {
                "not-a-date" => "is no FHIR date or time".to_owned(),
                "unknown-prefix" => "has a prefix that is not one of eq ne gt ge lt le".to_owned(),
                "unknown-status" => "is not one of in-progress, completed, failed".to_owned(),
                "several-statuses" => "names several statuses; one per query".to_owned(),
                "unknown-sort-key" => "holds a key that cannot be sorted by".to_owned(),
                "not-a-number" => "is no number in range".to_owned(),
                "not-a-token" => "is no token of the form value or system|value".to_owned(),
                other => other.replace('-', " "),
            };
            let mut notice = Notice::error("value", format!("Parameter {name}: '{value}' {words}"));
            notice.expression = Some(format!("http.{name}"));
            notice
        })
        .collect();
    Reply::outcome(StatusCode::BAD_REQUEST, &notices)
}

fn not_a_snapshot() -> Reply {
    Reply::error(
        StatusCode::BAD_REQUEST,
        "value",
        "Parameter _snapshot is not from one of our links",
    )
}
