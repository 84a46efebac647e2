//! What `Debug` prints of candidates, profiles and refusals: never content.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fmt::Debug;

use engine::{Candidate, Engine, Parsed, Reason, Verdict};
use fhir::{Finding, Format, Severity};
use report::Summary;
use static_assertions::assert_not_impl_any;

/// Stands for a name, a number, a password: whatever must not be printed by accident.
const CANARY: &str = "Zwinglicanary";

fn canary() -> String {
    CANARY.to_owned()
}

fn silent(value: &impl Debug) {
    for printed in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!printed.contains(CANARY), "{printed}");
    }
}

assert_not_impl_any!(Parsed: Debug, std::fmt::Display);
assert_not_impl_any!(Verdict: Debug, std::fmt::Display);
assert_not_impl_any!(Engine: Debug, std::fmt::Display);

#[test]
fn a_candidate_is_not_printed() {
    let finding = Finding {
        code: "invalid-value".to_owned(),
        severity: Severity::Error,
        expression: String::new(),
        position: None,
        params: vec![("value".to_owned(), canary())],
    };
    silent(&Reason::Unreadable(finding.clone()));
    let parsed = Parsed {
        bytes: CANARY.into(),
        format: Format::Json,
        digest: canary(),
        summary: Summary { patient: Some(canary()), ..Summary::default() },
        envelope_identifier: Some(canary()),
        canonical: canary(),
        elsewhere: None,
        compared_for: None,
        compared_through: report::SubmissionId(0),
        relation: None,
        wrapping: None,
        known: Vec::new(),
    };
    silent(&Candidate {
        name: canary(),
        kind: None,
        verdict: Verdict::Report(Box::new(parsed)),
        findings: vec![(engine::Origin::Base, finding)],
    });
}
