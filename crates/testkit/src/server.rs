//! A real TLS server on loopback that does what a test tells it to, and counts what reached it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::certificates::ServerCertificate;
use crate::reaction::{Reaction, react};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Number of the request, from 0.
    pub number: usize,
    /// HTTP method.
    pub method: String,
    /// Path and query as sent.
    pub target: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body as far as it was read.
    pub body: Vec<u8>,
    /// The client's own certificate.
    pub client: Option<CertificateDer<'static>>,
}

impl Seen {
    /// First header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Protocol versions that the server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum TlsVersions {
    Both,
    Only12,
    Only13,
}

/// TLS of a scripted server.
pub struct ScriptedTls {
    /// Certificate that it shows.
    pub server: ServerCertificate,
    /// CA whose client certificates it demands; `None` asks for none.
    pub client_ca: Option<CertificateDer<'static>>,
    /// The versions of TLS that it offers.
    pub versions: TlsVersions,
}

impl ScriptedTls {
    /// Mutual TLS with both versions.
    pub fn mutual(server: ServerCertificate, client_ca: &CertificateDer<'static>) -> Self {
        Self { server, client_ca: Some(client_ca.clone()), versions: TlsVersions::Both }
    }

    fn config(self) -> ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions: &[&rustls::SupportedProtocolVersion] = match self.versions {
            TlsVersions::Both => &[&rustls::version::TLS13, &rustls::version::TLS12],
            TlsVersions::Only12 => &[&rustls::version::TLS12],
            TlsVersions::Only13 => &[&rustls::version::TLS13],
        };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .unwrap();
        let builder = match self.client_ca {
            Some(ca) => {
                let mut roots = RootCertStore::empty();
                roots.add(ca).unwrap();
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
            None => builder.with_no_client_auth(),
        };
        builder.with_single_cert(self.server.chain, self.server.key).unwrap()
    }
}

type Plan = dyn Fn(&Seen) -> Reaction + Send + Sync;

#[derive(Default)]
struct Counts {
    connections: AtomicUsize,
    handshakes: AtomicUsize,
    body_bytes: AtomicUsize,
    seen: Mutex<Vec<Seen>>,
}

/// The server. It stops when dropped.
pub struct ScriptedServer {
    address: SocketAddr,
    counts: Arc<Counts>,
    acceptor: Arc<Mutex<Option<TlsAcceptor>>>,
    task: JoinHandle<()>,
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ScriptedServer {
    /// Starts with TLS. The plan is asked for every request twice: with the head alone
    /// (`CutAfterHead` is obeyed then) and with the whole request; so it may depend on nothing but
    /// what it is given.
    pub async fn start(
        tls: ScriptedTls,
        plan: impl Fn(&Seen) -> Reaction + Send + Sync + 'static,
    ) -> Self {
        Self::serve(Some(TlsAcceptor::from(Arc::new(tls.config()))), Arc::new(plan)).await
    }

    /// Starts without TLS (a proxy, a captive portal, something that is no TLS server at all).
    pub async fn start_plain(plan: impl Fn(&Seen) -> Reaction + Send + Sync + 'static) -> Self {
        Self::serve(None, Arc::new(plan)).await
    }

    async fn serve(acceptor: Option<TlsAcceptor>, plan: Arc<Plan>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::new(Counts::default());
        let counting = Arc::clone(&counts);
        let acceptor = Arc::new(Mutex::new(acceptor));
        let accepting = Arc::clone(&acceptor);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                counting.connections.fetch_add(1, Ordering::SeqCst);
                let acceptor = accepting.lock().unwrap().clone();
                let work = connection(stream, acceptor, plan.clone(), counting.clone());
                connections.spawn(work);
            }
        });
        Self { address, counts, acceptor, task }
    }

    /// Greets new connections with this from now on; what is open stays open.
    pub fn set_tls(&self, tls: ScriptedTls) {
        *self.acceptor.lock().unwrap() = Some(TlsAcceptor::from(Arc::new(tls.config())));
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base address of the server, `https://localhost:PORT/v1/fhir`.
    pub fn base(&self) -> String {
        format!("https://localhost:{}/v1/fhir", self.address.port())
    }

    /// Connections accepted.
    pub fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::SeqCst)
    }

    /// TLS handshakes completed.
    pub fn handshakes(&self) -> usize {
        self.counts.handshakes.load(Ordering::SeqCst)
    }

    /// Bytes of request bodies received, also of those not received whole.
    pub fn body_bytes(&self) -> usize {
        self.counts.body_bytes.load(Ordering::SeqCst)
    }

    /// Requests so far, in order.
    pub fn seen(&self) -> Vec<Seen> {
        self.counts.seen.lock().unwrap().clone()
    }

    /// Request bodies received whole.
    pub fn bodies(&self) -> usize {
        self.seen().iter().filter(|seen| !seen.body.is_empty()).count()
    }
}

async fn connection(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    plan: Arc<Plan>,
    counts: Arc<Counts>,
) {
    let Some(acceptor) = acceptor else {
        return requests(stream, None, &*plan, &counts).await;
    };
    let Ok(stream) = acceptor.accept(stream).await else { return };
    counts.handshakes.fetch_add(1, Ordering::SeqCst);
    let peer = stream.get_ref().1.peer_certificates();
    let client = peer.and_then(|chain| chain.first()).map(|der| der.clone().into_owned());
    requests(stream, client, &*plan, &counts).await;
}

/// Serves requests on one connection until it is to be closed or the client closes it.
async fn requests<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    client: Option<CertificateDer<'static>>,
    plan: &Plan,
    counts: &Counts,
) {
    let mut buffer: Vec<u8> = Vec::new();
    loop {
        let Some(head_end) = read_head(&mut stream, &mut buffer).await else { return };
        let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
        buffer.drain(..head_end);
        let mut seen = parse_head(&head);
        seen.client.clone_from(&client);
        seen.number = counts.seen.lock().unwrap().len();
        // A plan may decide on the head alone; the body is then left unread.
        let early = plan(&seen);
        if !matches!(early, Reaction::CutAfterHead | Reaction::Deaf) {
            let length: usize =
                seen.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
            let mut chunk = [0u8; 16 * 1024];
            while buffer.len() < length {
                match stream.read(&mut chunk).await {
                    Ok(read) if read > 0 => buffer.extend_from_slice(&chunk[..read]),
                    _ => {
                        counts.body_bytes.fetch_add(buffer.len(), Ordering::SeqCst);
                        return;
                    }
                }
            }
            seen.body = buffer.drain(..length).collect();
        }
        counts.body_bytes.fetch_add(seen.body.len(), Ordering::SeqCst);
        counts.seen.lock().unwrap().push(seen.clone());
        if !react(&mut stream, plan(&seen)).await {
            return;
        }
    }
}

async fn read_head<S: AsyncRead + Unpin>(stream: &mut S, buffer: &mut Vec<u8>) -> Option<usize> {
    let mut chunk = [0u8; 4096];
    loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            return Some(at + 4);
        }
        match stream.read(&mut chunk).await {
            Ok(read) if read > 0 => buffer.extend_from_slice(&chunk[..read]),
            _ => return None,
        }
    }
}

fn parse_head(head: &str) -> Seen {
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ').map(ToOwned::to_owned);
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Seen {
        number: 0,
        method: words.next().unwrap_or_default(),
        target: words.next().unwrap_or_default(),
        headers,
        body: Vec::new(),
        client: None,
    }
}
