//! The authority over HTTP and mutual TLS.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant as Timer};

use exchange::{Endpoint, Release};
use fhir::Format;
use http::{HeaderMap, Request, Uri, header};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use identity::{Identity, KeyPin, MutualTls, Trust, TrustProblem};
use rustls::pki_types::CertificateDer;
use thiserror::Error;
use tokio::time::timeout;
use url::Url;

use crate::body::{Handed, WatchedBody};
use crate::capability::Capability;
use crate::connection::Link;
use crate::connector::Connector;
use crate::evidence::Evidence;
use crate::fault::{Fault, Why};
use crate::outcome::{self, Reply};
use crate::proxy::Proxy;
use crate::retry_after::{http_date, retry_after};
use crate::transport::{Class, broken};

const USER_AGENT: &str = concat!("lab-courier/", env!("CARGO_PKG_VERSION"));

/// Bounds of one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Name, TCP and TLS together.
    pub connect: Duration,
    /// One exchange in all. Creates were seen to take 52 s.
    pub exchange: Duration,
    /// Body of an answer.
    pub answer_bytes_max: usize,
    /// Pages of one search.
    pub pages_max: usize,
    /// One search in all: reports wait meanwhile, so that after so long no further page is asked
    /// for. What was read counts, and what is left is searched for from there.
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
    /// The server's key is not written as a SHA-256.
    #[error("the server's key cannot be read")]
    ServerKey,
}

impl ConfigProblem {
    /// Stable code in kebab-case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotHttps => "not-https",
            Self::Proxy => "proxy-address",
            Self::Trust(problem) => problem.code(),
            Self::ServerKey => "server-key-unreadable",
        }
    }
}

/// The real authority. Keeps connections open between requests; cheap to keep, so make one per
/// endpoint.
#[derive(Clone)]
pub struct HttpAuthority {
    client: Client<Connector, WatchedBody>,
    /// The server refused a search with an order and a size of pages, and took the same without.
    plainly: Arc<AtomicBool>,
    /// The form of an identifier in which its search has shown something: its number in
    /// [`crate::search::forms`], from 1; 0 where none has.
    shown_in: Arc<AtomicUsize>,
    base: Url,
    pub(crate) release: Release,
    pub(crate) limits: Limits,
}

// Without the client, which knows the proxy, whose address may hold a password.
fhir::shows_only!(HttpAuthority { base, release, limits });

impl HttpAuthority {
    /// The search by an identifier has shown something in this form, counted from 0.
    pub(crate) fn shows_in(&self, form: usize) {
        self.shown_in.store(form.saturating_add(1), Ordering::Relaxed);
    }

    /// Whether it has shown something in this form, and in no other since.
    pub(crate) fn has_shown_in(&self, form: usize) -> bool {
        self.shown_in.load(Ordering::Relaxed) == form.saturating_add(1)
    }

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
        Self::with_roots(endpoint, identity, limits, identity::system_roots)
    }

    /// With other roots in place of the computer's. They are asked for only where the computer's
    /// would be trusted: an own CA is trusted alone.
    ///
    /// # Errors
    /// [`ConfigProblem`].
    pub fn with_roots(
        endpoint: &Endpoint,
        identity: Option<&Identity>,
        limits: Limits,
        roots: impl FnOnce() -> Vec<CertificateDer<'static>>,
    ) -> Result<Self, ConfigProblem> {
        let mut base = endpoint.base.clone();
        if base.scheme() != "https" || base.host_str().is_none() || base.cannot_be_a_base() {
            return Err(ConfigProblem::NotHttps);
        }
        base.set_query(None);
        base.set_fragment(None);
        let pinned = |text: &String| KeyPin::read(text).ok_or(ConfigProblem::ServerKey);
        let trust = Trust {
            ca_pem: endpoint.ca_pem.as_deref(),
            also_system_roots: endpoint.also_system_roots,
            server_key: endpoint.server_key.as_ref().map(pinned).transpose()?,
        };
        let tls = MutualTls::new(identity, &trust, roots)?;
        // Proxies come from the endpoint alone, never from the environment.
        let asked = |url: &Url| Proxy::new(url).ok_or(ConfigProblem::Proxy);
        let proxy = endpoint.proxy.as_ref().map(asked).transpose()?;
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            // Below the idle limits of common servers (Tomcat 20 s, nginx 75 s): a report that
            // races with the server's closing of an idle connection would leave a doubt.
            .pool_idle_timeout(Duration::from_secs(15))
            .build(Connector::new(tls, proxy, limits.connect));
        let (plainly, shown_in) = (Arc::default(), Arc::default());
        Ok(Self { client, plainly, shown_in, base, release: endpoint.release, limits })
    }

    /// The address of a resource, `{base_url}/DocumentReference/…`.
    pub(crate) fn url(&self, segments: &[&str], query: Option<&str>) -> Url {
        let mut url = self.base.clone();
        // A base with a host always has a path; checked in `with_limits`.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url.set_query(query);
        url
    }

    pub(crate) fn asks_plainly(&self) -> bool {
        self.plainly.load(Ordering::Relaxed)
    }

    pub(crate) fn ask_plainly(&self) {
        self.plainly.store(true, Ordering::Relaxed);
    }

    pub(crate) const fn base(&self) -> &Url {
        &self.base
    }

    /// Asks a question.
    pub(crate) async fn get(&self, url: Url) -> Result<Reply, Fault> {
        let request = Request::get(url.as_str()).header(header::ACCEPT, Format::Json.media_type());
        let handed = Handed::default();
        let request = request.body(WatchedBody::empty());
        self.exchange(request, &handed).await.map_err(|fault| match fault {
            Fault::Uncertain { why, evidence } => {
                Fault::Transient { why, retry_after: None, evidence }
            }
            other => other,
        })
    }

    /// One request, one reply, within the limits. `handed` tells whether a failure leaves a doubt.
    pub(crate) async fn exchange(
        &self,
        request: http::Result<Request<WatchedBody>>,
        handed: &Handed,
    ) -> Result<Reply, Fault> {
        let start = Timer::now();
        let Ok(mut request) = request else {
            return Err(Fault::transient(Why::ConnectFailed { cause: "request".to_owned() }));
        };
        let user_agent = header::HeaderValue::from_static(USER_AGENT);
        request.headers_mut().insert(header::USER_AGENT, user_agent);
        let mut evidence = Evidence {
            method: request.method().to_string(),
            url_path: path_and_query(request.uri()),
            ..Evidence::default()
        };
        let work = self.receive(request, handed, &mut evidence);
        let result = timeout(self.limits.exchange, work).await;
        evidence.elapsed_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (headers, link) = match result {
            Ok(Ok(answer)) => answer,
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
        Ok(Reply { evidence, retry_after, encoding, link })
    }

    async fn receive(
        &self,
        request: Request<WatchedBody>,
        handed: &Handed,
        evidence: &mut Evidence,
    ) -> Result<(HeaderMap, Option<Arc<Link>>), Fault> {
        let mut response = match self.client.request(request).await {
            Ok(response) => response,
            Err(error) => {
                let mut extras = http::Extensions::new();
                if let Some(connected) = error.connect_info() {
                    connected.get_extras(&mut extras);
                }
                return Err(failed(&error, extras.get::<Arc<Link>>().map(|link| &**link), handed));
            }
        };
        let link = response.extensions().get::<Arc<Link>>().cloned();
        if let Some(link) = &link {
            link.answered();
        }
        evidence.status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        evidence.content_type = text(header::CONTENT_TYPE).map(ToOwned::to_owned);
        evidence.server_date = text(header::DATE).and_then(http_date);
        evidence.location = text(header::LOCATION).filter(|at| names_a_report(at)).map(Into::into);
        let limit = self.limits.answer_bytes_max;
        while let Some(frame) = response.body_mut().frame().await {
            let frame = frame.map_err(|error| failed(&error, link.as_deref(), handed))?;
            // Trailers say nothing that is asked for.
            let Ok(chunk) = frame.into_data() else { continue };
            if evidence.body.len() + chunk.len() > limit {
                return Err(doubt(Why::TooLarge { limit }, handed));
            }
            evidence.body.extend_from_slice(&chunk);
        }
        Ok((headers, link))
    }

    /// What the server says it can do, and the connection on which it said so.
    pub(crate) async fn described(
        &self,
    ) -> Result<(Capability, Evidence, Option<Arc<Link>>), Fault> {
        let reply = self.get(self.url(&["metadata"], None)).await?;
        let link = reply.link.clone();
        let (tree, evidence) = outcome::of_question(reply)?;
        match Capability::read(tree.root()) {
            Some(capability) => Ok((capability, evidence, link)),
            None => {
                let found = outcome::resource(&tree);
                let why = Why::NotFhir { status: evidence.status, found };
                Err(outcome::with(why, evidence))
            }
        }
    }
}

fn failed(
    error: &(dyn std::error::Error + 'static),
    link: Option<&Link>,
    handed: &Handed,
) -> Fault {
    let found = broken(error, link);
    match found.class {
        Class::Locked => Fault::Locked { why: found.why, evidence: None },
        Class::Open => doubt(found.why, handed),
        Class::NotSent => Fault::transient(found.why),
    }
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

/// Whether an address leads to one stored report: `…/DocumentReference/id`, and not only to where
/// reports are sent.
fn names_a_report(location: &str) -> bool {
    let path = location.split(['?', '#']).next().unwrap_or_default();
    let mut parts = path.split('/').skip_while(|part| *part != "DocumentReference").skip(1);
    parts.next().is_some_and(|id| !id.is_empty())
}

fn path_and_query(uri: &Uri) -> String {
    uri.path_and_query().map(ToString::to_string).unwrap_or_default()
}
