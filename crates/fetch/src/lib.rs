//! One request to a server that is not the authority: one connection, HTTP/1.1, one answer within
//! bounds. No certificate of ours is shown, no cookie is kept, no redirect is followed, and no
//! proxy is used.
//!
//! Whoever asks says what a status means and where the body goes. The validator and the search for
//! newer versions ask by it; reports go to the authority by `client` alone.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header, request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

/// How long an exchange may take, and how large its answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Name, TCP and TLS together.
    pub connect: Duration,
    /// All of it.
    pub all: Duration,
    /// Body of the answer.
    pub bytes_max: u64,
}

/// Why there is no whole answer. None of it says anything of what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The CA that was given, or the certificates of this computer, cannot be used.
    #[error("nobody can be trusted")]
    NobodyTrusted,
    /// No connection, or an address that leads nowhere.
    #[error("no connection")]
    NotReached,
    /// The server's certificate is not one that is trusted for this name, or it speaks no TLS that
    /// we do.
    #[error("the server cannot be trusted")]
    NotTrusted,
    /// It took too long.
    #[error("no answer in time")]
    TooLong,
    /// The connection ended before the answer did.
    #[error("the connection broke")]
    Broken,
    /// The answer is larger than the bound.
    #[error("the answer is too large")]
    TooLarge,
}

/// What is asked of an address: headers and method by `request`, whose path and host are filled in
/// here. `ca_pem`: trusts this CA alone, else those of the computer.
#[derive(Debug)]
pub struct Question<'q> {
    /// Where; `http` is asked without TLS, so that the caller has to have looked at it.
    pub address: &'q Url,
    /// Certificates in PEM.
    pub ca_pem: Option<&'q str>,
    /// Method and headers.
    pub request: request::Builder,
    /// Body; empty where there is none.
    pub body: Bytes,
}

/// Asks, and hands over the answer: `begins` is told the status and may end it there, `part` takes
/// the body piece by piece. Gives the status.
///
/// # Errors
/// [`Fault`] as the caller's own error, or what `begins` or `part` gave.
pub async fn fetch<E: From<Fault>>(
    question: Question<'_>,
    bounds: Bounds,
    begins: impl FnOnce(StatusCode) -> Result<(), E>,
    part: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<StatusCode, E> {
    let Question { address, ca_pem, request, body } = question;
    let request = addressed(request, address, body).ok_or(Fault::NotReached)?;
    let asking = async {
        let connecting = connected(address, ca_pem);
        let stream = timeout(bounds.connect, connecting).await.map_err(|_| Fault::TooLong)??;
        let answer = Answer { begins, part, left: bounds.bytes_max };
        match stream {
            Stream::Plain(tcp) => exchanged(tcp, request, answer).await,
            Stream::Secured(tls) => exchanged(tls, request, answer).await,
        }
    };
    timeout(bounds.all, asking).await.unwrap_or_else(|_| Err(Fault::TooLong.into()))
}

/// Whether nobody can read on the way what an address is asked: it is `https`, or on this computer.
pub fn is_protected(address: &Url) -> bool {
    let is_here = match address.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => return false,
    };
    address.scheme() == "https" || (address.scheme() == "http" && is_here)
}

enum Stream {
    Plain(TcpStream),
    Secured(Box<tokio_rustls::client::TlsStream<TcpStream>>),
}

fn addressed(
    request: request::Builder,
    address: &Url,
    body: Bytes,
) -> Option<Request<Full<Bytes>>> {
    let path = match address.query() {
        Some(query) => format!("{}?{query}", address.path()),
        None => address.path().to_owned(),
    };
    let host = match address.port() {
        Some(port) => format!("{}:{port}", address.host_str()?),
        None => address.host_str()?.to_owned(),
    };
    let mut request = request.uri(path).body(Full::new(body)).ok()?;
    // The host stands first (RFC 9110 section 7.2).
    let others = std::mem::take(request.headers_mut());
    request.headers_mut().insert(header::HOST, HeaderValue::try_from(host).ok()?);
    request.headers_mut().extend(others);
    Some(request)
}

async fn connected(address: &Url, ca_pem: Option<&str>) -> Result<Stream, Fault> {
    let port = address.port_or_known_default().ok_or(Fault::NotReached)?;
    let connected = match address.host() {
        Some(Host::Domain(name)) => TcpStream::connect((name, port)).await,
        Some(Host::Ipv4(address)) => TcpStream::connect((address, port)).await,
        Some(Host::Ipv6(address)) => TcpStream::connect((address, port)).await,
        None => return Err(Fault::NotReached),
    };
    let tcp = connected.map_err(|_| Fault::NotReached)?;
    match address.scheme() {
        "http" => Ok(Stream::Plain(tcp)),
        _ => secured(address, ca_pem, tcp).await,
    }
}

/// No certificate of ours is on this connection.
async fn secured(address: &Url, ca_pem: Option<&str>, tcp: TcpStream) -> Result<Stream, Fault> {
    let config = identity::tls_client_config(None, ca_pem);
    let mut config = config.map_err(|_| Fault::NobodyTrusted)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let host = address.host_str().ok_or(Fault::NotReached)?.trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(host).map_err(|_| Fault::NotReached)?;
    let secured = TlsConnector::from(Arc::new(config)).connect(name, tcp).await;
    let secured = secured.map_err(|error| match error.get_ref() {
        // Of the TLS stack, not of the connection.
        Some(of) if of.is::<rustls::Error>() => Fault::NotTrusted,
        _ => Fault::Broken,
    })?;
    Ok(Stream::Secured(Box::new(secured)))
}

/// Where the answer goes, and how many bytes of it are still taken.
struct Answer<Begins, Part> {
    begins: Begins,
    part: Part,
    left: u64,
}

/// The whole exchange. The connection is driven by this future alone and ends with it.
async fn exchanged<E, S, Begins, Part>(
    stream: S,
    request: Request<Full<Bytes>>,
    answer: Answer<Begins, Part>,
) -> Result<StatusCode, E>
where
    E: From<Fault>,
    S: AsyncRead + AsyncWrite + Unpin,
    Begins: FnOnce(StatusCode) -> Result<(), E>,
    Part: FnMut(&[u8]) -> Result<(), E>,
{
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|_| Fault::Broken)?;
    let Answer { begins, part, left } = answer;
    let work = async {
        let response = sender.send_request(request).await.map_err(|_| Fault::Broken)?;
        let (head, body) = response.into_parts();
        begins(head.status)?;
        received(body, left, part).await?;
        Ok(head.status)
    };
    tokio::pin!(work);
    tokio::select! {
        done = &mut work => done,
        // It may be closed as soon as the answer is there; what was received is still read.
        _ = connection => work.await,
    }
}

async fn received<E: From<Fault>>(
    mut body: Incoming,
    mut left: u64,
    mut part: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    while let Some(frame) = body.frame().await {
        let Ok(chunk) = frame.map_err(|_| Fault::Broken)?.into_data() else { continue };
        left = left.checked_sub(chunk.len() as u64).ok_or(Fault::TooLarge)?;
        part(&chunk)?;
    }
    Ok(())
}
