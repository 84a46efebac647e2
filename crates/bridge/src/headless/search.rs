//! The authority's search as such.

use std::collections::HashSet;

use client::Authority as _;
use exchange::{Answer, Page, Processing, Query, Release, SortKey, TimeFilter};
use serde::Serialize;

use super::Headless;
use crate::problem::Problem;
use crate::record::IssueRecord;

/// What to ask, as a person writes it.
#[derive(Clone, Default)]
pub struct SearchTerms {
    /// `date`, with prefix.
    pub date: Vec<String>,
    /// `_lastUpdated`, with prefix.
    pub last_updated: Vec<String>,
    /// Values of the search parameter `identifier`.
    pub identifier: Vec<String>,
    /// Value of the search parameter `elm-status`.
    pub status: Option<String>,
    /// Value of the search parameter `_sort`.
    pub sort: Option<String>,
    /// Value of the search parameter `_count`.
    pub count: Option<u32>,
    /// Value of the search parameter `page`.
    pub page: Option<u32>,
}

/// A DocumentReference at the authority.
#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// The authority's id.
    pub id: Option<String>,
    /// `in-progress`, `completed` or `failed`.
    pub status: Option<&'static str>,
    /// All identifiers.
    pub identifiers: Vec<String>,
    /// Created, ISO instant.
    pub date: Option<String>,
    /// Last changed, ISO instant.
    pub last_updated: Option<String>,
    /// The authority's messages.
    pub issues: Vec<IssueRecord>,
    /// The submission in this journal that it belongs to.
    pub submission: Option<i64>,
}

/// One page of an answer.
#[derive(Clone, PartialEq)]
pub struct HitPage {
    /// `Bundle.total` as the authority gave it.
    pub total: Option<u64>,
    /// In the order given.
    pub hits: Vec<Hit>,
    /// Messages about the search itself.
    pub issues: Vec<IssueRecord>,
    /// Whether there is a further page.
    pub more: bool,
}

fhir::shows_only!(SearchTerms { date, last_updated, status, sort, count, page });
fhir::shows_only!(Hit { id, status, submission });
fhir::shows_only!(HitPage { total, hits, more });

impl Headless {
    /// Searches at the authority; with `all`, follows its links to the end. `each` gets every page.
    pub async fn search(
        &self,
        terms: &SearchTerms,
        all: bool,
        mut each: impl FnMut(HitPage),
    ) -> Result<(), Problem> {
        let endpoint = self.engine.endpoint()?;
        let query = query_of(terms, endpoint.release)?;
        let authority = self.engine.authority(&endpoint).map_err(|why| Problem::from(&why))?;
        let (mut page, _) = authority.search(&query).await?;
        // A link that was followed before would lead in a circle.
        let mut followed = HashSet::new();
        loop {
            each(self.hit_page(&page)?);
            let next = page.links.next.take().filter(|_| all);
            let Some(next) = next.filter(|link| followed.insert(link.clone())) else {
                return Ok(());
            };
            (page, _) = authority.follow(&next).await?;
        }
    }

    fn hit_page(&self, page: &Page) -> Result<HitPage, Problem> {
        let hits: Result<_, Problem> = page.answers.iter().map(|answer| self.hit(answer)).collect();
        Ok(HitPage {
            total: page.total,
            hits: hits?,
            issues: page.issues.iter().map(IssueRecord::of_answer).collect(),
            more: page.links.next.is_some(),
        })
    }

    fn hit(&self, answer: &Answer) -> Result<Hit, Problem> {
        let submission = match &answer.receipt {
            Some(receipt) => self.engine.journal().by_receipt(receipt)?,
            None => None,
        };
        Ok(Hit {
            id: answer.receipt.clone(),
            status: answer.processing.map(Processing::code),
            identifiers: answer.identifiers.clone(),
            date: answer.date.map(fhir::Instant::to_fhir),
            last_updated: answer.last_updated.map(fhir::Instant::to_fhir),
            issues: answer.issues.iter().map(IssueRecord::of_answer).collect(),
            submission: submission.map(|id| id.0),
        })
    }
}

impl IssueRecord {
    fn of_answer(issue: &fhir::Issue) -> Self {
        Self {
            severity: issue.severity,
            code: issue.code.clone(),
            rule: issue.rule.clone(),
            text: Some(issue.text.clone()),
            expression: issue.expression.clone(),
            line: issue.line,
            column: issue.column,
            source: crate::record::IssueSource::Authority,
            suggestion: None,
            params: std::collections::BTreeMap::default(),
        }
    }
}

fn query_of(terms: &SearchTerms, release: Release) -> Result<Query, Problem> {
    let wrong = |text: &str| Problem::new("argument-invalid", &[("argument", text)], "search");
    let query = read_query(terms, &wrong)?;
    match query.beyond(release) {
        None => Ok(query),
        Some(name) => {
            let params = [("name", name), ("release", release.facts().name)];
            Err(Problem::new("search-not-offered", &params, "search"))
        }
    }
}

fn read_query(terms: &SearchTerms, wrong: &impl Fn(&str) -> Problem) -> Result<Query, Problem> {
    let times = |texts: &[String]| -> Result<Vec<TimeFilter>, Problem> {
        texts.iter().map(|text| TimeFilter::parse(text).ok_or_else(|| wrong(text))).collect()
    };
    let status = match &terms.status {
        Some(code) => Some(Processing::from_code(code).ok_or_else(|| wrong(code))?),
        None => None,
    };
    Ok(Query {
        date: times(&terms.date)?,
        last_updated: times(&terms.last_updated)?,
        identifier: terms.identifier.clone(),
        status,
        id: None,
        sort: match &terms.sort {
            Some(text) => sort_of(text).ok_or_else(|| wrong(text))?,
            None => Vec::new(),
        },
        count: terms.count,
        page: terms.page,
    })
}

/// `-date,identifier`; the time of last change is taken under the name of any release.
fn sort_of(text: &str) -> Option<Vec<(SortKey, bool)>> {
    text.split(',')
        .map(|part| {
            let (name, down) = part.strip_prefix('-').map_or((part, false), |name| (name, true));
            Some((SortKey::named(name)?, down))
        })
        .collect()
}
