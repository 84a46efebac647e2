//! What `Debug` prints of a document, a finding and an issue: never their content.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fmt::Debug;

use fhir::{Element, Finding, Format, Issue, Limits, Severity, Tree};

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
fn what_holds_content_does_not_print_it() {
    // A value that is unescaped lies beside the source text.
    let text = format!(
        r#"{{"resourceType":"Patient","name":[{{"family":"{CANARY}","given":["\u005awinglicanary"]}}]}}"#
    );
    let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap();
    assert_eq!(tree.root().text("name.given"), Some(CANARY));
    silent(&tree);
    let name: Element<'_> = tree.root().child("name").unwrap();
    silent(&name);
    silent(&name.child("family").unwrap());
    silent(&Finding {
        code: "invalid-value".to_owned(),
        severity: Severity::Error,
        expression: "Bundle".to_owned(),
        position: None,
        params: vec![("value".to_owned(), canary())],
    });
    silent(&Issue {
        severity: Severity::Error,
        code: canary(),
        rule: Some(canary()),
        text: canary(),
        expression: Some(canary()),
        line: Some(1),
        column: None,
    });
    let unreadable = format!(r#"{{"resourceType":"Patient","{CANARY}":"#);
    silent(&Tree::read(unreadable.as_bytes(), Format::Json, &Limits::default()).unwrap_err());
}
