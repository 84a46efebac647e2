//! An answer on its way out: always a FHIR resource, in the encoding that was asked for.

use bytes::Bytes;
use fhir::{Format, Limits, Tree};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde::Serialize;

use crate::wire::{Notice, Outcome};

/// Status, headers and resource of an answer.
#[derive(Debug)]
pub(crate) struct Reply {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// The resource as JSON; `None` for an answer without a body.
    resource: Option<String>,
}

impl Reply {
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, headers: Vec::new(), resource: None }
    }

    pub(crate) fn resource(status: StatusCode, resource: &impl Serialize) -> Self {
        match serde_json::to_string(resource) {
            Ok(json) => Self { resource: Some(json), ..Self::empty(status) },
            Err(error) => {
                tracing::error!(%error, "an answer cannot be written");
                Self::empty(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }

    /// A resource that is JSON already.
    pub(crate) fn json(status: StatusCode, json: String) -> Self {
        Self { resource: Some(json), ..Self::empty(status) }
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

    pub(crate) fn without_body(mut self) -> Self {
        self.resource = None;
        self
    }

    /// Leaves the second half of the body away.
    pub(crate) fn truncated(mut self) -> Self {
        if let Some(json) = &mut self.resource {
            let mut half = json.len() / 2;
            while !json.is_char_boundary(half) {
                half -= 1;
            }
            json.truncate(half);
        }
        self
    }

    /// `head`: everything but the body.
    pub(crate) fn into_response(self, format: Format, head: bool) -> Response<Full<Bytes>> {
        let (body, format) = match self.resource {
            Some(json) => {
                let (body, format) = encoded(json, format);
                (Bytes::from(body), Some(format))
            }
            None => (Bytes::new(), None),
        };
        let length = body.len();
        let mut response = Response::new(Full::new(if head { Bytes::new() } else { body }));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        for (name, value) in self.headers {
            headers.append(name, value);
        }
        if let Some(format) = format {
            let kind = match format {
                Format::Json => "application/fhir+json;charset=utf-8",
                Format::Xml => "application/fhir+xml;charset=utf-8",
            };
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        if head {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        response
    }
}

/// A page that is no FHIR at all, as a captive portal shows it.
pub(crate) fn html_page() -> Response<Full<Bytes>> {
    let page = "<!doctype html><html><body><h1>Sign in to the network</h1></body></html>";
    let mut response = Response::new(Full::new(Bytes::from_static(page.as_bytes())));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
    response
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
