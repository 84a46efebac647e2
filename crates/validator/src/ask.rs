//! One question to the validator, and what its answer says.

use std::time::Duration;

use bytes::Bytes;
use fhir::{Format, Issue, Severity, Tree};
use http::{Request, StatusCode, header};

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

impl From<fetch::Fault> for Fault {
    fn from(fault: fetch::Fault) -> Self {
        match fault {
            fetch::Fault::NobodyTrusted => Self::Trust,
            fetch::Fault::NotReached => Self::NotReached,
            fetch::Fault::NotTrusted => Self::NotTrusted,
            fetch::Fault::TooLong => Self::TooLong,
            fetch::Fault::Broken => Self::Broken,
            fetch::Fault::TooLarge => Self::TooLarge,
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
    let address = validator.operation(kind, profiles);
    let request = Request::post("/")
        .header(header::USER_AGENT, USER_AGENT)
        .header(header::CONTENT_TYPE, format.media_type())
        .header(header::ACCEPT, Format::Json.media_type())
        .header(header::ACCEPT_ENCODING, "identity");
    let (ca_pem, body) = (validator.ca_pem(), Bytes::from(resource));
    let question = fetch::Question { address: &address, ca_pem, request, body };
    let Limits { connect, all, bytes_max, issues_max } = limits;
    let bounds = fetch::Bounds { connect, all, bytes_max: bytes_max as u64 };
    let mut said = Vec::new();
    let take = |part: &[u8]| {
        said.extend_from_slice(part);
        Ok(())
    };
    let status = fetch::fetch(question, bounds, is_answer, take).await?;
    // A refusal with reasons is an answer: some say 400, 412 or 422 of what is not valid.
    issues_of(&said, issues_max).ok_or(Fault::NoOutcome { status: status.as_u16() })
}

/// Whether what follows this status can be an answer.
fn is_answer(status: StatusCode) -> Result<(), Fault> {
    if status.is_redirection() {
        return Err(Fault::LeadsElsewhere);
    }
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Fault::NotLetIn),
        _ => Ok(()),
    }
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
