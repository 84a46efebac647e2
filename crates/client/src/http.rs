//! The authority over HTTP and mutual TLS.

use std::time::{Duration, Instant as Timer};

use bytes::Bytes;
use exchange::{Endpoint, Page, Query, Release, Sealed};
use fhir::{Format, Instant};
use http::{HeaderMap, Method, header};
use identity::{Identity, TrustProblem};
use reqwest::{Client, ClientBuilder, Proxy, redirect, retry};
use rustls::ClientConfig;
use thiserror::Error;
use tokio::time::timeout;
use url::Url;

use crate::authority::{Authority, Changes, Found, Received};
use crate::body::{Handed, WatchedBody};
use crate::capability::Capability;
use crate::evidence::Evidence;
use crate::fault::{Fault, Why};
use crate::outcome::{self, Reply};
use crate::retry_after::{http_date, retry_after};
use crate::transport::{Class, broken};
use crate::{proxy, search};

/// Bounds of one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Name, TCP and TLS together.
    pub connect: Duration,
    /// One exchange in all. Creates were seen to take 52 s (wire facts).
    pub exchange: Duration,
    /// Body of an answer.
    pub answer_bytes_max: usize,
    /// Pages of one search.
    pub pages_max: usize,
    /// One search in all: reports wait meanwhile, so that after so long no further page is asked for. What was read
    /// counts, and what is left is searched for from there.
    pub walk: Duration,
}

impl Default for Limits {
    /// 10 s, 180 s, 8 MB, 200 pages, 60 s.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            exchange: Duration::from_secs(180),
            answer_bytes_max: 8_000_000,
            pages_max: 200,
            walk: Duration::from_secs(60),
        }
    }
}

/// Why no client can be made of an endpoint: a matter of configuration.
#[derive(Debug, Error)]
pub enum ConfigProblem {
    /// The base address is no `https` address with a host.
    #[error("the base address is not https")]
    NotHttps,
    /// The proxy's address cannot be used.
    #[error("the proxy's address cannot be used")]
    Proxy,
    /// The configured CA or the client certificate cannot be used.
    #[error("the certificates cannot be used")]
    Trust(#[from] TrustProblem),
    /// The HTTP client refuses the configuration.
    #[error("the HTTP client refuses the configuration")]
    Client,
}

impl ConfigProblem {
    /// Stable code in kebab-case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotHttps => "not-https",
            Self::Proxy => "proxy-address",
            Self::Trust(problem) => problem.code(),
            Self::Client => "http-client",
        }
    }
}

/// The real authority. Keeps connections open between requests; cheap to keep, so make one per endpoint.
#[derive(Clone)]
pub struct HttpAuthority {
    client: Client,
    /// The same over HTTP/1.1 only.
    plain: Client,
    base: Url,
    proxy: Option<Url>,
    pub(crate) release: Release,
    pub(crate) limits: Limits,
}

// Without the proxy, whose address may hold a password.
fhir::shows_only!(HttpAuthority { base, release, limits });

impl HttpAuthority {
    /// With the default limits.
    ///
    /// # Errors
    /// [`ConfigProblem`].
    pub fn new(endpoint: &Endpoint, identity: Option<&Identity>) -> Result<Self, ConfigProblem> {
        Self::with_limits(endpoint, identity, Limits::default())
    }

    /// With limits of one's own.
    ///
    /// # Errors
    /// [`ConfigProblem`].
    pub fn with_limits(
        endpoint: &Endpoint,
        identity: Option<&Identity>,
        limits: Limits,
    ) -> Result<Self, ConfigProblem> {
        let mut base = endpoint.base.clone();
        if base.scheme() != "https" || base.host_str().is_none() || base.cannot_be_a_base() {
            return Err(ConfigProblem::NotHttps);
        }
        base.set_query(None);
        base.set_fragment(None);
        let tls = identity::tls_client_config(identity, endpoint.ca_pem.as_deref())?;
        let mut tls_plain = tls.clone();
        tls_plain.alpn_protocols = vec![b"http/1.1".to_vec()];
        let client = |builder: ClientBuilder| builder.build().map_err(|_| ConfigProblem::Client);
        let plain = client(builder(tls_plain, endpoint, limits)?.http1_only())?;
        let client = client(builder(tls, endpoint, limits)?)?;
        let (proxy, release) = (endpoint.proxy.clone(), endpoint.release);
        Ok(Self { client, plain, base, proxy, release, limits })
    }

    /// `{base_url}/DocumentReference/…`
    pub(crate) fn url(&self, segments: &[&str], query: Option<&str>) -> Url {
        let mut url = self.base.clone();
        // A base with a host always has a path; checked in `with_limits`.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url.set_query(query);
        url
    }

    pub(crate) const fn base(&self) -> &Url {
        &self.base
    }

    /// Asks a question. Whether an ended connection was a refusal of our certificate is lost in HTTP/2, where the
    /// alert meets no request of its own; so whoever hung up without a word is asked once more in HTTP/1.1.
    pub(crate) async fn get(&self, url: Url) -> Result<Reply, Fault> {
        let said = match self.get_over(&self.client, url.clone()).await {
            Err(hung_up @ Fault::Transient { why: Why::Cut, evidence: None, .. }) => hung_up,
            answer => return answer,
        };
        match self.get_over(&self.plain, url).await {
            Err(Fault::Transient { .. }) => Err(said),
            answer => answer,
        }
    }

    async fn get_over(&self, client: &Client, url: Url) -> Result<Reply, Fault> {
        let accept = Format::Json.media_type();
        let request = client.get(url).header(header::ACCEPT, accept);
        let handed = Handed::default();
        self.exchange(request, Method::GET, &handed).await.map_err(|fault| match fault {
            Fault::Uncertain { why, evidence } => {
                Fault::Transient { why, retry_after: None, evidence }
            }
            other => other,
        })
    }

    /// One request, one reply, within the limits. `handed` tells whether a failure leaves a doubt.
    async fn exchange(
        &self,
        request: reqwest::RequestBuilder,
        method: Method,
        handed: &Handed,
    ) -> Result<Reply, Fault> {
        let start = Timer::now();
        let mut evidence = Evidence { method: method.to_string(), ..Evidence::default() };
        let (client, request) = request.build_split();
        let Ok(request) = request else {
            return Err(Fault::transient(Why::ConnectFailed { cause: "request".to_owned() }));
        };
        evidence.url_path = path_and_query(request.url());
        let work = self.receive(&client, request, handed, &mut evidence);
        let result = timeout(self.limits.exchange, work).await;
        evidence.elapsed_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let headers = match result {
            Ok(Ok(headers)) => headers,
            Ok(Err(fault)) => return Err(keep(fault, evidence)),
            Err(_) => return Err(keep(doubt(Why::Timeout, handed), evidence)),
        };
        let text =
            |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
        // Said twice, the longer wish counts: nobody is harmed by patience.
        let wishes = headers.get_all(header::RETRY_AFTER).iter();
        let retry_after = wishes
            .filter_map(|value| retry_after(value.to_str().ok()?, evidence.server_date))
            .max();
        let encoding = text(header::CONTENT_ENCODING)
            .filter(|encoding| !encoding.eq_ignore_ascii_case("identity"))
            .map(|encoding| encoding.chars().take(40).collect());
        Ok(Reply { evidence, retry_after, encoding })
    }

    async fn receive(
        &self,
        client: &Client,
        request: reqwest::Request,
        handed: &Handed,
        evidence: &mut Evidence,
    ) -> Result<HeaderMap, Fault> {
        let mut response = match client.execute(request).await {
            Ok(response) => response,
            Err(error) => return Err(self.failed(&error, handed).await),
        };
        evidence.status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        evidence.content_type = text(header::CONTENT_TYPE).map(ToOwned::to_owned);
        evidence.server_date = text(header::DATE).and_then(http_date);
        let limit = self.limits.answer_bytes_max;
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if evidence.body.len() + chunk.len() > limit => {
                    return Err(doubt(Why::TooLarge { limit }, handed));
                }
                Ok(Some(chunk)) => evidence.body.extend_from_slice(&chunk),
                Ok(None) => return Ok(headers),
                Err(error) => return Err(self.failed(&error, handed).await),
            }
        }
    }

    async fn failed(&self, error: &reqwest::Error, handed: &Handed) -> Fault {
        let found = broken(error, self.base.host_str().unwrap_or_default());
        match found.class {
            Class::Locked => {
                let why = if self.proxy.is_some() { found.why.behind_proxy() } else { found.why };
                Fault::Locked { why, evidence: None }
            }
            Class::Open => doubt(found.why, handed),
            Class::NotSent => {
                let asked = match &self.proxy {
                    Some(url) => proxy::refusal(url, &self.base, self.limits.connect).await,
                    None => None,
                };
                match asked {
                    Some(why @ (Why::ProxyAuthentication | Why::ProxyRefused { .. })) => {
                        Fault::Locked { why, evidence: None }
                    }
                    asked => Fault::transient(asked.unwrap_or(found.why)),
                }
            }
        }
    }
}

fn builder(
    tls: ClientConfig,
    endpoint: &Endpoint,
    limits: Limits,
) -> Result<ClientBuilder, ConfigProblem> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .https_only(true)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .connect_timeout(limits.connect)
        // Below the idle limits of common servers (Tomcat 20 s, nginx 75 s): a report that races
        // with the server's closing of an idle connection would leave a doubt.
        .pool_idle_timeout(Duration::from_secs(15))
        .user_agent(concat!("lab-courier/", env!("CARGO_PKG_VERSION")));
    Ok(match &endpoint.proxy {
        Some(url) => builder.proxy(Proxy::all(url.clone()).map_err(|_| ConfigProblem::Proxy)?),
        // Proxies come from the endpoint alone, never from the environment.
        None => builder.no_proxy(),
    })
}

/// A failure after the body was handed over leaves a doubt; before, there is none.
fn doubt(why: Why, handed: &Handed) -> Fault {
    match handed.over() {
        true => Fault::Uncertain { why, evidence: None },
        false => Fault::transient(why),
    }
}

/// Adds what arrived before the failure, if anything did.
fn keep(mut fault: Fault, arrived: Evidence) -> Fault {
    if arrived.status != 0
        && let Fault::Transient { evidence, .. }
        | Fault::Uncertain { evidence, .. }
        | Fault::Locked { evidence, .. } = &mut fault
    {
        *evidence = Some(Box::new(arrived));
    }
    fault
}

fn path_and_query(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

impl Authority for HttpAuthority {
    async fn submit(&self, sealed: &Sealed) -> Result<Received, Fault> {
        let handed = Handed::default();
        let body = WatchedBody::new(Bytes::copy_from_slice(&sealed.body), handed.clone());
        let media_type = sealed.format.media_type();
        let request = self
            .client
            .post(self.url(&["DocumentReference"], None))
            .header(header::CONTENT_TYPE, media_type)
            .header(header::ACCEPT, media_type)
            .body(reqwest::Body::wrap(body));
        let reply = self.exchange(request, Method::POST, &handed).await?;
        outcome::of_submit(reply, &sealed.identifier, self.release)
    }

    async fn find(&self, identifier: &str) -> Result<Found, Fault> {
        search::find(self, identifier).await
    }

    async fn status(&self, receipt: &str) -> Result<Received, Fault> {
        let reply = self.get(self.url(&["DocumentReference", receipt], None)).await?;
        outcome::of_status(reply, receipt)
    }

    async fn changed_since(&self, since: Option<Instant>) -> Result<Changes, Fault> {
        search::changed_since(self, since).await
    }

    async fn search(&self, query: &Query) -> Result<(Page, Evidence), Fault> {
        search::page(self, query).await
    }

    async fn capability(&self) -> Result<(Capability, Evidence), Fault> {
        let (tree, evidence) =
            outcome::of_question(self.get(self.url(&["metadata"], None)).await?)?;
        match Capability::read(tree.root()) {
            Some(capability) => Ok((capability, evidence)),
            None => {
                let found = outcome::resource(&tree);
                let why = Why::NotFhir { status: evidence.status, found };
                Err(outcome::with(why, evidence))
            }
        }
    }
}
