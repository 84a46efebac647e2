//! What the question before the first report shows of the way. Pure.

use client::{Evidence, Fault, Why};
use fhir::Instant;

use super::verdict::Health;

/// What the question before the first report has shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Preflight {
    /// Somebody who may be the authority has answered: reports may leave. By its clock.
    Answered(Option<Instant>),
    /// Nobody has, or something else; `heard`: an answer came.
    Failed {
        /// What this shows of the way.
        health: Health,
        /// An answer came.
        heard: bool,
    },
}

/// After the question before the first report.
pub(crate) fn after_preflight<T>(result: Result<(T, Evidence), Fault>) -> Preflight {
    match result {
        // Who leads elsewhere, asks for a proxy's password or shows a web page is not the
        // authority.
        Err(fault) if stands_between(&fault) => {
            Preflight::Failed { health: Health::of_intermediary(fault), heard: true }
        }
        // Whatever it answers, it answers: what it thinks of reports is its answer to a report.
        Ok((_, evidence)) => Preflight::Answered(evidence.server_date),
        Err(fault) => match fault.evidence() {
            Some(answer) => Preflight::Answered(answer.server_date),
            None => Preflight::Failed { health: Health::of_question(fault), heard: false },
        },
    }
}

/// The answer is not the authority's: a redirect, a proxy, a captive portal, a gateway's own page.
fn stands_between(fault: &Fault) -> bool {
    matches!(fault.why(), Some(Why::Redirect { .. } | Why::ProxyAuthentication | Why::Html { .. }))
}
