//! What `Debug` prints of a summary, a person and an event: never a name, never what people wrote.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fmt::Debug;

use fhir::Instant;
use report::{Event, Person, SubmissionId, Summary};

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

#[test]
fn what_names_people_does_not_print_it() {
    silent(&Summary {
        identifier: Some(canary()),
        patient: Some(canary()),
        birth_date: Some(canary()),
        subject: Some(canary()),
        code: Some(canary()),
        laboratory: Some(canary()),
        date: None,
        language: Some(canary()),
    });
    silent(&Person(canary()));
    silent(&Event::Released { reason: canary(), due: Instant(0) });
    silent(&Event::Withdrawn { reason: canary() });
}

#[test]
fn what_does_not_still_shows_for_whoever_looks_for_a_mistake() {
    let event = Event::Doubted { since: Instant(1), due: Instant(2), why: "timeout".to_owned() };
    let printed = format!("{event:?}");
    assert!(printed.starts_with("doubted { since:") && printed.contains("timeout"), "{printed}");
    let printed = format!("{:?}", Event::Superseded { by: SubmissionId(7) });
    assert_eq!(printed, "superseded { by: SubmissionId(7) }");
}
