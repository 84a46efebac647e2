//! What belongs to an event without deciding anything: the answer behind it, and messages.

use report::SubmissionId;
use rusqlite::{Connection, params};

use crate::queries::read;
use crate::store::{cells, sql, words};
use crate::{Evidence, JournalError, Message, Step};

/// An answer, compressed.
pub(crate) struct PackedEvidence {
    head: Evidence,
    /// SHA-256 of the body as it came, hex.
    pub(crate) digest: String,
    size: i64,
    packed: Vec<u8>,
}

impl PackedEvidence {
    pub(crate) fn new(mut head: Evidence) -> Result<Self, JournalError> {
        let body = std::mem::take(&mut head.body);
        Ok(Self {
            digest: cells::hex(&body),
            size: cells::length(&body),
            packed: cells::pack(&body)?,
            head,
        })
    }
}

pub(crate) fn insert_evidence(
    connection: &Connection,
    id: SubmissionId,
    evidence: &PackedEvidence,
) -> Result<i64, JournalError> {
    let head = &evidence.head;
    connection
        .prepare_cached(sql::NEW_EVIDENCE)
        .and_then(|mut statement| {
            statement.insert(params![
                id.0,
                head.kind.code(),
                head.at.0,
                head.http_status,
                head.content_type,
                head.fault,
                evidence.digest,
                evidence.size,
                evidence.packed,
            ])
        })
        .map_err(JournalError::sql("keep evidence"))
}

pub(crate) fn set_messages(
    connection: &Connection,
    id: SubmissionId,
    origin: &str,
    messages: &[Message],
) -> Result<(), JournalError> {
    let list = cells::to_json(&messages)?;
    connection
        .prepare_cached(sql::SET_MESSAGES)
        .and_then(|mut statement| statement.execute(params![id.0, origin, list]))
        .map(drop)
        .map_err(JournalError::sql("keep messages"))
}

/// The messages that a step brings.
pub(crate) fn messages_of(connection: &Connection, step: &Step) -> Result<(), JournalError> {
    if let Some(issues) = &step.issues {
        replace_issues(connection, step.id, issues)?;
    }
    match &step.warning {
        Some(warning) => warn(connection, step.id, warning),
        None => Ok(()),
    }
}

/// The authority's messages in the place of its earlier ones; counts and search words follow. Most
/// answers say nothing new, and putting a report into the index anew costs as much as taking it in.
pub(crate) fn replace_issues(
    connection: &Connection,
    id: SubmissionId,
    issues: &[Message],
) -> Result<(), JournalError> {
    let stands = read::messages(connection, id)?;
    if stands.iter().filter(|it| it.source == crate::Source::Authority).eq(issues) {
        return Ok(());
    }
    first_issues(connection, id, issues)?;
    reindex(connection, id, &read::messages(connection, id)?)
}

/// Our messages in the place of the earlier ones; counts and search words follow.
pub(crate) fn replace_findings(
    connection: &Connection,
    id: SubmissionId,
    findings: &[Message],
) -> Result<(), JournalError> {
    set_messages(connection, id, "check", findings)?;
    let all = read::messages(connection, id)?;
    set_counts(connection, id, &all)?;
    reindex(connection, id, &all)
}

/// Its words are those of its row and of these messages.
fn reindex(
    connection: &Connection,
    id: SubmissionId,
    messages: &[Message],
) -> Result<(), JournalError> {
    words::reindex(connection, &read::row(connection, id)?, messages)
}

/// A message of ours beside the others; the earlier one of its code goes.
pub(crate) fn warn(
    connection: &Connection,
    id: SubmissionId,
    warning: &Message,
) -> Result<(), JournalError> {
    let mut findings = read::messages(connection, id)?;
    findings.retain(|it| it.source != crate::Source::Authority && it.code != warning.code);
    findings.push(warning.clone());
    replace_findings(connection, id, &findings)
}

/// Takes back our message of a code.
pub(crate) fn take_back(
    connection: &Connection,
    id: SubmissionId,
    code: &str,
) -> Result<(), JournalError> {
    let mut findings = read::messages(connection, id)?;
    findings.retain(|it| it.source != crate::Source::Authority);
    if !findings.iter().any(|it| it.code == code) {
        return Ok(());
    }
    findings.retain(|it| it.code != code);
    replace_findings(connection, id, &findings)
}

/// The authority's messages of a submission whose words are not in the index yet; counts follow.
pub(crate) fn first_issues(
    connection: &Connection,
    id: SubmissionId,
    issues: &[Message],
) -> Result<(), JournalError> {
    set_messages(connection, id, "authority", issues)?;
    set_counts(connection, id, &read::messages(connection, id)?)
}

fn set_counts(
    connection: &Connection,
    id: SubmissionId,
    messages: &[Message],
) -> Result<(), JournalError> {
    let counts = cells::count(messages);
    connection
        .prepare_cached(sql::COUNT_MESSAGES)
        .and_then(|mut statement| {
            statement.execute(params![id.0, counts.errors, counts.warnings, counts.notices])
        })
        .map(drop)
        .map_err(JournalError::sql("keep messages"))
}
