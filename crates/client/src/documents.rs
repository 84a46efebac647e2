//! The question for reports by the identifier of their document. An authority need not answer it:
//! it may match the identifier of the delivery alone, and says then that there is none.

use std::collections::HashSet;

use exchange::Query;
use fhir::Severity;

use crate::authority::Shown;
use crate::fault::{Fault, Why};
use crate::http::HttpAuthority;
use crate::{outcome, search};

/// One document has few deliveries.
const PAGES_MAX: usize = 20;

/// In the forms of [`search::find`], each with all its pages: shown is what one of them shows, and
/// nothing only where none shows anything and one says so for all of it.
pub(crate) async fn find(authority: &HttpAuthority, identifier: &str) -> Result<Shown, Fault> {
    let mut said = search::Said::default();
    for (number, form) in search::forms(identifier).into_iter().enumerate() {
        match ask(authority, form).await {
            Ok(shown) if !shown.is_empty() => {
                authority.shows_in(number);
                return Ok(shown);
            }
            other => said.note(other, authority.has_shown_in(number))?,
        }
    }
    said.most()
}

/// All pages of one form, or a fault: what is lacking may be what was asked for.
async fn ask(authority: &HttpAuthority, parameter: String) -> Result<Shown, Fault> {
    let began = tokio::time::Instant::now();
    let query = Query { identifier: vec![parameter], ..Query::default() };
    let (mut page, mut evidence) = search::page(authority, &query).await?;
    let (mut shown, mut visited, mut pages) = (Shown::default(), HashSet::new(), 1);
    loop {
        let failed = page.issues.iter().any(|issue| issue.severity == Severity::Error);
        let lacks = |shown: &Shown| shown.is_empty() && page.total.is_some_and(|total| total > 0);
        shown.unreadable += page.unreadable;
        shown.answers.append(&mut page.answers);
        let next = page.links.next.take();
        if failed {
            let status = evidence.status;
            let found = "OperationOutcome".to_owned();
            return Err(outcome::with(Why::NotFhir { status, found }, evidence));
        }
        let Some(link) = next else {
            return if lacks(&shown) {
                Err(outcome::with(Why::PagesMoved, evidence))
            } else {
                Ok(shown)
            };
        };
        let is_cut = pages >= PAGES_MAX || began.elapsed() > authority.limits.walk;
        if is_cut || !visited.insert(link.clone()) {
            return Err(outcome::with(Why::TooManyPages, evidence));
        }
        (page, evidence) = authority.follow(&link).await?;
        pages += 1;
    }
}
