//! How a server misbehaves.

use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};

/// What the server does once it has read a request (or part of it).
#[derive(Debug, Clone)]
pub enum Reaction {
    /// A well-formed answer.
    Answer {
        /// HTTP status.
        status: u16,
        /// Further headers; `Content-Length` is added.
        headers: Vec<(String, String)>,
        /// The body of the answer.
        body: Vec<u8>,
    },
    /// Reads the whole request, then closes without a word: the answer is lost.
    CutBeforeAnswer,
    /// Reads the head of the request, then closes: the body never arrives whole.
    CutAfterHead,
    /// Answers 200 with this body, but closes half-way.
    CutWithinAnswer(Vec<u8>),
    /// Answers 200 with a body that never ends.
    EndlessBody,
    /// Sends header lines for ever.
    EndlessHeaders,
    /// Answers 200 and then a byte at each interval.
    SlowBody(Duration),
    /// Answers with header lines that come a byte at each interval.
    SlowHead(Duration),
    /// Answers 200 with chunks that never end.
    EndlessChunks,
    /// Sends 103 (early hints) for ever.
    EndlessHints,
    /// Reads the request and never answers.
    Silence,
    /// Reads the head of the request, then nothing more, and never answers.
    Deaf,
    /// These bytes instead of an HTTP answer.
    Bytes(Vec<u8>),
}

impl Reaction {
    /// An answer with a content type.
    pub fn answer(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
        Self::Answer { status, headers, body: body.into() }
    }

    /// The same with one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

/// Whether the connection stays open.
pub(crate) async fn react<S: AsyncWrite + Unpin>(stream: &mut S, reaction: Reaction) -> bool {
    match reaction {
        Reaction::Answer { status, headers, body } => {
            let mut head =
                format!("HTTP/1.1 {status} Scripted\r\nContent-Length: {}\r\n", body.len());
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            head.push_str("\r\n");
            send(stream, head.as_bytes()).await && send(stream, &body).await
        }
        Reaction::CutBeforeAnswer | Reaction::CutAfterHead => false,
        Reaction::CutWithinAnswer(body) => {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/fhir+json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            send(stream, head.as_bytes()).await;
            send(stream, &body[..body.len() / 2]).await;
            false
        }
        Reaction::EndlessBody => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/fhir+json\r\n\r\n";
            send(stream, head.as_bytes()).await;
            let block = vec![b' '; 64 * 1024];
            while send(stream, &block).await {}
            false
        }
        Reaction::EndlessHeaders => {
            send(stream, b"HTTP/1.1 200 OK\r\n").await;
            let line = format!("X-Filler: {}\r\n", "a".repeat(4000));
            while send(stream, line.as_bytes()).await {}
            false
        }
        Reaction::EndlessChunks => {
            send(stream, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
            let chunk = format!("4000\r\n{}\r\n", " ".repeat(0x4000));
            while send(stream, chunk.as_bytes()).await {}
            false
        }
        Reaction::EndlessHints => {
            let hint = b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n".repeat(100);
            while send(stream, &hint).await {}
            false
        }
        Reaction::SlowHead(pause) => {
            send(stream, b"HTTP/1.1 200 OK\r\nX-Slow: ").await;
            while send(stream, b"a").await {
                tokio::time::sleep(pause).await;
            }
            false
        }
        Reaction::SlowBody(pause) => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/fhir+json\r\nContent-Length: 100000\r\n\r\n";
            send(stream, head.as_bytes()).await;
            while send(stream, b" ").await {
                tokio::time::sleep(pause).await;
            }
            false
        }
        Reaction::Silence | Reaction::Deaf => {
            std::future::pending::<()>().await;
            false
        }
        Reaction::Bytes(bytes) => {
            send(stream, &bytes).await;
            false
        }
    }
}

async fn send<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8]) -> bool {
    stream.write_all(bytes).await.is_ok() && stream.flush().await.is_ok()
}
