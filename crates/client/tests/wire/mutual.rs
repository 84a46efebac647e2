//! Mutual TLS is enforced: a connection on which the server did not ask for our certificate carries
//! nothing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use client::{Authority, HttpAuthority, ProbeOutcome, Why, probe};
use exchange::Endpoint;
use identity::KeyPin;
use rustls::server::WebPkiClientVerifier;
use rustls::{HandshakeKind, RootCertStore, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::CertificateDer;
use testkit::{Figures, ScriptedServer, ScriptedTls, ServerCertificate, TestCa};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::{IDENTIFIER, World, endpoint, fhir, limits, reference, told, wrapped};

/// A server that counts every byte that reaches it after the handshake, and answers nothing.
struct Counting {
    port: u16,
    handshakes: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

impl Counting {
    async fn start(config: ServerConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (handshakes, bytes) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let counting = (Arc::clone(&handshakes), Arc::clone(&bytes));
        let acceptor = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, counting) = (acceptor.clone(), counting.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    counting.0.fetch_add(1, Ordering::SeqCst);
                    while stream.read_u8().await.is_ok() {
                        counting.1.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        Self { port, handshakes, bytes }
    }

    fn base(&self) -> String {
        format!("https://localhost:{}/v1/fhir", self.port)
    }

    fn seen(&self) -> (usize, usize) {
        (self.handshakes.load(Ordering::SeqCst), self.bytes.load(Ordering::SeqCst))
    }
}

fn config(
    server: ServerCertificate,
    asks_for: Option<&TestCa>,
    version: &'static SupportedProtocolVersion,
    protocols: &[&[u8]],
) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[version])
        .unwrap();
    let builder = match asks_for {
        None => builder.with_no_client_auth(),
        Some(ca) => {
            let mut roots = RootCertStore::empty();
            roots.add(ca.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let mut config = builder.with_single_cert(server.chain, server.key).unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    config
}

const PROTOCOLS: [&[&[u8]]; 3] = [&[], &[b"http/1.1"], &[b"h2", b"http/1.1"]];

#[tokio::test]
async fn a_server_that_never_asks_for_our_certificate_gets_nothing() {
    let mut figures = Figures::start("tls", "a_server_that_never_asks");
    let world = World::new();
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        for protocols in PROTOCOLS {
            let own = config(world.ca.loopback_server(), None, version, protocols);
            let server = Counting::start(own).await;
            let endpoint = endpoint(&server.base(), &world.ca);
            let authority = world.authority_of(&endpoint);
            let faults = [
                authority.submit(&wrapped()).await.unwrap_err(),
                authority.find(IDENTIFIER).await.unwrap_err(),
                authority.status("r-1").await.unwrap_err(),
                authority.changed_since(None).await.unwrap_err(),
                authority.capability().await.unwrap_err(),
            ];
            for fault in faults {
                assert_eq!(told(&fault), ("locked", "tls-client-not-asked"));
            }
            let rows = probe(&endpoint, Some(&world.identity())).await;
            assert!(matches!(rows[4].outcome, ProbeOutcome::Passed { .. }), "{rows:?}");
            assert_eq!(rows[5].layer, "client-certificate");
            assert_eq!(rows[5].outcome, ProbeOutcome::Failed { why: Why::TlsClientNotAsked });
            assert_eq!(rows[6].outcome, ProbeOutcome::NotReached);
            let (handshakes, bytes) = server.seen();
            assert!(handshakes >= 1, "it is otherwise sound");
            assert_eq!(bytes, 0, "no byte after the handshake: {protocols:?}");
            figures.cases(6);
        }
    }
    figures.measure("body bytes", 0.0);
    figures.finish();
}

/// Where it is asked to connect to the authority, it connects to somebody who reads along.
async fn intercepting(target: u16) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut inner, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(inner.read_u8().await.unwrap());
                }
                let mut outer = TcpStream::connect(("127.0.0.1", target)).await.unwrap();
                inner.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await.unwrap();
                let _ = copy_bidirectional(&mut inner, &mut outer).await;
            });
        }
    });
    url
}

#[tokio::test]
async fn a_proxy_whose_issuer_the_computer_trusts_reads_nothing() {
    let mut figures = Figures::start("tls", "a_proxy_whose_issuer_the_computer_trusts");
    let world = World::new();
    let company = TestCa::new("Firmenproxy");
    let another_key = KeyPin::of(&world.ca.loopback_server().chain[0]).unwrap().to_string();
    let untrusted = |reason: &str| Why::TlsServerUntrusted { reason: reason.to_owned() };
    // Own CA, the computer's roots too, pin; whether the proxy asks for a certificate; what becomes
    // of it.
    let rows: [(bool, bool, Option<&str>, bool, Why); 5] = [
        (true, false, None, true, untrusted("unknown-issuer-behind-proxy")),
        (true, false, None, false, untrusted("unknown-issuer-behind-proxy")),
        (false, false, None, false, Why::TlsClientNotAsked),
        (true, true, None, false, Why::TlsClientNotAsked),
        (false, false, Some(&another_key), true, untrusted("another-key")),
    ];
    for (own_ca, also_system, pin, asks, expected) in rows {
        for protocols in PROTOCOLS {
            let asks_for = asks.then_some(&world.ca);
            let version = &rustls::version::TLS13;
            let own = config(company.loopback_server(), asks_for, version, protocols);
            let reader = Counting::start(own).await;
            let endpoint = Endpoint {
                ca_pem: own_ca.then(|| world.ca.pem()),
                also_system_roots: also_system,
                server_key: pin.map(ToOwned::to_owned),
                proxy: Some(intercepting(reader.port).await.parse().unwrap()),
                ..endpoint("https://localhost:9/v1/fhir", &world.ca)
            };
            let roots = || vec![company.der().clone()];
            let authority =
                HttpAuthority::with_roots(&endpoint, Some(&world.identity()), limits(), roots);
            let fault = authority.unwrap().submit(&wrapped()).await.unwrap_err();
            assert_eq!((told(&fault).0, fault.why()), ("locked", Some(&expected)));
            assert_eq!(reader.seen().1, 0, "no byte of anything");
            figures.cases(1);
        }
    }
    figures.measure("body bytes", 0.0);
    figures.finish();
}

#[tokio::test]
async fn an_own_issuer_is_trusted_alone_unless_both_are_asked_for() {
    let world = World::new();
    let public = TestCa::new("Öffentliche Stelle");
    let tls = |ca: &TestCa| ScriptedTls::mutual(ca.loopback_server(), world.ca.der());
    let answer = |_: &testkit::Seen| fhir(201, reference("r-1", "in-progress", IDENTIFIER));
    let of_public = ScriptedServer::start(tls(&public), answer).await;
    let of_authority = ScriptedServer::start(tls(&world.ca), answer).await;
    for (own_ca, also_system, public_trusted, authority_trusted) in [
        (true, false, false, true),
        (true, true, true, true),
        (false, false, true, false),
        (false, true, true, false),
    ] {
        for (server, trusted) in [(&of_public, public_trusted), (&of_authority, authority_trusted)]
        {
            let endpoint = Endpoint {
                ca_pem: own_ca.then(|| world.ca.pem()),
                also_system_roots: also_system,
                ..world.endpoint(server)
            };
            let roots = || vec![public.der().clone()];
            let authority =
                HttpAuthority::with_roots(&endpoint, Some(&world.identity()), limits(), roots);
            let result = authority.unwrap().submit(&wrapped()).await;
            match trusted {
                true => assert!(result.is_ok(), "{result:?}"),
                false => assert_eq!(told(&result.unwrap_err()), ("locked", "tls-server-untrusted")),
            }
        }
    }
}

#[tokio::test]
async fn a_pinned_key_is_the_only_one() {
    let world = World::new();
    let certificate = world.ca.loopback_server();
    let pin = KeyPin::of(&certificate.chain[0]).unwrap().to_string();
    let tls = ScriptedTls::mutual(certificate, world.ca.der());
    let server =
        ScriptedServer::start(tls, |_| fhir(201, reference("r-1", "in-progress", IDENTIFIER)))
            .await;
    let mut endpoint = world.endpoint(&server);
    endpoint.server_key = Some(pin.clone());
    world.authority_of(&endpoint).submit(&wrapped()).await.unwrap();
    // Renewed with another key, by the same CA.
    server.set_tls(ScriptedTls::mutual(world.ca.loopback_server(), world.ca.der()));
    let fault = world.authority_of(&endpoint).submit(&wrapped()).await.unwrap_err();
    let reason = "another-key".to_owned();
    assert_eq!(fault.why(), Some(&Why::TlsServerUntrusted { reason }));
    assert_eq!(server.bodies(), 1);
    let rows = probe(&endpoint, Some(&world.identity())).await;
    assert!(matches!(rows[4].outcome, ProbeOutcome::Failed { .. }), "{rows:?}");
    endpoint.server_key = Some("no key".to_owned());
    let refused = HttpAuthority::new(&endpoint, Some(&world.identity())).err();
    assert_eq!(refused.map(|problem| problem.code()), Some("server-key-unreadable"));
}

/// The kind of a handshake, and whose certificate it showed.
type Shown = (HandshakeKind, Option<CertificateDer<'static>>);

#[tokio::test]
async fn every_handshake_is_a_full_one() {
    let world = World::new();
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        // Keeps sessions and offers tickets, as a server does by default.
        let own = config(world.ca.loopback_server(), Some(&world.ca), version, &[]);
        let acceptor = TlsAcceptor::from(Arc::new(own));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("https://localhost:{}/v1/fhir", listener.local_addr().unwrap().port());
        let kinds: Arc<Mutex<Vec<Shown>>> = Arc::default();
        let noting = Arc::clone(&kinds);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = acceptor.accept(stream).await.unwrap();
                let session = stream.get_ref().1;
                let shown = session.peer_certificates().and_then(|chain| chain.first());
                let shown = shown.map(|der| der.clone().into_owned());
                noting.lock().unwrap().push((session.handshake_kind().unwrap(), shown));
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let answer =
                    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                stream.write_all(answer).await.unwrap();
                stream.shutdown().await.unwrap();
            }
        });
        let authority = world.authority_of(&endpoint(&base, &world.ca));
        for _ in 0..3 {
            let fault = authority.status("r-1").await.unwrap_err();
            assert_eq!(told(&fault), ("transient", "not-found"));
        }
        let seen = kinds.lock().unwrap().clone();
        let own = world.laboratory.chain[0].clone();
        assert_eq!(seen, vec![(HandshakeKind::Full, Some(own)); 3]);
    }
}
