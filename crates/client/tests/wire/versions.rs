//! HTTP/2 where the server speaks it, HTTP/1.1 otherwise, over one connection each.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use client::Authority;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::{IDENTIFIER, World, endpoint, reference, wrapped};

type Seen = Arc<Mutex<Vec<(Version, usize)>>>;

/// A server with these protocols; returns its base address and what it sees.
async fn server(world: &World, protocols: &[&[u8]]) -> (String, Seen) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(world.ca.der().clone()).unwrap();
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let own = world.ca.loopback_server();
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(own.chain, own.key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://localhost:{}/v1/fhir", listener.local_addr().unwrap().port());
    let seen = Seen::default();
    let recording = Arc::clone(&seen);
    tokio::spawn(async move {
        // One connection only: a second one would find nobody.
        let (stream, _) = listener.accept().await.unwrap();
        let stream = acceptor.accept(stream).await.unwrap();
        let service = service_fn(move |request: Request<Incoming>| {
            let recording = Arc::clone(&recording);
            async move {
                let version = request.version();
                let body = request.into_body().collect().await.unwrap().to_bytes();
                recording.lock().unwrap().push((version, body.len()));
                let answer = reference("r-1", "in-progress", IDENTIFIER);
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(answer))))
            }
        });
        let builder = auto::Builder::new(TokioExecutor::new());
        builder.serve_connection(TokioIo::new(stream), service).await.unwrap();
    });
    (base, seen)
}

#[tokio::test]
async fn each_version_over_one_connection() {
    let world = World::new();
    for (protocols, version) in [
        (&[&b"h2"[..], b"http/1.1"][..], Version::HTTP_2),
        (&[&b"http/1.1"[..]][..], Version::HTTP_11),
        (&[][..], Version::HTTP_11),
    ] {
        let (base, seen) = server(&world, protocols).await;
        let authority = world.authority_of(&endpoint(&base, &world.ca));
        for _ in 0..3 {
            authority.submit(&wrapped()).await.unwrap();
        }
        authority.status("r-1").await.unwrap();
        let seen = seen.lock().unwrap().clone();
        let length = wrapped().body.len();
        assert_eq!(seen, [(version, length), (version, length), (version, length), (version, 0)]);
    }
}
