//! Create, read and search for a caller that is known.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use exchange::{InvalidAnswer, Processing, Query, pairs};
use fhir::{Format, Instant, Severity};
use http::header::{
    ETAG, HeaderMap, HeaderName, IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER,
};
use http::{Method, StatusCode, request::Parts};

use crate::clock;
use crate::faults::Oddities;
use crate::http::body::{body_format, form};
use crate::http::context::{Context, ForeignDocument, Unclear, base_of, header, only};
use crate::http::fhir_json::{Link, SearchSet, displace_rules};
use crate::http::percent::broken_parameters;
use crate::http::refusals::{not_encoded, not_found};
use crate::http::reply::Reply;
use crate::http::search::{self, Manner, reference, say_more};
use crate::notice::Notice;
use crate::process::intake::{Metadata, Submission, examine};
use crate::store::{Accepted, Found, Laboratory, NewDocument, Search, StoreError};

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
    let (metadata, notices) = match examined(asked, body.clone(), format).await? {
        Submission::Fits(metadata, notices) => (metadata, notices),
        Submission::NotJudged => {
            let words = "The service cannot validate at present; try again later";
            return Ok(Reply::error(StatusCode::SERVICE_UNAVAILABLE, "transient", words)
                .with(RETRY_AFTER, "30"));
        }
        Submission::Unreadable(notices) if odd.unparsable_is_422 => {
            return Ok(Reply::outcome(StatusCode::UNPROCESSABLE_ENTITY, &notices));
        }
        Submission::Unreadable(notices) => {
            return Ok(Reply::outcome(StatusCode::BAD_REQUEST, &notices));
        }
        Submission::Refused { notices, metadata } => {
            let told = context.release.facts().invalid;
            return match metadata.filter(|_| told == InvalidAnswer::StatusAndOutcome) {
                Some(metadata) => refused(asked, format, metadata, notices).await,
                None => Ok(Reply::outcome(StatusCode::UNPROCESSABLE_ENTITY, &notices)),
            };
        }
    };
    let condition = match only(&parts.headers, IF_NONE_EXIST) {
        _ if !context.conditional_create => None,
        Ok(condition) => condition,
        Err(Unclear) => {
            // Never ignored: what is asked for is not to be stored twice.
            let words = "A request has one If-None-Exist, which is readable";
            return Ok(Reply::error(StatusCode::BAD_REQUEST, "value", words));
        }
    };
    if let Some(refusal) = condition.and_then(|condition| search::too_many(asked_of(condition))) {
        return Ok(refusal);
    }
    let unless = match condition.map(|condition| condition_of(context, condition)) {
        None => None,
        Some(Some(query)) => match first(asked, query).await? {
            Ok(unless) => Some(unless),
            Err(found) => return Ok(existing(asked, found)),
        },
        Some(None) => {
            let words = "If-None-Exist holds search parameters of this service";
            return Ok(Reply::error(StatusCode::BAD_REQUEST, "value", words));
        }
    };
    let new = new_document(asked, format, metadata, notices);
    let new = NewDocument { body, unless, ..new };
    let accepted = Box::pin(stored(context, new.clone()));
    let at = match accepted.await? {
        Accepted::Created(at) => at,
        Accepted::Existing(found) => return Ok(existing(asked, found)),
    };
    tracing::info!(laboratory = asked.caller.name, receipt = new.receipt, "accepted");
    Ok(created(asked, new, at))
}

/// What a body is. Its tree takes many times its bytes, so that some are read at a time.
async fn examined(asked: Asked<'_>, body: Bytes, format: Format) -> Result<Submission, StoreError> {
    let Asked { context, caller, .. } = asked;
    let turn = context.rate_limiter.judging.take(caller.id).await;
    let (strictness, validation) = (context.strictness, Arc::clone(&context.validation));
    let examining = tokio::task::spawn_blocking(move || {
        // Also where the client has gone meanwhile.
        let _turn = turn;
        examine(&body, format, strictness, &validation)
    });
    examining.await.map_err(|_| StoreError::Closed)
}

/// A document without its text, from this caller.
fn new_document(
    asked: Asked<'_>,
    format: Format,
    metadata: Metadata,
    notices: Vec<Notice>,
) -> NewDocument {
    NewDocument {
        laboratory: asked.caller.id,
        certificate: asked.certificate.to_owned(),
        receipt: uuid::Uuid::new_v4().to_string(),
        identifier_system: metadata.identifier_system,
        identifier: metadata.identifier,
        document_system: metadata.document_system,
        document_identifier: metadata.document_identifier,
        digest: metadata.digest,
        status: Processing::InProgress,
        notices,
        format,
        body: Bytes::new(),
        delay: asked.context.processing_delay,
        unless: None,
    }
}

/// In a task of its own: a client that goes away takes this one with it, and the document is
/// accepted all the same.
async fn stored(context: &Context, new: NewDocument) -> Result<Accepted, StoreError> {
    let (store, wake) = (Arc::clone(&context.store), Arc::clone(&context.wake));
    let accepting = tokio::spawn(async move {
        let accepted = store.accept(new).await;
        wake.notify_one();
        accepted
    });
    accepting.await.map_err(|_| StoreError::Closed)?
}

const IF_NONE_EXIST: HeaderName = HeaderName::from_static("if-none-exist");
/// How much earlier the date of a create answer is when it drifts, in microseconds.
const DRIFT: i64 = 4_321;

/// The answer to a document that was accepted at this time.
fn created(asked: Asked<'_>, new: NewDocument, at: Instant) -> Reply {
    let Asked { context, parts, odd, .. } = asked;
    let mut found = found_new(new, at);
    displace_rules(&mut found.notices, odd);
    if odd.date_drift {
        found.created = at.plus_micros(-DRIFT);
    }
    let status = if odd.created_is_200 { StatusCode::OK } else { StatusCode::CREATED };
    let mut reply = match prefer(&parts.headers, "return").as_deref() {
        Some("minimal") => Reply::empty(status),
        Some("OperationOutcome") => {
            let mut notice = Notice::error("informational", "Accepted and queued");
            notice.severity = Severity::Information;
            found.notices.insert(0, notice);
            Reply::outcome(status, &found.notices)
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

/// What a document shows just after it came in.
fn found_new(new: NewDocument, at: Instant) -> Found {
    Found {
        receipt: new.receipt,
        version: 1,
        status: new.status,
        created: at,
        last_updated: at,
        identifier_system: new.identifier_system,
        identifier: new.identifier,
        document_identifier: new.document_identifier,
        notices: new.notices,
        is_cut: false,
    }
}

/// The answer to a document that breaks rules, in the releases that give it an id: it has failed,
/// its text is not stored, and what is wrong with it can be read again.
async fn refused(
    asked: Asked<'_>,
    format: Format,
    metadata: Metadata,
    notices: Vec<Notice>,
) -> Result<Reply, StoreError> {
    let new = new_document(asked, format, metadata, notices);
    let new = NewDocument { status: Processing::Failed, ..new };
    let Accepted::Created(at) = Box::pin(stored(asked.context, new.clone())).await? else {
        return Err(StoreError::Closed);
    };
    let mut found = found_new(new, at);
    displace_rules(&mut found.notices, asked.odd);
    let reply = Reply::resource(StatusCode::UNPROCESSABLE_ENTITY, &reference(&found, asked.odd));
    let mut reply = reply.about(&found.receipt);
    reply.shown.recorded = true;
    Ok(reply)
}

/// Looks for what a condition matches, before anybody waits for it; where there is nothing, since
/// when that may have changed.
async fn first(
    asked: Asked<'_>,
    query: Query,
) -> Result<Result<(Query, Instant), Vec<Found>>, StoreError> {
    let Asked { context, caller, .. } = asked;
    let search = Search::of_condition(caller.id, query.clone(), None);
    let (page, _turn) = search::searched(context, search).await?;
    Ok(if page.found.is_empty() { Ok((query, page.as_of)) } else { Err(page.found) })
}

/// The condition of a conditional create. What is not understood must not be ignored here, as it is
/// by a search: a document more or less depends on it.
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
fn existing(asked: Asked<'_>, mut found: Vec<Found>) -> Reply {
    let Asked { context, parts, odd, .. } = asked;
    match &mut found[..] {
        [one] => {
            say_more(one);
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
    let head = parts.method == Method::HEAD;
    let manner = Manner { base: &base, strict, shape: None, odd, head };
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
