//! What `Debug` prints of an envelope, an answer and a search: never content, identifiers or a
//! password.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fmt::Debug;

use exchange::{
    Answer, Endpoint, Envelope, Environment, IdentifierChoice, Links, Page, Query, Release,
    SearchProblem, envelope_of,
};
use fhir::{Format, Issue, Limits, Severity, Tree};
use static_assertions::assert_not_impl_any;
use url::Url;

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

// What is ready to travel is for the connection alone.
assert_not_impl_any!(Envelope: serde::Serialize, std::fmt::Display);

fn issue() -> Issue {
    Issue {
        severity: Severity::Error,
        code: "invalid".to_owned(),
        rule: None,
        text: canary(),
        expression: None,
        line: None,
        column: None,
    }
}

#[test]
fn what_travels_is_not_printed() {
    silent(&Envelope { body: CANARY.into(), format: Format::Json, identifier: canary() });
    // Bytes are printed as numbers: no number of the body may show either.
    let printed = format!(
        "{:?}",
        Envelope { body: vec![201, 202], format: Format::Xml, identifier: canary() }
    );
    assert!(!printed.contains("201"), "{printed}");
    let answer = Answer { identifiers: vec![canary()], issues: vec![issue()], ..Answer::default() };
    silent(&answer);
    let links = Links { self_: Some(canary()), next: Some(canary()), ..Links::default() };
    silent(&links);
    silent(&Page { answers: vec![answer], issues: vec![issue()], links, ..Page::default() });
    silent(&Query { identifier: vec![canary()], ..Query::default() });
    let parameter = "identifier".to_owned();
    silent(&SearchProblem { parameter, reason: "not-a-token", value: canary() });
}

#[test]
fn an_envelope_is_not_printed() {
    let text = format!(
        r##"{{"resourceType":"DocumentReference","contained":[{{"resourceType":"Bundle","id":"d"}}],
        "identifier":[{{"value":"{CANARY}"}}],"content":[{{"attachment":{{"url":"#d"}}}}]}}"##
    );
    let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap();
    silent(&envelope_of(&tree).unwrap());
}

#[test]
fn the_password_of_a_proxy_is_not_printed() {
    let proxy = Url::parse(&format!("http://user:{CANARY}@proxy.example:3128")).unwrap();
    silent(&Endpoint {
        id: None,
        name: "Integration".to_owned(),
        base: Url::parse("https://authority.example/v1/fhir").unwrap(),
        environment: Environment::Integration,
        release: Release::default(),
        ca_pem: None,
        also_system_roots: false,
        server_key: None,
        language: "de-CH".to_owned(),
        identifier: IdentifierChoice::default(),
        proxy: Some(proxy),
    });
}
