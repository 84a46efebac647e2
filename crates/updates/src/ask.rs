//! One question about a newer version: what is sent, and what is taken for an answer.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use url::Url;

use crate::Fault;

/// Bounds of what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Name, TCP and TLS together.
    pub connect: Duration,
    /// The whole description.
    pub description: Duration,
    /// The whole file: 100 MB in half an hour are 450 kbit/s.
    pub file: Duration,
    /// Bytes of the description.
    pub description_bytes_max: u64,
    /// Bytes of the file; a package has some 30 MB, an AppImage some 100 MB.
    pub file_bytes_max: u64,
}

impl Default for Limits {
    /// 10 s, 60 s, half an hour, 256 KB, 512 MB.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            description: Duration::from_secs(60),
            file: Duration::from_secs(1_800),
            description_bytes_max: 256 << 10,
            file_bytes_max: 512 << 20,
        }
    }
}

/// Asks an address and hands over the body, part by part. Says nothing but what is wanted: neither
/// which version runs here nor on which computer.
pub(crate) async fn ask(
    address: &Url,
    ca_pem: Option<&str>,
    bounds: fetch::Bounds,
    part: impl FnMut(&[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let request = Request::get("/")
        .header(header::USER_AGENT, "lab-courier")
        .header(header::ACCEPT, "*/*")
        .header(header::ACCEPT_ENCODING, "identity");
    let question = fetch::Question { address, ca_pem, request, body: Bytes::new() };
    // Nor is it followed elsewhere: that address was chosen by nobody.
    let is_given = |status| match status {
        StatusCode::OK => Ok(()),
        _ => Err(Fault::Refused),
    };
    fetch::fetch(question, bounds, is_given, part).await.map(drop)
}
