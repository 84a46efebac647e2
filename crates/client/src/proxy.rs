//! The way through a proxy: it is asked for a tunnel, and what goes through it is TLS with the
//! authority.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::SocksV5;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower_service::Service;
use url::Url;

use crate::fault::Why;
use crate::resolver::Names;
use crate::transport::NotConnected;

/// Largest head of a proxy's answer, bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// A proxy that can be asked.
pub(crate) struct Proxy {
    address: Uri,
    kind: Kind,
    /// Name and password, decoded.
    credentials: Option<(String, String)>,
}

#[derive(Clone, Copy)]
enum Kind {
    Http,
    /// Whether names are looked up here or by the proxy.
    Socks5 {
        names_here: bool,
    },
}

impl Proxy {
    /// `None` for an address of another kind. A proxy that is itself spoken to in TLS is not
    /// supported: it would be a second server that may ask for our certificate.
    pub(crate) fn new(url: &Url) -> Option<Self> {
        let (kind, port) = match url.scheme() {
            "http" => (Kind::Http, 80),
            "socks5" => (Kind::Socks5 { names_here: true }, 1080),
            "socks5h" => (Kind::Socks5 { names_here: false }, 1080),
            _ => return None,
        };
        let host = url.host_str().filter(|host| !host.is_empty())?;
        let address = format!("http://{host}:{}", url.port().unwrap_or(port)).parse().ok()?;
        let credentials = (!url.username().is_empty()).then(|| {
            let password = exchange::decode(url.password().unwrap_or_default());
            (exchange::decode(url.username()), password)
        });
        Some(Self { address, kind, credentials })
    }

    /// A connection to the target through the proxy.
    pub(crate) async fn tunnel(
        &self,
        mut tcp: HttpConnector<Names>,
        target: &Uri,
    ) -> Result<TcpStream, NotConnected> {
        let unreachable = || NotConnected::passing(Why::ProxyUnreachable);
        match self.kind {
            Kind::Http => {
                let stream = tcp.call(self.address.clone()).await.map_err(|_| unreachable())?;
                self.ask(stream.into_inner(), target).await
            }
            Kind::Socks5 { names_here } => {
                let mut socks = SocksV5::new(self.address.clone(), tcp).local_dns(names_here);
                if let Some((name, password)) = self.credentials.clone() {
                    socks = socks.with_auth(name, password);
                }
                let stream = socks.call(target.clone()).await.map_err(|_| unreachable())?;
                Ok(TokioIo::into_inner(stream))
            }
        }
    }

    async fn ask(&self, mut stream: TcpStream, target: &Uri) -> Result<TcpStream, NotConnected> {
        let unreachable = |_| NotConnected::passing(Why::ProxyUnreachable);
        let request = self.request(target);
        stream.write_all(request.as_bytes()).await.map_err(unreachable)?;
        match status(&mut stream).await.map_err(unreachable)? {
            200..=299 => Ok(stream),
            407 => Err(NotConnected::lasting(Why::ProxyAuthentication)),
            status => Err(NotConnected::lasting(Why::ProxyRefused { status })),
        }
    }

    fn request(&self, target: &Uri) -> String {
        let host = target.host().unwrap_or_default();
        let authority = format!("{host}:{}", target.port_u16().unwrap_or(443));
        let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
        if let Some((name, password)) = &self.credentials {
            let credentials = STANDARD.encode(format!("{name}:{password}"));
            request.push_str(&format!("Proxy-Authorization: Basic {credentials}\r\n"));
        }
        request.push_str("\r\n");
        request
    }
}

/// Status of the proxy's answer, whose head is read to its end and no further: what follows is the
/// authority's.
async fn status(stream: &mut TcpStream) -> std::io::Result<u16> {
    let invalid = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES_MAX {
            return Err(invalid());
        }
        head.push(stream.read_u8().await?);
        // `HTTP/1.1 407`: who refuses need not be heard out.
        if head.len() == 12 && head.get(9) != Some(&b'2') {
            break;
        }
    }
    let digits = head.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok());
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(invalid)
}
