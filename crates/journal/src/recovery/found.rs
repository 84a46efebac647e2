//! Reports that the authority has and a restored journal does not know.

use fhir::{Format, Instant};
use report::{Event, Person, State, SubmissionId, Summary};
use rusqlite::{Connection, params};

use crate::events::append::Happening;
use crate::events::attach::PackedEvidence;
use crate::events::{append, attach, doubt, lost, standing, versions};
use crate::queries::{endpoints, read};
use crate::recovery::content;
use crate::store::{rows, sql, words};
use crate::{Evidence, JournalError, LostReport, Message, NewSubmission, RecordError, codes};

/// A report as the authority shows it.
#[derive(Clone)]
pub struct FoundReport {
    /// Identifier of the attempt.
    pub identifier: String,
    /// The submission that it is, where that is known: several may have one identifier.
    pub known_as: Option<SubmissionId>,
    /// Endpoint that showed it.
    pub endpoint: String,
    /// [`Event::Accepted`], [`Event::Completed`] or [`Event::Failed`].
    pub event: Event,
    /// The authority's messages.
    pub issues: Vec<Message>,
    /// When the authority changed it last, by its own clock.
    pub last_updated: Option<Instant>,
    /// Its answer.
    pub evidence: Evidence,
    /// Who looked.
    pub by: Person,
    /// When the authority received it.
    pub at: Instant,
}

/// What became of a report that the authority showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reconciled {
    /// It was not in the journal and is now, with its status, without its content.
    Added(SubmissionId),
    /// It is in the journal as something that was not sent: now it is being asked for.
    Doubted(SubmissionId),
    /// Nothing is to be done: the journal knows it, and follows it where it is open.
    Known,
}

/// Digest of a content that nobody knows.
const NO_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";
const WITHOUT_CONTENT: &str = "UPDATE submission SET erased = ?2 WHERE id = ?1";

/// A report ready to be written.
pub(crate) struct Prepared {
    found: FoundReport,
    receipt: String,
    evidence: PackedEvidence,
}

impl Prepared {
    pub(crate) fn new(found: FoundReport) -> Result<Self, RecordError> {
        let receipt = match &found.event {
            Event::Accepted { receipt, .. }
            | Event::Completed { receipt }
            | Event::Failed { receipt } => receipt.clone(),
            other => return Err(report::Illegal { state: "none", event: other.code() }.into()),
        };
        let evidence = PackedEvidence::new(found.evidence.clone())?;
        Ok(Self { found, receipt, evidence })
    }
}

pub(crate) fn reconcile(
    connection: &Connection,
    prepared: &Prepared,
) -> Result<Reconciled, RecordError> {
    let found = &prepared.found;
    // Another authority may give the same numbers, and this one may have given them anew.
    let mut owners =
        read::by_receipt_at(connection, &found.endpoint, &prepared.receipt)?.into_iter();
    if owners.any(|(_, identifier)| identifier.eq_ignore_ascii_case(&found.identifier)) {
        return Ok(Reconciled::Known);
    }
    let id = match found.known_as {
        Some(id) => Some(id),
        None => may_have_left(connection, &found.endpoint, &found.identifier)?,
    };
    match id {
        Some(_) if is_the_lost_one(connection, found)? && !is_anothers(connection, found)? => {
            add(connection, prepared).map(Reconciled::Added)
        }
        Some(id) => known(connection, id, prepared),
        None if is_anothers(connection, found)? => Ok(Reconciled::Known),
        None => add(connection, prepared).map(Reconciled::Added),
    }
}

/// The submission with this identifier of its attempt: of several the newest that may have left.
fn may_have_left(
    connection: &Connection,
    endpoint: &str,
    identifier: &str,
) -> Result<Option<SubmissionId>, JournalError> {
    let restored = doubt::mark(connection)?.map_or(0, |mark| mark.through);
    let of_attempt = params![identifier, endpoint, restored];
    rows::one(connection, sql::MAY_HAVE_LEFT, of_attempt, |row| row.get(0).map(SubmissionId))
}

/// Whether it is a report that a restore has lost: all that are known under this identifier are
/// completed, and this is another. A delivery that the authority has not changed since the lost one
/// was taken in cannot be that: a gateway may have repeated the request of an older version. Nor
/// can it be told where another one of this identifier is not completed: that may have left since.
/// Where clocks differ, or nothing is said of the time, it stays lost, and is asked for when it is
/// handed over again.
fn is_the_lost_one(connection: &Connection, found: &FoundReport) -> Result<bool, JournalError> {
    let of_attempt = params![found.identifier, found.endpoint];
    if found.known_as.is_some()
        || rows::one(connection, sql::NOT_COMPLETED_BESIDE, of_attempt, |_| Ok(()))?.is_some()
    {
        return Ok(false);
    }
    let lost = lost::by_identifier(connection, &found.endpoint, &found.identifier)?;
    Ok(lost.is_some_and(|lost| found.last_updated.is_some_and(|changed| changed >= lost.at)))
}

/// Whether it went to the same authority by another endpoint, which has it or had it before the
/// restore: the authority shows it to both, and it is entered once.
fn is_anothers(connection: &Connection, found: &FoundReport) -> Result<bool, JournalError> {
    let notes = endpoints::notes(connection)?;
    let Some(here) = notes.get(&found.endpoint) else { return Ok(false) };
    let others = notes.iter().filter(|(id, _)| **id != found.endpoint);
    for (id, _) in others.filter(|(_, note)| note.leads_where(here)) {
        if read::by_attempt_identifier_at(connection, id, &found.identifier)?.is_some()
            || lost::by_identifier(connection, id, &found.identifier)?.is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The journal has it, perhaps as it was before it was sent.
fn known(
    connection: &Connection,
    id: SubmissionId,
    prepared: &Prepared,
) -> Result<Reconciled, RecordError> {
    let found = &prepared.found;
    match read::state(connection, id)? {
        // One that the restore has lost went out under the same identifier: it may be that one.
        State::Held { .. } if lost::shares_identifier(connection, &read::row(connection, id)?)? => {
            return Ok(Reconciled::Known);
        }
        State::Held { .. }
            if doubt::covers(connection, id)?
                && !doubt::may_be_named_alike(connection, id)?
                && (found.known_as.is_some() || !is_anothers(connection, found)?) =>
        {
            // It was released in what the restore has lost.
            let reason = doubt::FOUND.to_owned();
            let event = Event::Released { reason, due: found.at };
            record(connection, id, &event, prepared, None)?;
        }
        State::Queued { .. } => {}
        // Another copy of the profile has released it, or it is another version under the same
        // identifier: who releases it here is told.
        State::Held { .. } => {
            let warning = Message::warning(codes::MAY_BE_KNOWN, &[("receipt", &prepared.receipt)]);
            if !read::messages(connection, id)?.contains(&warning) {
                attach::warn(connection, id, &warning)?;
            }
            return Ok(Reconciled::Known);
        }
        _ => return Ok(Reconciled::Known),
    }
    doubt::one(connection, id, found.at, &found.by)?;
    Ok(Reconciled::Doubted(id))
}

fn add(connection: &Connection, prepared: &Prepared) -> Result<SubmissionId, RecordError> {
    let found = &prepared.found;
    let lost = lost::by_identifier(connection, &found.endpoint, &found.identifier)?;
    let new = without_content(found, lost.as_ref());
    // Nobody could tell the same report from another when it is handed over.
    if new.canonical.is_none() {
        standing::raise(connection, found.at)?;
    }
    let state = State::first(&new.first)?;
    let id = append::begin(connection, &new, &state, &new.identifier)?;
    connection
        .execute(WITHOUT_CONTENT, params![id.0, found.at.0])
        .map_err(JournalError::sql("record"))?;
    let (since, due) = (found.at, found.at);
    let doubted = Event::Doubted { since, due, why: doubt::FOUND.to_owned() };
    record(connection, id, &doubted, prepared, None)?;
    let number = attach::insert_evidence(connection, id, &prepared.evidence)?;
    let state = record(connection, id, &found.event, prepared, Some(number))?;
    attach::first_issues(connection, id, &found.issues)?;
    // Once and at the end: taking words out again in the transaction that put them in leaves an
    // index that its own check calls corrupt.
    let words = words::Words::of(&new, &new.identifier);
    words::index(connection, id, &words, &found.issues)?;
    if let Some(lost) = &lost {
        lost::found(connection, lost)?;
        content::tell_of_found(connection, lost, (id, &state), &prepared.receipt)?;
        versions::tell(connection, id, &state)?;
    }
    Ok(id)
}

fn record(
    connection: &Connection,
    id: SubmissionId,
    event: &Event,
    prepared: &Prepared,
    evidence: Option<i64>,
) -> Result<State, RecordError> {
    let found = &prepared.found;
    let subject = append::subject_of(connection, id)?;
    let evidence = evidence.map(|number| (number, prepared.evidence.digest.as_str()));
    append::advance(
        connection,
        &subject,
        &Happening { event, by: &found.by, at: found.at, evidence },
    )
}

fn without_content(found: &FoundReport, lost: Option<&LostReport>) -> NewSubmission {
    NewSubmission {
        file: lost.map(|lost| lost.file.clone()).unwrap_or_default(),
        format: Format::Json,
        document: Vec::new(),
        canonical: lost.and_then(|lost| lost.canonical.clone()),
        environment: lost.and_then(|lost| lost.environment.clone()),
        digest: lost.map_or(NO_DIGEST, |lost| &lost.digest).to_owned(),
        summary: Summary {
            identifier: lost.and_then(|lost| lost.document.clone()),
            ..Summary::default()
        },
        identifier: lost.map_or(&found.identifier, |lost| &lost.identifier).clone(),
        endpoint: found.endpoint.clone(),
        first: Event::Queued { due: found.at },
        findings: Vec::new(),
        corrects: None,
        by: found.by.clone(),
        at: found.at,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_codes_of_doubts_after_a_restore_are_what_catalogues_know() {
        assert_eq!(crate::events::doubt::RESTORED, "journal-restored");
        assert_eq!(crate::events::doubt::FOUND, "journal-report-found");
    }
}
