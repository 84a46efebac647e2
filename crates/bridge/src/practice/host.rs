//! Who runs the practice authority of a profile: one program at a time, whoever holds the lock
//! file. The others use it, and take over when it ends.

use std::fs::{self, File, TryLockError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use authority::{PRACTICE_RULES, Rules, ServeOptions, Serving, serve};
use engine::Engine;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{ENDPOINT, failed, file};
use crate::problem::Problem;

/// Time between acceptance and processing: long enough to see "in progress" go by.
const PROCESSING_DELAY: Duration = Duration::from_secs(2);
/// How often a guest looks whether the host has gone, and how often it looks for its address.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// A host that has the lock writes its address within this time.
const ADDRESS_WITHIN: Duration = Duration::from_secs(10);

/// The practice authority as this program knows it. Keeps it running, or keeps watch over the
/// program that runs it, until stopped.
pub(super) struct Host {
    cancel: CancellationToken,
    task: JoinHandle<()>,
}

/// An authority that runs in this program. The lock is free once this is dropped, also by a kill.
struct Own {
    serving: Serving,
    shutdown: CancellationToken,
    _lock: File,
}

impl Host {
    pub(super) async fn start(engine: Engine, data: PathBuf) -> Result<Self, Problem> {
        let deadline = tokio::time::Instant::now() + ADDRESS_WITHIN;
        let own = loop {
            if let Some(lock) = try_lock(&data)? {
                break Some(run(&engine, &data, lock).await?);
            }
            if use_other(&engine, &data).await? {
                break None;
            }
            if tokio::time::Instant::now() >= deadline {
                return Err(failed(&"the program that runs it does not answer"));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        };
        let cancel = CancellationToken::new();
        let task = tokio::spawn(keep(engine, data, own, cancel.clone()));
        Ok(Self { cancel, task })
    }

    pub(super) async fn stop(self) {
        self.cancel.cancel();
        // A panic of the task has been printed by its thread.
        let _ = self.task.await;
    }
}

/// Runs until cancelled; a guest becomes the host when the former host has gone.
async fn keep(engine: Engine, data: PathBuf, own: Option<Own>, cancel: CancellationToken) {
    let mut own = own;
    while own.is_none() {
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        // What fails here is tried again at the next look; until then the endpoint is unreachable,
        // which the worker shows.
        if let Ok(Some(lock)) = try_lock(&data) {
            own = run(&engine, &data, lock).await.ok();
        }
    }
    cancel.cancelled().await;
    if let Some(own) = own {
        // Without it a guest would look for us until it finds the lock free.
        let _ = fs::remove_file(address_file(&data));
        own.shutdown.cancel();
        own.serving.finished().await;
    }
}

/// The lock, if no other program holds it.
fn try_lock(data: &Path) -> Result<Option<File>, Problem> {
    let path = data.join("serving.lock");
    let lock = File::options().create(true).append(true).open(&path);
    let lock = lock.map_err(|error| file(&path, &error))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(file(&path, &error)),
    }
}

/// Serves, at the port of the last time if it is free, so that reports under way find it again.
async fn run(engine: &Engine, data: &Path, lock: File) -> Result<Own, Problem> {
    let last = endpoint_port(engine);
    let mut started = None;
    for port in [last, Some(0)].into_iter().flatten() {
        let mut options = ServeOptions::new(data);
        options.listen = SocketAddr::from(([127, 0, 0, 1], port));
        options.processing_delay = PROCESSING_DELAY;
        options.rules = Rules::parse(PRACTICE_RULES).map_err(|error| failed(&error))?;
        let shutdown = CancellationToken::new();
        match serve(options, shutdown.clone()).await {
            Ok(serving) => {
                started = Some((serving, shutdown));
                break;
            }
            Err(authority::AuthorityError::Listen { .. }) if port != 0 => {}
            Err(error) => return Err(failed(&error)),
        }
    }
    let (serving, shutdown) = started.ok_or_else(|| failed(&"no free port"))?;
    point(engine, &serving.base_url).await?;
    let address = address_file(data);
    let fresh = address.with_extension("new");
    fs::write(&fresh, &serving.base_url)
        .and_then(|()| fs::rename(&fresh, &address))
        .map_err(|error| file(&address, &error))?;
    Ok(Own { serving, shutdown, _lock: lock })
}

/// Uses the authority that another program runs; `false` where it does not answer (yet).
async fn use_other(engine: &Engine, data: &Path) -> Result<bool, Problem> {
    let Ok(text) = fs::read_to_string(address_file(data)) else { return Ok(false) };
    let Ok(url) = Url::parse(text.trim()) else { return Ok(false) };
    let Some(port) = url.port() else { return Ok(false) };
    if TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        return Ok(false);
    }
    point(engine, text.trim()).await?;
    Ok(true)
}

/// Points the practice endpoint at this address, unless it points there already.
async fn point(engine: &Engine, base_url: &str) -> Result<(), Problem> {
    let base = Url::parse(base_url).map_err(|error| failed(&error))?;
    let profile = engine.profile();
    let Some(endpoint) = profile.endpoint_named(ENDPOINT) else {
        return Err(Problem::new("unknown-endpoint", &[("name", ENDPOINT)], "practice"));
    };
    if endpoint.base != base {
        let mut endpoint = endpoint.clone();
        endpoint.base = base;
        engine.replace_endpoint(endpoint).await?;
    }
    Ok(())
}

fn endpoint_port(engine: &Engine) -> Option<u16> {
    let profile = engine.profile();
    profile.endpoint_named(ENDPOINT)?.base.port().filter(|port| *port > 1)
}

fn address_file(data: &Path) -> PathBuf {
    data.join("address")
}
