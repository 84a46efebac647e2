//! What `Debug` prints of the journal: never a key, a name or a document.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fmt::Debug;

use fhir::Instant;
use journal::{
    Detail, Entry, Evidence, Filter, Journal, KeptEvidence, Key, Message, NewSubmission, Notice,
    Row, Step,
};
use report::{Event, Person};
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

// Neither shown nor written anywhere by accident: this does not compile.
assert_not_impl_any!(Key: Debug, std::fmt::Display, serde::Serialize, AsRef<[u8]>);
assert_not_impl_any!(NewSubmission: Debug, std::fmt::Display, serde::Serialize);
assert_not_impl_any!(Step: Debug, std::fmt::Display, serde::Serialize);
assert_not_impl_any!(Evidence: Debug, std::fmt::Display, serde::Serialize);
assert_not_impl_any!(KeptEvidence: Debug, std::fmt::Display, serde::Serialize);
assert_not_impl_any!(Row: Debug, std::fmt::Display, serde::Serialize);
assert_not_impl_any!(Detail: Debug, std::fmt::Display, serde::Serialize);
// Serialised into the encrypted journal, which is its purpose.
assert_not_impl_any!(Message: Debug, std::fmt::Display);
assert_not_impl_any!(Journal: std::fmt::Display, serde::Serialize);

#[test]
fn what_names_people_does_not_print_it() {
    silent(&Filter { search: Some(canary()), ..Filter::default() });
    silent(&Notice::new("watched-files-refused", &[("file", CANARY)], Instant(0)));
    silent(&Entry {
        number: 1,
        event: Event::Withdrawn { reason: canary() },
        by: Person(canary()),
        at: Instant(0),
        evidence: None,
    });
}
