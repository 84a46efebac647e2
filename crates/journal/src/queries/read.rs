//! Views of single submissions and what the worker asks for.

use fhir::Instant;
use report::{Event, Person, State, StateCode, SubmissionId};
use rusqlite::{Connection, params};

use crate::store::{cells, rows, sql};
use crate::{Detail, Due, Entry, Evidence, JournalError, KeptEvidence, Message, OpenReport, Row};

/// A report that was accepted, as a witness of what a search shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest {
    /// The identifier under which it went out.
    pub identifier: String,
    /// The authority's id of it.
    pub receipt: String,
    /// Whether it was sent after the report in doubt, by the order of the journal.
    pub is_later: bool,
}

pub(crate) fn state(connection: &Connection, id: SubmissionId) -> Result<State, JournalError> {
    rows::one(connection, sql::SUBJECT, [id.0], |row| {
        cells::from_json(0, row.get_ref(0)?.as_str()?)
    })?
    .ok_or(JournalError::NotFound(id))
}

pub(crate) fn due(
    connection: &Connection,
    now: Instant,
    limit: usize,
) -> Result<Vec<Due>, JournalError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    rows::all(connection, sql::DUE, [now.0, limit], owed)
}

pub(crate) fn due_at(
    connection: &Connection,
    endpoint: &str,
    now: Instant,
    limit: usize,
) -> Result<Vec<Due>, JournalError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    rows::all(connection, sql::DUE_AT, params![now.0, limit, endpoint], owed)
}

pub(crate) fn next_due_at(
    connection: &Connection,
    endpoint: &str,
) -> Result<Option<Instant>, JournalError> {
    rows::one(connection, sql::NEXT_DUE_AT, [endpoint], |row| row.get(0).map(Instant))
}

pub(crate) fn due_beyond(
    connection: &Connection,
    at: Instant,
    recorded: Instant,
    state: StateCode,
    limit: usize,
) -> Result<Vec<Due>, JournalError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    rows::all(connection, sql::DUE_BEYOND, params![at.0, recorded.0, state.kept_as(), limit], owed)
}

fn owed(row: &rusqlite::Row<'_>) -> rusqlite::Result<Due> {
    let state: State = cells::from_json(1, row.get_ref(1)?.as_str()?)?;
    let Some((due, duty)) = state.duty() else {
        return Err(cells::unfit(1, "due without a duty".to_owned()));
    };
    let (id, identifier, endpoint) = (SubmissionId(row.get(0)?), row.get(3)?, row.get(4)?);
    let corrects = row.get::<_, Option<i64>>(5)?.map(SubmissionId);
    let document = row.get(6)?;
    Ok(Due { id, state, duty, due, identifier, endpoint, corrects, document })
}

pub(crate) fn by_receipt_at(
    connection: &Connection,
    endpoint: &str,
    receipt: &str,
) -> Result<Vec<(SubmissionId, String)>, JournalError> {
    let owner = |row: &rusqlite::Row<'_>| Ok((SubmissionId(row.get(0)?), row.get(1)?));
    rows::all(connection, sql::BY_RECEIPT_AT, [receipt, endpoint], owner)
}

pub(crate) fn was_accepted_at(
    connection: &Connection,
    endpoint: &str,
) -> Result<bool, JournalError> {
    Ok(rows::one(connection, sql::ACCEPTED_AT, [endpoint], |_| Ok(()))?.is_some())
}

/// Reports other than `identifier` that the authority of an endpoint has accepted, and should show.
pub(crate) fn witnesses(
    connection: &Connection,
    endpoint: &str,
    identifier: &str,
) -> Result<Vec<String>, JournalError> {
    // What it has completed it shows for sure; what it has just accepted its search may show late.
    newest_of(connection, &["completed", "in-progress"], endpoint, identifier)
}

/// Of these the newest that were sent in a time, or before the report itself and not after `last`.
pub(crate) fn newest_accepted(
    connection: &Connection,
    endpoint: &str,
    identifier: &str,
    (from, until): (Instant, Instant),
    last: Instant,
) -> Result<Vec<Newest>, JournalError> {
    let mut found: Vec<(i64, Newest)> = Vec::new();
    for state in ["completed", "in-progress"] {
        let newest = params![endpoint, state, identifier, from.0, until.0, last.0];
        let read = |row: &rusqlite::Row<'_>| {
            // Where the report itself was never sent, nothing is known to be later.
            let is_later = row.get::<_, Option<bool>>(3)?.unwrap_or(false);
            let newest = Newest { identifier: row.get(0)?, receipt: row.get(1)?, is_later };
            Ok((row.get(2)?, newest))
        };
        found.extend(rows::all(connection, sql::NEWEST_ACCEPTED, newest, read)?);
    }
    found.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    found.truncate(3);
    Ok(found.into_iter().map(|(_, newest)| newest).collect())
}

pub(crate) fn ended(
    connection: &Connection,
    endpoint: &str,
    identifier: &str,
) -> Result<Vec<String>, JournalError> {
    newest_of(connection, &["failed", "superseded", "withdrawn"], endpoint, identifier)
}

fn newest_of(
    connection: &Connection,
    states: &[&str],
    endpoint: &str,
    identifier: &str,
) -> Result<Vec<String>, JournalError> {
    let mut found: Vec<String> = Vec::new();
    for state in states {
        let newest = params![endpoint, state, identifier];
        found.extend(rows::all(connection, sql::WITNESSES, newest, |row| row.get(0))?);
    }
    Ok(found)
}

/// Whether the authority of an endpoint has accepted anything of ours, also where it is not found
/// at present.
pub(crate) fn has_accepted(connection: &Connection, endpoint: &str) -> Result<bool, JournalError> {
    Ok(rows::one(connection, sql::HAS_ACCEPTED, [endpoint], |row| row.get::<_, i64>(0))?.is_some())
}

pub(crate) fn has_hidden(connection: &Connection, endpoint: &str) -> Result<bool, JournalError> {
    Ok(rows::one(connection, sql::HAS_HIDDEN, [endpoint], |row| row.get::<_, i64>(0))?.is_some())
}

/// The same by their documents, as witnesses for the document of a report that waits: identifier of
/// the document and receipt. One that went out under its document's identifier says nothing of
/// those that did not. Only where none did otherwise, and the report does as well, it is one.
pub(crate) fn witnesses_by_document(
    connection: &Connection,
    endpoint: &str,
    id: SubmissionId,
) -> Result<Vec<(String, String)>, JournalError> {
    let find = |named_so_too: bool| -> Result<Vec<(String, String)>, JournalError> {
        let mut found = Vec::new();
        for state in ["completed", "in-progress"] {
            let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let newest = params![endpoint, state, named_so_too];
            found.extend(rows::all(connection, sql::WITNESSES_BY_DOCUMENT, newest, pair)?);
        }
        Ok(found)
    };
    let found = find(false)?;
    if found.is_empty() && is_named_as_document(connection, id)? { find(true) } else { Ok(found) }
}

/// Whether a report goes out under the identifier of its document.
pub(crate) fn is_named_as_document(
    connection: &Connection,
    id: SubmissionId,
) -> Result<bool, JournalError> {
    let same =
        rows::one(connection, sql::NAMED_AS_DOCUMENT, [id.0], |row| row.get::<_, Option<bool>>(0))?;
    Ok(same.flatten().unwrap_or_default())
}

pub(crate) fn open_elsewhere(
    connection: &Connection,
    endpoint: &str,
) -> Result<Vec<(String, u32)>, JournalError> {
    rows::all(connection, sql::OPEN_ELSEWHERE, [endpoint], |row| Ok((row.get(0)?, row.get(1)?)))
}

pub(crate) fn next_due(connection: &Connection) -> Result<Option<Instant>, JournalError> {
    rows::one(connection, sql::NEXT_DUE, [], |row| row.get(0).map(Instant))
}

pub(crate) fn open_reports(connection: &Connection) -> Result<Vec<OpenReport>, JournalError> {
    let mut open = rows::all(connection, sql::OPEN_REPORTS, [], |row| {
        Ok(OpenReport {
            id: SubmissionId(row.get(0)?),
            state: cells::from_json(1, row.get_ref(1)?.as_str()?)?,
            identifier: row.get(2)?,
            endpoint: row.get(3)?,
            created: Instant(row.get(4)?),
        })
    })?;
    open.sort_by_key(|report| (report.created, report.id));
    Ok(open)
}

pub(crate) fn by_attempt_identifier(
    connection: &Connection,
    identifier: &str,
) -> Result<Option<SubmissionId>, JournalError> {
    newest(connection, sql::BY_IDENTIFIER, identifier)
}

/// The newest submission with this identifier of its attempt to an endpoint.
pub(crate) fn by_attempt_identifier_at(
    connection: &Connection,
    endpoint: &str,
    identifier: &str,
) -> Result<Option<SubmissionId>, JournalError> {
    let found: Option<Option<i64>> =
        rows::one(connection, sql::BY_IDENTIFIER_AT, [identifier, endpoint], |row| row.get(0))?;
    Ok(found.flatten().map(SubmissionId))
}

/// The newest submission of an attempt, by identifier, endpoint and digest of the content.
pub(crate) fn of_attempt(
    connection: &Connection,
    attempt: &[impl AsRef<str>; 3],
) -> Result<Option<SubmissionId>, JournalError> {
    let attempt = attempt.each_ref().map(AsRef::as_ref);
    let found: Option<Option<i64>> =
        rows::one(connection, sql::OF_ATTEMPT, attempt, |row| row.get(0))?;
    Ok(found.flatten().map(SubmissionId))
}

pub(crate) fn by_receipt(
    connection: &Connection,
    receipt: &str,
) -> Result<Option<SubmissionId>, JournalError> {
    newest(connection, sql::BY_RECEIPT, receipt)
}

fn newest(
    connection: &Connection,
    statement: &str,
    value: &str,
) -> Result<Option<SubmissionId>, JournalError> {
    let found = rows::one(connection, statement, [value], |row| row.get::<_, Option<i64>>(0))?;
    Ok(found.flatten().map(SubmissionId))
}

/// Ours first, then the authority's.
pub(crate) fn messages(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Vec<Message>, JournalError> {
    let lists: Vec<Vec<Message>> = rows::all(connection, sql::MESSAGES, [id.0], |row| {
        cells::from_json(0, row.get_ref(0)?.as_str()?)
    })?;
    Ok(lists.into_iter().flatten().collect())
}

pub(crate) fn row(connection: &Connection, id: SubmissionId) -> Result<Row, JournalError> {
    rows::one(connection, sql::ROW, [id.0], cells::row)?.ok_or(JournalError::NotFound(id))
}

pub(crate) fn detail(connection: &Connection, id: SubmissionId) -> Result<Detail, JournalError> {
    let size: Option<i64> = rows::one(connection, sql::DOCUMENT_SIZE, [id.0], |row| row.get(0))?;
    Ok(Detail {
        row: row(connection, id)?,
        messages: messages(connection, id)?,
        timeline: timeline(connection, id)?,
        document_size: size.and_then(|size| u64::try_from(size).ok()),
    })
}

pub(crate) fn timeline(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Vec<Entry>, JournalError> {
    rows::all(connection, sql::TIMELINE, [id.0], |row| {
        Ok(Entry {
            number: row.get(0)?,
            event: cells::from_json::<Event>(1, row.get_ref(1)?.as_str()?)?,
            by: Person(row.get(2)?),
            at: Instant(row.get(3)?),
            evidence: row.get(4)?,
        })
    })
}

pub(crate) fn replay(connection: &Connection, id: SubmissionId) -> Result<State, JournalError> {
    let mut state: Option<State> = None;
    for entry in timeline(connection, id)? {
        let next = match &state {
            None => State::first(&entry.event),
            Some(state) => state.apply(&entry.event),
        };
        state = Some(next.map_err(|_| JournalError::Damaged)?);
    }
    state.ok_or(JournalError::NotFound(id))
}

pub(crate) fn document(connection: &Connection, id: SubmissionId) -> Result<Vec<u8>, JournalError> {
    let (size, packed) = rows::one(connection, sql::DOCUMENT, [id.0], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
    })?
    .ok_or(JournalError::NotFound(id))?;
    cells::unpack(&packed, size)
}

pub(crate) fn evidence(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Vec<KeptEvidence>, JournalError> {
    let rows = rows::all(connection, sql::EVIDENCE, [id.0], |row| {
        let head = Evidence {
            kind: cells::evidence_kind(1, row.get_ref(1)?.as_str()?)?,
            at: Instant(row.get(2)?),
            http_status: row.get(3)?,
            content_type: row.get(4)?,
            body: Vec::new(),
            fault: row.get(5)?,
        };
        let size: i64 = row.get(7)?;
        let packed: Option<Vec<u8>> = row.get(8)?;
        Ok((row.get(0)?, head, row.get(6)?, size, packed))
    })?;
    rows.into_iter()
        .map(|(id, mut evidence, digest, size, packed)| {
            if let Some(packed) = packed {
                evidence.body = cells::unpack(&packed, size)?;
            }
            let size = u64::try_from(size).map_err(|_| JournalError::Damaged)?;
            Ok(KeptEvidence { id, digest, size, evidence })
        })
        .collect()
}

pub(crate) fn revision(connection: &Connection) -> Result<u64, JournalError> {
    let revision: Option<i64> = rows::one(connection, sql::REVISION, [], |row| row.get(0))?;
    revision.and_then(|revision| u64::try_from(revision).ok()).ok_or(JournalError::Damaged)
}
