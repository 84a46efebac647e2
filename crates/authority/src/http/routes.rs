//! Every request, broken ones too, ends in a FHIR answer and in the audit log.

use std::borrow::Cow;

use bytes::Bytes;
use exchange::{Negotiated, negotiate, pairs, parse_media_type};
use fhir::Format;
use http::header::{ACCEPT, ALLOW, CONNECTION, CONTENT_TYPE, EXPECT, HOST, HeaderMap, RETRY_AFTER};
use http::{Method, Request, Response, StatusCode, Version, request::Parts};
use hyper::body::Incoming;
use tokio::time::Instant;

use crate::clock;
use crate::faults::{FaultKind, Interaction, Met};
use crate::http::body::{BodyProblem, announced, read_body, read_past};
use crate::http::context::{Context, header};
use crate::http::definition::{self, Facts, OPENAPI_PATH, Route, route_of};
use crate::http::interactions::{self, Asked};
use crate::http::limits::{Admission, Caller, Permit};
use crate::http::percent::{broken_parameters, decoded};
use crate::http::refusals::{
    no_room, not_acceptable, not_encoded, not_found, out_of_order, too_costly,
};
use crate::http::reply::{Outgoing, REQUEST_ID, Reply};
use crate::http::search;
use crate::store::{AuditEntry, Laboratory};
use crate::tls::pki::Presented;

/// The connection ends without an answer.
#[derive(Debug, thiserror::Error)]
#[error("cut on request")]
pub(crate) struct Cut;

/// The bucket of callers that are no laboratory.
pub(crate) const STRANGERS: i64 = 0;
/// Bytes of a long answer: it becomes XML beside other requests and not before them, and counts
/// among what is under way.
const LONG: usize = 64 << 10;
/// Bytes of all names and values in a request's header. An address and a dozen fields need 1 KiB.
const HEADER_MAX: usize = 64 << 10;

/// One request, before anything is done about it.
struct Arriving<'a> {
    parts: &'a Parts,
    certificate: &'a Presented,
    route: Option<(&'static Route, Option<String>)>,
    interaction: Option<Interaction>,
}

/// Answers one request of whoever has this certificate; `Err` cuts the connection.
pub(crate) async fn answer(
    context: &Context,
    certificate: &Presented,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Cut> {
    let began = Instant::now();
    let _under_way = (!context.ending.is_cancelled()).then(|| context.under_way.token());
    let (parts, body) = request.into_parts();
    let route = route_of(parts.uri.path());
    let interaction = route.as_ref().and_then(|(route, _)| route.interaction(&parts.method));
    let arriving = Arriving { parts: &parts, certificate, route, interaction };
    let mut body = Some(body);
    let answered = arriving.admitted(context, &mut body).await;
    let name = named(interaction);
    let status = answered.as_ref().map_or(0, |(reply, _)| reply.status.as_u16());
    context.metrics.answered(name, status, began.elapsed());
    let (mut reply, format) = answered?;
    if let Some(body) = body.filter(|_| !waits_for_leave(&parts)) {
        read_past(&parts.headers, body, context.pause_max).await;
    }
    if context.ending.is_cancelled() && parts.version < Version::HTTP_2 {
        reply = reply.with(CONNECTION, "close");
    }
    let id = request_id(&parts.headers);
    tracing::debug!(request = %id, interaction = name, status, "answered");
    let (reply, head) = (reply.with(REQUEST_ID, &id), parts.method == Method::HEAD);
    if format == Format::Json || reply.length() <= LONG {
        return Ok(reply.into_response(format, head));
    }
    let writing = tokio::task::spawn_blocking(move || reply.into_response(format, head));
    writing.await.map_err(|_| Cut)
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

impl Arriving<'_> {
    /// Knows the caller, keeps its limits, and records what it was answered.
    async fn admitted(
        &self,
        context: &Context,
        body: &mut Option<Incoming>,
    ) -> Result<(Reply, Format), Cut> {
        let wanted = self.format_wanted(None);
        // What is refused before it is known what it asks for is told in JSON if need be.
        let format = wanted.unwrap_or(Format::Json);
        if context.ending.is_cancelled() {
            let words = "The service is ending. Ask again";
            let reply = Reply::error(StatusCode::SERVICE_UNAVAILABLE, "transient", words);
            return Ok((reply.with(RETRY_AFTER, "5"), format));
        }
        let caller = match context.store.laboratory(self.certificate.fingerprint.clone()).await {
            Ok(caller) => caller,
            Err(error) => return Ok((out_of_order(&error), format)),
        };
        let laboratory = caller.as_ref().map(|caller| caller.id);
        let who = Caller {
            laboratory: laboratory.unwrap_or(STRANGERS),
            name: caller.as_ref().map(|caller| caller.name.as_str()),
            certificate: &self.certificate.fingerprint,
        };
        let Admission { place, refusals } = context.rate_limiter.enter(who, Instant::now());
        record_refusals(context, laboratory, who, refusals).await;
        let mut place = match place {
            Ok(place) => place,
            Err(wait) => {
                let words = "Too many requests of this laboratory";
                let reply = Reply::error(StatusCode::TOO_MANY_REQUESTS, "throttled", words);
                let seconds = wait.as_millis().div_ceil(1000).to_string();
                return Ok((reply.with(RETRY_AFTER, &seconds), format));
            }
        };
        let mut reply = match self.broken() {
            Some(reply) => reply,
            None if wanted.is_none() && !self.may_say_in_form() => not_acceptable(),
            None => self.routed(context, caller.as_ref(), body, &mut place).await?,
        };
        let format = match self.format_wanted(reply.format.as_deref()) {
            Some(format) => format,
            None => {
                reply = not_acceptable();
                format
            }
        };
        reply = with_room(reply, &mut place);
        if reply.shown.throttled {
            let refusals = context.rate_limiter.refuse(who, Instant::now());
            record_refusals(context, laboratory, who, refusals).await;
        } else if !reply.shown.recorded
            && let Err(error) = context.store.audit(self.entry(laboratory, &reply)).await
        {
            // Nothing is shown that is not recorded.
            return Ok((out_of_order(&error), format));
        }
        Ok((reply.holding(place), format))
    }

    fn entry(&self, laboratory: Option<i64>, reply: &Reply) -> AuditEntry {
        AuditEntry {
            laboratory,
            certificate: self.certificate.fingerprint.clone(),
            interaction: named(self.interaction),
            receipt: reply.shown.receipt.clone(),
            entries: reply.shown.entries,
            shown: reply.shown.ids.clone(),
            status: reply.status.as_u16(),
        }
    }

    /// A search whose parameters stand in the body, `_format` too where it is not in the address.
    fn may_say_in_form(&self) -> bool {
        self.interaction == Some(Interaction::Search)
            && self.parts.method == Method::POST
            && self.formats_asked().next().is_none()
    }

    fn formats_asked(&self) -> impl Iterator<Item = String> {
        let query = self.parts.uri.query().unwrap_or_default();
        let asked = pairs(query).filter(|(name, value)| name == "_format" && !value.is_empty());
        asked.map(|(_, value)| value)
    }

    /// `form`: `_format` of a search by form.
    fn format_wanted(&self, form: Option<&str>) -> Option<Format> {
        // An answer follows the request's own encoding where it is not asked for another.
        let headers = &self.parts.headers;
        let own = header(headers, CONTENT_TYPE).and_then(parse_media_type);
        let accept: Vec<_> =
            headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
        let accept = accept.join(",");
        let own = own.unwrap_or(Format::Json);
        let chosen = |asked: Option<&str>| match negotiate(Some(&accept), asked, own) {
            Negotiated::Format(format) => Some(format),
            Negotiated::NotAcceptable => None,
        };
        let mut asked = form.map(str::to_owned).into_iter().chain(self.formats_asked());
        let Some(first) = asked.next() else { return chosen(None) };
        // Of several the first counts, but none may be nonsense.
        asked.all(|other| chosen(Some(&other)).is_some()).then(|| chosen(Some(&first))).flatten()
    }

    /// What is wrong with a request before it matters what it asks for.
    fn broken(&self) -> Option<Reply> {
        let Parts { uri, headers, version, .. } = self.parts;
        let fields = headers.iter().map(|(name, value)| name.as_str().len() + value.len());
        let length = fields.sum::<usize>() + uri.path().len() + uri.query().map_or(0, str::len);
        if length > HEADER_MAX {
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            let words = format!("A request's address and header hold at most {HEADER_MAX} bytes");
            return Some(Reply::error(status, "too-long", words));
        }
        let bad = |words: &str| Some(Reply::error(StatusCode::BAD_REQUEST, "value", words));
        let mut hosts = headers.get_all(HOST).iter();
        // RFC 9112 section 3.2: one Host in every HTTP/1.1 request, and one that reads.
        let host = hosts.next();
        let reads = host.is_none_or(|host| http::uri::Authority::try_from(host.as_bytes()).is_ok());
        if hosts.next().is_some() || !reads || (host.is_none() && *version == Version::HTTP_11) {
            return bad("A request has exactly one Host");
        }
        if decoded(uri.path()).is_none() {
            return bad("The address is not percent-encoded as RFC 3986 says");
        }
        let broken = broken_parameters(uri.query().unwrap_or_default());
        (!broken.is_empty()).then(|| not_encoded(&broken))
    }

    /// The body, for which its place keeps as many bytes as it has; or why it is not taken.
    async fn body(
        &self,
        context: &Context,
        body: &mut Option<Incoming>,
        place: &mut Permit,
        is_form: bool,
    ) -> Result<Bytes, Reply> {
        let headers = &self.parts.headers;
        let most = if is_form { place.body_max.min(search::FORM_MAX) } else { place.body_max };
        let length = announced(headers).filter(|length| *length <= most);
        place.keep(length.unwrap_or(0)).map_err(no_room)?;
        let Some(body) = body.take() else { return Ok(Bytes::new()) };
        let read = read_body(headers, body, most, context.pause_max, place).await;
        read.map_err(|problem| match problem {
            BodyProblem::TooLarge(most) if is_form => {
                too_costly(format!("A search by form holds at most {most} bytes"))
            }
            problem => problem.answered(),
        })
    }

    async fn routed(
        &self,
        context: &Context,
        caller: Option<&Laboratory>,
        body: &mut Option<Incoming>,
        place: &mut Permit,
    ) -> Result<Reply, Cut> {
        let parts = self.parts;
        let Some(caller) = caller else {
            let words = "This certificate belongs to no laboratory, or was revoked";
            return Ok(Reply::error(StatusCode::FORBIDDEN, "forbidden", words));
        };
        if self.certificate.valid_until < clock::now() {
            // Its connection ends at this moment too, and the next handshake is refused.
            let words = "This certificate has expired";
            return Ok(Reply::error(StatusCode::FORBIDDEN, "expired", words));
        }
        let Some((route, id)) = &self.route else {
            return Ok(not_found("There is nothing at this address"));
        };
        let Some(interaction) = self.interaction else {
            let words = format!("Allowed here: {}", route.allowed());
            let reply = Reply::error(StatusCode::METHOD_NOT_ALLOWED, "not-supported", words);
            return Ok(reply.with(ALLOW, &route.allowed()));
        };
        let is_form = interaction == Interaction::Search && parts.method == Method::POST;
        let body = match self.body(context, body, place, is_form).await {
            Ok(body) => body,
            Err(refusal) => return Ok(refusal),
        };
        let Met { kind: fault, oddities } = context.faults.meet(interaction);
        if let Some(reply) = instead(fault.as_ref()).await? {
            return Ok(reply);
        }
        let asked = Asked {
            context,
            caller,
            certificate: &self.certificate.fingerprint,
            parts,
            odd: &oddities,
        };
        let facts = Facts {
            release: context.release,
            base: &context.base_url,
            conditional_create: context.conditional_create,
        };
        let done = match (interaction, id) {
            (Interaction::Create, _) => interactions::create(asked, body).await,
            (Interaction::Search, _) => interactions::find(asked, &body).await,
            (_, Some(id)) => interactions::read(asked, id).await,
            _ if route.path == OPENAPI_PATH => Ok(Reply::description(definition::openapi(facts))),
            _ => Ok(Reply::json(StatusCode::OK, definition::capabilities(facts))),
        };
        let mut reply = done.unwrap_or_else(|error| out_of_order(&error));
        if oddities.seven_digits {
            reply = reply.with_seven_digits();
        }
        let reply = reply.labelled(oddities.content_type.as_deref());
        let_out(reply, fault).await
    }
}

/// An answer that is as long as there is room for; what was stored is told in any case.
fn with_room(reply: Reply, place: &mut Permit) -> Reply {
    if reply.shown.recorded || reply.length() <= LONG {
        return reply;
    }
    match place.keep(reply.length()) {
        Ok(()) => reply,
        Err(why) => no_room(why),
    }
}

/// The answer as a fault of the plan lets it out.
async fn let_out(reply: Reply, fault: Option<FaultKind>) -> Result<Reply, Cut> {
    Ok(match fault {
        Some(FaultKind::CutAfterCommit) => return Err(Cut),
        Some(FaultKind::DelayAnswer(time)) => {
            let reply = reply.out_of_turn();
            tokio::time::sleep(time).await;
            reply
        }
        Some(FaultKind::Truncated) => reply.truncated(),
        Some(FaultKind::EndlessBody) => reply.endless(),
        Some(FaultKind::EmptyBody) => reply.without_body(),
        _ => reply,
    })
}

/// Puts refusals above the limits on record; where that fails, they are with the next ones. A
/// refusal shows nothing, so it does not wait for that.
async fn record_refusals(
    context: &Context,
    laboratory: Option<i64>,
    who: Caller<'_>,
    refusals: u32,
) {
    if refusals == 0 {
        return;
    }
    let entry = throttled(laboratory, who.certificate, refusals);
    if context.store.audit(entry).await.is_err() {
        context.rate_limiter.give_back(who.laboratory, refusals);
    }
}

/// Refusals above the limits, as one line of the audit log.
pub(crate) fn throttled(laboratory: Option<i64>, certificate: &str, refusals: u32) -> AuditEntry {
    AuditEntry {
        laboratory,
        certificate: certificate.to_owned(),
        interaction: "throttled",
        receipt: None,
        entries: Some(refusals),
        shown: None,
        status: StatusCode::TOO_MANY_REQUESTS.as_u16(),
    }
}

/// A caller that sends its body only when it is told to go on: it is not told.
fn waits_for_leave(parts: &Parts) -> bool {
    header(&parts.headers, EXPECT).is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
}

/// The caller's own id of the request, where it is one, or a new one
/// (<https://hl7.org/fhir/R4/http.html#custom>).
fn request_id(headers: &HeaderMap) -> Cow<'_, str> {
    let fits =
        |id: &&str| (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    match header(headers, REQUEST_ID).filter(fits) {
        Some(own) => Cow::Borrowed(own),
        None => Cow::Owned(uuid::Uuid::new_v4().to_string()),
    }
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
            // What refuses a document says so of the document: a passing fault refuses none.
            let issue = if matches!(*code, 400 | 413 | 422) { "processing" } else { "transient" };
            let reply = Reply::error(status(*code), issue, "As the fault plan wants it");
            Some(match retry_after {
                Some(value) => reply.with(RETRY_AFTER, value),
                None => reply,
            })
        }
        _ => None,
    })
}
