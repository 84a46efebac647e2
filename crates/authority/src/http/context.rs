//! What every request needs, and what is asked of its head in several places.

use std::sync::Arc;
use std::time::Duration;

use exchange::{Release, Strictness};
use http::header::{HOST, HeaderMap, HeaderName};
use http::request::Parts;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::faults::FaultPlan;
use crate::http::definition::BASE_PATH;
use crate::http::limits::RateLimiter;
use crate::metrics::Metrics;
use crate::process::validation::Validation;
use crate::store::Store;

/// What is answered about a document of another laboratory (IHE ITI TF-2 appendix Z.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForeignDocument {
    /// 404, as of a document that does not exist: nothing is given away.
    #[default]
    NotFound,
    /// 403: tells that it exists.
    Forbidden,
    /// 200 with an empty searchset, as of a document that does not exist: nothing is given away.
    Empty,
}

/// What every request needs.
pub(crate) struct Context {
    pub(crate) store: Arc<Store>,
    pub(crate) release: Release,
    pub(crate) strictness: Strictness,
    /// By packages of rules, where some are in use.
    pub(crate) validation: Arc<Validation>,
    pub(crate) processing_delay: Duration,
    pub(crate) pause_max: Duration,
    pub(crate) faults: FaultPlan,
    pub(crate) wake: Arc<Notify>,
    pub(crate) foreign: ForeignDocument,
    pub(crate) rate_limiter: Arc<RateLimiter>,
    pub(crate) metrics: Metrics,
    /// Whether `If-None-Exist` is honoured.
    pub(crate) conditional_create: bool,
    /// `{base_url}` by our own address.
    pub(crate) base_url: String,
    /// Cancelled when the service is told to end: whoever asks from then on is told to come back.
    pub(crate) ending: CancellationToken,
    /// Requests that came before that.
    pub(crate) under_way: TaskTracker,
}

pub(crate) fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// A header that stands several times, or cannot be read.
pub(crate) struct Unclear;

/// The value of a header that a request has once at most.
pub(crate) fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Unclear> {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| Unclear),
        (Some(_), Some(_)) => Err(Unclear),
    }
}

/// `{base_url}` as the caller names us.
pub(crate) fn base_of(context: &Context, parts: &Parts) -> String {
    let named = parts
        .uri
        .authority()
        .map(|authority| authority.as_str().to_owned())
        .or_else(|| header(&parts.headers, HOST).map(str::to_owned))
        .filter(|host| host.parse::<http::uri::Authority>().is_ok() && !host.contains('@'));
    match named {
        Some(host) => format!("https://{host}{BASE_PATH}"),
        None => context.base_url.clone(),
    }
}
