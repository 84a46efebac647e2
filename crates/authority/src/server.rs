//! Connections, from the first to the last: a client certificate on every one of them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use exchange::{Release, Strictness};
use fhir::Instant;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::AuthorityError;
use crate::admin::administration::is_initialised;
use crate::admin::port::{self as admin, Desk, Service};
use crate::faults::{self, FaultPlan};
use crate::http::context::{Context, ForeignDocument};
use crate::http::definition::BASE_PATH;
use crate::http::limits::{Limits, RateLimiter};
use crate::http::paced::Paced;
use crate::http::routes;
use crate::http::unreadable::Explained;
use crate::metrics::Metrics;
use crate::process::rules::Rules;
use crate::process::validation::Validation;
use crate::process::worker;
use crate::store::Store;
use crate::tls::handshake::{HANDSHAKE_MAX, shake};
use crate::tls::pending::Pending;
use crate::tls::pki::Presented;
use crate::tls::places::{PLACES, Place, Places};
use crate::tls::trust::{Terms, Trust, TrustFiles};
use crate::{clock, private};

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
    /// Whether a document must be as the specification has it, or as the deployed service takes it.
    pub strictness: Strictness,
    /// Longest pause inside a request's body; whoever is slower is cut.
    pub pause_max: Duration,
    /// Misbehaviour on request; the default has none.
    pub faults: FaultPlan,
    /// What each laboratory may ask.
    pub limits: Limits,
    /// Limits of single laboratories (TOML); read again when the file changes.
    pub own_limits: Option<PathBuf>,
    /// What is answered about another laboratory's document.
    pub foreign_document: ForeignDocument,
    /// Further CAs and their revocation lists; the default has none.
    pub trust: TrustFiles,
    /// Whether `If-None-Exist` is honoured; the deployed service ignores it, as the default does.
    pub conditional_create: bool,
    /// Where health and metrics are served by plain HTTP; loopback addresses only.
    pub admin: Option<SocketAddr>,
    /// A Unix socket to be made, for its owner only, by which the fault plan is changed; the
    /// default has none.
    pub faults_socket: Option<PathBuf>,
    /// Whether this process leaves the queue to other processes. It may do so only where the store
    /// can be shared.
    pub leave_queue: bool,
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
            strictness: Strictness::default(),
            pause_max: Duration::from_secs(20),
            faults: FaultPlan::default(),
            limits: Limits::default(),
            own_limits: None,
            foreign_document: ForeignDocument::default(),
            trust: TrustFiles::default(),
            conditional_create: false,
            admin: None,
            faults_socket: None,
            leave_queue: false,
        }
    }
}

/// A running authority. It runs until its token is cancelled.
#[derive(Debug)]
pub struct Serving {
    /// The base address of the service, `https://127.0.0.1:PORT/v1/fhir`.
    pub base_url: String,
    /// The address it listens on.
    pub addr: SocketAddr,
    /// The address of the admin port, where one was asked for.
    pub admin: Option<SocketAddr>,
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

/// Time for a request's head, and for an idle connection.
const HEAD_MAX: Duration = Duration::from_secs(60);
/// Time for open requests when the service ends.
const FAREWELL: Duration = Duration::from_secs(5);
/// How often files that may change are looked at while nobody connects.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Shortest time between two looks at the clock when a certificate is about to expire.
const EXPIRY_LOOK_MIN: Duration = Duration::from_millis(10);
/// Bytes of an HTTP/2 header above which the stream is reset without words.
const HEADER_LIST_MAX: u32 = 1 << 20;

/// Starts the service; ready when this returns. Ends, with everything it started, when `shutdown`
/// is cancelled.
pub async fn serve(
    options: ServeOptions,
    shutdown: CancellationToken,
) -> Result<Serving, AuthorityError> {
    if !is_initialised(&options.data) {
        return Err(AuthorityError::NotInitialised(options.data));
    }
    private::close_to_others(&options.data);
    let trust = Arc::new(Trust::open(&options.data, options.trust.clone())?);
    let validation = Validation::open(&options.data)?;
    let store = Arc::new(Store::open(&options.data).await?);
    if options.leave_queue && !store.is_shared() {
        return Err(worker::not_shared());
    }
    let listener = bind(options.listen).await?;
    let addr = address_of(&listener, options.listen)?;
    let (desk_listener, admin) = admin::bind(options.admin).await?.unzip();
    let faults_listener = faults::listen(options.faults_socket)?;
    let base_url = base_url_of(addr);
    let wake = Arc::new(Notify::new());
    let context = Arc::new(Context {
        store: Arc::clone(&store),
        release: options.release,
        strictness: options.strictness,
        validation: Arc::new(validation),
        processing_delay: options.processing_delay,
        pause_max: options.pause_max,
        faults: options.faults.clone(),
        wake: Arc::clone(&wake),
        foreign: options.foreign_document,
        rate_limiter: RateLimiter::new(options.limits, options.own_limits)?,
        metrics: Metrics::default(),
        conditional_create: options.conditional_create,
        base_url: base_url.clone(),
        ending: shutdown.clone(),
        under_way: TaskTracker::new(),
    });
    let (places, pending) = (Places::new(), Pending::new());
    let plan = options.faults.clone();
    let desk = Desk {
        store: Arc::clone(&store),
        ending: shutdown.clone(),
        service: Some(Service { context: Arc::clone(&context), places: (places.all(), PLACES) }),
    };
    let task = tokio::spawn(async move {
        let rules = Arc::new(options.rules);
        let queue_task = (!options.leave_queue)
            .then(|| tokio::spawn(worker::run(store, rules, wake, shutdown.clone())));
        // At `shutdown` nothing new is begun. Later `farewell` cancels `over`, and connections end.
        let over = CancellationToken::new();
        let admin_task = desk_listener
            .map(|listener| tokio::spawn(admin::run(listener, Arc::new(desk), over.clone())));
        let faults_task = faults_listener
            .map(|listener| tokio::spawn(faults::serve(listener, plan, over.clone())));
        let entrance = Arc::new(Entrance { trust: Arc::clone(&trust), pending, places });
        tokio::join!(
            accept(&listener, &entrance, &context, &over),
            watch(&trust, &context, &over),
            farewell(&context, &over)
        );
        if let Some(task) = queue_task {
            let _ = task.await;
        }
        context.store.settled().await;
        for task in [admin_task, faults_task].into_iter().flatten() {
            let _ = task.await;
        }
    });
    Ok(Serving { base_url, addr, admin, faults: options.faults, task })
}

/// The base address that is told to callers. Where the service listens on all addresses of the
/// computer, it is `localhost`, because an address like `0.0.0.0` is none to connect to.
fn base_url_of(addr: SocketAddr) -> String {
    let host = if addr.ip().is_unspecified() {
        format!("localhost:{}", addr.port())
    } else {
        addr.to_string()
    };
    format!("https://{host}{BASE_PATH}")
}

async fn bind(address: SocketAddr) -> Result<TcpListener, AuthorityError> {
    let refused = |source| AuthorityError::Listen { address, source };
    TcpListener::bind(address).await.map_err(refused)
}

fn address_of(listener: &TcpListener, address: SocketAddr) -> Result<SocketAddr, AuthorityError> {
    listener.local_addr().map_err(|source| AuthorityError::Listen { address, source })
}

/// Looks whether the revocation list or the limits have changed, also while nobody connects. When
/// the list has changed, open connections end, so that a revoked certificate is not used further.
async fn watch(trust: &Trust, context: &Context, over: &CancellationToken) {
    loop {
        tokio::select! {
            () = over.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {
                // Asking for the terms reads a list again that has changed; the terms themselves
                // are not needed here.
                drop(trust.terms());
                context.rate_limiter.look();
            }
        }
    }
}

/// How often a service that ends tries to put on record what it has refused.
const LAST_WORDS: usize = 3;

/// Waits until the service is told to end, gives the requests under way some time, writes into the
/// audit log what was refused and is not there yet, and then ends the connections by `over`.
async fn farewell(context: &Context, over: &CancellationToken) {
    context.ending.cancelled().await;
    context.under_way.close();
    if tokio::time::timeout(FAREWELL, context.under_way.wait()).await.is_err() {
        tracing::warn!("ended over open requests");
    }
    for _ in 0..LAST_WORDS {
        for (laboratory, certificate, refusals) in context.rate_limiter.unrecorded() {
            // Callers that are no laboratory share one number, which the log leaves out.
            let known = Some(laboratory).filter(|id| *id != routes::STRANGERS);
            let entry = routes::throttled(known, &certificate, refusals);
            // There is nobody left to tell of a failure; a database that is busy is tried again.
            if context.store.audit(entry).await.is_err() {
                context.rate_limiter.give_back(laboratory, refusals);
            }
        }
    }
    over.cancel();
}

/// What a connection passes before its first request.
struct Entrance {
    /// Limits how many callers whose certificate is not known yet may wait or shake hands.
    pending: Pending,
    trust: Arc<Trust>,
    /// Limits how many connections there are of callers that have shown their certificate.
    places: Places,
}

async fn accept(
    listener: &TcpListener,
    entrance: &Arc<Entrance>,
    context: &Arc<Context>,
    over: &CancellationToken,
) {
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = over.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, peer)) = accepted else {
            // The process has no file descriptor left, or the connection ended before it was
            // accepted. Neither is a reason to stop: a descriptor becomes free when another ends.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let (entrance, context, over) = (Arc::clone(entrance), Arc::clone(context), over.clone());
        connections.spawn(async move {
            let terms = entrance.trust.terms();
            let known = tokio::select! {
                () = over.cancelled() => None,
                known = known(stream, peer, &entrance, &terms, &context) => known,
            };
            if let Some((stream, certificate, _place)) = known {
                connection(stream, certificate, &terms, context, &over).await;
            }
        });
    }
    connections.close();
    connections.wait().await;
}

/// Waits for the handshake, and gives the connection, the certificate that it has shown, and its
/// place among the connections, which is given back when it is dropped. `None`: it is ended.
async fn known(
    stream: TcpStream,
    peer: SocketAddr,
    entrance: &Entrance,
    terms: &Terms,
    context: &Context,
) -> Option<(TlsStream<TcpStream>, Arc<Presented>, Place)> {
    let _ = stream.set_nodelay(true);
    let turn = entrance.pending.turn(&stream, peer.ip()).await?;
    let stream = tokio::select! {
        () = turn.displaced() => return None,
        shaken = shake(stream, &entrance.trust, terms, &context.faults) => shaken?,
    };
    drop(turn);
    let certificate = stream.get_ref().1.peer_certificates().and_then(Presented::of)?;
    let laboratory = context.store.laboratory(certificate.fingerprint.clone()).await.ok().flatten();
    // A certificate that belongs to no laboratory counts as a caller of its own.
    let laboratory = match laboratory {
        Some(laboratory) => laboratory.id.to_string(),
        None => certificate.fingerprint.clone(),
    };
    let place = entrance.places.take(laboratory, peer.ip()).await?;
    Some((stream, Arc::new(certificate), place))
}

async fn connection(
    stream: TlsStream<TcpStream>,
    certificate: Arc<Presented>,
    terms: &Terms,
    context: Arc<Context>,
    over: &CancellationToken,
) {
    let valid_until = certificate.valid_until;
    let stream = Explained::new(Paced::new(stream, context.pause_max));
    let service = service_fn(move |request| {
        let (context, certificate) = (Arc::clone(&context), Arc::clone(&certificate));
        async move { routes::answer(&context, &certificate, request).await }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        // A courier has eight. What is sent and not taken stays in memory for each.
        .max_concurrent_streams(16)
        // Longer headers are refused by `routes`, with an OperationOutcome.
        .max_header_list_size(HEADER_LIST_MAX)
        .keep_alive_interval(HEAD_MAX)
        .keep_alive_timeout(HANDSHAKE_MAX);
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => Some(ended),
        // The revocation list has changed. Every connection ends, also where the change does not
        // concern it: whoever is still let in connects again.
        () = terms.over.cancelled() => None,
        () = expiry(valid_until) => None,
        () = over.cancelled() => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            serving.as_mut().graceful_shutdown();
            tokio::time::timeout(FAREWELL, serving).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}

/// Waits until a certificate has expired. The clock of the computer may be set while this waits, so
/// it is looked at again and again.
async fn expiry(valid_until: Instant) {
    loop {
        let left = valid_until.0.saturating_sub(clock::now().0);
        let Ok(left) = u64::try_from(left) else { return };
        tokio::time::sleep(Duration::from_micros(left).clamp(EXPIRY_LOOK_MIN, LOOK_EVERY)).await;
    }
}
