//! The only place where the life of a submission is written. Everything here runs inside a
//! transaction of the writing thread, in a savepoint of its own.

use fhir::Instant;
use report::{Event, Person, State, SubmissionId};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::chain::{self, Link};
use crate::events::attach::{self, PackedEvidence};
use crate::events::{doubt, edited, guard, lease, lost, succession, versions};
use crate::store::words;
use crate::store::{cells, sql};
use crate::{JournalError, LostReport, NewSubmission, RecordError, Step, Token};

mod row;

/// Why a request of an ended process is in doubt.
const PROCESS_ENDED: &str = "process-ended";

/// A report ready to be written: digest checked and document compressed on the caller's thread, so
/// that the writing thread only writes.
pub(crate) struct Prepared {
    pub(crate) new: NewSubmission,
    pub(crate) state: State,
    pub(crate) size: i64,
    pub(crate) packed: Vec<u8>,
}

impl Prepared {
    pub(crate) fn new(mut new: NewSubmission) -> Result<Self, RecordError> {
        let state = State::first(&new.first)?;
        if cells::hex(&new.document) != new.digest {
            return Err(RecordError::DigestMismatch);
        }
        let packed = cells::pack(&new.document)?;
        let size = cells::length(&new.document);
        new.document = Vec::new();
        Ok(Self { new, state, size, packed })
    }
}

/// A step ready to be written.
pub(crate) struct PreparedStep {
    step: Step,
    evidence: Option<PackedEvidence>,
}

impl PreparedStep {
    pub(crate) fn new(mut step: Step) -> Result<Self, RecordError> {
        if matches!(step.event, Event::Completed { .. }) && step.evidence.is_none() {
            return Err(RecordError::NoEvidence);
        }
        let evidence = step.evidence.take().map(PackedEvidence::new).transpose()?;
        Ok(Self { step, evidence })
    }
}

/// What an event is about: the cells of a submission that decide and that its hash covers.
pub(crate) struct Subject {
    pub(crate) id: SubmissionId,
    pub(crate) state: State,
    digest: String,
    identifier: String,
    /// What it takes or is to take the place of.
    pub(crate) corrects: Option<SubmissionId>,
}

/// What happens to it, by whom, when.
pub(crate) struct Happening<'a> {
    pub(crate) event: &'a Event,
    pub(crate) by: &'a Person,
    pub(crate) at: Instant,
    pub(crate) evidence: Option<(i64, &'a str)>,
}

pub(crate) fn import(
    connection: &Connection,
    prepared: &Prepared,
) -> Result<SubmissionId, RecordError> {
    if let Some(predecessor) = prepared.new.corrects {
        let by = SubmissionId(0);
        subject_of(connection, predecessor)?.state.apply(&Event::Superseded { by })?;
        succession::refuse_where_replaced(connection, predecessor)?;
    }
    let id = import_linked(connection, prepared)?;
    if let Some(predecessor) = prepared.new.corrects {
        let subject = subject_of(connection, predecessor)?;
        // What was sent once, perhaps before a restore, may be at the authority all the same: it is
        // not closed before that was asked.
        let was_sent = match subject.state {
            State::Held { attempt: 1.. } => true,
            State::Held { .. } => doubt::covers(connection, predecessor)?,
            _ => false,
        };
        if was_sent {
            // It does not go by itself once its correction is withdrawn.
            guard::withhold(connection, predecessor)?;
        } else {
            succession::supersede(connection, &subject, id, &prepared.new.by, prepared.new.at)?;
        }
    }
    Ok(id)
}

/// As [`import`]; a predecessor is only linked.
pub(crate) fn import_linked(
    connection: &Connection,
    prepared: &Prepared,
) -> Result<SubmissionId, RecordError> {
    // After a restore: content that was taken in before keeps the identifier that it may have gone
    // out with.
    let lost = lost::same_as(connection, &prepared.new)?;
    if lost.is_none()
        && let Some(held) = guard::held_back(connection, prepared)?
    {
        let id = import_again(connection, &held, None)?;
        guard::waits(connection, id, matches!(prepared.new.first, Event::Queued { .. }))?;
        return Ok(id);
    }
    import_again(connection, prepared, lost.as_ref())
}

/// As [`import`]; what was lost comes back under its identifier, and is asked for before it is
/// sent.
pub(crate) fn import_again(
    connection: &Connection,
    prepared: &Prepared,
    lost: Option<&LostReport>,
) -> Result<SubmissionId, RecordError> {
    let new = &prepared.new;
    let identifier = lost.map_or(&new.identifier, |lost| &lost.identifier);
    let id = begin(connection, new, &prepared.state, identifier)?;
    connection
        .prepare_cached(sql::NEW_DOCUMENT)
        .and_then(|mut insert| insert.execute(params![id.0, prepared.size, prepared.packed]))
        .map_err(JournalError::sql("record"))?;
    if !new.findings.is_empty() {
        attach::set_messages(connection, id, "check", &new.findings)?;
    }
    words::index(connection, id, &words::Words::of(new, identifier), &new.findings)?;
    if let Some(lost) = lost {
        lost::found(connection, lost)?;
        doubt::cover(connection, id)?;
        if matches!(prepared.state, State::Queued { .. }) {
            doubt::one(connection, id, new.at, &new.by)?;
        }
    }
    Ok(id)
}

/// A submission with its first event; without its document.
pub(crate) fn begin(
    connection: &Connection,
    new: &NewSubmission,
    state: &State,
    identifier: &str,
) -> Result<SubmissionId, JournalError> {
    let id = insert_submission(connection, new, state, identifier).map_err(JournalError::from)?;
    let subject = Subject {
        id,
        state: state.clone(),
        digest: new.digest.clone(),
        identifier: identifier.to_owned(),
        corrects: new.corrects,
    };
    let happening = Happening { event: &new.first, by: &new.by, at: new.at, evidence: None };
    append(connection, &subject, &happening)?;
    Ok(id)
}

fn insert_submission(
    connection: &Connection,
    new: &NewSubmission,
    state: &State,
    identifier: &str,
) -> Result<SubmissionId, Write> {
    let counts = cells::count(&new.findings);
    connection.prepare_cached(sql::NEW_SUBMISSION)?.execute(params![
        new.at.0,
        new.file,
        cells::format_code(new.format),
        new.endpoint,
        new.digest,
        identifier,
        new.summary.identifier,
        cells::to_json(&new.summary)?,
        state.code(),
        cells::to_json(state)?,
        state.duty().map(|(due, _)| due.0),
        counts.errors,
        counts.warnings,
        counts.notices,
        new.corrects.map(|id| id.0),
        new.canonical,
        new.environment,
    ])?;
    Ok(SubmissionId(connection.last_insert_rowid()))
}

pub(crate) fn record(
    connection: &Connection,
    prepared: &PreparedStep,
) -> Result<State, RecordError> {
    let step = &prepared.step;
    if let Some(token) = step.lease {
        lease::require(connection, token)?;
    }
    let subject = subject_of(connection, step.id)?;
    if let Some(expected) = step.expected
        && expected != subject.state.code()
    {
        return Err(RecordError::Unexpected { found: subject.state.code() });
    }
    // Before anything is written: most refusals cost one read.
    subject.state.apply(&step.event)?;
    match step.event {
        Event::Released { .. } => succession::refuse_beside_correction(connection, step.id)?,
        // Beside a correction that has arrived it is not sent: that takes its place.
        Event::SaidNotReceived { .. } => succession::refuse_where_replaced(connection, step.id)?,
        _ => {}
    }
    let number = match &prepared.evidence {
        Some(evidence) => Some(attach::insert_evidence(connection, step.id, evidence)?),
        None => None,
    };
    let digest = prepared.evidence.as_ref().map_or("", |evidence| &evidence.digest);
    let happening = Happening {
        event: &step.event,
        by: &step.by,
        at: step.at,
        evidence: number.map(|number| (number, digest)),
    };
    let state = advance(connection, &subject, &happening)?;
    succession::follow(connection, &subject, step)?;
    if matches!(step.event, Event::Withdrawn { .. }) {
        succession::open_again(connection, &subject, &step.by, step.at)?;
    }
    let state = match state {
        State::Failed { .. } | State::Rejected => unless_corrected(connection, step, state)?,
        // Of a release that was asked just before.
        State::Queued { .. } if !matches!(step.event, Event::Released { .. }) => {
            succession::hold_beside_correction(connection, step, state)?
        }
        state => state,
    };
    attach::messages_of(connection, step)?;
    if step.until_asked {
        guard::waits_too(connection, step.id)?;
    }
    if !matches!(step.event, Event::Released { .. }) {
        versions::tell(connection, step.id, &state)?;
        return Ok(state);
    }
    if let Some(held) = guard::after_release(connection, step.id, step.at)? {
        return Ok(held);
    }
    // It may have been released and sent already, in what a restore has lost.
    if doubt::covers(connection, step.id)? && !guard::is_answered(connection, step.id)? {
        return doubt::one(connection, step.id, step.at, &step.by);
    }
    Ok(state)
}

/// The state of a report that has failed: its correction may have arrived before that was known.
fn unless_corrected(
    connection: &Connection,
    step: &Step,
    state: State,
) -> Result<State, RecordError> {
    let Some(by) = succession::overtaken(connection, step.id)? else { return Ok(state) };
    let subject = subject_of(connection, step.id)?;
    succession::supersede(connection, &subject, by, &step.by, step.at)?;
    Ok(State::Superseded { by })
}

/// An event of the program's own, without an answer of the authority.
pub(crate) fn happen(
    connection: &Connection,
    id: SubmissionId,
    event: &Event,
    by: &Person,
    at: Instant,
) -> Result<(), RecordError> {
    let subject = subject_of(connection, id)?;
    advance(connection, &subject, &Happening { event, by, at, evidence: None })?;
    Ok(())
}

pub(crate) fn keep_evidence(
    connection: &Connection,
    id: SubmissionId,
    evidence: &PackedEvidence,
) -> Result<i64, JournalError> {
    subject_of(connection, id)?;
    attach::insert_evidence(connection, id, evidence)
}

pub(crate) fn recover(
    connection: &Connection,
    now: Instant,
    by: &Person,
    token: Option<Token>,
    endpoint: Option<&str>,
) -> Result<Vec<SubmissionId>, RecordError> {
    if let Some(token) = token {
        lease::require(connection, token)?;
    }
    let sending = sending(connection, endpoint).map_err(JournalError::from)?;
    for id in &sending {
        let subject = subject_of(connection, *id)?;
        // In doubt since its request began: that is when it may have been delivered.
        let since = match &subject.state {
            State::Sending { since, .. } => *since,
            _ => now,
        };
        let event = Event::Doubted { since, due: now, why: PROCESS_ENDED.to_owned() };
        let happening = Happening { event: &event, by, at: now, evidence: None };
        advance(connection, &subject, &happening)?;
    }
    Ok(sending)
}

fn sending(connection: &Connection, endpoint: Option<&str>) -> Result<Vec<SubmissionId>, Write> {
    let mut query = connection.prepare_cached(sql::SENDING)?;
    let ids = query.query_map([endpoint], |row| row.get(0).map(SubmissionId))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn subject_of(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Subject, JournalError> {
    connection
        .prepare_cached(sql::SUBJECT)
        .and_then(|mut query| {
            query
                .query_row([id.0], |row| {
                    Ok(Subject {
                        id,
                        state: cells::from_json(0, row.get_ref(0)?.as_str()?)?,
                        digest: row.get(1)?,
                        identifier: row.get(2)?,
                        corrects: row.get::<_, Option<i64>>(3)?.map(SubmissionId),
                    })
                })
                .optional()
        })
        .map_err(JournalError::sql("record"))?
        .ok_or(JournalError::NotFound(id))
}

/// Event and state, together.
pub(crate) fn advance(
    connection: &Connection,
    subject: &Subject,
    happening: &Happening<'_>,
) -> Result<State, RecordError> {
    let state = subject.state.apply(happening.event)?;
    append(connection, subject, happening)?;
    row::write(connection, subject, &state, happening).map_err(JournalError::from)?;
    let is_open = |state: &State| state.shown().may_be_corrected();
    if is_open(&subject.state) && !is_open(&state) {
        edited::forget(connection, subject.id)?;
    }
    Ok(state)
}

/// Adds an event to the chain.
fn append(
    connection: &Connection,
    subject: &Subject,
    happening: &Happening<'_>,
) -> Result<(), JournalError> {
    write_event(connection, subject, happening).map_err(JournalError::from)
}

fn write_event(
    connection: &Connection,
    subject: &Subject,
    happening: &Happening<'_>,
) -> Result<(), Write> {
    let last = connection
        .prepare_cached(sql::LAST_EVENT)?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, chain::stored(row.get(1)?)?)))
        .optional()?;
    let (before, predecessor) = match last {
        Some(last) => last,
        None => {
            let seed: Vec<u8> = connection.query_row(sql::SEED, [], |row| row.get(0))?;
            (0, chain::start(&seed))
        }
    };
    let event = cells::to_json(happening.event)?;
    let number = before + 1;
    let link = Link {
        number,
        submission: subject.id.0,
        at: happening.at.0,
        person: &happening.by.0,
        event: &event,
        evidence: happening.evidence.map_or("", |(_, digest)| digest),
        document: &subject.digest,
        identifier: &subject.identifier,
    };
    let hash = link.hash(&predecessor);
    connection.prepare_cached(sql::NEW_EVENT)?.execute(params![
        number,
        subject.id.0,
        happening.at.0,
        happening.by.0,
        happening.event.code(),
        event,
        happening.evidence.map(|(number, _)| number),
        hash.as_slice(),
    ])?;
    Ok(())
}

/// Either kind of trouble while writing: the database's, or our own.
enum Write {
    Sql(rusqlite::Error),
    Journal(JournalError),
}

impl From<rusqlite::Error> for Write {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<JournalError> for Write {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl From<Write> for JournalError {
    fn from(trouble: Write) -> Self {
        match trouble {
            Write::Sql(error) => Self::sql("record")(error),
            Write::Journal(error) => error,
        }
    }
}
