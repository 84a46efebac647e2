//! Redirects and captive portals: nothing is followed, and no byte of a report reaches another
//! place.

use client::{Authority, Fault, Why};
use testkit::{Figures, Reaction, ScriptedServer, ScriptedTls, TestCa};

use crate::{IDENTIFIER, World, fhir, reference, told, wrapped};

#[tokio::test]
async fn a_redirect_is_not_followed_anywhere() {
    let mut figures = Figures::start("redirect-proxy", "a_redirect_is_not_followed");
    let world = World::new();
    // Trusted, demands our certificate, and would take the report: only our refusal keeps it away.
    let elsewhere = world.server(|_| fhir(201, reference("r-1", "in-progress", IDENTIFIER))).await;
    let plain = ScriptedServer::start_plain(|_| fhir(201, "{}")).await;
    let port = elsewhere.address().port();
    let places = [
        format!("https://localhost:{port}/v1/fhir/DocumentReference"),
        format!("https://127.0.0.1:{port}/v1/fhir/DocumentReference"),
        format!("http://{}/v1/fhir/DocumentReference", plain.address()),
        format!("//localhost:{port}/v1/fhir/DocumentReference"),
        "/v2/fhir/DocumentReference".to_owned(),
        "javascript:alert(1)".to_owned(),
    ];
    for status in [300, 301, 302, 303, 304, 305, 307, 308] {
        for place in &places {
            let answer = fhir(status, "").header("Location", place);
            let server = world.server(move |_| answer.clone()).await;
            let authority = world.authority(&server);
            let fault = authority.submit(&wrapped()).await.unwrap_err();
            assert_eq!(fault.why(), Some(&Why::Redirect { status }), "{place}");
            // 303 leads to what came of it: the report was processed.
            match (status, &fault) {
                (303, Fault::Uncertain { .. }) => {}
                (300..=302 | 304..=308, Fault::Locked { .. }) => {}
                _ => panic!("{fault:?}"),
            }
            let fault = authority.find(IDENTIFIER).await.unwrap_err();
            assert_eq!(fault.why(), Some(&Why::Redirect { status }), "{place}");
            let fault = authority.status("r-1").await.unwrap_err();
            assert_eq!(fault.why(), Some(&Why::Redirect { status }), "{place}");
            assert_eq!(server.seen().len(), 3, "each asked once");
            figures.cases(3);
        }
    }
    assert_eq!((elsewhere.connections(), plain.connections()), (0, 0));
    figures.measure("body bytes", f64::from(u32::try_from(elsewhere.body_bytes()).unwrap()));
    figures.finish();
}

/// A portal has no certificate of the authority. One without TLS at all:
/// `certificates::old_and_absent_tls…`.
#[tokio::test]
async fn a_captive_portal_gets_nothing() {
    let mut figures = Figures::start("redirect-proxy", "a_captive_portal_gets_nothing");
    let page = "<!DOCTYPE html><html><body>Bitte anmelden</body></html>";
    let world = World::new();
    let stranger = TestCa::new("Hotel");
    let own =
        |server| ScriptedTls { client_ca: None, ..ScriptedTls::mutual(server, stranger.der()) };
    let foreign = ScriptedServer::start(own(stranger.loopback_server()), move |_| {
        Reaction::answer(200, "text/html", page)
    })
    .await;
    let self_signed = ScriptedServer::start(own(TestCa::self_signed_server()), move |_| {
        Reaction::answer(200, "text/html", page)
    })
    .await;
    let mut codes = Vec::new();
    for server in [&foreign, &self_signed] {
        let fault = world.authority(server).submit(&wrapped()).await.unwrap_err();
        codes.push(told(&fault));
        assert_eq!((server.seen().len(), server.body_bytes()), (0, 0));
        figures.cases(1);
    }
    let untrusted = ("locked", "tls-server-untrusted");
    assert_eq!(codes, [untrusted, untrusted]);
    figures.measure("body bytes", 0.0);
    figures.finish();
}
