//! What is answered to bytes that are no HTTP request. The HTTP library answers them itself, with a
//! status and nothing else; here the OperationOutcome is put in, so that no answer is without one.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::http::fhir_json::Outcome;
use crate::http::reply::REQUEST_ID;
use crate::notice::Notice;

/// A connection on which every answer says why.
pub(crate) struct Explained<S> {
    stream: S,
    /// What is still to be written in the place of an answer of the library.
    instead: Bytes,
}

impl<S> Explained<S> {
    pub(crate) const fn new(stream: S) -> Self {
        Self { stream, instead: Bytes::new() }
    }
}

/// The answer to write instead, where these bytes are an answer without a resource. Every answer of
/// ours has an id; one without is the library's, and it writes it in one piece, on an HTTP/1
/// connection only.
fn explained(written: &[u8]) -> Option<Bytes> {
    let text = std::str::from_utf8(written).ok()?;
    let status = text.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5))?;
    let status = status.parse().ok().filter(StatusCode::is_client_error)?;
    if !text.ends_with("\r\n\r\n") || text.contains(REQUEST_ID.as_str()) {
        return None;
    }
    let words = match status {
        StatusCode::URI_TOO_LONG => "The address is too long",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => "The request's header is too long",
        _ => "This is no HTTP request",
    };
    let kind = if status == StatusCode::BAD_REQUEST { "structure" } else { "too-long" };
    let body = serde_json::to_string(&Outcome::new(&[Notice::error(kind, words)])).ok()?;
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/fhir+json;charset=utf-8\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    Some(Bytes::from(head + &body))
}

impl<S: AsyncWrite + Unpin> Explained<S> {
    fn write_instead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.instead.is_empty() {
            let count = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.instead))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.instead.advance(count);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Explained<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Explained<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.write_instead(cx))?;
        let mut filled = bufs.iter().filter(|buf| !buf.is_empty());
        if let (Some(only), None) = (filled.next(), filled.next())
            && let Some(instead) = explained(only)
        {
            self.instead = instead;
            // Part of it may have to wait for the next write or flush.
            if let Poll::Ready(Err(error)) = self.write_instead(cx) {
                return Poll::Ready(Err(error));
            }
            return Poll::Ready(Ok(only.len()));
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.write_instead(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.write_instead(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_without_a_resource_is_replaced() {
        let bare = "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n\r\n";
        let told = explained(bare.as_bytes()).unwrap();
        let text = std::str::from_utf8(&told).unwrap();
        assert!(text.starts_with("HTTP/1.1 431 "), "{text}");
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{text}");
        assert!(body.contains("OperationOutcome"), "{text}");
        for other in [
            "HTTP/1.1 400 Bad Request\r\nx-request-id: 1\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 4",
            "{\"resourceType\":\"OperationOutcome\"}",
            "",
        ] {
            assert_eq!(explained(other.as_bytes()), None, "{other}");
        }
    }
}
