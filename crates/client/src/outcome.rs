//! From an HTTP answer to an answer or a fault: pure, so that the whole table can be tested.

use std::sync::Arc;
use std::time::Duration;

use exchange::{Answer, AnswerProblem, InvalidAnswer, Processing, Release};
use fhir::{Format, Issue, Limits, Severity, Tree};

use crate::authority::Received;
use crate::connection::Link;
use crate::evidence::Evidence;
use crate::fault::{Fault, Why};

/// An answer as it came, with the headers that matter.
pub(crate) struct Reply {
    pub(crate) evidence: Evidence,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) encoding: Option<String>,
    /// The connection that it came over.
    pub(crate) link: Option<Arc<Link>>,
}

/// What a body is.
enum Content {
    Answer(Answer),
    Other(Why),
}

/// The answer to a POST (docs/interface.md, "Send" and "Events, errors, limits"). By the time an
/// answer is there, the body was handed over: what does not say that it was refused may have been
/// stored.
pub(crate) fn of_submit(
    reply: Reply,
    identifier: &str,
    release: Release,
) -> Result<Received, Fault> {
    judged(reply, identifier, release).map_err(|fault| match fault {
        // Whatever else it says, it names what it has stored: that it was not received is no longer
        // sure.
        Fault::Locked { why, evidence } | Fault::Transient { why, evidence, .. }
            if evidence.as_ref().is_some_and(|answer| answer.location.is_some()) =>
        {
            Fault::Uncertain { why, evidence }
        }
        other => other,
    })
}

fn judged(reply: Reply, identifier: &str, release: Release) -> Result<Received, Fault> {
    let status = reply.evidence.status;
    match (status, content(&reply)) {
        (200..=299, Content::Answer(answer)) => accepted(reply, answer, identifier, release),
        (200..=299, Content::Other(why)) => Err(reply.uncertain(why)),
        // "See there for what came of it" (RFC 9110, 15.4.4): it was processed, and not by who was
        // asked for.
        (303, _) => Err(reply.uncertain(Why::Redirect { status })),
        (300..=399, _) => Err(reply.locked(Why::Redirect { status })),
        // Whatever the status: the authority names the report and says what became of it.
        (400..=599, Content::Answer(answer)) if answer.receipt.is_some() => {
            identified(reply, answer, identifier)
        }
        (401 | 403, _) => Err(reply.locked(Why::Forbidden { status })),
        (407, _) => Err(reply.locked(Why::ProxyAuthentication)),
        (400 | 409 | 412 | 413 | 422, Content::Answer(answer)) if gives_reasons(&answer) => {
            // A conflict may be with an earlier delivery, whatever its reasons are about.
            match about(&answer) {
                About::Moment if !matches!(status, 409 | 412) => {
                    Err(reply.uncertain(Why::Unavailable { status }))
                }
                About::Access if !matches!(status, 409 | 412) => {
                    Err(reply.locked(Why::Forbidden { status }))
                }
                _ => Err(reply.refused(answer)),
            }
        }
        // Said before the request is processed (RFC 6585, RFC 8470).
        (425 | 429, _) => Err(reply.transient(Why::Unavailable { status })),
        // A gateway that lost the authority after it had passed the report on says 503 too, and an
        // authority that says so in FHIR may have stored the report all the same.
        (408 | 500..=599, Content::Other(why @ Why::Html { .. })) => Err(reply.uncertain(why)),
        (408 | 500..=599, _) => Err(reply.uncertain(Why::Unavailable { status })),
        // It says nothing of the report but that its answer cannot be written as we like it (RFC
        // 9110, 15.5.7).
        (406, _) => Err(reply.uncertain(Why::Status { status })),
        // A conflict with what? Perhaps with an earlier delivery of this very report.
        (409 | 412, _) => Err(reply.uncertain(Why::Unexplained { status })),
        // A gateway, not the authority: nginx answers so where the client certificate is missing.
        (400..=499, Content::Other(Why::Html { .. })) => Err(reply.locked(Why::Html { status })),
        // The authority refuses with an OperationOutcome (docs/interface.md, "Events, errors,
        // limits"). Who gives no reasons stands in the way of all reports, and refuses none in the
        // authority's name.
        (400 | 413 | 422, _) => Err(reply.locked(Why::Unexplained { status })),
        _ => Err(reply.locked(Why::Status { status })),
    }
}

/// Whether this says why: with messages, or as earlier releases do, by the status alone.
fn gives_reasons(answer: &Answer) -> bool {
    !answer.issues.is_empty() || answer.processing == Some(Processing::Failed)
}

/// What the reasons of a refusal are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// This report: it is to be corrected.
    Content,
    /// Who sends it: it stands in the way of all reports.
    Access,
    /// Something that passes by itself.
    Moment,
}

/// Codes of issues below `security` (<http://hl7.org/fhir/R4/valueset-issue-type.html>).
const OF_ACCESS: &[&str] = &["security", "login", "unknown", "expired", "forbidden", "suppressed"];
/// Codes of issues below `transient`, likewise.
const OF_A_MOMENT: &[&str] =
    &["transient", "lock-error", "no-store", "exception", "timeout", "incomplete", "throttled"];

/// Whoever names a rule or a place has judged the content, whatever the code says: validators use
/// `exception` for a rule that is broken. A single such reason is one to correct the report for.
fn about(answer: &Answer) -> About {
    let mut about = None;
    for issue in answer.issues.iter().filter(|issue| issue.severity == Severity::Error) {
        let has_judged = issue.rule.is_some()
            || issue.expression.is_some()
            || issue.line.is_some()
            || issue.column.is_some();
        about = match issue.code.as_str() {
            _ if has_judged => return About::Content,
            code if OF_ACCESS.contains(&code) => Some(About::Access),
            code if OF_A_MOMENT.contains(&code) => about.or(Some(About::Moment)),
            _ => return About::Content,
        };
    }
    about.unwrap_or(About::Content)
}

/// An error that names the report: `failed` with its messages is the answer to it, as a later read
/// would give it. Any other state counts only where the identifier is ours.
fn identified(reply: Reply, answer: Answer, identifier: &str) -> Result<Received, Fault> {
    let status = reply.evidence.status;
    match (names(&answer, identifier), answer.processing) {
        (Some(true), _) | (None, Some(Processing::Failed)) => {
            Ok(Received { answer, evidence: reply.evidence })
        }
        (Some(false), _) => Err(reply.uncertain(Why::AnotherIdentifier)),
        (None, _) => Err(reply.uncertain(Why::Status { status })),
    }
}

/// Whether an answer is about the report of this identifier; `None` where it names none at all.
fn names(answer: &Answer, identifier: &str) -> Option<bool> {
    let known = &answer.identifiers;
    (!known.is_empty()).then(|| known.iter().any(|known| known.eq_ignore_ascii_case(identifier)))
}

/// 2xx with a FHIR answer.
fn accepted(
    reply: Reply,
    answer: Answer,
    identifier: &str,
    release: Release,
) -> Result<Received, Fault> {
    let status = reply.evidence.status;
    if answer.receipt.is_some() {
        return match names(&answer, identifier) {
            Some(true) | None => Ok(Received { answer, evidence: reply.evidence }),
            Some(false) => Err(reply.uncertain(Why::AnotherIdentifier)),
        };
    }
    if let Some(receipt) = reply.stored_as() {
        return Ok(created(reply, receipt, answer.issues));
    }
    let invalid = match release.facts().invalid {
        InvalidAnswer::StatusAndOutcome => answer.processing == Some(Processing::Failed),
        InvalidAnswer::OutcomeOnly => false,
    };
    if invalid || answer.issues.iter().any(|issue| issue.severity == Severity::Error) {
        return Err(reply.refused(answer));
    }
    Err(reply.uncertain(Why::NoReceipt { status }))
}

/// Created, by status and `Location`, without a word of what becomes of it: the read by id will
/// tell, and whose it is.
fn created(reply: Reply, receipt: String, issues: Vec<Issue>) -> Received {
    let answer = Answer {
        receipt: Some(receipt),
        processing: Some(Processing::InProgress),
        issues,
        ..Answer::default()
    };
    Received { answer, evidence: reply.evidence }
}

/// The id in an address of a stored report: `…/DocumentReference/id`, perhaps with its version.
fn receipt_in(location: &str) -> Option<String> {
    let path = location.split(['?', '#']).next().unwrap_or_default();
    let id = path.split('/').skip_while(|part| *part != "DocumentReference").nth(1)?;
    let permitted = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    // FHIR R4, datatype id.
    (matches!(id.len(), 1..=64) && id.chars().all(permitted)).then(|| id.to_owned())
}

/// The answer to a GET: the body as a FHIR tree. Never uncertain: nothing was delivered.
pub(crate) fn of_question(reply: Reply) -> Result<(Tree, Evidence), Fault> {
    let status = reply.evidence.status;
    match status {
        200..=299 => match tree(&reply) {
            Ok(tree) => Ok((tree, reply.evidence)),
            Err(why) => Err(reply.transient(why)),
        },
        300..=399 => Err(reply.locked(Why::Redirect { status })),
        401 | 403 => Err(reply.locked(Why::Forbidden { status })),
        404 | 410 => Err(reply.transient(Why::NotFound { status })),
        407 => Err(reply.locked(Why::ProxyAuthentication)),
        408 | 425 | 429 | 500..=599 => Err(reply.transient(Why::Unavailable { status })),
        400 | 422 => match content(&reply) {
            Content::Answer(answer) if gives_reasons(&answer) => Err(match about(&answer) {
                About::Content => reply.refused(answer),
                About::Access => reply.locked(Why::Forbidden { status }),
                About::Moment => reply.transient(Why::Unavailable { status }),
            }),
            Content::Other(why @ Why::Html { .. }) => Err(reply.locked(why)),
            _ => Err(reply.locked(Why::Unexplained { status })),
        },
        _ => Err(reply.locked(Why::Status { status })),
    }
}

/// The answer to a read by id.
pub(crate) fn of_status(reply: Reply, receipt: &str) -> Result<Received, Fault> {
    let (tree, evidence) = of_question(reply)?;
    let answer = Answer::read(tree.root()).ok().filter(|answer| answer.processing.is_some());
    match answer {
        Some(answer) if answer.receipt.as_deref() == Some(receipt) => {
            Ok(Received { answer, evidence })
        }
        Some(_) => Err(with(Why::AnotherIdentifier, evidence)),
        None => {
            let why = Why::NotFhir { status: evidence.status, found: resource(&tree) };
            Err(with(why, evidence))
        }
    }
}

/// A transient fault of a question.
pub(crate) fn with(why: Why, evidence: Evidence) -> Fault {
    Fault::Transient { why, retry_after: None, evidence: Some(Box::new(evidence)) }
}

pub(crate) fn resource(tree: &Tree) -> String {
    tree.root().resource_type().unwrap_or_default().to_owned()
}

fn content(reply: &Reply) -> Content {
    let tree = match tree(reply) {
        Ok(tree) => tree,
        Err(why) => return Content::Other(why),
    };
    let status = reply.evidence.status;
    match Answer::read(tree.root()) {
        Ok(answer) => Content::Answer(answer),
        Err(AnswerProblem::NotAnAnswer { found }) => Content::Other(Why::NotFhir { status, found }),
        Err(AnswerProblem::Incomplete { element }) => {
            Content::Other(Why::NotFhir { status, found: format!("DocumentReference.{element}") })
        }
    }
}

/// The body decides what it is; its label only helps to name what it is not.
fn tree(reply: &Reply) -> Result<Tree, Why> {
    let Evidence { status, ref body, ref content_type, .. } = reply.evidence;
    if let Some(encoding) = &reply.encoding {
        return Err(Why::ContentEncoded { encoding: encoding.clone() });
    }
    if body.trim_ascii().is_empty() {
        return Err(Why::EmptyAnswer { status });
    }
    let label = content_type.as_deref().unwrap_or_default();
    let read = Format::sniff(body).map(|format| Tree::read(body, format, &Limits::default()));
    match read {
        Some(Ok(tree)) => Ok(tree),
        _ if is_html(label, body) => Err(Why::Html { status }),
        _ => Err(Why::NotFhir { status, found: label.chars().take(100).collect() }),
    }
}

fn is_html(label: &str, body: &[u8]) -> bool {
    let start: String =
        String::from_utf8_lossy(&body[..body.len().min(512)]).trim_start().to_ascii_lowercase();
    let label = label.to_ascii_lowercase();
    label.starts_with("text/html")
        || label.starts_with("application/xhtml")
        || start.starts_with("<!doctype html")
        || start.starts_with("<html")
}

impl Reply {
    /// The id under which the server says that it has stored the report.
    fn stored_as(&self) -> Option<String> {
        self.evidence.location.as_deref().and_then(receipt_in)
    }

    fn transient(self, why: Why) -> Fault {
        let evidence = Some(Box::new(self.evidence));
        Fault::Transient { why, retry_after: self.retry_after, evidence }
    }

    fn uncertain(self, why: Why) -> Fault {
        Fault::Uncertain { why, evidence: Some(Box::new(self.evidence)) }
    }

    fn locked(self, why: Why) -> Fault {
        Fault::Locked { why, evidence: Some(Box::new(self.evidence)) }
    }

    /// Where the authority gives no reason, the status is all there is to show.
    fn refused(self, mut answer: Answer) -> Fault {
        if answer.issues.is_empty() {
            answer.issues.push(Issue {
                severity: Severity::Error,
                code: "processing".to_owned(),
                rule: None,
                text: format!("HTTP {}", self.evidence.status),
                expression: None,
                line: None,
                column: None,
            });
        }
        Fault::Refused { answer: Box::new(answer), evidence: Box::new(self.evidence) }
    }
}
