//! Why a proxy did not connect us. The HTTP client does not say, so the proxy is asked once more, with
//! nothing of a report in the question.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use crate::fault::Why;

/// `None` where the proxy connects, or is of a kind that cannot be asked so.
pub(crate) async fn refusal(proxy: &Url, target: &Url, limit: Duration) -> Option<Why> {
    if proxy.scheme() != "http" {
        return None;
    }
    let asked = tokio::time::timeout(limit, ask(proxy, target)).await;
    match asked {
        Ok(Ok(200..=299)) => None,
        Ok(Ok(407)) => Some(Why::ProxyAuthentication),
        Ok(Ok(status)) => Some(Why::ProxyRefused { status }),
        Ok(Err(_)) | Err(_) => Some(Why::ProxyUnreachable),
    }
}

async fn ask(proxy: &Url, target: &Url) -> std::io::Result<u16> {
    let host = proxy.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let mut stream =
        TcpStream::connect((host, proxy.port_or_known_default().unwrap_or(80))).await?;
    let name = target.host_str().unwrap_or_default();
    let authority = format!("{name}:{}", target.port_or_known_default().unwrap_or(443));
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    if !proxy.username().is_empty() {
        let user = exchange::decode(proxy.username());
        let password = exchange::decode(proxy.password().unwrap_or_default());
        let credentials = STANDARD.encode(format!("{user}:{password}"));
        request.push_str(&format!("Proxy-Authorization: Basic {credentials}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await?;
    // `HTTP/1.1 407`
    let mut line = [0u8; 12];
    stream.read_exact(&mut line).await?;
    let status = std::str::from_utf8(&line[9..]).ok().and_then(|digits| digits.parse().ok());
    status.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidData))
}
