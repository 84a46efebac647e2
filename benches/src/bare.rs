//! A server that does nothing but mutual TLS and answering: what is left is the cost of sending.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use testkit::TestCa;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::Result;

/// A running bare server; ends when dropped.
pub(crate) struct Bare {
    /// The base address of the bare server, `https://…/v1/fhir`.
    pub(crate) base: String,
    task: JoinHandle<()>,
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Bare {
    /// Listens on a free port of loopback.
    pub(crate) async fn serve(ca: &TestCa) -> Result<Self> {
        Self::serve_late(ca, Duration::ZERO).await
    }

    /// The same, each answer so late.
    pub(crate) async fn serve_late(ca: &TestCa, late: Duration) -> Result<Self> {
        let acceptor = TlsAcceptor::from(Arc::new(tls(ca)?));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base = format!("https://{}/v1/fhir", listener.local_addr()?);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let _ = stream.set_nodelay(true);
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let builder = auto::Builder::new(TokioExecutor::new());
                    let service = service_fn(|request| async move {
                        if !late.is_zero() {
                            tokio::time::sleep(late).await;
                        }
                        answer(request).await
                    });
                    // A connection that ends is the client's affair.
                    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Ok(Self { base, task })
    }
}

fn tls(ca: &TestCa) -> Result<ServerConfig> {
    let server = ca.loopback_server();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(ca.der().clone())?;
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(server.chain, server.key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

async fn answer(
    request: Request<Incoming>,
) -> std::result::Result<Response<Full<Bytes>>, Infallible> {
    let create = request.method() == Method::POST;
    let body = match request.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => Bytes::new(),
    };
    let (status, text) = if create {
        (StatusCode::CREATED, accepted(&identifier(&body)))
    } else {
        (StatusCode::OK, r#"{"resourceType":"Bundle","type":"searchset","total":0}"#.to_owned())
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(
        hyper::header::CONTENT_TYPE,
        hyper::header::HeaderValue::from_static("application/fhir+json"),
    );
    Ok(response)
}

/// The identifier of the envelope, which stands after the document.
fn identifier(body: &[u8]) -> String {
    let tail = &body[body.len().saturating_sub(400)..];
    let text = String::from_utf8_lossy(tail);
    text.rfind("urn:uuid:").and_then(|at| text.get(at..at + 45)).unwrap_or_default().to_owned()
}

fn accepted(identifier: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let extension = "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-ext-elm-status";
    format!(
        r##"{{"resourceType":"DocumentReference","id":"{id}","extension":[{{"extension":[{{"url":"status","valueCode":"in-progress"}}],"url":"{extension}"}}],"identifier":[{{"system":"urn:ietf:rfc:3986","value":"{identifier}"}}],"status":"current","content":[{{"attachment":{{"language":"de-CH","url":"#document"}}}}]}}"##
    )
}
