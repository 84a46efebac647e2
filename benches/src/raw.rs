//! The baselines: nothing but sending prepared bodies.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use exchange::wrap;
use fhir::{Format, Limits, Tree};
use rustls::ClientConfig;

use crate::Result;

const CONNECTIONS: usize = 8;
const MEDIA_TYPE: &str = "application/fhir+json";

/// A document in its envelope, with an identifier of its own.
pub(crate) fn body(document: &str) -> Result<Vec<u8>> {
    let tree = Tree::read(document.as_bytes(), Format::Json, &Limits::default())
        .map_err(|finding| finding.code)?;
    let identifier = format!("urn:uuid:{}", uuid::Uuid::new_v4());
    Ok(wrap(&tree, &identifier, "de-CH").map_err(|_| "not a document")?.body)
}

/// Eight connections kept alive, HTTP/1.1, each one request at a time.
pub(crate) async fn post(tls: &ClientConfig, base: &str, bodies: Vec<Vec<u8>>) -> Result<Duration> {
    let bodies = Arc::new(bodies);
    let next = Arc::new(AtomicUsize::new(0));
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        let tls = tls.clone();
        let builder = reqwest::Client::builder().tls_backend_preconfigured(tls);
        clients.push(builder.http1_only().no_proxy().build()?);
    }
    let url = format!("{base}/DocumentReference");
    let began = Instant::now();
    let mut tasks = Vec::new();
    for client in clients {
        let (bodies, next, url) = (Arc::clone(&bodies), Arc::clone(&next), url.clone());
        tasks.push(tokio::spawn(async move {
            while let Some(body) = bodies.get(next.fetch_add(1, Ordering::Relaxed)) {
                let request = client.post(&url).header("content-type", MEDIA_TYPE);
                let response =
                    request.header("accept", MEDIA_TYPE).body(body.clone()).send().await?;
                response.error_for_status()?.bytes().await?;
            }
            Ok::<_, reqwest::Error>(())
        }));
    }
    for task in tasks {
        task.await??;
    }
    Ok(began.elapsed())
}

/// One process of curl for each file; `None` where there is no curl.
pub(crate) fn curl(
    base: &str,
    ca: &Path,
    identity: &Path,
    bodies: &[PathBuf],
) -> Result<Option<Duration>> {
    let began = Instant::now();
    for body in bodies {
        let mut at = std::ffi::OsString::from("@");
        at.push(body);
        let status = Command::new("curl")
            .args(["--silent", "--fail", "--output", "/dev/null", "--noproxy", "*"])
            .args(["--header", "Content-Type: application/fhir+json", "--cacert"])
            .arg(ca)
            .arg("--cert")
            .arg(identity)
            .arg("--data-binary")
            .arg(at)
            .arg(format!("{base}/DocumentReference"))
            .stderr(Stdio::null())
            .status();
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(format!("curl: {status}").into()),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(began.elapsed()))
}
