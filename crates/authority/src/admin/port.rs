//! The admin port: health and metrics, by plain HTTP on a loopback address only.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fhir::Instant;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::http::context::{Context, header};
use crate::metrics::{Gauges, Metrics};
use crate::plain::{not_allowed, text};
use crate::store::Store;
use crate::{AuthorityError, clock};

/// Time for a request.
const REQUEST_MAX: Duration = Duration::from_secs(10);

/// What the admin port tells about.
pub(crate) struct Desk {
    pub(crate) store: Arc<Store>,
    /// The process is told to end.
    pub(crate) ending: CancellationToken,
    /// A process that only works the queue serves nobody.
    pub(crate) service: Option<Service>,
}

/// Of a process that answers laboratories.
pub(crate) struct Service {
    pub(crate) context: Arc<Context>,
    /// Places of its connections, and how many there are in all.
    pub(crate) places: (Arc<Semaphore>, usize),
}

/// The port and its address, where one is asked for; only on a loopback address.
pub(crate) async fn bind(
    asked: Option<SocketAddr>,
) -> Result<Option<(TcpListener, SocketAddr)>, AuthorityError> {
    let Some(address) = asked else { return Ok(None) };
    if !address.ip().is_loopback() {
        return Err(AuthorityError::AdminAddress(address));
    }
    let refused = |source| AuthorityError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    Ok(Some((listener, address)))
}

/// Serves until the token is cancelled.
pub(crate) async fn run(listener: TcpListener, desk: Arc<Desk>, shutdown: CancellationToken) {
    let connections = TaskTracker::new();
    loop {
        let stream = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            },
        };
        let (desk, shutdown) = (Arc::clone(&desk), shutdown.clone());
        connections.spawn(async move {
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = connection(stream, &desk) => {}
            }
        });
    }
    connections.close();
    connections.wait().await;
}

async fn connection(stream: TcpStream, desk: &Arc<Desk>) {
    let service = service_fn(|request| {
        let desk = Arc::clone(desk);
        async move {
            let answered = tokio::time::timeout(REQUEST_MAX, answer(&desk, request)).await;
            let late = || text(StatusCode::REQUEST_TIMEOUT, "too slow\n".to_owned());
            Ok::<_, std::convert::Infallible>(answered.unwrap_or_else(|_| late()))
        }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(REQUEST_MAX);
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "admin connection ended");
    }
}

async fn answer(desk: &Desk, request: Request<Incoming>) -> Response<Full<Bytes>> {
    if !named_here(header(request.headers(), HOST)) {
        // A web page that was given this address under its own name.
        return text(StatusCode::FORBIDDEN, "this port is for this computer\n".to_owned());
    }
    match (request.uri().path(), request.method()) {
        ("/healthz", &Method::GET) => text(StatusCode::OK, "alive\n".to_owned()),
        ("/readyz", &Method::GET) if desk.ending.is_cancelled() => {
            text(StatusCode::SERVICE_UNAVAILABLE, "ending\n".to_owned())
        }
        ("/readyz", &Method::GET) => match desk.store.waiting().await {
            Ok(_) => text(StatusCode::OK, "ready\n".to_owned()),
            Err(error) => {
                tracing::error!(%error, "not ready");
                text(StatusCode::SERVICE_UNAVAILABLE, "the database fails\n".to_owned())
            }
        },
        ("/metrics", &Method::GET) => metrics(desk).await,
        ("/healthz" | "/readyz" | "/metrics", _) => not_allowed("GET"),
        _ => text(StatusCode::NOT_FOUND, "here are /healthz, /readyz and /metrics\n".to_owned()),
    }
}

async fn metrics(desk: &Desk) -> Response<Full<Bytes>> {
    let Ok((waiting, first)) = desk.store.waiting().await else {
        return text(StatusCode::SERVICE_UNAVAILABLE, "the database fails\n".to_owned());
    };
    let late = first.map_or(0, |Instant(due)| clock::now().0.saturating_sub(due));
    let late = Duration::from_micros(u64::try_from(late).unwrap_or(0));
    let words = match &desk.service {
        Some(Service { context, places: (places, all) }) => context.metrics.text(Gauges {
            open_requests: context.rate_limiter.open(),
            connections: all.saturating_sub(places.available_permits()),
            waiting,
            late,
        }),
        None => Metrics::default().text(Gauges { open_requests: 0, connections: 0, waiting, late }),
    };
    let mut response = text(StatusCode::OK, words);
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Whether a `Host` names this computer.
fn named_here(host: Option<&str>) -> bool {
    let Some(host) = host else { return false };
    if let Ok(address) = host.parse::<SocketAddr>() {
        return address.ip().is_loopback();
    }
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name.eq_ignore_ascii_case("localhost")
        || name
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}
