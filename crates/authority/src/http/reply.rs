//! An answer on its way out: a FHIR resource in the encoding that was asked for, unless a fault
//! plan wants something else.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use fhir::{Format, Limits, Tree};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, VARY};
use http::{HeaderValue, Response, StatusCode};
use hyper::body::{Body, Frame, SizeHint};
use serde::Serialize;

use crate::http::fhir_json::Outcome;
use crate::http::limits::Permit;
use crate::http::turns::Turn;
use crate::notice::Notice;

/// Id of a request, of the caller's making or ours (<https://hl7.org/fhir/R4/http.html#custom>).
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Status, headers and resource of an answer, and what the audit log says of it.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// The body as JSON or HTML; `None` for an answer without one.
    text: Option<String>,
    form: Form,
    /// `Content-Type` in place of the right one.
    kind: Option<HeaderValue>,
    endless: bool,
    /// `_format` where it stood in the body of the request.
    pub(crate) format: Option<String>,
    pub(crate) shown: Shown,
    /// Given back when the answer has gone.
    permit: Option<Permit>,
    /// Given back when it has its encoding.
    _turn: Option<Turn>,
}

fhir::shows_only!(Reply { status, form, shown });

/// Whose documents an answer is about.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The document that was asked for, where it is the caller's own.
    pub(crate) receipt: Option<String>,
    /// How many documents a search shows.
    pub(crate) entries: Option<u32>,
    /// Their ids, with spaces between them.
    pub(crate) ids: Option<String>,
    /// It is in the audit log already.
    pub(crate) recorded: bool,
    /// A refusal above the limits: it goes on record together with others.
    pub(crate) throttled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Fhir,
    Json,
    Html,
}

impl Reply {
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: Vec::new(),
            text: None,
            form: Form::Fhir,
            kind: None,
            endless: false,
            format: None,
            shown: Shown::default(),
            permit: None,
            _turn: None,
        }
    }

    /// The place of its request, which is taken as long as the answer is on its way: one that
    /// nobody reads takes memory too.
    pub(crate) fn holding(self, permit: Permit) -> Self {
        Self { permit: Some(permit), ..self }
    }

    /// The turn of the work that it takes to write it.
    pub(crate) fn in_turn(self, turn: Turn) -> Self {
        Self { _turn: Some(turn), ..self }
    }

    /// Gives its turn back early: it is written later.
    pub(crate) fn out_of_turn(self) -> Self {
        Self { _turn: None, ..self }
    }

    /// Bytes of the body, as JSON.
    pub(crate) fn length(&self) -> usize {
        self.text.as_ref().map_or(0, String::len)
    }

    pub(crate) fn resource(status: StatusCode, resource: &impl Serialize) -> Self {
        match serde_json::to_string(resource) {
            Ok(json) => Self { text: Some(json), ..Self::empty(status) },
            Err(error) => {
                tracing::error!(%error, "an answer cannot be written");
                Self::empty(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }

    /// A resource that is JSON already.
    pub(crate) fn json(status: StatusCode, json: String) -> Self {
        Self { text: Some(json), ..Self::empty(status) }
    }

    /// A description for programs that is no FHIR resource.
    pub(crate) fn description(json: String) -> Self {
        Self { text: Some(json), form: Form::Json, ..Self::empty(StatusCode::OK) }
    }

    /// A page that is no FHIR at all, as a captive portal shows it.
    pub(crate) fn html_page() -> Self {
        let page = "<!doctype html><html><body><h1>Sign in to the network</h1></body></html>";
        Self { text: Some(page.to_owned()), form: Form::Html, ..Self::empty(StatusCode::OK) }
    }

    pub(crate) fn outcome(status: StatusCode, notices: &[Notice]) -> Self {
        Self::resource(status, &Outcome::new(notices))
    }

    /// An OperationOutcome with one error.
    pub(crate) fn error(status: StatusCode, kind: &str, diagnostics: impl Into<String>) -> Self {
        Self::outcome(status, &[Notice::error(kind, diagnostics)])
    }

    /// Adds a header; a value that cannot be one is left out.
    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// Is about this document of the caller.
    pub(crate) fn about(mut self, receipt: &str) -> Self {
        self.shown.receipt = Some(receipt.to_owned());
        self
    }

    /// Is a refusal above the limits, which goes on record together with others.
    pub(crate) fn throttled(mut self) -> Self {
        self.shown.throttled = true;
        self
    }

    pub(crate) fn without_body(mut self) -> Self {
        self.text = None;
        self
    }

    /// Leaves the second half of the body away.
    pub(crate) fn truncated(mut self) -> Self {
        if let Some(json) = &mut self.text {
            json.truncate(half(json));
        }
        self
    }

    /// Half the body, and then no end.
    pub(crate) fn endless(self) -> Self {
        Self { endless: true, ..self.truncated() }
    }

    /// Under another `Content-Type`; a value that cannot be one changes nothing.
    pub(crate) fn labelled(mut self, kind: Option<&str>) -> Self {
        self.kind = kind.and_then(|kind| HeaderValue::from_str(kind).ok());
        self
    }

    /// A seventh fraction digit in every instant.
    pub(crate) fn with_seven_digits(mut self) -> Self {
        self.text = self.text.map(|text| {
            let mut parts = text.split("Z\"");
            let mut longer = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let fraction = longer.len().checked_sub(7).and_then(|start| longer.get(start..));
                let instant = fraction
                    .and_then(|text| text.strip_prefix('.'))
                    .is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
                longer.push_str(if instant { "7Z\"" } else { "Z\"" });
                longer.push_str(part);
            }
            longer
        });
        self
    }

    /// `head`: everything but the body.
    pub(crate) fn into_response(self, format: Format, head: bool) -> Response<Outgoing> {
        let (body, kind) = match (self.text, self.form) {
            (Some(json), Form::Fhir) => {
                let (body, format) = encoded(json, format);
                let kind = match format {
                    Format::Json => "application/fhir+json;charset=utf-8",
                    Format::Xml => "application/fhir+xml;charset=utf-8",
                };
                (Bytes::from(body), Some(kind))
            }
            (Some(json), Form::Json) => (Bytes::from(json), Some("application/json")),
            (Some(page), Form::Html) => (Bytes::from(page), Some("text/html")),
            (None, _) => (Bytes::new(), None),
        };
        let length = body.len();
        let rest = if head { Bytes::new() } else { body };
        let endless = self.endless && !head;
        let mut response = Response::new(Outgoing { rest, endless, _permit: self.permit });
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        for (name, value) in self.headers {
            headers.append(name, value);
        }
        if self.form == Form::Fhir && kind.is_some() {
            headers.insert(VARY, HeaderValue::from_static("accept"));
        }
        if let Some(kind) = kind {
            let kind = self.kind.unwrap_or(HeaderValue::from_static(kind));
            headers.insert(CONTENT_TYPE, kind);
        }
        if head {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        response
    }
}

/// The body of an answer in pieces, and after it nothing or, on request, no end of spaces.
pub(crate) struct Outgoing {
    rest: Bytes,
    endless: bool,
    _permit: Option<Permit>,
}

fhir::shows_only!(Outgoing { endless });

/// Bytes that are given to the connection at once: it takes the next when these have gone.
const PIECE: usize = 64 << 10;

/// A piece of a body without end.
static SPACES: [u8; 16_384] = [b' '; 16_384];

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let length = self.rest.len().min(PIECE);
        let piece = match length {
            0 => self.endless.then(|| Bytes::from_static(&SPACES)),
            _ => Some(self.rest.split_to(length)),
        };
        Poll::Ready(piece.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && !self.endless
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.rest.len() as u64;
        if self.endless { SizeHint::default() } else { SizeHint::with_exact(length) }
    }
}

fn half(text: &str) -> usize {
    let mut half = text.len() / 2;
    while !text.is_char_boundary(half) {
        half -= 1;
    }
    half
}

fn encoded(json: String, format: Format) -> (String, Format) {
    if format == Format::Json {
        return (json, format);
    }
    match Tree::read(json.as_bytes(), Format::Json, &Limits::default()) {
        Ok(tree) => (tree.to_xml(), format),
        // Cut on purpose; whatever cannot be converted still says what it says.
        Err(_) => (json, Format::Json),
    }
}
