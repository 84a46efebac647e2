//! One question: one connection, one request, one answer, within bounds.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

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

/// How long an answer may take, and how large it may be.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) connect: Duration,
    pub(crate) all: Duration,
    pub(crate) bytes_max: u64,
}

/// Asks an address and hands over the body, part by part.
pub(crate) async fn ask(
    address: &Url,
    ca_pem: Option<&str>,
    bounds: Bounds,
    mut part: impl FnMut(&[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let request = request(address).ok_or(Fault::NotReached)?;
    let asking = async {
        let connect = async {
            let tcp = connected(address).await?;
            if address.scheme() == "http" {
                return Ok(Stream::Here(tcp));
            }
            secured(address, ca_pem, tcp).await
        };
        let stream = timeout(bounds.connect, connect).await.map_err(|_| Fault::TooLong)??;
        match stream {
            Stream::Here(tcp) => exchanged(tcp, request, bounds.bytes_max, &mut part).await,
            Stream::Secured(tls) => exchanged(tls, request, bounds.bytes_max, &mut part).await,
        }
    };
    timeout(bounds.all, asking).await.unwrap_or(Err(Fault::TooLong))
}

enum Stream {
    Here(TcpStream),
    Secured(Box<tokio_rustls::client::TlsStream<TcpStream>>),
}

/// Says nothing but what is wanted: neither which version runs here nor on which computer.
fn request(address: &Url) -> Option<Request<Empty<Bytes>>> {
    let path = match address.query() {
        Some(query) => format!("{}?{query}", address.path()),
        None => address.path().to_owned(),
    };
    let host = match address.port() {
        Some(port) => format!("{}:{port}", address.host_str()?),
        None => address.host_str()?.to_owned(),
    };
    Request::get(path)
        .header(header::HOST, host)
        .header(header::USER_AGENT, "lab-courier")
        .header(header::ACCEPT, "*/*")
        .header(header::ACCEPT_ENCODING, "identity")
        .body(Empty::new())
        .ok()
}

async fn connected(address: &Url) -> Result<TcpStream, Fault> {
    let port = address.port_or_known_default().ok_or(Fault::NotReached)?;
    let connected = match address.host() {
        Some(Host::Domain(name)) => TcpStream::connect((name, port)).await,
        Some(Host::Ipv4(address)) => TcpStream::connect((address, port)).await,
        Some(Host::Ipv6(address)) => TcpStream::connect((address, port)).await,
        None => return Err(Fault::NotReached),
    };
    connected.map_err(|_| Fault::NotReached)
}

/// No certificate of ours is on this connection.
async fn secured(address: &Url, ca_pem: Option<&str>, tcp: TcpStream) -> Result<Stream, Fault> {
    let config = identity::tls_client_config(None, ca_pem);
    let mut config = config.map_err(|_| Fault::NotTrusted)?;
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

/// The whole exchange. The connection is driven by this future alone and ends with it.
async fn exchanged<S>(
    stream: S,
    request: Request<Empty<Bytes>>,
    bytes_max: u64,
    part: &mut impl FnMut(&[u8]) -> Result<(), Fault>,
) -> Result<(), Fault>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|_| Fault::Broken)?;
    let work = async {
        let answer = sender.send_request(request).await.map_err(|_| Fault::Broken)?;
        // Nor is it followed elsewhere: that address was chosen by nobody.
        if answer.status() != http::StatusCode::OK {
            return Err(Fault::Refused);
        }
        body(answer, bytes_max, part).await
    };
    tokio::pin!(work);
    tokio::select! {
        done = &mut work => done,
        // It may be closed as soon as the answer is there; what was received is still read.
        _ = connection => work.await,
    }
}

async fn body(
    mut answer: Response<Incoming>,
    bytes_max: u64,
    part: &mut impl FnMut(&[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut left = bytes_max;
    while let Some(frame) = answer.body_mut().frame().await {
        let Ok(chunk) = frame.map_err(|_| Fault::Broken)?.into_data() else { continue };
        left = left.checked_sub(chunk.len() as u64).ok_or(Fault::TooLarge)?;
        part(&chunk)?;
    }
    Ok(())
}
