//! Files looked at before sending, as views and records.

use engine::{Candidate, Reason, Refusal, messages};
use fhir::{Limits, Severity, Tree};
use journal::{Message, Source};
use report::Kind;

use crate::codes::{RULE_CODES, kind_code};
use crate::mask::masked;
use crate::messages::message_view;
use crate::record::{IssueRecord, OPEN_TOO_LONG, Record};
use crate::results::told;
use crate::rows::Names;
use crate::views::{CandidateView, Verdict};

/// Codes of messages about files that are no reports, with their parameters.
pub const REFUSALS: &[(&str, &[&str])] = &[
    ("archive", &["reason"]),
    ("corrected-by-other-file", &["file"]),
    ("correction-not-taken", &[]),
    ("file-changing", &[]),
    ("file-empty", &[]),
    ("file-not-found", &[]),
    ("file-not-readable", &["reason"]),
    ("file-too-large", &["bytes", "limit"]),
    ("file-not-taken-in", &[]),
    ("link-not-followed", &[]),
    ("not-a-file", &[]),
    ("not-a-report", &["kind", "resource-type"]),
    ("nothing-inside", &[]),
    ("too-many-inside", &["limit"]),
];

/// All that is to be said of a candidate, also why it is refused.
pub(crate) fn messages_of(candidate: &Candidate) -> Vec<Message> {
    let mut all = messages(candidate);
    if let engine::Verdict::Refused(reason) = &candidate.verdict {
        all.insert(0, refusal(reason));
    }
    all
}

/// A report that was not taken in, and why.
pub(crate) fn refused_view(
    candidate: &Candidate,
    code: &str,
    params: Vec<(&str, String)>,
) -> CandidateView {
    let mut view = candidate_view(candidate, Names::Masked);
    view.verdict = Verdict::Refused;
    view.messages.insert(0, message_view(&message(code, params)));
    view
}

/// A report that was shown and lies nowhere any more, by the digest of what it was; the page has
/// its name.
pub(crate) fn gone_view(digest: String) -> CandidateView {
    CandidateView {
        file: String::new(),
        verdict: Verdict::Refused,
        kind: "unknown",
        digest,
        content: None,
        document_identifier: None,
        patient: None,
        subject: None,
        disease: None,
        test: None,
        specimen: None,
        messages: vec![message_view(&message("file-not-found", Vec::new()))],
        known: None,
        known_state: None,
        known_updated: None,
        corrects: None,
    }
}

fn message(code: &str, params: Vec<(&str, String)>) -> Message {
    Message {
        source: Source::Local,
        severity: Severity::Error,
        code: code.to_owned(),
        rule: None,
        text: None,
        params: params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        expression: None,
        line: None,
        column: None,
    }
}

/// That a file could not be taken in.
pub(crate) fn not_taken_in() -> IssueRecord {
    IssueRecord::of(&message("file-not-taken-in", Vec::new()))
}

/// Why something is no report.
pub(crate) fn refusal(reason: &Reason) -> Message {
    match reason {
        Reason::Unreadable(finding) => Message::from_finding(Source::Base, finding),
        Reason::NotAReport(kind) => {
            let of = match kind {
                Kind::FhirOther { resource_type, .. } => resource_type.clone(),
                _ => String::new(),
            };
            message("not-a-report", vec![("kind", kind.code().to_owned()), ("resource-type", of)])
        }
        Reason::Source(refusal) => {
            let params = match refusal {
                Refusal::NotReadable { reason } => vec![("reason", reason.clone())],
                Refusal::TooLarge { bytes, bytes_max } => {
                    vec![("bytes", bytes.to_string()), ("limit", bytes_max.to_string())]
                }
                Refusal::TooManyInside { pieces_max } => vec![("limit", pieces_max.to_string())],
                Refusal::Archive { reason } => vec![("reason", (*reason).to_owned())],
                Refusal::NotFound
                | Refusal::NotAFile
                | Refusal::Empty
                | Refusal::StillChanging
                | Refusal::NotTakenIn
                | Refusal::NothingInside
                | Refusal::LinkNotFollowed => Vec::new(),
            };
            message(refusal.code(), params)
        }
    }
}

fn verdict_of(candidate: &Candidate) -> Verdict {
    match &candidate.verdict {
        engine::Verdict::Refused(_) => Verdict::Refused,
        engine::Verdict::Report(parsed) if !parsed.known.is_empty() => Verdict::Known,
        engine::Verdict::Report(_) if candidate.has_errors() => Verdict::Errors,
        engine::Verdict::Report(_) if candidate.findings.is_empty() => Verdict::Ready,
        engine::Verdict::Report(_) => Verdict::Warnings,
    }
}

pub(crate) fn candidate_view(candidate: &Candidate, names: Names) -> CandidateView {
    let parsed = candidate.parsed();
    let patient = parsed.and_then(|parsed| {
        let summary = &parsed.summary;
        let name = summary.patient.as_deref()?;
        Some(match names {
            Names::Shown => name.to_owned(),
            Names::Masked => masked(name, summary.birth_date.as_deref()),
        })
    });
    let tested = parsed.and_then(|parsed| parsed.summary.tested());
    CandidateView {
        file: candidate.name.clone(),
        verdict: verdict_of(candidate),
        kind: kind_code(candidate),
        digest: parsed.map(|parsed| parsed.digest.clone()).unwrap_or_default(),
        content: parsed.map(|parsed| parsed.canonical.clone()),
        document_identifier: parsed.and_then(|parsed| parsed.summary.identifier.clone()),
        patient,
        subject: parsed.and_then(|parsed| parsed.summary.subject.clone()),
        disease: tested.map(|tested| tested.disease.key.to_owned()),
        test: tested.and_then(|tested| told(tested.test)),
        specimen: tested.and_then(|tested| told(tested.specimen)),
        messages: messages_of(candidate).iter().map(message_view).collect(),
        known: parsed.and_then(|parsed| parsed.known.first()).map(|id| id.0),
        known_state: None,
        known_updated: None,
        corrects: None,
    }
}

/// A candidate that is (not yet) a submission.
pub(crate) fn candidate_record(candidate: &Candidate) -> Record {
    Record {
        id: None,
        file: candidate.name.clone(),
        digest: candidate.parsed().map(|parsed| parsed.digest.clone()),
        identifier: None,
        state: None,
        receipt: None,
        issues: issues_of(candidate),
        attempts: 0,
        corrects: None,
        endpoint: None,
        environment: None,
        created: None,
        updated: None,
        validator: None,
    }
}

/// What was found, with the values that would cure it.
fn issues_of(candidate: &Candidate) -> Vec<IssueRecord> {
    let plain = messages_of(candidate).into_iter().map(|message| IssueRecord::of(&message));
    let parsed = candidate.parsed().filter(|_| !candidate.findings.is_empty());
    let tree = parsed.and_then(|of| Tree::read(&of.bytes, of.format, &Limits::default()).ok());
    let Some(tree) = tree else { return plain.collect() };
    // One message for each finding, in the same order.
    let findings = candidate.findings.iter().map(|(_, finding)| finding);
    plain.zip(findings).map(|(issue, finding)| issue.suggesting(&tree, finding)).collect()
}

/// Every code of a message of ours, with its parameters: what the catalogue of texts must know.
pub const MESSAGE_CODES: &[&[(&str, &[&str])]] = &[
    report::codes::CODES,
    exchange::CODES,
    fhir::codes::CODES,
    RULE_CODES,
    engine::RULES_CODES,
    engine::CORRECTION_CODES,
    REFUSALS,
    &[
        ("authority-may-have-it", &["receipt"]),
        ("accepted-before-restore", &[]),
        ("correction-withdrawn", &["by"]),
        ("decided-before-restore", &[]),
        ("journal-not-compared", &[]),
        ("later-version", &["elements", "identifier", "submission"]),
        ("newer-version-delivered", &["submission"]),
        ("older-version", &["elements", "identifier", "submission"]),
        ("other-version-lost", &[]),
        ("same-identifier-other-content", &["elements", "identifier", "submission"]),
        (OPEN_TOO_LONG, &[]),
        ("went-elsewhere", &["endpoint"]),
    ],
];
