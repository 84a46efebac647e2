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

/// The entry of one report in the pages of a search: proof without the others' data. An entry may
/// stand twice, as it was and as it is: the one that says what was learnt, where there is one.
pub(crate) fn entry(pages: &[Evidence], answer: &Answer) -> Option<Evidence> {
    let mut found = None;
    for page in pages {
        let Some(format) = Format::sniff(&page.body) else { continue };
        let Ok(tree) = Tree::read(&page.body, format, &Limits::default()) else { continue };
        for entry in tree.root().all("entry").filter_map(|entry| entry.child("resource")) {
            if entry.text("id").is_none_or(|id| Some(id) != answer.receipt.as_deref()) {
                continue;
            }
            let proof = || Evidence { body: entry.source().to_vec(), ..page.clone() };
            if Answer::read(entry).is_ok_and(|it| it.processing == answer.processing) {
                return Some(proof());
            }
            found.get_or_insert_with(proof);
        }
    }
    found
}
