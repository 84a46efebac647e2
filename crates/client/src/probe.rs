//! A connection test, layer by layer: one row each, with a tick or a reason.

use exchange::Endpoint;
use identity::Identity;
use serde::Serialize;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use crate::fault::{Fault, Why};
use crate::http::{ConfigProblem, HttpAuthority, Limits};

/// One layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProbeStep {
    /// One of [`LAYERS`]; `name` and `tcp` are those of the proxy where one is set.
    pub layer: &'static str,
    /// What came of it.
    pub outcome: ProbeOutcome,
}

/// What came of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum ProbeOutcome {
    /// It works; the detail is data (an address, the server's key, a version), never prose.
    Passed {
        /// E.g. `192.0.2.7:443`, `4.0.1`.
        detail: Option<String>,
    },
    /// It does not.
    Failed {
        /// The reason.
        why: Why,
    },
    /// The configuration cannot be used.
    Misconfigured {
        /// Code of the configuration problem.
        code: &'static str,
    },
    /// An earlier layer failed, or no answer came that would show it: nothing is known.
    NotReached,
}

/// The layers of a connection test, in the order in which they are tried.
pub const LAYERS: [&str; 7] = [
    "configuration",
    "name",
    "tcp",
    "tls",
    "server-certificate",
    "client-certificate",
    "capability",
];

/// Tries the endpoint with harmless questions; sends nothing of any report.
pub async fn probe(endpoint: &Endpoint, identity: Option<&Identity>) -> Vec<ProbeStep> {
    let mut rows = Vec::new();
    let limits = Limits { exchange: Limits::default().connect * 3, ..Limits::default() };
    match HttpAuthority::with_limits(endpoint, identity, limits) {
        Ok(authority) => {
            rows.push(passed(None));
            if network(endpoint, limits, &mut rows).await {
                application(&authority, &mut rows).await;
            }
        }
        Err(problem) => rows.push(misconfigured(&problem)),
    }
    rows.resize(LAYERS.len(), ProbeOutcome::NotReached);
    let layers = LAYERS.into_iter().zip(rows);
    layers.map(|(layer, outcome)| ProbeStep { layer, outcome }).collect()
}

/// Name and TCP. Whether to go on.
async fn network(endpoint: &Endpoint, limits: Limits, rows: &mut Vec<ProbeOutcome>) -> bool {
    let target = endpoint.proxy.as_ref().unwrap_or(&endpoint.base);
    let host = target.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = target.port_or_known_default().unwrap_or(443);
    let looked_up = timeout(limits.connect, lookup_host((host.as_str(), port))).await;
    let addresses: Vec<_> = match looked_up {
        Ok(Ok(found)) => found.collect(),
        Ok(Err(_)) | Err(_) => Vec::new(),
    };
    let Some(first) = addresses.first() else {
        rows.push(failed(Why::Dns { host: host.clone() }));
        return false;
    };
    rows.push(passed(Some(first.ip().to_string())));
    let unreachable = |why| if endpoint.proxy.is_some() { Why::ProxyUnreachable } else { why };
    match timeout(limits.connect, TcpStream::connect(addresses.as_slice())).await {
        Ok(Ok(stream)) => {
            rows.push(passed(stream.peer_addr().ok().map(|address| address.to_string())));
            return true;
        }
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            rows.push(failed(unreachable(Why::ConnectRefused)));
        }
        Ok(Err(error)) => {
            let cause = error.kind().to_string();
            rows.push(failed(unreachable(Why::ConnectFailed { cause })));
        }
        Err(_) => rows.push(failed(unreachable(Why::ConnectTimeout))),
    }
    false
}

/// How often is asked, where the connection is cut: what a server says of a certificate may be lost
/// in its reset, and is heard the next time.
const ASKED_MAX: u32 = 3;

/// TLS, both certificates, capability: told apart by the reason of one request's failure.
async fn application(authority: &HttpAuthority, rows: &mut Vec<ProbeOutcome>) {
    let mut described = authority.described().await;
    for _ in 1..ASKED_MAX {
        match &described {
            Err(fault) if fault.why() == Some(&Why::Cut) => {}
            _ => break,
        }
        described = authority.described().await;
    }
    let why = match described {
        Ok((capability, _, link)) => {
            let link = link.as_deref();
            let key = link.and_then(|link| link.server_key).map(|key| key.to_string());
            rows.extend([passed(None), passed(key)]);
            // The handshake of the very connection over which the answer came.
            match link.is_some_and(|link| link.certified) {
                true => rows.extend([passed(None), passed(capability.fhir_version)]),
                false => rows.push(failed(Why::TlsClientNotAsked)),
            }
            return;
        }
        Err(Fault::Refused { evidence, .. }) => Why::Status { status: evidence.status },
        Err(
            Fault::Transient { why, .. } | Fault::Uncertain { why, .. } | Fault::Locked { why, .. },
        ) => why,
    };
    let sound = match &why {
        Why::TlsServerUntrusted { .. } => 1,
        Why::TlsClientNotAsked | Why::TlsClientRefused { .. } | Why::Forbidden { .. } => 2,
        Why::TlsBroken
        | Why::TlsVersion
        | Why::Dns { .. }
        | Why::ConnectRefused
        | Why::ConnectTimeout
        | Why::ConnectFailed { .. }
        | Why::ProxyUnreachable
        | Why::ProxyAuthentication
        | Why::ProxyRefused { .. } => 0,
        // TLS 1.3 judges our certificate after the handshake: without an answer nothing shows how.
        Why::Cut | Why::Timeout => {
            rows.extend([passed(None), passed(None), ProbeOutcome::NotReached, failed(why)]);
            return;
        }
        _ => 3,
    };
    rows.extend(std::iter::repeat_n(passed(None), sound));
    rows.push(failed(why));
}

const fn passed(detail: Option<String>) -> ProbeOutcome {
    ProbeOutcome::Passed { detail }
}

const fn failed(why: Why) -> ProbeOutcome {
    ProbeOutcome::Failed { why }
}

const fn misconfigured(problem: &ConfigProblem) -> ProbeOutcome {
    ProbeOutcome::Misconfigured { code: problem.code() }
}
