//! A request body: read within limits, and only in the encodings of the interface.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use exchange::parse_media_type;
use fhir::Format;
use http::StatusCode;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use crate::reply::Reply;
use crate::routes::{Cut, header};

/// Bytes of a request body.
const BODY_MAX: usize = 20 << 20;
/// A body that is too large is read on so far, that its sender comes to read the answer.
const BODY_DRAINED_MAX: usize = 64 << 20;
/// Longest time for all of a body.
const BODY_TIME_MAX: Duration = Duration::from_secs(180);

/// Encoding of a request body, or why it cannot be read.
pub(crate) fn body_format(headers: &HeaderMap) -> Result<Format, Reply> {
    let refuse =
        |words: &str| Reply::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-supported", words);
    if header(headers, CONTENT_ENCODING)
        .is_some_and(|value| !value.eq_ignore_ascii_case("identity"))
    {
        return Err(refuse("Compressed requests are not accepted"));
    }
    let kind = header(headers, CONTENT_TYPE).unwrap_or_default();
    let charset = kind
        .split(';')
        .skip(1)
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .map(|(_, value)| value.trim().trim_matches('"').to_ascii_lowercase());
    if charset.is_some_and(|charset| !matches!(charset.as_str(), "utf-8" | "utf8" | "us-ascii")) {
        return Err(refuse("Requests are UTF-8"));
    }
    parse_media_type(kind).ok_or_else(|| {
        refuse("A DocumentReference is application/fhir+json or application/fhir+xml")
    })
}

/// Why a body was not taken.
pub(crate) enum BodyProblem {
    TooLarge,
    TooSlow,
    Broken,
}

impl BodyProblem {
    /// What is said of it; a connection that broke hears nothing.
    pub(crate) fn answered(self) -> Result<Reply, Cut> {
        match self {
            Self::TooLarge => Ok(Reply::error(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too-long",
                format!("A request holds at most {BODY_MAX} bytes"),
            )),
            Self::TooSlow => Ok(Reply::error(
                StatusCode::REQUEST_TIMEOUT,
                "timeout",
                "The request did not arrive in time",
            )),
            Self::Broken => Err(Cut),
        }
    }
}

/// Reads a body within its limits of size and time; `pause_max` between two pieces.
pub(crate) async fn read_body(
    headers: &HeaderMap,
    mut body: Incoming,
    pause_max: Duration,
) -> Result<Bytes, BodyProblem> {
    let announced = header(headers, CONTENT_LENGTH).and_then(|length| length.parse().ok());
    if announced.is_some_and(|length: usize| length > BODY_DRAINED_MAX) {
        return Err(BodyProblem::TooLarge);
    }
    let end = tokio::time::Instant::now() + BODY_TIME_MAX;
    let mut bytes = BytesMut::with_capacity(announced.unwrap_or(0).min(BODY_MAX));
    let mut seen = 0usize;
    loop {
        let pause = tokio::time::Instant::now() + pause_max;
        let frame = tokio::time::timeout_at(pause.min(end), body.frame())
            .await
            .map_err(|_| BodyProblem::TooSlow)?;
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_| BodyProblem::Broken)?.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        if seen > BODY_DRAINED_MAX {
            return Err(BodyProblem::TooLarge);
        }
        if seen <= BODY_MAX {
            bytes.extend_from_slice(&data);
        }
    }
    if seen > BODY_MAX { Err(BodyProblem::TooLarge) } else { Ok(bytes.freeze()) }
}
