//! What `Debug` prints of an exchange: never a body, an identifier or a password.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fmt::Debug;

use client::{Evidence, Fault, Found, HttpAuthority, Received, Why};
use exchange::{Answer, Endpoint, Environment, IdentifierChoice, Release};
use fhir::{Issue, Severity};
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

assert_not_impl_any!(Evidence: std::fmt::Display, serde::Serialize);
assert_not_impl_any!(Fault: serde::Serialize);

fn answer() -> Answer {
    let issue = Issue {
        severity: Severity::Error,
        code: "invalid".to_owned(),
        rule: None,
        text: canary(),
        expression: None,
        line: None,
        column: None,
    };
    Answer { identifiers: vec![canary()], issues: vec![issue], ..Answer::default() }
}

fn evidence() -> Evidence {
    // Path and query name the identifier that was asked for.
    let url_path = format!("/DocumentReference?identifier={CANARY}");
    Evidence { url_path, body: CANARY.into(), ..Evidence::default() }
}

#[test]
fn an_exchange_is_not_printed() {
    silent(&evidence());
    silent(&Received { answer: answer(), evidence: evidence() });
    silent(&Found { answers: vec![answer()], evidence: evidence() });
    let fault = Fault::Refused { answer: Box::new(answer()), evidence: Box::new(evidence()) };
    silent(&fault);
    assert!(!fault.to_string().contains(CANARY));
    silent(&Fault::Uncertain { why: Why::Timeout, evidence: Some(Box::new(evidence())) });
}

#[test]
fn the_password_of_a_proxy_is_not_printed() {
    let proxy = Url::parse(&format!("http://user:{CANARY}@proxy.example:3128")).unwrap();
    let endpoint = Endpoint {
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
    };
    silent(&HttpAuthority::new(&endpoint, None).unwrap());
}
