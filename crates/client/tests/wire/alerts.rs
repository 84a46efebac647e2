//! A TLS alert that refuses a certificate: within a handshake it proves that nothing was processed,
//! later it does not.

use std::sync::Arc;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use client::Authority;
use rustls::crypto::ring::cipher_suite;
use rustls::server::WebPkiClientVerifier;
use rustls::{ConnectionTrafficSecrets, ProtocolVersion, RootCertStore, ServerConfig};
use testkit::Figures;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::{IDENTIFIER, World, endpoint, reference, told, wrapped};

/// A server of one algorithm, so that a test can write a record of its own, which the library would
/// not.
fn config(world: &World, version: ProtocolVersion, tickets: usize) -> ServerConfig {
    let mut provider = rustls::crypto::ring::default_provider();
    provider.cipher_suites = vec![
        cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        cipher_suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ];
    let provider = Arc::new(provider);
    let versions = match version {
        ProtocolVersion::TLSv1_3 => &rustls::version::TLS13,
        _ => &rustls::version::TLS12,
    };
    let mut roots = RootCertStore::empty();
    roots.add(world.ca.der().clone()).unwrap();
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let own = world.ca.loopback_server();
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[versions])
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(own.chain, own.key)
        .unwrap();
    config.enable_secret_extraction = true;
    config.send_tls13_tickets = tickets;
    config
}

/// Reads a request with its body.
async fn request(stream: &mut TlsStream<tokio::net::TcpStream>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await.unwrap();
}

/// The fatal alert, encrypted as the connection's next record (RFC 8446, 5.2 and RFC 5246,
/// 6.2.3.3).
async fn alert(stream: TlsStream<tokio::net::TcpStream>, description: u8) {
    let (mut tcp, session) = stream.into_inner();
    let version = session.protocol_version().unwrap();
    let (number, secrets) = session.dangerous_extract_secrets().unwrap().tx;
    let ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } = secrets else { panic!("cipher") };
    let mut nonce = [0; 12];
    nonce.copy_from_slice(iv.as_ref());
    for (byte, of_number) in nonce[4..].iter_mut().zip(number.to_be_bytes()) {
        *byte ^= of_number;
    }
    let cipher = ChaCha20Poly1305::new(Key::from_slice(key.as_ref()));
    let record = match version {
        ProtocolVersion::TLSv1_3 => {
            let head = [23, 3, 3, 0, 2 + 1 + 16];
            let payload = Payload { msg: &[2, description, 21], aad: &head };
            [&head[..], &cipher.encrypt(Nonce::from_slice(&nonce), payload).unwrap()].concat()
        }
        _ => {
            let aad = [&number.to_be_bytes()[..], &[21, 3, 3, 0, 2]].concat();
            let payload = Payload { msg: &[2, description], aad: &aad };
            let sealed = cipher.encrypt(Nonce::from_slice(&nonce), payload).unwrap();
            [&[21, 3, 3, 0, 2 + 16][..], &sealed].concat()
        }
    };
    tcp.write_all(&record).await.unwrap();
    // Hears the client out, so that the alert is not lost in a reset.
    let _ = tokio::io::copy(&mut tcp, &mut tokio::io::sink()).await;
}

/// Answers so many requests of one connection, then gives the alert to the next, body and all.
async fn server(world: &World, version: ProtocolVersion, tickets: usize, answered: u32) -> String {
    let acceptor = TlsAcceptor::from(Arc::new(config(world, version, tickets)));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://localhost:{}/v1/fhir", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        let mut stream = acceptor.accept(listener.accept().await.unwrap().0).await.unwrap();
        for _ in 0..answered {
            request(&mut stream).await;
            let body = reference("r-1", "in-progress", IDENTIFIER);
            let length = body.len();
            let answer = format!("HTTP/1.1 201 Created\r\nContent-Length: {length}\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        request(&mut stream).await;
        alert(stream, ACCESS_DENIED).await;
    });
    base
}

const ACCESS_DENIED: u8 = 49;

#[tokio::test]
async fn a_refusal_after_the_handshake_is_a_doubt() {
    let mut figures = Figures::start("tls", "a_refusal_after_the_handshake");
    let world = World::new();
    use ProtocolVersion::{TLSv1_2, TLSv1_3};
    for (version, tickets, answered, class) in [
        // Our certificate may just have been judged.
        (TLSv1_3, 0, 0, "locked"),
        // The handshake is over: the server sent tickets, answered before, or speaks TLS 1.2.
        (TLSv1_3, 2, 0, "uncertain"),
        (TLSv1_3, 0, 1, "uncertain"),
        (TLSv1_3, 2, 3, "uncertain"),
        (TLSv1_2, 0, 0, "uncertain"),
        (TLSv1_2, 0, 1, "uncertain"),
    ] {
        let base = server(&world, version, tickets, answered).await;
        let authority = world.authority_of(&endpoint(&base, &world.ca));
        for _ in 0..answered {
            authority.submit(&wrapped()).await.unwrap();
        }
        let fault = authority.submit(&wrapped()).await.unwrap_err();
        let case = format!("{version:?}, {tickets} tickets, {answered} answered");
        assert_eq!(told(&fault), (class, "tls-client-refused"), "{case}");
        figures.cases(1);
    }
    figures.finish();
}
