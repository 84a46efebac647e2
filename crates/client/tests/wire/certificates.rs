//! The certificate matrix: refused before a byte of the report arrives, a distinct reason each.

use std::sync::Arc;

use client::{Authority, Fault, HttpAuthority, ProbeOutcome, Why, probe};
use rustls::server::WebPkiClientVerifier;
use testkit::{
    Figures, KeyKind, OpenSsl, Purpose, Reaction, ScriptedServer, ScriptedTls, ServerCertificate,
    TestCa, TlsVersions, Validity,
};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::{IDENTIFIER, World, endpoint, fhir, identity_of, limits, reference, told, wrapped};

fn accepting(_: &testkit::Seen) -> Reaction {
    fhir(201, reference("r-1", "in-progress", IDENTIFIER))
}

#[tokio::test]
async fn untrusted_servers_get_nothing() {
    let mut figures = Figures::start("tls", "untrusted_servers_get_nothing");
    let world = World::new();
    let stranger = TestCa::new("Fremde Behörde");
    let of_the_same_name = TestCa::new("Behörde");
    let rows: [(ServerCertificate, &str); 6] = [
        (world.ca.server(&["localhost"], Validity::Expired), "expired"),
        (world.ca.server(&["localhost"], Validity::NotYet), "not-yet-valid"),
        (stranger.loopback_server(), "unknown-issuer"),
        (of_the_same_name.loopback_server(), "unknown-issuer"),
        (world.ca.server(&["andere.example"], Validity::Current), "wrong-host"),
        (TestCa::self_signed_server(), "self-signed"),
    ];
    for (certificate, reason) in rows {
        let tls = ScriptedTls::mutual(certificate, world.ca.der());
        let server = ScriptedServer::start(tls, accepting).await;
        let fault = world.authority(&server).submit(&wrapped()).await.unwrap_err();
        let expected = Why::TlsServerUntrusted { reason: reason.to_owned() };
        assert_eq!((told(&fault).0, fault.why()), ("locked", Some(&expected)));
        assert_eq!((server.seen().len(), server.body_bytes()), (0, 0), "{reason}");
        let rows = probe(&world.endpoint(&server), Some(&world.identity())).await;
        assert_eq!(rows[4].layer, "server-certificate");
        assert_eq!(rows[4].outcome, ProbeOutcome::Failed { why: expected });
        figures.cases(1);
        figures.measure("body bytes", count(server.body_bytes()));
    }
    figures.finish();
}

fn count(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap())
}

#[tokio::test]
async fn a_refused_client_certificate_holds_the_queue() {
    let mut figures = Figures::start("tls", "a_refused_client_certificate");
    let world = World::new();
    let stranger = TestCa::new("Fremde Behörde");
    let made = |validity, purpose| world.ca.client_with("labor", KeyKind::P256, validity, purpose);
    let rows = [
        ("none", None),
        ("wrong CA", Some(stranger.client("labor"))),
        ("expired", Some(made(Validity::Expired, Purpose::ClientAuth))),
        ("not yet valid", Some(made(Validity::NotYet, Purpose::ClientAuth))),
        ("wrong purpose", Some(made(Validity::Current, Purpose::ServerAuth))),
    ];
    for versions in [TlsVersions::Only12, TlsVersions::Only13] {
        for (name, certificate) in &rows {
            let mut tls = ScriptedTls::mutual(world.ca.loopback_server(), world.ca.der());
            tls.versions = versions;
            let server = ScriptedServer::start(tls, accepting).await;
            let identity = certificate.as_ref().map(identity_of);
            let endpoint = world.endpoint(&server);
            for _ in 0..10 {
                let authority =
                    HttpAuthority::with_limits(&endpoint, identity.as_ref(), limits()).unwrap();
                let fault = authority.submit(&wrapped()).await.unwrap_err();
                assert_eq!(told(&fault), ("locked", "tls-client-refused"), "{versions:?} {name}");
            }
            assert_eq!((server.seen().len(), server.body_bytes()), (0, 0), "{versions:?} {name}");
            let rows = probe(&endpoint, identity.as_ref()).await;
            assert_eq!(rows[5].layer, "client-certificate");
            assert!(matches!(rows[5].outcome, ProbeOutcome::Failed { .. }), "{rows:?}");
            assert_eq!(rows[6].outcome, ProbeOutcome::NotReached);
            figures.cases(10);
            figures.measure("body bytes", count(server.body_bytes()));
        }
    }
    figures.finish();
}

/// A report too large for the buffers of the connection is still being written when TLS 1.3 brings
/// the refusal. It may be lost in the reset; then the doubt is resolved by asking, which meets the
/// refusal.
#[tokio::test]
async fn a_refusal_while_a_large_report_is_written() {
    let world = World::new();
    let mut tls = ScriptedTls::mutual(world.ca.loopback_server(), world.ca.der());
    tls.versions = TlsVersions::Only13;
    let server = ScriptedServer::start(tls, accepting).await;
    let endpoint = world.endpoint(&server);
    let mut large = wrapped();
    large.body.resize(20_000_000, b' ');
    for _ in 0..10 {
        let authority = HttpAuthority::with_limits(&endpoint, None, limits()).unwrap();
        let fault = authority.submit(&large).await.unwrap_err();
        let expected = [("locked", "tls-client-refused"), ("uncertain", "cut")];
        assert!(expected.contains(&told(&fault)), "{fault:?}");
        let fault = authority.find(IDENTIFIER).await.unwrap_err();
        assert_eq!(told(&fault), ("locked", "tls-client-refused"));
    }
    assert_eq!((server.seen().len(), server.body_bytes()), (0, 0));
}

#[tokio::test]
async fn chains_and_every_kind_of_key_are_accepted() {
    let root = TestCa::new("Wurzel");
    let middle = root.intermediate("Ausgabe");
    for versions in [TlsVersions::Only12, TlsVersions::Only13] {
        for kind in [KeyKind::P256, KeyKind::P384, KeyKind::Ed25519] {
            let mut tls = ScriptedTls::mutual(middle.loopback_server(), root.der());
            tls.versions = versions;
            let server = ScriptedServer::start(tls, accepting).await;
            let client = middle.client_with("labor", kind, Validity::Current, Purpose::ClientAuth);
            let endpoint = endpoint(&server.base(), &root);
            let authority = HttpAuthority::new(&endpoint, Some(&identity_of(&client))).unwrap();
            authority.submit(&wrapped()).await.unwrap();
            assert_eq!(server.bodies(), 1);
        }
    }
}

#[tokio::test]
async fn old_and_absent_tls_is_refused() {
    let mut figures = Figures::start("tls", "old_and_absent_tls");
    let world = World::new();
    // The alert protocol_version, as a server sends it that knows nothing newer than TLS 1.1.
    let old = b"\x15\x03\x01\x00\x02\x02\x46".to_vec();
    let portal = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec();
    for (bytes, class, code) in [
        (old, "locked", "tls-version"),
        (portal, "locked", "tls-version"),
        (Vec::new(), "transient", "tls-broken"),
    ] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = tokio::spawn(async move {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut hello = [0u8; 4096];
            let read = stream.read(&mut hello).await.unwrap();
            stream.write_all(&bytes).await.unwrap();
            read
        });
        let base = format!("https://localhost:{port}/v1/fhir");
        let authority = world.authority_of(&endpoint(&base, &world.ca));
        let fault = authority.submit(&wrapped()).await.unwrap_err();
        assert_eq!(told(&fault), (class, code));
        let read = server.await.unwrap();
        assert!(read < 2048, "a ClientHello and nothing else");
        figures.cases(1);
    }
    figures.cases(tls_1_1(&world).await);
    figures.finish();
}

/// A real server of that age; 0 cases where there is no OpenSSL to play it.
async fn tls_1_1(world: &World) -> u64 {
    use std::io::BufRead as _;
    let Some(openssl) = OpenSsl::find() else { return 0 };
    let own = world.ca.client("localhost");
    openssl.write("server.pem", own.pem());
    let words = "s_server -tls1_1 -cipher ALL:@SECLEVEL=0 -accept 127.0.0.1:0 -cert server.pem \
                 -key server.pem -www";
    let mut server = openssl.start(words);
    // `ACCEPT 127.0.0.1:40123`
    let lines = std::io::BufReader::new(server.0.stdout.take().unwrap()).lines();
    let accepts = lines.map_while(Result::ok).find(|line| line.starts_with("ACCEPT"));
    let accepts = accepts.expect("OpenSSL listens");
    let port = accepts.rsplit(':').next().unwrap().trim();
    let base = format!("https://localhost:{port}/v1/fhir");
    let authority = world.authority_of(&endpoint(&base, &world.ca));
    let fault = authority.submit(&wrapped()).await.unwrap_err();
    assert_eq!(told(&fault), ("locked", "tls-version"));
    let rows = probe(&endpoint(&base, &world.ca), Some(&world.identity())).await;
    assert_eq!(rows[3].outcome, ProbeOutcome::Failed { why: Why::TlsVersion });
    1
}

#[tokio::test]
async fn configuration_is_checked_before_anything_is_sent() {
    let world = World::new();
    let code = |base: &str, ca: Option<&str>, proxy: Option<&str>| {
        let mut endpoint = endpoint("https://localhost:1/v1/fhir", &world.ca);
        endpoint.base = base.parse().unwrap();
        endpoint.ca_pem = ca.map(ToOwned::to_owned).or(endpoint.ca_pem);
        endpoint.proxy = proxy.map(|url| url.parse().unwrap());
        HttpAuthority::new(&endpoint, None).err().map(|problem| problem.code())
    };
    assert_eq!(code("http://localhost/v1/fhir", None, None), Some("not-https"));
    assert_eq!(code("https://localhost/v1/fhir", Some("no pem"), None), Some("ca-unreadable"));
    let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert_eq!(code("https://localhost/v1/fhir", Some(damaged), None), Some("ca-unreadable"));
    assert_eq!(code("https://localhost/v1/fhir/", None, None), None);
    let mut plain = endpoint("https://localhost/v1/fhir", &world.ca);
    plain.base = "http://localhost/v1/fhir".parse().unwrap();
    let rows = probe(&plain, None).await;
    assert_eq!(rows[0].outcome, ProbeOutcome::Misconfigured { code: "not-https" });
    assert_eq!(rows.len(), 7);
}

#[tokio::test]
async fn probe_ticks_every_layer() {
    let world = World::new();
    let statement = r#"{"resourceType":"CapabilityStatement","software":{"name":"Annahme","version":"1"},"fhirVersion":"4.0.1",
        "format":["application/fhir+json"],"rest":[{"mode":"server","resource":[{"type":"DocumentReference",
        "interaction":[{"code":"create"},{"code":"read"}],"searchParam":[{"name":"identifier","type":"token"}]}]}]}"#;
    let server = world.server(move |_| fhir(200, statement)).await;
    let rows = probe(&world.endpoint(&server), Some(&world.identity())).await;
    assert!(rows.iter().all(|row| matches!(row.outcome, ProbeOutcome::Passed { .. })), "{rows:?}");
    assert_eq!(rows[6].outcome, ProbeOutcome::Passed { detail: Some("4.0.1".to_owned()) });
    assert_eq!(server.seen()[0].target, "/v1/fhir/metadata");
    let (capability, _) = world.authority(&server).capability().await.unwrap();
    assert_eq!(capability.interactions, ["create", "read"]);
    assert_eq!(capability.parameters, ["identifier"]);
    let forbidden = world.server(|_| fhir(403, "")).await;
    let rows = probe(&world.endpoint(&forbidden), Some(&world.identity())).await;
    assert_eq!(rows[5].outcome, ProbeOutcome::Failed { why: Why::Forbidden { status: 403 } });
    let portal = world.server(|_| Reaction::answer(200, "text/html", "<html>")).await;
    let fault: Fault = world.authority(&portal).capability().await.unwrap_err();
    assert_eq!(told(&fault), ("transient", "html"));
}

/// What a server does once it has refused a certificate.
#[derive(Clone, Copy, PartialEq)]
enum Refused {
    /// It reads on, so that its alert is not lost in a reset.
    ReadsOn,
    /// It resets the connection, as one that is closed with unread data is.
    Resets,
}

/// A server of HTTP/2 that demands a certificate of its own authority.
async fn demanding(world: &World, refused: Refused) -> String {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(world.ca.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let own = world.ca.loopback_server();
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(own.chain, own.key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://localhost:{}/v1/fhir", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Err((_, mut stream)) = acceptor.accept(stream).into_fallible().await else {
                    return;
                };
                match refused {
                    Refused::ReadsOn => {
                        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
                    }
                    Refused::Resets => stream.set_zero_linger().unwrap(),
                }
            });
        }
    });
    base
}

/// The library of HTTP/2 keeps no alert; whoever asks must hear of the refusal all the same.
#[tokio::test]
async fn a_refused_client_certificate_is_told_over_http_2_too() {
    let mut figures = Figures::start("tls", "a_refused_client_certificate_over_http_2");
    let world = World::new();
    let base = demanding(&world, Refused::ReadsOn).await;
    let expired =
        world.ca.client_with("labor", KeyKind::P256, Validity::Expired, Purpose::ClientAuth);
    let stranger = TestCa::new("Fremde Behörde").client("labor");
    for (name, client, alert) in [
        ("expired", Some(expired), "certificate-expired"),
        ("wrong CA", Some(stranger), "unknown-ca"),
        ("none", None, "certificate-required"),
    ] {
        let endpoint = endpoint(&base, &world.ca);
        let identity = client.as_ref().map(identity_of);
        let authority = HttpAuthority::with_limits(&endpoint, identity.as_ref(), limits()).unwrap();
        let fault = authority.capability().await.unwrap_err();
        let refused = Why::TlsClientRefused { alert: alert.to_owned() };
        assert_eq!((told(&fault).0, fault.why()), ("locked", Some(&refused)), "{name}");
        let rows = probe(&endpoint, identity.as_ref()).await;
        assert_eq!(rows[5].layer, "client-certificate");
        assert_eq!(rows[5].outcome, ProbeOutcome::Failed { why: refused }, "{name}");
        figures.cases(1);
    }
    figures.finish();
}

/// What a server has said before it resets the connection has arrived: writing fails, and who does
/// not read then takes a refused certificate for a bad network.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_that_a_reset_follows_is_heard() {
    let world = World::new();
    let base = demanding(&world, Refused::Resets).await;
    let endpoint = endpoint(&base, &world.ca);
    let identity = identity_of(&TestCa::new("Fremde Behörde").client("labor"));
    let refused = Why::TlsClientRefused { alert: "unknown-ca".to_owned() };
    let mut heard = 0;
    for time in 0..100 {
        let authority = HttpAuthority::with_limits(&endpoint, Some(&identity), limits()).unwrap();
        let fault = authority.capability().await.unwrap_err();
        // Now and then the connection ends before a request is put on it: no refusal of one.
        assert!([Some(&refused), Some(&Why::Cut)].contains(&fault.why()), "{time}: {fault:?}");
        heard += u32::from(fault.why() == Some(&refused));
        let rows = probe(&endpoint, Some(&identity)).await;
        assert!(!matches!(rows[5].outcome, ProbeOutcome::Passed { .. }), "{time}: {rows:?}");
    }
    // Elsewhere a reset may discard what has arrived.
    assert!(heard >= 80 || !cfg!(target_os = "linux"), "{heard} of 100");
}

/// Without an answer nobody knows what became of the certificate.
#[tokio::test]
async fn a_certificate_without_an_answer_has_not_passed() {
    let world = World::new();
    let server = world.server(|_| Reaction::CutBeforeAnswer).await;
    let rows = probe(&world.endpoint(&server), Some(&world.identity())).await;
    assert_eq!(rows[5].outcome, ProbeOutcome::NotReached, "{rows:?}");
    assert_eq!(rows[6].outcome, ProbeOutcome::Failed { why: Why::Cut });
}
