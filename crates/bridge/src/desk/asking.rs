//! The authority's own answer to what it has of ours, beside what the journal says: also of reports
//! that were sent with the same certificate from elsewhere.

use client::{Authority as _, Fault, HttpAuthority};
use exchange::{Answer, Page, Processing, Query, Release, SearchSupport, SortKey, TimeFilter};
use fhir::Instant;
use journal::{Message, Row};
use report::SubmissionId;

use super::Desk;
use crate::limits;
use crate::messages::message_view;
use crate::problem::Problem;
use crate::rows::{Names, row_view, small};
use crate::views::{AskQuery, AskedView, HitView};

/// Reports asked for at a time.
const PAGE: u32 = 25;
/// Messages shown of one report.
const MESSAGES_MAX: usize = 10;

/// A question of which the authority has more to show. The page names it by number, never by its
/// link.
pub(super) struct Further {
    number: u32,
    /// Endpoint that was asked, by its id.
    endpoint: String,
    link: String,
    /// Who answered, where that is not the authority in use by its certificate in use.
    by: Option<HttpAuthority>,
    names: Names,
}

impl Desk {
    /// Asks the authority in use what it shows to our certificate, the newest first where it can be
    /// asked so. What is asked about a report of ours is asked where that went.
    pub async fn ask_authority(&self, query: AskQuery, names: Names) -> Result<AskedView, Problem> {
        let engine = self.engine();
        if let Some(id) = query.report {
            return self.ask_about(SubmissionId(id), &query, names).await;
        }
        let endpoint = engine.endpoint()?;
        let asked = query_of(&query, endpoint.release)?;
        let authority = engine.authority(&endpoint).map_err(|why| Problem::from(&why))?;
        let page = searched(&authority, &asked, by_number(&query, endpoint.release)).await?;
        self.asked(page, endpoint.id(), None, names)
    }

    /// With each certificate that the report may have been sent with, until one is shown it. That
    /// nothing is shown is said only where all of them could ask.
    async fn ask_about(
        &self,
        id: SubmissionId,
        query: &AskQuery,
        names: Names,
    ) -> Result<AskedView, Problem> {
        let (endpoint, ways) = self.engine().ways_to_report(id)?;
        let asked = query_of(query, endpoint.release)?;
        let (mut empty, mut refused) = (None, None);
        for way in ways {
            let authority = match way {
                Ok(authority) => authority,
                Err(why) => {
                    refused.get_or_insert(Problem::from(&why));
                    continue;
                }
            };
            match searched(&authority, &asked, by_number(query, endpoint.release)).await {
                Ok(page) if page.answers.is_empty() => _ = empty.get_or_insert(page),
                Ok(page) => return self.asked(page, endpoint.id(), Some(authority), names),
                Err(fault) => _ = refused.get_or_insert(fault.into()),
            }
        }
        match (refused, empty) {
            (None, Some(page)) => self.asked(page, endpoint.id(), None, names),
            (Some(problem), _) => Err(problem),
            (None, None) => Err(Problem::new("client-certificate-missing", &[], "exchange")),
        }
    }

    /// The next page of a question.
    pub async fn ask_further(&self, number: u32) -> Result<AskedView, Problem> {
        let further = self.further().take().filter(|further| further.number == number);
        let further = further.ok_or_else(|| limits::invalid("number"))?;
        let authority = match &further.by {
            Some(authority) => authority.clone(),
            None => {
                let engine = self.engine();
                let endpoint = engine.endpoint()?;
                if endpoint.id() != further.endpoint {
                    return Err(Problem::new("room-changed", &[], "ask"));
                }
                engine.authority(&endpoint).map_err(|why| Problem::from(&why))?
            }
        };
        match authority.follow(&further.link).await {
            Ok((page, _)) => self.asked(page, &further.endpoint, further.by, further.names),
            Err(fault) => {
                // It may be asked for again.
                *self.further() = Some(further);
                Err(fault.into())
            }
        }
    }

    fn asked(
        &self,
        mut page: Page,
        endpoint: &str,
        by: Option<HttpAuthority>,
        names: Names,
    ) -> Result<AskedView, Problem> {
        let engine = self.engine();
        let next = page.links.next.take().map(|link| {
            let number = self.inner.questions.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            (number, Further { number, endpoint: endpoint.to_owned(), link, by, names })
        });
        let further = next.as_ref().map(|(number, _)| *number);
        *self.further() = next.map(|(_, further)| further);
        let (profile, now) = (engine.profile(), engine.now());
        let mut hits = Vec::with_capacity(page.answers.len());
        for answer in page.answers {
            let row = self.row_of(&answer, endpoint)?;
            let row = row.map(|row| row_view(&row, &profile, names, now));
            hits.push(hit_view(answer, row));
        }
        Ok(AskedView {
            endpoint: profile.name_of(endpoint),
            total: page.total.map(small),
            hits,
            messages: page
                .issues
                .into_iter()
                .map(|issue| message_view(&Message::from_issue(issue)))
                .collect(),
            unreadable: small(page.unreadable as u64),
            further,
        })
    }

    /// The report of ours that the authority speaks of: by the number that it gave us there, or by
    /// an identifier that is ours alone.
    fn row_of(&self, answer: &Answer, endpoint: &str) -> Result<Option<Row>, Problem> {
        let engine = self.engine();
        let journal = engine.journal();
        let names = |identifier: &str| {
            answer.identifiers.is_empty()
                || answer.identifiers.iter().any(|named| named.eq_ignore_ascii_case(identifier))
        };
        let mut known = match &answer.receipt {
            Some(receipt) => {
                let mut owners = journal.by_receipt_at(endpoint, receipt)?.into_iter();
                owners.find(|(_, identifier)| names(identifier)).map(|(id, _)| id)
            }
            None => None,
        };
        for identifier in &answer.identifiers {
            if known.is_none() {
                known = journal.find_by_attempt_identifier(identifier)?;
            }
        }
        Ok(known.map(|id| journal.row(id)).transpose()?)
    }

    fn further(&self) -> std::sync::MutexGuard<'_, Option<Further>> {
        self.inner.further.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// What one authority answers to a question; where nothing has that identifier, to the question for
/// its number.
async fn searched(
    authority: &HttpAuthority,
    asked: &Query,
    by_number: Option<Query>,
) -> Result<Page, Fault> {
    let mut answer = authority.search(asked).await;
    // A server may know no order, and no size of a page: what was asked is the same without them.
    if matches!(&answer, Err(fault) if fault.refuses_the_question() || is_about_order(fault)) {
        let plain = Query { sort: Vec::new(), count: None, ..asked.clone() };
        if plain != *asked {
            answer = authority.search(&plain).await;
        }
    }
    let (page, _) = answer?;
    // People copy what they see: the authority's number is no identifier, but may be asked for.
    if page.answers.is_empty()
        && let Some(by_number) = by_number
        && let Ok((found, _)) = authority.search(&by_number).await
    {
        return Ok(found);
    }
    Ok(page)
}

fn is_about_order(fault: &Fault) -> bool {
    let is_order_or_size = |name: &String| name == "_sort" || name == "_count";
    matches!(fault.why(), Some(client::Why::ParameterIgnored { name }) if is_order_or_size(name))
}

fn hit_view(answer: Answer, row: Option<crate::views::RowView>) -> HitView {
    HitView {
        id: answer.receipt,
        status: answer.processing,
        identifiers: answer.identifiers,
        date: answer.date.map(Instant::to_fhir),
        last_updated: answer.last_updated.map(Instant::to_fhir),
        messages: answer
            .issues
            .into_iter()
            .take(MESSAGES_MAX)
            .map(|issue| message_view(&Message::from_issue(issue)))
            .collect(),
        row,
    }
}

fn query_of(query: &AskQuery, release: Release) -> Result<Query, Problem> {
    let status = match query.status.as_deref() {
        Some(code) => Some(Processing::from_code(code).ok_or_else(|| limits::invalid("status"))?),
        None => None,
    };
    let day = |name: &str, prefix: &str, text: &Option<String>| match text {
        Some(text) => {
            let date = super::statistics::date_named(text).ok_or_else(|| limits::invalid(name))?;
            let text = format!("{prefix}{}", super::statistics::shown(date));
            TimeFilter::parse(&text).map(Some).ok_or_else(|| limits::invalid(name))
        }
        None => Ok(None),
    };
    let date = [day("from", "ge", &query.from)?, day("until", "le", &query.until)?];
    let full = release.facts().search == SearchSupport::Full;
    let asked = Query {
        identifier: identifier_of(query)?.map(|text| exchange::escape(&text)).into_iter().collect(),
        status,
        date: date.into_iter().flatten().collect(),
        sort: if full { vec![(SortKey::LastUpdated, true)] } else { Vec::new() },
        count: full.then_some(PAGE),
        ..Query::default()
    };
    match asked.beyond(release) {
        None => Ok(asked),
        Some(name) => {
            let params = [("name", name), ("release", release.facts().name)];
            Err(Problem::new("search-not-offered", &params, "ask"))
        }
    }
}

fn identifier_of(query: &AskQuery) -> Result<Option<String>, Problem> {
    let Some(text) = query.identifier.as_deref().map(str::trim).filter(|text| !text.is_empty())
    else {
        return Ok(None);
    };
    limits::name("identifier", text).map(Some)
}

/// The same question with what was typed as the authority's number, where it can be one (FHIR R4,
/// `id`).
fn by_number(query: &AskQuery, release: Release) -> Option<Query> {
    let id = identifier_of(query).ok()??;
    let can_be =
        id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b));
    let full = release.facts().search == SearchSupport::Full;
    (can_be && full).then(|| Query { id: Some(id), ..Query::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(identifier: &str) -> AskQuery {
        AskQuery { identifier: Some(identifier.to_owned()), ..AskQuery::default() }
    }

    #[test]
    fn a_question_is_asked_as_the_release_can_be_asked() {
        let asked = AskQuery {
            status: Some("failed".to_owned()),
            from: Some("2026-11-01".to_owned()),
            until: Some("2026-11-22".to_owned()),
            ..query(" urn:a,b ")
        };
        let written = query_of(&asked, Release::default()).unwrap();
        let written = written.to_query_string(Release::default());
        for part in ["elm-status=failed", "ge2026-11-01", "le2026-11-22", "_count=25", "_sort=-"] {
            assert!(written.contains(part), "{written}");
        }
        let trial = Release::named("1.0.0-trialuse").unwrap();
        let refused = query_of(&asked, trial).unwrap_err();
        assert_eq!(refused.code, "search-not-offered");
        let alone = query_of(&query("urn:a"), trial).unwrap().to_query_string(trial);
        assert_eq!(alone, "identifier=urn%3Aa");
        let odd = AskQuery { from: Some("yesterday".to_owned()), ..AskQuery::default() };
        assert_eq!(query_of(&odd, Release::default()).unwrap_err().code, "argument-invalid");
    }

    #[test]
    fn what_can_be_the_authoritys_number_is_asked_for_as_such() {
        let id = |text: &str| by_number(&query(text), Release::default()).and_then(|it| it.id);
        assert_eq!(id("5f-2.a").as_deref(), Some("5f-2.a"));
        assert_eq!(id("urn:uuid:1"), None);
        assert_eq!(id(" "), None);
    }
}
