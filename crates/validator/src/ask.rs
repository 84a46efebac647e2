//! One question: one connection, one request, one answer, within bounds.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fhir::{Format, Issue, Severity, Tree};
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use crate::setting::Validator;

const USER_AGENT: &str = concat!("lab-courier/", env!("CARGO_PKG_VERSION"));

/// Bounds of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Name, TCP and TLS together.
    pub connect: Duration,
    /// All of it. HL7's validators were seen to take a minute over the first document after their
    /// start.
    pub all: Duration,
    /// Body of the answer.
    pub bytes_max: usize,
    /// Issues that are taken from it.
    pub issues_max: usize,
}

impl Default for Limits {
    /// 10 s, 120 s, 8 MB, 2,000 issues.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            all: Duration::from_secs(120),
            bytes_max: 8_000_000,
            issues_max: 2_000,
        }
    }
}

/// Why there is no second opinion. None of it says anything of the report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The certificates of the setting or of this computer cannot be used.
    #[error("nobody can be trusted")]
    Trust,
    /// No connection.
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
    /// It leads elsewhere, which is not followed: that address was chosen by nobody.
    #[error("the server leads elsewhere")]
    LeadsElsewhere,
    /// The server does not answer everybody.
    #[error("the server does not let us ask")]
    NotLetIn,
    /// An answer, and no OperationOutcome.
    #[error("status {status} without an OperationOutcome")]
    NoOutcome {
        /// Its status.
        status: u16,
    },
}

impl Fault {
    /// Stable code in kebab-case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Trust => "nobody-trusted",
            Self::NotReached => "not-reached",
            Self::NotTrusted => "not-trusted",
            Self::TooLong => "too-long",
            Self::Broken => "broken",
            Self::TooLarge => "too-large",
            Self::LeadsElsewhere => "leads-elsewhere",
            Self::NotLetIn => "not-let-in",
            Self::NoOutcome { .. } => "no-outcome",
        }
    }
}

/// What the validator says of a resource of this type, against these profiles. The resource leaves
/// this program as it is: whoever calls this has a person's word that it may.
///
/// # Errors
/// [`Fault`].
pub async fn ask(
    validator: &Validator,
    resource: Vec<u8>,
    format: Format,
    kind: &str,
    profiles: &[String],
) -> Result<Vec<Issue>, Fault> {
    ask_within(validator, resource, format, kind, profiles, Limits::default()).await
}

/// The same with bounds of one's own.
///
/// # Errors
/// [`Fault`].
pub async fn ask_within(
    validator: &Validator,
    resource: Vec<u8>,
    format: Format,
    kind: &str,
    profiles: &[String],
    limits: Limits,
) -> Result<Vec<Issue>, Fault> {
    let url = validator.operation(kind, profiles);
    let question = async {
        let (status, body) = answered(validator, &url, resource, format, limits).await?;
        // A refusal with reasons is an answer: some say 400, 412 or 422 of what is not valid.
        issues_of(&body, limits.issues_max).ok_or(Fault::NoOutcome { status: status.as_u16() })
    };
    timeout(limits.all, question).await.unwrap_or(Err(Fault::TooLong))
}

type Answered = Result<(StatusCode, Vec<u8>), Fault>;

async fn answered(
    validator: &Validator,
    url: &Url,
    resource: Vec<u8>,
    format: Format,
    limits: Limits,
) -> Answered {
    let request = request(url, resource, format).ok_or(Fault::NotReached)?;
    if url.scheme() == "http" {
        let tcp = timeout(limits.connect, connected(url)).await.map_err(|_| Fault::TooLong)??;
        return exchanged(tcp, request, limits.bytes_max).await;
    }
    let secured = async {
        let tcp = connected(url).await?;
        let mut config =
            identity::tls_client_config(None, validator.ca_pem()).map_err(|_| Fault::Trust)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let name = server_name(url).ok_or(Fault::NotReached)?;
        let secured = TlsConnector::from(Arc::new(config)).connect(name, tcp).await;
        secured.map_err(|error| match error.get_ref() {
            // Of the TLS stack, not of the connection.
            Some(of) if of.is::<rustls::Error>() => Fault::NotTrusted,
            _ => Fault::Broken,
        })
    };
    let secured = timeout(limits.connect, secured).await.map_err(|_| Fault::TooLong)??;
    exchanged(secured, request, limits.bytes_max).await
}

fn request(url: &Url, resource: Vec<u8>, format: Format) -> Option<Request<Full<Bytes>>> {
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let host = match url.port() {
        Some(port) => format!("{}:{port}", url.host_str()?),
        None => url.host_str()?.to_owned(),
    };
    Request::post(path)
        .header(header::HOST, host)
        .header(header::USER_AGENT, USER_AGENT)
        .header(header::CONTENT_TYPE, format.media_type())
        .header(header::ACCEPT, Format::Json.media_type())
        .header(header::ACCEPT_ENCODING, "identity")
        .body(Full::new(Bytes::from(resource)))
        .ok()
}

async fn connected(url: &Url) -> Result<TcpStream, Fault> {
    let port = url.port_or_known_default().ok_or(Fault::NotReached)?;
    let connected = match url.host() {
        Some(Host::Domain(name)) => TcpStream::connect((name, port)).await,
        Some(Host::Ipv4(address)) => TcpStream::connect((address, port)).await,
        Some(Host::Ipv6(address)) => TcpStream::connect((address, port)).await,
        None => Err(io::ErrorKind::AddrNotAvailable.into()),
    };
    connected.map_err(|_| Fault::NotReached)
}

fn server_name(url: &Url) -> Option<ServerName<'static>> {
    let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
    ServerName::try_from(host).ok()
}

/// The whole exchange. The connection is driven by this future alone and ends with it.
async fn exchanged<S>(stream: S, request: Request<Full<Bytes>>, bytes_max: usize) -> Answered
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|_| Fault::Broken)?;
    let work = async {
        let answer = sender.send_request(request).await.map_err(|_| Fault::Broken)?;
        let status = answer.status();
        if status.is_redirection() {
            return Err(Fault::LeadsElsewhere);
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(Fault::NotLetIn);
        }
        Ok((status, body_of(answer, bytes_max).await?))
    };
    tokio::pin!(work);
    tokio::select! {
        done = &mut work => done,
        // It may be closed as soon as the answer is there; what was received is still read.
        _ = connection => work.await,
    }
}

async fn body_of(mut answer: Response<Incoming>, bytes_max: usize) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    while let Some(frame) = answer.body_mut().frame().await {
        let frame = frame.map_err(|_| Fault::Broken)?;
        let Ok(chunk) = frame.into_data() else { continue };
        if body.len() + chunk.len() > bytes_max {
            return Err(Fault::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The issues of an OperationOutcome; `None` for anything else.
fn issues_of(body: &[u8], issues_max: usize) -> Option<Vec<Issue>> {
    let format = Format::sniff(body)?;
    let tree = Tree::read(body, format, &fhir::Limits::default()).ok()?;
    let outcome = tree.root();
    if outcome.resource_type() != Some("OperationOutcome") {
        return None;
    }
    let mut issues = fhir::issues_of(outcome);
    // What says that there is nothing to say is no issue.
    issues.retain(|issue| issue.severity != Severity::Information || issue.expression.is_some());
    issues.truncate(issues_max);
    Some(issues)
}
