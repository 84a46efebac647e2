//! Every request, broken ones too, ends in a FHIR answer and in the audit log.

use std::sync::Arc;
use std::time::Duration;

use exchange::{Negotiated, Release, negotiate, pairs, parse_media_type};
use fhir::Format;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HOST, HeaderMap, HeaderName, RETRY_AFTER};
use http::{Method, Request, Response, StatusCode, request::Parts};
use hyper::body::Incoming;
use tokio::sync::{Mutex, Notify};
use tokio::time::Instant;

use crate::body::read_body;
use crate::definition::{self, BASE_PATH, Facts, route_of};
use crate::faults::{FaultKind, FaultPlan, Interaction, Met};
use crate::interactions::{self, Asked};
use crate::limits::Allowances;
use crate::metrics::Metrics;
use crate::reply::{Outgoing, Reply};
use crate::store::{AuditEntry, Laboratory, Store, StoreError};

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
    pub(crate) processing_delay: Duration,
    pub(crate) pause_max: Duration,
    pub(crate) faults: FaultPlan,
    pub(crate) wake: Arc<Notify>,
    pub(crate) foreign: ForeignDocument,
    pub(crate) allowances: Arc<Allowances>,
    pub(crate) metrics: Metrics,
    /// Held from the search of a conditional create to its commit; `None`: `If-None-Exist` is ignored.
    pub(crate) one_at_a_time: Option<Mutex<()>>,
    /// `{base_url}` by our own address.
    pub(crate) base_url: String,
}

/// The connection ends without an answer.
#[derive(Debug, thiserror::Error)]
#[error("cut on request")]
pub(crate) struct Cut;

/// The bucket of callers that are no laboratory.
const STRANGERS: i64 = 0;

/// Answers one request of whoever has this certificate; `Err` cuts the connection.
pub(crate) async fn answer(
    context: &Context,
    certificate: &str,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Cut> {
    let began = Instant::now();
    let (parts, body) = request.into_parts();
    let head = parts.method == Method::HEAD;
    let route = route_of(parts.uri.path());
    let interaction = route.and_then(|(route, _)| route.interaction(&parts.method));
    let reply = admitted(context, certificate, &parts, body).await;
    let name = named(interaction);
    let status = reply.as_ref().map_or(0, |(reply, _)| reply.status.as_u16());
    context.metrics.answered(name, status, began.elapsed());
    let (reply, format) = reply?;
    Ok(reply.into_response(format, head))
}

/// The name of an interaction in the audit log and the metrics.
const fn named(interaction: Option<Interaction>) -> &'static str {
    match interaction {
        Some(Interaction::Create) => "create",
        Some(Interaction::Read) => "read",
        Some(Interaction::Search) => "search",
        Some(Interaction::Capabilities) => "capabilities",
        Some(Interaction::Handshake) | None => "other",
    }
}

/// Knows the caller, keeps its limits, and records what it was answered.
async fn admitted(
    context: &Context,
    certificate: &str,
    parts: &Parts,
    body: Incoming,
) -> Result<(Reply, Format), Cut> {
    let caller = match context.store.laboratory(certificate.to_owned()).await {
        Ok(caller) => caller,
        Err(error) => return Ok((out_of_order(&error), Format::Json)),
    };
    let laboratory = caller.as_ref().map(|caller| caller.id);
    let key = laboratory.unwrap_or(STRANGERS);
    let _place = match context.allowances.enter(key, Instant::now()) {
        Ok(place) => place,
        Err(wait) => {
            // Read past, so that the sender comes to read the answer.
            let _ = read_body(&parts.headers, body, 0, context.pause_max).await;
            let words = "Too many requests of this laboratory";
            let reply = Reply::error(StatusCode::TOO_MANY_REQUESTS, "throttled", words);
            let seconds = wait.as_millis().div_ceil(1000).to_string();
            return Ok((reply.with(RETRY_AFTER, &seconds), Format::Json));
        }
    };
    let wanted = format_wanted(parts);
    let (reply, format) = match wanted {
        Some(format) => (routed(context, caller.as_ref(), certificate, parts, body).await?, format),
        None => {
            let words = "Answers are application/fhir+json or application/fhir+xml";
            let reply = Reply::error(StatusCode::NOT_ACCEPTABLE, "not-supported", words);
            (reply, Format::Json)
        }
    };
    let route = route_of(parts.uri.path());
    let interaction = route.and_then(|(route, _)| route.interaction(&parts.method));
    if !reply.shown.recorded && interaction != Some(Interaction::Capabilities) {
        let entry = AuditEntry {
            laboratory,
            certificate: certificate.to_owned(),
            interaction: named(interaction),
            receipt: reply.shown.receipt.clone(),
            entries: reply.shown.entries,
            status: reply.status.as_u16(),
        };
        if let Err(error) = context.store.audit(entry) {
            // Nothing is shown that is not recorded.
            return Ok((out_of_order(&error), format));
        }
    }
    Ok((reply, format))
}

fn format_wanted(parts: &Parts) -> Option<Format> {
    let asked = pairs(parts.uri.query().unwrap_or_default()).find(|(name, _)| name == "_format");
    // An answer follows the request's own encoding where it is not asked for another.
    let own =
        header(&parts.headers, CONTENT_TYPE).and_then(parse_media_type).unwrap_or(Format::Json);
    let mut accept = header(&parts.headers, ACCEPT);
    if parts.uri.path().ends_with("/openapi.json") {
        // It has one form only.
        accept = None;
    }
    match negotiate(accept, asked.as_ref().map(|(_, value)| value.as_str()), own) {
        Negotiated::Format(format) => Some(format),
        _ => None,
    }
}

async fn routed(
    context: &Context,
    caller: Option<&Laboratory>,
    certificate: &str,
    parts: &Parts,
    body: Incoming,
) -> Result<Reply, Cut> {
    let Some(caller) = caller else {
        let words = "This certificate belongs to no laboratory, or was revoked";
        return Ok(Reply::error(StatusCode::FORBIDDEN, "forbidden", words));
    };
    let Some((route, id)) = route_of(parts.uri.path()) else {
        return Ok(not_found("There is nothing at this address"));
    };
    let Some(interaction) = route.interaction(&parts.method) else {
        let words = format!("Allowed here: {}", route.allowed());
        let reply = Reply::error(StatusCode::METHOD_NOT_ALLOWED, "not-supported", words);
        return Ok(reply.with(ALLOW, &route.allowed()));
    };
    let body_max = context.allowances.limits().body_max;
    let body = match read_body(&parts.headers, body, body_max, context.pause_max).await {
        Ok(body) => body,
        Err(problem) => return problem.answered(),
    };
    let Met { kind: fault, oddities } = context.faults.meet(interaction);
    if let Some(reply) = instead(fault.as_ref()).await? {
        return Ok(reply);
    }
    let asked = Asked { context, caller, certificate, parts, odd: &oddities };
    let facts = Facts {
        release: context.release,
        base: &context.base_url,
        conditional_create: context.one_at_a_time.is_some(),
    };
    let done = match (interaction, id) {
        (Interaction::Create, _) => interactions::create(asked, body).await,
        (Interaction::Search, _) => interactions::find(asked, &body).await,
        (_, Some(id)) => interactions::read(asked, id).await,
        _ if route.path == "/openapi.json" => Ok(Reply::description(definition::openapi(facts))),
        _ => Ok(Reply::json(StatusCode::OK, definition::capabilities(facts))),
    };
    let mut reply = done.unwrap_or_else(|error| out_of_order(&error));
    if oddities.seven_digits {
        reply = reply.with_seven_digits();
    }
    let reply = reply.labelled(oddities.content_type.as_deref());
    Ok(match fault {
        Some(FaultKind::CutAfterCommit) => return Err(Cut),
        Some(FaultKind::DelayAnswer(time)) => {
            tokio::time::sleep(time).await;
            reply
        }
        Some(FaultKind::Truncated) => reply.truncated(),
        Some(FaultKind::EndlessBody) => reply.endless(),
        Some(FaultKind::EmptyBody) => reply.without_body(),
        _ => reply,
    })
}

/// What a fault answers in place of doing what was asked.
async fn instead(fault: Option<&FaultKind>) -> Result<Option<Reply>, Cut> {
    let status = |code| StatusCode::from_u16(code).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    Ok(match fault {
        Some(FaultKind::CutBeforeCommit) => return Err(Cut),
        Some(FaultKind::Html) => Some(Reply::html_page()),
        Some(FaultKind::Delay(time)) => {
            tokio::time::sleep(*time).await;
            None
        }
        Some(FaultKind::BareStatus(code)) => Some(Reply::empty(status(*code))),
        Some(FaultKind::Status { code, retry_after }) => {
            let reply = Reply::error(status(*code), "transient", "As the fault plan wants it");
            Some(match retry_after {
                Some(value) => reply.with(RETRY_AFTER, value),
                None => reply,
            })
        }
        _ => None,
    })
}

fn out_of_order(error: &StoreError) -> Reply {
    tracing::error!(%error, "a request could not be served");
    let words = "The service cannot use its database at the moment";
    Reply::error(StatusCode::SERVICE_UNAVAILABLE, "transient", words).with(RETRY_AFTER, "30")
}

pub(crate) fn not_found(words: &str) -> Reply {
    Reply::error(StatusCode::NOT_FOUND, "not-found", words)
}

pub(crate) fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
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
