//! What the authority shows of ours, for the journal to say whether it knew.

use client::Evidence;
use exchange::Answer;
use fhir::{Format, Instant, Limits, Tree};
use journal::{EvidenceKind, FoundReport, Message};
use report::{Event, SubmissionId};

use super::kept;
use crate::person;

/// A report that the authority shows, for the journal to say whether it knew.
pub(crate) fn found_report(
    endpoint: &str,
    (identifier, known_as): (String, Option<SubmissionId>),
    event: Event,
    answer: &Answer,
    proof: Evidence,
    now: Instant,
) -> FoundReport {
    FoundReport {
        identifier,
        known_as,
        endpoint: endpoint.to_owned(),
        event,
        issues: answer.issues.iter().cloned().map(Message::from_issue).collect(),
        last_updated: answer.last_updated,
        evidence: kept(proof, EvidenceKind::Search, now),
        by: person::worker(),
        at: now,
    }
}

/// The entry of one report in the pages of a search: proof without the others' data.
pub(crate) fn entry(pages: &[Evidence], receipt: &str) -> Option<Evidence> {
    pages.iter().find_map(|page| {
        let tree = Tree::read(&page.body, Format::sniff(&page.body)?, &Limits::default()).ok()?;
        let root = tree.root();
        let mut entries = root.all("entry").filter_map(|entry| entry.child("resource"));
        let entry = entries.find(|entry| entry.text("id") == Some(receipt))?;
        Some(Evidence { body: entry.source().to_vec(), ..page.clone() })
    })
}
