//! The raw proof of an exchange, kept by the journal.

use std::fmt;

use fhir::Instant;

/// One answer as it came over the wire.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Evidence {
    /// HTTP method.
    pub method: String,
    /// Path and query that were asked.
    pub url_path: String,
    /// HTTP status.
    pub status: u16,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// Body, at most 8 MB; what arrived of it where the connection was cut.
    pub body: Vec<u8>,
    /// From the start of the request to the end of the answer.
    pub elapsed_ms: u64,
    /// `Date` of the answer: the server's clock.
    pub server_date: Option<Instant>,
    /// `Location` of the answer, where it names a stored DocumentReference.
    pub location: Option<String>,
}

/// Without the body: it may name patients, and `Debug` ends up in logs.
impl fmt::Debug for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evidence")
            .field("method", &self.method)
            .field("status", &self.status)
            .field("content_type", &self.content_type)
            .field("body_bytes", &self.body.len())
            .field("elapsed_ms", &self.elapsed_ms)
            .finish_non_exhaustive()
    }
}
