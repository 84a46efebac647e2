//! Everything that is not an answer, classed by what it permits next.

use std::time::Duration;

use exchange::Answer;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::evidence::Evidence;

/// What may follow an exchange that brought no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// Provably not received (or a mere question that failed): repeat later.
    #[error("transient: {}", why.code())]
    Transient {
        /// What happened.
        why: Why,
        /// The server's wish, at most one hour.
        retry_after: Option<Duration>,
        /// The answer, where there was one.
        evidence: Option<Box<Evidence>>,
    },
    /// The report may have been delivered: ask by identifier before sending again.
    #[error("uncertain: {}", why.code())]
    Uncertain {
        /// What happened.
        why: Why,
        /// The answer or what arrived of it.
        evidence: Option<Box<Evidence>>,
    },
    /// The authority refused this content: no id, and a person is needed.
    #[error("refused")]
    Refused {
        /// Its messages; the receipt is `None`.
        answer: Box<Answer>,
        /// The answer.
        evidence: Box<Evidence>,
    },
    /// Certificate, permission or configuration: hold the whole queue until it is repaired.
    #[error("locked: {}", why.code())]
    Locked {
        /// What happened.
        why: Why,
        /// The answer, where there was one.
        evidence: Option<Box<Evidence>>,
    },
}

/// What happened, as a code with parameters for the message catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "fields are parameters named in `params`")]
pub enum Why {
    /// The host's name is not known to the name service.
    Dns { host: String },
    /// Nothing listens there.
    ConnectRefused,
    /// No connection within the limit.
    ConnectTimeout,
    /// No connection, for another reason of the operating system (e.g. `network unreachable`).
    ConnectFailed { cause: String },
    /// The connection failed within the TLS handshake, without a reason given.
    TlsBroken,
    /// No common protocol version or algorithm: the server speaks less than TLS 1.2, or no TLS.
    TlsVersion,
    /// The server's certificate is not trusted: `expired`, `not-yet-valid`, `unknown-issuer`,
    /// `unknown-issuer-behind-proxy`, `self-signed`, `another-key`, `wrong-host`, `revoked`,
    /// `wrong-purpose`, `bad`.
    TlsServerUntrusted { reason: String },
    /// The server does not ask for our certificate: not the authority, or not by mutual TLS.
    /// Nothing was sent.
    TlsClientNotAsked,
    /// The server refuses our certificate, or demands one; the alert is TLS's own word.
    TlsClientRefused { alert: String },
    /// The proxy cannot be reached.
    ProxyUnreachable,
    /// The proxy demands a name and a password.
    ProxyAuthentication,
    /// The proxy refuses to connect us.
    ProxyRefused { status: u16 },
    /// A redirect, which is not followed.
    Redirect { status: u16 },
    /// A web page instead of FHIR: a captive portal, a gateway, a maintenance page.
    Html { status: u16 },
    /// Neither FHIR nor a web page; `found` says what (e.g. a resource type).
    NotFhir { status: u16, found: String },
    /// An encoded body (`Content-Encoding`) that was not asked for.
    ContentEncoded { encoding: String },
    /// Success without a word of what was stored.
    EmptyAnswer { status: u16 },
    /// Success without the authority's id, and without an error.
    NoReceipt { status: u16 },
    /// The answer is about another report.
    AnotherIdentifier,
    /// No complete answer within the limit.
    Timeout,
    /// The connection ended before the answer did.
    Cut,
    /// The answer is larger than the limit (bytes).
    TooLarge { limit: usize },
    /// Not authorised (401, 403).
    Forbidden { status: u16 },
    /// The authority does not show this report (any more).
    NotFound { status: u16 },
    /// The server is busy or out of service.
    Unavailable { status: u16 },
    /// An error without the authority's reasons (no OperationOutcome): most likely a gateway's.
    Unexplained { status: u16 },
    /// Any other HTTP status.
    Status { status: u16 },
    /// The server ignored a search parameter: the result is not what was asked.
    ParameterIgnored { name: String },
    /// A page link leads to another server and is not followed.
    ForeignLink,
    /// More pages than the limit, or pages in a circle.
    TooManyPages,
    /// The pages of a search did not show as much as it says there is, however often they were
    /// read: entries move between them.
    PagesMoved,
    /// This release of the interface has no such search.
    SearchUnsupported,
}

impl Why {
    /// Stable code in kebab-case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Dns { .. } => "dns",
            Self::ConnectRefused => "connect-refused",
            Self::ConnectTimeout => "connect-timeout",
            Self::ConnectFailed { .. } => "connect-failed",
            Self::TlsBroken => "tls-broken",
            Self::TlsVersion => "tls-version",
            Self::TlsServerUntrusted { .. } => "tls-server-untrusted",
            Self::TlsClientNotAsked => "tls-client-not-asked",
            Self::TlsClientRefused { .. } => "tls-client-refused",
            Self::ProxyUnreachable => "proxy-unreachable",
            Self::ProxyAuthentication => "proxy-authentication",
            Self::ProxyRefused { .. } => "proxy-refused",
            Self::Redirect { .. } => "redirect",
            Self::Html { .. } => "html",
            Self::NotFhir { .. } => "not-fhir",
            Self::ContentEncoded { .. } => "content-encoded",
            Self::EmptyAnswer { .. } => "empty-answer",
            Self::NoReceipt { .. } => "no-receipt",
            Self::AnotherIdentifier => "another-identifier",
            Self::Timeout => "timeout",
            Self::Cut => "cut",
            Self::TooLarge { .. } => "too-large",
            Self::Forbidden { .. } => "forbidden",
            Self::NotFound { .. } => "not-found",
            Self::Unavailable { .. } => "unavailable",
            Self::Unexplained { .. } => "unexplained",
            Self::Status { .. } => "status",
            Self::ParameterIgnored { .. } => "parameter-ignored",
            Self::ForeignLink => "foreign-link",
            Self::TooManyPages => "too-many-pages",
            Self::PagesMoved => "pages-moved",
            Self::SearchUnsupported => "search-unsupported",
        }
    }

    /// Reached through a proxy of ours, a certificate of an unknown issuer is likely the proxy's
    /// own: it opens the encryption to read along, and that is another task for another person.
    pub(crate) fn behind_proxy(self) -> Self {
        match self {
            Self::TlsServerUntrusted { reason } if reason == "unknown-issuer" => {
                Self::TlsServerUntrusted { reason: format!("{reason}-behind-proxy") }
            }
            other => other,
        }
    }

    /// Parameters of the message, by name.
    pub fn params(&self) -> Vec<(String, String)> {
        let one = |name: &str, value: &dyn ToString| vec![(name.to_owned(), value.to_string())];
        match self {
            Self::Dns { host } => one("host", host),
            Self::ConnectFailed { cause } => one("cause", cause),
            Self::TlsServerUntrusted { reason } => one("reason", reason),
            Self::TlsClientRefused { alert } => one("alert", alert),
            Self::ProxyRefused { status }
            | Self::Redirect { status }
            | Self::Html { status }
            | Self::EmptyAnswer { status }
            | Self::NoReceipt { status }
            | Self::Forbidden { status }
            | Self::NotFound { status }
            | Self::Unavailable { status }
            | Self::Unexplained { status }
            | Self::Status { status } => one("status", status),
            Self::NotFhir { status, found } => {
                vec![("status".to_owned(), status.to_string()), ("found".to_owned(), found.clone())]
            }
            Self::ContentEncoded { encoding } => one("encoding", encoding),
            Self::TooLarge { limit } => one("limit", limit),
            Self::ParameterIgnored { name } => one("name", name),
            _ => Vec::new(),
        }
    }
}

/// Codes of [`Why`] with which nothing of a delivery that counts as not sent has reached the
/// authority: there was no connection to it, it refused our certificate before it read a request
/// (once it has judged it, an alert leaves a doubt), or it takes no more requests just now (429,
/// which is judged before a request is passed on). To ask before each further request would use up
/// what a limit lets through, and the report would never leave.
pub const NEVER_REACHED: &[&str] = &[
    "dns",
    "connect-refused",
    "connect-timeout",
    "connect-failed",
    "tls-version",
    "tls-server-untrusted",
    "tls-client-not-asked",
    "tls-client-refused",
    "proxy-unreachable",
    "proxy-refused",
    "unavailable",
];

/// The authority's rule about data that it has already, whatever code of issue it gives with it.
const DUPLICATE_RULE: &str = "FOPH-021";

impl Fault {
    /// What happened; `None` where the authority refused in its own words.
    pub const fn why(&self) -> Option<&Why> {
        match self {
            Self::Transient { why, .. }
            | Self::Uncertain { why, .. }
            | Self::Locked { why, .. } => Some(why),
            Self::Refused { .. } => None,
        }
    }

    /// The pause that was asked for.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Transient { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The answer, where there was one.
    pub fn evidence(&self) -> Option<&Evidence> {
        match self {
            Self::Transient { evidence, .. }
            | Self::Uncertain { evidence, .. }
            | Self::Locked { evidence, .. } => evidence.as_deref(),
            Self::Refused { evidence, .. } => Some(evidence),
        }
    }

    /// A refusal of a report that the authority may have all the same. It may mean an earlier
    /// delivery: 409, 412, an issue of code `duplicate` or of the rule about duplicates. It may
    /// mean this one, with an error beside it: the status says that it succeeded, or `Location`
    /// names what was stored. The authority refuses with a status of an error (docs/interface.md,
    /// "Events, errors, limits").
    pub fn may_be_stored(&self) -> bool {
        match self {
            Self::Refused { answer, evidence } => {
                matches!(evidence.status, 200..=299 | 409 | 412)
                    || evidence.location.is_some()
                    || answer.issues.iter().any(|issue| {
                        issue.code == "duplicate" || issue.rule.as_deref() == Some(DUPLICATE_RULE)
                    })
            }
            _ => false,
        }
    }

    /// The question as it was put is not taken, with reasons or without; another one may be.
    pub fn refuses_the_question(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Locked { why: Why::Unexplained { .. }, .. })
    }

    /// Whoever answered asks for patience, of everybody.
    pub fn asks_for_patience(&self) -> bool {
        let busy = matches!(self.why(), Some(Why::Unavailable { status: 425 | 429 | 503 }));
        busy || self.retry_after().is_some()
    }

    pub(crate) fn transient(why: Why) -> Self {
        Self::Transient { why, retry_after: None, evidence: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_reached_anybody_goes_by_its_codes() {
        let (text, status) = (String::new, 429);
        let codes = [
            Why::Dns { host: text() },
            Why::ConnectRefused,
            Why::ConnectTimeout,
            Why::ConnectFailed { cause: text() },
            Why::TlsVersion,
            Why::TlsServerUntrusted { reason: text() },
            Why::TlsClientNotAsked,
            Why::TlsClientRefused { alert: text() },
            Why::ProxyUnreachable,
            Why::ProxyRefused { status },
            Why::Unavailable { status },
        ]
        .map(|why| why.code());
        assert_eq!(codes, NEVER_REACHED);
    }

    #[test]
    fn the_code_is_the_same_in_every_form() {
        let status = 418;
        for why in [
            Why::Dns { host: "h".to_owned() },
            Why::TlsServerUntrusted { reason: "expired".to_owned() },
            Why::TlsClientRefused { alert: "unknown-ca".to_owned() },
            Why::NotFhir { status, found: "Patient".to_owned() },
            Why::ParameterIgnored { name: "_id".to_owned() },
            Why::Html { status },
            Why::TooLarge { limit: 7 },
            Why::Cut,
            Why::ProxyAuthentication,
        ] {
            let json = serde_json::to_value(&why).unwrap();
            assert_eq!(json["code"], why.code());
            for (name, value) in why.params() {
                assert_eq!(json[&name].to_string().trim_matches('"'), value);
            }
            assert_eq!(serde_json::from_value::<Why>(json).unwrap(), why);
        }
    }
}
