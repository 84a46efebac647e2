//! A request body: read within limits, and only in the encodings of the interface.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use exchange::parse_media_type;
use fhir::Format;
use http::StatusCode;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use crate::http::context::header;
use crate::http::limits::{NoRoom, Permit};
use crate::http::refusals::no_room;
use crate::http::reply::Reply;

/// A body that is refused is read on so far, that its sender comes to read the answer.
const BODY_DRAINED_MAX: usize = 64 << 20;
/// Longest time for all of a body.
const BODY_TIME_MAX: Duration = Duration::from_secs(180);

/// Encoding of a request body, or the words that say why it cannot be read.
pub(crate) fn body_format(headers: &HeaderMap) -> Result<Format, &'static str> {
    if header(headers, CONTENT_ENCODING)
        .is_some_and(|value| !value.eq_ignore_ascii_case("identity"))
    {
        return Err("Compressed requests are not accepted");
    }
    let kind = header(headers, CONTENT_TYPE).unwrap_or_default();
    if !is_utf8(kind) {
        return Err("Requests are UTF-8");
    }
    let words = "A DocumentReference is application/fhir+json or application/fhir+xml";
    parse_media_type(kind).ok_or(words)
}

/// A search by form as a query string; where it is none: status, issue-type and words of the
/// answer. In a form a plus is a space; in a query string it is itself.
pub(crate) fn form(
    headers: &HeaderMap,
    body: &[u8],
) -> Result<String, (StatusCode, &'static str, &'static str)> {
    let kind = header(headers, CONTENT_TYPE).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let fits = essence.eq_ignore_ascii_case("application/x-www-form-urlencoded");
    if !(fits && is_utf8(kind) || kind.is_empty() && body.is_empty()) {
        let words = "A search by POST is a form in UTF-8: application/x-www-form-urlencoded";
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-supported", words));
    }
    match std::str::from_utf8(body) {
        Ok(text) => Ok(text.replace('+', "%20")),
        Err(_) => Err((StatusCode::BAD_REQUEST, "value", "The form is not UTF-8")),
    }
}

/// Whether a `Content-Type` names no other charset.
fn is_utf8(kind: &str) -> bool {
    let mut parameters = kind.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let charset = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charset.is_none_or(|(_, value)| {
        let value = value.trim().trim_matches('"').to_ascii_lowercase();
        matches!(value.as_str(), "utf-8" | "utf8" | "us-ascii")
    })
}

/// Why a body was not taken.
pub(crate) enum BodyProblem {
    /// More than so many bytes.
    TooLarge(usize),
    TooSlow,
    Broken,
    /// Others have the room that it takes.
    NoRoom(NoRoom),
}

impl BodyProblem {
    /// What is said of it.
    pub(crate) fn answered(self) -> Reply {
        match self {
            Self::TooLarge(most) => Reply::error(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too-long",
                format!("A request holds at most {most} bytes"),
            ),
            Self::TooSlow => Reply::error(
                StatusCode::REQUEST_TIMEOUT,
                "timeout",
                "The request did not arrive in time",
            ),
            Self::NoRoom(why) => no_room(why),
            Self::Broken => Reply::error(
                StatusCode::BAD_REQUEST,
                "structure",
                "The body is not what the header announces",
            ),
        }
    }
}

/// Bytes of a body, as its header says.
pub(crate) fn announced(headers: &HeaderMap) -> Option<usize> {
    header(headers, CONTENT_LENGTH).and_then(|length| length.parse().ok())
}

/// Reads past a body, so that its sender comes to read the answer.
pub(crate) async fn read_past(headers: &HeaderMap, body: Incoming, pause_max: Duration) {
    // What becomes of it is told already.
    let _ = read(headers, body, 0, pause_max, None).await;
}

/// Reads a body within its limits of size and time: `body_max` bytes, `pause_max` between two
/// pieces; and of the bytes that its place keeps, of which it takes more where it was not announced
/// how many there are.
pub(crate) async fn read_body(
    headers: &HeaderMap,
    body: Incoming,
    body_max: usize,
    pause_max: Duration,
    place: &mut Permit,
) -> Result<Bytes, BodyProblem> {
    read(headers, body, body_max, pause_max, Some(place)).await
}

async fn read(
    headers: &HeaderMap,
    mut body: Incoming,
    body_max: usize,
    pause_max: Duration,
    mut place: Option<&mut Permit>,
) -> Result<Bytes, BodyProblem> {
    let announced = announced(headers);
    let drained_max = BODY_DRAINED_MAX.max(body_max);
    if announced.is_some_and(|length: usize| length > drained_max) {
        return Err(BodyProblem::TooLarge(body_max));
    }
    let end = tokio::time::Instant::now() + BODY_TIME_MAX;
    let mut bytes = BytesMut::with_capacity(announced.unwrap_or(0).min(body_max));
    let mut seen = 0usize;
    let mut no_room = None;
    loop {
        let pause = tokio::time::Instant::now() + pause_max;
        let frame = tokio::time::timeout_at(pause.min(end), body.frame())
            .await
            .map_err(|_| BodyProblem::TooSlow)?;
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_| BodyProblem::Broken)?.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        if seen > drained_max {
            return Err(BodyProblem::TooLarge(body_max));
        }
        if let (Some(place), None, true) = (&mut place, no_room, seen <= body_max) {
            // Nothing where it was announced.
            no_room = place.keep(seen.saturating_sub(place.kept())).err();
        }
        if no_room.is_some() {
            bytes = BytesMut::new();
        } else if seen <= body_max {
            bytes.extend_from_slice(&data);
        }
    }
    match no_room {
        _ if seen > body_max => Err(BodyProblem::TooLarge(body_max)),
        Some(why) => Err(BodyProblem::NoRoom(why)),
        None => Ok(bytes.freeze()),
    }
}
