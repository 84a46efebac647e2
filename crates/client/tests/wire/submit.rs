//! POST: each row of the fault table and what it permits next.

use std::time::{Duration, Instant};

use client::{Authority, Fault, HttpAuthority, Limits};
use exchange::{Envelope, Processing, Release};
use fhir::Format;
use testkit::{DocumentBuilder, Figures, Reaction};

use crate::{
    IDENTIFIER, World, fhir, hasty, judged, limits, outcome, outcome_of, reference, told, wrapped,
};

async fn submitted(reaction: Reaction) -> (Result<client::Received, Fault>, usize) {
    submitted_to(Release::default(), reaction).await
}

async fn submitted_to(
    release: Release,
    reaction: Reaction,
) -> (Result<client::Received, Fault>, usize) {
    let world = World::new();
    let server = world.server(move |_| reaction.clone()).await;
    let mut endpoint = world.endpoint(&server);
    endpoint.release = release;
    let result = world.authority_of(&endpoint).submit(&wrapped()).await;
    (result, server.seen().len())
}

#[tokio::test]
async fn an_accepted_report_brings_its_receipt_and_proof() {
    let world = World::new();
    let body = reference("r-1", "in-progress", IDENTIFIER);
    let answer = fhir(201, body.clone()).header("Date", "Fri, 20 Nov 2026 10:00:00 GMT");
    let server = world.server(move |_| answer.clone()).await;
    let authority = world.authority(&server);
    for format in [Format::Json, Format::Xml] {
        let document = DocumentBuilder::new(1);
        let body = match format {
            Format::Json => document.json(),
            Format::Xml => document.xml(),
        };
        let wrapped =
            Envelope { body: body.into_bytes(), format, identifier: IDENTIFIER.to_owned() };
        let received = authority.submit(&wrapped).await.unwrap();
        assert_eq!(received.answer.receipt.as_deref(), Some("r-1"));
        assert_eq!(received.answer.processing, Some(Processing::InProgress));
        assert_eq!(received.answer.issues[0].rule.as_deref(), Some("FOPH-021"));
        assert_eq!(received.evidence.status, 201);
        assert_eq!(received.evidence.url_path, "/v1/fhir/DocumentReference");
        assert_eq!(received.evidence.server_date, Some(fhir::Instant::from_seconds(1_795_168_800)));
        let seen = server.seen().pop().unwrap();
        assert_eq!(seen.body, wrapped.body, "byte for byte");
        assert_eq!(seen.header("content-type"), Some(format.media_type()));
        assert_eq!(seen.header("accept"), Some(format.media_type()));
        assert_eq!(seen.header("content-length"), Some(wrapped.body.len().to_string().as_str()));
        assert_eq!(seen.header("accept-encoding"), None);
        assert_eq!(seen.client.as_ref(), Some(&world.laboratory.chain[0]));
    }
    assert_eq!(server.connections(), 1, "the connection is used again");
    let received = authority.submit(&wrapped()).await.unwrap();
    assert_eq!(received.evidence.body, body.into_bytes());
    let shown = format!("{:?}", received.evidence);
    assert!(!shown.contains("DocumentReference\""), "{shown}");
}

#[tokio::test]
async fn refusals_of_the_content() {
    let mut figures = Figures::start("outcome-400", "client_refusals_of_the_content");
    for (reaction, messages) in [
        (fhir(400, outcome("error")), "Constraint failed: x-1: 'no'"),
        (fhir(422, outcome("error")), "Constraint failed: x-1: 'no'"),
        (fhir(412, outcome("error")), "Constraint failed: x-1: 'no'"),
        (fhir(200, outcome("error")), "Constraint failed: x-1: 'no'"),
        (fhir(409, outcome("error")), "Constraint failed: x-1: 'no'"),
        (fhir(413, outcome("error")), "Constraint failed: x-1: 'no'"),
    ] {
        let (result, requests) = submitted(reaction).await;
        let Err(Fault::Refused { answer, evidence }) = result else { panic!("{result:?}") };
        assert_eq!(answer.receipt, None);
        assert_eq!(answer.issues[0].text, messages);
        assert_ne!(evidence.status, 0);
        assert_eq!(requests, 1, "no retry");
        figures.cases(1);
    }
    figures.measure("requests per report", 1.0);
    figures.finish();
    let failed = reference("", "failed", IDENTIFIER).replace(r#""id":"","#, "");
    let (result, _) = submitted_to(Release::R1_8_0, fhir(200, failed.clone())).await;
    assert_eq!(told(&result.unwrap_err()).0, "refused", "how old releases refuse");
    let (result, _) = submitted(fhir(200, failed)).await;
    assert_eq!(told(&result.unwrap_err()), ("uncertain", "no-receipt"));
}

/// Earlier releases refuse with an id, the status and the outcome in it, also with an HTTP status
/// of an error.
#[tokio::test]
async fn a_refusal_with_an_id_keeps_id_status_and_messages() {
    for release in Release::ALL {
        for status in [400, 409, 422, 500] {
            let (result, _) =
                submitted_to(release, fhir(status, reference("r-1", "failed", IDENTIFIER))).await;
            let received = result.unwrap();
            assert_eq!(received.answer.receipt.as_deref(), Some("r-1"), "{status}");
            assert_eq!(received.answer.processing, Some(Processing::Failed));
            assert_eq!(received.answer.issues[0].rule.as_deref(), Some("FOPH-021"));
            assert_eq!(received.evidence.status, status);
        }
    }
    let other = reference("r-1", "failed", "urn:uuid:other");
    let (result, _) = submitted(fhir(400, other)).await;
    assert_eq!(told(&result.unwrap_err()), ("uncertain", "another-identifier"));
    // It names the report, and says that it has it.
    let (result, _) = submitted(fhir(409, reference("r-1", "in-progress", IDENTIFIER))).await;
    assert_eq!(result.unwrap().answer.processing, Some(Processing::InProgress));
    let unnamed = reference("r-1", "in-progress", IDENTIFIER).replace("\"identifier\"", "\"_x\"");
    let (result, _) = submitted(fhir(500, unnamed)).await;
    assert_eq!(told(&result.unwrap_err()).0, "uncertain");
}

#[tokio::test]
async fn a_refusal_of_what_may_be_stored_says_so() {
    let duplicate = outcome("error").replace("invariant", "duplicate");
    // Its rule about duplicates, whatever code of issue goes with it.
    let by_rule = outcome("error").replace("Constraint failed: x-1: 'no'", "FOPH-021");
    let at = |status, location| fhir(status, outcome("error")).header("Location", location);
    for (reaction, stored) in [
        // It succeeded, it says, and gives no id.
        (fhir(200, outcome("error")), true),
        (fhir(201, outcome("error")), true),
        // It refuses, and names what it has stored.
        (at(400, "/v1/fhir/DocumentReference/d-1"), true),
        (at(422, "https://localhost/v1/fhir/DocumentReference/d-1/_history/1"), true),
        (at(413, "DocumentReference/d-1"), true),
        // Where reports are sent, or another resource: nothing is stored there.
        (at(422, "/v1/fhir/DocumentReference"), false),
        (at(422, "/v1/fhir/DocumentReference/?x=/DocumentReference/d-1"), false),
        (at(422, "/v1/fhir/OperationOutcome/7"), false),
        (fhir(409, outcome("error")), true),
        (fhir(412, outcome("error")), true),
        (fhir(422, duplicate.clone()), true),
        (fhir(422, by_rule.clone()), true),
        (fhir(422, outcome("error")), false),
        (fhir(403, outcome("error")), false),
    ] {
        let (result, _) = submitted(reaction.clone()).await;
        let fault = result.unwrap_err();
        assert_eq!(fault.may_be_stored(), stored, "{reaction:?}");
        assert!(!stored || matches!(fault, Fault::Refused { .. }), "its words are kept");
    }
}

/// It succeeded, and names what it has stored, whatever else it says in FHIR.
#[tokio::test]
async fn what_was_created_by_status_and_location_is_accepted() {
    let body = |text: String| {
        fhir(201, text)
            .header("Location", "https://localhost/v1/fhir/DocumentReference/d-1/_history/1")
    };
    for reaction in [body(outcome("error")), body(outcome("information"))] {
        let (result, _) = submitted(reaction.clone()).await;
        let received = result.unwrap();
        assert_eq!(received.answer.receipt.as_deref(), Some("d-1"), "{reaction:?}");
        assert_eq!(received.answer.processing, Some(Processing::InProgress));
    }
    // A web page or nothing is nobody's word about a report, and what is no id names none.
    let page = Reaction::answer(201, "text/html", "<!DOCTYPE html><html></html>");
    let page = page.header("Location", "/v1/fhir/DocumentReference/d-1");
    let at = |id: &str| format!("/v1/fhir/DocumentReference/{id}");
    let strange = fhir(201, outcome("error")).header("Location", &at("d%201"));
    let empty = fhir(201, "").header("Location", &at("d-1"));
    for reaction in [page, empty] {
        let (result, _) = submitted(reaction.clone()).await;
        assert_eq!(told(&result.unwrap_err()).0, "uncertain", "{reaction:?}");
    }
    let (result, _) = submitted(strange).await;
    assert!(result.unwrap_err().may_be_stored());
}

/// An error that refuses nothing in the authority's name, and would be sent again: not where
/// `Location` says that the report is there.
#[tokio::test]
async fn an_error_that_names_what_is_stored_leaves_a_doubt() {
    for status in [303, 400, 401, 403, 404, 409, 413, 422, 425, 429] {
        let stored = fhir(status, "").header("Location", "/v1/fhir/DocumentReference/d-1");
        let (result, _) = submitted(stored).await;
        assert_eq!(told(&result.unwrap_err()).0, "uncertain", "{status}");
    }
}

#[tokio::test]
async fn each_answer_permits_what_it_permits() {
    let mut figures = Figures::start("retry-codes", "client_each_answer_permits_what_it_permits");
    let html = "<!DOCTYPE html><html><body>Bitte anmelden</body></html>";
    let gzip: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0];
    let page = |status| Reaction::answer(status, "text/html", html);
    for (reaction, expected) in [
        (page(200), ("uncertain", "html")),
        (Reaction::answer(200, "application/fhir+json", html), ("uncertain", "html")),
        (fhir(200, ""), ("uncertain", "empty-answer")),
        (fhir(204, ""), ("uncertain", "empty-answer")),
        (fhir(200, "{\"resourceType\":\"Patient\"}"), ("uncertain", "not-fhir")),
        (fhir(200, "{\"resourceType\":"), ("uncertain", "not-fhir")),
        (
            Reaction::answer(200, "application/octet-stream", &b"\x00\x01"[..]),
            ("uncertain", "not-fhir"),
        ),
        (fhir(200, outcome("information")), ("uncertain", "no-receipt")),
        (
            fhir(201, reference("r", "in-progress", "urn:uuid:other")),
            ("uncertain", "another-identifier"),
        ),
        (fhir(201, gzip).header("Content-Encoding", "gzip"), ("uncertain", "content-encoded")),
        (fhir(301, "").header("Location", "https://elsewhere.example/"), ("locked", "redirect")),
        (fhir(307, "").header("Location", "/v2/fhir/DocumentReference"), ("locked", "redirect")),
        (fhir(303, "").header("Location", "https://elsewhere.example/"), ("uncertain", "redirect")),
        (fhir(406, outcome("error")), ("uncertain", "status")),
        (page(406), ("uncertain", "status")),
        (fhir(401, outcome("error")), ("locked", "forbidden")),
        (fhir(403, outcome("error")), ("locked", "forbidden")),
        (page(400), ("locked", "html")),
        (fhir(404, outcome("error")), ("locked", "status")),
        (fhir(405, ""), ("locked", "status")),
        (fhir(415, outcome("error")), ("locked", "status")),
        (fhir(407, ""), ("locked", "proxy-authentication")),
        (fhir(408, ""), ("uncertain", "unavailable")),
        (fhir(425, ""), ("transient", "unavailable")),
        (fhir(429, ""), ("transient", "unavailable")),
        (page(429), ("transient", "unavailable")),
        (fhir(500, outcome("error")), ("uncertain", "unavailable")),
        (fhir(502, ""), ("uncertain", "unavailable")),
        (page(502), ("uncertain", "html")),
        (fhir(504, ""), ("uncertain", "unavailable")),
        (fhir(503, ""), ("uncertain", "unavailable")),
        (page(503), ("uncertain", "html")),
        (fhir(503, outcome("error")), ("uncertain", "unavailable")),
        (fhir(503, outcome("error")).header("Retry-After", "30"), ("uncertain", "unavailable")),
        (page(503).header("Retry-After", "30"), ("uncertain", "html")),
        // No OperationOutcome: nobody refuses a report in the authority's name.
        (fhir(400, ""), ("locked", "unexplained")),
        (fhir(400, "{}"), ("locked", "unexplained")),
        (fhir(400, r#"{"resourceType":"OperationOutcome"}"#), ("locked", "unexplained")),
        (Reaction::answer(422, "text/plain", "no"), ("locked", "unexplained")),
        (
            Reaction::answer(422, "application/json", r#"{"error":"waf"}"#),
            ("locked", "unexplained"),
        ),
        (fhir(413, ""), ("locked", "unexplained")),
        (page(413), ("locked", "html")),
        (fhir(409, ""), ("uncertain", "unexplained")),
        (page(412), ("uncertain", "unexplained")),
    ] {
        let (result, requests) = submitted(reaction.clone()).await;
        let fault = result.unwrap_err();
        assert_eq!(told(&fault), expected, "{reaction:?}");
        assert!(fault.evidence().is_some_and(|evidence| evidence.status != 0), "{reaction:?}");
        assert_eq!(requests, 1);
        figures.cases(1);
    }
    figures.finish();
}

/// Reasons that are not about the report refuse none.
#[tokio::test]
async fn what_the_reasons_are_about_decides() {
    for (reaction, expected) in [
        (fhir(400, outcome_of(&["transient"])), ("uncertain", "unavailable")),
        (fhir(422, outcome_of(&["timeout", "lock-error"])), ("uncertain", "unavailable")),
        (fhir(422, outcome_of(&["security"])), ("locked", "forbidden")),
        (fhir(400, outcome_of(&["login", "throttled"])), ("locked", "forbidden")),
        // Whoever names a place, or a rule, has judged it; a conflict may be with an earlier one.
        (fhir(422, judged("exception")), ("refused", "")),
        (fhir(400, outcome_of(&["transient", "invalid"])), ("refused", "")),
        (fhir(409, outcome_of(&["unknown"])), ("refused", "")),
        (fhir(412, outcome_of(&["transient"])), ("refused", "")),
    ] {
        let (result, _) = submitted(reaction.clone()).await;
        assert_eq!(told(&result.unwrap_err()), expected, "{reaction:?}");
    }
}

#[tokio::test]
async fn retry_after_is_honoured_up_to_an_hour() {
    let mut figures = Figures::start("retry-codes", "client_retry_after_is_honoured_up_to_an_hour");
    let date = "Fri, 20 Nov 2026 10:00:00 GMT";
    for (value, seconds) in [
        ("120", Some(120)),
        ("0", Some(0)),
        ("Fri, 20 Nov 2026 10:10:00 GMT", Some(600)),
        ("Friday, 20-Nov-26 10:10:00 GMT", Some(600)),
        ("Fri Nov 20 10:10:00 2026", Some(600)),
        ("Fri, 20 Nov 2026 09:10:00 GMT", Some(0)),
        ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
        ("Tue, 31 Dec 2999 23:59:59 GMT", Some(3600)),
        ("86400000", Some(3600)),
        ("340282366920938463463374607431768211456", Some(3600)),
        ("-1", None),
        ("+60", None),
        ("60.5", None),
        ("1e3", None),
        ("tomorrow", None),
        ("", None),
    ] {
        for status in [425, 429] {
            let reaction = fhir(status, outcome("error")).header("Retry-After", value);
            let (result, _) = submitted(reaction.header("Date", date)).await;
            let Err(Fault::Transient { retry_after, .. }) = result else { panic!("{result:?}") };
            assert_eq!(retry_after, seconds.map(Duration::from_secs), "{status} {value}");
            figures.cases(1);
        }
    }
    // Said twice: the longer one.
    let twice = fhir(429, "").header("Retry-After", "5").header("Retry-After", "90");
    let (result, _) = submitted(twice.header("Retry-After", "soon").header("Date", date)).await;
    let Err(Fault::Transient { retry_after, .. }) = result else { panic!("{result:?}") };
    assert_eq!(retry_after, Some(Duration::from_secs(90)));
    figures.cases(1);
    figures.finish();
}

#[tokio::test]
async fn a_lost_answer_leaves_a_doubt() {
    for (reaction, code) in [
        (Reaction::CutBeforeAnswer, "cut"),
        (Reaction::CutAfterHead, "cut"),
        (
            Reaction::CutWithinAnswer(reference("r-1", "in-progress", IDENTIFIER).into_bytes()),
            "cut",
        ),
        (Reaction::Bytes(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()), "cut"),
        (Reaction::EndlessHeaders, "cut"),
        (Reaction::EndlessBody, "too-large"),
    ] {
        let (result, requests) = submitted(reaction.clone()).await;
        assert_eq!(told(&result.unwrap_err()), ("uncertain", code), "{reaction:?}");
        assert_eq!(requests, 1, "sent once, whatever happens: {reaction:?}");
    }
}

#[tokio::test]
async fn time_is_bounded() {
    for reaction in [Reaction::Silence, Reaction::SlowBody(Duration::from_millis(100))] {
        let world = World::new();
        let server = world.server(move |_| reaction.clone()).await;
        let endpoint = world.endpoint(&server);
        let identity = world.identity();
        let authority = HttpAuthority::with_limits(&endpoint, Some(&identity), hasty()).unwrap();
        let start = Instant::now();
        let fault = authority.submit(&wrapped()).await.unwrap_err();
        assert_eq!(told(&fault), ("uncertain", "timeout"));
        assert!(start.elapsed() < Duration::from_secs(5));
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_never_greets_gets_nothing() {
    let world = World::new();
    // The system completes the connection; nobody answers the TLS greeting.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("https://localhost:{}/v1/fhir", listener.local_addr().unwrap().port());
    let limits = Limits { connect: Duration::from_millis(300), ..limits() };
    let endpoint = crate::endpoint(&base, &world.ca);
    let authority = HttpAuthority::with_limits(&endpoint, Some(&world.identity()), limits).unwrap();
    let fault = authority.submit(&wrapped()).await.unwrap_err();
    assert_eq!(told(&fault), ("transient", "connect-timeout"));
}

#[tokio::test]
async fn what_was_never_connected_was_never_sent() {
    let world = World::new();
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    for (base, code) in [
        (format!("https://localhost:{port}/v1/fhir"), "connect-refused"),
        (format!("https://nowhere.invalid:{port}/v1/fhir"), "dns"),
    ] {
        let authority = world.authority_of(&crate::endpoint(&base, &world.ca));
        let fault = authority.submit(&wrapped()).await.unwrap_err();
        assert_eq!(told(&fault), ("transient", code));
    }
}

#[tokio::test]
async fn a_connection_closed_while_idle_costs_nothing() {
    // The server closes after each answer without saying so; each report is still delivered once.
    let world = World::new();
    let answer = reference("r-1", "in-progress", IDENTIFIER);
    let head = format!(
        "HTTP/1.1 201 Created\r\nContent-Type: application/fhir+json\r\nContent-Length: \
         {}\r\n\r\n{answer}",
        answer.len()
    );
    let server = world.server(move |_| Reaction::Bytes(head.clone().into_bytes())).await;
    let authority = world.authority(&server);
    let mut delivered = 0;
    for _ in 0..20 {
        match authority.submit(&wrapped()).await {
            Ok(_) => delivered += 1,
            // A race with the close: never reported as anything that permits sending blindly,
            // unless the server really saw nothing.
            Err(fault) => assert!(matches!(told(&fault).0, "transient" | "uncertain"), "{fault:?}"),
        }
    }
    assert!(delivered >= 1);
    assert!(server.bodies() <= 20, "nothing was sent twice");
}
