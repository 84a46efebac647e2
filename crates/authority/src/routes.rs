//! One table of routes; every request, broken ones too, ends in a FHIR answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use exchange::{Negotiated, Processing, Release, negotiate, pairs, parse_media_type};
use fhir::Format;
use http::header::{
    ACCEPT, ALLOW, CONTENT_TYPE, ETAG, HOST, HeaderMap, HeaderName, IF_NONE_MATCH, LAST_MODIFIED,
    LOCATION, RETRY_AFTER,
};
use http::{Method, Request, Response, StatusCode, request::Parts};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::sync::Notify;

use crate::body::{body_format, read_body};
use crate::clock;
use crate::faults::{FaultKind, FaultPlan, Interaction};
use crate::intake::{Submission, examine};
use crate::reply::{Reply, html_page};
use crate::search::{self, Manner, reference};
use crate::store::{Found, Laboratory, NewDocument, Store, StoreError};
use crate::wire::{Reference, ReferenceFacts};

/// What every request needs.
pub(crate) struct Context {
    pub(crate) store: Arc<Store>,
    pub(crate) release: Release,
    pub(crate) processing_delay: Duration,
    pub(crate) pause_max: Duration,
    pub(crate) faults: FaultPlan,
    pub(crate) wake: Arc<Notify>,
    /// `{base_url}` by our own address.
    pub(crate) base_url: String,
}

/// The connection ends without an answer.
#[derive(Debug, thiserror::Error)]
#[error("cut on request")]
pub(crate) struct Cut;

/// Path of `{base_url}`.
pub(crate) const BASE_PATH: &str = "/v1/fhir";
/// What a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Collection,
    SearchForm,
    Instance(String),
    Capabilities,
}

impl Target {
    fn of(path: &str) -> Option<Self> {
        let rest = path.strip_prefix(BASE_PATH)?.strip_prefix('/')?;
        let parts: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
        match parts.as_slice() {
            ["metadata"] => Some(Self::Capabilities),
            ["DocumentReference"] => Some(Self::Collection),
            ["DocumentReference", "_search"] => Some(Self::SearchForm),
            ["DocumentReference", id] if !id.is_empty() => Some(Self::Instance((*id).to_owned())),
            _ => None,
        }
    }

    const fn allowed(&self) -> &'static str {
        match self {
            Self::Collection => "GET, HEAD, POST",
            Self::SearchForm => "POST",
            Self::Instance(_) | Self::Capabilities => "GET, HEAD",
        }
    }

    fn interaction(&self, method: &Method) -> Option<Interaction> {
        let reading = matches!(*method, Method::GET | Method::HEAD);
        match self {
            Self::Collection if *method == Method::POST => Some(Interaction::Create),
            Self::SearchForm if *method == Method::POST => Some(Interaction::Search),
            Self::Collection if reading => Some(Interaction::Search),
            Self::Instance(_) if reading => Some(Interaction::Read),
            Self::Capabilities if reading => Some(Interaction::Capabilities),
            _ => None,
        }
    }
}

/// Answers one request; `Err` cuts the connection.
pub(crate) async fn answer(
    context: &Context,
    caller: Option<&Laboratory>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Cut> {
    let (parts, body) = request.into_parts();
    let head = parts.method == Method::HEAD;
    let asked = pairs(parts.uri.query().unwrap_or_default()).find(|(name, _)| name == "_format");
    // An answer follows the request's own encoding where it is not asked for another.
    let own =
        header(&parts.headers, CONTENT_TYPE).and_then(parse_media_type).unwrap_or(Format::Json);
    let accept = header(&parts.headers, ACCEPT);
    let wanted = negotiate(accept, asked.as_ref().map(|(_, value)| value.as_str()), own);
    let Negotiated::Format(format) = wanted else {
        let words = "Answers are application/fhir+json or application/fhir+xml";
        let reply = Reply::error(StatusCode::NOT_ACCEPTABLE, "not-supported", words);
        return Ok(reply.into_response(Format::Json, head));
    };
    let reply = match routed(context, caller, &parts, body).await? {
        Routed::Reply(reply) => reply,
        Routed::Html => return Ok(html_page()),
    };
    Ok(reply.into_response(format, head))
}

enum Routed {
    Reply(Reply),
    Html,
}

async fn routed(
    context: &Context,
    caller: Option<&Laboratory>,
    parts: &Parts,
    body: Incoming,
) -> Result<Routed, Cut> {
    let Some(caller) = caller else {
        let words = "This certificate belongs to no laboratory";
        return Ok(Routed::Reply(Reply::error(StatusCode::FORBIDDEN, "forbidden", words)));
    };
    let Some(target) = Target::of(parts.uri.path()) else {
        return Ok(Routed::Reply(not_found("There is nothing at this address")));
    };
    let Some(interaction) = target.interaction(&parts.method) else {
        let words = format!("Allowed here: {}", target.allowed());
        let reply = Reply::error(StatusCode::METHOD_NOT_ALLOWED, "not-supported", words);
        return Ok(Routed::Reply(reply.with(ALLOW, target.allowed())));
    };
    let body = match read_body(&parts.headers, body, context.pause_max).await {
        Ok(body) => body,
        Err(problem) => return problem.answered().map(Routed::Reply),
    };
    let fault = context.faults.meet(interaction);
    match &fault {
        Some(FaultKind::CutBeforeCommit) => return Err(Cut),
        Some(FaultKind::Html) => return Ok(Routed::Html),
        Some(FaultKind::Delay(time)) => tokio::time::sleep(*time).await,
        Some(FaultKind::Status { code, retry_after }) => {
            let status = StatusCode::from_u16(*code).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
            let reply = Reply::error(status, "transient", "As the fault plan wants it");
            let reply = match retry_after {
                Some(value) => reply.with(RETRY_AFTER, value),
                None => reply,
            };
            return Ok(Routed::Reply(reply));
        }
        _ => {}
    }
    let lag = match &fault {
        Some(FaultKind::SearchLag(time)) => Some(*time),
        _ => None,
    };
    let done = match (&target, interaction) {
        (_, Interaction::Create) => create(context, caller, parts, body).await,
        (Target::Instance(id), _) => read(context, caller, id, &parts.headers).await,
        (_, Interaction::Search) => find(context, caller, parts, &body, lag).await,
        _ => Ok(Reply::json(StatusCode::OK, capabilities(context))),
    };
    let reply = done.unwrap_or_else(|error| {
        tracing::error!(%error, ?interaction, "a request could not be served");
        let words = "The service cannot use its database at the moment";
        Reply::error(StatusCode::SERVICE_UNAVAILABLE, "transient", words).with(RETRY_AFTER, "30")
    });
    Ok(Routed::Reply(match fault {
        Some(FaultKind::CutAfterCommit) => return Err(Cut),
        Some(FaultKind::DelayAnswer(time)) => {
            tokio::time::sleep(time).await;
            reply
        }
        Some(FaultKind::Truncated) => reply.truncated(),
        Some(FaultKind::EmptyBody) => reply.without_body(),
        _ => reply,
    }))
}

async fn create(
    context: &Context,
    caller: &Laboratory,
    parts: &Parts,
    body: Bytes,
) -> Result<Reply, StoreError> {
    let format = match body_format(&parts.headers) {
        Ok(format) => format,
        Err(reply) => return Ok(reply),
    };
    let examined = {
        let body = body.clone();
        tokio::task::spawn_blocking(move || examine(&body, format)).await
    };
    let fitting = match examined.map_err(|_| StoreError::Closed)? {
        Submission::Fits(fitting) => fitting,
        Submission::Unreadable(notices) => {
            return Ok(Reply::outcome(StatusCode::BAD_REQUEST, &notices));
        }
        Submission::Refused { notices, identifier } => {
            let old = context.release.facts().invalid == exchange::InvalidAnswer::StatusAndOutcome;
            return Ok(match identifier {
                Some((system, value)) if old => Reply::resource(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    &Reference::new(&ReferenceFacts {
                        created: None,
                        status: Processing::Failed,
                        notices: &notices,
                        identifier_system: system.as_deref(),
                        identifier: Some(&value),
                        document: &value,
                    }),
                ),
                _ => Reply::outcome(StatusCode::UNPROCESSABLE_ENTITY, &notices),
            });
        }
    };
    let receipt = uuid::Uuid::new_v4().to_string();
    let document = NewDocument {
        laboratory: caller.id,
        receipt: receipt.clone(),
        identifier_system: fitting.identifier_system.clone(),
        identifier: fitting.identifier.clone(),
        document_system: fitting.document_system,
        document_identifier: fitting.document_identifier.clone(),
        digest: fitting.digest,
        format,
        body: body.into(),
        delay: context.processing_delay,
    };
    let at = context.store.accept(document).await?;
    context.wake.notify_one();
    tracing::info!(laboratory = caller.name, receipt, "accepted");
    let found = Found {
        receipt,
        version: 1,
        status: Processing::InProgress,
        created: at,
        last_updated: at,
        identifier_system: fitting.identifier_system,
        identifier: fitting.identifier,
        document_identifier: fitting.document_identifier,
        notices: Vec::new(),
    };
    let location = format!("{}/DocumentReference/{}", base_of(context, parts), found.receipt);
    let reply = match prefer(&parts.headers, "return").as_deref() {
        Some("minimal") => Reply::empty(StatusCode::CREATED),
        Some("OperationOutcome") => {
            let mut notice = crate::wire::Notice::error("informational", "Accepted and queued");
            notice.severity = fhir::Severity::Information;
            Reply::outcome(StatusCode::CREATED, &[notice])
        }
        _ => Reply::resource(StatusCode::CREATED, &reference(&found)),
    };
    Ok(versioned(reply, &found).with(LOCATION, &location))
}

async fn read(
    context: &Context,
    caller: &Laboratory,
    id: &str,
    headers: &HeaderMap,
) -> Result<Reply, StoreError> {
    // Another laboratory's document is not told from one that does not exist.
    let Some(found) = context.store.by_receipt(caller.id, id.to_owned()).await? else {
        return Ok(not_found("There is no such DocumentReference"));
    };
    let known = header(headers, IF_NONE_MATCH).is_some_and(|tags| {
        tags.split(',').map(str::trim).any(|tag| tag == "*" || tag == etag(&found))
    });
    Ok(if known {
        Reply::empty(StatusCode::NOT_MODIFIED).with(ETAG, &etag(&found))
    } else {
        versioned(Reply::resource(StatusCode::OK, &reference(&found)), &found)
    })
}

async fn find(
    context: &Context,
    caller: &Laboratory,
    parts: &Parts,
    body: &[u8],
    lag: Option<Duration>,
) -> Result<Reply, StoreError> {
    let mut raw = parts.uri.query().unwrap_or_default().to_owned();
    if parts.method == Method::POST {
        let kind = header(&parts.headers, CONTENT_TYPE).unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded") {
            let words = "A search by POST is a form: application/x-www-form-urlencoded";
            return Ok(Reply::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-supported", words));
        }
        // In a form a plus is a space; in a query string it is itself.
        let form = String::from_utf8_lossy(body).replace('+', "%20");
        raw = format!("{raw}&{form}");
    }
    let base = base_of(context, parts);
    let strict = prefer(&parts.headers, "handling").as_deref() == Some("strict");
    search::answer(context, caller, &raw, Manner { base: &base, strict, lag }).await
}

fn not_found(words: &str) -> Reply {
    Reply::error(StatusCode::NOT_FOUND, "not-found", words)
}

fn etag(found: &Found) -> String {
    format!("W/\"{}\"", found.version)
}

fn versioned(reply: Reply, found: &Found) -> Reply {
    reply.with(ETAG, &etag(found)).with(LAST_MODIFIED, &clock::http_date(found.last_updated))
}

pub(crate) fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// A preference (RFC 7240).
fn prefer(headers: &HeaderMap, name: &str) -> Option<String> {
    let preferences: HashMap<_, _> = headers
        .get_all("prefer")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split([',', ';']))
        .filter_map(|preference| preference.trim().split_once('='))
        .collect();
    preferences.get(name).map(|value| value.trim_matches('"').to_owned())
}

/// `{base_url}` as the caller names us.
fn base_of(context: &Context, parts: &Parts) -> String {
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

fn capabilities(context: &Context) -> String {
    let facts = context.release.facts();
    let all = [
        ("date", "date"),
        (facts.last_updated, "date"),
        ("identifier", "token"),
        ("elm-status", "token"),
        ("_id", "token"),
    ];
    let searched: Vec<_> = all
        .iter()
        .filter(|(name, _)| facts.search == exchange::SearchSupport::Full || *name == "identifier")
        .map(|(name, kind)| format!("{{\"name\":\"{name}\",\"type\":\"{kind}\"}}"))
        .collect();
    include_str!("capabilities.json")
        .replace("{release}", facts.name)
        .replace("{version}", env!("CARGO_PKG_VERSION"))
        .replace("{base}", &context.base_url)
        .replace("{searchParam}", &searched.join(","))
}
