//! TLS and connections: a client certificate on every one of them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use exchange::Release;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::AuthorityError;
use crate::faults::FaultPlan;
use crate::pki::{ensure_server, fingerprint};
use crate::routes::{self, BASE_PATH, Context};
use crate::rules::Rules;
use crate::store::Store;
use crate::worker;

/// What to serve.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// A folder that `init` prepared.
    pub data: PathBuf,
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Time between acceptance and processing.
    pub processing_delay: Duration,
    /// Business rules; the default has none.
    pub rules: Rules,
    /// Release of the interface.
    pub release: Release,
    /// Longest pause inside a request's body; whoever is slower is cut.
    pub pause_max: Duration,
    /// Misbehaviour on request; the default has none.
    pub faults: FaultPlan,
}

impl ServeOptions {
    /// A free port on loopback, processed at once, no rules, newest release, no faults.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            processing_delay: Duration::ZERO,
            rules: Rules::default(),
            release: Release::default(),
            pause_max: Duration::from_secs(20),
            faults: FaultPlan::default(),
        }
    }
}

/// A running authority. It runs until its token is cancelled.
#[derive(Debug)]
pub struct Serving {
    /// `https://127.0.0.1:PORT/v1/fhir`
    pub base_url: String,
    /// The address it listens on.
    pub addr: SocketAddr,
    /// The faults it meets; may be changed while it runs.
    pub faults: FaultPlan,
    task: JoinHandle<()>,
}

impl Serving {
    /// Waits until everything has ended: connections, worker, database.
    pub async fn finished(self) {
        // A panic of the accepting task has been logged by the runtime.
        let _ = self.task.await;
    }
}

/// Time for a TLS handshake.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// Time for a request's head, and for an idle connection.
const HEAD_MAX: Duration = Duration::from_secs(60);
/// Time for open requests when the service ends.
const FAREWELL: Duration = Duration::from_secs(5);
/// Connections at once; more wait in the listener's queue.
const CONNECTIONS_MAX: usize = 1024;

/// Starts the service; ready when this returns. Ends, with everything it started, when `shutdown` is
/// cancelled.
pub async fn serve(
    options: ServeOptions,
    shutdown: CancellationToken,
) -> Result<Serving, AuthorityError> {
    if !options.data.join("ca.pem").exists() {
        return Err(AuthorityError::NotInitialised(options.data));
    }
    let tls = TlsAcceptor::from(Arc::new(tls_config(&options.data)?));
    let store = Arc::new(Store::open(&options.data)?);
    let refused = |source| AuthorityError::Listen { address: options.listen, source };
    let listener = TcpListener::bind(options.listen).await.map_err(refused)?;
    let addr = listener.local_addr().map_err(refused)?;
    let host = if addr.ip().is_unspecified() {
        format!("localhost:{}", addr.port())
    } else {
        addr.to_string()
    };
    let base_url = format!("https://{host}{BASE_PATH}");
    let wake = Arc::new(Notify::new());
    let context = Arc::new(Context {
        store: Arc::clone(&store),
        release: options.release,
        processing_delay: options.processing_delay,
        pause_max: options.pause_max,
        faults: options.faults.clone(),
        wake: Arc::clone(&wake),
        base_url: base_url.clone(),
    });
    let task = tokio::spawn(async move {
        let working =
            tokio::spawn(worker::run(store, Arc::new(options.rules), wake, shutdown.clone()));
        accept(&listener, &tls, &context, &shutdown).await;
        let _ = working.await;
    });
    Ok(Serving { base_url, addr, faults: options.faults, task })
}

async fn accept(
    listener: &TcpListener,
    tls: &TlsAcceptor,
    context: &Arc<Context>,
    shutdown: &CancellationToken,
) {
    let connections = TaskTracker::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = async {
                let place = Arc::clone(&places).acquire_owned().await.ok();
                (place, listener.accept().await)
            } => accepted,
        };
        let (place, Ok((stream, _))) = accepted else {
            // Out of file descriptors, or a connection that ended in the queue: others may end.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let (tls, context, shutdown) = (tls.clone(), Arc::clone(context), shutdown.clone());
        connections.spawn(async move {
            connection(stream, &tls, context, &shutdown).await;
            drop(place);
        });
    }
    connections.close();
    connections.wait().await;
}

async fn connection(
    stream: TcpStream,
    tls: &TlsAcceptor,
    context: Arc<Context>,
    shutdown: &CancellationToken,
) {
    let _ = stream.set_nodelay(true);
    let shaken = tokio::select! {
        () = shutdown.cancelled() => return,
        shaken = tokio::time::timeout(HANDSHAKE_MAX, tls.accept(stream)) => shaken,
    };
    let stream = match shaken {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::info!(%error, "handshake refused");
            return;
        }
        Err(_) => return,
    };
    let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
    let Some(print) = certificate.map(|certificate| fingerprint(certificate)) else { return };
    let caller = match context.store.laboratory(print).await {
        Ok(caller) => caller,
        Err(error) => {
            tracing::error!(%error, "the registry cannot be read");
            return;
        }
    };
    let service = service_fn(move |request| {
        let (context, caller) = (Arc::clone(&context), caller.clone());
        async move { routes::answer(&context, caller.as_ref(), request).await }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(128)
        .keep_alive_interval(HEAD_MAX)
        .keep_alive_timeout(HANDSHAKE_MAX);
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = shutdown.cancelled() => {
            serving.as_mut().graceful_shutdown();
            tokio::time::timeout(FAREWELL, serving).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}

fn tls_config(data: &Path) -> Result<ServerConfig, AuthorityError> {
    ensure_server(data)?;
    let mut roots = RootCertStore::empty();
    for authority in certificates(&data.join("ca.pem"))? {
        roots.add(authority).map_err(unusable("trust the CA"))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .map_err(unusable("verify clients by the CA"))?;
    let key = PrivateKeyDer::from_pem_file(data.join("server.key"))
        .map_err(unusable("read the server's key"))?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable("offer TLS 1.2 and 1.3"))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(certificates(&data.join("server.pem"))?, key)
        .map_err(unusable("use the server's certificate"))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, AuthorityError> {
    CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(unusable("read a certificate"))
}

fn unusable<E>(operation: &'static str) -> impl Fn(E) -> AuthorityError
where
    E: std::error::Error + Send + Sync + 'static,
{
    move |source| AuthorityError::Certificate { operation, source: Box::new(source) }
}
