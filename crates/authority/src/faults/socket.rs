//! The socket by which the fault plan is changed while the service runs: whoever may write to it
//! can make the service misbehave, so that it is there on request only, and for its owner only.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{FaultPlan, FaultScript};
use crate::plain::{not_allowed, text};
use crate::{AuthorityError, private};

/// Time for a request.
const REQUEST_MAX: Duration = Duration::from_secs(10);
/// Bytes of a fault plan.
const PLAN_MAX: usize = 1 << 20;

/// A socket that is removed with the service.
pub(crate) struct Listener {
    listener: UnixListener,
    path: PathBuf,
}

/// Makes the socket, where one is asked for. What a process left there that is no more is replaced;
/// a file that is no socket, or one at which somebody answers, is not.
pub(crate) fn listen(asked: Option<PathBuf>) -> Result<Option<Listener>, AuthorityError> {
    let Some(path) = asked else { return Ok(None) };
    let made = make(&path);
    let listener = made.map_err(|source| AuthorityError::File { path: path.clone(), source })?;
    Ok(Some(Listener { listener, path }))
}

fn make(path: &Path) -> std::io::Result<UnixListener> {
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
    if let Ok(there) = std::fs::symlink_metadata(path) {
        let is_dead =
            there.file_type().is_socket() && std::os::unix::net::UnixStream::connect(path).is_err();
        if !is_dead {
            return Err(std::io::ErrorKind::AddrInUse.into());
        }
    }
    // In a folder that is closed to others until it has its mode: a socket is open to whoever the
    // umask lets in.
    let closed = path.with_added_extension(uuid::Uuid::new_v4().simple().to_string());
    private::make_folder(&closed)?;
    let draft = closed.join("s");
    let made = (|| {
        let listener = UnixListener::bind(&draft)?;
        std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o600))?;
        std::fs::rename(&draft, path)?;
        Ok(listener)
    })();
    // Whatever became of it: nothing of ours stays beside it.
    let _ = std::fs::remove_file(&draft);
    let _ = std::fs::remove_dir(&closed);
    made
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Serves until the token is cancelled.
pub(crate) async fn serve(listener: Listener, plan: FaultPlan, shutdown: CancellationToken) {
    let connections = TaskTracker::new();
    let plan = Arc::new(plan);
    loop {
        let stream = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = listener.listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            },
        };
        let (plan, shutdown) = (Arc::clone(&plan), shutdown.clone());
        connections.spawn(async move {
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = connection(stream, &plan) => {}
            }
        });
    }
    connections.close();
    connections.wait().await;
}

async fn connection(stream: UnixStream, plan: &Arc<FaultPlan>) {
    let service = service_fn(|request| {
        let plan = Arc::clone(plan);
        async move {
            let answered = tokio::time::timeout(REQUEST_MAX, answer(&plan, request)).await;
            let late = || text(StatusCode::REQUEST_TIMEOUT, "too slow\n".to_owned());
            Ok::<_, std::convert::Infallible>(answered.unwrap_or_else(|_| late()))
        }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(REQUEST_MAX);
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection of the fault plan ended");
    }
}

async fn answer(faults: &FaultPlan, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    if parts.uri.path() != "/faults" {
        return text(StatusCode::NOT_FOUND, "here is /faults\n".to_owned());
    }
    match parts.method {
        Method::GET => told(faults),
        Method::PUT => match Limited::new(body, PLAN_MAX).collect().await {
            Ok(body) => replaced(faults, &body.to_bytes()),
            Err(_) => text(StatusCode::BAD_REQUEST, "no fault plan, or too long\n".to_owned()),
        },
        Method::DELETE => {
            faults.clear();
            told(faults)
        }
        _ => not_allowed("GET, PUT, DELETE"),
    }
}

fn replaced(faults: &FaultPlan, body: &[u8]) -> Response<Full<Bytes>> {
    let read = std::str::from_utf8(body).map_err(|error| error.to_string());
    match read.and_then(|text| FaultScript::parse(text).map_err(|error| error.to_string())) {
        Ok(script) => {
            faults.replace(script);
            told(faults)
        }
        Err(words) => text(StatusCode::BAD_REQUEST, format!("{words}\n")),
    }
}

fn told(faults: &FaultPlan) -> Response<Full<Bytes>> {
    match faults.script().to_toml() {
        Ok(plan) => text(StatusCode::OK, plan),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}
