//! How a connection comes about: name, TCP, perhaps a proxy, TLS. A connection whose full handshake
//! did not ask for our certificate and receive it is ended here, so that no request, with a report
//! or without, can be put on it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use identity::{KeyPin, MutualTls};
use rustls::HandshakeKind;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower_service::Service;

use crate::connection::{Link, Secured};
use crate::fault::Why;
use crate::proxy::Proxy;
use crate::resolver::Names;
use crate::transport::{Broken, NotConnected, of_handshake, of_tcp};

/// Makes connections to one endpoint.
#[derive(Clone)]
pub(crate) struct Connector {
    tls: Arc<MutualTls>,
    tcp: HttpConnector<Names>,
    proxy: Option<Arc<Proxy>>,
    limit: Duration,
}

impl Connector {
    /// `limit`: for all of it together.
    pub(crate) fn new(tls: MutualTls, proxy: Option<Proxy>, limit: Duration) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(Names);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let probe = Some(Duration::from_secs(15));
        tcp.set_keepalive(probe);
        tcp.set_keepalive_interval(probe);
        tcp.set_keepalive_retries(Some(3));
        Self { tls: Arc::new(tls), tcp, proxy: proxy.map(Arc::new), limit }
    }

    async fn connected(self, target: Uri) -> Result<Secured, NotConnected> {
        let limit = self.limit;
        let proxied = self.proxy.is_some();
        match timeout(limit, self.secured(target)).await {
            Ok(result) => result,
            Err(_) if proxied => Err(NotConnected::passing(Why::ProxyUnreachable)),
            Err(_) => Err(NotConnected::passing(Why::ConnectTimeout)),
        }
    }

    async fn secured(self, target: Uri) -> Result<Secured, NotConnected> {
        let host = target.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let tcp = match &self.proxy {
            Some(proxy) => proxy.tunnel(self.tcp.clone(), &target).await?,
            None => direct(self.tcp.clone(), target).await?,
        };
        let name = ServerName::try_from(host.clone())
            .map_err(|_| NotConnected::passing(Why::Dns { host }))?;
        let (config, shown) = self.tls.connection();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, tcp).await;
        let stream = stream.map_err(|error| {
            let Broken { why, class } = of_handshake(&error);
            let why = if self.proxy.is_some() { why.behind_proxy() } else { why };
            NotConnected(Broken { why, class })
        })?;
        let full = is_full(&stream);
        let server_key = server_key(&stream);
        match (full && shown.given(), shown.asked()) {
            (true, _) => Ok(Secured::new(stream, Arc::new(Link::new(true, server_key)))),
            // It asked, and there is none to give, or none that it could take: it will refuse, or
            // ought to.
            (false, true) => {
                let alert = "certificate-required".to_owned();
                Err(NotConnected::lasting(Why::TlsClientRefused { alert }))
            }
            (false, false) => Err(NotConnected::lasting(Why::TlsClientNotAsked)),
        }
    }
}

/// Never resumed: a resumed session shows nothing (and resumption is off).
fn is_full(stream: &TlsStream<TcpStream>) -> bool {
    let kind = stream.get_ref().1.handshake_kind();
    matches!(kind, Some(HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest))
}

fn server_key(stream: &TlsStream<TcpStream>) -> Option<KeyPin> {
    KeyPin::of(stream.get_ref().1.peer_certificates()?.first()?)
}

async fn direct(mut tcp: HttpConnector<Names>, target: Uri) -> Result<TcpStream, NotConnected> {
    let host = target.host().unwrap_or_default().to_owned();
    let connected = tcp.call(target).await.map(TokioIo::into_inner);
    connected.map_err(|error| NotConnected(of_tcp(&error, &host)))
}

impl Service<Uri> for Connector {
    type Response = Secured;
    type Error = NotConnected;
    type Future = Pin<Box<dyn Future<Output = Result<Secured, NotConnected>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NotConnected>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        Box::pin(self.clone().connected(target))
    }
}
