//! Create, read and search for a caller that is known.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use exchange::{Processing, Query, pairs};
use fhir::{Instant, Severity};
use http::header::{ETAG, HeaderMap, HeaderName, IF_NONE_MATCH, LAST_MODIFIED, LOCATION};
use http::{Method, StatusCode, request::Parts};

use crate::body::{body_format, form};
use crate::clock;
use crate::faults::Oddities;
use crate::intake::{Fitting, Submission, examine};
use crate::percent::broken_parameters;
use crate::refusals::{not_encoded, not_found};
use crate::reply::Reply;
use crate::routes::{Context, ForeignDocument, base_of, header};
use crate::search::{self, Manner, reference};
use crate::store::{Accepted, Found, Laboratory, NewDocument, StoreError};
use crate::wire::{Link, Notice, Reference, ReferenceFacts, SearchSet, displace_rules};

/// A request whose caller and route are known.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) context: &'a Context,
    pub(crate) caller: &'a Laboratory,
    /// Fingerprint of the caller's certificate.
    pub(crate) certificate: &'a str,
    pub(crate) parts: &'a Parts,
    pub(crate) odd: &'a Oddities,
}

pub(crate) async fn create(asked: Asked<'_>, body: Bytes) -> Result<Reply, StoreError> {
    let Asked { context, parts, odd, .. } = asked;
    let format = match body_format(&parts.headers) {
        Ok(format) => format,
        Err(words) => {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Ok(Reply::error(status, "not-supported", words));
        }
    };
    let examined = {
        let body = body.clone();
        tokio::task::spawn_blocking(move || examine(&body, format)).await
    };
    let fitting = match examined.map_err(|_| StoreError::Closed)? {
        Submission::Fits(fitting) => fitting,
        Submission::Unreadable(notices) if odd.unparsable_is_422 => {
            return Ok(Reply::outcome(StatusCode::UNPROCESSABLE_ENTITY, &notices));
        }
        Submission::Unreadable(notices) => {
            return Ok(Reply::outcome(StatusCode::BAD_REQUEST, &notices));
        }
        Submission::Refused { notices, identifier } => {
            return Ok(refused(context, &notices, identifier));
        }
    };
    let condition = header(&parts.headers, IF_NONE_EXIST).filter(|_| context.conditional_create);
    if let Some(refusal) = condition.and_then(|condition| search::too_many(asked_of(condition))) {
        return Ok(refusal);
    }
    let unless = match condition.map(|condition| condition_of(context, condition)) {
        None => None,
        Some(Some(query)) => Some(query),
        Some(None) => {
            let words = "If-None-Exist holds search parameters of this service";
            return Ok(Reply::error(StatusCode::BAD_REQUEST, "value", words));
        }
    };
    let new = NewDocument {
        laboratory: asked.caller.id,
        certificate: asked.certificate.to_owned(),
        receipt: uuid::Uuid::new_v4().to_string(),
        identifier_system: fitting.identifier_system.clone(),
        identifier: fitting.identifier.clone(),
        document_system: fitting.document_system.clone(),
        document_identifier: fitting.document_identifier.clone(),
        digest: fitting.digest,
        format,
        body,
        delay: context.processing_delay,
        unless,
    };
    let receipt = new.receipt.clone();
    // In a task of its own: a client that goes away takes this one with it, and the document is accepted all
    // the same.
    let (store, wake) = (Arc::clone(&context.store), Arc::clone(&context.wake));
    let accepting = tokio::spawn(async move {
        let accepted = store.accept(new).await;
        wake.notify_one();
        accepted
    });
    let at = match accepting.await.map_err(|_| StoreError::Closed)?? {
        Accepted::Created(at) => at,
        Accepted::Existing(found) => return Ok(existing(asked, &found)),
    };
    tracing::info!(laboratory = asked.caller.name, receipt, "accepted");
    Ok(created(asked, receipt, fitting, at))
}

const IF_NONE_EXIST: HeaderName = HeaderName::from_static("if-none-exist");
/// How much earlier the date of a create answer is when it drifts, in microseconds.
const DRIFT: i64 = 4_321;

/// The answer to a document that was accepted at this time.
fn created(asked: Asked<'_>, receipt: String, fitting: Fitting, at: Instant) -> Reply {
    let Asked { context, parts, odd, .. } = asked;
    let found = Found {
        receipt,
        version: 1,
        status: Processing::InProgress,
        created: if odd.date_drift { at.plus_micros(-DRIFT) } else { at },
        last_updated: at,
        identifier_system: fitting.identifier_system,
        identifier: fitting.identifier,
        document_identifier: fitting.document_identifier,
        notices: Vec::new(),
    };
    let status = if odd.created_is_200 { StatusCode::OK } else { StatusCode::CREATED };
    let mut reply = match prefer(&parts.headers, "return").as_deref() {
        Some("minimal") => Reply::empty(status),
        Some("OperationOutcome") => {
            let mut notice = Notice::error("informational", "Accepted and queued");
            notice.severity = Severity::Information;
            Reply::outcome(status, &[notice])
        }
        _ => {
            let reference = reference(&found, odd);
            let reference = if odd.no_meta { reference.without_meta() } else { reference };
            Reply::resource(status, &reference)
        }
    };
    reply.shown.recorded = true;
    let location = format!("{}/DocumentReference/{}", base_of(context, parts), found.receipt);
    versioned(reply, &found).with(LOCATION, &location)
}

/// The answer to a document that breaks rules.
fn refused(
    context: &Context,
    notices: &[Notice],
    identifier: Option<(Option<String>, String)>,
) -> Reply {
    let old = context.release.facts().invalid == exchange::InvalidAnswer::StatusAndOutcome;
    match identifier {
        Some((system, value)) if old => Reply::resource(
            StatusCode::UNPROCESSABLE_ENTITY,
            &Reference::new(&ReferenceFacts {
                created: None,
                status: Processing::Failed,
                notices,
                identifier_system: system.as_deref(),
                identifier: Some(&value),
                document: &value,
            }),
        ),
        _ => Reply::outcome(StatusCode::UNPROCESSABLE_ENTITY, notices),
    }
}

/// The condition of a conditional create. What is not understood must not be ignored here, as it is by a search:
/// a document more or less depends on it.
fn condition_of(context: &Context, condition: &str) -> Option<Query> {
    let condition = asked_of(condition);
    let (query, unknown) = Query::parse(condition, context.release).ok()?;
    (unknown.is_empty() && pairs(condition).next().is_some()).then_some(query)
}

/// The parameters of a condition, which may be written as an address.
fn asked_of(condition: &str) -> &str {
    condition.split_once('?').map_or(condition, |(_, query)| query)
}

/// What a conditional create found: the one that is there, or several of which none is meant.
fn existing(asked: Asked<'_>, found: &[Found]) -> Reply {
    let Asked { context, parts, odd, .. } = asked;
    match found {
        [one] => {
            let location = format!("{}/DocumentReference/{}", base_of(context, parts), one.receipt);
            let reply = Reply::resource(StatusCode::OK, &reference(one, odd)).about(&one.receipt);
            versioned(reply, one).with(LOCATION, &location)
        }
        _ => {
            let words = "Several documents match If-None-Exist";
            Reply::error(StatusCode::PRECONDITION_FAILED, "multiple-matches", words)
        }
    }
}

pub(crate) async fn read(asked: Asked<'_>, id: &str) -> Result<Reply, StoreError> {
    let Asked { context, caller, parts, odd, .. } = asked;
    let Some(mut found) = context.store.by_receipt(caller.id, id.to_owned()).await? else {
        return unseen(asked, id).await;
    };
    displace_rules(&mut found.notices, odd);
    let known = header(&parts.headers, IF_NONE_MATCH).is_some_and(|tags| {
        // RFC 9110 section 13.1.2: compared weakly.
        let opaque = |tag: &str| tag.trim_start_matches("W/").to_owned();
        let own = opaque(&etag(&found));
        tags.split(',').map(str::trim).any(|tag| tag == "*" || opaque(tag) == own)
    });
    let reply = if known {
        Reply::empty(StatusCode::NOT_MODIFIED).with(ETAG, &etag(&found))
    } else {
        versioned(Reply::resource(StatusCode::OK, &reference(&found, odd)), &found)
    };
    Ok(reply.about(&found.receipt))
}

/// What is answered about an id that is none of the caller's documents.
async fn unseen(asked: Asked<'_>, id: &str) -> Result<Reply, StoreError> {
    let Asked { context, parts, .. } = asked;
    Ok(match context.foreign {
        ForeignDocument::Forbidden if context.store.exists(id.to_owned()).await? => {
            let words = "This DocumentReference belongs to another laboratory";
            Reply::error(StatusCode::FORBIDDEN, "forbidden", words)
        }
        ForeignDocument::Empty => {
            let now = clock::now();
            let id: String =
                id.chars().filter(|c| c.is_ascii_alphanumeric() || ".-".contains(*c)).collect();
            let url = format!("{}/DocumentReference?_id={id}", base_of(context, parts));
            let link = vec![Link { relation: "self", url }];
            Reply::resource(StatusCode::OK, &SearchSet::new(None, now, 0, link))
        }
        _ => not_found("There is no such DocumentReference"),
    })
}

pub(crate) async fn find(asked: Asked<'_>, body: &[u8]) -> Result<Reply, StoreError> {
    let Asked { context, caller, parts, odd, .. } = asked;
    let mut raw = parts.uri.query().unwrap_or_default().to_owned();
    let mut asked_by_form = None;
    if parts.method == Method::POST {
        let form = match form(&parts.headers, body) {
            Ok(form) => form,
            Err((status, kind, words)) => return Ok(Reply::error(status, kind, words)),
        };
        let broken = broken_parameters(&form);
        if !broken.is_empty() {
            return Ok(not_encoded(&broken));
        }
        let format = pairs(&form).find(|(name, _)| name == "_format");
        asked_by_form = format.map(|(_, value)| value);
        raw = format!("{raw}&{form}");
    }
    let base = base_of(context, parts);
    let strict = prefer(&parts.headers, "handling").as_deref() == Some("strict");
    let manner = Manner { base: &base, strict, shape: None, odd };
    let mut reply = search::answer(context, caller, &raw, manner).await?;
    reply.format = asked_by_form;
    Ok(reply)
}

fn etag(found: &Found) -> String {
    format!("W/\"{}\"", found.version)
}

fn versioned(reply: Reply, found: &Found) -> Reply {
    reply.with(ETAG, &etag(found)).with(LAST_MODIFIED, &clock::http_date(found.last_updated))
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
