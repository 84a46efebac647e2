//! The question over the wire: what the server is told, and what each of its answers means.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

use std::time::Duration;

use fhir::{Format, Instant, Severity};
use testkit::{Reaction, ScriptedServer, ScriptedTls, TestCa, TlsVersions};
use validator::{Fault, Limits, Validator, ask, ask_within};

const REPORT: &[u8] = br#"{"resourceType":"Bundle","type":"document"}"#;
const PROFILE: &str = "http://example.org/StructureDefinition/report";
const SAYS: &str = r#"{"resourceType":"OperationOutcome","issue":[
    {"severity":"error","code":"invariant","diagnostics":"Constraint failed: bdl-9: 'identifier'",
     "expression":["Bundle"],"extension":[{"url":
     "http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-line","valueInteger":1}]},
    {"severity":"information","code":"informational","diagnostics":"Validated in 12 ms"}]}"#;

fn chosen(address: &str, ca: Option<&TestCa>) -> Validator {
    Validator::new(address, ca.map(TestCa::pem), Instant::from_seconds(1_800_000_000)).unwrap()
}

async fn asked(validator: &Validator) -> Result<Vec<fhir::Issue>, Fault> {
    ask(validator, REPORT.to_vec(), Format::Json, "Bundle", &[PROFILE.to_owned()]).await
}

fn fhir(status: u16, body: impl Into<Vec<u8>>) -> Reaction {
    Reaction::answer(status, "application/fhir+json", body)
}

fn tls(ca: &TestCa, asks_for_certificates: bool) -> ScriptedTls {
    let client_ca = asks_for_certificates.then(|| ca.der().clone());
    ScriptedTls { server: ca.loopback_server(), client_ca, versions: TlsVersions::Both }
}

#[tokio::test]
async fn the_resource_goes_as_it_is_to_the_operation_and_no_certificate_with_it() {
    let ca = TestCa::new("validator");
    let server = ScriptedServer::start(tls(&ca, false), |_| fhir(200, SAYS)).await;
    let address = server.base();
    let issues = asked(&chosen(&address, Some(&ca))).await.unwrap();
    let [issue] = &issues[..] else { panic!("{} issues", issues.len()) };
    assert_eq!((issue.severity, issue.rule.as_deref()), (Severity::Error, Some("bdl-9")));
    assert_eq!((issue.expression.as_deref(), issue.line), (Some("Bundle"), Some(1)));
    let seen = server.seen();
    let [one] = &seen[..] else { panic!("{} requests", seen.len()) };
    assert_eq!((&*one.method, &*one.body), ("POST", REPORT));
    let path = "/v1/fhir/Bundle/$validate?profile=";
    assert_eq!(one.target, format!("{path}{}", PROFILE.replace(':', "%3A").replace('/', "%2F")));
    assert_eq!(one.header("content-type"), Some("application/fhir+json"));
    assert!(one.client.is_none());
}

/// A server that demands the laboratory's certificate does not get it here.
#[tokio::test]
async fn a_server_that_demands_a_certificate_gets_none() {
    let ca = TestCa::new("validator");
    let server = ScriptedServer::start(tls(&ca, true), |_| fhir(200, SAYS)).await;
    let fault = asked(&chosen(&server.base(), Some(&ca))).await.unwrap_err();
    assert!(matches!(fault, Fault::NotTrusted | Fault::Broken), "{fault}");
    assert_eq!((server.bodies(), server.handshakes()), (0, 0));
}

#[tokio::test]
async fn nothing_is_told_to_a_server_that_nobody_vouches_for() {
    let (ca, other) = (TestCa::new("validator"), TestCa::new("another"));
    let server = ScriptedServer::start(tls(&other, false), |_| fhir(200, SAYS)).await;
    assert_eq!(asked(&chosen(&server.base(), Some(&ca))).await.unwrap_err(), Fault::NotTrusted);
    assert_eq!(server.body_bytes(), 0);
}

#[tokio::test]
async fn on_this_computer_it_may_be_asked_without_tls_and_its_refusal_is_an_answer() {
    for status in [200, 400, 412, 422] {
        let server = ScriptedServer::start_plain(move |_| fhir(status, SAYS)).await;
        let address = format!("http://{}/fhir/$validate", server.address());
        assert_eq!(asked(&chosen(&address, None)).await.unwrap().len(), 1, "{status}");
        let target = server.seen()[0].target.clone();
        assert!(target.starts_with("/fhir/$validate?profile="), "{target}");
    }
}

#[tokio::test]
async fn whatever_is_no_outcome_says_nothing_of_the_report() {
    let elsewhere = fhir(307, "").header("Location", "http://127.0.0.1:1/$validate");
    for (reaction, expected) in [
        (elsewhere, Fault::LeadsElsewhere),
        (fhir(401, SAYS), Fault::NotLetIn),
        (fhir(403, SAYS), Fault::NotLetIn),
        (fhir(200, r#"{"resourceType":"Bundle"}"#), Fault::NoOutcome { status: 200 }),
        (fhir(200, ""), Fault::NoOutcome { status: 200 }),
        (Reaction::answer(502, "text/html", "<html></html>"), Fault::NoOutcome { status: 502 }),
        (Reaction::CutBeforeAnswer, Fault::Broken),
        (Reaction::CutWithinAnswer(SAYS.into()), Fault::Broken),
        (Reaction::Bytes(b"no http\r\n\r\n".to_vec()), Fault::Broken),
        (Reaction::EndlessBody, Fault::TooLarge),
        (Reaction::Silence, Fault::TooLong),
    ] {
        let server = ScriptedServer::start_plain(move |_| reaction.clone()).await;
        let validator = chosen(&format!("http://{}/fhir", server.address()), None);
        let all = match expected {
            Fault::TooLong => Duration::from_millis(200),
            _ => Duration::from_secs(20),
        };
        let limits = Limits { all, bytes_max: 100_000, ..Limits::default() };
        let answer =
            ask_within(&validator, REPORT.to_vec(), Format::Json, "Bundle", &[], limits).await;
        assert_eq!(answer.unwrap_err(), expected);
    }
    let nobody = chosen("http://127.0.0.1:1/fhir", None);
    assert_eq!(asked(&nobody).await.unwrap_err(), Fault::NotReached);
}
